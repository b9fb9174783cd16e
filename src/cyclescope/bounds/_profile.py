"""A Profile of an estimate: processes as frames under the functions that call them."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from cyclescope.bounds._detail import delays_of
from cyclescope.bounds._frames import call_paths, position_of, process_frame, waiting_frame
from cyclescope.bounds._report import limits_text
from cyclescope.model import (
    Anomaly,
    Cause,
    Edge,
    Frame,
    Meta,
    Profile,
    ProfileBuilder,
    Series,
    Severity,
)
from cyclescope.model import Process as ProcessSite

if TYPE_CHECKING:
    from collections.abc import Callable

    from cyclescope.bounds._estimate import Bounds, Estimate, Firings
    from cyclescope.bounds._network import Process
    from cyclescope.model import Ints, Site

__all__ = ["profile_of"]

_CAUSES = (Cause.OPERAND, Cause.RESOURCE)
_OPERAND, _RESOURCE, _WORKS, _IDLE = range(4)
_STAGES = (("R$", "R", "reads"), ("E$", "E", "pipeline fill"), ("W$", "W", "writes"))


def profile_of(bounds: Bounds, estimate: Estimate) -> Profile:
    """One estimate as a profile.

    A process works from a firing's read to its write. Until its last firing it waits in between:
    for its resource, which the firing before still keeps, or else for an operand; a frame below it
    says for which. Counters: R$, E$ and W$ of each process and G$ (paper, section 4.5.1). At a
    coarser resolution than a cycle a process works in a bin in which it executes, and E$ and G$
    count cycles of execution in each bin.
    """
    builder = ProfileBuilder()
    paths, tracks = call_paths(bounds, builder)
    rows = estimate.firings
    own = [
        builder.path(paths[row.process.path], process_frame(row.process, bounds)) for row in rows
    ]
    waits = [[waiting_frame(row.process, bounds, cause) for cause in _CAUSES] for row in rows]
    begins, trees = _trees(builder, estimate, own, waits, paths[0])
    begins *= estimate.resolution
    lengths = np.diff(np.append(begins, estimate.cycles))
    for row, path in zip(rows, own, strict=True):
        track = f"{tracks[row.process.path]}.{row.process.name}"
        for series in _stages(estimate, row.process, track, path):
            builder.counter(series)
    builder.counter(
        _series(estimate, estimate.parallelism_in, tracks[0], "G$", "parallelism", paths[0])
    )
    sites = _sites(bounds, estimate, own)
    profile = builder.build(_meta(bounds, estimate), lengths, trees, sites=sites)
    shown = {position.file for frame in profile.catalog for position in frame.positions}
    texts = {Path(file).name: text for file, text in bounds.unit.sources.items()}
    return replace(profile, sources={file: texts[file] for file in texts if file in shown})


def _sites(bounds: Bounds, estimate: Estimate, paths: list[int]) -> list[Site]:
    """The processes that fired, then the edges through which they waited for values."""
    number = {row.process.index: place for place, row in enumerate(estimate.firings)}
    functions = [bounds.network.paths[row.process.path].function for row in estimate.firings]
    sites: list[Site] = [
        ProcessSite(
            function,
            row.process.name,
            position_of(row.process.where),
            path=path,
            firings=row.count,
            interval=row.process.interval,
            latency=bounds.calibration.read + row.process.latency + bounds.calibration.write,
            port=row.process.kind in ("source", "sink"),
        )
        for row, function, path in zip(estimate.firings, functions, paths, strict=True)
    ]
    for producer, consumer, operand, late, delayed in delays_of(bounds, estimate):
        place = number[consumer.index]
        sites.append(
            Edge(
                functions[place],
                number.get(producer.index, -1) if producer is not None else -1,
                place,
                consumer.operands[operand],
                late,
                delayed,
                position_of(consumer.where),
            )
        )
    return sites


def _trees(
    builder: ProfileBuilder,
    estimate: Estimate,
    own: list[int],
    waits: list[list[Frame]],
    root: int,
) -> tuple[Ints, Ints]:
    """The changes in what processes do, and the tree from each on."""
    places: list[Ints] = [np.zeros(0, dtype=np.int64)]
    sets: list[np.ndarray[tuple[int, int], np.dtype[np.uint8]]] = []
    before = np.full((len(own), 1), 255, dtype=np.uint8)
    for begin, end in estimate.windows():
        does = np.stack([_does(estimate, row, begin, end) for row in estimate.firings])
        differs = (does != np.hstack([before, does[:, :-1]])).any(axis=0)
        change = np.flatnonzero(differs)
        places.append(change + begin)
        sets.append(np.ascontiguousarray(does[:, change].T))
        before = does[:, -1:]
    begins = np.concatenate(places)
    if not len(begins):
        return begins, begins
    every = np.concatenate(sets)
    _, first, inverse = np.unique(every, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    number_of = np.zeros(len(first), dtype=np.int64)
    for kind in order.tolist():
        row = every[first[kind]].tolist()
        active = (
            path if state == _WORKS else builder.path(path, below[state])
            for path, below, state in zip(own, waits, row, strict=True)
            if state != _IDLE
        )
        number_of[kind] = builder.tree([root, *active])
    return begins, number_of[inverse.reshape(-1)]


def _does(
    estimate: Estimate, row: Firings, begin: int, end: int
) -> np.ndarray[tuple[int], np.dtype[np.uint8]]:
    """The activity of a process in each bin: a number of `_CAUSES`, or `_WORKS`, `_IDLE`."""
    waits = (np.arange(begin, end) * estimate.resolution < row.last).astype(np.uint8)
    taken = estimate.taken(row.process, begin, end) > 0
    result = np.where(waits, np.where(taken, _RESOURCE, _OPERAND), _IDLE).astype(np.uint8)
    result[estimate.busy(row.process, begin, end) > 0] = _WORKS
    return result


def _stages(estimate: Estimate, process: Process, track: str, path: int) -> list[Series]:
    stages = _STAGES if estimate.resolution == 1 else _STAGES[1:2]
    return [
        _series(estimate, partial(estimate.stage, process, stage), track, name, metric, path)
        for name, stage, metric in stages
    ]


def _series(
    estimate: Estimate,
    values: Callable[[int, int], Ints],
    track: str,
    name: str,
    metric: str,
    path: int,
) -> Series:
    """A counter over the whole run, an interval for each run of equal values.

    `values(begin, end)` gives those of the bins from `begin` to `end`.
    """
    places: list[Ints] = [np.zeros(0, dtype=np.int64)]
    kept: list[Ints] = [np.zeros(0, dtype=np.int64)]
    before = -1
    for begin, end in estimate.windows():
        window = values(begin, end)
        change = np.flatnonzero(np.diff(window, prepend=before))
        places.append(change + begin)
        kept.append(window[change])
        before = int(window[-1])
    start = np.concatenate(places) * estimate.resolution
    unit = "" if estimate.resolution == 1 else f"cycles of execution in {estimate.resolution}"
    return Series(
        track=track,
        name=name,
        metric=metric,
        unit=unit,
        path=path,
        start=start,
        end=np.append(start[1:], estimate.cycles) if len(start) else start,
        value=np.concatenate(kept),
    )


def _meta(bounds: Bounds, estimate: Estimate) -> Meta:
    calibration, network = bounds.calibration, bounds.network
    options = {
        "estimate": estimate.name,
        "kernel": network.kernel,
        "technology": calibration.technology.name,
        "read latency": str(calibration.read),
        "write latency": str(calibration.write),
        "absolute": str(bounds.absolute.cycles),
        "unbounded": str(bounds.unbounded.cycles),
    }
    if bounds.detail is not None:
        options["bounded by"] = limits_text(bounds, estimate)
    if (efficiency := estimate.pipeline_efficiency) is not None:
        options["pipeline efficiency"] = f"{float(100 * efficiency):.1f} %"
    options |= {f"define {k}": v for k, v in calibration.defines.items()}
    options |= {f"argument {k}": str(v) for k, v in network.scalars.items()}
    if calibration.reason:
        options["tweak"] = calibration.reason
    anomalies = []
    for number, test in enumerate(network.tests):
        count = bounds.records.tests[number] if number < len(bounds.records.tests) else 0
        where = f"{test.where}: {test.text}"
        anomalies.append(Anomaly(f"not affine: {test.reason}", Severity.INFO, count, where))
    if estimate.resolution > 1:
        detail = f"activity is known in steps of {estimate.resolution} cycles; give more --memory"
        anomalies.append(
            Anomaly("coarse activity", Severity.DATA_LOSS, estimate.resolution, detail)
        )
    return Meta(
        source="bounds",
        title=f"{network.kernel}, {estimate.name}",
        inputs={
            Path(name).name: hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()
            for name, text in bounds.unit.sources.items()
        },
        options=options,
        anomalies=tuple(anomalies),
    )
