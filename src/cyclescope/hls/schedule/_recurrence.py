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
    node: Node, param: Node, latency: Mapping[Node, int], behind: Mapping[Node, int]
) -> tuple[Node, ...]:
    """The operations that take time on the longest way from a parameter to its next value.

    Args:
        node: computes the next value.
        param: the parameter.
        latency: stages of each operation.
        behind: the parameters that each operation is computed from, as bits.

    Returns:
        In their order; those without stages of their own are plain logic.
    """
    found: list[Node] = []
    longest = _longest(node, param, latency, behind)
    while node is not param:
        if latency[node] or (node.op is not Op.PARAM and delay(node) > 0):
            found.append(node)
        reaching = _reaching(node, param, behind)
        if not reaching:
            break
        node = max(reaching, key=longest.__getitem__)
    return tuple(reversed(found))


def _reaching(node: Node, param: Node, behind: Mapping[Node, int]) -> list[Node]:
    """The operands of an operation that are computed from a parameter."""
    return [v.node for v in node.operands if behind.get(v.node, 0) & behind[param]]


def _longest(
    node: Node, param: Node, latency: Mapping[Node, int], behind: Mapping[Node, int]
) -> dict[Node, tuple[int, float]]:
    """The longest way from a parameter to each operation behind it: cycles, then ns of logic."""
    found: dict[Node, tuple[int, float]] = {param: (0, 0.0)}
    stack = [node]
    while stack:
        at = stack[-1]
        operands = _reaching(at, param, behind) if at not in found else []
        if missing := [o for o in operands if o not in found]:
            stack += missing
            continue
        stack.pop()
        if at not in found:
            cycles, ns = max((found[o] for o in operands), default=(0, 0.0))
            takes = latency[at]
            found[at] = (cycles + takes, ns + (0.0 if takes else delay(at)))
    return found
