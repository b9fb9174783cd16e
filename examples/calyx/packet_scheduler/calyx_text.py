"""Write Calyx programs from Python: components with cells, groups and a control tree, as text.

Only what the examples need, and nothing that hides the Calyx underneath: a name given to a cell or
a group is its name in the program.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

INDENT = "  "


@dataclass(frozen=True)
class Enable:
    """Run one group to its end."""

    group: str


@dataclass(frozen=True)
class Invoke:
    """Run an instance of a component to its end.

    Attributes:
        cell: the instance.
        refs: the instance's ref cells, each with the cell that stands for it in this call.
        inputs: the instance's input ports, each with what drives it.
    """

    cell: str
    refs: Mapping[str, str] = field(default_factory=dict)
    inputs: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Seq:
    """Run statements one after another; `static` promises that each takes a fixed time."""

    body: Sequence[Control]
    static: bool = False


@dataclass(frozen=True)
class Par:
    """Run statements side by side; the end is the end of the slowest."""

    body: Sequence[Control]
    static: bool = False


@dataclass(frozen=True)
class If:
    """Run one statement or another, by a port that a combinational group may compute."""

    port: str
    then: Control
    otherwise: Control | None = None
    using: str | None = None


@dataclass(frozen=True)
class While:
    """Run a statement as long as a port, which a combinational group may compute, is high.

    `bound`, if not 0, promises how many times that will be.
    """

    port: str
    body: Control
    using: str | None = None
    bound: int = 0


Control = Enable | Invoke | Seq | Par | If | While


def _condition(word: str, port: str, using: str | None) -> str:
    return f"{word} {port} with {using} {{" if using else f"{word} {port} {{"


def _bindings(pairs: Mapping[str, str]) -> str:
    return ", ".join(f"{name}={value}" for name, value in pairs.items())


def control_lines(node: Control) -> Iterator[str]:
    """Yield the lines of a control tree, indented from its own root."""
    match node:
        case Enable(group):
            yield f"{group};"
        case Invoke(cell, refs, inputs):
            bound = f"[{_bindings(refs)}]" if refs else ""
            yield f"invoke {cell}{bound}({_bindings(inputs)})();"
        case Seq(body, static) | Par(body, static):
            word = "seq {" if isinstance(node, Seq) else "par {"
            yield f"static {word}" if static else word
            for child in body:
                yield from _indented(control_lines(child))
            yield "}"
        case While(port, loop, using, bound):
            promise = f"@bound({bound}) " if bound else ""
            yield promise + _condition("while", port, using)
            yield from _indented(control_lines(loop))
            yield "}"
        case If(port, then, otherwise, using):
            yield _condition("if", port, using)
            yield from _indented(control_lines(then))
            if otherwise is None:
                yield "}"
            else:
                yield "} else {"
                yield from _indented(control_lines(otherwise))
                yield "}"


def _indented(lines: Iterator[str]) -> Iterator[str]:
    for line in lines:
        yield INDENT + line


class Component:
    """A Calyx component under construction.

    Args:
        name: its name in the program.
        about: a comment of one line before it.
        inputs: input ports with their widths in bits.
        outputs: output ports with their widths in bits.
    """

    def __init__(
        self,
        name: str,
        about: str,
        inputs: Mapping[str, int] | None = None,
        outputs: Mapping[str, int] | None = None,
    ) -> None:
        self.name = name
        self.about = about
        self.inputs = dict(inputs or {})
        self.outputs = dict(outputs or {})
        self.control: Control | None = None
        self._cells: dict[str, str] = {}
        self._groups: list[list[str]] = []
        self._always: list[str] = []

    def cell(self, name: str, kind: str, *parameters: int, prefix: str = "") -> str:
        """Instantiate a primitive or a component.

        Args:
            name: the cell's name.
            kind: the primitive or component.
            *parameters: the primitive's parameters.
            prefix: `ref`, or an attribute such as `@external`.

        Returns:
            The cell's name.

        Raises:
            ValueError: if the component has a cell of that name.
        """
        if name in self._cells:
            raise ValueError(f"component {self.name} has two cells named {name}")
        values = ", ".join(str(parameter) for parameter in parameters)
        self._cells[name] = f"{prefix} {name} = {kind}({values});".strip()
        return name

    def always(self, *assignments: str) -> None:
        """Add assignments that hold in every cycle."""
        self._always.extend(f"{assignment};" for assignment in assignments)

    def group(self, name: str, *assignments: str, done: str) -> Enable:
        """Add a group, and return the statement that runs it.

        Args:
            name: the group's name.
            *assignments: what it assigns while it runs, without semicolons.
            done: the expression that ends it.
        """
        lines = [f"{INDENT}{line};" for line in (*assignments, f"{name}[done] = {done}")]
        self._groups.append([f"group {name} {{", *lines, "}"])
        return Enable(name)

    def static_group(self, name: str, *assignments: str, cycles: int = 1) -> Enable:
        """Add a group that takes so many cycles, and return the statement that runs it."""
        lines = [f"{INDENT}{line};" for line in assignments]
        self._groups.append([f"static<{cycles}> group {name} {{", *lines, "}"])
        return Enable(name)

    def comb_group(self, name: str, *assignments: str) -> str:
        """Add a combinational group, and return its name for a condition."""
        lines = [f"{INDENT}{line};" for line in assignments]
        self._groups.append([f"comb group {name} {{", *lines, "}"])
        return name

    def render(self) -> str:
        """Return the component as Calyx text.

        Raises:
            ValueError: if it has been given no control.
        """
        if self.control is None:
            raise ValueError(f"component {self.name} has no control")
        inputs, outputs = (
            ", ".join(f"{port}: {width}" for port, width in ports.items())
            for ports in (self.inputs, self.outputs)
        )
        wires = [line for group in self._groups for line in group] + self._always
        sections = {
            "cells": list(self._cells.values()),
            "wires": wires,
            "control": list(control_lines(self.control)),
        }
        lines = [f"// {self.about}", f"component {self.name}({inputs}) -> ({outputs}) {{"]
        for title, body in sections.items():
            lines += [f"{INDENT}{title} {{", *(f"{INDENT}{INDENT}{line}" for line in body)]
            lines += [f"{INDENT}}}"]
        return "\n".join([*lines, "}"]) + "\n"


def program(imports: Sequence[str], components: Sequence[Component], about: str) -> str:
    """Return a whole program: a comment, the imported libraries, the components in order."""
    head = "".join(f"// {line}\n" for line in about.splitlines())
    head += "".join(f'import "primitives/{name}.futil";\n' for name in imports)
    return head + "\n" + "\n".join(component.render() for component in components)
