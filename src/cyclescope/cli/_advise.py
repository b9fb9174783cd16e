"""`cyclescope advise`: what to change, most cycles first."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

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

if TYPE_CHECKING:
    from collections.abc import Mapping

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
    help="Print at most this many places of each finding; JSON has all.",
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
    help="With --try: its memories; may be repeated to check on more data.",
)
@click.option(
    "--better",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="With --try: write the improved program here.",
)
@click.option(
    "-D",
    "defines",
    multiple=True,
    metavar="NAME[=VALUE]",
    help="With --try, for a C program: define a macro.",
)
@click.option(
    "--args",
    "arguments",
    default="",
    help="With --try, for a C program: its arguments, as one string.",
)
@click.option(
    "--reassociate",
    is_flag=True,
    help="With --try, for a C program: allow floating-point sums in another order.",
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
    defines: tuple[str, ...],
    arguments: str,
    reassociate: bool,
    output: Path | None,
    force: bool,
) -> None:
    """Say what to change: patterns that cost cycles, and what they cost.

    Each finding has its evidence, an estimate of the cycles saved, with its bound, the change, and
    how to check it. With --level, the places are lines of that source.
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
        from cyclescope.cli._improve import options_of

        options = options_of(program, defines, arguments, reassociate=reassociate)
        rules = [advice.rule.name for advice in found]
        _try(program, data, better, rules, options, force=force)


def _try(
    program: Path,
    data: tuple[Path, ...],
    better: Path | None,
    rules: list[str],
    options: Mapping[str, object],
    *,
    force: bool,
) -> None:
    """Make the changes that the findings propose, as far as there are rewrites for them."""
    from cyclescope.cli._improve import rewrites_of, run_improvement
    from cyclescope.studies import REWRITES_OF_RULES

    there = {rewrite.name for rewrite in rewrites_of(program)}
    proposed = [name for rule in rules for name in REWRITES_OF_RULES.get(rule, ())]
    only = [name for name in dict.fromkeys(proposed) if name in there]
    if not only:
        click.echo("no finding is one that a rewrite could change")
        return
    run_improvement(
        program, data, 0, better, 100, None, only, None, None,
        options=options, area=False, force=force,
    )  # fmt: skip
