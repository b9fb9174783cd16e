"""Tests of whether the hardware's results are those of the native run.

The rule: bit for bit, but any NaN equals any other. Where several threads combine floating-point
numbers under mutual exclusion (critical, atomic, reduction), the order of threads is open and so
is the rounding; so it is where the region calls exp, sin or another function of which neither C
nor IEEE 754 says the last bit, which the host's library has in its own way. Then floating-point
results may differ by 2^-16 (float) or 2^-44 (double) of the largest magnitude in their array.
Where all threads store at the same place one after the other, the last one's value stays, and
nothing can be said.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from cyclescope.c import Array, Placed, Pointer, Scalar, Struct, Vector, placed_fields, size_of
from cyclescope.hls.front import PRINTED
from cyclescope.hls.ir import APPROXIMATE, Op, Place
from cyclescope.model import Contents

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from cyclescope.c import CType
    from cyclescope.hls._compile import Program
    from cyclescope.hls.ir import Graph

__all__ = ["contents", "differences", "is_rounding_open", "order_matters"]

_Numbers: TypeAlias = "np.ndarray[tuple[int], np.dtype[Any]]"
# Name, offset in bytes and type of a scalar in an array's element.
_Part: TypeAlias = "tuple[str, int, Scalar]"
_TOLERANCE = {32: 2.0**-16, 64: 2.0**-44}


def _layout(kind: CType) -> tuple[int, list[_Part]]:
    """The layout of an array's elements: bytes, and name, offset and type of each scalar in it.

    Padding is nothing: whether a copy of a struct takes it along is the compiler's choice.
    """
    match kind:
        case Array(element=Pointer()) | Pointer(target=Pointer()):
            return 8, [("", 0, Scalar("uint", 64))]  # offsets
        case Array(element=inner) | Pointer(target=inner):
            return _layout(inner)
        case Vector(element=scalar):
            return scalar.bits // 8, [("", 0, scalar)]
        case Scalar():
            return kind.bits // 8, [("", 0, kind)]
        case Placed(bytes=size):
            return size, [(f"[{n}]", n, Scalar("uint", 8)) for n in range(size)]
        case Struct():
            found = []
            for start, name, sort in placed_fields(kind):
                size, parts = _layout(Scalar("uint", 64) if isinstance(sort, Pointer) else sort)
                count = size_of(sort) // size if size else 0
                for n in range(count):
                    label = f".{name}[{n}]" if count > 1 else f".{name}"
                    found += [(label + p, start + n * size + at, t) for p, at, t in parts]
            return size_of(kind), found
    return 0, []


def _has_floats(program: Program, array: str) -> bool:
    variable = program.variables.get(array)
    return variable is not None and any(k.is_float for _, _, k in _layout(variable.type)[1])


def _columns(parts: list[_Part], size: int, data: bytes) -> Iterator[tuple[str, Scalar, _Numbers]]:
    """The numbers of each scalar of an array's elements."""
    for name, offset, kind in parts:
        code = {"float": "f", "int": "i", "uint": "u", "bool": "u"}[kind.kind]
        form = np.dtype(
            {
                "names": ["it"],
                "formats": [f"<{code}{kind.bits // 8}"],
                "offsets": [offset],
                "itemsize": size,
            }
        )
        yield name, kind, np.frombuffer(data, form)["it"].copy()


def order_matters(program: Program) -> bool:
    """Return whether the order of threads may change floating-point results."""
    if program.region.threads == 1:
        return False
    for node in program.guarded:
        if node.op is Op.STORE and node.array is not None and _has_floats(program, node.array.name):
            return True
    return False


def is_rounding_open(program: Program) -> bool:
    """Return whether floating-point results may differ in rounding, for whichever reason."""
    return order_matters(program) or _approximates(program.region.root)


def _approximates(graph: Graph) -> bool:
    """Return whether it, or a loop inside, has a function that libraries round differently."""
    return any(
        node.op in APPROXIMATE or (node.body is not None and _approximates(node.body))
        for node in graph.nodes
    )


def differences(
    program: Program, native: Mapping[str, bytes], hardware: Mapping[str, bytes]
) -> list[str]:
    """The differences between two runs' results, a line for each array; nothing if they agree."""
    loose = is_rounding_open(program)
    found = []
    for array in program.region.arrays:
        if array.place is not Place.EXTERNAL or not array.from_device:
            continue
        if array.name == PRINTED:
            continue  # what the host prints of it is compared
        a, b = native[array.name], hardware[array.name]
        if a == b or array.name in program.undecided:
            continue
        size, parts = _layout(program.variables[array.name].type)
        if len(a) != len(b) or not size or len(a) % size:
            found.append(f"{array.name}: differs")
            continue
        columns = zip(_columns(parts, size, a), _columns(parts, size, b), strict=True)
        for (name, kind, x), (_, _, y) in columns:
            wrong = _wrong(x, y, kind, loose=loose)
            if wrong.size:
                first = int(wrong[0])
                found.append(
                    f"{array.name}{name and '[]'}{name}: {wrong.size} of {x.size} elements differ, "
                    f"the first at {first}: {y[first]!s} in hardware, {x[first]!s} natively"
                )
    return found


def contents(
    program: Program,
    before: Mapping[str, bytes],
    native: Mapping[str, bytes],
    hardware: Mapping[str, bytes],
) -> tuple[Contents, ...]:
    """Digests of the region's arrays before and after; `native` is what is expected.

    Left out is what may be rounded differently: it cannot be told from a wrong result by
    its digest.
    """
    loose = is_rounding_open(program)
    found = []
    for array in program.region.arrays:
        name = array.name
        if array.place is not Place.EXTERNAL or name in (PRINTED, *program.undecided):
            continue
        if array.from_device and loose and _has_floats(program, name):
            continue
        size, parts = _layout(program.variables[name].type)
        if not size or len(before[name]) % size:
            continue

        def digest(data: bytes, size: int = size, parts: list[_Part] = parts) -> str:
            state = hashlib.sha256(f"{size} {len(data)}\n".encode())
            for _, kind, column in _columns(parts, size, data):
                if kind.is_float:
                    column[np.isnan(column)] = np.nan  # any is as good as another
                state.update(column.tobytes())
            return state.hexdigest()

        start = digest(before[name]) if array.to_device else ""
        if array.from_device:
            found.append(Contents(name, start, digest(hardware[name]), digest(native[name])))
        else:
            found.append(Contents(name, start, start))
    return tuple(found)


def _wrong(x: _Numbers, y: _Numbers, kind: Scalar, *, loose: bool) -> _Numbers:
    """The places where native numbers and the hardware's differ."""
    wrong = x != y
    if kind.is_float:
        wrong = x.view(f"<u{kind.bits // 8}") != y.view(f"<u{kind.bits // 8}")
        wrong &= ~(np.isnan(x) & np.isnan(y))
        if loose:
            finite = np.abs(x[np.isfinite(x)])
            most = float(finite.max()) if finite.size else 0.0
            with np.errstate(invalid="ignore"):
                wrong &= ~(np.abs(x - y) <= _TOLERANCE[kind.bits] * most)
    return np.flatnonzero(wrong)
