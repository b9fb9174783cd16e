"""A run of threads as a graph: what each begin and end of a span of a thread waits for.

A *span* of a thread is an execution of a loop, a wait for a lock, the passage of a critical
section, a wait at a barrier, or the thread itself. Its begin and its end are *events*, and an
*edge* leads to an event from each one that it waits for, with the cycles between them:

- A span without others inside ends so many cycles after its begin as it is long.
- One with others inside ends after the last of these.
- A span begins after those before it in the same loop that have ended since another one began; of
  several it waits for all, as what runs side by side is joined. Spans of one thread overlap where
  the hardware has the next iteration under way before this one is over.
- A lock comes from the thread that released it last; a barrier is over when the last one is there.
- Threads start when the host starts them; a run ends when the last thread has ended.

Each edge's cycles belong to one frame of one thread, so those of the longest way sum to the run.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field, replace
from itertools import pairwise
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cyclescope.errors import InputError
from cyclescope.model import Activity, Cause, Kind, Lock, Loop, spans

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from cyclescope.analyse._activations import Key
    from cyclescope.model import Ints, Profile

__all__ = [
    "AT_BARRIER",
    "Span",
    "SpanWait",
    "ThreadGraph",
    "has_exact_waits",
    "has_threads",
    "keys_of_spans",
    "size_of_spans",
    "thread_graph",
]

_THREAD, _LOOP, _SPIN, _SECTION, _BARRIER = range(5)
_ENDS, _WHOLE = 1, 2  # an edge ends a span, or is all of it
_NO_FRAME = -1  # of a wait at a barrier
AT_BARRIER = -1  # its kind, in `ThreadGraph.spans`
_MOMENT = itemgetter(0, 1, 2)


@dataclass(frozen=True, slots=True)
class Span:
    """A kind of span of a thread.

    Attributes:
        key: its frame, and the thread's instance.
        loop: its site, of a loop; -1 of anything else.
        section: it is the passage of a critical section.
        lock: it is the wait for a lock.
        times: how often there is one.
        cycles: of all of these.
    """

    key: Key
    loop: int = -1
    section: bool = False
    lock: bool = False
    times: int = 0
    cycles: int = 0


@dataclass(frozen=True, slots=True)
class SpanWait:
    """The wait of spans of one kind for those of another, kinds by number.

    Attributes:
        around: the span in which both are, or the one that waits.
        waiting: who waits.
        decisive: for whom.
        cause: `lock`, `barrier`, or `join` where spans of one thread ran side by side.
        times: how often.
        cycles: for how long altogether.
    """

    around: int
    waiting: int
    decisive: int
    cause: str
    times: int
    cycles: int


@dataclass(frozen=True, slots=True)
class ThreadGraph:
    """Events and edges of a run. See the module.

    Attributes:
        kinds: the kinds of span, each of one thread.
        time: of each event, in an order in which an edge leads from an earlier one to a later one;
            the first is the begin of the run, the last its end.
        offset: the edges to event e are those from `offset[e]` to before `offset[e + 1]`.
        source: the event that each edge leads from.
        lag: the cycles that it stands for.
        kind: whose they are, an index into `kinds`.
        ends: it is the one that ends a span of that kind, once for each.
        whole: it is all of a span without others inside.
        waits: where spans waited for each other.
        spans: a row for each span, as they end: its kind (`AT_BARRIER` of a wait at a barrier),
            that of its thread, the event that begins it and the one that ends it.
    """

    kinds: tuple[Span, ...]
    time: Ints
    offset: Ints
    source: Ints
    lag: Ints
    kind: Ints
    ends: Ints
    whole: Ints
    waits: tuple[SpanWait, ...]
    spans: np.ndarray[tuple[int, int], np.dtype[np.int64]]

    @property
    def cycles(self) -> int:
        """The cycles of the run."""
        return int(self.time[-1])

    def times(self, lag: Ints) -> Ints:
        """The moment of each event, given the cycles of each edge."""
        if lag is self.lag:
            return self.time
        bounds, source, cycles = self.offset.tolist(), self.source.tolist(), lag.tolist()
        found = [0]
        for first, after in pairwise(bounds[1:]):
            found.append(max(found[source[e]] + cycles[e] for e in range(first, after)))
        return np.array(found, dtype=np.int64)


def has_threads(profile: Profile) -> bool:
    """Return whether a profile has threads, each of them in one state in every cycle."""
    return any(profile.frame_of(path).kind is Kind.THREAD for path in profile.tracks) and any(
        frame.kind is Kind.STATE for frame in profile.catalog
    )


def has_exact_waits(profile: Profile) -> bool:
    """Return whether a profile of threads says exactly when they waited for each other."""
    return has_threads(profile) and profile.meta.source == "hls" and not _sampled(profile)


def _sampled(profile: Profile) -> bool:
    """Return whether waits at barriers were counted without saying when."""
    return any(
        bool((series.value != series.end - series.start).any())
        for series in profile.series
        if series.path in profile.tracks and series.cause == Cause.BARRIER.value
    )


def thread_graph(profile: Profile) -> ThreadGraph:
    """The graph of a run of threads, worked out once.

    Raises:
        InputError: it does not say exactly when threads waited for each other, or has no cycle.
    """
    graph: ThreadGraph = profile.once(_graph)
    return graph


def keys_of_spans(profile: Profile) -> list[Key]:
    """The frames in threads of all spans."""
    return [kind.key for kind in thread_graph(profile).kinds]


def size_of_spans(profile: Profile, keys: Collection[Key]) -> tuple[int, int]:
    """Count the spans of some frames in threads, and the cycles of all of these."""
    mine = [kind for kind in thread_graph(profile).kinds if kind.key in keys]
    return sum(kind.times for kind in mine), sum(kind.cycles for kind in mine)


def _graph(profile: Profile) -> ThreadGraph:
    title = profile.meta.title
    if not profile.cycles:
        raise InputError(f"{title}: it has no cycle")
    if profile.meta.source != "hls":
        raise InputError(
            f"{title}: a trace says for how long threads waited, but not for which other one;"
            " critical paths are those of Calyx programs and of threads of the hls command"
        )
    if _sampled(profile):
        raise InputError(
            f"{title}: it counts waits at barriers without saying when; measure it without"
            " --profile"
        )
    builder = _Builder(profile)
    for first, last in _runs(profile):
        builder.run(first, last)
    return builder.graph()


def _runs(profile: Profile) -> list[tuple[int, int]]:
    """Begin and end of each time that the host came to the region."""
    marks = [series for series in profile.series if series.metric == "run"]
    if not marks:
        return [(0, profile.cycles)]
    return list(zip(marks[0].start.tolist(), marks[0].end.tolist(), strict=True))


@dataclass(slots=True)
class _Open:
    """A span that has begun.

    Attributes:
        kind: its kind.
        begin: its first event.
        around: the span that it is in.
        depth: of how many it is inside.
        last: the latest event directly inside it that others begin after.
        ended: the ends of spans directly inside it since one began.
        began: the events that the latest begin directly inside waited for, and its time.
    """

    kind: int
    begin: int
    around: _Open | None
    depth: int
    last: int
    ended: list[int] = field(default_factory=list)
    began: tuple[list[int], int] = field(default_factory=lambda: ([], -1))
    empty: bool = True


class _Interval(NamedTuple):
    """A longest time in which a thread is in a frame: what sort of span, and its cycles."""

    what: int
    frame: int
    start: int
    end: int


class _Builder:
    def __init__(self, profile: Profile) -> None:
        self._profile = profile
        self._loops = {s.frame: n for n, s in enumerate(profile.sites) if isinstance(s, Loop)}
        self._frame_of_site = {n: frame for frame, n in self._loops.items()}
        self._around: dict[int, int] = {}  # loop's frame → that of the loop around it
        self._in_section: set[int] = set()
        for frame, number in self._loops.items():
            site = profile.sites[number]
            assert isinstance(site, Loop)
            self._around[frame] = self._frame_of_site.get(site.parent, -1)
            outer = profile.sites[site.parent] if site.parent >= 0 else None
            inherited = isinstance(outer, Loop) and outer.lock == site.lock
            if site.lock >= 0 and not inherited:
                self._in_section.add(frame)
        locks = [site for site in profile.sites if isinstance(site, Lock)]
        self._held = {site.held for site in locks if site.held >= 0}
        self._locking = {self._frame_of_site.get(site.loop, -1) for site in locks}
        self.kinds: list[Span] = []
        self._sizes: list[list[int]] = []  # of each kind: how often, cycles
        self._number: dict[Key, int] = {}
        self.time: list[int] = []
        self.into: list[list[tuple[int, int, int, int]]] = []
        self._waits: dict[tuple[int, int, int, str], list[int]] = {}
        self._in_thread: dict[int, int] = {}  # kind of span → that of its thread
        self._ended: dict[int, int] = {}  # event → the kind of span that it ends
        self._spans: list[tuple[int, int, int, int]] = []
        self._threads = [p for p in profile.tracks if profile.frame_of(p).kind is Kind.THREAD]
        root = int(profile.call_paths.parent[self._threads[0]])
        whole = int(profile.call_paths.frame[root]) if root >= 0 else -1
        self._run_kind = self._kind((whole, profile.instances[root] if root >= 0 else ""))
        self._intervals = [list(self._of_thread(path)) for path in self._threads]
        kinds = {(one.what, one.frame): one for mine in self._intervals for one in mine}
        self._ranks = {kind: self._rank(one) for kind, one in kinds.items()}
        self._whole = [
            self._kind((int(profile.call_paths.frame[path]), profile.instances[path]))
            for path in self._threads
        ]
        self._end = self._event(0, [])

    # Spans

    def _kind(self, key: Key, loop: int = -1, what: int = _THREAD) -> int:
        if key not in self._number:
            self._number[key] = len(self.kinds)
            self.kinds.append(Span(key, loop, what == _SECTION, what == _SPIN))
            self._sizes.append([0, 0])
        return self._number[key]

    def _of_thread(self, thread: int) -> Iterator[_Interval]:
        """The spans of a thread, each longest time in a frame whatever the state meanwhile."""
        profile = self._profile
        inside = np.flatnonzero(profile.track_of == profile.tracks.index(thread))
        every = spans(profile, paths=inside, split_static=False)
        frames = profile.call_paths.frame[every.path]
        own = int(profile.call_paths.frame[thread])
        idle = [
            int(profile.call_paths.frame[p]) for p in inside.tolist()
            if profile.frame_of(p).kind is Kind.STATE
            and profile.frame_of(p).activity is Activity.IDLE
        ]  # fmt: skip
        for frame in np.unique(frames).tolist():
            about = profile.catalog[frame]
            mine = frames == frame
            if frame == own:
                # A thread is there when it is not idle.
                mine = np.isin(frames, np.flatnonzero(
                    [f.kind is Kind.STATE and n not in idle for n, f in enumerate(profile.catalog)]
                ))  # fmt: skip
                what = _THREAD
            elif about.kind is Kind.LOOP and frame in self._loops:
                what = _LOOP
            elif about.kind is Kind.STATE and about.cause == Cause.LOCK.value:
                what = _SPIN
            elif frame in self._held:
                what = _SECTION
            else:
                continue
            start, end = _merged(every.start[mine], every.end[mine])
            for a, b in zip(start.tolist(), end.tolist(), strict=True):
                yield _Interval(what, frame, a, b)
        for series in profile.series:
            if series.path == thread and series.cause == Cause.BARRIER.value and len(series):
                start, end = _merged(series.start, series.end)
                for a, b in zip(start.tolist(), end.tolist(), strict=True):
                    yield _Interval(_BARRIER, _NO_FRAME, a, b)

    # Events

    def _event(self, time: int, into: list[tuple[int, int, int, int]]) -> int:
        self.time.append(time)
        self.into.append(into)
        return len(self.time) - 1

    def _after(self, time: int, before: list[int], kind: int, ends: int = 0) -> int:
        """An event so long after the last of some others, and as long after each of them."""
        if len(before) == 1:
            lag = time - self.time[before[0]]
            return self._event(time, [(before[0], lag, kind, ends)])
        lag = time - max([self.time[b] for b in before])
        return self._event(time, [(b, lag, kind, ends) for b in before])

    def run(self, first: int, last: int) -> None:
        """Add the events of one run of the region."""
        profile = self._profile
        moments: list[tuple[int, int, int, _Interval, bool]] = []
        for thread, intervals in enumerate(self._intervals):
            for one in intervals:
                if first <= one.start < last:
                    begins, ends_ = self._ranks[one.what, one.frame]
                    moments.append((one.start, begins, thread, one, False))
                    moments.append((one.end, ends_, thread, one, True))
        moments.sort(key=_MOMENT)
        self._asked = min(
            (one.end - one.start for *_, one, ends_ in moments if ends_ and one.what == _SPIN),
            default=1,
        )
        instance = [profile.instances[path] for path in self._threads]
        begin = self._end
        self._begin = begin
        open_: list[dict[int, _Open]] = [{} for _ in self._threads]  # by frame
        self._released: list[tuple[int, int, int]] = []  # time, event, kind; in order of time
        self._handover: int | None = None
        arrivals: list[tuple[int, int]] = []  # event, kind
        over: dict[int, int] = {}  # when a barrier was over → the event
        ends: list[int] = []
        for _, _, thread, one, ending in moments:
            spans_ = open_[thread]
            where = instance[thread]
            if not ending:
                kind = self._whole[thread]
                if one.what not in (_THREAD, _BARRIER):
                    loop = self._loops[one.frame] if one.what == _LOOP else -1
                    kind = self._kind((one.frame, where), loop, one.what)
                    self._in_thread[kind] = self._whole[thread]
                if one.what == _THREAD:
                    event = self._event(one.start, [(begin, one.start - first, kind, 0)])
                    spans_[one.frame] = _Open(kind, event, None, 0, event)
                    continue
                around = self._parent(one, spans_)
                if around is None:
                    continue  # outside of the thread's time: it has none
                if around.began[1] == one.start:
                    before = around.began[0]
                else:
                    before = around.ended or [around.last]
                event = self._after(one.start, before, around.kind)
                if len(before) > 1:
                    self._count_join(around, before)
                around.began = (before, one.start)
                around.ended, around.last, around.empty = [], event, False
                spans_[one.frame] = _Open(kind, event, around, around.depth + 1, event)
                if one.what == _BARRIER:
                    arrivals.append((event, self._whole[thread]))
                continue
            span = spans_.pop(one.frame, None)
            if span is None:
                continue
            if one.what == _SPIN:
                event = self._given(one, span)
            elif one.what == _BARRIER:
                if one.end not in over:
                    here = [a for a in arrivals if self.time[a[0]] < one.end]
                    arrivals = [a for a in arrivals if self.time[a[0]] >= one.end]
                    over[one.end] = self._after(one.end, [a for a, _ in here], span.kind)
                    self._count_barrier(one.end, here)
                event = over[one.end]
            elif span.empty:
                event = self._after(one.end, [span.begin], span.kind, _WHOLE)
            else:
                event = self._after(one.end, span.ended or [span.last], span.kind, _ENDS)
            sort = AT_BARRIER if one.what == _BARRIER else span.kind
            self._spans.append((sort, self._whole[thread], span.begin, event))
            if one.what != _BARRIER:
                self._sizes[span.kind][0] += 1
                self._sizes[span.kind][1] += one.end - one.start
            if one.what == _SECTION:
                self._released.append((one.end, event, span.kind))
            if one.what == _THREAD:
                ends.append(event)
            elif span.around is not None:
                span.around.ended.append(event)
                self._ended[event] = span.kind
        self._end = self._after(last, ends or [begin], self._run_kind, _ENDS)
        self._sizes[self._run_kind][0] += 1
        self._sizes[self._run_kind][1] += last - first

    def _rank(self, one: _Interval) -> tuple[int, int]:
        """The places of its begin and its end among what happens in one cycle.

        Ends come first, the innermost before those around them and the release of a lock before it
        is had; then begins, the outermost first.
        """
        depth, late = self._depth(one), int(one.what in (_SPIN, _BARRIER))
        return 1000 + 2 * depth + late, late - 2 * depth

    def _depth(self, one: _Interval) -> int:
        if one.what == _THREAD:
            return 0
        if one.what == _LOOP:
            depth, frame = 1, one.frame
            while frame >= 0:
                depth += 2
                frame = self._around.get(frame, -1)
            return depth
        # A lock's spans are directly inside the innermost loop that is around it.
        return 100

    def _parent(self, one: _Interval, spans_: dict[int, _Open]) -> _Open | None:
        """The span of its thread in which one begins."""
        if one.what == _LOOP:
            if one.frame in self._in_section:
                section = next((spans_[f] for f in self._held if f in spans_), None)
                if section is not None:
                    return section
            around = spans_.get(self._around[one.frame])
            if around is not None:
                return around
        root = next((s for s in spans_.values() if s.around is None), None)
        if one.what == _LOOP:
            return root
        if one.what == _BARRIER:
            return max(
                (s for f, s in spans_.items() if f in self._loops), key=_by_depth, default=root
            )
        inner = [s for f, s in spans_.items() if f in self._locking and f >= 0]
        return max(inner, key=_by_depth, default=root)

    def _given(self, one: _Interval, span: _Open) -> int:
        """The event that a thread has a lock: it asked, and the one before has released it."""
        asked = self._asked
        waited = one.end - one.start
        into = [(span.begin, min(waited, asked), span.kind, 0)]
        place = bisect_right(self._released, (one.end, len(self.time), 0)) - 1
        if place >= 0 and waited > asked:
            time, event, kind = self._released[place]
            into.append((event, one.end - time, span.kind, 0))
            assert span.around is not None
            who = (span.around.kind, self._in_thread[span.kind], self._in_thread[kind], "lock")
            self._count(who, waited)
        elif place >= 0 and len(self._locking) == 1:
            time, event, _ = self._released[place]
            if one.end - time >= asked:
                into.append((event, asked, span.kind, 0))
        elif waited > asked:
            into = [(span.begin, waited, span.kind, 0)]
        return self._event(one.end, into)

    def _count(self, who: tuple[int, int, int, str], cycles: int) -> None:
        entry = self._waits.setdefault(who, [0, 0])
        entry[0] += 1
        entry[1] += cycles

    def _count_barrier(self, end: int, here: list[tuple[int, int]]) -> None:
        last = max(here, key=lambda arrival: self.time[arrival[0]])
        for event, thread in here:
            if event != last[0]:
                self._count((self._run_kind, thread, last[1], "barrier"), end - self.time[event])

    def _count_join(self, around: _Open, before: list[int]) -> None:
        last = max(before, key=self.time.__getitem__)
        for event in before:
            if self.time[event] < self.time[last]:
                who = (around.kind, self._ended[event], self._ended[last], "join")
                self._count(who, self.time[last] - self.time[event])

    def graph(self) -> ThreadGraph:
        """The graph of all runs."""
        rows = [edge for into in self.into for edge in into]
        source, lag, kind, ends = (
            np.array(column, dtype=np.int64) for column in zip(*rows, strict=True)
        )
        found = sorted(self._waits.items(), key=lambda item: -item[1][1])
        return ThreadGraph(
            kinds=tuple(
                replace(kind, times=times, cycles=cycles)
                for kind, (times, cycles) in zip(self.kinds, self._sizes, strict=True)
            ),
            time=np.array(self.time, dtype=np.int64),
            offset=np.concatenate(([0], np.cumsum([len(into) for into in self.into]))),
            source=source,
            lag=lag,
            kind=kind,
            ends=np.minimum(ends, 1),
            whole=ends // _WHOLE,
            waits=tuple(SpanWait(*who, times, cycles) for who, (times, cycles) in found),
            spans=np.array(self._spans, dtype=np.int64).reshape(-1, 4),
        )


def _by_depth(span: _Open) -> int:
    return span.depth


def _merged(start: Ints, end: Ints) -> tuple[Ints, Ints]:
    """Intervals that do not overlap, those that meet joined."""
    order = np.argsort(start, kind="stable")
    start, end = start[order], end[order]
    first = np.append(True, start[1:] > end[:-1])
    return start[first], end[np.append(first[1:], True)]
