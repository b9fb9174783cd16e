"""Make the pages in docs/studies anew: `python scripts/studies.py [STUDY...]`, or all of them.

A page's words are written by hand. What stands between `<!-- measured: NAME -->` and
`<!-- end -->` is what the study's runs say, and is replaced; so are the page's pictures.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from cyclescope import Profile

ROOT = Path(__file__).resolve().parent.parent
PAGES = ROOT / "docs" / "studies"
EXAMPLES = ROOT / "examples" / "calyx"


def fill(text: str, measured: Mapping[str, str]) -> str:
    """Replace the measured parts of a page.

    Raises:
        ValueError: the page has another set of parts than was measured.
    """
    seen: set[str] = set()

    def replace(match: re.Match[str]) -> str:
        name = match[1]
        seen.add(name)
        value = measured[name].strip()
        body = f"\n\n{value}\n\n" if "\n" in value or value.startswith("|") else value
        return f"<!-- measured: {name} -->{body}<!-- end -->"

    names = set(re.findall(r"<!-- measured: (\S+) -->", text))
    if names != set(measured):
        raise ValueError(f"the page has parts {sorted(names)}, measured were {sorted(measured)}")
    return re.sub(r"<!-- measured: (\S+) -->.*?<!-- end -->", replace, text, flags=re.DOTALL)


def generate(script: Path, *arguments: str) -> None:
    """Run an example's generator."""
    command = [sys.executable, "-B", str(script), *arguments]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def run_variants(program: Path, data: Path, passes: Sequence[str]) -> list[Profile]:
    """Profile a program as compiled, and without each of some passes; titles say which."""
    from cyclescope.calyx import CalyxOptions, profile_program, variants

    result = []
    for name, options in variants(CalyxOptions(), passes):
        profile = profile_program(program, data, options).profile
        result.append(profile.with_meta(title=f"{program.name}, {name}"))
    return result


def static_promotion(pages: Path, _work: Path) -> Mapping[str, str]:
    """Section 7.1: five groups, dynamic and promoted."""
    from cyclescope.views import comparison, timeline_svg

    program = EXAMPLES / "multiply.futil"
    promoted, dynamic = run_variants(program, program.with_suffix(".json"), ["static-promotion"])
    (pages / "static-promotion.svg").write_bytes(timeline_svg([dynamic, promoted]))
    return {"table": comparison([promoted, dynamic], "markdown").decode()}


def resource_sharing(pages: Path, work: Path) -> Mapping[str, str]:
    """Section 7.2: three matrix products, cells shared and not."""
    from cyclescope.views import comparison, timeline_svg

    generate(EXAMPLES / "three_products" / "generate.py", "-o", str(work))
    program = work / "three_products.futil"
    shared, own = run_variants(program, program.with_suffix(".json"), ["cell-share"])
    (pages / "resource-sharing.svg").write_bytes(timeline_svg([shared, own]))
    loops = [frame.name for frame in shared.catalog if re.fullmatch(r"while L\d+", frame.name)]
    outer = sorted(loops, key=lambda name: int(name[7:]))[::3]
    first, second, third = (f"`{name}`" for name in outer)
    return {
        "table": comparison([shared, own], "markdown").decode(),
        "factor": f"{shared.cycles / own.cycles:.2f}",
        "first": first,
        "second": second,
        "third": third,
    }


STUDIES: Mapping[str, Callable[[Path, Path], Mapping[str, str]]] = {
    "static-promotion": static_promotion,
    "resource-sharing": resource_sharing,
}


def main() -> None:
    """Run the studies that are named and write their pages."""
    parser = argparse.ArgumentParser(description="Make the pages in docs/studies anew.")
    parser.add_argument("studies", nargs="*", metavar="STUDY", help=", ".join(STUDIES))
    parser.add_argument("-o", "--output", type=Path, default=PAGES, help="folder of the pages")
    options = parser.parse_args()
    unknown = [name for name in options.studies if name not in STUDIES]
    if unknown:
        parser.error(f"no study {unknown[0]}; there are {', '.join(STUDIES)}")
    options.output.mkdir(parents=True, exist_ok=True)
    for name in options.studies or STUDIES:
        text = (PAGES / f"{name}.md").read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as work:
            measured = STUDIES[name](options.output, Path(work))
        page = options.output / f"{name}.md"
        page.write_text(fill(text, measured), encoding="utf-8")
        print(page)


if __name__ == "__main__":
    main()
