"""The documentation is right: its commands run, its examples print what is below them."""

from __future__ import annotations

import contextlib
import doctest
import importlib.util
import io
import pkgutil
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import cyclescope
from cyclescope import errors
from cyclescope.cli import COMMANDS, main

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted(
    [
        ROOT / "README.md",
        *(p for part in ("", "views", "studies") for p in (ROOT / "docs" / part).glob("*.md")),
    ]
)
EXAMPLES = ROOT / "examples"
# What a reader puts in for the words in capitals.
PROGRAM = {
    "PROGRAM.futil": "examples/calyx/switch_par.futil",
    "DATA.json": "examples/calyx/switch_par.json",
}


def _blocks(page: Path, language: str) -> list[str]:
    """The text between fences of a language; a fence without one closes, if one is open."""
    found: list[str] = []
    inside: list[str] | None = None
    opened = ""
    for line in page.read_text(encoding="utf-8").splitlines(keepends=True):
        if inside is None and line.startswith("```"):
            inside, opened = [], line[3:].strip()
        elif inside is not None and line.rstrip() == "```":
            if opened == language:
                found.append("".join(inside))
            inside = None
        elif inside is not None:
            inside.append(line)
    return found


def _commands(page: Path) -> list[list[str]]:
    """The lines of a page's shell blocks that call cyclescope, comments taken off."""
    lines = [line for block in _blocks(page, "sh") for line in block.splitlines()]
    found = [shlex.split(line, comments=True) for line in lines if line.startswith("cyclescope ")]
    return [[PROGRAM.get(word, word) for word in command] for command in found]


@pytest.fixture
def run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[[list[str]], str]:
    """Runs commands in a folder that has the examples; gives what they print."""
    (tmp_path / "examples").symlink_to(EXAMPLES)
    monkeypatch.chdir(tmp_path)

    def run(command: list[str]) -> str:
        status = main(command[1:])
        printed = capsys.readouterr()
        assert status == 0, (shlex.join(command), printed.err)
        return printed.out

    return run


@pytest.mark.parametrize("page", ["README.md", "docs/quick-start.md"])
def test_commands_of_a_page_run_one_after_another(
    page: str, run: Callable[[list[str]], str]
) -> None:
    commands = _commands(ROOT / page)
    assert len(commands) >= 6
    for command in commands:
        run(command)


def test_what_the_readme_shows_is_what_is_printed(run: Callable[[list[str]], str]) -> None:
    shown = [
        block
        for block in _blocks(ROOT / "README.md", "")
        if block.startswith("$ cyclescope") and "examples/" in block.splitlines()[0]
    ]
    assert shown
    for block in shown:
        first, *rest = block.splitlines()
        printed = run(shlex.split(first)[1:])
        have = [line.split() for line in printed.splitlines()]
        for line in filter(str.strip, rest):
            assert line.split() in have, line


def test_every_target_that_the_readme_names_is_in_the_makefile() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for page in PAGES:
        for target in re.findall(r"`?make ([a-z]+)\b[` ]", page.read_text(encoding="utf-8")):
            known = re.search(rf"^{target}:", makefile, re.M)
            assert known or target in _ENGLISH, f"{page.name}: make {target}"


_ENGLISH = frozenset("a an both it its one of sure up the them that this".split())  # noqa: SIM905


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if not re.match(r"[a-z]+:", link):
            assert (page.parent / link.split("#")[0]).exists(), link


@pytest.mark.parametrize(
    "page", [p for p in PAGES if "{testcode}" in p.read_text("utf-8")], ids=lambda page: page.name
)
def test_examples_of_a_page_print_what_stands_below_them(page: Path) -> None:
    code, shown = _blocks(page, "{testcode}"), _blocks(page, "{testoutput}")
    assert len(code) == len(shown)
    names: dict[str, object] = {}
    for source, expected in zip(code, shown, strict=True):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(source, str(page), "exec"), names)
        assert printed.getvalue() == expected


def _told(page: Path) -> list[tuple[str, list[str], str]]:
    """(heading, command, the output below it) of the commands of a page that have one."""
    text = page.read_text(encoding="utf-8")
    found = []
    for section in re.split(r"^## ", text, flags=re.M)[1:]:
        pairs = re.findall(r"^```sh\n(.*)\n```\n\n```text\n(.*)\n```$", section, re.M)
        heading = section.splitlines()[0].strip("`")
        found += [(heading, shlex.split(command), said) for command, said in pairs]
    return found


ERRORS = ROOT / "docs" / "errors.md"


def test_every_kind_of_error_is_in_the_catalogue_with_its_exit_status() -> None:
    text = ERRORS.read_text(encoding="utf-8")
    assert re.findall(r"^## `(\w+)`$", text, re.M) == sorted(
        errors.__all__, key=list(vars(errors)).index
    )
    statuses = {
        name: int(status)
        for status, kinds in re.findall(r"^\| (\d+) \| (.*?) \|", text, re.M)
        for name in re.findall(r"`(\w+Error)`", kinds)
    }
    assert statuses == {name: getattr(errors, name).exit_code for name in errors.__all__}


def test_errors_are_told_as_the_catalogue_says(
    run: Callable[[list[str]], str], capsys: pytest.CaptureFixture[str]
) -> None:
    program = "examples/calyx/switch_par.futil"
    data = "examples/calyx/switch_par.json"
    run(["cyclescope", "calyx", program, "--data", data, "-o", "switch.cyc"])
    (broken,) = (block for block in _blocks(ERRORS, "") if block.startswith("component"))
    Path("broken.futil").write_text(broken, encoding="utf-8")
    Path("switch.json").write_text("{}", encoding="utf-8")
    told = _told(ERRORS)
    assert len(told) >= 10
    for kind, command, said in told:
        assert main(command[1:]) == getattr(errors, kind).exit_code, command
        assert capsys.readouterr().err == f"{said}\n"


def test_the_api_pages_name_everything_that_is_exported() -> None:
    spec = importlib.util.spec_from_file_location("docs_conf", ROOT / "docs" / "conf.py")
    assert spec is not None
    assert spec.loader is not None
    conf = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(conf)
    made = conf.made_pages()
    packages = {name for name in _packages() if name != "cyclescope.cli"}
    assert packages <= set(conf.PACKAGES)
    for package in conf.PACKAGES:
        page = made[f"api-{package}"]
        assert f"api-{package}.md" in made["api"]
        for name in importlib.import_module(package).__all__:
            assert re.search(rf"\b{re.escape(f'{package}.{name}')}\b", page), f"{package}.{name}"
    commands = re.findall(r"^## (\w+)$", made["commands"], re.M)
    assert commands == list(COMMANDS)


_WITHIN = r"\._|\.rules$|\.rewrites$|\.hls\."  # packages whose names others export


def _packages() -> list[str]:
    """Packages with exported names; of nested ones the outermost that export."""
    found = pkgutil.walk_packages(cyclescope.__path__, "cyclescope.")
    packages = [m.name for m in found if m.ispkg and not re.search(_WITHIN, m.name)]
    public = [name for name in packages if hasattr(importlib.import_module(name), "__all__")]
    return ["cyclescope", *public]


def _modules() -> list[str]:
    """The packages whose `__init__` has examples; those of private modules are fragments."""
    found = pkgutil.walk_packages(cyclescope.__path__, "cyclescope.")
    names = [module.name for module in found if module.ispkg]
    return [
        name
        for name in ["cyclescope", *names]
        if (spec := importlib.util.find_spec(name))
        and spec.origin
        and spec.origin.endswith(".py")
        and re.search(r"^\s*>>> ", Path(spec.origin).read_text("utf-8"), re.M)
    ]


@pytest.mark.parametrize("name", _modules())
def test_examples_in_docstrings(name: str) -> None:
    failed, tried = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
    assert tried
    assert not failed
