"""The profiling unit's behaviour in plain Python, for an ideal memory: writes a dump."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope.hls._trace_format import HEADER_BITS, SEQUENCE_BITS, LineKind, OnFull, TraceLayout

if TYPE_CHECKING:
    from collections.abc import Sequence


class Writer:
    """Lines into a region of so many lines, the first of which is the end's."""

    def __init__(self, layout: TraceLayout, region: int) -> None:
        self.layout, self.region = layout, region
        self.lines: list[int] = [0] * region
        self.written = self.dropped = self.losses = 0

    def line(self, kind: LineKind, count: int, payload: int) -> None:
        """Write a line whose payload stands in its place, the head's bits zero."""
        room = self.region - 1
        if self.layout.on_full is OnFull.STOP and self.written == room:
            self.dropped += 1
            return
        head = kind | count << 4 | (self.written % (1 << SEQUENCE_BITS)) << 12
        self.lines[1 + self.written % room] = payload | head
        self.written += 1

    def states(self, records: Sequence[tuple[int, int]], kind: LineKind = LineKind.STATES) -> None:
        """A line of (time, word) records."""
        layout, payload = self.layout, 0
        places = range(layout.records - len(records), layout.records)
        for place, (time, word) in zip(places, records, strict=True):
            stamp = time % (1 << layout.stamp_bits)
            payload |= (word << layout.stamp_bits | stamp) << layout.record_low(place)
        self.line(kind, len(records), payload)

    def sample(self, line: int, time: int, totals: dict[int, int]) -> None:
        """A line of a sample: totals by the number of the place."""
        payload = time % (1 << self.layout.stamp_bits) << HEADER_BITS
        for number, place in enumerate(self.layout.places):
            if place.line == line:
                payload |= min(totals[number], (1 << place.width) - 1) << place.low
        self.line(LineKind.COUNTERS, line, payload)

    def end(self, clock: int) -> None:
        """The line of the end."""
        value = clock | self.written << 64 | self.dropped << 96 | self.losses << 128
        self.lines[0] = LineKind.END | value << HEADER_BITS

    def dump(self) -> bytes:
        """The region."""
        size = self.layout.line_bits // 8
        return b"".join(line.to_bytes(size, "little") for line in self.lines)


def write_run(
    layout: TraceLayout,
    region: int,
    words: Sequence[int],
    increments: Sequence[Sequence[int]],
    *,
    end: bool = True,
) -> bytes:
    """What the unit writes of a run.

    Args:
        layout: of the unit.
        region: lines of the region.
        words: all threads' states, cycle by cycle.
        increments: for each place of the layout what is added in each cycle.
        end: whether the run ends as it should.
    """
    writer = Writer(layout, region)
    records: list[tuple[int, int]] = []
    totals = dict.fromkeys(range(len(layout.places)), 0)
    for time, word in enumerate(words):
        if layout.period and time and time % layout.period == 0:
            for line in range(layout.sample_lines):
                writer.sample(line, time, totals)
            totals = dict.fromkeys(totals, 0)
        if time == 0 or word != words[time - 1] or time % (1 << layout.stamp_bits) == 0:
            records.append((time, word))
            if len(records) == layout.records:
                writer.states(records)
                records = []
        for number in totals:
            totals[number] += increments[number][time]
    if end:
        if records:
            writer.states(records)
        for line in range(layout.sample_lines):
            writer.sample(line, len(words), totals)
        writer.end(len(words))
    return writer.dump()
