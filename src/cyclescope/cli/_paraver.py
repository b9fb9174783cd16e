"""Writing and reading Paraver traces, for the verbs `export` and `import`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cyclescope.cli._common import check_outputs, report, writing_together

if TYPE_CHECKING:
    from pathlib import Path

    from cyclescope.model import Profile

__all__ = ["export_paraver"]


def export_paraver(profile: Profile, path: Path, period: int | None, *, force: bool) -> None:
    """Write a .prv or .prv.gz, and its .pcf, .row and .cfg files beside it."""
    from cyclescope.views import paraver_companions, write_paraver

    alone = str(path) == "-"
    compress = path.suffix == ".gz"
    stem = path.with_suffix("") if compress else path
    if stem.suffix != ".prv" and not alone:
        raise click.BadParameter(f"{path}: Paraver opens .prv and .prv.gz only", param_hint="-o")
    texts = {} if alone else paraver_companions(profile, period_ps=period)
    beside = {stem.with_name(stem.stem + ending): text for ending, text in texts.items()}
    check_outputs(path, *beside, force=force)
    part = "--from and --to write a part"
    cheaper = part if compress else f"{stem.name}.gz, if named so, is a fraction of it, {part}"
    with writing_together([path, *beside], force=force, cheaper=cheaper) as (stream, *others):
        write_paraver(profile, stream, period_ps=period, compress=compress)
        for other, text in zip(others, beside.values(), strict=True):
            other.write(text.encode())
    report(path, "paraver")
