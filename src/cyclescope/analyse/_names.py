"""Names by which people ask for frames: `main.queue`, `main.queue/push`, `push`, `main/while#2`.

Blocks and loops have no names of their own; that which a view shows has its line in it, `while
L31`, and is another one when a line is added above. By its ordinal it stays the same: `while#2` is
the second `while` in the text of its component, `i#1` the first loop that counts `i`; where there
is one only, `while#1` and `while` are the same.
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

from cyclescope.analyse._activations import activations
from cyclescope.errors import InputError
from cyclescope.model import Kind, Loop

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cyclescope.analyse._activations import Key
    from cyclescope.model import Position, Profile

__all__ = ["frames_by_name", "frames_named", "hint"]


def frames_by_name(
    profile: Profile, keys: Iterable[Key], *, definitions: bool = False
) -> dict[str, list[Key]]:
    """The frames in instances that each name stands for, in the order given.

    A cell or thread goes by its instance, anything else by its own name, with its instance before
    a slash or without, blocks and loops also by their ordinals.

    Args:
        profile: whose frames.
        keys: the frames that may be asked for.
        definitions: what runs in several places goes by the name of its definition, too.
    """
    found: dict[str, list[Key]] = {}
    ordinals = _ordinals(profile)
    for key in keys:
        frame, instance = profile.catalog[key[0]], key[1]
        names = [frame.name, *ordinals.get(key[0], ())]
        if definitions and frame.kind is Kind.GROUP and frame.definition:
            names.append(frame.definition)
        spoken = [f"{instance}/{name}" for name in names] + names
        if frame.kind in (Kind.CELL, Kind.THREAD):
            spoken = [instance]
        for name in dict.fromkeys(" ".join(name.split()) for name in spoken):
            found.setdefault(name, []).append(key)
    return found


def frames_named(profile: Profile, name: str) -> tuple[Key, ...]:
    """The frames in instances that a name stands for, also as a definition.

    Raises:
        InputError: nothing of that name was active.
    """
    known = frames_by_name(profile, activations(profile), definitions=True)
    wanted = " ".join(name.split())
    if wanted not in known:
        title = profile.meta.title
        raise InputError(f"{wanted}: nothing of that name ran in {title}; {hint(wanted, known)}")
    return tuple(known[wanted])


def _ordinals(profile: Profile) -> dict[int, tuple[str, ...]]:
    """Frame → the names that a block or loop has by its ordinal in its component's text."""
    counters = {s.frame: s.counter for s in profile.sites if isinstance(s, Loop)}
    places: dict[tuple[str, str], set[Position]] = {}
    named: dict[int, tuple[str, str]] = {}
    for number, frame in enumerate(profile.catalog):
        name = counters.get(number) or (frame.detail if frame.kind is Kind.CONTROL else "")
        if name and frame.positions:
            named[number] = key = frame.component, name
            places.setdefault(key, set()).add(frame.positions[0])
    order = {
        key: {place: n for n, place in enumerate(sorted(all_), 1)} for key, all_ in places.items()
    }
    return {
        number: (key[1],) * (len(order[key]) == 1)
        + (f"{key[1]}#{order[key][profile.catalog[number].positions[0]]}",)
        for number, key in named.items()
    }


def hint(name: str, known: Iterable[str]) -> str:
    """Say what there is in place of a name that nothing goes by: `there are a, b …`."""
    names = list(known)
    near = [other for other in names if name in other][:3]
    near = near or get_close_matches(name, names, n=3)
    return f"there are {', '.join(near)} …" if near else "see `cyclescope table`"
