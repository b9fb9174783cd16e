"""Constructs that the team meets in: shared loops, critical sections, barriers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope.hls._ir import Op
from cyclescope.hls._reductions import Reductions

if TYPE_CHECKING:
    from cyclescope.c import Stmt
    from cyclescope.hls._openmp import Directive

__all__ = ["Sharing"]

_OF_LOOPS = frozenset({"collapse", "private", "lastprivate", "reduction"})
_CLAUSES = {
    "critical": frozenset({"name", "hint"}),
    "atomic": frozenset({"read", "write", "update", "capture", "seq_cst", "relaxed", "acq_rel"}),
    "for": _OF_LOOPS | {"schedule", "nowait", "firstprivate"},
    "loop": _OF_LOOPS | {"bind"},
    "simd": frozenset(
        {"simdlen", "safelen", "aligned", "private", "lastprivate", "reduction", "if"}
    ),
    "single": frozenset({"nowait", "private", "firstprivate"}),
    "master": frozenset[str](),
    "masked": frozenset[str](),
}


class Sharing(Reductions):
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

    def construct(self, directive: Directive, stmt: Stmt) -> None:
        """A directive with its statement.

        Raises:
            SourceError: it isn't supported.
        """
        words = directive.words
        if not words:
            written = "".join(word for word, _ in directive.clauses[:1])
            raise self.refuse(directive.where, f"omp {written} is no directive known here".strip())
        if words[0] not in _CLAUSES:
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
        with self.private(directive):
            self._construct(directive, stmt)

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

    def distribute(self, directive: Directive, stmt: Stmt) -> None:
        """A loop's iterations dealt out to the team, with its reductions."""
        with self.at(stmt.where):
            entered = self.begin_reductions(directive)
            self.dealt(directive, stmt)
            self.end_reductions(directive, entered)
