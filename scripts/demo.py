"""Profile an example and draw its pictures into `build/demo/`: calyx (the default), bounds or hls.

Everything goes through the command line, as a user would do it; each command is printed. Where
there is a screen, the report is opened in the browser at the end.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import webbrowser
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EXAMPLE = ROOT / "examples" / "calyx" / "packet_scheduler"
FOLDER = ROOT / "build" / "demo"


def run(*arguments: str) -> None:
    """Print a command, run it in the demo's folder, and stop with its status if it fails."""
    shown = [Path(arguments[0]).name, *arguments[1:]]
    print(f"\n$ {shlex.join(shown)}", flush=True)
    status = subprocess.run(arguments, cwd=FOLDER, check=False).returncode
    if status:
        sys.exit(status)


TOOL = str(Path(sys.executable).with_name("cyclescope"))


def calyx() -> list[str]:
    """A packet scheduler of 1.3 million cycles: generate, profile, check, draw."""
    python = sys.executable
    run(python, str(EXAMPLE / "generate.py"), "--variant", "par", "-o", ".")
    run(TOOL, "calyx", "scheduler_par.futil", "--data", "scheduler.json",
        "-o", "scheduler.cyc", "--memories", "memories.json", "--force")  # fmt: skip
    run(python, str(EXAMPLE / "check.py"), "memories.json")
    run(TOOL, "report", "scheduler.cyc", "--force")
    run(TOOL, "flamegraph", "scheduler.cyc", "--force")
    run(TOOL, "flamegraph", "scheduler.cyc", "--flat", "--force")
    run(TOOL, "timeline", "scheduler.cyc", "--gzip", "--force")
    run(TOOL, "table", "scheduler.cyc", "groups", "--format", "csv", "-o", "groups.csv", "--force")
    run(TOOL, "summary", "scheduler.cyc", "--top", "5")
    pictures = ["scheduler.svg", "scheduler.flat.svg", "scheduler.pftrace.gz"]
    return ["scheduler.html", *pictures, "groups.csv"]


def bounds() -> list[str]:
    """Estimate the cycles of a C kernel, with one resource a statement and with any number."""
    kernel = ROOT / "examples" / "bounds" / "polybench" / "atax.c"
    run(TOOL, "bounds", str(kernel), "-o", "atax.cyc", "--force")
    run(TOOL, "report", "atax.cyc", "atax.unbounded.cyc", "-o", "atax.html", "--force")
    return ["atax.html"]


def hls() -> list[str]:
    """A matrix product by eight hardware threads, with a critical section and without."""
    for version in ("1-naive", "2-no-critical"):
        program = ROOT / "examples" / "hls" / "gemm" / f"{version}.c"
        run(TOOL, "hls", str(program), "-D", "DIM=16", "-o", f"gemm-{version}.cyc", "--force")
    run(TOOL, "report", "gemm-1-naive.cyc", "gemm-2-no-critical.cyc",
        "-o", "gemm.html", "--force")  # fmt: skip
    return ["gemm.html"]


SHOWS = {"calyx": calyx, "bounds": bounds, "hls": hls}


def main() -> None:
    """Profile one example, draw its pictures, and say where everything is."""
    show = sys.argv[1] if len(sys.argv) > 1 else "calyx"
    if show not in SHOWS:
        sys.exit(f"demo: no example {show}; there are {', '.join(SHOWS)}")
    FOLDER.mkdir(parents=True, exist_ok=True)
    made = SHOWS[show]()
    print("\nOpen these (reports and SVGs in a browser, timelines at ui.perfetto.dev):")
    for name in made:
        print(f"  {FOLDER / name}")
    if sys.platform == "darwin" or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"):
        webbrowser.open((FOLDER / made[0]).as_uri())


if __name__ == "__main__":
    main()
