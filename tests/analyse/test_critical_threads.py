"""The critical path of threads: laws on random graphs and runs, and two programs in simulation."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyse.timed_teams import try_out
from cyclescope.analyse import critical, efficiencies, ideal_cycles, team
from cyclescope.analyse._critical_threads import _changes
from cyclescope.analyse._longest import LongestWays
from cyclescope.analyse._thread_graph import thread_graph
from cyclescope.cli import main
from cyclescope.errors import InputError
from cyclescope.hls import MemoryModel, compile_c, measure
from cyclescope.model import Cause, Edge, Kind, Meta, Process, ProfileBuilder, load, save
from meaning import Frame

if TYPE_CHECKING:
    from cyclescope.model import Profile, Site

PROGRAMS = Path(__file__).parents[1] / "hls" / "programs"


def run(program: Path, threads: int | None = None) -> Profile:
    """The profile of a program in simulation."""
    return measure(compile_c(program, threads=threads)).profile


@pytest.fixture(scope="module", params=["critical_sections", "barriers", "double_buffer"])
def profile(request: pytest.FixtureRequest) -> Profile:
    return run(PROGRAMS / f"{request.param}.c")


# Graphs: the first event begins, each other one waits for some earlier ones.


@st.composite
def graphs(draw: st.DrawFn) -> list[list[tuple[int, int, int]]]:
    """For each event the edges to it: from where, how long, and which of three kinds it ends."""
    into: list[list[tuple[int, int, int]]] = [[]]
    for event in range(1, draw(st.integers(2, 14))):
        before = draw(st.sets(st.integers(0, event - 1), min_size=1, max_size=3))
        into.append(
            [(b, draw(st.integers(0, 20)), draw(st.integers(-1, 2))) for b in sorted(before)]
        )
    return into


def longest(into: list[list[tuple[int, int, int]]], more: dict[int, int]) -> int:
    """The time of the last event, event by event."""
    time = [0]
    for edges in into[1:]:
        time.append(max(time[b] + lag + more.get(kind, 0) for b, lag, kind in edges))
    return time[-1]


@given(graphs())
def test_the_slack_is_the_last_delay_that_costs_nothing(
    into: list[list[tuple[int, int, int]]],
) -> None:
    edges = [edge for some in into for edge in some]
    offset = np.cumsum([0, *map(len, into)])
    ways = LongestWays(offset, np.array([b for b, _, _ in edges]))
    base = ways.sums(np.array([lag for _, lag, _ in edges]))
    cycles = longest(into, {})
    assert ways.last(base[:, None]).tolist() == [cycles]
    kinds = np.array([kind for _, _, kind in edges])
    counts = ways.sums(np.stack([kinds == kind for kind in range(3)], axis=1).astype(np.int64))
    path = ways.critical(base)
    assert int(base[path].sum()) == cycles
    once = counts[path].sum(axis=0)
    slack, saved = _changes(ways, base, counts, once, cycles)
    for kind in range(3):
        assert cycles - longest(into, {kind: -1}) == saved[kind]
        assert longest(into, {kind: int(slack[kind])}) == cycles
        # What nothing waits for, however late, may take any time.
        waited = counts[:, kind].any() and slack[kind] <= cycles
        assert not waited or longest(into, {kind: int(slack[kind]) + 1}) > cycles


# Runs.


@pytest.mark.long(keep_one_in=4)
@pytest.mark.parametrize("seed", [1, 3, 8, 9])
def test_hardware_has_the_slack_and_no_more(seed: int) -> None:
    """Inserted for real, in random programs: with a cycle more the run takes longer."""
    tried = try_out(seed, most=3)
    assert len(tried) >= 4
    assert [one for one in tried if not one.right] == []


@pytest.mark.long(keep_one_in=3)
def test_each_event_is_as_late_as_what_it_waits_for(profile: Profile) -> None:
    graph = thread_graph(profile)
    assert graph.cycles == profile.cycles
    assert (graph.lag >= 0).all()
    time = graph.time
    ends = np.maximum.reduceat(time[graph.source] + graph.lag, graph.offset[1:-1])
    assert (ends == time[1:]).all()


def test_the_paths_cycles_are_the_runs(profile: Profile) -> None:
    found = critical(profile)
    assert sum(f.critical for f in found.frames) == profile.cycles
    assert sum(f.critical for f in found.threads) == profile.cycles
    assert len(found.threads) == len(profile.tracks) + 1
    for one in (*found.frames, *found.threads):
        assert min(one.slack, one.saved) == 0
        assert one.leverage >= 0


def test_waits_are_those_that_the_profile_counts(profile: Profile) -> None:
    """The spans themselves have the waits: for locks a state, for barriers a counter."""
    found = critical(profile)
    for cause in (Cause.LOCK, Cause.BARRIER):
        counted = sum(
            int(series.value.sum())
            for series in profile.series
            if series.cause == cause.value and series.path in profile.tracks
        )
        told = sum(wait.cycles for wait in found.waits if wait.cause == cause.value)
        # Who comes last, or asks for a lock that is free, waits for nobody.
        assert told <= counted
        if counted > 500:
            assert told > counted * 0.8
    for wait in found.waits:
        assert wait.waiting != wait.decisive
        assert wait.cycles >= wait.times > 0


def test_who_is_started_last_decides_at_a_barrier() -> None:
    found = critical(run(PROGRAMS / "barriers.c"))
    barriers = [wait for wait in found.waits if wait.cause == "barrier"]
    assert {wait.decisive[1] for wait in barriers} == {"main.thread 7"}
    assert len(barriers) == 7


def test_a_section_that_all_queue_for_decides() -> None:
    profile = run(PROGRAMS / "critical_sections.c")
    first = critical(profile).frames[0]
    assert profile.catalog[first.key[0]].name == "critical"
    assert first.slack == 0
    assert first.critical > profile.cycles / 2


def _sampled(profile: Profile) -> Profile:
    """The profile as one that counts waits at barriers without saying when."""
    series = tuple(
        one.with_values(one.start, one.end + 1, one.value)
        if one.cause == Cause.BARRIER.value and one.path in profile.tracks else one
        for one in profile.series
    )  # fmt: skip
    return replace(profile, series=series)


def test_waits_that_were_sampled_say_not_when(profile: Profile) -> None:
    sampled = _sampled(profile)
    if any(len(one) for one in sampled.series if one.cause == Cause.BARRIER.value):
        with pytest.raises(InputError, match="without saying when"):
            critical(sampled)


def test_efficiencies_multiply_up(profile: Profile) -> None:
    found, threads = efficiencies(profile), team(profile)
    assert threads is not None
    assert found.serialisation is not None
    assert found.transfer is not None
    assert found.balance * found.serialisation * found.transfer == found.parallel
    assert found.parallel == threads.efficiency == threads.account.share(threads.account.useful)
    assert found.balance == threads.balance
    for share in (found.balance, found.communication, found.serialisation, found.transfer):
        assert 0 < share <= 1
    assert max(m.useful for m in threads.members) <= ideal_cycles(profile) <= profile.cycles


def test_without_the_times_of_waits_two_are_not_known(profile: Profile) -> None:
    found = efficiencies(_sampled(profile))
    known = efficiencies(profile)
    if found != known:
        assert (found.serialisation, found.transfer) == (None, None)
        assert found.parallel == known.parallel


@pytest.mark.long
def test_an_ideal_memory_is_what_transfer_is_about() -> None:
    """A run with a memory that answers at once takes about as long as T0 of the other one."""
    program = compile_c(PROGRAMS / "gesummv.c")
    far, near = (
        measure(program, memory=MemoryModel(controller=n, cas=n, rcd=0, rp=0, refresh=0)).profile
        for n in (20, 0)
    )
    assert near.cycles < far.cycles * 0.75
    assert ideal_cycles(far) < near.cycles * 1.05
    assert ideal_cycles(far) > near.cycles * 0.6


def test_the_verb(profile: Profile, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = str(tmp_path / "run.cyc")
    save(profile, file)
    assert critical(load(file)) == critical(profile)
    for what in ("path", "threads"):
        assert main(["critical", file, what, "--format", "csv"]) == 0
        rows = capsys.readouterr().out.splitlines()[1:]
        assert sum(int(row.split(",")[0]) for row in rows) == profile.cycles
    assert main(["table", file, "efficiency", "--format", "csv"]) == 0
    shares = [float(row.split(",")[1]) for row in capsys.readouterr().out.splitlines()[1:]]
    assert shares[0] == pytest.approx(shares[1] * shares[3] * shares[4])
    assert main(["critical", file, "waits"]) == 0
    assert capsys.readouterr().out.startswith("cycles")


# Process networks.


def _network(*, critical_cycles: int | None) -> Profile:
    """A network of two processes, one of which waits for the other and keeps it waiting."""
    builder = ProfileBuilder()
    root = builder.path(-1, Frame(Kind.CELL, "k", "k"))
    paths = [
        builder.path(root, Frame(Kind.PROCESS, name, "k", track=True)) for name in ("first", "last")
    ]
    tree = builder.tree([root, *paths])
    known: list[Site] = [
        Process("k", name, path=path, firings=4, critical=critical_cycles)
        for name, path in zip(("first", "last"), paths, strict=True)
    ]
    known.append(Edge("k", producer=0, consumer=1, late=7, delayed=3, held=5))
    return builder.build(Meta("bounds", "k.c"), [20], [tree], sites=known)


def test_processes_have_the_path_that_the_hardware_took() -> None:
    found = critical(_network(critical_cycles=10))
    assert [f.critical for f in found.frames] == [10, 10]
    assert all(f.slack is None and f.leverage is None for f in found.frames)
    late, held = found.waits
    assert (late.cause, late.times, late.cycles) == ("operand", 3, 7)
    assert (held.cause, held.times, held.cycles) == ("full channel", None, 5)
    assert (late.waiting, late.decisive) == (held.decisive, held.waiting)


def test_bounds_have_no_path_of_their_own() -> None:
    with pytest.raises(InputError, match="bounds have no critical path but what bounds them"):
        critical(_network(critical_cycles=None))
