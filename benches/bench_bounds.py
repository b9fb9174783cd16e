"""Speed of `cyclescope bounds`: firings per second, slowdown, memory, Table 3 from a cold start.

Prints one table. `python benches/bench_bounds.py [N]` (default 512). Each figure is the best of
three in processor time, since the machine may be shared; the plain build is made by the same
compiler at -O2.
"""

from __future__ import annotations

import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from cyclescope.bounds import estimate
from cyclescope.bounds._estimate import Bounds
from cyclescope.bounds._native import Program, execute
from cyclescope.bounds._run import MEMORY, prepare

ROOT = Path(__file__).parents[1]
KERNELS = ROOT / "examples" / "bounds" / "polybench"


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


def measure(kernel: str, defines: dict[str, str]) -> None:
    unit, network, declarations, calibration = prepare(KERNELS / f"{kernel}.c", defines=defines)
    arrays = sum(s.size * s.type.bits // 8 for s in network.storages) / 2**20
    with Program(network, declarations) as program:
        times: list[float] = []
        peaks: list[int] = []
        real = execute

        def watched(command: list[str], *_: object) -> int:
            status, seconds, peak = child_peak(command)
            # A run whose stamps overflow is followed by others; all of them count.
            times[-1] += seconds
            peaks.append(peak)
            return status

        program.execute = watched
        for _ in range(3):
            times.append(0.0)
            records = program.run(read=1, write=1, memory=MEMORY)
        program.execute = real
        bounds = Bounds(unit, network, calibration, records)
    plain = min(
        estimate(
            KERNELS / f"{kernel}.c", defines=defines, verify=True, memory=MEMORY
        ).records.seconds
        for _ in range(3)
    )
    best, firings = min(times), bounds.firings
    sizes = " ".join(f"{k}={v}" for k, v in defines.items())
    print(
        f"{kernel:10} {sizes:24} {firings / 1e6:8.1f} {best:8.2f} {firings / best / 1e6:10.1f} "
        f"{plain:8.2f} {best / plain:9.1f} {arrays:9.1f} {max(peaks):8} "
        f"{bounds.absolute.resolution:7}"
    )


def main() -> None:
    size = sys.argv[1] if len(sys.argv) > 1 else "512"
    print(
        f"{'kernel':10} {'size':24} {'Mfirings':>8} {'s':>8} {'Mfirings/s':>10} {'plain s':>8} "
        f"{'slowdown':>9} {'arrays MB':>9} {'peak MB':>8} {'step':>7}"
    )
    measure("gemm", {"NI": size, "NJ": size, "NK": size})
    measure("syrk", {"NI": size, "NJ": size, "REAL": "float"})
    measure("seidel_2d", {"N": "1000", "T": "20"})
    measure("atax", {"NX": "4000", "NY": "4000"})
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "XDG_CACHE_HOME": cache, "CYCLESCOPE_CACHE": cache}
        begin = time.perf_counter()
        subprocess.run(
            [sys.executable, str(ROOT / "examples" / "bounds" / "table3.py")],
            check=True,
            env=environment,
            stdout=subprocess.DEVNULL,
        )
    seconds = time.perf_counter() - begin
    print(f"Table 3 from a cold start, kernels with a tweak also without: {seconds:.1f} s")


if __name__ == "__main__":
    main()
