"""Random loop nests whose time stamps may repeat, and what two runs of one kernel differ in.

`python tests/bounds/periods.py [COUNT [FIRST]]` compares runs that skip repeating iterations with
runs to the end, on as many random kernels.
"""

from __future__ import annotations

import random
import sys
from dataclasses import dataclass

from cyclescope.bounds import Bounds
from cyclescope.bounds._detail import waits_of
from cyclescope.bounds._native import Program
from cyclescope.bounds._run import MEMORY, prepare

SIZE = 64
OPERATORS = ("+", "-", "*", "+", "*", "/")


class Writer:
    """Writes one kernel."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.label = 0

    def subscript(self, counters: list[str]) -> str:
        """Inside an array: a counter stays below 24, steps and bounds see to it."""
        pick = self.random.random()
        if not counters or pick < 0.08:
            return str(self.random.randrange(SIZE))
        one = self.random.choice(counters)
        if pick < 0.55:
            return one
        if pick < 0.7:
            return f"{one} + {self.random.randrange(1, 9)}"
        if pick < 0.78:
            return f"{SIZE - 1} - {one}"
        if pick < 0.86:
            return f"2 * {one} + {self.random.randrange(4)}"
        return f"{one} + {self.random.choice(counters)}"

    def place(self, counters: list[str]) -> str:
        name = self.random.choice(["a", "b", "c", "M", "M", "P", "s", "t"])
        rank = {"a": 1, "b": 1, "c": 1, "M": 2, "P": 2}.get(name, 0)
        return name + "".join(f"[{self.subscript(counters)}]" for _ in range(rank))

    def value(self, counters: list[str]) -> str:
        if self.random.random() < 0.06:
            return "1.5"
        text = self.place(counters)
        for _ in range(self.random.choice([0, 0, 1, 1, 2])):
            text = f"({text} {self.random.choice(OPERATORS)} {self.place(counters)})"
        if counters and self.random.random() < 0.08:
            text = f"({self.condition(counters)} ? {text} : {self.place(counters)})"
        elif self.random.random() < 0.06:
            one, other = self.place(counters), self.place(counters)
            text = f"({one} < {other} ? {one} : {other})"
        return text

    def condition(self, counters: list[str]) -> str:
        left = self.random.choice(counters)
        right = self.random.choice([*counters, "3", "7", "12"])
        text = f"{left} {self.random.choice(['<', '<=', '>', '>=', '==', '!='])} {right}"
        if self.random.random() < 0.2:
            text += f" {self.random.choice(['&&', '||'])} {left} < 15"
        return text

    def statement(self, counters: list[str]) -> str:
        self.label += 1
        target = self.place(counters)
        operator = self.random.choice(["=", "=", "+=", "*="])
        return f"{target} {operator} {self.value(counters)};\n"

    def body(self, counters: list[str], depth: int) -> str:
        text = ""
        for _ in range(self.random.choice([1, 1, 2, 3])):
            pick = self.random.random()
            if depth < 3 and pick < (0.75 if depth == 0 else 0.45):
                text += self.loop(counters, depth)
            elif counters and pick > 0.9:
                text += f"if ({self.condition(counters)}) {{\n{self.body(counters, 3)}}}\n"
                if self.random.random() < 0.5:
                    text += f"else {{\n{self.body(counters, 3)}}}\n"
            else:
                text += self.statement(counters)
        return text

    def loop(self, counters: list[str], depth: int) -> str:
        v = f"v{depth}"
        low = self.random.choice(["0", "0", "1", "2", *counters])
        high = self.random.choice(["24", "24", "20", "17", "9", *counters])
        step = self.random.choice([f"{v}++", f"{v}++", f"{v} += 2", f"{v} = {v} + 3"])
        head = f"int {v} = {low}; {v} < {high}; {step}"
        if self.random.random() < 0.15:
            head = f"int {v} = 23; {v} >= {low}; {v}--"
        leave = ""
        if self.random.random() < 0.08:
            jump = self.random.choice(["break", "continue"])
            leave = f"if ({self.condition([*counters, v])}) {jump};\n"
        inner = self.body([*counters, v], depth + 1)
        return f"for ({head}) {{\n{leave}{inner}}}\n"

    def kernel(self) -> str:
        """A kernel of one to three nests."""
        nests = "".join(self.loop([], 0) for _ in range(self.random.choice([1, 1, 2, 3])))
        return (
            f"void kernel(double a[{SIZE}], double b[{SIZE}], float c[{SIZE}], "
            f"double M[{SIZE}][{SIZE}], double P[{SIZE}][{SIZE}])\n"
            f"{{\ndouble s = 0, t = 1;\n{nests}a[0] = s + t;\n}}\n"
        )


@dataclass
class Outcome:
    """A run that skips, one that does not, and how many firings the first one skipped."""

    skipping: Bounds
    full: Bounds
    skipped: int


def run(
    text: str,
    *,
    memory: int = MEMORY,
    defines: dict[str, str] | None = None,
    eager: bool = False,
    detail: bool = False,
) -> Outcome:
    """Both runs of a kernel.

    `eager`: iterations are skipped wherever that can be proved. `detail`: the full run's waits are
    also those that follow from a record of each firing.
    """
    unit, network, declarations, calibration = prepare("k.c", text=text, defines=defines)
    read, write = calibration.read, calibration.write
    with Program(network, declarations) as program:
        one, other = (
            program.run(read=read, write=write, memory=memory, periods=periods)
            for periods in (1 + eager, 0)
        )
        if detail:
            kept = Bounds(unit, network, calibration, program.run(
                read=read, write=write, memory=memory, detail_limit=1_000_000
            ))  # fmt: skip
            full = Bounds(unit, network, calibration, other)
            for mine, noted in zip(full.estimates, kept.estimates, strict=True):
                pairs = zip(waits_of(full, mine), waits_of(kept, noted), strict=True)
                assert all((a.resource, a.operands) == (b.resource, b.operands) for a, b in pairs)
    assert other.skipped == 0
    assert [s & 1 for s in one.seen] == [s & 1 for s in other.seen]
    assert one.tests == other.tests
    skipping, full = (Bounds(unit, network, calibration, records) for records in (one, other))
    return Outcome(skipping, full, one.skipped)


def differences(outcome: Outcome) -> list[str]:
    """List the differences: cycles, each process's firings, waits, and activity in each cycle."""
    found = []
    for one, other in zip(outcome.skipping.estimates, outcome.full.estimates, strict=True):
        if one.cycles != other.cycles:
            found.append(f"{one.name}: {one.cycles} cycles, not {other.cycles}")
        if one.firings != other.firings or one.resolution != other.resolution:
            found.append(f"{one.name}: firings {one.firings}, not {other.firings}")
            continue
        for wait, wanted in zip(
            waits_of(outcome.skipping, one), waits_of(outcome.full, other), strict=True
        ):
            if (wait.resource, wait.operands) != (wanted.resource, wanted.operands):
                found.append(f"{one.name}: waits {wait}, not {wanted}")
        for row in one.firings:
            for begin, end in one.windows():
                stages = (e.stage(row.process, "E", begin, end) for e in (one, other))
                if len({stage.tobytes() for stage in stages}) > 1:
                    found.append(f"{one.name}: activity of {row.process.name} from {begin}")
    return found


def main() -> None:
    count, first = (int(n) for n in (*sys.argv[1:3], *("500", "0")[len(sys.argv) - 1 :]))
    wrong = engaged = skipped = firings = 0
    for seed in range(first, first + count):
        text = Writer(seed).kernel()
        outcome = run(text, eager=seed % 2 == 1, detail=seed % 10 == 0)
        found = differences(outcome)
        wrong += bool(found)
        engaged += outcome.skipped > 0
        skipped += outcome.skipped
        firings += outcome.full.firings
        if found:
            print(f"seed {seed}: {found}\n{text}", flush=True)
    print(
        f"{count} kernels, {wrong} wrong; {engaged} skip, {skipped:,} of {firings:,} firings in all"
    )
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
