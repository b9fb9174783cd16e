"""The flame graphs of two profiles, one above the other in one scale, coloured by what changed.

Red boxes spend more cycles at their end than their counterparts, blue ones fewer, grey ones the
same; what is only in one of the two has a dark outline. Both pictures keep their own shape, so
no width is made up: each is a flame graph scaled for parallelism.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from cyclescope.model import Kind, Profile, active_cycles
from cyclescope.views._diff import diff_heading, signed
from cyclescope.views._stacks import Stacks, stacks
from cyclescope.views._svg import Svg, own_file
from cyclescope.views._text import clip, cycles_text, number, visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cyclescope.analyse import Diff

__all__ = ["diff_flamegraph", "diff_script"]

_SCRIPTS = ("boxes.js", "diffgraph.js")
_MARGIN = 10
_ROW = 18
_HEAD = 84
_GAP = 34  # the second picture's heading
_FOOT = 30
_LETTER = 7.23
_GREY = (222, 223, 228)
_RED, _BLUE = (214, 58, 48), (58, 110, 214)


@dataclass(frozen=True, slots=True)
class _Panel:
    """One of the two pictures."""

    name: str
    profile: Profile
    weighed: Stacks
    partner: Sequence[int]
    change: Sequence[Fraction]  # for each path: own cycles, after minus before
    active: Sequence[int]

    @property
    def rows(self) -> int:
        """Boxes upon one another."""
        depth: dict[int, int] = {-1: -1}
        parents = self.profile.call_paths.parent.tolist()
        for path in self.weighed.order:
            depth[path] = depth[parents[path]] + 1
        return max(depth.values()) + 1


def diff_flamegraph(found: Diff, *, width: int = 1200, min_width: float = 0.1) -> bytes:
    """Draw both profiles' call paths and what changed.

    Args:
        found: the comparison.
        width: pixels of the still picture; in a browser the graphs fill the window.
        min_width: boxes narrower than so many pixels are left out.

    Returns:
        An SVG document in UTF-8, the same bytes for the same comparison.
    """
    return _Writer(found, _panels(found), width, min_width).svg()


def diff_script() -> str:
    """The text of the picture's script, for those who have to name its hash."""
    return f"\n{''.join(map(own_file, _SCRIPTS))}"


def _own(profile: Profile, weighed: Stacks) -> list[Fraction]:
    """Cycles at each path's end, primitives' counted for who calls them."""
    own = [weighed.cycles(weight) for weight in weighed.own]
    for path, parent in enumerate(profile.call_paths.parent.tolist()):
        if parent >= 0 and profile.frame_of(path).kind is Kind.PRIMITIVE:
            own[parent] += own[path]
    return own


def _panels(found: Diff) -> tuple[_Panel, _Panel]:
    pair = (found.before, found.after)
    weighed = [stacks(profile, scaled=True) for profile in pair]
    own = [_own(*both) for both in zip(pair, weighed, strict=True)]
    backward = [-1] * len(own[1])
    change: list[list[Fraction]] = [[-weight for weight in own[0]], list(own[1])]
    for path, other in enumerate(found.partner):
        if other >= 0:
            backward[other] = path
            change[0][path] = change[1][other] = own[1][other] - own[0][path]
    first, second = (
        _Panel(name, profile, weights, partner, moved, active_cycles(profile).tolist())
        for name, profile, weights, partner, moved in zip(
            ("before", "after"), pair, weighed, (found.partner, backward), change, strict=True
        )
    )
    return first, second


class _Writer:
    """Writes the picture; all text passes through the XML library's escaping."""

    def __init__(
        self, found: Diff, panels: tuple[_Panel, _Panel], width: int, min_width: float
    ) -> None:
        self._found = found
        self._panels = panels
        self._width = width
        self._inner = width - 2 * _MARGIN
        self._scale = max(found.before.cycles, found.after.cycles, 1)
        self._least = Fraction(min_width) * self._scale / self._inner
        self._most = max((abs(c) for p in panels for c in p.change), default=Fraction(0))
        self._svg = Svg()

    def svg(self) -> bytes:
        """The whole document."""
        height = _HEAD + sum(p.rows * _ROW for p in self._panels) + _GAP + _FOOT
        size = {"width": str(self._width), "height": str(height)}
        self._svg.begin(**size, viewBox=f"0 0 {self._width} {height}")
        self._svg.leaf("title", diff_heading(self._found))
        self._svg.raw("style", "flamegraph.css", "diffgraph.css")
        self._svg.leaf("rect", **{"class": "page", "data-part": "page"}, **size)
        self._head()
        top = _HEAD
        for panel in self._panels:
            self._svg.text(_caption(panel), _MARGIN, top - 8, "note")
            self._draw(panel, top)
            top += panel.rows * _ROW + _GAP
        self._svg.text("", _MARGIN, height - 10, "note", **{"data-part": "details"})
        self._svg.raw("script", *_SCRIPTS)
        return self._svg.end()

    def _head(self) -> None:
        self._svg.text(diff_heading(self._found), _MARGIN, 24, "title")
        x = float(_MARGIN)
        for style, text in (
            ("less", "fewer cycles at its end"),
            ("same", "as many"),
            ("more", "more"),
            ("alone", "only here"),
        ):
            self._svg.leaf("rect", x=f"{x:g}", y="38", width="12", height="12",
                       **{"class": style})  # fmt: skip
            self._svg.text(text, x + 17, 48, "note")
            x += 17 + _LETTER * len(text) + 16
        live = "click: zoom both \u00b7 /: search \u00b7 Esc: reset"
        self._svg.text("interactive when opened in a web browser", x + 8, 48, "note",
                   **{"data-part": "hint", "data-live": live})  # fmt: skip
        self._svg.leaf("foreignObject", x=str(self._width - _MARGIN - 300), y="8", width="300",
                   height="26", **{"data-part": "search"})  # fmt: skip

    def _draw(self, panel: _Panel, top: int) -> None:
        parents = panel.profile.call_paths.parent.tolist()
        base = top + (panel.rows - 1) * _ROW
        left = {-1: 0}
        depth = {-1: -1}
        self._svg.open("g", **{"class": "panel", "data-panel": panel.name})
        for path in panel.weighed.order:
            parent, weight = parents[path], panel.weighed.total[path]
            if parent not in depth or panel.weighed.cycles(weight) < self._least:
                continue
            begin = left[parent]
            left[parent] += weight
            left[path], depth[path] = begin, depth[parent] + 1
            self._box(panel, path, begin, weight, depth[path], base - depth[path] * _ROW)
        self._svg.close("g")

    def _box(self, panel: _Panel, path: int, begin: int, weight: int, depth: int, y: int) -> None:
        unit = panel.weighed.unit * self._scale
        x, width = _MARGIN + self._inner * begin / unit, self._inner * weight / unit
        name = visible(panel.profile.frame_of(path).label) or "(no name)"
        alone = panel.partner[path] < 0
        data = {"data-d": str(depth), "data-x": f"{begin / unit:.9g}",
                "data-w": f"{weight / unit:.9g}", "data-id": str(path)}  # fmt: skip
        if not alone:
            data["data-to"] = str(panel.partner[path])
        self._svg.open("g", **{"class": "b only" if alone else "b"}, **data)
        self._svg.tight("title", f"{name}\n{self._about(panel, path)}")
        place = {"x": f"{x:.2f}", "y": str(y), "width": f"{width:.2f}", "height": str(_ROW - 1)}
        self._svg.tight("rect", **place, fill=self._colour(panel.change[path]))
        space = int((width - 6) / _LETTER)
        if space >= 3:
            place = {"x": f"{x + 3:.2f}", "y": str(y + 13)}
            self._svg.tight("text", clip(name, space), **place)
        self._svg.close("g")

    def _colour(self, change: Fraction) -> str:
        """Grey for no change; the more of the largest change, the redder or bluer."""
        if not change:
            return "#{:02x}{:02x}{:02x}".format(*_GREY)
        # A fifth of the colour at least: a small change is seen as one too.
        part = Fraction(1, 5) + abs(change) / self._most * Fraction(4, 5)
        full = _RED if change > 0 else _BLUE
        mixed = [int(g + (c - g) * part) for g, c in zip(_GREY, full, strict=True)]
        return "#{:02x}{:02x}{:02x}".format(*mixed)

    def _about(self, panel: _Panel, path: int) -> str:
        """The tooltip's lines below the name."""
        profile, other = panel.profile, panel.partner[path]
        frame = profile.frame_of(path)
        lines = [f"{frame.kind} in {visible(profile.instances[path])}"]
        if frame.positions:
            lines.append(visible(str(frame.positions[0])))
        lines.append(f"{panel.name}: {_figures(panel, path)}")
        if other < 0:
            lines.append(f"only {panel.name}")
        else:
            counterpart = self._panels[panel.name == "before"]
            lines.append(f"{counterpart.name}: {_figures(counterpart, other)}")
            label = visible(counterpart.profile.frame_of(other).label)
            if label != visible(frame.label):
                lines.append(f"there: {label}")
        lines.append(f"at its end: {signed(panel.change[path])} cycles")
        return "\n".join(lines)


def _figures(panel: _Panel, path: int) -> str:
    share = cycles_text(panel.weighed.cycles(panel.weighed.total[path]))
    return f"{share} cycles wide, active {number(panel.active[path])}"


def _caption(panel: _Panel) -> str:
    stopped = "" if panel.profile.meta.complete else ", INCOMPLETE: stopped before its end"
    title = clip(visible(panel.profile.meta.title), 60)
    return f"{panel.name}: {number(panel.profile.cycles)} cycles, {title}{stopped}"
