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
    name + suffix: op
    for name, op in {
        "sqrt": Op.FSQRT,
        "exp": Op.FEXP,
        "log": Op.FLOG,
        "sin": Op.FSIN,
        "cos": Op.FCOS,
        "tanh": Op.FTANH,
        "fabs": Op.FABS,
        "fmin": Op.FMIN,
        "fmax": Op.FMAX,
    }.items()
    for suffix in ("", "f")
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
