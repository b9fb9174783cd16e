"""Cost of importing what the original Petal leaves: the command's wall clock, processor, memory.

    python benches/bench_import.py [FOLDER] [TIMES]

FOLDER contains a run's files (default: the recorded runs' `pifo`, 1,224,589 cycles, in
$CYCLESCOPE_CORPUS or ../shared/corpus); a packed waveform is unpacked first. Prints one row for
each of TIMES runs (default 5) of `cyclescope import petal`, from start to exit with the file in
the page cache, then the best. On a machine that does other things, look at processor time and best.
"""

from __future__ import annotations

import lzma
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def recorded() -> Path:
    beside = Path(__file__).resolve().parents[2] / "shared" / "corpus"
    return Path(os.environ.get("CYCLESCOPE_CORPUS", beside)) / "petal-runs" / "pifo"


def unpacked(folder: Path, into: Path) -> Path:
    """A copy of a run whose waveform is plain text."""
    for file in folder.iterdir():
        if file.suffix == ".json":
            shutil.copy(file, into)
        elif file.name.endswith(".vcd.xz"):
            with lzma.open(file) as packed, (into / "run.vcd").open("wb") as plain:
                shutil.copyfileobj(packed, plain)
        elif file.suffix == ".vcd":
            shutil.copy(file, into / "run.vcd")
    return into


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else recorded()
    times = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    if not folder.is_dir():
        print(f"import: {folder} is not here; CYCLESCOPE_CORPUS names the recorded runs' folder")
        return
    with tempfile.TemporaryDirectory() as scratch:
        run = unpacked(folder, Path(scratch))
        size = (run / "run.vcd").stat().st_size
        output = run / "run.cyc"
        command = [sys.executable, "-m", "cyclescope", "import", "petal", str(run)]
        command += ["-o", str(output), "--force"]
        print(f"{'wall s':>8} {'processor s':>12} {'peak MB':>8}   {size / 1e6:.0f} MB of VCD")
        rows = []
        for _ in range(times):
            begun = time.perf_counter()
            child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
            _, status, usage = os.wait4(child.pid, 0)
            wall = time.perf_counter() - begun
            if status:
                raise SystemExit("the import failed")
            rows.append((wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024))
            print(f"{rows[-1][0]:8.2f} {rows[-1][1]:12.2f} {rows[-1][2]:8.0f}")
        best = [min(column) for column in zip(*rows, strict=True)]
        print(
            f"{best[0]:8.2f} {best[1]:12.2f} {best[2]:8.0f}   best; {output.stat().st_size:,} bytes"
        )


if __name__ == "__main__":
    main()
