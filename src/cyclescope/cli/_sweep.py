"""`cyclescope sweep`: one program at many points of a space of options."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import click

from cyclescope.cli._common import (
    StudySwitch,
    hush_if_quiet,
    is_quiet,
    is_verbose,
    report,
    say,
    tell_json,
    told_option,
    writing,
)
from cyclescope.cli._kinds import FolderPath, InputPath
from cyclescope.cli._trust import TRUST_OPTIONS, trust_options

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from cyclescope.studies import Option, Result, Study

__all__ = ["sweep"]

# Sources whose -o is a profile.
_SOURCES = ("calyx", "bounds", "hls")
_OWN = {"output", "force", "help", "form", "as_json", "quiet", "verbose"} | TRUST_OPTIONS


@click.command()
@click.argument("study", type=InputPath("a table of settings"), metavar="STUDY.toml")
@click.option(
    "-o", "--output", type=FolderPath(), metavar="DIR",
    help="Folder for results; default: STUDY.sweep. Runs that it contains are not repeated.",
)  # fmt: skip
@click.option(
    "--workers", type=click.IntRange(1, 1024), metavar="N",
    help="Runs at a time; default: one for each processor.",
)  # fmt: skip
@click.option("--dask", metavar="ADDRESS", help="Run on the Dask cluster at this address.")
@click.option("--retry", is_flag=True, help="Run again what failed before.")
@click.option("--top", type=click.IntRange(min=0), default=20, show_default=True,
              help="Print at most this many runs.")  # fmt: skip
@told_option
@trust_options
def sweep(
    study: Path, output: Path | None, workers: int | None, dask: str | None, retry: bool, top: int,
    form: str,
) -> None:  # fmt: skip
    """Run a program with many combinations of options, and show the best.

    The search is grid, random or Optuna; each run is a separate process, here or on a Dask cluster.
    Writes results.parquet, every profile, and with two objectives a picture of the runs that no
    other beats. A sweep that was stopped continues when it is started again.
    """
    from cyclescope.errors import RunError
    from cyclescope.studies import Store, read_study, results_parquet, run_study
    from cyclescope.views import answer_view

    hush_if_quiet()
    asked = read_study(study, _commands())
    folder = output or study.with_suffix(".sweep")
    store = Store(folder)
    results = run_study(
        asked, store, workers=workers, dask=dask, retry=retry, progress=_told(asked)
    )
    table = folder / "results.parquet"
    with writing(table, force=True) as stream:
        stream.write(results_parquet(results, asked.objectives))
    failed = [result for result in results if result.failure]
    shown = answer_view(_table(asked, results, top), form).decode()
    if form == "json":
        tell_json(shown)
    else:
        click.echo(shown, nl=False)
    if failed:
        say(f"{len(failed)} of {len(results)} runs failed: {failed[0].failure}", err=True)
    report(table, "results")
    if len(asked.objectives) > 1:
        _picture(asked, results, folder / "pareto.svg")
    if len(failed) == len(results):
        raise RunError(f"{study}: no run gave a profile; see {table}")


def _commands() -> dict[str, dict[str, Option]]:
    """The sources' options, from their own declarations."""
    from cyclescope.cli import COMMANDS, program
    from cyclescope.studies import Option

    result = {}
    for name in _SOURCES:
        if name not in COMMANDS:
            continue
        command = program.get_command(click.Context(program), name)
        assert command is not None
        result[name] = {
            flag.lstrip("-"): Option(
                flag=flag,
                off=parameter.secondary_opts[0] if parameter.secondary_opts else "",
                switch=parameter.is_flag,
                multiple=parameter.multiple,
                path=isinstance(parameter.type, click.Path),
                wanted=isinstance(parameter, StudySwitch) and flag in parameter.opts[:1],
            )
            for parameter in command.params
            if isinstance(parameter, click.Option) and parameter.name not in _OWN
            for flag in parameter.opts
        }
    return result


def _told(study: Study) -> Any:
    """A line for each run, where somebody looks."""
    done = 0

    def tell(result: Result, was_known: bool) -> None:
        nonlocal done
        done += 1
        if (sys.stderr.isatty() and not is_quiet()) or is_verbose():
            first = study.objectives[0].name
            what = result.failure or f"{first} {result.figures[first]:,}"
            known = ", known" if was_known else ""
            say(f"{done}: {_label(result)}: {what}{known}", err=True)

    return tell


def _label(result: Result) -> str:
    return ", ".join(
        f"{name}={value if isinstance(value, str) else json.dumps(value, default=str)}"
        for name, value in result.point.items()
    )


def _table(study: Study, results: Sequence[Result], top: int) -> Any:
    """The best runs, by the first objective; `*` marks those that no other beats."""
    from cyclescope.analyse import Answer
    from cyclescope.studies import front

    wanted = [objective.name for objective in study.objectives]
    best = {result.digest for result in front(results, study.objectives)}
    sound = [result for result in results if not result.failure]
    sign = -1 if study.objectives[0].largest else 1
    sound.sort(key=lambda result: sign * result.figures[wanted[0]])
    varied = list(study.space)
    rows = [
        (
            "*" if result.digest in best else "",
            *(result.figures[name] for name in wanted),
            *(result.point[name] for name in varied),
        )
        for result in sound[:top]
    ]
    return Answer(("best", *wanted, *varied), tuple(rows))


def _picture(study: Study, results: Sequence[Result], path: Path) -> None:
    from cyclescope.studies import front
    from cyclescope.views import ParetoPoint, pareto_svg

    x, y = study.objectives[:2]
    best = {result.digest for result in front(results, (x, y))}
    points = [
        ParetoPoint(r.figures[x.name], r.figures[y.name], _label(r), r.digest in best)
        for r in results
        if not r.failure
    ]
    with writing(path, force=True) as stream:
        stream.write(pareto_svg(points, x.name, y.name, study.path.name))
    report(path, "picture")
