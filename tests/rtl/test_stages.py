"""The pieces of pipelined units: leading zeros, and shifts that say what they lose."""

from __future__ import annotations

import random

from cyclescope.rtl import Module, const, sources
from cyclescope.rtl._stages import Stages, leading_zeros, shift_right_sticky
from rtl.benches import checker, in_verilator

WIDTHS = (3, 7, 8, 16, 24, 28, 33, 57, 64)


def zeros(value: int, width: int) -> int:
    """Leading zeros; all ones of the result if there is no one."""
    bits = (width - 1).bit_length()
    return width - value.bit_length() if value else (1 << bits) - 1


def numbers(draw: random.Random, width: int) -> list[int]:
    """None, all single bits, and bits below a random one."""
    some = [draw.getrandbits(width) >> draw.randrange(width) for _ in range(40)]
    return [0, *(1 << i for i in range(width)), *some]


def test_leading_zeros_with_and_without_a_cut() -> None:
    draw = random.Random(5)
    m = Module("dut")
    for width in WIDTHS:
        given = m.input(f"x{width}", width)
        plain = leading_zeros(Stages(m, registers=False), given)
        m.output(f"plain{width}", plain)
        v = Stages(m)
        cut = leading_zeros(v, m.wire(f"also{width}", given), cut=16)
        assert v.depth == 1
        m.output(f"cut{width}", cut)
    columns = {width: numbers(draw, width) for width in WIDTHS}
    rows = max(map(len, columns.values()))
    vectors = [{f"x{w}": c[i % len(c)] for w, c in columns.items()} for i in range(rows)]
    expected = []
    for i, now in enumerate(vectors):
        before = vectors[max(i - 1, 0)]
        row = {f"plain{w}": zeros(now[f"x{w}"], w) for w in WIDTHS}
        expected.append(row | {f"cut{w}": zeros(before[f"x{w}"], w) for w in WIDTHS})
    texts = {**sources(m), "main.v": checker(m, vectors, expected)}
    assert in_verilator(texts).split("\n")[0] == "end"


def test_leading_zeros_of_constants() -> None:
    v = Stages(Module("dut"), registers=False)
    for width in WIDTHS:
        for value in numbers(random.Random(6), width):
            assert leading_zeros(v, const(value, width)).value == zeros(value, width)


def test_what_a_shift_loses() -> None:
    draw = random.Random(7)
    m = Module("dut")
    sizes = [(w, a) for w in (3, 8, 27, 57) for a in sorted({1, 2, 3, w.bit_length()})]
    for w, a in sizes:
        moved, lost = shift_right_sticky(m.input(f"x{w}_{a}", w), m.input(f"by{w}_{a}", a))
        m.output(f"moved{w}_{a}", moved)
        m.output(f"lost{w}_{a}", lost)
    vectors, expected = [], []
    for _ in range(200):
        vector, row = {}, {}
        for w, a in sizes:
            x = draw.getrandbits(w) << draw.randrange(w) & (1 << w) - 1
            by = draw.getrandbits(a)
            vector |= {f"x{w}_{a}": x, f"by{w}_{a}": by}
            row |= {f"moved{w}_{a}": x >> by, f"lost{w}_{a}": int(x % (1 << by) != 0)}
        vectors.append(vector)
        expected.append(row)
    texts = {**sources(m), "main.v": checker(m, vectors, expected)}
    assert in_verilator(texts).split("\n")[0] == "end"
