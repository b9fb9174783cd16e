"""The Profile: where every cycle went. See `cyclescope.model` for the idea."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from cyclescope.model._changes import changes
from cyclescope.model._frame import Frame, Kind
from cyclescope.model._segments import Segments

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl

    from cyclescope.model._area import Area
    from cyclescope.model._flow import Flow
    from cyclescope.model._meta import Meta
    from cyclescope.model._series import Series
    from cyclescope.model._site import Site
    from cyclescope.model._spans import KeptOnce

__all__ = ["CallPaths", "Ints", "Profile", "Runs", "Trees", "without"]

T = TypeVar("T")
Ints = NDArray[np.int64]


def _same(a: Ints, b: Ints) -> bool:
    return a.shape == b.shape and bool((a == b).all())


@dataclass(frozen=True, eq=False, slots=True)
class CallPaths:
    """Every call path that was ever active, as a trie.

    `parent[i]` is the path that called path i, -1 for a root; `frame[i]` is what is active at
    its end, an index into `Profile.catalog`. A parent comes before its children.
    """

    parent: Ints
    frame: Ints

    def __len__(self) -> int:
        return len(self.parent)

    def __eq__(self, other: object) -> bool:
        """Equal contents."""
        if not isinstance(other, CallPaths):
            return NotImplemented
        return _same(self.parent, other.parent) and _same(self.frame, other.frame)

    __hash__ = None  # type: ignore[assignment]

    @property
    def children(self) -> list[list[int]]:
        """For each path the paths that it called, in ascending order."""
        result: list[list[int]] = [[] for _ in range(len(self))]
        for path, parent in enumerate(self.parent.tolist()):
            if parent >= 0:
                result[parent].append(path)
        return result


@dataclass(frozen=True, eq=False, slots=True)
class Trees:
    """The distinct sets of simultaneously active call paths (compressed sparse rows).

    Tree t is the ascending paths `path[offset[t]:offset[t+1]]`; with a path its parent is in too.
    """

    offset: Ints
    path: Ints

    def __len__(self) -> int:
        return len(self.offset) - 1

    def __getitem__(self, tree: int) -> Ints:
        """The ascending paths active in that tree."""
        return self.path[self.offset[tree] : self.offset[tree + 1]]

    def __eq__(self, other: object) -> bool:
        """Equal contents."""
        if not isinstance(other, Trees):
            return NotImplemented
        return _same(self.offset, other.offset) and _same(self.path, other.path)

    __hash__ = None  # type: ignore[assignment]


class Runs:
    """The tree of every cycle: run i lasts `cycles[i]` ≥ 1 cycles; runs follow each other from 0.

    Kept as segments of states, of which each shows a tree; states may tell more than trees apart
    (`Bank`), so neighbouring states may show one tree, which is one run then.

    Attributes:
        segments: the states over time.
        tree_of: the tree of each state, shape (states,).
    """

    __slots__ = ("_dense", "segments", "tree_of")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, cycles: Ints, tree: Ints) -> None:
        """Runs one by one; each tree is a state."""
        self.segments = Segments.plain(cycles, tree)
        self.tree_of = np.arange(int(tree.max(initial=-1)) + 1)
        self._dense: tuple[Ints, Ints] | None = (cycles, tree)

    @classmethod
    def of(cls, segments: Segments, tree_of: Ints) -> Runs:
        """Runs of states that show trees."""
        runs = cls.__new__(cls)
        runs.segments, runs.tree_of, runs._dense = segments, tree_of, None
        return runs

    def _all(self) -> tuple[Ints, Ints]:
        if self._dense is None:
            self._dense = self.segments.runs(self.tree_of)
        return self._dense

    @property
    def cycles(self) -> Ints:
        """Length of each run (shape: runs)."""
        return self._all()[0]

    @property
    def tree(self) -> Ints:
        """The tree of each run (shape: runs); neighbours differ."""
        return self._all()[1]

    @property
    def start(self) -> Ints:
        """First cycle of each run (shape: runs)."""
        return np.cumsum(self.cycles) - self.cycles

    def first_cycles(self, trees: int) -> Ints:
        """The first cycle of each tree (shape: trees); of one that is never shown the total."""
        first = np.full(trees, self.segments.total, dtype=np.int64)
        np.minimum.at(first, self.tree_of, self.segments.first_cycles(len(self.tree_of)))
        return first

    def by_appearance(self, trees: int) -> tuple[Ints, Runs]:
        """The trees that are shown, in the order of their first cycles; and the same runs of these.

        Args:
            trees: how many there are, shown or not.
        """
        first = self.first_cycles(trees)
        shown = np.argsort(first, kind="stable")[: int((first < self.segments.total).sum())]
        rank = np.zeros(trees, dtype=np.int64)
        rank[shown] = np.arange(len(shown))
        return shown, Runs.of(self.segments, rank[self.tree_of])

    def __len__(self) -> int:
        """The number of runs; nothing is worked out for each."""
        if self._dense is not None:
            return len(self._dense[0])
        if not self.segments.total:
            return 0
        before, after, times = self.segments.changes
        return 1 + int(times[self.tree_of[before] != self.tree_of[after]].sum())

    def __eq__(self, other: object) -> bool:
        """Equal contents, however they are kept."""
        if not isinstance(other, Runs):
            return NotImplemented
        return _same(self.cycles, other.cycles) and _same(self.tree, other.tree)

    def __repr__(self) -> str:
        return f"Runs of {self.segments.total} cycles"


@dataclass(frozen=True)
class Profile:
    """The record of every cycle of one run.

    The parts are plain (tuples and integer arrays); the same facts as Polars frames are
    `frames`, `paths`, `trees`, `runs` and `counters`. `sources` has the texts to which frames'
    positions point, by file as positions name it; any of them may be missing. `areas` says what the
    design's cells cost, if it was synthesised. `sites` are the places of the program that the
    source knows to matter; counters name them by number. `flows` are the values in the channels of
    a process network, if the order of its firings is known.
    """

    meta: Meta
    catalog: tuple[Frame, ...]
    call_paths: CallPaths
    forest: Trees
    schedule: Runs
    series: tuple[Series, ...] = ()
    sources: dict[str, str] = field(default_factory=dict)
    areas: tuple[Area, ...] = ()
    sites: tuple[Site, ...] = ()
    flows: tuple[Flow, ...] = ()

    __hash__ = None  # type: ignore[assignment]

    @cached_property
    def cycles(self) -> int:
        """Total cycles: the runs' sum."""
        return self.schedule.segments.total

    def frame_of(self, path: int) -> Frame:
        """The frame at the end of a call path."""
        return self.catalog[int(self.call_paths.frame[path])]

    def lineage(self, path: int) -> list[int]:
        """The paths from the root down to this one."""
        chain = []
        while path >= 0:
            chain.append(path)
            path = int(self.call_paths.parent[path])
        return chain[::-1]

    def stack(self, path: int) -> tuple[str, ...]:
        """The labels from the root down to this path."""
        return tuple(self.frame_of(p).label for p in self.lineage(path))

    @cached_property
    def instances(self) -> tuple[str, ...]:
        """For each path the instance it lies in: the names of the cells above it, dotted.

        A cell's own path lies in the cell itself: `main.queue` for the cell `queue` of `main`.
        """
        result: list[str] = []
        for path, parent in enumerate(self.call_paths.parent.tolist()):
            above = result[parent] if parent >= 0 else ""
            frame = self.frame_of(path)
            if frame.kind is Kind.CELL or frame.kind is Kind.THREAD:
                above = f"{above}.{frame.name}" if above else frame.name
            result.append(above)
        return tuple(result)

    @cached_property
    def tracks(self) -> tuple[int, ...]:
        """The paths that are tracks: threads, processes. None where all runs under one root."""
        return tuple(p for p in range(len(self.call_paths)) if self.frame_of(p).track)

    @cached_property
    def track_of(self) -> Ints:
        """For each path which of `tracks` it is in, -1 for none (shape: paths)."""
        number = {path: track for track, path in enumerate(self.tracks)}
        result: list[int] = []
        for path, parent in enumerate(self.call_paths.parent.tolist()):
            result.append(number.get(path, result[parent] if parent >= 0 else -1))
        return np.array(result, dtype=np.int64)

    @cached_property
    def transitions(self) -> tuple[Trees, Trees, Ints]:
        """The distinct changes of tree, with what they start and end, and the times of each.

        Returns:
            For each distinct change the paths that become active, the same for those that cease,
            and for each run which change comes before it, then the one that ends the last run.
        """
        nowhere = len(self.forest)  # the number of a tree without paths
        pairs, which = changes(
            np.concatenate(([nowhere], self.schedule.tree, [nowhere])), nowhere + 1
        )
        before, after = np.divmod(pairs, nowhere + 1)
        return without(self.forest, after, before), without(self.forest, before, after), which

    @cached_property
    def leaves(self) -> tuple[Ints, Ints]:
        """The paths that call nothing, for each tree: (trees, paths), by tree and path."""
        from cyclescope.model._derive import leaves

        return leaves(self)

    def once(self, work: Callable[[Profile], T]) -> T:
        """The result of `work` for this profile: computed when it is first asked for."""
        if work not in self._found:
            self._found[work] = work(self)
        found: T = self._found[work]
        return found

    @cached_property
    def _found(self) -> dict[object, Any]:
        """By who worked it out."""
        return {}

    @cached_property
    def kept_once(self) -> KeptOnce:
        """The distinct segments of the run, one after another."""
        from cyclescope.model._spans import kept_once

        return kept_once(self)

    def with_meta(self, **changes: Any) -> Profile:
        """A copy whose head differs in the given fields of `Meta`."""
        return replace(self, meta=replace(self.meta, **changes))

    @cached_property
    def frames(self) -> pl.DataFrame:
        """One row a frame; columns as in `docs/profile-file.md`."""
        from cyclescope.model._tables import frame_of

        return frame_of(self, "frames")

    @cached_property
    def paths(self) -> pl.DataFrame:
        """One row a call path: path, parent, frame."""
        from cyclescope.model._tables import frame_of

        return frame_of(self, "paths")

    @cached_property
    def trees(self) -> pl.DataFrame:
        """One row a (tree, active path)."""
        from cyclescope.model._tables import frame_of

        return frame_of(self, "trees")

    @cached_property
    def runs(self) -> pl.DataFrame:
        """One row a run: start, cycles, tree."""
        from cyclescope.model._tables import frame_of

        return frame_of(self, "runs")

    @cached_property
    def counters(self) -> pl.DataFrame:
        """One row an interval: track, name, metric, unit, path, start, end, value."""
        from cyclescope.model._tables import frame_of

        return frame_of(self, "counters")


_AT_ONCE = 1 << 21  # paths of trees that are compared at once: the intermediate arrays stay small


def without(forest: Trees, these: Ints, those: Ints) -> Trees:
    """For each pair of trees the paths of the first that the second does not have.

    The number behind the last tree's is that of one without paths.
    """
    nothing = np.empty(0, dtype=np.int64)
    sizes, paths = [nothing], [nothing]
    width = int(forest.path.max(initial=0)) + 1
    chunk = max(_AT_ONCE // int(np.diff(forest.offset).max(initial=1)), 1)
    for first in range(0, len(these), chunk):
        owner, path = _paths_of(forest, these[first : first + chunk])
        others = _paths_of(forest, those[first : first + chunk])
        # A tree's paths ascend, so these do: a search is a lookup.
        key, known = owner * width + path, others[0] * width + others[1]
        found = np.append(known, -1)[np.searchsorted(known, key)] == key
        sizes.append(np.bincount(owner[~found], minlength=len(these[first : first + chunk])))
        paths.append(path[~found])
    offset = np.concatenate(([0], np.cumsum(np.concatenate(sizes))))
    return Trees(offset=offset, path=np.concatenate(paths))


def _paths_of(forest: Trees, trees: Ints) -> tuple[Ints, Ints]:
    """The paths of some trees, one after another, and for each its place among these trees."""
    size = np.append(np.diff(forest.offset), 0)[trees]
    owner = np.repeat(np.arange(len(trees)), size)
    within = np.arange(len(owner)) - np.repeat(np.cumsum(size) - size, size)
    return owner, forest.path[np.repeat(forest.offset[trees], size) + within]
