"""`cyclescope whatif`: the run with other lengths, without simulation."""

from __future__ import annotations

from pathlib import Path

import click

from cyclescope.cli._common import (
    check_form,
    force_option,
    form_option,
    output_option,
    profile_argument,
    read_profile,
    report,
    writing,
)

__all__ = ["whatif"]


@click.command()
@profile_argument
@click.argument("changes", nargs=-1, metavar="['NAME = CYCLES']...")
@click.option(
    "--best",
    type=click.IntRange(min=1, max=1000),
    metavar="N",
    help="In place of changes: the N groups to shorten first, to one cycle each.",
)
@form_option
@output_option("File to write; the terminal if not given")
@force_option
def whatif(
    profile: Path,
    changes: tuple[str, ...],
    best: int | None,
    form: str,
    output: Path | None,
    force: bool,
) -> None:
    """Time a run anew with other lengths, without simulating it.

    'main.queue/push = 1': each activation takes one cycle; '= 1..10': each of these in turn.
    Everything else happens as it did, and begins as soon as what it waits for is over.
    """
    from cyclescope.analyse import parse_lengths
    from cyclescope.views import best_changes_view, retimed_view

    check_form(form, output)
    if (best is None) != bool(changes):
        raise click.UsageError("give changes, such as 'main.queue/push = 1', or --best N")
    loaded = read_profile(profile)
    if best is not None:
        data = best_changes_view(loaded, best, form)
    else:
        data = retimed_view(loaded, parse_lengths(loaded, changes), form)
    path = output or Path("-")
    with writing(path, force=force) as stream:
        stream.write(data)
    report(path, "what if")
