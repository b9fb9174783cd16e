"""Programs of others through `cyclescope hls`, with gcc as the judge.

`python tests/hls/corpus.py FOLDER … [--seed N] [--take 45] [-I FOLDER] [--prepare parallel|main]
[--only-compile]`. Draws C programs of the folders by a seed, those with one target region or, with
`--prepare`, those to which one is given: around each outermost `parallel` (else any construct of
OpenMP), or around the statements of `main`. A prepared program is changed in nothing else. gcc
compiles the *unmodified* program and runs it on the host; `cyclescope hls` runs each region of the
prepared one as hardware; what both print must be equal, but for the order of lines, and for the
rounding of real numbers where the tool says that it is open. A program that prints something else
and whose native runs print other things from one to the next is `open`. A line a program, then the
numbers of each outcome, and the causes of refusals by how many programs each stops. A program that
gcc doesn't compile, or whose native run fails or is too long, is no test: the next one is drawn.

Programs of two files have the second one with `--link`.

With `--data-flow` the compiler's data-flow form is interpreted in the place of the hardware, which
is quicker for small programs; with `--only-compile` the regions are compiled only, for the refusals
alone.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import re
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

# Of a team whose size the text leaves open, as `hls` has it; on cores that others use, too.
_TEAM = {"OMP_NUM_THREADS": "8", "OMP_WAIT_POLICY": "passive"}
_HEAD = "#pragma omp target defaultmap(tofrom: scalar)\n"
_PRAGMA = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+omp[ \t]+((?:[^\n\\]|\\\n|\\.)*)", re.MULTILINE)
_ALONE = re.compile(
    r"barrier|taskwait|taskyield|flush|threadprivate|declare|end|requires|cancel|allocate|"
    r"ordered\s+depend|target\s+(data|enter|exit|update)"
)
_TARGET = re.compile(r"target\b(?!\s+(?:data|enter|exit|update)\b)")
_QUIET = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)
# What the tool says behind what the program prints: the summary's head, or the last line.
_CYCLES = re.compile(r"^(?:  [\d,]+ cycles  \S|\d+ threads, [\d,]+ cycles)", re.MULTILINE)
_ADDRESS = re.compile(r"\b0x[0-9a-f]{8,}")
_PLACE = re.compile(r"^[^ ]*?:\d+(?::\d+)?: ")
_REAL = re.compile(r"(-?\d+\.\d+(?:e[-+]\d+)?)")
_NATIVE_RUNS = 3
_DEVICE = re.compile(r"on the (host|device)")


class Outcome(StrEnum):
    """The end of a program."""

    EQUAL = "equal"
    RACE = "race"
    OPEN = "open"
    DIFFERENT = "different"
    REFUSED = "refused"
    LATE = "too long"
    BROKEN = "fails"
    NO_TEST = "no test"


@dataclass(frozen=True)
class Result:
    """A program's outcome, and why."""

    name: str
    outcome: Outcome
    why: str = ""


def blanked(text: str) -> str:
    """The text with comments and strings as blanks of the same length."""

    def blank(found: re.Match[str]) -> str:
        return re.sub(r"[^\n]", " ", found[0])

    return _QUIET.sub(blank, text)


def skip(text: str, at: int) -> int:
    """The place of the next token: behind blanks and lines of the preprocessor."""
    while True:
        found = re.compile(r"\s*(?:#(?:[^\n\\]|\\\n|\\.)*)?").match(text, at)
        assert found is not None
        if found.end() == at:
            return at
        at = found.end()


def bracketed(text: str, at: int) -> int:
    """The place behind the bracket that closes the one here."""
    depth = 0
    for place in range(at, len(text)):
        depth += (text[place] in "([{") - (text[place] in ")]}")
        if depth == 0:
            return place + 1
    return len(text)


def statement_end(text: str, at: int) -> int:
    """The place behind the statement that begins here, of blanked text."""
    at = skip(text, at)
    if text[at : at + 1] == "{":
        return bracketed(text, at)
    word = re.compile(r"(for|while|if|switch|do|else)\b").match(text, at)
    if word is None:
        depth = 0
        for place in range(at, len(text)):
            depth += (text[place] in "([{") - (text[place] in ")]}")
            if depth == 0 and text[place] == ";":
                return place + 1
        return len(text)
    at = skip(text, word.end())
    if word[1] == "do":
        return text.find(";", statement_end(text, at)) + 1
    if word[1] != "else":
        at = bracketed(text, at)
    at = statement_end(text, at)
    after = skip(text, at)
    if word[1] == "if" and re.compile(r"else\b").match(text, after):
        return statement_end(text, after)
    return at


def around_parallel(text: str) -> str:
    """A target region around each outermost construct, those with threads if there are any."""
    plain = blanked(text)
    if any(_TARGET.match(p[1]) for p in _PRAGMA.finditer(plain)):
        return text
    for words in (r"parallel|teams", r"\w"):
        places, end = [], 0
        for pragma in _PRAGMA.finditer(plain):
            if pragma.start() < end or _ALONE.match(pragma[1]) or not re.match(words, pragma[1]):
                continue
            places.append(pragma.start())
            end = statement_end(plain, pragma.end())
        if places:
            break
    for place in reversed(places):
        text = text[:place] + _HEAD + text[place:]
    return text


def around_main(text: str) -> str:
    """A target region around what `main` does before it prints its result."""
    plain = blanked(text)
    found = re.search(r"\bmain\s*\([^)]*\)\s*\{", plain)
    if found is None:
        return text
    end = bracketed(plain, found.end() - 1) - 1
    at = skip(plain, found.end())
    while re.compile(r"(?:const |static |unsigned |signed )*\w+\s+\**\w+[^;()]*;").match(plain, at):
        at = skip(plain, plain.find(";", at) + 1)
    inside = re.compile(r"while\s*\(1\)\s*\{").match(plain, at)
    if inside is not None:
        end, at = bracketed(plain, inside.end() - 1) - 1, skip(plain, inside.end())
        while re.compile(r"\w+\s+\w+;").match(plain, at):
            at = skip(plain, plain.find(";", at) + 1)
    last = at
    while last < end and not re.compile(r"(printf|return)\b").match(plain, skip(plain, last)):
        last = statement_end(plain, last)
    return f"{text[:at]}\n{_HEAD}{{\n{text[at:last]}\n}}\n{text[last:]}"


PREPARE = {"": str, "parallel": around_parallel, "main": around_main}


def regions(text: str) -> list[int]:
    """The lines of the target regions."""
    plain = blanked(text)
    found = [p for p in _PRAGMA.finditer(plain) if _TARGET.match(p[1])]
    return [plain.count("\n", 0, p.start(1)) + 1 for p in found]


def cause(message: str) -> str:
    """A message without its place and with names left open."""
    lines = [x for x in message.splitlines() if not x.startswith("warning: ")]
    line = (lines or [""])[-1].removeprefix("error: ")
    return _PLACE.sub("", line)


class Corpus:
    """The programs of some folders, and how each is run."""

    def __init__(self, options: argparse.Namespace, folder: Path) -> None:
        self.options = options
        self.folder = folder

    def programs(self) -> list[Path]:
        """Those that can be drawn, in the order of their names."""
        found = []
        for file in sorted(f for root in self.options.folders for f in Path(root).rglob("*.c")):
            text = file.read_text(encoding="utf-8", errors="surrogateescape")
            if not re.search(r"\bmain\s*\(", blanked(text)):
                continue
            count = len(regions(PREPARE[self.options.prepare](text)))
            if count == 1 or (count and self.options.prepare):
                found.append(file)
        return found

    def run(self, source: Path) -> Result:
        """One program, natively and as hardware."""
        text = source.read_text(encoding="utf-8", errors="surrogateescape")
        own = Path(tempfile.mkdtemp(dir=self.folder))
        name = str(source.relative_to(self.common))
        include = [f"-I{p}" for p in (source.parent.resolve(), *self.options.include)]
        defines = [f"-D{d}" for d in self.options.define]
        linked = self.options.link
        binary = own / "native"
        command = ["gcc", "-std=gnu11", "-O1", "-fopenmp", "-foffload=disable", "-w"]
        built = subprocess.run(
            [*command, *include, *defines, str(source), *linked, "-o", str(binary), "-lm"],
            capture_output=True, text=True, errors="replace",
        )  # fmt: skip
        if built.returncode:
            return Result(name, Outcome.NO_TEST, f"gcc: {built.stderr.strip()[:100]!r}")
        try:
            native = self._native(binary, own)
        except subprocess.TimeoutExpired:
            return Result(name, Outcome.NO_TEST, "the native run is too long")
        if native.returncode < 0:
            return Result(name, Outcome.NO_TEST, f"native run: signal {-native.returncode}")
        prepared = PREPARE[self.options.prepare](text)
        file = own / source.name
        file.write_text(prepared, encoding="utf-8", errors="surrogateescape")
        worst = Result(name, Outcome.EQUAL)
        expected = _lines(native.stdout.decode(errors="replace"))
        order = list(Outcome)
        lines = regions(prepared)
        for line in lines:
            region = ["--region", str(line)] if len(lines) > 1 else []
            files = [f"--link={path}" for path in linked]
            flags = [*include, *defines, *files, *region]
            result = self._hardware(name, file, flags, native.stdout)
            if result.outcome is Outcome.DIFFERENT:  # no race that the tool has told
                others = [self._native(binary, own).stdout for _ in range(_NATIVE_RUNS)]
                if any(_lines(o.decode(errors="replace")) != expected for o in others):
                    result = replace(result, outcome=Outcome.OPEN, why="no two native runs agree")
            if order.index(result.outcome) > order.index(worst.outcome):
                worst = result
        return worst

    def _native(self, binary: Path, folder: Path) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [str(binary)], capture_output=True, timeout=60, cwd=folder, env=_TEAM | os.environ
        )

    def _hardware(self, name: str, file: Path, flags: list[str], expected: bytes) -> Result:
        command = [self.options.cyclescope, "hls", str(file), *flags]
        if self.options.data_flow:
            command = [sys.executable, __file__, "--interpret", str(file), *flags]
        command += ["--explain"] if self.options.only_compile else []
        try:
            done = subprocess.run(
                command, capture_output=True, timeout=self.options.seconds, cwd=file.parent
            )
        except subprocess.TimeoutExpired:
            return Result(name, Outcome.LATE)
        said = done.stderr.decode(errors="replace")
        if done.returncode == 0 and self.options.only_compile:
            return Result(name, Outcome.EQUAL)
        out = done.stdout.decode(errors="replace")
        races = "data race:" in said or "differ from run to run" in out
        own = _CYCLES.split(out)[0]
        wanted = expected.decode(errors="replace")
        if done.returncode == 0 and _lines(own) == _lines(wanted):
            return Result(name, Outcome.EQUAL)
        if done.returncode == 0 and "to rounding" in out and _close(own, wanted):
            return Result(name, Outcome.EQUAL)
        if done.returncode == 0 or "hardware and native run" in said:
            why = cause(said) if done.returncode else "what is printed"
            return Result(name, Outcome.RACE if races else Outcome.DIFFERENT, why)
        if races:
            return Result(name, Outcome.RACE, cause(said))
        broken = "Traceback" in said or done.returncode < 0 or "please report" in said
        return Result(name, Outcome.BROKEN if broken else Outcome.REFUSED, cause(said))

    @property
    def common(self) -> Path:
        """The folder that names begin in."""
        return Path(self.options.folders[0]).parent


def _close(text: str, wanted: str) -> bool:
    """Return whether two texts are equal but for the rounding of their real numbers."""
    first, second = (_REAL.split(one) for one in (text, wanted))
    if len(first) != len(second):
        return False
    for place, (a, b) in enumerate(zip(first, second, strict=True)):
        equal = a == b if place % 2 == 0 else math.isclose(float(a), float(b), rel_tol=2**-16)
        if not equal:
            return False
    return True


def _lines(text: str) -> list[str]:
    """Lines in order, as that of two threads' lines is open.

    Aside are where the program ran, which the host and hardware say each its way, and addresses,
    which no two runs have in common.
    """
    return sorted(_ADDRESS.sub("0x", _DEVICE.sub("there", text)).splitlines())


def interpreted(words: list[str]) -> int:
    """One region through the data-flow form; prints and ends as `cyclescope hls` does."""
    from cyclescope.errors import CyclescopeError, RunError
    from cyclescope.hls import TIMES, Host, OverlapError, Reach, compile_c, differences, interpret
    from cyclescope.hls.run._compare import is_rounding_open
    from cyclescope.hls.run._race_detector import find_race

    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("-I", dest="include", action="append", default=[])
    parser.add_argument("-D", dest="define", action="append", default=[])
    parser.add_argument("--region", type=int)
    parser.add_argument("--link", action="append", default=[])
    given = parser.parse_args(words)
    defines = {n: v or "1" for n, _, v in (d.partition("=") for d in given.define)}
    try:
        joined: tuple[tuple[str, ...], ...] = ()
        while True:
            program = compile_c(
                given.file,
                defines=defines,
                include=given.include,
                region=given.region,
                joined=joined,
                link=given.link,
            )
            host = Host(program)
            try:
                native = host.run(times=TIMES)
                break
            except OverlapError as error:
                host.close()
                if not error.joined:
                    raise
                joined = error.joined
        for warning in program.warnings:
            print(f"warning: {warning}", file=sys.stderr)
        with host:
            reaches: list[Reach] = []
            wrong: list[str] = []
            coming: Reach | None = native.reaches[0]
            while coming is not None:
                inputs = dict(coming.inputs)
                inputs |= {n: reaches[-1].outputs[n] for n in program.statics if reaches}
                try:
                    outputs = interpret(program.region, inputs, coming.scalars)
                except RunError as error:
                    race = find_race(program.region, inputs, coming.scalars)
                    raise RunError(f"{error}; {race}" if race else str(error)) from None
                reaches.append(replace(coming, outputs=outputs))
                for before in native.reaches[len(reaches) - 1 : len(reaches)]:
                    wrong += differences(program, before.outputs, outputs)
                resumed = host.resume(reaches, times=TIMES)
                coming, stdout = resumed.reach, resumed.stdout
    except CyclescopeError as error:
        print(error, file=sys.stderr)
        return 1
    sys.stdout.write(stdout.decode(errors="replace"))
    if stdout and not stdout.endswith(b"\n"):
        print()
    print(f"{program.region.threads} threads, 0 cycles")
    if is_rounding_open(program):
        print("results: to rounding")
    if wrong or stdout != native.stdout:
        races = (find_race(program.region, r.inputs, r.scalars) for r in reaches)
        print(next(filter(None, races), ""), file=sys.stderr)
    if wrong:
        print(f"hardware and native run differ: {wrong[0]}", file=sys.stderr)
    return bool(wrong)


def main() -> int:
    if sys.argv[1:2] == ["--interpret"]:
        return interpreted(sys.argv[2:])
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="+", metavar="FOLDER")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--take", type=int, default=0, help="programs; 0: all")
    parser.add_argument("--prepare", choices=sorted(PREPARE), default="")
    parser.add_argument("-I", dest="include", action="append", default=[])
    parser.add_argument("-D", dest="define", action="append", default=[])
    parser.add_argument("--link", action="append", default=[], help="another file of the programs")
    parser.add_argument("--name", default="", help="a part of the programs' names")
    parser.add_argument("--only-compile", action="store_true")
    parser.add_argument("--data-flow", action="store_true")
    parser.add_argument("--seconds", type=float, default=300, help="for each region")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--cyclescope", default=str(Path(sys.executable).parent / "cyclescope"))
    options = parser.parse_args()
    options.link = [str(Path(p).resolve()) for p in options.link]
    options.include = [str(Path(p).resolve()) for p in options.include]
    counts: Counter[Outcome] = Counter()
    causes: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(options.jobs) as pool:
        corpus = Corpus(options, Path(folder))
        drawn = [p for p in corpus.programs() if options.name in str(p)]
        random.Random(options.seed).shuffle(drawn)
        take = options.take or len(drawn)
        while drawn and counts.total() - counts[Outcome.NO_TEST] < take:
            count = take - (counts.total() - counts[Outcome.NO_TEST])
            batch, drawn = drawn[:count], drawn[count:]
            for result in pool.map(corpus.run, batch):
                counts[result.outcome] += 1
                if result.outcome not in (Outcome.NO_TEST, Outcome.EQUAL):
                    causes[f"{result.outcome}: {result.why}"] += 1
                print(f"{result.outcome:<10} {result.name}  {result.why}", flush=True)
    for why, count in causes.most_common():
        print(f"{count:4} {why}")
    total = counts.total() - counts[Outcome.NO_TEST]
    print(", ".join(f"{o} {n}" for o, n in counts.items()) + f"; of {total} tests")
    return 0


if __name__ == "__main__":
    sys.exit(main())
