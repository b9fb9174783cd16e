"""The ladder: every rung is the one below and its gaps, and bounds lie below hardware."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cyclescope.analyse import (
    bounds_ladder,
    thread_ladder,
    thread_time,
)
from cyclescope.bounds import estimate
from cyclescope.cli import main
from cyclescope.hls import Host, Share, compile_c, shares
from cyclescope.model import load

from .test_rules import DATA, LADDER

if TYPE_CHECKING:
    from cyclescope.model import Rung

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PROGRAMS = ROOT / "tests/hls/programs"


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


@pytest.mark.long(keep_one_in=4)
@pytest.mark.parametrize("version", LADDER)
def test_bounds_lie_below_what_was_measured(version: str) -> None:
    program = compile_c(ROOT / f"examples/hls/gemm/{version}.c", defines={"DIM": "32"})
    with Host(program) as host:
        found = shares(program, host.run([]))
    assert len(found) == 8
    measured = load(DATA / f"gemm-{version}.cyc").cycles
    for share in found:
        assert 0 < share.chain <= share.unbounded <= share.absolute <= share.scheduled <= measured


@pytest.mark.parametrize(
    "name", ["chase", "collatz", "local_vectors", "own_rows", "preload", "sorting"]
)
def test_bounds_are_in_order_for_each_thread(name: str) -> None:
    program = compile_c(PROGRAMS / f"{name}.c", threads=3)
    with Host(program) as host:
        native = host.run([], threads=program.region.threads)
    for share in shares(program, native):
        assert 0 <= share.chain <= share.unbounded <= share.absolute <= share.scheduled


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
    # One iteration at a time between the variable-latency stages of load and store, three cycles.
    assert share == Share(depth, depth, depth + 63, depth + 3 * 63)
    # A chain through memory: each product waits for the one before.
    (share,) = bounds_of("for (int i = 1; i < 64; i++) B[i] = B[i - 1] * A[i];")
    assert share.chain == depth
    assert share.unbounded == share.absolute == share.scheduled == 63 * depth
    # A chain through a register, started by what the first loop leaves.
    (share,) = bounds_of("int s = 1; for (int i = 0; i < 64; i++) s = s * A[i]; B[0] = s;")
    assert share.unbounded == share.absolute == 1 + 64 * (depth - 2) + 1
    # A store that a later load may meet, but doesn't: three cycles, for block RAM's word, the sum
    # and the store; a loop begins where it ended.
    again = "for (int k = 0; k < 4; k++)"
    body = "for (int i = 0; i < 64; i++) t[(i * 7 + k) & 63] += i;"
    (share,) = bounds_of(f"int t[64]; {again} {body} B[0] = t[me];")
    assert share.absolute == 4 * 64 + 3
    assert share.scheduled == 3 * 4 * 64 + 1
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


def test_what_lies_between_the_bounds_of_a_kernel(tmp_path: Path) -> None:
    source = tmp_path / "k.c"
    source.write_text(
        "void k(int a[8], int b[8]) { for (int i = 0; i < 8; i++) b[i] = a[i] * a[i]; }\n"
    )
    for detail in (True, False):
        bounds = estimate(source, detail=detail)
        cycles = bounds.unbounded.cycles, bounds.absolute.cycles
        low, high = bounds_ladder(*cycles, bounds.resource_cycles)
        holds((low, high))
        assert (low.cycles, high.cycles) == cycles
        assert [gap.name for gap in high.gaps] == ["resource"]
    assert main(["bounds", str(source), "-o", str(tmp_path / "k.cyc")]) == 0
    assert load(tmp_path / "k.cyc").meta.ladder == (low, high)
