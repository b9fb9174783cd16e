"""Feeds invented input to everything that reads: `make fuzz MINUTES=n`.

    python scripts/fuzz.py [--minutes N] [--seed N] [--only FORMAT,…] [--folder DIR] [--plain]
    python scripts/fuzz.py --report | --keep

The formats, with a reader and seeds of ours each, are in `tests/security/formats.py`. An input is a
seed, or an input kept before, changed a few times: bits, cuts, repeated and moved pieces, pieces of
others, numbers at the edges of types. It is right if the reader takes it, or refuses it with an
error of ours in one line, within ten seconds of processor time and two gigabytes; everything else
is a finding, also a crash or a hang of the process, since the readers run in one of their own. Its
seed is printed, and gives the same inputs again while folder and sources are the same.

An input that reaches code which none before has reached is kept: the next run goes on where this
one stopped. With `atheris` (the extra group `fuzz`) libFuzzer chooses by what each input reaches;
without, lines are counted on every eighth input, since counting takes several times as long as
reading. Per format, DIR (else `fuzz` in the user's cache) contains what was kept in `corpus`, what
was found in `findings`, and figures of all runs in `figures.json`, which `--report` prints.
`--keep` copies the smallest of what was kept to `tests/security/inputs`, where a test reads it each
time.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import json
import os
import random
import re
import resource
import select
import shutil
import signal
import sys
import time
import traceback
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from cyclescope._native import end_with
from cyclescope.errors import CyclescopeError, LawError

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from security.formats import FORMATS, KEPT, MARK, NUMBERS, Format, seeds  # noqa: E402

if TYPE_CHECKING:
    from types import FrameType

SECONDS, PATIENCE, MEMORY = 10, 60, 2 << 30
SLICE = 120.0  # seconds of the processor for one format at a time: starting takes five of them
LARGEST = 60_000  # bytes of an input
EDGES = [*NUMBERS, b"null", b"true", b'""', b"[]", b"{}", b"\x00", b"\xff",
         "\u202e\U0001f600".encode(), MARK]  # fmt: skip


class HangError(BaseException):
    """An input took too long."""


def changed(data: bytes, others: list[bytes], rng: random.Random) -> bytes:
    """An input with one to eight changes."""
    made = bytearray(data)
    for _ in range(1 << rng.randrange(4)):
        at = rng.randrange(len(made) + 1)
        end = min(len(made), at + (1 << rng.randrange(10)))
        match rng.randrange(9):
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
            case 5 if rng.randrange(4) == 0:
                del made[at:]
            case 6:
                made[at:end] = bytes(rng.randrange(256) for _ in range(min(16, end - at)))
            case 7:
                # A number of text becomes another.
                numbers = list(re.finditer(rb"-?\d+", made[at : at + 4096]))
                if numbers:
                    one = rng.choice(numbers)
                    value = rng.choice([*NUMBERS, b"%d" % (int(one[0][:15]) + rng.choice([-1, 1]))])
                    made[at + one.start() : at + one.end()] = value
            case _:
                piece = made[at:end]
                del made[at:end]
                to = rng.randrange(len(made) + 1)
                made[to:to] = piece
    return bytes(made[:LARGEST])


def used_time() -> float:
    """Seconds of the processor, of this process and of those that it has waited for."""
    return sum(os.times()[:4])


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


def attempt(form: Format, data: bytes, folder: Path, *, free: bool = False) -> str:
    """The fault in how a format's reader takes an input; empty if nothing.

    Args:
        form: the format.
        data: the input.
        folder: to lay it in.
        free: it may take its time.
    """
    for old in folder.iterdir():
        if old.is_file():
            old.unlink()
    form.lay(data, folder)

    def hang(*_: object) -> None:
        raise HangError

    before = resident()
    # The processor's time: the machine may be busy with other things.
    signal.signal(signal.SIGVTALRM, hang)
    signal.setitimer(signal.ITIMER_VIRTUAL, 0 if free else SECONDS)
    wrong = ""
    try:
        form.read(folder)
    except LawError:
        wrong = traceback.format_exc()
    except CyclescopeError as error:
        said = str(error)
        if len(said) >= 10_000:
            wrong = f"a message of {len(said):,} characters: {said[:99]}"
    except HangError:
        wrong = f"took more than {SECONDS} s\n" + traceback.format_exc()
    except BaseException:  # noqa: BLE001 - a panic of Rust is no Exception
        wrong = traceback.format_exc()
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    took = largest() - before
    return wrong or (f"took {took >> 20:,} MB" if took > MEMORY else "")


def largest() -> int:
    """Bytes of memory that this process had at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


def resident() -> int:
    """Bytes of memory that this process has."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


@dataclass
class Figures:
    """Of one format, over all runs.

    Attributes:
        inputs: tried.
        seconds: of processor time, also of what readers start.
        slowest: seconds of the slowest input.
        peak: memory of a process in MB.
        reached: edges, or lines, in the run that reached most.
    """

    inputs: int = 0
    seconds: float = 0.0
    slowest: float = 0.0
    peak: int = 0
    reached: int = 0

    def add(self, inputs: int, seconds: float, slowest: float, peak: int, reached: int) -> None:
        """Count one slice."""
        self.inputs += inputs
        self.seconds += seconds
        self.slowest = max(self.slowest, slowest)
        self.peak = max(self.peak, peak)
        self.reached = max(self.reached, reached)


@dataclass
class State:
    """A folder in which runs go on."""

    folder: Path
    formats: dict[str, Figures] = field(default_factory=dict)
    runs: list[dict[str, object]] = field(default_factory=list)

    @classmethod
    def read(cls, folder: Path) -> State:
        """The inputs that earlier runs left."""
        folder.mkdir(parents=True, exist_ok=True)
        state = cls(folder)
        with suppress(FileNotFoundError):
            found = json.loads((folder / "figures.json").read_text())
            state.formats = {name: Figures(**row) for name, row in found["formats"].items()}
            state.runs = found["runs"]
        return state

    def write(self) -> None:
        """Leave it to later runs."""
        formats = {name: asdict(row) for name, row in self.formats.items()}
        draft = self.folder / "figures.draft"
        draft.write_text(json.dumps({"formats": formats, "runs": self.runs}, indent=1))
        draft.replace(self.folder / "figures.json")

    def findings(self, name: str) -> list[Path]:
        """Of a format, each a folder."""
        return sorted((self.folder / "findings" / name).glob("*"))

    def print(self) -> int:
        """All figures; gives how many findings are open."""
        print(f"{'format':12} {'inputs':>9} {'CPU min':>8} {'reached':>8} {'slowest s':>10}"
              f" {'peak MB':>8}  findings")  # fmt: skip
        found = 0
        for name, row in self.formats.items():
            own = len(self.findings(name))
            found += own
            print(f"{name:12} {row.inputs:9,} {row.seconds / 60:8.1f} {row.reached:8,}"
                  f" {row.slowest:10.2f} {row.peak:8,}  {own}")  # fmt: skip
        total = sum(row.seconds for row in self.formats.values())
        inputs = sum(row.inputs for row in self.formats.values())
        print(f"{'all':12} {inputs:9,} {total / 60:8.1f} in {len(self.runs)} runs,"
              f" seeds {', '.join(str(run['seed']) for run in self.runs)}")  # fmt: skip
        return found


class Worker:
    """Tries inputs of one format; in a process that may crash."""

    def __init__(self, name: str, state: State, seed: int) -> None:
        self.name, self.state = name, state
        self.form = FORMATS[name]
        self.rng = random.Random(seed)  # noqa: S311
        self.seed = seed
        self.place = state.folder / "tried" / name
        self.kept = state.folder / "corpus" / name
        for folder in (self.place, self.kept):
            folder.mkdir(parents=True, exist_ok=True)
        self.done, self.slowest, self.reached = 0, 0.0, 0
        self.progress = os.open(state.folder / f"progress.{name}", os.O_RDWR | os.O_CREAT)

    def limit(self) -> None:
        """Limit what the process may take, and set where it prints."""
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY + (6 << 30), MEMORY + (6 << 30)))
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1):
            os.dup2(nothing, stream)
        log = self.state.folder / f"log.{self.name}"
        os.dup2(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND), 2)

    def one(self, data: bytes, lines: Lines | None = None) -> None:
        """Try one input."""
        started = time.process_time()
        if lines is None:
            wrong = attempt(self.form, data, self.place)
        else:
            with lines:
                wrong = attempt(self.form, data, self.place)
        self.slowest = max(self.slowest, time.process_time() - started)
        if wrong:
            report(self.state.folder, self.name, data, wrong)
        self.done += 1
        os.pwrite(self.progress, b"%12d %12.3f %12d" % (self.done, self.slowest, self.reached), 0)
        if largest() > MEMORY:
            os._exit(0)  # the peak would be that of all that follow

    def guided(self, seconds: float) -> None:
        """With libFuzzer, which chooses by the code that inputs reach; does not return."""
        import atheris

        # What is imported from here on counts what it runs.
        with atheris.instrument_imports(include=["cyclescope"]):
            for data in seeds(self.name)[:8]:
                attempt(self.form, data, self.place, free=True)
        given = self.state.folder / "seeds" / self.name
        given.mkdir(parents=True, exist_ok=True)
        pool = seeds(self.name)
        for data in pool:
            (given / hashlib.sha256(data).hexdigest()[:12]).write_bytes(data)

        def mutate(data: bytes, most: int, seed: int) -> bytes:
            rng = random.Random(seed)  # noqa: S311
            if rng.randrange(3) == 0:
                return bytes(atheris.Mutate(data, most))
            return changed(data, pool, rng)[:most]

        end = used_time() + seconds

        def try_one(data: bytes) -> None:
            # What is worth keeping was written when it was found. Under atheris memory
            # grows where readers start threads, without it it does not: the next slice begins anew.
            if used_time() > end or resident() > MEMORY // 2:
                os._exit(0)
            self.one(data)

        atheris.Setup(
            [
                "fuzz",
                f"-seed={self.seed % (1 << 32) or 1}",
                f"-max_len={LARGEST}",
                "-timeout=100000",  # ours is of processor time
                "-rss_limit_mb=0",
                "-len_control=0",
                f"-artifact_prefix={self.place}/",
                str(self.kept),
                str(given),
            ],
            try_one,
            custom_mutator=mutate,
        )
        atheris.Fuzz()

    def plain(self, seconds: float) -> None:
        """With lines counted now and then."""
        pool = seeds(self.name) + [path.read_bytes() for path in sorted(self.kept.iterdir())]
        lines, begun = Lines(), used_time()
        while used_time() - begun < seconds:
            data = changed(self.rng.choice(pool), pool, self.rng)
            if self.done % 8:
                self.one(data)
                continue
            before = len(lines.seen)
            self.one(data, lines)
            self.reached = len(lines.seen)
            if self.done > 1 and self.reached > before:
                (self.kept / hashlib.sha256(data).hexdigest()[:16]).write_bytes(data)
                pool.append(data)


def report(folder: Path, name: str, data: bytes, wrong: str) -> None:
    """Keep a finding, once for each place."""
    lines = [line for line in wrong.splitlines() if line.startswith("  File") or "took" in line]
    where = hashlib.sha256("\n".join(lines[-3:] or [wrong]).encode()).hexdigest()[:8]
    target = folder / "findings" / name / where
    target.mkdir(parents=True, exist_ok=True)
    known = target / "input"
    if not known.exists() or len(data) < known.stat().st_size:
        known.write_bytes(data)
        (target / "why.txt").write_text(wrong)


def watch(child: int, worker: Worker, until: float) -> bool | None:
    """Wait for a worker's end; whether it was ended because it hangs, or because time is up."""
    # Native code does not see our timer.
    watched = os.pidfd_open(child)
    last, since = b"", 0.0
    try:
        while not select.select([watched], [], [], 2.0)[0]:
            fields = Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()
            used = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
            now = os.pread(worker.progress, 100, 0)
            if now != last:
                last, since = now, used
            hangs = int(last.split()[0]) > 0 and used - since > PATIENCE
            if hangs or time.monotonic() > until:
                os.kill(child, signal.SIGKILL)
                return hangs
    finally:
        os.close(watched)
    return None


def one(name: str, state: State, seed: int, seconds: float, until: float, *, guided: bool) -> None:
    """A slice of one format: seconds of the processor, but no longer than to a time."""
    worker = Worker(name, state, seed)
    os.pwrite(worker.progress, b"%12d %12.3f %12d" % (0, 0, 0), 0)
    us, child = os.getpid(), os.fork()
    if child == 0:
        try:
            end_with(us)
            # A terminal interrupts both: it is no finding, and we are ended below.
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            worker.limit()
            (worker.guided if guided else worker.plain)(seconds)
        except BaseException:  # noqa: BLE001 - the parent must not go on as if all were well
            report(state.folder, name, b"", traceback.format_exc())
        finally:
            os._exit(0)
    try:
        hangs = watch(child, worker, until)
    except BaseException:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        raise
    _, status, used = os.wait4(child, 0)
    text = os.pread(worker.progress, 100, 0).split()
    os.close(worker.progress)
    done, slowest, reached = int(text[0]), float(text[1]), int(text[2])
    if guided:
        log = (state.folder / f"log.{name}").read_text(errors="replace")
        reached = max((int(n) for n in re.findall(r" cov: (\d+)", log)), default=0)
    if os.WIFSIGNALED(status) and hangs is not False:
        files = [worker.place / file for file in FORMATS[name].files]
        data = MARK.join(file.read_bytes() if file.exists() else b"" for file in files)
        why = f"killed by signal {os.WTERMSIG(status)}"
        report(state.folder, name, data, f"took more than {PATIENCE} s, natively" if hangs else why)
    elif guided and hangs is None and os.waitstatus_to_exitcode(status):
        log = (state.folder / f"log.{name}").read_text(errors="replace")
        report(state.folder, name, b"", f"libFuzzer ended with {status}\n{log[-3000:]}")
    figures = state.formats.setdefault(name, Figures())
    figures.add(done, used.ru_utime + used.ru_stime, slowest, used.ru_maxrss >> 10, reached)


def keep(state: State, most: int = 40, largest: int = 4000) -> None:
    """Copy the smallest inputs kept to the project, so that each test run reads them."""
    for name in FORMATS:
        found = [path.read_bytes() for path in (state.folder / "corpus" / name).glob("*")]
        small = sorted((data for data in found if 0 < len(data) <= largest), key=len)
        target = KEPT / name
        # Spread over all sizes: small ones reach little.
        step = max(1, len(small) // most)
        for data in small[::step][:most]:
            target.mkdir(parents=True, exist_ok=True)
            (target / hashlib.sha256(data).hexdigest()[:12]).write_bytes(data)


def main() -> int:
    """Fuzz all formats, as long each; gives 1 if there are findings."""
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--only", default=",".join(FORMATS))
    parser.add_argument("--folder", type=Path, default=home / "cyclescope-fuzz")
    parser.add_argument("--plain", action="store_true", help="no libFuzzer, even if it is there")
    parser.add_argument("--report", action="store_true", help="print the figures of all runs")
    parser.add_argument("--keep", action="store_true", help="copy small inputs to the project")
    asked = parser.parse_args()
    state = State.read(asked.folder)
    if asked.keep:
        keep(state)
        return 0
    if asked.report:
        return 1 if state.print() else 0
    seed = asked.seed if asked.seed is not None else random.SystemRandom().randrange(10**9)
    guided = not asked.plain and importlib.util.find_spec("atheris") is not None
    how = "guided by atheris" if guided else "plain mutation; atheris (group fuzz) would guide it"
    print(f"seed {seed}; {how}; {asked.folder}", flush=True)
    names = asked.only.split(",")
    end, turn = time.monotonic() + asked.minutes * 60, 0
    span = max(5.0, min(SLICE, asked.minutes * 60 / len(names)))
    state.runs.append({"seed": seed, "minutes": 0.0, "guided": guided})
    begun = time.monotonic()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        while time.monotonic() < end:
            # Whichever had the least so far: short runs get round, too.
            name = min(names, key=lambda n: state.formats.get(n, Figures()).seconds)
            one(name, state, seed + turn, span, end, guided=guided)
            turn += 1
            state.runs[-1]["minutes"] = round((time.monotonic() - begun) / 60, 1)
            state.write()
    except KeyboardInterrupt:
        print("interrupted; the next run goes on from here", file=sys.stderr)
    shutil.rmtree(asked.folder / "tried", ignore_errors=True)
    return 1 if state.print() else 0


if __name__ == "__main__":
    sys.exit(main())
