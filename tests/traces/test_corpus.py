"""The original's three recorded runs: its own pictures, from our reading of its files."""

from __future__ import annotations

import csv
import lzma
from collections import Counter
from functools import cache
from typing import TYPE_CHECKING

import pytest

from cyclescope.model import check_laws, tree_cycles
from cyclescope.traces import import_petal, import_signals
from meaning import design_overhead
from traces.runs import CORPUS, HELD, MISSING, REMOVED, as_the_original, read_folded

if TYPE_CHECKING:
    from cyclescope.model import Profile

pytestmark = pytest.mark.skipif(not CORPUS.is_dir(), reason=MISSING)

CYCLES = {"tiny": 37, "gemm": 8_635, "pifo": 1_224_589}


@cache
def profile(name: str) -> Profile:
    return import_petal(CORPUS / name)


@pytest.mark.long
@pytest.mark.parametrize("name", CYCLES)
def test_every_cycle_of_the_run_is_there(name: str) -> None:
    result = profile(name)
    check_laws(result)
    assert result.cycles == CYCLES[name]
    assert result.meta.complete


@pytest.mark.parametrize("name", CYCLES)
@pytest.mark.parametrize("file", ["flamegraph.folded", "rust/flat-flame.folded"])
def test_flat_stacks_are_those_of_the_original(name: str, file: str) -> None:
    flat, _, _ = as_the_original(profile(name), CORPUS / name)
    assert flat == read_folded(CORPUS / name / file)


@pytest.mark.parametrize("name", CYCLES)
@pytest.mark.parametrize("file", ["py/scaled-flame.folded", "rust/scaled-flame.folded"])
def test_scaled_stacks_are_those_of_the_original_but_for_its_rounding(name: str, file: str) -> None:
    _, scaled, slack = as_the_original(profile(name), CORPUS / name)
    original = read_folded(CORPUS / name / file)
    assert scaled.keys() == original.keys()
    assert sum(scaled.values()) == CYCLES[name]
    for stack, share in scaled.items():
        assert abs(share - original[stack] / 1000) <= slack[stack] + 1e-4, stack


def test_the_primitive_that_only_the_original_shows_is_not_in_the_design() -> None:
    name, _, _ = REMOVED.partition(" ")
    with lzma.open(CORPUS / "pifo" / "instrumented.vcd.xz", "rt") as stream:
        declared = "".join(iter(lambda: next(stream), "$enddefinitions $end\n"))
    assert f" {name}___Compute_keep_loopingUG___main_primitive_probe_out " in declared
    assert f" {name}_in " not in declared
    assert f" {name} $end" not in declared
    assert " lt_6_left " in declared  # as that of any primitive that is there
    anomalies = [a for a in profile("pifo").meta.anomalies if a.name.startswith("cell removed")]
    assert [(a.count, f"main.{name}" in a.detail) for a in anomalies] == [(1, True)]


def test_the_memories_that_only_the_original_holds_are_not_enabled() -> None:
    wave = CORPUS / "gemm" / "instrumented.vcd.gz"
    groups = {group: f"main.{group}UG___main_group_probe_out" for group in HELD["gemm"]}
    ports = {memory: f"main.{memory}_content_en" for memory in HELD["gemm"].values()}
    both = import_signals(wave, [*groups.values(), *ports.values()], "main.clk")
    seen: Counter[tuple[str, bool]] = Counter()
    for tree, cycles in enumerate(tree_cycles(both).tolist()):
        stacks = [both.stack(path) for path in both.forest[tree].tolist()]
        high = {stack[0].removeprefix("toplevel.") for stack in stacks if stack[1:] == ("1",)}
        for group, memory in HELD["gemm"].items():
            if groups[group] in high:
                seen[group, ports[memory] in high] += cycles
    original = read_folded(CORPUS / "gemm" / "flamegraph.folded")
    for group, memory in HELD["gemm"].items():
        # Two cycles each time: the memory is read in the first, what it gave is kept in the next.
        assert 2 * seen[group, False] == original[f"main;{group};{memory} (primitive)"]


@pytest.mark.parametrize("name", CYCLES)
def test_overheads_are_those_of_the_original_but_for_its_lost_block(name: str) -> None:
    with (CORPUS / name / "py" / "cell-stats.csv").open(newline="") as stream:
        total = list(csv.DictReader(stream))[-1]
    overhead = design_overhead(profile(name))
    # One compiler-made group of the scheduler has no position, so the original shows a cell
    # where that group takes a step, and counts what is no control as useful.
    flat = read_folded(CORPUS / name / "flamegraph.folded")
    lost = sum(count for stack, count in flat.items() if stack.endswith("[flow_inference]"))
    assert overhead.useful == int(total["useful-cycles"]) - lost
    assert overhead.other == overhead.both == 0
    fsm, done = (100 * n / overhead.cycles for n in (overhead.fsm - lost, overhead.par_done))
    assert fsm == pytest.approx(float(total["FSM_UPDATE (%)"]), abs=0.01)
    assert done == pytest.approx(float(total["PD_UPDATE (%)"]), abs=0.01)
