"""Profile the packet scheduler example and draw all its pictures into `build/demo/`.

Everything goes through the command line, as a user would do it; each command is printed.
"""

from __future__ import annotations

import shlex
import subprocess
import sys
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


def main() -> None:
    """Generate, profile, check, draw, and say where everything is."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    python, tool = sys.executable, str(Path(sys.executable).with_name("cyclescope"))
    run(python, str(EXAMPLE / "generate.py"), "--variant", "par", "-o", ".")
    run(tool, "calyx", "scheduler_par.futil", "--data", "scheduler.json",
        "-o", "scheduler.cyc", "--memories", "memories.json", "--force")  # fmt: skip
    run(python, str(EXAMPLE / "check.py"), "memories.json")
    run(tool, "report", "scheduler.cyc", "--force")
    run(tool, "flamegraph", "scheduler.cyc", "--force")
    run(tool, "flamegraph", "scheduler.cyc", "--flat", "--force")
    run(tool, "timeline", "scheduler.cyc", "--gzip", "--force")
    run(tool, "table", "scheduler.cyc", "groups", "--format", "csv", "-o", "groups.csv", "--force")
    run(tool, "summary", "scheduler.cyc", "--top", "5")
    print("\nOpen these (report and SVGs in a browser, the timeline at ui.perfetto.dev):")
    for name in (
        "scheduler.html",
        "scheduler.svg",
        "scheduler.flat.svg",
        "scheduler.pftrace.gz",
        "groups.csv",
    ):
        print(f"  {FOLDER / name}")


if __name__ == "__main__":
    main()
