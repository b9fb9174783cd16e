"""`cyclescope ladder`: bounds and measurement of one program, and what lies between."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from cyclescope.cli._common import (
    check_outputs,
    force_option,
    format_option,
    memory_option,
    output_option,
    pairs,
    progress,
    read_profile,
    report,
    save_profile,
    words,
    writing,
)
from cyclescope.cli._kinds import InputPath
from cyclescope.cli._trust import trust_options

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cyclescope.model import Profile

__all__ = ["ladder"]


@click.command()
@click.argument(
    "source",
    type=InputPath("a C program", "a profile", "a Calyx program", stdin=True),
    metavar="PROGRAM.c|RUN.cyc",
)
@click.option("--threads", type=click.IntRange(1, 256), help="Hardware threads.")
@click.option("-D", "defines", multiple=True, metavar="NAME[=VALUE]", help="Define a macro.")
@click.option(
    "-I", "include", multiple=True, type=click.Path(path_type=Path), help="Look for headers here."
)
@click.option("--args", "arguments", default="", metavar="TEXT", help="Arguments of the program.")
@memory_option
@click.option(
    "--calyx", "design", type=InputPath("a Calyx program", "a profile", stdin=True),
    metavar="DESIGN.futil|RUN.cyc",
    help="Measure this Calyx design, which computes the C kernel.",
)  # fmt: skip
@click.option(
    "--data", type=click.Path(path_type=Path), metavar="FILE.json", help="Memories of the design."
)
@click.option(
    "--kernel",
    metavar="FUNCTION",
    help="The kernel, if the file is not a program for cyclescope hls.",
)
@click.option(
    "--arg", "values", multiple=True, metavar="NAME=NUMBER",
    help="For a kernel: a scalar parameter's value, or how many elements a pointer points to.",
)  # fmt: skip
@click.option(
    "--calibration", type=click.Path(path_type=Path), metavar="FILE.toml",
    help="For a kernel: latencies for the bounds; default with --calyx: Calyx's primitives'.",
)  # fmt: skip
@format_option("text", "markdown", "json")
@output_option("File to write: a profile with the ladder (.cyc), a picture (.svg), a text")
@force_option
@trust_options
def ladder(
    source: Path, threads: int | None, defines: tuple[str, ...], include: tuple[Path, ...],
    arguments: str, memory: Path | None, design: Path | None, data: Path | None,
    kernel: str | None, values: tuple[str, ...], calibration: Path | None, form: str,
    output: Path | None, force: bool,
) -> None:  # fmt: skip
    """Show where a program's cycles lie between its bounds and its hardware.

    The rungs are the longest chain of operations, the bounds with unlimited resources (unbounded)
    and with one for each operation (absolute), then the hardware: with a memory that answers at
    once, with its latency, with its limited bandwidth; with one thread, with all. PROGRAM.c is a
    program for `cyclescope hls`; one without a target region is a kernel for `cyclescope bounds`,
    whose hardware is its process network, or with --calyx a design. For a profile that has a
    ladder, the command shows it.
    """
    from cyclescope.views import ladder_json, ladder_markdown, ladder_svg, ladder_text

    check_outputs(output, force=force)
    for_kernels = {"--kernel": kernel, "--arg": values, "--calibration": calibration}
    for_calyx = {"--data": data, **for_kernels}
    for_threads = {"--threads": threads, "--args": arguments, "--memory": memory}
    macros = pairs(defines, "-D")
    if source.suffix == ".futil":
        raise click.UsageError(
            f"{source} has no bounds by itself; give the C kernel that it computes:"
            f" cyclescope ladder KERNEL.c --calyx {source}"
        )
    if source.suffix == ".cyc" or str(source) == "-":
        _refuse({**for_calyx, **for_threads, "--calyx": design}, "is for a program")
        profile = read_profile(source)
    elif design is not None:
        _refuse(for_threads, "is for hardware threads")
        profile = _calyx(source, design, data, kernel, macros, include, values, calibration)
    else:
        _refuse({"--data": data}, "is for --calyx")
        given = _given(for_kernels)
        if given:
            _refuse(for_threads, f"is for hardware threads, {given[0]} for a kernel without them")
        found = None
        if not given:
            found = _threads(source, threads, macros, include, arguments, memory)
        if found is None:
            _refuse(for_threads, f"is for hardware threads; {source} has no target region")
            found = _network(source, kernel, macros, include, values, calibration)
        profile = found
    writers = {"text": ladder_text, "markdown": ladder_markdown, "json": ladder_json}
    path = output or Path("-")
    if path.suffix == ".cyc":
        text = writers[form](profile)
        save_profile(profile, path, force=force)
        click.echo(text, nl=False)
        report(path, "profile")
        return
    written = ladder_svg(profile) if path.suffix == ".svg" else writers[form](profile).encode()
    with writing(path, force=force) as stream:
        stream.write(written)
    report(path, "ladder")


def _given(options: Mapping[str, object]) -> list[str]:
    return [name for name, value in options.items() if value]


def _refuse(options: Mapping[str, object], why: str) -> None:
    given = _given(options)
    if given:
        raise click.UsageError(f"{given[0]} {why}")


def _threads(
    source: Path,
    threads: int | None,
    macros: dict[str, str],
    include: tuple[Path, ...],
    arguments: str,
    memory: Path | None,
) -> Profile | None:
    """The ladder of a program's target region; None if it has none."""
    from cyclescope.errors import RegionError
    from cyclescope.hls import read_memory_model
    from cyclescope.studies import measure_ladder

    given = words(arguments)
    try:
        with progress(source.name) as show:
            return measure_ladder(
                source,
                threads=threads,
                defines=macros,
                include=include,
                arguments=given,
                memory=read_memory_model(memory) if memory is not None else None,
                progress=show,
            )
    except RegionError:
        return None


def _network(
    source: Path,
    kernel: str | None,
    macros: dict[str, str],
    include: tuple[Path, ...],
    values: tuple[str, ...],
    calibration: Path | None,
) -> Profile:
    from cyclescope.cli._bounds import numbers
    from cyclescope.studies import measure_network_ladder

    given = numbers(values)
    with progress(source.name) as show:
        return measure_network_ladder(
            source,
            kernel=kernel,
            defines=macros,
            include=include,
            arguments=given,
            calibration=calibration,
            progress=show,
        )


def _calyx(
    source: Path,
    design: Path,
    data: Path | None,
    kernel: str | None,
    macros: dict[str, str],
    include: tuple[Path, ...],
    values: tuple[str, ...],
    calibration: Path | None,
) -> Profile:
    from cyclescope.calyx import profile_program
    from cyclescope.cli._bounds import numbers
    from cyclescope.studies import measure_calyx_ladder

    given = numbers(values)
    if design.suffix == ".cyc" or str(design) == "-":
        _refuse({"--data": data}, "is for a design that is run")
        measured = read_profile(design)
    else:
        with progress(source.name) as show:
            measured = profile_program(design, data, progress=show).profile
    return measure_calyx_ladder(
        source,
        measured,
        kernel=kernel,
        defines=macros,
        include=include,
        arguments=given,
        calibration=calibration,
    )
