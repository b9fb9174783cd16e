"""Names by which people ask for frames: `main.queue`, `main.queue/push`, `push`."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

from cyclescope.analyse._activations import activations
from cyclescope.errors import InputError
from cyclescope.model import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cyclescope.analyse._activations import Key
    from cyclescope.model import Profile

__all__ = ["frames_by_name", "frames_named", "hint"]


def frames_by_name(
    profile: Profile, keys: Iterable[Key], *, definitions: bool = False
) -> dict[str, list[Key]]:
    """The frames in instances that each name stands for, in the order given.

    A cell or thread goes by its instance, anything else by its own name, with its instance before
    a slash or without.

    Args:
        profile: whose frames.
        keys: the frames that may be asked for.
        definitions: what runs in several places goes by the name of its definition, too.
    """
    found: dict[str, list[Key]] = {}
    for key in keys:
        frame, instance = profile.catalog[key[0]], key[1]
        names = [frame.name]
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


def hint(name: str, known: Iterable[str]) -> str:
    """Say what there is in place of a name that nothing goes by: `there are a, b …`."""
    names = list(known)
    near = [other for other in names if name in other][:3]
    near = near or get_close_matches(name, names, n=3)
    return f"there are {', '.join(near)} …" if near else "see `cyclescope table`"
