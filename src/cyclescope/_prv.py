"""Paraver's format, written once: what `views` write of it and `traces` read.

A trace is a header, comments, and a line for each record: numbers separated by colons. Beside it
are names (.pcf) and the labels of rows (.row). A trace of ours says so in a comment, and its
counters in others, which Paraver skips: by them cyclescope knows its own traces again.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

__all__ = [
    "EVENT",
    "MESSAGE",
    "OWN_STATES",
    "STATE",
    "UNITS",
    "Kind",
    "Names",
    "Thread",
    "event_type",
    "header",
    "own_comment",
    "prefix",
    "read_header",
    "read_names",
    "read_own_comment",
    "read_rows",
    "rows",
    "states",
]

STATE, EVENT, MESSAGE = 1, 2, 3
"""The kinds of records, a line's first number. Then come cpu, application, task and thread.

- state: begin, end, state
- event: time, then type and value, as often as there are
- message: logical and physical time of the sender; cpu, application, task, thread and both times
  of the receiver; bytes and tag
"""

UNITS = {"_ns": 10**3, "_us": 10**6, "_ms": 10**9}
"""Unit of time → picoseconds; a header that names none means microseconds."""

_HEADER = re.compile(r"#Paraver ?\(([^)]*)\):(\d{1,19})(_\w+)?:(.*)", re.DOTALL)
_APPLICATION = re.compile(
    r"(\d{1,9})\((\d{1,9}:\d+(?:,\d{1,9}:\d+)*)\)(?:[:,](?=\d+\()|:?\s*$|,\d+\s*$)"
)
_MOST_THREADS = 100_000
# Nothing varies between two traces of one profile: the header's date is no date.
_DATE = "01/01/2000 at 00:00"
_OWN = re.compile(r"# cyclescope: 1 cycle = (\d{1,18}) ps( \(real\))?")
_COUNTER = "# counter "
_COUNTERS = range(42_000_000, 42_009_000)  # Extrae's: a value is the count since the one before

OWN_STATES = ("Idle", "Running", "Critical", "Spinning")
"""The first states of our traces: what the hardware's two bits say (Nymble, section IV-B)."""


def header(end: int, threads: Sequence[int]) -> str:
    """The first line of a trace of one application on one node.

    Args:
        end: of the trace, in nanoseconds.
        threads: how many each task has, a processor for each.
    """
    tasks = ",".join(f"{count}:1" for count in threads)
    return f"#Paraver ({_DATE}):{end}_ns:1({sum(threads)}):1:{len(threads)}({tasks})\n"


Thread = tuple[int, int, int]
"""Application, task, thread, counted from 1."""


def read_header(line: str) -> tuple[int, str, list[Thread]]:
    """The end of a trace, its unit of time (empty if none is named), and its threads.

    Raises:
        ValueError: says what is wrong with the line.
    """
    match = _HEADER.fullmatch(line)
    if match is None:
        raise ValueError("is no Paraver header; give a .prv or .prv.gz file")
    end = int(match[2])
    if end >= 1 << 63:
        raise ValueError(f"the end, {end}, exceeds 63 bits")
    return end, match[3] or "", _threads(match[4])


def _threads(text: str) -> list[Thread]:
    """The resources and the process model: `nodes(…):applications:tasks(threads:node,…),tasks(…)`.

    Paraver writes a comma between two applications, and takes a colon too; a number alone after
    the last one says how many communicators follow.
    """
    match = re.match(r"(?:0|\d+\([\d,]*\)):(\d{1,6}):", text)
    if match is None:
        raise ValueError("the list of nodes and applications is damaged")
    at = match.end()
    threads: list[Thread] = []
    for appl in range(1, int(match[1]) + 1):
        part = _APPLICATION.match(text, at)
        counts = [int(task.split(":")[0]) for task in part[2].split(",")] if part else []
        if part is None or len(counts) != int(part[1]):
            raise ValueError(f"application {appl} of {match[1]} is damaged")
        if len(threads) + sum(counts) > _MOST_THREADS:
            raise ValueError(f"more than {_MOST_THREADS:,} threads")
        for task, count in enumerate(counts, 1):
            threads += [(appl, task, thread) for thread in range(1, count + 1)]
        at = part.end()
    if not threads:
        raise ValueError("there are no threads")
    return threads


def own_comment(period_ps: int | None) -> str:
    """The second line of a trace of ours: how long a cycle is, if its times are real."""
    unit = "1000 ps" if period_ps is None else f"{period_ps} ps (real)"
    return f"# cyclescope: 1 cycle = {unit}\n"


def read_own_comment(line: str) -> tuple[bool, int | None]:
    """Return whether this second line is of a trace of ours, and its real cycle, if it has one."""
    own = _OWN.fullmatch(line)
    return own is not None, int(own[1]) if own and own[2] else None


def prefix(kind: int, cpu: int, task: int, thread: int) -> str:
    """The first fields of a record of the one application, up to its times; all counted from 1."""
    return f"{kind}:{cpu}:1:{task}:{thread}"


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of event; see `Series`."""

    name: str
    metric: str
    unit: str


@dataclass
class Names:
    """The names in a .pcf.

    Attributes:
        states: label of each state.
        kinds: each event type.
        labels: of types whose values have labels, each value's.
    """

    states: dict[int, str] = field(default_factory=dict)
    kinds: dict[int, Kind] = field(default_factory=dict)
    labels: dict[int, dict[int, str]] = field(default_factory=dict)


def states(labels: Iterable[str], colours: Iterable[tuple[int, int, int]]) -> list[str]:
    """The lines of a .pcf that name states, and give each its red, green and blue."""
    rgb = (",".join(map(str, colour)) for colour in colours)
    return [
        "STATES",
        *(f"{number} {label}" for number, label in enumerate(labels)),
        "",
        "STATES_COLOR",
        *(f"{number} {{{colour}}}" for number, colour in enumerate(rgb)),
    ]


def event_type(number: int, label: str, kind: Kind, values: Mapping[int, str]) -> list[str]:
    """The lines of a .pcf that name an event type of ours and its values."""
    head = {"name": kind.name, "metric": kind.metric, "unit": kind.unit}
    lines = [f"{_COUNTER}{number} {json.dumps(head)}", "EVENT_TYPE", f"0 {number} {label}"]
    if values:
        lines += ["VALUES", *(f"{value} {text}" for value, text in sorted(values.items()))]
    return lines


def read_names(lines: Iterable[str]) -> Names:
    """The names in a .pcf; what is not understood is skipped, as Paraver does."""
    names = Names()
    section = ""
    own: dict[int, Kind] = {}
    types: list[int] = []
    for line in lines:
        words = line.split(None, 2)
        if line.startswith(_COUNTER):
            own |= _own_kind(line.removeprefix(_COUNTER))
        if not words or words[0].startswith("#"):
            continue
        if len(words) == 1 and re.fullmatch(r"[A-Z_]+", words[0]):
            section = words[0]
            types = [] if section == "EVENT_TYPE" else types
        elif section == "STATES" and _small(words[0]):
            names.states[int(words[0])] = " ".join(line.split()[1:])
        elif section == "EVENT_TYPE" and len(words) == 3 and _small(words[1]):
            number = int(words[1])
            metric = "hardware counter" if number in _COUNTERS else "event"
            names.kinds[number] = own.get(number, Kind(words[2].strip(), metric, ""))
            types.append(number)
        elif section == "VALUES" and len(words) > 1 and _small(words[0].removeprefix("-")):
            for number in types:
                label = " ".join(line.split()[1:])
                names.labels.setdefault(number, {})[int(words[0])] = label
    return names


def _small(word: str) -> bool:
    return word.isascii() and word.isdigit() and len(word) <= 10


def _own_kind(text: str) -> dict[int, Kind]:
    """Read a comment of ours: what the type that follows counts."""
    try:
        number, rest = text.split(" ", 1)
        head = json.loads(rest)
        return {int(number): Kind(str(head["name"]), str(head["metric"]), str(head["unit"]))}
    except (ValueError, KeyError, TypeError, RecursionError):
        return {}


def rows(level: str, labels: Sequence[str]) -> str:
    """The lines of a .row that label the rows of a level."""
    return f"LEVEL {level} SIZE {len(labels)}\n" + "".join(f"{text}\n" for text in labels)


def read_rows(lines: Sequence[str], level: str, count: int) -> list[str]:
    """The labels of a level's rows in a .row; none if it has another number of them."""
    for at, line in enumerate(lines):
        words = line.split()
        if words[:2] == ["LEVEL", level] and len(words) == 4 and words[3] == str(count):
            found = list(lines[at + 1 : at + 1 + count])
            return found if len(found) == count else []
    return []
