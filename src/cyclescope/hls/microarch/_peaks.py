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

    The threads share the datapath: each functional unit in it takes one thread's operands a cycle.
    """
    active = [each for pipe in pipelines for each in pipe.op_activities]
    found = {
        "integer operations": sum(each.integer for each in active),
        "floating-point operations": sum(each.floating for each in active),
    }
    memory = {"bytes read, bytes written": BANKS * LINE}
    return memory | {name: peak for name, peak in found.items() if peak}
