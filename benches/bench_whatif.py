"""Longer groups: what `whatif` foretells, against simulations of programs with that change.

    python benches/bench_whatif.py [FOLDER …] [--groups N] [--cycles N]

Takes the project's Calyx examples and the programs of the folders, with the data beside them or
small numbers. Of each the N groups that ran longest, of those that always take as long, are made 1
and 4 cycles longer, one at a time: in the control of the measured run, and in the text, compiled
anew. Prints a table of errors of each by how the groups are scheduled, or by what the prediction
says that it assumes; each change that was off by more than 10 %; and how many left other memories.
Programs of more than --cycles cycles are left out.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from foretold import Errors, median_and_worst  # noqa: E402

from calyx.corpus import data_of, made_up_data  # noqa: E402
from cyclescope.analyse import activations, assumptions, parse_lengths, retimed  # noqa: E402
from cyclescope.calyx import profile_program  # noqa: E402
from cyclescope.errors import CyclescopeError  # noqa: E402
from cyclescope.model import Kind  # noqa: E402
from cyclescope.studies import compiled_anew, simulated_lengths  # noqa: E402

if TYPE_CHECKING:
    from cyclescope.model import Profile

MORE = (1, 4)  # cycles
WAYS = {"same control": simulated_lengths, "compiled anew": compiled_anew}


def longest(profile: Profile, most: int) -> list[tuple[str, int, str]]:
    """Name, length and schedule of the groups that ran longest, of one length each."""
    known = activations(profile, Kind.GROUP)
    sure = [(found.total, key, found) for key, found in known.items() if found.times]
    sure = [entry for entry in sure if entry[2].shortest == entry[2].longest]
    sure.sort(key=lambda entry: (-entry[0], entry[1]))
    chosen = []
    for _, (frame, instance), found in sure[:most]:
        group = profile.catalog[frame]
        how = "dynamic" if group.latency is None else "static"
        name = group.definition or group.name
        chosen.append((f"{instance}/{name}", found.shortest, how))
    return chosen


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--groups", type=int, default=3)
    parser.add_argument("--cycles", type=int, default=20_000)
    chosen = parser.parse_args()
    errors = {way: Errors() for way in WAYS}
    left_out: Counter[str] = Counter()
    other: Counter[str] = Counter()
    programs = 0
    for folder in (ROOT / "examples" / "calyx", *chosen.folders):
        for program in sorted(folder.rglob("*.futil")):
            with tempfile.TemporaryDirectory() as scratch:
                try:
                    data = data_of(program) or made_up_data(program, Path(scratch), None)
                    profile = profile_program(program, data).profile
                    if not profile.meta.complete or profile.cycles > chosen.cycles:
                        left_out["programs: too long"] += 1
                        continue
                    groups = longest(profile, chosen.groups)
                except CyclescopeError:
                    left_out["programs: not profiled"] += 1
                    continue
                programs += 1
                for name, length, how in groups:
                    for more in MORE:
                        lengths = parse_lengths(profile, [f"{name} = {length + more}"])
                        (foretold,) = retimed(profile, lengths).totals
                        assumed = "; ".join(assumptions(profile, lengths))
                        for way, simulated in WAYS.items():
                            try:
                                (tried,) = simulated(profile, lengths, program, data)
                            except CyclescopeError as error:
                                left_out[f"{way}: {type(error).__name__}"] += 1
                                continue
                            kind = assumed or how
                            change = f"{way}: {program.stem}: {name} + {more} ({kind})"
                            errors[way].add(kind, change, foretold, tried.cycles)
                            other[f"{way}: other memories"] += not tried.same_memories
                            other[f"{way}: other control"] += tried.same_control is False
    print("| simulated | groups | changes | exact | median error | worst |")
    print("|---|---|---:|---:|---:|---:|")
    for way, found_of in errors.items():
        for how, found in sorted(found_of.by.items()):
            exact = sum(not error for error in found)
            print(f"| {way} | {how} | {len(found)} | {exact} | {median_and_worst(found)}")
    print(f"{programs} programs; {dict(other)}; left out: {dict(left_out)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
