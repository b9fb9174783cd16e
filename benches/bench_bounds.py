"""The cost of `cyclescope bounds`: speed, details, skipping, memory, Table 3 from a cold start.

    python benches/bench_bounds.py [--large 2048] [--polybench FOLDER] [--only PART]

Times are processor time, the best of several, since the machine may be shared; the plain build is
made by the same compiler at -O2. FOLDER is a clone of PolyBench 4.2.1, of which the last part
counts the kernels that are not executed to the end.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cyclescope.bounds import Bounds, estimate
from cyclescope.bounds._native import Program, Records
from cyclescope.bounds._run import DETAIL_LIMIT, MEMORY, prepare

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[1]
KERNELS = ROOT / "examples" / "bounds" / "polybench"
Defines = dict[str, str]

SPEED: list[tuple[str, Defines]] = [
    ("gemm", {"NI": "512", "NJ": "512", "NK": "512"}),
    ("syrk", {"NI": "512", "NJ": "512", "REAL": "float"}),
    ("seidel_2d", {"N": "1000", "T": "20"}),
    ("atax", {"NX": "4000", "NY": "4000"}),
]
DETAIL: list[tuple[str, Defines]] = [
    ("gemm", {"NI": "150", "NJ": "150", "NK": "150"}),
    ("syrk", {"NI": "150", "NJ": "150"}),
    ("atax", {"NX": "1000", "NY": "1000"}),
    ("cholesky", {"N": "250"}),
    ("seidel_2d", {"N": "400", "T": "20"}),
    ("jacobi_2d", {"N": "250", "T": "20"}),
    ("floyd_warshall", {"N": "150"}),
]


def child_peak(command: list[str]) -> tuple[int, float, int]:
    """Exit status, seconds of processor time and peak memory in MB of a command.

    The peak is the kernel's own count for the program (VmHWM), read until it ends.
    """
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    peak = 0
    with subprocess.Popen(command) as running:
        status = Path(f"/proc/{running.pid}/status")
        while running.poll() is None:
            found = re.search(r"Name:\s+(\S+)(?s:.*)VmHWM:\s+(\d+) kB", status.read_text())
            if found and found[1] == Path(command[0]).name[:15]:
                peak = int(found[2])
            time.sleep(0.02)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return running.returncode, seconds, peak // 1024


class Kernel:
    """A kernel of the examples at some size, compiled once for each way to run it."""

    def __init__(self, name: str, defines: Defines) -> None:
        self.name, self.defines = name, defines
        self.unit, self.network, declarations, self.calibration = prepare(
            KERNELS / f"{name}.c", defines=defines
        )
        self.program = Program(self.network, declarations)

    def run(self, times: int = 3, **options: Any) -> tuple[Bounds, float, int]:
        """The bounds, seconds of processor time, and the peak in MB."""
        seconds: list[float] = []
        peaks = [0]

        def watched(command: list[str], *_: object) -> int:
            status, spent, peak = child_peak(command)
            # A run whose time stamps overflow is followed by others; all of them count.
            seconds[-1] += spent
            peaks.append(peak)
            return status

        self.program.execute = watched
        for _ in range(times):
            seconds.append(0.0)
            options = {"memory": MEMORY} | options
            records: Records = self.program.run(read=1, write=1, **options)
        bounds = Bounds(self.unit, self.network, self.calibration, records)
        return bounds, min(seconds), max(peaks)

    def __str__(self) -> str:
        return f"{self.name:15} {' '.join(f'{k}={v}' for k, v in self.defines.items()):24}"


def line(*cells: object) -> None:
    """Print the cells of a row: a name, then figures."""
    name, *figures = map(str, cells)
    print(name.ljust(40), *(figure.rjust(11) for figure in figures), flush=True)


def speed() -> None:
    """Execute every firing, and as usual: with those skipped whose time stamps repeat."""
    line("kernel", "firings", "all, s", "firings/s", "plain, s", "slowdown", "skipping, s",
         "arrays, MB", "peak, MB")  # fmt: skip
    for name, defines in SPEED:
        kernel = Kernel(name, defines)
        found, every, peak = kernel.run(periods=False)
        _, skipping, _ = kernel.run()
        plain = min(
            estimate(KERNELS / f"{name}.c", defines=defines, verify=True).records.seconds
            for _ in range(3)
        )
        arrays = sum(s.size * s.type.bits // 8 for s in kernel.network.storages) / 2**20
        line(kernel, f"{found.firings:,}", f"{every:.2f}", f"{found.firings / every / 1e6:.0f} M",
             f"{plain:.2f}", f"{every / plain:.1f}", f"{skipping:.2f}", f"{arrays:.1f}",
             peak)  # fmt: skip


def detail() -> None:
    """The cost of details: at most three times the run that executes every firing without them."""
    line("kernel", "firings", "bare, s", "detail, s", "ratio", "peak, MB")
    for name, defines in DETAIL:
        kernel = Kernel(name, defines)
        found, bare, _ = kernel.run(5, periods=False)
        other, detailed, peak = kernel.run(5, detail_limit=DETAIL_LIMIT)
        assert [e.cycles for e in found.estimates] == [e.cycles for e in other.estimates]
        count = sum(row.count for row in found.absolute.firings)
        ratio = f"{detailed / bare:.2f}"
        line(kernel, f"{count:,}", f"{bare:.3f}", f"{detailed:.3f}", ratio, peak)


def same(one: Bounds, other: Bounds) -> bool:
    """Return whether two runs agree in cycles, firings, and the activity in each cycle."""
    for a, b in zip(one.estimates, other.estimates, strict=True):
        if (a.cycles, a.firings, a.resolution) != (b.cycles, b.firings, b.resolution):
            return False
        for row in a.firings:
            for window in a.windows():
                stages = [e.stage(row.process, "E", *window).tobytes() for e in (a, b)]
                if stages[0] != stages[1]:
                    return False
    return True


def large(size: int) -> None:
    """A matrix product of more firings than could be executed; and smaller ones both ways."""
    line("gemm", "firings", "absolute", "unbounded", "skipped", "s", "peak, MB", "as in full")
    for n in (64, 128, 256, 512, size):
        kernel = Kernel("gemm", dict.fromkeys(("NI", "NJ", "NK"), str(n)))
        found, spent, peak = kernel.run(1 if n == size else 3)
        equal = "-"
        if n <= 512:
            full, _, _ = kernel.run(1, periods=False)
            equal = "yes" if same(found, full) else "NO"
        share = found.records.skipped / found.firings
        line(f"N = {n}", f"{found.firings:,}", f"{found.absolute.cycles:,}",
             f"{found.unbounded.cycles:,}", f"{share:.2%}", f"{spent:.2f}", peak,
             equal)  # fmt: skip


def memory() -> None:
    """The most that any process of the command takes."""
    for size in ("150", "300"):
        before = time.perf_counter()
        command = [sys.executable, "-m", "cyclescope", "bounds", str(KERNELS / "floyd_warshall.c")]
        command += ["-D", f"N={size}", "--memory", "256"]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as running:
            _, _, usage = os.wait4(running.pid, 0)
        own = usage.ru_maxrss // 1024
        peak = Kernel("floyd_warshall", {"N": size}).run(1, memory=256 << 20)[2]
        print(
            f"floyd_warshall N = {size} under --memory 256: the kernel's process {peak} MB, the "
            f"command's largest {own} MB, {time.perf_counter() - before:.1f} s"
        )


def polybench(folder: Path) -> None:
    """List the kernels of PolyBench 4.2.1 that are not executed to the end."""
    listed = (folder / "utilities" / "benchmark_list").read_text().split()
    engaged = []
    for line in listed:
        file = folder / line
        found = estimate(
            [file, folder / "utilities" / "polybench.c"],
            kernel="kernel_" + file.stem.replace("-", "_"),
            include=[folder / "utilities"],
            defines={"SMALL_DATASET": "1"},
        )
        share = found.records.skipped / max(found.firings, 1)
        engaged += [file.stem] if found.records.skipped else []
        print(f"{file.stem:15} {found.firings:14,} firings, {share:6.1%} not executed", flush=True)
    print(f"{len(engaged)} of {len(listed)} kernels are not executed to the end (SMALL)")


def table3() -> None:
    """Table 3 from a cold start."""
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "XDG_CACHE_HOME": cache, "CYCLESCOPE_CACHE": cache}
        begin = time.perf_counter()
        command = [sys.executable, str(ROOT / "examples" / "bounds" / "table3.py")]
        told = subprocess.run(command, check=True, env=environment, capture_output=True, text=True)
    seconds = time.perf_counter() - begin
    print(f"with the kernels that have a tweak also without: {seconds:.1f} s")
    print(told.stdout.splitlines()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--large", type=int, default=2048, metavar="N", help="size of the product")
    parser.add_argument("--polybench", type=Path, metavar="FOLDER", help="PolyBench 4.2.1")
    parts: dict[str, Callable[[], None]] = {
        "speed": speed,
        "detail": detail,
        "large": lambda: large(given.large),
        "memory": memory,
        "table3": table3,
        "polybench": lambda: polybench(given.polybench) if given.polybench else None,
    }
    parser.add_argument("--only", choices=parts, metavar="PART", help=", ".join(parts))
    given = parser.parse_args()
    for name, part in parts.items():
        if given.only in (None, name):
            print(f"\n{name}: {(part.__doc__ or '').splitlines()[0] if part.__doc__ else ''}")
            part()


if __name__ == "__main__":
    main()
