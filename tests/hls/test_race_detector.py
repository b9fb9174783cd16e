"""Data races that a run shows: two accesses that no barrier and no lock orders."""

from __future__ import annotations

import pytest

from cyclescope.errors import RunError
from cyclescope.hls import compile_c, measure
from cyclescope.hls.run._race_detector import find_race

HEAD = """\
int a[64], b[64], s, t;
int main(void) {
#pragma omp target parallel num_threads(4) map(tofrom: a, b, s, t)
{
"""
SHARED = "#pragma omp for nowait\nfor (int i = 0; i < 64; i++) a[i] = i;\n"
RACES = {
    "#pragma omp for\nfor (int i = 0; i < 64; i++) { t = a[i]; b[i] = t + i; }": "of t (r.c:6), ",
    "#pragma omp for\nfor (int i = 1; i < 64; i++) a[i] = a[i - 1];": "of a (r.c:6), ",
    f"{SHARED}b[0] = a[63];": "(r.c:6)",
    "#pragma omp for\nfor (int i = 0; i < 64; i++) a[b[i]] = i;": "of a (r.c:6), ",
    "#pragma omp critical(x)\ns++;\n#pragma omp critical(y)\ns++;": "of s (r.c:8), ",
    "#pragma omp atomic\ns++;\nif (s) b[0] = 1;": "of s ",
    f"{SHARED}#pragma omp single\nt = a[9];": "(r.c:6), whoever executes a single reads it (r.c:8)",
}
NONE = (
    "#pragma omp for\nfor (int i = 0; i < 64; i++) a[i] = i;\nif (a[3] > 5) b[a[60] & 3] = 0;",
    "#pragma omp for reduction(+: s)\nfor (int i = 0; i < 64; i++) s += i;",
    "#pragma omp for schedule(dynamic, 3) lastprivate(t)\nfor (int i = 0; i < 64; i++) t = a[i]++;",
    "#pragma omp critical\n{ s++; t = s; }",
    "#pragma omp single\ns = 3;\n#pragma omp for\nfor (int i = 0; i < 64; i++) b[i] = s;",
    "#pragma omp master\ns = 3;",
    f"{SHARED}#pragma omp master\nt = a[9];",
    "#pragma omp single\n{ s = 3; t = s; for (int i = 0; i < 4; i++) b[i] = s; }",
)


def found(body: str) -> str:
    program = compile_c("r.c", text=f"{HEAD}{body}\n}}\n}}\n")
    given = {a.name: bytes(a.bytes or 0) for a in program.region.arrays}
    return find_race(program.region, given, [0] * len(program.region.scalars))


@pytest.mark.parametrize("body", RACES)
def test_what_nothing_orders_is_a_race(body: str) -> None:
    said = found(body)
    assert said.startswith("data race: thread ")
    assert RACES[body] in said


@pytest.mark.parametrize("body", NONE)
def test_what_barriers_and_locks_order_is_none(body: str) -> None:
    assert found(body) == ""


def test_an_endless_region_says_what_it_has_shown() -> None:
    assert "of t (r.c:6)" in found("while (!s)\nt++;")


@pytest.mark.long
@pytest.mark.usefixtures("host_compiler")
def test_an_access_out_of_range_comes_with_the_race_that_may_lead_there() -> None:
    program = compile_c("r.c", text=f"{HEAD}t++;\na[64 + (t & 7)] = 1;\n}}\n}}\n")
    with pytest.raises(RunError, match=r"out of range; .*; data race: thread 0 \w+ byte 0 of t "):
        measure(program)
