"""All conflicts in memory are foreseen: by `after`, or by an order between iterations."""

from __future__ import annotations

from pathlib import Path

import pytest

from cyclescope.hls import Graph, Node, Op, Program, compile_c, interpret
from cyclescope.hls.passes._dead_code import graphs
from cyclescope.hls.passes._dependences import depend
from hls.generator import complete, device_text, generate, inputs, scalars_of
from hls.walker import Walker

FOLDER = Path(__file__).parent / "programs"


def foreseen(program: Program, walker: Walker) -> None:
    before: dict[Node, set[Node]] = {}
    orders: dict[tuple[Node, Node], int] = {}
    for graph in graphs(program.region.root):
        for node in graph.nodes:
            before[node] = set(node.after).union(*(before[a] for a in node.after))
            # A value that is needed orders too.
            for value in (*node.operands, *([node.when] if node.when is not None else [])):
                before[node] |= before.get(value.node, set()) | {value.node}
        for order in graph.orders:
            pair = (order.before, order.after)
            orders[pair] = min(orders.get(pair, order.distance), order.distance)
    for (graph, first, second), distance in walker.meetings.items():
        where = f"{graph.label}: {first.op} in {first.where}, {second.op} in {second.where}"
        if distance == 0:
            assert first in before[second], where
        else:
            assert orders.get((first, second), distance + 1) <= distance, where


def walked(program: Program, arrays: dict[str, bytes], scalars: list[int]) -> None:
    walker = Walker(program.region, arrays, scalars)
    after = walker.run()
    foreseen(program, walker)
    assert after == interpret(program.region, arrays, scalars)


@pytest.mark.long
@pytest.mark.parametrize("first", range(2000, 2080, 40))
def test_random_programs_hold_no_surprises(first: int) -> None:
    alone = 0
    for seed in range(first, first + 40):
        kernel = generate(seed)
        program = compile_c(f"seed{seed}.c", text=device_text(kernel, 1))
        arrays, scalars = inputs(kernel, 1)
        arrays = complete(program, arrays)
        # Regions inside may have a team of their own; the walker is one thread.
        if program.region.threads == 1:
            walked(program, arrays, scalars_of(program, kernel, scalars, 1))
            alone += 1
    assert alone > 20


BODIES = [
    "for (int i = 1; i < 30; i++) a[i] = a[i - 1] + 1;",
    "for (int i = 4; i < 30; i++) a[i] = a[i - 4] + 1;",
    "for (int i = 0; i < 30; i++) a[i] = a[i + 3] + 1;",
    "for (int i = 0; i < 10; i++) { a[2 * i] = i; a[2 * i + 1] = a[2 * i] + a[i]; }",
    "for (int i = 0; i < 30; i += n) { a[i] = i; a[i + 1] += a[i]; }",
    "for (int i = 30; i > 0; i--) a[i] = a[i + 1] + a[i - 1];",
    "for (int i = 0; i < 6; i++) for (int j = 0; j < 6; j++) a[i * 6 + j] += a[j * 6 + i];",
    "for (int i = 1; i < 6; i++) for (int j = 0; j < 6; j++) a[i * n + j] += a[i * n - n + j];",
    # The last iteration of the inner loop alone meets the next one of the outer loop.
    "for (int i = 0; i < 6; i++) for (int j = 0; j <= 4; j++) a[i * 4 + j] += j;",
    "for (int i = 0; i < 6; i++) for (int j = 0; j < 5; j += 2) a[i * 4 + j] += j;",
    "for (int i = 0; i < 6; i++) for (int j = 0; j != 6; j += 2) a[i * 4 + j] += j;",
    # Blocks of the outer loop's iteration: one is written, the next one changed.
    "for (int i = 0; i < 3; i++) { for (int j = 0; j < 16; j++) a[j + 16 * i] = j; for (int j = 0;"
    " j < 16; j++) a[j + 16 * i + 16] += j; }",
    # Apart in an iteration, one in the other's place in the next.
    "for (int i = 1; i < 24; i += n) { a[i + 2 * (i & 1) - 2 * (i + 1 & 1) + 4] = i; a[60] += a[i +"
    " 4]; }",
    # The second loop meets the first one's blocks of two iterations: the nearer one decides.
    "for (int i = 0; i < 2; i++) { for (int j = 0; j < 16; j++) a[j + 16 * i] = j; for (int j = 0;"
    " j < 8; j++) { int t = a[j + 16 * i + 32]; a[j + 16 * i + 16] = t; } }",
    "int x[2][8]; for (int b = 0; b < 6; b++) { for (int i = 0; i < 8; i++) x[b & 1][i] = a[b * 4 +"
    " i]; for (int i = 0; i < 8; i++) a[i + 32] += x[(b - 1) & 1][i] + x[1][0]; }",
    "int x[4][4]; for (unsigned b = 0; b < 9; b++) { x[b % 4][0] = b; a[b] = x[(b + 1) % 4][0] +"
    " x[(b + 4) % 4][0]; }",
    "int y[7][2], *x = y[3]; for (int b = -5; b < 6; b++) { x[2 * (b % 4)] = b; a[b + 9] = x[2 * "
    "((b + 1) % 4)] + x[2 * ((b + 4) % 4)] + x[2 * ((b - 2) % 4)]; }",
    "for (long i = 0; i < 16; i++) { int *p = a + i; *p = p[1]; if (i & 1) p[2] = i; }",
    "for (int i = 0, j = 20; i < j; i++, j--) { int t = a[i]; a[i] = a[j]; a[j] = t; }",
    "int k = 0; for (int i = 0; i < 20; i++) { a[k] = i; k = a[k + 1] & 31; }",
    "short *s = (short *)a; for (int i = 0; i < 40; i++) { s[i] = i; a[i / 3] += s[i + 1]; }",
    "int x[16]; for (int r = 0; r < 4; r++) { for (int i = 0; i < 16; i++) x[i] = a[16 * (r & 1) +"
    " i]; for (int i = 0; i < 16; i++) a[16 * r + i] = x[15 - i]; }",
]


@pytest.mark.parametrize("body", BODIES)
def test_loops_over_one_array_hold_no_surprises(body: str) -> None:
    text = f"void k(int *a, int n) {{\n#pragma omp target map(a[0:64])\n{{ {body} }}\n}}\n"
    program = compile_c("k.c", text=text)
    arrays = {"a": bytes(range(256))}
    for n in (1, 2, 6):
        walked(program, arrays, [n] * len(program.region.scalars))


def precise(body: str) -> list[int]:
    """The distances between iterations that are kept apart."""
    text = f"void k(int *a, int n) {{\n#pragma omp target map(a[0:64])\n{{ {body} }}\n}}\n"
    program = compile_c("k.c", text=text)
    return sorted(o.distance for g in graphs(program.region.root) for o in g.orders)


def test_independent_iterations_are_found_so() -> None:
    assert precise("for (int i = 0; i < 30; i++) a[i] = a[i] + 1;") == []
    assert precise("for (int i = 0; i < 30; i += n) a[i] = a[i] + 1;") == []
    assert precise("for (int i = 0; i < 30; i++) a[2 * i] = a[2 * i + 1];") == []
    assert precise("for (int i = 4; i < 30; i++) a[i] = a[i - 4];") == [4]
    assert precise("for (int i = 4; i < 30; i += 2) a[i] = a[i - 4];") == [2]


def test_a_lost_dependence_would_be_noticed() -> None:
    text = "void k(int *a) {\n#pragma omp target map(a[0:64])\n"
    text += "for (int i = 1; i < 30; i++) a[i] = a[i - 1] + 1;\n}\n"
    program = compile_c("k.c", text=text)
    loop = next(n for n in program.region.root.nodes if n.op is Op.LOOP)
    body: Graph | None = loop.body
    assert body is not None
    body.orders.clear()
    with pytest.raises(AssertionError, match=r"store in k\.c:3, load in k\.c:3"):
        walked(program, {"a": bytes(256)}, [])
    depend(program.region.root, program.exact)
    walked(program, {"a": bytes(256)}, [])


FENCED = """
int x[64], y[64], z[64]; int main(void) {{
#pragma omp target parallel map(tofrom: x, y, z)
{{ int s = 0; for (int i = 0; i < 8; i++) {{
{body}
}} z[0] = s; }} }}
"""


def edges(body: str, kind: str = "int") -> tuple[set[tuple[str, str]], set[tuple[str, str]]]:
    """The orders between effects in an iteration, and from one to the next."""
    text = FENCED.format(body=body).replace("int x[64], y[64]", f"{kind} x[64], y[64]")
    program = compile_c("k.c", text=text)
    (loop,) = (n for n in program.region.root.nodes if n.body is not None)
    assert loop.body is not None
    assert all(n.op is not Op.FENCE for graph in graphs(program.region.root) for n in graph.nodes)
    named = {n: f"{n.op} {n.array.name}" for n in loop.body.nodes if n.array is not None}
    within: set[tuple[str, str]] = set()
    for node in named:
        waiting = list(node.after)
        while waiting:
            before = waiting.pop()
            within.add((named[before], named[node]))
            waiting += before.after
    return within, {(named[o.before], named[o.after]) for o in loop.body.orders}


STORE, LOAD = "x[i] = i;", "s += y[i];"
FLUSH = "\n#pragma omp flush\n"


def test_a_fence_orders_what_is_on_its_two_sides() -> None:
    assert edges(STORE + LOAD) == (set(), set())
    # The next iteration's accesses are behind this one's fence, and its fence is behind ours.
    assert edges(STORE + FLUSH + LOAD) == (
        {("store x", "load y")},
        {
            ("store x", "store x"),
            ("store x", "load y"),
            ("load y", "load y"),
            ("load y", "store x"),
        },
    )
    assert edges(LOAD + STORE + FLUSH)[0] == {("load y", "store x")}  # stores keep their place
    assert edges(STORE + LOAD + FLUSH)[0] == set()
    for body in (STORE + LOAD + FLUSH, FLUSH + STORE + LOAD):
        every = {(a, b) for a in ("store x", "load y") for b in ("store x", "load y")}
        assert edges(body)[1] == every


def test_a_load_may_overtake_a_load_where_no_fence_is_between() -> None:
    # Behind the fence of one iteration, in front of the next one's.
    within, across = edges("s += x[i];" + FLUSH + LOAD)
    assert within == {("load x", "load y")}
    assert ("load y", "load x") not in across
    assert {("load x", "load y"), ("load x", "load x"), ("load y", "load y")} <= across


def test_accesses_of_other_iterations_stay_on_their_side_of_a_lock() -> None:
    body = "z[i] = s;\n#pragma omp critical\ns += x[i];\ny[i] = s;"
    program = compile_c("k.c", text=FENCED.format(body=body))
    (loop,) = (n for n in program.region.root.nodes if n.body is not None)
    assert loop.body is not None
    found = {(o.before.op, o.after.op): o.distance for o in loop.body.orders}
    locks = (Op.ACQUIRE, Op.RELEASE)
    # Nothing moves up over an acquire, or down over a release.
    wanted = {(a, b) for a in locks for b in locks}
    wanted |= {pair for op in (Op.LOAD, Op.STORE) for pair in ((Op.ACQUIRE, op), (op, Op.RELEASE))}
    assert {pair: found.get(pair) for pair in wanted} == dict.fromkeys(wanted, 1)


def test_memory_is_read_again_behind_a_fence() -> None:
    for fence, times in (("", 1), (FLUSH, 2), ("\n#pragma omp barrier\n", 2)):
        program = compile_c("k.c", text=FENCED.format(body=f"s += y[0];{fence} s += y[0];"))
        found = [n for g in graphs(program.region.root) for n in g.nodes if n.op is Op.LOAD]
        assert len(found) == times


def test_a_fence_in_an_inner_loop_is_one_around_it() -> None:
    body = f"x[i] = 1; while (y[0] == i) {{ {FLUSH} }} z[i] = s;"
    program = compile_c("k.c", text=FENCED.format(body=body))
    (loop,) = (n for n in program.region.root.nodes if n.body is not None)
    assert loop.body is not None
    (inner,) = (n for n in loop.body.nodes if n.body is not None)
    store, last = (
        next(n for n in loop.body.nodes if n.op is Op.STORE and n.array and n.array.name == name)
        for name in "xz"
    )
    waiting, behind = [inner], set()
    while waiting:
        node = waiting.pop()
        behind.add(node)
        waiting += node.after
    assert store in behind
    assert inner in last.after


def test_accesses_of_volatile_objects_keep_the_order_of_the_text() -> None:
    both = {(a, b) for a in ("store x", "load y") for b in ("store x", "load y")}
    assert edges(STORE + LOAD, "volatile int") == ({("store x", "load y")}, both)
    assert edges(LOAD + STORE, "const volatile int *volatile p; int volatile") == (
        {("load y", "store x")},
        both,
    )
    program = compile_c(
        "k.c",
        text="void f(volatile int *p, int *q) {\n"
        "#pragma omp target map(tofrom: p[0:4], q[0:4])\n{ q[0] = p[0] + p[0]; while (!p[1]); } }",
    )
    found = [n for g in graphs(program.region.root) for n in g.nodes if n.op is Op.LOAD]
    assert len(found) == 4  # twice, before the loop and in it
