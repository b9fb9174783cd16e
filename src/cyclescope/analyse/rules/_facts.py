"""The facts that rules ask of a profile, each computed when first asked for."""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from cyclescope.analyse._account import Account, account
from cyclescope.analyse._constant import constant_frames
from cyclescope.analyse.rules._dependences import Dependences
from cyclescope.model import (
    Frame,
    Group,
    Ints,
    Kind,
    Profile,
    Spans,
    first_cycles,
    flat_weights,
    repeated_spans,
    spans,
    tree_cycles,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["Facts"]


class Facts:
    """A profile's paths by frame, and when they were active."""

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        self.parent: list[int] = profile.call_paths.parent.tolist()
        self.frame: list[int] = profile.call_paths.frame.tolist()
        self.children = profile.call_paths.children

    def of(self, path: int) -> Frame:
        """The frame at the end of a path."""
        return self.profile.catalog[self.frame[path]]

    @cached_property
    def account(self) -> Account:
        """The account of its cycles."""
        return account(self.profile)

    @cached_property
    def paths(self) -> dict[int, list[int]]:
        """For each frame that ran the paths that end in it."""
        result: dict[int, list[int]] = defaultdict(list)
        for path, frame in enumerate(self.frame):
            result[frame].append(path)
        return result

    @cached_property
    def constant(self) -> frozenset[int]:
        """The frames that could be static."""
        return constant_frames(self.profile)

    def blocks(self, detail: str) -> Iterable[tuple[Frame, list[int]]]:
        """The control blocks of that operator, with their paths."""
        for index, paths in self.paths.items():
            frame = self.profile.catalog[index]
            if frame.kind is Kind.CONTROL and frame.detail == detail:
                yield frame, paths

    def below(self, path: int) -> list[int]:
        """All paths below one."""
        result: list[int] = []
        waiting = list(self.children[path])
        while waiting:
            found = waiting.pop()
            result.append(found)
            waiting += self.children[found]
        return result

    @cached_property
    def own(self) -> list[int]:
        """For each path the cycles in which it was active and called nothing."""
        return flat_weights(self.profile)

    @cached_property
    def tree_cycles(self) -> Ints:
        """Cycles of each tree."""
        return tree_cycles(self.profile)

    @cached_property
    def _work(self) -> list[int]:
        """All paths but those of primitives."""
        return [p for p in range(len(self.parent)) if self.of(p).kind is not Kind.PRIMITIVE]

    def _ask(self, paths: Sequence[int], together: Ints) -> tuple[Spans, Ints, Ints]:
        """Activations by path, how often each occurs, and where each path's begin."""
        found, times = repeated_spans(self.profile, np.array(paths, dtype=np.int64), together)
        order = np.lexsort((found.start, found.path))
        found = Spans(found.path[order], found.start[order], found.end[order])
        bounds = np.searchsorted(found.path, np.arange(len(self.parent) + 1))
        return found, times[order], bounds

    @cached_property
    def _activations(self) -> tuple[Spans, Ints, Ints]:
        return self._ask(self._work, np.arange(len(self.parent)))

    def _of(self, path: int) -> tuple[Ints, Ints, Ints]:
        """The distinct activations of a path that is no primitive: starts, ends, how often each."""
        found, times, bounds = self._activations
        own = slice(int(bounds[path]), int(bounds[path + 1]))
        return found.start[own], found.end[own], times[own]

    def starts_together(self, paths: Sequence[int]) -> dict[int, Ints]:
        """The begins of the distinct activations of some paths, for events in one of another."""
        found, _, bounds = self._ask(paths, np.zeros(len(self.parent), dtype=np.int64))
        return {path: found.start[int(bounds[path]) : int(bounds[path + 1])] for path in paths}

    def first(self, path: int) -> int:
        """The cycle in which a path was first active; the run's length if it never was."""
        return int(self._first[path])

    @cached_property
    def _first(self) -> Ints:
        return first_cycles(self.profile)

    @cached_property
    def _every(self) -> tuple[Spans, Ints]:
        found = spans(self.profile, paths=np.array(self._work, dtype=np.int64))
        return found, np.searchsorted(found.path, np.arange(len(self.parent) + 1))

    def spans(self, path: int) -> tuple[Ints, Ints]:
        """All activations of a path, one by one: (first cycles, cycles after the last)."""
        found, bounds = self._every
        own = slice(int(bounds[path]), int(bounds[path + 1]))
        return found.start[own], found.end[own]

    def times(self, paths: Sequence[int]) -> int:
        """Activations of these paths together."""
        return sum(int(times.sum()) for _, _, times in map(self._of, paths))

    def cycles(self, paths: Sequence[int]) -> int:
        """Cycles of their activations."""
        every = map(self._of, paths)
        return sum(int(((end - start) * times).sum()) for start, end, times in every)

    def lengths(self, paths: Sequence[int]) -> tuple[int, int]:
        """The shortest and the longest activation of these paths."""
        every = [end - start for start, end, _ in map(self._of, paths)]
        joined = np.concatenate([*every, np.zeros(0, dtype=np.int64)])
        return (int(joined.min()), int(joined.max())) if len(joined) else (0, 0)

    def example(self, paths: Sequence[int]) -> tuple[int, int] | None:
        """One activation that shows what is typical: the first of the longest."""
        best: tuple[int, int] | None = None
        for start, end, _ in map(self._of, paths):
            if len(start):
                longest = end - start
                at = int(np.lexsort((start, -longest))[0])
                found = int(start[at]), int(end[at])
                if best is None or found[1] - found[0] > best[1] - best[0]:
                    best = found
        return best

    def is_condition(self, path: int) -> bool:
        """Return whether a group only works out a condition (`with`) for the block that calls it.

        It is a combinational group, or the compiler has it write a register of its own.
        """
        frame = self.of(path)
        if frame.kind is not Kind.GROUP or self.parent[path] < 0:
            return False
        if self.of(self.parent[path]).detail not in ("if", "while"):
            return False
        used = [self.of(child) for child in self.children[path]]
        made = any(f.kind is Kind.PRIMITIVE and f.generated for f in used)
        return made or frame.detail == "comb group" or self._comb(frame)

    def _comb(self, frame: Frame) -> bool:
        return (frame.component, frame.definition or frame.name) in self._comb_groups

    @cached_property
    def _comb_groups(self) -> frozenset[tuple[str, str]]:
        sites = self.profile.sites
        return frozenset((s.function, s.name) for s in sites if isinstance(s, Group) and s.comb)

    @cached_property
    def dependences(self) -> Dependences:
        """The uses of its groups."""
        return Dependences(self.profile)

    def hidden(self, path: int) -> bool:
        """Return whether something else worked in another arm of a `par` around it, at any time.

        What a block saves there need not shorten the run.
        """
        inside = {path, *self.below(path)}
        above = set(self.profile.lineage(path))
        work = (Kind.GROUP, Kind.PRIMITIVE)
        for tree in np.flatnonzero(self.tree_cycles).tolist():
            active = self.profile.forest[tree].tolist()
            if path in active and any(
                p not in inside and p not in above and self.of(p).kind in work for p in active
            ):
                return True
        return False
