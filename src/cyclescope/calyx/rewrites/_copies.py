"""Reads of one memory at different addresses side by side, each from a copy of the memory.

A memory answers one at a time. What is written to it is written to all copies in the same cycle,
so that each has what the memory has; the compiler's later steps, or the next rewrites, run the
reads in one step.

Precondition: the memory is the component's own, neither read nor written by anybody outside, and
nothing uses it but groups that read what they ask for themselves. The reads depend on each other
through nothing but the memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope._edits import Edit
from cyclescope._rewrites import Claim
from cyclescope.calyx.rewrites._earliest import levels
from cyclescope.calyx.rewrites._memories import Load, access, alone, dimensions, writers
from cyclescope.calyx.rewrites._order import dependences
from cyclescope.calyx.rewrites._rewrite import CalyxRewrite, after_last_cell, bare, candidate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cyclescope._rewrites import Candidate
    from cyclescope.calyx._syntax import Assignment, Statement
    from cyclescope.calyx.rewrites._scope import Scope

__all__ = ["REWRITE"]

_MOST = 7  # copies of one memory at a time


def _find(scope: Scope) -> Iterator[Candidate]:
    if not scope.plain or scope.aliased():
        return
    own = [cell for cell in scope.cells if _own(scope, cell)]
    loads = {
        name: found.memory
        for name, group in scope.groups.items()
        if isinstance(found := access(scope, group), Load) and found.memory in own
    }
    if not loads:
        return
    for block in scope.statements:
        if block.kind == "seq" and block.latency is None and bare(block):
            yield from _in_block(scope, block, loads)


def _own(scope: Scope, cell: str) -> bool:
    """Return whether a memory is the component's alone."""
    found = scope.cells[cell]
    return (
        dimensions(scope, cell) > 0
        and not found.reference
        and not {"external", "data"} & set(found.attributes)
        and "invoke" not in scope.drivers[cell]
        and alone(scope, cell)
    )


def _in_block(scope: Scope, block: Statement, loads: dict[str, str]) -> Iterator[Candidate]:
    for memory in dict.fromkeys(loads.values()):
        reading = [
            n
            for n, s in enumerate(block.body)
            if s.kind == "enable" and loads.get(s.name) == memory
        ]
        if len(reading) < 2:
            continue
        # Two reads are no matter of order; a read and a write are.
        written = {g.name for g in writers(scope, memory)}
        before = dependences(scope, block.body, but=(memory,))
        for n, statement in enumerate(block.body):
            for m, other in enumerate(block.body[:n]):
                if _meet(scope, statement, other, memory, written):
                    before[n].add(m)
        wanted: dict[str, int] = {}
        for step in levels(before):
            names = dict.fromkeys(block.body[n].name for n in step if n in reading)
            wanted |= {name: at for at, name in enumerate(names) if at}
        if wanted and max(wanted.values()) <= _MOST:
            yield _made(scope, block, memory, wanted)


def _meet(scope: Scope, one: Statement, other: Statement, memory: str, written: set[str]) -> bool:
    """Return whether one of two statements writes a memory that both use."""
    uses = all(memory in scope.effects(s).drives | scope.effects(s).reads for s in (one, other))
    return uses and bool(written & (scope.groups_in(one) | scope.groups_in(other)))


def _made(scope: Scope, block: Statement, memory: str, wanted: dict[str, int]) -> Candidate:
    """The n-th copy for each group of `wanted`."""
    found = scope.cells[memory]
    count = max(wanted.values())
    names = {n: scope.fresh(f"{memory}_copy{n}") for n in range(1, count + 1)}
    made = f"{found.type}({', '.join(found.args)});"
    edits = [after_last_cell(scope, f"{name} = {made}") for name in names.values()]
    for group in writers(scope, memory):
        given = [a for a in group.assignments if a.dst.startswith(f"{memory}.")]
        at = given[-1].span[1]
        texts = ["".join(_for(a, memory, name) for a in given) for name in names.values()]
        edits += [Edit(at, at, text.encode()) for text in texts]
    for group_name, number in wanted.items():
        for assignment in scope.groups[group_name].assignments:
            edits += scope.renamed(assignment.span, memory, names[number])
    reason = f"each of {count} copies of {memory} is written whenever it is"
    return candidate(
        NAME, scope, f"{scope.place(block)}: {memory}", block.start, Claim.CONSTRUCTION, reason,
        edits, premises=(block,),
    )  # fmt: skip


def _for(assignment: Assignment, memory: str, name: str) -> str:
    """An assignment to a memory's port, for a copy's."""
    port = assignment.dst.removeprefix(f"{memory}.")
    guard = f"{assignment.guard} ? " if assignment.guard else ""
    return f"\n      {name}.{port} = {guard}{assignment.src};"


NAME = "copy-memory"
REWRITE = CalyxRewrite(
    NAME,
    "Read a memory at several addresses at once, each from a copy that is written with it.",
    opens=True,
    find=_find,
)
