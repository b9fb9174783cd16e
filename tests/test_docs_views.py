"""The pages of docs/views: their commands run, and what they show is what comes out."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from cyclescope.cli import COMMANDS

if TYPE_CHECKING:
    from types import ModuleType

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
PAGES = sorted((DOCS / "views").glob("*.md"))
# Cycles of hardware change when the hardware becomes better, costs with Yosys: these run in tests
# of their own, and `make pictures` writes what they give.
ELSEWHERE = {"hls", "ladder", "naive.cyc", "private.cyc", "--area", "costed.cyc"}


def _script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The present output of the pages' commands, by page."""
    views = _script("views")
    folder = tmp_path_factory.mktemp("views")
    (folder / "examples").symlink_to(ROOT / "examples")
    pytest.importorskip("duckdb", reason="the extra `query` is not installed")
    return {
        page.name: views.make(page, folder, lambda command: not ELSEWHERE.intersection(command))
        for page in views.pages()
    }


@pytest.mark.long
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_shows_what_its_commands_print_and_draw(page: Path, made: dict[str, Any]) -> None:
    found = made[page.name]
    assert found.text == page.read_text("utf-8"), "run `make pictures`"
    for name, contents in found.pictures.items():
        assert (DOCS / "pictures" / name).read_bytes() == contents, "run `make pictures`"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_has_a_question_a_command_and_says_how_to_read_it(page: Path) -> None:
    text = page.read_text("utf-8")
    assert re.match(r"# .+\n\n\*.+\*\n\n```sh\ncyclescope ", text)
    assert re.findall(r"^## (Reading it|Traps)$", text, re.M) == ["Reading it", "Traps"]
    for picture in re.findall(r"\]\(([^)\s]+\.(?:svg|png))\)", text):
        assert (page.parent / picture).exists(), picture


def test_every_view_has_a_page() -> None:
    text = (DOCS / "reading-views.md").read_text("utf-8")
    table = "\n".join(re.findall(r"^\|.*\|$", text, re.M))
    for name in set(COMMANDS) - {"cache", "calyx", "completion", "help", "hls", "import"}:
        assert f"`{name}`" in table, name
    for page in PAGES:
        assert f"](views/{page.name})" in table, page.name
        assert re.search(rf"^views/{page.stem}$", text, re.M), page.name
