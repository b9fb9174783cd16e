"""The timeline: a Perfetto trace with a group of tracks for each cell instance.

    main                      when the cell was active
      Control                 its control blocks, nested; arms of a `par` on tracks of their own
      Control registers       one slice of one cycle for each update: `fsm0: 2 → 3`
      Groups                  its groups, likewise by arm
      Primitives              a track for each primitive
      counters                stalls, bytes, … where the profile has them; slices where values
                              have labels
      queue [pifo]            the cells it calls, likewise

Open it at ui.perfetto.dev. Perfetto knows no cycles, only nanoseconds: one cycle is one
nanosecond, or as long as it really is; the root track says which.
"""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from cyclescope.analyse import moves_over_time
from cyclescope.errors import InputError
from cyclescope.model import (
    Columns,
    Edges,
    Ints,
    Kind,
    Position,
    Profile,
    Series,
    around,
    check_window,
    in_windows,
)
from cyclescope.views._lanes import Row, rows
from cyclescope.views._text import clip, nanoseconds, visible
from cyclescope.views._trace_bytes import Slices, counter_packets, edge_packets, edges

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import TracePacket

__all__ = ["REGISTERS", "write_timeline"]

_CELLS: frozenset[Kind | str] = frozenset({Kind.CELL, Kind.THREAD})
_TITLES: dict[Kind | str, str] = {
    Kind.CONTROL: "Control",
    Kind.GROUP: "Groups",
    Kind.PROCESS: "Processes",
    Kind.STATE: "States",
    Kind.LOOP: "Loops",
    Kind.STAGE: "Stages",
}
REGISTERS = frozenset({"fsm", "par done"})
_NAME = 200  # characters of a slice's or track's name: Perfetto draws no more


@dataclass(frozen=True, slots=True)
class _Track:
    """A track to write: what its descriptor says, and what is on it (at most one of three)."""

    uuid: int
    parent: int
    name: str
    rank: int
    row: Row | None = None
    registers: tuple[Series, ...] = ()
    counter: Series | None = None


def write_timeline(
    profile: Profile | Sequence[Profile],
    stream: BinaryIO,
    *,
    period_ps: int | None = None,
    start: int = 0,
    end: int | None = None,
    compress: bool = False,
) -> None:
    """Write a profile's timeline as a Perfetto trace.

    Args:
        profile: what to show; several share one axis, each as a process named by its title.
        stream: where to write; nothing is read back.
        period_ps: show real time, with a clock of so many picoseconds. Whole nanoseconds are
            shown as they are; otherwise a nanosecond on the screen is a picosecond, so that no
            time is rounded. None: one cycle is one nanosecond.
        start: first cycle to show.
        end: cycle after the last to show; None for the run's end.
        compress: write gzip, which Perfetto opens too.

    Raises:
        InputError: the clock period is not positive, or no cycle of the run is in the window.
    """
    profiles = [profile] if isinstance(profile, Profile) else list(profile)
    check_window(profiles, start, end)
    if period_ps is not None and period_ps <= 0:
        raise InputError(f"clock period {period_ps} ps: must be at least 1 ps")
    target = gzip.GzipFile("", "wb", 1, stream, mtime=0) if compress else stream
    taken = 0
    for number, one in enumerate(profiles, 1):
        until = one.cycles if end is None else min(end, one.cycles)
        timeline = _Timeline(one, period_ps, min(start, until), until, number, taken)
        for part in timeline.parts():
            target.write(part)
        taken = timeline.last
    if compress:
        target.close()


class _Timeline:
    """One profile of a trace.

    Args:
        profile: what to show.
        period_ps: as for `write_timeline`.
        start, end: the window.
        pid: the process that stands for the profile.
        taken: the last track number that is in use.
    """

    def __init__(
        self,
        profile: Profile,
        period_ps: int | None,
        start: int,
        end: int,
        pid: int,
        taken: int,
    ) -> None:
        self._profile = profile
        self._pid = pid
        self._root = taken + 1
        self._start = start
        self._end = end
        # Of a window of a long run only the part around it is looked at.
        self._part, self._first = around(profile, start, end)
        self._window = start - self._first, end - self._first
        pairs = zip(profile.series, self._part.series, strict=True)
        self._in_part = {id(series): part for series, part in pairs}
        self._tick, self._unit = _tick(period_ps)
        self._tracks: list[_Track] = []

    @property
    def last(self) -> int:
        """The last track number in use, once the parts have been asked for."""
        return self._root + len(self._tracks)

    def parts(self) -> Iterator[Any]:
        """The trace in pieces, each a whole number of packets, as bytes or arrays of bytes."""
        by_instance = self._plan()
        yield self._process()
        for track in self._tracks:
            yield _serialized(self._descriptor(track))
        for tracks in by_instance:
            for track in tracks:
                if track.registers:
                    yield from self._register_slices(track)
                elif track.counter is not None and track.counter.labels:
                    yield from self._labelled_slices(track, track.counter)
                elif track.counter is not None:
                    yield from self._counter(track, track.counter)
            yield from self._row_slices([track for track in tracks if track.row is not None])

    # What tracks there are

    def _plan(self) -> list[list[_Track]]:
        """Make all tracks; those with something on them are returned, by instance."""
        profile = self._profile
        by_instance: dict[str, list[Row]] = {}
        for row in rows(profile):
            by_instance.setdefault(row.instance, []).append(row)
        series: dict[str, list[Series]] = {}
        for one in profile.series:
            # All of a thread is one group: its states, its loops, its counters.
            owner = profile.instances[one.path] if one.path >= 0 else one.track
            series.setdefault(owner, []).append(one)
        above = _callers(profile)
        uuids = {"": self._root}
        result = []
        for rank, instance in enumerate(dict.fromkeys((*by_instance, *series))):
            content: list[_Track] = []
            mine = by_instance.get(instance, [])
            own = [row for row in mine if row.kind in _CELLS]
            if instance:
                parent = uuids[above.get(instance, "")]
                name = self._label(own[0].paths[0]) if own else instance
                uuids[instance] = self.last + 1
                content.append(self._add(parent, name, 1000 + rank, row=own[0] if own else None))
                content += [self._add(parent, name, 1000 + rank, row=row) for row in own[1:]]
            root = uuids[instance]
            content += self._inside(root, mine, series.get(instance, []))
            result.append(content)
        return result

    def _inside(self, root: int, mine: list[Row], series: list[Series]) -> list[_Track]:
        content: list[_Track] = []
        rank = 0
        others = (row.kind for row in mine if row.kind not in _CELLS | {Kind.PRIMITIVE})
        for kind in dict.fromkeys((*_TITLES, *others)):
            title = _TITLES.get(kind, str(kind).capitalize())
            for row in sorted((r for r in mine if r.kind is kind), key=lambda r: (r.lane, r.extra)):
                arm = f", arm {row.lane + 1}" if row.lane else ""
                more = f", overlapping {row.extra}" if row.extra else ""
                name = title if row.frame < 0 else self._label(row.paths[0])
                content.append(self._add(root, f"{name}{arm}{more}", rank, row=row))
                rank += 1
            if kind is Kind.CONTROL:
                registers = tuple(s for s in series if s.metric in REGISTERS)
                if registers:
                    content.append(self._add(root, "Control registers", rank, registers=registers))
                    rank += 1
        primitives = [row for row in mine if row.kind is Kind.PRIMITIVE]
        if primitives:
            folder = self._add(root, "Primitives", rank).uuid
            rank += 1
            for place, row in enumerate(primitives):
                name = self._label(row.paths[0]) + (f" ({row.extra + 1})" if row.extra else "")
                content.append(self._add(folder, name, place, row=row))
        for one in series:
            if one.metric not in REGISTERS:
                content.append(self._add(root, _name(one.name), rank, counter=one))
                rank += 1
        return content

    def _add(self, parent: int, name: str, rank: int, **content: Any) -> _Track:
        track = _Track(self.last + 1, parent, name, rank, **content)
        self._tracks.append(track)
        return track

    def _label(self, path: int) -> str:
        return _name(self._profile.frame_of(path).label)

    # What is on them

    def _row_slices(self, tracks: list[_Track]) -> Iterator[Any]:
        """The activations of one instance: found together, written row by row."""
        shown = [(track, track.row) for track in tracks if track.row is not None]
        wanted = np.array([path for _, row in shown for path in row.paths], dtype=np.int64)
        found = Edges(self._part, wanted, *self._window)
        for track, row in shown:
            names = [(self._label(path), _position(self._profile, path)) for path in row.paths]
            edges = found.of(np.array(row.paths, dtype=np.int64))
            yield from self._edges(track, names, edges)

    def _register_slices(self, track: _Track) -> Iterator[Any]:
        """One slice of one cycle for each update."""
        registers = [self._in_part[id(register)] for register in track.registers]
        moves, streams = moves_over_time(registers, *self._window)
        texts = [f"{_name(one.name)}: {old} \u2192 {new}" for one, old, new in moves]
        windows = in_windows(streams, *self._window)
        parts = (_updates(len(texts), found) for _, _, found in windows)
        yield from self._edges(track, [(text, None) for text in texts], parts)

    def _labelled_slices(self, track: _Track, series: Series) -> Iterator[Any]:
        """A slice for each value that has a label, or is not 0."""
        start, end, value = series.intervals
        numbers, which = np.unique(value, return_inverse=True)
        texts = [_name(series.labels.get(n, str(n))) for n in numbers.tolist()]
        shown = np.array([n in series.labels or n != 0 for n in numbers.tolist()], dtype=np.bool_)
        kept = shown[which] & (end > self._start) & (start < self._end)
        start = np.maximum(start[kept], self._start) - self._first
        end = np.minimum(end[kept], self._end) - self._first
        found = edges(Slices(len(texts), which[kept], start, end))
        yield from self._edges(track, [(text, None) for text in texts], [found])

    def _counter(self, track: _Track, series: Series) -> Iterator[Any]:
        yield _serialized(self._defaults(track, []))
        yield from counter_packets(*self._of_counter(series), track.uuid)

    def _edges(
        self,
        track: _Track,
        names: list[tuple[str, Position | None]],
        parts: Iterable[tuple[Ints, Ints]],
    ) -> Iterator[Any]:
        """Slices, given by their edges in cycles of the part that is looked at."""
        yield _serialized(self._defaults(track, names))
        located = np.array([position is not None for _, position in names], dtype=np.bool_)
        ticks = (((time + self._first) * self._tick, which) for time, which in parts)
        yield from edge_packets(ticks, len(names), track.uuid, located)

    def _of_counter(self, series: Series) -> tuple[Ints, Ints]:
        """Times and values; where no interval follows at once the counter falls to 0."""
        gap = np.append(series.start[1:], -1) != series.end
        time = np.concatenate((series.start, series.end[gap]))
        value = np.concatenate((series.value, np.zeros(int(gap.sum()), dtype=np.int64)))
        order = np.argsort(time, kind="stable")
        time, value = time[order], value[order]
        inside = (time >= self._start) & (time < self._end)
        before = np.flatnonzero(time < self._start)
        if len(before):
            inside[before[-1]] = True  # the value with which the window begins
        return np.maximum(time[inside], self._start) * self._tick, value[inside]

    # Messages

    def _process(self) -> bytes:
        packet = _packet()
        descriptor = packet.track_descriptor
        descriptor.uuid = self._root
        descriptor.process.pid = self._pid
        title = clip(visible(self._profile.meta.title), _NAME)
        descriptor.process.process_name = f"{title} ({self._unit})"
        return _serialized(packet)

    def _descriptor(self, track: _Track) -> TracePacket:
        packet = _packet()
        descriptor = packet.track_descriptor
        descriptor.uuid = track.uuid
        descriptor.parent_uuid = track.parent
        descriptor.name = track.name
        descriptor.child_ordering = descriptor.ChildTracksOrdering.EXPLICIT
        descriptor.sibling_order_rank = track.rank
        descriptor.sibling_merge_behavior = (
            descriptor.SiblingMergeBehavior.SIBLING_MERGE_BEHAVIOR_NONE
        )
        if track.counter is not None:
            descriptor.counter.unit_name = visible(track.counter.unit)
        return packet

    def _defaults(self, track: _Track, names: list[tuple[str, Position | None]]) -> TracePacket:
        """The first packet of a track's sequence: its names, and that it is this track's."""
        packet = _packet()
        packet.trusted_packet_sequence_id = track.uuid
        packet.sequence_flags = packet.SequenceFlags.SEQ_INCREMENTAL_STATE_CLEARED
        packet.first_packet_on_sequence = True
        packet.trace_packet_defaults.track_event_defaults.track_uuid = track.uuid
        interned = packet.interned_data
        for index, (name, position) in enumerate(names):
            interned.event_names.add(iid=index + 1, name=name)
            if position is not None:
                interned.source_locations.add(
                    iid=index + 1, file_name=visible(position.file), line_number=position.line
                )
        return packet


def _tick(period_ps: int | None) -> tuple[int, str]:
    """Ticks of a cycle, and what to tell people about it."""
    if period_ps is None:
        return 1, "1 cycle = 1 ns"
    if period_ps % 1000 == 0:
        return period_ps // 1000, f"1 cycle = {nanoseconds(period_ps)}"
    return period_ps, f"1 cycle = {nanoseconds(period_ps)}; 1 ns shown is 1 ps"


def _updates(names: int, found: list[list[Columns]]) -> tuple[Ints, Ints]:
    """The edges of slices of one cycle, from streams of (cycle, which) in one window of time."""
    nothing = np.empty(0, dtype=np.int64)
    columns = [[part[column] for parts in found for part in parts] for column in (0, 1)]
    when, which = (np.concatenate([nothing, *column]) for column in columns)
    return edges(Slices(names, which, when, when + 1))


def _callers(profile: Profile) -> dict[str, str]:
    """For each instance the instance that calls it."""
    result: dict[str, str] = {}
    for path, parent in enumerate(profile.call_paths.parent.tolist()):
        if parent >= 0 and profile.instances[path] != profile.instances[parent]:
            result.setdefault(profile.instances[path], profile.instances[parent])
    return result


def _position(profile: Profile, path: int) -> Position | None:
    positions = profile.frame_of(path).positions
    return positions[0] if positions else None


def _name(text: str) -> str:
    return clip(visible(text), _NAME) or "(no name)"


def _packet() -> TracePacket:
    from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import TracePacket

    return TracePacket()


def _serialized(packet: TracePacket) -> bytes:
    """The packet as a trace of one: traces are concatenations of such."""
    from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace

    trace = Trace()
    trace.packet.append(packet)
    return bytes(trace.SerializeToString(deterministic=True))
