"""`cyclescope diff`: what became slower and what faster."""

from __future__ import annotations

from pathlib import Path

import click

from cyclescope.cli._common import (
    PROFILE,
    check_outputs,
    check_picture,
    force_option,
    format_option,
    level_option,
    output_option,
    read_profile,
    report,
    writing,
)

__all__ = ["diff"]


@click.command()
@click.argument("before", type=PROFILE, metavar="BEFORE.cyc")
@click.argument("after", type=PROFILE, metavar="AFTER.cyc")
@level_option
@format_option("text", "markdown", "json", "html")
@click.option(
    "--top",
    type=click.IntRange(min=0),
    help="Print at most this many changes.  [default: 20; html: 200; json: all, always]",
)
@click.option(
    "--flamegraph",
    "picture",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Also draw both flame graphs, red where slower, blue where faster (SVG).",
)
@output_option("File to write, a picture of both flame graphs (.svg); the terminal if not given")
@force_option
def diff(
    before: Path,
    after: Path,
    level: str | None,
    form: str,
    top: int | None,
    picture: Path | None,
    output: Path | None,
    force: bool,
) -> None:
    """Compare two profiles: what became slower, what faster, by call path.

    Renamed and moved blocks are recognised. The changes of the paths' own cycles add up to the
    difference of the totals.
    """
    from cyclescope.analyse import diff as compare
    from cyclescope.views import (
        diff_flamegraph,
        diff_html,
        diff_json,
        diff_markdown,
        diff_text,
    )

    if form == "html" and output is None:
        raise click.UsageError("--format html is not for the terminal; give -o FILE")
    check_picture(output)
    check_picture(picture)
    check_outputs(output, picture, force=force)
    found = compare(read_profile(before, level), read_profile(after, level))
    rows = 20 if top is None else top
    if output is not None and output.suffix == ".svg":
        data = diff_flamegraph(found)
    elif form == "html":
        data = diff_html(found, top=200 if top is None else top)
    elif form == "json":
        data = diff_json(found).encode()
    elif form == "markdown":
        data = diff_markdown(found, top=rows).encode()
    else:
        data = diff_text(found, top=rows).encode()
    path = output or Path("-")
    with writing(path, force=force) as stream:
        stream.write(data)
    report(path, "comparison")
    if picture is not None:
        with writing(picture, force=force) as stream:
            stream.write(diff_flamegraph(found))
        report(picture, "flame graphs")
