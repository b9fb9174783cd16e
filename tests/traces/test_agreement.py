"""One program, profiled by the command and imported from the original's files: cycle by cycle.

`data/petal` is what the original's flow (of Calyx's main branch, commit 5bba923d, and Verilator)
left for programs of `tests/calyx/programs`, and for three beside what was left. The
waveform of `hostile_names` is an FST by Icarus Verilog: Verilator's leave out what begins with `_`.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cyclescope.calyx import profile_program
from cyclescope.model import Kind
from cyclescope.traces import import_petal

if TYPE_CHECKING:
    from cyclescope.model import Frame, Profile

PROGRAMS = Path(__file__).parents[1] / "calyx" / "programs"
RUNS = Path(__file__).parent / "data" / "petal"

Cycle = frozenset[tuple[tuple[str, object], ...]]


def name(frame: Frame) -> tuple[str, object]:
    """Kind and name; the importer knows no columns, and an invoke by the compiler's name for it."""
    if frame.kind is Kind.CONTROL:
        return frame.kind.value, (frame.detail.removeprefix("static "), frame.positions[0].line)
    plain = re.sub(r" L\d+(:\d+)?$", "", frame.name)
    return frame.kind.value, re.sub(r"^invoke[_ ](\w+?)\d*$", r"invoke \1", plain)


def cycles(profile: Profile) -> list[Cycle]:
    """The call paths that are active in each cycle."""
    paths = [
        tuple(name(profile.frame_of(above)) for above in profile.lineage(path))
        for path in range(len(profile.call_paths))
    ]
    trees = [
        frozenset(paths[path] for path in profile.forest[tree].tolist())
        for tree in range(len(profile.forest))
    ]
    schedule = zip(profile.schedule.cycles.tolist(), profile.schedule.tree.tolist(), strict=True)
    return [trees[tree] for length, tree in schedule for _ in range(length)]


@cache
def both(program: str) -> tuple[list[Cycle], list[Cycle]]:
    folder = RUNS / program if (RUNS / program / f"{program}.futil").exists() else PROGRAMS
    run = profile_program(folder / f"{program}.futil", folder / f"{program}.json")
    return cycles(run.profile), cycles(import_petal(RUNS / program))


@pytest.mark.long(keep_one_in=4)
@pytest.mark.parametrize(
    "program",
    [
        "hostile_names",
        "invoke_component",
        "joints",
        "levels",
        "par_loop_par",
        "par_of_loops",
        "references",
        "repeat_nested",
    ],
)
def test_each_cycle_is_the_same_by_both_routes(program: str) -> None:
    measured, imported = both(program)
    assert measured == imported
    assert len(set(measured)) > 3


def test_only_in_a_promoted_block_that_waits_the_import_knows_less() -> None:
    measured, imported = both("if_with")
    assert len(measured) == len(imported)
    differing = [n for n, (a, b) in enumerate(zip(measured, imported, strict=True)) if a != b]
    # The shorter arm of an `if` of fixed length is over and the longer one would still run. What
    # then is active only the command's probes of promoted blocks tell: the original has none.
    assert len(differing) == 1
    [waits] = (measured[n] for n in differing)
    root = ("cell", "main")
    assert waits == {
        (root,),
        (root, ("control", ("seq", 38))),
        (root, ("control", ("seq", 38)), ("control", ("if", 40))),
    }
    assert [imported[n] for n in differing] == [{(root,)}]


def test_what_runs_in_a_component_passed_by_reference_only_the_command_shows() -> None:
    measured, imported = both("ref_component")
    passed = ("group", "invoke c"), ("cell", "c")
    inside = [
        {path for path in tree if path[-3:-1] == passed or path[-4:-2] == passed}
        for tree in measured
    ]
    assert sum(map(bool, inside)) == 9
    assert [tree - more for tree, more in zip(measured, inside, strict=True)] == imported
