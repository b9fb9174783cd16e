"""`cyclescope improve`: find the changes that save cycles, make them, and prove them."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cyclescope._rewrites import Claim
from cyclescope.cli._common import (
    check_outputs,
    doing,
    force_option,
    hush_if_quiet,
    not_complete,
    output_option,
    pairs,
    report,
    say,
    tell_json,
    told_option,
    words,
    writing,
)
from cyclescope.cli._kinds import InputPath
from cyclescope.cli._trust import trust_options
from cyclescope.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cyclescope._rewrites import Rewrite, Subject
    from cyclescope.analyse import Answer
    from cyclescope.studies import Improvement

__all__ = ["improve", "options_of", "rewrites_of", "run_improvement"]


@click.command()
@click.argument("program", type=InputPath("a Calyx program", "a C program"), metavar="PROGRAM")
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    multiple=True,
    help="Memories as Calyx data JSON; may be repeated to check on more data.",
)
@click.option(
    "--fuzz",
    type=click.IntRange(min=0),
    default=0,
    metavar="N",
    help="Check on N more random data files of the same shape.",
)
@output_option("File of the improved program; none is written without this option")
@click.option(
    "--budget",
    type=click.IntRange(min=1),
    default=100,
    show_default=True,
    metavar="N",
    help="Measure at most N programs.",
)
@click.option(
    "--workers",
    type=click.IntRange(min=1),
    help="Programs measured at a time; default: one for each processor.",
)
@click.option("--dask", metavar="ADDRESS", help="Measure on the Dask cluster at this address.")
@click.option(
    "--only", multiple=True, metavar="REWRITE", help="Try this rewrite only; may be repeated."
)
@click.option("--list-rewrites", is_flag=True, help="List the rewrites, and exit.")
@click.option(
    "--state",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Store measurements here, and continue from those that it has.",
)
@click.option("--diff", type=click.Path(path_type=Path), metavar="FILE", help="Write a diff here.")
@click.option(
    "-D", "defines", multiple=True, metavar="NAME[=VALUE]", help="For a C program: define a macro."
)
@click.option(
    "--args", "arguments", default="", help="For a C program: its arguments, as one string."
)
@click.option(
    "--reassociate",
    is_flag=True,
    help="For a C program: allow floating-point sums in another order.",
)
@click.option("--area", is_flag=True, help="Print what the steps cost: cycles against area.")
@told_option
@force_option
@trust_options
def improve(
    program: Path,
    data: tuple[Path, ...],
    fuzz: int,
    output: Path | None,
    budget: int,
    workers: int | None,
    dask: str | None,
    only: tuple[str, ...],
    list_rewrites: bool,
    state: Path | None,
    diff: Path | None,
    defines: tuple[str, ...],
    arguments: str,
    reassociate: bool,
    area: bool,
    form: str,
    force: bool,
) -> None:
    """Change a program so that it takes fewer cycles, and check its results.

    Each rewrite of the text is compiled and run, and kept if it saves cycles and leaves every
    memory unchanged. A kept rewrite is either right by construction, or checked on this data only,
    and the result says which. Ctrl-C ends the search with the best program so far.
    """
    check_outputs(output, diff, force=force)
    if not program.is_file():
        raise InputError(f"{program}: no such file")
    if list_rewrites:
        for rewrite in rewrites_of(program):
            say(f"{rewrite.name}: {rewrite.sentence}")
        return
    if output is not None or diff is not None:
        hush_if_quiet()
    run_improvement(
        program,
        data,
        fuzz,
        output,
        budget,
        workers,
        only,
        state,
        diff,
        options=options_of(program, defines, arguments, reassociate=reassociate),
        area=area,
        dask=dask,
        form=form,
        force=force,
    )


def options_of(
    program: Path, defines: tuple[str, ...], arguments: str, *, reassociate: bool
) -> dict[str, object]:
    """The options of a C program; none of others."""
    if program.suffix != ".c":
        return {}
    return {
        "defines": pairs(defines, "-D"),
        "arguments": words(arguments),
        "reassociate": reassociate,
    }


def run_improvement(
    program: Path,
    data: Sequence[Path],
    fuzz: int,
    output: Path | None,
    budget: int,
    workers: int | None,
    only: Sequence[str],
    state: Path | None,
    diff: Path | None,
    *,
    options: Mapping[str, object] | None = None,
    area: bool,
    dask: str | None = None,
    form: str = "text",
    force: bool,
) -> None:
    """Search, print what was found, and write what was asked for."""
    from cyclescope._files import scratch
    from cyclescope.studies import (
        Measurements,
        cost_table,
        fuzzed,
        improvement_diff,
        subject_of,
    )
    from cyclescope.studies import improve as search

    with scratch("improve") as folder, doing() as tell:
        tell("measuring the program")
        every = [*data, *(fuzzed(data[0], fuzz, folder) if fuzz and data else ())]
        subject = subject_of(program, every, options or {})
        _check_names(subject, only)
        identity = "\n".join(path.read_text("utf-8") for path in every)
        identity += repr(sorted(options.items())) if options else ""
        found = search(
            subject,
            program.read_bytes(),
            Measurements(state, identity),
            budget=budget,
            workers=workers or os.cpu_count() or 1,
            dask=dask,
            only=only,
            progress=tell,
        )
        costs = cost_table(subject, found, tell) if area and not found.stopped else None
    if form == "json":
        tell_json(_json(found, costs))
    else:
        _print(program, subject, found, costs)
    if output is not None:
        with writing(output, force=force) as stream:
            stream.write(found.text)
        report(output, "program")
    if diff is not None:
        with writing(diff, force=force) as stream:
            stream.write(improvement_diff(found, program.name))
        report(diff, "diff")
    if found.stopped == "interrupted":
        not_complete("interrupted; this is the best so far")


def rewrites_of(program: Path) -> Sequence[Rewrite]:
    """The rewrites of programs of a kind."""
    from cyclescope.calyx.rewrites import REWRITES
    from cyclescope.hls.rewrites import REWRITERS

    return [one.rewrite for one in REWRITERS] if program.suffix == ".c" else REWRITES


def _check_names(subject: Subject, only: Sequence[str]) -> None:
    known = [rewrite.name for rewrite in subject.rewrites]
    if odd := [name for name in only if name not in known]:
        raise InputError(f"--only {odd[0]}: no such rewrite; there are {', '.join(known)}")


def _json(found: Improvement, costs: Answer | None) -> str:
    """Give what was kept, tried and paid for programs: the tables' rows as objects."""
    from cyclescope.studies import kept_table, tried_table
    from cyclescope.views import answer_view

    tables = {"kept": kept_table(found), "tried": tried_table(found), "costs": costs}
    whole = {
        "before": found.before,
        "after": found.after,
        "runs": found.runs,
        "checked on data only": sum(c.claim is Claim.DATA for c in found.candidates),
        "not proved": found.doubts,
        "stopped": found.stopped,
        **{
            name: json.loads(answer_view(table, "json"))
            for name, table in tables.items()
            if table is not None and table.rows
        },
    }
    return json.dumps(whole, indent=1, ensure_ascii=False)


def _print(program: Path, subject: Subject, found: Improvement, costs: Answer | None) -> None:
    """Print what was kept, what was tried, what the steps cost."""
    from cyclescope.studies import kept_table, tried_table
    from cyclescope.views import answer_view

    for table in (kept_table(found), tried_table(found), costs):
        if table is not None and table.rows:
            click.echo(answer_view(table).decode())
    saved = found.before - found.after
    share = f" ({100 * saved / found.before:.1f} % fewer)" if found.before else ""
    several = len(getattr(subject, "data", ()))
    on = f" on {several} data together" if several > 1 else ""
    say(f"{found.before:,} cycles before, {found.after:,} after{on}{share}; {found.runs} runs")
    data_only = sum(c.claim is Claim.DATA for c in found.candidates)
    if found.doubts:
        say(f"not proved: {found.doubts}", err=True)
    elif found.candidates:
        sure = "by construction" if not data_only else f"{data_only} checked on this data only"
        rounded = sum(c.claim is Claim.ROUNDING for c in found.candidates)
        sure += f", {rounded} up to rounding" if rounded else ""
        unchecked = found.stopped == "interrupted"
        also = "not" if unchecked else "also"
        end = " checked" if unchecked else ""
        what, other = "memories", "without the compiler's optimisation"
        if program.suffix == ".c":
            what, other = "results", "natively, without hardware"
        say(f"{what} equal, {also}{end} {other}; {sure}")
    if note := getattr(subject, "note", ""):
        say(f"note: {note}", err=True)
    if found.stopped and found.stopped != "interrupted":
        say(f"not searched to the end: {found.stopped}", err=True)
