"""The mapping of a profile to Paraver's terms: rows (threads), their states, and events on them.

Rows are the profile's threads; else its processes; else its cells (called from however many
places). A row's state in a cycle depends on the call tree only, so it is worked out once for
each of the few hundred trees.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from cyclescope._prv import OWN_STATES
from cyclescope.analyse import WORK, uses_of_paths
from cyclescope.model import Ints, Kind, Profile, Series
from cyclescope.views._text import clip, visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

__all__ = ["ACTIVITY", "STATES", "EventType", "Plan", "plan"]

STATES = (*OWN_STATES, "Control")
"""States with a number of their own; `Control` is a cell that is active but does no work."""

_RUNNING = STATES.index("Running")

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
        values: labels of values; empty where values are quantities.
    """

    number: int
    name: str
    metric: str
    unit: str
    summed: bool
    values: dict[int, str] = field(default_factory=dict)

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
    entries = _Entries(profile, np.array(owner, dtype=np.int64))
    state, labels = _states(profile, entries, len(rows))
    activity = EventType(ACTIVITY, "active part", "activity", "", False, {0: "none"})
    active = np.zeros_like(state)
    parts: dict[tuple[int, ...], int] = {(): 0}
    for tree, row, part in _parts(profile, entries):
        number = parts.setdefault(part, len(parts))
        if number == len(activity.values):
            activity.values[number] = _part_label(profile, part)
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
    """For each path the row in which it lies (-1: none), and the rows' names.

    Rows are the tracks; of a profile without any, the cell instances, or else its roots.
    """
    frames = [profile.catalog[f] for f in profile.call_paths.frame.tolist()]
    tracks = any(frame.track for frame in frames)
    cells = any(frame.kind is Kind.CELL for frame in frames)
    rows: dict[str, int] = {}
    owner: list[int] = []
    for path, parent in enumerate(profile.call_paths.parent.tolist()):
        frame = frames[path]
        if frame.track if tracks else frame.kind is Kind.CELL if cells else parent < 0:
            name = profile.instances[path]
            if frame.kind not in (Kind.CELL, Kind.THREAD):
                name = f"{name}.{frame.name}" if name else frame.name
            owner.append(rows.setdefault(name, len(rows)))
        else:
            owner.append(owner[parent] if parent >= 0 else -1)
    return owner, list(rows)


class _Entries:
    """All (tree, path) of a forest, and the row in which each lies."""

    def __init__(self, profile: Profile, owner: Ints) -> None:
        forest, self._parents = profile.forest, profile.call_paths.parent
        self.tree = np.repeat(np.arange(len(forest)), np.diff(forest.offset))
        self.path = forest.path
        self.owner = owner
        self.row = owner[self.path]
        names = [profile.catalog[f].kind for f in profile.call_paths.frame.tolist()]
        self.cell = np.array([name is Kind.CELL for name in names], dtype=np.bool_)
        self.state = np.array(_state_frames(profile), dtype=np.bool_)
        self.track = np.array([profile.frame_of(p).track for p in range(len(owner))], np.bool_)
        self._width = len(owner)

    def of(self, wanted: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """The entries of these paths that lie in a row."""
        return wanted[self.path] & (self.row >= 0)

    def leaves(self, *, of_rows: bool) -> NDArray[np.bool_]:
        """The entries that call nothing in their tree; or nothing in their own row."""
        parent = self._parents[self.path]
        calls = parent >= 0
        if of_rows:
            calls &= self.owner[parent] == self.row
        called = self.tree[calls] * self._width + parent[calls]
        return ~np.isin(self.tree * self._width + self.path, called)


def _states(profile: Profile, entries: _Entries, rows: int) -> tuple[Ints, list[str]]:
    """The state of each row in each tree, and the states' labels."""
    labels = list(STATES)
    numbers = {label.lower(): number for number, label in enumerate(labels)}
    of_path = np.zeros(len(profile.call_paths), dtype=np.int64)
    for place in np.flatnonzero(entries.state).tolist():
        frame = profile.frame_of(place)
        name = frame.detail or frame.name
        of_path[place] = numbers.setdefault(name.lower(), len(numbers))
        if of_path[place] == len(labels):
            labels.append(name)
    state = np.zeros((len(profile.forest), rows), dtype=np.int64)
    works = np.array([use == WORK for use in uses_of_paths(profile)], dtype=np.bool_)
    if not entries.track.any():
        which = entries.row >= 0
        state[entries.tree[which], entries.row[which]] = STATES.index("Control")
    which = entries.of(works) & entries.leaves(of_rows=False)
    tree, path = entries.tree[which], entries.path[which]
    while len(path):
        # What works below a cell works for it.
        owner = entries.owner[path]
        state[tree[owner >= 0], owner[owner >= 0]] = _RUNNING
        path = profile.call_paths.parent[path]
        tree, path = tree[path >= 0], path[path >= 0]
    which = entries.of(entries.state)
    state[entries.tree[which], entries.row[which]] = of_path[entries.path[which]]
    return state, labels


def _state_frames(profile: Profile) -> list[bool]:
    """For each path whether its frame is a track's state: the first in it that says what it is."""
    result: list[bool] = []
    open_: list[bool] = []  # in a track, and nothing above has said so yet
    for path, parent in enumerate(profile.call_paths.parent.tolist()):
        frame = profile.frame_of(path)
        inside = frame.track or (parent >= 0 and open_[parent])
        says = inside and not frame.track and frame.activity is not None
        result.append(says)
        open_.append(inside and not says)
    return result


def _parts(profile: Profile, entries: _Entries) -> Iterator[tuple[int, int, tuple[int, ...]]]:
    """(tree, row, the frames that are active at the ends of its own part of the tree)."""
    which = np.flatnonzero(entries.of(~(entries.cell | entries.state | entries.track)))
    if not len(which):
        return
    which = which[entries.leaves(of_rows=True)[which]]
    rows = int(entries.row.max()) + 1
    key = entries.tree[which] * rows + entries.row[which]
    order = np.argsort(key, kind="stable")
    key, frame = key[order], profile.call_paths.frame[entries.path[which[order]]].tolist()
    first = np.flatnonzero(np.append(True, key[1:] != key[:-1])).tolist()
    for begin, end in pairwise([*first, len(key)]):
        tree, row = divmod(int(key[begin]), rows)
        yield tree, row, tuple(frame[begin:end])


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
    types: dict[tuple[object, ...], EventType] = {}
    count = [0, 0]
    events = []
    for series in profile.series:
        row = owner[series.path] if series.path >= 0 else row_of.get(series.track, -1)
        if row < 0:
            row = len(rows) + tracks.setdefault(series.track, len(tracks))
        # Paraver reads a label's value as a number of 32 bits.
        labels = {v: _clean(label) for v, label in series.labels.items() if abs(v) < 1 << 31}
        kind = (series.name, series.metric, series.unit)
        key = (*kind, *sorted(labels.items()))
        if key not in types:
            count[series.summed] += 1
            base = (_LEVELS, _TOTALS)[series.summed]
            types[key] = EventType(base + count[series.summed], *kind, series.summed, labels)
        events.append((row, types[key], series))
    ordered = sorted(types.values(), key=lambda t: t.number)
    return list(tracks), ordered, events
