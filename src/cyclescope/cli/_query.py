"""`cyclescope query`: questions in SQL."""

from __future__ import annotations

from pathlib import Path

import click

from cyclescope.cli._common import (
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

__all__ = ["query"]


# \b keeps click from filling the lines that follow into a paragraph.
_HELP = """Ask a profile a question in SQL (DuckDB; needs the extra `query`).

Tables: frames, paths, trees, runs, counters, spans, meta. For example:

\b
  cyclescope query P.cyc "SELECT name, sum(active) AS cycles FROM paths
    JOIN frames USING (frame) WHERE kind = 'group' GROUP BY name ORDER BY cycles DESC"
"""


@click.command(help=_HELP)
@profile_argument
@level_option
@click.argument("sql", metavar="SQL")
@form_option
@output_option("File to write; the terminal if not given")
@force_option
def query(
    profile: Path, level: str | None, sql: str, form: str, output: Path | None, force: bool
) -> None:
    """Ask a profile a question in SQL."""
    from cyclescope.analyse import query as ask
    from cyclescope.analyse import query_parquet
    from cyclescope.views import answer_view

    check_form(form, output)
    loaded = read_profile(profile, level)
    whole = form == "parquet"
    data = query_parquet(loaded, sql) if whole else answer_view(ask(loaded, sql), form)
    path = output or Path("-")
    with writing(path, force=force) as stream:
        stream.write(data)
    report(path, "answer")
