"""Signals at random times over every verb: `python tests/security/signals.py [COUNT] [SEED]`.

Each run of a verb, every fifth a program of its own and the others copies of this process in which
all is loaded, gets SIGINT, SIGTERM, SIGHUP, SIGPIPE or SIGKILL at a random time up to that of a
whole run. Then nothing that it started may still run after three seconds, every file must be the
whole one of an undisturbed run or, of a measurement that was stopped, a profile that says so; sets
of files are there together or not at all; the temporary folder is empty, or after SIGKILL once the
next run has looked; and what it said is one line. Every tenth time, and at the end for each verb,
the same is run undisturbed and must give what it always gives. Exits with 1 if anything was wrong.
"""

from __future__ import annotations

import ctypes
import hashlib
import importlib
import os
import random
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from cyclescope.cli import COMMANDS
from cyclescope.errors import CyclescopeError
from cyclescope.model import load

ROOT = Path(__file__).resolve().parents[2]
STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE, signal.SIGKILL)
HARD = 1.7  # seconds from SIGTERM to the end that needs no interpreter, or a little less
GRACE = 3.0  # seconds in which a guard ends what is left
_SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER (linux/prctl.h)

# IN: the folder with inputs. What it makes is in the folder in which it runs.
VERBS: dict[str, str] = {
    "calyx": "calyx IN/p.futil -o o.cyc",
    "calyx long": "calyx IN/long.futil -o o.cyc --cycle-limit 3000000",
    "bounds": "bounds IN/k.c -o o.cyc --vcd o.vcd --network o.svg",
    "hls": "hls IN/h.c -o o.cyc --threads 2",
    "import vcd": "import vcd IN/w.vcd --signals m.b -o o.cyc",
    "import paraver": "import paraver IN/t.prv -o o.cyc",
    "report": "report IN/p.cyc -o o.html",
    "summary": "summary IN/p.cyc",
    "table": "table IN/p.cyc groups -o o.csv",
    "source": "source IN/p.cyc",
    "flamegraph": "flamegraph IN/p.cyc -o o.svg",
    "timeline": "timeline IN/p.cyc -o o.pftrace",
    "export": "export IN/p.cyc --format paraver -o o.prv",
    "diff": "diff IN/p.cyc IN/q.cyc --format html -o o.html",
    "check": "check IN/p.cyc --budget cycles<=100000 --json o.json --junit o.xml",
    "advise": "advise IN/p.cyc",
    "ladder": "ladder IN/k.cyc",
    "query": "query IN/p.cyc SELECT(1) --format csv -o o.csv",
    "sweep": "sweep IN/s.toml -o o.sweep --workers 1",
    "cache": "cache info",
}
# What belongs together.
SETS = {"bounds": ({"o.cyc", "o.unbounded.cyc"},), "export": ({"o.prv", "o.pcf", "o.row"},)}
MEASURES = ("calyx", "calyx long", "hls", "bounds")

PROGRAM = """import "primitives/core.futil";
component main() -> () {
  cells { r = std_reg(8); a = std_add(8); l = std_lt(8); }
  wires {
    group up { a.left = r.out; a.right = 8'd1; r.in = a.out; r.write_en = 1'd1; up[done] = r.done; }
    comb group less { l.left = r.out; l.right = 8'd9; }
  }
  control { while l.out with less { up; } }
}
"""
LONG = PROGRAM.replace("8'd9", "8'd255").replace("8'd1;", "8'd0;")
KERNEL = "void k(int a[64]) { for (int i = 1; i < 64; i++) a[i] = a[i - 1] + a[i]; }\n"
HOST = """#include <stdio.h>
int main(void) {
  int a[32], s = 0;
  for (int i = 0; i < 32; i++) a[i] = i;
#pragma omp target parallel for map(tofrom: a[0:32])
  for (int i = 0; i < 32; i++) a[i] = a[i] * 3;
  for (int i = 0; i < 32; i++) s += a[i];
  printf("%d\\n", s);
}
"""
WAVE = (
    "$timescale 1ns $end\n$scope module m $end\n$var wire 4 # b [3:0] $end\n$upscope $end\n"
    "$enddefinitions $end\n#0\nb0 #\n"
    + "".join(f"#{5 * n}\nb{n % 16:b} #\n" for n in range(1, 999))
)
TRACE = "#Paraver (01/01/2026 at 00:00):100:1(1):1:1(1:1)\n1:1:1:1:1:0:40:1\n1:1:1:1:1:40:100:2\n"
STUDY = '[study]\ncommand = "calyx"\ninput = "p.futil"\n[space]\npass = ["all", "none"]\n'


@dataclass
class Verb:
    """One command line.

    Attributes:
        name: of it.
        seconds: that it takes undisturbed.
        short: the same in a copy.
        status: with which it ends then.
        made: name of a file → its digest.
    """

    name: str
    seconds: float = 0.0
    short: float = 0.0
    status: int = 0
    made: dict[str, str] = field(default_factory=dict)


@dataclass
class Tally:
    """The outcome of all runs.

    Attributes:
        runs: of each verb.
        ends: signals and exit statuses.
        wrong: a sentence for each failure.
        slowest: end after each signal that asks for it, in seconds of the clock.
        starting: interrupts that came before Python had come to a line of ours.
        hard: ends by the clock, 1.8 seconds after SIGTERM.
    """

    runs: Counter[str] = field(default_factory=Counter)
    ends: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    slowest: dict[str, float] = field(default_factory=dict)
    starting: int = 0
    hard: int = 0


class Copy:
    """A verb that runs in a copy of this process: it need not load anything. As `Popen`."""

    def __init__(self, words: list[str], place: Path, environment: dict[str, str]) -> None:
        preload()
        self.returncode: int | None = None
        self._said = tempfile.TemporaryFile()  # noqa: SIM115 - closed at the end
        # Until it is what a program is when it begins.
        signal.pthread_sigmask(signal.SIG_BLOCK, STOPS)
        self.pid = os.fork()
        if self.pid:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, STOPS)
        else:
            status = 99
            try:
                status = self._run(words, place, environment)
            except BaseException:  # noqa: BLE001 - as the interpreter does
                traceback.print_exc()
            finally:
                with suppress(OSError, ValueError):
                    sys.stderr.flush()
                os._exit(status)

    def _run(self, words: list[str], place: Path, environment: dict[str, str]) -> int:
        from cyclescope.__main__ import main

        signal.signal(signal.SIGPIPE, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # as `cyclescope` leaves it
        os.chdir(place)
        os.environ.clear()
        os.environ.update(environment)
        tempfile.tempdir = None
        nothing = os.open(os.devnull, os.O_RDWR)
        for number, stream in enumerate((nothing, nothing, self._said.fileno())):
            os.dup2(stream, number)
        sys.stdout = sys.__stdout__ = os.fdopen(1, "w")  # type: ignore[misc]
        sys.stderr = sys.__stderr__ = os.fdopen(2, "w")  # type: ignore[misc]
        sys.argv = ["cyclescope", *words]
        signal.pthread_sigmask(signal.SIG_UNBLOCK, STOPS)
        status = main()
        sys.stdout.flush()
        return status

    def send_signal(self, number: signal.Signals) -> None:
        if self.returncode is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        watched = os.pidfd_open(self.pid)
        ended = select.select([watched], [], [], timeout)[0]
        os.close(watched)
        if not ended:
            raise subprocess.TimeoutExpired("a copy", timeout or 0)
        if self.returncode is None:
            self.returncode = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        self._said.seek(0)
        return "", self._said.read().decode(errors="replace")

    def __enter__(self) -> Copy:
        return self

    def __exit__(self, *_: object) -> None:
        self._said.close()


Started = subprocess.Popen[str] | Copy


@cache
def preload() -> None:
    """Load what verbs use; not Polars, whose threads do not survive a copy."""
    for name in ("analyse", "bounds", "calyx", "hls", "model", "sim", "studies", "traces", "views"):
        importlib.import_module(f"cyclescope.{name}")
    for verb in COMMANDS:
        importlib.import_module(f"cyclescope.cli._{verb}")
    for name in ("hls.run._host", "views._report", "views._flamegraph", "views._timeline"):
        importlib.import_module(f"cyclescope.{name}")


class Bench:
    """A folder with inputs, and a temporary folder that is watched."""

    def __init__(self, folder: Path) -> None:
        self.inputs, self.temporary = folder / "in", folder / "tmp"
        self.place = folder / "out"
        for new in (self.inputs, self.temporary, self.place):
            new.mkdir()
        self.environment = {
            **os.environ,
            "TMPDIR": str(self.temporary),
            "PYTHONUNBUFFERED": "1",
        }
        # What loses its parent comes to us.
        ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
        texts = {"p.futil": PROGRAM, "long.futil": LONG, "k.c": KERNEL, "h.c": HOST, "w.vcd": WAVE}
        for name, text in {**texts, "t.prv": TRACE, "s.toml": STUDY}.items():
            (self.inputs / name).write_text(text)
        for command in (
            "calyx IN/p.futil -o IN/p.cyc",
            "calyx IN/p.futil -o IN/q.cyc -p none -p compile",
            "bounds IN/k.c -o IN/k.cyc",
        ):
            self.start(command).communicate()
        if not (self.inputs / "q.cyc").exists():
            shutil.copy(self.inputs / "p.cyc", self.inputs / "q.cyc")

    def start(self, command: str, *, fresh: bool = True) -> Started:
        """Run a verb in an empty folder.

        Args:
            command: its words.
            fresh: in a program of its own; else in a copy of this process.
        """
        shutil.rmtree(self.place)
        self.place.mkdir()
        words = [word.replace("IN/", f"{self.inputs}/") for word in command.split()]
        words = [word.replace("SELECT(1)", "SELECT count(*) AS n FROM frames") for word in words]
        if not fresh:
            return Copy(words, self.place, self.environment)
        return subprocess.Popen(
            [sys.executable, "-m", "cyclescope", *words],
            cwd=self.place, env=self.environment, text=True, errors="replace",
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    def damaged(self, rng: random.Random) -> Path:
        """A copy of the inputs, each of which is cut somewhere."""
        folder = self.inputs.with_name("damaged")
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self.inputs, folder)
        for path in folder.iterdir():
            os.truncate(path, rng.randrange(path.stat().st_size))
        return folder

    def made(self) -> dict[str, str]:
        """Files that are there, and their digests."""
        return {
            str(path.relative_to(self.place)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(self.place.rglob("*"))
            if path.is_file()
        }

    def whole(self, verb: Verb, *, fresh: bool = True) -> str:
        """Run it undisturbed; gives what is wrong."""
        begun = time.monotonic()
        with self.start(VERBS[verb.name], fresh=fresh) as process:
            said = process.communicate()[1]
        took, found = time.monotonic() - begun, self.made()
        if not fresh:
            verb.short = took
        if not verb.seconds:
            verb.seconds, verb.status, verb.made = took, process.returncode, found
            return "" if process.returncode in (0, 5) else f"does not run: {said}"
        if process.returncode != verb.status:
            return f"the next run ends with {process.returncode}: {said.strip()}"
        # A sweep's table has the seconds that its runs took.
        if verb.name != "sweep" and found != verb.made:
            return f"the next run makes {found}, not {verb.made}"
        return ""

    def orphans(self) -> list[str]:
        """End what still runs, and name it."""
        until = time.monotonic() + GRACE
        while time.monotonic() < until:
            try:
                if os.waitpid(-1, os.WNOHANG)[0] == 0:
                    time.sleep(0.02)
            except ChildProcessError:
                return []
        listed = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
        found = []
        for number in map(int, listed):
            with suppress(OSError):
                found.append(Path(f"/proc/{number}/cmdline").read_text().replace("\0", " "))
                os.kill(number, signal.SIGKILL)
                os.waitpid(number, 0)
        return found

    def partial(self, verb: Verb) -> list[str]:
        """Files that are neither whole nor say that they are a part."""
        wrong = []
        found = self.made()
        for name, digest in found.items():
            path = self.place / name
            if digest == verb.made.get(name):
                continue
            if verb.name == "sweep" and (path.name.endswith(".json") or path.suffix == ".parquet"):
                continue  # seconds are in them
            stopped = False
            if path.suffix == ".cyc" and verb.name in MEASURES:
                with suppress(CyclescopeError):
                    stopped = not load(path).meta.complete
            if not stopped:
                wrong.append(name)
        return wrong + [
            f"only {', '.join(group & found.keys())}"
            for group in SETS.get(verb.name, ())
            if group & found.keys() and not group <= found.keys()
        ]

    def stop(
        self, verb: Verb, number: signal.Signals, part: float, tally: Tally, *, fresh: bool
    ) -> None:
        """Run a verb, disturb it after a part of its time, look."""
        after = part * (verb.seconds if fresh else verb.short)
        before = {path.name for path in self.temporary.iterdir()}
        process = self.start(VERBS[verb.name], fresh=fresh)
        time.sleep(after)
        process.send_signal(number)
        sent = time.monotonic()
        try:
            said = process.communicate(timeout=60 + 3 * verb.seconds)[1]
        except subprocess.TimeoutExpired:
            process.kill()
            said = process.communicate()[1]
            tally.wrong.append(f"{verb.name}: goes on after {number.name}")
        took = time.monotonic() - sent
        if number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            tally.slowest[number.name] = max(tally.slowest.get(number.name, 0), took)
        tally.ends[f"{number.name} {process.returncode}"] += 1
        what = f"{verb.name}, {number.name} after {after:.2f} s"
        complaints = [f"orphan: {one}" for one in self.orphans()]
        complaints += [f"partial: {one}" for one in self.partial(verb)]
        if number == signal.SIGINT and _is_interpreter_starting(said):
            tally.starting += 1
            said, process.returncode = "", 130
        if "Traceback" in said or "Exception ignored" in said or said.count("\n") > 2:
            complaints.append(f"said: {said}")
        # An interrupt while a module is being made of text ends the interpreter by SIGINT.
        as_it_should = {verb.status, 0, 5, 130, -number, -signal.SIGINT}
        if process.returncode not in as_it_should:
            complaints.append(f"status {process.returncode}: {said}")
        # Ended by the clock, it could not clean up: as after SIGKILL, the next run does.
        hard = number == signal.SIGTERM and took >= HARD
        tally.hard += hard
        if process.returncode >= 0 and not hard:
            now = {path.name for path in self.temporary.iterdir()}
            complaints += [f"left: {name}" for name in now - before]
        tally.wrong += [f"{what}: {one}" for one in complaints]
        if isinstance(process, Copy):
            process.__exit__()


def _is_interpreter_starting(said: str) -> bool:
    """Return whether Python was interrupted before it came to a line of ours."""
    return (
        "KeyboardInterrupt" in said
        and "cyclescope" not in said
        and ("Could not import runpy" in said or "<frozen " in said or "site.py" in said)
    )


def disturb(count: int, seed: int, verbs: list[str] | None = None) -> Tally:
    """So many signals.

    Args:
        count: of signals.
        seed: of the times and of the order.
        verbs: their names; all if not given.
    """
    rng = random.Random(seed)
    tally = Tally()
    with tempfile.TemporaryDirectory(prefix="signals-") as name:
        bench = Bench(Path(name))
        known = [Verb(one) for one in verbs or VERBS]
        for verb in known:
            for _ in range(2 if verb.name in MEASURES else 1):  # the first fills the cache
                verb.seconds = 0.0
                if wrong := bench.whole(verb):
                    raise SystemExit(f"{verb.name}: {wrong}")
            if wrong := bench.whole(verb, fresh=False):
                raise SystemExit(f"{verb.name}: {wrong}")
        try:
            for turn in range(count):
                verb = known[turn % len(known)]
                number = rng.choice(STOPS)
                bench.stop(verb, number, rng.uniform(0, 1.05), tally, fresh=turn % 5 == 0)
                tally.runs[verb.name] += 1
                if turn % 10 == 9 and (wrong := bench.whole(verb, fresh=False)):
                    tally.wrong.append(f"{verb.name}: {wrong}")
                if turn % 50 == 49:
                    print(f"{turn + 1:6,} signals, {len(tally.wrong)} wrong", flush=True)
        except KeyboardInterrupt:
            print("interrupted; this is what was seen", flush=True)
        time.sleep(5.5)  # folders are left alone that might just be being made
        for verb in known:
            if wrong := bench.whole(verb):
                tally.wrong.append(f"{verb.name}: {wrong}")
        tally.wrong += [f"left at the end: {path.name}" for path in bench.temporary.iterdir()]
    return tally


def main() -> int:
    """Say what happened."""
    # Whoever starts this in the background may have it ignore them, and so would what it starts.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.SystemRandom().randrange(10**6)
    print(f"seed {seed}", flush=True)
    tally = disturb(count, seed)
    print(f"{tally.runs.total():,} signals over {len(tally.runs)} verbs:"
          f" {', '.join(f'{name} {n}' for name, n in sorted(tally.runs.items()))}")  # fmt: skip
    print("signal and status:", ", ".join(f"{end}: {n}" for end, n in sorted(tally.ends.items())))
    print(f"interrupted before Python had come to a line of ours: {tally.starting};"
          f" ended by the clock, since the machine was busy: {tally.hard}")  # fmt: skip
    print("slowest end:", ", ".join(f"{name} {s:.2f} s" for name, s in tally.slowest.items()))
    print(f"wrong: {len(tally.wrong)}")
    for one in tally.wrong:
        print(f"  {one}")
    return 1 if tally.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
