"""`cyclescope advise`: what to change, most cycles first."""

from __future__ import annotations

from pathlib import Path

import click

from cyclescope.cli._common import (
    force_option,
    format_option,
    level_option,
    output_option,
    profile_argument,
    read_profile,
    report,
    writing,
)

__all__ = ["advise"]


@click.command()
@profile_argument
@level_option
@format_option("text", "markdown", "json")
@click.option(
    "--sites",
    type=click.IntRange(min=1),
    default=5,
    show_default=True,
    help="At most so many places of each finding; JSON has all.",
)
@click.option(
    "--try",
    "program",
    type=click.Path(path_type=Path),
    metavar="PROGRAM",
    help="Make the changes in this program, and keep those that save cycles: cyclescope improve.",
)
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    multiple=True,
    help="With --try: its memories; several times to check on more.",
)
@click.option(
    "--better",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="With --try: write the better program here.",
)
@output_option("File to write; the terminal if not given")
@force_option
def advise(
    profile: Path,
    level: str | None,
    form: str,
    sites: int,
    program: Path | None,
    data: tuple[Path, ...],
    better: Path | None,
    output: Path | None,
    force: bool,
) -> None:
    """Say what to change: patterns that cost cycles, and what they cost.

    Each finding has its evidence, an estimate of the cycles that the change saves with a bound,
    the change, and how to check it. With a level, the places are lines of that source.
    """
    from cyclescope.analyse import advise as ask
    from cyclescope.analyse import located
    from cyclescope.views import advice_json, advice_markdown, advice_text

    loaded = read_profile(profile)
    found = ask(loaded if level is None else located(loaded, level))
    if form == "json":
        text = advice_json(loaded, found)
    elif form == "markdown":
        text = advice_markdown(loaded, found, file=str(profile), sites=sites)
    else:
        text = advice_text(loaded, found, file=str(profile), sites=sites)
    path = output or Path("-")
    with writing(path, force=force) as stream:
        stream.write(text.encode())
    report(path, "advice")
    if program is not None:
        _try(program, data, better, [advice.rule.name for advice in found], force=force)


def _try(
    program: Path, data: tuple[Path, ...], better: Path | None, rules: list[str], *, force: bool
) -> None:
    """Make the changes that the findings propose, as far as there are rewrites for them."""
    from cyclescope.cli._improve import run_improvement
    from cyclescope.studies import REWRITES_OF_RULES

    only = [name for rule in rules for name in REWRITES_OF_RULES.get(rule, ())]
    if not only:
        click.echo("no finding is one that a rewrite could change")
        return
    run_improvement(program, data, 0, better, 100, None, only, None, None, area=False, force=force)
