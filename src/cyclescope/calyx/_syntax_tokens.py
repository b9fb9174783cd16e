"""The tokens of Calyx's text, with their places, and complaints about them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NoReturn

from cyclescope.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    T = TypeVar("T")

__all__ = ["END", "TABLE", "Tokens", "printable"]

END = "end of file"
TABLE = re.compile(r"(?i:metadata|sourceinfo)\s*#\{")
_TOKEN = re.compile(
    r"[ \t\r\n]+|//[^\n]*|/\*.*?\*/"
    r'|(?P<token>"[^"]*"'
    r"|(?i:metadata|sourceinfo)\s*\#\{.*?\}\#"
    r"|[A-Za-z_][A-Za-z0-9_'-]*"
    r"|[0-9]+'[dbxo][0-9A-Fa-f]+"
    r"|[0-9]+(?![A-Za-z'])"
    r"|->|=>|==|!=|<=|>="
    r"|[{}()\[\]<>;:,.=?@|&!%-])",
    re.DOTALL,
)
_WRONG = re.compile(r"[0-9][A-Za-z0-9'_]*|.", re.DOTALL)
_DEEPEST = 250  # Each level takes two frames of the interpreter's thousand.


class Tokens:
    """A text's tokens, one ahead: `word` is the one at hand."""

    def __init__(self, text: str, file: str, begin: int = 0) -> None:
        self.text = text
        self._file = file
        self.depth = 0
        self.end = begin  # where the token at hand ends
        self.past = begin  # where the one before it ended
        self.start = 0
        self.word = ""
        self.advance()

    def advance(self) -> str:
        """Go on by one token; gives the one that was at hand."""
        old = self.word
        at = self.past = self.end
        while match := _TOKEN.match(self.text, at):
            at = match.end()
            if match.lastgroup:
                self.word, self.start, self.end = match["token"], match.start(), at
                return old
        self.start = self.end = at
        if at < len(self.text):
            self.word = self.text[at]
            word = _WRONG.match(self.text, at)
            bad = word[0] if word else self.word
            what = "a number or a sized number (8'd3)" if bad[0].isdigit() else "Calyx"
            if bad == '"':
                what = "a closing quote"
            elif self.text.startswith("/*", at):
                what = "the end of a comment (*/)"
            self.fail(what, bad)
        self.word = END
        return old

    def fail(self, expected: str, found: str | None = None) -> NoReturn:
        """Complain of the token at hand."""
        found = self.word if found is None else found
        shown = found if found == END else f"`{printable(found)}`"
        raise SourceError(
            f"{self._place(self.start)}: expected {expected}, found {shown};"
            " correct the syntax here"
        )

    def _place(self, offset: int) -> str:
        line = self.text.count("\n", 0, offset) + 1
        column = offset - (self.text.rfind("\n", 0, offset) + 1) + 1
        return f"{self._file}:{line}:{column}"

    def accept(self, token: str) -> bool:
        """Take the token at hand if it is this one."""
        if self.word == token:
            self.advance()
            return True
        return False

    def expect(self, token: str) -> None:
        """Take the token at hand, which must be this one."""
        if not self.accept(token):
            self.fail(f"`{token}`")

    def name(self, what: str = "a name") -> str:
        """Take a name."""
        first = self.word[0]
        if not (first.isalpha() or first == "_") or self.word == END or TABLE.match(self.word):
            self.fail(what)
        return self.advance()

    def number(self, what: str = "a number") -> int:
        """Take a number."""
        return int(self.digits(what))

    def digits(self, what: str = "a number") -> str:
        """Take a number as written."""
        if not self.word.isdecimal():
            self.fail(what)
        if len(self.word) > 20:
            self.fail("a number below 2^64")
        return self.advance()

    def string(self) -> str:
        """Take a string; gives what is between its quotes."""
        if self.word[0] != '"':
            self.fail("a string")
        return self.advance()[1:-1]

    def list_of(self, item: Callable[[], T], end: str) -> list[T]:
        """Items with commas between them up to `end`, which is taken, too."""
        items: list[T] = []
        while not self.accept(end):
            items.append(item())
            if not self.accept(","):
                self.expect(end)
                break
        return items

    def enter(self) -> None:
        """Go one level deeper."""
        self.depth += 1
        if self.depth > _DEEPEST:
            self.fail(f"at most {_DEEPEST} levels of nesting")


def printable(text: str) -> str:
    """A piece of a text for a message of one line."""
    shown = text if len(text) <= 40 else text[:37] + "…"
    return "".join(c if c.isprintable() else "�" for c in shown)
