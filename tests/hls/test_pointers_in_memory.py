"""Pointers in memories: arrays of them, of the host's and of the region's own."""

from __future__ import annotations

import pytest

from cyclescope.errors import CyclescopeError
from cyclescope.hls import Host, compile_c, interpret, measure
from hls.kernels import in_one_memory, interpreted_as_native

HEAD = "#include <stdio.h>\n#include <stdlib.h>\n"

pytestmark = pytest.mark.usefixtures("host_compiler")

DIFFUSION = """\
int main(void) {
  int n = 20, p = 0;
  double *b = malloc(2 * n * sizeof *b), *u[2] = {&b[0], &b[n]};
  for (int i = 0; i < n; i++) u[0][i] = u[1][i] = i * i;
  for (int t = 0; t < 3; t++, p = 1 - p) {
    #pragma omp target parallel for num_threads(2)
    for (int i = 1; i < n - 1; i++)
      u[1 - p][i] = u[p][i] + 0.25 * (u[p][i - 1] + u[p][i + 1] - 2 * u[p][i]);
  }
  for (int i = 0; i < n; i++) printf("%g ", u[p][i]);
}
"""

PROGRAMS = {
    "two halves of a block": DIFFUSION,
    "rows that are blocks of their own, one of them missing": """\
int main(void) {
  int n = 7, missing = 0;
  float **r = malloc(n * sizeof *r);
  for (int i = 0; i < n; i++) {
    r[i] = malloc((i + 1) * sizeof **r);
    for (int j = 0; j <= i; j++) r[i][j] = i * j;
  }
  r[3] = NULL;
  #pragma omp target parallel for num_threads(3) map(tofrom: r[0:n]) reduction(+: missing)
  for (int i = 0; i < n; i++) {
    if (!r[i]) { missing++; continue; }
    for (int j = 0; j <= i; j++) r[i][j] += 1;
  }
  for (int i = 0; i < n; i++) if (r[i]) printf("%g ", r[i][i]);
  printf("%d\\n", missing);
}
""",
    "pointers that the region exchanges": """\
int a[8], b[8], *p[2] = {a + 1, b};
int main(void) {
  #pragma omp target map(tofrom: p)
  { int *t = p[0]; p[0] = p[1]; p[1] = t; *p[0] = 5; p[1] += 2; p[1]++; *p[1] = 6; p[1][1] = 7; }
  printf("%d %d %d %d\\n", b[0], a[4], a[5], (int)(p[1] - a));
}
""",
    "structs": """\
typedef struct { int x; float y; } S;
int main(void) {
  S *s[2];
  for (int i = 0; i < 2; i++) s[i] = calloc(4, sizeof(S));
  #pragma omp target parallel for num_threads(2) map(tofrom: s)
  for (int i = 0; i < 8; i++) { s[i % 2][i / 2].x = i; (s[i % 2] + i / 2)->y = 0.5f * i; }
  for (int i = 0; i < 8; i++) printf("%d %g\\n", s[i % 2][i / 2].x, s[i % 2][i / 2].y);
}
""",
    "pointers to pointers to pointers": """\
int main(void) {
  int n = 3;
  double ***c = malloc(n * sizeof *c);
  for (int i = 0; i < n; i++) {
    c[i] = malloc(n * sizeof **c);
    for (int j = 0; j < n; j++) {
      c[i][j] = malloc(n * sizeof ***c);
      for (int k = 0; k < n; k++) c[i][j][k] = i + j + k;
    }
  }
  #pragma omp target parallel for num_threads(2)
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) for (int k = 0; k < n; k++) c[i][j][k] *= 2;
  for (int i = 0; i < n; i++) printf("%g ", c[i][i][i]);
}
""",
    "structs with pointers to mapped arrays, copied and exchanged": """\
float a[8], b[8];
struct view { int n; float *p, *q; } v[2] = {{8, a, b}, {4, b + 4, a}};
int main(void) {
  for (int i = 0; i < 8; i++) { a[i] = i; b[i] = 2 * i; }
  #pragma omp target map(tofrom: v, a, b)
  {
    for (int k = 0; k < 2; k++)
      for (int i = 0; i < v[k].n; i++) v[k].p[i] += v[k].q[i] + a[0];
    b[7] = 5;
    float *t = v[0].p;
    v[0].p = v[1].p;
    v[1].p = t + 1;
    v[1].q = NULL;
    struct view w = v[1];
    w.n++;
    v[0] = w;
  }
  for (int i = 0; i < 8; i++) printf("%g %g ", a[i], b[i]);
  printf("%d %d %d %d\\n", (int)(v[0].p - a), (int)(v[1].p - a), v[1].q == NULL, v[0].n);
}
""",
    "structs of which some pointers lead nowhere": """\
struct row { int n; double *d; } rows[4];
int main(void) {
  for (int i = 0; i < 3; i++) {
    rows[i].n = i + 2;
    rows[i].d = calloc(i + 2, sizeof(double));
  }
  rows[3].d = (double *)16;
  #pragma omp target parallel for num_threads(2) map(tofrom: rows)
  for (int i = 0; i < 4; i++) for (int k = 0; k < rows[i].n; k++) rows[i].d[k] = i + k;
  printf("%g %g %d\\n", rows[0].d[1], rows[2].d[3], rows[3].d == (double *)16);
}
""",
    "a list": """\
struct node { int v; struct node *next; };
int main(void) {
  struct node *head = NULL;
  int sum = 0;
  for (int i = 0; i < 5; i++) {
    struct node *n = malloc(sizeof *n);
    n->v = i;
    n->next = head;
    head = n;
  }
  #pragma omp target map(tofrom: sum)
  for (struct node *p = head; p; p = p->next) {
    sum += p->v++;
    if (p->next && p->next->v == 2) p->next = p->next->next;
  }
  printf("%d %d %d\\n", sum, head->v, head->next->next->v);
}
""",
    "objects without a name, variables and parts of others": """\
struct node { int v; struct node *next; };
struct { double k; struct node last; } g = {2.5, {7}};
struct view { int *n; double *k; const char *s; char c; };
static const char *names[3] = {"ab", "cde", "f"};
int main(void) {
  struct node a = {1}, b = {2}, *head = &a;
  a.next = &b;
  b.next = &g.last;
  int count = 5, r = 0, sum = 0;
  struct view v[2] = {{&count, &g.k, names[1]}, {&a.v, NULL, names[2]}};
  #pragma omp target map(tofrom: r, sum, v)
  {
    for (struct node *p = head; p; p = p->next) r = r * 10 + p->v++;
    *v[0].n += 1;
    if (v[0].k && !v[1].k) *v[0].k *= 2;
    for (int i = 0; i < 2; i++) for (const char *s = v[i].s; *s; s++) { sum += *s; v[i].c = *s; }
  }
  printf("%d %g %d %d %d %c %c\\n", r, g.k, sum, count, g.last.v, v[0].c, v[1].c);
}
""",
    "a tree": """\
typedef struct tree { int key; struct tree *l, *r, *up; double w; } tree;
static void insert(tree **r, int k) {
  tree *up = 0;
  while (*r) { up = *r; r = k < up->key ? &up->l : &up->r; }
  *r = calloc(1, sizeof **r);
  (*r)->key = k;
  (*r)->w = k * .5;
  (*r)->up = up;
}
int main(void) {
  tree *root = NULL;
  int keys[] = {5, 2, 8, 1, 9, 3, 7}, found[10];
  for (int i = 0; i < 7; i++) insert(&root, keys[i]);
  #pragma omp target parallel for num_threads(2) map(from: found)
  for (int k = 0; k < 10; k++) {
    tree *t = root;
    while (t && t->key != k) t = k < t->key ? t->l : t->r;
    found[k] = t ? (t->up ? t->up->key : -1) : -2;
    if (t) t->w += 1;
  }
  for (int i = 0; i < 10; i++) printf("%d ", found[i]);
  printf("%g %g\\n", root->w, root->l->w);
}
""",
    "elements of an array that lead to each other": """\
struct node { int v; struct node *next; } pool[16], *table[4];
int main(void) {
  int sums[4];
  for (int i = 0; i < 16; i++) {
    pool[i].v = i * 7 % 16;
    pool[i].next = i % 3 ? &pool[i - 1] : NULL;
  }
  for (int i = 0; i < 4; i++) table[i] = &pool[i * 4 + 1];
  #pragma omp target parallel for num_threads(4) map(tofrom: pool, table) map(from: sums)
  for (int i = 0; i < 4; i++) {
    sums[i] = 0;
    for (struct node *p = table[i]; p != NULL; p = p->next) sums[i] += p->v;
    table[i] = table[i]->next;
  }
  for (int i = 0; i < 4; i++) printf("%d %d ", sums[i], table[i] ? table[i]->v : -1);
}
""",
    "a list of the region's own, whose nodes point to two arrays": """\
struct node { int v; struct node *next; int *more; };
int mapped[4] = {1, 2, 3, 4}, r[8];
int main(void) {
  #pragma omp target parallel for num_threads(2) map(tofrom: r) map(to: mapped)
  for (int k = 0; k < 8; k++) {
    struct node pool[6], *head = NULL;
    int own[2] = {k, 7}, m = 1;
    for (int i = 0; i < 6; i++) {
      struct node *n = &pool[i];
      n->v = (i * 5 + k) % 7;
      n->more = i & 1 ? mapped + i % 4 : own;
      if (!head || n->v < head->v) { n->next = head; head = n; continue; }
      struct node *p = head;
      while (p->next && p->next->v < n->v) p = p->next;
      n->next = p->next;
      p->next = n;
    }
    for (struct node *p = head; p; p = p->next) { r[k] += p->v * m + *p->more; m *= 7; }
  }
  for (int i = 0; i < 8; i++) printf("%d ", r[i]);
}
""",
    "an array of the region's own": """\
int main(void) {
  int a[16] = {0};
  #pragma omp target parallel for num_threads(2) map(tofrom: a)
  for (int i = 0; i < 4; i++) {
    int *rows[4] = {a, a + 4};
    for (int k = 2; k < 4; k++) rows[k] = &a[4 * k];
    for (int k = 0; k < 4; k++) rows[k ^ 1][i] = 10 * k + i;
  }
  for (int i = 0; i < 16; i++) printf("%d ", a[i]);
}
""",
}


@pytest.mark.long(keep_one_in=4)
@pytest.mark.parametrize("text", PROGRAMS.values(), ids=PROGRAMS)
def test_pointers_in_memory_lead_to_what_they_point_to(text: str) -> None:
    made = in_one_memory(HEAD + text)
    with Host(made) as host:
        native, outputs = interpreted_as_native(made, host)
        stdout, status = host.replay(outputs)
    if text is not DIFFUSION:  # whose other times the host runs
        assert (stdout, status) == (native.stdout, native.status)


@pytest.mark.long
def test_they_are_hardware() -> None:
    result = measure(compile_c("p.c", text=HEAD + DIFFUSION))
    assert result.agrees
    assert len(result.runs) == 3


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("int t[4]; q[i & 1] = t; a[0] = *q[0];", r"p\.c:6: a pointer in q, which is the host's"),
    ],
)
def test_what_they_cannot_point_to_is_refused(body: str, message: str) -> None:
    text = f"""\
int a[8], b[8], *q[2];
int main(int argc, char **argv) {{
#pragma omp target map(tofrom: a, b, q)
for (int i = 0; i < argc; i++) {{ {body} }} }}
"""
    with pytest.raises(CyclescopeError, match=message):
        compile_c("p.c", text=HEAD + text)


@pytest.mark.parametrize("body", ["int *p[2]; p[i & 1][0] = 1;", "int *p = 0; if (i) a[0] = *p;"])
def test_who_follows_one_that_has_no_value_stops(body: str) -> None:
    text = f"""\
int a[8];
int main(int argc, char **argv) {{
#pragma omp target map(tofrom: a)
for (int i = 0; i < argc - 1; i++) {{ {body} }} }}
"""
    made = compile_c("p.c", text=HEAD + text)
    interpret(made.region, {"a": bytes(32)}, (1,))
    with pytest.raises(CyclescopeError, match=r"p\.c:6: thread 0 follows a pointer that is null"):
        interpret(made.region, {"a": bytes(32)}, (3,))


def test_who_follows_a_pointer_to_no_block_leaves_the_memory() -> None:
    text = """\
int main(int argc, char **argv) {
  int *p[2] = {(int *)16, malloc(4)};
  #pragma omp target map(tofrom: p)
  if (argc > 1) p[0][0] = 1; else p[1][0] = 1;
}
"""
    made = compile_c("p.c", text=HEAD + text)
    with Host(made) as host:
        native = host.run()
        interpret(made.region, native.inputs, native.scalars)
        with pytest.raises(CyclescopeError, match=r"p\.c:6: thread 0 leaves p_points_to"):
            interpret(made.region, native.inputs, (2,))
