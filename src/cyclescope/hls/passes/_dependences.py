"""The order of effects: through memory, locks and barriers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cyclescope.hls.ir import EFFECTS, Array, Graph, Node, Op, Order, Place, Value
from cyclescope.hls.passes._affine import Forms, Induction, Sum, disjoint, inductions, outside
from cyclescope.hls.passes._conflicts import Access, Conflicts, latest
from cyclescope.hls.passes._dead_code import graphs

if TYPE_CHECKING:
    from collections.abc import Set

    from cyclescope.hls.ir import Draft

__all__ = ["depend", "order_effects"]


@dataclass(frozen=True, slots=True)
class _Summary:
    """The summary of an effect for others: accesses, and its part in synchronisation."""

    node: Node
    accesses: tuple[Access, ...]
    acquires: bool
    releases: bool
    has_fence: bool = False

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for effects that others need not tell apart."""
        return (frozenset(a.key for a in self.accesses), self.acquires, self.releases)

    @property
    def synchronises(self) -> bool:
        """Return whether it is, or contains, a lock's or barrier's operation."""
        return self.acquires or self.releases

    @property
    def is_shared(self) -> bool:
        """Return whether it touches memory that other threads see."""
        return any(a.array.place is not Place.LOCAL for a in self.accesses)

    @property
    def is_shared_store(self) -> bool:
        """Return whether it changes memory that other threads see."""
        return any(a.writes and a.array.place is not Place.LOCAL for a in self.accesses)


def order_effects(draft: Draft) -> None:
    """Order the effects of a region."""
    depend(draft.region.root, draft.shared.exact)
    draft.is_ordered = True


def depend(root: Graph, exact: Set[Node]) -> None:
    """Fill in `after` of all effects and `orders` of all graphs; fences become those.

    Besides what a fence orders, stores keep their place among the shared accesses of a graph with
    a fence: a program that synchronises its threads by itself relies on that. `after` has only the
    latest effects: those that they wait for themselves are not repeated.

    Args:
        root: the region's graph.
        exact: arithmetic that cannot overflow.
    """
    _graph(root, None, Forms(exact))


def _graph(graph: Graph, loop: Node | None, forms: Forms) -> list[_Summary]:
    found: list[_Summary] = []
    fenced = any(n.op is Op.FENCE for inner in graphs(graph) for n in inner.nodes)
    conflicts = Conflicts(forms)
    behind: list[int] = []  # for each effect those that are over before it begins, a bit each
    synchronising = shared = 0
    for node in graph.nodes:
        if node.op not in EFFECTS:
            continue
        if node.body is not None:
            summary = _of_loop(node, _graph(node.body, node, forms), forms)
        else:
            summary = _of_effect(node, forms)
        bit = 1 << len(found)
        # Nothing moves over a lock at all: it would only lengthen its holding.
        earlier = bit - 1 if summary.synchronises else synchronising
        if fenced and summary.is_shared_store:
            earlier |= shared
        for access in summary.accesses:
            earlier |= conflicts.with_access(access)
        kept, over = latest(earlier, behind)
        node.after = tuple(found[n].node for n in kept)
        for access in summary.accesses:
            conflicts.add(access, bit)
        synchronising |= bit if summary.synchronises else 0
        shared |= bit if summary.is_shared else 0
        behind.append(over)
        found.append(summary)
    if fenced:
        _remove_fences(graph, found)
    if loop is not None:
        graph.orders += _orders(loop, found, forms, fenced=fenced)
    return found


def _orders(loop: Node, found: list[_Summary], forms: Forms, *, fenced: bool) -> list[Order]:
    """The orders between effects of an iteration and effects of earlier ones.

    Effects that access the same, and are alike otherwise, wait alike: their rule is asked once.
    """
    assert loop.body is not None
    fences = [n for n, s in enumerate(found) if s.has_fence]
    numbers: dict[tuple[object, ...], int] = {}
    kinds: list[tuple[_Summary, bool, bool]] = []
    kind_of: list[int] = []
    for place, summary in enumerate(found):
        before, behind = fenced and place <= fences[-1], fenced and place >= fences[0]
        key = (*summary.key, before, behind, summary.node.op is Op.FENCE)
        kind = numbers.setdefault(key, len(kinds))
        if kind == len(kinds):
            kinds.append((summary, before, behind))
        kind_of.append(kind)
    carried = _Carried([s for s, _, _ in kinds], loop, forms)
    rows: list[list[int]] = []
    for first, before, _ in kinds:
        row = carried.distances(first)
        if fenced:
            for number, (second, _, behind) in enumerate(kinds):
                if _kept(first, second) or (_meets_fence(first, second) and (before or behind)):
                    row[number] = 1
        rows.append(row)
    nodes = [
        (s.node, kind) for s, kind in zip(found, kind_of, strict=True) if s.node.op is not Op.FENCE
    ]
    return [
        Order(before, after, distance)
        for before, kind in nodes
        if any(row := rows[kind])
        for after, other in nodes
        if (distance := row[other])
    ]


def _kept(first: _Summary, second: _Summary) -> bool:
    """Return whether the second is a store that must not overtake the first, with fences."""
    return first.is_shared and second.is_shared_store


def _meets_fence(first: _Summary, second: _Summary) -> bool:
    """Return whether a fence between two effects orders them."""
    return all(s.is_shared or s.synchronises for s in (first, second))


def _remove_fences(graph: Graph, found: list[_Summary]) -> None:
    """Remove fences: what is behind one waits for what is before it, and hardware needs no more."""
    number = {s.node: n for n, s in enumerate(found)}
    behind: list[int] = []
    instead: list[int] = []  # of each effect what stands for it: a fence's own predecessors
    for n, summary in enumerate(found):
        before = 0
        for node in summary.node.after:
            before |= instead[number[node]]
        kept, over = latest(before, behind)
        summary.node.after = tuple(found[k].node for k in kept)
        behind.append(over)
        instead.append(before if summary.node.op is Op.FENCE else 1 << n)
    graph.nodes = [n for n in graph.nodes if n.op is not Op.FENCE]


def _of_effect(node: Node, forms: Forms) -> _Summary:
    accesses: list[Access] = []
    if node.op is Op.COPY:
        assert node.array is not None
        assert node.source is not None
        size = forms.of(node.operands[2]).number
        for array, writes, offset in (
            (node.array, True, node.operands[0]),
            (node.source, False, node.operands[1]),
        ):
            low = forms.of(offset) if size is not None else None
            accesses.append(Access(array, writes, low, size or 0))
    elif node.array is not None:
        width = node.widths[0] if node.op is Op.LOAD else node.operands[1].width
        low = forms.of(node.operands[0])
        accesses.append(Access(node.array, node.op is Op.STORE, low, width // 8))
    acquires = node.op in (Op.ACQUIRE, Op.BARRIER, Op.FENCE)
    releases = node.op in (Op.RELEASE, Op.BARRIER, Op.FENCE)
    return _Summary(node, tuple(accesses), acquires, releases, node.op is Op.FENCE)


def _of_loop(loop: Node, inner: list[_Summary], forms: Forms) -> _Summary:
    known = inductions(loop, forms)
    every = {a.key: a for s in inner for a in s.accesses}
    outer = [_outer(a, loop, known, forms) for a in every.values()]
    accesses = {a.key: a for a in outer}
    return _Summary(
        loop,
        tuple(accesses.values()),
        any(s.acquires for s in inner),
        any(s.releases for s in inner),
        any(s.has_fence for s in inner),
    )


def _outer(access: Access, loop: Node, known: dict[Value, Induction], forms: Forms) -> Access:
    """An access of a loop's iteration as one of the whole loop, in the graph around it."""
    whole = Access(access.array, access.writes, None, 0)
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
            low = low.plus(forms.of(induction.first), coefficient)
            low = low.plus(Sum(min(0, reach)))
            size += abs(reach)
            continue
        seen = outside(loop, value)
        if seen is None:
            return whole
        low = low.plus(forms.of(seen), coefficient)
    return Access(access.array, access.writes, low, size)


def _synchronised(first: _Summary, second: _Summary) -> bool:
    """Return whether locks or barriers order two effects, the first of which comes first.

    Nothing moves up over an acquire or down over a release; a barrier is both.
    """
    if first.synchronises and second.synchronises:
        return True
    return (first.acquires and second.is_shared) or (second.releases and first.is_shared)


class _Carried:
    """The effects that reach from one iteration of a loop into later ones.

    Args:
        kinds: its effects; of equal ones a single one will do.
        loop: the loop.
        forms: values as sums.
    """

    def __init__(self, kinds: list[_Summary], loop: Node, forms: Forms) -> None:
        assert loop.body is not None
        self._kinds, self._forms = kinds, forms
        self._known, self._fixed = inductions(loop, forms), set(loop.body.invariants)
        self._at: dict[Array, list[tuple[int, Access, Sum | None]]] = {}
        moves: dict[frozenset[tuple[Value, int]], Sum | None] = {}
        for number, summary in enumerate(kinds):
            for access in summary.accesses:
                if access.terms not in moves:
                    moves[access.terms] = self._step(access.low) if access.low else Sum()
                moved = moves[access.terms]
                self._at.setdefault(access.array, []).append((number, access, moved))
        self._synchronising = [n for n, s in enumerate(kinds) if s.synchronises]

    def distances(self, first: _Summary) -> list[int]:
        """In how many iterations at least each effect must wait for this one; 0: never."""
        row = [0] * len(self._kinds)
        for a in first.accesses:
            for number, b, moved in self._at[a.array]:
                if (a.writes or b.writes) and row[number] != 1:
                    distance = self._meeting(a, b, moved)
                    if distance:
                        row[number] = min(row[number] or distance, distance)
        every = range(len(row)) if first.synchronises else self._synchronising
        for number in every:
            if _synchronised(first, self._kinds[number]):
                row[number] = 1
        return row

    def _step(self, low: Sum) -> Sum | None:
        """By how much a place moves on in an iteration; None if that isn't known."""
        moved = Sum()
        for value, coefficient in low.terms.items():
            if value in self._known:
                moved = moved.plus(self._known[value].step, coefficient)
            elif value.node not in self._fixed and value.node.op not in (Op.SCALAR, Op.THREAD):
                return None
        return moved

    def _meeting(self, a: Access, b: Access, moved: Sum | None) -> int:
        """The least number of iterations after which b, which moves so, meets a; 0: never."""
        if a.low is None or b.low is None or moved is None:
            return 1
        if a.terms != b.terms:
            # With equal changes in both the difference stays what it is in one iteration.
            still = not moved.terms and not moved.constant
            return 0 if still and disjoint(a.low, a.bytes, b.low, b.bytes, self._forms) else 1
        base = b.low.constant - a.low.constant
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
