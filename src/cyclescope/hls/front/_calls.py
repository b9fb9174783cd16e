"""Functions that a region may call without their text."""

from __future__ import annotations

from cyclescope.hls.ir import Op

__all__ = [
    "BLOCKS",
    "INFINITIES",
    "KINDS_OF_NUMBERS",
    "MATHS",
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
