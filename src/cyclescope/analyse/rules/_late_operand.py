"""A process whose resource is free and whose operand is not there yet (bounds).

In an absolute estimate a firing starts when its operands are there and its process's resource is
free. The edges of the network say who waited, for what, and who wrote it. No order of the same
firings ends before the resource with the most of them has taken them all: that is the floor.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cyclescope.analyse.rules._rule import Place, Rule
from cyclescope.model import Edge, Process

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cyclescope.analyse.rules._facts import Facts
    from cyclescope.model import Ints, Series

__all__ = ["RULE"]

_LEAST = 0.02  # of the run: waits below are how a pipeline fills and drains
_TOGETHER = 0.5  # of the shorter one's waiting lies in the other's: neither helps alone
_SHOWN = 3
_MOST_CYCLES = 50_000_000  # of which each process's waiting is looked at cycle by cycle


class _Late(NamedTuple):
    """A process that waited for operands.

    Attributes:
        site: its number.
        process: what it is.
        edges: those for which it waited, longest first.
        waiting: whether it waited, of each cycle; empty if its starts are not known.
    """

    site: int
    process: Process
    edges: tuple[Edge, ...]
    waiting: np.ndarray[tuple[int], np.dtype[np.bool_]]

    @property
    def cycles(self) -> int:
        return sum(edge.late for edge in self.edges)


def _find(facts: Facts) -> Iterable[Place]:
    options = facts.profile.meta.options
    if options.get("estimate") != "absolute":
        return
    most = _most(facts)
    spare = min(most, facts.profile.cycles - _unbounded(facts))
    groups = _together(_late(facts))
    found = [min(_lost(group), spare) for group in groups]
    # What several save one after the other is no more than there is.
    part = min(1.0, spare / sum(found)) if sum(found) else 0.0
    for group, saving in zip(groups, found, strict=True):
        if saving > 0:
            yield _place(facts, group, int(saving * part), most)


def _most(facts: Facts) -> int:
    """Cycles beyond those in which each resource takes its firings, in whatever order."""
    floor = max(
        ((site.firings - 1) * site.interval + site.latency
         for site in facts.profile.sites if isinstance(site, Process) and site.firings),
        default=0,
    )  # fmt: skip
    return max(facts.profile.cycles - floor, 0)


def _unbounded(facts: Facts) -> int:
    """The other estimate: as long as results take to come about, with any resources."""
    found = facts.profile.meta.options.get("unbounded", "")
    return int(found) if found.isascii() and found.isdigit() else 0


def _late(facts: Facts) -> list[_Late]:
    """The processes that waited for operands, those that fill their resource most first."""
    sites = facts.profile.sites
    edges: dict[int, list[Edge]] = defaultdict(list)
    for site in sites:
        if isinstance(site, Edge):
            edges[site.consumer].append(site)
    starts = {s.path: s for s in facts.profile.series if s.metric == "reads"}
    found = []
    for number, process in enumerate(sites):
        if not isinstance(process, Process) or process.port:
            continue
        own = sorted(edges[number], key=lambda edge: -edge.late)
        total = sum(edge.late for edge in own)
        if total >= max(2, _LEAST * facts.profile.cycles):
            waiting = _waiting(facts, process, starts.get(process.path))
            found.append(_Late(number, process, tuple(own), waiting))
    return sorted(found, key=lambda late: -late.process.firings * late.process.interval)


def _waiting(
    facts: Facts, process: Process, series: Series | None
) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Cycles up to the last start in which a process could have started a firing and did not."""
    cycles = facts.profile.cycles
    read = facts.profile.meta.options.get("read latency", "1")
    if series is None or read != "1" or cycles > _MOST_CYCLES:
        return np.zeros(0, dtype=np.bool_)
    start = _starts(series)
    free = np.concatenate(([0], start[:-1] + process.interval))
    edge = np.zeros(cycles + 1, dtype=np.int64)
    np.add.at(edge, free[free < start], 1)
    np.add.at(edge, start[free < start], -1)
    return np.cumsum(edge[:-1]) > 0


def _starts(series: Series) -> Ints:
    """The cycles in which firings start."""
    start, end, value = series.intervals
    which = np.repeat(np.arange(len(start)), np.where(value > 0, end - start, 0))
    first = np.searchsorted(which, which)
    return np.asarray(start[which] + np.arange(len(which)) - first, dtype=np.int64)


def _together(late: list[_Late]) -> list[list[_Late]]:
    """Processes that wait at the same time: ending one's waiting leaves the others'."""
    groups: list[list[_Late]] = []
    for one in late:
        near = [group for group in groups if any(_overlap(one, other) for other in group)]
        groups = [group for group in groups if group not in near]
        groups.append([*(member for group in near for member in group), one])
    return groups


def _overlap(one: _Late, other: _Late) -> bool:
    if not len(one.waiting) or not len(other.waiting):
        return True
    both = int((one.waiting & other.waiting).sum())
    return both >= _TOGETHER * max(1, min(int(one.waiting.sum()), int(other.waiting.sum())))


def _lost(group: list[_Late]) -> int:
    """Cycles in which any of them waited."""
    if any(not len(late.waiting) for late in group):
        return max(late.cycles for late in group)
    return int(np.logical_or.reduce([late.waiting for late in group]).sum())


def _place(facts: Facts, group: list[_Late], saving: int, at_most: int) -> Place:
    first = group[0]
    said = [_said(facts, late) for late in group[:_SHOWN]]
    if len(group) > _SHOWN:
        said.append(f"{len(group) - _SHOWN} more wait at the same time")
    if len(group) > 1:
        said.append("they wait at the same time: change them together")
    return Place.at(
        facts.of(first.process.path),
        evidence="; ".join(said),
        saving=min(saving, at_most),
        at_least=0,
        at_most=at_most,
        cycles=_example(first),
    )


def _said(facts: Facts, late: _Late) -> str:
    sites, process, edge = facts.profile.sites, late.process, late.edges[0]
    interval = "cycle" if process.interval == 1 else f"{process.interval} cycles"
    text = (
        f"{process.name}: {process.firings:,} firings could start every {interval}, and wait "
        f"{late.cycles:,} cycles for operands, {edge.late:,} of them ({edge.delayed:,} firings) "
        f"for {edge.operand}"
    )
    if edge.producer < 0:
        return text
    if edge.producer == late.site:
        return (
            f"{text}, its own result: interchange loops so that another element comes in "
            "between, or keep partial results"
        )
    producer = sites[edge.producer]
    if isinstance(producer, Process) and producer.port:
        return f"{text} from {producer.name}: read it in the order in which it comes"
    return (
        f"{text}, the result of {producer.label}: start the writer earlier: reorder or fuse the "
        "loops"
    )


def _example(late: _Late) -> tuple[int, int] | None:
    """The longest of its waits, and the start after it."""
    if not late.waiting.any():
        return None
    edge = np.diff(late.waiting.astype(np.int8), prepend=0, append=0)
    first, last = np.flatnonzero(edge == 1), np.flatnonzero(edge == -1)
    at = int(np.argmax(last - first))
    return int(first[at]), min(int(last[at]) + 1, len(late.waiting))


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
    most=_most,
)
