"""The passes between lowering and schedule, in the order in which they run."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cyclescope.hls.ir import verify
from cyclescope.hls.passes._bursts import find_bursts
from cyclescope.hls.passes._dead_code import remove_dead_code
from cyclescope.hls.passes._dependences import order_effects
from cyclescope.hls.passes._memories import keep_used_memories
from cyclescope.hls.passes._race_check import check_races
from cyclescope.hls.passes._size import check_size

if TYPE_CHECKING:
    from collections.abc import Callable

    from cyclescope.hls.ir import Draft

__all__ = ["LOWERING", "PASSES", "Pass", "run_passes"]


@dataclass(frozen=True, slots=True)
class Pass:
    """A change of a region, or a look at it.

    Attributes:
        name: as options and messages say it.
        sentence: what it does.
        run: does it.
    """

    name: str
    sentence: str
    run: Callable[[Draft], None]


PASSES = (
    Pass(
        "dead-code",
        "Remove values, loops and carried values that no effect needs.",
        remove_dead_code,
    ),
    Pass(
        "bursts",
        "Make each loop that only copies external memory into a local array one operation.",
        find_bursts,
    ),
    Pass(
        "size",
        "Refuse a graph with too many effects, and memories that no chip could hold.",
        check_size,
    ),
    Pass(
        "race-check",
        "Warn of memory that threads access at the same time, or whose last writer is open.",
        check_races,
    ),
    Pass(
        "memories",
        "Leave out the memories that nothing accesses, and name the others apart.",
        keep_used_memories,
    ),
    Pass(
        "dependences",
        "Order effects by memory, locks and barriers; fences become such orders.",
        order_effects,
    ),
)

LOWERING = "lowering"
"""What the form before the first pass is called, where a pass's name is asked for."""


def run_passes(
    draft: Draft,
    *,
    verifies: bool | None = None,
    after: Callable[[str, Draft], None] | None = None,
) -> None:
    """Run all passes on a lowered region.

    Args:
        draft: the region; changed.
        verifies: whether its laws are checked after the lowering and after each pass; None: if the
            environment variable CYCLESCOPE_VERIFY_IR is set, and not empty.
        after: called with the name of what has just been done, and the draft.

    Raises:
        SourceError: a pass refuses the region.
        LawError: a pass has broken a law of the form; the message names both.
    """
    if verifies is None:
        verifies = bool(os.environ.get("CYCLESCOPE_VERIFY_IR"))

    def done(name: str) -> None:
        if verifies:
            verify(draft, name)
        if after is not None:
            after(name, draft)

    done(LOWERING)
    for one in PASSES:
        one.run(draft)
        done(one.name)
