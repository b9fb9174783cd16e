"""`cyclescope hls`: C with OpenMP as multithreaded hardware."""

from __future__ import annotations

from pathlib import Path

import click

__all__ = ["hls"]


def _macros(values: tuple[str, ...]) -> dict[str, str]:
    result = {}
    for value in values:
        name, equals, given = value.partition("=")
        if not name.isidentifier():
            raise click.BadParameter(f"{value}: write NAME or NAME=VALUE", param_hint="-D")
        result[name] = given if equals else "1"
    return result


@click.command()
@click.argument("source", type=click.Path(path_type=Path), metavar="PROGRAM.c")
@click.option("--threads", type=click.IntRange(1, 256), help="Hardware threads.")
@click.option("-D", "defines", multiple=True, metavar="NAME[=VALUE]", help="Define a macro.")
@click.option(
    "-I", "include", multiple=True, type=click.Path(path_type=Path), help="Look for headers here."
)
@click.option("--explain", is_flag=True, help="Print the schedule and what bounds it.")
def hls(
    source: Path,
    threads: int | None,
    defines: tuple[str, ...],
    include: tuple[Path, ...],
    explain: bool,
) -> None:
    """Compile the target region of a C program to multithreaded hardware.

    The schedule has a list of stages for each loop; `interval` is how many cycles lie between
    two iterations of one thread when nothing holds them up.
    """
    from cyclescope import hls as source_hls

    program = source_hls.compile_c(
        source, threads=threads, defines=_macros(defines), include=include
    )
    for warning in program.lowered.warnings:
        click.echo(f"warning: {warning}", err=True)
    if explain:
        click.echo(source_hls.explain(program), nl=False)
