"""The flame graph: an SVG that is a picture anywhere and interactive in a browser.

Boxes are on top of the box that called them; width is cycles. The bare segment above a box is time
in which it called nothing: for a control block or a cell that is control overhead (Petal, 5.3).
Children are in the order in which they first became active.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from cyclescope.analyse import Use, account
from cyclescope.model import Frame, Kind, Profile, active_cycles
from cyclescope.views._stacks import Stacks, stacks
from cyclescope.views._svg import Svg
from cyclescope.views._text import clip, cycles_text, number, percent, visible
from cyclescope.views._track_stacks import track_parts, track_stacks
from cyclescope.views._uses import use_style

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cyclescope.analyse import Account

__all__ = ["flamegraph"]

_MARGIN = 10
_ROW = 18
_HEAD = 104
_FOOT = 46
_LETTER = 7.23  # pixels of a character: the advance of common fixed-width fonts at 12 px
_LEGEND = {
    Kind.CELL: "cell",
    Kind.CONTROL: "control block",
    Kind.GROUP: "group",
    Kind.PRIMITIVE: "primitive",
    Kind.PROCESS: "process",
    Kind.THREAD: "thread",
    Kind.STATE: "state",
    Kind.LOOP: "loop",
    Kind.STAGE: "stage",
}


@dataclass(frozen=True, slots=True)
class _Box:
    """A box to draw; `left` and `weight` are in the weights' unit, `path` -1 is the whole run."""

    path: int
    depth: int
    left: int
    weight: int


@dataclass(frozen=True, slots=True)
class _Layout:
    boxes: tuple[_Box, ...]
    total: int
    left_out: int
    left_out_weight: int


def flamegraph(
    profile: Profile,
    *,
    scaled: bool = True,
    width: int = 1200,
    min_width: float = 0.1,
    icicle: bool = False,
    apart: bool = False,
) -> bytes:
    """Draw a profile's call paths.

    Of a profile with tracks (threads, processes), the widths sum to its account, in track-cycles;
    each stack ends with what its cycles were for.

    Args:
        profile: what to draw.
        scaled: split each cycle evenly among what ran in parallel, so that the widths sum to
            the run; otherwise each parallel stack is as wide as the cycles it took. Of a profile
            with tracks there is but one way.
        width: pixels of the still picture; in a browser the graph fills the window.
        min_width: boxes narrower than so many pixels are left out, and the picture says so.
        icicle: the root at the top instead of the bottom.
        apart: threads each have boxes of their own; otherwise one box is that of all of them.

    Returns:
        An SVG document in UTF-8, the same bytes for the same profile.
    """
    whole = account(profile)
    if whole.tracks:
        found = track_stacks(profile, track_parts(profile), apart=apart)
        tree, weighed = found.tree, found.weighed
    else:
        tree, weighed = profile, stacks(profile, scaled=scaled)
    layout = _lay_out(tree, weighed, min_width / max(width - 2 * _MARGIN, 1))
    return _Writer(tree, whole, weighed, layout, scaled, width, min_width, icicle).svg()


def _lay_out(profile: Profile, weighed: Stacks, least: float) -> _Layout:
    parents = profile.call_paths.parent.tolist()
    roots = [path for path in weighed.order if parents[path] < 0]
    total = weighed.sum
    base = 0 if len(roots) == 1 else 1
    boxes = [_Box(-1, 0, 0, total)] if base else []
    threshold = Fraction(least) * total
    left = {-1: 0}  # where the next child of a drawn path begins
    depth = {-1: base - 1}
    out = out_weight = 0
    for path in weighed.order:
        parent = parents[path]
        if parent not in depth:
            out += 1
            continue
        weight = weighed.total[path]
        if weight < threshold:
            out += 1
            out_weight += weight
            continue
        begin = left[parent]
        left[parent] = begin + weight
        left[path] = begin
        depth[path] = depth[parent] + 1
        boxes.append(_Box(path, depth[path], begin, weight))
    return _Layout(tuple(boxes), total, out, out_weight)


class _Writer:
    """Writes one flame graph; all text passes through the XML library's escaping."""

    def __init__(
        self,
        profile: Profile,
        whole: Account,
        weighed: Stacks,
        layout: _Layout,
        scaled: bool,
        width: int,
        min_width: float,
        icicle: bool,
    ) -> None:
        self._profile = profile
        self._account = whole
        self._weighed = weighed
        self._layout = layout
        self._scaled = scaled
        self._width = width
        self._min_width = min_width
        self._icicle = icicle
        self._run = whole.total
        self._active = weighed.total if whole.tracks else active_cycles(profile).tolist()
        self._rows = max((box.depth for box in layout.boxes), default=0) + 1
        self._svg = Svg()

    def svg(self) -> bytes:
        """The whole document."""
        height = _HEAD + self._rows * _ROW + _FOOT
        size = {"width": str(self._width), "height": str(height)}
        self._svg.begin(viewBox=f"0 0 {self._width} {height}", **size)
        self._svg.leaf("title", self._heading())
        self._svg.raw("style", "flamegraph.css")
        self._svg.leaf("rect", **{"class": "page", "data-part": "page"}, **size)
        self._head()
        for box in self._layout.boxes:
            self._box(box)
        self._foot(height)
        self._svg.raw("script", "boxes.js", "flamegraph.js")
        return self._svg.end()

    def _heading(self) -> str:
        return f"{clip(visible(self._profile.meta.title), 60)}: {self._total()}"

    def _total(self) -> str:
        unit = self._account.unit
        return f"{number(self._run)} {unit.removesuffix('s') if self._run == 1 else unit}"

    def _head(self) -> None:
        self._svg.text(self._heading(), _MARGIN, 24, "title")
        y = 44
        for style, line in self._notes():
            self._svg.text(line, _MARGIN, y, style)
            y += 16
        x = float(_MARGIN)
        for style, name in self._legend():
            look = {"style" if style.startswith("fill:") else "class": style}
            self._svg.leaf("rect", x=f"{x:g}", y="82", width="12", height="12", **look)
            self._svg.text(name, x + 17, 92, "note")
            x += 17 + _LETTER * len(name) + 16
        live = "click: zoom \u00b7 /: search \u00b7 Esc: reset"
        self._svg.text(
            "interactive when opened in a web browser",
            x + 8,
            92,
            "note",
            **{"data-part": "hint", "data-live": live},
        )
        right = self._width - _MARGIN
        place = {"x": str(right - 300), "y": "8", "width": "300", "height": "26"}
        self._svg.leaf("foreignObject", **{"data-part": "search"}, **place)
        end = {"text-anchor": "end"}
        self._svg.text("", right, 50, "note", **{"data-part": "found"}, **end)
        self._svg.text("reset zoom", right, 92, "button off", **{"data-part": "reset"}, **end)

    def _notes(self) -> Iterator[tuple[str, str]]:
        meta = self._profile.meta
        if self._account.tracks:
            yield (
                "note",
                f"Width = {self._account.unit}; at the end of a stack, what they were for. What "
                "counters tell apart is divided among the places of each of their samples.",
            )
        elif self._scaled:
            yield (
                "note",
                f"Width = cycles; a cycle is split evenly among what runs in parallel, "
                f"so the widths sum to {self._total()}.",
            )
        else:
            drawn = number(self._layout.total)
            yield (
                "note",
                "Width = cycles of every stack, in parallel or not: together "
                f"{drawn} for a run of {self._total()}; point at a box for its active cycles.",
            )
        if meta.complete:
            yield "note", self._overhead()
        else:
            reason = f" ({clip(visible(meta.stop_reason), 40)})" if meta.stop_reason else ""
            yield "warn", f"INCOMPLETE: the run was stopped before its end{reason}."

    def _overhead(self) -> str:
        whole = self._account
        lost = whole.total - whole.useful
        text = f"Lost: {number(lost)} {whole.unit} ({percent(whole.share(lost))})."
        if whole.tracks:
            return text
        return f"Bare segment above a box: it called nothing there. {text}"

    def _legend(self) -> Iterator[tuple[str, str]]:
        for kind in self._kinds():
            yield kind.value, _LEGEND[kind]
        for use in self._account.uses if self._account.tracks else ():
            yield f"fill:{use_style(use).colour}", use_style(use).name
        paths = [box.path for box in self._layout.boxes if box.path >= 0]
        if any(self._profile.frame_of(path).generated for path in paths):
            yield "compiler", "made by the compiler"

    def _kinds(self) -> list[Kind]:
        shown = {self._profile.frame_of(b.path).kind for b in self._layout.boxes if b.path >= 0}
        hidden = Kind.STATE if self._account.tracks else None
        return [kind for kind in _LEGEND if kind in shown and kind is not hidden]

    def _box(self, box: _Box) -> None:
        total = self._layout.total or 1
        row = box.depth if self._icicle else self._rows - 1 - box.depth
        y = _HEAD + row * _ROW
        inner = self._width - 2 * _MARGIN
        x = _MARGIN + inner * box.left / total
        width = inner * box.weight / total
        if box.path >= 0:
            frame = self._profile.frame_of(box.path)
            name = visible(frame.label) or "(no name)"
            style = f"b {frame.kind}{' made' if frame.generated else ''}"
            about = "\n".join((name, *self._about(box, frame)))
        else:
            name, style = "run", "b run"
            about = f"run\n{self._total()}"
        extra = {}
        if box.depth == 0:
            name = extra["data-name"] = f"{name} \u00b7 {self._total()}"
        data = {
            "data-d": str(box.depth),
            "data-x": f"{box.left / total:.9g}",
            "data-w": f"{box.weight / total:.9g}",
        }
        self._svg.open("g", **{"class": style}, **data, **extra)
        self._svg.tight("title", about)
        place = {"x": f"{x:.2f}", "y": str(y), "width": f"{width:.2f}", "height": str(_ROW - 1)}
        self._svg.tight("rect", **place, **self._look(box))
        space = int((width - 6) / _LETTER)
        if space >= 3:
            place = {"x": f"{x + 3:.2f}", "y": str(y + 13)}
            light = {"style": "fill:#fff"} if self._dark(box) else {}
            self._svg.tight("text", clip(name, space), **place, **light)
        self._svg.close("g")

    def _use(self, box: _Box) -> Use | None:
        """The use of a track's cycles, if a box says that."""
        frame = self._profile.frame_of(box.path) if box.path >= 0 else None
        if not self._account.tracks or frame is None or frame.kind is not Kind.STATE:
            return None
        return Use.of(frame)

    def _look(self, box: _Box) -> dict[str, str]:
        use = self._use(box)
        return {} if use is None else {"style": f"fill:{use_style(use).colour}"}

    def _dark(self, box: _Box) -> bool:
        use = self._use(box)
        return use is not None and use_style(use).dark

    def _about(self, box: _Box, frame: Frame) -> Iterator[str]:
        """The tooltip's lines below the name."""
        run = self._run
        made = ", made by the compiler" if frame.generated else ""
        instance = visible(self._profile.instances[box.path])
        detail = visible(frame.detail)
        kind = f"{frame.kind} ({detail})" if frame.kind is Kind.CONTROL and detail else frame.kind
        yield f"{kind} in {instance}{made}"
        if frame.positions:
            yield ", ".join(visible(str(position)) for position in frame.positions)
        active = self._active[box.path]
        unit = self._account.unit
        yield f"active {number(active)} of {number(run)} {unit} ({percent(Fraction(active, run))})"
        if self._account.tracks:
            return
        if self._scaled:
            share = self._weighed.cycles(box.weight)
            yield f"its share of the run: {cycles_text(share)} ({percent(share / run)})"
        own = self._weighed.cycles(self._weighed.own[box.path])
        if own and self._weighed.own[box.path] != box.weight:
            yield f"calling nothing: {cycles_text(own)} ({percent(own / run)})"

    def _foot(self, height: int) -> None:
        self._svg.text("", _MARGIN, height - 26, "note", **{"data-part": "details"})
        if self._layout.left_out:
            share = Fraction(self._layout.left_out_weight, self._layout.total)
            boxes = "box" if self._layout.left_out == 1 else "boxes"
            text = (
                f"Not drawn: {number(self._layout.left_out)} {boxes} narrower than "
                f"{self._min_width:g} px ({percent(share, 2)} of the width)."
            )
            self._svg.text(text, _MARGIN, height - 9, "note")
