"""Kinds of files by their endings: a verb that is given another kind names the right one."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple

import click

from cyclescope.errors import InputError

__all__ = ["FILE_KINDS", "FileKind", "FolderPath", "InputPath", "kind_of"]


class FileKind(NamedTuple):
    """A kind of file.

    Attributes:
        name: of one, with its article.
        endings: of names, in lower case.
        verbs: words of commands that read it, the likeliest first; empty: none does.
        instead: what to do with it; `{}` is the file.
    """

    name: str
    endings: tuple[str, ...]
    verbs: tuple[str, ...]
    instead: str


FILE_KINDS = (
    FileKind(
        "a profile",
        (".cyc",),
        ("report", "summary", "advise"),
        "cyclescope report {} shows it",
    ),
    FileKind(
        "a Calyx program",
        (".futil",),
        ("calyx",),
        "cyclescope calyx {} makes a profile of it",
    ),
    FileKind(
        "a C program",
        (".c",),
        ("hls", "bounds", "survey", "ladder"),
        "cyclescope hls {0} or cyclescope bounds {0} makes a profile of it",
    ),
    FileKind(
        "a waveform",
        tuple(e + packed for e in (".vcd", ".fst", ".ghw") for packed in ("", ".gz", ".xz")),
        ("import vcd",),
        "cyclescope import vcd {} --list shows its signals",
    ),
    FileKind(
        "a Paraver trace",
        (".prv", ".prv.gz", ".prv.xz"),
        ("import paraver",),
        "cyclescope import paraver {} makes a profile of it",
    ),
    FileKind(
        "a table of settings",
        (".toml",),
        ("sweep",),
        "cyclescope sweep {} runs it if it is a study",
    ),
    FileKind("a page", (".html",), (), "open it in a browser"),
    FileKind("a picture", (".svg",), (), "open it in a browser"),
    FileKind("a timeline", (".pftrace", ".pftrace.gz"), (), "open it at ui.perfetto.dev"),
)
"""All that cyclescope reads or writes and that an ending tells."""


def kind_of(path: Path) -> FileKind | None:
    """The kind that a file's name tells; None if it tells none."""
    name = path.name.lower()
    return next((kind for kind in FILE_KINDS if name.endswith(kind.endings)), None)


class InputPath(click.Path):
    """The name of a file of one of these kinds, or one whose name tells no kind.

    Args:
        *kinds: names of `FILE_KINDS`.
        stdin: `-` stands for standard input.
    """

    def __init__(self, *kinds: str, stdin: bool = False) -> None:
        super().__init__(path_type=Path, allow_dash=stdin)
        self.kinds = kinds

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The path.

        Raises:
            InputError: it is of another kind; names the command for that one.
        """
        path = Path(os.fsdecode(super().convert(value, param, ctx)))
        known = kind_of(path)
        if known is not None and known.name not in self.kinds:
            reader = ctx.command_path if ctx is not None else "this command"
            raise InputError(
                f"{path}: is {known.name}, and {reader} reads {' or '.join(self.kinds)}; "
                f"{known.instead.format(path)}"
            )
        return path


class FolderPath(click.Path):
    """The name of a folder to write into, which standard output is none of."""

    def __init__(self) -> None:
        super().__init__(path_type=Path, file_okay=False)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The path."""
        if str(value) == "-":
            self.fail("several files are written: name a folder, not -", param, ctx)
        return super().convert(value, param, ctx)
