"""The `#pragma`s of each statement, with their macros expanded.

libclang shows pragmas only as tokens (or, with OpenMP switched on, hides the statements below
them). So their places are found in the text, by C's first phases of translation, and what they say
is asked of libclang itself: in a second look at the text each `#pragma omp X` is a
`#pragma message` with X as a string, whose macros the preprocessor expands in place; so is
each `_Pragma("omp X")`. A warning tells of every OpenMP directive that this has missed.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cyclescope.c import _clang
from cyclescope.c._tree import Pragma, Range

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

__all__ = ["Place", "Pragmas", "find_pragmas", "tokens_of"]

Place = tuple[int, int]
"""A line and a column, both from 1."""

# Each reads a character once, whatever the text: a comment or string without an end has the rest.
_SPLICE = re.compile(r"\\[ \t]*+\r?\n")
_QUOTED = r"\"(?:\\.|[^\"\\\n])*+\"?+|'(?:\\.|[^'\\\n])*+'?+"
_COMMENT = re.compile(rf"/\*.*?(?:\*/|\Z)|//[^\n]*+|{_QUOTED}", re.DOTALL)
_DIRECTIVE = re.compile(r"^[^\S\n]*+(?:#|%:)[^\S\n]*+pragma\b(?P<rest>[^\n]*+)", re.MULTILINE)
_OPERATOR = re.compile(r"\b_Pragma\s*+\(\s*+(?:u8|[LuU])?\"(?P<text>(?:\\.|[^\"\\\n])*+)\"\s*+\)")
_TOKEN = re.compile(
    rf"{_QUOTED}|[A-Za-z_$]\w*+|\.?\d(?:[eEpP][+-]|[\w.])*+"
    r"|\.\.\.|<<=|>>=|##|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|\S"
)
_OMP = re.compile(r"\s*+omp\b")
_CLOSING = {")": "(", "]": "[", "}": "{"}

# What makes a string of its arguments, once their macros are expanded.
_NAME = "CYCLESCOPE_PRAGMA"
_FLAGS = (
    f"-D{_NAME}(...)={_NAME}_(__VA_ARGS__)",
    f"-D{_NAME}_(...)=#__VA_ARGS__",
    "-Wsource-uses-openmp",
)
_MESSAGE, _MISSED = "-W#pragma-messages", "-Wsource-uses-openmp"


def tokens_of(text: str) -> tuple[str, ...]:
    """The tokens of a line of C without comments."""
    return tuple(_TOKEN.findall(text))


class _Text:
    """A file's text as C reads it: lines joined at backslashes, comments blank."""

    def __init__(self, name: str, text: str) -> None:
        self.name, self._written = name, text
        self._lines = [0, *(m.end() for m in re.finditer("\n", text))]
        joined, self._joints, self._removed = [], [0], [0]
        position = length = 0
        for splice in _SPLICE.finditer(text):
            joined.append(text[position : splice.start()])
            length += splice.start() - position
            position = splice.end()
            self._joints.append(length)
            self._removed.append(position - length)
        joined.append(text[position:])
        self.visible = _COMMENT.sub(_without_comment, "".join(joined))

    def written(self, position: int) -> int:
        """The place of a character of `visible` in the text as it was written."""
        return position + self._removed[bisect_right(self._joints, position) - 1]

    def place(self, position: int) -> Place:
        """Line and column of a character of `visible`; columns are bytes, as libclang's."""
        at = self.written(position)
        line = bisect_right(self._lines, at)
        return line, len(self._written[self._lines[line - 1] : at].encode("utf-8", "replace")) + 1

    def range(self, first: int, end: int) -> Range:
        """The range of some characters of `visible`."""
        # The last one's place: behind it a joined line begins.
        line, column = self.place(max(first, end - 1))
        return Range(self.name, *self.place(first), line, column + (end > first))

    def between(self, first: int, end: int) -> tuple[int, int, int]:
        """The places of characters of `visible` in the text, and the line ends among them."""
        start = self.written(first)
        stop = self.written(max(first, end - 1)) + (end > first)
        return start, stop, self._written.count("\n", start, stop)


def _without_comment(match: re.Match[str]) -> str:
    text = match.group()
    # Also the ends of lines in it: a directive goes on behind it.
    return " " * len(text) if text[0] == "/" else text


@dataclass(slots=True)
class _Found:
    """A pragma in a text.

    Attributes:
        where: the directive, or the operator `_Pragma`.
        rest: what is behind `pragma`.
        is_operator: whether it is `_Pragma("…")`.
        edit: for those of OpenMP: the text that asks libclang what it says, and where it belongs.
        trouble: why it can't be asked.
    """

    where: Range
    rest: str
    is_operator: bool
    edit: tuple[int, int, str] | None = None
    trouble: str = ""


def find_pragmas(
    sources: Mapping[str, str],
    path: Path,
    flags: tuple[str, ...],
    skipped: Iterable[tuple[str, int, int]],
) -> list[Pragma]:
    """The pragmas that take part, in the order of their places in each file.

    Those of OpenMP have their macros expanded.

    Args:
        sources: the user's files, name → text; names as libclang has them.
        path: the one that includes the others.
        flags: for libclang.
        skipped: what the preprocessor leaves out.
    """
    texts = {name: _Text(name, text) for name, text in sources.items() if "ragma" in text}
    gaps = _Gaps(skipped)
    plain: list[Pragma] = []
    asked: list[_Found] = []
    edited: dict[str, str] = {}
    for name, text in texts.items():
        own = _in_text(text, len(asked))
        asked += [f for f in own if f.edit is not None or f.trouble]
        plain += [
            Pragma(tokens_of(f.rest), f.where)
            for f in own
            if f.edit is None and not f.trouble and not gaps.holds(f.where)
        ]
        if any(f.edit is not None for f in own):
            edited[name] = _edited(sources[name], own)
    uses_openmp = any("omp" in sources[name] and "_Pragma" in sources[name] for name in texts)
    said: dict[int, list[tuple[Range, tuple[str, ...]]]] = {}
    missed: list[Range] = []
    if edited or uses_openmp:
        said, missed = _ask(path, {**sources, **edited}, flags)
    found = plain
    for number, one in enumerate(asked):
        answers = said.get(number, [])
        where = one.where
        if one.is_operator:
            found += [Pragma(("omp", *t), w, is_operator=True) for w, t in answers]
        elif len({t for _, t in answers}) > 1:
            trouble = "its macros differ from one inclusion of this file to the next"
            found.append(Pragma(("omp",), where, trouble=trouble))
        elif answers:
            found.append(Pragma(("omp", *answers[0][1]), where))
        elif not gaps.holds(where):
            trouble = one.trouble or "it can't be read once its macros are expanded"
            found.append(Pragma(tokens_of(one.rest), where, trouble=trouble))
    trouble = 'OpenMP by way of a macro\'s argument; write #pragma omp, or _Pragma("omp …")'
    found += [Pragma(("omp",), where, trouble=trouble) for where in missed]
    return sorted(found, key=lambda p: (p.where.file, p.where.start))


def _in_text(text: _Text, number: int) -> list[_Found]:
    found: list[_Found] = []
    for match in _DIRECTIVE.finditer(text.visible):
        rest = match["rest"]
        begin = match.end() - len(match[0].lstrip())
        end = match.start() + len(match[0].rstrip())
        one = _Found(text.range(begin, end), rest, is_operator=False)
        found.append(one)
        if omp := _OMP.match(rest):
            words = rest[omp.end() :].strip()
            first = match.start("rest") + omp.end() - len("omp")
            start, stop, lines = text.between(first, max(end, first + len("omp")))
            one.trouble = _unclosed(words)
            if not one.trouble:
                one.edit = (start, stop, _question(number, words) + "\n" * lines)
            number += 1
    for match in _OPERATOR.finditer(text.visible):
        content = re.sub(r"\\([\"\\])", r"\1", match["text"])
        if omp := _OMP.match(content):
            words = content[omp.end() :].strip()
            one = _Found(text.range(*match.span()), content, is_operator=True)
            one.trouble = _unclosed(words)
            start, stop, lines = text.between(*match.span())
            if not one.trouble:
                quoted = re.sub(r"([\"\\])", r"\\\1", _question(number, words))
                one.edit = (start, stop, f'_Pragma("{quoted}")' + "\\\n" * lines)
            number += 1
            found.append(one)
    return found


def _question(number: int, words: str) -> str:
    return f"message({_NAME}({number} {words}))"


def _unclosed(words: str) -> str:
    """The fault in the brackets and quotes of a pragma; empty if nothing is."""
    opened: list[str] = []
    for token in tokens_of(words):
        if token in _CLOSING.values():
            opened.append(token)
        elif token in _CLOSING:
            if not opened:
                return f"`{token}` closes nothing; remove it"
            if opened[-1] != _CLOSING[token]:
                break
            opened.pop()
        elif token[0] in "\"'" and (len(token) == 1 or token[-1] != token[0]):
            return f"{token[0]} is not closed; add another"
    if opened:
        shown = {"(": "a parenthesis"}.get(opened[-1], "a bracket")
        return f"`{opened[-1]}` is not closed; add {shown}"
    return ""


def _edited(text: str, found: list[_Found]) -> str:
    for one in sorted(found, key=lambda f: f.edit or (0, 0, ""), reverse=True):
        if one.edit is not None:
            start, stop, new = one.edit
            text = text[:start] + new + text[stop:]
    return text


def _ask(
    path: Path, texts: Mapping[str, str], flags: tuple[str, ...]
) -> tuple[dict[int, list[tuple[Range, tuple[str, ...]]]], list[Range]]:
    """Ask for the texts of the pragmas in the edited texts, by number, and the places of others."""
    said: dict[int, list[tuple[Range, tuple[str, ...]]]] = {}
    missed: list[Range] = []
    for option, where, text in _clang.warnings(path, texts, (*flags, *_FLAGS)):
        if option == _MESSAGE:
            number, *words = tokens_of(text) or ("",)
            if number.isdecimal():
                said.setdefault(int(number), []).append((where, tuple(words)))
        elif option == _MISSED:
            missed.append(where)
    return said, missed


class _Gaps:
    """The gaps that the preprocessor left out (`Unit.skipped`)."""

    def __init__(self, skipped: Iterable[tuple[str, int, int]]) -> None:
        self._known: dict[str, list[tuple[int, int]]] = {}
        for file, first, last in sorted(skipped):
            known = self._known.setdefault(file, [])
            # Up to which line something that begins no later goes.
            known.append((first, max(last, known[-1][1] if known else 0)))

    def holds(self, where: Range) -> bool:
        """Return whether something begins there."""
        known = self._known.get(where.file, [])
        before = bisect_left(known, (where.line,))
        return before > 0 and known[before - 1][1] > where.line


class Pragmas:
    """The pragmas of a text, each handed out once.

    Args:
        pragmas: those of each file in its order.
    """

    def __init__(self, pragmas: list[Pragma]) -> None:
        self._waiting: dict[str, list[Pragma]] = {}
        for pragma in pragmas:
            self._waiting.setdefault(pragma.where.file, []).append(pragma)

    def take(self, file: str, after: Place, before: Place) -> tuple[Pragma, ...]:
        """Those from one place to another, both included, not handed out yet."""
        waiting = self._waiting.get(file, [])
        first = bisect_left(waiting, after, key=_place)
        last = bisect_right(waiting, before, lo=first, key=_place)
        taken = tuple(waiting[first:last])
        del waiting[first:last]
        # Of what a macro makes of `_Pragma` and of statements, all have the macro's place.
        return tuple(
            p.unplaced() if p.is_operator and p.where.start == before else p for p in taken
        )

    def left(self) -> tuple[Pragma, ...]:
        """Those that nobody took."""
        return tuple(p for waiting in self._waiting.values() for p in waiting)


def _place(pragma: Pragma) -> Place:
    return pragma.where.start
