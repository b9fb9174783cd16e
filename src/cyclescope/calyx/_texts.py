"""Another text in the place of a program's main file: copied beside what it imports, and run."""

from __future__ import annotations

import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING

from cyclescope._files import scratch
from cyclescope.calyx._compile import compile_as
from cyclescope.calyx._judge import run_compiled
from cyclescope.calyx._syntax import Extern
from cyclescope.calyx._syntax_read import read_syntax
from cyclescope.calyx._text import read_program
from cyclescope.sim import current_trust

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from cyclescope.calyx._judge import Outcome
    from cyclescope.calyx._source import CalyxOptions

__all__ = ["copied_with", "run_program"]


@contextmanager
def copied_with(path: Path, text: bytes) -> Iterator[Path]:
    """A folder with the files that a program is made of, the main one with another text.

    Args:
        path: the program.
        text: what is in its copy.

    Raises:
        SourceError: the program cannot be read.
    """
    home = path.resolve().parent
    with scratch("calyx") as folder:
        beside: list[Path] = []
        for file, content in read_program(path, bound=current_trust().refuse).items():
            if file != path:
                beside.append(file.resolve())
            items = read_syntax(content.data, str(file)).items
            externs = [item.path for item in items if isinstance(item, Extern)]
            beside += [(file.resolve().parent / name).resolve() for name in externs]
        for file in beside:
            if file.is_relative_to(home) and file.is_file():
                copy = folder / file.relative_to(home)
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, copy)
        main = folder / path.name
        main.write_bytes(text)
        yield main


def run_program(
    path: Path, data: Path | None, options: CalyxOptions, limit: int | None = None
) -> Outcome:
    """Compile a program without probes and run it.

    Args:
        path: the program.
        data: its memories; None if it has none.
        options: how it is compiled.
        limit: stop after so many cycles; else as the options say.

    Raises:
        SourceError, DataError, ToolError, RunError, OutputError: see `cyclescope.errors`.
    """
    from cyclescope.sim import read_data

    program = compile_as(path, options, instrument=False)
    values = read_data(data) if data else {}
    return run_compiled(program, values, data, limit or options.cycle_limit)
