"""Reads Calyx's text into the tree of `_syntax`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NoReturn

from cyclescope.calyx._syntax import (
    Assignment,
    Attributes,
    CellText,
    ComponentText,
    Extern,
    Fsm,
    FsmState,
    GroupText,
    Port,
    PrimitiveText,
    Statement,
    SyntaxFile,
)
from cyclescope.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    T = TypeVar("T")

__all__ = ["read_syntax"]

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
_TABLE = re.compile(r"(?i:metadata|sourceinfo)\s*#\{")
_BODY = re.compile(r"[^}]*")
_ASSIGNS = re.compile(r"\s*(=(?!=)|\.|\[)")
_WRONG = re.compile(r"[0-9][A-Za-z0-9'_]*|.", re.DOTALL)
_DEEPEST = 250  # Each level takes two frames of the interpreter's thousand.
_END = "end of file"


def read_syntax(data: bytes, file: str) -> SyntaxFile:
    """Read one file.

    Args:
        data: its bytes; `start` of every part is an offset in them.
        file: what to call it in an error.

    Raises:
        SourceError: with file, line and column.
    """
    return _Reader(data.decode("latin-1"), file).file()


class _Reader:
    """A reader of tokens, one ahead."""

    def __init__(self, text: str, file: str) -> None:
        self._text = text
        self._file = file
        self._depth = 0
        self._end = 0  # where the token at hand ends
        self._start = 0
        self.word = ""
        self._next()

    # Tokens.

    def _next(self) -> str:
        """Go on by one token; gives the one that was at hand."""
        old = self.word
        at = self._end
        while match := _TOKEN.match(self._text, at):
            at = match.end()
            if match.lastgroup:
                self.word, self._start, self._end = match["token"], match.start(), at
                return old
        self._start = self._end = at
        if at < len(self._text):
            self.word = self._text[at]
            word = _WRONG.match(self._text, at)
            bad = word[0] if word else self.word
            what = "a number or a sized number (8'd3)" if bad[0].isdigit() else "Calyx"
            if bad == '"':
                what = "a closing quote"
            elif self._text.startswith("/*", at):
                what = "the end of a comment (*/)"
            self._fail(what, bad)
        self.word = _END
        return old

    def _fail(self, expected: str, found: str | None = None) -> NoReturn:
        found = self.word if found is None else found
        shown = found if found == _END else f"`{_printable(found)}`"
        raise SourceError(
            f"{self._place(self._start)}: expected {expected}, found {shown};"
            " correct the syntax here"
        )

    def _place(self, offset: int) -> str:
        line = self._text.count("\n", 0, offset) + 1
        column = offset - (self._text.rfind("\n", 0, offset) + 1) + 1
        return f"{self._file}:{line}:{column}"

    def _accept(self, token: str) -> bool:
        if self.word == token:
            self._next()
            return True
        return False

    def _expect(self, token: str) -> None:
        if not self._accept(token):
            self._fail(f"`{token}`")

    def _name(self, what: str = "a name") -> str:
        first = self.word[0]
        if not (first.isalpha() or first == "_") or self.word == _END or _TABLE.match(self.word):
            self._fail(what)
        return self._next()

    def _number(self, what: str = "a number") -> int:
        return int(self._digits(what))

    def _digits(self, what: str = "a number") -> str:
        if not self.word.isdecimal():
            self._fail(what)
        if len(self.word) > 20:
            self._fail("a number below 2^64")
        return self._next()

    def _string(self) -> str:
        if self.word[0] != '"':
            self._fail("a string")
        return self._next()[1:-1]

    def _list(self, item: Callable[[], T], end: str) -> list[T]:
        """Items with commas between them up to `end`, which is taken, too."""
        items: list[T] = []
        while not self._accept(end):
            items.append(item())
            if not self._accept(","):
                self._expect(end)
                break
        return items

    # Files and declarations.

    def file(self) -> SyntaxFile:
        imports, items, tables = [], [], []
        while self._accept("import"):
            imports.append(self._string())
            self._expect(";")
        while self.word != _END and not _TABLE.match(self.word):
            items.append(self._item())
        while _TABLE.match(self.word):
            tables.append(self._next())
        if self.word != _END:
            self._fail(_END)
        return SyntaxFile(imports, items, tables)

    def _item(self) -> Extern | PrimitiveText | ComponentText:
        start = self._start
        if self._accept("extern"):
            path = self._string()
            self._expect("{")
            primitives = []
            while not self._accept("}"):
                begin = self._start
                comb, latency = self._prefix()
                self._expect("primitive")
                primitives.append(self._primitive(comb, latency, begin))
                if primitives[-1].body is not None:
                    self._fail("primitives without a body in `extern`")
            return Extern(path, primitives, start)
        comb, latency = self._prefix()
        if self._accept("primitive"):
            return self._primitive(comb, latency, start)
        if self._accept("component"):
            return self._component(comb, latency, start)
        return self._fail("`component`, `primitive`, `extern` or `import`")

    def _prefix(self) -> tuple[bool, int | None]:
        comb = self._accept("comb")
        latency = None
        if self._accept("static"):
            self._expect("<")
            latency = self._number()
            self._expect(">")
        return comb or self._accept("comb"), latency

    def _primitive(self, comb: bool, latency: int | None, start: int) -> PrimitiveText:
        name, attributes = self._name(), self._declared_attributes()
        params = self._list(self._name, "]") if self._accept("[") else None
        inputs, outputs = self._signature()
        body = None
        if self.word == "{":
            match = _BODY.match(self._text, self._end)
            assert match is not None
            body, self._end = match[0].strip(), match.end()
            self._next()
            self._expect("}")
            self._accept(";")
        else:
            self._expect(";")
        return PrimitiveText(name, attributes, comb, latency, params, inputs, outputs, body, start)

    def _component(self, comb: bool, latency: int | None, start: int) -> ComponentText:
        name, attributes = self._name(), self._declared_attributes()
        inputs, outputs = self._signature()
        self._expect("{")
        self._expect("cells")
        self._expect("{")
        cells = []
        while not self._accept("}"):
            cells.append(self._cell())
        self._expect("wires")
        self._expect("{")
        wires = []
        while not self._accept("}"):
            wires.append(self._wire())
        control = None
        if self._accept("control"):
            control = self._block()
        self._expect("}")
        return ComponentText(
            name, attributes, comb, latency, inputs, outputs, cells, wires, control, start
        )

    def _signature(self) -> tuple[list[Port], list[Port]]:
        self._expect("(")
        inputs = self._list(self._port, ")")
        self._expect("->")
        self._expect("(")
        return inputs, self._list(self._port, ")")

    def _port(self) -> Port:
        attributes, _ = self._attributes()
        name = self._name("a port")
        self._expect(":")
        width = self._digits() if self.word.isdecimal() else self._name("a width")
        return Port(name, width, attributes)

    def _declared_attributes(self) -> Attributes:
        def attribute() -> tuple[str, int | tuple[int, ...]]:
            name = self._string()
            self._expect("=")
            if self._accept("{"):
                return name, tuple(self._list(self._number, "}"))
            return name, self._number()

        return dict(self._list(attribute, ">")) if self._accept("<") else {}

    def _attributes(self) -> tuple[Attributes, int]:
        """`@…` attributes, and where what they belong to begins (sets of positions apart)."""
        attributes: Attributes = {}
        begin = None
        while self.word == "@":
            start = self._start
            self._next()
            name = self._name("an attribute")
            if self._accept("{"):
                attributes[name] = tuple(self._list(self._number, "}"))
                continue
            attributes[name] = 1
            if self._accept("("):
                attributes[name] = self._number()
                self._expect(")")
            begin = start if begin is None else begin
        return attributes, self._start if begin is None else begin

    # Cells and wires.

    def _cell(self) -> CellText:
        attributes, start = self._attributes()
        name = self._name("a cell (name = type(parameters);)")
        reference = name == "ref" and self.word != "="
        if reference:
            name = self._name("a cell (name = type(parameters);)")
        self._expect("=")
        kind = self._name("a component or primitive")
        self._expect("(")
        args = self._list(self._argument, ")")
        self._accept(";")
        return CellText(name, kind, args, reference, attributes, start)

    def _argument(self) -> str:
        sign = "-" if self._accept("-") else ""
        whole = sign + self._digits()
        return f"{whole}.{self._digits()}" if self._accept(".") else whole

    def _wire(self) -> GroupText | Fsm | Assignment:
        start = self._start
        # No word is reserved: `comb.in = …` is an assignment.
        if self.word in ("comb", "static", "group", "fsm") and not self._assigns():
            if self._accept("fsm"):
                return self._fsm(start)
            comb, latency = self._prefix()
            self._expect("group")
            name, attributes = self._name(), self._declared_attributes()
            self._expect("{")
            return GroupText(name, attributes, comb, latency, self._assignments(), start)
        return self._assignment()

    def _assigns(self) -> bool:
        """Whether the word at hand begins a reference, not a declaration."""
        return _ASSIGNS.match(self._text, self._end) is not None

    def _assignments(self) -> list[Assignment]:
        found = []
        while not self._accept("}"):
            found.append(self._assignment())
        return found

    def _assignment(self) -> Assignment:
        attributes, start = self._attributes()
        dst = self._reference(constant=False)
        self._expect("=")
        first = self._guard()
        guard = None
        if self._accept("?"):
            guard, first = first, self._reference()
        elif not _REFERENCE.fullmatch(first):
            self._fail("`?`")
        self._expect(";")
        return Assignment(dst, guard, first, attributes, start)

    def _reference(self, *, constant: bool = True) -> str:
        if constant and "'" in self.word and self.word[0].isdigit():
            return self._next()
        name = self._name("a port, hole or sized number" if constant else "a port or hole")
        if self._accept("."):
            return f"{name}.{self._name('a port')}"
        if self._accept("["):
            hole = self._name("a hole (go, done)")
            self._expect("]")
            return f"{name}[{hole}]"
        return name

    def _guard(self) -> str:
        parts = [self._term()]
        while self.word in ("|", "&"):
            parts += (self._next(), self._term())
        return " ".join(parts)

    def _term(self) -> str:
        if self._accept("!"):
            if self.word == "!":
                self._fail("a port or `(` after `!`")
            return "!" + (self._parenthesis() if self.word == "(" else self._reference())
        if self.word == "(":
            return self._parenthesis()
        if self._accept("%"):
            if not self._accept("["):
                return f"%{self._digits()}"
            first = self._digits()
            self._expect(":")
            last = self._digits()
            self._expect("]")
            return f"%[{first}:{last}]"
        left = self._reference()
        if self.word in ("==", "!=", "<=", ">=", "<", ">"):
            return f"{left} {self._next()} {self._reference()}"
        return left

    def _parenthesis(self) -> str:
        self._enter()
        self._expect("(")
        inner = self._guard()
        self._expect(")")
        self._depth -= 1
        return f"({inner})"

    def _enter(self) -> None:
        self._depth += 1
        if self._depth > _DEEPEST:
            self._fail(f"at most {_DEEPEST} levels of nesting")

    def _fsm(self, start: int) -> Fsm:
        name, attributes = self._name(), self._declared_attributes()
        self._expect("{")
        states = []
        while not self._accept("}"):
            index = self._number("a state")
            self._expect(":")
            self._expect("{")
            assignments = self._assignments()
            self._expect("=>")
            states.append(FsmState(index, assignments, self._transition()))
            self._expect(",")
        return Fsm(name, attributes, states, start)

    def _transition(self) -> int | list[tuple[str | None, int]]:
        if not self._accept("{"):
            return self._number("a state or `{`")
        rules: list[tuple[str | None, int]] = []
        while not self._accept("}"):
            guard = None if self._accept("default") else self._guard()
            self._expect("->")
            rules.append((guard, self._number("a state")))
            self._expect(",")
        return rules

    # Control.

    def _block(self) -> list[Statement]:
        self._enter()
        self._expect("{")
        statements = []
        while not self._accept("}"):
            statements.append(self._statement())
        self._depth -= 1
        return statements

    def _statement(self) -> Statement:
        attributes, start = self._attributes()
        if self._accept(";"):
            return Statement("empty", attributes, start=start)
        word = self._name("a statement")
        if self._accept(";"):
            return Statement("enable", attributes, word, start=start)
        statement = Statement("", attributes, start=start)
        if word == "static":
            statement.static = True
            if self._accept("<"):
                statement.latency = self._number()
                self._expect(">")
            word = self._name("seq, par, if, repeat or invoke")
        statement.kind = word
        if word in ("seq", "par"):
            statement.body = self._block()
        elif word == "if":
            self._condition(statement)
            statement.body = self._block()
            self._else(statement)
        elif word == "while" and not statement.static:
            self._condition(statement)
            statement.body = self._block()
        elif word == "repeat":
            statement.count = self._number()
            statement.body = self._block()
        elif word == "invoke":
            self._invoke(statement)
        else:
            self._fail(f"`;` or a statement instead of `{_printable(word)}` before")
        return statement

    def _condition(self, statement: Statement) -> None:
        statement.port = self._reference(constant=False)
        if not statement.static and self._accept("with"):
            statement.with_group = self._name("a group")

    def _else(self, statement: Statement) -> None:
        if not self._accept("else"):
            return
        if self.word == "{":
            statement.otherwise = self._block()
            return
        self._enter()
        inner = self._statement()
        self._depth -= 1
        if inner.kind != "if":
            self._fail("`if` or `{` after `else`")
        statement.otherwise, statement.chained = [inner], True

    def _invoke(self, statement: Statement) -> None:
        def pair() -> tuple[str, str]:
            name = self._name("a port or cell of the callee")
            self._expect("=")
            return name, self._reference()

        statement.name = self._name("a cell")
        if self._accept("["):
            statement.refs = self._list(pair, "]")
        self._expect("(")
        statement.inputs = self._list(pair, ")")
        self._expect("(")
        statement.outputs = self._list(pair, ")")
        if self._accept("with"):
            statement.with_group = self._name("a group")
        self._expect(";")


_REFERENCE = re.compile(r"[^ ()!%]+")


def _printable(text: str) -> str:
    shown = text if len(text) <= 40 else text[:37] + "…"
    return "".join(c if c.isprintable() else "�" for c in shown)
