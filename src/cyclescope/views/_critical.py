"""The critical path as tables: what decides the total, who waits for whom, other lengths.

Columns of the path (JSON, CSV and Parquet use these names):

    instance, name, kind, file, line   which one
    critical, share                    own cycles on the path that decides the total; all add up
    slack                              cycles that each activation could take more for nothing
    leverage                           cycles of the run per cycle of this one
    times, cycles                      activations, and cycles of all of them

Of threads the same columns, a row for each thread. Of waits: `cycles`, `times`, then `instance`,
`waiting` for `decisive` inside `caller`, `cause`, with `file` and `line` of the one that waits, of
threads of the one inside which they do. Of other lengths: `length`, `total`, `change`, `assumes` if
the prediction does; of what was tried `simulated`, `error`, `memories` and `control` (`same` or
`other`), compiled anew `anew_simulated`, `anew_error` and `anew_memories`. Of the best changes:
`total`, `change` with all before, `instance`, `name`, `times`, `cycles`, of a network `figure` and
`least`.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, TypeVar

from cyclescope.analyse import assumptions, best_changes, critical, retimed
from cyclescope.errors import InputError
from cyclescope.views._grid import Column, Grid

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from cyclescope.analyse import (
        CriticalFrame,
        Key,
        OtherLength,
        PhaseWait,
        Retimed,
        Step,
        TriedLength,
    )
    from cyclescope.model import Position, Profile

__all__ = ["best_changes_view", "critical_view", "phase_waits_view", "retimed_view"]

Row = TypeVar("Row")


def critical_view(profile: Profile, fmt: str = "text", *, threads: bool = False) -> bytes:
    """Tabulate the critical path with slack and leverage, most critical cycles first.

    Args:
        profile: the run.
        fmt: `text`, `csv`, `json`, `markdown` or `parquet`.
        threads: a row for each thread in place of one for each frame.

    Raises:
        InputError: it does not say what its threads or processes waited for, or nothing ran.
    """
    found = critical(profile)
    if threads and not found.threads:
        raise InputError(f"{profile.meta.title}: it has no threads")
    columns: list[Column[CriticalFrame]] = [
        Column(" critical", "critical", int, lambda row: row.critical),
        Column(" share", "share", float, lambda row: Fraction(row.critical, profile.cycles)),
        Column(" slack", "slack", int, lambda row: row.slack),
        Column(" leverage", "leverage", float, lambda row: row.leverage),
        Column(" times", "times", int, lambda row: row.times),
        Column(" cycles", "cycles", int, lambda row: row.total),
        *_which(profile, lambda row: row.key),
    ]
    return Grid.of(columns).render(found.threads if threads else found.frames, fmt)


def phase_waits_view(profile: Profile, keys: Iterable[Key] = (), fmt: str = "text") -> bytes:
    """Tabulate who waits for whom where things run side by side, most cycles first.

    Args:
        profile: the run.
        keys: only waits of or for these frames in instances; all if there are none.
        fmt: `text`, `csv`, `json`, `markdown` or `parquet`.

    Raises:
        InputError: it does not say what its threads or processes waited for, or nothing ran.
    """
    chosen, found = set(keys), critical(profile)
    waits = [
        wait
        for wait in found.waits
        if not chosen or chosen & {wait.waiting, wait.decisive, wait.caller}
    ]
    columns: list[Column[PhaseWait]] = [
        Column(" cycles", "cycles", int, lambda row: row.cycles),
        Column(" times", "times", int, lambda row: row.times),
        Column("waits", "waiting", str, lambda row: _name(profile, row.waiting)),
        Column("for", "decisive", str, lambda row: _name(profile, row.decisive)),
        Column("inside", "caller", str, lambda row: _name(profile, row.caller)),
        Column("cause", "cause", str, lambda row: row.cause),
        Column("instance", "instance", str, lambda row: row.caller[1]),
        *_line(profile, lambda row: row.caller if found.threads else row.waiting),
    ]
    return Grid.of(columns).render(waits, fmt)


def retimed_view(
    profile: Profile,
    changes: Sequence[OtherLength],
    fmt: str = "text",
    simulated: Sequence[TriedLength] = (),
    anew: Sequence[TriedLength] = (),
) -> bytes:
    """Tabulate the run's cycles with other lengths.

    Args:
        profile: the run.
        changes: the lengths; of several of one change each is a row.
        simulated: simulations with these lengths, to set beside; empty for none.
        anew: the same of the program compiled anew.
        fmt: `text`, `csv`, `json`, `markdown` or `parquet`.

    Raises:
        InputError: it does not say what its threads or processes waited for, or nothing ran.
    """
    found = retimed(profile, changes)
    rows = range(len(found.totals))
    curve = next((one for one in changes if one.is_curve), None)
    columns: list[Column[int]] = [
        _cycles(" cycles", "total", found.totals),
        *_change(found.cycles, lambda row: found.totals[row]),
    ]
    if simulated:
        columns += _tried("simulated", "error", "memories", found, simulated)
    if any(one.same_control is not None for one in simulated):
        control = ["same" if one.same_control else "other" for one in simulated]
        columns.append(Column("control", "control", str, lambda row: control[row]))
    if anew:
        columns += _tried("anew_simulated", "anew_error", "anew_memories", found, anew)
    if assumed := "; ".join(assumptions(profile, changes)):
        columns.append(Column("assumes", "assumes", str, lambda _: assumed))
    if curve is not None:
        columns.insert(0, Column(f" {curve.name}", "length", int, lambda row: found.lengths[row]))
    return Grid.of(columns).render(rows, fmt)


def _tried(
    cycles: str, error: str, memories: str, found: Retimed, tried: Sequence[TriedLength]
) -> tuple[Column[int], ...]:
    """The columns of simulations, by the names that machines read."""

    def off(row: int) -> Fraction | None:
        foretold, real = found.totals[row], tried[row].cycles
        if foretold is None or real is None:
            return Fraction(0) if foretold == real else None
        return Fraction(foretold - real, real)

    def same(row: int) -> str:
        return "same" if tried[row].same_memories else "other"

    def head(name: str) -> str:
        return name.removesuffix("_simulated").replace("_", " ")

    return (
        _cycles(f" {head(cycles)}", cycles, [one.cycles for one in tried]),
        Column(f" {head(error)}", error, float, off),
        Column(head(memories), memories, str, same),
    )


def _cycles(heading: str, name: str, totals: Sequence[int | None]) -> Column[int]:
    """A column of runs' cycles; a network may come to a standstill."""

    def shown(row: int) -> str:
        total = totals[row]
        return "deadlock" if total is None else f"{total:,}"

    return Column(heading, name, int, lambda row: totals[row], shown)


def best_changes_view(profile: Profile, most: int, fmt: str = "text") -> bytes:
    """Tabulate which groups to shorten to a cycle, each the best next to those above it.

    Of a process network `figure` and `least` say which figure of a process, and how far.

    Args:
        profile: the run.
        most: at most so many.
        fmt: `text`, `csv`, `json`, `markdown` or `parquet`.

    Raises:
        InputError: it does not say what its threads or processes waited for, or nothing ran.
    """
    columns: list[Column[Step]] = [
        Column(" run", "total", int, lambda row: row.cycles),
        *_change(profile.cycles, lambda row: row.cycles),
        Column(" times", "times", int, lambda row: row.times),
        Column(" cycles", "cycles", int, lambda row: row.total),
        *_which(profile, lambda row: row.keys[0]),
    ]
    found = best_changes(profile, most)
    if any(row.figure is not None for row in found):
        columns += [
            Column("what", "figure", str, lambda row: str(row.figure)),
            Column(" to", "least", int, lambda row: row.least),
        ]
    return Grid.of(columns).render(found, fmt)


def _change(before: int, total: Callable[[Row], int | None]) -> tuple[Column[Row], Column[Row]]:
    """The change of the run's cycles, as a number and as a share of what they were."""

    def change(row: Row) -> int | None:
        now = total(row)
        return None if now is None else now - before

    def share(row: Row) -> Fraction | None:
        now = total(row)
        return None if now is None else Fraction(now - before, before)

    def shown(row: Row) -> str:
        now = change(row)
        return "" if now is None else f"{now:+,}"

    return (
        Column(" change", "change", int, change, shown),
        Column(" share", "share", float, share),
    )


def _which(profile: Profile, key: Callable[[Row], Key]) -> tuple[Column[Row], ...]:
    """The columns that say which frame in which instance a row is of."""
    return (
        Column("instance", "instance", str, lambda row: key(row)[1]),
        Column("name", "name", str, lambda row: _name(profile, key(row))),
        Column("kind", "kind", str, lambda row: str(profile.catalog[key(row)[0]].kind)),
        *_line(profile, key),
    )


def _line(profile: Profile, key: Callable[[Row], Key]) -> tuple[Column[Row], ...]:
    """The columns of a frame's place in the text: one for people, two for machines."""

    def position(row: Row) -> Position | None:
        return next(iter(profile.catalog[key(row)[0]].positions), None)

    def line(row: Row) -> int | None:
        at = position(row)
        return None if at is None else at.line

    def file(row: Row) -> str | None:
        at = position(row)
        return None if at is None else at.file

    return (
        Column("file", "file", str, file),
        Column(" line", "line", int, line),
    )


def _name(profile: Profile, key: Key) -> str:
    return profile.catalog[key[0]].name
