"""The documentation's build: `make docs`. Commands and errors come from the code."""

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
# The site asks no other host for anything.
html_theme_options = {"light_css_variables": {"color-brand-primary": "#0b57d0"}}
# Annotations name what only a type checker imports: `Profile` may then mean either of two.
suppress_warnings = ["ref.python"]

HERE = Path(__file__).parent
MADE = HERE / "reference"
ROOMS = {
    "cyclescope": "From outside",
    "cyclescope.model": "The profile",
    "cyclescope.analyse": "What a profile means",
    "cyclescope.views": "Views",
    "cyclescope.errors": "Errors",
}


def _commands() -> str:
    """Every verb with its help, as the command line prints it."""
    from cyclescope.cli import COMMANDS, program

    parts = ["# Commands\n", "`cyclescope COMMAND --help` prints the same.\n"]
    context = click.Context(program, info_name="cyclescope")
    for name in COMMANDS:
        command = program.get_command(context, name)
        assert command is not None
        inner = click.Context(command, info_name=name, parent=context)
        inner.max_content_width = inner.terminal_width = 100
        parts.append(f"## {name}\n\n```text\n{command.get_help(inner)}\n```\n")
    return "\n".join(parts)


def _errors() -> str:
    """Every error with its exit status."""
    from cyclescope import errors

    parts = [
        "# Errors\n",
        "An error is one line that says where, what, and what to do about it; `CYCLESCOPE_DEBUG=1` "
        "shows where in the code it came from. Nothing is left half written.\n",
        "| error | exit status | when |",
        "|---|---|---|",
    ]
    for name in errors.__all__:
        error = getattr(errors, name)
        when = inspect.cleandoc(error.__doc__ or "").splitlines()[0]
        parts.append(f"| `{name}` | {error.exit_code} | {when} |")
    parts.append("\nWrong use of the command line exits with 2, an interrupt with 130.\n")
    parts.append(f"```text\n{inspect.cleandoc(errors.__doc__ or '')}\n```\n")
    return "\n".join(parts)


def _api() -> str:
    parts = ["# Python API\n"]
    for room, title in ROOMS.items():
        module = importlib.import_module(room)
        parts.append(f"## {title}: `{room}`\n")
        parts.append(f"```{{eval-rst}}\n.. automodule:: {room}\n   :no-members:\n\n```\n")
        for name in module.__all__:
            value = getattr(module, name)
            if inspect.isclass(value):
                kind, members = "autoclass", "   :members:\n"
            elif inspect.isfunction(value):
                kind, members = "autofunction", ""
            else:
                continue
            parts.append(f"```{{eval-rst}}\n.. {kind}:: {room}.{name}\n{members}\n```\n")
    return "\n".join(parts)


def make_pages(_app: Sphinx | None = None) -> None:
    """Write the pages that are made from the code."""
    MADE.mkdir(exist_ok=True)
    for name, text in (("commands", _commands()), ("errors", _errors()), ("api", _api())):
        (MADE / f"{name}.md").write_text(text, encoding="utf-8")


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
