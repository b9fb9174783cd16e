"""Check that a profile by a profiling unit is what the testbench saw, cycle by cycle."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cyclescope.model import Kind

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cyclescope.hls.trace._format import TraceLayout
    from cyclescope.model import Profile

__all__ = ["states_by_cycle", "too_much", "wrong"]

NAMES = ("idle", "running", "critical", "spinning", "unknown")


def states_by_cycle(profile: Profile) -> NDArray[np.int64]:
    """The number of each thread's state in each cycle, shape (threads, cycles)."""
    parents = profile.call_paths.parent.tolist()
    kinds = [profile.frame_of(path).kind for path in range(len(parents))]
    threads = [path for path, kind in enumerate(kinds) if kind is Kind.THREAD]
    rows = np.full((len(threads), len(profile.forest.offset) - 1), -1)
    for tree in range(rows.shape[1]):
        first, last = profile.forest.offset[tree : tree + 2].tolist()
        for path in profile.forest.path[first:last].tolist():
            if kinds[path] is Kind.STATE:
                thread = threads.index(parents[path])
                assert rows[thread, tree] == -1, "a thread in two states"
                rows[thread, tree] = NAMES.index(profile.frame_of(path).name)
    assert (rows >= 0).all(), "a thread in no state"
    found: NDArray[np.int64] = np.repeat(
        rows[:, profile.schedule.tree], profile.schedule.cycles, axis=1
    )
    assert found.shape[1] == profile.cycles
    return found


def wrong(
    profile: Profile,
    truth: Profile,
    *,
    complete: bool = True,
    known: bool = True,
    cut: bool = False,
) -> list[str]:
    """List what a profiling unit's profile says that is not so.

    Args:
        profile: of the profiling unit.
        truth: the same run as the bench saw it, sampled in each cycle.
        complete: no count may be left out.
        known: no state may be unknown.
        cut: the run went on behind the profile's end.
    """
    found = []
    own, seen = states_by_cycle(profile), states_by_cycle(truth)
    if profile.cycles > truth.cycles:
        return [f"{profile.cycles} cycles of {truth.cycles}"]
    shown = own != NAMES.index("unknown")
    if known and not shown.all():
        found.append(f"{np.count_nonzero(~shown)} thread-cycles unknown")
    differ = shown & (own != seen[:, : profile.cycles])
    if differ.any():
        thread, cycle = (int(a[0]) for a in np.nonzero(differ))
        found.append(
            f"state of thread {thread} in cycle {cycle}: {NAMES[own[thread, cycle]]}, not "
            f"{NAMES[seen[thread, cycle]]}; {np.count_nonzero(differ)} thread-cycles"
        )
    if not cut and (seen[:, profile.cycles :] != 0).any():
        found.append("a thread works after the end")
    sums = {}
    for series in truth.series:
        change = np.zeros(truth.cycles + 1, dtype=np.int64)
        np.add.at(change, series.end, series.value)
        sums[series.track, series.name] = np.cumsum(change)
    for series in profile.series:
        what = f"{series.track}: {series.name}"
        total = sums.get((series.track, series.name))
        if total is None:
            found.append(f"{what}: the bench does not count it")
            continue
        right = total[series.end] - total[series.start]
        if (series.value != right).any():
            at = int(np.flatnonzero(series.value != right)[0])
            found.append(
                f"{what}: {series.value[at]} in cycles {series.start[at]} to {series.end[at]}, "
                f"not {right[at]}"
            )
        ends = [0, *series.end.tolist()]
        if complete and (series.start.tolist() != ends[:-1] or ends[-1] != profile.cycles):
            found.append(f"{what}: cycles are left out")
    return found


def too_much(layout: TraceLayout, truth: Profile) -> list[str]:
    """List where more happened in a few cycles than the profiling unit's counters are made for.

    Args:
        layout: what the profiling unit was built for.
        truth: a run as the bench saw it, sampled in each cycle.
    """
    found = []
    series = {(s.track, s.name): s for s in truth.series}
    for source in (place.source for place in layout.places):
        what = f"thread {source.index}", source.counter.name
        if what not in series:
            continue
        total = np.zeros(truth.cycles + 1 + source.window, dtype=np.int64)
        np.add.at(total, series[what].end + source.window, series[what].value)
        total = np.cumsum(total)
        most = int((total[source.window :] - total[: -source.window]).max())
        if most > source.largest:
            found.append(f"{': '.join(what)}: {most} in {source.window} cycles")
    return found
