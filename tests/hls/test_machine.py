from __future__ import annotations

import random
import struct
from functools import cache

import numpy as np
import pytest

from cyclescope.errors import DataError, RunError
from cyclescope.hls.ir._graph import Op, Region
from cyclescope.hls.microarch._machine import Machine, build_machine
from cyclescope.hls.run._memory_model import MemoryModel
from cyclescope.hls.run._simulation import HardwareRun, run_setup, set_up
from cyclescope.rtl import unit
from hls.graphs import Maker, local, outside, region, schedules

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
    return run_setup(
        set_up(
            machine,
            {name: pack(values) for name, values in arrays.items()},
            team=team,
            memory=memory,
            in_order=in_order,
        )
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
    body.graph.continues = body.op(Op.SLT, i, body.const(20), width=1)
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


def test_reordering_helps_where_latency_varies() -> None:
    steps = [(7 * i + 3) % 512 for i in range(512)]
    arrays = {"next": steps, "end": [0] * 8}
    wild = MemoryModel(seed=11, stall=200)
    free, ordered = (going(chase(), arrays, 8, wild, way).cycles for way in (False, True))
    assert ordered > 1.05 * free
    # Few but long delays: those that the others needn't wait for.
    rare = MemoryModel(seed=11, stall=300, stall_one_in=8)
    free, ordered = (going(chase(), arrays, 8, rare, way).cycles for way in (False, True))
    assert ordered > 1.25 * free


@pytest.mark.long
def test_hardware_for_teams_of_any_size() -> None:
    steps = [(5 * i + 1) % 64 for i in range(64)]
    for threads in (1, 3):
        out = going(chase(threads), {"next": steps, "end": [0] * 8}, threads, RANDOM, False)
        assert out.complete
        assert out.arrays["end"][4 * threads :] == bytes(32 - 4 * threads)
        assert out.arrays["end"][: 4 * threads] != bytes(4 * threads)


@cache
def nest() -> Machine:
    """for (i = t; i < 6; i += threads) { s = 0; for (j = 0; j < i; j++) s += i * j + a[j];
    out[i] = s }; the inner loop again without memory: out[i] += sum of j."""
    a, out = outside("a"), outside("out")
    inner = Maker("L4", 4)
    j, s = inner.carried("j"), inner.carried("s")
    i = inner.invariant("i")
    inner.graph.continues = inner.op(Op.SLT, j, i, width=1)
    inner.becomes(j, inner.op(Op.ADD, j, inner.const(1)))
    product = inner.op(Op.MUL, i, j)
    inner.becomes(s, inner.op(Op.ADD, s, inner.op(Op.ADD, product, inner.load(a, j))))
    pure = Maker("L5", 5)
    k, s = pure.carried("k"), pure.carried("s")
    i = pure.invariant("i")
    pure.graph.continues = pure.op(Op.SLT, k, i, width=1)
    pure.becomes(k, pure.op(Op.ADD, k, pure.const(1)))
    pure.becomes(s, pure.op(Op.ADD, s, k))
    outer = Maker("L3", 3)
    i = outer.carried("i")
    outer.graph.continues = outer.op(Op.SLT, i, outer.const(6), width=1)
    outer.becomes(i, outer.op(Op.ADD, i, outer.op(Op.THREADS, width=32)))
    zero = outer.const(0)
    _, first = outer.loop(inner, zero, zero, i)
    _, second = outer.loop(pure, zero, zero, i)
    outer.store(out, i, outer.op(Op.ADD, first, second))
    m = Maker()
    m.loop(outer, m.thread())
    return build(region(m, (a, out), 8))


@pytest.mark.long
@every_way
def test_loops_in_loops_and_side_by_side(team: int, memory: MemoryModel, in_order: bool) -> None:
    a = [5, -3, 100, 7, 9, 11]
    out = going(nest(), {"a": a, "out": [0] * 6}, team, memory, in_order)
    want = [sum(i * j + a[j] for j in range(i)) + sum(range(i)) for i in range(6)]
    assert ints(out.arrays["out"]) == want


@cache
def reverse() -> Machine:
    """Each thread: buf[i] = a[8 t + i]; then out[8 t + i] = buf[7 - i] as bytes and words."""
    a, out, buf = outside("a"), outside("out"), local("buf", 32)
    fill = Maker("L3", 3)
    i = fill.carried("i")
    first = fill.invariant("first")
    fill.graph.continues = fill.op(Op.SLT, i, fill.const(8), width=1)
    fill.becomes(i, fill.op(Op.ADD, i, fill.const(1)))
    fill.store(buf, i, fill.load(a, fill.op(Op.ADD, first, i)))
    drain = Maker("L4", 4)
    i = drain.carried("i")
    first = drain.invariant("first")
    drain.graph.continues = drain.op(Op.SLT, i, drain.const(8), width=1)
    drain.becomes(i, drain.op(Op.ADD, i, drain.const(1)))
    back = drain.op(Op.SUB, drain.const(7), i)
    word = drain.load(buf, back)
    byte = drain.load(buf, drain.op(Op.MUL, back, drain.const(4)), width=8)
    value = drain.op(Op.SUB, word, drain.op(Op.ZEXT, byte, width=32))
    drain.store(out, drain.op(Op.ADD, first, i), value)
    m = Maker()
    first = m.op(Op.MUL, m.thread(), m.const(8))
    m.loop(fill, m.const(0), first)
    m.loop(drain, m.const(0), first, after=(m.graph.nodes[-1],))
    return build(region(m, (a, out, buf), 8))


@pytest.mark.long
@every_way
def test_local_arrays(team: int, memory: MemoryModel, in_order: bool) -> None:
    a = [1000 * i + 17 for i in range(64)]
    out = going(reverse(), {"a": a, "out": [0] * 64}, team, memory, in_order)
    want = [0] * 64
    for t in range(team):
        for i in range(8):
            word = a[8 * t + 7 - i]
            want[8 * t + i] = word - (word & 255)
    assert ints(out.arrays["out"]) == want


@cache
def counting(*, barrier: bool = True) -> Machine:
    """10 times: critical { sum[0] += t + 1 }; then a barrier; then seen[t] = sum[0]."""
    total, seen = outside("sum"), outside("seen")
    body = Maker("L3", 3)
    i = body.carried("i")
    t = body.op(Op.THREAD, width=32)
    body.graph.continues = body.op(Op.SLT, i, body.const(10), width=1)
    body.becomes(i, body.op(Op.ADD, i, body.const(1)))
    enter = body.node(Op.ACQUIRE, constant=0)
    zero = body.const(0)
    old = body.load(total, zero, after=(enter,))
    new = body.op(Op.ADD, body.op(Op.ADD, old, t), body.const(1))
    done = body.store(total, zero, new, after=(old.node,))
    leave = body.node(Op.RELEASE, constant=0, after=(done,))
    body.order(leave, enter)
    m = Maker()
    t = m.thread()
    m.loop(body, m.const(0))
    loop = m.graph.nodes[-1]
    late = m.op(Op.EQ, t, m.const(2), width=1)
    when = None if barrier else m.op(Op.NOT, late, width=1)
    wall = m.node(Op.BARRIER, constant=0, when=when, after=(loop,))
    value = m.load(total, m.const(0), after=(wall,))
    m.store(seen, t, value)
    return build(region(m, (total, seen), 8, locks=1, barriers=1))


@pytest.mark.long
@every_way
def test_critical_sections_and_barriers(team: int, memory: MemoryModel, in_order: bool) -> None:
    out = going(counting(), {"sum": [100], "seen": [0] * 8}, team, memory, in_order)
    total = 100 + 10 * sum(range(1, team + 1))
    assert ints(out.arrays["sum"]) == [total]
    assert ints(out.arrays["seen"]) == [total] * team + [0] * (8 - team)


@pytest.mark.long
def test_a_barrier_that_not_all_reach() -> None:
    with pytest.raises(
        RunError, match=r"by_hand.c:1: deadlock .* thread 0 waits in the barrier"
    ) as e:
        going(counting(barrier=False), {"sum": [0], "seen": [0] * 8}, 4, MemoryModel(), False)
    assert "thread 2 is over" in str(e.value)


def test_accesses_out_of_range() -> None:
    with pytest.raises(RunError, match=r"thread 5 reads 4 bytes at byte 20 of a: out of range"):
        going(straight(), {"a": [0] * 5, "b": [0] * 8}, 8, MemoryModel(), False)
    with pytest.raises(RunError, match=r"thread 2 writes 4 bytes at byte 8 of b: out of range"):
        going(straight(), {"a": [0] * 8, "b": [0] * 2}, 8, MemoryModel(), False)


def test_what_the_host_must_give() -> None:
    with pytest.raises(DataError, match="no data for b"):
        going(straight(), {"a": [0] * 8}, 8, MemoryModel(), False)
    with pytest.raises(DataError, match="9 threads: the hardware has 1 to 8"):
        going(straight(), {"a": [0] * 8, "b": [0] * 8}, 9, MemoryModel(), False)


def test_a_run_ends_at_its_limit() -> None:
    machine = straight()
    out = run_setup(set_up(machine, {"a": bytes(32), "b": bytes(32)}, cycle_limit=10))
    assert (out.complete, out.cycles, out.stop_reason) == (False, 10, "limit")


@cache
def squares() -> Machine:
    """x = t + 0.5; for (i = 0; i < 12; i++) { s += x * x; x = sqrt(s) / x; if (s < 50) s -= -1; }
    out[t] = s; and whole numbers: rest[t] = (1000 - 77 t) % (t + 3), rounded[t] = (int) s."""
    out, rest, rounded = outside("out"), outside("rest"), outside("rounded")
    body = Maker("L3", 3)
    i, x, s = body.carried("i"), body.carried("x"), body.carried("s")
    body.graph.continues = body.op(Op.SLT, i, body.const(12), width=1)
    body.becomes(i, body.op(Op.ADD, i, body.const(1)))
    total = body.op(Op.FADD, s, body.op(Op.FMUL, x, x))
    body.becomes(x, body.op(Op.FDIV, body.op(Op.FSQRT, total), x))
    small = body.op(Op.FLT, total, body.const(0x42480000), width=1)
    less = body.op(Op.FSUB, total, body.const(0xBF800000))
    body.becomes(s, body.op(Op.SELECT, small, less, total, width=32))
    m = Maker()
    t = m.thread()
    start = m.op(Op.FADD, m.op(Op.SITOFP, t), m.const(0x3F000000))
    _, _, last = m.loop(body, m.const(0), start, m.const(0))
    m.store(out, t, last)
    m.store(rounded, t, m.op(Op.FPTOSI, last))
    left = m.op(Op.SUB, m.const(1000), m.op(Op.MUL, t, m.const(77)))
    m.store(rest, t, m.op(Op.SREM, left, m.op(Op.ADD, t, m.const(3))))
    made = region(m, (out, rest, rounded), 8)
    slow = {op: unit(name, 32, *source).latency for op, name, *source in UNITS}
    return build_machine(made, schedules(made.root, slow))


UNITS = [
    (Op.FADD, "fadd"),
    (Op.FSUB, "fsub"),
    (Op.FMUL, "fmul"),
    (Op.FDIV, "fdiv"),
    (Op.FSQRT, "fsqrt"),
    (Op.FLT, "flt"),
    (Op.SREM, "srem"),
    (Op.MUL, "mul"),
    (Op.SITOFP, "sitofp", 32),
    (Op.FPTOSI, "fptosi", 32),
]


@pytest.mark.long
@every_way
def test_units(team: int, memory: MemoryModel, in_order: bool) -> None:
    arrays = {"out": [0] * 8, "rest": [0] * 8, "rounded": [0] * 8}
    out = going(squares(), arrays, team, memory, in_order)
    one = np.float32(1)
    for t in range(team):
        x, s = np.float32(t + 0.5), np.float32(0)
        for _ in range(12):
            s = s + x * x
            x = np.sqrt(s) / x
            s = s + one if s < 50 else s
        assert struct.unpack_from("<f", out.arrays["out"], 4 * t)[0] == s
        assert ints(out.arrays["rounded"])[t] == int(s)
        assert ints(out.arrays["rest"])[t] == (1000 - 77 * t) % (t + 3)


@cache
def preload() -> Machine:
    """for (r = t; r < 12; r += threads) { copy a[r*9+1 …, 37 elements] to buf + 2 (of 64);
    buf[1] = 1000, buf[39] = 2000 before; out[r] = sum of buf[1 … 39] }."""
    a, out, buf = outside("a"), outside("out"), local("buf", 256)
    total = Maker("L4", 4)
    i, s = total.carried("i"), total.carried("s")
    total.graph.continues = total.op(Op.SLT, i, total.const(40), width=1)
    total.becomes(i, total.op(Op.ADD, i, total.const(1)))
    total.becomes(s, total.op(Op.ADD, s, total.load(buf, i)))
    outer = Maker("L3", 3)
    r = outer.carried("r")
    outer.graph.continues = outer.op(Op.SLT, r, outer.const(12), width=1)
    outer.becomes(r, outer.op(Op.ADD, r, outer.op(Op.THREADS, width=32)))
    nine = outer.op(Op.MUL, r, outer.const(9))
    source = outer.offset(outer.op(Op.ADD, nine, outer.const(1)))
    size = (outer.const(8, 64), source, outer.const(37 * 4, 64))
    low = outer.store(buf, outer.const(1), outer.const(1000))
    high = outer.store(buf, outer.const(39), outer.const(2000), after=(low,))
    block = outer.node(Op.COPY, *size, array=buf, source=a, after=(high,))
    _, s = outer.loop(total, outer.const(1), outer.const(0), after=(block,))
    loop = outer.graph.nodes[-1]
    outer.store(out, r, s)
    for after in (low, high, block):
        outer.order(loop, after)
    m = Maker()
    m.loop(outer, m.thread())
    return build(region(m, (a, out, buf), 8))


@pytest.mark.long
@every_way
def test_copies(team: int, memory: MemoryModel, in_order: bool) -> None:
    a = [random.Random(3).randrange(1 << 20) + i for i in range(160)]
    out = going(preload(), {"a": a, "out": [0] * 12}, team, memory, in_order)
    assert ints(out.arrays["out"]) == [3000 + sum(a[9 * r + 1 : 9 * r + 38]) for r in range(12)]


def test_a_copy_out_of_range() -> None:
    said = "by_hand.c:3: thread 0 copies from byte 400 of a: out of range"
    with pytest.raises(RunError, match=said):
        going(preload(), {"a": [0] * 130, "out": [0] * 12}, 1, MemoryModel(), False)
