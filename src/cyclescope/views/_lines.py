"""Cycles beside source lines: a table, an annotated text, and a picture of it.

The table's columns (JSON, CSV and Parquet use these names):

    file, line, text        which line
    cycles, share           cycles in which something from the line was active, of the run
    useful, overhead        how these divide: whether anything below the line did work
    own                     the line's exact part of the run, as a float here; all parts sum to it
    waiting                 thread-cycles for which threads waited in the line

Where there are tracks (threads, processes), cycles are track-cycles, and overhead is what those
lost that did no work.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from cyclescope.analyse import Line, account, line_cycles, team
from cyclescope.errors import InputError
from cyclescope.model import Position, Profile
from cyclescope.views._grid import CELL_WIDTH, Grid
from cyclescope.views._svg import Svg
from cyclescope.views._text import clip, number, percent, place, visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import TextIO

__all__ = ["lines_view", "print_source", "source_svg", "source_text"]

_AROUND = 2  # lines shown before and after one that has cycles
_HEADINGS = ("useful", "overhead", "own")
_OF_THREADS = ("lost", "waiting", "own")
_STYLES = ((0.5, "bold red"), (0.1, "red"), (0.01, "yellow"), (0, ""))  # from this heat on
_BAR = 8  # characters of the bar that shows a line's own part, beside the file's hottest line


def lines_view(profile: Profile, level: str | None = None, fmt: str = "text") -> bytes:
    """Tabulate the lines of a source level, most own cycles first.

    Args:
        profile: what to show.
        level: which level; without one, the level that names the frames.
        fmt: `text`, `csv`, `json`, `markdown` or `parquet`.
    """
    rows = sorted(line_cycles(profile, level), key=lambda row: -row.own)
    total = max(profile.cycles, 1)
    whole = account(profile)
    shown: dict[str, Callable[[Line], str]] = {
        f" {whole.unit}": lambda row: number(row.cycles) if row.file else "",
        " share": lambda row: percent(row.share) if row.file else "",
        **_middle(profile),
        " own": lambda row: _cycles(row.own),
        " own share": lambda row: percent(row.own / total),
        "line": lambda row: (
            place(Position("", row.file, row.line), CELL_WIDTH) if row.file else "(no line)"
        ),
        "text": lambda row: row.text.strip(),
    }
    integers = dict.fromkeys(("line", "cycles", "useful", "overhead"), int)
    schema: dict[str, type] = {
        "file": str, **integers, "own": float, "share": float, "text": str, "waiting": int,
    }  # fmt: skip
    return Grid(shown, schema, _record).render(rows, fmt)


def _middle(profile: Profile) -> dict[str, Callable[[Line], str]]:
    """The columns into which a table divides a line's cycles."""
    if team(profile) is None:
        return {
            " useful": lambda row: number(row.useful) if row.file else "",
            " overhead": lambda row: number(row.overhead) if row.file else "",
        }
    return {
        " lost": lambda row: number(row.overhead) if row.file else "",
        " waiting": lambda row: number(row.waiting) if row.waiting else "",
    }


def _record(row: Line) -> dict[str, Any]:
    return {
        "file": row.file,
        "line": row.line,
        "cycles": row.cycles,
        "useful": row.useful,
        "overhead": row.overhead,
        "own": float(row.own),
        "share": float(row.share),
        "text": row.text,
        "waiting": row.waiting,
    }


def _cycles(value: Fraction) -> str:
    """Cycles to a tenth where they are not whole."""
    return number(int(value)) if value.denominator == 1 else f"{float(value):,.1f}"


def _by_file(lines: Sequence[Line]) -> dict[str, dict[int, Line]]:
    result: dict[str, dict[int, Line]] = {}
    for line in lines:
        if line.file:
            result.setdefault(line.file, {})[line.line] = line
    return result


def _shown(known: dict[int, Line], text: Sequence[str]) -> Iterator[tuple[int, str] | None]:
    """(number, text) of the lines to show; None where some are left out."""
    wanted = {
        n
        for line in known
        for n in range(line - _AROUND, line + _AROUND + 1)
        if n in known or 1 <= n <= len(text)
    }
    before = 0
    for n in sorted(wanted):
        if n > before + 1:
            yield None
        yield n, text[n - 1] if 0 < n <= len(text) else ""
        before = n
    if before < len(text):
        yield None


def source_text(profile: Profile, level: str | None = None, *, width: int = 120) -> str:
    """The program's texts with the cycles of each line beside it, as plain text.

    Where the profile does not carry a text, only the numbers of lines with cycles are shown.

    Raises:
        InputError: no frame has a position at that level, or at any.
    """
    return "".join(f"{row.rstrip()}\n" for row, _ in _rows(profile, level, width))


def print_source(profile: Profile, stream: TextIO, level: str | None = None) -> None:
    """Print `source_text`: hot lines in colour if the stream is a terminal.

    What the stream's encoding cannot show is printed as visible escapes.
    """
    from rich.console import Console
    from rich.text import Text

    console = Console(file=stream, highlight=False, force_jupyter=False)
    width = max(console.width, 80) if console.is_terminal else 120
    encoding = stream.encoding or "utf-8"
    for row, heat in _rows(profile, level, width):
        text = row.rstrip().encode(encoding, "backslashreplace").decode(encoding)
        if console.is_terminal:
            style = "bold" if heat is None else next(s for h, s in _STYLES if heat >= h)
            console.print(Text(text, style=style, no_wrap=True), soft_wrap=True)
        else:
            stream.write(f"{text}\n")


def _rows(profile: Profile, level: str | None, width: int) -> Iterator[tuple[str, Fraction | None]]:
    """The rows of `source_text`, each with its heat: own cycles of the hottest line's, 0 to 1."""
    lines = line_cycles(profile, level)
    if not any(line.file for line in lines):
        raise InputError(
            f"{profile.meta.title}: nothing in this profile says which source line it comes from"
        )
    hottest = max((line.own for line in lines), default=Fraction(0))
    threads, whole = team(profile), account(profile)
    headings = (whole.unit, *(_HEADINGS if threads is None else _OF_THREADS))
    columns = [max(len(h), len(number(whole.total)) + 2) for h in headings]
    for file, known in _by_file(lines).items():
        text = profile.sources.get(file, "").splitlines()
        digits = len(str(max(*known, len(text))))
        head = "  ".join(h.rjust(w) for h, w in zip(headings, columns, strict=True))
        yield f"{head}  {'':{_BAR}}  {clip(visible(file), 60)}", None
        for entry in _shown(known, text):
            if entry is None:
                yield f"{'':{sum(columns) + 2 * len(columns) + _BAR}}  {'⋮':>{digits}}", None
                continue
            n, content = entry
            row = known.get(n)
            figures = _figures(row, threads=threads is not None) if row else [""] * 4
            heat = row.own / hottest if row and hottest else Fraction(0)
            cells = "  ".join(f.rjust(w) for f, w in zip(figures, columns, strict=True))
            bar = "█" * round(heat * _BAR)
            left = f"{cells}  {bar:{_BAR}}  {n:>{digits}} │ "
            content = visible(content.expandtabs(4))
            yield left + clip(content, max(width - len(left), 20)), heat
        yield "", None


def _figures(row: Line, *, threads: bool) -> list[str]:
    waiting = number(row.waiting) if row.waiting else ""
    if not row.cycles and (waiting or row.own):  # no loop or block begins there
        return ["", "", waiting, _cycles(row.own) if row.own else ""]
    middle = (
        [number(row.overhead), waiting] if threads else [number(row.useful), number(row.overhead)]
    )
    return [number(row.cycles), *middle, _cycles(row.own)]


_ROW, _LETTER, _MARGIN = 17, 7.23, 10


def source_svg(profile: Profile, level: str | None = None, *, width: int = 140) -> bytes:
    """The program's texts as a heat map: the redder a line, the more of the run is its own.

    Args:
        profile: what to show.
        level: which level's texts; without one, the level that names the frames.
        width: characters of the widest line.

    Returns:
        An SVG document in UTF-8, the same bytes for the same profile.
    """
    rows = list(_rows(profile, level, width))
    title = f"{clip(visible(profile.meta.title), 60)}: {number(profile.cycles)} cycles"
    pixels = round(2 * _MARGIN + _LETTER * max([len(row) for row, _ in rows] + [len(title)]))
    height = 2 * _MARGIN + _ROW * (len(rows) + 2)
    svg = Svg()
    size = {"width": str(pixels), "height": str(height), "viewBox": f"0 0 {pixels} {height}"}
    font = "font:12px ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace"
    svg.begin(style=font, **size)
    svg.leaf("rect", width="100%", height="100%", fill="#fff")
    y = _MARGIN + _ROW
    svg.leaf("text", title, x=str(_MARGIN), y=str(y - 4), font_weight="bold")
    for row, heat in rows:
        y += _ROW
        if heat:
            top = {"x": "0", "y": str(y - _ROW + 1), "width": "100%", "height": str(_ROW)}
            svg.leaf("rect", **top, fill="#d33", fill_opacity=f"{0.04 + 0.5 * float(heat):.3f}")
        if row:
            weight = "normal" if heat is not None else "bold"
            # Renderers fold blanks; those that do not break stay.
            text = row.rstrip().replace(" ", "\u00a0")
            svg.leaf("text", text, x=str(_MARGIN), y=str(y - 4), font_weight=weight)
    return svg.end(tight=True)
