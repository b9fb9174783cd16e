"""Recursion: functions that call themselves or each other, as a loop with a stack."""

from __future__ import annotations

import pytest

from cyclescope.errors import RunError, SourceError
from cyclescope.hls import Host, compile_c, differences, interpret, measure
from cyclescope.hls.front._recursion import LEVELS

FUNCTIONS = """\
#include <stdio.h>
int input = 30;
static int fib(int n) { if (n < 2) return n; return fib(n - 1) + fib(n - 2); }
static int ack(int m, int n) {
  return m == 0 ? n + 1 : n == 0 ? ack(m - 1, 1) : ack(m - 1, ack(m, n - 1));
}
static int odd(unsigned n);
static int even(unsigned n) { return n == 0 || odd(n - 1); }
static int odd(unsigned n) { return n != 0 && even(n - 1); }
static void sort(int a[], int low, int high) {
  if (low >= high) return;
  int p = a[high], i = low;
  for (int j = low; j < high; j++) if (a[j] < p) { int t = a[i]; a[i] = a[j]; a[j] = t; i++; }
  int t = a[i];
  a[i] = a[high], a[high] = t;
  sort(a, low, i - 1), sort(a, i + 1, high);
}
static int queens(int row, unsigned columns, unsigned up, unsigned down, int n) {
  int count = 0;
  if (row == n) return 1;
  for (int c = 0; c < n; c++) {
    unsigned a = 1u << (row + c), b = 1u << (row - c + n);
    if ((columns >> c & 1) || (up & a) || (down & b)) continue;
    count += queens(row + 1, columns | 1u << c, up | a, down | b, n);
  }
  return count;
}
static void hanoi(int n, int from, int to, int *moves) {
  switch (n) {
  case 0: return;
  case 1: ++*moves; break;
  default:
    hanoi(n - 1, from, 3 - from - to, moves);
    ++*moves;
    hanoi(n - 1, 3 - from - to, to, moves);
  }
}
static int path(int n, int *out) {
  int own[3] = {n, n * n}, left = 0;
  own[2] = own[1] - 1;
  while (n > 0 && path(--n, out) < 100) own[0] += *out;
  do { own[1]--, left += n; } while (own[1] > 3 && path(own[1] & 1, out) > 50);
  *out += own[0] + own[1] + own[2];
  return *out + left;
}
static int tasks(int n) {
  int i, j = 7, s;
  if (n < 2) return n;
  #pragma omp task shared(i)
  { n -= 1; i = tasks(n); }
  #pragma omp task shared(j)
  j = tasks(n - 2);
  #pragma omp taskwait
  #pragma omp task shared(i, j, s)
  s = i + j;
  #pragma omp taskwait
  return s;
}
static int copying(int n, int from) {
  int own[3] = {n, from, 3}, out = 0, named[2] = {1, 2};
  if (n == 0) return from;
  #pragma omp task shared(out, named)
  { own[1] += 10, named[1] += n; out = copying(n - 1, own[1]); }
  #pragma omp taskwait
  return out + own[1] + named[1];
}
struct link { int v; struct link *next; };
static int chained(int n) {
  struct link own[2], *head = 0;
  for (int i = 0; i < 2; i++) { own[i].v = n + i; own[i].next = head; head = &own[i]; }
  int s = n > 0 ? chained(n - 1) : 0;
  if (n > 1) s += chained(n - 2);
  for (struct link *p = head; p; p = p->next) s += p->v;
  return s;
}
static int deep(int n) { return n ? deep(n - 1) + 1 : 0; }
"""

EVERY = """\
int main(void) {
  int r[9] = {0}, a[16], me[3] = {0};
  for (int i = 0; i < 16; i++) a[i] = (i * 7 + 3) % 16;
  #pragma omp target map(tofrom: r, a)
  {
    r[0] = fib(10), r[1] = ack(2, 2), r[2] = even(9) * 10 + odd(7);
    sort(a, 0, 15), r[3] = queens(0, 0, 0, 0, 5);
    int moves = 0;
    hanoi(4, 0, 2, &moves), r[4] = moves;
    r[5] = path(4, &r[6]), r[7] = tasks(9) + copying(4, 1), r[8] = chained(5);
  }
  for (int i = 0; i < 9; i++) printf("%d ", r[i]);
  for (int i = 0; i < 16; i++) printf("%d ", a[i]);
}
"""


def region(body: str) -> str:
    return f"""{FUNCTIONS}int main(void) {{ int a[8] = {{0}};
#pragma omp target parallel num_threads(2) map(tofrom: a)
{{
{body}
}}
}}
"""


@pytest.mark.usefixtures("host_compiler")
def test_functions_that_call_themselves_or_each_other_compute_what_the_host_says() -> None:
    program = compile_c("r.c", text=FUNCTIONS + EVERY)
    assert sum("256 calls deep" in w for w in program.warnings) == 10
    with Host(program) as host:
        (native,) = host.run().reaches
    found = interpret(program.region, native.inputs, native.scalars)
    assert not differences(program, native.outputs, found)


@pytest.mark.long
@pytest.mark.usefixtures("host_compiler")
def test_each_thread_of_the_hardware_has_its_own_stack() -> None:
    text = region("a[omp_get_thread_num()] = fib(3 + omp_get_thread_num());")
    text = text.replace("#include <stdio.h>", "#include <stdio.h>\n#include <omp.h>")
    assert measure(compile_c("r.c", text=text)).agrees


def test_a_call_beyond_the_stack_stops_the_region() -> None:
    text = FUNCTIONS + (
        "void k(int *a) {\n#pragma omp target map(tofrom: a[0:1])\na[0] = deep(a[0]);\n}\n"
    )
    program = compile_c("r.c", text=text)

    def run(depth: int) -> int:
        given = {a.name: depth.to_bytes(a.bytes or 4, "little") for a in program.region.arrays}
        return int.from_bytes(interpret(program.region, given, [])["a"], "little")

    assert run(LEVELS - 2) == LEVELS - 2
    with pytest.raises(RunError, match=rf":\d+: thread 0 is {LEVELS} calls of deep deep"):
        run(LEVELS)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        ("int *f(int *p) { return *p ? f(p + 1) : p; }", r"returns int \*; return a subscript"),
        (
            "int f(int n) {\n#pragma omp critical\n{ n = n ? f(n - 1) : 0; }\nreturn n; }",
            "omp critical around a call by which a function calls itself",
        ),
        (
            "int f(int n) { if (n > 3) goto out; n = f(n + 1); out: return n; }",
            "goto out past a call by which a function calls itself",
        ),
        (
            "int f(int n) { int x[n]; x[0] = n; return n ? f(n - 1) + x[0] : 0; }",
            "x, in a function that calls itself, has a size known only at run time",
        ),
        (
            "int f(int n) { int s = 0;\n#pragma omp parallel for reduction(+: s)\n"
            "for (int i = 0; i < n; i++) s += i;\nreturn n ? f(n - 1) + s : 0; }",
            "a directive that names s, which each call of f has its own of",
        ),
    ],
)
def test_what_a_recursive_function_cannot_have_is_named(function: str, message: str) -> None:
    call = "*f(a)" if "*f" in function else "f(a[0])"
    text = (
        f"{function}\nint main(void) {{ int a[4] = {{0}};\n#pragma omp target\na[0] = {call};\n}}"
    )
    with pytest.raises(SourceError, match=message):
        compile_c("r.c", text=text)
