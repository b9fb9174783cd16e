"""A value that was read from a memory is in a register: the second read takes it from there.

A memory answers one at a time, and one that is synchronous in the next cycle. A group that loads
what an earlier group has loaded, or stored from a register, becomes a copy from that register.

Precondition: on every way to the second read the first one, or a store of that register, came
before with the same address, a term of constants and registers; since then neither the memory was
written nor that register or one of the address. Nothing reads the memory's output but groups that
give it an address themselves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope._edits import Edit
from cyclescope._rewrites import Claim
from cyclescope.calyx.rewrites._memories import Load, access, alone, changed
from cyclescope.calyx.rewrites._rewrite import CalyxRewrite, bare, candidate, delete

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cyclescope._rewrites import Candidate
    from cyclescope.calyx._syntax import GroupText, Statement
    from cyclescope.calyx.rewrites._memories import Store
    from cyclescope.calyx.rewrites._scope import Scope

__all__ = ["REWRITE"]

# What is known at a point of the control: the registers that have what a memory has, and where.
_Known = frozenset["Load | Store"]


def _find(scope: Scope) -> Iterator[Candidate]:
    if scope.plain and not scope.aliased():
        yield from _Reads(scope).candidates()


class _Reads:
    """Follows the control, and collects loads of what a register has."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.accesses = {
            name: found
            for name, group in scope.groups.items()
            if (found := access(scope, group)) and self._own(found)
        }
        self.found: list[tuple[Statement, Load, str]] = []

    def candidates(self) -> Iterator[Candidate]:
        if sum(isinstance(a, Load) for a in self.accesses.values()) == 0:
            return
        self._sequence(self.scope.component.control or [], frozenset())
        for statement, load, register in self.found:
            yield self._made(statement, load, register)

    def _own(self, found: Load | Store) -> bool:
        """Return whether no more than groups with an address use the memory."""
        cells = (found.register, *found.depends)
        return alone(self.scope, found.memory) and all(
            "" not in self.scope.drivers[cell] for cell in cells
        )

    def _sequence(self, statements: Iterable[Statement], known: _Known) -> _Known:
        for statement in statements:
            known = self._after(statement, known)
        return known

    def _after(self, statement: Statement, known: _Known) -> _Known:
        kind = statement.kind
        if kind == "enable":
            return self._enabled(statement, known)
        if kind == "seq":
            return self._sequence(statement.body, known)
        if kind == "if":
            known = self._kept(known, self._condition(statement))
            yes = self._sequence(statement.body, known)
            return yes & self._sequence(statement.otherwise or (), known)
        lost = changed(self.scope, statement)
        if kind in ("while", "repeat"):
            known = self._kept(known, lost)
            self._sequence(statement.body, known)
            return known
        if kind == "par":
            for arm in statement.body:
                others = [changed(self.scope, s) for s in statement.body if s is not arm]
                self._after(arm, self._kept(known, frozenset().union(*others)))
        return self._kept(known, lost)

    def _condition(self, statement: Statement) -> frozenset[str]:
        group = statement.with_group
        return self.scope.group_effects(group).drives if group else frozenset()

    def _enabled(self, statement: Statement, known: _Known) -> _Known:
        found = self.accesses.get(statement.name)
        if isinstance(found, Load) and bare(statement):
            same = [
                k.register for k in known if k.memory == found.memory and k.address == found.address
            ]
            if same:
                # The register itself, if it has the value: then there is nothing to do.
                register = found.register if found.register in same else min(same)
                self.found.append((statement, found, register))
        known = self._kept(known, changed(self.scope, statement))
        if found is not None and (
            not isinstance(found, Load) or found.register not in found.depends
        ):
            known |= {found}
        return known

    @staticmethod
    def _kept(known: _Known, lost: frozenset[str]) -> _Known:
        return frozenset(
            k for k in known if lost.isdisjoint((k.memory, k.register)) and not lost & k.depends
        )

    def _made(self, statement: Statement, load: Load, register: str) -> Candidate:
        scope, group = self.scope, self.scope.groups[statement.name]
        place = f"{scope.place(statement)}: {load.memory}"
        reason = f"{register} has what is read, and {load.memory} was not written since"
        # A group that nothing enables would not compile: the last statement takes it along.
        last = len(scope.enables[group.name]) == 1 and group.name not in scope.called
        above = scope.parents.get(id(statement))
        several = above is not None and above.kind == "seq" and len(above.body) > 1
        edits: list[Edit] = []
        premises: list[Statement | GroupText] = [group]
        if register == load.register and several and above is not None:
            # Something is left in the block; elsewhere a copy to itself changes nothing.
            premises.append(above)
            edits.append(delete(scope.text, *statement.span))
            if last:
                edits.append(delete(scope.text, *group.span))
        else:
            edits += self._copied(statement, load, register, last=last)
        return candidate(
            NAME, scope, place, statement.start, Claim.CONSTRUCTION, reason, edits, premises
        )

    def _copied(
        self, statement: Statement, load: Load, register: str, *, last: bool
    ) -> Iterator[Edit]:
        """The group's text, or a new group's, as a copy from one register to the other."""
        scope, group = self.scope, self.scope.groups[statement.name]
        name = group.name if last else scope.fresh(f"{group.name}_from_{register}")
        fixed = group.latency is not None
        done = "" if fixed else f"      {name}[done] = {load.register}.done;\n"
        copy = (
            f"{'static<1> ' if fixed else ''}group {name} {{\n"
            f"      {load.register}.in = {register}.out;\n"
            f"      {load.register}.write_en = 1'd1;\n{done}    }}"
        )
        if last:
            yield Edit(*group.span, copy.encode())
            return
        yield Edit(group.span[1], group.span[1], f"\n    {copy}".encode())
        start = statement.start
        yield Edit(start, start + len(statement.name.encode()), name.encode())


NAME = "keep-read"
REWRITE = CalyxRewrite(
    NAME,
    "Take what was read from a memory before, or written to it, from the register that has it.",
    opens=True,
    find=_find,
)
