"""Activations of a frame in an instance: how often it ran, and how long each time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cyclescope.model import Ints, Kind, Profile, repeated_spans

__all__ = ["Activations", "Key", "activations"]

Key = tuple[int, str]
"""A frame (index into the catalog) in an instance (dotted name)."""


@dataclass(frozen=True, slots=True)
class Activations:
    """Statistics of the activations of one frame in one instance.

    `total` is the number of cycles in which it was active; `shortest` and `longest` are the
    cycles of single activations, 0 if there were none.
    """

    times: int
    total: int
    shortest: int
    longest: int


def activations(profile: Profile, kind: Kind | str | None = None) -> dict[Key, Activations]:
    """Count the activations of every frame that was ever on a call path, by instance.

    Args:
        profile: what to count in.
        kind: only frames of this kind.

    Returns:
        What was counted, in order of first mention. A frame that is called over several paths
        counts once where those calls overlap (a combinational group that serves two arms of a
        `par`); calls that follow each other are activations of their own.
    """
    keys: dict[Key, int] = {}
    key_of_path = np.full(len(profile.call_paths), -1, dtype=np.int64)
    for path, frame in enumerate(profile.call_paths.frame.tolist()):
        if kind is None or profile.catalog[frame].kind is kind:
            key = (frame, profile.instances[path])
            key_of_path[path] = keys.setdefault(key, len(keys))
    times, total, shortest, longest = _measure(profile, key_of_path, len(keys))
    return {
        key: Activations(
            times=int(times[i]),
            total=int(total[i]),
            shortest=int(shortest[i]),
            longest=int(longest[i]),
        )
        for key, i in keys.items()
    }


def _measure(profile: Profile, key_of_path: Ints, keys: int) -> tuple[Ints, Ints, Ints, Ints]:
    """(times, total, shortest, longest), each of shape (keys,)."""
    nothing = np.zeros(keys, dtype=np.int64)
    paths = np.flatnonzero(key_of_path >= 0)
    every, weight = repeated_spans(profile, paths, key_of_path)
    if not len(every):
        return nothing, nothing, nothing, nothing
    key = key_of_path[every.path]
    start, end = every.start, every.end
    shared = np.bincount(key_of_path[paths], minlength=keys)[key] > 1
    if shared.any():
        key, start, end, weight = _join(key, start, end, weight, shared)
    length = end - start
    times, total = nothing.copy(), nothing.copy()
    np.add.at(times, key, weight)
    np.add.at(total, key, length * weight)
    shortest = np.full(keys, profile.cycles + 1, dtype=np.int64)
    np.minimum.at(shortest, key, length)
    longest = nothing.copy()
    np.maximum.at(longest, key, length)
    return times, total, np.where(times > 0, shortest, 0), longest


def _join(
    key: Ints,
    start: Ints,
    end: Ints,
    weight: Ints,
    shared: np.ndarray[tuple[int], np.dtype[np.bool]],
) -> tuple[Ints, Ints, Ints, Ints]:
    """Join overlapping intervals of the keys that have several paths."""
    width = int(end.max()) + 1
    # One axis for all keys: each has a segment of its own, so that one sweep does for all.
    from_ = key[shared] * width + start[shared]
    order = np.argsort(from_, kind="stable")
    from_ = from_[order]
    to = (key[shared] * width + end[shared])[order]
    reach = np.maximum.accumulate(to)
    first = np.flatnonzero(np.concatenate(([True], from_[1:] >= reach[:-1])))
    last = np.concatenate((first[1:], [len(from_)])) - 1
    joined = from_[first] // width
    return (
        np.concatenate((key[~shared], joined)),
        np.concatenate((start[~shared], from_[first] - joined * width)),
        np.concatenate((end[~shared], reach[last] - joined * width)),
        np.concatenate((weight[~shared], weight[shared][order][first])),
    )
