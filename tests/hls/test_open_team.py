"""A region of which only the run knows whether it has a team: `if(parallel: …)` with a variable."""

from __future__ import annotations

import pytest

from cyclescope.hls import Host, compile_c, differences, interpret, measure

TEXT = """\
#include <stdio.h>
#include <omp.h>
int a[16], b[16], asked;
int ask(int n) { asked++; return n % 2; }
int main(void) {
  for (int n = 0; n < 2; n++) {
    int x[4] = {0}, t = 0, s = 0;
    #pragma omp target DIRECTIVE
    {
      int me = omp_get_thread_num();
      a[me] += omp_get_num_threads() + omp_in_parallel();
      x[me] = me;
      #pragma omp barrier
      b[me] += x[(me + 1) % omp_get_num_threads()];
      #pragma omp for reduction(+: t)
      for (int i = 0; i < 16; i++) { t += i; a[i] += i; }
      #pragma omp single
      b[15]++;
      #pragma omp critical
      s += me + 1;
    }
    printf("%d %d ", t, s);
  }
  for (int i = 0; i < 16; i++) printf("%d %d ", a[i], b[i]);
  printf("%d\\n", asked);
}
"""
COMBINED = "parallel if(parallel: ask(n)) num_threads(4) map(tofrom: t, s)"
NESTED = "map(tofrom: t, s)\n    #pragma omp parallel num_threads(4) if(ask(n))"

pytestmark = pytest.mark.usefixtures("host_compiler")


@pytest.mark.parametrize("directive", [COMBINED, NESTED])
def test_the_condition_of_a_team_is_the_hosts_to_evaluate(directive: str) -> None:
    program = compile_c("t.c", text=TEXT.replace("DIRECTIVE", directive))
    with Host(program) as host:
        native = host.run(times=2)
    assert native.stdout.endswith(b" 2\n")
    for reach in native.reaches:
        found = interpret(program.region, reach.inputs, reach.scalars)
        assert not differences(program, reach.outputs, found)


@pytest.mark.long
def test_so_it_is_in_hardware() -> None:
    measured = measure(compile_c("t.c", text=TEXT.replace("DIRECTIVE", COMBINED)))
    assert len(measured.runs) == 2
    assert measured.agrees
