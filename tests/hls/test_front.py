"""Parts of the compiler by themselves: directives, constants, arithmetic, dependences, text."""

from __future__ import annotations

import itertools
import math
import random
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cyclescope.c import read_c
from cyclescope.errors import RunError
from cyclescope.hls import Op, Program, compile_c, explain, interpret
from cyclescope.hls.front._scopes import in_text_order
from cyclescope.hls.ir._semantics import bits_of, evaluate, float_of
from cyclescope.hls.passes._dead_code import graphs

DOUBLES = st.floats(allow_nan=False, width=64)
SINGLES = st.floats(allow_nan=False, width=32)


def same(a: int, b: float, width: int) -> bool:
    return a == bits_of(b, width) or (math.isnan(b) and math.isnan(float_of(a, width)))


@given(SINGLES, SINGLES)
def test_single_precision_is_that_of_numpy(a: float, b: float) -> None:
    x, y = np.float32(a), np.float32(b)
    bits = [bits_of(v, 32) for v in (a, b)]
    with np.errstate(all="ignore"):
        for op, wanted in (
            (Op.FADD, x + y), (Op.FSUB, x - y), (Op.FMUL, x * y), (Op.FDIV, x / y),
        ):  # fmt: skip
            assert same(evaluate(op, bits, (32, 32), 32), float(wanted), 32)
        assert same(evaluate(Op.FSQRT, bits[:1], (32,), 32), float(np.sqrt(x)), 32)
    assert evaluate(Op.FLT, bits, (32, 32), 1) == (a < b)
    assert evaluate(Op.FPEXT, bits[:1], (32,), 64) == bits_of(a, 64)


@given(DOUBLES)
def test_narrowing_is_that_of_numpy(a: float) -> None:
    with np.errstate(over="ignore"):
        wanted = float(np.float64(a).astype(np.float32))
    assert evaluate(Op.FPTRUNC, [bits_of(a, 64)], (64,), 32) == bits_of(wanted, 32)


@given(st.integers(-(1 << 63), (1 << 63) - 1), st.sampled_from([32, 64]))
def test_integers_become_floats_as_numpy_has_it(a: int, width: int) -> None:
    kind = np.float32 if width == 32 else np.float64
    bits = a & ((1 << 64) - 1)
    wanted = bits_of(float(np.int64(a).astype(kind)), width)
    assert evaluate(Op.SITOFP, [bits], (64,), width) == wanted
    wanted = bits_of(float(np.uint64(bits).astype(kind)), width)
    assert evaluate(Op.UITOFP, [bits], (64,), width) == wanted


@given(st.integers(0, 0xFFFFFFFF), st.integers(0, 0xFFFFFFFF))
def test_division_truncates(a: int, b: int) -> None:
    x, y = (struct.unpack("<i", struct.pack("<I", v))[0] for v in (a, b))
    quotient = evaluate(Op.SDIV, (a, b), (32, 32), 32)
    rest = evaluate(Op.SREM, (a, b), (32, 32), 32)
    if b:
        assert quotient == math.trunc(x / y) & 0xFFFFFFFF
        assert (quotient * b + rest) & 0xFFFFFFFF == a
    else:
        assert (quotient, rest) == (0xFFFFFFFF, a)


@pytest.mark.parametrize(
    ("number", "wanted"),
    [(1.9, 1), (-1.9, -1), (2147483647.0, 2147483647), (2147483648.0, -(1 << 31)),
     (-2147483648.5, -(1 << 31)), (math.inf, -(1 << 31)), (math.nan, -(1 << 31))],
)  # fmt: skip
def test_floats_become_integers_as_on_x86(number: float, wanted: int) -> None:
    assert evaluate(Op.FPTOSI, [bits_of(number, 64)], (64,), 32) == wanted & 0xFFFFFFFF


def region(body: str, *, threads: int = 2, head: str = "") -> Program:
    text = (
        f"#include <omp.h>\n{head}\nvoid k(int *a, int n) {{\n"
        f"#pragma omp target parallel map(tofrom: a[0:16])\n{{\n{body}\n}}\n}}\n"
    )
    return compile_c("k.c", text=text, threads=threads)


def run(program: Program, n: int = 0, **options: object) -> list[int]:
    data = struct.pack("<16i", *range(16))
    values = {"n": n}
    scalars = [values[name] for name, _ in program.region.scalars]
    after = interpret(program.region, {"a": data}, scalars, **options)  # type: ignore[arg-type]
    return list(struct.unpack("<16i", after["a"]))


def test_an_access_out_of_range_says_who_where_and_what() -> None:
    program = region("int me = omp_get_thread_num(); a[me * n] = 1;")
    assert run(program, 15)[15] == 1
    with pytest.raises(RunError, match=r"k.c:6: thread 1 leaves a: byte 64 of 64"):
        run(program, 16)
    with pytest.raises(RunError, match=r"thread 1 leaves a: byte -4 of 64"):
        run(program, 0xFFFFFFFF)


def test_a_barrier_that_not_all_reach_is_a_deadlock() -> None:
    program = region("if (omp_get_thread_num() < n) {\n#pragma omp barrier\na[0] = 1;\n}")
    assert run(program, 2)[0] == 1
    with pytest.raises(RunError, match=r"deadlock: thread 0 waits at the barrier in k.c:7"):
        run(program, 1)


def test_locks_that_wait_for_each_other_are_a_deadlock() -> None:
    both = """
#pragma omp critical({first})
{{ for (int i = 0; i < 9; i++) a[i]++;
#pragma omp critical({second})
a[0] = 1; }}
"""
    program = region(
        f"if (omp_get_thread_num()) {{ {both.format(first='x', second='y')} }}\n"
        f"else {{ {both.format(first='y', second='x')} }}"
    )
    with pytest.raises(RunError, match="thread 0 waits for x, which thread 1 holds; thread 1 wait"):
        run(program)


def test_a_loop_without_end_ends_at_the_limit() -> None:
    with pytest.raises(RunError, match="more than 100 iterations"):
        run(region("while (1) a[omp_get_thread_num()]++;"), limit=100)


def test_macros_in_directives_are_those_at_the_end_of_the_text() -> None:
    head = "#define N 2\n#undef N\n#ifdef FOUR\n#define N 4\n#else\n#define N (1 + 2)\n#endif"
    text = (
        f"{head}\nvoid k(int *a) {{\n#pragma omp target parallel map(from: a[0:N * 4])"
        f" num_threads(N)\na[0] = 1; }}\n"
    )
    for defines, threads in (({}, 3), ({"FOUR": "1"}, 4)):
        program = compile_c("k.c", text=text, defines=defines)
        assert program.region.threads == threads
        assert program.region.arrays[0].bytes == 16 * threads


def test_what_no_effect_needs_is_gone() -> None:
    program = region(
        "int x = n * 3; for (int i = 0; i < 9; i++) x += i; a[omp_get_thread_num()] = 5;"
    )
    assert [n.op for n in program.region.root.nodes if n.op is Op.LOOP] == []


def test_what_a_loop_does_not_change_is_computed_before_it() -> None:
    program = region(
        "for (int i = omp_get_thread_num(); i < 16; i += 2) a[i] = a[i] * (n * n + 7 / n);"
    )
    loop = next(n for n in program.region.root.nodes if n.op is Op.LOOP)
    assert loop.body is not None
    assert Op.SDIV not in [n.op for n in loop.body.nodes]
    assert Op.SDIV in [n.op for n in program.region.root.nodes]


def test_a_block_is_copied_by_the_preloader() -> None:
    body = (
        "int x[16], me = omp_get_thread_num(), s = 0;"
        "for (int i = 0; i < {count}; i++) x[i] = a[{source}];"
        "for (int i = 0; i < 4; i++) s += x[i]; a[me] = s;"
    )
    for count, source, copies in (
        ("4", "me + i", 1), ("n", "i", 1), ("4", "2 * i", 0), ("4", "3 - i", 0),
    ):  # fmt: skip
        program = region(body.format(count=count, source=source), threads=1)
        found = [n for n in program.region.root.nodes if n.op is Op.COPY]
        assert len(found) == copies, source
        indices = [eval(source, {"me": 0, "i": i}) for i in range(4)]
        assert run(program, 4)[0] == sum(indices)


def test_the_order_of_what_is_independent_does_not_matter() -> None:
    program = region(
        "int me = omp_get_thread_num(), x[8];"
        "for (int i = 0; i < 8; i++) x[i] = a[i] + me;\n#pragma omp barrier\n"
        "for (int i = 0; i < 8; i++) { x[i] += x[7 - i]; a[8 * me + i] = x[i]; }"
    )
    wanted = run(program)
    for seed in range(20):
        assert run(program, shuffle=random.Random(seed)) == wanted


EXPLAINED = """\
k (k.c:4): 2 hardware threads
  a: external memory, 64 bytes, accessed by up to 4 bytes
  n: 32 bits from the host
  lock critical

the region, line 4: 2 stages, waits in 0
  stage 0 waits for
    line 6: loop L6

loop L6, line 6: 10 stages, interval 1, waits in 1, 2, 3, 7
  load a (line 6) waits for store a (line 8) of the iteration before
  acquire critical (line 8) waits for release critical (line 8) of the iteration before
  stage 0
    line 6: slt: i < 16
    line 6: add: i += 2
  stage 1 waits for
    line 6: load a: a[i]
  stage 2 waits for
    line 8: acquire critical
  stage 3 waits for
    line 8: load a: a[0] += s * n
  stage 4
    line 8: mul, 2 stages: s * n
  stage 6
    line 8: add: a[0] += s * n
  stage 7 waits for
    line 8: store a: a[0] += s * n
  stage 8
    line 8: release critical
"""


def test_an_explanation_is_for_people() -> None:
    program = region(
        "for (int i = omp_get_thread_num(); i < 16; i += 2) { int s = a[i];\n"
        "#pragma omp critical\na[0] += s * n; }"
    )
    assert explain(program) == EXPLAINED


def test_an_explanation_says_what_waits_for_an_earlier_iteration() -> None:
    text = """
void k(float *a, int n) {
#pragma omp target parallel map(tofrom: a[0:n]) num_threads(2)
for (int i = 1; i < n; i++) {
#pragma omp critical
{ a[0] = a[0] * a[i];
a[1] += a[0]; } } }
"""
    lines = explain(compile_c("k.c", text=text)).splitlines()
    waits = [line.strip() for line in lines if line.endswith("of the iteration before")]
    assert waits == [
        "acquire critical (line 6) waits for release critical (line 6) of the iteration before"
    ]
    assert not any("interval at least" in line for line in lines)


def test_what_bounds_an_interval_adds_up() -> None:
    text = """
void k(float *a, int n) {
#pragma omp target parallel map(tofrom: a[0:n]) num_threads(2)
{ float s = 1; for (int i = omp_get_thread_num(); i < n; i += 2)
s = s * 3 + a[i];
a[omp_get_thread_num()] = s; } }
"""
    text = "int omp_get_thread_num(void);" + text
    (bound,) = [x.strip() for x in explain(compile_c("k.c", text=text)).splitlines() if "at l" in x]
    way = "fmul 7 + fadd 7, and 1 from there to the next iteration"
    assert bound == f"interval at least 15: s, line 5: {way}"


def test_what_is_known_of_memory_ends_with_a_store() -> None:
    program = region(
        "int *p = a + omp_get_thread_num(); int x = p[0] + p[0]; p[0] = x + 1; p[1] = p[0] * 2;",
        threads=1,
    )
    assert [n.op for n in program.region.root.nodes].count(Op.LOAD) == 2
    assert run(program)[:2] == [1, 2]


def test_what_is_known_of_memory_ends_with_a_lock() -> None:
    program = region("int x = a[n];\n#pragma omp critical\na[n] += x + a[n];", threads=1)
    assert [n.op for n in program.region.root.nodes].count(Op.LOAD) == 2


def test_a_section_keeps_the_directives_behind_its_own() -> None:
    text = (
        "void k(int *a) {\n#pragma omp target parallel sections map(tofrom: a[0:4])\n{\n"
        "#pragma omp section\n#pragma omp critical\na[0]++;\n#pragma omp section\na[1] = 2; } }"
    )
    ops = [n.op for n in compile_c("k.c", text=text).region.root.nodes]
    assert ops.count(Op.ACQUIRE) == ops.count(Op.RELEASE) == 1


def test_an_element_of_a_vector_is_the_value_that_was_put_there() -> None:
    text = (
        "typedef int v4 __attribute__((vector_size(16)));\nvoid k(int *a, int n, int m) {\n"
        "#pragma omp target map(tofrom: a[0:4])\n"
        "{ v4 v = {n, m, n + m, 7}; a[0] = v[1]; a[1] = v[2]; } }"
    )
    nodes = compile_c("k.c", text=text).region.root.nodes
    assert not {Op.CONCAT, Op.EXTRACT} & {node.op for node in nodes}


@pytest.mark.parametrize(
    ("asked", "trips", "loops"),
    [("4", 3, 0), ("4", 4, 0), ("4", 5, 1), ("", 1024, 0), ("", 1025, 1)],
)
def test_a_loop_as_long_as_its_copies_is_none_any_more(asked: str, trips: int, loops: int) -> None:
    text = (
        "void k(int *a, int n) {\n#pragma omp target map(a[0:4])\n{ int s = n;\n"
        f"#pragma unroll {asked}\nfor (int i = 0; i < {trips}; i++) s = 3 * s + i;\na[0] = s; }} }}"
    )
    assert len(list(graphs(compile_c("k.c", text=text).region.root))) == 1 + loops


def test_variables_of_one_declaration_have_an_order_in_every_process() -> None:
    # Sets of variables are in the order of their addresses in memory.
    unit = read_c("k.c", text="static short first[6], second[2], third; static int zero;")
    variables = [unit.variables[name] for name in ("first", "second", "third", "zero")]
    for order in itertools.permutations(variables):
        assert in_text_order(order) == variables
