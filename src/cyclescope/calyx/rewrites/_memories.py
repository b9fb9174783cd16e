"""Accesses to memories: groups that do no more than load a register, or store one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cyclescope.calyx.rewrites._lengths import is_one
from cyclescope.calyx.rewrites._scope import cell_of, references

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cyclescope.calyx._syntax import Assignment, GroupText, Statement
    from cyclescope.calyx.rewrites._scope import Scope

__all__ = ["Load", "Store", "access", "alone", "changed", "dimensions", "high", "writers"]

# An address as a term: constants and registers at the leaves, combinational cells between.
Term = tuple["str | Term", ...] | str

_DEEP = 12  # levels of an address that are followed
_ZERO = frozenset(("1'd0", "1'b0", "1'h0", "1'x0", "1'o0"))


@dataclass(frozen=True)
class Load:
    """A group that loads a register from a memory.

    Attributes:
        memory, register: the cells.
        address: what the memory's address is, as a term.
        depends: the registers in it.
    """

    memory: str
    register: str
    address: Term
    depends: frozenset[str]


@dataclass(frozen=True)
class Store:
    """A group that stores what a register has; as `Load`."""

    memory: str
    register: str
    address: Term
    depends: frozenset[str]


def dimensions(scope: Scope, cell: str) -> int:
    """The number of addresses that a memory of the library takes; 0 of another cell."""
    found = scope.cells.get(cell)
    head, _, count = (found.type if found else "").rpartition("_d")
    return int(count) if head in ("comb_mem", "seq_mem") and count.isdecimal() else 0


def high(assignment: Assignment, guards: tuple[str | None, ...]) -> bool:
    """Return whether an assignment gives 1, under one of some guards."""
    return is_one(assignment.src) and assignment.guard in guards


def access(scope: Scope, group: GroupText) -> Load | Store | None:
    """The load or store that a group is; None if it is none, or does more."""
    if group.comb:
        return None
    given: dict[str, Assignment] = {}
    for assignment in group.assignments:
        if assignment.dst in given:
            return None
        given[assignment.dst] = assignment
    memories = {c for dst in given if dimensions(scope, c := cell_of(dst))}
    if len(memories) != 1:
        return None
    (memory,) = memories
    done = given.pop(f"{group.name}[done]", None)
    if (done is None) != (group.latency is not None) or (done is not None and done.guard):
        return None
    ended = done.src if done is not None else None
    writes = given.pop(f"{memory}.write_en", None)
    if writes is None or (writes.src in _ZERO and writes.guard is None):
        return _load(scope, memory, given, ended)
    if ended is None and group.latency != 1:
        return None
    if high(writes, (None,)) and ended in (None, f"{memory}.done"):
        return _store(scope, memory, given)
    return None


def _load(
    scope: Scope, memory: str, given: dict[str, Assignment], ended: str | None
) -> Load | None:
    taking = [a for a in given.values() if a.src == f"{memory}.read_data"]
    if len(taking) != 1:
        return None
    register = cell_of(taking[0].dst)
    taken, written = given.pop(f"{register}.in", None), given.pop(f"{register}.write_en", None)
    if taken is not taking[0] or written is None or ended not in (None, f"{register}.done"):
        return None
    if not scope.is_register(register):
        return None
    answered = f"{memory}.done"
    if scope.cells[memory].type.startswith("seq_mem"):
        enabled = given.pop(f"{memory}.content_en", None)
        fixed = ended is None
        if enabled is None or not high(enabled, (None, "%[0:1]" if fixed else f"!{answered}")):
            return None
        awaited = high(written, ("%1" if fixed else answered,)) or (
            not fixed and written.src == answered and written.guard in (None, answered)
        )
        if not awaited or taken.guard not in (None, answered):
            return None
    elif not high(written, (None,)) or taken.guard is not None:
        return None
    found = _address(scope, memory, given)
    return None if found is None else Load(memory, register, *found)


def _store(scope: Scope, memory: str, given: dict[str, Assignment]) -> Store | None:
    data = given.pop(f"{memory}.write_data", None)
    if data is None or data.guard is not None or not data.src.endswith(".out"):
        return None
    register = cell_of(data.src)
    if scope.cells[memory].type.startswith("seq_mem"):
        enabled = given.pop(f"{memory}.content_en", None)
        if enabled is None or not high(enabled, (None,)):
            return None
    if not scope.is_register(register):
        return None
    found = _address(scope, memory, given)
    return None if found is None else Store(memory, register, *found)


def _address(
    scope: Scope, memory: str, given: dict[str, Assignment]
) -> tuple[Term, frozenset[str]] | None:
    """The address, if all that is left of a group computes it."""
    used: set[str] = set()
    depends: set[str] = set()
    ports = [f"{memory}.addr{n}" for n in range(dimensions(scope, memory))]
    terms = [_driven(scope, port, given, used, depends, 0) for port in ports]
    if any(term is None for term in terms) or set(given) - used:
        return None
    return tuple(term for term in terms if term is not None), frozenset(depends)


def _driven(
    scope: Scope,
    port: str,
    given: dict[str, Assignment],
    used: set[str],
    depends: set[str],
    depth: int,
) -> Term | None:
    """The driver of a port, as a term: in the group, or continuously."""
    inside = given.get(port)
    always = [a for a in scope.continuous if a.dst == port]
    if depth > _DEEP or len(always) + (inside is not None) != 1:
        return None
    assignment = inside or always[0]
    if assignment.guard is not None:
        return None
    used.add(port)
    source = assignment.src
    named = references(source)
    if not named:
        return source  # a constant
    cell, _, output = source.partition(".")
    if scope.is_register(cell) and output == "out" and "" not in scope.drivers[cell]:
        depends.add(cell)
        return source
    if not scope.is_comb(cell):
        return None
    found, primitive = scope.cells[cell], scope.primitives[scope.cells[cell].type]
    parts = [
        _driven(scope, f"{cell}.{p.name}", given, used, depends, depth + 1)
        for p in primitive.inputs
    ]
    if any(part is None for part in parts):
        return None
    return (found.type, *found.args, output, *(part for part in parts if part is not None))


def alone(scope: Scope, memory: str) -> bool:
    """Return whether nothing uses a memory but groups that read what they ask for themselves."""
    drivers, readers = scope.drivers[memory], scope.readers[memory]
    if "" in drivers or not readers <= drivers or "control" in readers:
        return False
    asks = "content_en" if scope.cells[memory].type.startswith("seq_mem") else "addr0"
    reading = (scope.groups[name] for name in readers if name in scope.groups)
    return all(any(a.dst == f"{memory}.{asks}" for a in group.assignments) for group in reading)


def writers(scope: Scope, memory: str) -> Iterator[GroupText]:
    """The groups that may write a memory."""
    for group in scope.groups.values():
        if any(
            a.dst == f"{memory}.write_en" and not (a.src in _ZERO and a.guard is None)
            for a in group.assignments
        ):
            yield group


def changed(scope: Scope, statement: Statement) -> frozenset[str]:
    """The cells whose state a statement may change; a memory that is read alone keeps its own."""
    drives = scope.effects(statement).drives
    if drives >= set(scope.cells):
        return drives
    invoked = scope.invoked_in(statement)
    enabled = scope.groups_in(statement)
    kept = {
        cell
        for cell in drives
        if dimensions(scope, cell)
        and cell not in invoked
        and not any(group.name in enabled for group in writers(scope, cell))
    }
    return drives - kept
