"""A program whose groups take longer in the control that it was measured with.

The pass `lengthen` changes the groups as they are when the compiler has split, shared and inlined
what it wanted; so these decisions are those of the measured run. What of the control it makes
static, and in which blocks, it decides afterwards, and may decide otherwise: an `if` whose branches
differ in length by more than a limit stays dynamic. Then the limit is lifted; and if the control is
another one even so, that is said.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cyclescope.calyx._compile import compile_as
from cyclescope.calyx._frames import ComponentFrames
from cyclescope.calyx._judge import run_compiled
from cyclescope.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from cyclescope.calyx._compile import Program
    from cyclescope.calyx._judge import Outcome
    from cyclescope.calyx._record import ComponentRecord, Record
    from cyclescope.calyx._source import CalyxOptions
    from cyclescope.model import Frame

__all__ = ["LongerRun", "run_longer"]

# Statements whose group can take longer; a condition's group has no length of its own.
_RUNS_A_GROUP = frozenset({"enable", "invoke", "static invoke"})
# Wider than any two branches differ.
_NO_LIMIT = "static-promotion:if-diff-limit=4294967295"


@dataclass(frozen=True)
class LongerRun:
    """A run with longer groups.

    Attributes:
        outcome: its cycles and memories.
        same_control: the compiler made the same blocks static and compiled the same blocks to
            state machines as for the measured run.
    """

    outcome: Outcome
    same_control: bool


def run_longer(
    path: Path,
    data: Path | None,
    options: CalyxOptions,
    more: Mapping[Frame, int],
    limit: int | None = None,
) -> LongerRun:
    """Run a program in which each activation of some groups takes more cycles.

    Args:
        path: the program.
        data: its memories; None if it has none.
        options: how the measured run was compiled, by the built-in compiler.
        more: cycles to add to the group of each of these frames, at least 1.
        limit: stop after so many cycles.

    Raises:
        InputError: a frame is none whose group can take longer.
        SourceError, DataError, ToolError, RunError, OutputError: see `cyclescope.errors`.
    """
    from cyclescope.sim import read_data

    options = replace(options, compiler=None)
    measured = compile_as(path, options, instrument=True)
    longer = _statements(measured, more)
    wanted = _control(measured.record)
    program = compile_as(path, options, instrument=True, longer=longer)
    same = _control(program.record) == wanted
    if not same:
        lifted = replace(options, options=(*options.options, _NO_LIMIT))
        other = compile_as(path, lifted, instrument=True, longer=longer)
        if _control(other.record) == wanted:
            program, same = other, True
    values = read_data(data) if data else {}
    return LongerRun(run_compiled(program, values, data, limit), same)


def _statements(program: Program, more: Mapping[Frame, int]) -> list[tuple[int, int, bool]]:
    """The statements of some frames, as the compiler takes them."""
    wanted = {(frame.component, frame.name): cycles for frame, cycles in more.items()}
    found: dict[tuple[str, str], list[tuple[int, int, bool]]] = {key: [] for key in wanted}
    for name, component in program.record.components.items():
        static = {leaf for block in component.statics for leaf in block.leaves}
        probes: dict[int, set[str]] = {}
        for group in component.groups:
            for node in group.nodes:
                probes.setdefault(node, set()).add(group.probe)
        frames = ComponentFrames(program, name, component)
        for node in frames.tree.parent:
            if program.record.nodes[node].kind in _RUNS_A_GROUP and node in probes:
                key = (name, frames.node(node).name)
                if key in found:
                    found[key].append((node, wanted[key], probes[node] <= static))
        for group in component.groups:
            places = frames.tree.sites(group.nodes)
            keys = [(name, frames.node(node).name) for node in places]
            if len({wanted.get(key) for key in keys}) > 1:
                raise InputError(
                    f"{keys[0][1]}: the group is one in {len(keys)} places; give its name alone,"
                    f" {group.name}"
                )
    for (component_name, name), statements in found.items():
        if not statements:
            raise InputError(f"{name}: {component_name} has no group of that name with a length")
    return [statement for statements in found.values() for statement in statements]


def _control(record: Record) -> dict[str, tuple[Counter[object], Counter[object]]]:
    """The blocks of each component that are static, and those that are state machines."""
    return {name: _blocks(component) for name, component in record.components.items()}


def _blocks(component: ComponentRecord) -> tuple[Counter[object], Counter[object]]:
    nodes = {group.probe: group.nodes for group in component.groups}

    def inside(leaves: Iterable[str]) -> frozenset[tuple[int, ...]]:
        return frozenset(nodes[leaf] for leaf in leaves)

    # Without a group in it, it is a wait before a step that the compiler starts later.
    static: Counter[object] = Counter(
        (s.kind, inside(s.leaves)) for s in component.statics if s.leaves
    )
    compiled: Counter[object] = Counter(
        (c.kind, inside(c.leaves), c.final_state) for c in component.compiled
    )
    return static, compiled
