"""All that can be said at compile time of threads that get into each other's way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope.hls.passes._cross_thread import cross_thread_races
from cyclescope.hls.passes._races import Threads, last_writers, races

if TYPE_CHECKING:
    from cyclescope.hls.ir import Draft

__all__ = ["check_races"]


def check_races(draft: Draft) -> None:
    """Add warnings of races, and the memories whose last writer is open."""
    threads, graph, shared = draft.region.threads, draft.region.root, draft.shared
    if threads == 1:
        return
    own = Threads(graph)
    draft.warnings += races(graph, shared.guarded, own)
    draft.warnings += cross_thread_races(graph, shared.guarded, shared, own, threads)
    for warning, array in last_writers(graph, shared.guarded, own):
        draft.warnings.append(warning)
        draft.undecided.add(array)
