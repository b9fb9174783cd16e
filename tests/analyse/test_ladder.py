"""The ladder: every rung is the one below and its gaps, and bounds lie below hardware."""

from __future__ import annotations

import itertools
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cyclescope.analyse import (
    bounds_ladder,
    calyx_ladder,
    climb,
    climb_calyx,
    thread_ladder,
    thread_time,
)
from cyclescope.bounds import estimate
from cyclescope.cli import main
from cyclescope.errors import SourceError, VerifyError
from cyclescope.hls import Host, Share, compile_c, shares
from cyclescope.model import load

from .test_rules import DATA, LADDER

if TYPE_CHECKING:
    from cyclescope.model import Rung

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PROGRAMS = ROOT / "tests/hls/programs"

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


def holds(rungs: tuple[Rung, ...]) -> None:
    for below, rung in itertools.pairwise(rungs):
        assert below.cycles + sum(gap.cycles for gap in rung.gaps) == rung.cycles
        assert all(gap.cycles and gap.about for gap in rung.gaps)
        names = [gap.name for gap in rung.gaps]
        assert len(set(names)) == len(names)


def named(rungs: tuple[Rung, ...]) -> dict[str, int]:
    return {gap.name: gap.cycles for rung in rungs for gap in rung.gaps}


@pytest.mark.parametrize("version", [*(f"gemm-{v}" for v in LADDER), "pi-start-1", "pi-start-2500"])
def test_a_threads_time_is_the_runs(version: str) -> None:
    profile = load(DATA / f"{version}.cyc")
    for thread in (None, 0, 7):
        time = thread_time(profile, thread)
        assert sum(time.values()) == profile.cycles
        assert all(cycles >= 0 for cycles in time.values())
    time = thread_time(profile)
    if version == "gemm-1-naive":
        assert time["lock"] > profile.cycles / 3
    if version == "pi-start-2500":
        assert time["start"] > 3 * time["work"]
        assert thread_time(profile, 0)["start"] < 5 < thread_time(profile, 0)["end"]


@pytest.mark.parametrize("version", LADDER)
def test_bounds_lie_below_what_was_measured(version: str) -> None:
    program = compile_c(ROOT / f"examples/hls/gemm/{version}.c", defines={"DIM": "32"})
    with Host(program) as host:
        found = shares(program, host.run([]))
    assert len(found) == 8
    measured = load(DATA / f"gemm-{version}.cyc").cycles
    for share in found:
        assert 0 < share.chain <= share.unbounded <= share.absolute <= share.apart <= measured


@pytest.mark.parametrize(
    "name", ["chase", "collatz", "local_vectors", "own_rows", "preload", "sorting"]
)
def test_bounds_are_in_order_for_each_thread(name: str) -> None:
    program = compile_c(PROGRAMS / f"{name}.c", threads=3)
    with Host(program) as host:
        native = host.run([], threads=program.region.threads)
    for share in shares(program, native):
        assert 0 <= share.chain <= share.unbounded <= share.absolute <= share.apart


def bounds_of(body: str, threads: int = 1) -> tuple[Share, ...]:
    text = (
        "#include <omp.h>\nstatic int a[64], b[64];\nvoid k(int *A, int *B) {\n"
        f"#pragma omp target parallel map(tofrom: A[0:64], B[0:64]) num_threads({threads})\n"
        f"{{ int me = omp_get_thread_num(); {body} }} }}\n"
        "int main(void) { for (int i = 0; i < 64; i++) a[i] = i; k(a, b); return 0; }\n"
    )
    program = compile_c("k.c", text=text)
    with Host(program) as host:
        return shares(program, host.run([]))


def test_what_bounds_are_by_hand() -> None:
    # A load (1), a product (5, its latency here), a store (1); 64 of them, one a cycle.
    (share,) = bounds_of("for (int i = 0; i < 64; i++) B[i] = A[i] * A[i];")
    depth = share.chain
    # One iteration at a time between the waiting stages of load and store, three cycles.
    assert share == Share(depth, depth, depth + 63, depth + 3 * 63)
    # A chain through memory: each product waits for the one before.
    (share,) = bounds_of("for (int i = 1; i < 64; i++) B[i] = B[i - 1] * A[i];")
    assert share.chain == depth
    assert share.unbounded == share.absolute == share.apart == 63 * depth
    # A chain through a register, started by what the first loop leaves.
    (share,) = bounds_of("int s = 1; for (int i = 0; i < 64; i++) s = s * A[i]; B[0] = s;")
    assert share.unbounded == share.absolute == 1 + 64 * (depth - 2) + 1
    # A store that a later load may meet, but doesn't: two cycles; a loop begins where it ended.
    again = "for (int k = 0; k < 4; k++)"
    body = "for (int i = 0; i < 64; i++) t[(i * 7 + k) & 63] += i;"
    (share,) = bounds_of(f"int t[64]; {again} {body} B[0] = t[me];")
    assert share.absolute == 4 * 64 + 3
    assert share.apart == 2 * 4 * 64 + 2
    # Each thread by itself; one has more to do.
    found = bounds_of("for (int i = 0; i < 16 * (me + 1); i++) B[i + me] = A[i] * A[i];", 2)
    assert [s.absolute for s in found] == [depth + 15, depth + 31]


def test_rungs_add_up_with_and_without_bounds() -> None:
    alone, together = (load(DATA / f"{name}.cyc") for name in ("pi-start-1", "pi-start-2500"))
    runs = {"at once": alone, "latency": alone, "all": alone}
    given = tuple(Share(10, 20, 30 + t, 40 + t) for t in range(8))
    rungs = thread_ladder(given, 7, runs, alone, together)
    holds(rungs)
    assert [r.name for r in rungs[:5]] == [
        "one iteration",
        "unbounded",
        "absolute",
        "longest thread",
        "scheduled",
    ]
    assert [r.cycles for r in rungs[:5]] == [10, 20, 34, 37, 47]
    assert named(rungs)["iterations apart"] == 10
    assert rungs[-1].name == "8 threads"
    assert named(rungs)["thread start"] == together.cycles - alone.cycles
    # Waiting that work hides is taken off: a bound near the run leaves little to wait for.
    given = tuple(Share(10, 20, alone.cycles - 5, alone.cycles - 5) for _ in range(8))
    rungs = thread_ladder(given, 7, runs, alone, together)
    holds(rungs)
    assert all(gap.cycles > 0 for gap in rungs[3].gaps)
    rungs = thread_ladder((), 7, runs, alone, together)
    holds(rungs)
    assert rungs[0].name == "thread 7 alone, memory at once"


def test_a_program_climbs(tmp_path: Path) -> None:
    source = tmp_path / "triangle.c"
    source.write_text(KERNEL)
    profile = climb(source)
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
    profile = climb(source, limit=10)
    holds(profile.meta.ladder)
    assert profile.meta.ladder == tuple(
        r if i else type(r)(r.name, r.cycles) for i, r in enumerate(rungs[4:])
    )
    (lost,) = [a for a in profile.meta.anomalies if a.name == "no bounds"]
    assert "more than 10 iterations" in lost.detail
    with pytest.raises(SourceError):
        climb(tmp_path / "none.c")


def test_one_thread_climbs_over_two_loops(tmp_path: Path) -> None:
    source = tmp_path / "two.c"
    source.write_text(
        "static float a[64], b[64];\nvoid k(float *A, float *B) {\n"
        "#pragma omp target map(to: A[0:64]) map(from: B[0:64])\n{ float t[64];\n"
        "for (int i = 0; i < 64; i++) t[i] = A[i] * 2;\n"
        "for (int i = 0; i < 64; i++) B[i] = t[63 - i] + 1;\n} }\n"
        "int main(void) { k(a, b); return b[0] != 1; }\n"
    )
    profile = climb(source)
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
        climb(source)


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
    rungs = climb_calyx(source, run.profile, arguments={"bound": rounds}).meta.ladder
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


def test_what_lies_between_the_bounds_of_a_kernel(tmp_path: Path) -> None:
    source = tmp_path / "k.c"
    source.write_text(
        "void k(int a[8], int b[8]) { for (int i = 0; i < 8; i++) b[i] = a[i] * a[i]; }\n"
    )
    for detail in (True, False):
        bounds = estimate(source, detail=detail)
        low, high = bounds_ladder(bounds)
        holds((low, high))
        assert (low.cycles, high.cycles) == (bounds.unbounded.cycles, bounds.absolute.cycles)
        assert [gap.name for gap in high.gaps] == ["resource"]
    assert main(["bounds", str(source), "-o", str(tmp_path / "k.cyc")]) == 0
    assert load(tmp_path / "k.cyc").meta.ladder == (low, high)


def test_a_calyx_design_climbs(tmp_path: Path) -> None:
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
    profile = climb_calyx(source, run.profile, defines={"N": str(size)})
    rungs = profile.meta.ladder
    holds(rungs)
    assert [rung.name for rung in rungs] == ["unbounded", "absolute", "the design"]
    assert rungs[0].cycles <= rungs[1].cycles <= rungs[2].cycles == profile.cycles
    gaps = named(rungs)
    assert gaps["control: steps of state registers"] > 0
    assert gaps["control: conditions"] > 0
    assert gaps["groups"] > 0
    # A bound that is higher than the design's own work: what it does side by side.
    rungs = calyx_ladder(estimate(source, defines={"N": "8"}, detail=True), run.profile)
    holds(rungs)
    assert named(rungs)["less than the bound"] < 0
