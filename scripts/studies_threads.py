"""The studies of threads: matrix products and pi, as a profiling unit in the hardware saw them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cyclescope import Profile
    from cyclescope.analyse import Team

__all__ = ["gemm", "pi"]

EXAMPLES = Path(__file__).resolve().parent.parent / "examples" / "hls"
DIM = 128
THREADS = 8

# The paper's times, of 512 x 512 elements, as factors over the naive version (section V-C). It
# gives the third's over the second.
PAPER = {
    "1-naive": "1",
    "2-no-critical": "1.14",
    "3-vectors": "2.20 (1.93 over the one before)",
    "4-blocked": "5.28",
    "5-double-buffering": "19",
}
WORDS = {
    "1-naive": "naive, with a critical section",
    "2-no-critical": "no critical section",
    "3-vectors": "vector loads of A",
    "4-blocked": "blocked, in local memory",
    "5-double-buffering": "double buffering",
}

# A thread's start costs the same, whatever it has to do: 0.7 ms at 140 MHz.
START = 100_000
STEPS = {"1": 1_000_000, "4": 4_000_000, "10": 10_000_000}
FLOP_OF_A_STEP = 6  # as written: two additions, a multiplication, a product, a quotient, a sum


def profile(program: Path, out: Path, *options: str, threads: int = THREADS) -> Profile:
    """Run a program's region with a profiling unit in it; the unit's profile."""
    import cyclescope

    command = [sys.executable, "-m", "cyclescope", "hls", str(program), "--profile", *options]
    command += ["--threads", str(threads), "--trace-lines", "262144", "-o", str(out)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return cyclescope.load(out)


def team_of(found: Profile) -> Team:
    """The threads of a profile that has some."""
    from cyclescope.analyse import team

    threads = team(found)
    assert threads is not None
    return threads


def rate(threads: Team, *words: str) -> float:
    """What all threads count together a cycle, of the counters whose name has all words."""
    return sum(
        float(threads.rate(metric, name))
        for metric, name in threads.members[0].counts
        if all(word in name for word in words)
    )


def gemm(pages: Path, work: Path, *, area: bool, dim: int = DIM) -> Mapping[str, str]:  # noqa: ARG001
    """Section V-C: five versions of a matrix product."""
    from cyclescope.views import timeline_svg

    found = {
        name: profile(EXAMPLES / "gemm" / f"{name}.c", work / f"{name}.cyc", "-D", f"DIM={dim}")
        for name in WORDS
    }
    first = found["1-naive"]
    lines = [
        "| version | cycles | ours | the paper | bytes a cycle | FLOP a cycle | waits for memory |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for name, run in found.items():
        threads = team_of(run)
        waiting = sum(m.counts.get(("stall", "stalls: memory"), 0) for m in threads.members)
        cells = (
            WORDS[name],
            f"{run.cycles:,}",
            f"{first.cycles / run.cycles:.2f}",
            PAPER[name],
            f"{rate(threads, 'bytes'):.2f}",
            f"{rate(threads, 'floating-point'):.2f}",
            f"{100 * waiting / (THREADS * run.cycles):.0f} %",
        )
        lines.append(f"| {' | '.join(cells)} |")
    states = team_of(first).states
    whole = THREADS * first.cycles
    (pages / "gemm-states.svg").write_bytes(timeline_svg([first], start=0, end=6000))
    # Phases are shorter than a sampling period, and eight threads are in different ones.
    for name in ("4-blocked", "5-double-buffering"):
        alone = profile(
            EXAMPLES / "gemm" / f"{name}.c",
            work / "alone.cyc",
            *("-D", f"DIM={min(dim, 64)}", "--sample", "32", "--force"),
            threads=1,
        )
        middle = alone.cycles // 2
        picture = timeline_svg([alone], start=middle, end=middle + 4000)
        (pages / f"gemm-{name[2:]}.svg").write_bytes(picture)
    for name, run in found.items():
        (pages / f"gemm-whole-{name[0]}.svg").write_bytes(timeline_svg([run]))
    return {
        "dim": str(dim),
        "table": "\n".join(lines) + "\n",
        "critical": f"{100 * states.get('critical', 0) / whole:.2f} %",
        "spinning": f"{100 * states.get('spinning', 0) / whole:.2f} %",
        "macs": f"{first.cycles / dim**3:.2f}",
    }


def pi(pages: Path, work: Path, *, area: bool, scale: int = 1) -> Mapping[str, str]:  # noqa: ARG001
    """Section V-D: pi in 1, 4 and 10 million steps, divided by `scale` as the start's cost is."""
    from cyclescope.views import timeline_svg

    lines = [
        "| steps | cycles | all threads busy | GFLOP/s at 140 MHz | the paper |",
        "| ---: | ---: | ---: | ---: | ---: |",
    ]
    paper = {"1": "0.146", "4": "0.556", "10": "1.507"}
    for name, steps in STEPS.items():
        run = profile(
            EXAMPLES / "pi" / "pi.c",
            work / f"pi-{name}.cyc",
            *("--args", str(steps // scale), "--start-cost", str(START // scale)),
        )
        (pages / f"pi-{name}.svg").write_bytes(timeline_svg([run]))
        busy = team_of(run).efficiency
        gflops = FLOP_OF_A_STEP * (steps // scale) * 0.140 / run.cycles
        cells = (
            f"{steps // scale:,}",
            f"{run.cycles:,}",
            f"{100 * float(busy):.0f} %",
            f"{gflops:.3f}",
            paper[name],
        )
        lines.append(f"| {' | '.join(cells)} |")
    return {"table": "\n".join(lines) + "\n", "start": f"{START // scale:,}"}
