"""The critical path of a run: which activations decide the total, and what the others could take.

From the graph of activations (`_activation_graph`), without simulation:

- *critical cycles*: the path that decides the total goes through each phase by the activation that
  ends last. Each cycle of the run is an own cycle of one activation on it, so they add up to it.
- *slack*: so many cycles could each activation of a frame take more, and the run would take as long
  as it did; one more, and it takes longer.
- *leverage*: cycles by which the run is shorter, per cycle by which the frame's activations are.
- *waits*: in each phase who is over early waits for the one that ends last.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from cyclescope.analyse._activation_graph import activation_graph, phase_lengths, phases_passed
from cyclescope.analyse._critical_path import Critical, CriticalFrame, PhaseWait
from cyclescope.analyse._critical_processes import critical_processes, has_processes
from cyclescope.analyse._critical_threads import critical_threads
from cyclescope.analyse._thread_graph import has_threads

if TYPE_CHECKING:
    from cyclescope.analyse._activation_graph import ActivationGraph
    from cyclescope.model import Ints, Profile

__all__ = ["critical"]

_CASES = 256  # frames that are looked at together: the arrays stay small


def critical(profile: Profile) -> Critical:
    """Find the critical path, slack and leverage of everything that was active.

    Raises:
        InputError: it does not say what its threads or processes waited for, or nothing ran.
    """
    if has_threads(profile):
        return critical_threads(profile)
    if has_processes(profile):
        return critical_processes(profile)
    graph = activation_graph(profile)
    lengths = graph.lengths()
    path, waits = _walk(graph, lengths)
    times, total = graph.sizes()
    slack, saved = _by_key(graph)
    rows = zip(graph.keys, *(c.tolist() for c in (times, total, path, slack, saved)), strict=True)
    frames = sorted((CriticalFrame(*row) for row in rows), key=lambda f: (-f.critical, -f.total))
    return Critical(tuple(frames), waits, graph.cycles)


def _walk(graph: ActivationGraph, lengths: Ints) -> tuple[Ints, tuple[PhaseWait, ...]]:
    """Own cycles on the critical path by key, shape (keys,); and who waits for whom."""
    on_path = np.zeros(len(graph), dtype=np.int64)
    on_path[-1] = 1
    occurs = graph.occurrences()
    own = np.zeros(len(graph.keys), dtype=np.int64)
    waits: dict[tuple[int, int, int], list[int]] = {}
    key_of = np.concatenate([level.key for level in graph.levels])
    for level in reversed(graph.levels):
        count = on_path[level.nodes]
        np.add.at(own, level.key, count * level.own)
        if not len(level.phase):
            continue
        length = phase_lengths(level, lengths)
        late = np.repeat(length, np.diff(level.member_offset)) - level.lead - lengths[level.member]
        # Of several that end last the first one is as good as any.
        decisive = np.array(
            [a + int(np.argmin(late[a:b])) for a, b in pairwise(level.member_offset.tolist())],
            dtype=np.int64,
        )
        np.add.at(on_path, level.member[decisive], phases_passed(level, on_path))
        caller = np.repeat(np.arange(len(level.own)), np.diff(level.phase_offset))
        lead = level.lead[decisive][level.phase]
        np.add.at(own, level.key[caller], count[caller] * level.times * lead)
        for owner, phase, times in zip(
            caller.tolist(), level.phase.tolist(), level.times.tolist(), strict=True
        ):
            a, b = int(level.member_offset[phase]), int(level.member_offset[phase + 1])
            number = times * int(occurs[level.first + owner])
            last = int(key_of[level.member[decisive[phase]]])
            for place in range(a, b):
                if late[place]:
                    who = (int(level.key[owner]), int(key_of[level.member[place]]), last)
                    entry = waits.setdefault(who, [0, 0])
                    entry[0] += number
                    entry[1] += number * int(late[place])
    found = [
        PhaseWait(graph.keys[c], graph.keys[w], graph.keys[d], times, cycles)
        for (c, w, d), (times, cycles) in waits.items()
    ]
    return own, tuple(sorted(found, key=lambda wait: -wait.cycles))


def _by_key(graph: ActivationGraph) -> tuple[Ints, Ints]:
    """Slack, and cycles saved by one cycle less, of each key; shape (keys,) each."""
    keys = len(graph.keys)
    slack, saved = np.zeros((2, keys), dtype=np.int64)
    for first in range(0, keys, _CASES):
        some = np.arange(first, min(first + _CASES, keys))
        alone = np.zeros((keys, len(some)), dtype=np.int64)
        alone[some, np.arange(len(some))] = 1
        saved[some] = graph.cycles - graph.lengths(-alone)[-1]
        # Longer by more than the whole run, anything is noticed.
        low, high = np.zeros_like(some), np.full_like(some, graph.cycles + 1)
        while (high - low > 1).any():
            middle = (low + high) // 2
            longer = graph.lengths(alone * middle)[-1] > graph.cycles
            low, high = np.where(longer, low, middle), np.where(longer, middle, high)
        slack[some] = low
    return slack, saved
