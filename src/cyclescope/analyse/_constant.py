"""Groups and blocks that always took equally long, and so could be static."""

from __future__ import annotations

from weakref import ref

from cyclescope.analyse._activations import activations
from cyclescope.model import Kind, Profile

__all__ = ["DECLARED", "constant_frames"]

DECLARED = (Kind.CELL, Kind.GROUP, Kind.CONTROL)
"""Kinds of frame that a program can declare static."""

# The last profile and its answer: a report asks once for each of its tables.
_known: list[tuple[ref[Profile], frozenset[int]]] = []

_Definition = tuple[Kind, str, str] | int


def _definition(profile: Profile, frame: int) -> _Definition:
    """The part of the text that a frame is: a component, a group, an invoke's callee; or itself."""
    known = profile.catalog[frame]
    if known.kind is Kind.CELL and known.detail:
        return (known.kind, "", known.detail)
    if known.kind is Kind.GROUP:
        return (known.kind, known.component, known.definition or known.name)
    return frame


def constant_frames(profile: Profile) -> frozenset[int]:
    """The frames (indices into the catalog) that could be static.

    What the text defines there took equally long at every activation, in whatever instance and
    place (Petal, 8.1). None that is static; that is compiler-made or combinational, for nobody
    can declare it so; that the compiler took apart, for nobody saw the whole of it; that is a
    `while`, which asks a question before each round however many there turn out to be (Petal,
    8.2.2); that is a cell without a control program; that has something inside which could not be
    static.
    """
    if not _known or _known[0][0]() is not profile:
        _known[:] = [(ref(profile), _found(profile))]
    return _known[0][1]


def _found(profile: Profile) -> frozenset[int]:
    lengths: dict[_Definition, set[int]] = {}
    for kind in DECLARED:
        for (frame, _), what in activations(profile, kind).items():
            if what.times:
                found = lengths.setdefault(_definition(profile, frame), set())
                found |= {what.shortest, what.longest}
    frames = profile.catalog
    of = [_definition(profile, index) for index in range(len(frames))]
    static = {which for which, frame in zip(of, frames, strict=True) if frame.static}
    aside = {
        which
        for which, frame in zip(of, frames, strict=True)
        if frame.generated
        or frame.split
        or frame.detail == "comb group"
        or frame.kind not in DECLARED
    }
    varied = {which for which, found in lengths.items() if len(found) > 1}
    works = {
        f.component for f in frames if f.kind in (Kind.GROUP, Kind.CONTROL) and not f.generated
    }
    for which, known in zip(of, frames, strict=True):
        # Who has no control program works until somebody stops it.
        uncontrolled = known.kind is Kind.CELL and known.detail not in works
        if known.detail == "while" or uncontrolled:
            varied.add(which)
    varied -= static | aside
    shown = [of[frame] for frame in profile.call_paths.frame.tolist()]
    callers: dict[_Definition, set[_Definition]] = {}
    for path, parent in enumerate(profile.call_paths.parent.tolist()):
        if parent >= 0:
            callers.setdefault(shown[path], set()).add(shown[parent])
    waiting = list(varied)
    while waiting:
        for above in callers.get(waiting.pop(), set()) - varied - static:
            varied.add(above)
            waiting.append(above)
    constant = lengths.keys() - varied - aside
    return frozenset(
        index
        for index, which in enumerate(of)
        if which in constant and len(lengths[which]) == 1 and not frames[index].static
    )
