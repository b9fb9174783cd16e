"""`cyclescope ladder`: bounds and measurement of one program, and what lies between."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from cyclescope.cli._common import check_outputs, force_option, output_option, report, writing

__all__ = ["ladder"]


@click.command()
@click.argument("source", type=click.Path(path_type=Path), metavar="PROGRAM.c")
@click.option("--threads", type=click.IntRange(1, 256), help="Hardware threads of the last rung.")
@click.option("-D", "defines", multiple=True, metavar="NAME[=VALUE]", help="Define a macro.")
@click.option(
    "-I", "include", multiple=True, type=click.Path(path_type=Path), help="Look for headers here."
)
@click.option("--args", "arguments", default="", metavar="TEXT", help="Arguments of the program.")
@click.option(
    "--memory", type=click.Path(path_type=Path), metavar="MODEL.toml",
    help="Timing of the external memory; else a DDR4-2400.",
)  # fmt: skip
@click.option(
    "--format", "form", default="text", show_default=True,
    type=click.Choice(["text", "markdown", "json"]),
)  # fmt: skip
@output_option("File to write; the terminal if not given")
@force_option
def ladder(
    source: Path, threads: int | None, defines: tuple[str, ...], include: tuple[Path, ...],
    arguments: str, memory: Path | None, form: str, output: Path | None, force: bool,
) -> None:  # fmt: skip
    """Show where a program's cycles lie between its bounds and its hardware.

    Bounds with unlimited resources (unbounded) and with one for each statement (absolute), a run
    with one hardware thread, a run with all; each gap by its causes. The program is one for
    `cyclescope hls` whose region's function `cyclescope bounds` takes too.
    """
    from cyclescope.analyse import climb
    from cyclescope.hls import read_memory_model
    from cyclescope.views import ladder_json, ladder_markdown, ladder_text

    check_outputs(output, force=force)
    try:
        words = shlex.split(arguments)
    except ValueError:
        raise click.BadParameter(
            f"{arguments}: a quote is not closed", param_hint="--args"
        ) from None
    macros = {}
    for define in defines:
        name, equals, given = define.partition("=")
        macros[name] = given if equals else "1"
    rungs = climb(
        source,
        threads=threads,
        defines=macros,
        include=include,
        arguments=words,
        memory=read_memory_model(memory) if memory is not None else None,
    )
    writers = {"text": ladder_text, "markdown": ladder_markdown, "json": ladder_json}
    path = output or Path("-")
    with writing(path, force=force) as stream:
        stream.write(writers[form](rungs, source.name).encode())
    report(path, "ladder")
