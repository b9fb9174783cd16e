"""Advice followed: for each rule, programs as they are, with the finding followed, in other words.

`python benches/bench_advice.py [RULE …] [--record | --recorded]` prints a table in Markdown of all
rules, or of these. Hardware takes some ten seconds to build for each program; `--record` keeps
those profiles for the tests, in `tests/analyse/data/followed`, and `--recorded` prints the rows of
hardware from there. It fails if a saving is out of its bound, or if the
findings on a program in other words are others.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests" / "analyse"))

from calyx_programs import CALYX  # noqa: E402
from followed import (  # noqa: E402
    BOUNDS,
    HLS,
    RECORDED,
    bounded,
    calyx_run,
    findings,
    measured,
    recorded,
)

from cyclescope.model import save  # noqa: E402

if TYPE_CHECKING:
    from cyclescope.model import Profile

VARIANTS = ("plain", "followed", "rewritten")


def row(rule: str, name: str, plain: Profile, followed: int, rewritten: Profile) -> bool:
    """Print a program's line; gives whether all is as it should be."""
    said = findings(plain)
    advice = said.get(rule)
    saved = plain.cycles - followed
    same = list(said) == list(findings(rewritten))
    good = advice is not None and advice.at_least <= saved <= advice.at_most
    shown = [advice.saving, advice.at_least, advice.at_most] if advice is not None else ["-"] * 3
    cells = [plain.cycles, followed, saved, *shown]
    numbers = " | ".join(f"{cell:,}" if isinstance(cell, int) else cell for cell in cells)
    print(f"| {rule} | {name} | {numbers} | {good} | {same} |", flush=True)
    return good and same


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rules", nargs="*")
    kept = parser.add_mutually_exclusive_group()
    kept.add_argument("--record", action="store_true")
    kept.add_argument("--recorded", action="store_true")
    given = parser.parse_args()
    print("| rule | program | cycles | followed | saved | about | at least | at most | inside |"
          " in other words the same |")  # fmt: skip
    print("|---|---|" + "---:|" * 6 + "---|---|")
    good = True
    if given.recorded:
        for one in HLS:
            if not given.rules or one.rule in given.rules:
                good &= row(one.rule, one.name, *recorded(one))
        sys.exit(not good)
    known: dict[str, Profile] = {}
    cycles: dict[str, int] = {}
    with tempfile.TemporaryDirectory() as folder:
        for case in CALYX:
            if not given.rules or case.rule in given.rules:
                runs = [calyx_run(case, variant, Path(folder)) for variant in VARIANTS]
                good &= row(case.rule, case.name, runs[0], runs[1].cycles, runs[2])
    for one in (*BOUNDS, *HLS):
        if given.rules and one.rule not in given.rules:
            continue
        for variant in VARIANTS:
            name = one.file(variant)
            if name not in known:
                known[name] = bounded(one, variant) if one in BOUNDS else measured(one, variant)
        plain, followed, rewritten = (known[one.file(variant)] for variant in VARIANTS)
        good &= row(one.rule, one.name, plain, followed.cycles, rewritten)
        if one in HLS:
            cycles[one.file("followed")] = followed.cycles
            if given.record:
                RECORDED.mkdir(exist_ok=True)
                for variant, profile in (("plain", plain), ("rewritten", rewritten)):
                    save(profile, RECORDED / f"{one.file(variant)}.cyc", force=True)
    if given.record:
        (RECORDED / "cycles.json").write_text(json.dumps(cycles, indent=1) + "\n", "utf-8")
    sys.exit(not good)


if __name__ == "__main__":
    main()
