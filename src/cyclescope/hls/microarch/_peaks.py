"""The most that a region's hardware can do in a cycle, all threads together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope.hls.microarch._params import BANKS, LINE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cyclescope.hls.microarch._pipeline import Pipeline

__all__ = ["peaks_of"]


def peaks_of(pipelines: Iterable[Pipeline]) -> dict[str, int]:
    """As in a profile's head: a line from each bank, a result from each arithmetic unit.

    The threads share the datapath: each unit in it takes one thread's operands a cycle.
    """
    works = [work for pipe in pipelines for work in pipe.works]
    found = {
        "integer operations": sum(work.integer for work in works),
        "floating-point operations": sum(work.floating for work in works),
    }
    memory = {"bytes read, bytes written": BANKS * LINE}
    return memory | {name: peak for name, peak in found.items() if peak}
