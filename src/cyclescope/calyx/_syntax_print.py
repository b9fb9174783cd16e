"""Prints the tree of `_syntax` as Calyx's text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope.calyx._syntax import (
    Assignment,
    Attributes,
    CellText,
    ComponentText,
    Extern,
    Fsm,
    GroupText,
    Port,
    PrimitiveText,
    Statement,
    SyntaxFile,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["print_syntax"]


def print_syntax(file: SyntaxFile) -> bytes:
    """The text of a file, in one spelling."""
    return "".join(f"{line}\n" for line in _file(file)).encode("latin-1")


def _file(file: SyntaxFile) -> Iterator[str]:
    for path in file.imports:
        yield f'import "{path}";'
    for item in file.items:
        if isinstance(item, Extern):
            yield f'extern "{item.path}" {{'
            for primitive in item.primitives:
                yield from _primitive(primitive, "  ")
            yield "}"
        elif isinstance(item, PrimitiveText):
            yield from _primitive(item, "")
        else:
            yield from _component(item)
    yield from file.tables


def _primitive(primitive: PrimitiveText, indent: str) -> Iterator[str]:
    params = "" if primitive.params is None else f"[{', '.join(primitive.params)}]"
    head = (
        f"{indent}{_prefix(primitive.comb, primitive.latency)}primitive {primitive.name}"
        f"{_declared(primitive.attributes)}{params}{_signature(primitive.inputs)}"
        f" -> {_signature(primitive.outputs)}"
    )
    if primitive.body is None:
        yield f"{head};"
    else:
        yield f"{head} {{"
        yield f"{indent}  {primitive.body}"
        yield f"{indent}}}"


def _component(component: ComponentText) -> Iterator[str]:
    yield (
        f"{_prefix(component.comb, component.latency)}component {component.name}"
        f"{_declared(component.attributes)}{_signature(component.inputs)}"
        f" -> {_signature(component.outputs)} {{"
    )
    yield "  cells {"
    for cell in component.cells:
        yield f"    {_cell(cell)}"
    yield "  }"
    yield "  wires {"
    for wire in component.wires:
        if isinstance(wire, Assignment):
            yield f"    {_assignment(wire)}"
        elif isinstance(wire, GroupText):
            prefix = _prefix(wire.comb, wire.latency)
            yield f"    {prefix}group {wire.name}{_declared(wire.attributes)} {{"
            for assignment in wire.assignments:
                yield f"      {_assignment(assignment)}"
            yield "    }"
        else:
            yield from _fsm(wire)
    yield "  }"
    if component.control is not None:
        yield "  control {"
        lines: list[str] = []
        for statement in component.control:
            _statement(statement, "    ", lines)
        yield from lines
        yield "  }"
    yield "}"


def _prefix(comb: bool, latency: int | None) -> str:
    return ("comb " if comb else "") + (f"static<{latency}> " if latency is not None else "")


def _declared(attributes: Attributes) -> str:
    if not attributes:
        return ""
    return f"<{', '.join(f'{_quoted(n)}={_value(v)}' for n, v in attributes.items())}>"


def _quoted(name: str) -> str:
    return f'"{name}"'


def _value(value: int | tuple[int, ...]) -> str:
    return str(value) if isinstance(value, int) else f"{{{', '.join(map(str, value))}}}"


def _at(attributes: Attributes) -> str:
    def shown(name: str, value: int | tuple[int, ...]) -> str:
        if isinstance(value, tuple):
            return f"@{name}{_value(value)} "
        return f"@{name} " if value == 1 else f"@{name}({value}) "

    return "".join(shown(name, value) for name, value in attributes.items())


def _signature(ports: Iterable[Port]) -> str:
    return f"({', '.join(f'{_at(p.attributes)}{p.name}: {p.width}' for p in ports)})"


def _cell(cell: CellText) -> str:
    reference = "ref " if cell.reference else ""
    arguments = ", ".join(map(_argument, cell.args))
    return f"{_at(cell.attributes)}{reference}{cell.name} = {cell.type}({arguments});"


def _argument(text: str) -> str:
    """A cell's argument; Calyx prints infinities as a word that it does not read."""
    sign = "-" if text.startswith("-") else ""
    word = text.removeprefix("-").lower()
    return f"{sign}1{'0' * _BEYOND}" if word in ("inf", "infinity") else text


_BEYOND = 309  # the power of ten that is too large for 64 bits, and for 32


def _assignment(assignment: Assignment) -> str:
    guard = "" if assignment.guard is None else f"{assignment.guard} ? "
    return f"{_at(assignment.attributes)}{assignment.dst} = {guard}{assignment.src};"


def _fsm(fsm: Fsm) -> Iterator[str]:
    yield f"    fsm {fsm.name}{_declared(fsm.attributes)} {{"
    for state in fsm.states:
        yield f"      {state.index}: {{"
        for assignment in state.assignments:
            yield f"        {_assignment(assignment)}"
        if isinstance(state.next, int):
            yield f"      }} => {state.next},"
        else:
            yield "      } => {"
            for guard, to in state.next:
                yield f"        {'default' if guard is None else guard} -> {to},"
            yield "      },"
    yield "    }"


def _statement(statement: Statement, indent: str, lines: list[str], prefix: str = "") -> None:
    """Append a statement's lines; `prefix` comes before the first (the `} else ` of a chain)."""
    static = ""
    if statement.static:
        static = "static " if statement.latency is None else f"static<{statement.latency}> "
    kind = statement.kind
    begin = f"{indent}{prefix}{_at(statement.attributes)}"
    if kind == "empty":
        lines.append(f"{begin};")
    elif kind == "enable":
        lines.append(f"{begin}{statement.name};")
    elif kind == "invoke":
        refs = f"[{_pairs(statement.refs)}]" if statement.refs else ""
        lines.append(
            f"{begin}{static}invoke {statement.name}{refs}({_pairs(statement.inputs)})"
            f"({_pairs(statement.outputs)}){_with(statement)};"
        )
    else:
        head = {"repeat": f" {statement.count}", "seq": "", "par": ""}
        words = head.get(kind, f" {statement.port}{_with(statement)}")
        lines.append(f"{begin}{static}{kind}{words} {{")
        for inner in statement.body:
            _statement(inner, f"{indent}  ", lines)
        if statement.otherwise is not None and statement.chained:
            _statement(statement.otherwise[0], indent, lines, "} else ")
            return
        if statement.otherwise is not None:
            lines.append(f"{indent}}} else {{")
            for inner in statement.otherwise:
                _statement(inner, f"{indent}  ", lines)
        lines.append(f"{indent}}}")


def _with(statement: Statement) -> str:
    return "" if statement.with_group is None else f" with {statement.with_group}"


def _pairs(pairs: Iterable[tuple[str, str]]) -> str:
    return ", ".join(f"{name} = {given}" for name, given in pairs)
