"""Make the pages in docs/studies anew: `python scripts/studies.py [STUDY...]`, or all of them.

A page's words are written by hand. What is between `<!-- measured: NAME -->` and
`<!-- end -->` is what the study's runs say, and is replaced; so are the page's pictures.
"""

from __future__ import annotations

import argparse
import json
import re
import runpy
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from cyclescope import Profile

ROOT = Path(__file__).resolve().parent.parent
PAGES = ROOT / "docs" / "studies"
EXAMPLES = ROOT / "examples" / "calyx"

Measured = dict[str, str | None]
"""What a study says in the parts of its page; None for what it was not asked to measure."""


def fill(text: str, measured: Mapping[str, str | None]) -> str:
    """Replace the measured parts of a page; those that are None stay as they are.

    Raises:
        ValueError: the page has another set of parts than was measured.
    """

    def part(match: re.Match[str]) -> str:
        name = match[1]
        found = measured[name]
        if found is None:
            return match[0]
        value = found.strip()
        body = f"\n\n{value}\n\n" if "\n" in value or value.startswith("|") else value
        return f"<!-- measured: {name} -->{body}<!-- end -->"

    names = set(re.findall(r"<!-- measured: (\S+) -->", text))
    if names != set(measured):
        raise ValueError(f"the page has parts {sorted(names)}, measured were {sorted(measured)}")
    return re.sub(r"<!-- measured: (\S+) -->.*?<!-- end -->", part, text, flags=re.DOTALL)


def generate(script: Path, *arguments: str) -> None:
    """Run a script of an example."""
    command = [sys.executable, "-B", str(script), *arguments]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def run_variants(
    program: Path, data: Path, passes: Sequence[str], *, area: bool = False
) -> list[Profile]:
    """Profile a program as compiled, and without each of some passes; titles say which."""
    from cyclescope.calyx import CalyxOptions, profile_program, variants

    result = []
    for name, options in variants(CalyxOptions(area=area), passes):
        profile = profile_program(program, data, options).profile
        result.append(profile.with_meta(title=f"{program.name}, {name}"))
    return result


def static_promotion(pages: Path, _work: Path, *, area: bool) -> Measured:  # noqa: ARG001
    """Section 7.1: five groups, dynamic and promoted."""
    from cyclescope.views import comparison, timeline_svg

    program = EXAMPLES / "multiply.futil"
    promoted, dynamic = run_variants(program, program.with_suffix(".json"), ["static-promotion"])
    (pages / "static-promotion.svg").write_bytes(timeline_svg([dynamic, promoted]))
    return {"table": comparison([promoted, dynamic], "markdown").decode()}


def resource_sharing(pages: Path, work: Path, *, area: bool) -> Measured:
    """Section 7.2: three matrix products, cells shared and not."""
    from cyclescope.views import comparison, timeline_svg

    generate(EXAMPLES / "three_products" / "generate.py", "-o", str(work))
    program = work / "three_products.futil"
    shared, own = run_variants(program, program.with_suffix(".json"), ["cell-share"], area=area)
    (pages / "resource-sharing.svg").write_bytes(timeline_svg([shared, own]))
    loops = [frame.name for frame in shared.catalog if re.fullmatch(r"while L\d+", frame.name)]
    outer = sorted(loops, key=lambda name: int(name[7:]))[::3]
    first, second, third = (f"`{name}`" for name in outer)
    plain = [replace(profile, areas=()) for profile in (shared, own)]
    return {
        "table": comparison(plain, "markdown").decode(),
        "area": comparison([shared, own], "markdown").decode() if area else None,
        "factor": f"{shared.cycles / own.cycles:.2f}",
        "first": first,
        "second": second,
        "third": third,
    }


STEPS = {
    "par": "parallel switches",
    "nested": "nested ifs",
    "wired": "loop conditions by wires",
    "static": "static groups and blocks",
    "merged": "side by side, multiplexers",
}
# Petal, section 8.2.3: what each step saved of 1,489,329 cycles, in percent.
PAPER = {"par": "", "nested": "17.7 %", "wired": "10.9 %", "static": "16.3 %", "merged": ""}


def packet_scheduler(pages: Path, work: Path, *, area: bool) -> Measured:
    """Section 8.2: the packet scheduler, rewritten step by step."""
    from cyclescope.calyx import CalyxOptions, profile_program
    from cyclescope.views import comparison, flamegraph

    folder = EXAMPLES / "packet_scheduler"
    profiles = {}
    for step, words in STEPS.items():
        generate(folder / "generate.py", "--variant", step, "-o", str(work))
        program = work / f"scheduler_{step}.futil"
        run = profile_program(program, work / "scheduler.json", CalyxOptions(area=area))
        (work / "memories.json").write_text(json.dumps(run.memories), encoding="utf-8")
        generate(folder / "check.py", str(work / "memories.json"))
        profiles[step] = run.profile.with_meta(title=f"{step}: {words}")
    for step in ("par", "merged"):
        picture = flamegraph(profiles[step], min_width=1)
        (pages / f"packet-scheduler-{step}.svg").write_bytes(picture)
    return {
        "table": _steps_table(profiles) if area else None,
        "overhead": comparison(list(profiles.values()), "markdown").decode(),
        **{f"hot-{step}": _hottest(profile) for step, profile in profiles.items()},
    }


def _steps_table(profiles: Mapping[str, Profile]) -> str:
    first = before = profiles["par"].cycles
    lines = [
        "| step | cycles | saved by it | so far | LUTs | FFs | the paper's step |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for step, profile in profiles.items():
        saved, far = before - profile.cycles, first - profile.cycles
        shares = [f"{100 * n / first:.1f} %" if step != "par" else "" for n in (saved, far)]
        luts, ffs = (sum(getattr(a, what) for a in profile.areas) for what in ("luts", "ffs"))
        cells = [STEPS[step], f"{profile.cycles:,}", *shares, f"{luts:,}", f"{ffs:,}", PAPER[step]]
        lines.append(f"| {' | '.join(cells)} |")
        before = profile.cycles
    return "\n".join(lines) + "\n"


def _hottest(profile: Profile) -> str:
    """The three places with the most cycles at their end, for a page."""
    from cyclescope.analyse import summarise

    lines = ["| cycles | kind | where |", "| ---: | --- | --- |"]
    for path in summarise(profile, hottest=3).hottest:
        where = " \u203a ".join((path.instance, *path.stack[-2:]))
        lines.append(f"| {path.cycles:,} | {path.kind} | {where} |")
    return "\n".join(lines) + "\n"


def neural_network(pages: Path, work: Path, *, area: bool) -> Measured:  # noqa: ARG001
    """Section 8.1: a feed-forward network before and after making its groups static."""
    from cyclescope.analyse import accounts_of_instances, table
    from cyclescope.calyx import profile_program
    from cyclescope.model import Kind
    from cyclescope.views import comparison, timeline_svg

    folder = EXAMPLES / "neural_network"
    profiles = {}
    for variant in ("dynamic", "static"):
        generate(folder / "generate.py", "--variant", variant, "-o", str(work))
        run = profile_program(work / f"network_{variant}.futil", work / "network.json")
        profiles[variant] = run.profile
        first = _start(run.profile, "first_ask_features", 5)
        picture = timeline_svg([run.profile], start=first, end=first + 40)
        (pages / f"neural-network-{variant}.svg").write_bytes(picture)
    before = profiles["dynamic"]
    net = accounts_of_instances(before)["main.net"]
    lines = [
        "| group | times | min | max | average | total |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for row in table(before, Kind.GROUP):
        name = row.frame.name
        if name.startswith("first_") and row.times > 500 and not name.endswith(("_1", "_2", "_3")):
            lines.append(
                f"| {name} | {row.times:,} | {row.shortest} | {row.longest} | "
                f"{float(row.average or 0):g} | {row.cycles:,} |"
            )
    return {
        "table": comparison(list(profiles.values()), "markdown").decode(),
        "useful": f"{100 * net.useful / net.total:.0f} %",
        "saved": f"{100 - 100 * profiles['static'].cycles / before.cycles:.0f} %",
        "groups": "\n".join(lines) + "\n",
    }


def _start(profile: Profile, group: str, nth: int) -> int:
    """The first cycle of a group's nth activation, from 0."""
    from cyclescope.model import spans

    found = spans(profile)
    names = [profile.frame_of(path).name for path in range(len(profile.call_paths))]
    return sorted(
        start
        for path, start in zip(found.path.tolist(), found.start.tolist(), strict=True)
        if names[path] == group
    )[nth]


def of_threads(name: str) -> Callable[..., Measured]:
    """A study of the script beside this one."""

    def study(*arguments: object, **options: object) -> Measured:
        script = Path(__file__).with_name("studies_threads.py")
        measured: Measured = runpy.run_path(str(script))[name](*arguments, **options)
        return measured

    return study


STUDIES: Mapping[str, Callable[..., Measured]] = {
    "static-promotion": static_promotion,
    "resource-sharing": resource_sharing,
    "packet-scheduler": packet_scheduler,
    "neural-network": neural_network,
    "gemm": of_threads("gemm"),
    "pi": of_threads("pi"),
}


def main() -> None:
    """Run the studies that are named and write their pages."""
    parser = argparse.ArgumentParser(description="Make the pages in docs/studies anew.")
    parser.add_argument("studies", nargs="*", metavar="STUDY", help=", ".join(STUDIES))
    parser.add_argument("-o", "--output", type=Path, default=PAGES, help="folder of the pages")
    parser.add_argument("--no-area", action="store_true", help="leave LUTs as the pages have them")
    options = parser.parse_args()
    unknown = [name for name in options.studies if name not in STUDIES]
    if unknown:
        parser.error(f"no study {unknown[0]}; there are {', '.join(STUDIES)}")
    options.output.mkdir(parents=True, exist_ok=True)
    for name in options.studies or STUDIES:
        text = (PAGES / f"{name}.md").read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as work:
            measured = STUDIES[name](options.output, Path(work), area=not options.no_area)
        page = options.output / f"{name}.md"
        page.write_text(fill(text, measured), encoding="utf-8")
        print(page)


if __name__ == "__main__":
    main()
