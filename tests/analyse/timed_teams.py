"""Random teams of threads in which the length of each loop is data, to time them anew for real.

    python tests/analyse/timed_teams.py FIRST-LAST

For each seed a C program becomes hardware once, which runs with many lengths: the slack that
`critical` gives each loop is inserted (the total must stay), one cycle more (it must rise), and
lengths are drawn at random (the total must be the one foretold, or a cycle off it). Exits with 1 if
one is wrong.
"""

from __future__ import annotations

import itertools
import random
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cyclescope.analyse import critical, parse_lengths, retimed
from cyclescope.hls import MemoryModel, compile_c, measure

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cyclescope.model import Profile

# Nothing but what threads wait for takes another time when they come later.
_MEMORY = MemoryModel(refresh=0, refresh_interval=0, rcd=0, rp=0)
_LONGEST = 4000  # cycles by which a loop is made longer


@dataclass
class TimedTeam:
    """A program of which each loop counts to a number on the command line.

    Attributes:
        text: in C.
        threads: of its team.
        lengths: what each loop counts to.
        loops: the line of each; only one thread executes it.
    """

    text: str = ""
    threads: int = 2
    lengths: list[int] = field(default_factory=list)
    loops: dict[int, int] = field(default_factory=dict)


class _Maker:
    """Makes a program from a seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.team = TimedTeam(threads=self.random.randint(2, 4))
        phases = [self.phase() for _ in range(self.random.randint(1, 3))]
        lines = ["#include <stdlib.h>", "#include <omp.h>", "int main(int count, char **given) {"]
        lines += ["int out[8] = {0};"]
        lines += [f"int n{n} = atoi(given[{n + 1}]);" for n in range(len(self.team.lengths))]
        lines += [
            f"#pragma omp target parallel map(tofrom: out) num_threads({self.team.threads})",
            "{ int me = omp_get_thread_num(), sum = me;",
        ]
        for line in itertools.chain(*phases):
            lines.append(line if isinstance(line, str) else _loop(line))
            if not isinstance(line, str):
                self.team.loops[line] = len(lines)
        lines += ["out[me] = sum; }", "return out[0] & 1;", "}"]
        self.team.text = "\n".join(lines) + "\n"

    def phase(self) -> list[str | int]:
        """Some loops of each thread, and perhaps a barrier behind them; perhaps all of it again."""
        found: list[str | int] = []
        for thread in range(self.team.threads):
            loops = [self.loop() for _ in range(self.random.randint(0, 2))]
            if loops:
                found += [f"if (me == {thread}) {{", *loops, "}"]
        if self.random.random() < 0.7:
            found.append("#pragma omp barrier")
        if self.random.random() < 0.3:
            times = self.random.randint(2, 4)
            return [f"for (int r = 0; r < {times}; r++) {{", *found, "}"]
        return found

    def loop(self) -> int:
        """The number of a new loop."""
        self.team.lengths.append(self.random.randint(1, 150))
        return len(self.team.lengths) - 1


def _loop(number: int) -> str:
    """A loop that begins an iteration in each cycle."""
    return f"for (int i = 0; i < n{number}; i++) sum += i ^ {number};"


def timed_team(seed: int) -> TimedTeam:
    """The program of a seed."""
    return _Maker(seed).team


@dataclass(frozen=True)
class Tried:
    """A run with other lengths.

    Attributes:
        what: they are.
        told: what was said of its cycles.
        simulated: the cycles that it takes.
        right: these agree.
    """

    what: str
    told: str
    simulated: int
    right: bool


def try_out(seed: int, *, most: int) -> list[Tried]:
    """Run a seed's program with other lengths; at most so many loops with their slack."""
    team = timed_team(seed)
    program = compile_c("timed.c", text=team.text)
    draw = random.Random(seed)
    cost = draw.choice([0, 20, 100])

    def run(more: Mapping[int, int]) -> Profile:
        lengths = [str(length + more.get(n, 0)) for n, length in enumerate(team.lengths)]
        return measure(program, lengths, memory=_MEMORY, start_cost=cost).profile

    base = run({})
    figures = {base.catalog[f.key[0]].name: f for f in critical(base).frames}
    found = []
    for _ in range(2):
        drawn = {n: draw.randint(0, 60) for n in team.loops}
        changes = []
        for n, more in drawn.items():
            own = figures[f"L{team.loops[n]}"]
            changes.append(f"L{team.loops[n]} = {own.total // own.times + more}")
        (told,) = retimed(base, parse_lengths(base, changes)).totals
        cycles = run(drawn).cycles
        # Of two threads that come to a stage in one cycle one comes later.
        found.append(Tried(", ".join(changes), str(told), cycles, abs(cycles - told) <= 1))
    for n in draw.sample(list(team.loops), min(most, len(team.loops))):
        slack = figures[f"L{team.loops[n]}"].slack
        assert slack is not None
        if slack > _LONGEST:
            continue  # nothing waits for it
        what = f"L{team.loops[n]} longer by"
        cycles = run({n: slack}).cycles
        told = f"{base.cycles}"
        found.append(Tried(f"{what} its slack, {slack}", told, cycles, cycles == base.cycles))
        cycles = run({n: slack + 1}).cycles
        told = f"more than {base.cycles}"
        found.append(Tried(f"{what} a cycle more, {slack + 1}", told, cycles, cycles > base.cycles))
    return found


def main() -> int:
    first, _, last = sys.argv[1].partition("-")
    tally = {True: 0, False: 0}
    for seed in range(int(first), int(last or first) + 1):
        for one in try_out(seed, most=3):
            tally[one.right] += 1
            if not one.right:
                print(f"{seed}: {one.what}: said {one.told}, simulated {one.simulated}")
    print(f"{tally[True]} runs as said, {tally[False]} not")
    return int(bool(tally[False]))


if __name__ == "__main__":
    sys.exit(main())
