"""`cyclescope check`: budgets and regressions, for CI."""

from __future__ import annotations

from pathlib import Path

import click

from cyclescope.cli._common import (
    PROFILE,
    check_outputs,
    force_option,
    format_option,
    level_option,
    output_option,
    profile_argument,
    read_profile,
    report,
    writing,
)

__all__ = ["check"]

_NAMES = {"json": "JSON", "junit": "JUnit", "markdown": "Markdown"}
_FILE = click.Path(path_type=Path, allow_dash=True)


@click.command()
@profile_argument
@level_option
@click.option(
    "--budget", "budgets", multiple=True, metavar="LIMIT",
    help="Condition that must hold: 'cycles<=1000', 'useful>=30%',"
    " 'longest(main.queue/push)<8'; may be repeated.",
)  # fmt: skip
@click.option(
    "--against", type=PROFILE, metavar="BASE.cyc", help="Compare with this earlier profile."
)
@click.option(
    "--fail-on", multiple=True, metavar="CHANGE",
    help="Change since BASE that must not occur: 'cycles>+2%', 'fsm>+100'; may be repeated.  "
    "[default, with --against: cycles>+0]",
)  # fmt: skip
@click.option("--strict", is_flag=True, help="Also fail on lost data.")
@format_option("text", "json", "junit", "markdown")
@output_option("File to write; the terminal if not given")
@click.option("--json", "as_json", type=_FILE, metavar="FILE", hidden=True)
@click.option("--junit", type=_FILE, metavar="FILE", help="Also write JUnit's XML.")
@click.option(
    "--markdown", type=_FILE, metavar="FILE",
    help="Also write Markdown for a pull request, with what changed since BASE.",
)  # fmt: skip
@force_option
def check(
    profile: Path, level: str | None, budgets: tuple[str, ...], against: Path | None,
    fail_on: tuple[str, ...], strict: bool, form: str, output: Path | None,
    as_json: Path | None, junit: Path | None, markdown: Path | None, force: bool,
) -> None:  # fmt: skip
    """Check a profile: budgets, or a comparison with an earlier one.

    The exit status is 0 if all limits hold, 1 if one does not, 2 if one cannot be read.
    Figures of the run: cycles, useful, lost, work, waiting, control, idle, unknown, and single
    causes such as fsm, par_done, memory, lock; states of threads: running, critical, spinning.
    Figures of one frame: cycles(…), times(…), shortest(…), longest(…). A run that was stopped
    always fails.
    """
    from cyclescope.analyse import check as examine
    from cyclescope.analyse import diff
    from cyclescope.views import check_json, check_junit, check_markdown, check_text

    check_outputs(output, as_json, junit, markdown, force=force)
    if fail_on and against is None:
        raise click.UsageError("--fail-on compares: give --against BASE.cyc")
    if against is not None and not fail_on:
        fail_on = ("cycles>+0",)
    loaded = read_profile(profile, level)
    base = read_profile(against, level) if against is not None else None
    findings = examine(loaded, budgets, against=base, fail_on=fail_on, strict=strict)
    writers = {
        "text": lambda: check_text(loaded, findings).encode(),
        "json": lambda: check_json(loaded, findings).encode(),
        "junit": lambda: check_junit(loaded, findings),
        "markdown": lambda: check_markdown(
            loaded, findings, diff(base, loaded) if base is not None else None
        ).encode(),
    }
    beside = ((as_json, "json"), (junit, "junit"), (markdown, "markdown"))
    # Whoever sends one of the others to standard output wants nothing else there.
    has_place = output is not None or not any(str(path) == "-" for path, _ in beside)
    if form == "text" and output is None and has_place:
        click.echo(check_text(loaded, findings), nl=False)
    elif has_place:
        _write(output or Path("-"), writers[form](), "result", force=force)
    for path, other in beside:
        if path is not None:
            _write(path, writers[other](), _NAMES[other], force=force)
    if not all(finding.passed for finding in findings):
        raise click.exceptions.Exit(1)


def _write(path: Path, data: bytes, what: str, *, force: bool) -> None:
    with writing(path, force=force) as stream:
        stream.write(data)
    report(path, what)
