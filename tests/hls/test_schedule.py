"""Schedules: what they promise to the hardware, checked without the scheduler's own bookkeeping."""

from __future__ import annotations

from pathlib import Path

import pytest

from cyclescope.hls import Graph, Node, Op, Program, Schedule, compile_c
from cyclescope.hls.ir._graph import EFFECTS, LEAVES, Place, Value
from cyclescope.hls.schedule._delays import (
    BUDGET,
    REGISTERED,
    delay,
    latency,
    setup,
    varies,
)
from cyclescope.hls.schedule._explain import told
from cyclescope.hls.schedule._ports import port_interval
from hls.generator import device_text, generate
from hls.graphs import HERE

FOLDER = Path(__file__).parent / "programs"
EXAMPLES = Path(__file__).parents[2] / "examples" / "hls"
PROGRAMS = [*sorted(FOLDER.glob("*.c")), *sorted(EXAMPLES.glob("*/*.c"))]


class Check:
    """One graph's schedule."""

    def __init__(self, graph: Graph, schedule: Schedule) -> None:
        self.graph, self.schedule = graph, schedule
        self.carried = {c.param for c in graph.carried}
        self.waiting = set(schedule.waiting)
        self.operations = [n for n in graph.nodes if n.op not in LEAVES and n.op is not Op.PARAM]

    def there(self, value: Value) -> int:
        node = value.node
        if node.op in LEAVES or (node.op is Op.PARAM and node not in self.carried):
            return 0
        return self.schedule.stage[node] + self.schedule.latency[node]

    def region(self, stage: int) -> int:
        return sum(w < stage for w in self.waiting)

    def run(self) -> None:
        self.dependences()
        self.waits()
        self.chains()
        self.recurrences()
        self.orders()
        self.ports()

    def dependences(self) -> None:
        stage = self.schedule.stage
        for node in self.operations:
            needed = [*node.operands, *([node.when] if node.when is not None else [])]
            if node.op in EFFECTS and self.graph.continues is not None:
                needed.append(self.graph.continues)
            for value in needed:
                assert self.there(value) <= stage[node], (node, value.node)
            for before in node.after:
                assert stage[before] + 1 <= stage[node], (before, node)
            assert self.schedule.latency[node] == latency(node)

    def waits(self) -> None:
        stage = self.schedule.stage
        for node in self.operations:
            begin, end = stage[node], stage[node] + self.schedule.latency[node]
            if varies(node):
                assert begin in self.waiting, node
            else:
                assert begin not in self.waiting or delay(node) <= REGISTERED, node
                assert not any(begin <= w < end for w in self.waiting), node
        assert all(any(stage[n] == w for n in self.operations) for w in self.waiting)
        assert max([0, *stage.values()]) < self.schedule.depth

    def chains(self) -> None:
        """No path of logic through a stage is longer than a cycle, but for a single operation."""
        stage, ends = self.schedule.stage, dict[Node, float]()
        for node in self.operations:
            own = [v.node for v in node.operands]
            before = max(
                (ends[p] for p in own if p in ends and stage[p] == stage[node]), default=0.0
            )
            if self.schedule.latency[node]:
                if not varies(node):
                    assert before + setup(node) <= BUDGET, node
                continue
            assert not before or before + delay(node) <= BUDGET or not delay(node), node
            ends[node] = before + delay(node)

    def recurrences(self) -> None:
        for carried in self.graph.carried:
            read = self.schedule.stage[carried.param]
            written = self.there(carried.next)
            assert read <= written
            if self.graph.continues is not None:
                written = max(written, self.there(self.graph.continues))
            if self.region(read) == self.region(written):
                assert self.schedule.interval >= written + 1 - read, carried.param.name

    def orders(self) -> None:
        stage = self.schedule.stage
        for order in self.graph.orders:
            a, b = stage[order.before], stage[order.after]
            if varies(order.before) or varies(order.after) or self.region(a) != self.region(b):
                continue
            assert order.distance * self.schedule.interval + b > a

    def ports(self) -> None:
        """However far iterations are apart, a memory has no more than two accesses a cycle."""
        accesses: dict[object, list[int]] = {}
        for node in self.operations:
            array = node.array
            if node.op is Op.COPY or array is None or array.place is Place.EXTERNAL:
                continue
            place = (array, self.region(self.schedule.stage[node]))
            accesses.setdefault(place, []).append(self.schedule.stage[node])
        if self.graph.continues is None:
            return
        for stages in accesses.values():
            for first in range(self.schedule.interval, self.schedule.interval + 12):
                for second in range(self.schedule.interval, self.schedule.interval + 12):
                    starts = (0, first, first + second)
                    times = [start + s for start in starts for s in stages]
                    assert max(times.count(t) for t in set(times)) <= 2


def check(program: Program) -> None:
    for graph, schedule in program.schedules.items():
        Check(graph, schedule).run()


@pytest.mark.long(keep_one_in=5)
@pytest.mark.parametrize("source", PROGRAMS, ids=lambda p: p.stem)
def test_programs_are_scheduled_by_the_rules(source: Path) -> None:
    check(compile_c(source))


@pytest.mark.long(keep_one_in=12)
@pytest.mark.parametrize("first", range(1000, 1060, 5))
def test_random_programs_are_scheduled_by_the_rules(first: int) -> None:
    for seed in range(first, first + 5):
        check(compile_c("random.c", text=device_text(generate(seed), 2)))


def region(body: str, *, threads: int = 2, head: str = "") -> Program:
    """A region over arrays `a` (int), `f` (float) and a number `n`."""
    text = (
        f"#include <omp.h>\n{head}void k(int *a, float *f, int n) {{\n"
        f"#pragma omp target parallel map(tofrom: a[0:64], f[0:64])\n{{\n{body}\n}}\n}}\n"
    )
    return compile_c("k.c", text=text, threads=threads)


def loops(program: Program) -> list[Schedule]:
    return [s for g, s in program.schedules.items() if g.continues is not None]


def reasons(schedule: Schedule) -> list[str]:
    return [told(bound, schedule) for bound in schedule.bounds]


def test_a_float_sum_is_bound_by_its_adder() -> None:
    program = region(
        "float s = 0, x[64]; int me = omp_get_thread_num();"
        "for (int i = 0; i < n; i++) x[i] = i;"
        "for (int i = 0; i < n; i++) s += x[i]; f[me] = s;"
    )
    fill, add = loops(program)
    assert fill.interval == 1
    adder = next(n for n in add.graph.nodes if n.op is Op.FADD)
    assert add.interval == add.latency[adder] + 1
    way = f"fadd {add.latency[adder]}, and 1 from there to the next iteration"
    assert reasons(add) == [f"s, line 5: {way}"]


def test_so_are_float_sums_in_the_lanes_of_a_vector() -> None:
    # Taking a lane out of a vector is wires: it needs no cycle between two additions.
    program = compile_c(EXAMPLES / "pi" / "pi.c")
    add = loops(program)[0]
    adder = next(n for n in add.graph.nodes if n.op is Op.FADD)
    assert add.interval == add.latency[adder] + 1 == 8


def test_what_a_recurrence_does_not_need_is_not_in_its_way() -> None:
    # The product of x comes late; the sum must not wait for it from the iteration's start.
    program = region(
        "float s = 1, x[64]; int me = omp_get_thread_num();"
        "for (int i = 0; i < n; i++) x[i] = i;"
        "for (int i = 0; i < n; i++) s = s * 0.5f + x[i] * x[i] * x[i]; f[me] = s;"
    )
    schedule = loops(program)[1]
    product = next(n for n in schedule.graph.nodes if n.op is Op.FMUL)
    adder = next(n for n in schedule.graph.nodes if n.op is Op.FADD)
    assert schedule.interval == schedule.latency[product] + schedule.latency[adder] + 1


@pytest.mark.parametrize("short", ["{0} + {1}", "{1} + {0}"])
def test_a_recurrence_is_explained_by_its_longest_way(short: str) -> None:
    # The short way's operations are as late as they can be: both ways end in the same stage.
    value = short.format("(s + 2.5f)", "(s * 1.5f) * (s * 3.5f)")
    program = region(
        f"float s = 1; for (int i = 0; i < n; i++) s = {value}; f[omp_get_thread_num()] = s;"
    )
    (schedule,) = loops(program)
    latency = {n.op: schedule.latency[n] for n in schedule.graph.nodes}
    product, add = latency[Op.FMUL], latency[Op.FADD]
    way = f"fmul {product} + fmul {product} + fadd {add}"
    assert reasons(schedule) == [f"s, line 5: {way}, and 1 from there to the next iteration"]
    assert schedule.interval == 2 * product + add + 1


def test_a_value_that_was_known_before_the_loop_takes_no_cycle() -> None:
    program = region(
        "int x[64], last = 1, me = omp_get_thread_num();"
        "for (int i = 0; i < 64; i++) { x[i] = last; last = n; } a[me] = x[n];"
    )
    (schedule,) = loops(program)
    assert len(schedule.graph.carried) == 2
    assert schedule.interval == 1


def test_a_value_from_memory_hides_no_other_recurrence() -> None:
    program = region(
        "int p = omp_get_thread_num(); float s = 0;"
        "for (int i = 0; i < n; i++) { p = a[p & 63]; s += 1.5f; } f[p] = s;"
    )
    check(program)
    (schedule,) = loops(program)
    adder = next(n for n in schedule.graph.nodes if n.op is Op.FADD)
    assert schedule.interval == schedule.latency[adder] + 1


@pytest.mark.parametrize(("kind", "most"), [("int", 2), ("long", 1)])
def test_a_cycle_is_as_long_as_the_logic_that_fits_in_it(kind: str, most: int) -> None:
    # An addition of 32 bits takes about 2 ns, of 64 bits 3 ns, `^` 0.5 ns; a cycle takes 7.1 ns.
    for count in range(1, 5):
        value = "s"
        for _ in range(count):
            value = f"(({value} + n) ^ me)"
        program = region(
            f"{kind} s = 1; int me = omp_get_thread_num();"
            f"for (int i = 0; i < n; i++) s = {value}; a[me] = s;"
        )
        assert loops(program)[0].interval == -(-count // most)


@pytest.mark.parametrize(
    ("stages", "one", "two"),
    [
        ([0, 5], 6, 1),
        ([0, 1, 2], 3, 2),
        ([0, 4, 5], 6, 2),
        ([0, 0, 1, 1], 2, 2),
        ([0, 1, 2, 3], 4, 2),
        ([0, 1, 1, 2, 2, 3], 4, 3),  # a port does 0, 1, 2, the other one 1, 2, 3
    ],
)
def test_each_port_is_done_before_the_next_iteration(stages: list[int], one: int, two: int) -> None:
    load = Node(Op.LOAD, (), (32,), HERE)
    accesses = [(stage, load) for stage in stages]
    assert [port_interval(accesses, ports) for ports in (1, 2)] == [one, two]


def test_ports_bound_the_interval() -> None:
    program = region(
        "int x[64], s = 0; int me = omp_get_thread_num();"
        "for (int i = 0; i < 64; i++) x[i] = i * n;"
        "for (int i = 0; i < 56; i++) s ^= x[i] + x[i+1] + x[i+2] + x[i+3] + x[i+4] + x[i+5];"
        "a[me] = s;"
    )
    schedule = loops(program)[1]
    assert schedule.interval == 3
    assert "x: 6 accesses, 2 ports" in reasons(schedule)


def test_a_dependence_some_iterations_on_bounds_less() -> None:
    body = "float x[64]; for (int i = {d}; i < 64; i++) x[i] = x[i-{d}] * 0.5f; f[0] = x[n];"
    one, four = (loops(region(body.format(d=d), threads=1))[0] for d in (1, 4))
    assert four.interval < one.interval <= 4 * four.interval


def test_independent_loads_wait_together_and_dependent_ones_apart() -> None:
    together = region("int me = omp_get_thread_num(); a[me] = a[me + 8] + a[me + 16] + n;")
    apart = region("int me = omp_get_thread_num(); a[me] = a[a[me + 8] & 63];")
    assert [len(p.schedules[p.region.root].waiting) for p in (together, apart)] == [2, 3]


def test_loops_on_both_halves_of_a_double_buffer_run_at_once() -> None:
    body = (
        "int x[3][8], s = 0, me = omp_get_thread_num();"
        "for (int b = 0; b < 9; b++) {{"
        " if (b < 8) for (int i = 0; i < 8; i++) x[{whole}][i] = a[i * b & 63] + n;"
        " if (b > 0) for (int i = 0; i < 8; i++) s += x[{half}][i]; }} a[me] = s;"
    )
    for whole, half, stages in (
        ("b & 1", "(b - 1) & 1", 1),
        ("b & 1", "b & 1", 2),
        ("(unsigned)b & 1", "(b - 1u) & 1", 1),
        ("(unsigned)b & 1", "(b - 2u) & 1", 2),
        ("b % 2", "(b - 1) % 2", 1),
        ("b % 2", "(b + 2) % 2", 2),
        ("b % 3", "(b + 1) % 3", 2),
    ):
        program = region(body.format(whole=whole, half=half))
        outer = loops(program)[0]
        assert len(outer.waiting) == stages, half


def test_a_lock_is_taken_only_when_everything_before_is_over() -> None:
    program = region(
        "int s = 0; for (int i = 0; i < n; i++) s += a[i];\n#pragma omp critical\n a[0] += s;"
    )
    schedule = program.schedules[program.region.root]
    order = [
        n.op for n in sorted(schedule.graph.nodes, key=lambda n: schedule.stage[n])
        if n.op in EFFECTS
    ]  # fmt: skip
    assert order == [Op.LOOP, Op.ACQUIRE, Op.LOAD, Op.STORE, Op.RELEASE]


def test_elements_of_a_vector_in_memory_come_in_one_access() -> None:
    body = (
        "v4 x[8]; int me = omp_get_thread_num(); float s = 0;"
        "for (int i = 0; i < 8; i++) x[i] = *(v4 *)&f[4 * i];"
        "for (int i = 0; i < 8; i++) s += x[i][0] * x[i][1] + x[i][2] * x[i][3]; f[me] = s;"
    )
    head = "typedef float v4 __attribute__((vector_size(16)));\n"
    for more, count in (("", 1), ("x[me][n & 3] = 1;", 4)):
        program = region(body + more, head=head)
        sums = loops(program)[-1]
        assert [n.op for n in sums.graph.nodes].count(Op.LOAD) == count


def test_loads_do_not_wait_for_the_last_iteration_s_stores() -> None:
    program = region(
        "float x[64]; int me = omp_get_thread_num(); for (int i = 0; i < 64; i++) x[i] = i;"
        "for (int i = 0; i < 64; i += 2) { x[i] = x[i] * 2 + 1; x[i + 1] = x[i + 1] * 3 + 1; }"
        "f[me] = x[n & 63];"
    )
    assert loops(program)[-1].interval == 2
