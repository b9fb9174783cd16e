"""Runs of threads timed anew at a few values of whatever can be changed, for a page to show.

Each change by itself, and each total is the one of `retimed` for the same change.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cyclescope.analyse._thread_graph import has_threads, size_of_spans, thread_graph
from cyclescope.analyse._whatif import parse_lengths
from cyclescope.analyse._whatif_threads import (
    LATENCY,
    START_COST,
    THREADS,
    memory_latency,
    own_lengths,
    thread_totals,
)
from cyclescope.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cyclescope.analyse._activations import Key
    from cyclescope.model import Profile

__all__ = ["Curve", "curves_of_threads"]

_LOOPS = 8  # those with most cycles
_EVENTS = 50_000  # in a run; where there are more, the costly changes have fewer values
_LATENCIES = (0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 3.0, 4.0)  # of what it was
_COSTS = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0)
_TEAMS = (0.125, 0.25, 0.5, 1.0, 2.0, 4.0)
_FEW = (0.0, 0.5, 1.0, 2.0)
_LENGTHS = (0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0)


@dataclass(frozen=True, slots=True)
class Curve:
    """A change with several values, and the cycles of the run with each.

    Attributes:
        name: as `parse_lengths` reads it.
        keys: the frames in threads that it is of; none for an option of the run.
        now: its value in the run, on average; a loop's executions may take different times.
        values: in rising order.
        totals: cycles of the run with each of these alone.
    """

    name: str
    keys: tuple[Key, ...]
    now: float
    values: tuple[int, ...]
    totals: tuple[int, ...]


def curves_of_threads(profile: Profile) -> tuple[Curve, ...]:
    """Whatever can be changed in a run of threads; nothing if it does not say what was waited for.

    Of loops and critical sections those with most cycles. What `retimed` refuses is left out.
    """
    if not has_threads(profile):
        return ()
    try:
        many = len(thread_graph(profile).time) > _EVENTS
        spans = [(*size_of_spans(profile, keys), frame) for frame, keys in own_lengths(profile)]
    except InputError:
        return ()
    found = []
    parts = {
        LATENCY: _LATENCIES,
        START_COST: _FEW[::2] if many else _COSTS,
        THREADS: _FEW[1:] if many else _TEAMS,
    }
    for name, some in parts.items():
        try:
            now = _option(profile, name)
            least = 0 if name == START_COST else 1
            found.append(_curve(profile, name, now, _parts(now, some, least)))
        except InputError:
            continue
    for times, cycles, frame in sorted(spans, key=lambda s: -s[1])[:_LOOPS]:
        average = cycles / times
        try:
            found.append(
                _curve(profile, profile.catalog[frame].name, average, _parts(average, _LENGTHS, 1))
            )
        except InputError:  # others of that name, or what is inside decides
            continue
    return tuple(found)


def _option(profile: Profile, name: str) -> int:
    if name == LATENCY:
        return memory_latency(profile)
    try:
        return int(profile.meta.options[name])
    except (KeyError, ValueError):
        raise InputError(f"{profile.meta.title}: it does not say its {name}") from None


def _parts(now: float, parts: Iterable[float], least: int) -> set[int]:
    """Whole numbers that are about such parts of a value."""
    return {max(round(part * now), least) for part in parts}


def _curve(profile: Profile, name: str, now: float, values: Iterable[int]) -> Curve:
    lengths = sorted(values)
    (change,) = parse_lengths(profile, [f"{name} = {lengths[0]}..{lengths[-1]}"])
    if not change.is_curve:
        lengths = lengths[:1]
    totals = thread_totals(profile, [change], lengths)
    return Curve(name, change.keys, now, tuple(lengths), totals)
