"""Reads Calyx's text into the tree of `_syntax`."""

from __future__ import annotations

import re

from cyclescope.calyx._syntax import (
    NOWHERE,
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
    Span,
    Statement,
    SyntaxFile,
)
from cyclescope.calyx._syntax_tokens import END, TABLE, Tokens, printable

__all__ = ["read_syntax"]

_BODY = re.compile(r"[^}]*")
_ASSIGNS = re.compile(r"\s*(=(?!=)|\.|\[)")


def read_syntax(data: bytes, file: str) -> SyntaxFile:
    """Read one file.

    Args:
        data: its bytes; `start` of every part is an offset in them.
        file: what to call it in an error.

    Raises:
        SourceError: with file, line and column.
    """
    return _Reader(data.decode("latin-1"), file).file()


class _Reader(Tokens):
    """The grammar."""

    # Files and declarations.

    def file(self) -> SyntaxFile:
        imports, items, tables = [], [], []
        while self.accept("import"):
            imports.append(self.string())
            self.expect(";")
        while self.word != END and not TABLE.match(self.word):
            items.append(self._item())
        while TABLE.match(self.word):
            tables.append(self.advance())
        if self.word != END:
            self.fail(END)
        return SyntaxFile(imports, items, tables)

    def _item(self) -> Extern | PrimitiveText | ComponentText:
        start = self.start
        if self.accept("extern"):
            path = self.string()
            self.expect("{")
            primitives = []
            while not self.accept("}"):
                begin = self.start
                comb, latency = self._prefix()
                self.expect("primitive")
                primitives.append(self._primitive(comb, latency, begin))
                if primitives[-1].body is not None:
                    self.fail("primitives without a body in `extern`")
            return Extern(path, primitives, start)
        comb, latency = self._prefix()
        if self.accept("primitive"):
            return self._primitive(comb, latency, start)
        if self.accept("component"):
            return self._component(comb, latency, start)
        return self.fail("`component`, `primitive`, `extern` or `import`")

    def _prefix(self) -> tuple[bool, int | None]:
        comb = self.accept("comb")
        latency = None
        if self.accept("static"):
            self.expect("<")
            latency = self.number()
            self.expect(">")
        return comb or self.accept("comb"), latency

    def _primitive(self, comb: bool, latency: int | None, start: int) -> PrimitiveText:
        name, attributes = self.name(), self._declared_attributes()
        params = self.list_of(self.name, "]") if self.accept("[") else None
        inputs, outputs = self._signature()
        body = None
        if self.word == "{":
            match = _BODY.match(self.text, self.end)
            assert match is not None
            body, self.end = match[0].strip(), match.end()
            self.advance()
            self.expect("}")
            self.accept(";")
        else:
            self.expect(";")
        return PrimitiveText(name, attributes, comb, latency, params, inputs, outputs, body, start)

    def _component(self, comb: bool, latency: int | None, start: int) -> ComponentText:
        name, attributes = self.name(), self._declared_attributes()
        inputs, outputs = self._signature()
        self.expect("{")
        self.expect("cells")
        open_cells = self.start
        self.expect("{")
        cells = []
        while not self.accept("}"):
            cells.append(self._cell())
        cells_block = open_cells, self.past
        self.expect("wires")
        open_wires = self.start
        self.expect("{")
        wires = []
        while not self.accept("}"):
            wires.append(self._wire())
        wires_block = open_wires, self.past
        control, control_block = None, NOWHERE
        if self.accept("control"):
            control, control_block = self._block()
        self.expect("}")
        return ComponentText(
            name, attributes, comb, latency, inputs, outputs, cells, wires, control, start,
            cells_block, wires_block, control_block,
        )  # fmt: skip

    def _signature(self) -> tuple[list[Port], list[Port]]:
        self.expect("(")
        inputs = self.list_of(self._port, ")")
        self.expect("->")
        self.expect("(")
        return inputs, self.list_of(self._port, ")")

    def _port(self) -> Port:
        attributes, _ = self._attributes()
        name = self.name("a port")
        self.expect(":")
        width = self.digits() if self.word.isdecimal() else self.name("a width")
        return Port(name, width, attributes)

    def _declared_attributes(self) -> Attributes:
        def attribute() -> tuple[str, int | tuple[int, ...]]:
            name = self.string()
            self.expect("=")
            if self.accept("{"):
                return name, tuple(self.list_of(self.number, "}"))
            return name, self.number()

        return dict(self.list_of(attribute, ">")) if self.accept("<") else {}

    def _attributes(self) -> tuple[Attributes, int]:
        """`@…` attributes, and where what they belong to begins (sets of positions apart)."""
        attributes: Attributes = {}
        begin = None
        while self.word == "@":
            start = self.start
            self.advance()
            name = self.name("an attribute")
            if self.accept("{"):
                attributes[name] = tuple(self.list_of(self.number, "}"))
                continue
            attributes[name] = 1
            if self.accept("("):
                attributes[name] = self.number()
                self.expect(")")
            begin = start if begin is None else begin
        return attributes, self.start if begin is None else begin

    # Cells and wires.

    def _cell(self) -> CellText:
        begin = self.start
        attributes, start = self._attributes()
        name = self.name("a cell (name = type(parameters);)")
        reference = name == "ref" and self.word != "="
        if reference:
            name = self.name("a cell (name = type(parameters);)")
        self.expect("=")
        kind = self.name("a component or primitive")
        self.expect("(")
        several = self._float_argument if kind == "std_float_const" else self._argument
        args = self.list_of(several, ")")
        self.accept(";")
        return CellText(name, kind, args, reference, attributes, start, (begin, self.past))

    def _argument(self) -> str:
        sign = "-" if self.accept("-") else ""
        whole = sign + self.digits()
        return f"{whole}.{self.digits()}" if self.accept(".") else whole

    def _float_argument(self) -> str:
        """A floating-point number, of which Calyx prints all digits, or a word if it has none."""
        sign = "-" if self.accept("-") else ""
        if self.word.lower() in ("inf", "infinity", "nan"):
            return sign + self.advance()
        whole = sign + self._decimals()
        return f"{whole}.{self._decimals()}" if self.accept(".") else whole

    def _decimals(self) -> str:
        if not self.word.isdecimal():
            self.fail("a number")
        return self.advance()

    def _wire(self) -> GroupText | Fsm | Assignment:
        start = self.start
        # No word is reserved: `comb.in = …` is an assignment.
        if self.word in ("comb", "static", "group", "fsm") and not self._assigns():
            if self.accept("fsm"):
                return self._fsm(start)
            comb, latency = self._prefix()
            self.expect("group")
            named = self.start, self.end
            name, attributes = self.name(), self._declared_attributes()
            open_ = self.start
            self.expect("{")
            found = self._assignments()
            block = open_, self.past
            return GroupText(name, attributes, comb, latency, found, start, named, block)
        return self._assignment()

    def _assigns(self) -> bool:
        """Return whether the word at hand begins a reference, not a declaration."""
        return _ASSIGNS.match(self.text, self.end) is not None

    def _assignments(self) -> list[Assignment]:
        found = []
        while not self.accept("}"):
            found.append(self._assignment())
        return found

    def _assignment(self) -> Assignment:
        begin = self.start
        attributes, start = self._attributes()
        dst = self._reference(constant=False)
        self.expect("=")
        first = self._guard()
        guard = None
        if self.accept("?"):
            guard, first = first, self._reference()
        elif not _REFERENCE.fullmatch(first):
            self.fail("`?`")
        self.expect(";")
        return Assignment(dst, guard, first, attributes, start, (begin, self.past))

    def _reference(self, *, constant: bool = True) -> str:
        if constant and "'" in self.word and self.word[0].isdigit():
            return self.advance()
        name = self.name("a port, hole or sized number" if constant else "a port or hole")
        if self.accept("."):
            return f"{name}.{self.name('a port')}"
        if self.accept("["):
            hole = self.name("a hole (go, done)")
            self.expect("]")
            return f"{name}[{hole}]"
        return name

    def _guard(self) -> str:
        parts = [self._term()]
        while self.word in ("|", "&"):
            parts += (self.advance(), self._term())
        return " ".join(parts)

    def _term(self) -> str:
        if self.accept("!"):
            if self.word == "!":
                self.fail("a port or `(` after `!`")
            return "!" + (self._parenthesis() if self.word == "(" else self._reference())
        if self.word == "(":
            return self._parenthesis()
        if self.accept("%"):
            if not self.accept("["):
                return f"%{self.digits()}"
            first = self.digits()
            self.expect(":")
            last = self.digits()
            self.expect("]")
            return f"%[{first}:{last}]"
        left = self._reference()
        if self.word in ("==", "!=", "<=", ">=", "<", ">"):
            return f"{left} {self.advance()} {self._reference()}"
        return left

    def _parenthesis(self) -> str:
        self.enter()
        self.expect("(")
        inner = self._guard()
        self.expect(")")
        self.depth -= 1
        return f"({inner})"

    def _fsm(self, start: int) -> Fsm:
        name, attributes = self.name(), self._declared_attributes()
        self.expect("{")
        states = []
        while not self.accept("}"):
            index = self.number("a state")
            self.expect(":")
            self.expect("{")
            assignments = self._assignments()
            self.expect("=>")
            states.append(FsmState(index, assignments, self._transition()))
            self.expect(",")
        return Fsm(name, attributes, states, start)

    def _transition(self) -> int | list[tuple[str | None, int]]:
        if not self.accept("{"):
            return self.number("a state or `{`")
        rules: list[tuple[str | None, int]] = []
        while not self.accept("}"):
            guard = None if self.accept("default") else self._guard()
            self.expect("->")
            rules.append((guard, self.number("a state")))
            self.expect(",")
        return rules

    # Control.

    def _block(self) -> tuple[list[Statement], Span]:
        self.enter()
        open_ = self.start
        self.expect("{")
        statements = []
        while not self.accept("}"):
            begin = self.start
            statements.append(self._statement())
            statements[-1].span = begin, self.past
        self.depth -= 1
        return statements, (open_, self.past)

    def _statement(self) -> Statement:
        attributes, start = self._attributes()
        head = self.start
        if self.accept(";"):
            return Statement("empty", attributes, start=start)
        word = self.name("a statement")
        if self.accept(";"):
            return Statement("enable", attributes, word, start=start)
        statement = Statement("", attributes, start=start)
        if word == "static":
            statement.static = True
            if self.accept("<"):
                statement.latency = self.number()
                self.expect(">")
            word = self.name("seq, par, if, repeat or invoke")
        statement.kind = word
        if word in ("seq", "par"):
            statement.head = head, self.past
            statement.body, statement.block = self._block()
        elif word == "if":
            self._condition(statement)
            statement.head = head, self.past
            statement.body, statement.block = self._block()
            self._else(statement)
        elif word == "while" and not statement.static:
            self._condition(statement)
            statement.head = head, self.past
            statement.body, statement.block = self._block()
        elif word == "repeat":
            statement.count = self.number()
            statement.head = head, self.past
            statement.body, statement.block = self._block()
        elif word == "invoke":
            self._invoke(statement)
        else:
            self.fail(f"`;` or a statement instead of `{printable(word)}` before")
        return statement

    def _condition(self, statement: Statement) -> None:
        statement.port = self._reference(constant=False)
        after = self.past
        if not statement.static and self.accept("with"):
            statement.with_group = self.name("a group")
            statement.conditioned = after, self.past

    def _else(self, statement: Statement) -> None:
        if not self.accept("else"):
            return
        if self.word == "{":
            statement.otherwise, statement.otherwise_block = self._block()
            return
        self.enter()
        begin = self.start
        inner = self._statement()
        inner.span = begin, self.past
        self.depth -= 1
        if inner.kind != "if":
            self.fail("`if` or `{` after `else`")
        statement.otherwise, statement.chained = [inner], True

    def _invoke(self, statement: Statement) -> None:
        def pair() -> tuple[str, str]:
            name = self.name("a port or cell of the callee")
            self.expect("=")
            return name, self._reference()

        statement.name = self.name("a cell")
        if self.accept("["):
            statement.refs = self.list_of(pair, "]")
        self.expect("(")
        statement.inputs = self.list_of(pair, ")")
        self.expect("(")
        statement.outputs = self.list_of(pair, ")")
        if self.accept("with"):
            statement.with_group = self.name("a group")
        self.expect(";")


_REFERENCE = re.compile(r"[^ ()!%]+")
