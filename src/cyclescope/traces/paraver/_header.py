"""The head of a Paraver trace (.prv), and the names that stand beside it (.pcf, .row)."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from cyclescope._files import read_text
from cyclescope.errors import DataError
from cyclescope.traces._text import check_file

if TYPE_CHECKING:
    from pathlib import Path

    from cyclescope.model import Ints

__all__ = ["Header", "Kind", "Names", "read_header", "read_names", "read_rows"]

_HEADER = re.compile(r"#Paraver ?\(([^)]*)\):(\d{1,19})(_\w+)?:(.*)", re.DOTALL)
_UNITS = {"_ns": 10**3, "_us": 10**6, "_ms": 10**9}
_COUNTERS = range(42_000_000, 42_009_000)  # Extrae's: a value is the count since the one before
_MOST_THREADS = 100_000
_APPLICATION = re.compile(
    r"(\d{1,9})\((\d{1,9}:\d+(?:,\d{1,9}:\d+)*)\)(?:[:,](?=\d+\()|:?\s*$|,\d+\s*$)"
)
_OWN = re.compile(r"# cyclescope: 1 cycle = (\d{1,18}) ps( \(real\))?")


@dataclass
class Header:
    """What the first lines say.

    Attributes:
        end: the trace's end in its unit of time.
        unit_ps: that unit in picoseconds.
        unit: its suffix; empty if there is none, which means microseconds.
        threads: (application, task, thread) of each row, counted from 1.
        own: whether cyclescope wrote it: a unit is then a cycle, unless `period_ps` says other.
        period_ps: of a trace of ours in real time.
    """

    end: int
    unit_ps: int
    unit: str
    threads: list[tuple[int, int, int]]
    own: bool = False
    period_ps: int | None = None
    _tasks: Ints = field(init=False)
    _appls: Ints = field(init=False)
    _base: Ints = field(init=False)
    _size: Ints = field(init=False)

    def __post_init__(self) -> None:
        """Tables from application and task to the first row and the number of threads."""
        tasks = list(dict.fromkeys((appl, task) for appl, task, _ in self.threads))
        appls = [appl for appl, _ in tasks]
        count = np.bincount(appls, minlength=2)
        self._tasks = np.append(np.cumsum(count) - count, 0)  # first task of each application
        self._appls = np.append(count, 0)
        size = np.zeros(len(tasks), dtype=np.int64)
        place = {key: index for index, key in enumerate(tasks)}
        for appl, task, _ in self.threads:
            size[place[(appl, task)]] += 1
        self._size, self._base = size, np.cumsum(size) - size

    def rows(self, appl: Ints, task: Ints, thread: Ints) -> Ints:
        """The row of each thread; -1 for those that the header does not have."""
        known = (appl >= 1) & (appl < len(self._appls) - 1)
        appl = np.where(known, appl, 0)
        known &= (task >= 1) & (task <= self._appls[appl])
        place = np.where(known, self._tasks[appl] + task - 1, 0)
        known &= (thread >= 1) & (thread <= self._size[place])
        return np.where(known, self._base[place] + thread - 1, -1)


def read_header(path: Path, line: bytes, comment: bytes) -> Header:
    """Read the first line, and of the second whether it is a comment of ours.

    Raises:
        DataError: it is no Paraver trace, or its head is damaged.
    """
    text = line.decode("utf-8", "replace").rstrip("\r\n")
    if text.strip().lower() == "new format":
        raise DataError(f"{path}: is in Paraver's experimental second format; convert it to .prv")
    match = _HEADER.fullmatch(text)
    if match is None:
        raise DataError(f"{path}: line 1: is no Paraver header; give a .prv or .prv.gz file")
    end = int(match[2])
    if end >= 1 << 63:
        raise DataError(f"{path}: line 1: the end, {end}, exceeds 63 bits")
    header = Header(end, _UNITS.get(match[3], 10**6), match[3] or "", _threads(path, match[4]))
    own = _OWN.fullmatch(comment.decode("ascii", "replace").rstrip("\r\n"))
    if own is not None:
        header.own = True
        header.period_ps = int(own[1]) if own[2] else None
    return header


def _threads(path: Path, text: str) -> list[tuple[int, int, int]]:
    """The resources and the process model: `nodes(…):applications:tasks(threads:node,…),tasks(…)`.

    Paraver writes a comma between two applications, and takes a colon too; a number alone after
    the last one says how many communicators follow.
    """
    match = re.match(r"(?:0|\d+\([\d,]*\)):(\d{1,6}):", text)
    if match is None:
        raise DataError(f"{path}: line 1: the list of nodes and applications is damaged")
    at = match.end()
    threads: list[tuple[int, int, int]] = []
    for appl in range(1, int(match[1]) + 1):
        part = _APPLICATION.match(text, at)
        counts = [int(task.split(":")[0]) for task in part[2].split(",")] if part else []
        if part is None or len(counts) != int(part[1]):
            raise DataError(f"{path}: line 1: application {appl} of {match[1]} is damaged")
        if len(threads) + sum(counts) > _MOST_THREADS:
            raise DataError(f"{path}: line 1: more than {_MOST_THREADS:,} threads")
        for task, count in enumerate(counts, 1):
            threads += [(appl, task, thread) for thread in range(1, count + 1)]
        at = part.end()
    if not threads:
        raise DataError(f"{path}: line 1: there are no threads")
    return threads


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of event; see `Series`."""

    name: str
    metric: str
    unit: str


@dataclass
class Names:
    """What a .pcf says.

    Attributes:
        states: label of each state.
        kinds: each event type.
        labels: of types whose values have labels, each value's.
    """

    states: dict[int, str] = field(default_factory=dict)
    kinds: dict[int, Kind] = field(default_factory=dict)
    labels: dict[int, dict[int, str]] = field(default_factory=dict)


def _text(path: Path) -> list[str]:
    check_file(path)
    try:
        return read_text(path, errors="replace").splitlines()
    except FileNotFoundError:
        return []
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror or error}") from error


def read_names(path: Path) -> Names:
    """Read a .pcf; what is not understood is skipped, as Paraver does. Absent: no names."""
    names = Names()
    section = ""
    own: dict[int, Kind] = {}
    types: list[int] = []
    for line in _text(path):
        words = line.split(None, 2)
        if line.startswith("# counter "):
            own |= _own_kind(line)
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


def _own_kind(line: str) -> dict[int, Kind]:
    """A comment of ours: what the type that follows counts."""
    try:
        _, _, number, rest = line.split(" ", 3)
        head = json.loads(rest)
        return {int(number): Kind(str(head["name"]), str(head["metric"]), str(head["unit"]))}
    except (ValueError, KeyError, TypeError, RecursionError):
        return {}


def read_rows(path: Path, count: int) -> list[str]:
    """The threads' labels in a .row; none if it is absent or has another number of them."""
    lines = _text(path)
    for at, line in enumerate(lines):
        words = line.split()
        if words[:2] == ["LEVEL", "THREAD"] and len(words) == 4 and words[3] == str(count):
            found = lines[at + 1 : at + 1 + count]
            return found if len(found) == count else []
    return []
