"""A profile on disk: one `.cyc` file.

A zip whose members are stored, not deflated (Parquet compresses itself), so that any reader of
Parquet can open a table in place:

    head.json         format, version, meta, counter series
    frames.parquet    as `Profile.frames`
    paths.parquet     path, parent, frame
    trees.parquet     tree, path
    runs.parquet      cycles, tree           (start is the running sum)
    counters.parquet  series, gap, cycles, value (gap: cycles since the series' last interval)

Lengths rather than times are stored, since they repeat and therefore compress: a run of a
million cycles takes some hundred kilobytes.
"""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from cyclescope._files import write_whole
from cyclescope.errors import LawError, ProfileFileError
from cyclescope.model._frame import Frame, Kind, Position
from cyclescope.model._laws import check_laws
from cyclescope.model._meta import Anomaly, Meta, Severity
from cyclescope.model._profile import CallPaths, Ints, Profile, Runs, Series, Trees

if TYPE_CHECKING:
    import os

__all__ = ["FORMAT_VERSION", "load", "save"]

FORMAT = "cyclescope profile"
FORMAT_VERSION = 1

_EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest time that a zip can hold: equal bytes each time


def save(profile: Profile, path: str | os.PathLike[str], *, force: bool = False) -> None:
    """Write a profile to `path`, whole or not at all.

    Raises:
        OutputError: the file exists and `force` is not set, or it cannot be written.
    """
    with write_whole(Path(path), force=force) as stream:
        _write(profile, stream)


def _write(profile: Profile, stream: BinaryIO) -> None:
    import polars as pl

    series = profile.series
    index = np.repeat(np.arange(len(series)), [len(s) for s in series])
    tables = {
        "frames": profile.frames,
        "paths": profile.paths,
        "trees": profile.trees,
        "runs": pl.DataFrame({"cycles": profile.schedule.cycles, "tree": profile.schedule.tree}),
        "counters": pl.DataFrame(
            {
                "series": index,
                "gap": _joined([_gaps(s) for s in series]),
                "cycles": _joined([s.end - s.start for s in series]),
                "value": _joined([s.value for s in series]),
            }
        ),
    }
    head = {
        "format": FORMAT,
        "version": FORMAT_VERSION,
        "cycles": profile.cycles,
        "meta": asdict(profile.meta),
        "series": [
            {"track": s.track, "name": s.name, "metric": s.metric, "unit": s.unit, "path": s.path}
            for s in series
        ],
    }
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        text = json.dumps(head, indent=1)
        archive.writestr(zipfile.ZipInfo("head.json", _EPOCH), text)
        for name, table in tables.items():
            buffer = io.BytesIO()
            table.write_parquet(buffer, compression="zstd", compression_level=9)
            archive.writestr(zipfile.ZipInfo(f"{name}.parquet", _EPOCH), buffer.getvalue())


def _gaps(series: Series) -> Ints:
    """Cycles between each interval and the one before it (the first: since cycle 0)."""
    gaps = series.start.copy()
    gaps[1:] -= series.end[:-1]
    return gaps


def _joined(parts: list[Ints]) -> Ints:
    return np.concatenate(parts) if parts else np.empty(0, dtype=np.int64)


def load(path: str | os.PathLike[str]) -> Profile:
    """Read a profile.

    Raises:
        ProfileFileError: the file is absent, not a profile, damaged, cut, or of a newer version.
    """
    source = Path(path)
    try:
        archive = zipfile.ZipFile(source)
    except FileNotFoundError:
        raise ProfileFileError(
            f"{source}: no such file; make one with `cyclescope calyx`"
        ) from None
    except IsADirectoryError:
        raise ProfileFileError(f"{source}: is a folder, not a profile") from None
    except zipfile.BadZipFile:
        raise ProfileFileError(f"{source}: not a profile, or cut short; make it anew") from None
    except OSError as error:
        raise ProfileFileError(f"{source}: cannot be read: {error.strerror or error}") from error
    with archive:
        head = _head(archive, source)
        try:
            profile = _read(archive, head)
            check_laws(profile)
        except LawError as error:
            raise ProfileFileError(f"{source}: damaged ({error}); make it anew") from error
        except Exception as error:
            reason = type(error).__name__
            raise ProfileFileError(f"{source}: damaged ({reason}); make it anew") from error
    if profile.cycles != head.get("cycles"):
        raise ProfileFileError(f"{source}: damaged (runs do not sum to the total); make it anew")
    return profile


def _head(archive: zipfile.ZipFile, source: Path) -> dict[str, Any]:
    try:
        head = json.loads(archive.read("head.json"))
    except KeyError:
        raise ProfileFileError(f"{source}: a zip file, but not a profile") from None
    except Exception as error:
        raise ProfileFileError(f"{source}: damaged (its head); make it anew") from error
    if not isinstance(head, dict) or head.get("format") != FORMAT:
        raise ProfileFileError(f"{source}: a zip file, but not a profile")
    version = head.get("version")
    if not isinstance(version, int) or version > FORMAT_VERSION:
        raise ProfileFileError(
            f"{source}: written in format version {version}, this cyclescope reads up to "
            f"{FORMAT_VERSION}; install a newer cyclescope"
        )
    return head


def _read(archive: zipfile.ZipFile, head: dict[str, Any]) -> Profile:
    import polars as pl

    # A column at a time: a whole table of a long run, in two libraries' memory at once, would
    # take more than all that is made of it.
    def ints(table: str, column: str) -> Ints:
        data = io.BytesIO(archive.read(f"{table}.parquet"))
        values = pl.read_parquet(data, columns=[column])[column].cast(pl.Int64)
        return (values.fill_null(-1) if values.null_count() else values).to_numpy(writable=True)

    frames = pl.read_parquet(io.BytesIO(archive.read("frames.parquet")))
    owner, shown = ints("trees", "tree"), ints("runs", "tree")
    count = int(owner[-1]) + 1 if len(owner) else 0
    count = max(count, int(shown.max(initial=-1)) + 1)
    offset = np.zeros(count + 1, dtype=np.int64)
    np.cumsum(np.bincount(owner, minlength=count), out=offset[1:])
    bounds = np.searchsorted(ints("counters", "series"), np.arange(len(head["series"]) + 1))
    return Profile(
        meta=_meta(head["meta"]),
        catalog=tuple(_frame(row) for row in frames.iter_rows(named=True)),
        call_paths=CallPaths(parent=ints("paths", "parent"), frame=ints("paths", "frame")),
        forest=Trees(offset=offset, path=ints("trees", "path")),
        schedule=Runs(cycles=ints("runs", "cycles"), tree=shown),
        series=_series(
            head["series"],
            bounds.tolist(),
            *(ints("counters", column) for column in ("gap", "cycles", "value")),
        ),
    )


def _meta(head: dict[str, Any]) -> Meta:
    known = {f.name for f in fields(Meta)}
    values = {name: value for name, value in head.items() if name in known}
    values["anomalies"] = tuple(
        Anomaly(a["name"], Severity(a["severity"]), a["count"], a["detail"])
        for a in head["anomalies"]
    )
    return Meta(**values)


def _frame(row: dict[str, Any]) -> Frame:
    return Frame(
        kind=Kind(row["kind"]),
        name=row["name"],
        component=row["component"],
        detail=row["detail"],
        positions=tuple(Position(**p) for p in row["positions"]),
        latency=row["latency"],
        generated=row["generated"],
    )


def _series(
    heads: list[dict[str, Any]], bounds: list[int], gap: Ints, cycles: Ints, value: Ints
) -> tuple[Series, ...]:
    result = []
    for index, head in enumerate(heads):
        own = slice(bounds[index], bounds[index + 1])
        end = np.cumsum(gap[own] + cycles[own])
        result.append(Series(**head, start=end - cycles[own], end=end, value=value[own]))
    return tuple(result)
