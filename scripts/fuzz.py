"""Feeds damaged and invented input to everything that reads: `make fuzz MINUTES=n`.

    python scripts/fuzz.py [--minutes N] [--seed N] [--only FORMAT] [--folder build/fuzz]

Each format has seeds of ours and a reader. An input is a seed or an input kept before, changed a
few times: bits, cuts, repeated and moved pieces, pieces of others, numbers at the edges of types.
It is right if the reader takes it, or refuses it with an error of ours in one line, within ten
seconds and two gigabytes; everything else is a finding, also a crash of the process, since the
readers run in one of their own. An input that reaches lines which none before has reached is kept:
so the next run goes on where this one stopped. Coverage is counted on every eighth input, since
counting takes several times as long as reading. Findings are in FOLDER/findings, by format; prints
what was tried, kept and found, the peak of memory and the slowest input.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import resource
import signal
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import TYPE_CHECKING

from cyclescope.errors import CyclescopeError, LawError

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

ROOT = Path(__file__).resolve().parents[1]
SECONDS, MEMORY = 10, 2 << 30
SLICE = 20.0  # seconds of one format at a time
EDGES = [
    b"0",
    b"-1",
    b"1",
    b"2147483648",
    b"18446744073709551616",
    b"1e999",
    b"nan",
    b"\x00",
    b"\xff",
]


class HangError(BaseException):
    """An input took too long."""


def read_profile(path: Path) -> None:
    """Read it as the command line does."""
    from cyclescope.model import load

    load(path)


def read_calyx(path: Path) -> None:
    """Read it as the command line does."""
    from cyclescope.calyx._compile import compile_program

    compile_program(path)


def read_c(path: Path) -> None:
    """Read it as the command line does."""
    from cyclescope.bounds._run import prepare

    prepare(path)


def read_openmp(path: Path) -> None:
    """Read it as the command line does."""
    from cyclescope.hls import compile_c

    compile_c(path)


def read_memories(path: Path) -> None:
    """Read it as the command line does."""
    from cyclescope.sim import Memory, read_data
    from cyclescope.sim._memory import encode_memory

    for name, entry in read_data(path).items():
        encode_memory(Memory(name, 32, (4,)), entry)


def read_calibration(path: Path) -> None:
    """Read it as the command line does."""
    from cyclescope.bounds import read_calibration as read

    read(path)


def read_study(path: Path) -> None:
    """Read it as the command line does."""
    from cyclescope.cli._sweep import _commands
    from cyclescope.sweep import read_study as read

    read(path, _commands())


def read_wave(path: Path) -> None:
    """Read it as the command line does."""
    from cyclescope.cli import program

    program.main(["import", "vcd", str(path), "-o", os.devnull, "--force"], standalone_mode=False)


def read_paraver(path: Path) -> None:
    """Read it as the command line does."""
    from cyclescope.cli import program

    program.main(
        ["import", "paraver", str(path), "-o", os.devnull, "--force"], standalone_mode=False
    )


# Format: (ending, where seeds are, reader).
FORMATS: dict[str, tuple[str, list[str], Callable[[Path], None]]] = {
    "profile": (".cyc", ["tests/**/*.cyc", "examples/**/*.cyc"], read_profile),
    "calyx": (".futil", ["examples/calyx/*.futil", "tests/calyx/programs/*.futil"], read_calyx),
    "kernel": (".c", ["examples/bounds/*.c", "tests/bounds/*.c"], read_c),
    "openmp": (".c", ["examples/hls/*.c", "tests/hls/programs/*.c"], read_openmp),
    "memories": (".json", ["examples/calyx/*.json"], read_memories),
    "calibration": (".toml", ["examples/**/*.toml"], read_calibration),
    "study": (".toml", ["examples/**/*.toml"], read_study),
    "vcd": (".vcd", ["tests/traces/**/*.vcd"], read_wave),
    "paraver": (".prv", ["tests/**/*.prv"], read_paraver),
}
INVENTED = {
    "study": b'[study]\ncommand = "calyx"\ninput = "p.futil"\n[space]\npass = ["all", "none"]\n',
    "calibration": b"[latency]\nadd = 1\n",
    "kernel": b"void k(int a[4]) { for (int i = 0; i < 4; i++) a[i] = a[i] + 1; }\n",
    "vcd": b"$timescale 1ns $end\n$scope module m $end\n$var wire 1 ! a $end\n$upscope $end\n"
    b"$enddefinitions $end\n#0\n0!\n#5\n1!\n",
    "paraver": b"#Paraver (01/01/2026 at 00:00):100:1(1):1:1(1:1)\n1:1:1:1:1:0:100:1\n",
    "memories": b'{"m":{"data":[1,2,3,4],'
    b'"format":{"numeric_type":"bitnum","is_signed":false,"width":32}}}',
}


def seeds(name: str) -> list[bytes]:
    """What a format's inputs are made of."""
    _, patterns, _ = FORMATS[name]
    found = [p.read_bytes() for pattern in patterns for p in sorted(ROOT.glob(pattern))]
    found = [data for data in found if len(data) < 200_000]
    if name in INVENTED:
        found.append(INVENTED[name])
    if name == "profile":
        found.append(small_profile())
    return found


def small_profile() -> bytes:
    """A profile of a small kernel, with runs, trees and counters."""
    from cyclescope.cli import main as command_line

    with tempfile.TemporaryDirectory() as name:
        kernel, made = Path(name) / "k.c", Path(name) / "k.cyc"
        kernel.write_bytes(INVENTED["kernel"])
        if command_line(["bounds", str(kernel), "-o", str(made)]):
            raise RuntimeError("no seed for profiles")
        return made.read_bytes()


def changed(data: bytes, others: list[bytes], rng: random.Random) -> bytes:
    """An input with one to eight changes."""
    made = bytearray(data)
    for _ in range(1 << rng.randrange(4)):
        at = rng.randrange(len(made) + 1)
        end = min(len(made), at + (1 << rng.randrange(10)))
        match rng.randrange(8):
            case 0 if at < len(made):
                made[at] ^= 1 << rng.randrange(8)
            case 1:
                del made[at:end]
            case 2:
                made[at:at] = made[at:end] * rng.choice([1, 2, 50])
            case 3:
                other = rng.choice(others)
                begin = rng.randrange(len(other) + 1)
                made[at:end] = other[begin : begin + end - at]
            case 4:
                made[at:at] = rng.choice(EDGES)
            case 5:
                del made[at:]
            case 6:
                made[at:end] = bytes(rng.randrange(256) for _ in range(min(16, end - at)))
            case _:
                piece = made[at:end]
                del made[at:end]
                to = rng.randrange(len(made) + 1)
                made[to:to] = piece
    return bytes(made[: 1 << 20])


class Lines:
    """The lines of cyclescope that were run."""

    def __init__(self) -> None:
        self.seen: set[tuple[str, int]] = set()

    def __enter__(self) -> Lines:
        sys.settrace(self._call)
        return self

    def __exit__(self, *_: object) -> None:
        sys.settrace(None)

    def _call(self, frame: FrameType, event: str, argument: object) -> object:
        del event, argument
        return self._line if "cyclescope" in frame.f_code.co_filename else None

    def _line(self, frame: FrameType, event: str, argument: object) -> object:
        del argument
        if event == "line":
            self.seen.add((frame.f_code.co_filename, frame.f_lineno))
        return self._line


def attempt(reader: Callable[[Path], None], path: Path) -> str:
    """What is wrong with how a reader takes an input; empty if nothing."""
    import click

    def hang(*_: object) -> None:
        raise HangError

    signal.signal(signal.SIGALRM, hang)
    signal.alarm(SECONDS)
    try:
        reader(path)
    except LawError:
        return traceback.format_exc()
    except CyclescopeError as error:
        return "" if len(str(error)) < 10_000 else "a message of more than 10,000 characters"
    except (click.ClickException, click.exceptions.Exit, click.exceptions.Abort):
        return ""
    except HangError:
        return f"took more than {SECONDS} s"
    except BaseException:  # noqa: BLE001 - a panic of Rust is no Exception
        return traceback.format_exc()
    finally:
        signal.alarm(0)
    return ""


def work(name: str, folder: Path, seed: int, seconds: float) -> None:
    """Fuzz one format for a while; in a process that may crash."""
    ending, _, reader = FORMATS[name]
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY + (4 << 30), MEMORY + (4 << 30)))
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.dup2(nothing, 2)
    rng = random.Random(seed)  # noqa: S311
    kept = folder / "corpus" / name
    kept.mkdir(parents=True, exist_ok=True)
    pool = seeds(name) + [path.read_bytes() for path in sorted(kept.iterdir())]
    path, lines = folder / f"input{ending}", Lines()
    begun, done, slowest = time.monotonic(), 0, 0.0
    while time.monotonic() - begun < seconds:
        data = changed(rng.choice(pool), pool, rng)
        path.write_bytes(data)
        started, before = time.monotonic(), len(lines.seen)
        if done % 8:
            wrong = attempt(reader, path)
        else:
            with lines:
                wrong = attempt(reader, path)
        slowest = max(slowest, time.monotonic() - started)
        digest = hashlib.sha256(data).hexdigest()[:12]
        if wrong:
            report(folder, name, data, wrong)
        elif done and not done % 8 and len(lines.seen) > before:
            (kept / digest).write_bytes(data)
            pool.append(data)
        done += 1
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
        (folder / "progress.json").write_text(json.dumps([done, len(lines.seen), slowest, peak]))


def report(folder: Path, name: str, data: bytes, wrong: str) -> None:
    """Keep a finding, once for each place."""
    where = hashlib.sha256("\n".join(wrong.splitlines()[-4:]).encode()).hexdigest()[:8]
    target = folder / "findings" / name / where
    target.mkdir(parents=True, exist_ok=True)
    if not (target / "why.txt").exists():
        (target / "input").write_bytes(data)
        (target / "why.txt").write_text(wrong)


def one(name: str, folder: Path, seed: int, seconds: float) -> tuple[int, int, float, int]:
    """A slice of one format: inputs, lines reached, slowest in s, peak in MB."""
    ending = FORMATS[name][0]
    (folder / "progress.json").write_text("[0, 0, 0, 0]")
    child = os.fork()
    if child == 0:
        try:
            work(name, folder, seed, seconds)
        except BaseException:  # noqa: BLE001 - the parent must not go on as if all were well
            report(folder, name, b"", traceback.format_exc())
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        path = folder / f"input{ending}"
        report(folder, name, path.read_bytes(), f"killed by signal {os.WTERMSIG(status)}")
    done, reached, slowest, peak = json.loads((folder / "progress.json").read_text())
    return done, reached, slowest, peak


def main() -> int:
    """Fuzz all formats in turn; gives 1 if there are findings."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--only", choices=FORMATS, default=None)
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "fuzz")
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    seed = asked.seed if asked.seed is not None else random.SystemRandom().randrange(10**9)
    print(f"seed {seed}", flush=True)
    names = [asked.only] if asked.only else list(FORMATS)
    totals = {name: [0, 0, 0.0, 0] for name in names}
    end, turn = time.monotonic() + asked.minutes * 60, 0
    span = min(SLICE, asked.minutes * 60 / len(names))
    while time.monotonic() < end:
        name = names[turn % len(names)]
        done, reached, slowest, peak = one(name, asked.folder, seed + turn, span)
        total = totals[name]
        total[0] += done
        total[1:] = max(total[1], reached), max(total[2], slowest), max(total[3], peak)
        turn += 1
    print(f"{'format':12} {'inputs':>8} {'lines':>7} {'slowest s':>10} {'peak MB':>8}  findings")
    found = 0
    for name, (done, reached, slowest, peak) in totals.items():
        own = sorted((asked.folder / "findings" / name).glob("*"))
        found += len(own)
        print(f"{name:12} {done:8,} {reached:7,} {slowest:10.2f} {peak:8,}  {len(own)}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
