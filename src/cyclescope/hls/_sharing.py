"""Work shared by the team: loops distributed over threads, reductions, critical sections."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from cyclescope.c import (
    Scalar,
    Stmt,
    Variable,
)
from cyclescope.hls._dealing import Dealing
from cyclescope.hls._ir import Op
from cyclescope.hls._semantics import bits_of
from cyclescope.hls._state import Location

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cyclescope.c import Range
    from cyclescope.hls._ir import Array, Value
    from cyclescope.hls._openmp import Directive

__all__ = ["Sharing"]

_COMBINED = frozenset({"+", "-", "*", "&", "|", "^", "&&", "||", "min", "max"})
_CLAUSES = {
    "critical": frozenset({"name", "hint"}),
    "atomic": frozenset({"read", "write", "update", "capture", "seq_cst", "relaxed", "acq_rel"}),
    "for": frozenset({"schedule", "collapse", "nowait", "private", "firstprivate", "reduction"}),
    "loop": frozenset({"collapse", "private", "reduction", "bind"}),
    "simd": frozenset({"simdlen", "safelen", "aligned", "private"}),
    "single": frozenset({"nowait", "private", "firstprivate"}),
    "master": frozenset[str](),
    "masked": frozenset[str](),
}
_LARGEST = {32: 0x7F800000, 64: 0x7FF0000000000000}


class Sharing(Dealing):
    """Lowers OpenMP constructs inside a region."""

    def is_standalone(self, directive: Directive) -> bool:
        """Whether a directive has no statement."""
        return directive.words[:1] in (("barrier",), ("flush",), ("taskwait",))

    def standalone(self, directive: Directive) -> None:
        """A barrier; a flush is nothing, as memory is in order here."""
        if directive.words == ("barrier",):
            self.barrier(directive.where)
        elif directive.words[:1] not in (("flush",), ("taskwait",)):
            name = " ".join(directive.words)
            raise self.refuse(directive.where, f"omp {name} isn't supported here")

    def barrier(self, where: Range) -> None:
        """All of the team wait for each other."""
        with self.at(where):
            number = len(self.barriers)
            self.barriers.append(where)
            self.b.effect(Op.BARRIER, when=self.pred, constant=number)

    def construct(self, directive: Directive, stmt: Stmt) -> None:
        """A directive with its statement.

        Raises:
            SourceError: it isn't supported.
        """
        words = directive.words
        if words[:1] and words[0] not in _CLAUSES:
            hint = "; the region's own directive begins all threads" if "parallel" in words else ""
            raise self.refuse(
                directive.where,
                f"omp {' '.join(words)} isn't supported inside a target region{hint}",
            )
        for clause, _ in directive.clauses:
            if clause not in _CLAUSES[words[0]]:
                raise self.refuse(
                    directive.where, f"the clause {clause} of omp {words[0]} isn't supported"
                )
        with self._private(directive):
            self._construct(directive, stmt)

    @contextmanager
    def _private(self, directive: Directive) -> Iterator[None]:
        """A construct's own copies of variables."""
        names = dict.fromkeys(directive.names("private"), False)
        names |= dict.fromkeys(directive.names("firstprivate"), True)
        own = {v: names.get(self.whole.get(v, v).name) for v in self.env}
        kept = {v: self.env[v] for v, is_given in own.items() if is_given is not None}
        fixed = self.fixed & set(kept)
        self.fixed -= fixed
        for variable, value in kept.items():
            if not own[variable]:
                self.env[variable] = self.b.const(value.width, 0)
        yield
        self.env.update(kept)
        self.fixed |= fixed

    def _construct(self, directive: Directive, stmt: Stmt) -> None:
        words = directive.words
        match words:
            case ("critical",):
                name = " ".join(directive.clause("name") or ()) or "critical"
                with self.locked(name):
                    self.bare(stmt)
            case ("atomic",):
                with self.locked("atomic"):
                    self.bare(stmt)
            case ("for",) | ("for", "simd") | ("loop",):
                self._shared_for(directive, stmt)
            case ("simd",):
                self.bare(stmt)
            case ("master",) | ("masked",) | ("single",):
                first = self.b.op(Op.EQ, self.b.leaf(Op.THREAD, 32), self.b.const(32, 0), width=1)
                self.branch(first, lambda: self.bare(stmt))
                if words == ("single",) and directive.clause("nowait") is None:
                    self.barrier(directive.where)
            case _:
                raise self.refuse(
                    directive.where, f"omp {' '.join(words)} isn't supported in a target region"
                )

    def bare(self, stmt: Stmt) -> None:
        """A statement whose directives have been obeyed."""
        with self.at(stmt.where):
            self._plain(stmt)

    def _shared_for(self, directive: Directive, stmt: Stmt) -> None:
        self.distribute(directive, stmt)
        if directive.clause("nowait") is None:
            self.barrier(directive.where)

    # Reductions.

    def distribute(self, directive: Directive, stmt: Stmt) -> None:
        """A loop's iterations dealt out to the team, with its reductions."""
        with self.at(stmt.where):
            entered = self.begin_reductions(directive)
            self.deal(directive, stmt)
            self.end_reductions(directive, entered)

    def begin_reductions(self, directive: Directive) -> list[tuple[str, Variable, Array]]:
        """Give each thread its own copies."""
        entered = []
        for operator, name in directive.reductions:
            variable = next((v for v in self.memories if v.name == name), None)
            if operator not in _COMBINED:
                raise self.refuse(directive.where, f"reduction({operator}: …) isn't supported")
            if variable is None and not any(v.name == name for v in self.env):
                continue  # nothing in the region uses it
            if variable is None or not isinstance(variable.type, Scalar):
                raise self.refuse(
                    directive.where, f"reduction of {name}: only scalars of the host can be reduced"
                )
            entered.append((operator, variable, self.memories.pop(variable)))
            self.env[variable] = self._identity(operator, variable.type)
        return entered

    def end_reductions(
        self, directive: Directive, entered: list[tuple[str, Variable, Array]]
    ) -> None:
        """Join the threads' copies, one thread at a time."""
        if not entered:
            return
        with self.at(directive.where), self.locked("reduction"):
            for operator, variable, array in entered:
                kind = variable.type
                assert isinstance(kind, Scalar)
                place = Location(array, self.b.const(64, 0), kind)
                own = self.env.pop(variable)
                total = self.load(place, kind.bits)
                self.store(place, self._joined(operator, total, own, kind))
                self.memories[variable] = array

    def _identity(self, operator: str, kind: Scalar) -> Value:
        bits = kind.bits
        if operator in ("min", "max"):
            if kind.is_float:
                infinity = _LARGEST[bits]
                sign = 1 << (bits - 1) if operator == "max" else 0
                return self.b.const(bits, infinity | sign)
            if kind.kind == "int":
                smallest = 1 << (bits - 1)
                return self.b.const(bits, smallest if operator == "max" else smallest - 1)
            return self.b.const(bits, 0 if operator == "max" else -1)
        if operator in ("*", "&&"):
            return self.b.const(bits, bits_of(1.0, bits) if kind.is_float else 1)
        return self.b.const(bits, -1 if operator == "&" else 0)

    def _joined(self, operator: str, total: Value, own: Value, kind: Scalar) -> Value:
        if operator in ("min", "max"):
            a, b = (own, total) if operator == "min" else (total, own)
            if kind.is_float:
                less = self.b.op(Op.FLT, a, b, width=1)
            else:
                less = self.b.op(Op.SLT if kind.kind == "int" else Op.ULT, a, b, width=1)
            return self.b.select(less, own, total)
        if operator in ("&&", "||"):
            op = Op.AND if operator == "&&" else Op.OR
            bit = self.b.op(op, self.truth(total, kind), self.truth(own, kind), width=1)
            return self.b.resized(bit, kind.bits, is_signed=False)
        return self.arithmetic("+" if operator == "-" else operator, total, own, kind)
