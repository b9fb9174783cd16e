"""Whether the hardware's results are those of the native run.

The rule: bit for bit, but any NaN equals any other. Where several threads combine floating-point
numbers under mutual exclusion (critical, atomic, reduction), the order of threads is open and so
is the rounding: then floating-point results may differ by 2^-16 (float) or 2^-44 (double) of the
largest magnitude in their array. Where all threads store at the same place one after the other,
the last one's value stays, and nothing can be said.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cyclescope.c import Array, Pointer, Scalar, Vector
from cyclescope.hls._ir import Op, Place

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cyclescope.c import CType
    from cyclescope.hls._compile import Program

__all__ = ["differences", "order_matters"]

_TOLERANCE = {32: 2.0**-16, 64: 2.0**-44}


def element_of(kind: CType) -> Scalar | None:
    """The scalar type that an array or pointer is made of; None if there are several."""
    match kind:
        case Array(element=inner) | Pointer(target=inner):
            return element_of(inner)
        case Vector(element=scalar):
            return scalar
        case Scalar():
            return kind
    return None


def order_matters(program: Program) -> bool:
    """Whether the order of threads may change floating-point results."""
    if program.region.threads == 1:
        return False
    for node in program.lowered.guarded:
        if node.op is Op.STORE and node.array is not None:
            variable = program.lowered.variables.get(node.array.name)
            kind = element_of(variable.type) if variable is not None else None
            if kind is not None and kind.is_float:
                return True
    return False


def differences(
    program: Program, native: Mapping[str, bytes], hardware: Mapping[str, bytes]
) -> list[str]:
    """What differs between two runs' results, a line for each array; nothing if they agree."""
    loose = order_matters(program)
    found = []
    for array in program.region.arrays:
        if array.place is not Place.EXTERNAL or not array.from_device:
            continue
        a, b = native[array.name], hardware[array.name]
        if a == b or array.name in program.lowered.undecided:
            continue
        variable = program.lowered.variables[array.name]
        kind = element_of(variable.type)
        if kind is None or len(a) != len(b):
            found.append(f"{array.name}: differs")
            continue
        code = {"float": "f", "int": "i", "uint": "u", "bool": "u"}[kind.kind]
        form = np.dtype(f"<{code}{kind.bits // 8}")
        x, y = np.frombuffer(a, form), np.frombuffer(b, form)
        wrong = x != y
        if kind.is_float:
            wrong = x.view(f"<u{kind.bits // 8}") != y.view(f"<u{kind.bits // 8}")
            wrong &= ~(np.isnan(x) & np.isnan(y))
            if loose:
                finite = np.abs(x[np.isfinite(x)])
                most = float(finite.max()) if finite.size else 0.0
                with np.errstate(invalid="ignore"):
                    wrong &= ~(np.abs(x - y) <= _TOLERANCE[kind.bits] * most)
        places = np.flatnonzero(wrong)
        if places.size:
            first = int(places[0])
            found.append(
                f"{array.name}: {places.size} of {x.size} elements differ, the first at {first}: "
                f"{y[first]!s} in hardware, {x[first]!s} natively"
            )
    return found
