"""The ladder: every rung is the one below and its gaps."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import pytest

from cyclescope.analyse import climb, ladder, thread_time
from cyclescope.bounds import estimate
from cyclescope.errors import SourceError
from cyclescope.model import load

from .test_rules import DATA, LADDER

if TYPE_CHECKING:
    from pathlib import Path

    from cyclescope.analyse import Rung

KERNEL = """
#include <stdio.h>
#include <omp.h>
static float a[32], b[32];
void scale(float *A, float *B, int n, float by) {
  #pragma omp target parallel map(to: A[0:n]) map(from: B[0:n]) num_threads(2)
  {
    int me = omp_get_thread_num();
    int team = omp_get_num_threads();
    for (int i = me; i < n; i += team)
      B[i] = A[i] * by;
  }
}
int main(void) {
  for (int i = 0; i < 32; i++) a[i] = i;
  scale(a, b, 32, 1.5f);
  printf("%g\\n", b[31]);
  return 0;
}
"""


def holds(rungs: tuple[Rung, ...]) -> None:
    assert [rung.name for rung in rungs][:3] == ["unbounded", "absolute", "one thread"]
    for below, rung in itertools.pairwise(rungs):
        assert below.cycles + sum(gap.cycles for gap in rung.gaps) == rung.cycles
    assert rungs[0].cycles <= rungs[1].cycles


@pytest.mark.parametrize("version", [*(f"gemm-{v}" for v in LADDER), "pi-start-1", "pi-start-2500"])
def test_a_threads_time_is_the_runs(version: str) -> None:
    profile = load(DATA / f"{version}.cyc")
    time = thread_time(profile)
    assert sum(time.values()) == profile.cycles
    assert all(cycles >= 0 for cycles in time.values())
    if version == "gemm-1-naive":
        assert time["lock"] > profile.cycles / 3
    if version == "pi-start-2500":
        assert time["start"] > 3 * time["work"]


def test_rungs_add_up(tmp_path: Path) -> None:
    source = tmp_path / "k.c"
    source.write_text(
        "double s[4], x[16];\nvoid k(void) {\n  for (int i = 0; i < 16; i++)\n"
        "    s[i % 4] = s[i % 4] + x[i];\n}\n"
    )
    bounds = estimate(source, kernel="k", detail=True)
    alone, together = (load(DATA / f"{name}.cyc") for name in ("pi-start-1", "pi-start-2500"))
    holds(ladder(bounds, alone))
    rungs = ladder(bounds, alone, together)
    holds(rungs)
    assert rungs[3].name == "8 threads"
    assert {gap.name for gap in rungs[3].gaps} >= {"thread start"}


def test_a_program_climbs(tmp_path: Path) -> None:
    source = tmp_path / "scale.c"
    source.write_text(KERNEL)
    rungs = climb(source)
    holds(rungs)
    assert [rung.name for rung in rungs] == ["unbounded", "absolute", "one thread", "2 threads"]
    assert rungs[1].cycles <= rungs[2].cycles
    assert "memory" in {gap.name for gap in rungs[2].gaps}
    with pytest.raises(SourceError):
        climb(tmp_path / "none.c")
