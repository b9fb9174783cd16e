"""The OpenMP that is taken and refused, as a table: of the lists that the lowering itself asks."""

from __future__ import annotations

from cyclescope.hls.front.omp._clauses import clauses_of
from cyclescope.hls.front.omp._constructs import INSTEAD, names_taken

__all__ = ["openmp_table"]

_REGION = ("target", "teams", "distribute", "parallel", "for", "loop", "sections", "simd")


def openmp_table() -> str:
    """The list as Markdown tables: what is taken, with its clauses, and what is refused."""
    rows = ["| taken | clauses |", "|---|---|"]
    rows += [f"| `{word}`, of the region's directives | {_shown((word,))} |" for word in _REGION]
    rows += [f"| `{' '.join(name)}` inside | {_shown(name)} |" for name in names_taken()]
    rows += ["", "| refused | instead |", "|---|---|"]
    rows += [f"| `{name}` | {instead} |" for name, instead in sorted(INSTEAD.items())]
    return "\n".join([*rows, ""])


def _shown(name: tuple[str, ...]) -> str:
    return ", ".join(f"`{clause}`" for clause in clauses_of(name)) or "none"
