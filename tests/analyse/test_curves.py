"""Runs of threads timed anew at a few values of each change: what is told, and of what."""

from __future__ import annotations

import random
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cyclescope.analyse import (
    LATENCY,
    START_COST,
    THREADS,
    Figure,
    curves_of,
    parse_lengths,
    retimed,
)
from cyclescope.hls import compile_c, measure
from network.stepped import random_network, stepped

from ..views.switch import switch_profile

if TYPE_CHECKING:
    from cyclescope.model import Profile

PROGRAMS = Path(__file__).parents[1] / "hls" / "programs"
LONG = """
int a[7000];
int main(void) {
    #pragma omp target parallel num_threads(2) map(tofrom: a)
    for (int i = 0; i < 7000; i++) a[i] = i;
    return a[0];
}
"""


@pytest.fixture(scope="module")
def fill(tmp_path_factory: pytest.TempPathFactory) -> Profile:
    program = tmp_path_factory.mktemp("fill") / "fill.c"
    program.write_text(LONG)
    return measure(compile_c(program), start_cost=0).profile


def test_each_total_is_that_of_the_change_alone() -> None:
    profile = measure(compile_c(PROGRAMS / "comma_and_steps.c")).profile
    curves = curves_of(profile)
    names = [curve.name for curve in curves]
    assert len(set(names)) == len(names) > 3
    assert names[:3] == [LATENCY, START_COST, THREADS]
    for curve in curves:
        assert list(curve.values) == sorted(set(curve.values))
        assert len(curve.values) > 1
        for value, total in zip(curve.values, curve.totals, strict=True):
            changes = parse_lengths(profile, [f"{curve.name} = {value}"])
            assert retimed(profile, changes).totals == (total,)
            if not curve.keys and value == curve.now:
                assert total == profile.cycles


def test_what_cannot_be_foretold_has_no_curve(fill: Profile) -> None:
    """Each thread fills all of the array: another team's work is not known."""
    assert THREADS not in {curve.name for curve in curves_of(fill)}
    assert curves_of(switch_profile()) == ()


def test_an_execution_may_take_long_and_a_host_no_time(fill: Profile) -> None:
    """There are more lengths between the least and the most than a command would list."""
    curves = {curve.name: curve for curve in curves_of(fill)}
    loop = curves["L5"]
    assert loop.now > 5_000
    assert loop.values[-1] - loop.values[0] > 10_000
    assert loop.totals[-1] > fill.cycles > loop.totals[0]
    host = curves[START_COST]
    assert (host.now, host.values[0], host.totals[0]) == (0, 0, fill.cycles)
    assert host.totals[-1] > fill.cycles


def test_processes_and_channels_have_curves() -> None:
    kinds = set()
    for seed in range(20):
        profile = random_network(random.Random(seed))
        assert stepped(profile) == profile.cycles
        for curve in curves_of(profile):
            for value, total in zip(curve.values, curve.totals, strict=True):
                changes = parse_lengths(profile, [f"{curve.name} = {value}"])
                assert retimed(profile, changes).totals == (total,)
                if value == curve.now:
                    assert total == profile.cycles
            kinds.add((changes[0].figure, None in curve.totals))
            assert bool(curve.keys) == (changes[0].figure is Figure.LATENCY)
    # A channel that is too small stops all.
    assert {(figure, False) for figure in Figure} | {(Figure.DEPTH, True)} <= kinds
