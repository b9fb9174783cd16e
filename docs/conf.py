"""The documentation's build: `make docs`. Commands and the API's pages come from the code."""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path
from typing import TYPE_CHECKING

import click

import cyclescope

if TYPE_CHECKING:
    from sphinx.application import Sphinx

project = "cyclescope"
author = "the cyclescope authors"
project_copyright = f"{author}, MIT licence"
release = cyclescope.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.doctest", "sphinx.ext.napoleon"]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"cyclescope {release}"
html_static_path: list[str] = []
html_extra_path: list[str] = []
myst_heading_anchors = 3
myst_enable_extensions = ["colon_fence"]
autodoc_typehints = "signature"
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
# Fields of named tuples are members and attributes: they are described once.
napoleon_use_ivar = True
# The site asks no other host for anything.
html_theme_options = {"light_css_variables": {"color-brand-primary": "#0b57d0"}}
# Annotations name what only a type checker imports: `Profile` may then mean either of two.
suppress_warnings = ["ref.python"]

HERE = Path(__file__).parent
MADE = HERE / "reference"
# What is exported twice is described where it comes first.
PACKAGES = {
    "cyclescope": "From outside",
    "cyclescope.notebook": "Profiles that show themselves",
    "cyclescope.errors": "Errors",
    "cyclescope.model": "The profile",
    "cyclescope.calyx": "Source: Calyx programs",
    "cyclescope.calyx.rewrites": "Rewrites of Calyx programs",
    "cyclescope.bounds": "Source: bounds of C kernels",
    "cyclescope.hls": "Source: C as multithreaded hardware",
    "cyclescope.traces": "Source: other tools' files",
    "cyclescope.traces.wave": "Waveforms",
    "cyclescope.traces.petal": "Petal's own files",
    "cyclescope.traces.paraver": "Paraver traces",
    "cyclescope.analyse": "What a profile means",
    "cyclescope.views": "Views",
    "cyclescope.network": "Process networks as hardware",
    "cyclescope.studies": "Studies: what runs many times",
    "cyclescope.pytest_plugin": "Cycle budgets in pytest",
    "cyclescope.calltree": "Call trees of Calyx designs",
    "cyclescope.sim": "Running RTL",
    "cyclescope.rtl": "Arithmetic units in RTL",
    "cyclescope.c": "Reading C",
}


def _commands() -> str:
    """Every verb with its help, as the command line prints it."""
    from cyclescope.cli import COMMANDS, program

    parts = ["# Commands\n", "`cyclescope COMMAND --help` prints the same.\n"]
    context = click.Context(program, info_name="cyclescope", **program.context_settings)
    for name in COMMANDS:
        command = program.get_command(context, name)
        assert command is not None
        inner = click.Context(command, info_name=name, parent=context)
        inner.max_content_width = inner.terminal_width = 100
        parts.append(f"## {name}\n\n```text\n{command.get_help(inner)}\n```\n")
    return "\n".join(parts)


def _api() -> dict[str, str]:
    """Make a page for each package, with all its exports, and one that lists the packages."""
    described: dict[int, str] = {}
    result = {}
    for package, title in PACKAGES.items():
        module = importlib.import_module(package)
        parts = [f"# {title}: `{package}`\n", _directive("automodule", package, "no-members")]
        for name in module.__all__:
            value, full = getattr(module, name), f"{package}.{name}"
            known = inspect.isclass(value) or inspect.isfunction(value)
            if known and id(value) in described:
                parts.append(f"`{full}` is {{py:obj}}`{described[id(value)]}`.\n")
            elif inspect.isclass(value):
                parts.append(_directive("autoclass", full, "members"))
            elif inspect.isfunction(value):
                parts.append(_directive("autofunction", full))
            else:
                parts.append(_directive("py:data", full, f"type: {type(value).__name__}"))
            if known:
                described.setdefault(id(value), full)
        result[f"api-{package}"] = "\n".join(parts)
    table = "\n".join(
        f"| [`{package}`](api-{package}.md) | {title} |" for package, title in PACKAGES.items()
    )
    toc = "\n".join(f"api-{package}" for package in PACKAGES)
    result["api"] = (
        "# Python API\n\n| package | |\n|---|---|\n"
        f"{table}\n\n```{{toctree}}\n:hidden:\n\n{toc}\n```\n"
    )
    return result


def _directive(kind: str, name: str, option: str = "") -> str:
    name_of, _, value = option.partition(": ")
    line = f"   :{name_of}: {value}\n" if option else ""
    return f"```{{eval-rst}}\n.. {kind}:: {name}\n{line}\n```\n"


def made_pages() -> dict[str, str]:
    """The pages that are made from the code: name → text."""
    return {"commands": _commands(), **_api()}


def make_pages(_app: Sphinx | None = None) -> None:
    """Write the pages that are made from the code."""
    MADE.mkdir(exist_ok=True)
    for name, text in made_pages().items():
        (MADE / f"{name}.md").write_text(text, encoding="utf-8")


def show_examples(_app: Sphinx, what: str, _name: str, *rest: object) -> None:
    """Show the indented parts of a module's docstring as examples, verbatim."""
    lines = rest[-1]
    assert isinstance(lines, list)
    if what != "module":
        return
    inside, shown = False, []
    for before, line in zip(["", *lines], lines, strict=False):
        if line.strip():
            if line.startswith("    ") and not inside and not before.strip():
                shown += ["::", ""]
            inside = line.startswith("    ")
        shown.append(line)
    lines[:] = shown


def name_the_rest(app: Sphinx, name: str, source: list[str]) -> None:
    """Put the pages that the index does not name where it says `@rest@`: none gets lost."""
    if name == "index":
        named = source[0].split()
        rest = sorted(page for page in app.env.found_docs if "/" not in page and page != "index")
        source[0] = source[0].replace("@rest@", "\n".join(p for p in rest if p not in named))


def setup(app: Sphinx) -> None:
    """Make pages before sources are looked for."""
    app.connect("builder-inited", make_pages)
    app.connect("source-read", name_the_rest)
    app.connect("autodoc-process-docstring", show_examples)
