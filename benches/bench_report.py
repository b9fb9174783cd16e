"""Measure the report of a large profile: size, writing it, opening it, moving on its timeline.

    .venv/bin/python benches/bench_report.py [PROFILE.cyc]

Without a profile, one of a packet scheduler's size is made up. Processor time of the page's main
thread is given beside what the clock said: the first says what the page costs, the second what
this machine, and whoever else is on it, made of that.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT)]

from tests.views.browser import CHROMIUM, chromium  # noqa: E402
from tests.views.test_report_page import PAN  # noqa: E402

from cyclescope.model import load  # noqa: E402
from cyclescope.views import write_report  # noqa: E402
from strategies import large_profile  # noqa: E402

FRAMES = 40


def main() -> None:
    profile = load(sys.argv[1]) if len(sys.argv) > 1 else large_profile()
    runs = len(profile.schedule)
    print(f"{profile.cycles:,} cycles, {runs:,} runs, {len(profile.series)} counters")
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        begun = time.process_time()
        with page.open("wb") as stream:
            write_report([("p", profile)], stream)
        print(f"written in {time.process_time() - begun:.1f} s of processor time")
        print(f"{page.stat().st_size / 1000:,.0f} kB")
        if CHROMIUM:
            _browse(page)


def _browse(file: Path) -> None:
    with chromium() as browser:
        page = browser.new_page(viewport={"width": 1400, "height": 900})
        client = page.context.new_cdp_session(page)
        client.send("Performance.enable", {"timeDomain": "threadTicks"})

        def spent() -> dict[str, float]:
            metrics = client.send("Performance.getMetrics")["metrics"]
            return {metric["name"]: metric["value"] for metric in metrics}

        begun = time.monotonic()
        page.goto(file.as_uri())
        page.wait_for_selector("html[data-ready]")
        shown = time.monotonic() - begun
        print(f"opened in {shown:.2f} s; processor {spent()['TaskDuration']:.2f} s")
        surface = page.locator('[data-part="surface"]')
        surface.scroll_into_view_if_needed()
        for presses in (1, 3, 8):
            for _ in range(presses):
                surface.press("+")
            before = spent()
            times = sorted(page.evaluate(PAN, FRAMES))
            after = spent()
            script, task = (
                1000 * (after[name] - before[name]) / FRAMES
                for name in ("ScriptDuration", "TaskDuration")
            )
            where = page.locator('[data-part="view"]').inner_text()
            print(
                f"a step on the timeline ({where}): median {times[FRAMES // 2]:.0f} ms; "
                f"processor {task:.0f} ms, of it script {script:.0f} ms"
            )


if __name__ == "__main__":
    main()
