"""Programs improved: cycles before, after by their authors' hand, after by `cyclescope improve`.

    python benches/bench_improve.py [NAME …] [--artifact FOLDER] [--resource FOLDER]

prints a table in Markdown, of Calyx programs and of kernels in C. The project's own examples need
nothing; FOLDERs are clones of
`calyx-profiler-eval` and `calyx-resource-eval`, without which their rows are left out. With
--state, measurements are kept there and used again. Exits with 1 where a program is slower than
the figure that it must reach, or something speaks against it.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cyclescope.calyx import CalyxOptions, run_program
from cyclescope.hls import compile_c, measure
from cyclescope.studies import Measurements, improve, subject_of

if TYPE_CHECKING:
    from collections.abc import Mapping

OWN = Path(__file__).parents[1] / "examples" / "calyx"
GEMM = Path(__file__).parents[1] / "examples" / "hls" / "gemm"


@dataclass(frozen=True)
class Case:
    """A program: its data, its authors' version (a file), and the cycles that it must reach.

    Without a number it must be as fast as the version by hand.
    """

    name: str
    program: Path
    data: Path | None
    by_hand: Path | None
    most: int | None
    budget: int = 60
    options: Mapping[str, Any] = field(default_factory=dict)


def cases(artifact: Path | None, resource: Path | None) -> list[Case]:
    found = [
        Case("examples: while", OWN / "while_with.futil", OWN / "while_with.json",
             OWN / "while_parallel.futil", 13),
        Case("examples: switch", OWN / "switch_par.futil", OWN / "switch_par.json",
             OWN / "switch_if.futil", 6),
        Case("examples: sandpile", OWN / "sandpile.futil", OWN / "sandpile.json", None, 38_539),
    ]  # fmt: skip
    found += [
        Case(f"examples: GEMM {size}³", GEMM / "1-naive.c", None, GEMM / "3-vectors.c", None, 40,
             {"defines": {"DIM": str(size)}, "reassociate": True})
        for size in (16, 32)
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
                 ten / "ffnn-optimized.futil", 294_670),
        ]  # fmt: skip
    if resource is not None:
        sdn = resource / "sdn" / "benchmarks" / "sdn"
        found.append(
            Case("resource: sdn", sdn / "sdn.futil", sdn / "sdn.data", sdn / "sdn_static.futil",
                 924_841)
        )  # fmt: skip
    return found


def cycles_of(program: Path, case: Case) -> int:
    """The cycles of another version of a case's program, as it is."""
    if program.suffix == ".c":
        return measure(compile_c(program, defines=case.options["defines"])).profile.cycles
    return run_program(program, case.data, CalyxOptions()).cycles


def row(case: Case, state: Path | None) -> bool:
    """Print a program's line; gives whether it is as it should be."""
    start = time.monotonic()
    data = [case.data] if case.data is not None else []
    subject = subject_of(case.program, data, case.options)
    kept = state / f"{case.name.replace(': ', '-').replace(' ', '-')}.json" if state else None
    found = improve(
        subject,
        case.program.read_bytes(),
        Measurements(kept, "\n".join([*(d.read_text("utf-8") for d in data), repr(case.options)])),
        budget=case.budget,
        workers=os.cpu_count() or 1,
    )
    seconds = time.monotonic() - start
    by_hand = None if case.by_hand is None else cycles_of(case.by_hand, case)
    most = case.most if case.most is not None else by_hand
    names = dict.fromkeys(c.rewrite for c in found.candidates)
    claims = dict.fromkeys(c.claim.value for c in found.candidates)
    good = (most is None or found.after <= most) and not found.doubts
    print(
        f"| {case.name} | {found.before:,} | {f'{by_hand:,}' if by_hand else 'none'}"
        f" | {found.after:,} | {', '.join(names)}"
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
    print("| program | before | by hand | by improve | rewrites | results | runs | time |")
    print("|---|---:|---:|---:|---|---|---:|---:|", flush=True)
    every = cases(chosen.artifact, chosen.resource)
    wanted = [c for c in every if not chosen.names or any(n in c.name for n in chosen.names)]
    good = [row(case, chosen.state) for case in wanted]
    return not all(good)


if __name__ == "__main__":
    sys.exit(main())
