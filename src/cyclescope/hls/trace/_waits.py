"""The stall causes of threads: for what, and which cycles of a thread are lost to it.

A thread can wait in several places at once, and while it spins at a lock its state says so. So that
a cycle is lost once, a thread's counters of stalls are exclusive: of a cycle in which it runs, the
first of `LOST` for which it waits takes it; what is left of its running is work.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope.hls.ir import Op
from cyclescope.model import Activity, Cause

if TYPE_CHECKING:
    from cyclescope.hls.ir import Node

__all__ = ["CAUSES", "LOST", "asks", "cause_of", "loses", "meaning_of", "place_of", "stalls"]

LOST = (Cause.BARRIER, Cause.ARBITRATION, Cause.MEMORY)
"""For what a thread waits while it runs; of several at once the first takes the cycle."""

CAUSES = (*LOST, Cause.LOCK, Cause.INNER_LOOP)
"""For what a thread waits; while it waits for a lock it does not run, in an inner loop it works."""

_CAUSES = {Op.ACQUIRE: Cause.LOCK, Op.BARRIER: Cause.BARRIER, Op.LOOP: Cause.INNER_LOOP}
_VERBS = {
    Op.LOAD: "load of",
    Op.STORE: "store to",
    Op.COPY: "copy to",
    Op.ACQUIRE: "lock",
    Op.BARRIER: "barrier",
}


def cause_of(node: Node) -> Cause:
    """The cause for which threads wait for an operation, one of `CAUSES`."""
    return _CAUSES.get(node.op, Cause.MEMORY)


def meaning_of(cause: Cause) -> Activity | None:
    """The activity that a counter of stalls tells apart from work; None: it only counts."""
    return Activity.WAITING if cause in LOST else None


def stalls(cause: Cause) -> str:
    """The name of a thread's counter of cycles."""
    return f"stalls: {cause.value}"


def loses(node: Node) -> bool:
    """Return whether a thread gets nothing done meanwhile; in an inner loop it works."""
    return node.op is not Op.LOOP


def asks(node: Node) -> bool:
    """Return whether it asks the external memory for something."""
    return node.op in (Op.LOAD, Op.STORE, Op.COPY)


def place_of(node: Node) -> str:
    """The name of the counter of the thread-cycles that are lost there."""
    array = f" {node.array.name}" if node.array is not None else ""
    return f"waiting: {_VERBS[node.op]}{array}, line {node.where.line}"
