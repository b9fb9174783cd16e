"""`cyclescope hls`: C with OpenMP as multithreaded hardware."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cyclescope.cli._common import (
    OneOf,
    Period,
    check_outputs,
    force_option,
    hush_if_quiet,
    listing_option,
    memory_option,
    not_complete,
    output_option,
    pairs,
    progress,
    report,
    save_profile,
    say,
    tell_summary,
    timing,
    told_option,
    words,
    writing,
)
from cyclescope.cli._kinds import FolderPath, InputPath
from cyclescope.cli._trust import trust_options

if TYPE_CHECKING:
    from cyclescope.hls import Draft, Measurement, Program, UnitOptions

__all__ = ["hls"]


def _passes() -> str:
    from cyclescope.hls import PASSES

    width = max(len(one.name) for one in PASSES)
    return "\n".join(f"{one.name:<{width}}  {one.sentence}" for one in PASSES)


def _taken() -> str:
    from cyclescope.c import refused_table
    from cyclescope.hls import openmp_table

    return f"{openmp_table()}\n{refused_table()}".rstrip("\n")


@click.command()
@click.argument("source", type=InputPath("a C program"), metavar="PROGRAM.c")
@click.option("--threads", type=click.IntRange(1, 256), help="Hardware threads.")
@click.option("-D", "defines", multiple=True, metavar="NAME[=VALUE]", help="Define a macro.")
@click.option(
    "-I", "include", multiple=True, type=click.Path(path_type=Path), help="Look for headers here."
)
@click.option(
    "--region",
    type=click.IntRange(min=1),
    metavar="LINE",
    help="A line of the target region to compile, if there are several; the host runs the others.",
)
@click.option(
    "--link",
    multiple=True,
    type=InputPath("a C file"),
    metavar="FILE.c",
    help="Another file of the program, which the region does not call; may be repeated.",
)
@click.option(
    "--explain", is_flag=True, help="Print the schedule and what bounds it; run only with -o."
)
@listing_option("--taken", _taken, "List the OpenMP and C that is supported and refused, and exit.")
@listing_option("--passes", _passes, "List the compiler's passes and exit.")
@click.option(
    "--print-after",
    "printed",
    multiple=True,
    metavar="PASS",
    help="Print the region's data-flow form after this pass (lowering: before the first); run only"
    " with -o.",
)
@click.option("--verify-ir", is_flag=True, help="Check the form's laws after each pass.")
@click.option("--args", "arguments", default="", metavar="TEXT", help="Arguments of the program.")
@memory_option
@click.option(
    "--reorder/--no-reorder",
    default=True,
    show_default=True,
    help="Let threads overtake each other in variable-latency stages.",
)
@click.option(
    "--start-cost",
    type=click.IntRange(0, 1 << 32),
    metavar="N",
    help="Cycles from one thread's start to the next thread's.  [default: 100]",
)
@click.option(
    "--sample",
    "samples",
    multiple=True,
    metavar="[COUNTER=]N",
    help="Cycles between two samples of the counters, or of one counter (with --profile)."
    "  [default: 1024]",
)
@click.option(
    "--profile",
    is_flag=True,
    help="Add a profiling unit to the hardware; the profile is what it writes to memory.",
)
@click.option(
    "--counters",
    default="all",
    show_default=True,
    metavar="NAMES",
    help="Counters of the profiling unit: all, paper, or names separated by commas.",
)
@click.option(
    "--overhead",
    is_flag=True,
    help="Print only the profiling unit's cost: cycles, registers, LUTs, clock.",
)
@click.option(
    "--clock",
    is_flag=True,
    help="Synthesise, place and route the hardware for an ECP5 (takes minutes); the profile then"
    " has its clock and its longest path.",
)
@click.option(
    "--period",
    "clock_period",
    type=Period(),
    help="Clock period (10ns, 100MHz), instead of --clock; without either, times are in cycles.",
)
@click.option(
    "--on-full",
    type=OneOf(["stop", "wrap"]),
    default="stop",
    show_default=True,
    help="What the profiling unit does when its region of memory is full.",
)
@click.option(
    "--trace-lines",
    type=click.IntRange(2, 1 << 24),
    metavar="N",
    help="Lines of 64 bytes in that region.  [default: 16384]",
)
@click.option(
    "--dump",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write that region to FILE, and its layout to FILE.json; with --profile.",
)
@click.option(
    "--times",
    type=click.IntRange(min=1),
    metavar="N",
    help="Run the region in hardware at most N times; further times it runs on the host."
    "  [default: 16]",
)
@click.option("--cycle-limit", type=click.IntRange(min=1), metavar="N", help="Stop after N cycles.")
@click.option(
    "--unit-rtl",
    is_flag=True,
    help="Simulate the RTL of arithmetic units instead of models: much slower.",
)
@click.option(
    "--rtl",
    type=FolderPath(),
    metavar="DIR",
    help="Write the Verilog, a testbench and this run's data to DIR.",
)
@output_option("Profile of the region; none is written without this option")
@told_option
@force_option
@trust_options
def hls(
    source: Path,
    threads: int | None,
    defines: tuple[str, ...],
    include: tuple[Path, ...],
    region: int | None,
    link: tuple[Path, ...],
    explain: bool,
    printed: tuple[str, ...],
    verify_ir: bool,
    arguments: str,
    memory: Path | None,
    reorder: bool,
    start_cost: int | None,
    samples: tuple[str, ...],
    profile: bool,
    counters: str,
    overhead: bool,
    clock: bool,
    clock_period: int | None,
    on_full: str,
    trace_lines: int | None,
    dump: Path | None,
    times: int | None,
    cycle_limit: int | None,
    unit_rtl: bool,
    rtl: Path | None,
    output: Path | None,
    form: str,
    force: bool,
) -> None:
    """Compile the target region of a C program to multithreaded hardware, and run it.

    The program runs natively; then its region runs as simulated hardware with the same data, the
    results are compared, and the program continues with the hardware's results. If it reaches the
    region again, the hardware runs again; the profile has the runs one after another.

    With only --explain or --print-after, nothing runs. The schedule has a list of stages for each
    loop; `interval` is the number of cycles between two iterations of one thread when nothing
    stalls them.
    """
    from cyclescope import hls as source_hls

    if dump is not None and not profile:
        raise click.BadParameter(
            "needs --profile, which makes a trace to dump", param_hint="--dump"
        )
    timed = clock or clock_period is not None
    if overhead and (profile or explain or printed or timed or output is not None or rtl):
        raise click.BadParameter(
            "goes with none of --profile, --explain, --print-after, --clock, --period, --rtl, -o",
            param_hint="--overhead",
        )
    if counters != "all" and not profile:
        raise click.BadParameter("needs --profile, which builds counters", param_hint="--counters")
    if clock and clock_period is not None:
        raise click.BadParameter(
            "says the clock that --clock would find; give one of them", param_hint="--period"
        )
    if dump is not None and str(dump) == "-":
        raise click.BadParameter("two files are written: name one, not -", param_hint="--dump")
    layout = dump.with_name(f"{dump.name}.json") if dump is not None else None
    check_outputs(output, dump, layout, force=force)
    model = source_hls.read_memory_model(memory) if memory is not None else None
    given = words(arguments)
    names = (source_hls.LOWERING, *(one.name for one in source_hls.PASSES))
    if strange := set(printed).difference(names):
        raise click.BadParameter(
            f"no pass {min(strange)}; there are {', '.join(names)}", param_hint="--print-after"
        )

    def show_form(name: str, draft: Draft) -> None:
        if name in printed:
            click.echo(f"// after {name}\n{source_hls.printed(draft.region)}", nl=False)

    def compiled(joined: tuple[tuple[str, ...], ...] = ()) -> Program:
        found = source_hls.compile_c(
            source,
            threads=threads,
            defines=pairs(defines, "-D"),
            include=include,
            region=region,
            joined=joined,
            link=link,
            verifies=verify_ir or None,
            after=show_form,
        )
        for warning in found.warnings if not joined else ():
            say(f"warning: {warning}", err=True)
        return found

    program = compiled()
    if explain:
        click.echo(source_hls.explain(program), nl=False)
    if (explain or printed) and output is None and rtl is None and not clock:
        return
    if clock:
        source_hls.find_router()
    period, periods = _periods(samples, source_hls.PERIOD)
    if periods and not profile:
        raise click.BadParameter(
            f"{next(iter(periods))} has a period of its own with --profile only",
            param_hint="--sample",
        )
    unit = None
    if profile:
        full = source_hls.OnFull(on_full)
        unit = source_hls.UnitOptions(
            source.name,
            period=period,
            periods=periods,
            on_full=full,
            counters=source_hls.chosen_counters(counters),
        )

    def going(unit: UnitOptions | None) -> Measurement:
        nonlocal program
        try:
            return source_hls.measure(
                program,
                given,
                memory=model,
                in_order=not reorder,
                start_cost=source_hls.START_COST if start_cost is None else start_cost,
                period=period,
                cycle_limit=cycle_limit,
                progress=show,
                unit_rtl=unit_rtl,
                rtl=rtl,
                force=force,
                unit=unit,
                trace_lines=trace_lines or source_hls.TRACE_LINES,
                times=times or source_hls.TIMES,
            )
        except source_hls.OverlapError as error:
            if not error.joined:
                raise
            names = " and ".join(error.names)
            say(
                f"warning: {program.region.where}: {names} lead into one block of the host's "
                f"memory: they are one memory of the hardware",
                err=True,
            )
            program = compiled(error.joined)
            return going(unit)

    with progress(source.name) as show:
        if overhead:
            with timing(source.name) as step:
                table = source_hls.overhead(
                    program,
                    source.name,
                    lambda unit: going(unit).run.cycles,
                    period=period,
                    doing=step,
                )
            click.echo(table, nl=False)
            return
        result = going(unit)
    if clock:
        with timing(source.name) as step:
            result = result.at_clock(source_hls.clock_of(program, unit, doing=step))
    elif clock_period is not None:
        result = result.at_period(clock_period)
    if output is not None:
        save_profile(result.profile, output, force=force)
    if dump is not None and layout is not None and result.layout is not None:
        with writing(dump, force=force) as stream:
            stream.write(result.dump)
        with writing(layout, force=force) as stream:
            stream.write(result.layout.to_json().encode())
    if not explain and not printed:
        hush_if_quiet()
    _tell(program, result, form)
    if rtl is not None:
        report(rtl, "hardware")
    if dump is not None:
        report(dump, "dump")
    if output is not None:
        report(output, "profile")
    _judge(source, result)


def _periods(samples: tuple[str, ...], period: int) -> tuple[int, dict[str, int]]:
    """The sampling period, and that of counters that have their own."""
    own: dict[str, int] = {}
    for text in samples:
        name, _, number = text.rpartition("=")
        if not re.fullmatch("[0-9]{1,18}", number) or not int(number):
            raise click.BadParameter(
                f"{text}: write N or COUNTER=N, with N cycles from 1 on", param_hint="--sample"
            )
        if name:
            own[name.strip()] = int(number)
        else:
            period = int(number)
    return period, own


def _tell(program: Program, result: Measurement, form: str) -> None:
    if result.run.complete:
        said = result.stdout.decode("utf-8", "replace")
        click.echo(said, nl=bool(said) and not said.endswith("\n"))
    # The profile's number, as all views say it: its unit no longer counts while it writes the rest.
    cycles = result.profile.cycles
    more = result.run.cycles - cycles
    rest = (
        f", and {more:,} more until the trace was written" if more and result.run.complete else ""
    )
    tell_summary(result.profile, form)
    runs = f" in {len(result.runs):,} runs" if len(result.runs) > 1 else ""
    click.echo(f"{program.region.threads} threads, {cycles:,} cycles{runs}{rest}")
    if result.left and result.run.complete:
        where = program.region.where
        say(
            f"warning: {where.file}:{where.line}: the host came to the region "
            f"{result.native.reached:,} times and ran the last {result.left:,} itself; to have all "
            f"in hardware: --times {result.native.reached}",
            err=True,
        )
    if result.profile.meta.clock is not None:
        from cyclescope.views import clock_text

        click.echo(clock_text(result.profile.meta.clock), nl=False)


def _judge(source: Path, result: Measurement) -> None:
    """Says whether the results are right.

    Raises:
        VerifyError: they are not.
    """
    from cyclescope.errors import VerifyError

    if not result.run.complete:
        not_complete(f"{result.run.stop_reason}; no results")
    if not result.agrees:
        first = result.differing[0] if result.differing else "what it prints differs"
        wrong = [j for j in result.judgements if j.differing or not j.prints_alike]
        who = " and ".join(f"the {j.judge}" for j in wrong)
        why = result.race or "no data race of the region was found: please report it"
        raise VerifyError(f"{source}: hardware and native run ({who}) differ: {first}; {why}")
    how = "to rounding" if result.loose else "bit for bit"
    if result.undecided:
        how += f"; {', '.join(result.undecided)} not compared: which thread writes last is open"
    used = " and ".join(f"the {j.judge}" for j in result.judgements if not j.why_not)
    if used:
        click.echo(f"results: as in the native run, {how} (judged by {used})")
    else:
        click.echo("results: compared with nothing from one of the runs on, as no two runs agree")
    if result.race:
        click.echo(result.race)
    for judgement in result.judgements:
        if judgement.why_not:
            click.echo(f"the {judgement.judge} was no judge: {judgement.why_not}")
