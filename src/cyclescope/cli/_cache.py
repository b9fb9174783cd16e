"""`cyclescope cache`: what was built once and is kept."""

from __future__ import annotations

import json
import time
from collections import Counter

import click

from cyclescope.cli._common import tell_json, told_option
from cyclescope.cli._groups import Group

__all__ = ["cache"]


@click.group(cls=Group)
def cache() -> None:
    """Show or clear the cache of earlier builds: simulators, syntheses."""


@cache.command()
def path() -> None:
    """Print the cache's folder ($CYCLESCOPE_CACHE names another)."""
    from cyclescope.sim import cache_folder

    click.echo(cache_folder())


@cache.command()
@told_option
def info(form: str) -> None:
    """Print what is in the cache, its size and its limit."""
    from cyclescope.sim import CACHE_BYTES, cache_entries, cache_folder

    found = cache_entries()
    total = sum(entry.bytes for entry in found)
    if form == "json":
        kinds = dict(Counter(entry.kind for entry in found))
        sizes = {"bytes": total, "limit": CACHE_BYTES, "entries": len(found), "kinds": kinds}
        tell_json(json.dumps({"folder": str(cache_folder()), **sizes}, indent=1))
        return
    click.echo(f"folder   {cache_folder()}")
    click.echo(f"size     {total / 1e6:,.1f} MB of at most {CACHE_BYTES / 1e6:,.0f} MB")
    click.echo(f"entries  {len(found):,}")
    counts = Counter(entry.kind for entry in found)
    for kind, count in sorted(counts.items()):
        size = sum(entry.bytes for entry in found if entry.kind == kind)
        click.echo(f"  {kind:10} {count:6,}  {size / 1e6:10,.1f} MB")
    if found:
        days = max(0.0, time.time() - found[0].used) / 86400 if found[0].used else 0.0
        click.echo(f"oldest   not used for {days:,.1f} days")


@cache.command()
def clear() -> None:
    """Remove everything that no running process uses; it is built again when needed."""
    from cyclescope.sim import cache_entries, clear_cache

    before = sum(entry.bytes for entry in cache_entries())
    count = clear_cache()
    rest = cache_entries()
    freed = (before - sum(entry.bytes for entry in rest)) / 1e6
    click.echo(f"removed {count:,} entries, {freed:,.1f} MB")
    if rest:
        click.echo(f"{len(rest):,} stay: in use, or the folder cannot be written to")
