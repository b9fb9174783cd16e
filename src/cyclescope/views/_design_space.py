"""The parallelism that each of many kernels has, from absolute to unbounded.

As the cprof paper's Figures 8 (average) and 9 (maximum); here side by side, a line for each kernel.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cyclescope.views._svg import Svg
from cyclescope.views._text import clip, visible

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["DesignSpace", "design_space_svg"]

_NAMES, _PANEL, _GAP, _EDGE = 130, 350, 40, 34
_TOP, _ROW = 92, 18
_STYLE = """
text { font: 12px system-ui, sans-serif; fill: #1b1b1f }
.title { font-size: 15px; font-weight: bold }
.tick { fill: #5f6068; font-size: 11px }
.grid { stroke: #e3e4e8 }
.one { stroke: #9aa0ab; stroke-dasharray: 3 3 }
.space { stroke: #c3d0e6; stroke-width: 5 }
.absolute { fill: #fff; stroke: #2457a6; stroke-width: 2 }
.unbounded { fill: #2457a6 }
.page { fill: #fff }
"""


@dataclass(frozen=True, slots=True)
class DesignSpace:
    """A kernel's operations under way at a time.

    Attributes:
        name: the kernel.
        average: over all cycles, absolute and unbounded.
        maximum: the most at any time, absolute and unbounded.
    """

    name: str
    average: tuple[float, float]
    maximum: tuple[float, float]


def design_space_svg(title: str, rows: Sequence[DesignSpace]) -> bytes:
    """Draw both degrees of parallelism of each kernel, on logarithmic axes.

    Args:
        title: a heading.
        rows: the kernels; they are drawn with the largest unbounded average first.

    Returns:
        An SVG document in UTF-8. What lies between the two marks of a kernel is what another
        program, or more hardware, can gain.
    """
    ordered = sorted(rows, key=lambda row: (-row.average[1], row.name))
    width = _NAMES + 2 * _PANEL + _GAP + _EDGE
    height = _TOP + max(len(ordered), 1) * _ROW + 44
    svg = Svg()
    size = {"width": str(width), "height": str(height)}
    svg.begin(viewBox=f"0 0 {width} {height}", role="img", **size)
    heading = clip(visible(title), 90)
    svg.leaf("title", heading)
    svg.leaf("style", _STYLE)
    svg.leaf("rect", class_="page", **size)
    svg.text(heading, 12, 24, "title")
    for x, style, text in ((_NAMES, "absolute", "absolute: one resource a statement"),
                           (_NAMES + 240, "unbounded", "unbounded: one a firing")):  # fmt: skip
        svg.leaf("circle", class_=style, cx=str(x + 5), cy="44", r="4.5")
        svg.text(text, x + 16, 48, "key")
    for n, row in enumerate(ordered):
        svg.text(clip(visible(row.name), 18), _NAMES - 12, _TOP + n * _ROW + 13, "name",
                 text_anchor="end")  # fmt: skip
    for n, what in enumerate(("average", "maximum")):
        pairs = [(row.name, getattr(row, what)) for row in ordered]
        _panel(svg, _NAMES + n * (_PANEL + _GAP), f"{what} parallelism, operations a cycle", pairs)
    return svg.end()


def _panel(
    svg: Svg, left: int, heading: str, rows: Sequence[tuple[str, tuple[float, float]]]
) -> None:
    """One figure: a line for each kernel from its absolute to its unbounded value."""
    values = [value for _, pair in rows for value in pair if value > 0] or [1.0]
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    low, high = min(low, 0), max(high, low + 1, 1)
    bottom = _TOP + max(len(rows), 1) * _ROW

    def at(value: float) -> float:
        # Zero is at the left edge.
        part = (math.log10(value) - low) / (high - low) if value > 0 else 0
        return left + _PANEL * part

    svg.text(heading, left, _TOP - 20, "heading")
    for power in range(low, high + 1):
        x = f"{at(10.0**power):.1f}"
        svg.leaf("line", x1=x, x2=x, y1=str(_TOP - 6), y2=str(bottom),
                 class_="one" if power == 0 else "grid")  # fmt: skip
        text = f"{10**power:,}" if power >= 0 else f"{10.0**power:.{-power}f}"
        svg.text(text, float(x), bottom + 18, "tick", text_anchor="middle")
    for n, (name, (absolute, unbounded)) in enumerate(rows):
        y = _TOP + n * _ROW + 9
        svg.open("g")
        svg.leaf("title", f"{visible(name)}: absolute {absolute:,.2f}, unbounded {unbounded:,.2f}")
        svg.leaf("line", x1=f"{at(absolute):.1f}", x2=f"{at(unbounded):.1f}", y1=str(y), y2=str(y),
                 class_="space")  # fmt: skip
        for value, style in ((unbounded, "unbounded"), (absolute, "absolute")):
            svg.leaf("circle", class_=style, cx=f"{at(value):.1f}", cy=str(y), r="4.5")
        svg.close("g")
