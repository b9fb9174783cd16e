"""Make what the pages of docs/views show anew: `python scripts/views.py [FOLDER]`.

The pages are their own scripts. In the order of `pages`, all in one folder with the examples in it,
each line of a block marked `sh` that begins with `cyclescope` is run, with the indented lines that
follow. A block marked `text` that follows is what the last of them prints; a picture that one
writes and the page shows is kept in docs/pictures.
"""

from __future__ import annotations

import io
import os
import re
import shlex
import sys
import tempfile
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Made", "make", "pages"]

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
PICTURES = DOCS / "pictures"
WIDTH = "80"  # characters that a page of the site shows without scrolling
_BLOCK = re.compile(r"^```(?P<kind>sh|text)\n(?P<body>.*?)^```$", re.M | re.S)


@dataclass
class Made:
    """The results of a page's commands.

    Attributes:
        text: the page with its outputs.
        pictures: name in docs/pictures → contents.
    """

    text: str
    pictures: dict[str, bytes] = field(default_factory=dict)


def pages() -> list[Path]:
    """The page that makes the profiles, then those that look at them."""
    return [DOCS / "reading-views.md", *sorted((DOCS / "views").glob("*.md"))]


def run(command: list[str]) -> str:
    """Run a command of cyclescope here; what it prints.

    Raises:
        SystemExit: it failed in another way than a check that finds something.
    """
    from cyclescope.cli import main

    stream = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    with redirect_stdout(stream):
        status = main(command[1:])
    stream.flush()
    if status and not (status == 1 and command[1] == "check"):
        sys.exit(f"{shlex.join(command)}: exit status {status}")
    return stream.buffer.getvalue().decode()  # type: ignore[attr-defined]


def make(page: Path, folder: Path, wanted: Callable[[list[str]], bool] = lambda _: True) -> Made:
    """Run a page's commands in a folder.

    Args:
        page: which.
        folder: where; profiles that earlier pages made are there.
        wanted: which commands to run; what the others print stays as it is.
    """
    printed: str | None = None

    def block(match: re.Match[str]) -> str:
        nonlocal printed
        if match["kind"] == "text":
            return match[0] if printed is None else f"```text\n{printed}```"
        printed = None
        for line in re.split(r"\n(?! )", match["body"]):
            command = shlex.split(line, comments=True)
            if command[:1] == ["cyclescope"]:
                printed = _tidy(run(command)) if wanted(command) else None
        return match[0]

    before, width = Path.cwd(), os.environ.get("COLUMNS")
    os.chdir(folder)
    os.environ["COLUMNS"] = WIDTH
    try:
        made = Made(_BLOCK.sub(block, page.read_text(encoding="utf-8")))
    finally:
        os.chdir(before)
        os.environ.pop("COLUMNS")
        if width is not None:
            os.environ["COLUMNS"] = width
    for name in re.findall(r"pictures/([^)\s]+\.svg)\)", made.text):
        if (folder / name).exists():
            made.pictures[name] = (folder / name).read_bytes()
    return made


def _tidy(text: str) -> str:
    lines = [line.rstrip() for line in text.splitlines()]
    return "\n".join(lines).strip("\n") + "\n"


def main() -> None:
    """Make all pages and pictures anew."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        if not (folder / "examples").exists():
            (folder / "examples").symlink_to(ROOT / "examples")
        for page in pages():
            made = make(page, folder)
            page.write_text(made.text, encoding="utf-8")
            for name, contents in made.pictures.items():
                (PICTURES / name).write_bytes(contents)
            print(page.relative_to(ROOT), *made.pictures)


if __name__ == "__main__":
    main()
