"""Pragmas that are none, or cut: read, or refused in one line with their place."""

from __future__ import annotations

import pytest

from cyclescope.errors import CyclescopeError
from cyclescope.hls import compile_c

ODD = (
    "%s", "", "!", "3", ",", "(", ")", "( ( (", "()", "\\", '"', "for for", "for(", "for()",
    "foo(bar)", "critical critical", "critical(", "critical()", "critical(a b)", "parallel",
    "parallel for",
    "schedule", "for schedule", "for schedule(", "for schedule()", "for schedule(,)",
    "for schedule(static,)", "for schedule(static,0)", "for schedule(static,-1)",
    "for schedule(static,x)", "for schedule(static,9999999999999999999999)", "for schedule(4)",
    "for collapse", "for collapse()", "for collapse(0)", "for collapse(-1)", "for collapse(x)",
    "for collapse(99999999999)", "for collapse(2)", "for collapse(1/0)", "for collapse(1;)",
    "for reduction", "for reduction()", "for reduction(+)", "for reduction(+:)",
    "for reduction(:s)", "for reduction(+:s", "for reduction(+:s[)", "for reduction(+:a[0:])",
    "for reduction(+:a[:])", "for reduction(+:a[0:9])", "for reduction(+:a[-1:2])",
    "for reduction(%:s)", "for reduction(+:nothing)", "for reduction(+:s,)", "for reduction(+:s s)",
    "for private", "for private()", "for private(,)", "for private(nothing)", "for private(a)",
    "for firstprivate(s,s)", "for lastprivate(i)", "for nowait(", "for if(", "for num_threads(",
    "single copyprivate(s)", "master nowait", "masked filter(1)", "atomic", "atomic read",
    "atomic atomic", "ordered", "sections", "section", "task", "barrier(", "flush(s", "simd",
    "simd simdlen(", "simd safelen(0)", "target", "target data", "teams distribute", "loop bind(",
)  # fmt: skip

PROGRAM = """int main(void) {{
  int a[8], s = 0;
#pragma omp target parallel num_threads(2) map(tofrom: a[0:8], s){outer}
  {{
    int i;
#pragma {inner}
    for (i = 0; i < 8; i++) a[i] = 1;
  }}
  return 0;
}}
"""


@pytest.mark.parametrize("words", ODD)
def test_inside_a_region(words: str) -> None:
    check(PROGRAM.format(outer="", inner=f"omp {words}"))


@pytest.mark.parametrize("words", [word.removeprefix("for ") for word in ODD])
def test_of_a_region(words: str) -> None:
    check(PROGRAM.format(outer=f" {words}", inner="omp for"))


@pytest.mark.parametrize("words", ["unroll", "unroll(", "unroll()", "unroll(x)", "unroll(-1)",
    "unroll(0)", "unroll 1/0", "GCC unroll", "GCC unroll 9999999999999999999", "unroll 99999999",
])  # fmt: skip
def test_of_a_loop(words: str) -> None:
    check(PROGRAM.format(outer="", inner=words))


def check(text: str) -> None:
    try:
        compile_c("p.c", text=text)
    except CyclescopeError as error:
        said = str(error)
    else:
        return
    assert said.startswith("p.c:")
    assert "\n" not in said
