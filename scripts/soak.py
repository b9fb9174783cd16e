"""Runs every verb again and again in one process: `make soak MINUTES=n`.

    python scripts/soak.py [--minutes N] [--rounds N] [--seed N]

As a notebook or a service would. After two rounds to warm up, nothing may grow: open files,
threads, processes, temporary files, entries and bytes of the cache not at all, memory by no more
than five percent and eight megabytes from the first third of the rounds to the last (medians of the
resident size). Every fourth run of a verb is given a file that is damaged: errors must not leak,
either. Prints the figures of some rounds; exits with 1 if something has grown.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import os
import random
import statistics
import sys
import tempfile
import threading
import time
from dataclasses import astuple, dataclass, fields
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from security.signals import VERBS, Bench  # noqa: E402

WARM = 2
SLACK, SLACK_MB = 0.05, 8


@dataclass(frozen=True)
class Figures:
    """Of this process, after a round.

    Attributes:
        memory: resident, in MB.
        files: open descriptors.
        threads: of Python.
        processes: that it has started and that are there.
        temporary: files and folders in its temporary folder.
        entries, cached: of the cache; their number, and their bytes in MB.
    """

    memory: float
    files: int
    threads: int
    processes: int
    temporary: int
    entries: int
    cached: float

    @classmethod
    def now(cls, temporary: Path) -> Figures:
        """Those of this moment."""
        from cyclescope.sim import cache_entries

        gc.collect()
        resident = int(Path("/proc/self/statm").read_text().split()[1])
        known = cache_entries()
        return cls(
            resident * os.sysconf("SC_PAGE_SIZE") / 1e6,
            len(os.listdir("/proc/self/fd")),  # noqa: PTH208 - a generator would hold one itself
            threading.active_count(),
            len(Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()),
            sum(1 for _ in temporary.rglob("*")),
            len(known),
            sum(one.bytes for one in known) / 1e6,
        )


def one_round(bench: Bench, rng: random.Random, *, damage: bool) -> int:
    """Every verb once, in any order; gives how many were refused."""
    from cyclescope.cli import main

    refused = 0
    for command in rng.sample(list(VERBS.values()), len(VERBS)):
        for old in sorted(bench.place.rglob("*"), reverse=True):
            old.rmdir() if old.is_dir() else old.unlink()
        folder = bench.inputs
        if damage and rng.randrange(4) == 0:
            folder = bench.damaged(rng)
        words = [word.replace("IN/", f"{folder}/") for word in command.split()]
        words = [word.replace("SELECT(1)", "SELECT count(*) AS n FROM frames") for word in words]
        with (
            Path(os.devnull).open("w") as nothing,
            contextlib.redirect_stdout(nothing),
            contextlib.redirect_stderr(nothing),
        ):
            status = main(words)
        if status == 70:
            raise SystemExit(f"a bug: {' '.join(words)}")
        refused += status not in (0, 5)
    return refused


def grown(history: list[Figures]) -> list[str]:
    """Describe what has grown."""
    found = []
    third = max(1, len(history) // 3)
    for field in fields(Figures):
        column = [getattr(one, field.name) for one in history]
        first, last = statistics.median(column[:third]), statistics.median(column[-third:])
        allowed = first * SLACK + SLACK_MB if field.name == "memory" else 0.01
        if last > first + allowed:
            found.append(f"{field.name}: {first:g} -> {last:g}")
    return found


def main() -> int:
    """Run, print, judge."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--rounds", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    asked = parser.parse_args()
    print(f"seed {asked.seed}")
    rng, history, refused = random.Random(asked.seed), [], 0  # noqa: S311
    with tempfile.TemporaryDirectory(prefix="soak-") as name:
        bench = Bench(Path(name))
        tempfile.tempdir = str(bench.temporary)
        os.environ["TMPDIR"] = str(bench.temporary)
        os.chdir(bench.place)
        names = [field.name for field in fields(Figures)]
        print(f"{'round':>6}" + "".join(f"{one:>11}" for one in names), flush=True)
        end, turn = time.monotonic() + asked.minutes * 60, 0
        while turn < asked.rounds + WARM and (turn < WARM + 3 or time.monotonic() < end):
            refused += one_round(bench, rng, damage=turn >= WARM)
            figures = Figures.now(bench.temporary)
            turn += 1
            if turn > WARM:
                history.append(figures)
            if turn <= WARM + 1 or turn & (turn - 1) == 0 or time.monotonic() >= end:
                print(f"{turn:6}" + "".join(f"{value:11,.6g}" for value in astuple(figures)),
                      flush=True)  # fmt: skip
        os.chdir(ROOT)
    verbs = turn * len(VERBS)
    print(
        f"{verbs:,} runs of {len(VERBS)} verbs in {turn} rounds, {refused} refused as they must be"
    )
    for one in (wrong := grown(history)):
        print(f"grown: {one}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
