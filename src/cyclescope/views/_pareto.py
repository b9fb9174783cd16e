"""Runs of a study as points over two figures, with the front of those that no other beats."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cyclescope.views._svg import Svg
from cyclescope.views._text import clip, number, visible

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["ParetoPoint", "pareto_svg"]

_WIDTH, _HEIGHT = 760, 480
_LEFT, _RIGHT, _TOP, _BOTTOM = 100, 24, 48, 56
_TICKS = 5
_NAMES = 12  # names beside points of the front
_NAME, _LETTER, _LINE = 44, 7.0, 14  # characters of a name; pixels of one, and of a line
_STYLE = """
text { font: 12px system-ui, sans-serif; fill: #1b1b1f;
  paint-order: stroke; stroke: #fff; stroke-width: 3px; }
.title { font-size: 15px; font-weight: bold; }
.tick { fill: #5f6068; font-size: 11px; }
.grid { stroke: #e3e4e8; }
.point { fill: #9aa0ab; }
.best { fill: #2457a6; }
.front { fill: none; stroke: #2457a6; stroke-width: 1.5; stroke-dasharray: 4 3; }
.page { fill: #ffffff; }
"""


@dataclass(frozen=True, slots=True)
class ParetoPoint:
    """A run: two figures, what it was, whether it is on the front."""

    x: int
    y: int
    label: str
    best: bool


def pareto_svg(points: Sequence[ParetoPoint], x: str, y: str, title: str) -> bytes:
    """Draw runs over two figures.

    Args:
        points: the runs.
        x: the name of the figure to the right.
        y: of the one upwards.
        title: a heading.

    Returns:
        An SVG document in UTF-8. Each point's tooltip says what it was.
    """
    return _Writer(points, x, y, title).svg()


class _Writer:
    def __init__(self, points: Sequence[ParetoPoint], x: str, y: str, title: str) -> None:
        self._points = points
        self._names = visible(x), visible(y)
        self._title = clip(visible(title), 80)
        self._x = _axis([point.x for point in points])
        self._y = _axis([point.y for point in points])
        self._svg = Svg()

    def svg(self) -> bytes:
        """The whole document."""
        size = {"width": str(_WIDTH), "height": str(_HEIGHT)}
        self._svg.begin(viewBox=f"0 0 {_WIDTH} {_HEIGHT}", **size)
        self._svg.leaf("title", self._title)
        self._svg.leaf("style", _STYLE)
        self._svg.leaf("rect", **{"class": "page"}, **size)
        self._svg.leaf("text", self._title, x=str(_LEFT), y="26", **{"class": "title"})
        self._axes()
        best = sorted({(p.x, p.y) for p in self._points if p.best})
        if len(best) > 1:
            line = " ".join(f"{self._at(x, y)[0]:.1f},{self._at(x, y)[1]:.1f}" for x, y in best)
            self._svg.leaf("polyline", points=line, **{"class": "front"})
        for point in sorted(self._points, key=lambda p: p.best):
            self._point(point)
        self._labels()
        return self._svg.end(tight=True)

    def _labels(self) -> None:
        """Names of runs on the front, as far as they do not cover each other."""
        at: dict[tuple[int, int], list[str]] = {}
        for point in self._points:
            if point.best:
                at.setdefault((point.x, point.y), []).append(visible(point.label))
        taken: list[tuple[float, float, float]] = []
        for (x, y), names in list(at.items())[:_NAMES]:
            left, top = self._at(x, y)
            more = f" and {len(names) - 1} more" if len(names) > 1 else ""
            text = clip(names[0], _NAME - len(more)) + more
            right = left > _WIDTH * 0.6
            start = left - 9 - _LETTER * len(text) if right else left + 9
            end = start + _LETTER * len(text)
            if all(end < a or b < start or abs(top - t) > _LINE for a, b, t in taken):
                taken.append((start, end, top))
                self._label(text, left, top, right=right)

    def _at(self, x: int, y: int) -> tuple[float, float]:
        return (
            _LEFT + (_WIDTH - _LEFT - _RIGHT) * _part(x, self._x),
            _HEIGHT - _BOTTOM - (_HEIGHT - _TOP - _BOTTOM) * _part(y, self._y),
        )

    def _axes(self) -> None:
        low, high = self._x
        for value in _ticks(self._x):
            left, _ = self._at(value, self._y[0])
            self._svg.leaf("line", x1=f"{left:.1f}", x2=f"{left:.1f}", y1=str(_TOP),
                       y2=str(_HEIGHT - _BOTTOM), **{"class": "grid"})  # fmt: skip
            self._svg.leaf("text", number(value), x=f"{left:.1f}", y=str(_HEIGHT - _BOTTOM + 18),
                       **{"class": "tick", "text-anchor": "middle"})  # fmt: skip
        for value in _ticks(self._y):
            _, top = self._at(low, value)
            self._svg.leaf("line", x1=str(_LEFT), x2=str(_WIDTH - _RIGHT), y1=f"{top:.1f}",
                       y2=f"{top:.1f}", **{"class": "grid"})  # fmt: skip
            self._svg.leaf("text", number(value), x=str(_LEFT - 8), y=f"{top + 4:.1f}",
                       **{"class": "tick", "text-anchor": "end"})  # fmt: skip
        middle = (self._at(low, 0)[0] + self._at(high, 0)[0]) / 2
        self._svg.leaf("text", clip(self._names[0], 60), x=f"{middle:.1f}", y=str(_HEIGHT - 14),
                   **{"text-anchor": "middle"})  # fmt: skip
        self._svg.leaf("text", clip(self._names[1], 40), x=str(_LEFT), y=str(_TOP - 6))

    def _point(self, point: ParetoPoint) -> None:
        left, top = self._at(point.x, point.y)
        place = {"cx": f"{left:.1f}", "cy": f"{top:.1f}", "r": "5" if point.best else "4"}
        style = "best" if point.best else "point"
        self._svg.open("circle", class_=style, **place)
        self._svg.leaf(
            "title",
            f"{visible(point.label)}\n{self._names[0]}: {number(point.x)}\n"
            f"{self._names[1]}: {number(point.y)}",
        )
        self._svg.close("circle", tight=True)

    def _label(self, text: str, left: float, top: float, *, right: bool) -> None:
        self._svg.leaf(
            "text",
            text,
            x=f"{left - 9 if right else left + 9:.1f}",
            y=f"{top - 8:.1f}",
            **{"text-anchor": "end" if right else "start"},
        )


def _axis(values: Sequence[int]) -> tuple[int, int]:
    """First and last value of an axis, with a margin around the points."""
    if not values:
        return 0, 1
    low, high = min(values), max(values)
    margin = max((high - low) // 12, 1)
    return (max(low - margin, 0) if low >= 0 else low - margin), high + margin


def _part(value: int, axis: tuple[int, int]) -> float:
    low, high = axis
    return (value - low) / (high - low)


def _ticks(axis: tuple[int, int]) -> list[int]:
    """Round numbers along an axis, about `_TICKS` of them."""
    low, high = axis
    least = max((high - low) / _TICKS, 1)
    step = 1
    while step < least:
        step = next((step * f for f in (2, 5) if step * f >= least), step * 10)
    return list(range(-(-low // step) * step, high + 1, step))
