"""Constructs that the team meets in: shared loops, critical sections, barriers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope.hls.front.omp._atomics import Atomics
from cyclescope.hls.front.omp._clauses import check
from cyclescope.hls.ir._graph import Op

if TYPE_CHECKING:
    from cyclescope.c import Stmt
    from cyclescope.hls.front.omp._directives import Directive

__all__ = ["Sharing"]

_CONSTRUCTS = frozenset(
    {
        ("critical",), ("atomic",), ("for",), ("for", "simd"), ("loop",), ("simd",), ("single",),
        ("master",), ("masked",),
    }
)  # fmt: skip


# What all threads of the team meet in, and what parts them.
_MEETINGS = frozenset({"for", "loop", "single", "barrier", "master", "masked"})
_PARTING = frozenset({"for", "loop", "distribute", "single", "master", "masked", "critical"})


class Sharing(Atomics):
    """Lowers OpenMP constructs inside a region."""

    def is_standalone(self, directive: Directive) -> bool:
        """Whether a directive has no statement."""
        return directive.words[:1] in (("barrier",), ("flush",), ("taskwait",))

    def standalone(self, directive: Directive) -> None:
        """A barrier, or a flush; there are no tasks to wait for.

        Raises:
            SourceError: it isn't supported.
        """
        if not self.is_standalone(directive):
            name = _shown(directive)
            raise self.refuse(directive.where, f"omp {name} needs a statement behind it")
        check(directive)
        if directive.words == ("barrier",):
            self._check_nest(directive)
            self.barrier(directive.where)
        elif directive.words == ("flush",):
            self.fence(directive.where)

    def construct(self, directive: Directive, stmt: Stmt) -> None:
        """A directive with its statement.

        Raises:
            SourceError: it isn't supported.
        """
        words = directive.words
        if not words:
            written = _shown(directive)
            raise self.refuse(directive.where, f"omp {written} is no directive known here".strip())
        if words not in _CONSTRUCTS:
            hint = "; the region's own directive begins all threads" if "parallel" in words else ""
            raise self.refuse(
                directive.where,
                f"omp {' '.join(words)} isn't supported inside a target region{hint}",
            )
        check(directive)
        self._check_nest(directive)
        self.inside.append(directive)
        with self.private(directive):
            self._construct(directive, stmt)
        self.inside.pop()

    def _check_nest(self, directive: Directive) -> None:
        """Whether all threads of the team come to what they meet in (OpenMP 4.5, 2.17).

        Raises:
            SourceError: a construct around it, also of a function that calls this one, lets
                only some of them come, or one at a time.
        """
        if directive.words[0] not in _MEETINGS:
            return
        around = next((d for d in self.inside if d.words and _parts_team(d)), None)
        if around is not None:
            raise self.refuse(
                directive.where, f"omp {' '.join(directive.words)} inside omp "
                f"{' '.join(around.words)} ({around.where}): not all threads come there together; "
                f"move it out"
            )  # fmt: skip

    def _construct(self, directive: Directive, stmt: Stmt) -> None:
        words = directive.words
        match words:
            case ("critical",):
                with self.locked("critical", " ".join(directive.clause("name") or ())):
                    self.bare(stmt)
            case ("atomic",):
                self.atomic(directive, stmt)
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


def _shown(directive: Directive) -> str:
    """A directive's name, or what stands in its place."""
    return " ".join(directive.words) or str(next(iter(directive.clauses), ""))


def _parts_team(directive: Directive) -> bool:
    return not _PARTING.isdisjoint(directive.words)
