"""A process network as a picture: layers from inputs to outputs, edges with their token counts."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from cyclescope.views._text import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = [
    "NetworkEdge",
    "NetworkLine",
    "NetworkNode",
    "NetworkPlan",
    "network_plan",
    "network_svg",
]

_WIDTH, _HEIGHT, _GAP_X, _GAP_Y, _MARGIN = 170, 46, 150, 34, 40
_PASSING = 26  # height that a line takes which passes a layer
_FILL = {"source": "#d7e8f7", "sink": "#d7e8f7", "constant": "#ececec", "statement": "#fbe3c0"}
_STROKE = {"in-order": "#3b6ea5", "out-of-order": "#b5322a"}


@dataclass(frozen=True, slots=True)
class NetworkNode:
    """A process: a name, its kind (`statement`, `source`, `sink`, `constant`), a second line."""

    name: str
    kind: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class NetworkEdge:
    """Values from one node to another, by position in the list of nodes.

    Attributes:
        producer, consumer: positions.
        label: what flows.
        tokens: how many different values.
        reads: how often they are read.
        order: `in-order` or `out-of-order`, with ` with multiplicity` where some repeat.
        reordered: whether the edge needs a reordering buffer.
        depth: tokens that its channel in hardware holds; 0 if there is none.
    """

    producer: int
    consumer: int
    label: str
    tokens: int
    reads: int
    order: str
    reordered: bool
    depth: int = 0


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


def network_plan(count: int, edges: Iterable[tuple[int, int]], top: int = 0) -> NetworkPlan:
    """Lay a network out.

    A node is one layer to the right of the farthest one that it reads from, loops left out; one
    that reads from none is one layer to the left of the nearest one that reads from it.

    Args:
        count: nodes.
        edges: (producer, consumer) of each, by position.
        top: pixels to leave free above.
    """
    pairs = sorted(set(edges))
    layers = _layers(count, pairs)
    columns: dict[int, list[int]] = defaultdict(list)
    for node, layer in enumerate(layers):
        columns[layer].append(node)
    chains = _chains(pairs, layers, columns)
    _order(columns, [link for chain in chains.values() for link in pairwise(chain)])
    place: dict[int, tuple[float, float]] = {}
    space = {
        layer: sum(_HEIGHT + _GAP_Y if node < count else _PASSING for node in column)
        for layer, column in columns.items()
    }
    tallest = max(space.values(), default=0)
    for layer, column in columns.items():
        x = float(_MARGIN + layer * (_WIDTH + _GAP_X))
        y = _MARGIN + top + (tallest - space[layer]) / 2
        for node in column:
            # A line that passes does so where the middle of a node would be.
            place[node] = (x, y if node < count else y + (_PASSING - _HEIGHT - _GAP_Y) / 2)
            y += _HEIGHT + _GAP_Y if node < count else _PASSING
    return NetworkPlan(
        2 * _MARGIN + len(columns) * (_WIDTH + _GAP_X) - _GAP_X,
        2 * _MARGIN + top + tallest,
        (_WIDTH, _HEIGHT),
        tuple(place[node] for node in range(count)),
        tuple(_line(pair, [place[n] for n in chains[pair]]) for pair in pairs),
    )


def network_svg(title: str, nodes: Sequence[NetworkNode], edges: Sequence[NetworkEdge]) -> str:
    """The network as SVG.

    Edges out of order are red, those that need a reordering buffer dashed.
    """
    plan = network_plan(len(nodes), ((e.producer, e.consumer) for e in edges), top=30)
    width, height = plan.width, plan.height + 30
    root = ElementTree.Element(
        "svg",
        {
            "xmlns": "http://www.w3.org/2000/svg",
            "viewBox": f"0 0 {width:g} {height:g}",
            "width": f"{width:g}",
            "height": f"{height:g}",
            "font-family": "sans-serif",
            "font-size": "12",
        },
    )
    ElementTree.SubElement(root, "title").text = visible(title)
    ElementTree.SubElement(root, "rect", {"width": "100%", "height": "100%", "fill": "#ffffff"})
    _text(root, _MARGIN, 28, title, {"font-size": "15", "font-weight": "bold"})
    _markers(root)
    for line in plan.lines:
        ends = line.producer, line.consumer
        _edge(root, line, [e for e in edges if (e.producer, e.consumer) == ends])
    for place, given in zip(plan.nodes, nodes, strict=True):
        _node(root, given, *place)
    legend = "blue: read in order; red: out of order; dashed: needs a reordering buffer; "
    legend += "x: tokens (reads, where values repeat)"
    if any(edge.depth for edge in edges):
        legend += "; [ ]: depth of the channel in hardware"
    _text(root, _MARGIN, height - 16, legend, {"fill": "#555555", "font-size": "11"})
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode") + "\n"


def _layers(count: int, pairs: Sequence[tuple[int, int]]) -> list[int]:
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


def _chains(
    pairs: Sequence[tuple[int, int]], layers: Sequence[int], columns: dict[int, list[int]]
) -> dict[tuple[int, int], list[int]]:
    """For each edge its nodes, with a place to pass through in every layer between."""
    free = len(layers)
    chains: dict[tuple[int, int], list[int]] = {}
    for producer, consumer in pairs:
        chain = [producer]
        for layer in range(layers[producer] + 1, layers[consumer]):
            columns[layer].append(free)
            chain.append(free)
            free += 1
        chains[producer, consumer] = [*chain, consumer]
    return chains


def _order(columns: dict[int, list[int]], links: Sequence[tuple[int, int]]) -> None:
    """Put each node near the mean row of the nodes that it reads from."""
    row: dict[int, float] = {}
    for layer in sorted(columns):
        column = columns[layer]

        def middle(node: int) -> float:
            above = [row[a] for a, b in links if b == node and a in row]
            return sum(above) / len(above) if above else float(node)

        column.sort(key=lambda node: (middle(node), node))
        for position, node in enumerate(column):
            row[node] = position - len(column) / 2


def _markers(root: ElementTree.Element) -> None:
    defs = ElementTree.SubElement(root, "defs")
    for name, colour in _STROKE.items():
        marker = ElementTree.SubElement(
            defs,
            "marker",
            {
                "id": f"arrow-{name}",
                "viewBox": "0 0 8 8",
                "refX": "7",
                "refY": "4",
                "markerWidth": "7",
                "markerHeight": "7",
                "orient": "auto",
            },
        )
        ElementTree.SubElement(marker, "path", {"d": "M0,0 L8,4 L0,8 z", "fill": colour})


def _text(root: ElementTree.Element, x: float, y: float, text: str, extra: dict[str, str]) -> None:
    node = ElementTree.SubElement(root, "text", {"x": f"{x:g}", "y": f"{y:g}", **extra})
    node.text = visible(text)


def _fitting(text: str, space: int) -> str:
    return text if len(text) <= space else text[: space - 1] + "…"


def _node(root: ElementTree.Element, node: NetworkNode, x: float, y: float) -> None:
    group = ElementTree.SubElement(root, "g")
    ElementTree.SubElement(group, "title").text = visible(f"{node.name}: {node.note}")
    ElementTree.SubElement(
        group,
        "rect",
        {
            "x": f"{x:g}",
            "y": f"{y:g}",
            "width": str(_WIDTH),
            "height": str(_HEIGHT),
            "rx": "20" if node.kind in ("source", "sink") else "4",
            "fill": _FILL.get(node.kind, "#ffffff"),
            "stroke": "#444444",
        },
    )
    middle = {"text-anchor": "middle"}
    _text(group, x + _WIDTH / 2, y + 19, _fitting(node.name, 24), middle)
    note = {**middle, "font-size": "10", "fill": "#555555"}
    _text(group, x + _WIDTH / 2, y + 35, _fitting(node.note, 32), note)


def _line(pair: tuple[int, int], points: Sequence[tuple[float, float]]) -> NetworkLine:
    (x1, y1), (x2, y2) = points[0], points[-1]
    if pair[0] == pair[1]:
        x, y = x1 + _WIDTH - 30, y1
        path = f"M{x:g},{y:g} C{x + 10:g},{y - 30:g} {x - 50:g},{y - 30:g} {x - 40:g},{y:g}"
        label = (x - 20, y - 26)
    elif x2 <= x1:  # back to an earlier layer: leave and enter below
        a, b = (x1 + _WIDTH / 2, y1 + _HEIGHT), (x2 + _WIDTH / 2 + 20, y2 + _HEIGHT)
        low = max(a[1], b[1]) + 34
        path = f"M{a[0]:g},{a[1]:g} C{a[0]:g},{low:g} {b[0]:g},{low:g} {b[0]:g},{b[1]:g}"
        label = ((a[0] + b[0]) / 2, low - 8)
    else:
        middle = _HEIGHT / 2
        path = f"M{x1 + _WIDTH:g},{y1 + middle:g}"
        for (xa, ya), (xb, yb) in pairwise(points):
            bend = (xb - xa - _WIDTH) / 2
            path += f" L{xa + _WIDTH:g},{ya + middle:g}"
            path += f" C{xa + _WIDTH + bend:g},{ya + middle:g} {xb - bend:g},{yb + middle:g}"
            path += f" {xb:g},{yb + middle:g}"
        # Half way to the next layer, where edges from and to one node are apart.
        label = (x1 + _WIDTH + _GAP_X / 2, y1 + middle + (points[1][1] - y1) / 2 - 3)
    return NetworkLine(*pair, path, label)


def _edge(root: ElementTree.Element, line: NetworkLine, bundle: Sequence[NetworkEdge]) -> None:
    order = "out-of-order" if any(e.order.startswith("out") for e in bundle) else "in-order"
    group = ElementTree.SubElement(root, "g")
    lines = [f"{e.label}: {_count(e)} {e.order}" for e in bundle]
    ElementTree.SubElement(group, "title").text = visible("\n".join(lines))
    style = {"d": line.path, "fill": "none", "stroke": _STROKE[order], "stroke-width": "1.4"}
    style["marker-end"] = f"url(#arrow-{order})"
    if any(e.reordered for e in bundle):
        style["stroke-dasharray"] = "5 3"
    ElementTree.SubElement(group, "path", style)
    shown = ", ".join(_count(e) for e in bundle)
    font = {"text-anchor": "middle", "font-size": "10", "fill": _STROKE[order]}
    font |= {"stroke": "#ffffff", "stroke-width": "3", "paint-order": "stroke"}
    _text(group, *line.label, _fitting(shown, 30), font)


def _count(edge: NetworkEdge) -> str:
    depth = f" [{edge.depth}]" if edge.depth else ""
    reads = f" ({edge.reads})" if edge.reads != edge.tokens else ""
    return f"x{edge.tokens}{reads}{depth}"
