"""A process whose resource is free and whose operand is not there yet (bounds).

In an absolute estimate a firing starts when its operands are there and its process's resource is
free. The counter R$ tells when firings start; a start later than the resource allows waited for an
operand, which became ready in that very cycle: it was written by the process whose write (W$) ended
then.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cyclescope.analyse.rules._rule import Place, Rule

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cyclescope.analyse.rules._facts import Facts
    from cyclescope.model import Ints, Series

__all__ = ["RULE"]

_LEAST = 0.02  # of the run: waits below are how a pipeline fills and drains


class _Process(NamedTuple):
    path: int
    start: Ints  # cycle of each firing's start
    ready: Ints  # from when each firing's result can be read


def _find(facts: Facts) -> Iterable[Place]:
    meta = facts.profile.meta
    if meta.options.get("estimate") != "absolute" or meta.options.get("read latency", "1") != "1":
        return
    if meta.options.get("write latency", "1") != "1":
        return
    processes = list(_processes(facts))
    ends = [np.unique(process.ready) for process in processes]
    spare = _spare(facts)
    for process in processes:
        place = _place(facts, process, processes, ends, spare)
        if place is not None:
            yield place


def _processes(facts: Facts) -> Iterable[_Process]:
    by_path: dict[int, dict[str, Series]] = defaultdict(dict)
    for series in facts.profile.series:
        if series.name in ("R$", "W$"):
            by_path[series.path][series.name] = series
    for path, counters in by_path.items():
        if len(counters) == 2 and not facts.of(path).generated:
            yield _Process(path, _pulses(counters["R$"]), _pulses(counters["W$"]) + 1)


def _pulses(series: Series) -> Ints:
    """The cycles in which a counter of stages of one cycle is not 0, each as often as it says."""
    start, end, value = series.intervals
    each = np.repeat(value, end - start)
    cycle = np.repeat(start, end - start)
    first = np.repeat(np.cumsum(end - start) - (end - start), end - start)
    cycle = cycle + np.arange(len(cycle)) - first
    return np.repeat(cycle, each)


def _spare(facts: Facts) -> int:
    """Cycles between the absolute and the unbounded estimate."""
    options = facts.profile.meta.options
    try:
        return int(options["absolute"]) - int(options["unbounded"])
    except (KeyError, ValueError):
        return facts.profile.cycles


def _place(
    facts: Facts, process: _Process, processes: list[_Process], ends: list[Ints], spare: int
) -> Place | None:
    gaps = np.diff(process.start)
    if not len(gaps):
        return None
    interval = int(gaps.min())
    late = gaps - interval
    total = int(late.sum())
    if total < _LEAST * facts.profile.cycles or total < 2:
        return None
    frame = facts.of(process.path)
    waited = process.start[1:][late > 0]
    met = [
        (int(np.isin(waited, end).sum()), other) for end, other in zip(ends, processes, strict=True)
    ]
    most = max(count for count, _ in met)
    # What waits for itself repeats; of equally likely writers it is the one to look at first.
    writer = next(
        (other for count, other in met if count == most and other.path == process.path),
        next(other for count, other in met if count == most),
    )
    itself = writer.path == process.path
    whom = "its own result" if itself else f"the result of {facts.of(writer.path).name}"
    advice = (
        "interchange loops so that another element's turn comes in between, or keep partial "
        "results" if itself else "start the writer earlier: reorder or fuse the loops"
    )  # fmt: skip
    return Place.at(
        frame,
        evidence=(
            f"{len(process.start):,} firings could start every "
            f"{'cycle' if interval == 1 else f'{interval} cycles'}; {len(waited):,} are late, by "
            f"{total:,} cycles together; in {most:,} of these cases {whom} had just been "
            f"written: {advice}"
        ),
        saving=min(total, spare),
        at_least=0,
        at_most=total,
        cycles=_worst(process, late),
    )


def _worst(process: _Process, late: Ints) -> tuple[int, int]:
    at = int(np.argmax(late))
    return int(process.start[at]), int(process.start[at + 1]) + 1


RULE = Rule(
    name="late-operand",
    title="a free process that waits for an operand",
    reference="cprof, section 4; absolute against unbounded",
    change=(
        "Change the order of the computation so that operands are there when the process is free; "
        "the line says which one comes late."
    ),
    verify=(
        "Bound the changed kernel again (cyclescope bounds --verify) and compare with "
        "cyclescope diff."
    ),
    sources=frozenset({"bounds"}),
    find=_find,
    additive=False,
)
