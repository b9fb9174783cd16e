"""Times and peak memory of every view, each in a process of its own.

    python benches/bench_views.py [PROFILE.cyc]

Without a profile a synthetic one of a packet scheduler's size is made (1.26 million cycles, a
million runs, 1.2 million register updates). `seconds` is the view alone, from a loaded profile
to bytes; `peak MB` is the whole process, interpreter and loading included.
"""

from __future__ import annotations

import importlib.util
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import cyclescope
from cyclescope import views
from cyclescope.model import Kind, Profile

if TYPE_CHECKING:
    from collections.abc import Callable

TESTS = Path(__file__).parents[1] / "tests"


def timeline(profile: Profile, *, compress: bool) -> int:
    with tempfile.TemporaryFile() as stream:
        views.write_timeline(profile, stream, compress=compress)
        return stream.tell()


VIEWS: dict[str, Callable[[Profile], bytes | str | int]] = {
    "(load only)": lambda _: b"",
    "summary": lambda p: views.summary_text(p),
    "summary, JSON": lambda p: views.summary_json(p),
    "table of cells": lambda p: views.table_view(p, Kind.CELL),
    "table of groups": lambda p: views.table_view(p, Kind.GROUP),
    "table of control": lambda p: views.table_view(p, Kind.CONTROL),
    "table of primitives, Parquet": lambda p: views.table_view(p, Kind.PRIMITIVE, "parquet"),
    "flame graph, scaled": lambda p: views.flamegraph(p),
    "flame graph, flat": lambda p: views.flamegraph(p, scaled=False),
    "folded, scaled": lambda p: views.folded(p, scaled=True),
    "speedscope": lambda p: views.speedscope(p),
    "export runs, Parquet": lambda p: views.export_table(p, "runs"),
    "timeline": lambda p: timeline(p, compress=False),
    "timeline, gzip": lambda p: timeline(p, compress=True),
}


def measure(name: str, path: str) -> None:
    begin = time.perf_counter()
    profile = cyclescope.load(path)
    loaded = time.perf_counter()
    result = VIEWS[name](profile)
    done = time.perf_counter()
    size = result if isinstance(result, int) else len(result)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{loaded - begin:.3f} {done - loaded:.3f} {peak:.0f} {size}")


def synthetic(folder: str) -> str:
    spec = importlib.util.spec_from_file_location("strategies", TESTS / "strategies.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["strategies"] = module
    spec.loader.exec_module(module)
    path = str(Path(folder) / "large.cyc")
    cyclescope.save(module.large_profile(), path)
    return path


def main() -> None:
    if len(sys.argv) == 3:
        measure(sys.argv[1], sys.argv[2])
        return
    with tempfile.TemporaryDirectory() as folder:
        path = sys.argv[1] if len(sys.argv) == 2 else synthetic(folder)
        profile = cyclescope.load(path)
        updates = sum(len(series) for series in profile.series)
        print(
            f"{profile.meta.title}: {profile.cycles:,} cycles, {len(profile.schedule):,} runs, "
            f"{len(profile.forest):,} trees, {updates:,} counter intervals"
        )
        print(f"{'view':30} {'seconds':>8} {'peak MB':>8} {'size kB':>9}")
        for name in VIEWS:
            found = subprocess.run(
                [sys.executable, __file__, name, path], capture_output=True, text=True, check=True
            )
            load, seconds, peak, size = found.stdout.split()
            shown = load if name == "(load only)" else seconds
            print(f"{name:30} {shown:>8} {peak:>8} {int(size) / 1000:>9,.0f}", flush=True)


if __name__ == "__main__":
    main()
