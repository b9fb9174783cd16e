"""Random Calyx programs, rewritten: what a rewrite claims by construction leaves every memory.

    PYTHONPATH=tests python -m calyx.random_rewrites 0-499 [--jobs 2] [--size 3] [--own]

For each seed all candidates that claim so are applied, one rewrite after another, until none is
left that changes the text (two rounds), and the memories are compared with those that the
interpreter in `generator` gives, which knows no compiler. With --own the programs' memories are
their own, and few of their words are used. Where memories differ, the program is built without the
compiler's optimisation: if they are right then, the compiler is at fault (`compiler`), and no
rewrite. Otherwise each rewrite is tried alone and named. Exits with 1 if a rewrite is wrong.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

from calyx.generator import generate
from cyclescope._rewrites import Claim, apply_candidates, compatible
from cyclescope.calyx import CalyxOptions, run_program, run_unoptimised
from cyclescope.calyx.rewrites import REWRITES, find_candidates
from cyclescope.errors import CyclescopeError

ROUNDS = 2


def rewritten(text: bytes, names: list[str]) -> tuple[bytes, Counter[str]]:
    """The text with all candidates of some rewrites, and how many there were of each."""
    counts: Counter[str] = Counter()
    for name in names:
        found = [
            c
            for c in find_candidates(text, "random")
            if c.rewrite == name and c.claim is Claim.CONSTRUCTION
        ]
        chosen = compatible(found)
        counts[name] += len(chosen)
        text = apply_candidates(text, chosen)
    return text, counts


def wrong(text: bytes, data: dict, expected: dict, *, optimised: bool = True) -> str:
    """Say what is wrong with a program; empty if its memories are as expected."""
    with tempfile.TemporaryDirectory() as folder:
        path, values = Path(folder) / "random.futil", Path(folder) / "random.json"
        path.write_bytes(text)
        values.write_text(json.dumps(data))
        try:
            if optimised:
                run = run_program(path, values, CalyxOptions(), 1_000_000)
            else:
                run, _ = run_unoptimised(path, values, CalyxOptions())
        except CyclescopeError as error:
            return f"{type(error).__name__}: {error}"
    if run.stopped:
        return run.stopped
    found = {memory: entry["data"] for memory, entry in run.memories.items()}
    differing = [memory for memory in expected if found[memory] != expected[memory]]
    return f"memories differ: {', '.join(differing)}" if differing else ""


def check(seed: int, size: int, *, own: bool) -> tuple[Counter[str], list[str]]:
    """Rewrite one program; gives what was applied, and what went wrong with which rewrite."""
    program = generate(seed, size, own=own)
    text, expected = program.text.encode(), program.expected()
    names = [rewrite.name for rewrite in REWRITES]
    after, counts = rewritten(text, names * ROUNDS)
    problem = wrong(after, program.data, expected)
    if not problem:
        return counts, []
    if before := wrong(text, program.data, expected):
        return counts, [f"{seed}\tas it is\t{before}"]
    differ = problem.startswith("memories differ")
    if differ and not wrong(after, program.data, expected, optimised=False):
        return counts, [f"{seed}\tcompiler\t{problem}"]
    found = [f"{seed}\tall\t{problem}"]
    for name in names:
        alone, some = rewritten(text, [name])
        if some[name] and (single := wrong(alone, program.data, expected, optimised=False)):
            found.append(f"{seed}\t{name}\t{single}")
    return counts, found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("seeds", help="FIRST-LAST")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--size", type=int, default=3)
    parser.add_argument("--own", action="store_true", help="memories of the program's own")
    chosen = parser.parse_args()
    first, _, last = chosen.seeds.partition("-")
    seeds = range(int(first), int(last or first) + 1)
    tally: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    with ProcessPoolExecutor(chosen.jobs) as pool:
        for job in as_completed(
            [pool.submit(check, seed, chosen.size, own=chosen.own) for seed in seeds]
        ):
            counts, found = job.result()
            tally += counts
            if found:
                kind = found[0].split("\t")[1]
                kinds[kind if kind in ("as it is", "compiler") else "wrong"] += 1
            for line in found:
                print(line, flush=True)
    for name, count in sorted(tally.items()):
        print(name, count, sep="\t")
    print("programs", len(seeds), "wrong", kinds["wrong"], sep="\t")
    print("wrong without any rewrite", kinds["as it is"], sep="\t")
    print("right without the compiler's optimisation", kinds["compiler"], sep="\t")
    return kinds["wrong"] > 0


if __name__ == "__main__":
    sys.exit(main())
