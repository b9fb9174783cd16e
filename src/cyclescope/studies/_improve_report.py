"""The result of a search as tables: what was kept, what was tried, what the steps cost; a diff."""

from __future__ import annotations

import difflib
from collections import Counter
from typing import TYPE_CHECKING

from cyclescope._rewrites import apply_candidates, compatible
from cyclescope.analyse import Answer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cyclescope._rewrites import Candidate, Subject
    from cyclescope.studies._improve import Improvement, Step

__all__ = ["cost_table", "improvement_diff", "kept_table", "replayed", "tried_table"]


def kept_table(found: Improvement) -> Answer:
    """The steps that were kept, a row each, with their claims."""
    rows = [
        (
            step.candidates[0].rewrite,
            len(step.candidates),
            step.after,
            step.before - step.after,
            _claims(step.candidates),
            _places(step.candidates),
        )
        for step in found.steps
    ]
    return Answer(("kept", "places", "cycles", "saved", "equal", "where"), tuple(rows))


def tried_table(found: Improvement) -> Answer:
    """The candidates that were tried and not kept, and why not."""
    rows = [
        (
            t.candidates[0].rewrite,
            len(t.candidates),
            t.cycles or None,
            t.verdict,
            _places(t.candidates),
        )
        for t in found.tried
        if not t.kept
    ]
    return Answer(("rejected", "places", "cycles", "why", "where"), tuple(dict.fromkeys(rows)))


def cost_table(
    subject: Subject, found: Improvement, progress: Callable[[str], object] = lambda _: None
) -> Answer:
    """Cycles and area after each step; `*` marks those that no other beats in both.

    Raises:
        ToolError: a design cannot be synthesised.
    """
    points = []
    for number in range(len(found.steps) + 1):
        progress(f"synthesising after step {number} of {len(found.steps)}")
        steps = found.steps[:number]
        figures = subject.cost(replayed(subject, found.original, steps))
        cycles = steps[-1].after if steps else found.before
        name = steps[-1].candidates[0].rewrite if steps else "as it is"
        points.append((name, cycles, dict(figures)))
    names = list(points[0][2])
    rows = [
        ("" if _beaten(point, points) else "*", name, cycles, *(figures[n] for n in names))
        for point in points
        for name, cycles, figures in [point]
    ]
    return Answer(("best", "after", "cycles", *names), tuple(rows))


_Point = tuple[str, int, dict[str, int]]


def _beaten(point: _Point, points: Sequence[_Point]) -> bool:
    """Return whether another point is as good in all figures, and better in one."""
    mine = (point[1], *point[2].values())
    others = [(cycles, *figures.values()) for _, cycles, figures in points]
    return any(
        all(a <= b for a, b in zip(other, mine, strict=True)) and other != mine for other in others
    )


def replayed(subject: Subject, text: bytes, steps: Sequence[Step]) -> bytes:
    """A text with some steps of a search; what is no longer possible is left out."""
    for step in steps:
        wanted = {candidate.key for candidate in step.candidates}
        again = [c for c in subject.candidates(text) if c.key in wanted]
        text = apply_candidates(text, compatible(again))
    return text


def improvement_diff(found: Improvement, name: str) -> bytes:
    """The changes as a unified diff."""
    before, after = (
        text.decode("utf-8", "replace").splitlines(keepends=True)
        for text in (found.original, found.text)
    )
    return "".join(difflib.unified_diff(before, after, f"a/{name}", f"b/{name}")).encode()


def _claims(candidates: Sequence[Candidate]) -> str:
    counts = Counter(candidate.claim for candidate in candidates)
    return "; ".join(
        claim.value if len(counts) == 1 else f"{count} {claim.value}"
        for claim, count in counts.items()
    )


def _places(candidates: Sequence[Candidate]) -> str:
    more = f" and {len(candidates) - 1} more" if len(candidates) > 1 else ""
    return f"{candidates[0].place}, line {candidates[0].line}{more}"
