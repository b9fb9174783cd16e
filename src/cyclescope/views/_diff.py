"""A comparison as text, Markdown or JSON."""

from __future__ import annotations

import json
from dataclasses import asdict
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from cyclescope.views._text import (
    clip,
    cycles_text,
    markdown_cell,
    number,
    percent,
    place,
    visible,
    width_of,
)
from cyclescope.views._uses import use_style

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cyclescope.analyse import Change, Diff, Spot

__all__ = [
    "DIFF_FORMATS",
    "diff_heading",
    "diff_json",
    "diff_markdown",
    "diff_tables",
    "diff_text",
    "signed",
]

_TITLE = 60
_PATH = 76
_PLACE = 30

Grid = list[list[str]]  # the first row has headings; those of numbers start with a space


def signed(value: Fraction | int) -> str:
    """A difference with its sign: `+12`, `-0.3`, `0`; what is not whole to one digit."""
    exact = Fraction(value)
    if exact.denominator == 1:
        return f"{int(exact):+,}" if exact else "0"
    tenths = int(abs(exact) * 10 + Fraction(1, 2))
    sign = "-" if exact < 0 else "+"
    return f"{sign}{tenths // 10:,}.{tenths % 10}" if tenths else f"{sign}<0.1"


def diff_heading(found: Diff) -> str:
    """One line: the change of the total, in cycles and share."""
    before, after = found.before.cycles, found.after.cycles
    if found.empty:
        return f"no difference: {number(before)} cycles, spent alike"
    share = f" ({_share(found.cycles, before)})" if before else ""
    return f"{signed(found.cycles)} cycles{share}: {number(before)} \u2192 {number(after)}"


def diff_text(found: Diff, *, top: int = 20) -> str:
    """For the terminal: the totals, cycles by class, what differs in the input, the changes.

    Args:
        found: the comparison.
        top: at most so many changes; one line says what the others sum to.
    """
    parts = [diff_heading(found)]
    for name, profile in (("before", found.before), ("after", found.after)):
        stopped = "" if profile.meta.complete else "  INCOMPLETE: stopped before its end"
        title = clip(visible(profile.meta.title), _TITLE)
        parts.append(f"  {name:6}  {number(profile.cycles):>13}  {title}{stopped}")
    parts += [f"  {line}" for line in (*_results(found), *_settings(found))]
    if not found.empty:
        parts += ["", *_aligned(_uses(found))]
        if found.rebuilt:
            parts += ["", *_aligned(_rebuilt(found, top, full=False))]
        parts += ["", *_aligned(_changes(found, top, full=False)), *_rest(found, top)]
    return "\n".join(parts) + "\n"


def diff_markdown(found: Diff, *, top: int = 20) -> str:
    """For a pull request: the same as tables."""
    lines = [f"**{markdown_cell(diff_heading(found))}**", ""]
    notes = (*_titles(found), *_results(found), *_settings(found))
    lines += [f"- {markdown_cell(line)}" for line in notes]
    if not found.empty:
        grids = _grids(found, top)
        lines += [line for grid in grids for line in ("", *_table(grid))]
        lines += ["", *map(markdown_cell, _rest(found, top))] if _rest(found, top) else []
    return "\n".join(lines) + "\n"


def diff_json(found: Diff) -> str:
    """Everything as one JSON object, ASCII only.

    Keys: `before` and `after` (each `title`, `cycles`, `complete`, `wrong` memories), `cycles` (the
    difference), `account` ([before, after], each `unit`, `total`), `uses` (such as `control: fsm` →
    [before, after]), `settings` (name → [before, after]), `memories` (null, or names: `compared`,
    `differing`, `other_data` before the runs), `shared` (groups, cells, loops and processes of
    both, of before, of after), `unrelated`, `rebuilt` (blocks of other operators around the same
    groups: `spent` inside [before, after], `before`, `after`), `changes`: each `status`, `own` and
    `own_exact` (cycles at its end, after minus before; the exact ones sum to `cycles`), `active`,
    and `before` and `after` (null, or `instance`, `stack`, `kind`, `own`, `active`, `file`,
    `line`).
    """
    result: dict[str, Any] = {
        name: {
            "title": profile.meta.title,
            "cycles": profile.cycles,
            "complete": profile.meta.complete,
            "wrong": [memory.memory for memory in profile.meta.memories if memory.wrong],
        }
        for name, profile in (("before", found.before), ("after", found.after))
    }
    result |= {
        "cycles": found.cycles,
        "account": [{"unit": one.unit, "total": one.total} for one in found.accounts],
        "uses": {use.label: list(pair) for use, pair in found.uses.items()},
        "settings": {name: list(pair) for name, pair in found.settings.items()},
        "memories": None if found.results is None else asdict(found.results),
        "shared": list(found.shared),
        "unrelated": found.unrelated,
        "rebuilt": [
            {
                "spent": [float(spent) for spent in pair.spent],
                "before": _record(pair.before),
                "after": _record(pair.after),
            }
            for pair in found.rebuilt
        ],
        "changes": [
            {
                "status": change.status,
                "own": float(change.own),
                "own_exact": str(change.own),
                "active": change.active,
                "before": _record(change.before),
                "after": _record(change.after),
            }
            for change in found.changes
        ],
    }
    return json.dumps(result, indent=1) + "\n"


def diff_tables(found: Diff, top: int) -> tuple[list[str], list[tuple[str, Grid]], list[str]]:
    """The parts of a page: notes, tables (a name; first row: headings), what was left out."""
    notes = [*_titles(found), *_results(found), *_settings(found)]
    if found.empty:
        return notes, [], []
    between = ["Blocks that became others"] if found.rebuilt else []
    names = ["What cycles are for", *between, "What changed, by place"]
    return notes, list(zip(names, _grids(found, top), strict=True)), _rest(found, top)


DIFF_FORMATS = ("text", "markdown", "json", "html")


def _grids(found: Diff, top: int) -> list[Grid]:
    between = [_rebuilt(found, top, full=True)] if found.rebuilt else []
    return [_uses(found), *between, _changes(found, top, full=True)]


def _record(spot: Spot | None) -> dict[str, Any] | None:
    if spot is None:
        return None
    return {
        "instance": spot.instance,
        "stack": list(spot.stack),
        "kind": str(spot.kind),
        "own": float(spot.own),
        "active": spot.active,
        "file": spot.position.file if spot.position else None,
        "line": spot.position.line if spot.position else None,
    }


def _share(cycles: Fraction | int, of: int) -> str:
    """A signed share of the run before."""
    if not cycles or not of:
        return "0 %"
    return ("-" if cycles < 0 else "+") + percent(abs(Fraction(cycles)) / of)


def _titles(found: Diff) -> list[str]:
    pairs = (("before", found.before), ("after", found.after))
    return [
        f"{name}: {number(profile.cycles)} cycles, {clip(visible(profile.meta.title), _TITLE)}"
        + ("" if profile.meta.complete else " (INCOMPLETE: stopped before its end)")
        for name, profile in pairs
    ]


def _results(found: Diff) -> list[str]:
    """Say whether the two computed the same, and are of one program at all."""
    lines = []
    for name, profile in (("before", found.before), ("after", found.after)):
        if wrong := [memory.memory for memory in profile.meta.memories if memory.wrong]:
            lines.append(f"{name}: WRONG RESULTS in {', '.join(map(visible, wrong))}")
    results = found.results
    if results is not None and results.differing:
        names = ", ".join(map(visible, results.differing))
        lines.append(f"MEMORIES DIFFER after the runs: {names}; the two do not compute the same")
    elif results is not None and results.compared:
        lines.append("equal memories after the runs")
    elif results is not None:
        names = ", ".join(map(visible, results.other_data))
        lines.append(f"other data in {names} before the runs: results are not compared")
    if found.unrelated:
        both, before, after = found.shared
        lines.append(
            f"HARDLY VERSIONS OF ONE PROGRAM: of {before} and {after} groups, cells and loops"
            f" only {both} are in both"
        )
    return [clip(line, 3 * _TITLE) for line in lines]


def _settings(found: Diff) -> list[str]:
    """The differences in options and tools; a text of another content is named."""
    lines = []
    for name, (old, new) in found.settings.items():
        if name.startswith("input "):
            what = "differs" if old and new else "only before" if old else "only after"
            lines.append(f"{visible(name)} {what}")
        else:
            shown = [clip(visible(text), _TITLE) or "-" for text in (old, new)]
            lines.append(f"{visible(name)}: {shown[0]} \u2192 {shown[1]}")
    return [clip(line, 3 * _TITLE) for line in lines]


def _uses(found: Diff) -> Grid:
    whole = found.accounts[0]
    rows = [[whole.unit, " before", " after", " change", " of the run"]]
    for use, (old, new) in found.uses.items():
        if old or new:
            change = new - old
            rows.append([visible(use_style(use).name), number(old), number(new), signed(change),
                         _share(change, whole.total)])  # fmt: skip
    return rows


def _changes(found: Diff, top: int, *, full: bool) -> Grid:
    rows = [[" own", " share", " active", "what", "kind", "line", "path"]]
    rows += [
        [
            signed(change.own),
            _share(change.own, found.before.cycles),
            signed(change.active),
            change.status,
            str(change.spot.kind),
            place(change.spot.position, _PLACE),
            _path(change, full=full),
        ]
        for change in found.changes[:top]
    ]
    return rows


def _rebuilt(found: Diff, top: int, *, full: bool) -> Grid:
    """Blocks that became others: all that is spent inside, cycles of parallel work split."""
    rows = [[" before", " after", " change", " share", "rebuilt", "line", "from"]]
    for pair in found.rebuilt[:top]:
        before, after = (cycles_text(spent) for spent in pair.spent)
        share = _share(pair.change, found.before.cycles)
        became, line = _stack(pair.after, full=full), place(pair.after.position, _PLACE)
        was = visible(pair.before.stack[-1])
        rows.append([before, after, signed(pair.change), share, became, line, was])
    return rows


def _path(change: Change, *, full: bool) -> str:
    text = _stack(change.spot, full=full)
    if change.before and change.after and change.status:
        old = change.before.stack if change.moved else change.before.stack[-1:]
        was = " \u203a ".join(map(visible, old or (change.before.instance,)))
        text += f"  (was {was if full else clip(was, _PATH // 2)})"
    return text


def _stack(spot: Spot, *, full: bool) -> str:
    """A path; on a terminal the middle of a long one is left out."""
    names = [visible(spot.instance), *map(visible, spot.stack)]
    if not full:
        names = [clip(name, _TITLE) for name in names]
        while len(names) > 3 and width_of(" \u203a ".join(names)) > _PATH:
            del names[1 if names[1] != "\u2026" else 2]
            if names[1] != "\u2026":
                names.insert(1, "\u2026")
    return " \u203a ".join(names)


def _rest(found: Diff, top: int) -> list[str]:
    more = found.changes[top:]
    if not more:
        return []
    own = sum((change.own for change in more), Fraction(0))
    return [f"and {number(len(more))} more changes, together {signed(own)} cycles (--top)"]


def _aligned(grid: Grid) -> list[str]:
    widths = [max(width_of(row[i].strip()) for row in grid) for i in range(len(grid[0]))]
    lines = []
    for row in grid:
        cells = []
        for text, width, heading in zip(row, widths, grid[0], strict=True):
            fill = " " * (width - width_of(text.strip()))
            cells.append(fill + text.strip() if heading.startswith(" ") else text.strip() + fill)
        lines.append("  ".join(["", *cells]).rstrip())
    return lines


def _table(grid: Grid) -> list[str]:
    head, *rows = grid
    rule = "|" + "|".join(" ---: " if name.startswith(" ") else " --- " for name in head) + "|"
    return [_row(head), rule, *map(_row, rows)]


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(markdown_cell(cell.strip()) for cell in cells) + " |"
