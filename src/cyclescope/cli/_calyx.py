"""`cyclescope calyx`: profile a Calyx program."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cyclescope.cli._common import (
    Period,
    check_outputs,
    force_option,
    progress,
    report,
    writing,
)
from cyclescope.cli._trust import trust_options
from cyclescope.errors import InputError

if TYPE_CHECKING:
    from cyclescope.calyx import CalyxOptions, OwnCompiler

__all__ = ["calyx"]


def _print_passes(context: click.Context, _option: click.Parameter, wanted: bool) -> None:
    if wanted:
        from cyclescope.calyx import list_passes

        click.echo(list_passes())
        context.exit()


@click.command()
@click.argument("program", type=click.Path(path_type=Path), metavar="PROGRAM.futil")
@click.option("--data", type=click.Path(path_type=Path), help="Memories as Calyx data JSON.")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="Profile; PROGRAM.cyc if not given."
)
@click.option(
    "-p",
    "--pass",
    "passes",
    multiple=True,
    default=("all",),
    metavar="PASS",
    help="Run this pass or alias; may be repeated.  [default: all]",
)
@click.option(
    "-d",
    "--disable-pass",
    "disable",
    multiple=True,
    metavar="PASS",
    help="Leave this pass out; may be repeated.",
)
@click.option(
    "-x",
    "--extra-opt",
    "options",
    multiple=True,
    metavar="PASS:OPTION",
    help="Option of a pass; may be repeated.",
)
@click.option(
    "--list-passes",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_passes,
    help="List passes and aliases, and exit.",
)
@click.option(
    "--memories", type=click.Path(path_type=Path), help="Write the memories after the run."
)
@click.option("--cycle-limit", type=click.IntRange(min=1), metavar="N", help="Stop after N cycles.")
@click.option("--period", type=Period(), help="Clock period (10ns, 100MHz); else 1 cycle = 1 ns.")
@click.option(
    "--source/--no-source",
    "embed",
    default=True,
    show_default=True,
    help="Let the profile carry the program's text.",
)
@click.option("--area", is_flag=True, help="Synthesise it with Yosys too: cyclescope area.")
@click.option(
    "--area-report",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Costs from Vivado's report_utilization -hierarchical.",
)
@click.option(
    "--vary",
    metavar="PASS,PASS...",
    help="Run it once more without each of these passes, and compare.",
)
@click.option(
    "--compiler",
    envvar="CALYX",
    metavar="PATH",
    help="A Calyx compiler of your own, main branch for instance; else $CALYX, else the built-in.",
)
@click.option(
    "--library",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Where that compiler's primitives/ is, if it does not find them itself.",
)
@click.option("--verify", is_flag=True, help="Prove that measuring moved no cycle; no profile.")
@force_option
@trust_options
def calyx(
    program: Path,
    data: Path | None,
    output: Path | None,
    passes: tuple[str, ...],
    disable: tuple[str, ...],
    options: tuple[str, ...],
    memories: Path | None,
    cycle_limit: int | None,
    period: int | None,
    embed: bool,
    area: bool,
    area_report: Path | None,
    vary: str | None,
    compiler: str | None,
    library: Path | None,
    verify: bool,
    force: bool,
) -> None:
    """Profile a Calyx program: where every cycle of its run goes.

    Compiles PROGRAM with the real Calyx compiler, runs it in Verilator, writes a profile and
    prints its summary.
    """
    from cyclescope.calyx import CalyxOptions

    if program.is_dir():
        raise InputError(f"{program}: is a folder, not a Calyx program")
    own = _own_compiler(compiler, library)
    if area and sys.stderr.isatty():
        print("synthesising first: a minute or more, the same design only once", file=sys.stderr)
    chosen = CalyxOptions(
        passes,
        disable,
        options,
        cycle_limit,
        period,
        embed=embed,
        area=area,
        area_report=area_report,
        compiler=own,
    )
    if verify:
        _verify(program, data, chosen)
    elif vary is not None:
        if memories:
            raise click.UsageError("--vary makes several runs; --memories is for one")
        if area_report:
            raise click.UsageError("--vary makes several designs; --area-report is of one")
        _vary(program, data, chosen, vary, output, force=force)
    else:
        target = output or Path(program.with_suffix(".cyc").name)
        check_outputs(target, memories, force=force)
        _profile(program, data, chosen, target, memories, force=force)


def _own_compiler(name: str | None, library: Path | None) -> OwnCompiler | None:
    if name:
        from cyclescope.calyx import find_own_compiler

        return find_own_compiler(name, library)
    if library is not None:
        raise click.UsageError("--library is for a compiler of your own; give --compiler, too")
    return None


def _verify(program: Path, data: Path | None, options: CalyxOptions) -> None:
    from cyclescope.calyx import verify_program
    from cyclescope.errors import VerifyError

    verdict = verify_program(program, data, options)
    if not verdict.holds:
        memories = f"; memories differ: {', '.join(verdict.differing)}" if verdict.differing else ""
        raise VerifyError(
            f"{program}: {verdict.stock_cycles} cycles stock, {verdict.instrumented_cycles} "
            f"instrumented{memories}; please report this program"
        )
    click.echo(f"verified: {verdict.stock_cycles:,} cycles and equal memories, stock and measured")


def _vary(
    program: Path,
    data: Path | None,
    options: CalyxOptions,
    vary: str,
    output: Path | None,
    *,
    force: bool,
) -> None:
    from cyclescope.calyx import profile_program, variants
    from cyclescope.model import save
    from cyclescope.views import comparison

    first = output or Path(program.with_suffix(".cyc").name)
    names = list(dict.fromkeys(name.strip() for name in vary.split(",") if name.strip()))
    if not names:
        raise click.BadParameter("name a pass, or several with commas", param_hint="--vary")
    chosen = variants(options, names)
    targets = [first] + [first.with_suffix(f".no-{name}.cyc") for name in names]
    check_outputs(*targets, force=force)
    profiles = []
    for target, (name, changed) in zip(targets, chosen, strict=True):
        with progress(f"simulating {name}") as show:
            profile = profile_program(program, data, changed, progress=show).profile
        profiles.append(profile.with_meta(title=f"{profile.meta.title}, {name}"))
        save(profiles[-1], target, force=force)
    click.echo(comparison(profiles).decode(), nl=False)
    for target in targets:
        report(target, "profile")
    click.echo(f"on one axis: cyclescope timeline {' '.join(map(str, targets))}")
    stopped = next((p.meta.stop_reason for p in profiles if not p.meta.complete), None)
    if stopped is not None:
        print(f"cyclescope: not complete: {stopped}", file=sys.stderr)
        raise click.exceptions.Exit(5)


def _profile(
    program: Path,
    data: Path | None,
    options: CalyxOptions,
    target: Path,
    memories: Path | None,
    *,
    force: bool,
) -> None:
    from cyclescope.calyx import profile_program
    from cyclescope.model import save
    from cyclescope.views import print_summary

    with progress("simulating") as show:
        run = profile_program(program, data, options, progress=show)
    save(run.profile, target, force=force)
    print_summary(run.profile, sys.stdout)
    report(target, "profile")
    if memories:
        with writing(memories, force=force) as stream:
            stream.write(json.dumps(run.memories, indent=2).encode() + b"\n")
        report(memories, "memories")
    if not run.profile.meta.complete:
        reason = f"{run.profile.meta.stop_reason}; {target} holds what came before"
        print(f"cyclescope: not complete: {reason}", file=sys.stderr)
        raise click.exceptions.Exit(5)
