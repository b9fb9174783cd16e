"""The same program with a group that takes longer: a delay put in, to see what it does to the run.

A static group keeps what it does in its first cycles, and is idle in those that are added. Another
group counts its cycles, waits in the first ones, and does then what it did. So the state that it
leaves is the same, only later.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope.calyx._copies import write_copies
from cyclescope.calyx._syntax import Assignment, CellText, GroupText, names_in, walk
from cyclescope.calyx._text import read_program
from cyclescope.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

    from cyclescope.calyx._syntax import ComponentText, Statement

__all__ = ["lengthened"]


def lengthened(
    path: Path,
    folder: Path,
    component: str,
    group: str,
    *,
    length: int,
    more: int,
    promoted: bool,
) -> Path:
    """Write a copy of a program in which each activation of a group takes more cycles.

    Args:
        path: the program.
        folder: for the copy.
        component: the name of the component that the group is in.
        group: its name.
        length: cycles that it takes; the same in every activation.
        more: cycles to add, at least 1.
        promoted: whether the compiler schedules it statically, which it is to do still.

    Returns:
        The copy's main file.

    Raises:
        SourceError: the program cannot be read.
        InputError: it has no such group, or what is around it promises its length.
    """
    from cyclescope.sim import current_trust

    texts = read_program(path, bound=current_trust().refuse)
    found: list[GroupText] = []

    def change(component_text: ComponentText, _file: str) -> None:
        if component_text.name != component:
            return
        for wire in component_text.wires:
            if isinstance(wire, GroupText) and wire.name == group and not wire.comb:
                found.append(wire)
                _lengthen(component_text, wire, length, more, promoted=promoted)
                break

    copy = write_copies(texts, folder, change)
    if not found:
        raise InputError(f"{path}: {component} has no group {group} with a length")
    return copy


def _lengthen(
    component: ComponentText, group: GroupText, length: int, more: int, *, promoted: bool
) -> None:
    around = _around(component.control or [], group.name)
    if component.latency is not None or any(s.latency is not None for s in around):
        raise InputError(
            f"{group.name}: what is around it promises its length (static<…>), so that the group"
            " cannot be made longer there"
        )
    if group.latency is not None:
        for assignment in group.assignments:
            if "%" not in (assignment.guard or ""):
                assignment.guard = _both(f"%[0:{group.latency}]", assignment.guard)
        group.latency += more
        return
    if promoted:
        group.attributes["promotable"] = length + more
    else:
        group.attributes.pop("promotable", None)
    _count(component, group, more, length + more if promoted else None)


def _around(statements: list[Statement], name: str) -> list[Statement]:
    """The statements that have an enable of a group in them."""
    every = list(walk(statements))
    return [s for s in every if any(i.name == name and i.kind == "enable" for i in walk([s]))]


def _both(condition: str, guard: str | None) -> str:
    return condition if guard is None else f"{condition} & ({guard})"


def _count(component: ComponentText, group: GroupText, more: int, length: int | None) -> None:
    """Let a group wait for its first cycles.

    One of a known length may begin again in the cycle after its last, and counts anew then; another
    one is not active in the cycle in which it is done.
    """
    taken = names_in(component)

    def cell(stem: str, kind: str, width: int) -> str:
        name = f"{group.name}_{stem}"
        while name in taken:
            name += "_"
        taken.add(name)
        component.cells.append(CellText(name, kind, [str(width)], False, {}))
        return name

    last = more if length is None else length - 1
    width = max(last, 1).bit_length()
    active, count = cell("active", "std_wire", 1), cell("count", "std_reg", width)
    up, begun, over = (
        cell("up", "std_add", width), cell("begun", "std_ge", width), cell("over", "std_eq", width)
    )  # fmt: skip
    # Seen through a wire, no cell's `done` ends the group: the compiler would take it apart, and
    # its parts would not know how long it has been active.
    ended = cell("ended", "std_wire", 1)
    done = [a for a in group.assignments if a.dst == f"{group.name}[done]"]
    group.assignments = [a for a in group.assignments if a not in done]
    for assignment in group.assignments:
        assignment.guard = _both(f"{begun}.out", assignment.guard)
    component.wires += [Assignment(f"{ended}.in", a.guard, a.src) for a in done]
    group.assignments += [
        Assignment(f"{group.name}[done]", None, f"{ended}.out"),
        Assignment(f"{active}.in", None, "1'd1"),
    ]

    def number(value: int) -> str:
        return f"{width}'d{value}"

    counting, after = f"{active}.out & !{over}.out", f"{active}.out & {over}.out"
    component.wires += [
        Assignment(f"{up}.left", None, f"{count}.out"),
        Assignment(f"{up}.right", None, number(1)),
        Assignment(f"{begun}.left", None, f"{count}.out"),
        Assignment(f"{begun}.right", None, number(more)),
        Assignment(f"{over}.left", None, f"{count}.out"),
        Assignment(f"{over}.right", None, number(last)),
        Assignment(f"{count}.write_en", None, "1'd1"),
        Assignment(f"{count}.in", counting, f"{up}.out"),
        Assignment(f"{count}.in", after, f"{count}.out" if length is None else number(0)),
        Assignment(f"{count}.in", f"!{active}.out", number(0)),
    ]
