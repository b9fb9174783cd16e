"""A process network as a picture: layers from inputs to outputs, edges with their token counts."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from cyclescope.views._text import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["NetworkEdge", "NetworkNode", "network_svg"]

_WIDTH, _HEIGHT, _GAP_X, _GAP_Y, _MARGIN = 170, 46, 110, 34, 40
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


def network_svg(title: str, nodes: Sequence[NetworkNode], edges: Sequence[NetworkEdge]) -> str:
    """The network as SVG.

    A node is one layer to the right of the farthest one that it reads from, loops left out;
    edges out of order are red, those that need a reordering buffer dashed.
    """
    layers = _layers(len(nodes), edges)
    columns: dict[int, list[int]] = defaultdict(list)
    for node, layer in enumerate(layers):
        columns[layer].append(node)
    pairs = sorted({(e.producer, e.consumer) for e in edges})
    chains = _chains(pairs, layers, columns)
    _order(columns, [link for chain in chains.values() for link in pairwise(chain)])
    place: dict[int, tuple[float, float]] = {}
    tallest = max((len(c) for c in columns.values()), default=1)
    for layer, column in columns.items():
        top = _MARGIN + 30 + (tallest - len(column)) * (_HEIGHT + _GAP_Y) / 2
        for row, node in enumerate(column):
            x = float(_MARGIN + layer * (_WIDTH + _GAP_X))
            place[node] = (x, top + row * (_HEIGHT + _GAP_Y))
    width: float = 2 * _MARGIN + len(columns) * (_WIDTH + _GAP_X) - _GAP_X
    height: float = 2 * _MARGIN + 30 + tallest * (_HEIGHT + _GAP_Y) + 30
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
    for pair in pairs:
        bundle = [e for e in edges if (e.producer, e.consumer) == pair]
        _edge(root, [place[n] for n in chains[pair]], bundle, loop=pair[0] == pair[1])
    for number, given in enumerate(nodes):
        _node(root, given, *place[number])
    legend = "blue: read in order; red: out of order; dashed: needs a reordering buffer; "
    legend += "x: tokens (reads, where values repeat)"
    if any(edge.depth for edge in edges):
        legend += "; [ ]: depth of the channel in hardware"
    _text(root, _MARGIN, height - 16, legend, {"fill": "#555555", "font-size": "11"})
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode") + "\n"


def _layers(count: int, edges: Sequence[NetworkEdge]) -> list[int]:
    """Longest path from a node without inputs; edges that close a loop do not count.

    Nodes are listed in the program's order (sources anywhere), so an edge from a later
    statement to an earlier one is taken for a loop.
    """
    reads: dict[int, set[int]] = defaultdict(set)
    for edge in edges:
        if edge.producer != edge.consumer:
            reads[edge.consumer].add(edge.producer)
    layers: dict[int, int] = {}
    open_nodes: set[int] = set()

    def layer(node: int) -> int:
        if node in layers:
            return layers[node]
        open_nodes.add(node)
        before = [layer(p) for p in sorted(reads[node]) if p not in open_nodes]
        open_nodes.discard(node)
        layers[node] = 1 + max(before, default=-1)
        return layers[node]

    return [layer(node) for node in range(count)]


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


def _edge(
    root: ElementTree.Element,
    points: Sequence[tuple[float, float]],
    bundle: Sequence[NetworkEdge],
    *,
    loop: bool,
) -> None:
    (x1, y1), (x2, y2) = points[0], points[-1]
    if loop:
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
        # A third of the way to the next layer, where edges have not met yet.
        label = (x1 + _WIDTH + 32, y1 + middle + (points[1][1] - y1) * 0.2 - 5)
    order = "out-of-order" if any(e.order.startswith("out") for e in bundle) else "in-order"
    group = ElementTree.SubElement(root, "g")
    lines = [f"{e.label}: {_count(e)} {e.order}" for e in bundle]
    ElementTree.SubElement(group, "title").text = visible("\n".join(lines))
    style = {"d": path, "fill": "none", "stroke": _STROKE[order], "stroke-width": "1.4"}
    style["marker-end"] = f"url(#arrow-{order})"
    if any(e.reordered for e in bundle):
        style["stroke-dasharray"] = "5 3"
    ElementTree.SubElement(group, "path", style)
    shown = ", ".join(_count(e) for e in bundle)
    font = {"text-anchor": "middle", "font-size": "10", "fill": _STROKE[order]}
    font |= {"stroke": "#ffffff", "stroke-width": "3", "paint-order": "stroke"}
    _text(group, label[0], label[1], _fitting(shown, 30), font)


def _count(edge: NetworkEdge) -> str:
    depth = f" [{edge.depth}]" if edge.depth else ""
    reads = f" ({edge.reads})" if edge.reads != edge.tokens else ""
    return f"x{edge.tokens}{reads}{depth}"
