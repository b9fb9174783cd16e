"""The records of the profiling unit, and their layout in memory: one table, one layout.

The profiling unit (paper, section IV-B) writes *lines* as wide as the memory to a region of it. All
numbers are little-endian bit fields of a line, bit 0 first:

    bits 0-3    kind: 0 nothing was written here, 1 states, 2 counters, 3 states after a loss,
                4 to 7 the end
    bits 4-11   states: records in the line; counters: which of the lines that make a sample
    bits 12-31  sequence number, modulo 2^20, of the lines written or dropped, from 1 on

Behind these 32 bits a line has *slots* of equal size: `pitch`, a record's bits rounded up to bytes,
at least 40. *States*: a record is a time stamp (the low bits of the clock, 32 unless the layout
says otherwise) and above it two bits a thread. There is one when any thread's state changes, in the
first cycle, and when the time stamp is 0 again. The first slots of a line have one each.
*Counters*: the first slot is like a record's; the others have totals since the line of that number
before. A sample has the lines up to the last whose sampling period is over; the run's last sample
has all. Threads are time-multiplexed, one a cycle, so totals of time slot i end at the first cycle
after the time stamp that is i modulo `round` (at the time stamp, if `round` is 0), or at the end. A
total's highest bit says that the others have not been enough. Totals count steps, which may be
worth more than one: `scale`. The *end* is in the region's first line: in its first slot the clock's
low bits in place of the time stamp, in the second slot its others, of 40; of its kind, bit 0 says
that the last change of a state was lost, bit 1 that the region was full; bits 4-11 are its number
from bit 20 on. It is missing if the run was stopped. All other lines follow in order, from the
region's second line on.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, replace
from enum import IntEnum, StrEnum
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from cyclescope._files import parse_json, read_bytes
from cyclescope.errors import DataError, LawError
from cyclescope.hls.trace._waits import CAUSES, meaning_of, stalls
from cyclescope.model import Access, Activity, Cause, Site, site_from_json, site_to_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

__all__ = [
    "CLOCK_BITS",
    "COUNTERS",
    "HEADER_BITS",
    "NUMBER_BITS",
    "SEQUENCE_BITS",
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

HEADER_BITS = 32
SEQUENCE_BITS = 20
NUMBER_BITS = 24
CLOCK_BITS = 40
_LEAST_PITCH = 40
_COUNT_BITS = 8
_SLACK = 4  # a sample may be late by three periods before a counter is full,
_LATE = 1 << 12  # or by as many cycles as a busy memory can hold up a queue of lines
_FORMAT, _VERSION = "cyclescope trace layout", 3
_READ = (2, _VERSION)  # version 2 said nothing of what counters mean
_KEYS = {"time_bits": "stamp_bits", "time_slot": "turn"}  # in the file


class LineKind(IntEnum):
    """The kind of a line."""

    NOTHING = 0
    STATES = 1
    COUNTERS = 2
    LATE_STATES = 3
    END = 4


class OnFull(StrEnum):
    """The behaviour when the region is full."""

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
        activity, cause, site: as in `Series`; the site is one of the layout's.
    """

    name: str
    metric: str
    unit: str
    scope: Scope
    activity: Activity | None = None
    cause: str = ""
    site: int = -1


def _stalls(cause: Cause) -> Counter:
    return Counter(stalls(cause), "stall", "cycles", Scope.THREAD, meaning_of(cause), cause.value)


COUNTERS = (
    *(_stalls(cause) for cause in CAUSES),
    Counter("integer operations", "operations", "OP", Scope.THREAD),
    Counter("floating-point operations", "operations", "FLOP", Scope.THREAD),
    Counter("bytes read", "bytes", "B", Scope.THREAD),
    Counter("bytes written", "bytes", "B", Scope.THREAD),
    Counter("local bytes", "local bytes", "B", Scope.THREAD),
    Counter("requests outstanding", "outstanding", "requests in flight x cycles", Scope.THREAD),
    Counter("row misses", "row misses", "", Scope.BANK),
    Counter("memory requests", "requests", "", Scope.DESIGN),
)
"""The counters of a profiling unit. To add one, add its line here and feed it where it happens."""


@dataclass(frozen=True, slots=True)
class Source:
    """A counter of one thread or bank, as the profiling unit is built with it.

    Attributes:
        counter: one of `COUNTERS`, or of one's own.
        index: the thread's or bank's number; 0 for the design.
        largest: what can be added in `window` successive cycles at most.
        scale: what divides all that can be added.
    """

    counter: Counter
    index: int
    largest: int
    scale: int = 1
    window: int = 1


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a source's total: `line` of a sample, `width` bits from bit `low` on.

    Attributes:
        time_slot: in a round, the one of its thread.
    """

    source: Source
    line: int
    low: int
    width: int
    time_slot: int = 0


@dataclass(frozen=True, slots=True)
class TraceLayout:
    """The layout of a dump.

    Attributes:
        title: what was run.
        threads: in hardware.
        line_bits: of a line: the memory's width, a multiple of 64.
        time_bits: of the clock in a record, its time stamp.
        period: cycles between samples of the counters, at least; 0: none are taken but the last.
        periods: of each line of a sample, each a multiple of those before it.
        on_full: what the profiling unit does when the region is full.
        places: of all totals.
        period_ps: of the clock, None if unknown.
        peaks: as in a profile's head: the most that the hardware can do in a cycle.
        region: the name of what runs.
        where: its file, line and column in the source; None if unknown.
        round: time slots of a round, in which each index has one.
        sites: the places of the program at which counters count.
    """

    title: str
    threads: int
    line_bits: int
    time_bits: int
    period: int
    on_full: OnFull
    places: tuple[Place, ...] = field(default=())
    period_ps: int | None = None
    peaks: dict[str, int] = field(default_factory=dict)
    region: str = "region"
    where: tuple[str, int, int] | None = None
    round: int = 0
    periods: tuple[int, ...] = ()
    sites: tuple[Site, ...] = ()

    @property
    def record_bits(self) -> int:
        """Bits of a state record."""
        return 2 * self.threads + self.time_bits

    @property
    def pitch(self) -> int:
        """Bits from one slot of a line to the next."""
        return max(_LEAST_PITCH, -(-self.record_bits // 8) * 8)

    @property
    def records(self) -> int:
        """Slots of a line: state records that fit in it."""
        return (self.line_bits - HEADER_BITS) // self.pitch

    @property
    def span(self) -> int:
        """Indices whose totals share a line of a sample: a power of two."""
        return min(self.round, 1 << max(self.records - 1, 1).bit_length() - 1)

    @property
    def sample_lines(self) -> int:
        """Lines of a sample of all counters."""
        return max((place.line + 1 for place in self.places), default=0)

    @property
    def levels(self) -> list[tuple[int, int]]:
        """Each sampling period, shortest first, and how many lines have it or a shorter one."""
        return sorted({period: line + 1 for line, period in enumerate(self.periods)}.items())

    def record_low(self, place: int) -> int:
        """The first bit of a slot, 0 for the line's first."""
        return HEADER_BITS + place * self.pitch

    def to_json(self) -> str:
        """As text, for whoever reads a dump."""
        head = {"format": _FORMAT, "version": _VERSION, **asdict(self, dict_factory=_keyed)}
        head["sites"] = [site_to_json(site) for site in self.sites]
        return json.dumps(head, indent=1) + "\n"

    def check(self, where: str = "trace layout") -> None:
        """Refuse what no profiling unit writes.

        Raises:
            DataError: a size or place is impossible.
        """
        taken: dict[int, int] = {}
        sizes = 1 <= self.threads <= 1024 and 1 <= self.time_bits <= 32
        sizes &= self.line_bits % 64 == 0 and 64 <= self.line_bits <= 1 << 16
        problem = ""
        loops = [site.loop for site in self.sites if isinstance(site, Access)]
        if not all(-1 <= loop < len(self.sites) for loop in loops):
            problem = "a site in a loop that is none"
        elif not sizes:
            problem = (
                f"{self.threads} threads, lines of {self.line_bits} bits, time "
                f"stamps of {self.time_bits}: no such profiling unit"
            )
        elif not 2 <= self.records < 1 << _COUNT_BITS:
            problem = f"{self.records} records of {self.record_bits} bits in a line"
        elif not 0 <= self.period < 1 << self.time_bits:
            problem = f"a period of {self.period} cycles"
        elif not 0 <= self.round <= 1024 or self.round & (self.round - 1):
            problem = f"rounds of {self.round} time slots"
        elif len(self.periods) != self.sample_lines or not self._in_step():
            problem = f"periods of {', '.join(map(str, self.periods))} cycles"
        for place in sorted(self.places, key=lambda place: (place.line, place.low)):
            first = HEADER_BITS + self.time_bits
            good = place.low >= taken.get(place.line, first) and 1 <= place.width <= 32
            good &= place.low + place.width <= self.line_bits and 0 <= place.line < 256
            good &= 0 <= place.time_slot < max(self.round, 1) and 1 <= place.source.scale <= 1 << 16
            if place.source.counter.scope is Scope.THREAD:
                good &= 0 <= place.source.index < self.threads
            good &= -1 <= place.source.counter.site < len(self.sites)
            if not good and not problem:
                problem = f"the place of {place.source.counter.name} {place.source.index}"
            taken[place.line] = place.low + place.width
        if problem:
            raise DataError(f"{where}: {problem}: not possible; use the layout written by the run")

    def _in_step(self) -> bool:
        """Return whether each line's period is a multiple of the last; 0 is one of 0 alone."""
        for before, after in pairwise((self.period, *self.periods)):
            multiple = not after % before if before and after else before == after
            if not multiple or after >> self.time_bits:
                return False
        return True


def make_layout(
    title: str,
    threads: int,
    sources: Iterable[Source],
    *,
    period: int = 4096,
    periods: Mapping[str, int] | None = None,
    line_bits: int = 512,
    time_bits: int = 32,
    on_full: OnFull = OnFull.STOP,
    period_ps: int | None = None,
    peaks: Mapping[str, int] | None = None,
    region: str = "region",
    where: tuple[str, int, int] | None = None,
    sites: Iterable[Site] = (),
) -> TraceLayout:
    """Give each source a place: those of one time slot and one period share a slot of a line.

    What is given is as in the layout, but a counter named in `periods` has its own sampling period
    in place of `period`.

    Raises:
        DataError: it does not fit.
    """

    def every(source: Source) -> int:
        return (periods or {}).get(source.counter.name, period)

    # A sample has lines up to some period's: those of the shortest come first.
    listed = sorted(sources, key=every)
    steps = sorted(set(map(every, listed)))
    for before, after in pairwise(steps):
        if not before or after % before:
            raise DataError(
                f"samples every {before} and every {after} cycles: the longer must be a multiple"
            )
    columns: dict[object, list[tuple[int, Source]]] = {}
    designs: dict[int, int] = {}  # by period
    indices = max((s.index + 1 for s in listed if s.counter.scope is not Scope.DESIGN), default=1)
    form = TraceLayout(
        *(title, threads, line_bits, time_bits, steps[0] if steps else period, on_full, ()),
        period_ps=period_ps,
        # A total is written before it is read again.
        round=1 << max(2, (indices - 1).bit_length()) if listed else 0,
        peaks=dict(peaks or {}),
        region=region,
        where=where,
        sites=tuple(sites),
    )
    form.check()
    for source in listed:
        if source.counter.scope is Scope.DESIGN:
            # Those that there is one of each share a column: each has a time slot of its own.
            own = every(source)
            number = designs[own] = designs.get(own, -1) + 1
            column, time_slot = divmod(number, form.round)
            columns.setdefault((own, column), []).append((time_slot, source))
        else:
            columns.setdefault(source.counter, []).append((source.index, source))
    places: list[Place] = []
    groups: list[int] = []  # the period of each
    low = 0
    for members in columns.values():
        own = every(members[0][1])
        cycles = max((own or 1 << time_bits) * _SLACK, _LATE)
        most = max(s.largest // s.scale * -(-cycles // s.window) for _, s in members)
        width = min(most.bit_length() + 1, 32)
        if not groups or groups[-1] != own or low + width > form.pitch:
            groups.append(own)
            low = 0
        for time_slot, source in members:
            block, slot = divmod(time_slot, form.span)
            line = (len(groups) - 1) * (form.round // form.span) + block
            places.append(Place(source, line, form.record_low(slot + 1) + low, width, time_slot))
        low += width
    lines = [own for own in groups for _ in range(form.round // form.span)]
    layout = replace(form, places=tuple(places))
    layout = replace(layout, periods=tuple(lines[: layout.sample_lines]))
    layout.check()
    return layout


def read_layout(path: Path) -> TraceLayout:
    """Read what `TraceLayout.to_json` wrote.

    Raises:
        DataError: it cannot be read, is no layout, or one that no profiling unit has.
    """
    try:
        head = parse_json(read_bytes(path))
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path}: is not JSON; give the layout that the run wrote") from error
    if not isinstance(head, dict) or head.get("format") != _FORMAT:
        raise DataError(f"{path}: is not a trace layout; give the one that the run wrote")
    if head.get("version") not in _READ:
        raise DataError(
            f"{path}: version {head.get('version')} of the layout; this cyclescope reads "
            f"{' and '.join(map(str, _READ))}"
        )
    try:
        layout = TraceLayout(
            title=_typed(head["title"], str),
            **{
                name: _typed(head[name], int)
                for name in ("threads", "line_bits", "period", "round")
            },
            time_bits=_typed(head[_KEYS["time_bits"]], int),
            on_full=OnFull(head["on_full"]),
            places=tuple(_place(place) for place in _typed(head["places"], list)),
            period_ps=None if head["period_ps"] is None else _typed(head["period_ps"], int),
            peaks={
                name: _typed(peak, int)
                for name, peak in _typed(head.get("peaks", {}), dict).items()
            },
            region=_typed(head.get("region", "region"), str),
            where=_where(head.get("where")),
            periods=tuple(_typed(period, int) for period in _typed(head["periods"], list)),
            sites=tuple(site_from_json(entry) for entry in _typed(head.get("sites", []), list)),
        )
    except (KeyError, TypeError, ValueError, LawError) as error:
        raise DataError(f"{path}: the layout is damaged ({error}); copy it again") from error
    layout.check(str(path))
    return layout


def _keyed(fields: list[tuple[str, Any]]) -> dict[str, Any]:
    return {_KEYS.get(name, name): value for name, value in fields}


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
    numbers = [_typed(source[key], int) for key in ("index", "largest", "scale", "window")]
    keys = ("line", "low", "width", _KEYS["time_slot"])
    line, low, width, time_slot = (_typed(head[key], int) for key in keys)
    activity = counter.get("activity")
    if activity not in (None, Activity.WAITING.value):
        raise ValueError(f"a counter of {activity}")
    what = Counter(
        *(name, metric, unit, Scope(counter["scope"])),
        activity=None if activity is None else Activity(activity),
        cause=_typed(counter.get("cause", ""), str),
        site=_typed(counter.get("site", -1), int),
    )
    return Place(Source(what, *numbers), line, low, width, time_slot)
