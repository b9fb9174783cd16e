"""The timeline, decoded by Perfetto's own messages: two routes to the same picture."""

from __future__ import annotations

import gzip
import io
import itertools
from collections import Counter
from dataclasses import dataclass, field, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import (
    Trace,
    TracePacket,
    TrackDescriptor,
    TrackEvent,
)

from cyclescope.errors import InputError
from cyclescope.model import Kind, Meta, Profile, ProfileBuilder, Series, _repeated
from cyclescope.views import write_timeline
from cyclescope.views._lanes import rows
from cyclescope.views._trace_bytes import Slices, counter_packets, edge_packets, edges, varint
from meaning import Frame

from ..strategies import calyx_profiles, kept_otherwise, with_banks
from .golden import check_golden
from .switch import switch_profile


@dataclass
class Track:
    name: str
    parent: int
    slices: list[tuple[int, int, str, str]] = field(default_factory=list)
    counts: list[tuple[int, int]] = field(default_factory=list)


def written(profile: Profile, **options: object) -> bytes:
    stream = io.BytesIO()
    write_timeline(profile, stream, **options)  # type: ignore[arg-type]
    return stream.getvalue()


def decoded(data: bytes) -> dict[int, Track]:
    """All tracks by id; fails if anything is not as Perfetto demands."""
    trace = Trace()
    trace.ParseFromString(data)
    tracks: dict[int, Track] = {}
    names: dict[int, dict[int, str]] = {}
    lines: dict[int, dict[int, str]] = {}
    track_of: dict[int, int] = {}
    open_: dict[int, list[tuple[int, str, str]]] = {}
    last: dict[int, int] = {}
    for packet in trace.packet:
        sequence = packet.trusted_packet_sequence_id
        if packet.HasField("track_descriptor"):
            one = packet.track_descriptor
            assert one.uuid not in tracks
            name = one.process.process_name if one.HasField("process") else one.name
            tracks[one.uuid] = Track(name, one.parent_uuid)
        elif packet.HasField("trace_packet_defaults"):
            assert packet.sequence_flags == TracePacket.SEQ_INCREMENTAL_STATE_CLEARED
            track_of[sequence] = packet.trace_packet_defaults.track_event_defaults.track_uuid
            names[sequence] = {n.iid: n.name for n in packet.interned_data.event_names}
            lines[sequence] = {
                s.iid: f"{s.file_name}:{s.line_number}"
                for s in packet.interned_data.source_locations
            }
        else:
            assert packet.sequence_flags == TracePacket.SEQ_NEEDS_INCREMENTAL_STATE
            assert packet.timestamp >= last.get(sequence, 0)
            last[sequence] = packet.timestamp
            event, track = packet.track_event, tracks[track_of[sequence]]
            stack = open_.setdefault(sequence, [])
            if event.type == TrackEvent.TYPE_SLICE_BEGIN:
                line = ""
                if event.HasField("source_location_iid"):
                    line = lines[sequence][event.source_location_iid]
                stack.append((packet.timestamp, names[sequence][event.name_iid], line))
            elif event.type == TrackEvent.TYPE_SLICE_END:
                begin, name, line = stack.pop()
                assert begin < packet.timestamp
                track.slices.append((begin, packet.timestamp, name, line))
            else:
                assert event.type == TrackEvent.TYPE_COUNTER
                track.counts.append((packet.timestamp, event.counter_value))
    assert not any(open_.values())
    assert all(track.parent in tracks or uuid == 1 for uuid, track in tracks.items())
    return tracks


def outline(tracks: dict[int, Track]) -> str:
    """The tracks as a person reads them."""
    lines: list[str] = []

    def show(uuid: int, indent: str) -> None:
        track = tracks[uuid]
        lines.append(f"{indent}{track.name}")
        for begin, end, name, line in sorted(track.slices, key=lambda s: (s[0], -s[1])):
            lines.append(f"{indent}  {begin:>2}-{end:<2} {name}{'  @' + line if line else ''}")
        lines.extend(f"{indent}  {time:>2} = {value}" for time, value in track.counts)
        for child, other in tracks.items():
            if other.parent == uuid and child != 1:
                show(child, indent + "    ")

    show(1, "")
    return "\n".join(lines) + "\n"


def test_timeline_of_the_switch() -> None:
    check_golden("switch.timeline.txt", outline(decoded(written(switch_profile()))))


@settings(max_examples=150, deadline=None)
@given(
    calyx_profiles(),
    st.lists(st.integers(0, 6), max_size=3),
    st.sampled_from([2, 40, 1 << 17]),
    st.data(),
)
def test_every_cycle_shows_its_call_tree_and_its_updates(
    profile: Profile, anchors: list[int], part: int, data: st.DataObject
) -> None:
    """However its runs are kept, and in parts of any size: the same bytes."""
    if data.draw(st.booleans()):
        profile = with_banks(profile, data.draw(st.integers(0, 1 << 32)))
    start = data.draw(st.integers(0, profile.cycles - 1))
    end = data.draw(st.one_of(st.none(), st.integers(start + 1, profile.cycles)))
    trace = written(profile, start=start, end=end)
    tracks = decoded(trace)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_repeated, "PART", part)
        again = written(kept_otherwise(profile, anchors), start=start, end=end)
    if start == 0 and end is None:
        assert again == trace
    assert decoded(again) == tracks
    shown: dict[int, Counter[str]] = {}
    updated: dict[int, Counter[str]] = {}
    for track in tracks.values():
        into = updated if track.name == "Control registers" else shown
        for begin, until, name, _ in track.slices:
            for cycle in range(begin, until):
                into.setdefault(cycle, Counter())[name] += 1
    first = 0
    for tree, cycles in zip(profile.schedule.tree, profile.schedule.cycles, strict=True):
        labels = Counter(profile.frame_of(p).label for p in profile.forest[tree])
        for cycle in range(first, first + int(cycles)):
            inside = start <= cycle < (profile.cycles if end is None else end)
            assert shown.get(cycle, Counter()) == (labels if inside else Counter())
            expected: Counter[str] = Counter()
            for s in profile.series:
                at = np.flatnonzero(s.end == cycle + 1)
                if inside and len(at) and at[0] + 1 < len(s):
                    old, new = s.value[at[0]], s.value[at[0] + 1]
                    expected[f"{s.name}: {old} \u2192 {new}"] += 1
            assert updated.get(cycle, Counter()) == expected
        first += int(cycles)


@settings(max_examples=40, deadline=None)
@given(calyx_profiles(hostile=True))
def test_hostile_names_are_plain_text_and_bytes_repeat(profile: Profile) -> None:
    data = written(profile)
    assert written(profile) == data
    for track in decoded(data).values():
        assert len(track.name.splitlines()) <= 1
        assert all(len(name.splitlines()) == 1 for _, _, name, _ in track.slices)
    assert gzip.decompress(written(profile, compress=True)) == data


@settings(max_examples=60, deadline=None)
@given(calyx_profiles())
def test_rows_hold_every_path_once_and_nothing_overlaps(profile: Profile) -> None:
    found = rows(profile)
    assert sorted(p for row in found for p in row.paths) == list(range(len(profile.call_paths)))
    for row in found:
        for tree in range(len(profile.forest)):
            active = [p for p in row.paths if p in set(profile.forest[tree].tolist())]
            for outer, inner in itertools.pairwise(active):
                assert outer in profile.lineage(inner)


def test_arms_of_a_par_have_lanes_of_their_own_and_moved_groups_too() -> None:
    builder = ProfileBuilder()
    main = builder.path(-1, Frame(Kind.CELL, "main", "", "main"))
    seq = builder.path(main, Frame(Kind.CONTROL, "seq L1", "main", "seq"))
    par = builder.path(seq, Frame(Kind.CONTROL, "par L2", "main", "par"))
    arms = [builder.path(par, Frame(Kind.GROUP, f"arm{i}", "main")) for i in range(3)]
    moved = [builder.path(seq, Frame(Kind.GROUP, f"moved{i}", "main")) for i in range(2)]
    trees = [builder.tree(arms), builder.tree([arms[1]]), builder.tree(moved)]
    profile = builder.build(Meta("calyx", "lanes"), [2, 1, 1], trees)
    groups = [r for r in rows(profile) if r.kind is Kind.GROUP]
    assert [(r.lane, r.extra, len(r.paths)) for r in groups] == [
        (0, 0, 2),
        (0, 1, 1),
        (1, 0, 1),
        (2, 0, 1),
    ]
    tracks = decoded(written(profile)).values()
    assert [t.name for t in tracks if t.name.startswith("Groups")] == [
        "Groups",
        "Groups, overlapping 1",
        "Groups, arm 2",
        "Groups, arm 3",
    ]


def test_an_arm_that_forks_takes_as_many_lanes_as_it_has_arms() -> None:
    builder = ProfileBuilder()
    main = builder.path(-1, Frame(Kind.CELL, "main", "", "main"))
    outer = builder.path(main, Frame(Kind.CONTROL, "par L1", "main", "par"))
    inner = builder.path(outer, Frame(Kind.CONTROL, "static par L2", "main", "static par"))
    forked = [builder.path(inner, Frame(Kind.GROUP, f"forked{i}", "main")) for i in range(2)]
    other = builder.path(outer, Frame(Kind.GROUP, "other", "main"))
    profile = builder.build(Meta("calyx", "fork"), [2], [builder.tree([*forked, other])])
    lanes = {row.lane: row.paths for row in rows(profile) if row.kind is Kind.GROUP}
    assert lanes == {0: (forked[0],), 1: (forked[1],), 2: (other,)}


@pytest.mark.parametrize(
    ("period", "end", "unit"),
    [
        (None, 9, "1 cycle = 1 ns"),
        (4000, 36, "1 cycle = 4 ns"),
        (3333, 29_997, "1 cycle = 3.333 ns; 1 ns shown is 1 ps"),
    ],
)
def test_real_time_is_exact_and_the_unit_is_said(period: int | None, end: int, unit: str) -> None:
    tracks = decoded(written(switch_profile(), period_ps=period))
    assert tracks[1].name == f"switch.futil ({unit})"
    assert max(s[1] for t in tracks.values() for s in t.slices) == end


@pytest.mark.parametrize(("start", "end"), [(9, None), (5, 5), (-1, 4), (12, 14)])
def test_an_empty_window_is_an_error(start: int, end: int | None) -> None:
    with pytest.raises(InputError, match="the run has cycles 0 to 8"):
        written(switch_profile(), start=start, end=end)


def test_a_period_of_nothing_is_an_error() -> None:
    with pytest.raises(InputError, match="at least 1 ps"):
        written(switch_profile(), period_ps=0)


def test_a_profile_without_cycles_has_an_empty_timeline() -> None:
    tracks = decoded(written(ProfileBuilder().build(Meta("calyx", "empty"), [], [])))
    assert [t.name for t in tracks.values()] == ["empty (1 cycle = 1 ns)"]


def test_a_counter_falls_to_zero_in_a_gap_and_a_window_begins_with_its_value() -> None:
    (counter,) = [t for t in decoded(written(switch_profile())).values() if t.counts]
    assert (counter.name, counter.counts) == ("bytes read", [(1, 8), (2, 0), (4, -3), (6, 0)])
    windowed = decoded(written(switch_profile(), start=5, end=7))
    (counter,) = [t for t in windowed.values() if t.counts]
    assert counter.counts == [(5, -3), (6, 0)]


def test_values_that_have_labels_are_slices() -> None:
    """A value that stands for something is no height; 0 without a label is nothing."""
    profile = switch_profile()
    columns = (np.array(c, dtype=np.int64) for c in ([0, 2, 3, 5], [2, 3, 5, 10], [4, 0, -1, 7]))
    calls = Series("main", "MPI call", "event", "", -1, *columns, labels={4: "Send", -1: "Wait"})
    profile = replace(profile, series=(calls,))
    (track,) = [t for t in decoded(written(profile)).values() if t.name == "MPI call"]
    assert track.slices == [(0, 2, "Send", ""), (3, 5, "Wait", ""), (5, 9, "7", "")]
    assert not track.counts
    windowed = decoded(written(profile, start=1, end=4)).values()
    (track,) = [t for t in windowed if t.name == "MPI call"]
    assert track.slices == [(1, 2, "Send", ""), (3, 4, "Wait", "")]


def test_tracks_are_ordered_explicitly() -> None:
    trace = Trace()
    trace.ParseFromString(written(switch_profile()))
    described = [p.track_descriptor for p in trace.packet if p.HasField("track_descriptor")]
    assert all(d.child_ordering == TrackDescriptor.EXPLICIT for d in described[1:])
    ranks = [d.sibling_order_rank for d in described if d.parent_uuid == 2]
    assert ranks == sorted(set(ranks))


# The fast packets against packets built one at a time


@st.composite
def nested_slices(draw: st.DrawFn) -> Slices:
    names = draw(st.integers(1, 400))
    scale = draw(st.sampled_from([1, 10**6, 10**12]))
    found: list[tuple[int, int, int]] = []

    def fill(start: int, end: int, depth: int, level: int) -> None:
        if level > 3 or depth >= names:
            return
        at = start
        while at < end and draw(st.booleans()):
            begin = draw(st.integers(at, end - 1))
            until = draw(st.integers(begin + 1, end))
            name = draw(st.integers(depth, names - 1))
            found.append((name, begin, until))
            fill(begin, until, name + 1, level + 1)
            at = until

    fill(0, draw(st.integers(1, 40)), 0, 0)
    columns = np.array(found, dtype=np.int64).reshape(-1, 3).T
    return Slices(names, columns[0], columns[1] * scale, columns[2] * scale)


def slowly(slices: Slices, sequence: int, located: np.ndarray) -> list[TracePacket]:
    order = sorted(
        zip(slices.which.tolist(), slices.start.tolist(), slices.end.tolist(), strict=True),
        key=lambda s: (s[1], s[0]),
    )
    events: list[tuple[int, int | None]] = []
    stack: list[int] = []
    for name, start, end in order:
        while stack and stack[-1] <= start:
            events.append((stack.pop(), None))
        events.append((start, name))
        stack.append(end)
    events += [(end, None) for end in reversed(stack)]
    packets = []
    for time, name in events:
        packet = TracePacket(timestamp=time, trusted_packet_sequence_id=sequence, sequence_flags=2)
        if name is None:
            packet.track_event.type = TrackEvent.TYPE_SLICE_END
        else:
            packet.track_event.type = TrackEvent.TYPE_SLICE_BEGIN
            packet.track_event.name_iid = name + 1
            if located[name]:
                packet.track_event.source_location_iid = name + 1
        packets.append(packet)
    return packets


@settings(max_examples=150, deadline=None)
@given(nested_slices(), st.integers(1, 20_000), st.integers(0, 2**32))
def test_fast_packets_are_those_built_one_at_a_time(
    slices: Slices, sequence: int, seed: int
) -> None:
    located = np.random.default_rng(seed).random(slices.names) < 0.5
    trace = Trace()
    for part in edge_packets([edges(slices)], slices.names, sequence, located):
        trace.MergeFromString(part.tobytes())
    assert list(trace.packet) == slowly(slices, sequence, located)


@given(
    st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=20),
    st.integers(0, 2**40),
)
def test_fast_counters_are_those_built_one_at_a_time(values: list[int], base: int) -> None:
    trace = Trace()
    times = base + np.arange(len(values))
    for part in counter_packets(times, np.array(values, dtype=np.int64), 7):
        trace.MergeFromString(part.tobytes())
    assert [p.timestamp for p in trace.packet] == times.tolist()
    assert [p.track_event.counter_value for p in trace.packet] == values


@given(st.integers(0, 2**63 - 1), st.integers(1, 10))
def test_varints_fill_up_to_a_length(value: int, length: int) -> None:
    found = varint(value, length)
    assert len(found) >= length
    assert sum((byte & 0x7F) << (7 * i) for i, byte in enumerate(found)) == value
    assert all(byte & 0x80 for byte in found[:-1])
    assert not found[-1] & 0x80
