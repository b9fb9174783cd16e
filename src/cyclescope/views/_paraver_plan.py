"""What a profile is in Paraver's words: rows (threads), their states, and events on them.

Rows are the profile's threads; else its processes; else its cells (called from however many
places). A row's state in a cycle depends on the call tree only, so it is worked out once for
each of the few hundred trees.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from cyclescope.analyse import WORK
from cyclescope.model import Ints, Kind, Profile, Series
from cyclescope.views._text import clip, visible

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["ACTIVITY", "STATES", "EventType", "Plan", "plan"]

# The first four are what the hardware's two bits say (paper, section IV-B).
STATES = ("Idle", "Running", "Critical", "Spinning", "Control")
"""States with a number of their own; `Control` is a cell that is active but does no work."""

ACTIVITY = 70_000_001
"""Event type: which part of a row is active, as a number with a label; 0 for none."""

_LEVELS = 71_000_000
_TOTALS = 72_000_000
_LABEL = 160  # characters of a label


@dataclass(slots=True)
class EventType:
    """A kind of event: a counter of any number of rows.

    Attributes:
        number: Paraver's, at least 70,000,000 and so beyond the types that Extrae uses.
        name, metric, unit: as in `Series`.
        summed: a value is the total since the row's last event of the type; else it holds until
            the next one.
        values: labels of values, by number; empty where values are quantities.
    """

    number: int
    name: str
    metric: str
    unit: str
    summed: bool
    values: list[str] = field(default_factory=list)

    @property
    def label(self) -> str:
        """Text for people, in one line."""
        unit = f" ({visible(self.unit)})" if self.unit else ""
        return clip(visible(self.name).strip(), _LABEL) + unit or "(no name)"


@dataclass(frozen=True, slots=True)
class Plan:
    """A profile as rows with states and events.

    Attributes:
        rows: label of each row with states, in order of first mention.
        tracks: labels of further rows, for counters that belong to none of the rows.
        states: label of each state, by number.
        state: the state of each row in each tree (shape: trees, rows).
        activity: likewise a value of the event type `ACTIVITY`.
        types: event types in order of number; the first is `ACTIVITY`.
        events: (row, type, series), a counter each.
    """

    rows: tuple[str, ...]
    tracks: tuple[str, ...]
    states: tuple[str, ...]
    state: Ints
    activity: Ints
    types: tuple[EventType, ...]
    events: tuple[tuple[int, EventType, Series], ...]


def plan(profile: Profile) -> Plan:
    """Divide a profile into rows, states and events."""
    owner, rows = _owners(profile)
    labels = list(STATES)
    state = np.zeros((len(profile.forest), len(rows)), dtype=np.int64)
    activity = EventType(ACTIVITY, "active part", "activity", "", False, ["none"])
    active = np.zeros_like(state)
    numbers = {label.lower(): number for number, label in enumerate(labels)}
    parts: dict[tuple[int, ...], int] = {(): 0}
    for tree in range(len(profile.forest)):
        shown = profile.forest[tree].tolist()
        for row, name in _states(profile, owner, shown):
            number = numbers.setdefault(name.lower(), len(numbers))
            if number == len(labels):
                labels.append(name)
            state[tree, row] = number
        for row, part in _parts(profile, owner, shown):
            number = parts.setdefault(part, len(parts))
            if number == len(activity.values):
                activity.values.append(_part_label(profile, part))
            active[tree, row] = number
    tracks, types, events = _counters(profile, owner, rows)
    return Plan(
        rows=tuple(_clean(name) for name in rows),
        tracks=tuple(_clean(name) for name in tracks),
        states=tuple(_clean(name) for name in labels),
        state=state,
        activity=active,
        types=(activity, *types),
        events=tuple(events),
    )


def _clean(text: str) -> str:
    return clip(visible(text).strip(), _LABEL) or "(no name)"


def _owners(profile: Profile) -> tuple[list[int], list[str]]:
    """For each path the row in which it lies (-1: none), and the rows' names."""
    frames = [profile.catalog[f] for f in profile.call_paths.frame.tolist()]
    kinds = {frame.kind for frame in frames}
    kind = next((k for k in (Kind.THREAD, Kind.PROCESS) if k in kinds), Kind.CELL)
    rows: dict[str, int] = {}
    owner: list[int] = []
    for path, parent in enumerate(profile.call_paths.parent.tolist()):
        frame = frames[path]
        if frame.kind is kind:
            name = profile.instances[path]
            if kind is Kind.PROCESS:
                name = f"{name}.{frame.name}" if name else frame.name
            owner.append(rows.setdefault(name, len(rows)))
        else:
            owner.append(owner[parent] if parent >= 0 else -1)
    return owner, list(rows)


def _states(profile: Profile, owner: list[int], shown: list[int]) -> Iterable[tuple[int, str]]:
    """(row, its state) for the rows that are not idle."""
    parents = profile.call_paths.parent
    inner = {int(parents[path]) for path in shown}
    found: dict[int, str] = {}
    for path in shown:
        frame, row = profile.frame_of(path), owner[path]
        if frame.kind is Kind.STATE and row >= 0:
            found[row] = frame.detail or frame.name
        elif frame.kind is Kind.PROCESS:
            found[row] = "Running"
        elif frame.kind is Kind.CELL and row >= 0:
            found.setdefault(row, "Control")
        if path not in inner and frame.kind in WORK:
            # What works below a cell works for it.
            above = path
            while above >= 0:
                if profile.frame_of(above).kind is Kind.CELL and owner[above] >= 0:
                    found[owner[above]] = "Running"
                above = int(parents[above])
    return found.items()


def _parts(
    profile: Profile, owner: list[int], shown: list[int]
) -> Iterable[tuple[int, tuple[int, ...]]]:
    """(row, the frames that are active at the ends of its own part of the tree)."""
    parents = profile.call_paths.parent
    continued = set()
    for path in shown:
        parent = int(parents[path])
        if parent >= 0 and owner[parent] == owner[path]:
            continued.add(parent)
    found: dict[int, list[int]] = {}
    skipped = (Kind.CELL, Kind.THREAD, Kind.STATE, Kind.PROCESS)
    for path in shown:
        if owner[path] >= 0 and path not in continued:
            frame = int(profile.call_paths.frame[path])
            if profile.catalog[frame].kind not in skipped:
                found.setdefault(owner[path], []).append(frame)
    return ((row, tuple(frames)) for row, frames in found.items())


def _part_label(profile: Profile, part: tuple[int, ...]) -> str:
    texts = []
    for number in part:
        frame = profile.catalog[number]
        where = f" ({frame.positions[0]})" if frame.positions else ""
        texts.append(visible(frame.label + where).strip() or "(no name)")
    return _clean(" + ".join(dict.fromkeys(texts)))


def _counters(
    profile: Profile, owner: list[int], rows: list[str]
) -> tuple[list[str], list[EventType], list[tuple[int, EventType, Series]]]:
    """Further tracks, the types of events, and each counter's row and type."""
    row_of = {name: row for row, name in enumerate(rows)}
    tracks: dict[str, int] = {}
    types: dict[tuple[str, str, str], EventType] = {}
    count = [0, 0]
    events = []
    for series in profile.series:
        row = owner[series.path] if series.path >= 0 else row_of.get(series.track, -1)
        if row < 0:
            row = len(rows) + tracks.setdefault(series.track, len(tracks))
        key = (series.name, series.metric, series.unit)
        if key not in types:
            count[series.summed] += 1
            base = (_LEVELS, _TOTALS)[series.summed]
            types[key] = EventType(base + count[series.summed], *key, series.summed)
        events.append((row, types[key], series))
    ordered = sorted(types.values(), key=lambda t: t.number)
    return list(tracks), ordered, events
