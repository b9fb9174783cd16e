"""The critical recurrence path: the operations from a carried value to what it becomes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope.hls.ir import Op
from cyclescope.hls.schedule._delays import delay

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cyclescope.hls.ir import Graph, Node

__all__ = ["reaching", "steps"]


def reaching(graph: Graph) -> dict[Node, int]:
    """Of each operation the carried values that it is computed from by way of operands, as bits."""
    found = {carried.param: 1 << number for number, carried in enumerate(graph.carried)}
    for node in graph.nodes:
        bits = found.get(node, 0)
        for value in node.operands:
            bits |= found.get(value.node, 0)
        if bits:
            found[node] = bits
    return found


def steps(
    node: Node,
    param: Node,
    latency: Mapping[Node, int],
    ready: Mapping[Node, int],
    behind: Mapping[Node, int],
) -> tuple[str, int]:
    """The operations that take time on the longest way from a parameter to its next value.

    Args:
        node: computes the next value.
        param: the parameter.
        latency: stages of each operation.
        ready: the stage in which each operation's result is there.
        behind: the parameters that each operation is computed from, as bits.

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
        reaching = [v.node for v in node.operands if behind.get(v.node, 0) & behind[param]]
        if not reaching:
            break
        node = max(reaching, key=lambda n: ready.get(n, -1))
    return " + ".join(reversed(found)) or "a register", cycles
