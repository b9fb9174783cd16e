"""Random C programs through the compiler: thousands of seeds, against the host's compiler.

python benches/random_hls.py 0 1000          # as data flow, in every order that is allowed
python benches/random_hls.py 0 20 --rtl      # as hardware in simulation
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from cyclescope.errors import CyclescopeError
from hls.generator import Kernel, generate
from hls.test_random import agrees, in_hardware, native, run

BATCH = 50


def wrong(kernel: Kernel, threads: int, expected: dict[str, bytes], *, rtl: bool) -> str:
    """What is wrong with a program; empty if nothing is."""
    try:
        if rtl:
            found = in_hardware(kernel, threads)
        else:
            found = run(kernel, threads, random.Random(kernel.seed) if kernel.seed % 2 else None)
    except CyclescopeError as error:
        return str(error)
    return agrees(expected, found)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("first", type=int)
    parser.add_argument("last", type=int, help="exclusive")
    parser.add_argument("--rtl", action="store_true", help="simulate the hardware")
    given = parser.parse_args()
    start, failures = time.perf_counter(), 0
    for first in range(given.first, given.last, BATCH):
        threads = 1 + first // BATCH % 3
        kernels = [generate(seed) for seed in range(first, min(given.last, first + BATCH))]
        with tempfile.TemporaryDirectory() as folder:
            wanted = native(kernels, threads, Path(folder))
        for kernel, expected in zip(kernels, wanted, strict=True):
            if text := wrong(kernel, threads, expected, rtl=given.rtl):
                failures += 1
                print(f"seed {kernel.seed}, {threads} threads: {text}", flush=True)
    count = given.last - given.first
    print(f"{count} programs, {failures} wrong, {time.perf_counter() - start:.0f} s")
    return min(failures, 1)


if __name__ == "__main__":
    sys.exit(main())
