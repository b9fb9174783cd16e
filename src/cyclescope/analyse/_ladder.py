"""The bounds ladder of a program: unbounded ≤ absolute ≤ measured, and what lies between.

Each rung is the one before it and its gaps, exactly. From rung to rung one thing is added that
the program or the hardware has; what the cycles rise by is that thing's. So the order in which
things are added is part of what a gap means, and it is always the one given here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from cyclescope.analyse._account import account
from cyclescope.model import Activity, Cause, Gap, Kind, Rung

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cyclescope.model import Profile

__all__ = [
    "NO_BOUNDS",
    "NO_STATEMENT_BOUNDS",
    "ThreadBounds",
    "bounds_ladder",
    "calyx_ladder",
    "network_ladder",
    "statement_bounds",
    "thread_ladder",
    "thread_time",
]

NO_BOUNDS = "no bounds"
"""The anomaly of a profile whose ladder begins at the hardware."""
NO_STATEMENT_BOUNDS = "no bounds of statements"
"""The anomaly of one whose function `cyclescope bounds` does not take."""

_ABOUT = {
    "one iteration": "the longest chain of operations in one iteration, its inputs at hand",
    "unbounded": "as many functional units as there are executions; only values are waited for",
    "absolute": "one functional unit for each operation, a new execution every cycle, in order",
    "recurrence": "waiting for what earlier iterations computed, or wrote to memory",
    "resource": "executions of one operation, one after the other",
    "late operands": "waiting for values that are late because a functional unit was taken",
    "imbalance": "the longest thread has more to do than the mean",
    "scheduled": "iterations of a loop at the best interval that the hardware allows",
    "iterations apart": "accesses that may meet, ports, and one iteration of a thread between two"
    " variable-latency stages",
    "control": "pipelines filled and drained, loops entered and left",
    "overlap": "work done side by side, or by simpler operations, that the bound counts in turn",
    "way to memory": "ports, arbiters and interfaces, with a memory that answers at once",
    "memory latency": "from a request to its answer, as far as no other work hides it",
    "memory bandwidth": "rows opened and closed, turnarounds, refreshes: banks that take nothing",
    "arbitration": "waiting longer for memory since other threads ask, too",
    "shared pipelines": "passing through pipelines in which other threads are",
    "lock": "waiting for a lock",
    "barrier": "waiting for others at a barrier: imbalance between two of them",
    "other threads": "other threads end later",
    "thread start": "the host starts one thread after the other",
    "channels": "values of its own that a process waits for although the estimate was told that it"
    " does not",
    "of statements": "a process a statement, arrays come from sources and go to sinks",
    "of operations": "absolute, above: a process an operation of the hardware, arrays in memory",
    "latencies": "this hardware's functional units, instead of the bounds' technology",
    "sources and sinks": "arrays are in memory, instead of coming and going an element a cycle",
    "reading and writing": "no stages of a process that read and write: a store takes a cycle",
    "operations": "each operation waits for its own operands, where a statement waits for all"
    " that it reads; a load takes a cycle",
    "threads": "the mean of the threads, instead of all that they do one after another",
    "groups": "groups that work one after another, beyond what the bound counts",
    "conditions": "control: groups that only compute the condition of an if or a while",
    "fsm": "control: a state register takes a step",
    "par done": "control: an arm of a par is noted as done",
    "both": "control: both in one cycle",
    "other": "control: neither",
}


class ThreadBounds(Protocol):
    """Bounds of a thread's part of a region, in cycles; each is at least the one before it.

    Attributes:
        chain: of one iteration, its inputs at hand.
        unbounded: with as many functional units as there are executions.
        absolute: with one functional unit for each operation.
        scheduled: the same, where iterations begin at the minimum interval of the hardware.
    """

    @property
    def chain(self) -> int: ...
    @property
    def unbounded(self) -> int: ...
    @property
    def absolute(self) -> int: ...
    @property
    def scheduled(self) -> int: ...


def thread_time(profile: Profile, thread: int | None = None) -> dict[str, int]:
    """Divide a thread's time in the run; the parts sum to its cycles.

    Keys: `start` (not started yet), `memory`, `lock`, `barrier` (waiting), `end` (others are still
    at it, or the region is being left), `work` (the rest: computing, its pipeline, its control).

    Args:
        profile: a run of threads.
        thread: its number; the one that ends last if not given.
    """
    from cyclescope.analyse.rules._facts import Facts
    from cyclescope.analyse.rules._threads import Threads

    threads = Threads(Facts(profile))
    ends = threads.last()
    last = max(range(threads.count), key=ends.__getitem__) if thread is None else thread
    start = min(threads.first()[last], profile.cycles)
    time = {
        "start": start,
        "memory": threads.stalled()[last],
        "lock": threads.units(Activity.WAITING, {Cause.LOCK.value})[last],
        "barrier": threads.units(Activity.WAITING, {Cause.BARRIER.value})[last],
        "end": profile.cycles - max(ends[last], start),
    }
    return time | {"work": profile.cycles - sum(time.values())}


def thread_ladder(
    bounds: Sequence[ThreadBounds],
    thread: int,
    alone: Mapping[str, Profile],
    together: Profile | None,
    measured: Profile,
) -> tuple[Rung, ...]:
    """The rungs of a program of hardware threads.

    Args:
        bounds: of each thread; none if they are not known.
        thread: the one whose way is followed: the one with the largest absolute bound.
        alone: runs in which it is started alone, with a memory that answers `at once`, with the
            memory's `latency`, and with `all` of its timing.
        together: a run of all threads that are started at once; None if there is but one.
        measured: the run.
    """
    rungs = _bounds(bounds, thread) if bounds else []
    count = sum(measured.frame_of(p).kind is Kind.THREAD for p in range(len(measured.call_paths)))
    who = f"thread {thread} alone, " if together is not None else ""
    rungs.append(
        Rung(
            f"{who}memory at once",
            alone["at once"].cycles,
            _above(rungs[-1].cycles, alone["at once"], thread) if rungs else (),
        )
    )
    _add(rungs, f"{who}memory's latency", alone["latency"].cycles, "memory latency")
    if together is None:
        _add(rungs, "one thread", measured.cycles, "memory bandwidth")
        return tuple(rungs)
    _add(rungs, f"thread {thread} alone", alone["all"].cycles, "memory bandwidth")
    before, after = (thread_time(p, thread) for p in (alone["all"], together))
    more = {key: after[key] - before[key] for key in before}
    gaps = {
        "shared pipelines": more["work"] + more["start"],
        "arbitration": more["memory"],
        "lock": more["lock"],
        "barrier": more["barrier"],
        "other threads": more["end"],
    }
    rungs.append(Rung(f"{count} threads at once", together.cycles, _gaps(gaps)))
    _add(rungs, f"{count} threads", measured.cycles, "thread start")
    return tuple(rungs)


def _bounds(bounds: Sequence[ThreadBounds], thread: int) -> list[Rung]:
    """The rungs below hardware: of a mean thread, of the longest one, of its schedule."""
    kinds = zip(*((s.chain, s.unbounded, s.absolute) for s in bounds), strict=True)
    chain, free, bound = (-(-sum(kind) // len(bounds)) for kind in kinds)
    rungs = [
        _rung("one iteration", chain, {}),
        _rung("unbounded", free, {"recurrence": free - chain}),
        _rung("absolute", bound, {"resource": bound - free}),
    ]
    longest = bounds[thread].absolute
    if longest != bound:
        rungs.append(_rung("longest thread", longest, {"imbalance": longest - bound}))
    scheduled = bounds[thread].scheduled
    if scheduled != longest:
        rungs.append(_rung("scheduled", scheduled, {"iterations apart": scheduled - longest}))
    return rungs


def _above(bound: int, run: Profile, thread: int) -> tuple[Gap, ...]:
    """From a thread's bound to its run with a memory that answers at once.

    Waiting that other work of the thread hides is no loss: it is taken off what was waited for.
    """
    time = thread_time(run, thread)
    waits = {"way to memory": time["memory"], "lock": time["lock"], "barrier": time["barrier"]}
    control = run.cycles - bound - sum(waits.values())
    for name in waits:
        hidden = min(waits[name], max(0, -control))
        waits[name] -= hidden
        control += hidden
    return _gaps({"control" if control >= 0 else "overlap": control, **waits})


def bounds_ladder(unbounded: int, absolute: int, resource: int) -> tuple[Rung, Rung]:
    """The rungs of a kernel by itself: both bounds, and what lies between.

    Args:
        unbounded: cycles.
        absolute: cycles.
        resource: of the cycles between, those in which a resource was waited for.
    """
    late = absolute - unbounded - resource
    return (
        _rung("unbounded", unbounded, {}),
        _rung("absolute", absolute, {"resource": resource, "late operands": late}),
    )


def network_ladder(bounds: Sequence[Rung], measured: Profile) -> tuple[Rung, ...]:
    """The rungs of a kernel that its process network computes, as hardware.

    Args:
        bounds: rungs of the kernel.
        measured: a run of the network.
    """
    late = measured.cycles - bounds[-1].cycles
    return (*bounds, Rung("as a network", measured.cycles, _gaps({"channels": late})))


def statement_bounds(
    absolute: int, units: int, memory: int, stages: int, threads: Sequence[ThreadBounds]
) -> tuple[Rung, Rung]:
    """The absolute bound of a function's statements, and what leads to that of its operations.

    Args:
        absolute: of the statements, as `cyclescope bounds` has it.
        units: the same with the latencies of the hardware's functional units.
        memory: and without sources and sinks.
        stages: and with no cycle to read, one to write.
        threads: bounds of each thread's operations.
    """
    whole = sum(thread.absolute for thread in threads)
    mean = -(-whole // len(threads))
    gaps = {
        "latencies": units - absolute,
        "sources and sinks": memory - units,
        "reading and writing": stages - memory,
        "operations": whole - stages,
        "threads": mean - whole,
    }
    return (
        Rung("absolute, of statements", absolute, (), _ABOUT["of statements"]),
        Rung("absolute, of operations", mean, _gaps(gaps), _ABOUT["of operations"]),
    )


def calyx_ladder(bounds: Sequence[Rung], measured: Profile) -> tuple[Rung, ...]:
    """The rungs of a kernel that a Calyx design computes.

    Args:
        bounds: rungs of the kernel, with the latencies of the design's units.
        measured: a run of the design.
    """
    whole = account(measured)
    conditions = _conditions(measured)
    work = whole.useful - conditions - bounds[-1].cycles
    gaps = {"groups" if work >= 0 else "overlap": work, "conditions": conditions}
    gaps |= {use.cause: cycles for use, cycles in whole.lost.items()}
    return (*bounds, Rung("the design", measured.cycles, _gaps(gaps)))


def _conditions(profile: Profile) -> int:
    """Cycles in which no group works but those that only compute a condition."""
    from cyclescope.analyse.rules._facts import Facts

    facts = Facts(profile)
    groups = {p for p in range(len(facts.parent)) if facts.of(p).kind is Kind.GROUP}
    tests = {p for p in groups if facts.is_condition(p)}
    found = 0
    for tree, cycles in enumerate(facts.tree_cycles.tolist()):
        working = groups.intersection(profile.forest[tree].tolist())
        if working and working <= tests:
            found += cycles
    return found


def _rung(name: str, cycles: int, gaps: Mapping[str, int]) -> Rung:
    return Rung(name, cycles, _gaps(gaps), _ABOUT.get(name, ""))


def _add(rungs: list[Rung], name: str, cycles: int, cause: str) -> None:
    rungs.append(Rung(name, cycles, _gaps({cause: cycles - rungs[-1].cycles})))


_LABELS = {
    "conditions": "control: conditions",
    "fsm": "control: steps of state registers",
    "par done": "control: arms of a par",
    "both": "control: steps and arms",
    "other": "control: other",
    "barrier": "imbalance at barriers",
    "other threads": "imbalance: other threads end later",
    "overlap": "less than the bound",
}


def _gaps(found: Mapping[str, int]) -> tuple[Gap, ...]:
    return tuple(
        Gap(_LABELS.get(name, name), cycles, _ABOUT[name])
        for name, cycles in found.items()
        if cycles
    )
