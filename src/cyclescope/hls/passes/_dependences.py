"""Which effects must wait for which: through memory, locks and barriers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cyclescope.hls.ir import EFFECTS, Array, Graph, Node, Op, Order, Place, Value
from cyclescope.hls.passes._affine import Induction, Sum, affine, disjoint, inductions, outside
from cyclescope.hls.passes._dead_code import graphs

if TYPE_CHECKING:
    from collections.abc import Set

    from cyclescope.hls.ir import Draft

__all__ = ["depend", "order_effects"]


@dataclass(frozen=True, slots=True)
class _Access:
    """An effect touches bytes `[low, low + bytes)` of an array; all of it if low is None."""

    array: Array
    writes: bool
    low: Sum | None
    bytes: int

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for equal accesses."""
        low = self.low and (self.low.constant, frozenset(self.low.terms.items()))
        return (self.array, self.writes, low, self.bytes)


@dataclass(frozen=True, slots=True)
class _Summary:
    """What an effect does to others: accesses, and its part in synchronisation."""

    node: Node
    accesses: tuple[_Access, ...]
    acquires: bool
    releases: bool
    has_fence: bool = False

    @property
    def synchronises(self) -> bool:
        """Whether it is, or holds, a lock's or barrier's operation."""
        return self.acquires or self.releases

    @property
    def is_shared(self) -> bool:
        """Whether it touches memory that other threads see."""
        return any(a.array.place is not Place.LOCAL for a in self.accesses)

    @property
    def is_shared_store(self) -> bool:
        """Whether it changes memory that other threads see."""
        return any(a.writes and a.array.place is not Place.LOCAL for a in self.accesses)


def order_effects(draft: Draft) -> None:
    """Order the effects of a region."""
    depend(draft.region.root, draft.shared.exact)
    draft.is_ordered = True


def depend(root: Graph, exact: Set[Node]) -> None:
    """Fill in `after` of all effects and `orders` of all graphs; fences become those.

    Besides what a fence orders, stores keep their place among the shared accesses of a graph that
    holds one: a program that synchronises its threads by itself relies on that.

    Args:
        root: the region's graph.
        exact: arithmetic that cannot overflow.
    """
    _graph(root, None, exact)


def _graph(graph: Graph, loop: Node | None, exact: Set[Node]) -> list[_Summary]:
    found: list[_Summary] = []
    fenced = any(n.op is Op.FENCE for inner in graphs(graph) for n in inner.nodes)
    for node in graph.nodes:
        if node.op not in EFFECTS:
            continue
        if node.body is not None:
            summary = _of_loop(node, _graph(node.body, node, exact), exact)
        else:
            summary = _of_effect(node, exact)
        earlier = [
            s.node for s in found if _ordered(s, summary, exact) or (fenced and _kept(s, summary))
        ]
        node.after = tuple(_needed(earlier))
        found.append(summary)
    if fenced:
        _remove_fences(graph, found)
    if loop is not None:
        known = inductions(loop, exact)
        fixed = set(graph.invariants)
        for before in found:
            for after in found:
                if before.node.op is Op.FENCE or after.node.op is Op.FENCE:
                    continue
                distance = _distance(before, after, known, fixed, exact)
                if fenced and (_kept(before, after) or _fenced(before, after, found)):
                    distance = 1
                if distance:
                    graph.orders.append(Order(before.node, after.node, distance))
    return found


def _kept(first: _Summary, second: _Summary) -> bool:
    """Whether the second is a store that must not overtake the first, in a graph with fences."""
    return first.is_shared and second.is_shared_store


def _fenced(first: _Summary, second: _Summary, found: list[_Summary]) -> bool:
    """Whether a fence is between an effect of an iteration and one of the next."""
    if not all(s.is_shared or s.synchronises for s in (first, second)):
        return False
    fences = [n for n, s in enumerate(found) if s.has_fence]
    return first in found[: fences[-1] + 1] or second in found[fences[0] :]


def _remove_fences(graph: Graph, found: list[_Summary]) -> None:
    """What is behind a fence waits for what is before it: hardware has nothing else to do."""
    for summary in found:
        before: dict[Node, None] = {}
        waiting = list(summary.node.after)
        while waiting:
            node = waiting.pop(0)
            if node.op is Op.FENCE:
                waiting += node.after
            else:
                before[node] = None
        summary.node.after = tuple(_needed(list(before)))
    graph.nodes = [n for n in graph.nodes if n.op is not Op.FENCE]


def _needed(earlier: list[Node]) -> list[Node]:
    """Without those that others of them already wait for."""
    implied: set[Node] = set()
    for node in earlier:
        implied |= set(node.after)
    return [n for n in earlier if n not in implied]


def _of_effect(node: Node, exact: Set[Node]) -> _Summary:
    accesses: list[_Access] = []
    if node.op is Op.COPY:
        assert node.array is not None
        assert node.source is not None
        size = affine(node.operands[2], exact).number
        for array, writes, offset in (
            (node.array, True, node.operands[0]),
            (node.source, False, node.operands[1]),
        ):
            low = affine(offset, exact) if size is not None else None
            accesses.append(_Access(array, writes, low, size or 0))
    elif node.array is not None:
        width = node.widths[0] if node.op is Op.LOAD else node.operands[1].width
        low = affine(node.operands[0], exact)
        accesses.append(_Access(node.array, node.op is Op.STORE, low, width // 8))
    acquires = node.op in (Op.ACQUIRE, Op.BARRIER, Op.FENCE)
    releases = node.op in (Op.RELEASE, Op.BARRIER, Op.FENCE)
    return _Summary(node, tuple(accesses), acquires, releases, node.op is Op.FENCE)


def _of_loop(loop: Node, inner: list[_Summary], exact: Set[Node]) -> _Summary:
    known = inductions(loop, exact)
    outer = [_outer(a, loop, known, exact) for s in inner for a in s.accesses]
    accesses = {a.key: a for a in outer}
    return _Summary(
        loop,
        tuple(accesses.values()),
        any(s.acquires for s in inner),
        any(s.releases for s in inner),
        any(s.has_fence for s in inner),
    )


def _outer(access: _Access, loop: Node, known: dict[Value, Induction], exact: Set[Node]) -> _Access:
    """An access of a loop's iteration as one of the whole loop, in the graph around it."""
    whole = _Access(access.array, access.writes, None, 0)
    if access.low is None:
        return whole
    low, size = Sum(access.low.constant), access.bytes
    for value, coefficient in access.low.terms.items():
        induction = known.get(value)
        if induction is not None:
            step = induction.step.number
            if induction.count is None or step is None:
                return whole
            reach = coefficient * step * max(0, induction.count - 1)
            low = low.plus(affine(induction.first, exact), coefficient)
            low = low.plus(Sum(min(0, reach)))
            size += abs(reach)
            continue
        seen = outside(loop, value)
        if seen is None:
            return whole
        low = low.plus(affine(seen, exact), coefficient)
    return _Access(access.array, access.writes, low, size)


def _synchronised(first: _Summary, second: _Summary) -> bool:
    """Whether locks or barriers order two effects, the first of which comes first.

    Nothing moves up over an acquire or down over a release; a barrier is both.
    """
    if first.synchronises and second.synchronises:
        return True
    return (first.acquires and second.is_shared) or (second.releases and first.is_shared)


def _ordered(first: _Summary, second: _Summary, exact: Set[Node]) -> bool:
    # In one iteration nothing moves over a lock at all: it would only lengthen its holding.
    if first.synchronises or second.synchronises:
        return True
    for a in first.accesses:
        for b in second.accesses:
            if a.array is not b.array or not (a.writes or b.writes):
                continue
            if a.low is None or b.low is None:
                return True
            if not disjoint(a.low, a.bytes, b.low, b.bytes, exact):
                return True
    return False


def _distance(
    first: _Summary,
    second: _Summary,
    known: dict[Value, Induction],
    fixed: set[Node],
    exact: Set[Node],
) -> int:
    """In how many iterations at least an effect must wait for another; 0: never."""
    if _synchronised(first, second):
        return 1
    least = 0
    for a in first.accesses:
        for b in second.accesses:
            if a.array is not b.array or not (a.writes or b.writes):
                continue
            distance = _meeting(a, b, known, fixed, exact)
            if distance and (not least or distance < least):
                least = distance
    return least


def _meeting(
    a: _Access, b: _Access, known: dict[Value, Induction], fixed: set[Node], exact: Set[Node]
) -> int:
    """The least number of iterations after which b meets what a touched; 0: never."""
    if a.low is None or b.low is None:
        return 1
    base = b.low.plus(a.low, -1).number
    moved = Sum()
    for value, coefficient in b.low.terms.items():
        if value in known:
            moved = moved.plus(known[value].step, coefficient)
        elif value.node not in fixed and value.node.op not in (Op.SCALAR, Op.THREAD):
            return 1
    if base is None:
        # With equal changes in both the difference stays what it is in one iteration.
        still = not moved.terms and not moved.constant
        return 0 if still and disjoint(a.low, a.bytes, b.low, b.bytes, exact) else 1
    speed = moved.number
    if speed == 0:
        return int(-b.bytes < base < a.bytes)
    if speed is None:
        # The step isn't known but for being a multiple of the coefficients, and not zero.
        unit = min(abs(c) for c in (*moved.terms.values(), moved.constant) if c)
        single = len(moved.terms) == 1 and not moved.constant
        return int(not (single and max(a.bytes - base, b.bytes + base) <= unit))
    low, high = -b.bytes - base, a.bytes - base  # low < distance * speed < high
    if speed < 0:
        low, high, speed = -high, -low, -speed
    distance = max(1, low // speed + 1)
    return distance if low < distance * speed < high else 0
