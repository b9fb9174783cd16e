"""Area beside cycles: a table, and a map in which large and rarely used shows as large and red.

The table's columns (JSON, CSV and Parquet use these names):

    kind, name, type            what
    luts, ffs, dsps, brams      what it costs; memory blocks in halves of 18 kbit
    cycles, share               in which it is used, of the run; empty where nothing shows that
    idle_cost                   cost · share of the run in which it is not used
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cyclescope.analyse import AreaRow, area_table
from cyclescope.errors import InputError
from cyclescope.model import Kind, Profile
from cyclescope.views._grid import Grid
from cyclescope.views._svg import Svg
from cyclescope.views._text import clip, number, percent, visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

__all__ = ["area_svg", "area_view"]


def area_view(profile: Profile, kinds: Iterable[Kind] = (), fmt: str = "text") -> bytes:
    """Tabulate what parts cost and how much they are used, large and rarely used first.

    Args:
        profile: of a design that was synthesised.
        kinds: `Kind.CELL`, `Kind.GROUP`, `Kind.CONTROL`; all if empty.
        fmt: `text`, `csv`, `json`, `markdown` or `parquet`.

    Raises:
        InputError: the profile has no costs.
    """
    _require(profile)
    shown: dict[str, Callable[[AreaRow], str]] = {
        " idle cost": lambda row: "" if row.idle_cost is None else f"{float(row.idle_cost):,.0f}",
        " LUT": lambda row: number(row.luts),
        " FF": lambda row: number(row.ffs),
        " DSP": lambda row: number(row.dsps),
        " BRAM": lambda row: f"{row.brams / 2:g}",
        " cycles": lambda row: "" if row.cycles is None else number(row.cycles),
        " used": lambda row: "" if row.share is None else percent(row.share),
        "kind": lambda row: str(row.kind),
        "name": lambda row: row.name,
        "type": lambda row: row.type,
    }
    texts = dict.fromkeys(("kind", "name", "type"), str)
    counts = dict.fromkeys(("luts", "ffs", "dsps", "brams", "cycles"), int)
    schema: dict[str, type] = {**texts, **counts, "share": float, "idle_cost": float}
    return Grid(shown, schema, _record).render(area_table(profile, kinds), fmt)


def _require(profile: Profile) -> None:
    if not profile.areas:
        raise InputError(
            f"{profile.meta.title}: its design was not synthesised; profile it with --area"
        )


def _record(row: AreaRow) -> dict[str, Any]:
    return {
        "kind": str(row.kind),
        "name": row.name,
        "type": row.type,
        "luts": row.luts,
        "ffs": row.ffs,
        "dsps": row.dsps,
        "brams": row.brams,
        "cycles": row.cycles,
        "share": None if row.share is None else float(row.share),
        "idle_cost": None if row.idle_cost is None else float(row.idle_cost),
    }


_HEAD, _LETTER, _LINE = 48, 6.6, 13


def area_svg(profile: Profile, *, width: int = 1000, height: int = 560) -> bytes:
    """Draw every cell as a box as large as its cost, red if rarely used, green if often.

    Returns:
        An SVG document in UTF-8, the same bytes for the same profile.

    Raises:
        InputError: the profile has no costs.
    """
    _require(profile)
    rows = sorted(
        (row for row in area_table(profile, [Kind.CELL]) if row.cost),
        key=lambda row: (-row.cost, row.name),
    )
    svg = Svg()
    font = "font:11px ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace"
    size = {"width": str(width), "height": str(height), "viewBox": f"0 0 {width} {height}"}
    svg.begin(style=font, **size)
    svg.leaf("rect", width="100%", height="100%", fill="#fff")
    luts, ffs = sum(row.luts for row in rows), sum(row.ffs for row in rows)
    title = f"{clip(visible(profile.meta.title), 60)}: {number(luts)} LUTs, {number(ffs)} FFs"
    svg.leaf("text", title, x="8", y="18", font_weight="bold")
    note = "Size: cost. Red: never used \u2026 green: used in every cycle; grey: use unknown."
    svg.leaf("text", note, x="8", y="36", fill="#555")
    boxes = _squares([row.cost for row in rows], 8, _HEAD, width - 16, height - _HEAD - 8)
    for row, (x, y, w, h) in zip(rows, boxes, strict=True):
        svg.open("g")
        svg.leaf("title", _about(row))
        place = {"x": f"{x:.2f}", "y": f"{y:.2f}", "width": f"{w:.2f}", "height": f"{h:.2f}"}
        svg.leaf("rect", **place, fill=_colour(row), stroke="#fff")
        used = "?" if row.share is None else percent(row.share)
        lines = [visible(row.name), f"{number(row.luts)} LUT {number(row.ffs)} FF", used]
        space = int((w - 6) / _LETTER)
        for place_of, line in enumerate(lines):
            if space >= 3 and (place_of + 1) * _LINE + 2 <= h:
                baseline = f"{y + (place_of + 1) * _LINE:.2f}"
                text = _tail(line, space) if place_of == 0 else clip(line, space)
                svg.leaf("text", text, x=f"{x + 3:.2f}", y=baseline)
        svg.close("g", tight=True)
    return svg.end(tight=True)


def _tail(text: str, space: int) -> str:
    """The end of a dotted name says more than its beginning."""
    return clip(text[::-1], space)[::-1]


def _about(row: AreaRow) -> str:
    use = "use unknown" if row.share is None else f"used in {percent(row.share)} of the cycles"
    costs = (
        f"{number(row.luts)} LUTs, {number(row.ffs)} FFs, {row.dsps} DSP, {row.brams / 2:g} BRAM"
    )
    return f"{visible(row.name)} [{visible(row.type)}]: {costs}; {use}"


def _colour(row: AreaRow) -> str:
    if row.share is None:
        return "#c9ccd1"
    hue = round(120 * float(row.share) ** 0.5)  # most parts are used in a few percent
    return f"hsl({hue},62%,68%)"


_Box = tuple[float, float, float, float]


def _squares(sizes: list[int], x: float, y: float, w: float, h: float) -> Iterator[_Box]:
    """Boxes (x, y, width, height) of areas in proportion to descending sizes, near to square."""
    scale = w * h / max(sum(sizes), 1)
    rest = [size * scale for size in sizes]
    while rest:
        side = min(w, h)
        count = 1
        while count < len(rest) and _worst(rest[: count + 1], side) <= _worst(rest[:count], side):
            count += 1
        row, rest = rest[:count], rest[count:]
        thick = sum(row) / side if side else 0.0
        at = 0.0
        for size in row:
            length = size / thick if thick else 0.0
            yield (x, y + at, thick, length) if w >= h else (x + at, y, length, thick)
            at += length
        if w >= h:
            x, w = x + thick, max(w - thick, 0.0)
        else:
            y, h = y + thick, max(h - thick, 0.0)


def _worst(row: list[float], side: float) -> float:
    """The worst aspect ratio among the boxes of a row."""
    thick = sum(row) / side if side else 0.0
    return max((max(thick**2 / size, size / thick**2) for size in row if thick), default=0.0)
