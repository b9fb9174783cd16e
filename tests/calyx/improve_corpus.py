"""Improve a folder of other people's Calyx programs, and compare what they compute.

    PYTHONPATH=tests python -m calyx.improve_corpus FOLDER [--budget N] [--cycles N] [--jobs N]

Each program that runs is improved with the data beside it, or with small numbers where there is
none. Then it is built without optimisation as it was and as it became, and the memories of both
must be equal; what leaves its own result open is told and not counted as wrong. Programs that take
more than --cycles cycles are left out. Prints a row a program: its verdict, cycles before and
after. Exits with 1 if one is wrong.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

from calyx.corpus import CONFIGURATIONS, data_of, made_up_data, stock_run
from cyclescope.calyx import CalyxOptions, copied_with
from cyclescope.errors import CyclescopeError
from cyclescope.studies import Measurements, improve, subject_of


def check(program: Path, budget: int, most: int) -> tuple[str, int, int, str]:
    """Improve a program; gives a verdict, cycles before and after, and what there is to say."""
    plain = CONFIGURATIONS["no optimisation"]
    with tempfile.TemporaryDirectory() as folder:
        data = data_of(program) or made_up_data(program, Path(folder), None)
        first = stock_run(program, data, CalyxOptions())
        if first.trouble or first.cycles > most:
            return "left out", first.cycles, 0, first.trouble or "too long"
        try:
            subject = subject_of(program, [data] if data else [], {})
            text = program.read_bytes()
            found = improve(subject, text, Measurements(None, ""), budget=budget, workers=1)
            with copied_with(program, found.text) as copy:
                after = stock_run(copy, data, plain)
        except CyclescopeError as error:
            return "refused", first.cycles, 0, str(error).splitlines()[0]
        before = stock_run(program, data, plain)
    names = ", ".join(dict.fromkeys(c.rewrite for c in found.candidates))
    if note := getattr(subject, "note", ""):
        return "open", found.before, found.after, note
    if before.trouble or after.trouble:
        return "open", found.before, found.after, before.trouble or after.trouble
    if before.memories != after.memories:
        return "wrong", found.before, found.after, names
    return (
        "improved" if found.after < found.before else "as it was",
        found.before,
        found.after,
        names,
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--budget", type=int, default=30)
    parser.add_argument("--cycles", type=int, default=20_000)
    parser.add_argument("--jobs", type=int, default=2)
    chosen = parser.parse_args()
    programs = sorted(chosen.folder.rglob("*.futil"))
    verdicts: Counter[str] = Counter()
    with ProcessPoolExecutor(chosen.jobs) as pool:
        jobs = {pool.submit(check, p, chosen.budget, chosen.cycles): p for p in programs}
        for job in as_completed(jobs):
            verdict, before, after, said = job.result()
            verdicts[verdict] += 1
            name = jobs[job].relative_to(chosen.folder)
            print(name, verdict, before, after, said, sep="\t", flush=True)
    for verdict, count in sorted(verdicts.items()):
        print(verdict, count, sep="\t")
    return verdicts["wrong"] > 0


if __name__ == "__main__":
    sys.exit(main())
