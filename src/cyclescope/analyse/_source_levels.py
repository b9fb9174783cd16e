"""One profile at another source level: the language that generated the program.

Control blocks and groups that come from one line of that language become one frame there, named
after the line; cells and primitives are what they are and keep their names. What has no position
at that level was made on the way down: it stays as it is and is marked as generated.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import numpy as np

from cyclescope.errors import InputError
from cyclescope.model import Frame, Kind, Lock, Loop, Position, Process, Profile, ProfileBuilder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cyclescope.model import Site

__all__ = ["at_level", "levels", "located", "position_at"]

_MERGED = frozenset({Kind.CONTROL, Kind.GROUP, Kind.PROCESS, Kind.LOOP, Kind.STAGE})
_OWN = {"calyx": "calyx", "traces": "calyx", "bounds": "c", "hls": "c", "network": "c"}
_TEXT = 40  # characters of a source line that become part of a name


def levels(profile: Profile) -> tuple[str, ...]:
    """The levels at which frames have positions, the one that names the frames first."""
    own = _OWN.get(profile.meta.source, "")
    found = {p.level: None for frame in profile.catalog for p in frame.positions}
    return tuple(sorted(found, key=lambda level: level != own))


def position_at(frame: Frame, level: str | None) -> Position | None:
    """The position of a frame at a level; without a level, at the innermost that is known."""
    return next((p for p in frame.positions if level in (None, p.level)), None)


def at_level(profile: Profile, level: str) -> Profile:
    """The profile with the frames of a source level.

    Runs, counters and the classes of cycles are the same; so is the sum of the scaled weights.
    Flat weights may sum to less: parallel stacks that come from one line are one stack.

    Args:
        profile: what to show.
        level: one of `levels(profile)`. The one that names the frames gives the profile itself,
            but for the order of its positions.

    Raises:
        InputError: no frame has a position at that level.
    """
    _check_level(profile, level)
    own = _OWN.get(profile.meta.source) == level
    frames = _ordered(profile.catalog, level) if own else _renamed(profile, level)
    builder = ProfileBuilder()
    catalog = list(dict.fromkeys(frames))
    numbers = [builder.frame(frame) for frame in frames]
    new: list[int] = []
    ends_in: list[int] = []
    for path, parent in enumerate(profile.call_paths.parent.tolist()):
        frame = numbers[int(profile.call_paths.frame[path])]
        above = new[parent] if parent >= 0 else -1
        # A block inside another block of the same line is that line still.
        merges = parent >= 0 and ends_in[parent] == frame and catalog[frame].kind in _MERGED
        new.append(above if merges else builder.path(above, frame))
        ends_in.append(frame)
    forest = profile.forest
    trees = [builder.tree(new[p] for p in forest[t].tolist()) for t in range(len(forest))]
    for series in profile.series:
        builder.counter(series.at_path(new[series.path]) if series.path >= 0 else series)
    meta = replace(profile.meta, title=f"{profile.meta.title} at level {level}")
    runs = profile.schedule
    shown = np.array(trees, dtype=np.int64)[runs.tree_of]
    result = builder.build_states(meta if not own else profile.meta, runs.segments, shown)
    areas = tuple(
        replace(area, paths=tuple(sorted({new[path] for path in area.paths})))
        for area in profile.areas
    )
    sites = tuple(_site(site, numbers, new) for site in profile.sites)
    return replace(result, sources=profile.sources, areas=areas, sites=sites, flows=profile.flows)


def _site(site: Site, frames: Sequence[int], paths: Sequence[int]) -> Site:
    """A site whose frame and path have other numbers now."""
    match site:
        case Loop(frame=frame) if frame >= 0:
            return replace(site, frame=frames[frame])
        case Lock(held=frame) if frame >= 0:
            return replace(site, held=frames[frame])
        case Process(path=path) if path >= 0:
            return replace(site, path=paths[path])
    return site


def located(profile: Profile, level: str) -> Profile:
    """The profile with its own frames, each first of all at its place on that level.

    Raises:
        InputError: no frame has a position at that level.
    """
    _check_level(profile, level)
    return replace(profile, catalog=tuple(_ordered(profile.catalog, level)))


def _check_level(profile: Profile, level: str) -> None:
    known = levels(profile)
    if level not in known:
        have = ", ".join(known) or "none at all"
        raise InputError(
            f"{profile.meta.title}: no positions at level {level}; this profile has {have}"
        )


def _ordered(catalog: Sequence[Frame], level: str) -> list[Frame]:
    """The frames as they are, the wanted level's positions first."""
    return [
        replace(f, positions=tuple(sorted(f.positions, key=lambda p: p.level != level)))
        for f in catalog
    ]


def _renamed(profile: Profile, level: str) -> list[Frame]:
    """Each frame of the catalog as it is called at a level; equal ones are one frame there."""
    names = _file_names(profile, level)
    result = []
    for frame in _ordered(profile.catalog, level):
        position = position_at(frame, level)
        if position is None:
            marked = frame.kind not in (Kind.CELL, Kind.THREAD, Kind.STATE)
            result.append(replace(frame, generated=frame.generated or marked))
        elif frame.kind in _MERGED:
            place = f"{names[position.file]}:{position.line}"
            text = _text_of(profile, position)
            words = (frame.detail if frame.kind is Kind.CONTROL else "", place, text)
            name = " ".join(word for word in words if word)
            only = replace(position, column=0)
            result.append(
                replace(
                    frame,
                    name=name,
                    positions=(only,),
                    latency=None,
                    generated=False,
                    definition="",
                )
            )
        else:
            result.append(frame)
    return result


def _file_names(profile: Profile, level: str) -> dict[str, str]:
    """For each file of a level a short name: without folders where that is unambiguous."""
    files = {p.file for f in profile.catalog for p in f.positions if p.level == level}
    short = {file: PurePosixPath(file).name or file for file in files}
    uses = Counter(short.values())
    return {file: name if uses[name] == 1 else file for file, name in short.items()}


def _text_of(profile: Profile, position: Position) -> str:
    lines = profile.sources.get(position.file, "").splitlines()
    text = " ".join(lines[position.line - 1].split()) if 0 < position.line <= len(lines) else ""
    return text if len(text) <= _TEXT else f"{text[: _TEXT - 1].rstrip()}…"
