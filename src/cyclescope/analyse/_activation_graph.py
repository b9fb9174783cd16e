"""A run as a graph of its activations: what must be over before what begins, each kept once.

An activation goes through *phases*. In a phase the activations that it calls run side by side (the
arms of a `par`, the cells that a group starts); the next phase begins when all of them are over.
What an activation takes besides its phases (updates of state registers, the join of a `par`) are
its *own* cycles. So its length is the sum of its own cycles and its phases', and a phase's length
is that of the member that ends last. With other lengths the run is timed anew without simulation,
as LightningSimV2 does for FIFO depths.

A block of fixed length takes as long whatever it does: a static `if` as long as its longer branch,
whichever it takes. So all activations of such a block are as long as the longest of them. Where a
block began again and its caller ended before it did, the caller did not wait for it: what is cut
off so is one of the block's own cycles. So is a cell's last activation if a group called the cell
again without a pause and ended with it (see `ActivationGraph.again`).

Phases are read off the profile's spans, not off names of operators: whatever calls several things
at once joins them. Equal activations (of one frame in one instance, with equal own cycles and equal
phases) are one node, as trees of a profile are: millions of activations are a few thousand nodes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from cyclescope.errors import InputError
from cyclescope.model import Kind, spans

if TYPE_CHECKING:
    from cyclescope.analyse._activations import Key
    from cyclescope.model import Ints, Profile, Spans

__all__ = ["ActivationGraph", "Level", "activation_graph", "phase_lengths", "phases_passed"]

Words = np.ndarray[tuple[int], np.dtype[np.uint64]]
Truths = np.ndarray[tuple[int], np.dtype[np.bool]]


@dataclass(frozen=True, slots=True)
class Level:
    """The nodes of one depth, a range of numbers; those that they call have smaller ones.

    Attributes:
        first: the first node's number.
        own: cycles of each node outside its phases, shape (nodes,).
        spare: of these, the last ones of a block of fixed length in which nothing below it runs any
            more, shape (nodes,): a static `if` that took its shorter branch.
        least: the length of a node with cycles to spare, which it has in any case; 0 of others, and
            where another activation of the same block says how long all of them are.
        alike: nodes with one number are activations of one block of fixed length, and as long as
            the longest of them; -1 of nodes that are alike to none, shape (nodes,).
        key: what each is an activation of, an index into `ActivationGraph.keys`, shape (nodes,).
        phase_offset: node i has the phases from `phase_offset[i]` to before `phase_offset[i + 1]`.
        phase: which of the level's distinct phases each is.
        times: how often the node goes through it.
        member_offset: distinct phase j has the members from `member_offset[j]` on.
        member: the node of each member.
        lead: cycles from the phase's begin to the member's.
    """

    first: int
    own: Ints
    spare: Ints
    least: Ints
    alike: Ints
    key: Ints
    phase_offset: Ints
    phase: Ints
    times: Ints
    member_offset: Ints
    member: Ints
    lead: Ints

    @property
    def nodes(self) -> slice:
        """The numbers of its nodes."""
        return slice(self.first, self.first + len(self.own))


@dataclass(frozen=True, slots=True)
class ActivationGraph:
    """A run's distinct activations. See the module.

    Attributes:
        keys: frames in instances that were active: (index into the catalog, dotted name).
        levels: deepest calls first; the last one has the root alone.
        cycles: of the run.
        again: the instances that a group called again without a pause, until it ended. Such a group
            mostly keeps the cell's `go` high while it waits for something else, and not for the
            last of these calls; so that one counts as cut off.
    """

    keys: tuple[Key, ...]
    levels: tuple[Level, ...]
    cycles: int
    again: frozenset[str] = frozenset()

    def __len__(self) -> int:
        """The number of nodes."""
        return sum(len(level.own) for level in self.levels)

    def lengths(self, more: Ints | None = None, *, fixed: Ints | None = None) -> Ints:
        """The length of every node, as it was or with other cycles.

        Args:
            more: cycles that each activation of a key takes more (fewer, if negative) than it did,
                shape (keys,) or (keys, cases).
            fixed: cycles that each activation of a key takes instead, -1 for as many as before;
                the same shape.

        Returns:
            Cycles, shape (nodes,) or (nodes, cases); the last row is the run.
        """
        given = more if more is not None else fixed
        cases = () if given is None else given.shape[1:]
        found = np.zeros((len(self), *cases), dtype=np.int64)
        for level in self.levels:
            column = (-1, *(1 for _ in cases))
            length = (level.own - level.spare).reshape(column)
            if len(level.phase):
                length = length + _sums(level, phase_lengths(level, found))
            length = np.maximum(length, level.least.reshape(column))
            together = level.alike >= 0
            if together.any():
                number = level.alike[together]
                longest = np.zeros((int(number.max()) + 1, *cases), dtype=np.int64)
                np.maximum.at(longest, number, length[together])
                length[together] = longest[number]
            if more is not None:
                length = length + more[level.key]
            if fixed is not None:
                length = np.where(fixed[level.key] >= 0, fixed[level.key], length)
            found[level.nodes] = length
        return found

    def occurrences(self) -> Ints:
        """Count the occurrences of each node in the run, shape (nodes,)."""
        count = np.zeros(len(self), dtype=np.int64)
        count[-1] = 1
        for level in reversed(self.levels):
            number = phases_passed(level, count)
            np.add.at(count, level.member, np.repeat(number, np.diff(level.member_offset)))
        return count

    def sizes(self) -> tuple[Ints, Ints]:
        """Activations of each key and the cycles of all of these, shape (keys,) each."""
        times, total = np.zeros((2, len(self.keys)), dtype=np.int64)
        occurs, lengths = self.occurrences(), self.lengths()
        for level in self.levels:
            np.add.at(times, level.key, occurs[level.nodes])
            np.add.at(total, level.key, occurs[level.nodes] * lengths[level.nodes])
        return times, total


def phase_lengths(level: Level, lengths: Ints) -> Ints:
    """The length of each distinct phase of a level, given those of all nodes below it."""
    lead = level.lead.reshape(-1, *(1 for _ in lengths.shape[1:]))
    ends = lengths[level.member] + lead
    return np.asarray(np.maximum.reduceat(ends, level.member_offset[:-1], axis=0))


def phases_passed(level: Level, count: Ints) -> Ints:
    """Count how often a level's distinct phases are gone through, given the times of each node."""
    number = np.zeros(len(level.member_offset) - 1, dtype=np.int64)
    caller = np.repeat(count[level.nodes], np.diff(level.phase_offset))
    np.add.at(number, level.phase, caller * level.times)
    return number


def _sums(level: Level, of_phase: Ints) -> Ints:
    """The sum over each node's phases, each as often as it goes through it."""
    times = level.times.reshape(-1, *(1 for _ in of_phase.shape[1:]))
    total = np.zeros((len(level.own), *of_phase.shape[1:]), dtype=np.int64)
    owner = np.repeat(np.arange(len(level.own)), np.diff(level.phase_offset))
    np.add.at(total, owner, of_phase[level.phase] * times)
    return total


def activation_graph(profile: Profile) -> ActivationGraph:
    """The graph of a run that has one root.

    Raises:
        InputError: it has several tracks, whose threads or processes share what they wait for,
            or no cycle.
    """
    if profile.tracks:
        raise InputError(
            f"{profile.meta.title}: what its threads or processes share is not in their"
            " activations; only Calyx programs and threads of the hls command can be timed anew"
        )
    if not profile.cycles:
        raise InputError(f"{profile.meta.title}: it has no cycle")
    if not len(profile.call_paths):
        raise InputError(f"{profile.meta.title}: nothing was active in it")
    graph: ActivationGraph = profile.once(_graph)
    return graph


def _graph(profile: Profile) -> ActivationGraph:
    parents = profile.call_paths.parent
    # A primitive is a part of its group, which takes the time.
    frames = [profile.frame_of(path) for path in range(len(parents))]
    timed = np.array([frame.kind is not Kind.PRIMITIVE for frame in frames])
    latency = np.array([f.latency or 0 if f.kind is Kind.CONTROL else 0 for f in frames])
    every = spans(profile, paths=np.flatnonzero(timed))
    keys: dict[Key, int] = {}
    key_of_path = np.array(
        [
            keys.setdefault((frame, profile.instances[path]), len(keys)) if timed[path] else -1
            for path, frame in enumerate(profile.call_paths.frame.tolist())
        ],
        dtype=np.int64,
    )
    depth = np.zeros(len(parents), dtype=np.int64)
    for path, parent in enumerate(parents.tolist()):
        depth[path] = depth[parent] + 1 if parent >= 0 else 0
    depths = depth[every.path]
    again = _again([frame.kind for frame in frames], parents, every)
    node = np.zeros(len(every), dtype=np.int64)
    wide = np.int64(profile.cycles + 1)
    levels: list[Level] = []
    called = np.empty(0, dtype=np.int64)
    for deep in range(int(depth[timed].max()), -1, -1):
        mine = np.flatnonzero(depths == deep)
        # No two activations of a path overlap: the caller is its last one that had begun.
        at = every.path[mine] * wide + every.start[mine]
        from_ = parents[every.path[called]] * wide + every.start[called]
        owner = np.searchsorted(at, from_, side="right") - 1
        length = every.end[mine] - every.start[mine]
        fixed = latency[every.path[mine]]
        # What is left after as many whole activations of a block as there are is cut off.
        whole = length - np.where(fixed > 0, length % np.maximum(fixed, 1), 0)
        whole = np.where(whole > 0, whole, length)
        waited = every.start[called] < (every.start[mine] + whole)[owner]
        waited &= ~again[called]
        called, owner = called[waited], owner[waited]
        order = np.lexsort((every.start[called], owner))
        called, owner = called[order], owner[order]
        phases = _phases(owner, every.start[called], every.end[called], node[called], wide)
        first = levels[-1].nodes.stop if levels else 0
        over = every.start[mine].copy()
        np.maximum.at(over, owner, every.end[called])
        spare = np.where((length == fixed) & (fixed > 0), every.end[mine] - over, 0)
        level, which = _level(first, length, spare, key_of_path[every.path[mine]], fixed, phases)
        node[mine] = first + which
        levels.append(level)
        called = mine
    names = frozenset(profile.instances[path] for path in every.path[again].tolist())
    return ActivationGraph(tuple(keys), tuple(levels), profile.cycles, names)


def _again(kinds: list[Kind | str], parents: Ints, every: Spans) -> Truths:
    """The last activations of what cells run that a group called again until it ended."""
    found = np.zeros(len(every), dtype=np.bool_)
    rows: dict[int, Ints] = {}

    def spans_of(path: int) -> Ints:
        if path not in rows:
            mine = np.flatnonzero(every.path == path)
            rows[path] = mine[np.argsort(every.start[mine])]
        return rows[path]

    for path, cell in enumerate(parents.tolist()):
        group = int(parents[cell]) if cell >= 0 else -1
        if group < 0 or (kinds[cell], kinds[group]) != (Kind.CELL, Kind.GROUP):
            continue
        mine = spans_of(path)
        last = mine[1:][every.start[mine[1:]] == every.end[mine[:-1]]]
        for caller in (cell, group):
            around = spans_of(caller)
            at = np.searchsorted(every.start[around], every.start[last], side="right") - 1
            # Begun in the call's first cycle it is none that begins again.
            inside = every.start[around[at]] < every.start[last]
            last = last[inside & (every.end[around[at]] == every.end[last])]
        found[last] = True
    return found


@dataclass(frozen=True, slots=True)
class _Phases:
    """The phases of some activations, one after another; equal ones have one number.

    Attributes:
        owner: whose each is, ascending.
        length: cycles.
        which: its number.
        member_offset, member, lead: of each number, as in `Level`.
    """

    owner: Ints
    length: Ints
    which: Ints
    member_offset: Ints
    member: Ints
    lead: Ints


def _phases(owner: Ints, start: Ints, end: Ints, node: Ints, wide: np.int64) -> _Phases:
    """The phases that calls make, given in the order of owner and start."""
    if not len(owner):
        nothing = np.empty(0, dtype=np.int64)
        return _Phases(nothing, nothing, nothing, np.zeros(1, dtype=np.int64), nothing, nothing)
    # One axis for all owners: each has a segment of its own, so that one sweep does for all.
    reach = np.maximum.accumulate(owner * wide + end)
    begins = np.append(True, owner[1:] * wide + start[1:] >= reach[:-1])
    first = np.flatnonzero(begins)
    after = np.append(first[1:], len(owner))
    lead = start - start[first][np.cumsum(begins) - 1]
    length = reach[after - 1] - owner[first] * wide - start[first]
    word = np.add.reduceat(_mixed(_mixed(lead) ^ node.astype(np.uint64)), first)
    where, which = _distinct(word, length, after - first)
    member = _ranges(first[where], after[where])
    offset = np.concatenate(([0], np.cumsum((after - first)[where])))
    return _Phases(owner[first], length, which, offset, node[member], lead[member])


def _level(
    first: int, length: Ints, spare: Ints, key: Ints, fixed: Ints, phases: _Phases
) -> tuple[Level, Ints]:
    """The distinct ones of some activations of one depth, and which of them each is.

    An activation is told by what it is of, its own cycles, those to spare, and its phases in any
    order: they sum.
    """
    own = length.copy()
    np.subtract.at(own, phases.owner, phases.length)
    word = _mixed(_mixed(_mixed(own) ^ key.astype(np.uint64)) ^ spare.astype(np.uint64))
    np.add.at(word, phases.owner, _mixed(~phases.which))
    where, which = _distinct(word, length, spare, key)
    rank = np.full(len(length), -1, dtype=np.int64)
    rank[where] = np.arange(len(where))
    kept = rank[phases.owner] >= 0
    pairs = np.stack((rank[phases.owner[kept]], phases.which[kept]))
    (owner, phase), times = np.unique(pairs, axis=1, return_counts=True)
    alike, told = _alike(key[where], (length == fixed)[where], spare[where] == 0)
    level = Level(
        first=first,
        own=own[where],
        spare=spare[where],
        least=np.where((spare[where] > 0) & ~told, length[where], 0),
        alike=alike,
        key=key[where],
        phase_offset=np.searchsorted(owner, np.arange(len(where) + 1)),
        phase=phase,
        times=times.astype(np.int64),
        member_offset=phases.member_offset,
        member=phases.member,
        lead=phases.lead,
    )
    return level, which


def _alike(key: Ints, fixed: Truths, full: Truths) -> tuple[Ints, Truths]:
    """The nodes that are activations of one block of fixed length: `alike` and `told` of each.

    Where one of them is `full`, with nothing to spare, it tells how long all are.
    """
    alike = np.full(len(key), -1, dtype=np.int64)
    told = np.zeros(len(key), dtype=np.bool_)
    if not fixed.any():
        return alike, told
    _, number, count = np.unique(key[fixed], return_inverse=True, return_counts=True)
    tells = np.zeros(len(count), dtype=np.bool_)
    tells[number[full[fixed]]] = True
    alike[fixed] = np.where((count > 1)[number], number, -1)
    told[fixed] = tells[number]
    return alike, told


def _distinct(word: Words, *same: Ints) -> tuple[Ints, Ints]:
    """The index of the first of each distinct word, and which of these each is.

    Words are 64 bits of what is told apart; `same` is what has to be equal where they are.
    """
    _, where, which = np.unique(word, return_index=True, return_inverse=True)
    which = which.reshape(-1)
    for values in same:
        assert (values == values[where][which]).all(), "two activations have one word"
    return where, which


def _ranges(first: Ints, after: Ints) -> Ints:
    """The numbers of several ranges, one after another."""
    size = after - first
    within = np.arange(int(size.sum())) - np.repeat(np.cumsum(size) - size, size)
    return np.asarray(np.repeat(first, size) + within)


def _mixed(values: Ints | Words) -> Words:
    """Each number's bits, mixed well (the finaliser of SplitMix64, Steele et al. 2014)."""
    word = values.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(word ^ (word >> np.uint64(31)))
