"""Random Calyx programs through the compiler, against an interpreter of what they mean.

    python tests/calyx/random_programs.py 0-199 [--compiler CALYX --library FOLDER] [--keep FOLDER]

For each seed: the program in the default configuration and without any optimisation, memories
against `generator.RandomProgram.expected`. Exits with 1 if one is wrong.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

from corpus import CONFIGURATIONS, stock_run
from generator import generate

from cyclescope.calyx import CalyxOptions, OwnCompiler, find_own_compiler


def check(seed: int, compiler: OwnCompiler | None, keep: Path | None, size: int) -> list[str]:
    program = generate(seed, size)
    expected = program.expected()
    verdicts = []
    with tempfile.TemporaryDirectory() as folder:
        path, data = Path(folder) / f"random{seed}.futil", Path(folder) / f"random{seed}.json"
        path.write_text(program.text)
        data.write_text(json.dumps(program.data))
        for name in ("default", "no optimisation"):
            passes = CONFIGURATIONS[name].passes
            run = stock_run(path, data, CalyxOptions(passes=passes, compiler=compiler))
            if run.trouble:
                verdicts.append(f"{seed}\t{name}\tNO RUN\t{run.trouble}")
                continue
            found = {memory: entry["data"] for memory, entry in run.memories.items()}
            wrong = [memory for memory in expected if found[memory] != expected[memory]]
            verdicts.append(
                f"{seed}\t{name}\t{'WRONG' if wrong else 'right'}\t{run.cycles} {wrong}"
            )
        if keep and any("right" not in verdict for verdict in verdicts):
            keep.mkdir(parents=True, exist_ok=True)
            (keep / path.name).write_text(program.text)
            (keep / data.name).write_text(json.dumps(program.data))
            (keep / f"random{seed}.expected").write_text(json.dumps(expected))
    return verdicts


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("seeds", help="FIRST-LAST")
    parser.add_argument("--compiler")
    parser.add_argument("--library", type=Path)
    parser.add_argument("--keep", type=Path, help="where programs that went wrong go")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--size", type=int, default=3)
    chosen = parser.parse_args()
    compiler = find_own_compiler(chosen.compiler, chosen.library) if chosen.compiler else None
    first, _, last = chosen.seeds.partition("-")
    tally: Counter[str] = Counter()
    with ProcessPoolExecutor(chosen.jobs) as pool:
        seeds = range(int(first), int(last or first) + 1)
        jobs = [pool.submit(check, s, compiler, chosen.keep, chosen.size) for s in seeds]
        for job in as_completed(jobs):
            for verdict in job.result():
                tally["\t".join(verdict.split("\t")[1:3])] += 1
                if "right" not in verdict:
                    print(verdict, flush=True)
    for what, count in sorted(tally.items()):
        print(what, count, sep="\t")
    return any("right" not in what for what in tally)


if __name__ == "__main__":
    sys.exit(main())
