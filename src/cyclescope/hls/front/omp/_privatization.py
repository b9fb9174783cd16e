"""A construct's own copies of variables: `private`, `firstprivate`, `lastprivate`."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from cyclescope.c import Array as CArray
from cyclescope.hls.front._context import Location
from cyclescope.hls.front._layout import is_flat, leaves, size_of
from cyclescope.hls.front.omp._worksharing import Dealing
from cyclescope.hls.ir._graph import Op, Place

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cyclescope.c import CType, Range, Stmt, Variable
    from cyclescope.hls.front.omp._directives import Directive
    from cyclescope.hls.ir._graph import Array, Value

__all__ = ["Copies", "innermost"]


def innermost(kind: CType) -> CType:
    """What an array is made of."""
    while isinstance(kind, CArray):
        kind = kind.element
    return kind


class Copies(Dealing):
    """Gives threads variables of their own for a while."""

    def in_memory(self, name: str) -> Variable | None:
        """The variable of a name that is in a memory; None if there is none."""
        known = [v for v in (*self.memories, *self.bases) if v.name == name]
        if not known and name in self.mentioned and not any(v.name == name for v in self.env):
            self.outer(self.mentioned[name])  # only a function that is called later names it
            known = [v for v in self.memories if v.name == name]
        return known[0] if known else None

    @contextmanager
    def private(self, directive: Directive) -> Iterator[None]:
        """The copies that `private` and `firstprivate` ask for."""
        names = dict.fromkeys(directive.names("private"), False)
        names |= dict.fromkeys(directive.names("firstprivate"), True)
        for name in directive.names("lastprivate"):  # seen to with the loop they are of
            names.pop(name, None)
        own = {v: names.get(self.whole.get(v, v).name) for v in self.env}
        kept = {v: self.env[v] for v, is_given in own.items() if is_given is not None}
        fixed = self.fixed & set(kept)
        self.fixed -= fixed
        for variable, value in kept.items():
            if not own[variable]:
                self.env[variable] = self.b.const(value.width, 0)
        shared = {v: a for v, a in self.memories.items() if names.get(v.name) is not None}
        for variable, array in shared.items():
            self._own_copy(variable, array, directive.where, is_given=bool(names[variable.name]))
        yield
        for variable, array in shared.items():
            self.release_copy(variable, array)
        self.env.update(kept)
        self.fixed |= fixed

    def _own_copy(self, variable: Variable, array: Array, where: Range, *, is_given: bool) -> None:
        """A thread's own copy of a variable in memory."""
        kind = variable.type
        zero = self.b.const(64, 0)
        if is_flat(kind):
            value = self.load_object(Location(array, zero, kind), where) if is_given else None
            del self.memories[variable]
            self.hold(variable, value)
            return
        size = size_of(kind, where)
        own = self.memories[variable] = self.new_array(
            variable, Place.LOCAL, size, to=False, back=False
        )
        if is_given:
            one = innermost(kind)
            each = size_of(one, where)
            parts = leaves(one, where)

            def copy(number: Value) -> None:
                start = self.b.op(Op.MUL, number, self.b.const(64, each), width=64, exact=True)
                for offset, sort in parts:
                    at = self.b.op(Op.ADD, start, self.b.const(64, offset), width=64, exact=True)
                    value = self.load_object(Location(array, at, sort), where)
                    self.store_object(Location(own, at, sort), value, where)

            self.counted(where, self.b.const(64, size // each), copy)

    def release_copy(self, variable: Variable, array: Array) -> None:
        """The shared variable again in the place of the thread's own."""
        if is_flat(variable.type):
            self.release(variable)
        self.memories[variable] = array

    def dealt(self, directive: Directive, stmt: Stmt) -> None:
        """A loop's iterations dealt out to the team, with what its last one leaves behind.

        Raises:
            SourceError: `lastprivate` of something that can't be it.
        """
        names = directive.names("lastprivate")
        given = directive.names("firstprivate")
        last: dict[Variable, Array] = {}
        where = directive.where
        for name in dict.fromkeys(names):
            variable = self.in_memory(name)
            if variable not in self.memories:
                if any(v.name == name for v in self.env):
                    raise self.refuse(
                        where, f"lastprivate({name}): it is each thread's own already; declare it "
                        f"outside the region"
                    )  # fmt: skip
                continue  # nothing in the region uses it
            if not is_flat(variable.type):
                raise self.refuse(
                    where, f"lastprivate({name}): only scalars, vectors and structs of them; store "
                    f"the array's elements in the last iteration"
                )  # fmt: skip
            last[variable] = self.memories[variable]
            self._own_copy(variable, last[variable], where, is_given=name in given)
        if set(names) & set(given) & {v.name for v in last}:
            self.barrier(where)  # before any thread stores, all have their copies
        mine, ends = self.deal(directive, stmt, is_last=bool(last))
        if not last:
            return
        assert mine is not None

        def hand_back() -> None:
            for variable, array in last.items():
                value = ends[variable] if variable in ends else self.held(variable)
                place = Location(array, self.b.const(64, 0), variable.type)
                self.store_object(place, value, where)

        with self.at(where):
            self.branch(mine, hand_back)
        for variable, array in last.items():
            self.release_copy(variable, array)
