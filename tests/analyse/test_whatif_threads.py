"""Runs of threads timed anew: against simulations of the hardware with the change made."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cyclescope.analyse import best_changes, critical, memory_latency, parse_lengths, retimed
from cyclescope.cli import main
from cyclescope.errors import InputError
from cyclescope.hls import compile_c, measure
from cyclescope.model import Loop, save
from cyclescope.studies import simulated_hardware

if TYPE_CHECKING:
    from cyclescope.model import Profile

PROGRAMS = Path(__file__).parents[1] / "hls" / "programs"
CHOSEN = ("critical_sections", "barriers", "chase", "breadth_first")


@pytest.fixture(scope="module")
def profiles() -> dict[str, Profile]:
    return {name: measure(compile_c(PROGRAMS / f"{name}.c")).profile for name in CHOSEN}


def foretold(profile: Profile, *changes: str) -> tuple[int, ...]:
    return retimed(profile, parse_lengths(profile, changes)).totals


@pytest.mark.long
@pytest.mark.parametrize("name", CHOSEN)
def test_what_stays_takes_as_long(profiles: dict[str, Profile], name: str) -> None:
    profile = profiles[name]
    assert memory_latency(profile) == 26
    assert foretold(profile, "memory latency = 26") == (profile.cycles,)
    assert foretold(profile, "start cost = 100", "memory latency = 26") == (profile.cycles,)


@pytest.mark.long(keep_one_in=4)
@pytest.mark.parametrize("name", CHOSEN)
def test_another_memory_is_as_simulated(profiles: dict[str, Profile], name: str) -> None:
    profile = profiles[name]
    changes = parse_lengths(profile, ["memory latency = 50"])
    (real,) = simulated_hardware(profile, changes, PROGRAMS / f"{name}.c", {})
    (told,) = retimed(profile, changes).totals
    assert abs(told - real) < 0.05 * real
    # The change itself is much larger than what is forgiven.
    assert real > 1.15 * profile.cycles


def test_another_host_is_as_simulated(profiles: dict[str, Profile]) -> None:
    profile = profiles["barriers"]
    changes = parse_lengths(profile, ["start cost = 0"])
    (real,) = simulated_hardware(profile, changes, PROGRAMS / "barriers.c", {})
    (told,) = retimed(profile, changes).totals
    assert abs(told - real) < 0.05 * real < 0.1 * (profile.cycles - real)


@pytest.mark.long(keep_one_in=3)
@pytest.mark.parametrize("name", ["comma_and_steps", "initialised_array", "ray_cast"])
def test_threads_that_start_together_meet(name: str) -> None:
    """In a pipeline that begins an iteration in a cycle; at a bank of the memory."""
    program = PROGRAMS / f"{name}.c"
    profile = measure(compile_c(program)).profile
    changes = parse_lengths(profile, ["start cost = 0"])
    (real,) = simulated_hardware(profile, changes, program, {})
    (told,) = retimed(profile, changes).totals
    assert abs(told - real) < 0.1 * real


@pytest.mark.long
def test_another_team_is_as_simulated(profiles: dict[str, Profile]) -> None:
    """Each thread follows its own list: half of the team follows two lists each."""
    profile, program = profiles["chase"], PROGRAMS / "chase.c"
    changes = parse_lengths(profile, ["threads = 4"])
    (real,) = simulated_hardware(profile, changes, program, {})
    (told,) = retimed(profile, changes).totals
    assert abs(told - real) < 0.05 * real
    assert real > 1.2 * profile.cycles
    assert foretold(profile, "threads = 8") == (profile.cycles,)


@pytest.mark.parametrize("name", CHOSEN)
def test_a_team_like_the_run_s_takes_as_long(profiles: dict[str, Profile], name: str) -> None:
    """Locks go to who asks first, as they did, and nobody waits for another lock's owner."""
    assert foretold(profiles[name], "start cost = 100") == (profiles[name].cycles,)


@pytest.mark.long(keep_one_in=4)
@pytest.mark.parametrize(
    ("name", "team"),
    [("primes", 4), ("correlation", 4), ("mandelbrot", 4), ("mandelbrot", 16)],
)
def test_who_has_which_iterations_matters(name: str, team: int) -> None:
    """Iterations of other lengths, overlapping ones, some that do not come to the inner loop."""
    program = PROGRAMS / f"{name}.c"
    profile = measure(compile_c(program)).profile
    changes = parse_lengths(profile, [f"threads = {team}"])
    (real,) = simulated_hardware(profile, changes, program, {})
    (told,) = retimed(profile, changes).totals
    assert abs(told - real) < 0.1 * real


def test_cyclic_shares_are_told_from_blocks(tmp_path: Path) -> None:
    text = """
    int a[64];
    int main(void) {
        #pragma omp target parallel for SCHEDULE map(from: a)
        for (int i = 0; i < 64; ++i) a[i] = i;
        return a[63];
    }
    """
    for schedule, cyclic in (("", False), ("schedule(static, 1)", True)):
        program = tmp_path / "shares.c"
        program.write_text(text.replace("SCHEDULE", schedule))
        (loop,) = (
            site for site in measure(compile_c(program)).profile.sites if isinstance(site, Loop)
        )
        assert (loop.shared, loop.cyclic) == (True, cyclic)


def test_who_divides_nothing_cannot_tell_of_another_team(profiles: dict[str, Profile]) -> None:
    profile = profiles["chase"]
    sites = tuple(
        replace(site, shared=False) if isinstance(site, Loop) else site for site in profile.sites
    )
    with pytest.raises(InputError, match="run cyclescope hls --threads 16"):
        foretold(replace(profile, sites=sites), "threads = 16")


def test_loops_that_the_team_divides_are_known(profiles: dict[str, Profile]) -> None:
    shared = {
        (name, site.position.line): site.shared
        for name, profile in profiles.items()
        for site in profile.sites
        if isinstance(site, Loop) and site.position is not None
    }
    assert shared["chase", 6]
    assert not shared["chase", 8]
    assert shared["critical_sections", 6]


def test_the_best_changes_come_one_after_another(profiles: dict[str, Profile]) -> None:
    profile = profiles["critical_sections"]
    steps = best_changes(profile, 5)
    names = [profile.catalog[step.keys[0][0]].name for step in steps]
    assert names[0] == "critical"
    for number, step in enumerate(steps):
        changes = [f"{name} = 1" for name in names[: number + 1]]
        assert foretold(profile, *changes) == (step.cycles,)
    assert [step.cycles for step in steps] == sorted((s.cycles for s in steps), reverse=True)


def test_a_curve_falls_with_the_latency(profiles: dict[str, Profile]) -> None:
    totals = foretold(profiles["chase"], "memory latency = 3..26")
    assert list(totals) == sorted(totals)
    # In a list each read waits for the one before it.
    steps = {later - earlier for earlier, later in pairwise(totals)}
    (loop,) = (s for s in profiles["chase"].sites if isinstance(s, Loop) and s.serial)
    assert loop.iterations is not None
    each = loop.iterations // int(profiles["chase"].meta.options["threads"])
    assert max(steps) <= 1.2 * each
    assert totals[-1] - totals[0] > 15 * each


def test_sections_of_a_lock_are_one_after_another(profiles: dict[str, Profile]) -> None:
    profile = profiles["critical_sections"]
    found = {profile.catalog[f.key[0]].name: f for f in critical(profile).frames}
    section = found["critical"]
    mean = section.total // section.times
    (less,) = foretold(profile, f"critical = {mean - 5}")
    (more,) = foretold(profile, "critical = 500")
    assert less < profile.cycles
    # There are two locks, each for half of the passages.
    assert 500 * section.times // 2 < more < 510 * section.times // 2 + profile.cycles


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ("L6 = 5", "only loops without others inside"),
        ("nothing = 5", "nothing called nothing ran"),
        ("memory latency", "not a length"),
    ],
)
def test_what_cannot_be_foretold_is_told(
    profiles: dict[str, Profile], change: str, says: str
) -> None:
    with pytest.raises(InputError, match=says):
        foretold(profiles["critical_sections"], change)


def test_who_counts_no_reads_cannot_tell_of_another_memory(profiles: dict[str, Profile]) -> None:
    profile = profiles["chase"]
    sites = tuple(
        replace(site, times=(), waited=()) if isinstance(site, Loop) else site
        for site in profile.sites
    )
    with pytest.raises(InputError, match="measure it anew, without --profile"):
        foretold(replace(profile, sites=sites), "memory latency = 9")


def test_what_cannot_be_made_is_told(profiles: dict[str, Profile]) -> None:
    profile, program = profiles["critical_sections"], PROGRAMS / "critical_sections.c"
    for change, says in (
        ("critical = 9", "follows from the program"),
        ("memory latency = 1", "a column access alone takes 2 cycles"),
    ):
        changes = parse_lengths(profile, [change])
        with pytest.raises(InputError, match=says):
            simulated_hardware(profile, changes, program, {})
    changes = parse_lengths(profile, ["memory latency = 9"])
    with pytest.raises(InputError, match="give the profile's program"):
        simulated_hardware(profile, changes, PROGRAMS / "barriers.c", {})


def test_the_verb(
    profiles: dict[str, Profile], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, program = str(tmp_path / "run.cyc"), str(PROGRAMS / "barriers.c")
    save(profiles["barriers"], file)
    asked = ["whatif", file, "memory latency = 12", "--check", program, "--format", "json"]
    assert main(asked) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert abs(row["error"]) < 0.05
    assert row["simulated"] < profiles["barriers"].cycles
