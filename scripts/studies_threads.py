"""The studies of threads: matrix products and pi, as a profiling unit in the hardware saw them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from cyclescope import Profile
    from cyclescope.analyse import Team

__all__ = ["gemm", "pi"]

EXAMPLES = Path(__file__).resolve().parent.parent / "examples" / "hls"
DIM = 128
THREADS = 8
STARTED = THREADS * 100  # cycles until all threads have started

# The paper's times, of 512 x 512 elements, as factors over the version before and over the naive
# one (section V-C, which gives some of either; the others are their products and quotients).
PAPER = {
    "1-naive": ("", "1"),
    "2-no-critical": ("1.14", "1.14"),
    "3-vectors": ("1.93", "2.20"),
    "4-blocked": ("2.40", "5.28"),
    "5-double-buffering": ("3.60", "19"),
}
WORDS = {
    "1-naive": "naive, with a critical section",
    "2-no-critical": "no critical section",
    "3-vectors": "vector loads of A",
    "4-blocked": "blocked, in local memory",
    "5-double-buffering": "double buffering",
}

# A thread's start costs the same, whatever it has to do, in cycles.
START = 100_000
STEPS = {"1": 1_000_000, "4": 4_000_000, "10": 10_000_000}
FLOP_OF_A_STEP = 6  # as written: two additions, a multiplication, a product, a quotient, a sum


def profile(program: Path, out: Path, *options: str, lines: int = 1 << 18) -> Profile:
    """Run a program's region with a profiling unit in it; return the profile.

    Args:
        program: in C.
        out: the profile's file.
        options: more for the command.
        lines: of the trace's region.
    """
    import cyclescope

    command = [sys.executable, "-m", "cyclescope", "hls", str(program), "--profile", *options]
    command += ["--threads", str(THREADS), "--trace-lines", str(lines), "-o", str(out)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return cyclescope.load(out)


def team_of(found: Profile) -> Team:
    """The threads of a profile that has some."""
    from cyclescope.analyse import team

    threads = team(found)
    assert threads is not None
    return threads


def rate(threads: Team, *words: str) -> float:
    """The rate of all threads together per cycle, of the counters whose name has all words."""
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
    measured = {"dim": str(dim), "table": gemm_table(found), "waits": waits_table(found)}
    measured["macs"] = f"{first.cycles / dim**3:.2f}"
    for state in ("critical", "spinning"):
        measured[state] = share(team_of(first).states.get(state, 0), THREADS * first.cycles)
    spin = contention(first)
    window = {"start": max(spin - 400, 0), "end": max(spin - 400, 0) + 1600}
    (pages / "gemm-states.svg").write_bytes(timeline_svg([first]))
    (pages / "gemm-zoom.svg").write_bytes(timeline_svg([first], **window))
    (pages / "gemm-bandwidth.svg").write_text(bandwidth_svg(found), encoding="utf-8")
    alone = []
    for name in ("4-blocked", "5-double-buffering"):
        run = alone_with(name, min(dim, 32))
        alone.append(run)
        (waiting,) = (int(t.value.sum()) for t in run.series if t.metric == "stall" and t.path > 0)
        measured |= {
            f"alone-{name[2:]}": f"{run.cycles:,}",
            f"loading-{name[2:]}": f"{waiting:,}",
            f"rest-{name[2:]}": f"{run.cycles - waiting:,}",
        }
        measured[f"most-{name[2:]}"] = f"{run.cycles / waiting:.2f}"
    del measured["most-double-buffering"]
    middle = alone[1].cycles // 4 // 1000 * 1000
    picture = timeline_svg(alone, start=middle, end=middle + 1600)
    (pages / "gemm-phases.svg").write_bytes(picture)
    return measured


def share(part: int, whole: int) -> str:
    """As the pages write it."""
    return f"{100 * part / whole:.2f} %"


def table(words: Sequence[str], numbers: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table for a page: columns of words, then of numbers."""
    rules = [*(["---"] * len(words)), *(["---:"] * len(numbers))]
    lines = [(*words, *numbers), rules, *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def gemm_table(found: Mapping[str, Profile]) -> str:
    """A row for each version."""
    cycles = [run.cycles for run in found.values()]

    def row(name: str, run: Profile, before: int) -> tuple[str, ...]:
        threads = team_of(run)
        memory, floats = (
            next(r for r in threads.roofs if word in r.names[0]) for word in ("bytes", "floating")
        )
        waiting = sum(m.counts.get(("stall", "stalls: memory"), 0) for m in threads.members)
        return (
            WORDS[name],
            f"{run.cycles:,}",
            f"{before / run.cycles:.2f}",
            f"{cycles[0] / run.cycles:.2f}",
            *PAPER[name],
            f"{float(memory.rate):.2f}",
            f"{100 * float(memory.share):.1f} %",
            f"{float(floats.rate):.2f}",
            f"{100 * float(floats.share):.0f} %",
            f"{100 * waiting / (THREADS * run.cycles):.0f} %",
        )

    numbers = (
        "cycles", "step", "in all", "the paper's step", "in all", "bytes a cycle", "of the roof",
        "FLOP a cycle", "of the roof", "waits for memory",
    )  # fmt: skip
    before = [cycles[0], *cycles]
    return table(["version"], numbers, map(row, found, found.values(), before))


def waits_table(found: Mapping[str, Profile]) -> str:
    """For each version what its requests to memory are, and what they cost."""

    def row(name: str, run: Profile) -> tuple[str, ...]:
        threads = team_of(run)
        requests = sum(int(s.value.sum()) for s in run.series if s.name == "memory requests")
        moved = sum(rate(threads, word) for word in ("bytes read", "bytes written")) * run.cycles
        return (
            WORDS[name],
            f"{requests:,}",
            f"{moved / requests:.1f}",
            f"{run.cycles / requests:.2f}",
            *(f"{rate(threads, 'stalls', cause):.2f}" for cause in ("memory", "lock")),
        )

    numbers = (
        "requests", "bytes each", "cycles from one to the next",
        "threads that wait for memory, on average", "for a lock",
    )  # fmt: skip
    return table(["version"], numbers, map(row, found, found.values()))


def contention(run: Profile) -> int:
    """The cycle in which a thread first spins for long, when all have started."""
    from cyclescope.model import Kind, spans

    found = spans(run)
    names = [run.frame_of(p).name for p in range(len(run.call_paths.parent))]
    kinds = [run.frame_of(p).kind for p in range(len(run.call_paths.parent))]
    spinning = [
        (start, end)
        for path, start, end in zip(
            found.path.tolist(), found.start.tolist(), found.end.tolist(), strict=True
        )
        if kinds[path] is Kind.STATE and names[path] == "spinning" and start > 2 * STARTED
    ]
    longest = max((end - start for start, end in spinning[:1000]), default=0)
    return next((s for s, e in sorted(spinning) if e - s >= longest / 2), 0)


def counted(run: Profile, word: str, edges: NDArray[np.float64]) -> NDArray[np.float64]:
    """The sum of all counters with a word in their name between some edges."""
    import numpy as np

    total: NDArray[np.float64] = np.zeros(len(edges) - 1)
    for series in run.series:
        if word in series.name and series.metric in ("bytes", "operations") and len(series):
            times = np.stack((series.start, series.end), axis=1).reshape(-1)
            sums = np.repeat(np.cumsum(series.value), 2)
            sums[::2] -= series.value
            total += np.diff(np.interp(edges, times, sums))
    return total


def alone_with(name: str, dim: int) -> Profile:
    """One thread alone, its few counters sampled often: phases are short."""
    from cyclescope.hls import UnitOptions, compile_c, measure

    counters = {"stalls: memory", "floating-point operations", "bytes read", "bytes written"}
    program = compile_c(EXAMPLES / "gemm" / f"{name}.c", threads=1, defines={"DIM": str(dim)})
    unit = UnitOptions(name, period=16, counters=frozenset(counters))
    found = measure(program, unit=unit, trace_lines=1 << 15)
    assert found.agrees
    return found.profile.with_meta(title=f"{name}.c, one thread")


def bandwidth_svg(found: Mapping[str, Profile]) -> str:
    """The paper's Figure 7: each version's bandwidth over its own time, all to one scale."""
    import numpy as np

    left, width, high, top = 250, 720, 44, 30
    curves = {}
    for name, run in found.items():
        edges = np.linspace(0, run.cycles, 121)
        curves[name] = counted(run, "bytes ", edges) / np.diff(edges)
    most = max(float(curve.max()) for curve in curves.values())
    height = top + (high + 16) * len(curves)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {left + width + 20} {height}" '
        f'width="{left + width + 20}" height="{height}" style="font:11px ui-monospace,Menlo,'
        "Consolas,'DejaVu Sans Mono',monospace\">",
        '<rect width="100%" height="100%" fill="#fff"/>',
        '<text x="8" y="18" fill="#555">share of the run</text>',
    ]
    for tenth in range(0, 11, 2):
        x = left + width * tenth // 10
        parts.append(
            f'<text x="{x}" y="18" fill="#555" text-anchor="middle">{10 * tenth} %</text>'
            f'<line x1="{x}" x2="{x}" y1="23" y2="{height}" stroke="#e4e4e4"/>'
        )
    for row, (name, curve) in enumerate(curves.items()):
        y = top + (high + 16) * row
        mean = float(curve.mean())
        parts.append(
            f'<text x="8" y="{y + 14}" font-weight="bold">{WORDS[name]}</text>'
            f'<text x="8" y="{y + 30}" fill="#555">{mean:.2f} bytes a cycle</text>'
            f'<text x="8" y="{y + 44}" fill="#555">{found[name].cycles:,} cycles</text>'
        )
        step = width / len(curve)
        points = [f"{left},{y + high}"]
        for index, value in enumerate(curve.tolist()):
            at = y + high - high * value / most
            points += [
                f"{left + index * step:.1f},{at:.1f}",
                f"{left + (index + 1) * step:.1f},{at:.1f}",
            ]
        points.append(f"{left + width},{y + high}")
        parts.append(f'<polygon points="{" ".join(points)}" fill="#5b8fc9"/>')
    return "\n".join(parts) + "\n</svg>\n"


def pi(pages: Path, work: Path, *, area: bool, scale: int = 1) -> Mapping[str, str]:  # noqa: ARG001
    """Section V-D: pi in 1, 4 and 10 million steps, divided by `scale` as the start's cost is."""
    from cyclescope.views import timeline_svg

    rows = []
    # GFLOP/s; its accelerators run at about 140 MHz (section V-B).
    paper = {"1": 0.146, "4": 0.556, "10": 1.507}
    roof = 0
    for name, steps in STEPS.items():
        run = profile(
            EXAMPLES / "pi" / "pi.c",
            work / f"pi-{name}.cyc",
            *("--args", str(steps // scale), "--start-cost", str(START // scale)),
            lines=1 << 15 if scale == 1 else 1 << 10,
        )
        (pages / f"pi-{name}.svg").write_bytes(timeline_svg([run]))
        threads = team_of(run)
        floats = FLOP_OF_A_STEP * (steps // scale) / run.cycles
        roof = next(r.peak for r in threads.roofs if "floating" in r.names[0])
        cells = (
            f"{steps // scale:,}",
            f"{run.cycles:,}",
            f"{100 * float(threads.efficiency):.0f} %",
            f"{floats:.2f}",
            f"{100 * floats / roof:.0f} %",
            f"{paper[name] / 0.140:.2f}",
        )
        rows.append(cells)
    numbers = (
        "steps", "cycles", "parallel efficiency", "FLOP a cycle", "of the roof",
        "FLOP a cycle in the paper",
    )  # fmt: skip
    start = f"{START // scale:,}"
    return {"table": table([], numbers, rows), "start": start, "roof": str(roof)}
