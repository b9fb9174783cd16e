"""The layout of a process network: layers from inputs to outputs, with places for labels.

Between two layers of nodes is a column of labels. A line passes through a place of its own in each
column between its ends, and in the first of them past its label, so that no label lies on another,
on a node, or on another line. Places are ordered by the mean row of their neighbours (K. Sugiyama,
S. Tagawa, M. Toda: "Methods for visual understanding of hierarchical system structures", 1981).
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["NODE_HEIGHT", "NODE_WIDTH", "NetworkLine", "NetworkPlan", "network_plan"]

NODE_WIDTH, NODE_HEIGHT = 170, 46
_GAP, _BEND, _MARGIN = 34, 40, 40
_PASSING = 14  # height that a line takes which passes a column
_LOOP = 26  # height of a line from a node back to itself
_SWEEPS = 8

_Pair = tuple[int, int]
_Span = tuple[float, float, float]  # from x to x, and y


@dataclass(frozen=True, slots=True)
class NetworkLine:
    """The line of all edges from one node to another.

    Attributes:
        producer, consumer: positions of the nodes.
        path: as the attribute `d` of an SVG path has it.
        label: the middle of the foot of its text.
    """

    producer: int
    consumer: int
    path: str
    label: tuple[float, float]


@dataclass(frozen=True, slots=True)
class NetworkPlan:
    """The places of a network's nodes and lines, in pixels.

    Attributes:
        width, height: of the picture, its margin included.
        node: width and height of each node.
        nodes: their upper left corners.
        lines: one for each pair of nodes with edges between them.
    """

    width: float
    height: float
    node: tuple[int, int]
    nodes: tuple[tuple[float, float], ...]
    lines: tuple[NetworkLine, ...]


@dataclass(slots=True)
class _Place:
    """A node, or where a line passes a column.

    Attributes:
        column: from 0; nodes are in the even ones.
        above, below: space that it takes from the height of its line's end.
        width: of itself.
        y: that height.
    """

    column: int
    above: float
    below: float
    width: float
    y: float = 0.0


def network_plan(
    count: int, labels: Mapping[_Pair, tuple[float, float]], top: int = 0
) -> NetworkPlan:
    """Lay a network out.

    A node is one layer to the right of the farthest one that it reads from, loops left out; one
    that reads from none is one layer to the left of the nearest one that reads from it.

    Args:
        count: nodes.
        labels: of each (producer, consumer), by position, the width and height of the label of
            what goes from one to the other.
        top: pixels to leave free above.
    """
    pairs = sorted(labels)
    places = [
        _Place(2 * layer, NODE_HEIGHT / 2 + _GAP / 2, NODE_HEIGHT / 2 + _GAP / 2, NODE_WIDTH)
        for layer in _layers(count, pairs)
    ]
    chains = {pair: _chain(pair, places, labels[pair]) for pair in pairs}
    columns: list[list[int]] = [[] for _ in range(1 + max((p.column for p in places), default=0))]
    for number, place in enumerate(places):
        columns[place.column].append(number)
    links = sorted({link for chain in chains.values() for link in pairwise(chain)})
    columns = _ordered(columns, links)
    _set_heights(columns, places, links)
    lowest = min((place.y - place.above for place in places), default=0.0)
    for place in places:
        place.y += _MARGIN + top - lowest
    left: list[float] = []
    x = float(_MARGIN)
    widths = [max((places[n].width for n in column), default=0.0) for column in columns]
    for width in widths:
        left.append(x)
        x += width + _BEND
    spans = [(a, a + width) for a, width in zip(left, widths, strict=True)]
    return NetworkPlan(
        x - _BEND + _MARGIN,
        _MARGIN + max((place.y + place.below for place in places), default=0.0),
        (NODE_WIDTH, NODE_HEIGHT),
        tuple(
            (sum(spans[place.column]) / 2 - NODE_WIDTH / 2, place.y - NODE_HEIGHT / 2)
            for place in places[:count]
        ),
        tuple(
            _line(
                pair,
                [(*spans[places[n].column], places[n].y) for n in chains[pair]],
                forward=chains[pair][0] == pair[0],
            )
            for pair in pairs
        ),
    )  # fmt: skip


def _layers(count: int, pairs: Sequence[_Pair]) -> list[int]:
    """Longest path from a node without inputs; edges that close a loop do not count.

    Nodes are listed in the program's order (sources and sinks anywhere), so an edge from a later
    statement to an earlier one is taken for a loop.
    """
    reads: dict[int, set[int]] = defaultdict(set)
    read_by: dict[int, set[int]] = defaultdict(set)
    for producer, consumer in pairs:
        if producer != consumer:
            reads[consumer].add(producer)
            read_by[producer].add(consumer)
    layers = [0] * count
    sources = [node for node in range(count) if not reads[node]]
    for node in sorted(range(count), key=lambda node: (not read_by[node], node)):
        before = [p for p in reads[node] if p < node or not reads[p] or not read_by[node]]
        layers[node] = 1 + max((layers[p] for p in before), default=-1)
    for node in sources:
        if read_by[node]:
            layers[node] = max(0, min(layers[reader] for reader in read_by[node]) - 1)
    return layers


def _chain(pair: _Pair, places: list[_Place], label: tuple[float, float]) -> list[int]:
    """The places of a line, from left to right; between its ends they are new.

    A line to an earlier layer passes the same columns as one from there; one within a layer goes
    round in the column to the right.
    """
    producer, consumer = pair
    width, height = label
    if producer == consumer:
        own = places[producer]
        own.above = max(own.above, NODE_HEIGHT / 2 + _LOOP + height)
        own.width = max(own.width, width)
        return [producer]
    first, last = sorted(pair, key=lambda node: (places[node].column, node != producer))
    between = range(places[first].column + 1, max(places[last].column, places[first].column + 2))
    chain = [first]
    labelled = between[0] if first == producer else between[-1]
    for column in between:
        if column == labelled:
            places.append(_Place(column, height + 4, _PASSING, width))
        else:
            places.append(_Place(column, _PASSING / 2, _PASSING / 2, 0))
        chain.append(len(places) - 1)
    return [*chain, last]


def _ordered(columns: list[list[int]], links: Sequence[_Pair]) -> list[list[int]]:
    """Put each place near the mean row of its neighbours, those left and those right in turn.

    Of all orders that were seen it is the one with the fewest crossings.
    """
    best = columns = [list(column) for column in columns]
    fewest = _crossings(columns, links)
    for sweep in range(_SWEEPS):
        linked = _linked(links, to_left=sweep % 2 == 0)
        row = {n: at - len(column) / 2 for column in columns for at, n in enumerate(column)}
        for column in columns if sweep % 2 == 0 else columns[::-1]:

            def middle(place: int) -> float:
                own = [row[other] for other in linked[place]]  # noqa: B023
                return sum(own) / len(own) if own else row[place]  # noqa: B023

            column.sort(key=lambda place: (middle(place), row[place]))
            for at, place in enumerate(column):
                row[place] = at - len(column) / 2
        found = _crossings(columns, links)
        if found < fewest:
            best, fewest = [list(column) for column in columns], found
    return best


def _linked(links: Sequence[_Pair], *, to_left: bool) -> dict[int, list[int]]:
    found: dict[int, list[int]] = defaultdict(list)
    for a, b in links:
        found[b if to_left else a].append(a if to_left else b)
    return found


def _crossings(columns: Sequence[Sequence[int]], links: Sequence[_Pair]) -> int:
    row = {n: (c, at) for c, column in enumerate(columns) for at, n in enumerate(column)}
    between: dict[int, list[_Pair]] = defaultdict(list)
    for a, b in links:
        (column, one), (_, other) = row[a], row[b]
        between[column].append((one, other))
    return sum(
        (a - c) * (b - d) < 0
        for lines in between.values()
        for at, (a, b) in enumerate(lines)
        for c, d in lines[:at]
    )


def _set_heights(
    columns: Sequence[Sequence[int]], places: list[_Place], links: Sequence[_Pair]
) -> None:
    """Give each place the mean height of its neighbours, as far as its column has space."""
    sides = [_linked(links, to_left=to_left) for to_left in (True, False)]
    for column in columns:
        _apart(column, places, [0.0] * len(column))
    for sweep in range(_SWEEPS):
        linked = sides[sweep % 2]
        for column in columns if sweep % 2 == 0 else columns[::-1]:
            wanted = []
            for place in column:
                own = [places[other].y for other in linked[place]]
                wanted.append(sum(own) / len(own) if own else places[place].y)
            _apart(column, places, wanted)


def _apart(column: Sequence[int], places: list[_Place], wanted: Sequence[float]) -> None:
    """The heights nearest to those wanted with which nothing in a column overlaps.

    Where they are too near they become a block, whose place is the mean of what its members want.
    """
    offset = 0.0
    blocks: list[tuple[float, list[tuple[int, float]]]] = []
    for at, place in enumerate(column):
        if at:
            offset += places[column[at - 1]].below + places[place].above
        mean, members = wanted[at] - offset, [(place, offset)]
        while blocks and blocks[-1][0] > mean:
            other, before = blocks.pop()
            mean = (mean * len(members) + other * len(before)) / (len(members) + len(before))
            members = before + members
        blocks.append((mean, members))
    for mean, members in blocks:
        for place, own in members:
            places[place].y = mean + own


def _line(pair: _Pair, points: Sequence[_Span], *, forward: bool) -> NetworkLine:
    """A line through the places of its chain."""
    left, right, y = points[0]
    if len(points) == 1:
        middle, edge = (left + right) / 2, y - NODE_HEIGHT / 2
        x = middle + NODE_WIDTH / 2 - 30
        path = f"M{x:g},{edge:g} C{x + 10:g},{edge - _LOOP:g} {x - 50:g},{edge - _LOOP:g}"
        return NetworkLine(*pair, f"{path} {x - 40:g},{edge:g}", (middle, edge - _LOOP + 2))
    label = points[1] if forward else points[-2]
    foot = (label[0] + label[1]) / 2, label[2] - 4
    if points[-1][0] == left:  # within a layer: past the label, and back below
        a, b, y = label
        below = y + _PASSING / 2
        path = _through(points[:-1])
        path += f" C{b + 8:g},{y:g} {b + 8:g},{below:g} {b:g},{below:g} L{a:g},{below:g}"
        path += _bend(a, below, right, points[-1][2])
        return NetworkLine(*pair, path + _to_node(points[-1], -1), foot)
    if not forward:
        points = [(right, left, y) for left, right, y in points[::-1]]
    (end, _, y), way = points[-1], 1 if forward else -1
    path = _through([*points[:-1], (end, end, y)]) + _to_node(points[-1], way)
    return NetworkLine(*pair, path, foot)


def _through(points: Sequence[_Span]) -> str:
    """A path from a node, in the middle of the first span, through the others."""
    begin, end, y = points[0]
    way = NODE_WIDTH / 2 if begin < end else -NODE_WIDTH / 2
    path = f"M{(begin + end) / 2 + way:g},{y:g}"
    if end - begin != 2 * way:
        path += f" L{end:g},{y:g}"
    for (_, x1, y1), (x2, x3, y2) in pairwise(points):
        path += _bend(x1, y1, x2, y2)
        if x3 != x2:
            path += f" L{x3:g},{y2:g}"
    return path


def _to_node(span: _Span, way: int) -> str:
    """The end of a path, from the edge of a column that is wider than its nodes."""
    left, right, y = span
    if abs(right - left) == NODE_WIDTH:
        return ""
    return f" L{(left + right) / 2 - way * NODE_WIDTH / 2:g},{y:g}"


def _bend(x1: float, y1: float, x2: float, y2: float) -> str:
    middle = (x1 + x2) / 2
    return f" C{middle:g},{y1:g} {middle:g},{y2:g} {x2:g},{y2:g}"
