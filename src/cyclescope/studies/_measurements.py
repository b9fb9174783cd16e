"""The measurements of a search, kept on disk: one that was stopped goes on with them."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

from cyclescope._files import write_whole
from cyclescope._rewrites import Measured
from cyclescope.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = ["Measurements"]


class Measurements:
    """Measurements of texts, by their content.

    Args:
        path: the file that keeps them; None to keep none.
        subject: what else decides a measurement (data, options), as one text.

    Raises:
        InputError: the file is there and is none of measurements.
    """

    def __init__(self, path: Path | None, subject: str) -> None:
        self._path = path
        self._subject = hashlib.sha256(subject.encode()).hexdigest()
        self._known: dict[str, Measured] = {}
        self._stored: dict[str, Measured] = {}
        self._reserved = 0
        self.runs = 0  # measured, or taken from the file, in this search
        self.known = 0  # of these, taken from the file
        if path is not None and path.exists():
            self._stored = self._read(path)

    def get(self, text: bytes) -> Measured | None:
        """A text's measurement, if there is one."""
        key = _key(text)
        if key not in self._known and key in self._stored:
            self._known[key] = self._stored[key]
            self.runs += 1
            self.known += 1
        return self._known.get(key)

    def require(self, text: bytes) -> Measured:
        """A text's measurement, which is there."""
        return self._known[_key(text)]

    def reserve(self, _text: bytes) -> None:
        """Count a run that begins."""
        self.runs += 1
        self._reserved += 1

    def release(self) -> None:
        """Forget the runs that did not end."""
        self.runs -= self._reserved
        self._reserved = 0

    def put(self, text: bytes, measured: Measured) -> None:
        """Keep a measurement."""
        self._known[_key(text)] = measured
        self._reserved -= 1
        if self._path is not None:
            self._write(self._path)

    def _write(self, path: Path) -> None:
        rows = {**self._stored, **self._known}
        content = {
            "subject": self._subject,
            "texts": {
                key: {"failure": m.failure, "cycles": m.cycles, "figures": dict(m.figures)}
                for key, m in rows.items()
            },
        }
        with write_whole(path, force=True) as stream:
            stream.write(json.dumps(content).encode())

    def _read(self, path: Path) -> dict[str, Measured]:
        try:
            content = json.loads(path.read_bytes())
            rows: Mapping[str, dict[str, object]] = content["texts"]
            found = {key: _measured(row) for key, row in rows.items()}
            mine = content["subject"] == self._subject
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            raise InputError(
                f"{path}: not the state of an earlier search; remove it, or name another"
            ) from None
        return found if mine else {}


def _measured(row: Mapping[str, object]) -> Measured:
    failure, cycles, figures = row["failure"], row["cycles"], row["figures"]
    if not (isinstance(failure, str) and isinstance(cycles, int) and isinstance(figures, dict)):
        raise TypeError("not a measurement")
    return Measured(failure, cycles, figures)


def _key(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()
