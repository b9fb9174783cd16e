"""A run with other lengths, timed anew without simulation.

    main.queue/pop = 1          each activation takes one cycle
    main.queue/pop = 1..10      each of these lengths in turn: a curve

What happens stays as it was: the same branches, as many iterations. So the answer is exact as far
as lengths alone matter, and no answer to what other data would do.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np

from cyclescope.analyse._activation_graph import activation_graph
from cyclescope.analyse._critical_processes import has_processes
from cyclescope.analyse._firing_graph import firing_graph
from cyclescope.analyse._names import frames_by_name, hint
from cyclescope.analyse._side_by_side import side_by_side
from cyclescope.analyse._thread_graph import has_threads, keys_of_spans, size_of_spans
from cyclescope.analyse._whatif_processes import (
    figure_named,
    process_keys,
    process_totals,
    shorter,
)
from cyclescope.analyse._whatif_threads import OPTIONS, own_lengths, thread_totals
from cyclescope.errors import InputError
from cyclescope.model import Barrier, Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from cyclescope.analyse._activation_graph import ActivationGraph
    from cyclescope.analyse._activations import Key
    from cyclescope.analyse._whatif_processes import Figure
    from cyclescope.model import Frame, Profile

__all__ = [
    "Assumption",
    "OtherLength",
    "Retimed",
    "Step",
    "TriedLength",
    "assumptions",
    "best_changes",
    "definition_of",
    "parse_lengths",
    "retimed",
]

_FORM = re.compile(r"(.+?)\s*=\s*(\d[\d_,]{0,17})\s*(?:\.\.\s*(\d[\d_,]{0,17}))?", re.DOTALL)
_MOST = 10_000  # lengths of one curve


@dataclass(frozen=True, slots=True)
class OtherLength:
    """A change of length.

    Attributes:
        name: of what, as it was asked for.
        keys: the frames in instances that it is of: one, or all places of one definition.
        first, last: the lengths in turn, in cycles; equal for one.
        option: the option of the run that it is of, one of `OPTIONS`, in place of frames.
        figure: of a process network, which figure it is of.
        sites: the processes or channels whose figure it is, in place of frames.
    """

    name: str
    keys: tuple[Key, ...]
    first: int
    last: int
    option: str = ""
    figure: Figure | None = None
    sites: tuple[int, ...] = ()

    @property
    def is_curve(self) -> bool:
        """Return whether it has several lengths."""
        return self.first != self.last

    def at(self, length: int) -> int:
        """Its length where the one that has several has this one."""
        return length if self.is_curve else self.first


@dataclass(frozen=True, slots=True)
class Retimed:
    """A run with other lengths.

    Attributes:
        cycles: of the run as it was.
        lengths: the lengths of the change that has several; one 0 if none has.
        totals: cycles of the run with each of these; None: it comes to a standstill.
    """

    cycles: int
    lengths: tuple[int, ...]
    totals: tuple[int | None, ...]


class Assumption(StrEnum):
    """A condition under which a prediction is exact, where the run cannot tell whether it holds."""

    ALONE = "no arm waits at a barrier for another"
    ORDER = "the compiler does not order these groups anew"
    BRANCH = "no branch that never ran becomes longer"
    ONCE = "a group does not wait for a cell that begins again as it ends"


@dataclass(frozen=True, slots=True)
class TriedLength:
    """A simulated run with other lengths.

    Attributes:
        cycles: of the run; None: it came to a standstill.
        same_memories: it left what the measured run left.
        same_control: the compiler made the same blocks static as in the measured run; else it
            ordered the groups anew. None if that is not known.
    """

    cycles: int | None
    same_memories: bool = True
    same_control: bool | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """The best next change: the groups of one definition in an instance take a cycle each.

    Of a process network one figure of a process is the least that there is.

    Attributes:
        keys: the group, in all its places.
        times: its activations.
        total: cycles that they took.
        cycles: of the run with this change and all before it.
        figure: of a process, what is less.
        least: what it is then.
    """

    keys: tuple[Key, ...]
    times: int
    total: int
    cycles: int
    figure: Figure | None = None
    least: int = 1


def parse_lengths(profile: Profile, texts: Iterable[str]) -> tuple[OtherLength, ...]:
    """Read changes such as `main.queue/pop = 1`.

    Raises:
        InputError: one cannot be read, or nothing of that name ran, or several did.
    """
    keys: tuple[Key, ...] = ()
    if has_threads(profile):
        keys = tuple(keys_of_spans(profile))
    elif not has_processes(profile):
        keys = activation_graph(profile).keys
    known = frames_by_name(profile, keys, definitions=True)
    found = tuple(_length(profile, known, text) for text in texts)
    curves = [one.name for one in found if one.is_curve]
    if len(curves) > 1:
        raise InputError(f"{curves[1]}: one curve at a time; give one length to all but one")
    changed: dict[object, str] = {}
    for one in found:
        for key in one.keys or [(one.figure, site) for site in one.sites]:
            if key in changed:
                raise InputError(f"{one.name}: changed twice, as {changed[key]} too; give it once")
            changed[key] = one.name
    return found


def _length(profile: Profile, known: dict[str, list[Key]], text: str) -> OtherLength:
    shown = " ".join(text.split())
    form = _FORM.fullmatch(text.strip())
    if form is None:
        raise InputError(
            f"{shown}: not a length; write it like 'main.queue/pop = 1' or '… = 1..10'"
        )
    name = " ".join(form[1].split())
    first, last = (int(re.sub("[_,]", "", n)) for n in (form[2], form[3] or form[2]))
    if not first <= last < first + _MOST:
        raise InputError(f"{shown}: from the least to the most, at most {_MOST:,} lengths")
    if name in OPTIONS and has_threads(profile):
        return OtherLength(name, (), first, last, name)
    if has_processes(profile):
        figure, sites = figure_named(profile, name, first, last)
        return OtherLength(name, (), first, last, figure=figure, sites=sites)
    keys = known.get(name) or known.get("/".join(name.rsplit(".", 1))) or []
    title = profile.meta.title
    if not keys:
        raise InputError(f"{shown}: nothing called {name} ran in {title}; {hint(name, known)}")
    if len({definition_of(profile, key) for key in keys}) > 1:
        there = ", ".join(sorted(f"{i}/{profile.catalog[f].name}" for f, i in keys)[:5])
        raise InputError(
            f"{shown}: {len(keys)} frames of {title} are called {name}: {there} …; name one with"
            " its instance"
        )
    return OtherLength(name, tuple(keys), first, last)


def definition_of(profile: Profile, key: Key) -> Key | tuple[str, str]:
    """The text that runs: enables of one group in one instance are of one length.

    All threads run one text.
    """
    frame = profile.catalog[key[0]]
    if frame.kind in (Kind.LOOP, Kind.STATE):
        return str(frame.kind), frame.name
    alike = frame.kind is Kind.GROUP and frame.definition
    return (key[1], frame.definition) if alike else key


def retimed(profile: Profile, changes: Sequence[OtherLength]) -> Retimed:
    """Time a run anew.

    Raises:
        InputError: threads or processes run side by side, or nothing ran.
    """
    curve = next((one for one in changes if one.is_curve), None)
    lengths = tuple(range(curve.first, curve.last + 1)) if curve else (0,)
    if has_threads(profile):
        return Retimed(profile.cycles, lengths, thread_totals(profile, changes, lengths))
    if has_processes(profile):
        return Retimed(profile.cycles, lengths, process_totals(profile, changes, lengths))
    graph = activation_graph(profile)
    fixed = np.full((len(graph.keys), len(lengths)), -1, dtype=np.int64)
    number = {key: index for index, key in enumerate(graph.keys)}
    for one in changes:
        fixed[[number[key] for key in one.keys]] = lengths if one is curve else one.first
    totals = graph.lengths(fixed=fixed)[-1]
    return Retimed(graph.cycles, lengths, tuple(totals.tolist()))


def assumptions(profile: Profile, changes: Sequence[OtherLength]) -> tuple[Assumption, ...]:
    """The conditions under which `retimed` is exact for these changes.

    Arms of a `par` that meet at a barrier wait for each other there, and the activations do not say
    at which. Steps of a static `seq` that overlap were ordered by the compiler: how long they are
    and what each needs of the others decide when each begins. Where a group called a cell again
    without a pause until it ended, it may have waited for the last call or not. An `if` of fixed
    length is as long as its longer branch, and one that never ran may call the cell of a change.
    """
    if has_threads(profile) or has_processes(profile):
        return ()
    found = []
    if any(isinstance(site, Barrier) for site in profile.sites):
        found.append(Assumption.ALONE)
    changed = {key for one in changes for key in one.keys}
    graph = activation_graph(profile)
    if changed & _reordered(profile, graph):
        found.append(Assumption.ORDER)
    inside = [f"{instance}." for _, instance in changed]
    branching = [f"{i}." for frame, i in graph.keys if _fixed_if(profile.catalog[frame])]
    if any(one.startswith(i) and one != i for one in inside for i in branching):
        found.append(Assumption.BRANCH)
    if any(one.startswith(f"{cell}.") for one in inside for cell in graph.again):
        found.append(Assumption.ONCE)
    return tuple(found)


def _fixed_if(frame: Frame) -> bool:
    return frame.latency is not None and frame.detail in ("if", "static if")


def _reordered(profile: Profile, graph: ActivationGraph) -> set[Key]:
    """The frames inside steps of a `seq` that overlap."""
    seq = np.array([profile.catalog[f].detail.split()[-1:] == ["seq"] for f, _ in graph.keys])
    inside = np.zeros(len(graph), dtype=np.bool_)
    found = np.zeros(len(graph.keys), dtype=np.bool_)
    for level in reversed(graph.levels):
        owner = np.repeat(np.arange(len(level.own)), np.diff(level.phase_offset))
        several = (np.diff(level.member_offset) > 1)[level.phase]
        marked = inside[level.nodes][owner] | (seq[level.key[owner]] & several)
        of_phase = np.zeros(len(level.member_offset) - 1, dtype=np.bool_)
        of_phase[level.phase[marked]] = True
        inside[level.member[np.repeat(of_phase, np.diff(level.member_offset))]] = True
        found[level.key[inside[level.nodes]]] = True
    return {graph.keys[number] for number in np.flatnonzero(found)}


def best_changes(profile: Profile, most: int) -> tuple[Step, ...]:
    """Find the groups to shorten to one cycle, each the best next to those before it.

    Of threads the loops without others inside and the critical sections, in all threads at once;
    of a process network a process's latency or interval, to the least that hardware has.

    Args:
        profile: the run.
        most: at most so many; fewer if nothing else makes the run shorter.

    Raises:
        InputError: threads or processes run side by side, or nothing ran.
    """
    if has_threads(profile):
        return _best_of_threads(profile, most)
    if has_processes(profile):
        return _best_of_processes(profile, most)
    graph = activation_graph(profile)
    groups = _groups(profile, graph)
    times, total = graph.sizes()
    fixed = np.full((len(graph.keys), len(groups)), -1, dtype=np.int64)
    for case, members in enumerate(groups):
        fixed[members, case] = 1
    cycles, steps = graph.cycles, list[Step]()
    while len(steps) < most and len(groups):
        totals = graph.lengths(fixed=fixed)[-1]
        best = int(np.argmin(totals))
        if totals[best] >= cycles:
            break
        cycles = int(totals[best])
        members = groups[best]
        fixed[members] = 1
        steps.append(
            Step(
                tuple(graph.keys[m] for m in members),
                int(times[members].sum()),
                int(total[members].sum()),
                cycles,
            )
        )
    return tuple(steps)


def _best_of_threads(profile: Profile, most: int) -> tuple[Step, ...]:
    changes = [OtherLength(str(frame), keys, 1, 1) for frame, keys in own_lengths(profile)]
    cycles, steps, made = profile.cycles, list[Step](), list[OtherLength]()
    while len(steps) < most and changes:
        totals = [thread_totals(profile, [*made, one], (0,))[0] for one in changes]
        best = int(np.argmin(totals))
        if totals[best] >= cycles:
            break
        cycles = totals[best]
        made.append(changes.pop(best))
        times, total = size_of_spans(profile, made[-1].keys)
        # All threads together go by what they are threads of.
        whole = tuple(dict.fromkeys((f, i.rpartition(".")[0]) for f, i in made[-1].keys))
        steps.append(Step(whole, times, total, cycles))
    return tuple(steps)


def _best_of_processes(profile: Profile, most: int) -> tuple[Step, ...]:
    graph, keys = firing_graph(profile), process_keys(profile)
    changes = [
        OtherLength("", (keys[number],), least, least, figure=figure, sites=(number,))
        for number, figure, least in shorter(profile)
        if number in keys
    ]
    cycles, steps, made = profile.cycles, list[Step](), list[OtherLength]()
    while len(steps) < most and changes:
        found = side_by_side(lambda one: process_totals(profile, [*made, one], (0,))[0], changes)
        totals = [cycles if total is None else total for total in found]
        best = int(np.argmin(totals))
        if totals[best] >= cycles:
            break
        cycles = totals[best]
        made.append(changes.pop(best))
        site = graph.processes[made[-1].sites[0]]
        busy = site.firings * site.interval
        steps.append(
            Step(made[-1].keys, site.firings, busy, cycles, made[-1].figure, made[-1].first)
        )
    return tuple(steps)


def _groups(profile: Profile, graph: ActivationGraph) -> list[list[int]]:
    """The groups that call no cell, each with all its places, as indices into the graph's keys."""
    calling = {int(k) for level in graph.levels for k in level.key[np.diff(level.phase_offset) > 0]}
    found: dict[object, list[int]] = {}
    for index, key in enumerate(graph.keys):
        if profile.catalog[key[0]].kind is Kind.GROUP and index not in calling:
            found.setdefault(definition_of(profile, key), []).append(index)
    return list(found.values())
