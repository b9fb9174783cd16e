"""A still picture of the timeline: one or several profiles over one axis of cycles, as SVG.

For a page of text or a report, where nobody can zoom. Rows are those of the Perfetto timeline:
cells, control blocks (a line for each level of nesting), control registers, groups. Each is called
by what is on it. What is too narrow to draw is drawn as shade: the darker, the more of the cycles
there. What is not drawn at all is named below: blocks beyond the most rows that are wanted, deep
control blocks, primitives.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from cyclescope.analyse import WORK, account, moves, team, uses_of_paths, uses_of_tracks
from cyclescope.model import (
    Activity,
    Ints,
    Kind,
    Profile,
    Runs,
    Spans,
    around,
    check_rows,
    check_window,
    spans,
)
from cyclescope.views._lanes import Row, rows
from cyclescope.views._svg import Svg
from cyclescope.views._text import clip, number, percent, visible
from cyclescope.views._timeline import REGISTERS
from cyclescope.views._uses import use_style

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from cyclescope.analyse import Use

__all__ = ["timeline_svg"]

_MOST = 1 << 25  # changes in a picture, of which each takes some 170 bytes
_LEFT, _RIGHT, _TOP = 204, 14, 34
_ROW, _LETTER = 18, 6.6
_LEAST = 3.0  # pixels from which a box is drawn as such
_COLOURS: dict[Kind | str, str] = {
    Kind.CELL: "#b48ad6",
    Kind.THREAD: "#b48ad6",
    Kind.CONTROL: "#e57368",
    Kind.GROUP: "#f0a848",
    Kind.PRIMITIVE: "#efd35f",
}
_OTHER = "#8fb3d9"
_REGISTER = "#b3b8bf"
_COUNTED = {"operations": "#d8893b", "bytes": "#5b8fc9"}
_TALL = 2  # rows that a counter is high: its shape is what matters
_ORDER = (Kind.CELL, Kind.THREAD, Kind.CONTROL, Kind.GROUP)
_LEGEND = 40  # letters of a colour's states
_TEXT = 14  # from a colour to its text
_GAP = 22  # what an entry is wider than its text
_LEVELS = 3  # levels of control blocks that get a row: what is deeper is in the groups
_NAMED = 3  # blocks of a row that its title, or a note, names
_TOLD = 60  # the same of a tooltip
_NOTES = 6  # lines that name what is not drawn; all of it is in their tooltip


_Uses: TypeAlias = "tuple[tuple[str, NDArray[np.floating]], ...]"


@dataclass(frozen=True, slots=True)
class _Band:
    """One row of the picture: boxes that do not overlap, with their names.

    Attributes:
        what: the cell and the kind.
        cell: the cell as what begins a name, empty where there is only one.
        arm, extra, level: of a `par`; among what overlaps there; of nesting. From 1.
        dark: for each colour whether text on it is white.
        uses: colours stacked behind the boxes, with their heights at each pixel:
            what a track is at where its state alone does not say it.
        open: for each name whether its boxes let those show through.
    """

    what: str
    cell: str
    kind: Kind | str | None
    arm: int
    extra: int
    level: int
    colours: tuple[str, ...]
    start: Ints
    end: Ints
    names: tuple[str, ...]
    which: Ints
    dark: tuple[bool, ...] = ()
    uses: _Uses = ()
    open: tuple[bool, ...] = ()

    @property
    def blocks(self) -> tuple[str, ...]:
        """The control blocks or groups on it, each once; nothing of other kinds."""
        named = self.kind in (Kind.CONTROL, Kind.GROUP)
        return tuple(dict.fromkeys(self.names[n] for n in np.unique(self.which))) if named else ()

    @property
    def title(self) -> str:
        """The text left of it: what is on it, by name."""
        if self.blocks:
            return f"{self.cell}{_some(self.blocks, _NAMED)}"
        extra = f" ({self.extra})" if self.extra > 1 else ""
        return f"{self.what}{extra}"

    @property
    def about(self) -> str:
        """All that is on it, and where that is."""
        arm = f", arm {self.arm}" if self.arm > 1 else ""
        level = f", level {self.level}" if self.level > 1 else ""
        return f"{self.what}{arm}{level}: {', '.join(self.blocks)}" if self.blocks else self.title

    @property
    def deep(self) -> bool:
        """Return whether it is a control block so far inside others that it gets no row."""
        return self.kind is Kind.CONTROL and self.level > _LEVELS


@dataclass(frozen=True, slots=True)
class _Panel:
    """The drawn part of a profile, and lines that name what is not.

    Attributes:
        beside, under: colours and what they are for, right of the title or in lines under it.
    """

    profile: Profile
    title: str
    beside: tuple[tuple[str, str], ...]
    under: tuple[tuple[tuple[str, str], ...], ...]
    bands: tuple[_Band | _Level, ...]
    notes: tuple[str, ...]
    left_out: str

    @property
    def rows(self) -> int:
        """The height in rows."""
        return _high(self.bands) + len(self.notes) + len(self.under)


@dataclass(frozen=True, slots=True)
class _Level:
    """One row of the picture: something that is counted, for each pixel of the width."""

    title: str
    most: str
    colour: str
    heights: NDArray[np.floating]


def timeline_svg(
    profiles: Sequence[Profile],
    *,
    start: int = 0,
    end: int | None = None,
    width: int = 1000,
    max_rows: int = 40,
) -> bytes:
    """Draw profiles one above the other over one axis of cycles.

    Args:
        profiles: what to show, each under its title.
        start: first cycle to show.
        end: cycle after the last to show; None for the longest run's end.
        width: pixels.
        max_rows: rows of a profile, those of outer cells first; the picture names what it left
            out.

    Returns:
        An SVG document in UTF-8, the same bytes for the same profiles.

    Raises:
        InputError: no cycle of any run is in the window, or more changes than fit in memory.
    """
    check_window(profiles, start, end)
    longest = max(profile.cycles for profile in profiles)
    until = longest if end is None else min(end, longest)
    for profile in profiles:
        runs = profile.schedule
        inside = runs.segments.between(start, min(until, profile.cycles))
        check_rows(len(Runs.of(inside, runs.tree_of)), _MOST)
    return _Still(width, start, max(until, start + 1)).draw(profiles, max_rows)


class _Still:
    def __init__(self, width: int, start: int, end: int) -> None:
        self._width = width
        self._start = start
        self._end = end
        self._scale = (width - _LEFT - _RIGHT) / (end - start)
        self._svg = Svg()

    def draw(self, profiles: Sequence[Profile], max_rows: int) -> bytes:
        panels = [self._planned(profile, max_rows) for profile in profiles]
        height = _TOP + sum(_ROW * panel.rows + 42 for panel in panels)
        self._svg.begin(
            viewBox=f"0 0 {self._width} {height}",
            style="font:11px ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace",
            width=str(self._width),
            height=str(height),
        )
        self._svg.line()
        self._svg.leaf("rect", width="100%", height="100%", fill="#fff")
        self._axis(height)
        y = float(_TOP)
        for panel in panels:
            y = self._panel(panel, y)
        return self._svg.end(tight=True)

    def _planned(self, profile: Profile, max_rows: int) -> _Panel:
        bands = [band for band in self._bands(profile) if self._shows(band)]
        flat = [band for band in bands if not band.deep]
        drawn = {id(band) for band in flat[:max_rows]}
        omitted = [band for band in bands if id(band) not in drawn]
        parts: list[str] = []
        whole: list[str] = []
        if omitted:
            rows_ = f"{number(len(omitted))} row{'s' if len(omitted) > 1 else ''}"
            parts = [f"not drawn: {rows_}", *_omitted(omitted, _NAMED)]
            whole = [parts[0], *_omitted(omitted, _TOLD)]
        unshown = _never_drawn(profile)
        if unshown:
            rest = unshown if parts else [f"not drawn: {unshown[0]}", *unshown[1:]]
            parts, whole = parts + rest, whole + rest
        lines = _wrapped(parts, int((self._width - 16) / _LETTER))
        if len(lines) > _NOTES:
            lines = [*lines[: _NOTES - 1], "… and more: the tooltip has all"]
        shown: tuple[_Band | _Level, ...] = (*flat[:max_rows], *self._levels(profile))
        title, legend = _title(profile), _legend(profile)
        fits = 8 + len(title) * _LETTER + _wide(legend) <= self._width - _RIGHT
        return _Panel(
            profile,
            title,
            legend if fits else (),
            () if fits else _in_lines(legend, self._width - 8 - _RIGHT),
            shown,
            tuple(lines),
            "; ".join(whole),
        )

    def _shows(self, band: _Band) -> bool:
        """Return whether anything of it is in the window."""
        return bool(((band.end > self._start) & (band.start < self._end)).any())

    def _x(self, cycle: float) -> float:
        return round(_LEFT + (cycle - self._start) * self._scale, 2)

    def _axis(self, height: int) -> None:
        """Cycle numbers above, and lines through all panels."""
        step = _step((self._end - self._start) / 12)
        self._svg.leaf("text", "cycle", x="8", y="20", fill="#555")
        for cycle in range(-(-self._start // step) * step, self._end + 1, step):
            x, label = str(self._x(cycle)), number(cycle)
            middle = str(min(self._x(cycle), self._width - 4 - len(label) * _LETTER / 2))
            self._svg.leaf("text", label, x=middle, y="20", fill="#555", text_anchor="middle")
            self._svg.leaf("line", x1=x, x2=x, y1="25", y2=str(height - 8), stroke="#e4e4e4")

    def _panel(self, panel: _Panel, y: float) -> float:
        profile, bands = panel.profile, panel.bands
        self._svg.leaf("text", panel.title, x="8", y=str(y + 16), font_weight="bold")
        self._legend(panel.beside, self._width - _RIGHT - _wide(panel.beside) + _GAP - _TEXT, y)
        for line in panel.under:
            y += _ROW
            self._legend(line, 8, y)
        y += 24
        top = y
        for band in bands:
            label = clip(visible(band.title), int((_LEFT - 16) / _LETTER))
            if isinstance(band, _Band) and band.blocks:
                self._svg.open("g")
                self._svg.leaf("title", visible(band.about))
                self._svg.leaf("text", label, x="8", y=str(y + 12), fill="#333")
                self._svg.close("g", tight=True)
            else:
                self._svg.leaf("text", label, x="8", y=str(y + 12), fill="#333")
            if isinstance(band, _Band):
                self._band(band, y)
            else:
                self._bars(band.heights, y, band.colour, high=_TALL * _ROW - 3)
                self._svg.leaf("text", band.most, x="8", y=str(y + 12 + _ROW - 4), fill="#777")
            y += _ROW * _high([band])
        if self._start < profile.cycles < self._end:
            x = str(self._x(profile.cycles))
            self._svg.leaf("line", x1=x, x2=x, y1=str(top), y2=str(y), stroke="#222")
        if panel.notes:
            self._svg.open("g")
            self._svg.leaf("title", panel.left_out)
            for note in panel.notes:
                self._svg.leaf("text", note, x="8", y=str(y + 12), fill="#777")
                y += _ROW
            self._svg.close("g", tight=True)
        return y + 18

    def _legend(self, items: Sequence[tuple[str, str]], x: float, y: float) -> None:
        for colour, text in items:
            place = {"x": f"{x:g}", "y": str(y + 7), "width": "10", "height": "10"}
            self._svg.leaf("rect", **place, fill=colour)
            self._svg.leaf("text", text, x=f"{x + _TEXT:g}", y=str(y + 16), fill="#333")
            x += _wide([(colour, text)])

    def _band(self, band: _Band, y: float) -> None:
        inside = (band.end > self._start) & (band.start < self._end)
        start = np.maximum(band.start[inside], self._start)
        end = np.minimum(band.end[inside], self._end)
        which = band.which[inside]
        wide = (end - start) * self._scale >= _LEAST
        self._stacked(band.uses, y)
        for s, e, name in zip(
            start[wide].tolist(), end[wide].tolist(), which[wide].tolist(), strict=True
        ):
            x, w = self._x(s), round((e - s) * self._scale, 2)
            text = visible(band.names[name])
            self._svg.open("g")
            self._svg.leaf("title", f"{text}: cycles {number(s)} to {number(e - 1)}")
            place = {"x": str(x), "y": str(y), "width": str(w), "height": str(_ROW - 3)}
            through = {"fill_opacity": "0"} if band.uses and band.open[name] else {}
            self._svg.leaf(
                "rect", **place, fill=band.colours[name], stroke="#fff", stroke_width="0.5",
                **through,
            )  # fmt: skip
            if w > 3 * _LETTER:
                shown = clip(text, int((w - 4) / _LETTER))
                light = {"fill": "#fff"} if band.dark[name] else {}
                if shown == text or band.kind is not Kind.STATE:  # the legend names the states
                    self._svg.leaf("text", shown, x=str(x + 3), y=str(y + 12), **light)
            self._svg.close("g", tight=True)
        if not band.uses:
            self._shade(start[~wide], end[~wide], which[~wide], band.colours, y)

    def _stacked(self, uses: _Uses, y: float) -> None:
        """Colours on each other, the first one on the ground."""
        below: NDArray[np.floating] = np.zeros(self._width - _LEFT - _RIGHT)
        for colour, heights in uses:
            self._bars(heights, y, colour, below)
            below = below + heights

    def _shade(
        self, start: Ints, end: Ints, which: Ints, colours: tuple[str, ...], y: float
    ) -> None:
        """Narrow boxes as shade: how much of a pixel's cycles they fill, colours on each other."""
        if not len(start):
            return
        pixel = [(edge - self._start) * self._scale for edge in (start, end)]
        below: NDArray[np.floating] = np.zeros(self._width - _LEFT - _RIGHT)
        single = len(set(colours)) == 1
        for colour in dict.fromkeys(colours):
            own = np.array([c == colour for c in colours], dtype=np.bool_)[which]
            covered = np.clip(_coverage(pixel[0][own], pixel[1][own], len(below)), 0, 1)
            if single:
                # What rounding leaves of nothing is nothing.
                for a, b, step in _runs(np.ceil(covered * 4 - 1e-6)):
                    self._pixels(a, b, y, float(_ROW - 3), colour, f"{step / 4:g}")
            else:
                self._bars(covered, y, colour, below)
                below = below + covered

    def _bars(
        self,
        heights: NDArray[np.floating],
        y: float,
        colour: str,
        below: NDArray[np.floating] | None = None,
        high: int = _ROW - 3,
    ) -> None:
        """Heights from 0 to 1 of a row for each pixel, stacked on others or on the ground."""
        ground: NDArray[np.floating] = np.zeros(len(heights)) if below is None else below
        low, up = (np.rint(np.clip(h, 0, 1) * high) for h in (ground, ground + heights))
        for a, b, both in _runs(low * (high + 1) + up):
            base, top = divmod(both, high + 1)
            if top > base:
                self._pixels(a, b, y + high - top, float(top - base), colour)

    def _pixels(
        self, first: int, last: int, y: float, height: float, colour: str, opacity: str = "1"
    ) -> None:
        if opacity != "0":
            place = {"x": str(_LEFT + first), "y": f"{y:g}", "width": str(last - first)}
            opaque = {} if opacity == "1" else {"fill_opacity": opacity}
            self._svg.leaf("rect", **place, height=f"{height:g}", fill=colour, **opaque)

    def _levels(self, profile: Profile) -> Iterator[_Level]:
        """The counts of all threads together in each pixel's cycles: operations, bytes."""
        if team(profile) is None:
            return
        edges = np.linspace(self._start, self._end, self._width - _LEFT - _RIGHT + 1)
        named: dict[tuple[str, str], NDArray[np.float64]] = {}
        for series in profile.series:
            if series.metric in _COUNTED and len(series):
                # What is counted in an interval is spread over it evenly.
                times = np.stack((series.start, series.end), axis=1).reshape(-1)
                sums = np.repeat(np.cumsum(series.value), 2)
                sums[::2] -= series.value
                rate = np.diff(np.interp(edges, times, sums)) * self._scale
                key = (series.metric, series.name)
                named[key] = named[key] + rate if key in named else rate
        for (metric, name), rate in named.items():
            if rate.max() > 0:
                most = f"up to {rate.max():.3g} a cycle"
                yield _Level(name, most, _COUNTED[metric], rate / rate.max())

    def _uses(self, profile: Profile) -> dict[int, _Uses]:
        """By its path what each track is at in each pixel's cycles, where counters tell that.

        What is counted in an interval is spread evenly over the work in it.
        """
        told = uses_of_tracks(profile)
        runs, work = profile.schedule, told.uses.index(WORK)
        edges = np.linspace(self._start, self._end, self._width - _LEFT - _RIGHT + 1)
        ends = np.concatenate(([0], np.cumsum(runs.cycles)))
        result: dict[int, _Uses] = {}
        for track in sorted({track for _, track, _ in told.splits}):
            of_run = told.of_trees[runs.tree, track]
            until = [
                np.concatenate(([0], np.cumsum(np.where(of_run == use, runs.cycles, 0))))
                for use in range(len(told.uses))
            ]
            units = [np.diff(np.interp(edges, ends, sums)) for sums in until]
            mine = [(profile.series[s], use) for s, t, use in told.splits if t == track]
            for series, use in ((s, use) for s, use in mine if len(s)):
                times = np.stack((series.start, series.end), axis=1).reshape(-1)
                counted = np.repeat(np.cumsum(series.value), 2)
                counted[::2] -= series.value
                to, known = (np.interp(at, ends, until[work]) for at in (edges, times))
                waited = np.diff(np.interp(to, known, counted))
                units[use], units[work] = units[use] + waited, units[work] - waited
            colours = [use_style(use).colour for use in told.uses]
            heights = [np.clip(each * self._scale, 0, 1) for each in units]
            result[told.tracks[track]] = tuple(zip(colours, heights, strict=True))
        return result

    def _bands(self, profile: Profile) -> Iterator[_Band]:
        by_instance: dict[str, list[Row]] = {}
        for row in rows(profile):
            by_instance.setdefault(row.instance, []).append(row)
        many = len(by_instance) > 1
        uses, told = uses_of_paths(profile), self._uses(profile)
        threaded = _threaded(profile)
        part, begin = around(profile, self._start, min(self._end, profile.cycles))
        for instance, mine in by_instance.items():
            kinds = {row.kind for row in mine}
            # Threads and their region are always there: states say it all.
            hidden = {Kind.PRIMITIVE} | ({Kind.CELL} if threaded else set())
            hidden |= {Kind.THREAD} if Kind.STATE in kinds else set()
            shown = [row for row in mine if row.kind not in hidden]
            wanted = np.array([p for row in shown for p in row.paths], dtype=np.int64)
            found = spans(part, paths=wanted).later(begin)
            prefix = f"{instance.rsplit('.', 1)[-1]} " if many else ""
            for kind in dict.fromkeys((*_ORDER, *(row.kind for row in shown))):
                for row in sorted((r for r in shown if r.kind is kind), key=_lane):
                    yield from _of_row(profile, uses, told, row, found, prefix)
                if kind is Kind.CONTROL:
                    yield from _of_registers(part, begin, instance, prefix)


def _title(profile: Profile) -> str:
    whole = account(profile)
    title = f"{clip(visible(profile.meta.title), 70)} · {number(profile.cycles)} cycles"
    title += f", {percent(whole.share(whole.useful))}"
    return title + (f" of {whole.unit} useful" if whole.tracks else " useful")


def _legend(profile: Profile) -> tuple[tuple[str, str], ...]:
    """The tracks' colours: states and uses by those of what they are for."""
    names: dict[str, list[str]] = {}
    told = uses_of_tracks(profile)
    waits = [told.uses[use] for use in sorted({use for _, _, use in told.splits})]
    for path, use in enumerate(uses_of_paths(profile)):
        frame, style = profile.frame_of(path), use_style(use)
        state = frame.kind is Kind.STATE
        if state or (frame.track and use == WORK):
            name = frame.name if state and not (waits and use == WORK) else style.name
            shown = names.setdefault(style.colour, [])
            if name not in shown:
                shown.append(name)
    for style in map(use_style, waits):
        names.setdefault(style.colour, [style.name])
    return tuple((c, clip(visible(", ".join(texts)), _LEGEND)) for c, texts in names.items())


def _wide(items: Sequence[tuple[str, str]]) -> float:
    """The width of the entries of a legend, with the gap behind each."""
    return sum(len(text) * _LETTER + _GAP for _, text in items)


def _in_lines(
    items: Sequence[tuple[str, str]], width: float
) -> tuple[tuple[tuple[str, str], ...], ...]:
    lines: list[list[tuple[str, str]]] = [[]]
    for item in items:
        if lines[-1] and _wide([*lines[-1], item]) > width:
            lines.append([])
        lines[-1].append(item)
    return tuple(map(tuple, lines))


def _threaded(profile: Profile) -> bool:
    return any(frame.kind is Kind.STATE for frame in profile.catalog)


def _never_drawn(profile: Profile) -> list[str]:
    """The parts of a profile that get no row in any picture of this kind."""
    kinds = {profile.catalog[frame].kind for frame in set(profile.call_paths.frame.tolist())}
    found = ["primitives"] if Kind.PRIMITIVE in kinds else []
    if _threaded(profile) and Kind.CELL in kinds:
        found.append("the outermost cell")
    drawn = REGISTERS | (set(_COUNTED) if team(profile) is not None else set())
    told = {series for series, _, _ in uses_of_tracks(profile).splits}
    counters = dict.fromkeys(
        visible(s.name)
        for number, s in enumerate(profile.series)
        if s.metric not in drawn and number not in told and len(s)
    )
    first, *others = counters or [""]
    return [*found, f"counters: {first}", *others] if counters else found


def _omitted(bands: Sequence[_Band], most: int) -> list[str]:
    """Rows that are not drawn: of each cell and kind, by the names of some blocks on them."""
    found: dict[str, dict[str, None]] = {}
    for band in bands:
        found.setdefault(band.what, {}).update(dict.fromkeys(band.blocks))
    return [
        visible(f"{what}: {_some(tuple(names), most)}" if names else what)
        for what, names in found.items()
    ]


def _some(names: Sequence[str], most: int) -> str:
    """Names in a list, or the first of them and how many more there are."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {number(more)} more" if more > 0 else "")


def _wrapped(parts: Sequence[str], width: int) -> list[str]:
    """Parts on lines of at most so many letters; a longer part is clipped."""
    lines: list[str] = []
    for part in parts:
        text = clip(part, width - 1)
        if lines and len(lines[-1]) + len(text) + 3 <= width:
            lines[-1] += f"; {text}"
        else:
            lines.append(text)
    return lines


def _high(bands: Sequence[_Band | _Level]) -> int:
    """Rows that some bands need."""
    return sum(1 if isinstance(band, _Band) else _TALL for band in bands)


def _lane(row: Row) -> tuple[int, int]:
    return row.lane, row.extra


def _colours(profile: Profile, uses: Sequence[Use], paths: Sequence[int]) -> list[tuple[str, bool]]:
    """The colour of each path's boxes, and whether text on it is white."""
    result = []
    for path in paths:
        frame, style = profile.frame_of(path), use_style(uses[path])
        if frame.kind is Kind.STATE or (frame.track and frame.activity is Activity.WORK):
            result.append((style.colour, style.dark))
        else:
            result.append((_COLOURS.get(frame.kind, _OTHER), False))
    return result


def _runs(steps: NDArray[np.floating]) -> Iterator[tuple[int, int, int]]:
    """Neighbours of equal value: (first pixel, pixel after the last, value)."""
    value = steps.astype(np.int64)
    first = np.flatnonzero(np.concatenate(([True], value[1:] != value[:-1])))
    last = np.concatenate((first[1:], [len(value)]))
    yield from zip(first.tolist(), last.tolist(), value[first].tolist(), strict=True)


_TITLES: dict[Kind | str, str] = {
    Kind.CELL: "cell",
    Kind.CONTROL: "control",
    Kind.GROUP: "groups",
    Kind.STATE: "",
}


def _of_row(
    profile: Profile,
    uses: Sequence[Use],
    told: Mapping[int, _Uses],
    row: Row,
    found: Spans,
    prefix: str,
) -> Iterator[_Band]:
    """A row's boxes; nested control blocks one level below the other."""
    inside = set(row.paths)
    depth = {p: len(inside.intersection(profile.lineage(p))) for p in row.paths}
    named = row.frame >= 0
    what = profile.catalog[row.frame].label if named else _TITLES.get(row.kind, str(row.kind))
    title = f"{prefix}{what}".strip() or str(row.kind)
    # What a process waits for is drawn over it.
    flat = row.kind is Kind.PROCESS
    for level in (1,) if flat else sorted(set(depth.values())):
        paths = [p for p in row.paths if flat or depth[p] == level]
        starts, ends, which = [], [], []
        colours = _colours(profile, uses, paths)
        for index, path in enumerate(paths):
            begin, until = np.searchsorted(found.path, (path, path + 1)).tolist()
            starts.append(found.start[begin:until])
            ends.append(found.end[begin:until])
            which.append(np.full(until - begin, index))
        yield _Band(
            what=title,
            cell=prefix,
            kind=row.kind,
            arm=row.lane + 1,
            extra=row.extra + 1,
            level=level,
            colours=tuple(colour for colour, _ in colours),
            dark=tuple(dark for _, dark in colours),
            start=np.concatenate(starts),
            end=np.concatenate(ends),
            names=tuple(profile.frame_of(p).label for p in paths),
            which=np.concatenate(which),
            uses=next((told[p] for p in profile.lineage(paths[0]) if p in told), ())
            if row.kind is Kind.STATE
            else (),
            open=tuple(uses[p] == WORK for p in paths),
        )


def _of_registers(profile: Profile, begin: int, instance: str, prefix: str) -> Iterator[_Band]:
    """One box of one cycle wherever control registers of an instance are updated."""
    mine = (s for s in profile.series if s.track == instance and s.metric in REGISTERS)
    found = [(one.register.name.split(" (")[0], one.when + begin) for one in moves(mine)]
    if not sum(len(when) for _, when in found):
        return
    every = np.concatenate([when for _, when in found])
    which = np.repeat(np.arange(len(found)), [len(when) for _, when in found])
    order = np.lexsort((which, every))
    cycle, first = np.unique(every[order], return_index=True)
    together = np.split(which[order], first[1:])
    names: dict[str, int] = {}
    shown = [
        names.setdefault(
            ", ".join(dict.fromkeys(found[n][0] for n in numbers.tolist())), len(names)
        )
        for numbers in together
    ]
    yield _Band(
        f"{prefix}control registers",
        prefix,
        *(None, 1, 1, 1),
        (_REGISTER,) * len(names),
        cycle,
        cycle + 1,
        tuple(names),
        np.array(shown, dtype=np.int64),
        (False,) * len(names),
    )


def _coverage(
    start: NDArray[np.floating], end: NDArray[np.floating], pixels: int
) -> NDArray[np.floating]:
    """The part of each pixel that some intervals cover (shape: pixels)."""
    # The integral of "how many intervals hold this point" is piecewise linear in its ends.
    edges = np.arange(pixels + 1, dtype=np.float64)

    def integral(ends: NDArray[np.floating]) -> NDArray[np.floating]:
        ordered = np.sort(ends)
        total = np.concatenate(([0.0], np.cumsum(ordered)))
        below = np.searchsorted(ordered, edges)
        return edges * below - total[below]

    return np.diff(integral(start) - integral(end))


def _step(least: float) -> int:
    """The round number of cycles (1, 2, 5 · 10ⁿ) that is at least so many."""
    power = 1
    while True:
        for factor in (1, 2, 5):
            if factor * power >= least:
                return factor * power
        power *= 10
