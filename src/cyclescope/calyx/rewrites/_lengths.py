"""The length of a group in cycles: by its structure, or as it was in every activation of a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cyclescope._rewrites import Claim
from cyclescope.calyx.rewrites._scope import cell_of, references

if TYPE_CHECKING:
    from cyclescope.calyx._syntax import Assignment, GroupText
    from cyclescope.calyx.rewrites._scope import Scope

__all__ = ["Length", "is_one", "length"]

# Cycles from the first in which `go` is high to the one in which `done` is. The multipliers start
# anew in every cycle; what has a length but one operation at a time is not here.
_LATENCIES = {
    "std_mult_pipe": 3,
    "std_smult_pipe": 3,
    "std_fp_mult_pipe": 3,
    "std_fp_smult_pipe": 3,
    "seq_mem_d1": 1,
    "seq_mem_d2": 1,
    "seq_mem_d3": 1,
    "seq_mem_d4": 1,
}


@dataclass(frozen=True)
class Length:
    """A group's length.

    Attributes:
        cycles: the length.
        claim, reason: how it is known.
        start, answer: where a register waits for another cell, the assignment that starts the
            cell and the one that writes the register when it is done.
    """

    cycles: int
    claim: Claim
    reason: str
    start: Assignment | None = None
    answer: Assignment | None = None


def length(scope: Scope, group: GroupText) -> Length | None:
    """The length of a group; None if nothing tells it."""
    if group.latency is not None:
        return Length(group.latency, Claim.CONSTRUCTION, "it is declared so")
    seen = scope.facts.lengths.get((scope.name, group.name))
    structure = _by_structure(scope, group)
    if structure is not None and seen in (None, structure.cycles):
        return structure
    promised = group.attributes.get("promotable")
    if seen is not None:
        return Length(seen, Claim.DATA, f"{seen} cycles in every activation of the run")
    if isinstance(promised, int):
        return Length(promised, Claim.CONSTRUCTION, "it is declared so")
    return None


def _by_structure(scope: Scope, group: GroupText) -> Length | None:
    done = [a for a in group.assignments if a.dst == f"{group.name}[done]"]
    if len(done) != 1 or done[0].guard is not None or not done[0].src.endswith(".done"):
        return None
    register = cell_of(done[0].src)
    found = scope.cells.get(register)
    if found is None:
        return None
    if found.type.startswith("seq_mem_d"):
        if _always(group, f"{register}.content_en"):
            return Length(1, Claim.CONSTRUCTION, f"{register} answers in the next cycle")
        return None
    if found.type.startswith("comb_mem_d"):
        if _always(group, f"{register}.write_en"):
            return Length(1, Claim.CONSTRUCTION, f"{register} is written in the first cycle")
        return None
    if found.type != "std_reg":
        return None
    if _always(group, f"{register}.write_en"):
        return Length(1, Claim.CONSTRUCTION, f"{register} is written in the first cycle")
    cell = _awaited(group, register)
    kind = scope.cells.get(cell or "")
    if cell is None or kind is None or kind.type not in _LATENCIES:
        return None
    start = "content_en" if kind.type.startswith("seq_mem") else "go"
    if not _always(group, f"{cell}.{start}", but=f"!{cell}.done"):
        return None
    for assignment in group.assignments:
        given = cell_of(assignment.dst) == cell
        named = [*references(assignment.src), *references(assignment.guard)]
        if given and register in scope.behind_group(group, named):
            return None
    cycles = _LATENCIES[kind.type] + 1
    reason = f"{register} is written when {cell} is done, after {cycles - 1}"
    return Length(
        cycles, Claim.CONSTRUCTION, reason,
        start=_only(group, f"{cell}.{start}"), answer=_only(group, f"{register}.write_en"),
    )  # fmt: skip


def _only(group: GroupText, port: str) -> Assignment | None:
    found = [a for a in group.assignments if a.dst == port]
    return found[0] if len(found) == 1 else None


def _always(group: GroupText, port: str, but: str | None = None) -> bool:
    """Return whether a port is high whenever the group is active, or whenever `but` holds."""
    found = _only(group, port)
    return found is not None and is_one(found.src) and found.guard in (None, but)


def _awaited(group: GroupText, register: str) -> str | None:
    """The cell whose `done` writes a register."""
    found = _only(group, f"{register}.write_en")
    if found is None:
        return None
    if found.guard is None and found.src.endswith(".done"):
        return cell_of(found.src)
    if found.guard is not None and is_one(found.src) and found.guard.endswith(".done"):
        named = references(found.guard)
        return cell_of(found.guard) if named == [found.guard] else None
    return None


def is_one(constant: str) -> bool:
    """Return whether a source is the constant 1 of one bit."""
    return constant in ("1'd1", "1'b1", "1'h1", "1'x1", "1'o1")
