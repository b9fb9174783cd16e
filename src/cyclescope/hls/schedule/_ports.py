"""Ports of local memories: two a block RAM, each for one read or write a cycle."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope.hls.ir import Array, Graph, Node, Op, Place

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["PORTS", "local_accesses", "port_interval", "touched"]

PORTS = 2


def local_accesses(graph: Graph) -> dict[Array, list[Node]]:
    """The loads and stores of each local memory in a graph itself."""
    found: dict[Array, list[Node]] = {}
    for node in graph.nodes:
        array = node.array
        if node.op is Op.COPY or array is None or array.place is Place.EXTERNAL:
            continue
        found.setdefault(array, []).append(node)
    return found


def touched(graph: Graph) -> set[Array]:
    """The local memories that a graph or one inside it accesses."""
    found: set[Array] = set()
    for node in graph.nodes:
        if node.array is not None and node.array.place is not Place.EXTERNAL:
            found.add(node.array)
        if node.body is not None:
            found |= touched(node.body)
    return found


def port_interval(accesses: Sequence[tuple[int, Node]], ports: int) -> int:
    """The interval at which iterations, however far beyond it apart, never want one port at once.

    Iterations needn't begin exactly at the interval, so a port that does several accesses of an
    iteration must have done them all before the next iteration's first.

    Args:
        accesses: stage and node of each access of an iteration.
        ports: how many there are.
    """
    if len(accesses) <= ports:
        return 1
    ordered = sorted(accesses, key=lambda a: a[0])
    stages = [stage for stage, _ in ordered]
    whole = stages[-1] - stages[0] + 1
    if ports < 2:
        return whole
    best = whole
    by_kind = [[t for t, n in ordered if (n.op is Op.STORE) == chosen] for chosen in (False, True)]
    for groups in (by_kind, [stages[0::2], stages[1::2]]):
        if all(len(set(g)) == len(g) for g in groups):
            best = min(best, max(g[-1] - g[0] + 1 for g in groups if g))
    # The first ones by one port, the others by the other one: none twice in a stage.
    twice = [i for i in range(1, len(stages)) if stages[i] == stages[i - 1]]
    cuts = range(1, len(stages)) if not twice else twice if len(twice) == 1 else ()
    for cut in cuts:
        best = min(best, max(stages[cut - 1] - stages[0], stages[-1] - stages[cut]) + 1)
    return best
