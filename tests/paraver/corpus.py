"""Compare the import of recorded Paraver traces with two other readers' answers.

    python tests/paraver/corpus.py FOLDER… [--paramedir PROGRAM]

For each `.prv` and `.prv.gz` below the folders: the time of each thread in each state, as the
profile has it, is compared with the sum of the trace's state records, read here line by line with
nothing of the importer, and with the table of `paramedir`, Paraver's own reader, where there is
one. So are the numbers of messages and their bytes with those of the trace. A line for each trace,
the counts last; the exit code is 1 if any of them differs. `docs/corpora.md` says where such
traces are had from.
"""

from __future__ import annotations

import argparse
import gzip
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

from cyclescope.model import Kind, Profile, Severity, active_cycles, check_laws
from cyclescope.traces import import_paraver
from cyclescope.views import paraver_companions

if TYPE_CHECKING:
    from collections.abc import Iterator

_ENDINGS = (".prv", ".prv.gz")

Totals = dict[str, Counter[str]]
"""Thread (`1.2.1`) → state (its label, in small letters) → time in the trace's unit."""


@dataclass
class Sums:
    """The sums over the lines of a trace."""

    end: int
    totals: Totals
    records: int = 0
    sent: Counter[str] = field(default_factory=Counter)
    bytes: Counter[str] = field(default_factory=Counter)


def text_of(path: Path) -> Iterator[str]:
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as stream:
        yield from stream


def labels_of(path: Path) -> dict[int, str]:
    """The section STATES of the .pcf beside a trace."""
    labels, inside = {}, False
    names = path.with_name(path.name.removesuffix(".gz").removesuffix(".prv") + ".pcf")
    for line in names.read_text(errors="replace").splitlines() if names.exists() else ():
        if re.fullmatch(r"[A-Z_]+", line.strip()):
            inside = line.strip() == "STATES"
        elif inside and (found := re.fullmatch(r"(\d+)\s+(.*)", line.strip())):
            labels[int(found[1])] = found[2].lower()
    return labels


def sums_of(path: Path) -> Sums:
    """Add up a trace, record by record."""
    lines = text_of(path)
    head = re.fullmatch(r"#Paraver \(.*?\):(\d+)\w*:[^:]*:\d+:(.*?)(,\d+)?\s*", next(lines))
    assert head is not None, path
    labels = labels_of(path)
    result = Sums(int(head[1]), {})
    for appl, tasks in enumerate(re.findall(r"\d+\(([^)]*)\)", head[2]), 1):
        for task, threads in enumerate(tasks.split(","), 1):
            for thread in range(1, int(threads.split(":")[0]) + 1):
                result.totals[f"{appl}.{task}.{thread}"] = Counter()
    for line in lines:
        fields = line.split(":")
        thread = ".".join(fields[2:5])
        if fields[0] == "1":
            begin, until, number = map(int, fields[5:8])
            state = labels.get(number) or ("idle" if number == 0 else f"state {number}")
            result.totals[thread][state] += until - begin
            result.end = max(result.end, until)
        elif fields[0] == "3":
            result.sent[thread] += 1
            result.bytes[thread] += int(fields[13])
        result.records += fields[0] in ("1", "2", "3")
    for totals in result.totals.values():
        totals["idle"] += result.end - totals.total()
    return result


def of_profile(profile: Profile, threads: list[str]) -> Totals:
    """The same of a profile. Its threads are in the order of the head."""
    cycles = active_cycles(profile)
    parents = profile.call_paths.parent.tolist()
    paths = [p for p in range(len(parents)) if profile.frame_of(p).kind is Kind.THREAD]
    assert len(paths) == len(threads), (len(paths), len(threads))
    found: Totals = {thread: Counter() for thread in threads}
    name = dict(zip(paths, threads, strict=True))
    for path, above in enumerate(parents):
        if profile.frame_of(path).kind is Kind.STATE:
            found[name[above]][profile.frame_of(path).name.lower()] += int(cycles[path])
    return found


def counted(profile: Profile, threads: list[str], counter: str) -> Counter[str]:
    """The sum of a counter's values, by thread."""
    paths = [p for p in range(len(profile.call_paths)) if profile.frame_of(p).kind is Kind.THREAD]
    name = dict(zip(paths, threads, strict=True))
    return Counter({name[s.path]: int(s.value.sum()) for s in profile.series if s.name == counter})


def of_paramedir(program: str, path: Path, profile: Profile, threads: list[str]) -> Totals:
    """Paraver's own table: the time of each thread in each state."""
    labels = labels_of(path)
    view = paraver_companions(profile)[".histogram.cfg"]
    view = view.replace("Statistic: % Time", "Statistic: Time")
    view = re.sub(r"(Analyzer2D.Maximum: )\S+", rf"\g<1>{max([*labels, 40]) + 1}.0", view)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        stem = path.name.removesuffix(".gz").removesuffix(".prv")
        (folder / "t.prv").write_text("".join(text_of(path)))
        for ending in (".pcf", ".row"):
            beside = path.with_name(stem + ending)
            if beside.exists():
                shutil.copy(beside, folder / f"t{ending}")
        (folder / "t.cfg").write_text(view)
        command = [program, "t.prv", "t.cfg", "out.csv"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        assert (folder / "out.csv").exists(), done.stdout + done.stderr
        head, *rows = [
            [cell.strip() for cell in line.split("\t")]
            for line in (folder / "out.csv").read_text().splitlines()
        ]
    result: Totals = {}
    columns = [state_of(label) for label in head[1:]]
    for thread, row in zip(threads, rows, strict=False):
        cells = zip(columns, row[1:], strict=False)
        result[thread] = Counter({state: int(Decimal(cell)) for state, cell in cells if cell})
    return result


def state_of(column: str) -> str:
    """A state as we name it, of a column of paramedir's; it names what has no label, too."""
    state = column.lower().removeprefix("unknown ")
    return "idle" if state == "state 0" else state


def differences(one: Totals, other: Totals) -> list[str]:
    return [
        f"thread {thread}, {state}: {one[thread][state]:,} and {other[thread][state]:,}"
        for thread in one
        for state in sorted(one[thread] | other[thread])
        if one[thread][state] != other[thread][state]
    ]


def compare(path: Path, paramedir: str | None) -> tuple[Sums, list[str], list[str]]:
    """Return the sums of a trace, what the import lost, and what differs."""
    profile = import_paraver(path)
    check_laws(profile)
    sums = sums_of(path)
    threads = list(sums.totals)
    ours = of_profile(profile, threads)
    wrong = [f"sums: {text}" for text in differences(ours, sums.totals)]
    if profile.cycles != sums.end:
        wrong.append(f"cycles: {profile.cycles:,} and {sums.end:,}")
    for counter, expected in (("messages sent", sums.sent), ("bytes sent", sums.bytes)):
        if counted(profile, threads, counter) != expected:
            wrong.append(f"{counter} differ")
    if paramedir is not None:
        theirs = of_paramedir(paramedir, path, profile, threads)
        wrong += [f"paramedir: {text}" for text in differences(ours, theirs)]
    lost = [
        f"{a.count:,} {a.name}" for a in profile.meta.anomalies if a.severity is not Severity.INFO
    ]
    return sums, lost, wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])  # type: ignore[union-attr]
    parser.add_argument("folders", nargs="+", type=Path)
    default = os.environ.get("PARAMEDIR") or shutil.which("paramedir")
    parser.add_argument("--paramedir", default=default or None, metavar="PROGRAM")
    given = parser.parse_args()
    paths = sorted(p for f in given.folders for p in f.rglob("*.prv*") if p.name.endswith(_ENDINGS))
    if not paths:
        print("no .prv and no .prv.gz below the folders", file=sys.stderr)
        return 2
    failed = records = messages = totals = 0
    for path in paths:
        sums, lost, wrong = compare(path, given.paramedir)
        records += sums.records
        messages += sums.sent.total()
        totals += sum(len(states) for states in sums.totals.values())
        failed += bool(wrong)
        print(
            f"{'DIFFERS' if wrong else 'equal'}  {sums.records:>9,} records  "
            f"{len(sums.totals):>3} threads  {sums.sent.total():>6,} messages  {path}"
            + (f"  ({'; '.join(lost)})" if lost else "")
        )
        for text in wrong[:5]:
            print(f"    {text}")
    judges = "the sums of its records" + (" and paramedir's" if given.paramedir else "")
    print(
        f"{len(paths)} traces, {records:,} records, {messages:,} messages, {totals:,} totals of a "
        f"state of a thread; in {len(paths) - failed} traces all equal {judges}"
    )
    if not given.paramedir:
        print("paramedir is not here: install it (docs/paraver.md), or pass --paramedir")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
