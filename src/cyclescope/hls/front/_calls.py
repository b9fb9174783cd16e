"""Functions that a region may call without their text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope.hls.ir import Op

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "BLOCKS",
    "INFINITIES",
    "KINDS_OF_NUMBERS",
    "MATHS",
    "OF_LEAGUES",
    "OF_TEAMS",
    "constant_call",
]

MATHS = {
    "sqrt": Op.FSQRT,
    "sqrtf": Op.FSQRT,
    "fabs": Op.FABS,
    "fabsf": Op.FABS,
    "fmin": Op.FMIN,
    "fminf": Op.FMIN,
    "fmax": Op.FMAX,
    "fmaxf": Op.FMAX,
}

BLOCKS = frozenset({"memcpy", "memmove", "memset"})

KINDS_OF_NUMBERS = frozenset({"isnan", "isfinite", "isinf", "isinf_sign"})

INFINITIES = {
    "inf": float("inf"),
    "inff": float("inf"),
    "huge_val": float("inf"),
    "nan": float("nan"),
    "nanf": float("nan"),
}

# By the threads of a team.
_QUERIES: dict[str, Callable[[int], int]] = {
    "omp_get_num_threads": lambda threads: threads,
    "omp_get_max_threads": lambda threads: threads,
    "omp_get_team_num": lambda _threads: 0,
    "omp_get_num_teams": lambda _threads: 1,
    "omp_is_initial_device": lambda _threads: 0,
    "omp_in_parallel": lambda threads: int(threads > 1),
}

OF_TEAMS = frozenset(
    {"omp_get_thread_num", "omp_get_num_threads", "omp_get_max_threads", "omp_in_parallel"}
)
"""What has other values in teams of one thread each than in a team of threads."""

OF_LEAGUES = frozenset({"omp_get_team_num", "omp_get_num_teams"})
"""What has other values in several teams than in one."""


def constant_call(name: str, threads: int) -> int | None:
    """The value of an OpenMP query in a team of some threads; None for anything else."""
    query = _QUERIES.get(name)
    return query(threads) if query is not None else None
