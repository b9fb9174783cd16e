from __future__ import annotations

import random
import struct
from functools import cache

import pytest

from cyclescope.hls._ir import Op, Region
from cyclescope.hls._machine import Machine, build_machine
from cyclescope.hls._memory_model import MemoryModel
from cyclescope.hls._run import HardwareRun, run_machine
from hls.graphs import Maker, outside, region, schedules

FAST = MemoryModel(controller=0, cas=0, rcd=0, rp=0, turnaround=0, refresh_interval=0)
SLOW = MemoryModel(controller=60, rp=5, rcd=5)
RANDOM = MemoryModel(seed=7, stall=40)
WAYS = [
    pytest.param(1, FAST, False, id="1-fast"),
    pytest.param(8, FAST, True, id="8-fast-ordered"),
    pytest.param(2, MemoryModel(), False, id="2"),
    pytest.param(3, RANDOM, False, id="3-random"),
    pytest.param(8, RANDOM, False, id="8-random"),
    pytest.param(8, RANDOM, True, id="8-random-ordered"),
    pytest.param(3, SLOW, True, id="3-slow-ordered"),
]
every_way = pytest.mark.parametrize(("team", "memory", "in_order"), WAYS)


def ints(data: bytes) -> list[int]:
    return list(struct.unpack(f"<{len(data) // 4}i", data))


def pack(values: list[int]) -> bytes:
    return struct.pack(f"<{len(values)}i", *values)


@cache
def straight() -> Machine:
    """b[t] = a[t] + 1."""
    a, b = outside("a"), outside("b")
    m = Maker()
    t = m.thread()
    m.store(b, t, m.op(Op.ADD, m.load(a, t), m.const(1)))
    return build(region(m, (a, b), 8))


def build(region: Region) -> Machine:
    return build_machine(region, schedules(region.root))


def going(machine: Machine, arrays: dict[str, list[int]], *way: object) -> HardwareRun:
    team, memory, in_order = way
    return run_machine(
        machine,
        {name: pack(values) for name, values in arrays.items()},
        team=team,  # type: ignore[arg-type]
        memory=memory,  # type: ignore[arg-type]
        in_order=in_order,  # type: ignore[arg-type]
    )


@every_way
def test_straight_line(team: int, memory: MemoryModel, in_order: bool) -> None:
    out = going(straight(), {"a": list(range(10, 18)), "b": [0] * 8}, team, memory, in_order)
    assert out.complete
    assert ints(out.arrays["b"]) == [11 + t if t < team else 0 for t in range(8)]


@cache
def chase(threads: int = 8) -> Machine:
    """p = t; for (i = 0; i < 20; i++) p = next[p]; end[t] = p."""
    following, end = outside("next"), outside("end")
    body = Maker("L3", 3)
    i, p = body.carried("i"), body.carried("p")
    body.graph.stay = body.op(Op.SLT, i, body.const(20), width=1)
    body.becomes(i, body.op(Op.ADD, i, body.const(1)))
    body.becomes(p, body.load(following, p))
    m = Maker()
    t = m.thread()
    _, last = m.loop(body, m.const(0), t)
    m.store(end, t, last)
    return build(region(m, (following, end), threads))


@every_way
def test_chase(team: int, memory: MemoryModel, in_order: bool) -> None:
    steps = list(range(64))
    random.Random(1).shuffle(steps)
    out = going(chase(), {"next": steps, "end": [-1] * 8}, team, memory, in_order)

    def end(p: int) -> int:
        for _ in range(20):
            p = steps[p]
        return p

    assert ints(out.arrays["end"]) == [end(t) if t < team else -1 for t in range(8)]


def test_threads_overlap_on_a_chase() -> None:
    steps = [(7 * i + 3) % 512 for i in range(512)]
    arrays = {"next": steps, "end": [0] * 8}
    alone = going(chase(), arrays, 1, MemoryModel(), False).cycles
    eight = going(chase(), arrays, 8, MemoryModel(), False).cycles
    assert 8 * alone / eight >= 6


@cache
def nest() -> Machine:
    """for (i = t; i < 6; i += threads) { s = 0; for (j = 0; j < i; j++) s += i * j + a[j];
    out[i] = s }; the inner loop again without memory: out[i] += sum of j."""
    a, out = outside("a"), outside("out")
    inner = Maker("L4", 4)
    j, s = inner.carried("j"), inner.carried("s")
    i = inner.invariant("i")
    inner.graph.stay = inner.op(Op.SLT, j, i, width=1)
    inner.becomes(j, inner.op(Op.ADD, j, inner.const(1)))
    product = inner.op(Op.MUL, i, j)
    inner.becomes(s, inner.op(Op.ADD, s, inner.op(Op.ADD, product, inner.load(a, j))))
    pure = Maker("L5", 5)
    k, s = pure.carried("k"), pure.carried("s")
    i = pure.invariant("i")
    pure.graph.stay = pure.op(Op.SLT, k, i, width=1)
    pure.becomes(k, pure.op(Op.ADD, k, pure.const(1)))
    pure.becomes(s, pure.op(Op.ADD, s, k))
    outer = Maker("L3", 3)
    i = outer.carried("i")
    outer.graph.stay = outer.op(Op.SLT, i, outer.const(6), width=1)
    outer.becomes(i, outer.op(Op.ADD, i, outer.op(Op.THREADS, width=32)))
    zero = outer.const(0)
    _, first = outer.loop(inner, zero, zero, i)
    _, second = outer.loop(pure, zero, zero, i)
    outer.store(out, i, outer.op(Op.ADD, first, second))
    m = Maker()
    m.loop(outer, m.thread())
    return build(region(m, (a, out), 8))


@every_way
def test_loops_in_loops_and_side_by_side(team: int, memory: MemoryModel, in_order: bool) -> None:
    a = [5, -3, 100, 7, 9, 11]
    out = going(nest(), {"a": a, "out": [0] * 6}, team, memory, in_order)
    want = [sum(i * j + a[j] for j in range(i)) + sum(range(i)) for i in range(6)]
    assert ints(out.arrays["out"]) == want
