"""`cyclescope critical`: what decides how long a run takes, and what the rest could take."""

from __future__ import annotations

from pathlib import Path

import click

from cyclescope.cli._common import (
    OneOf,
    check_form,
    force_option,
    form_option,
    level_option,
    output_option,
    profile_argument,
    read_profile,
    report,
    writing,
)

__all__ = ["critical"]


@click.command()
@profile_argument
@click.argument("what", type=OneOf(("path", "threads", "waits")), default="path")
@level_option
@click.option(
    "--of",
    "names",
    multiple=True,
    metavar="NAME",
    help="waits: only those of, for or inside this block, e.g. main.queue/push; may be repeated.",
)
@form_option
@output_option("File to write; the terminal if not given")
@force_option
def critical(
    profile: Path,
    what: str,
    level: str | None,
    names: tuple[str, ...],
    form: str,
    output: Path | None,
    force: bool,
) -> None:
    """Show the path that determines a run's cycles, and the slack and leverage of each block.

    The own cycles on the path add up to the run. Slack: the cycles that each activation could take
    longer without making the run longer. Leverage: the cycles that the run becomes shorter for each
    cycle that the block does. `threads`: the same for each thread. `waits`: where things run in
    parallel, which one ends early and what it waits for; which thread waits for a lock that another
    one has.
    """
    from cyclescope.analyse import frames_named
    from cyclescope.views import critical_view, phase_waits_view

    check_form(form, output)
    if names and what != "waits":
        raise click.UsageError("--of NAME chooses waits; write: critical PROFILE.cyc waits --of …")
    loaded = read_profile(profile, level)
    if what != "waits":
        data = critical_view(loaded, form, threads=what == "threads")
    else:
        keys = [key for name in names for key in frames_named(loaded, name)]
        data = phase_waits_view(loaded, keys, form)
    path = output or Path("-")
    with writing(path, force=force) as stream:
        stream.write(data)
    report(path, "critical path")
