"""Sites say how accesses move and what loops need, however the text puts it."""

from __future__ import annotations

from pathlib import Path

import pytest

from cyclescope.hls import compile_c, machine_of
from cyclescope.hls.passes._strides import Given
from cyclescope.hls.trace._sites import Sites
from cyclescope.model import Access, Lock, Loop, Site, site_from_json, site_to_json

HEAD = """
#include <omp.h>
#include <string.h>
void k(float *A, float *B, float *C, int n) {
  #pragma omp target parallel map(to: A[0:4096], B[0:4096]) map(tofrom: C[0:4096]) num_threads(4)
  {
    int me = omp_get_thread_num();
"""
TAIL = "\n  }\n}\nint main(void) { static float a[4096]; k(a, a, a, 8); return 0; }\n"


def sites(body: str, given: Given | None = None) -> list[Site]:
    program = compile_c(Path("k.c"), text=HEAD + body + TAIL)
    machine = machine_of(program)
    return Sites(machine.region, machine.pipelines, given=given).every


def access(found: list[Site], array: str) -> Access:
    (one,) = [s for s in found if isinstance(s, Access) and s.array == array and not s.writes]
    return one


def loops(found: list[Site]) -> list[Loop]:
    return [s for s in found if isinstance(s, Loop)]


PRODUCTS = {
    "plain": """
    for (int i = me; i < n; i += 4)
      for (int j = 0; j < n; ++j) {
        float s = 0;
        for (int k = 0; k < n; ++k) s += A[i * n + k] * B[k * 8 + j];
        C[i * n + j] = s;
      }""",
    "subscripts in variables": """
    for (int i = me; i < n; i += 4)
      for (int j = 0; j < n; ++j) {
        float s = 0;
        for (int k = 0; k < n; ++k) { int p = i * n + k, q = k * 8 + j; s += A[p] * B[q]; }
        C[i * n + j] = s;
      }""",
    "while, other names": """
    int row = me;
    while (row < n) {
      int column = 0;
      while (column < n) {
        float total = 0; int at = 0;
        while (at < n) { float b = B[column + 8 * at], a = A[at + n * row]; total += a * b; at++; }
        C[row * n + column] = total;
        column += 1;
      }
      row += 4;
    }""",
    "pointers that move": """
    for (int i = me; i < n; i += 4)
      for (int j = 0; j < n; ++j) {
        float s = 0, *a = &A[i * n], *b = &B[j];
        for (int k = 0; k < n; ++k) { s += *a * *b; a++; b += 8; }
        C[i * n + j] = s;
      }""",
}


@pytest.mark.parametrize("way", PRODUCTS)
def test_a_matrix_product_in_any_words(way: str) -> None:
    found = sites(PRODUCTS[way], Given((8,), 4))
    outer, middle, inner = loops(found)
    assert (outer.parent, middle.parent, inner.parent) == (-1, 0, 1)
    assert [loop.trips for loop in (outer, middle, inner)] == [2, 8, 8]
    a, b = access(found, "A"), access(found, "B")
    assert (a.stride, b.stride) == (4, 32)
    assert (a.loop, b.loop) == (2, 2)
    # A row is read again for each column, a column for each row.
    assert (a.repeats, b.repeats) == ((1,), (0,))
    (c,) = [s for s in found if isinstance(s, Access) and s.writes]
    assert c.loop == 1
    assert c.stride == 4


COUNTERS = {
    "for": ("for (int x = 0; x < n; x++) C[x] = 0;", "x"),
    "down": ("for (int x = n; x > 0; x -= 2) C[x] = 0;", "x"),
    "a head over two lines": ("for (int x = 0,\n y = n;\n x < y; x++, y--) C[x] = 0;", "x"),
    "while": ("int x = 0; while (x < n) { C[x] = 0; x = x + 1; }", "x"),
    "do": ("int x = 0; do C[x] = 0; while (++x < n);", "x"),
    "with break": ("for (int x = 0; ; x++) { if (x >= n) break; C[x] = 0; }", "x"),
    "with continue": ("for (int x = 0; x < n; x++) { if (A[x] > 0) continue; C[x] = 0; }", "x"),
    "a pointer": ("for (float *x = C; x != C + n; x++) *x = 0;", "x"),
    "by a step that is known later": ("for (int x = 0; x < n; x += me) C[x] = 0;", "x"),
    "in some iterations": (
        "int x = 0; while (x < n) { C[x] += 1; if (C[x] > 9) x++; }",
        "x",
    ),
    "nothing": ("int x = n; while (x != 1) x = x % 2 ? 3 * x + 1 : x / 2; C[0] = x;", ""),
    "another's text": ("for (int x = 0; /* for (;; y++) */ x < n; x++) C[x] = 0;", "x"),
}


@pytest.mark.parametrize("way", COUNTERS)
def test_what_a_loop_counts(way: str) -> None:
    text, counter = COUNTERS[way]
    (loop,) = loops(sites(text))
    assert loop.counter == counter


STRIDES = {
    "A[j]": 4,
    "A[n - j]": -4,
    "A[j + i]": 4,
    "A[(i + j)]": 4,
    "A[2 * j + 1]": 8,
    "A[j * n + i]": None,  # n is not known before the run
    "A[i]": 0,
    "A[(int)A[j]]": None,
    "A[j] + A[i]": None,  # of one place with two of them
    "A[j] + A[j + 1]": 4,
    "A[j * j]": None,
    "A[j % 7]": None,
}


@pytest.mark.parametrize("expression", STRIDES)
def test_strides(expression: str) -> None:
    body = f"""for (int i = 0; i < 9; i++) {{ float s = 0;
      for (int j = 0; j < 16; j++) s += {expression}; C[i] = s; }}"""
    found = [s for s in sites(body) if isinstance(s, Access) and not s.writes]
    assert found[-1].stride == STRIDES[expression]
    assert loops(sites(body))[1].trips == 16


def test_adjacent_accesses_of_an_unrolled_loop_are_one() -> None:
    found = sites("""for (int i = 0; i < 64; i += 4) { float s = 0;
      #pragma unroll 4
      for (int v = 0; v < 4; v++) s += A[i + v];
      C[i] = s; }""")
    one = access(found, "A")
    assert (one.operations, one.width, one.stride) == (4, 4, 16)


def test_a_section_s_stages_are_at_its_lines() -> None:
    found = sites("""for (int i = me; i < n; i += 4) {
      float x = A[i] * B[i];
      #pragma omp critical
      {
        C[0] += x;
        if (C[0] > 9)
          C[1] = x;
      }
      B[i] = x / 3; }""")
    (lock,) = [s for s in found if isinstance(s, Lock)]
    assert lock.position is not None
    first = lock.position.line
    assert set(lock.lines) <= {first + 1, first + 2, first + 3}
    assert first + 1 in lock.lines
    # An addition takes longer than a comparison.
    stages = dict(zip(lock.lines, lock.stages, strict=True))
    assert stages[first + 1] > max((n for line, n in stages.items() if line > first + 1), default=0)


BUFFERS = {
    "one": ("t[x]", "t[y]", True),
    "the other of two": ("u[b & 1][x]", "u[(b - 1) & 1][y]", False),
    "the other of two, in one dimension": ("v[(b & 1) * 8 + x]", "v[((b + 1) & 1) * 8 + y]", False),
    "the same of two": ("u[b & 1][x]", "u[b & 1][y]", True),
    "another array": ("t[x]", "w[y]", False),
}


@pytest.mark.parametrize("more", [False, True], ids=["a copy", "a loop"])
@pytest.mark.parametrize("case", BUFFERS)
def test_which_loop_needs_which(case: str, *, more: bool) -> None:
    into, of, needs = BUFFERS[case]
    found = sites(f"""
    float t[8], u[2][8], v[16], w[8], s = 0;
    for (int y = 0; y < 8; y++) {{ w[y] = y; u[1][y] = y; v[y] = y; v[y + 8] = y; }}
    for (int b = 0; b < n; b++) {{
      for (int x = 0; x < 8; x++) {into} = A[b * 8 + x]{" + 1" if more else ""};
      for (int y = 0; y < 8; y++) s += {of};
    }}
    C[me] = s;""")
    outer = next(n for n, s in enumerate(found) if isinstance(s, Loop) and s.trips is None)
    inside = [n for n, s in enumerate(found) if isinstance(s, Loop) and s.parent == outer]
    # The loop that only loads became a copy; or it is a loop that does a little more.
    copies = [n for n, s in enumerate(found) if isinstance(s, Access) and s.copies]
    load = copies[0] if copies else access(found, "A").loop
    assert bool(copies) is not more
    (work,) = [n for n in inside if n != load]
    loop, loaded = found[work], found[load]
    assert isinstance(loop, Loop)
    assert (load in loop.needs) is needs
    if isinstance(loaded, Access):
        assert loaded.stride == 32


def test_what_is_done_with_a_lock() -> None:
    found = sites("""
    for (int i = 0; i < 9; i++) {
      float before = A[i];
      #pragma omp critical
      { C[0] += before;
        for (int j = 0; j < 4; j++) C[j + 1] += B[j]; }
      C[me + 64 + i] = before;
    }""")
    (lock,) = [n for n, s in enumerate(found) if isinstance(s, Lock)]
    assert access(found, "A").lock == -1
    assert access(found, "B").lock == lock
    assert loops(found)[1].lock == lock
    writes = [s for s in found if isinstance(s, Access) and s.writes]
    assert [s.lock for s in sorted(writes, key=lambda s: s.position)] == [lock, lock, -1]  # type: ignore[arg-type,return-value]


def test_each_section_of_a_lock_has_its_own_accesses() -> None:
    found = sites("""
    #pragma omp critical
    C[0] += A[me];
    #pragma omp critical
    C[1] += B[me];
    """)
    first, second = (n for n, s in enumerate(found) if isinstance(s, Lock))
    writes = sorted(
        (s.position.line, s.lock)
        for s in found
        if isinstance(s, Access) and s.writes and s.position is not None
    )
    assert [lock for _, lock in writes] == [first, second]


def test_sites_survive_a_file() -> None:
    for site in sites(PRODUCTS["plain"], Given((8,), 4)):
        assert site_from_json(site_to_json(site)) == site
