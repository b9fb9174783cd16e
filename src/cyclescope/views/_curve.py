"""Cycles against resources a statement, between the two bounds (the cprof paper's Figure 1)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cyclescope.views._svg import Svg
from cyclescope.views._text import clip, number, visible

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["CurvePoint", "curve_svg"]

_WIDTH, _HEIGHT = 760, 440
_LEFT, _RIGHT, _TOP, _BOTTOM = 90, 40, 64, 60
_STYLE = """
text { font: 12px system-ui, sans-serif; fill: #1b1b1f }
.title { font-size: 15px; font-weight: bold }
.tick { fill: #5f6068; font-size: 11px }
.grid { stroke: #e3e4e8 }
.never { fill: #e9eaee }
.bound { stroke: #1b1b1f; stroke-width: 1.2 }
.ideal { fill: none; stroke: #9aa0ab; stroke-dasharray: 4 3 }
.curve { fill: none; stroke: #2457a6; stroke-width: 2 }
.point { fill: #2457a6 }
.name, .figure { paint-order: stroke; stroke: #fff; stroke-width: 3px }
.figure { font-size: 11px; fill: #2457a6 }
.page { fill: #fff }
"""


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """Cycles with some resources a statement."""

    resources: int
    cycles: int


def curve_svg(title: str, points: Sequence[CurvePoint], absolute: int, unbounded: int) -> bytes:
    """Draw the curve; both axes are logarithmic.

    Args:
        title: a heading.
        points: with rising resources.
        absolute: cycles with one resource a statement.
        unbounded: cycles with any number.

    Returns:
        An SVG document in UTF-8. Below the unbounded cycles lies what no hardware of this program
        reaches; the dashed line is absolute / resources, which no dependence would hold back.
    """
    return _Writer(title, points, absolute, unbounded).svg()


class _Writer:
    def __init__(
        self, title: str, points: Sequence[CurvePoint], absolute: int, unbounded: int
    ) -> None:
        self._title = clip(visible(title), 80)
        self._points = points
        self._bounds = max(absolute, 1), max(unbounded, 1)
        self._most = max([point.resources for point in points], default=1)
        # From below the unbounded cycles, so that what lies there is seen.
        self._low = math.log10(self._bounds[1]) - 0.25
        self._high = max(math.log10(self._bounds[0]), self._low + 0.5) + 0.05
        self._svg = Svg()

    def svg(self) -> bytes:
        """The whole document."""
        size = {"width": str(_WIDTH), "height": str(_HEIGHT)}
        self._svg.begin(viewBox=f"0 0 {_WIDTH} {_HEIGHT}", role="img", **size)
        self._svg.leaf("title", self._title)
        self._svg.leaf("style", _STYLE)
        self._svg.leaf("rect", class_="page", **size)
        self._svg.text(self._title, _LEFT, 24, "title")
        self._svg.text("cycles", _LEFT - 8, _TOP - 12, "tick", text_anchor="end")
        self._svg.text("resources a statement", (_LEFT + _WIDTH - _RIGHT) / 2, _HEIGHT - 14,
                       "tick", text_anchor="middle")  # fmt: skip
        self._axes()
        self._reach()
        ends = " ".join(f"{self._x(p.resources):.1f},{self._y(p.cycles):.1f}" for p in self._points)
        self._svg.leaf("polyline", points=ends, class_="curve")
        self._figures()
        return self._svg.end()

    def _x(self, resources: float) -> float:
        whole = math.log2(max(self._most, 2))
        return _LEFT + (_WIDTH - _LEFT - _RIGHT) * math.log2(resources) / whole

    def _y(self, cycles: float) -> float:
        part = (math.log10(max(cycles, 1)) - self._low) / (self._high - self._low)
        return _HEIGHT - _BOTTOM - (_HEIGHT - _TOP - _BOTTOM) * part

    def _axes(self) -> None:
        bottom = _HEIGHT - _BOTTOM
        end = 0.0  # of the latest figure
        for point in self._points:
            at, text = self._x(point.resources), number(point.resources)
            x, half = f"{at:.1f}", 3.4 * len(text)
            self._svg.leaf("line", x1=x, x2=x, y1=str(_TOP), y2=str(bottom), class_="grid")
            if at - half > end + 4:
                self._svg.text(text, float(x), bottom + 18, "tick", text_anchor="middle")
                end = at + half
        for power in range(math.floor(self._low), math.ceil(self._high)):
            for digit in (1, 2, 5):
                value = digit * 10.0**power
                if value >= 1 and self._low <= math.log10(value) <= self._high:
                    y = f"{self._y(value):.1f}"
                    self._svg.leaf("line", x1=str(_LEFT), x2=str(_WIDTH - _RIGHT), y1=y, y2=y,
                                   class_="grid")  # fmt: skip
                    self._svg.text(number(round(value)), _LEFT - 8, float(y) + 4, "tick",
                                   text_anchor="end")  # fmt: skip

    def _reach(self) -> None:
        """The bounds, what lies below them, and absolute / resources."""
        absolute, unbounded = self._bounds
        y, right = self._y(unbounded), _WIDTH - _RIGHT
        self._svg.leaf("rect", x=str(_LEFT), y=f"{y:.1f}", width=str(right - _LEFT),
                       height=f"{_HEIGHT - _BOTTOM - y:.1f}", class_="never")  # fmt: skip
        last = min(self._most, absolute / unbounded)
        self._svg.leaf("line", x1=f"{self._x(1):.1f}", y1=f"{self._y(absolute):.1f}",
                       x2=f"{self._x(last):.1f}", y2=f"{self._y(absolute / last):.1f}",
                       class_="ideal")  # fmt: skip
        for name, cycles, below in (("absolute", absolute, False), ("unbounded", unbounded, True)):
            at = f"{self._y(cycles):.1f}"
            self._svg.leaf("line", x1=str(_LEFT), x2=str(right), y1=at, y2=at, class_="bound")
            self._svg.text(f"{name}: {number(cycles)}", right, float(at) + (16 if below else -6),
                           "name", text_anchor="end")  # fmt: skip
        self._svg.text("cannot be reached", _LEFT + 8, y + 16, "tick")
        if last < 2:
            return
        x = math.sqrt(last)
        self._svg.text("absolute ÷ resources", self._x(x) - 8, self._y(absolute / x) + 14, "tick",
                       text_anchor="end" if self._x(x) > _LEFT + 125 else "start")  # fmt: skip

    def _figures(self) -> None:
        ends = (self._points[0], self._points[-1]) if self._points else ()
        right: float = _WIDTH
        for point in reversed(self._points):
            x, y = self._x(point.resources), self._y(point.cycles)
            self._svg.open("circle", class_="point", cx=f"{x:.1f}", cy=f"{y:.1f}", r="4")
            self._svg.leaf("title", f"{number(point.resources)}: {number(point.cycles)} cycles")
            self._svg.close("circle")
            text = number(point.cycles)
            if point not in ends and x + 6 + 7 * len(text) < right:
                self._svg.text(text, x + 6, y - 7, "figure")
                right = x
