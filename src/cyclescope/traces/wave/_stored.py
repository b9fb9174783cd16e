"""FST and GHW, read by the crate wellen in a process of its own that can be stopped.

A foreign reader may panic, hang or ask for all memory on a damaged file. So an FST's own table of
blocks is checked first, and the rest happens where limits hold; see `_worker`.
"""

from __future__ import annotations

import json
import sys
from contextlib import contextmanager
from fractions import Fraction
from typing import IO, TYPE_CHECKING

import numpy as np

from cyclescope._files import scratch
from cyclescope.errors import DataError
from cyclescope.sim import Policy, Process
from cyclescope.traces.wave._blocks import Blocks, whole_fst
from cyclescope.traces.wave._raw import Raw, ground, of_signals
from cyclescope.traces.wave._types import LIMITS, Changes, Limits, Signal, SignalKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

__all__ = ["StoredFile", "open_fst", "open_ghw"]


class StoredFile:
    """An FST or GHW. See `Waveform`.

    Args:
        path: of the file.
        form: `FST` or `GHW`.
        blocks: what an FST's table of blocks says.
        limits: on what it may ask for.
    """

    def __init__(self, path: Path, form: str, blocks: Blocks | None, limits: Limits) -> None:
        self.path, self.form = path, form
        self._blocks, self._limits = blocks, limits
        with self._worker({"signals": limits.signals}) as answer:
            head = json.loads(answer.readline())
        unit = head["unit"]
        self.tick_fs = unit and Fraction(unit[0]) * Fraction(10) ** (unit[1] + 15)
        scopes = [tuple(names) for names in head["scopes"]]
        states = [dict(rows) for rows in head["enumerations"]]
        if any(len(names) > limits.depth for names in scopes):
            raise DataError(f"{path}: scopes are nested more than {limits.depth:,} deep")
        self.signals: Sequence[Signal] = tuple(
            Signal(
                scopes[scope],
                name,
                width,
                b"%d" % key,
                SignalKind(kind),
                states=None if place is None else states[place],
            )
            for scope, name, kind, width, key, place in head["signals"]
        )

    def read(self, wanted: Sequence[Signal]) -> Changes:
        """The changes of these signals; see `Waveform.read`."""
        limits, blocks = self._limits, self._blocks
        order = {
            "read": [int(key) for key in ground(wanted)],
            "changes": limits.changes,
            "texts": limits.texts,
        }
        with self._worker(order) as answer:
            head = json.loads(answer.readline())
            types = (np.int64, np.int32, np.int32, np.int64)
            times, step, signal, value = (
                np.frombuffer(answer.read(size), dtype)
                for size, dtype in zip(head["sizes"], types, strict=True)
            )
        begin = times[0] if len(times) else 0
        if blocks is not None and blocks.begin < begin:
            # Time passes before the first change.
            times, step = np.append(blocks.begin, times), step + 1
        times = times if len(times) else np.zeros(1, dtype=np.int64)
        end = int(times[-1]) if blocks is None else max(blocks.end, int(times[-1]))
        changes = of_signals(
            Raw(times, step, signal, value, head["texts"]),
            wanted,
            end,
            1,
            () if blocks is None else blocks.anomalies,
        )
        widths = np.array(changes.widths or (1,), dtype=np.int64)
        # What has no value is below 0, and stays so.
        wide = np.flatnonzero(changes.value >> widths[changes.signal] > 0)
        if len(wide):
            name = wanted[int(changes.signal[wide[0]])].full_name
            raise DataError(
                f"{self.path}: {name}: a value has more bits than were declared; the file is "
                "damaged"
            )
        return changes

    @contextmanager
    def _worker(self, request: dict[str, object]) -> Iterator[IO[bytes]]:
        """Yield the answer of the process: a line of JSON, and columns."""
        limits = self._limits
        path = self.path if self._blocks is None else self._blocks.path
        order = {
            **request,
            "path": str(path.resolve()),
            "seconds": limits.seconds,
            "memory": limits.memory_bytes,
        }
        command = [sys.executable, "-I", "-c", _START, json.dumps(sys.path)]
        # It is ours, and reads: nothing to confine.
        policy = Policy(seconds=limits.seconds + limits.grace, confined=False)
        with (
            scratch("wave") as folder,
            (folder / "given").open("w+b") as given,
            (folder / "answer").open("w+b") as answer,
        ):
            given.write(json.dumps(order).encode())
            given.seek(0)
            stdin, stdout = given.fileno(), answer.fileno()
            with Process(command, policy, stdin=stdin, stdout=stdout) as process:
                end = process.wait()
            if end is None or end.exceeded:
                raise self._refused(f"reading it took more than {limits.seconds} s")
            if end.status != 0:
                raise self._refused("its reader broke down, or took too much memory or time")
            answer.seek(0)
            try:
                told: dict[str, object] = json.loads(answer.readline())
            except ValueError:
                raise self._refused("its reader gave no answer") from None
            if "refused" in told:
                raise self._refused(" ".join(str(told["refused"]).split())[:200])
            answer.seek(0)
            yield answer

    def _refused(self, why: str) -> DataError:
        return DataError(f"{self.path}: cannot be read: {why}; write it again, or as VCD")


# The child must find this package where the parent does, and nothing else.
_START = (
    "import sys, json; sys.path[:] = json.loads(sys.argv[1]); "
    "from cyclescope.traces.wave._worker import main; main()"
)


def open_fst(path: Path, limits: Limits = LIMITS) -> StoredFile:
    """Open an FST.

    Raises:
        DataError: it cannot be read or exceeds a limit.
    """
    return StoredFile(path, "FST", whole_fst(path, limits), limits)


def open_ghw(path: Path, limits: Limits = LIMITS) -> StoredFile:
    """Open a GHW, what GHDL writes.

    Raises:
        DataError: it cannot be read or exceeds a limit.
    """
    return StoredFile(path, "GHW", None, limits)
