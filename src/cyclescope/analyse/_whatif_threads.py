"""A run of threads timed anew: with loops and critical sections of other lengths, another memory.

    L14 = 100               each execution of the loop takes 100 cycles
    critical = 20           each passage of a critical section does
    memory latency = 10     the memory brings a line of an open row in 10 cycles
    start cost = 0          the host starts all threads at once
    threads = 16            the team has so many

Lengths are put into the graph of the threads (`_thread_graph`), whose events then happen as soon as
what they wait for is over; locks go from thread to thread in the order of the run. With another
start cost or team they go to who asks first (`_other_team`).

Another latency makes each loop, section and thread longer or shorter by the reads that it waits for
one after another: those of one stage are under way together, and so are those of several stages but
for the ones that an iteration must have left before the next begins (`Loop.serial`). No iteration
begins sooner after the one before it than the hardware lets it (`Loop.apart`). While the memory is
refreshed, reads wait, too: the more of them there are in a time, the more begin meanwhile.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from cyclescope.analyse._critical_threads import ways_of
from cyclescope.analyse._other_team import Teams, stages_take
from cyclescope.analyse._thread_graph import thread_graph
from cyclescope.errors import InputError
from cyclescope.model import Access, Cause, Kind, Lock, Loop

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cyclescope.analyse._activations import Key
    from cyclescope.analyse._longest import LongestWays
    from cyclescope.analyse._thread_graph import ThreadGraph
    from cyclescope.analyse._whatif import OtherLength
    from cyclescope.model import Ints, Profile

__all__ = [
    "LATENCY",
    "OPTIONS",
    "START_COST",
    "THREADS",
    "memory_latency",
    "own_lengths",
    "thread_totals",
    "totals_alone",
]

LATENCY = "memory latency"
START_COST = "start cost"
THREADS = "threads"
OPTIONS = (LATENCY, START_COST, THREADS)
"""What can be changed besides lengths."""

_OF_TEAMS = (THREADS, START_COST)

_ASKING = 5  # cycles from a read's stage to the memory and back, besides the memory's own
_CASES = 64  # lengths that are tried together
_ROUNDS = 8  # in which a period and what is lost to refreshes agree


def thread_totals(
    profile: Profile, changes: Sequence[OtherLength], lengths: Sequence[int]
) -> tuple[int, ...]:
    """The cycles of the run with some changes, for each length of the one that has several.

    Raises:
        InputError: a change cannot be foretold, or it does not say exactly when threads waited for
            each other.
    """
    graph, ways = thread_graph(profile), ways_of(profile)
    of_teams = [change for change in changes if change.option in _OF_TEAMS]
    others = [change for change in changes if change not in of_teams]
    if of_teams:
        totals = _of_teams(profile, graph, of_teams, others, lengths)
    else:
        cases = (ways.sums(_lags(profile, graph, others, length)) for length in lengths)
        totals = _last(ways, cases)
    least = _least(profile)
    return tuple(max(total, least) for total in totals)


def totals_alone(
    profile: Profile, changes: Sequence[tuple[OtherLength, Sequence[int]]]
) -> list[tuple[int, ...]]:
    """The cycles of the run with each change alone, for each of its lengths.

    They are those of `thread_totals`, but all of them are timed together, which costs less. A
    change that cannot be foretold has none.
    """
    graph, ways, least = thread_graph(profile), ways_of(profile), _least(profile)
    found: list[tuple[int, ...]] = [()] * len(changes)
    cases: list[Ints] = []
    numbers: list[int] = []
    for number, (change, lengths) in enumerate(changes):
        try:
            if change.option in _OF_TEAMS:
                found[number] = thread_totals(profile, [change], lengths)
            else:
                mine = (_lags(profile, graph, [change], length) for length in lengths)
                cases += [ways.sums(lag) for lag in mine]
                numbers += [number] * len(lengths)
        except InputError:
            continue
    for number, total in zip(numbers, _last(ways, iter(cases)), strict=True):
        found[number] += (max(total, least),)
    return found


def _last(ways: LongestWays, cases: Iterator[Ints]) -> list[int]:
    """The cycles of the run with each of some lengths of its ways."""
    totals: list[int] = []
    while some := list(islice(cases, _CASES)):
        totals += ways.last(np.stack(some, axis=1)).tolist()
    return totals


def _of_teams(
    profile: Profile,
    graph: ThreadGraph,
    of_teams: Sequence[OtherLength],
    others: Sequence[OtherLength],
    lengths: Sequence[int],
) -> list[int]:
    """The cycles of the run with other teams or hosts, for each length."""
    options = profile.meta.options
    now = {option: int(options[option]) for option in (THREADS, START_COST)}
    varies = any(change.is_curve for change in others)
    teams, totals = None, list[int]()
    for length in lengths:
        if not others:
            teams = profile.once(_teams)
        elif teams is None or varies:
            teams = Teams(profile, graph, graph.times(_lags(profile, graph, others, length)))
        wanted = now | {change.option: change.at(length) for change in of_teams}
        totals.append(teams.cycles(wanted[THREADS], wanted[START_COST]))
    return totals


def _teams(profile: Profile) -> Teams:
    """The run with other teams, all else as it was."""
    graph = thread_graph(profile)
    return Teams(profile, graph, graph.time)


def _least(profile: Profile) -> int:
    """The cycles in which the pipeline of the busiest loop, which all threads share, gets through.

    It begins an iteration in a cycle; each execution has one more, found to be none.
    """
    loops = (site for site in profile.sites if isinstance(site, Loop))
    busiest = max(((s.iterations or 0) + (s.executions or 0) for s in loops), default=0)
    return min(busiest, profile.cycles)


def _lags(
    profile: Profile, graph: ThreadGraph, changes: Sequence[OtherLength], length: int
) -> Ints:
    """The cycles of each edge with the changes made."""
    lag = graph.lag
    for change in changes:
        if change.option == LATENCY:
            lag = _with_latency(profile, graph, change.at(length) - memory_latency(profile))
    for change in changes:
        if not change.option:
            lag = _with_length(profile, graph, lag, change, change.at(length))
    return lag


def _with_length(
    profile: Profile, graph: ThreadGraph, lag: Ints, change: OtherLength, cycles: int
) -> Ints:
    """Each span of some frames of this length."""
    frames = {key[0]: key[1] for key in change.keys}
    threads = {key[1] for key in change.keys}
    mine = np.array([kind.key[0] in frames and kind.key[1] in threads for kind in graph.kinds])
    of_edge = mine[graph.kind]
    if (
        not (of_edge & (graph.whole == 1)).any()
        or (of_edge & (graph.ends == 1) & (graph.whole == 0)).any()
    ):
        name = profile.catalog[next(iter(frames))].name
        raise InputError(
            f"{change.name}: only loops without others inside, and critical sections, have a length"
            f" of their own; {name} has none"
        )
    return np.where(of_edge & (graph.whole == 1), cycles, lag)


def own_lengths(profile: Profile) -> list[tuple[int, tuple[Key, ...]]]:
    """The frames whose spans have a length of their own, and each one's keys in all threads."""
    graph = thread_graph(profile)
    parts = np.zeros(len(graph.kinds), dtype=np.bool_)
    parts[graph.kind[(graph.ends == 1) & (graph.whole == 0)]] = True
    found: dict[int, list[Key]] = {}
    inside = {kind.key[0] for kind, other in zip(graph.kinds, parts.tolist(), strict=True) if other}
    for kind in graph.kinds:
        if (kind.loop >= 0 or kind.section) and kind.key[0] not in inside:
            found.setdefault(kind.key[0], []).append(kind.key)
    return [(frame, tuple(keys)) for frame, keys in found.items()]


def _from_begin(graph: ThreadGraph) -> np.ndarray[tuple[int], np.dtype[np.bool]]:
    """The edges from the begin of a run of the region."""
    run = int(graph.kind[-1])
    ends = np.repeat(np.arange(len(graph.time)), np.diff(graph.offset))
    begins = np.zeros(len(graph.time), dtype=np.bool_)
    begins[0] = True
    begins[ends[(graph.kind == run) & (graph.ends == 1)]] = True
    return np.asarray(begins[graph.source])


def _is_thread(profile: Profile, frame: int) -> bool:
    return profile.catalog[frame].kind is Kind.THREAD


def memory_latency(profile: Profile) -> int:
    """The cycles in which the memory of a run brings a line of an open row.

    Raises:
        InputError: it does not say which memory it had.
    """
    try:
        options = profile.meta.options
        return int(options["memory controller"]) + int(options["memory cas"])
    except (KeyError, ValueError):
        raise InputError(f"{profile.meta.title}: it does not say what memory it had") from None


@dataclass(frozen=True, slots=True)
class _Reads:
    """The reads of a loop, a section or the threads themselves.

    Attributes:
        occurs: iterations, passages or threads.
        serial: reads that one of these waits for one after the other, on average.
        beside: those of further stages, for which an execution waits once.
        executions: of the loop.
        besides: cycles of an execution besides its iterations.
        takes: cycles from one iteration to the next that these reads alone would make; 0 if that
            is not known.
        others: the same of everything else: another stage, the schedule.
        piped: the reads that `takes` is of, where they are others than those waited for one after
            the other.
    """

    occurs: int
    serial: float
    beside: float = 0.0
    executions: int = 0
    besides: int = 0
    takes: float = 0.0
    others: float = 0.0
    piped: float | None = None


def _with_latency(profile: Profile, graph: ThreadGraph, more: int) -> Ints:
    """Each edge's cycles with so much more latency of the memory."""
    options = profile.meta.options
    refresh = int(options["memory refresh"]), int(options["memory refresh_interval"])
    # What joins several of a kind has an edge from each of them: its cycles count once.
    once = np.zeros(len(graph.lag), dtype=np.bool_)
    event = np.repeat(np.arange(len(graph.time)), np.diff(graph.offset))
    once[np.unique(event * len(graph.kinds) + graph.kind, return_index=True)[1]] = True
    started = np.array([_is_thread(profile, kind.key[0]) for kind in graph.kinds])[graph.kind]
    mine = ~(started & _from_begin(graph))
    factor = np.ones(len(graph.kinds))
    for kinds, reads in _reads(profile, graph, more):
        of_edge = np.isin(graph.kind, kinds) & mine
        own = int(graph.lag[of_edge & once].sum())
        if own and reads.occurs:
            factor[kinds] = _factor(own, reads, more, refresh)
    scaled = np.where(mine, graph.lag * factor[graph.kind], graph.lag)
    # Rounded so that the sums along the edges stay as near as can be.
    whole = np.floor(np.cumsum(scaled) + 0.5).astype(np.int64)
    changed = np.diff(whole, prepend=0)
    return np.where(mine & (factor[graph.kind] != 1), np.maximum(changed, 0), graph.lag)


def _factor(own: int, reads: _Reads, more: int, refresh: tuple[int, int]) -> float:
    """The cycles that something takes with more latency, over those that it took."""
    besides = reads.besides * reads.executions
    if besides >= own:
        besides = 0
    period = (own - besides) / reads.occurs
    longer = more * reads.serial
    # The last iteration of an execution has none behind it that it keeps waiting.
    last = min(reads.executions, reads.occurs)
    follow = longer
    if reads.takes:
        later = longer if reads.piped is None else more * reads.piped
        follow = max(reads.takes + later, reads.others) - max(reads.takes, reads.others)
        if reads.piped is not None:
            follow += longer
    total = besides + more * reads.beside * reads.executions
    for count, change in ((last, longer), (reads.occurs - last, follow)):
        wanted = found = max(period * (1 - _lost(period, refresh)) + change, 0.0)
        for _ in range(_ROUNDS):
            found = wanted / (1 - _lost(found, refresh))
        total += count * found
    return max(total, 0.0) / own


def _lost(period: float, refresh: tuple[int, int]) -> float:
    """The part of the time that reads, one in each period, wait for refreshes.

    Of those that begin while the memory is refreshed each waits until that is over.
    """
    length, interval = refresh
    if not interval or not length:
        return 0.0
    waits = length - period / 2 if period < length else length * length / (2 * period)
    return min(waits / interval, 0.9)


def _reads(profile: Profile, graph: ThreadGraph, more: int) -> list[tuple[list[int], _Reads]]:
    """The reads of each sort of span, with the kinds of it in all threads.

    Raises:
        InputError: it does not say how often loops read.
    """
    loops = {n: site for n, site in enumerate(profile.sites) if isinstance(site, Loop)}
    reading = {s.loop for s in profile.sites if isinstance(s, Access)} - {-1}
    if any(not loops[n].times for n in reading):
        raise InputError(
            f"{profile.meta.title}: it does not count how often loops read the memory; measure it"
            " anew, without --profile"
        )
    waited = {s.site: int(s.value.sum()) for s in profile.series if s.of_place}
    typical = memory_latency(profile) + _ASKING
    sections = [n for n, kind in enumerate(graph.kinds) if kind.section]
    threads = [n for n, kind in enumerate(graph.kinds) if _is_thread(profile, kind.key[0])]
    stages: dict[int, dict[tuple[int, int], float]] = {}  # loop or lock → stage → reads
    for number, site in enumerate(profile.sites):
        if not isinstance(site, Access) or (site.writes and not site.copies):
            continue
        held = profile.sites[site.lock] if site.lock >= 0 else None
        # A section's own reads are its; those of a loop inside it are the loop's.
        where = -2 if isinstance(held, Lock) and held.loop == site.loop else site.loop
        found = stages.setdefault(where, {})
        stage = site.lock if where == -2 else -1, site.stage
        found[stage] = max(found.get(stage, 0.0), waited.get(number, 0) / typical)
    result = []
    for where, counts in stages.items():
        if where == -2:
            occurs = sum(graph.kinds[n].times for n in sections)
            kinds, reads = sections, _Reads(occurs, sum(counts.values()) / max(occurs, 1))
        elif where == -1:
            shares = _shares(profile, [graph.kinds[n].key[0] for n in threads])
            times = [graph.kinds[n].times for n in threads]
            readers = sum(t for t, share in zip(times, shares, strict=True) if share)
            serial = sum(min(count, readers) for count in counts.values())
            for n, occurs, share in zip(threads, times, shares, strict=True):
                result.append(([n], _Reads(occurs, serial * share / max(occurs, 1))))
            continue
        else:
            continue
        result.append((kinds, reads))
    for number, loop in loops.items():
        if loop.reads:
            kinds = [n for n, kind in enumerate(graph.kinds) if kind.loop == number]
            alone = _alone_beside(profile, graph, number, typical, more)
            result.append((kinds, _reads_of_loop(loop, alone)))
    return result


def _shares(profile: Profile, threads: Sequence[int]) -> list[float]:
    """The part of all waits for the memory that each thread has, the threads by their frames."""
    waits = dict.fromkeys(threads, 0)
    for series in profile.series:
        if series.cause == Cause.MEMORY and series.path >= 0:
            thread = int(profile.call_paths.frame[series.path])
            if thread in waits:
                waits[thread] += int(series.value.sum())
    every = sum(waits.values())
    return [waits[n] / every if every else 1 / len(waits) for n in threads]


def _alone_beside(
    profile: Profile, graph: ThreadGraph, loop: int, latency: int, more: int
) -> dict[int, float]:
    """Stage of a loop with inner loops → the part of a change of latency that shows beside them."""
    found: dict[int, float] = {}
    for number, site in enumerate(profile.sites):
        if isinstance(site, Loop) and site.parent == loop:
            inner = [kind for kind in graph.kinds if kind.loop == number]
            if times := sum(kind.times for kind in inner):
                mean = sum(kind.cycles for kind in inner) / times
                # One that reads, too, becomes longer with the latency.
                alone = 0.0 if site.reads and mean > latency else _alone(latency, more, mean)
                found[site.stage] = min(found.get(site.stage, 1.0), alone)
    return found


def _alone(latency: int, more: int, hidden: float) -> float:
    """The part of a change of latency that shows beside something that takes so long."""
    if not more:
        return 0.0
    return (max(latency + more - hidden, 0.0) - max(latency - hidden, 0.0)) / more


def _reads_of_loop(loop: Loop, alone: dict[int, float]) -> _Reads:
    """The reads of a loop, given the part of their latency that shows in stages with inner loops.

    From one iteration to the next it takes as long as the slowest of its stages with what is waited
    for there, and as those that an iteration must have left before.
    """
    executions, occurs = loop.executions or 0, loop.iterations or 0
    if not occurs:
        return _Reads(0, 0.0)
    count = dict(zip(loop.stages, loop.times, strict=True))
    each = {s: min(count[s] / occurs, 1.0) * alone.get(s, 1.0) for s in loop.reads}
    chain = sum(each.get(stage, 0.0) for stage in loop.serial)
    # One iteration more is begun, and found to be none.
    besides = 0 if alone else (loop.apart or 1) + (loop.depth or 0)
    takes = stages_take(loop)
    if alone:
        # An iteration's inner loops are a span of their own; other stages are beside those.
        piped = [s for s in loop.reads if s not in loop.serial and s not in alone]
        mine = max((takes[s] for s in piped), default=0.0)
        others = max((takes[s] for s in loop.stages if s not in piped), default=0.0)
        most = max((each[s] for s in piped), default=0.0)
        beside = sum(each.values()) - chain
        return _Reads(occurs, chain, beside, executions, 0, mine, others, most)
    serial = max(chain, *each.values())
    mine = max(takes[stage] for stage in loop.reads)
    if chain and chain >= serial:
        mine = max(mine, sum(takes[stage] for stage in loop.serial))
    rest = max((takes[s] for s in loop.stages if s not in loop.reads), default=0.0)
    others = max(rest, float(loop.apart or 1))
    beside = sum(each.values()) - serial
    return _Reads(occurs, serial, beside, executions, besides, mine, others)
