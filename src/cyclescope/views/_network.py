"""A process network as a picture: nodes, and edges with their token counts."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from cyclescope.views._network_plan import NODE_HEIGHT, NODE_WIDTH, network_plan
from cyclescope.views._text import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cyclescope.views._network_plan import NetworkLine

__all__ = ["NetworkEdge", "NetworkNode", "network_svg"]

_LETTER, _ROW = 6, 12  # width and height of a label's letter
_MARGIN = 40
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

    Edges out of order are red, those that need a reordering buffer dashed.
    """
    bundles: dict[tuple[int, int], list[NetworkEdge]] = defaultdict(list)
    for edge in edges:
        bundles[edge.producer, edge.consumer].append(edge)
    sizes = {pair: (_LETTER * len(_label(own)), _ROW) for pair, own in bundles.items()}
    plan = network_plan(len(nodes), sizes, top=30)
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
        _edge(root, line, bundles[line.producer, line.consumer])
    for place, given in zip(plan.nodes, nodes, strict=True):
        _node(root, given, *place)
    legend = "blue: read in order; red: out of order; dashed: needs a reordering buffer; "
    legend += "x: tokens (reads, where values repeat)"
    if any(edge.depth for edge in edges):
        legend += "; [ ]: depth of the channel in hardware"
    _text(root, _MARGIN, height - 16, legend, {"fill": "#555555", "font-size": "11"})
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode") + "\n"


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
            "width": str(NODE_WIDTH),
            "height": str(NODE_HEIGHT),
            "rx": "20" if node.kind in ("source", "sink") else "4",
            "fill": _FILL.get(node.kind, "#ffffff"),
            "stroke": "#444444",
        },
    )
    middle = {"text-anchor": "middle"}
    _text(group, x + NODE_WIDTH / 2, y + 19, _fitting(node.name, 24), middle)
    note = {**middle, "font-size": "10", "fill": "#555555"}
    _text(group, x + NODE_WIDTH / 2, y + 35, _fitting(node.note, 32), note)


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
    font = {"text-anchor": "middle", "font-size": "10", "fill": _STROKE[order]}
    font |= {"stroke": "#ffffff", "stroke-width": "3", "paint-order": "stroke"}
    _text(group, *line.label, _label(bundle), font)


def _label(bundle: Sequence[NetworkEdge]) -> str:
    return _fitting(", ".join(_count(e) for e in bundle), 30)


def _count(edge: NetworkEdge) -> str:
    depth = f" [{edge.depth}]" if edge.depth else ""
    reads = f" ({edge.reads})" if edge.reads != edge.tokens else ""
    return f"x{edge.tokens}{reads}{depth}"
