"""A run of threads with another team: who has which iterations, and who then waits for whom.

A thread's run is its *work*, the cycles in which it waits for no lock and no barrier, with the
places in it where it asks for a lock, gives it back or comes to a barrier. In each execution of a
loop that the team divides (the outermost such loops, `Loop.shared`) the work is cut into
iterations, each with its places. A thread of the other team has the work of one of the run's
threads outside these loops, and in them the iterations that are then its own: a block of them, or
every so many-th (`Loop.cyclic`).

Then the team runs: threads start one after the other, a lock goes to who asked first, a barrier is
over when all are there, and threads that are in one loop at once share its pipeline and the memory
(`_resource`). With the team of the run each thread has what it had.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import pairwise
from operator import itemgetter
from typing import TYPE_CHECKING

import numpy as np

from cyclescope.analyse._resource import Use, use_of
from cyclescope.analyse._team_run import BARRIER, Piece, Place, Steps, run_team, steps_of
from cyclescope.analyse._thread_graph import AT_BARRIER
from cyclescope.errors import InputError
from cyclescope.model import Lock, Loop

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from cyclescope.analyse._thread_graph import ThreadGraph
    from cyclescope.model import Ints, Profile

    _Spans = np.ndarray[tuple[int, int], np.dtype[np.int64]]

__all__ = ["Teams", "stages_take"]

_LEAVING = 2  # cycles from the end of what is waited for to the next stage
_EXECUTIONS = 4_000  # of a loop: so often it is followed who shares it
_VISITS = 10_000  # uses of shared resources that are followed; of more, several are taken for one
_ROUNDS = 3  # in which uses become as long as they were in the run


def stages_take(loop: Loop) -> dict[int, float]:
    """Stage of variable latency → cycles between iterations that it alone would make."""
    before = dict(zip(loop.stages, (-1, *loop.stages), strict=False))
    occurs = max(loop.iterations or 0, 1)
    waited = loop.waited or (0,) * len(loop.stages)
    return {
        stage: stage - before[stage] + cycles / occurs + _LEAVING
        for stage, cycles in zip(loop.stages, waited, strict=True)
    }


def _period(loop: Loop) -> float:
    """Cycles from one iteration of a loop to the next, as its slowest stage has it."""
    takes = stages_take(loop)
    chain = sum(takes[stage] for stage in loop.serial)
    return max([float(loop.apart or 1), chain, *takes.values()])


@dataclass(slots=True)
class _Execution:
    """An execution by a thread of a loop that the team divides, from when to when in its work.

    Attributes:
        loop: its site.
        inner: loop directly inside → when each of its executions begins.
        begins: when iterations begin.
    """

    loop: int
    begin: float
    end: float
    inner: dict[int, list[float]] = field(default_factory=dict)
    begins: list[float] = field(default_factory=list)


@dataclass(slots=True)
class _Thread:
    """A thread of the run: its start and end, its work, its executions of divided loops.

    Attributes:
        places: by the work before them.
        moments: the work before each.
    """

    start: int
    end: int
    work: float
    places: list[Place]
    executions: list[_Execution]
    moments: list[float] = field(init=False)

    def __post_init__(self) -> None:
        self.places.sort(key=_by_work)
        self.moments = [place.work for place in self.places]

    def piece(self, begin: float, end: float) -> Piece:
        """A part of its work."""
        first = bisect_left(self.moments, begin)
        last = bisect_left(self.moments, end, first)
        return Piece(end - begin, self.places, first, last, begin)


def _by_work(place: Place) -> float:
    return place.work


class Teams:
    """A run of threads, and the same with other teams or started by another host."""

    def __init__(self, profile: Profile, graph: ThreadGraph, time: Ints) -> None:
        """Look at a run.

        Args:
            profile: the run.
            graph: its graph.
            time: of each event of the graph, with all other changes made.
        """
        self._title = profile.meta.title
        self._now, self._cost = (int(profile.meta.options[n]) for n in ("threads", "start cost"))
        self._rest = int(time[-1])  # cycles outside of the runs of the region
        loops = {n: site for n, site in enumerate(profile.sites) if isinstance(site, Loop)}
        self._divides = any(site.shared for site in loops.values())
        self._runs: list[_Team] = []
        event = np.repeat(np.arange(len(graph.time)), np.diff(graph.offset))
        ends = event[(graph.kind == graph.kind[-1]) & (graph.ends == 1)].tolist()
        around = {loop: _outermost_shared(loops, loop) for loop in loops}
        uses = _uses(profile, graph, loops)
        for begin, end in pairwise([0, *ends]):
            mine = graph.spans[(graph.spans[:, 3] > begin) & (graph.spans[:, 3] <= end)]
            locks = _locks(graph, mine, sum(isinstance(site, Lock) for site in profile.sites))
            threads, handing = _threads(graph, time, loops, around, uses, mine, locks)
            if threads:
                self._runs.append(_Team(threads, loops, uses, handing))
                self._rest -= max(thread.end for thread in threads)

    def cycles(self, team: int, start_cost: int) -> int:
        """The cycles of the run with another team or host.

        Args:
            team: the number of threads.
            start_cost: cycles in which the host starts one.

        Raises:
            InputError: the team is another one, and no loop's iterations follow from the thread's
                number.
        """
        if team != self._now and (not self._divides or team < 1):
            raise InputError(
                f"threads = {team}: no loop of {self._title} has iterations that follow from the"
                f" thread's number; run cyclescope hls --threads {team}"
            )
        later = start_cost - self._cost
        return self._rest + round(sum(run.end(team, later, start_cost) for run in self._runs))


def _outermost_shared(loops: dict[int, Loop], loop: int) -> int:
    """The outermost loop around one, or the loop itself, that the team divides; -1 for none."""
    found = -1
    while loop >= 0:
        if loops[loop].shared:
            found = loop
        loop = loops[loop].parent
    return found


def _uses(profile: Profile, graph: ThreadGraph, loops: dict[int, Loop]) -> dict[int, Use]:
    """The resource that each loop without others inside uses in an iteration."""
    inside = set(loops) - {loop.parent for loop in loops.values()}
    cycles = dict.fromkeys(inside, 0)
    for kind in graph.kinds:
        if kind.loop in inside:
            cycles[kind.loop] += kind.cycles
    begun = {n: (loops[n].iterations or 0) + (loops[n].executions or 0) for n in inside}
    # Where there are many, what they cost each other is as it was.
    few = [n for n in inside if (loops[n].executions or 0) <= _EXECUTIONS]
    found: dict[int, Use] = {}
    for n in few:
        if cycles[n] and begun[n]:
            drain = _drain(loops[n], cycles[n])
            begins = cycles[n] - drain * (loops[n].executions or 0)
            found[n] = use_of(profile, n, begins / begun[n], drain)
    return found


def _drain(loop: Loop, cycles: int) -> int:
    """The cycles from an execution's last iteration to its end, given those of all executions."""
    executions, drain = loop.executions or 0, loop.depth or 0
    return drain if drain * executions < cycles else 0


# The run's threads


def _threads(
    graph: ThreadGraph,
    time: Ints,
    loops: dict[int, Loop],
    around: dict[int, int],
    uses: dict[int, Use],
    spans: _Spans,
    locks: dict[int, int],
) -> tuple[list[_Thread], int]:
    """The threads of one run of the region, and in how many cycles a lock goes to the next."""
    begin, end = time[spans[:, 2]].tolist(), time[spans[:, 3]].tolist()
    kinds, owners = spans[:, 0].tolist(), spans[:, 1].tolist()
    spins, released, met = [], [], dict[int, int]()
    for kind, a, b in zip(kinds, begin, end, strict=True):
        if kind == AT_BARRIER:
            met[b] = max(met.get(b, a), a)
        elif graph.kinds[kind].lock:
            spins.append((a, b))
        elif graph.kinds[kind].section:
            released.append(b)
    asking = min((b - a for a, b in spins), default=0)
    released.sort()
    handed = [
        b - asking - released[bisect_right(released, b) - 1]
        for a, b in spins
        if b - a > asking and bisect_right(released, b)
    ]
    over = min((b - a for b, a in met.items()), default=0)
    found: dict[int, list[tuple[int, int, int, int]]] = {}
    whole: dict[int, tuple[int, int]] = {}
    held = [locks.get(event, BARRIER) for event in spans[:, 2].tolist()]
    for kind, owner, a, b, lock in zip(kinds, owners, begin, end, held, strict=True):
        if kind == owner:
            whole[owner] = a, b
        else:
            found.setdefault(owner, []).append((a, b, kind, lock))
    threads = [
        _thread(graph, loops, around, uses, whole[n], sorted(found.get(n, ())), asking, over)
        for n in sorted(whole, key=whole.__getitem__)
    ]
    return threads, max(min(handed, default=0), 0)


def _thread(
    graph: ThreadGraph,
    loops: dict[int, Loop],
    around: dict[int, int],
    uses: dict[int, Use],
    whole: tuple[int, int],
    spans: list[tuple[int, int, int, int]],
    asking: int,
    over: int,
) -> _Thread:
    """One thread, given its spans by their begins: begin, end, kind, lock of a section."""
    waits = [(whole[0], whole[0])]  # disjoint, by time
    for a, b, kind, _ in spans:
        first, last = a, a
        if kind == AT_BARRIER:
            last = max(b - over, a)
        elif graph.kinds[kind].lock:
            first, last = a, max(b - asking, a)
        first = max(first, waits[-1][1])
        if last > first:
            waits.append((first, last))
    starts = [a for a, _ in waits]
    lost = np.concatenate(([0], np.cumsum([b - a for a, b in waits]))).tolist()

    def work(moment: int) -> float:
        """The work done until then."""
        number = bisect_right(starts, moment) - 1
        waited = lost[number] + min(moment, waits[number][1]) - waits[number][0]
        return float(moment - whole[0] - waited)

    sections = {
        a: (b, lock)
        for a, b, kind, lock in spans
        if kind != AT_BARRIER and graph.kinds[kind].section
    }
    places: list[Place] = []
    executions: list[_Execution] = []
    many = max(1, sum((loops[n].iterations or 0) for n in uses) // _VISITS)
    for a, b, kind, _ in spans:
        if kind == AT_BARRIER:
            places.append(Place(work(a)))
        elif graph.kinds[kind].lock:
            if b in sections:
                released, lock = sections[b]
                places.append(Place(work(a), lock, work(released) - work(a)))
        elif (loop := graph.kinds[kind].loop) >= 0:
            if loop in uses:
                used = max(work(b) - uses[loop].drain, work(a))
                places += _visits(loop, work(a), used, uses[loop].period * many)
            if around[loop] == loop:
                executions.append(_Execution(loop, work(a), work(b)))
            elif around[loop] >= 0 and executions and loops[loop].parent == executions[-1].loop:
                executions[-1].inner.setdefault(loop, []).append(work(a))
    return _Thread(whole[0], whole[1], work(whole[1]), places, executions)


def _visits(loop: int, begin: float, end: float, each: float) -> list[Place]:
    """An execution of a loop as uses of what it shares, each about so long."""
    if begin == end:
        return []
    count = max(round((end - begin) / each), 1)
    each = (end - begin) / count
    return [Place(begin + n * each, holds=each, loop=loop) for n in range(count)]


def _locks(graph: ThreadGraph, spans: _Spans, sites: int) -> dict[int, int]:
    """The lock that each passage of a critical section has, by the event that begins it.

    The run says when a thread had a lock, not which. Sections that threads were in at once have
    different ones; a thread is taken to come to the places of locks in turn, where that agrees.
    """
    times = graph.time
    mine = [
        (int(times[a]), int(times[b]), owner, a)
        for kind, owner, a, b in spans.tolist()
        if kind not in (AT_BARRIER, owner) and graph.kinds[kind].section
    ]
    mine.sort()
    turn: dict[int, int] = {}
    guess: list[int] = []
    for _, _, owner, _ in mine:
        guess.append(turn.get(owner, 0) % max(sites, 1))
        turn[owner] = turn.get(owner, 0) + 1
    together = _overlapping(mine, guess)
    if together is None:
        guess = _coloured(mine)
        together = _overlapping(mine, guess) or set()
    # Places that no two threads were at in one cycle may be of one lock.
    alike: list[list[int]] = []
    for lock in sorted(set(guess)):
        apart = {other for pair in together if lock in pair for other in pair}
        home = next((found for found in alike if not apart.intersection(found)), None)
        if home is None:
            alike.append([lock])
        else:
            home.append(lock)
    same = {lock: found[0] for found in alike for lock in found}
    return {event: same[lock] for (*_, event), lock in zip(mine, guess, strict=True)}


def _overlapping(
    mine: Sequence[tuple[int, int, int, int]], locks: Sequence[int]
) -> set[tuple[int, int]] | None:
    """The pairs of locks held at once; None if one is held twice at once. By begins."""
    until: dict[int, int] = {}
    found: set[tuple[int, int]] = set()
    for (begin, end, *_), lock in zip(mine, locks, strict=True):
        if until.get(lock, begin) > begin:
            return None
        found |= {
            (min(lock, other), max(lock, other))
            for other, last in until.items()
            if other != lock and last > begin
        }
        until[lock] = end
    return found


def _coloured(mine: Sequence[tuple[int, int, int, int]]) -> list[int]:
    """As few locks as can be of which none is held twice at once. By begins."""
    until: list[int] = []
    found = []
    for begin, end, *_ in mine:
        lock = next((n for n, last in enumerate(until) if last <= begin), len(until))
        until[lock:] = [end, *until[lock + 1 :]]
        found.append(lock)
    return found


# Another team


class _Distributed:
    """The iterations of a loop that the team divides, of one execution, for teams of any number."""

    def __init__(
        self,
        loop: Loop,
        period: float,
        threads: Sequence[_Thread],
        mine: Sequence[_Execution],
    ) -> None:
        """Cut each thread's execution into iterations.

        Args:
            loop: the loop.
            period: cycles from one of its iterations to the next.
            threads: the run's, in the order in which they start.
            mine: their executions.
        """
        self._cyclic = loop.cyclic
        before = len(mine)
        total = round((loop.iterations or 0) * before / max(loop.executions or 0, 1))
        counts = [total // before + (n < total % before) for n in range(before)]
        inside = [
            [one.inner.get(inner, []) for one in mine]
            for inner in sorted({inner for one in mine for inner in one.inner})
        ]
        none: list[list[float]] = [[] for _ in mine]
        best = max((found for found in inside if _fits(found, counts)), key=_number, default=none)
        if 2 * _number(best) > total:
            for one, begins, count in zip(mine, best, counts, strict=True):
                # Those that do not come to the inner loop are taken to be the first ones.
                one.begins = [one.begin] * (count - len(begins)) + begins
        else:
            _cut_evenly(period, mine, counts)
        heads: list[Piece] = []
        bounds: list[list[float]] = []
        for thread, one in zip(threads, mine, strict=True):
            bounds.append([*one.begins, one.end])
            heads.append(thread.piece(one.begin, bounds[-1][0]))
        tails = [cut[-1] - cut[-2] for cut in bounds if len(cut) > 1]
        tail = sum(tails) / len(tails) if tails else 0.0
        gaps = sum(max(count - 1, 0) for count in counts)
        between = sum(one.begins[-1] - one.begins[0] for one in mine if one.begins)
        gap = between / gaps if gaps else min(period, tail)
        # An iteration lasts so much longer than until the next one begins.
        self._drains = tail - gap
        order, final = _order(tuple(counts), loop.cyclic)
        works = [bounds[n][i + 1] - bounds[n][i] for n, i in order]
        # Of all iterations in order: the cycles of each with others behind it in its new thread,
        # and as the last there.
        self._followed = [
            max(work - self._drains, 0.0) if at_end else work
            for work, at_end in zip(works, final, strict=True)
        ]
        self._at_end = [
            work if at_end else max(work + self._drains, 0.0)
            for work, at_end in zip(works, final, strict=True)
        ]
        self._places = _places_of(order, threads, bounds)
        self._busy = [head for head, count in zip(heads, counts, strict=True) if count]
        self._empty = [head for head, count in zip(heads, counts, strict=True) if not count] or [
            head.resized(head.work + self._drains) for head in self._busy
        ]

    def of(self, thread: int, team: int) -> list[Piece]:
        """The pieces of a thread of a team; iterations without places in them are one together."""
        total = len(self._followed)
        if self._cyclic:
            mine = slice(thread, total, team)
        else:
            start = thread * (total // team) + min(thread, total % team)
            mine = slice(start, start + total // team + (thread < total % team))
        lengths = self._followed[mine]
        if not lengths:
            return self._empty[thread:][:1] or self._empty[-1:]
        lengths[-1] = self._at_end[mine][-1]
        found = self._busy[thread:][:1] or self._busy[-1:]
        if not self._places:
            return [*found, Piece(sum(lengths))]
        alone = 0.0
        for length, (places, first, last, begin) in zip(lengths, self._places[mine], strict=True):
            if first == last:
                alone += length
            else:
                found += [Piece(alone), Piece(length, places, first, last, begin, length)]
                alone = 0.0
        return [*found, Piece(alone)]


@lru_cache(maxsize=16)
def _order(counts: tuple[int, ...], cyclic: bool) -> tuple[list[tuple[int, int]], list[bool]]:
    """The thread and number of each iteration, in order, and whether it is its thread's last one.

    Args:
        counts: iterations of each thread.
        cyclic: threads have one iteration each in turn.
    """
    order = [(n, i) for n, count in enumerate(counts) for i in range(count)]
    if cyclic:
        order.sort(key=itemgetter(1))
    return order, [i == counts[n] - 1 for n, i in order]


def _places_of(
    order: Sequence[tuple[int, int]], threads: Sequence[_Thread], bounds: Sequence[list[float]]
) -> list[tuple[list[Place], int, int, float]]:
    """The places in each iteration: its thread's, the first, the one behind them, the work before.

    Args:
        order: thread and number of each iteration.
        threads: the threads.
        bounds: of each thread, the work before its iterations, and after the last.

    Returns:
        Nothing if none has any.
    """
    if not any(
        bisect_left(thread.moments, cut[0]) < bisect_left(thread.moments, cut[-1])
        for thread, cut in zip(threads, bounds, strict=True)
    ):
        return []
    at = [
        [bisect_left(thread.moments, bound) for bound in cut]
        for thread, cut in zip(threads, bounds, strict=True)
    ]
    return [(threads[n].places, at[n][i], at[n][i + 1], bounds[n][i]) for n, i in order]


def _fits(found: Sequence[Sequence[float]], counts: Sequence[int]) -> bool:
    """Return whether no thread has more executions of an inner loop than iterations around it."""
    return all(len(begins) <= count for begins, count in zip(found, counts, strict=True))


def _number(found: Sequence[Sequence[float]]) -> int:
    return sum(map(len, found))


def _cut_evenly(period: float, mine: Sequence[_Execution], counts: Sequence[int]) -> None:
    """Begin iterations so that each takes as long as the others."""
    lengths: dict[int, list[float]] = {}
    for one, count in zip(mine, counts, strict=True):
        lengths.setdefault(count, []).append(one.end - one.begin)
    few, many = min(lengths), max(lengths)
    if few < many:
        more = float(np.mean(lengths[many]) - np.mean(lengths[few]))
        period = max(more / (many - few), 0.0)
    for one, count in zip(mine, counts, strict=True):
        if count:
            each = min(period, (one.end - one.begin) / count)
            one.begins = [one.begin + n * each for n in range(count)]


class _Team:
    """The threads of a run of the region, and teams of other numbers with the same work."""

    def __init__(
        self,
        threads: Sequence[_Thread],
        loops: dict[int, Loop],
        uses: dict[int, Use],
        handing: int,
    ) -> None:
        self._threads = threads
        self._loops = loops
        self._uses = uses
        self._handing = handing
        self._asked: tuple[int, list[Steps]] = (0, [])  # the last team, and its steps
        self._alone = dict.fromkeys(uses, 1.0)  # loop → cycles of an iteration, of those of the run
        for _ in range(_ROUNDS if uses else 0):
            _, longer = self._run(len(threads), 0, 0)
            for loop, factor in longer.items():
                least = min((loops[loop].apart or 1) / uses[loop].period, 1.0)
                self._alone[loop] = min(max(self._alone[loop] / factor, least), 1.0)
        self._end = float(max(thread.end for thread in threads))
        self._before = self._run(len(threads), 0, 0)[0] if uses else self._end

    def end(self, team: int, later: int, apart: int) -> float:
        """The moment when the last thread ends.

        Args:
            team: of so many.
            later: after the one before it each thread starts so many cycles later than it did.
            apart: cycles from the start of a thread to the next one's, where the run has only one.
        """
        if team == len(self._threads) and not later:
            return self._end
        after, _ = self._run(team, later, apart)
        return self._end + after - self._before

    def _run(self, team: int, later: int, apart: int) -> tuple[float, dict[int, float]]:
        """The end of a team, and how much longer iterations of loops are than those of the run."""
        starts = [thread.start + n * later for n, thread in enumerate(self._threads[:team])]
        if len(self._threads) > 1:
            first, last = self._threads[0].start, self._threads[-1].start
            apart = (last - first) // (len(self._threads) - 1) + later
        while len(starts) < team:
            starts.append(starts[-1] + apart)
        if team != self._asked[0]:
            self._asked = team, [steps_of(self._pieces(n, team)) for n in range(team)]
        return run_team(self._asked[1], starts, self._handing, self._uses, self._alone)

    @cached_property
    def _distributed(self) -> dict[tuple[int, int], _Distributed]:
        """The executions of divided loops, by loop and number."""
        every = [_numbered(thread.executions) for thread in self._threads]
        loops = {loop for one in every for loop, _ in one}
        period = {loop: _period(self._loops[loop]) for loop in loops}
        found = {}
        for key in {key for one in every for key in one}:
            having = [n for n, one in enumerate(every) if key in one]
            threads = [self._threads[n] for n in having]
            mine = [every[n][key] for n in having]
            found[key] = _Distributed(self._loops[key[0]], period[key[0]], threads, mine)
        return found

    @cached_property
    def _outside(self) -> list[list[tuple[Piece, list[tuple[tuple[int, int], Piece]]]]]:
        """Each thread's work before executions of divided loops, and these by loop and number.

        Those that go on side by side are together, each with the work between the begin of the
        first and its own. The last work has none behind it.
        """
        found = []
        for thread in self._threads:
            mine = []
            at = begin = 0.0
            beside: list[tuple[tuple[int, int], Piece]] = []
            for key, one in _numbered(thread.executions).items():
                if not beside or one.begin >= at:
                    begin, beside = one.begin, []
                    mine.append((thread.piece(at, begin), beside))
                beside.append((key, thread.piece(begin, one.begin)))
                at = max(at, one.end)
            found.append([*mine, (thread.piece(at, thread.work), [])])
        return found

    def _pieces(self, number: int, team: int) -> list[Piece]:
        before = min(number, len(self._threads) - 1)
        if team == len(self._threads):
            thread = self._threads[before]
            return [thread.piece(0.0, thread.work)]
        found = []
        for piece, beside in self._outside[before]:
            found.append(piece)
            ways = [[lead, *self._distributed[key].of(number, team)] for key, lead in beside]
            # What is over sooner than another one is not waited for.
            found += max(ways, key=_work) if len(ways) > 1 else [p for way in ways for p in way]
        return found


def _work(pieces: Iterable[Piece]) -> float:
    return sum(piece.work for piece in pieces)


def _numbered(executions: Iterable[_Execution]) -> dict[tuple[int, int], _Execution]:
    """The executions by loop, and by their number among those of that loop."""
    found: dict[tuple[int, int], _Execution] = {}
    count: dict[int, int] = {}
    for one in executions:
        found[one.loop, count.get(one.loop, 0)] = one
        count[one.loop] = count.get(one.loop, 0) + 1
    return found
