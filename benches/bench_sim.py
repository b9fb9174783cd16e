"""The cost of building and running, with capture and without.

    python benches/bench_sim.py [--rounds N]

The designs are the packet scheduler of `examples/calyx/`, in both variants, and a small program.
Every pair of stock and captured run is made back to back and compared: same cycles, same memories.
`ratio` is the median of the pairs' ratios of simulation time; `CPU` the least processor time of the
captured runs over the least of the stock ones, data and confinement included in both.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cyclescope.calyx import compile_program
from cyclescope.sim import build, load_capture, read_data, run

if TYPE_CHECKING:
    from collections.abc import Callable

    from cyclescope.sim import Built, Design

EXAMPLES = Path(__file__).parents[1] / "examples" / "calyx"
SMALL = EXAMPLES / "switch_par.futil"
OTHER_SMALL = EXAMPLES / "switch_if.futil"


def timed(action: Callable[[], Any]) -> tuple[float, Any]:
    begin = time.perf_counter()
    result = action()
    return time.perf_counter() - begin, result


def processor(action: Callable[[], Any]) -> tuple[float, Any]:
    """Processor time of the children that an action waited for, and what it gives."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    result = action()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, result


def row(what: str, *values: str) -> None:
    print(f"| {what:<44} |" + "".join(f" {value:>12} |" for value in values))


def designs(path: Path) -> tuple[Design, Design]:
    return compile_program(path, instrument=False).design, compile_program(path).design


def builds(scheduler: Design) -> None:
    """Times of builds, from an empty cache on."""
    small, other = compile_program(SMALL).design, compile_program(OTHER_SMALL).design
    row("build, s", "seconds")
    row("---", "---:")
    for what, design in [
        ("small program, first build on the machine", small),
        ("small program, new", other),
        ("small program, built before", other),
        ("packet scheduler, new", scheduler),
        ("packet scheduler, built before", scheduler),
    ]:
        row(what, f"{timed(lambda design=design: build(design))[0]:.2f}")


def capture_file(built: Built, data: dict[str, object], folder: Path) -> bytes:
    """The raw capture of a run, which `run` reads and removes."""
    from cyclescope.sim._memory import encode_memory

    for memory in built.design.memories:
        (folder / f"{memory.name}.dat").write_text(encode_memory(memory, data[memory.name]))
    command = [built.program, f"capture={folder / 'capture'}", "--", f"+DATA={folder}"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return (folder / "capture").read_bytes()


def runs(name: str, stock: Built, captured: Built, data: dict[str, Any], rounds: int) -> None:
    pairs, spent = [], []
    for _ in range(rounds):
        (one, first), (other, second) = (
            processor(lambda built=built: run(built, data=data)) for built in (stock, captured)
        )
        assert (first.cycles, first.memories) == (second.cycles, second.memories)
        pairs.append((first.seconds, second.seconds))
        spent.append((one, other))
    with tempfile.TemporaryDirectory() as folder:
        raw = capture_file(captured, data, Path(folder))
        load, capture = timed(lambda: load_capture(Path(folder) / "capture"))
    row(
        name,
        f"{second.cycles:,}",
        str(sum(len(m.signals) for m in captured.design.capture)),
        f"{statistics.median(s for s, _ in pairs):.3f}",
        f"{statistics.median(c for _, c in pairs):.3f}",
        f"{statistics.median(c / s for s, c in pairs):.3f}",
        f"{min(c for _, c in spent) / min(s for s, _ in spent):.3f}",
        f"{len(capture.states):,}",
        f"{len(raw) / 1e6:.2f}",
        f"{len(zlib.compress(raw)) / 1e6:.3f}",
        f"{load * 1e3:.0f}",
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15, help="pairs of runs (default 15)")
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        cases = []
        for variant in ("par", "nested"):
            generate = EXAMPLES / "packet_scheduler" / "generate.py"
            command = [sys.executable, str(generate), "--variant", variant, "-o", name]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            stock, captured = designs(folder / f"scheduler_{variant}.futil")
            cases.append((f"packet scheduler, {variant}", stock, captured))
        data = read_data(folder / "scheduler.json")
        os.environ["CYCLESCOPE_CACHE"] = str(folder / "cache")
        builds(cases[0][2])
        print()
        row("run", "cycles", "signals", "stock, s", "capture, s", "ratio", "CPU", "states",
            "file, MB", "deflated, MB", "load, ms")  # fmt: skip
        row("---", *["---:"] * 10)
        for what, stock, captured in cases:
            runs(what, build(stock), build(captured), data, rounds)


if __name__ == "__main__":
    main()
