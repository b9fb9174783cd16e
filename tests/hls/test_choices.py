"""Pointers that lead into one of several memories, or nowhere."""

from __future__ import annotations

import pytest

from cyclescope.hls import Host, compile_c, measure
from hls.kernels import in_one_memory, interpreted_as_native

HEAD = "#include <stdio.h>\n#include <stdlib.h>\n"

pytestmark = pytest.mark.usefixtures("host_compiler")

STENCIL = """\
int main(void) {
  double a[16], b[16];
  for (int i = 0; i < 16; i++) { a[i] = i * i; b[i] = a[i]; }
  #pragma omp target map(tofrom: a, b)
  {
    double *s = a, *d = b;
    for (int t = 0; t < 5; t++) {
      for (int i = 1; i < 15; i++) d[i] = s[i] + .25 * (s[i - 1] + s[i + 1] - 2 * s[i]);
      double *x = s;
      s = d;
      d = x;
    }
  }
  for (int i = 0; i < 16; i++) printf("%g ", a[i]);
}
"""

PROGRAMS = {
    "exchanged in a loop": STENCIL,
    "chosen, from an array of pointers and by a condition": """\
int a[8], b[8];
int main(void) {
  for (int i = 0; i < 8; i++) { a[i] = i; b[i] = 10 * i; }
  #pragma omp target parallel for num_threads(2) map(tofrom: a, b)
  for (int i = 0; i < 8; i++) {
    int *p[2] = {a, b}, own[8] = {i}, *q = i % 3 ? a : b, *r = i % 4 == 3 ? own : q;
    p[i & 1][i] += 1;
    q[i] += 100 + r[0] * (r == own);
  }
  for (int i = 0; i < 8; i++) printf("%d %d ", a[i], b[i]);
}
""",
    "null, and compared with it": """\
int a[8] = {1, 2, 3, 4, 5, 6, 7, 8}, r;
int main(void) {
  #pragma omp target map(tofrom: a, r)
  {
    int *p = a, *q = NULL, *z = 0;
    if (p) r += 1;
    if (p != NULL) r += 2;
    if (!q) r += 4;
    for (int i = 0; i < 8; i++) if (a[i] == 5) q = &a[i];
    if (q) { *q = 50; r += 8; }
    r += z == q ? 100 : 16;
    z = a - 1;
    if (z && NULL == (q = NULL)) z[1] += 1000;
  }
  printf("%d %d %d\\n", r, a[4], a[0]);
}
""",
    "functions that return pointers": """\
static int *find(int *a, int n, int v) {
  for (int i = 0; i < n; i++) if (a[i] == v) return &a[i];
  return NULL;
}
static const char *name(int k) {
  switch (k) { case 0: return "zero"; case 1: return "one"; default: return "many"; }
}
int x[10], y[10], r[6];
int main(void) {
  for (int i = 0; i < 10; i++) { x[i] = i * 3; y[i] = 100 + i; }
  #pragma omp target map(tofrom: x, y, r)
  {
    int *p = find(x, 10, 12);
    if (p) { *p = -1; r[0] = p - x; }
    r[1] = find(y, 10, 7) == NULL;
    for (int k = 0; k < 4; k++) {
      int *q = k & 1 ? find(x, 10, k * 3) : find(y, 10, 100 + k);
      if (q != 0 && *q) *q += 1000;
      r[2] += q ? 1 : 0;
    }
    for (int k = 0; k < 3; k++) r[3] += name(k)[1];
    for (const char *s = name(2); *s;) r[4] += *s++;
  }
  for (int i = 0; i < 10; i++) printf("%d %d ", x[i], y[i]);
  for (int i = 0; i < 6; i++) printf("%d ", r[i]);
}
""",
    "a pointer that another one points to": """\
static void swap(int **p, int **q) { int *t = *p; *p = *q; *q = t; }
int a[8], b[8], c[8];
int main(void) {
  for (int i = 0; i < 8; i++) b[i] = i;
  #pragma omp target map(tofrom: a, b, c)
  {
    int *s = a, *d = b, *now = 0, **pp = &now;
    for (int t = 0; t < 3; t++) { for (int i = 0; i < 8; i++) s[i] = d[7 - i] + t; swap(&s, &d); }
    for (int t = 0; t < 6; t++) {
      if (now) now[t] += 1000;
      now = t % 3 == 0 ? a : t % 3 == 1 ? b : c;
    }
    (*pp)[7] = 77;
  }
  for (int i = 0; i < 8; i++) printf("%d %d %d,", a[i], b[i], c[i]);
}
""",
    "addresses of scalars and copies of the host's": """\
struct s { int a; short b[3]; };
struct p { int a; float *p; };
float x[4] = {1, 2, 3, 4}, y[4] = {5, 6, 7, 8};
int main(void) {
  int n = 5, m = 6, r[4], q[4];
  double d = 2.5;
  struct s t = {1, {2, 3, 4}};
  struct p u[2] = {{1, x}, {2, y}};
  float *pp[2] = {x, y};
  #pragma omp target parallel num_threads(2) map(from: r, q) map(tofrom: x, y) firstprivate(n, t)
  {
    #pragma omp for
    for (int i = 0; i < 4; i++) {
      int k = i, *z = i & 1 ? &k : &m;
      double *to = &d;
      struct s *one = &t;
      int *own = &n;
      r[i] = *own + *z + (int)(*to * 2) + one->b[i % 3];
    }
    #pragma omp for firstprivate(u, pp)
    for (int i = 0; i < 4; i++) {
      u[0].a += i;
      u[i & 1].p++;
      pp[0] = pp[1];
      q[i] = u[i & 1].p[0] + u[1].a + pp[0][i];
      u[i & 1].p--;
    }
  }
  for (int i = 0; i < 4; i++) printf("%d %d ", r[i], q[i]);
}
""",
    "structs with pointers by value": """\
typedef struct { float *p; int n; struct { int *q; short k; } in; } V;
typedef struct { V v[2]; double z[12]; const char *name; } W;
float a[8], b[8];
int c[8], r[8];
static V make(float *p, int n, int *q) { V v = {p, n, {q, (short)n}}; return v; }
static V sub(V v, int k) { v.p += k; v.n -= k; v.in.q++; return v; }
static W wrap(V x, V y) {
  W w;
  w.v[0] = x;
  w.v[1] = y;
  for (int i = 0; i < 12; i++) w.z[i] = i;
  w.name = "nm";
  return w;
}
int main(void) {
  for (int i = 0; i < 8; i++) { a[i] = i; b[i] = i * 10; c[i] = 100 + i; }
  #pragma omp target parallel for num_threads(2) map(tofrom: a, b, c, r)
  for (int i = 0; i < 8; i++) {
    V x = make(a, 8, c), y = sub(make(b, 8, c + 1), i / 2), z = i & 1 ? x : y;
    V arr[3] = {x, y, {a + 1, 3, {c, 1}}}, t = arr[i % 3];
    arr[0] = arr[2];
    V *pv = &arr[i % 2];
    W w = wrap(t, *pv), w2 = w, wa[2];
    w2.v[1] = z;
    wa[0] = w2;
    wa[1] = w;
    const W *pw = &wa[i & 1];
    r[i] = (int)(z.p[1] + t.p[0] + pv->p[0] + pw->v[1].p[1] + pw->z[i]) + *pw->v[0].in.q +
           pw->v[0].in.k + pw->name[0] + make(a, i, c).n + *sub(x, 1).in.q;
  }
  for (int i = 0; i < 8; i++) printf("%d ", r[i]);
}
""",
}


@pytest.mark.long(keep_one_in=4)
@pytest.mark.parametrize("text", PROGRAMS.values(), ids=PROGRAMS)
def test_pointers_lead_into_what_they_are_given(text: str) -> None:
    made = in_one_memory(HEAD + text)
    with Host(made) as host:
        interpreted_as_native(made, host)


@pytest.mark.long
def test_they_are_hardware() -> None:
    assert measure(compile_c("p.c", text=HEAD + STENCIL)).agrees


def test_a_pointer_into_one_array_costs_no_choice() -> None:
    text = """\
int a[8], b[8];
int main(void) {
  #pragma omp target map(tofrom: a, b)
  { int *p = a; p[1] = 5; p = b; for (int i = 0; i < 8; i++) p[i] = i; }
}
"""
    made = compile_c("p.c", text=text)
    stores = [n for n in made.region.root.nodes if n.array is not None]
    assert [n.array.name for n in stores if n.array is not None] == ["a"]
