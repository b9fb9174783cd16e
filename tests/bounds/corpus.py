"""Run `cyclescope bounds` on public benchmarks as they are: make bounds-corpus FOLDER=…

Each program is given by its files; its own `main` calls the kernel, whose values are compared
with those of the same program compiled plainly (`--verify`). Nothing of it is part of this
project: FOLDER contains clones named PolyBenchC-4.2.1, MachSuite, CHStone, dynamatic;
docs/corpora.md says where they come from.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

# MachSuite's top functions, and those of CHStone: the function that its README measures.
MACHSUITE = {
    "aes/aes": "aes256_encrypt_ecb", "backprop/backprop": "backprop", "bfs/bulk": "bfs",
    "bfs/queue": "bfs", "fft/strided": "fft", "fft/transpose": "fft1D_512",
    "gemm/blocked": "bbgemm", "gemm/ncubed": "gemm", "kmp/kmp": "kmp", "md/grid": "md",
    "md/knn": "md_kernel", "nw/nw": "needwun", "sort/merge": "ms_mergesort",
    "sort/radix": "ss_sort", "spmv/crs": "spmv", "spmv/ellpack": "ellpack",
    "stencil/stencil2d": "stencil", "stencil/stencil3d": "stencil3d", "viterbi/viterbi": "viterbi",
}  # fmt: skip
CHSTONE = {
    "adpcm/adpcm.c": "adpcm_main", "aes/aes.c": "aes_main", "blowfish/bf.c": "blowfish_main",
    "dfadd/dfadd.c": "float64_add", "dfdiv/dfdiv.c": "float64_div", "dfmul/dfmul.c": "float64_mul",
    "dfsin/dfsin.c": "local_sin", "gsm/gsm.c": "Gsm_LPC_Analysis", "jpeg/main.c": "jpeg2bmp_main",
    "mips/mips.c": "main", "motion/mpeg2.c": "motion_vectors", "sha/sha_driver.c": "sha_stream",
}  # fmt: skip


@dataclass(frozen=True)
class Program:
    """A benchmark: its suite and name, its files, its kernel, the compiler's options, its data."""

    suite: str
    name: str
    files: tuple[Path, ...]
    kernel: str
    options: tuple[str, ...] = ()
    data: tuple[Path, ...] = ()


def polybench(root: Path) -> Iterator[Program]:
    listed = (root / "utilities" / "benchmark_list").read_text().split()
    for line in listed:
        file = root / line
        kernel = "kernel_" + file.stem.replace("-", "_")
        options = ("-I", str(root / "utilities"), "-D", "MINI_DATASET")
        yield Program(
            "PolyBench", file.stem, (file, root / "utilities" / "polybench.c"), kernel, options
        )


def machsuite(root: Path) -> Iterator[Program]:
    common = root / "common"
    for folder, kernel in MACHSUITE.items():
        own = root / folder
        source = own / f"{own.parent.name}.c"
        if not source.exists():
            source = next(own.glob(f"{own.name}*.c"))
        files = (source, own / "local_support.c", common / "support.c", common / "harness.c")
        options = ("-I", str(common))
        data = (own / "input.data", own / "check.data")
        yield Program("MachSuite", folder, files, kernel, options, data)


def chstone(root: Path) -> Iterator[Program]:
    for name, kernel in CHSTONE.items():
        yield Program("CHStone", name.split("/")[0], (root / name,), kernel)


def dynamatic(root: Path) -> Iterator[Program]:
    for folder in sorted((root / "integration-test").iterdir()):
        for file in sorted(folder.glob("*.c")):
            if file.stem == folder.name:
                yield Program(
                    "dynamatic", file.stem, (file,), file.stem, ("-I", str(root / "include"))
                )


SUITES = {
    "PolyBenchC-4.2.1": polybench,
    "MachSuite": machsuite,
    "CHStone": chstone,
    "dynamatic": dynamatic,
}


def run(
    program: Program, limit: int, *, periods: bool = False, rtl: bool = False
) -> tuple[bool, str]:
    """Run a program; return whether it runs with its own values, and its cycles or the message.

    With `periods`: return whether firings were skipped, since time stamps repeat. With `rtl`: its
    process network runs as hardware, too, where every result is compared; return whether that is
    so, and unbounded ≤ absolute ≤ hardware.
    """
    command = [sys.executable, "-m", "cyclescope", "bounds", *map(str, program.files)]
    command += ["--kernel", program.kernel, *program.options, "--json"]
    command += ["--rtl", "rtl"] if rtl else ["--no-detail"]
    command += [] if periods else ["--verify"]
    command += ["--", *map(str, program.data)]
    with tempfile.TemporaryDirectory() as folder:
        try:
            done = subprocess.run(
                command, cwd=folder, capture_output=True, text=True, timeout=limit, check=False
            )
        except subprocess.TimeoutExpired:
            return False, f"no answer in {limit} s"
    if done.returncode:
        return False, (done.stderr or done.stdout).strip().splitlines()[-1]
    found = json.loads(done.stdout)
    if found["made_up"]:
        return False, f"made up: {found['made_up'][0]}"
    if periods:
        return found["skipped"] > 0, f"{found['skipped']:,} of {found['firings']:,} firings skipped"
    calls = len(found["calls"])
    if rtl:
        built = found["rtl"]
        cycles = found["unbounded"], found["absolute"], built["cycles"]
        buffers = sum(channel["kind"] == "reordering buffer" for channel in built["channels"])
        above = cycles[2] - cycles[1]
        said = f"{built['firings']:,} firings equal, {above:+,} to absolute, {buffers} buffers"
        return sorted(cycles) == list(cycles), f"{' <= '.join(f'{n:,}' for n in cycles)}: {said}"
    return (
        True,
        f"{found['absolute']:,} / {found['unbounded']:,} cycles, call {found['call']} of {calls}",
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default="", help="names that hold this text")
    parser.add_argument("--limit", type=int, default=300, help="seconds for each")
    parser.add_argument(
        "--periods", action="store_true", help="count the programs whose firings are skipped"
    )
    parser.add_argument("--rtl", action="store_true", help="also the process networks as hardware")
    parser.add_argument("-n", "--jobs", type=int, default=1)
    given = parser.parse_args()
    programs = [
        program
        for name, find in SUITES.items()
        if (given.folder / name).is_dir()
        for program in find(given.folder / name)
        if given.only in f"{program.suite}/{program.name}"
    ]
    if not programs:
        sys.exit(f"{given.folder}: contains none of {', '.join(SUITES)}")
    counts: dict[str, list[int]] = {}
    with ThreadPoolExecutor(given.jobs) as pool:
        for program, (good, text) in zip(
            programs,
            pool.map(lambda p: run(p, given.limit, periods=given.periods, rtl=given.rtl), programs),
            strict=True,
        ):
            print(
                f"{'ok  ' if good else 'NOT '} {program.suite} {program.name}: {text}", flush=True
            )
            count = counts.setdefault(program.suite, [0, 0])
            count[0] += good
            count[1] += 1
    for suite, (good, every) in counts.items():
        print(f"{suite}: {good} of {every}")
    return 0 if all(good == every for good, every in counts.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
