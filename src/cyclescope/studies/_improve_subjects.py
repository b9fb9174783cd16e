"""The kinds of program that can be improved, by the ending of their file."""

from __future__ import annotations

import json
from random import Random
from typing import TYPE_CHECKING, Any

from cyclescope.errors import DataError, InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from cyclescope._rewrites import Subject

__all__ = ["REWRITES_OF_RULES", "fuzzed", "subject_of"]

# The rewrites, of Calyx and of C, that make the change which a rule of advice proposes.
REWRITES_OF_RULES: Mapping[str, tuple[str, ...]] = {
    "par-switch": ("nest-ifs",),
    "static": ("promote-group", "static-control"),
    "while-with": ("continuous-condition", "beside-an-arm"),
    "sharing": ("copy-memory", "as-soon-as-possible", "seq-to-par"),
    "critical-section": ("outer-sharing", "private-sums"),
    "imbalance": ("schedule",),
    "thread-start": ("team-size",),
    "narrow-loads": ("vector-lanes", "vector-loads"),
    "blocking": ("local-copy", "blocking"),
    "double-buffering": ("double-buffering",),
}


def _calyx(path: Path, data: Sequence[Path], options: Mapping[str, Any]) -> Subject:
    from cyclescope.calyx import CalyxOptions
    from cyclescope.studies._improve_calyx import calyx_subject

    return calyx_subject(path, data, CalyxOptions(**options))


def _kernel(path: Path, data: Sequence[Path], options: Mapping[str, Any]) -> Subject:
    from cyclescope.hls.rewrites import kernel_subject

    if data:
        raise InputError(f"{path}: a C program has its own data; leave out --data and --fuzz")
    return kernel_subject(path, path.read_bytes(), **options)


_KINDS: Mapping[str, Callable[[Path, Sequence[Path], Mapping[str, Any]], Subject]] = {
    ".futil": _calyx,
    ".c": _kernel,
}


def subject_of(path: Path, data: Sequence[Path], options: Mapping[str, Any]) -> Subject:
    """Measure a program as it is, and make it a subject of a search.

    Args:
        path: the program; its ending says what it is.
        data: its inputs.
        options: of its source's options class.

    Raises:
        InputError: nothing is known of such files.
        SourceError, DataError, ToolError, RunError, VerifyError: see `cyclescope.errors`.
    """
    make = _KINDS.get(path.suffix)
    if make is None:
        raise InputError(f"{path}: cannot be improved; give a program ({', '.join(_KINDS)})")
    return make(path, data, options)


def fuzzed(data: Path, count: int, folder: Path) -> list[Path]:
    """Write more data of the same shape: each memory's words anew, between its least and largest.

    Args:
        data: Calyx data JSON.
        count: how many.
        folder: where to.

    Raises:
        DataError: the data cannot be read.
    """
    from cyclescope.sim import read_data

    values, made = read_data(data), []
    for seed in range(count):
        chance = Random(seed)  # noqa: S311 - no secret
        new = {name: _changed(name, entry, chance) for name, entry in values.items()}
        made.append(folder / f"{data.stem}-{seed}.json")
        made[-1].write_text(json.dumps(new))
    return made


def _changed(name: str, entry: object, chance: Random) -> object:
    if not isinstance(entry, dict) or "data" not in entry:
        raise DataError(f"{name}: data and format are expected here")
    every = list(_words(entry["data"]))
    words = [word for word in every if isinstance(word, int)]
    if not words or len(words) < len(every):
        return entry  # fixed and floating point: their text is kept
    low, high = min(words), max(words)
    return {**entry, "data": _renewed(entry["data"], lambda: chance.randint(low, high))}


def _words(data: object) -> list[object]:
    return [w for part in data for w in _words(part)] if isinstance(data, list) else [data]


def _renewed(data: object, draw: Callable[[], int]) -> object:
    return [_renewed(part, draw) for part in data] if isinstance(data, list) else draw()
