"""Speed of Paraver traces and of dumps: records a second, written, read, decoded.

Prints one table: `python benches/bench_paraver.py [MILLIONS]` (default 2). Each figure is the best
of five in processor time, since the machine may be shared; files are in memory or page cache.
"""

from __future__ import annotations

import io
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from cyclescope.hls.trace._decoder import read_dump
from cyclescope.hls.trace._format import COUNTERS, Source, TraceLayout, make_layout
from cyclescope.model import Frame, Kind, Meta, Profile, ThreadStates, profile_of_threads
from cyclescope.traces import import_paraver
from cyclescope.views import write_paraver

if TYPE_CHECKING:
    from collections.abc import Callable

THREADS = 8
STATES = ("idle", "running", "critical", "spinning")


def threaded(records: int) -> Profile:
    """Threads that change their states at random: so many records in all."""
    rng = np.random.default_rng(1)
    frames = [Frame(Kind.STATE, name, "") for name in STATES]
    threads = []
    for number in range(THREADS):
        start = np.cumsum(rng.integers(1, 200, records // THREADS)) - 1
        start[0] = 0
        step = rng.integers(1, 4, len(start))
        state = np.cumsum(step) % 4
        threads.append(ThreadStates(Frame(Kind.THREAD, f"t{number}", ""), frames, start, state))
    end = max(int(thread.start[-1]) for thread in threads) + 1
    return profile_of_threads(Meta("traces", "bench"), threads, end)


def dump_of(records: int) -> tuple[TraceLayout, bytes]:
    """A dump of full lines of states."""
    rng = np.random.default_rng(2)
    layout = make_layout("bench", THREADS, [Source(c, t, 4) for c in COUNTERS for t in range(8)])
    count = records // layout.records
    time_ = np.cumsum(rng.integers(1, 60, count * layout.records)).astype(np.uint64)
    time_ -= time_[0]
    kinds = rng.integers(0, 1 << 16, 200).astype(np.uint64)
    word = kinds[np.cumsum(rng.integers(1, 199, len(time_))) % 200]
    value = (time_ & np.uint64(0xFFFFFFFF) | word << np.uint64(32)).reshape(count, layout.records)
    lines = np.zeros((count + 1, layout.line_bits // 64), dtype=np.uint64)
    for place in range(layout.records):
        at, shift = divmod(layout.record_low(place), 64)
        lines[1:, at] |= value[:, place] << np.uint64(shift)
        if shift + layout.record_bits > 64:
            lines[1:, at + 1] |= value[:, place] >> np.uint64(64 - shift)
    number = np.arange(1, count + 1, dtype=np.uint64) & np.uint64(0xFFFFF)
    lines[1:, 0] |= np.uint64(1 | layout.records << 4) | number << np.uint64(12)
    clock, made = int(time_[-1]) + 1, count + 1
    end = 4 | (made >> 20) << 4 | (made & 0xFFFFF) << 12
    end |= (clock & 0xFFFFFFFF) << layout.record_low(0) | (clock >> 32) << layout.record_low(1)
    for at in range(2):
        lines[0, at] = end >> 64 * at & (1 << 64) - 1
    return layout, lines.tobytes()


def best(work: Callable[[], object]) -> float:
    """Seconds of processor time, the best of five."""
    times = []
    for _ in range(5):
        begin = time.process_time()
        work()
        times.append(time.process_time() - begin)
    return min(times)


def main() -> None:
    """Measure and print."""
    records = int(float(sys.argv[1]) * 1e6) if len(sys.argv) > 1 else 2_000_000
    profile = threaded(records)
    rows = [("write .prv", records, best(lambda: write_paraver(profile, io.BytesIO())))]
    packed = best(lambda: write_paraver(profile, io.BytesIO(), compress=True))
    rows.append(("write .prv.gz", records, packed))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "million.prv"
        million = threaded(1_000_000)
        with path.open("wb") as stream:
            count = write_paraver(million, stream)
        rows.append(("import .prv", count, best(lambda: import_paraver(path))))
    layout, dump = dump_of(2 * records)
    rows.append(("decode a dump", 2 * records, best(lambda: read_dump(dump, layout))))
    print(f"{'':16}{'records':>12}{'s':>8}{'million/s':>12}")
    for name, count, seconds in rows:
        print(f"{name:16}{count:>12,}{seconds:>8.2f}{count / seconds / 1e6:>12.1f}")


if __name__ == "__main__":
    main()
