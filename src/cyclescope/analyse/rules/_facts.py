"""What rules ask of a profile, each worked out when first asked for."""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from cyclescope.analyse._account import Account, account
from cyclescope.analyse._constant import constant_frames
from cyclescope.analyse.rules._dependences import Dependences
from cyclescope.model import Frame, Group, Ints, Kind, Profile, flat_weights, spans, tree_cycles

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
        """What its cycles were for."""
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
    def _spans(self) -> tuple[Ints, Ints, Ints]:
        work = [p for p in range(len(self.parent)) if self.of(p).kind is not Kind.PRIMITIVE]
        found = spans(self.profile, paths=np.array(work, dtype=np.int64))
        bounds = np.searchsorted(found.path, np.arange(len(self.parent) + 1))
        return bounds, found.start, found.end

    def spans(self, path: int) -> tuple[Ints, Ints]:
        """The activations of a path that is no primitive: (first cycles, cycles after the last)."""
        bounds, start, end = self._spans
        own = slice(int(bounds[path]), int(bounds[path + 1]))
        return start[own], end[own]

    def times(self, paths: Sequence[int]) -> int:
        """Activations of these paths together."""
        return sum(len(self.spans(path)[0]) for path in paths)

    def cycles(self, paths: Sequence[int]) -> int:
        """Cycles of their activations."""
        return sum(int((end - start).sum()) for start, end in map(self.spans, paths))

    def lengths(self, paths: Sequence[int]) -> tuple[int, int]:
        """The shortest and the longest activation of these paths."""
        every = [end - start for start, end in map(self.spans, paths)]
        joined = np.concatenate([*every, np.zeros(0, dtype=np.int64)])
        return (int(joined.min()), int(joined.max())) if len(joined) else (0, 0)

    def example(self, paths: Sequence[int]) -> tuple[int, int] | None:
        """One activation that shows what is typical: the first of the longest."""
        best: tuple[int, int] | None = None
        for start, end in map(self.spans, paths):
            if len(start):
                at = int(np.argmax(end - start))
                found = int(start[at]), int(end[at])
                if best is None or found[1] - found[0] > best[1] - best[0]:
                    best = found
        return best

    def is_condition(self, path: int) -> bool:
        """Whether a group only works out a condition (`with`) for the block that calls it.

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
        """What its groups use."""
        return Dependences(self.profile)

    def hidden(self, path: int) -> bool:
        """Whether something else worked in another arm of a `par` around it, at any time.

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
