"""math.h's exact functions on bits say what NumPy says, for any bits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from cyclescope.hls import compile_c, interpret

if TYPE_CHECKING:
    from collections.abc import Callable

Floats = np.ndarray[tuple[int], np.dtype[Any]]

COUNT = 600
TEXT = """\
#include <math.h>
void kernel(TYPE *x, TYPE *y) {
#pragma omp target map(to: x[0:COUNT]) map(from: y[0:COUNT])
for (int i = 0; i < COUNT; ++i) y[i] = CALL(x[i]);
}
"""


def away_from_zero(x: Floats) -> Floats:
    whole = np.trunc(x)
    return np.copysign(whole + np.copysign(np.abs(x - whole) >= 0.5, x), x).astype(x.dtype)


ROUTES: dict[str, Callable[[Floats], Floats]] = {
    "floor": np.floor,
    "ceil": np.ceil,
    "trunc": np.trunc,
    "rint": np.rint,
    "round": away_from_zero,
}


def numbers(kind: str, seed: int) -> Floats:
    """Bits of all sorts: any, near the point's end, halves and their neighbours."""
    r = np.random.default_rng(seed)
    width = {"float": 32, "double": 64}[kind]
    form, whole = f"<f{width // 8}", f"<u{width // 8}"
    anything = np.frombuffer(r.bytes(width // 8 * 200), form)
    size = r.integers(-3, {32: 25, 64: 54}[width], 200)
    near = np.ldexp(r.uniform(-2, 2, 200), size).astype(form)
    halves = (r.integers(-(1 << 20), 1 << 20, 200) / 2).astype(form)
    halves[:100] = (halves[:100].view(whole) + r.integers(0, 2, 100, whole[1:])).view(form)
    fixed = [0.0, 0.5, 1.0, 1.5, 2.5, np.inf, np.nan, np.finfo(form).smallest_subnormal]
    near[: 2 * len(fixed)] = [*fixed, *(-number for number in fixed)]
    return np.concatenate([anything, near, halves])


@pytest.mark.parametrize("kind", ["float", "double"])
@pytest.mark.parametrize("name", ROUTES)
def test_rounding_to_whole_numbers_is_exact(name: str, kind: str) -> None:
    call = name + ("f" if kind == "float" else "")
    text = TEXT.replace("TYPE", kind).replace("COUNT", str(COUNT)).replace("CALL", call)
    program = compile_c("k.c", text=text)
    x = numbers(kind, sum(map(ord, call)))
    found = interpret(program.region, {"x": x.tobytes(), "y": bytes(x.nbytes)})["y"]
    with np.errstate(all="ignore"):
        wanted = ROUTES[name](x)
    y = np.frombuffer(found, x.dtype)
    same = (y.view(f"u{x.itemsize}") == wanted.view(f"u{x.itemsize}")) | (np.isnan(x) & np.isnan(y))
    first = int(np.argmin(same))
    assert same.all(), (x[first], y[first], wanted[first])
