"""The studies' pages say what their runs say today, and their programs compute what they should."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from cyclescope.calyx import CalyxOptions, profile_program

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs" / "studies"
STUDIES = runpy.run_path(str(ROOT / "scripts" / "studies.py"))


@pytest.mark.long
@pytest.mark.parametrize("name", ["static-promotion", "resource-sharing", "neural-network"])
def test_a_page_says_what_was_measured(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "pages"
    folder.mkdir()
    measured = STUDIES["STUDIES"][name](folder, tmp_path / "work", area=False)
    page = (PAGES / f"{name}.md").read_text()
    assert STUDIES["fill"](page, measured) == page
    pictures = sorted(path.name for path in folder.iterdir())
    assert pictures
    for picture in pictures:
        assert f"({picture})" in page
        assert (folder / picture).read_bytes() == (PAGES / picture).read_bytes()


def test_every_study_has_a_page() -> None:
    assert {path.stem for path in PAGES.glob("*.md")} - {"README"} == set(STUDIES["STUDIES"])


def test_a_page_with_other_parts_is_refused() -> None:
    with pytest.raises(ValueError, match="the page has parts"):
        STUDIES["fill"]("<!-- measured: a --><!-- end -->", {"b": "1"})


def test_filling_twice_changes_nothing() -> None:
    page = "A <!-- measured: a --><!-- end -->.\n\n<!-- measured: t -->\n<!-- end -->\n"
    measured = {"a": "1", "t": "| x |\n"}
    once = STUDIES["fill"](page, measured)
    assert once == "A <!-- measured: a -->1<!-- end -->.\n\n" + (
        "<!-- measured: t -->\n\n| x |\n\n<!-- end -->\n"
    )
    assert STUDIES["fill"](once, measured) == once
    assert STUDIES["fill"](once, {"a": None, "t": None}) == once


@pytest.mark.long
@pytest.mark.parametrize("disable", [(), ("cell-share",)])
def test_three_products_are_right(disable: tuple[str, ...], tmp_path: Path) -> None:
    folder = ROOT / "examples" / "calyx" / "three_products"
    example = runpy.run_path(str(folder / "generate.py"))
    STUDIES["generate"](folder / "generate.py", "-o", str(tmp_path))
    program = tmp_path / "three_products.futil"
    run = profile_program(program, program.with_suffix(".json"), CalyxOptions(disable=disable))
    wanted = example["expected"](example["matrices"](8, 3))
    for name, values in wanted.items():
        found = run.memories[name]["data"]
        assert found == values, name
