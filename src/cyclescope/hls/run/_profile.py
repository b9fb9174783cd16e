"""A profile of a run in simulation: threads, their states, the loops they are in; counters.

Root `region`, under it a frame a thread, under it the thread's state (one in every cycle), under
that the loops in which the thread is, outside in. Counters: each thread's stalls by cause,
operations and bytes at its ports; for each place where threads wait the thread-cycles lost there.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from cyclescope.hls.microarch import BANKS, peaks_of
from cyclescope.hls.run._watch import waiting_gates
from cyclescope.hls.trace import (
    CAUSES,
    STATES,
    LoopCounts,
    Sites,
    cause_of,
    holding,
    loses,
    meaning_of,
    place_of,
    position_of,
    stalls,
    state_frame,
    thread_frame,
)
from cyclescope.model import (
    Activity,
    Cause,
    Frame,
    Kind,
    Loop,
    Meta,
    Profile,
    ProfileBuilder,
    Series,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from cyclescope.hls.ir import Graph
    from cyclescope.hls.microarch import Machine
    from cyclescope.model import Ints
    from cyclescope.sim import Capture

__all__ = ["counted", "profile_of"]

_THREAD_COUNTERS = (
    ("integers", "integer operations", "operations", "OP"),
    ("floats", "floating-point operations", "operations", "FLOP"),
    ("bytes_read", "bytes read", "bytes", "B"),
    ("bytes_written", "bytes written", "bytes", "B"),
    ("local_bytes", "local bytes", "local bytes", "B"),
    ("outstanding", "requests outstanding", "outstanding", "requests in flight x cycles"),
)


def profile_of(
    machine: Machine,
    capture: Capture,
    *,
    team: int,
    period: int,
    title: str,
    inputs: Mapping[str, str],
    options: Mapping[str, str],
    stop_reason: str = "",
    counts: Mapping[Graph, LoopCounts] | None = None,
) -> Profile:
    """A captured run as a profile.

    Args:
        machine: what ran.
        capture: with the signals of `captures`.
        team: threads that were started.
        period: cycles between two samples of the counters.
        title: for headings.
        inputs: name → SHA-256 of each input.
        options: that shaped the result.
        stop_reason: why the run ended before its end; empty if it did not.
        counts: what was counted of each loop, where this run is one of several of which sites tell.
    """
    builder = ProfileBuilder()
    region = machine.region
    name = region.name
    where = (position_of(region.where),)
    frame = Frame(Kind.CELL, name, name, positions=where, activity=Activity.IDLE)
    root = builder.path(-1, frame)
    columns = {}
    whole = -1
    for column, (instance, module) in enumerate(capture.instances):
        if module == "machine_watch":
            whole = column
        else:
            columns[int(instance.rpartition("thread")[2])] = column
    threads = [builder.path(root, thread_frame(t, name)) for t in range(team)]
    trees = _trees(machine, capture, builder, threads, [columns[t] for t in range(team)])
    starts = np.cumsum(capture.run_cycles) - capture.run_cycles
    for t in range(team):
        which = capture.states[:, columns[t]][capture.run_state]
        track, path = f"thread {t}", threads[t]
        for cause in CAUSES:
            signal = f"stalls_{cause.replace(' ', '_')}"
            totals = capture.values("thread_watch", signal).astype(np.int64)[which]
            series = _series(
                *(track, stalls(cause), "stall", "cycles", path, starts, totals, period),
                activity=meaning_of(cause),
                cause=cause.value,
            )
            if cause is Cause.BARRIER and period > 1:
                there = capture.values("thread_watch", "at_barrier")[which] != 0
                begin, end = _stays(starts, there, capture.cycles)
                series = series.with_values(begin, end, end - begin)
            builder.counter(series)
        for signal, label, metric, unit in _THREAD_COUNTERS:
            totals = capture.values("thread_watch", signal).astype(np.int64)[which]
            builder.counter(_series(track, label, metric, unit, path, starts, totals, period))
    which = capture.states[:, whole][capture.run_state]
    sites = Sites(machine.region, machine.pipelines, counts or counted(machine, capture))
    places: dict[str, Ints] = {}
    causes: dict[str, str] = {}
    for number, wait in enumerate(machine.waits):
        if loses(wait.node):
            label = place_of(wait.node)
            totals = capture.values("machine_watch", f"wait{number}").astype(np.int64)[which]
            places[label] = totals + places.get(label, 0)
            causes[label] = cause_of(wait.node).value
    for label, totals in places.items():
        builder.counter(
            _series(
                *(name, label, "stall", "thread cycles", root, starts, totals, period),
                cause=causes[label],
                site=sites.waits[label],
            )
        )
    for bank in range(BANKS):
        totals = capture.values("machine_watch", f"row_misses{bank}").astype(np.int64)[which]
        values = ("row misses", "row misses", "", -1, starts, totals, period)
        builder.counter(_series(f"bank {bank}", *values))
    totals = capture.values("machine_watch", "requests").astype(np.int64)[which]
    builder.counter(_series(name, "memory requests", "requests", "", root, starts, totals, period))
    meta = Meta(
        source="hls",
        title=title,
        complete=not stop_reason,
        stop_reason=stop_reason,
        inputs=dict(inputs),
        options=dict(options),
        peaks=peaks_of(machine.pipelines),
    )
    held = builder.frame(state_frame("critical", name)) if region.locks else -1
    every = list(holding(sites.every, held))
    for graph, number in sites.loops.items():
        loop = every[number]
        assert isinstance(loop, Loop)
        every[number] = replace(loop, frame=builder.frame(_loop_frame(graph, name)))
    return builder.build(meta, capture.run_cycles, trees, sites=every)


def counted(machine: Machine, capture: Capture) -> dict[Graph, LoopCounts]:
    """The counts of each loop, as shown at the end."""
    gates = waiting_gates(machine)
    loops = [(i, pipe.graph) for i, pipe in enumerate(machine.pipelines) if not pipe.root]
    if not len(capture.run_state):
        return {
            graph: LoopCounts(0, 0, {stage: (0, 0) for of, stage in gates if of is graph})
            for _, graph in loops
        }
    (whole,) = (
        column for column, (_, module) in enumerate(capture.instances) if module == "machine_watch"
    )
    last = capture.states[capture.run_state[-1], whole]

    def total(name: str) -> int:
        return int(capture.values("machine_watch", name)[last])

    return {
        graph: LoopCounts(
            total(f"entries{i}"),
            total(f"iterations{i}"),
            {
                stage: (total(f"arrivals{n}"), total(f"waited{n}"))
                for n, (of, stage) in enumerate(gates)
                if of is graph
            },
        )
        for i, graph in loops
    }


def _trees(
    machine: Machine,
    capture: Capture,
    builder: ProfileBuilder,
    threads: list[int],
    columns: list[int],
) -> Ints:
    """The tree of each run."""
    # Counters change the vectors too: only states and loops make trees.
    states, state = np.unique(capture.values("thread_watch", "state"), return_inverse=True)
    loops, inside = np.unique(capture.values("thread_watch", "loops"), return_inverse=True)
    kind = state.reshape(-1) * len(loops) + inside.reshape(-1)
    kinds = kind[capture.states[:, columns]]
    outer = _outer(machine)
    rows, number = np.unique(kinds, axis=0, return_inverse=True)
    first = np.full(len(rows), len(number), np.int64)
    np.minimum.at(first, number.reshape(-1)[capture.run_state], np.arange(len(capture.run_state)))
    paths: dict[tuple[int, int], list[int]] = {}
    tree = np.zeros(len(rows), np.int64)
    for row in np.argsort(first, kind="stable").tolist():
        active: list[int] = []
        for t, pair in enumerate(rows[row].tolist()):
            if (t, pair) not in paths:
                where = int(states[pair // len(loops)]), int(loops[pair % len(loops)])
                paths[t, pair] = _paths(machine, outer, builder, threads[t], *where)
            active += paths[t, pair]
        tree[row] = builder.tree(active)
    return np.asarray(tree[number.reshape(-1)[capture.run_state]], np.int64)


def _outer(machine: Machine) -> dict[Graph, Graph]:
    """Of each loop the graph that it is in."""
    return {n.body: p.graph for p in machine.pipelines for n in p.graph.nodes if n.body is not None}


def _paths(
    machine: Machine,
    outer: dict[Graph, Graph],
    builder: ProfileBuilder,
    thread: int,
    state: int,
    loops: int,
) -> list[int]:
    """The paths of a thread in a state and in loops, a bit each."""
    name = machine.region.name
    here = builder.path(thread, state_frame(STATES[state], name))
    found = {machine.region.root: here}
    if state:
        for number, pipe in enumerate(machine.pipelines[1:], 1):
            if loops >> number & 1 and outer[pipe.graph] in found:
                frame = _loop_frame(pipe.graph, name)
                found[pipe.graph] = builder.path(found[outer[pipe.graph]], frame)
    return list(found.values())


def _loop_frame(graph: Graph, region: str) -> Frame:
    return Frame(Kind.LOOP, graph.label, region, positions=(position_of(graph.where),))


def _stays(starts: Ints, there: NDArray[np.bool_], cycles: int) -> tuple[Ints, Ints]:
    """The begin and the end of each longest interval of runs in which something is so."""
    edges = np.diff(there.astype(np.int8), prepend=0, append=0)
    bounds = np.append(starts, cycles)
    return bounds[edges > 0], bounds[edges < 0]


def _series(
    track: str,
    name: str,
    metric: str,
    unit: str,
    path: int,
    starts: Ints,
    totals: Ints,
    period: int,
    **meaning: Any,
) -> Series:
    """The increments of a total between the moments at which it was shown."""
    change = np.flatnonzero(np.diff(totals, prepend=0))
    moments = starts[change]
    added = np.diff(totals[change], prepend=0)
    before = np.concatenate(([0], moments[:-1])) if len(moments) else moments
    # Samples in which nothing was added are not changes.
    begin = np.maximum(before, moments - 1 - (moments - 1) % period)
    return Series(
        track=track,
        name=name,
        metric=metric,
        unit=unit,
        path=path,
        start=begin,
        end=moments,
        value=added,
        **meaning,
    )
