"""Install the wheel in an empty environment and use it there; print sizes and times as a table.

The environment has no cargo on its PATH and none of this repository's packages. The commands are
those of the three demos: a Calyx program, a C kernel's bounds, C with OpenMP as hardware, each with
its report; and one command for each that must do without an extra.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "examples"
LIMIT_MB = 230  # of all that is installed but pip

DEMOS = {
    "calyx": [
        f"calyx {EXAMPLES}/calyx/switch_par.futil --data {EXAMPLES}/calyx/switch_par.json -o s.cyc",
        "report s.cyc",
        "export s.cyc --format parquet",
        "table s.cyc groups --format csv -o groups.csv",
        "timeline s.cyc",
    ],
    "bounds": [f"bounds {EXAMPLES}/bounds/polybench/atax.c -o atax.cyc", "report atax.cyc"],
    "hls": [f"hls {EXAMPLES}/hls/gemm/1-naive.c -D DIM=8 -o gemm.cyc", "report gemm.cyc"],
}


def main() -> None:
    """Install, measure, run; the exit status is 1 if something fails or is too large."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("wheel", type=Path, nargs="?", help="else the one in dist/")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="make it there, and leave it")
    given = parser.parse_args()
    wheels = [given.wheel] if given.wheel else sorted((ROOT / "dist").glob("*.whl"))
    if len(wheels) != 1:
        sys.exit("install-test: name one wheel, or make the only one in dist/: make wheel")
    wheel = wheels[0].resolve()
    folder = given.keep or Path(tempfile.mkdtemp(prefix="install-test-"))
    try:
        failed = _try(wheel, folder.resolve())
    finally:
        if given.keep is None:
            shutil.rmtree(folder)
    sys.exit(1 if failed else 0)


def _try(wheel: Path, folder: Path) -> bool:
    environment, work = folder / "venv", folder / "work"
    work.mkdir(parents=True)
    _timed([sys.executable, "-m", "venv", str(environment)], work, {})
    python = environment / "bin" / "python"
    before = _sizes(environment)
    found = _timed([str(python), "-m", "pip", "install", "--quiet", str(wheel)], work, {})
    rows = [("install", *found)]
    after = {name: size for name, size in _sizes(environment).items() if name not in before}
    # Where cargo is, there may be compilers, too: these alone are shown.
    tools = folder / "tools"
    tools.mkdir()
    for name in ("clang++", "clang", "g++", "gcc", "c++", "cc", "ld", "as", "ar", "sh", "env"):
        place = shutil.which(name)
        if place is not None:
            (tools / name).symlink_to(place)
    variables = {
        "PATH": f"{environment}/bin:{tools}",
        "HOME": str(folder),
        "CYCLESCOPE_CACHE": str(folder / "cache"),
    }
    for name, commands in DEMOS.items():
        for command in commands:
            words = [str(environment / "bin" / "cyclescope"), *command.split()]
            rows.append((f"{name}: {command.split()[0]}", *_timed(words, work, variables)))
    print(f"\n{wheel.name}, {wheel.stat().st_size / 1e6:,.1f} MB\n")
    print("| installed | MB |\n|---|---:|")
    for name, size in sorted(after.items(), key=lambda item: -item[1])[:12]:
        print(f"| {name} | {size / 1e6:,.1f} |")
    total = sum(after.values()) / 1e6
    print(f"| **all** ({len(after)} packages; limit {LIMIT_MB}) | **{total:,.1f}** |\n")
    print("| step | by the clock, s | processor, s |\n|---|---:|---:|")
    for name, clock, processor in rows:
        print(f"| {name} | {clock:,.1f} | {processor:,.1f} |")
    if total > LIMIT_MB:
        print(f"install-test: {total:,.1f} MB are more than {LIMIT_MB}", file=sys.stderr)
    return total > LIMIT_MB


def _timed(command: list[str], folder: Path, variables: dict[str, str]) -> tuple[float, float]:
    """Seconds by the clock and of the processor; ends the test if the command fails."""
    start, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        command,
        cwd=folder,
        env=variables or os.environ,
        capture_output=True,
        text=True,
        check=False,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        shown = f"{' '.join(command)}: exit status {done.returncode}"
        sys.exit(f"install-test: {shown}\n{done.stdout}{done.stderr}")
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.monotonic() - start, processor


# Lists what each installed package takes: bytes of its files, those that pip compiled too.
_LIST = """
import importlib.metadata, json, pathlib
sizes = {}
for package in importlib.metadata.distributions():
    files = {pathlib.Path(package.locate_file(f)).resolve() for f in package.files or ()}
    sizes[package.metadata["Name"]] = sum(f.stat().st_size for f in files if f.is_file())
print(json.dumps(sizes))
"""


def _sizes(environment: Path) -> dict[str, int]:
    done = subprocess.run(
        [str(environment / "bin" / "python"), "-I", "-c", _LIST],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    sizes: dict[str, int] = json.loads(done.stdout)
    return sizes


if __name__ == "__main__":
    main()
