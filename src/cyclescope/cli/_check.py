"""`cyclescope check`: budgets and regressions, for CI."""

from __future__ import annotations

from pathlib import Path

import click

from cyclescope.cli._common import (
    check_outputs,
    force_option,
    level_option,
    profile_argument,
    read_profile,
    report,
    writing,
)

__all__ = ["check"]

_FILE = click.Path(path_type=Path, allow_dash=True)


@click.command()
@profile_argument
@level_option
@click.option(
    "--budget", "budgets", multiple=True, metavar="LIMIT",
    help="Must hold: 'cycles<=1000', 'useful>=30%', 'longest(main.queue/push)<8'; repeatable.",
)  # fmt: skip
@click.option(
    "--against", type=click.Path(path_type=Path), metavar="BASE.cyc", help="Compare with this one."
)
@click.option(
    "--fail-on", multiple=True, metavar="CHANGE",
    help="Must not hold of the change since BASE: 'cycles>+2%', 'fsm>+100'; repeatable.  "
    "[default, with --against: cycles>+0]",
)  # fmt: skip
@click.option("--strict", is_flag=True, help="Fail on lost data too.")
@click.option("--json", "as_json", type=_FILE, metavar="FILE", help="Also write JSON.")
@click.option("--junit", type=_FILE, metavar="FILE", help="Also write JUnit's XML.")
@click.option(
    "--markdown", type=_FILE, metavar="FILE",
    help="Also write Markdown for a pull request, with what changed since BASE.",
)  # fmt: skip
@force_option
def check(
    profile: Path, level: str | None, budgets: tuple[str, ...], against: Path | None,
    fail_on: tuple[str, ...], strict: bool, as_json: Path | None, junit: Path | None,
    markdown: Path | None, force: bool,
) -> None:  # fmt: skip
    """Check a profile: budgets, or a comparison with an earlier one.

    Exits with 0 if all is as it should be, 1 if something is not, 2 if a limit is no limit.
    Figures of the run: cycles, useful, overhead, fsm, par_done, both, other; of its threads:
    running, critical, spinning, idle. Of one frame: cycles(…), times(…), shortest(…), longest(…).
    A run that was stopped always fails.
    """
    from cyclescope.analyse import check as examine
    from cyclescope.analyse import diff
    from cyclescope.views import check_json, check_junit, check_markdown, check_text

    check_outputs(as_json, junit, markdown, force=force)
    if fail_on and against is None:
        raise click.UsageError("--fail-on compares: give --against BASE.cyc")
    if against is not None and not fail_on:
        fail_on = ("cycles>+0",)
    loaded = read_profile(profile, level)
    base = read_profile(against, level) if against is not None else None
    findings = examine(loaded, budgets, against=base, fail_on=fail_on, strict=strict)
    outputs = [as_json, junit, markdown]
    if not any(path is not None and str(path) == "-" for path in outputs):
        click.echo(check_text(loaded, findings), nl=False)
    if as_json is not None:
        _write(as_json, check_json(loaded, findings).encode(), "JSON", force=force)
    if junit is not None:
        _write(junit, check_junit(loaded, findings), "JUnit", force=force)
    if markdown is not None:
        compared = diff(base, loaded) if base is not None else None
        _write(markdown, check_markdown(loaded, findings, compared).encode(), "Markdown",
               force=force)  # fmt: skip
    if not all(finding.passed for finding in findings):
        raise click.exceptions.Exit(1)


def _write(path: Path, data: bytes, what: str, *, force: bool) -> None:
    with writing(path, force=force) as stream:
        stream.write(data)
    report(path, what)
