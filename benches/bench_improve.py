"""Programs improved: cycles before, after by their authors' hand, after by `cyclescope improve`.

    python benches/bench_improve.py [NAME …] [--artifact FOLDER] [--resource FOLDER]

prints a table in Markdown. The project's own examples need nothing; FOLDERs are clones of
`calyx-profiler-eval` and `calyx-resource-eval`, without which their rows are left out. With
--state, measurements are kept there and used again. Exits with 1 where a program is slower than
the figure that it must reach, or something speaks against it.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from cyclescope.calyx import CalyxOptions, run_program
from cyclescope.studies import Measurements, improve, subject_of

OWN = Path(__file__).parents[1] / "examples" / "calyx"


@dataclass(frozen=True)
class Case:
    """A program: its data, its authors' version (a file), and the cycles that it must reach."""

    name: str
    program: Path
    data: Path
    by_hand: Path | None
    most: int
    budget: int = 60


def cases(artifact: Path | None, resource: Path | None) -> list[Case]:
    found = [
        Case("examples: while", OWN / "while_with.futil", OWN / "while_with.json",
             OWN / "while_parallel.futil", 13),
        Case("examples: switch", OWN / "switch_par.futil", OWN / "switch_par.json",
             OWN / "switch_if.futil", 6),
    ]  # fmt: skip
    if artifact is not None:
        ten, three = (artifact / "case-studies" / f"sec-{part}" for part in ("10", "03"))
        found += [
            Case("artifact: loop", ten / "while-original.futil", ten / "while.data",
                 ten / "while-optimized.futil", 12),
            Case("artifact: switch", three / "switch-case-par.futil", three / "switch-case.data",
                 three / "switch-case-nested-if.futil", 6),
            Case("artifact: packet scheduler", ten / "queues-original.futil", ten / "queues.data",
                 ten / "queues-full-opt.futil", 661_303),
            Case("artifact: neural network", ten / "ffnn-original.futil", ten / "ffnn.data",
                 ten / "ffnn-optimized.futil", 294_670, budget=12),
        ]  # fmt: skip
    if resource is not None:
        sdn = resource / "sdn" / "benchmarks" / "sdn"
        found.append(
            Case("resource: sdn", sdn / "sdn.futil", sdn / "sdn.data", sdn / "sdn_static.futil",
                 924_841)
        )  # fmt: skip
    return found


def row(case: Case, state: Path | None) -> bool:
    """Print a program's line; gives whether it is as it should be."""
    start = time.monotonic()
    subject = subject_of(case.program, [case.data], {})
    kept = state / f"{case.name.replace(': ', '-').replace(' ', '-')}.json" if state else None
    found = improve(
        subject,
        case.program.read_bytes(),
        Measurements(kept, case.data.read_text("utf-8")),
        budget=case.budget,
        workers=os.cpu_count() or 1,
    )
    seconds = time.monotonic() - start
    by_hand = "none"
    if case.by_hand is not None:
        by_hand = f"{run_program(case.by_hand, case.data, CalyxOptions()).cycles:,}"
    names = dict.fromkeys(c.rewrite for c in found.candidates)
    claims = dict.fromkeys(c.claim.value for c in found.candidates)
    good = found.after <= case.most and not found.doubts
    print(
        f"| {case.name} | {found.before:,} | {by_hand} | {found.after:,} | {', '.join(names)}"
        f" | {'equal' if not found.doubts else found.doubts}; {', '.join(claims)} | {found.runs}"
        f" | {seconds:,.0f} s |",
        flush=True,
    )
    return good


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="parts of names; all without")
    parser.add_argument("--artifact", type=Path)
    parser.add_argument("--resource", type=Path)
    parser.add_argument("--state", type=Path)
    chosen = parser.parse_args()
    if chosen.state:
        chosen.state.mkdir(parents=True, exist_ok=True)
    print("| program | before | by hand | by improve | rewrites | memories | runs | time |")
    print("|---|---:|---:|---:|---|---|---:|---:|", flush=True)
    every = cases(chosen.artifact, chosen.resource)
    wanted = [c for c in every if not chosen.names or any(n in c.name for n in chosen.names)]
    good = [row(case, chosen.state) for case in wanted]
    return not all(good)


if __name__ == "__main__":
    sys.exit(main())
