"""`cyclescope table`: every cell, group, control block or primitive as a row."""

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
    say,
    writing,
)

__all__ = ["table"]

_KINDS = {
    "cells": "cell",
    "groups": "group",
    "control": "control",
    "primitives": "primitive",
    "processes": "process",
    "threads": "thread",
    "states": "state",
}
_OTHERS = ("team", "efficiency", "waits", "lines", "clock")


@click.command()
@profile_argument
@level_option
@click.argument("kind", type=OneOf([*_KINDS, *_OTHERS]), default="cells")
@click.option(
    "--sort",
    type=OneOf(["cycles", "overhead"]),
    default="cycles",
    show_default=True,
    help="overhead: sort by the cycles in which nothing below a frame was active.",
)
@form_option
@output_option("File to write; the terminal if not given")
@force_option
def table(
    profile: Path,
    level: str | None,
    kind: str,
    sort: str,
    form: str,
    output: Path | None,
    force: bool,
) -> None:
    """Tabulate cells, groups, control blocks, primitives, hardware threads or source lines.

    Times active, cycles, shortest, longest and average activation, for each instance.
    A block whose activations all took equally long, in every instance, could be made static.
    `control --sort overhead` shows which block costs most by itself.
    `team`: a row for each hardware thread; `efficiency`: load balance, serialisation and transfer;
    `waits`: the lines where threads wait; `clock`: the longest path of a placed and routed design,
    one row for each step.
    """
    from cyclescope.model import Kind
    from cyclescope.views import (
        clock_view,
        efficiencies_view,
        lines_view,
        table_view,
        team_view,
        waits_view,
    )

    check_form(form, output)
    if kind == "lines":
        data = lines_view(read_profile(profile), level, form)
    elif kind == "clock":
        data = clock_view(read_profile(profile), form)
    elif kind == "efficiency":
        data = efficiencies_view(read_profile(profile), form)
    elif kind in ("team", "waits"):
        data = (team_view if kind == "team" else waits_view)(read_profile(profile), form)
    else:
        loaded = read_profile(profile, level)
        kinds = {frame.kind for frame in loaded.catalog}
        if Kind(_KINDS[kind]) not in kinds:
            there = ", ".join(name for name, one in _KINDS.items() if Kind(one) in kinds)
            say(f"{loaded.meta.title} has no {kind}; it has {there or 'nothing'}", err=True)
        data = table_view(loaded, Kind(_KINDS[kind]), form, overhead=sort == "overhead")
    path = output or Path("-")
    with writing(path, force=force) as stream:
        stream.write(data)
    report(path, "table")
