"""The laws of the model (DESIGN.md, laws 1, 2 and 6), checked on a finished profile."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cyclescope.errors import LawError
from cyclescope.model._activity import Activity
from cyclescope.model._clock import StepKind
from cyclescope.model._frame import Kind
from cyclescope.model._site import Access, Barrier, Edge, Lock, Loop, Process

if TYPE_CHECKING:
    from cyclescope.model._frame import Frame
    from cyclescope.model._profile import Profile
    from cyclescope.model._segments import Segments
    from cyclescope.model._series import Series
    from cyclescope.model._site import Site

__all__ = ["check_laws"]

# Lines of a text, and columns of a line: what every format that we write can represent.
_LARGEST_TEXT = 1 << 31
_LONGEST = float(1 << 60)  # cycles

# Who may call whom: Petal, section 4, for Calyx; the other sources' own rules beside it.
# An empty set says that the kind is a root.
_CALYX: dict[Kind | str, frozenset[Kind]] = {
    Kind.CELL: frozenset({Kind.GROUP}),
    Kind.CONTROL: frozenset({Kind.CELL, Kind.CONTROL}),
    Kind.GROUP: frozenset({Kind.CELL, Kind.CONTROL, Kind.GROUP}),
    Kind.PRIMITIVE: frozenset({Kind.GROUP}),
}
_PROCESSES: dict[Kind | str, frozenset[Kind]] = {
    Kind.PROCESS: frozenset({Kind.CELL}),
    Kind.CELL: frozenset({Kind.CELL}),
    Kind.STATE: frozenset({Kind.PROCESS}),
}
_CALLERS: dict[str, dict[Kind | str, frozenset[Kind]]] = {
    "calyx": _CALYX,
    "traces": {**_CALYX, Kind.STATE: frozenset({Kind.THREAD})},
    "hls": {
        Kind.THREAD: frozenset({Kind.CELL}),
        Kind.STATE: frozenset({Kind.THREAD}),
        Kind.LOOP: frozenset({Kind.STATE, Kind.LOOP}),
        Kind.STAGE: frozenset({Kind.STATE, Kind.LOOP}),
    },
    "bounds": _PROCESSES,
    "network": _PROCESSES,
}


def check_laws(profile: Profile) -> None:
    """Raise `LawError` if the profile breaks a law.

    Checked: runs cover every cycle once (law 1); trees are closed, ascending sets of known
    paths that obey their source's rules (law 2); threads are in exactly one state (law 6);
    a clock that the design reaches has the period of its longest path;
    counters' intervals are in order, inside the run and do not overlap; positions are places that
    a text can have; activities have a cause where they need one, and tracks are not in tracks;
    firings read what firings of the same network wrote.
    """
    _positions(profile)
    _runs(profile)
    _trees(profile)
    _callers(profile)
    _threads(profile)
    _counters(profile)
    _meaning(profile)
    _clock(profile)
    _flows(profile)
    for area in profile.areas:
        known = all(0 <= path < len(profile.call_paths) for path in area.paths)
        _require(known, f"area of {area.cell}: its paths are known")


def _require(holds: bool | np.bool, law: str) -> None:
    if not holds:
        raise LawError(f"profile breaks a law: {law}; please report this")


def _clock(profile: Profile) -> None:
    clock = profile.meta.clock
    if clock is None:
        return
    _require(profile.meta.period_ps == clock.period_ps, "delays add up to the clock's period")
    _require(all(step.delay_ps >= 0 for step in clock.path), "no delay is negative")
    ends = [step.kind in (StepKind.LAUNCH, StepKind.SETUP) for step in clock.path]
    inner = len(ends) > 1 and ends[0] and ends[-1] and not any(ends[1:-1])
    _require(inner, "a path is from a launch to a setup")
    lines = [step.line for step in clock.path]
    _require(min(lines) >= 0 and max(lines) < _LARGEST_TEXT, "lines of a path are counted from 1")


def _positions(profile: Profile) -> None:
    places = {place for frame in profile.catalog for place in frame.positions}
    places |= {site.position for site in profile.sites if site.position is not None}
    inside = all(0 <= n < _LARGEST_TEXT for place in places for n in (place.line, place.column))
    _require(inside, f"lines and columns are 0 to {_LARGEST_TEXT - 1:,}")


def _runs(profile: Profile) -> None:
    runs = profile.schedule
    _segments(runs.segments, len(runs.tree_of))
    known = (runs.tree_of >= 0) & (runs.tree_of < len(profile.forest))
    _require(known[np.unique(runs.segments.state)].all(), "a run shows a known tree")


def _segments(kept: Segments, states: int) -> None:
    _require(len(kept.cycles) == len(kept.state), "a run has one length and one tree")
    _require((kept.cycles > 0).all(), "a run lasts at least one cycle")
    known = (kept.state >= 0) & (kept.state < states)
    _require(known.all(), "a run shows a known tree")
    offset = kept.offset
    whole = len(offset) > 0 and int(offset[0]) == 0 and int(offset[-1]) == len(kept.cycles)
    _require(whole and (np.diff(offset) > 0).all(), "segments cover their runs")
    _require(((kept.order >= 0) & (kept.order < len(offset) - 1)).all(), "segments are known")
    # What the machine's integers hold, with a margin for sums.
    times, length = kept.count.astype(np.float64), kept.cycles.astype(np.float64)
    _require((times.sum() * length.sum()) < _LONGEST, "a run has fewer than 2^60 cycles")
    before, after, _ = kept.changes
    _require((before != after).all(), "neighbouring runs differ")


def _trees(profile: Profile) -> None:
    paths, forest = profile.call_paths, profile.forest
    index = np.arange(len(paths))
    _require(((paths.parent >= -1) & (paths.parent < index)).all(), "parents precede children")
    _require(
        ((paths.frame >= 0) & (paths.frame < len(profile.catalog))).all(),
        "a path ends in a known frame",
    )
    sizes = np.diff(forest.offset)
    _require((sizes >= 0).all() and int(forest.offset[0]) == 0, "tree offsets ascend from 0")
    _require(int(forest.offset[-1]) == len(forest.path), "tree offsets end with the paths")
    _require(((forest.path >= 0) & (forest.path < len(paths))).all(), "a tree has known paths")
    owner = np.repeat(np.arange(len(forest)), sizes)
    key = owner * (len(paths) + 1) + forest.path
    _require((np.diff(key) > 0).all(), "a tree's paths ascend")
    parent = paths.parent[forest.path]
    inner = parent >= 0
    wanted = (owner * (len(paths) + 1) + parent)[inner]
    # The keys ascend: a search is a lookup. `append`, for what would come behind the last.
    found = np.append(key, -1)[np.searchsorted(key, wanted)]
    _require((found == wanted).all(), "with a path its parent is active")


_CAUSED = (Activity.CONTROL, Activity.WAITING)


def _meaning(profile: Profile) -> None:
    parts: list[Frame | Series] = [*profile.catalog, *profile.series]
    for part in parts:
        caused = part.activity in _CAUSED or not part.cause or part.activity is None
        _require(caused, f"{part.name}: only control and waiting have a cause")
    inside: list[bool] = []
    for path, parent in enumerate(profile.call_paths.parent.tolist()):
        above = parent >= 0 and inside[parent]
        track = profile.frame_of(path).track
        _require(not (track and above), "a track is not in another one")
        inside.append(track or above)
    _sites(profile)
    for series in profile.series:
        _require(-1 <= series.site < len(profile.sites), "a counter's site is known")


_NAMED: dict[type[Site], dict[str, tuple[type[Site], ...]]] = {
    Loop: {"parent": (Loop,), "needs": (Loop, Access), "lock": (Lock,)},
    Access: {"loop": (Loop,), "repeats": (Loop,), "lock": (Lock,)},
    Lock: {"loop": (Loop,)},
    Barrier: {"loop": (Loop,)},
    Edge: {"producer": (Process,), "consumer": (Process,)},
}
"""The attributes by which sites name others, and what these are."""


def _sites(profile: Profile) -> None:
    sites = profile.sites
    for number, site in enumerate(sites):
        for name, kinds in _NAMED.get(type(site), {}).items():
            given = getattr(site, name)
            for other in given if isinstance(given, tuple) else () if given == -1 else (given,):
                known = 0 <= other < len(sites) and isinstance(sites[other], kinds)
                _require(known, f"the {name} of a site is a site of the right kind")
        if isinstance(site, Loop):
            _require(site.parent < number, "a loop's parent comes before it")
        path = site.path if isinstance(site, Process) else -1
        _require(-1 <= path < len(profile.call_paths), "a site's path is known")
        frame = site.frame if isinstance(site, Loop) else -1
        frame = site.held if isinstance(site, Lock) else frame
        _require(-1 <= frame < len(profile.catalog), "a site's frame is known")
        if isinstance(site, Lock):
            counted = len(site.lines) == len(site.stages) and all(n > 0 for n in site.stages)
            _require(counted, "each line of a section has stages")
        if isinstance(site, Edge):
            _require(site.consumer >= 0, "an edge has a consumer")


def _flows(profile: Profile) -> None:
    edges = [flow.edge for flow in profile.flows]
    _require(edges == sorted(set(edges)), "each channel has one flow, in their order")
    for flow in profile.flows:
        edge = profile.sites[flow.edge] if 0 <= flow.edge < len(profile.sites) else None
        _require(isinstance(edge, Edge) and edge.producer >= 0, "a flow is of a known edge")
        assert isinstance(edge, Edge)
        ends = profile.sites[edge.producer], profile.sites[edge.consumer]
        for process, firings in zip(ends, (flow.sends, flow.firings), strict=True):
            assert isinstance(process, Process)
            inside = (firings >= 0).all() and (firings < process.firings).all()
            _require(
                inside and (np.diff(firings) > 0).all(), "a flow's firings are known, in order"
            )
        reads = flow.reads
        _require(len(reads) == len(flow.firings), "each read is a firing's")
        _require(len(flow.sends) > 0, "a flow has values")
        read = np.array_equal(np.unique(reads), np.arange(len(flow.sends)))
        _require(read, "each value that is sent is read, and no other")
        _require(edge.depth is not None and edge.depth > 0, "a channel keeps something")
    if profile.flows:
        processes = [site for site in profile.sites if isinstance(site, Process)]
        # A firing begins in a cycle of its own, and its results are there two later at the least.
        fire = all(0 <= site.firings <= profile.cycles for site in processes)
        _require(fire, "a process begins at most a firing in each cycle")
        timed = all(
            0 < s.interval < _LARGEST_TEXT and 1 < s.latency < _LARGEST_TEXT for s in processes
        )
        _require(timed, "a firing takes at least two cycles, its resource at least one")


def _callers(profile: Profile) -> None:
    rules = _CALLERS.get(profile.meta.source)
    if rules is None:
        return
    roots = 0
    for path, parent in enumerate(profile.call_paths.parent.tolist()):
        frame = profile.frame_of(path)
        if parent < 0:
            roots += 1
            continue
        above = profile.frame_of(parent)
        _require(
            above.kind in rules.get(frame.kind, frozenset()),
            f"a {frame.kind} ({frame.name}) may not be called by a {above.kind} ({above.name})",
        )
    if profile.meta.source == "calyx":
        _require(roots <= 1, "the main cell is the only root")
        root_is_cell = roots == 0 or profile.frame_of(0).kind is Kind.CELL
        _require(root_is_cell, "the root is a cell")
        sizes = np.diff(profile.forest.offset)
        _require((sizes > 0).all(), "the main cell is active in every cycle")


def _threads(profile: Profile) -> None:
    catalog = profile.catalog
    kind = np.array([f.kind for f in catalog], dtype=object)[profile.call_paths.frame]
    is_thread = kind == Kind.THREAD
    if not is_thread.any():
        return
    parent = profile.call_paths.parent
    is_state = (kind == Kind.STATE) & (parent >= 0)
    threads = np.flatnonzero(is_thread)
    for tree in range(len(profile.forest)):
        active = profile.forest[tree]
        states = parent[active[is_state[active]]]
        _require(
            sorted(states.tolist()) == threads.tolist(),
            "each thread is in exactly one state in every cycle",
        )


def _counters(profile: Profile) -> None:
    for bank in {id(s.bank): s.bank for s in profile.series if s.bank is not None}.values():
        if bank.segments is not profile.schedule.segments:
            _segments(bank.segments, len(bank.shown))
        reach = bank.total
        _require(profile.cycles <= reach <= profile.cycles + 1, "a bank covers the run")
        # Also those of states that no run has: readers take a value for each state.
        shown = np.append(bank.shown, max(bank.after, 0))
        known = (shown >= 0) & (shown < max(len(bank.values), 1))
        _require(known.all(), "a bank's states show known combinations")
    for series in profile.series:
        name = f"counter {series.track} {series.name}"
        _require(-1 <= series.path < len(profile.call_paths), f"{name}: its path is known")
        if series.bank is not None:
            columns = series.bank.values.shape[1]
            _require(0 <= series.column < columns, f"{name}: its column is known")
            continue
        _require((series.start < series.end).all(), f"{name}: an interval is not empty")
        _require((series.start[1:] >= series.end[:-1]).all(), f"{name}: intervals do not overlap")
        inside = len(series) == 0 or (
            int(series.start[0]) >= 0 and int(series.end[-1]) <= profile.cycles + 1
        )
        _require(inside, f"{name}: intervals lie inside the run")
        if series.activity is Activity.WAITING:
            # A damaged dump may say more than there are cycles; sums have to be possible.
            waits = series.value
            possible = len(waits) == 0 or (waits.min() >= 0 and waits.sum(dtype=float) < _LONGEST)
            _require(possible, f"{name}: waits for a number of cycles")
