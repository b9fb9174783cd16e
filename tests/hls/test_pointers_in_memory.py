"""Pointers in memories: arrays of them, of the host's and of the region's own."""

from __future__ import annotations

import pytest

from cyclescope.errors import CyclescopeError
from cyclescope.hls import Host, compile_c, differences, interpret, measure

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


@pytest.mark.parametrize("text", PROGRAMS.values(), ids=PROGRAMS)
def test_pointers_in_memory_lead_to_what_they_point_to(text: str) -> None:
    made = compile_c("p.c", text=HEAD + text)
    with Host(made) as host:
        native = host.run()
        assert host.run(unmodified=True).stdout == native.stdout
        outputs = interpret(made.region, native.inputs, native.scalars)
        assert not differences(made, native.outputs, outputs)
        stdout, status = host.replay(outputs)
    if text is not DIFFUSION:  # whose other times the host runs
        assert (stdout, status) == (native.stdout, native.status)


def test_they_are_hardware() -> None:
    result = measure(compile_c("p.c", text=HEAD + DIFFUSION))
    assert result.agrees
    assert len(result.runs) == 3


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            "int *p[2] = {a, b}; p[i & 1][0] = 1;",
            r"p\.c:6: an element of p, which points into a or",
        ),
        ("int *p[2]; p[i & 1][0] = 1;", r"p\.c:6: it isn't known what the elements of p point to"),
        ("struct { int *p; } s[2]; s[i].p = a;", r"p\.c:6: a pointer in memory that is no"),
    ],
)
def test_what_they_cannot_point_to_is_refused(body: str, message: str) -> None:
    text = f"""\
int a[8], b[8];
int main(int argc, char **argv) {{
#pragma omp target map(tofrom: a, b)
for (int i = 0; i < argc; i++) {{ {body} }} }}
"""
    with pytest.raises(CyclescopeError, match=message):
        compile_c("p.c", text=HEAD + text)


def test_what_no_block_is_known_of_is_said() -> None:
    text = """\
int main(void) {
  int *p[1] = {(int *)16};
  #pragma omp target map(tofrom: p)
  p[0][0] = 1;
}
"""
    with (
        Host(compile_c("p.c", text=HEAD + text)) as host,
        pytest.raises(CyclescopeError, match=r"p\.c:5: an element of p points to no block"),
    ):
        host.run()
