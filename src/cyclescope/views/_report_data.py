"""A profile as the report's page reads it: one block of bytes.

    length of the head, 4 bytes, little-endian
    the head: JSON, padded with spaces to a multiple of 8 bytes
    the arrays, each from a multiple of 8 bytes on, little-endian

An array is in the head as `{"type": "u1", "at": 16, "length": 3}`: `at` counts from the end of
the head. All of it is deflated (zlib), since browsers inflate by themselves. Lengths rather than
times are stored: they repeat. Texts are made visible here: the page shows them as they come.
"""

from __future__ import annotations

import json
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np

from cyclescope.analyse import (
    WORK,
    Use,
    account,
    advise,
    area_table,
    decisive_leaves,
    is_hot,
    levels,
    table,
    team,
    uses_of_paths,
    uses_of_tracks,
    uses_over_time,
)
from cyclescope.model import Ints, Kind, Profile, Series
from cyclescope.views._critical_data import critical_data
from cyclescope.views._ladder import GAP_CLASSES
from cyclescope.views._lanes import rows
from cyclescope.views._network_data import network_data
from cyclescope.views._page_text import LABEL, page_file, page_label, page_position
from cyclescope.views._schedule_data import schedule_data
from cyclescope.views._stacks import stacks
from cyclescope.views._text import visible
from cyclescope.views._track_stacks import track_parts, track_stacks
from cyclescope.views._uses import about_use, colour_on_dark, use_style

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from cyclescope.analyse import Advice, Place, Row, UsesOfTracks
    from cyclescope.model import Bank, Clock, Frame, Rung, Segments, Site
    from cyclescope.views._track_stacks import TrackStacks

__all__ = ["EMBED", "pack"]

EMBED = ("none", "used", "all")
"""How much source text a report carries: none, the lines around what the run names, all."""

_AROUND = 3  # lines of context before and after a line that is named
_SITES = 5  # places of a finding
_EXACT = 1 << 53  # the browser's numbers are exact below this


class _Arrays:
    """Collects arrays, each as narrow as its values allow: it packs better."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self._at = 0
        self._known: dict[int, tuple[NDArray[np.integer], dict[str, str | int]]] = {}

    def add(self, values: NDArray[np.integer]) -> dict[str, str | int]:
        """Store an array, the same one only once, and give what stands for it in the head."""
        if id(values) in self._known:
            return self._known[id(values)][1]
        data = np.ascontiguousarray(values, dtype=_narrowest(values)).tobytes()
        kind = np.dtype(_narrowest(values)).str[1:]
        entry: dict[str, str | int] = {"type": kind, "at": self._at, "length": len(values)}
        self.parts.append(data + bytes(-len(data) % 8))
        self._at += len(self.parts[-1])
        self._known[id(values)] = (values, entry)
        return entry

    def runs(self, segments: Segments, of_state: Ints) -> dict[str, Any]:
        """Store what states show over time, as segments; neighbours that show the same may meet."""
        return {
            "order": self.add(segments.order),
            "size": self.add(np.diff(segments.offset)),
            "cycles": self.add(segments.cycles),
            "what": self.add(of_state[segments.state]),
        }


def _narrowest(values: NDArray[np.integer]) -> str:
    if not len(values):
        return "<u1"
    low, high = int(values.min()), int(values.max())
    for kind in ("u1", "u2", "u4") if low >= 0 else ("i1", "i2", "i4"):
        limits = np.iinfo(np.dtype(kind))
        if limits.min <= low and high <= limits.max:
            return f"<{kind}"
    return "<f8"


def pack(profile: Profile, *, embed: str = "used") -> bytes:
    """Everything that the page shows of a profile, deflated.

    Args:
        profile: what to show.
        embed: how much source text to carry, one of `EMBED`.

    Returns:
        The same bytes for the same profile.
    """
    arrays = _Arrays()
    head = json.dumps(_head(profile, arrays, embed), separators=(",", ":")).encode()
    head += b" " * (-(len(head) + 4) % 8)
    whole = b"".join((len(head).to_bytes(4, "little"), head, *arrays.parts))
    return zlib.compress(whole, 9)


def _head(profile: Profile, arrays: _Arrays, embed: str) -> dict[str, Any]:
    meta = profile.meta
    paths, forest, schedule = profile.call_paths, profile.forest, profile.schedule
    number = {frame: index for index, frame in enumerate(profile.catalog)}
    instances = {name: index for index, name in enumerate(dict.fromkeys(profile.instances))}
    areas = _areas(profile)
    advice = advise(profile)
    uses = uses_of_tracks(profile)
    return {
        "version": 3,
        "title": page_label(meta.title),
        "source": meta.source,
        "cycles": profile.cycles,
        "complete": meta.complete,
        "stopReason": page_label(meta.stop_reason),
        "periodPs": meta.period_ps,
        "clock": None if meta.clock is None else _clock(profile, meta.clock),
        "tools": _texts(meta.tools),
        "inputs": _texts(meta.inputs),
        "options": _texts(meta.options),
        "anomalies": [
            {"name": page_label(a.name), "severity": a.severity.value, "count": a.count,
             "detail": page_label(a.detail)}
            for a in meta.anomalies
        ],
        "levels": [page_label(level) for level in levels(profile)],
        "frames": [_frame(frame) for frame in profile.catalog],
        "instances": [page_label(name) for name in instances],
        "paths": {
            # A root's parent is -1, which would cost the whole array a wider type.
            "parent": arrays.add(paths.parent + 1),
            "frame": arrays.add(paths.frame),
            "instance": arrays.add(_numbers(instances[name] for name in profile.instances)),
            "order": arrays.add(_numbers(stacks(profile, scaled=False).order)),
        },
        "trees": {"size": arrays.add(np.diff(forest.offset)), "path": arrays.add(forest.path)},
        "runs": arrays.runs(schedule.segments, schedule.tree_of),
        **_account(profile, uses, arrays),
        "stacks": _stacks(profile, uses, arrays) if uses.tracks else None,
        "rows": [
            {"instance": instances[row.instance], "kind": page_label(row.kind), "lane": row.lane,
             "extra": row.extra, "paths": list(row.paths)}
            for row in rows(profile)
        ],
        "tables": {
            page_label(kind): [_row(number, row, areas) for row in table(profile, kind)]
            for kind in _kinds(profile)
        },
        **_counters(profile, uses, arrays),
        "ladder": _rungs(meta.ladder),
        "otherBounds": _rungs(meta.other_bounds),
        "network": network_data(profile),
        "schedules": schedule_data(profile),
        "critical": critical_data(profile, arrays.add, arrays.runs),
        "advice": [_finding(finding) for finding in advice],
        "sources": _sources(profile, embed, advice),
    }  # fmt: skip


def _rungs(rungs: Sequence[Rung]) -> list[dict[str, Any]]:
    return [
        {"name": page_label(rung.name), "cycles": rung.cycles, "about": page_label(rung.about),
         "gaps": [
             {"name": page_label(gap.name), "cycles": gap.cycles, "about": page_label(gap.about),
              "due": GAP_CLASSES.get(gap.name, "")}
             for gap in rung.gaps
         ]}
        for rung in rungs
    ]  # fmt: skip


def _texts(items: Mapping[str, str]) -> list[list[str]]:
    return [[page_label(name), page_label(value)] for name, value in items.items()]


def _numbers(values: Any) -> Ints:
    return np.fromiter(values, dtype=np.int64)


def _frame(frame: Frame) -> list[Any]:
    positions = [page_position(p) for p in frame.positions]
    name = page_label(frame.label) or "(no name)"
    detail = page_label(frame.detail)
    meaning = [int(frame.generated), int(frame.track), int(frame.activity is not None)]
    return [page_label(frame.kind), name, detail, positions, frame.latency, *meaning]


def _clock(profile: Profile, clock: Clock) -> dict[str, Any]:
    places = (place for frame in profile.catalog for place in frame.positions)
    levels = {place.file: place.level for place in places}
    path = [
        {
            "kind": str(step.kind),
            "delayPs": step.delay_ps,
            "cell": step.cell,
            "net": page_label(step.net),
            "part": str(step.part),
            "level": page_label(levels.get(step.file, "")),
            "file": page_file(step.file),
            "line": step.line,
        }
        for step in clock.path
    ]
    return {"device": page_label(clock.device), "path": path}


def _kinds(profile: Profile) -> list[Kind | str]:
    """The kinds of frame that occur, ours first."""
    found = dict.fromkeys(frame.kind for frame in profile.catalog)
    return sorted(found, key=[*Kind, *found].index)


def _finding(finding: Advice) -> dict[str, Any]:
    rule, shown = finding.rule, finding.places[:_SITES]
    rest = finding.places[_SITES:]
    return {
        "title": rule.title,
        "rule": rule.name,
        "change": rule.change,
        "check": rule.verify,
        "see": rule.reference,
        "saving": _bounds(finding),
        "sites": [
            {"name": page_label(site.name), "component": page_label(site.component),
             "place": [page_file(at.file), at.line] if (at := site.position) else None,
             "evidence": visible(site.evidence)[: 4 * LABEL], "saving": _bounds(site),
             "cycles": site.cycles}
            for site in shown
        ],
        "more": [len(rest), sum(site.saving for site in rest)],
    }  # fmt: skip


def _bounds(what: Advice | Place) -> tuple[int, int, int]:
    return what.saving, what.at_least, what.at_most


def _account(profile: Profile, uses: UsesOfTracks, arrays: _Arrays) -> dict[str, Any]:
    """The account of the whole run, and what it takes to count a part of it.

    `over` has the use of every cycle of a single root; `ofTrees` that of each track in each tree,
    row by row, before counters tell its work apart (`split` of a counter: the track, the use).
    """
    number = {use: index for index, use in enumerate(uses.uses)}
    whole = account(profile)
    columns = np.zeros((len(whole.of_track), len(uses.uses)), dtype=np.int64)
    columns[:, [number[use] for use in whole.uses]] = whole.of_track
    found: dict[str, Any] = {
        "uses": [_use(use) for use in uses.uses],
        "account": {
            "unit": whole.unit,
            "tracks": list(whole.tracks),
            "units": arrays.add(columns.reshape(-1)),
        },
        "useOfPath": arrays.add(_numbers(number[use] for use in uses_of_paths(profile))),
        # Hot places are those of all threads of a team together.
        "team": bool(whole.tracks) and team(profile) is not None,
    }
    if whole.tracks:
        return found | {"ofTrees": arrays.add(uses.of_trees.reshape(-1))}
    over = uses_over_time(profile)
    index = np.array([number[use] for use in over.uses], dtype=np.int64)
    return found | {"over": arrays.runs(over.segments, index)}


def _stacks(profile: Profile, uses: UsesOfTracks, arrays: _Arrays) -> dict[str, Any]:
    """The uses of the units of tracks, in parts, and the trees made of these.

    `leafOfTrees` has the path at whose end each track is in each tree, plus 1: how many cycles of
    it a part of the run has. Threads are apart only where that is another tree.
    """
    number = {use: index for index, use in enumerate(uses.uses)}
    track = {path: index for index, path in enumerate(uses.tracks)}
    parts = track_parts(profile)
    merged, apart = (track_stacks(profile, parts, apart=way) for way in (False, True))
    return {
        "track": arrays.add(_numbers(track[one.track] for one in parts)),
        "path": arrays.add(_numbers(one.path + 1 for one in parts)),
        "use": arrays.add(_numbers(number[one.use] for one in parts)),
        "units": arrays.add(_numbers(one.units for one in parts)),
        "leafOfTrees": arrays.add(decisive_leaves(profile).reshape(-1) + 1),
        "merged": _tree(merged, number, arrays),
        "apart": _tree(apart, number, arrays) if apart.tree != merged.tree else None,
    }


def _tree(found: TrackStacks, number: Mapping[Use, int], arrays: _Arrays) -> dict[str, Any]:
    """A tree to draw: its paths, and of each part the one at its end."""
    tree = found.tree
    says = [
        number.get(use, -1) if f.kind is Kind.STATE and (use := Use.of(f)) else -1
        for f in tree.catalog
    ]
    return {
        "frames": [_frame(frame) for frame in tree.catalog],
        "uses": says,
        "parent": arrays.add(tree.call_paths.parent + 1),
        "frame": arrays.add(tree.call_paths.frame),
        "order": arrays.add(_numbers(found.weighed.order)),
        "paths": found.stands_for,
        "end": arrays.add(_numbers(found.ends)),
    }


def _use(use: Use) -> dict[str, Any]:
    style = use_style(use)
    return {
        "label": page_label(use.label),
        "name": page_label(style.name),
        "about": about_use(use),
        "work": use == WORK,
        "hot": is_hot(use),
        "rank": use.rank[:2],
        "colour": style.colour,
        "onDark": colour_on_dark(use),
        "whiteInk": style.dark,
    }


_Costs = tuple[int, int, int, int]


def _areas(profile: Profile) -> dict[tuple[bool, str], _Costs]:
    """The costs of cells (with all in them) and blocks (with all that they use), by dotted name."""
    found: dict[tuple[bool, str], _Costs] = {}

    def add(key: tuple[bool, str], costs: _Costs) -> None:
        before = found.get(key, (0, 0, 0, 0))
        found[key] = (
            before[0] + costs[0],
            before[1] + costs[1],
            before[2] + costs[2],
            before[3] + costs[3],
        )

    for area in profile.areas:
        parts = area.cell.split(".")
        for end in range(1, len(parts) + 1):
            name = ".".join(parts[:end])
            add((False, name), (area.luts, area.ffs, area.dsps, area.brams))
    if profile.areas:
        for row in area_table(profile, (Kind.GROUP, Kind.CONTROL)):
            add((True, row.name), (row.luts, row.ffs, row.dsps, row.brams))
    return found


def _row(number: dict[Frame, int], row: Row, areas: dict[tuple[bool, str], _Costs]) -> list[Any]:
    whole = row.account
    is_block = row.frame.kind in (Kind.GROUP, Kind.CONTROL)
    name = row.instance if row.frame.kind is Kind.CELL else f"{row.instance}.{row.frame.name}"
    return [
        number[row.frame],
        page_label(row.instance),
        row.times,
        row.cycles,
        row.shortest,
        row.longest,
        [whole.useful, whole.total] if whole is not None and row.cycles else None,
        int(row.could_be_static),
        areas.get((is_block, name)),
    ]


def _counters(profile: Profile, uses: UsesOfTracks, arrays: _Arrays) -> dict[str, Any]:
    """Series of their own intervals, and those that are columns of a bank."""
    split = {number: [track, use] for number, track, use in uses.splits}
    banks: dict[int, tuple[int, Bank]] = {}
    series = []
    for number, one in enumerate(profile.series):
        entry: dict[str, Any] = {
            "track": page_label(one.track),
            "name": page_label(one.name),
            "metric": page_label(one.metric),
            "unit": page_label(one.unit),
            "path": one.path,
        }
        if one.labels:
            entry["labels"] = {str(v): page_label(label) for v, label in one.labels.items()}
        if one.cause:
            entry["cause"] = page_label(one.cause)
        if one.site >= 0:
            entry["site"] = _site(profile.sites[one.site])
        if number in split:
            entry["split"] = split[number]
        if _waits(one, uses):
            entry["waits"] = 1
        if one.bank is not None:
            bank, _ = banks.setdefault(id(one.bank), (len(banks), one.bank))
            entry |= {"bank": bank, "column": one.column}
        else:
            entry |= _intervals(one, arrays)
        series.append(entry)
    stored = [
        {
            "runs": arrays.runs(bank.segments, bank.shown),
            "after": bank.after,
            "columns": bank.values.shape[1],
            "values": _values(bank.values.reshape(-1), arrays),
        }
        for _, bank in banks.values()
    ]
    return {"series": series, "banks": stored}


def _waits(series: Series, uses: UsesOfTracks) -> bool:
    """Return whether a counter tells the place of a wait: it has a place, or no track."""
    if series.site >= 0:
        return series.of_place
    return series.summed and series.metric == "stall" and series.path not in uses.tracks


def _site(site: Site) -> dict[str, Any]:
    """The facts that are shown of a place of the program."""
    at = site.position
    where = (
        {"level": page_label(at.level), "file": page_file(at.file), "line": at.line} if at else {}
    )
    return {"label": page_label(site.label), **where}


def _intervals(series: Series, arrays: _Arrays) -> dict[str, Any]:
    start, end, value = series.intervals
    return {
        "gap": arrays.add(start - np.concatenate(([0], end[:-1]))),
        "cycles": arrays.add(end - start),
        "value": _values(value, arrays),
    }


def _values(values: Ints, arrays: _Arrays) -> dict[str, Any]:
    """Values of any size: what a browser cannot hold exactly is rounded, and said to be."""
    inexact = bool(len(values)) and max(abs(int(values.min())), abs(int(values.max()))) >= _EXACT
    return {**arrays.add(values), "inexact": inexact}


def _sources(profile: Profile, embed: str, advice: Sequence[Advice]) -> list[dict[str, Any]]:
    """Texts as segments of lines: `[first line, [line, …]]`."""
    if embed == "none":
        return []
    named: dict[str, set[int]] = {}
    for frame in profile.catalog:
        for position in frame.positions:
            named.setdefault(position.file, set()).add(position.line)
    for finding in advice:
        for at in (site.position for site in finding.places if site.position is not None):
            named.setdefault(at.file, set()).add(at.line)
    for one in profile.series:
        if one.site >= 0 and (where := profile.sites[one.site].position) is not None:
            named.setdefault(where.file, set()).add(where.line)
    result = []
    for file, text in profile.sources.items():
        if file not in named and embed == "used":
            continue
        lines = text.split("\n")
        if lines and not lines[-1]:
            lines.pop()
        wanted = range(1, len(lines) + 1)
        keep = (
            list(wanted)
            if embed == "all"
            else sorted(
                {
                    near
                    for line in named[file]
                    for near in range(line - _AROUND, line + _AROUND + 1)
                    if near in wanted
                }
            )
        )
        parts: list[tuple[int, list[str]]] = []
        for number in keep:
            if not parts or parts[-1][0] + len(parts[-1][1]) != number:
                parts.append((number, []))
            # Of the control characters a text needs tabs only.
            line_text = lines[number - 1].rstrip("\r").expandtabs(4)
            parts[-1][1].append(visible(line_text)[: 4 * LABEL])
        result.append({"file": page_file(file), "lines": len(lines), "parts": parts})
    return result
