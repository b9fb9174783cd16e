"""What the profiling unit records, and how it lies in memory: one table, one layout.

The unit (paper, section IV-B) writes *lines* as wide as the memory to a region of it. All numbers
are little-endian bit fields of a line, bit 0 first:

    bits 0-3    kind: 0 nothing was written here, 1 states, 2 counters, 3 states after a loss,
                4 the end
    bits 4-11   states: records in the line; counters: which of the lines that make a sample
    bits 12-31  sequence number, modulo 2^20, of the lines written; 0 in the line of the end

*States*: a record is a stamp (the low bits of the clock, 32 unless the layout says otherwise) and
above it two bits a thread. There is one when any thread's state changes, in the first cycle, and
when the stamp is 0 again. Records fill a line from its upper end: with n of them, the last n of
its places are taken. *Counters*: a stamp from bit 32 on, then totals since the stamp of the line of
that number before. The *end* stands in the region's first line: the clock's 64 bits from bit 32
on, then 32 bits each: lines written, lines dropped, losses of states; bit 4 says that the last
change of a state was lost. It is missing if the run was stopped. All other lines follow in order of
time, from the region's second line on.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from enum import IntEnum, StrEnum
from typing import TYPE_CHECKING, Any

from cyclescope.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

__all__ = [
    "COUNTERS",
    "END_BITS",
    "HEADER_BITS",
    "SEQUENCE_BITS",
    "STATES",
    "Counter",
    "LineKind",
    "OnFull",
    "Place",
    "Scope",
    "Source",
    "TraceLayout",
    "make_layout",
    "read_layout",
]

STATES = ("idle", "running", "critical", "spinning")
"""What two bits of state mean (paper, IV-B1)."""

HEADER_BITS = 32
SEQUENCE_BITS = 20
END_BITS = HEADER_BITS + 64 + 3 * 32
_COUNT_BITS = 8
_SLACK = 4  # a sample may be late by three periods before a counter is full,
_LATE = 1 << 12  # or by as many cycles as a busy memory can hold up a queue of lines
_FORMAT, _VERSION = "cyclescope trace layout", 1


class LineKind(IntEnum):
    """What a line holds."""

    NOTHING = 0
    STATES = 1
    COUNTERS = 2
    LATE_STATES = 3
    END = 4


class OnFull(StrEnum):
    """What happens when the region is full."""

    STOP = "stop"  # later lines are dropped
    WRAP = "wrap"  # the oldest are overwritten


class Scope(StrEnum):
    """Of what there is one counter each."""

    THREAD = "thread"
    BANK = "bank"
    DESIGN = "design"


@dataclass(frozen=True, slots=True)
class Counter:
    """Something that is counted.

    Attributes:
        name, metric, unit: as in `Series`; the metric's values are totals.
        scope: of what there is one each.
    """

    name: str
    metric: str
    unit: str
    scope: Scope


COUNTERS = (
    Counter("stalls: memory", "stall", "cycles", Scope.THREAD),
    Counter("stalls: arbitration", "stall", "cycles", Scope.THREAD),
    Counter("stalls: lock", "stall", "cycles", Scope.THREAD),
    Counter("stalls: barrier", "stall", "cycles", Scope.THREAD),
    Counter("stalls: inner loop", "stall", "cycles", Scope.THREAD),
    Counter("integer operations", "operations", "OP", Scope.THREAD),
    Counter("floating-point operations", "operations", "FLOP", Scope.THREAD),
    Counter("bytes read", "bytes", "B", Scope.THREAD),
    Counter("bytes written", "bytes", "B", Scope.THREAD),
    Counter("local bytes", "bytes", "B", Scope.THREAD),
    Counter("requests outstanding", "outstanding", "requests in flight x cycles", Scope.THREAD),
    Counter("row misses", "row misses", "", Scope.BANK),
    Counter("memory requests", "requests", "", Scope.DESIGN),
)
"""What a unit can record. To add a counter, add its line here and feed it where it happens."""


@dataclass(frozen=True, slots=True)
class Source:
    """A counter of one thread or bank, as the unit is built with it.

    Attributes:
        counter: one of `COUNTERS`, or of one's own.
        index: the thread's or bank's number; 0 for the design.
        largest: what can be added in one cycle at most.
    """

    counter: Counter
    index: int
    largest: int


@dataclass(frozen=True, slots=True)
class Place:
    """Where a source's total lies: `line` of a sample, `width` bits from bit `low` on."""

    source: Source
    line: int
    low: int
    width: int


@dataclass(frozen=True, slots=True)
class TraceLayout:
    """How a dump is to be read.

    Attributes:
        title: what was run.
        threads: in hardware.
        line_bits: of a line: the memory's width, a multiple of 64.
        stamp_bits: of the clock in a record.
        period: cycles between samples of the counters; 0: none are taken but the last.
        on_full: what the unit does when the region is full.
        places: of all totals, by line, then bit.
        period_ps: of the clock, None if unknown.
        peaks: as in a profile's head: the most that the hardware can do in a cycle.
        region: the name of what runs.
        where: its file, line and column in the source; None if unknown.
    """

    title: str
    threads: int
    line_bits: int
    stamp_bits: int
    period: int
    on_full: OnFull
    places: tuple[Place, ...] = field(default=())
    period_ps: int | None = None
    peaks: dict[str, int] = field(default_factory=dict)
    region: str = "region"
    where: tuple[str, int, int] | None = None

    @property
    def record_bits(self) -> int:
        """Bits of a state record."""
        return 2 * self.threads + self.stamp_bits

    @property
    def records(self) -> int:
        """State records that fit in a line."""
        return (self.line_bits - HEADER_BITS) // self.record_bits

    @property
    def sample_lines(self) -> int:
        """Lines of a sample of all counters."""
        return max((place.line + 1 for place in self.places), default=0)

    def record_low(self, place: int) -> int:
        """The first bit of the state record at a place, 0 for the line's first."""
        return self.line_bits - (self.records - place) * self.record_bits

    def to_json(self) -> str:
        """As text, for whoever reads a dump."""
        head = {"format": _FORMAT, "version": _VERSION, **asdict(self)}
        return json.dumps(head, indent=1) + "\n"

    def check(self, where: str = "trace layout") -> None:
        """Refuse what no unit writes.

        Raises:
            DataError: a size or place is impossible.
        """
        taken: dict[int, int] = {}
        sizes = 1 <= self.threads <= 1024 and 1 <= self.stamp_bits <= 32
        sizes &= self.line_bits % 64 == 0 and END_BITS <= self.line_bits <= 1 << 16
        problem = ""
        if not sizes:
            problem = (
                f"{self.threads} threads, lines of {self.line_bits} bits, stamps of "
                f"{self.stamp_bits}: no such unit"
            )
        elif not 1 <= self.records < 1 << _COUNT_BITS:
            problem = f"{self.records} records of {self.record_bits} bits in a line"
        elif not 0 <= self.period < 1 << self.stamp_bits:
            problem = f"a period of {self.period} cycles"
        for place in self.places:
            first = HEADER_BITS + self.stamp_bits
            good = place.low >= taken.get(place.line, first) and 1 <= place.width <= 32
            good &= place.low + place.width <= self.line_bits and 0 <= place.line < 256
            if place.source.counter.scope is Scope.THREAD:
                good &= 0 <= place.source.index < self.threads
            if not good and not problem:
                problem = f"the place of {place.source.counter.name} {place.source.index}"
            taken[place.line] = place.low + place.width
        if problem:
            raise DataError(f"{where}: {problem}: not possible; use the layout written by the run")


def make_layout(
    title: str,
    threads: int,
    sources: Iterable[Source],
    *,
    period: int = 4096,
    line_bits: int = 512,
    stamp_bits: int = 32,
    on_full: OnFull = OnFull.STOP,
    period_ps: int | None = None,
    peaks: Mapping[str, int] | None = None,
    region: str = "region",
    where: tuple[str, int, int] | None = None,
) -> TraceLayout:
    """Give each source a place: in order, packed, none across two lines.

    Raises:
        DataError: it does not fit.
    """
    places: list[Place] = []
    line, low = 0, HEADER_BITS + stamp_bits
    for source in sources:
        most = source.largest * max((period or 1 << stamp_bits) * _SLACK, _LATE)
        width = min(max(most.bit_length(), 1), 32)
        if low + width > line_bits:
            line, low = line + 1, HEADER_BITS + stamp_bits
        places.append(Place(source, line, low, width))
        low += width
    layout = TraceLayout(
        *(title, threads, line_bits, stamp_bits, period, on_full, tuple(places), period_ps),
        peaks=dict(peaks or {}),
        region=region,
        where=where,
    )
    layout.check()
    return layout


def read_layout(path: Path) -> TraceLayout:
    """Read what `TraceLayout.to_json` wrote.

    Raises:
        DataError: it cannot be read, is no layout, or one that no unit has.
    """
    try:
        head = json.loads(path.read_bytes())
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path}: is no JSON; give the layout that the run wrote") from error
    if not isinstance(head, dict) or head.get("format") != _FORMAT:
        raise DataError(f"{path}: is no trace layout; give the one that the run wrote")
    if head.get("version") != _VERSION:
        raise DataError(
            f"{path}: version {head.get('version')} of the layout; this cyclescope reads {_VERSION}"
        )
    try:
        layout = TraceLayout(
            title=_typed(head["title"], str),
            **{
                name: _typed(head[name], int)
                for name in ("threads", "line_bits", "stamp_bits", "period")
            },
            on_full=OnFull(head["on_full"]),
            places=tuple(_place(place) for place in _typed(head["places"], list)),
            period_ps=None if head["period_ps"] is None else _typed(head["period_ps"], int),
            peaks={
                name: _typed(peak, int)
                for name, peak in _typed(head.get("peaks", {}), dict).items()
            },
            region=_typed(head.get("region", "region"), str),
            where=_where(head.get("where")),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(f"{path}: the layout is damaged ({error}); copy it again") from error
    layout.check(str(path))
    return layout


def _typed(value: Any, kind: type) -> Any:
    if type(value) is not kind:
        raise TypeError(f"{value!r} is no {kind.__name__}")
    return value


def _where(head: Any) -> tuple[str, int, int] | None:
    if head is None:
        return None
    file, line, column = _typed(head, list)
    return _typed(file, str), _typed(line, int), _typed(column, int)


def _place(head: Any) -> Place:
    source = head["source"]
    counter = source["counter"]
    name, metric, unit = (_typed(counter[key], str) for key in ("name", "metric", "unit"))
    index, largest = (_typed(source[key], int) for key in ("index", "largest"))
    line, low, width = (_typed(head[key], int) for key in ("line", "low", "width"))
    what = Counter(name, metric, unit, Scope(counter["scope"]))
    return Place(Source(what, index, largest), line, low, width)
