"""The builder of a Profile: intern frames, paths and trees, then say what ran when."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cyclescope.model._profile import CallPaths, Ints, Profile, Runs, Trees
from cyclescope.model._segments import segmented
from cyclescope.model._together import moved, together

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from cyclescope.model._frame import Frame
    from cyclescope.model._meta import Meta
    from cyclescope.model._segments import Segments
    from cyclescope.model._series import Series
    from cyclescope.model._site import Site

__all__ = ["ProfileBuilder"]


class ProfileBuilder:
    """Collects the distinct frames, call paths and trees of a run.

    Every method returns a small integer that stands for what was given; the same input gives
    the same integer. Order of first mention is the order in the profile, so a source that
    mentions things in a fixed order makes the same bytes each time.
    """

    def __init__(self) -> None:
        self._frames: dict[Frame, int] = {}
        self._paths: dict[tuple[int, int], int] = {}
        self._parents: list[int] = []
        self._trees: dict[tuple[int, ...], int] = {}
        self._series: list[Series] = []

    def frame(self, frame: Frame) -> int:
        """Intern a frame."""
        return self._frames.setdefault(frame, len(self._frames))

    def path(self, parent: int, frame: Frame | int) -> int:
        """Intern the call path that ends in `frame`, called by path `parent` (-1: a root)."""
        index = frame if isinstance(frame, int) else self.frame(frame)
        key = (parent, index)
        found = self._paths.get(key)
        if found is None:
            found = self._paths[key] = len(self._paths)
            self._parents.append(parent)
        return found

    def tree(self, active: Iterable[int]) -> int:
        """Intern a set of active paths; their parents are added."""
        closed: set[int] = set()
        for path in active:
            while path >= 0 and path not in closed:
                closed.add(path)
                path = self._parents[path]
        return self._trees.setdefault(tuple(sorted(closed)), len(self._trees))

    def counter(self, series: Series) -> None:
        """Add a counter; one without intervals is kept too (it says that nothing happened)."""
        self._series.append(series)

    def build(
        self,
        meta: Meta,
        cycles: Ints | Sequence[int],
        tree: Ints | Sequence[int],
        *,
        sites: Iterable[Site] = (),
    ) -> Profile:
        """The profile in which run i shows tree `tree[i]` for `cycles[i]` cycles.

        Runs of zero cycles are dropped and neighbours with equal trees are joined; trees that
        no run shows are dropped, the others numbered by first appearance.
        """
        lengths = np.asarray(cycles, dtype=np.int64)
        shown = np.asarray(tree, dtype=np.int64)
        keep = lengths > 0
        runs = [(lengths[keep], shown[keep])]
        # Banks of sources that know no states: what repeats is found with them, below.
        apart = any(series.bank is not None for series in self._series)
        segments = segmented(runs, () if apart else None)
        return self.build_states(meta, segments, np.arange(len(self._trees)), sites=sites)

    def build_states(
        self, meta: Meta, segments: Segments, tree_of: Ints, *, sites: Iterable[Site] = ()
    ) -> Profile:
        """The profile in which the states of a sequence show trees: state i tree `tree_of[i]`.

        Trees that nothing shows are dropped, the others numbered by first appearance.
        """
        members = list(self._trees)
        depth = np.array([len(row) for row in members], dtype=np.int64)[tree_of]
        given, segments = segments, segments.turned(depth)
        shown, runs = Runs.of(segments, tree_of).by_appearance(len(members))
        rows = [members[tree] for tree in shown.tolist()]
        offset = np.zeros(len(rows) + 1, dtype=np.int64)
        np.cumsum([len(r) for r in rows], out=offset[1:])
        profile = Profile(
            meta=meta,
            catalog=tuple(self._frames),
            call_paths=CallPaths(
                parent=np.array(self._parents, dtype=np.int64),
                frame=np.array([f for _, f in self._paths], dtype=np.int64),
            ),
            forest=Trees(
                offset=offset,
                path=np.array([p for row in rows for p in row], dtype=np.int64),
            ),
            schedule=runs,
            series=tuple(moved(self._series, given, segments)),
            sites=tuple(sites),
        )
        return together(profile)
