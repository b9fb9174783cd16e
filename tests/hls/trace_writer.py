"""The profiling unit's behaviour in plain Python, for an ideal memory: writes a dump."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from cyclescope.hls.trace._format import (
    NUMBER_BITS,
    SEQUENCE_BITS,
    LineKind,
    OnFull,
    TraceLayout,
)

if TYPE_CHECKING:
    from collections.abc import Sequence


class Writer:
    """Lines into a region of so many lines, the first of which is the end's."""

    def __init__(self, layout: TraceLayout, region: int) -> None:
        self.layout, self.region = layout, region
        self.lines: list[int] = [0] * region
        self.made = 0
        self.full = False
        self.open = random.Random(1)

    def line(self, kind: LineKind, count: int, payload: int) -> None:
        """Write a line; the payload is shifted already, with zeros in place of the head."""
        capacity = self.region - 1
        self.made += 1
        if self.layout.on_full is OnFull.STOP and self.full:
            return
        head = kind | count << 4 | (self.made % (1 << SEQUENCE_BITS)) << 12
        self.lines[1 + (self.made - 1) % capacity] = payload | head
        self.full |= self.made == capacity

    def states(self, records: Sequence[tuple[int, int]], kind: LineKind = LineKind.STATES) -> None:
        """A line of (time, word) records."""
        layout, payload = self.layout, 0
        for place, (time, word) in enumerate(records):
            low = time % (1 << layout.time_bits)
            payload |= (word << layout.time_bits | low) << layout.record_low(place)
        # Behind the last record a line has what its slots had before, or nothing known at first.
        end = layout.record_low(len(records))
        payload |= self.open.getrandbits(max(0, layout.line_bits - end)) << end
        self.line(kind, len(records), payload)

    def sample(self, line: int, time: int, totals: dict[int, int]) -> None:
        """A line of a sample: totals by the number of the place."""
        payload = time % (1 << self.layout.time_bits) << self.layout.record_low(0)
        for number, place in enumerate(self.layout.places):
            if place.line == line:
                top = 1 << place.width - 1
                total = totals[number] // place.source.scale
                payload |= (total % top | (top if total >= top else 0)) << place.low
        self.line(LineKind.COUNTERS, line, payload)

    def end(self, clock: int, *, late: bool = False) -> None:
        """The line of the end."""
        layout, number = self.layout, (self.made + 1) % (1 << NUMBER_BITS)
        head = LineKind.END | late | self.full << 1 | (number >> SEQUENCE_BITS) << 4
        head |= number % (1 << SEQUENCE_BITS) << 12
        low = clock % (1 << layout.time_bits)
        rest = clock >> layout.time_bits
        self.lines[0] = head | low << layout.record_low(0) | rest << layout.record_low(1)

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
    """Write a run as the profiling unit does.

    Args:
        layout: of the profiling unit.
        region: lines of the region.
        words: all threads' states, cycle by cycle.
        increments: for each place of the layout what is added in each cycle.
        end: whether the run ends as it should.
    """
    writer = Writer(layout, region)
    records: list[tuple[int, int]] = []
    begun = [0] * len(layout.places)
    last = -layout.round
    missed = 0

    def sample(time: int, due: Sequence[int]) -> None:
        totals = {}
        for number, place in enumerate(layout.places):
            if place.line not in due:
                continue
            end = time
            if layout.round:
                end = time + 1 + (place.time_slot - time - 1) % layout.round
            end = min(end, len(words))
            totals[number] = sum(increments[number][begun[number] : end])
            begun[number] = end
        for line in due:
            writer.sample(line, time, totals)

    for time, word in enumerate(words):
        if layout.period and time and time % layout.period == 0:
            if time - last >= layout.round:
                # Lines of longer periods that were due meanwhile are made now.
                since = time - (missed + 1) * layout.period
                due = [n for n, p in enumerate(layout.periods) if time // p > since // p]
                sample(time, due)
                last, missed = time, 0
            else:
                missed += 1
        if time == 0 or word != words[time - 1] or time % (1 << layout.time_bits) == 0:
            records.append((time, word))
            if len(records) == layout.records:
                writer.states(records)
                records = []
    if end:
        if records:
            writer.states(records)
        sample(len(words), range(layout.sample_lines))
        writer.end(len(words))
    return writer.dump()
