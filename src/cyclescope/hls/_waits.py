"""Where threads wait: for what, and what a place is called."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope.hls._ir import Op

if TYPE_CHECKING:
    from cyclescope.hls._ir import Node

__all__ = ["CAUSES", "asks", "cause_of", "loses", "place_of"]

CAUSES = ("memory", "arbitration", "lock", "barrier", "inner loop")
"""What a thread waits for; in the same cycle it can be several of them."""

_CAUSES = {Op.ACQUIRE: "lock", Op.BARRIER: "barrier", Op.LOOP: "inner loop"}
_VERBS = {
    Op.LOAD: "load of",
    Op.STORE: "store to",
    Op.COPY: "copy to",
    Op.ACQUIRE: "lock",
    Op.BARRIER: "barrier",
}


def cause_of(node: Node) -> str:
    """Why threads wait for an operation, one of `CAUSES`."""
    return _CAUSES.get(node.op, "memory")


def loses(node: Node) -> bool:
    """Whether a thread gets nothing done meanwhile; in an inner loop it works."""
    return node.op is not Op.LOOP


def asks(node: Node) -> bool:
    """Whether it asks the external memory for something."""
    return node.op in (Op.LOAD, Op.STORE, Op.COPY)


def place_of(node: Node) -> str:
    """The name of the counter of the thread-cycles that are lost there."""
    array = f" {node.array.name}" if node.array is not None else ""
    return f"waiting: {_VERBS[node.op]}{array}, line {node.where.line}"
