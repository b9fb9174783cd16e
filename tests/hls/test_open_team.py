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
    assert not any(judgement.why_not for judgement in measured.judgements)


SIZED = """\
#include <stdio.h>
#include <omp.h>
int a[40], seen[3], last;
int main(void) {
  for (int n = 1; n < 12; n += 5) {
    int sum = 0;
    #pragma omp target parallel num_threads(n + a[0] * 0) map(tofrom: a, seen, sum, last)
    {
      #pragma omp for schedule(static, 2) reduction(+: sum) lastprivate(last)
      for (int i = 0; i < 40; i++) {
        sum += i * omp_get_num_threads();
        last = i * n;
        a[i] += omp_get_thread_num();
      }
      for (int k = 0; k < 2; k++) {
        #pragma omp for schedule(guided)
        for (int i = 0; i < 40; i++) a[i] += k;
        #pragma omp barrier
        #pragma omp single
        seen[0] += omp_get_num_threads();
      }
      #pragma omp for collapse(2) schedule(static, 3)
      for (int i = 0; i < 5; i++)
        for (int j = 0; j < 8; j++) a[i * 8 + j] = a[i * 8 + j] * 3 + omp_get_thread_num();
      #pragma omp sections
      {
        #pragma omp section
        seen[1] += 3;
        #pragma omp section
        seen[2] += 1 + omp_in_parallel();
      }
    }
    printf("%d %d ", sum, last);
  }
  for (int i = 0; i < 40; i++) printf("%d ", a[i]);
  printf("%d %d %d\\n", seen[0], seen[1], seen[2]);
}
"""


def test_threads_beyond_what_the_host_asks_for_do_nothing() -> None:
    program = compile_c("t.c", text=SIZED)
    assert program.region.threads == 16
    assert not program.warnings
    with Host(program) as host:
        for unmodified in (False, True):
            native = host.run(times=3, unmodified=unmodified)
            for reach in native.reaches:
                found = interpret(program.region, reach.inputs, reach.scalars)
                assert not differences(program, reach.outputs, found)


@pytest.mark.long
def test_so_it_is_of_hardware_with_fewer_threads() -> None:
    text = SIZED.replace("n < 12; n += 5", "n < 30; n += 20")
    measured = measure(compile_c("t.c", text=text), times=2)
    assert [j.why_not for j in measured.judgements] == [
        "the text has 21 threads; --threads 21 gives the hardware as many",
        "",
    ]
