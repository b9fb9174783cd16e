"""Ladders as they are measured: of hardware threads, of Calyx designs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from cyclescope.analyse import NO_STATEMENT_BOUNDS, bounds_ladder, calyx_ladder
from cyclescope.bounds import estimate
from cyclescope.errors import SourceError, VerifyError
from cyclescope.hls import read_memory_model
from cyclescope.studies import measure_calyx_ladder, measure_ladder, measure_network_ladder

from ..analyse.test_ladder import holds, named

ROOT = Path(__file__).parents[2]

# Rows of a triangle (imbalance), a vector load, a barrier, a critical section.
KERNEL = """
#include <stdio.h>
#include <omp.h>
typedef int VECTOR __attribute__((vector_size(16)));
static int a[256], rows[16], all[1];
void triangle(int *A, int *R, int *S, int n) {
  #pragma omp target parallel map(to: A[0:n*n]) map(tofrom: R[0:n], S[0:1]) num_threads(3)
  {
    int mine = 0;
    #pragma omp for
    for (int i = 0; i < n; i++) {
      int sum = 0;
      for (int j = 0; j <= i; j += 4) {
        VECTOR v = *(VECTOR *)&A[i * n + j];
        sum += v[0] * v[1] + v[2] * v[3];
      }
      R[i] = sum;
    }
    for (int i = omp_get_thread_num(); i < n; i += omp_get_num_threads())
      mine += R[n - 1 - i];
    #pragma omp critical
    S[0] += mine;
  }
}
int main(void) {
  for (int i = 0; i < 256; i++) a[i] = i * 7 % 13;
  triangle(a, rows, all, 16);
  printf("%d\\n", all[0]);
  return 0;
}
"""


@pytest.mark.long
def test_the_bandwidth_of_a_shared_memory_is_a_rung_of_its_own(tmp_path: Path) -> None:
    source = tmp_path / "triangle.c"
    source.write_text(KERNEL)
    found = []
    for name in ("ddr4-2400", "shared"):
        rungs = measure_ladder(source, memory=read_memory_model(name)).meta.ladder
        found.append({rung.name: rung.cycles for rung in rungs})
    alone, limited = found
    for rung in ("thread 2 alone, memory at once", "thread 2 alone, memory's latency"):
        assert alone[rung] == limited[rung]
    assert limited["3 threads"] > alone["3 threads"]


@pytest.mark.long
def test_the_ladder_of_a_program_of_threads(tmp_path: Path) -> None:
    source = tmp_path / "triangle.c"
    source.write_text(KERNEL)
    profile = measure_ladder(source)
    rungs = profile.meta.ladder
    holds(rungs)
    assert [rung.name for rung in rungs] == [
        "one iteration",
        "unbounded",
        "absolute",
        "longest thread",
        "thread 2 alone, memory at once",
        "thread 2 alone, memory's latency",
        "thread 2 alone",
        "3 threads at once",
        "3 threads",
    ]
    assert rungs[-1].cycles == profile.cycles
    gaps = named(rungs)
    assert gaps["imbalance"] > 0
    assert gaps["memory latency"] > gaps["way to memory"] > 0
    # All others are at the barrier already, so it waits for nobody.
    assert gaps["imbalance at barriers"] < 10
    below = [rung.cycles for rung in rungs[:7]]
    assert below == sorted(below)
    # Too long for bounds: hardware alone, and it says why.
    profile = measure_ladder(source, limit=10)
    holds(profile.meta.ladder)
    assert profile.meta.ladder == tuple(
        r if i else type(r)(r.name, r.cycles) for i, r in enumerate(rungs[4:])
    )
    (lost,) = [a for a in profile.meta.anomalies if a.name == "no bounds"]
    assert "more than 10 iterations" in lost.detail
    with pytest.raises(SourceError):
        measure_ladder(tmp_path / "none.c")


@pytest.mark.long
def test_the_ladder_of_one_thread_and_two_loops(tmp_path: Path) -> None:
    source = tmp_path / "two.c"
    source.write_text(
        "static float a[64], b[64];\nvoid k(float *A, float *B) {\n"
        "#pragma omp target map(to: A[0:64]) map(from: B[0:64])\n{ float t[64];\n"
        "for (int i = 0; i < 64; i++) t[i] = A[i] * 2;\n"
        "for (int i = 0; i < 64; i++) B[i] = t[63 - i] + 1;\n} }\n"
        "int main(void) { k(a, b); return b[0] != 1; }\n"
    )
    profile = measure_ladder(source)
    rungs = profile.meta.ladder
    holds(rungs)
    assert [rung.name for rung in rungs] == [
        "one iteration",
        "unbounded",
        "absolute",
        "scheduled",
        "memory at once",
        "memory's latency",
        "one thread",
    ]
    assert [r.cycles for r in rungs] == sorted(r.cycles for r in rungs)


def test_hardware_that_computes_something_else_has_no_ladder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "two.c"
    source.write_text(KERNEL)
    monkeypatch.setattr(
        "cyclescope.hls.measure",
        lambda *_, **__: type("M", (), {"agrees": False, "differing": ("R[0]: 1, not 2",)})(),
    )
    with pytest.raises(VerifyError, match=r"differ: R\[0\]"):
        measure_ladder(source)


@pytest.mark.parametrize("name", ["while_with", "while_manual", "while_parallel"])
def test_versions_of_a_loop_share_their_bounds(name: str, tmp_path: Path) -> None:
    from cyclescope.calyx import profile_program

    program = ROOT / f"examples/calyx/{name}.futil"
    run = profile_program(program, program.with_suffix(".json"))
    rounds = run.memories["bound"]["data"][0]
    source = tmp_path / "k.c"
    source.write_text(
        "void k(int bound, int number[1]) {\n  int value = number[0];\n"
        "  for (int i = 0; i < bound; i++)\n    value = (value << 1) + 1;\n"
        "  number[0] = value;\n}\n"
    )
    rungs = measure_calyx_ladder(source, run.profile, arguments={"bound": rounds}).meta.ladder
    holds(rungs)
    # Each round takes a cycle, so do the read and the write.
    assert [rung.cycles for rung in rungs] == [rounds + 2, rounds + 2, run.profile.cycles]
    assert all(cycles > 0 for cycles in named(rungs).values())
    assert ("control: conditions" in named(rungs)) == (name == "while_with")


PRODUCTS = """
void products(int A[N][N], int B[N][N], int C[N][N], int D[N][N],
              int E[N][N], int F[N][N], int G[N][N]) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      int s = 0;
      for (int k = 0; k < N; k++) s = s + A[i][k] * B[k][j];
      E[i][j] = s;
    }
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      int s = 0;
      for (int k = 0; k < N; k++) s = s + C[i][k] * D[k][j];
      F[i][j] = s;
    }
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      int s = 0;
      for (int k = 0; k < N; k++) s = s + E[i][k] * F[k][j];
      G[i][j] = s;
    }
}
"""


def test_the_ladder_of_a_calyx_design(tmp_path: Path) -> None:
    from cyclescope.calyx import CalyxOptions, profile_program

    size = 3
    generate = str(ROOT / "examples/calyx/three_products/generate.py")
    subprocess.run([sys.executable, generate, "-o", str(tmp_path), "--size", str(size)], check=True)
    run = profile_program(
        tmp_path / "three_products.futil",
        tmp_path / "three_products.json",
        CalyxOptions(disable=("static-promotion",)),
    )
    source = tmp_path / "products.c"
    source.write_text(PRODUCTS)
    profile = measure_calyx_ladder(source, run.profile, defines={"N": str(size)})
    rungs = profile.meta.ladder
    holds(rungs)
    assert [rung.name for rung in rungs] == ["unbounded", "absolute", "the design"]
    assert rungs[0].cycles <= rungs[1].cycles <= rungs[2].cycles == profile.cycles
    gaps = named(rungs)
    assert gaps["control: steps of state registers"] > 0
    assert gaps["control: conditions"] > 0
    assert gaps["groups"] > 0
    # A bound that is higher than the design's own work: what it does side by side.
    larger = estimate(source, defines={"N": "8"}, detail=True)
    cycles = larger.unbounded.cycles, larger.absolute.cycles
    rungs = calyx_ladder(bounds_ladder(*cycles, larger.resource_cycles), run.profile)
    holds(rungs)
    assert named(rungs)["less than the bound"] < 0


SERIAL = """
double A[6][6], x[6], y[6];
void kernel(void) {
REGION
    for (int i = 0; i < 6; i++) {
        double sum = 0;
        for (int j = 0; j < 6; j++) sum += A[i][j] * x[j];
        y[i] = sum;
    }
}
int main(void) { for (int i = 0; i < 6; i++) x[i] = i; kernel(); return y[1] != 0; }
"""


@pytest.mark.long
def test_bounds_of_statements_lead_to_those_of_operations(tmp_path: Path) -> None:
    source, plain = tmp_path / "serial.c", tmp_path / "plain.c"
    source.write_text(SERIAL.replace("REGION", "#pragma omp target map(to: A, x) map(from: y)"))
    plain.write_text(SERIAL.replace("REGION", ""))
    profile = measure_ladder(source)
    first, last = profile.meta.other_bounds
    bounds = estimate(plain, kernel="kernel")
    assert first.cycles == bounds.absolute.cycles
    ladder = {rung.name: rung.cycles for rung in profile.meta.ladder}
    assert last.cycles == ladder["absolute"]
    gaps = {gap.name: gap.cycles for gap in last.gaps}
    assert first.cycles + sum(gaps.values()) == last.cycles
    # A sum's next statement waits for the whole one before: 18 and 2 cycles. Its next operation
    # waits for the addition alone.
    assert gaps["operations"] < 0
    assert -gaps["operations"] > first.cycles // 3
    # Sums that wait for the one before have no cycle to read any more.
    assert -(36 + 6) <= gaps["reading and writing"] <= -30


@pytest.mark.long
def test_without_bounds_of_statements_it_says_why(tmp_path: Path) -> None:
    source = tmp_path / "triangle.c"
    source.write_text(KERNEL)
    profile = measure_ladder(source)
    assert profile.meta.other_bounds == ()
    (lost,) = [a for a in profile.meta.anomalies if a.name == NO_STATEMENT_BOUNDS]
    assert "triangle.c:" in lost.detail


def test_the_ladder_of_a_kernel_without_threads_is_its_network(tmp_path: Path) -> None:
    source = tmp_path / "dot.c"
    source.write_text(
        "void kernel(double a[6], double b[6], double s[1]) {\n    s[0] = 0;\n"
        "    for (int i = 0; i < 6; i++) s[0] += a[i] * b[5 - i];\n}\n"
    )
    profile = measure_network_ladder(source)
    holds(profile.meta.ladder)
    bounds = estimate(source)
    assert [(rung.name, rung.cycles) for rung in profile.meta.ladder] == [
        ("unbounded", bounds.unbounded.cycles),
        ("absolute", bounds.absolute.cycles),
        ("as a network", bounds.absolute.cycles),
    ]
    assert profile.meta.source == "network"
