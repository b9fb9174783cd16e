"""In words: the operations between a carried value and what it becomes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope.hls.ir import Op
from cyclescope.hls.schedule._delays import delay

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cyclescope.hls.ir import Node

__all__ = ["steps"]


def steps(
    node: Node, param: Node, latency: Mapping[Node, int], ready: Mapping[Node, int]
) -> tuple[str, int]:
    """The operations that take time on the longest way from a parameter to its next value.

    Args:
        node: computes the next value.
        param: the parameter.
        latency: stages of each operation.
        ready: the stage in which each operation's result is there.

    Returns:
        Their names, and how many cycles those take that have stages of their own.
    """
    found: list[str] = []
    cycles = 0
    seen: set[Node] = set()
    while node is not param and node not in seen:
        seen.add(node)
        cycles += latency[node]
        if latency[node]:
            found.append(f"{node.op} {latency[node]}")
        elif node.op is not Op.PARAM and delay(node) > 0:
            found.append(node.op.value)
        reaching = [v.node for v in node.operands if _reaches(v.node, param)]
        if not reaching:
            break
        node = max(reaching, key=lambda n: ready.get(n, -1))
    return " + ".join(reversed(found)) or "a register", cycles


def _reaches(node: Node, param: Node) -> bool:
    stack = [node]
    seen: set[Node] = set()
    while stack:
        here = stack.pop()
        if here is param:
            return True
        if here not in seen:
            seen.add(here)
            stack += [v.node for v in here.operands]
    return False
