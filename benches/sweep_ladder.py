"""The ladder of every HLS program: do bounds lie below hardware, gaps add up; which are negative?

Prints a line for each program and a summary; some fifteen minutes on one core.
`python benches/sweep_ladder.py [NAME...]`.
"""

from __future__ import annotations

import itertools
import sys
from collections import Counter
from pathlib import Path

from cyclescope.studies import measure_ladder

ROOT = Path(__file__).parents[1]
PROGRAMS = sorted((ROOT / "tests/hls/programs").glob("*.c"))
THREADS = (3, 1, 4, 2)


def main(names: list[str]) -> int:
    chosen = [p for p in PROGRAMS if not names or p.stem in names]
    negative: Counter[str] = Counter()
    least: dict[str, int] = {}
    failed = 0
    for number, source in enumerate(chosen):
        threads = THREADS[number % len(THREADS)]
        rungs = measure_ladder(source, threads=threads).meta.ladder
        for below, rung in itertools.pairwise(rungs):
            assert below.cycles + sum(gap.cycles for gap in rung.gaps) == rung.cycles
            for gap in rung.gaps:
                if gap.cycles < 0:
                    negative[gap.name] += 1
                    least[gap.name] = min(least.get(gap.name, 0), gap.cycles)
        first = next(i for i, rung in enumerate(rungs) if rung.name.endswith("memory at once"))
        below = [rung.cycles for rung in rungs[: first + 1]]
        holds = below == sorted(below)
        failed += not holds
        shown = " ".join(f"{rung.cycles:,}" for rung in rungs)
        print(f"{source.stem}, {threads}: {shown}{'' if holds else '  OUT OF ORDER'}", flush=True)
    print(f"{len(chosen)} programs, {failed} with a bound above the hardware")
    for name, count in negative.most_common():
        print(f"negative: {name} in {count}, at least {least[name]:,}")
    return failed


if __name__ == "__main__":
    sys.exit(1 if main(sys.argv[1:]) else 0)
