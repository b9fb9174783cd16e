"""The head of a Paraver trace (.prv), and the files beside it (.pcf, .row)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from cyclescope import _prv
from cyclescope._files import read_text
from cyclescope.errors import DataError
from cyclescope.traces._text import check_file

if TYPE_CHECKING:
    from pathlib import Path

    from cyclescope.model import Ints

__all__ = ["Header", "lines_of", "read_header"]


@dataclass
class Header:
    """The contents of the first lines.

    Attributes:
        end: the trace's end in units of time.
        unit_ps: a unit of time in picoseconds.
        unit: its suffix; empty if there is none, which means microseconds.
        threads: (application, task, thread) of each row, counted from 1.
        own: whether cyclescope wrote it: a unit of time is then a cycle, unless `period_ps` says
            other.
        period_ps: of a trace of ours in real time.
    """

    end: int
    unit_ps: int
    unit: str
    threads: list[_prv.Thread]
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
    try:
        end, unit, threads = _prv.read_header(text)
    except ValueError as error:
        raise DataError(f"{path}: line 1: {error}") from None
    own, period = _prv.read_own_comment(comment.decode("ascii", "replace").rstrip("\r\n"))
    return Header(end, _prv.UNITS.get(unit, 10**6), unit, threads, own, period)


def lines_of(path: Path) -> list[str]:
    """The lines of a file beside a trace; none if there is no such file.

    Raises:
        DataError: it is there, and cannot be read.
    """
    check_file(path)
    try:
        return read_text(path, errors="replace").splitlines()
    except FileNotFoundError:
        return []
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror or error}") from error
