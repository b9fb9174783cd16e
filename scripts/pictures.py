"""Make the pictures of pages that a browser draws anew: `python scripts/pictures.py [FOLDER]`.

They are in docs/pictures, as PNG: the report, a network and a schedule in it, and two larger flame
graphs. It needs a Chromium on the machine, and leaves them as they are without one.
"""

from __future__ import annotations

import math
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from studies import EXAMPLES, generate
from views import PICTURES, ROOT, run

if TYPE_CHECKING:
    from playwright.sync_api import Browser

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
GEMM = ("2-no-critical", "3-vectors", "4-blocked", "5-double-buffering")


def cyclescope(*words: str) -> None:
    """Run a command of cyclescope here."""
    run(["cyclescope", *words])


def prepare() -> None:
    """Write here what is to be shown: the packet scheduler, before and after, and four ladders."""
    for variant, name in (("par", "scheduler"), ("nested", "after")):
        script = EXAMPLES / "packet_scheduler" / "generate.py"
        generate(script, "--variant", variant, "-o", ".")
        program = f"scheduler_{variant}.futil"
        cyclescope("calyx", program, "--data", "scheduler.json", "-o", f"{name}.cyc")
    cyclescope("flamegraph", "scheduler.cyc", "-o", "scheduler.svg")
    cyclescope("diff", "scheduler.cyc", "after.cyc", "--flamegraph", "diff.svg")
    cyclescope("report", "scheduler.cyc", "-o", "report.html")
    for version in GEMM:
        program = str(ROOT / "examples" / "hls" / "gemm" / f"{version}.c")
        cyclescope("ladder", program, "-D", "DIM=16", "--threads", "4", "-o", f"{version}.cyc")
    cyclescope("report", *(f"{version}.cyc" for version in GEMM), "-o", "ladders.html")
    naive = str(ROOT / "examples" / "hls" / "gemm" / "1-naive.c")
    cyclescope("hls", naive, "-D", "DIM=16", "-o", "schedule.cyc")
    cyclescope("report", "schedule.cyc", "-o", "schedule.html")
    kernel = str(ROOT / "examples" / "bounds" / "polybench" / "gramschmidt")
    given = (f"{kernel}.c", "--calibration", f"{kernel}.toml", "--rtl", "gramschmidt")
    cyclescope("bounds", *given, "-o", "gramschmidt.cyc")
    cyclescope("report", "gramschmidt.rtl.cyc", "-o", "network.html")


def photograph(browser: Browser) -> dict[str, bytes]:
    """Name in docs/pictures → the picture, of what `prepare` wrote here."""
    found = {}
    for name, width in (("scheduler", 1400), ("diff", 1200)):
        page = browser.new_page(viewport={"width": width, "height": 400})
        page.goto(Path(f"{name}.svg").resolve().as_uri())
        height = page.evaluate("document.documentElement.getBoundingClientRect().height")
        page.set_viewport_size({"width": width, "height": math.ceil(height)})
        found[f"{name}.png"] = page.screenshot()
    for name, width, height in (("report", 1320, 1900), ("ladders", 1000, 900)):
        page = browser.new_page(viewport={"width": width, "height": height})
        page.goto(Path(f"{name}.html").resolve().as_uri())
        page.wait_for_selector("html[data-ready]")
        part = page.locator('[data-part="ladders"]')
        found[f"{name}.png"] = part.screenshot() if part.count() else page.screenshot()
    found["report-network.png"] = section(browser, "network.html", "network")
    found["schedule.png"] = section(browser, "schedule.html", "schedule")
    found["report-place.png"] = highlighted(browser, "report.html")
    return found


def highlighted(browser: Browser, file: str) -> bytes:
    """The picture of a block that is highlighted, and what if it took fewer cycles."""
    page = browser.new_page(viewport={"width": 1320, "height": 980})
    page.goto(Path(file).resolve().as_uri())
    page.wait_for_selector("html[data-ready]")
    row = page.locator('[data-part="critical"] tbody tr').nth(3)
    row.locator("button.link").first.click()
    slider = row.locator("input")
    slider.focus()
    for _ in range(12):
        slider.press("ArrowLeft")
    page.locator("header nav").get_by_role("link", name="Critical path").click()
    page.wait_for_timeout(500)
    return page.screenshot()


def section(browser: Browser, file: str, name: str) -> bytes:
    """The picture of a report's section, from its title to its legend."""
    page = browser.new_page(viewport={"width": 1600, "height": 900})
    page.goto(Path(file).resolve().as_uri())
    page.wait_for_selector("html[data-ready]")
    box = page.locator(f"#{name}").bounding_box()
    legend = page.locator(f"#{name} .legend").bounding_box()
    assert box is not None
    assert legend is not None
    clip = {**box, "height": legend["y"] + legend["height"] - box["y"]}
    return page.screenshot(clip=clip, full_page=True)


def main() -> None:
    """Make them all anew, if there is a Chromium."""
    if CHROMIUM is None:
        print("pictures: no Chromium, *.png are left as they are")
        return
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as scratch, sync_playwright() as playwright:
        folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        before = Path.cwd()
        os.chdir(folder)
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        try:
            prepare()
            found = photograph(browser)
        finally:
            browser.close()
            os.chdir(before)
    for name, contents in found.items():
        (PICTURES / name).write_bytes(contents)
        print((PICTURES / name).relative_to(ROOT))


if __name__ == "__main__":
    main()
