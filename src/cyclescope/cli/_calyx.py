"""`cyclescope calyx`: profile a Calyx program."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cyclescope.cli._common import (
    Period,
    StudySwitch,
    check_outputs,
    doing,
    force_option,
    hush_if_quiet,
    listing_option,
    not_complete,
    output_option,
    progress,
    report,
    save_profile,
    say,
    tell_json,
    tell_summary,
    told_option,
    writing,
)
from cyclescope.cli._kinds import InputPath
from cyclescope.cli._trust import trust_options
from cyclescope.errors import InputError, VerifyError

if TYPE_CHECKING:
    from cyclescope.calyx import CalyxOptions, CalyxRun, Expected, Outcome, OwnCompiler

__all__ = ["calyx"]


def _passes() -> str:
    from cyclescope.calyx import list_passes

    return list_passes()


@click.command()
@click.argument("program", type=InputPath("a Calyx program"), metavar="PROGRAM.futil")
@click.option("--data", type=click.Path(path_type=Path), help="Memories as Calyx data JSON.")
@output_option("Profile; PROGRAM.cyc if not given")
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
    help="Do not run this pass; may be repeated.",
)
@click.option(
    "-x",
    "--extra-opt",
    "options",
    multiple=True,
    metavar="PASS:OPTION",
    help="Option of a pass; may be repeated.",
)
@listing_option("--list-passes", _passes, "List passes and aliases, and exit.")
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
    help="Store the program's text in the profile.",
)
@click.option(
    "--area", is_flag=True, help="Also synthesise the design with Yosys, for cyclescope area."
)
@click.option(
    "--area-report",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Take costs from Vivado's report_utilization -hierarchical.",
)
@click.option(
    "--vary",
    metavar="PASS,PASS...",
    help="Also run without each of these passes, and compare.",
)
@click.option(
    "--compiler",
    envvar="CALYX",
    metavar="PATH",
    help="Your own Calyx compiler, e.g. of the main branch; default: $CALYX, else the built-in.",
)
@click.option(
    "--library",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Folder with that compiler's primitives/, if it does not find them itself.",
)
@click.option(
    "--verify",
    is_flag=True,
    help="Check that neither measuring nor optimising changes the results; write no profile.",
)
@click.option(
    "--expect",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Memories that the run must leave, in the form of the data or of Calyx's .expect.",
)
@click.option(
    "--judge/--no-judge",
    default=False,
    cls=StudySwitch,
    help="Report memories that differ from those of a build without optimisation.",
)
@told_option
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
    expect: Path | None,
    judge: bool,
    form: str,
    force: bool,
) -> None:
    """Profile a Calyx program: where every cycle of its run goes.

    Compiles PROGRAM with the real Calyx compiler, runs it in Verilator, writes a profile and
    prints its summary.
    """
    from cyclescope.calyx import CalyxOptions, read_expected

    if program.is_dir():
        raise InputError(f"{program}: is a folder, not a Calyx program")
    hush_if_quiet()
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
        judge=judge,
    )
    expected = read_expected(expect) if expect else None
    if verify:
        _verify(program, data, chosen, expected, form)
    elif vary is not None:
        if memories:
            raise click.UsageError("--vary makes several runs; --memories is for one")
        if area_report:
            raise click.UsageError("--vary makes several designs; --area-report is of one")
        if output is not None and str(output) == "-":
            raise click.UsageError("--vary makes several profiles; name a file, not -")
        _vary(program, data, chosen, vary, expected, output, form, force=force)
    else:
        target = output or Path(program.with_suffix(".cyc").name)
        check_outputs(target, memories, force=force)
        _profile(program, data, chosen, target, memories, expected, form, force=force)


def _own_compiler(name: str | None, library: Path | None) -> OwnCompiler | None:
    if name:
        from cyclescope.calyx import find_own_compiler

        return find_own_compiler(name, library)
    if library is not None:
        raise click.UsageError("--library is for a compiler of your own; give --compiler, too")
    return None


def _verify(
    program: Path,
    data: Path | None,
    options: CalyxOptions,
    expected: Expected | None,
    form: str,
) -> None:
    from cyclescope.calyx import judge_program, verify_program

    with doing() as tell:
        judgement = judge_program(program, data, options, progress=tell)
    if expected is not None:
        _check_expected(program, expected, judgement.optimised)
    if not judgement.holds:
        raise VerifyError(f"{program}: {judgement.explanation}")
    verdict = verify_program(program, data, options, stock=judgement.optimised)
    if not verdict.holds:
        memories = "".join(f"; {found.told('stock')}" for found in verdict.differing)
        raise VerifyError(
            f"{program}: {verdict.stock_cycles:,} cycles stock, {verdict.instrumented_cycles:,} "
            f"instrumented{memories}; please report this program"
        )
    if form == "json":
        cycles = {
            "cycles": verdict.stock_cycles,
            "cycles without optimisation": judgement.reference.cycles,
        }
        tell_json(json.dumps({"verified": True, **cycles}, indent=1))
        return
    what = "equal memories" if judgement.optimised.memories else "no memories to compare"
    click.echo(
        f"verified: {verdict.stock_cycles:,} cycles stock and measured, "
        f"{judgement.reference.cycles:,} without optimisation; {what}"
    )


def _check_expected(program: Path, expected: Expected, run: CalyxRun | Outcome) -> None:
    """Refuse a run whose memories, or cycles, are not the expected ones."""
    wrong = [f.told("expected") for f in expected.differences(run.declared, run.memories)]
    if expected.cycles not in (None, run.cycles):
        wrong.insert(0, f"{run.cycles:,} cycles, expected {expected.cycles:,}")
    if wrong:
        raise VerifyError(f"{program}: not as {expected.path} says: {'; '.join(wrong)}")


def _vary(
    program: Path,
    data: Path | None,
    options: CalyxOptions,
    vary: str,
    expected: Expected | None,
    output: Path | None,
    form: str,
    *,
    force: bool,
) -> None:
    from cyclescope.calyx import profile_program, variants
    from cyclescope.model import Severity
    from cyclescope.views import comparison, summary_json

    first = output or Path(program.with_suffix(".cyc").name)
    names = list(dict.fromkeys(name.strip() for name in vary.split(",") if name.strip()))
    if not names:
        raise click.BadParameter("name a pass, or several with commas", param_hint="--vary")
    # Which of them is right, none of them can say.
    chosen = variants(replace(options, judge=expected is None), names)
    targets = [first] + [first.with_suffix(f".no-{name}.cyc") for name in names]
    check_outputs(*targets, force=force)
    profiles = []
    for target, (name, changed) in zip(targets, chosen, strict=True):
        with progress(f"{program.name}, {name}") as show:
            run = profile_program(program, data, changed, progress=show)
        profile = run.profile if expected is None else expected.marked(run)
        profiles.append(profile.with_meta(title=f"{profile.meta.title}, {name}"))
        save_profile(profiles[-1], target, force=force)
    if form == "json":
        tell_json(f"[{','.join(summary_json(profile) for profile in profiles)}]")
    else:
        click.echo(comparison(profiles).decode(), nl=False)
    for target in targets:
        report(target, "profile")
    say(f"on one axis: cyclescope timeline {' '.join(map(str, targets))}")
    stopped = next((p.meta.stop_reason for p in profiles if not p.meta.complete), None)
    if stopped is not None:
        not_complete(stopped)
    wrong = [p for p in profiles if any(memory.wrong for memory in p.meta.memories)]
    if wrong:
        what = next(a.detail for a in wrong[0].meta.anomalies if a.severity is Severity.ERROR)
        raise VerifyError(f"{wrong[0].meta.title}: wrong memories: {what}")


def _profile(
    program: Path,
    data: Path | None,
    options: CalyxOptions,
    target: Path,
    memories: Path | None,
    expected: Expected | None,
    form: str,
    *,
    force: bool,
) -> None:
    from cyclescope.calyx import profile_program

    with progress(program.name) as show:
        run = profile_program(program, data, options, progress=show)
    profile = run.profile if expected is None else expected.marked(run)
    save_profile(profile, target, force=force)
    tell_summary(profile, form)
    report(target, "profile")
    if memories:
        with writing(memories, force=force) as stream:
            stream.write(json.dumps(run.memories, indent=2).encode() + b"\n")
        report(memories, "memories")
    if not run.profile.meta.complete:
        not_complete(f"{run.profile.meta.stop_reason}; {target} contains what came before")
    if expected is not None:
        _check_expected(program, expected, run)
        say(f"as expected: {expected.path}")
