"""A profile on disk: one `.cyc` file.

A zip whose members are stored, not deflated (Parquet compresses itself), so that any reader of
Parquet can open a table in place:

    head.json         format, version, meta, counter series, the labels of their values, sites
    frames.parquet    as `Profile.frames`
    paths.parquet     path, parent, frame
    trees.parquet     tree, path
    order.parquet     segment                (which segment of runs follows which)
    runs.parquet      segment, cycles, state (of the distinct segments; see `model._segments`)
    states.parquet    state, tree
    counters.parquet  series, gap, cycles, value (gap: cycles since the series' last interval)
    banks.parquet     bank, state, combination  (for series whose head names a bank and a column)
    values.parquet    bank, combination, column, value
    sources.parquet   file, text                (only if the profile carries source texts)
    sends.parquet     edge, gap               (of a network whose firings are known, `Flow.sends`)
    reads.parquet     edge, gap, rise         (`Flow.firings` and `Flow.reads`)
    areas.parquet     cell, type, luts, ffs, dsps, brams, paths, seen  (only if it was synthesised)

Lengths rather than times are stored, since they repeat, and of what repeats one is stored.
"""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from cyclescope._files import endless, write_together
from cyclescope._native import table_integers, table_rows, write_table
from cyclescope.errors import LawError, ProfileFileError
from cyclescope.model._activity import Activity
from cyclescope.model._area import Area
from cyclescope.model._clock import Clock, Part, PathStep, StepKind
from cyclescope.model._columns import frame_columns
from cyclescope.model._flow import Flow
from cyclescope.model._frame import Frame, Kind, Position
from cyclescope.model._laws import check_laws
from cyclescope.model._meta import Anomaly, Contents, Gap, Meta, Rung, Severity
from cyclescope.model._profile import CallPaths, Profile, Runs, Trees
from cyclescope.model._segments import Segments, smallest
from cyclescope.model._series import Bank, Series
from cyclescope.model._site import site_from_json, site_to_json
from cyclescope.model._together import banks_of, together
from cyclescope.model._types import check_types, conforms
from cyclescope.model._version1 import with_meaning

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from cyclescope.model._profile import Ints

__all__ = ["FORMAT_VERSION", "load", "load_stream", "save", "save_stream", "save_together"]

FORMAT = "cyclescope profile"
FORMAT_VERSION = 3

_TABLES = (
    "frames", "paths", "trees", "order", "runs", "states", "counters", "banks", "values", "sources",
    "sends", "reads", "areas",
)  # fmt: skip
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest time that a zip can hold: equal bytes each time


def save(profile: Profile, path: str | os.PathLike[str], *, force: bool = False) -> None:
    """Write a profile to `path`, whole or not at all.

    Raises:
        OutputError: the file exists and `force` is not set, or it cannot be written.
    """
    save_together([(profile, path)], force=force)


def save_together(
    profiles: Sequence[tuple[Profile, str | os.PathLike[str]]], *, force: bool = False
) -> None:
    """Write profiles that belong together, each to its path: all of them or none.

    Raises:
        OutputError: as `save`.
    """
    with write_together([Path(path) for _, path in profiles], force=force) as streams:
        for (profile, _), stream in zip(profiles, streams, strict=True):
            save_stream(profile, stream)


def save_stream(profile: Profile, stream: BinaryIO) -> None:
    """Write a profile to a stream, which may be a pipe.

    Raises:
        OSError: the stream's own.
    """
    if stream.seekable():
        _write(profile, stream)
        return
    # A zip that cannot go back to its heads is laid out differently: equal profiles, equal bytes.
    buffer = io.BytesIO()
    _write(profile, buffer)
    stream.write(buffer.getbuffer())


def _write(profile: Profile, stream: BinaryIO) -> None:
    profile = together(profile)
    banks = banks_of(profile)
    head = {
        "format": FORMAT,
        "version": FORMAT_VERSION,
        "cycles": profile.cycles,
        "meta": asdict(profile.meta),
        "banks": [[*b.values.shape, b.after] for b in banks],
        "series": [_series_head(s, banks) for s in profile.series],
        "labels": {i: s.labels for i, s in enumerate(profile.series) if s.labels},
        "sites": [site_to_json(site) for site in profile.sites],
    }
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        text = json.dumps(_encodable(head), indent=1)
        archive.writestr(zipfile.ZipInfo("head.json", _EPOCH), text)
        for name, columns in _tables(profile, banks):
            table = write_table(_encodable(columns))
            archive.writestr(zipfile.ZipInfo(f"{name}.parquet", _EPOCH), table)


def _encodable(value: Any) -> Any:
    """The same where every text has an encoding: names of files need not have one.

    What has none is shown by its number.
    """
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        return {_encodable(key): _encodable(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(map(_encodable, value))
    return value


_Columns = list[tuple[str, str, object]]


def _tables(profile: Profile, banks: list[Bank]) -> Iterator[tuple[str, _Columns]]:
    """Each table's name and columns (name, kind, values), one table at a time."""
    paths, forest = profile.call_paths, profile.forest
    yield "frames", _frames(profile.catalog)
    path = np.arange(len(paths))
    yield (
        "paths",
        [
            ("path", "whole", path),
            ("parent", "optional", paths.parent),
            ("frame", "whole", paths.frame),
        ],
    )
    tree = np.repeat(np.arange(len(forest)), np.diff(forest.offset))
    yield "trees", [("tree", "whole", tree), ("path", "whole", forest.path)]
    segments, tree_of = profile.schedule.segments, profile.schedule.tree_of
    sizes = np.diff(segments.offset)
    yield "order", _narrow(segment=segments.order)
    yield (
        "runs",
        _narrow(
            segment=np.repeat(np.arange(len(sizes)), sizes),
            cycles=segments.cycles,
            state=segments.state,
        ),
    )
    yield "states", _narrow(state=np.arange(len(tree_of)), tree=tree_of)
    series = [s for s in profile.series if s.bank is None]
    yield (
        "counters",
        _narrow(
            series=np.repeat(np.arange(len(series)), [len(s) for s in series]),
            gap=_joined([_gaps(s) for s in series]),
            cycles=_joined([s.end - s.start for s in series]),
            value=_joined([s.value for s in series]),
        ),
    )
    yield (
        "banks",
        _narrow(
            bank=np.repeat(np.arange(len(banks)), len(tree_of)),
            state=np.tile(np.arange(len(tree_of)), len(banks)),
            combination=_joined([b.shown for b in banks]),
        ),
    )
    yield (
        "values",
        _narrow(
            bank=np.repeat(np.arange(len(banks)), [b.values.size for b in banks]),
            combination=_joined([np.arange(b.values.size) // b.values.shape[1] for b in banks]),
            column=_joined([np.arange(b.values.size) % b.values.shape[1] for b in banks]),
            value=_joined([b.values.reshape(-1) for b in banks]),
        ),
    )
    if profile.sources:
        files, texts = list(profile.sources), list(profile.sources.values())
        yield "sources", [("file", "text", files), ("text", "text", texts)]
    if profile.flows:
        yield from _flows(profile.flows)
    if profile.areas:
        yield "areas", _areas(profile.areas)


def _frames(catalog: tuple[Frame, ...]) -> _Columns:
    return [
        (name, kind, [text or "" for text in values] if kind == "text" else values)
        for name, kind, values in frame_columns(catalog)
    ]


def _narrow(**columns: NDArray[np.integer]) -> _Columns:
    """Columns as narrow as their values allow: they load and pack better."""
    return [
        (name, "narrow", np.ascontiguousarray(column, dtype=np.int64))
        for name, column in columns.items()
    ]


def _flows(flows: tuple[Flow, ...]) -> Iterator[tuple[str, _Columns]]:
    edges = np.array([flow.edge for flow in flows])
    yield (
        "sends",
        _narrow(
            edge=np.repeat(edges, [len(flow.sends) for flow in flows]),
            gap=_joined([np.diff(flow.sends, prepend=0) for flow in flows]),
        ),
    )
    yield (
        "reads",
        _narrow(
            edge=np.repeat(edges, [len(flow.reads) for flow in flows]),
            gap=_joined([np.diff(flow.firings, prepend=0) for flow in flows]),
            rise=_joined([np.diff(flow.reads, prepend=0) for flow in flows]),
        ),
    )


def _areas(areas: tuple[Area, ...]) -> _Columns:
    costs = [
        (name, "whole", np.array([getattr(area, name) for area in areas], dtype=np.int64))
        for name in ("luts", "ffs", "dsps", "brams")
    ]
    return [
        ("cell", "text", [area.cell for area in areas]),
        ("type", "text", [area.type for area in areas]),
        *costs,
        ("paths", "whole lists", [list(area.paths) for area in areas]),
        ("seen", "truth", [area.seen for area in areas]),
    ]


def _series_head(series: Series, banks: list[Bank]) -> dict[str, str | int]:
    if series.bank is None:
        return series.head
    bank = next(i for i, b in enumerate(banks) if b is series.bank)
    return series.head | {"bank": bank, "column": series.column}


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
        if refused := endless(source):
            raise ProfileFileError(refused)
        archive = zipfile.ZipFile(source)
    except FileNotFoundError:
        raise ProfileFileError(
            f"{source}: no such file; make one with `cyclescope calyx`"
        ) from None
    except IsADirectoryError:
        raise ProfileFileError(f"{source}: is a folder, not a profile") from None
    except _NO_ZIP:
        raise ProfileFileError(f"{source}: {_CUT}") from None
    except OSError as error:
        raise ProfileFileError(f"{source}: cannot be read: {error.strerror or error}") from error
    return _load(archive, str(source))


def load_stream(stream: BinaryIO, name: str) -> Profile:
    """Read a profile from an open file that can seek; `name` is what errors call it.

    Raises:
        ProfileFileError: as `load`.
    """
    try:
        archive = zipfile.ZipFile(stream)
    except _NO_ZIP:
        raise ProfileFileError(f"{name}: {_CUT}") from None
    return _load(archive, name)


_NO_ZIP = (zipfile.BadZipFile, NotImplementedError, ValueError, OverflowError)
_CUT = "not a profile, or cut short; make it again"


def _load(archive: zipfile.ZipFile, source: str) -> Profile:
    with archive:
        _check_members(archive, source)
        head = _head(archive, source)
        try:
            profile = _read(archive, head)
            _check_types(profile)
            if head["version"] < 2:
                profile = with_meaning(profile)
            check_laws(profile)
        except LawError as error:
            raise ProfileFileError(f"{source}: damaged ({error}); make it again") from error
        except Exception as error:
            reason = type(error).__name__
            raise ProfileFileError(f"{source}: damaged ({reason}); make it again") from error
    if profile.cycles != head.get("cycles"):
        raise ProfileFileError(f"{source}: damaged (runs do not sum to the total); make it again")
    return profile


_MEMBERS = frozenset({"head.json", *(f"{table}.parquet" for table in _TABLES)})
_LARGEST_HEAD = 64 << 20  # bytes


def _check_members(archive: zipfile.ZipFile, source: str) -> None:
    """Refuse what is not laid out as we write it, before any of it is read.

    Members are stored: what is small on disk is small in memory, tables apart, which are measured
    before they are unpacked.
    """
    seen: set[str] = set()
    for member in archive.infolist():
        name = member.filename
        if name not in _MEMBERS:
            continue
        stored = member.compress_type == zipfile.ZIP_STORED and not member.flag_bits & 1
        if not stored or member.file_size != member.compress_size or name in seen:
            raise ProfileFileError(f"{source}: damaged (its member {name}); make it again")
        if name == "head.json" and member.file_size > _LARGEST_HEAD:
            raise ProfileFileError(f"{source}: its header is larger than any that is written")
        seen.add(name)


def _head(archive: zipfile.ZipFile, source: str) -> dict[str, Any]:
    try:
        head = json.loads(archive.read("head.json"))
    except KeyError:
        raise ProfileFileError(f"{source}: a zip file, but not a profile") from None
    except Exception as error:
        raise ProfileFileError(f"{source}: damaged (its head); make it again") from error
    if not isinstance(head, dict) or head.get("format") != FORMAT:
        raise ProfileFileError(f"{source}: a zip file, but not a profile")
    version = head.get("version")
    if type(version) is not int or version < 1:
        raise ProfileFileError(f"{source}: damaged (its format version); make it again")
    if version > FORMAT_VERSION:
        raise ProfileFileError(
            f"{source}: written in format version {version}, this cyclescope reads up to "
            f"{FORMAT_VERSION}; install a newer cyclescope"
        )
    return head


def _read(archive: zipfile.ZipFile, head: dict[str, Any]) -> Profile:
    # A column at a time: a whole table of a long run, in two libraries' memory at once, would
    # take more than all that is made of it.
    def ints(table: str, column: str) -> Ints:
        return np.frombuffer(table_integers(archive.read(f"{table}.parquet"), column), np.int64)

    kept = head["version"] >= 3
    owner, shown = ints("trees", "tree"), ints("states" if kept else "runs", "tree")
    count = int(owner[-1]) + 1 if len(owner) else 0
    count = max(count, int(shown.max(initial=-1)) + 1)
    # Each tree has a path or is shown: no more of them than rows. And `bincount` writes before
    # its result where a number is the largest that there is.
    inside = owner.min(initial=0) >= 0 and owner.max(initial=-1) < count
    if not 0 <= count <= len(owner) + len(shown) + 1 or not inside:
        raise LawError("trees are numbered from 0 on")
    offset = np.zeros(count + 1, dtype=np.int64)
    np.cumsum(np.bincount(owner, minlength=count), out=offset[1:])
    if kept:
        runs = Runs.of(_read_segments(ints), shown)
        banks = _read_banks(head["banks"], ints, runs)
    else:
        runs = Runs(ints("runs", "cycles"), shown)
        banks = _read_banks_of_version_2(head["banks"], ints)
    return Profile(
        meta=_meta(head["meta"]),
        catalog=tuple(_frame(row) for row in _rows(archive, "frames")),
        call_paths=CallPaths(parent=ints("paths", "parent"), frame=ints("paths", "frame")),
        forest=Trees(offset=offset, path=ints("trees", "path")),
        schedule=runs,
        series=_read_series(
            head["series"],
            {int(number): labels for number, labels in head.get("labels", {}).items()},
            banks,
            *(ints("counters", column) for column in ("series", "gap", "cycles", "value")),
        ),
        sources=_read_texts(archive),
        areas=_read_areas(archive),
        sites=tuple(site_from_json(entry) for entry in head.get("sites", ())),
        flows=_read_flows(archive, ints),
    )


def _check_types(profile: Profile) -> None:
    """Raise `LawError` if a text is none, or a number."""
    for part in (profile.meta, *profile.catalog, *profile.areas, *profile.sites):
        check_types(part)
    period = profile.meta.period_ps
    if period is not None and period <= 0:
        raise LawError("a clock's period is positive")
    if any(frame.latency is not None and frame.latency < 0 for frame in profile.catalog):
        raise LawError("a latency is not negative")
    if not conforms(profile.sources, dict[str, str]):
        raise LawError("sources are texts")
    for series in profile.series:
        texts = (series.track, series.name, series.metric, series.unit)
        if not conforms(texts, tuple[str, ...]) or type(series.path) is not int:
            raise LawError("a counter's head is of texts")
        if not conforms(series.labels, dict[int, str]) or type(series.column) is not int:
            raise LawError("a counter's labels are texts")
        if not conforms(series.cause, str) or type(series.site) is not int:
            raise LawError("a counter's cause is a text, its site a number")


def _rows(archive: zipfile.ZipFile, table: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(table_rows(archive.read(f"{table}.parquet")))
    return rows


def _read_texts(archive: zipfile.ZipFile) -> dict[str, str]:
    if "sources.parquet" not in archive.namelist():
        return {}
    return {row["file"]: row["text"] for row in _rows(archive, "sources")}


def _read_areas(archive: zipfile.ZipFile) -> tuple[Area, ...]:
    if "areas.parquet" not in archive.namelist():
        return ()
    return tuple(Area(**{**row, "paths": tuple(row["paths"])}) for row in _rows(archive, "areas"))


def _read_flows(archive: zipfile.ZipFile, ints: Callable[[str, str], Ints]) -> tuple[Flow, ...]:
    if "sends.parquet" not in archive.namelist():
        return ()
    owner, reader = ints("sends", "edge"), ints("reads", "edge")
    if any((np.diff(edges) < 0).any() for edges in (owner, reader)):
        raise LawError("flows are in the order of their edges")
    edges = np.unique(owner)
    if not np.array_equal(edges, np.unique(reader)):
        raise LawError("flows are of the same edges at both ends")
    sends, reads = (np.searchsorted(edges_of, edges) for edges_of in (owner, reader))
    gaps, moves, rises = ints("sends", "gap"), ints("reads", "gap"), ints("reads", "rise")
    return tuple(
        Flow(edge, *(np.cumsum(part) for part in parts))
        for edge, *parts in zip(
            edges.tolist(),
            np.split(gaps, sends[1:]),
            np.split(rises, reads[1:]),
            np.split(moves, reads[1:]),
            strict=True,
        )
    )


def _read_segments(ints: Callable[[str, str], Ints]) -> Segments:
    owner = ints("runs", "segment")
    count = int(owner[-1]) + 1 if len(owner) else 0
    if (np.diff(owner) < 0).any() or not 0 <= count <= len(owner) or owner.min(initial=0) < 0:
        raise LawError("segments are in order")
    offset = np.searchsorted(owner, np.arange(count + 1))
    del owner
    columns = (("order", "segment"), ("runs", "cycles"), ("runs", "state"))
    order, cycles, state = (smallest(ints(*column)) for column in columns)
    return Segments(order, offset, cycles, state)


def _read_values(shapes: Sequence[Sequence[int]], ints: Callable[[str, str], Ints]) -> list[Ints]:
    """Of each bank the values of its combinations; banks follow each other."""
    owner, value = ints("values", "bank"), ints("values", "value")
    if (np.diff(owner) < 0).any() or len(shapes) > len(value) + 1:
        raise LawError("banks are in order")
    begin = np.searchsorted(owner, np.arange(len(shapes) + 1))
    return [
        value[begin[i] : begin[i + 1]].reshape(shape[0], shape[1]) for i, shape in enumerate(shapes)
    ]


def _read_banks(
    shapes: list[list[int]], ints: Callable[[str, str], Ints], runs: Runs
) -> list[Bank]:
    if not shapes:
        return []
    values = _read_values(shapes, ints)
    shown = ints("banks", "combination").reshape(len(shapes), len(runs.tree_of))
    return [Bank.of(runs.segments, shown[i], values[i], shape[2]) for i, shape in enumerate(shapes)]


def _read_banks_of_version_2(
    shapes: list[list[int]], ints: Callable[[str, str], Ints]
) -> list[Bank]:
    """Banks had runs of their own."""
    if not shapes:
        return []
    owner, cycles, state = (ints("banks", column) for column in ("bank", "cycles", "state"))
    if (np.diff(owner) < 0).any():
        raise LawError("banks are in order")
    first = np.searchsorted(owner, np.arange(len(shapes) + 1))
    return [
        Bank(cycles[first[i] : first[i + 1]], state[first[i] : first[i + 1]], values)
        for i, values in enumerate(_read_values(shapes, ints))
    ]


def _meta(head: dict[str, Any]) -> Meta:
    known = {f.name for f in fields(Meta)}
    values = {name: value for name, value in head.items() if name in known}
    values["anomalies"] = tuple(
        Anomaly(a["name"], Severity(a["severity"]), a["count"], a["detail"])
        for a in head["anomalies"]
    )
    for name in ("ladder", "other_bounds"):
        values[name] = tuple(
            Rung(r["name"], r["cycles"], tuple(Gap(**gap) for gap in r["gaps"]), r["about"])
            for r in head.get(name, ())
        )
    values["clock"] = _clock(head.get("clock"))
    values["memories"] = tuple(Contents(**memory) for memory in head.get("memories", ()))
    return Meta(**values)


def _clock(head: dict[str, Any] | None) -> Clock | None:
    if head is None:
        return None
    steps = (
        PathStep(**{**step, "kind": StepKind(step["kind"]), "part": Part(step["part"])})
        for step in head["path"]
    )
    return Clock(**{**head, "path": tuple(steps)})


def _frame(row: dict[str, Any]) -> Frame:
    kind, activity = row["kind"], row.get("activity", "")
    return Frame(
        kind=Kind(kind) if kind in _KINDS else kind,
        name=row["name"],
        component=row["component"],
        detail=row["detail"],
        positions=tuple(Position(**p) for p in row["positions"]),
        latency=row["latency"],
        generated=row["generated"],
        definition=row.get("definition", ""),
        activity=Activity(activity) if activity else None,
        cause=row.get("cause", ""),
        track=row.get("track", False),
        split=row.get("split", False),
    )


_KINDS = frozenset(kind.value for kind in Kind)


def _read_series(
    heads: list[dict[str, Any]],
    labels: dict[int, dict[str, str]],
    banks: list[Bank],
    series: Ints,
    gap: Ints,
    cycles: Ints,
    value: Ints,
) -> tuple[Series, ...]:
    result = []
    own = 0  # series that have rows of their own are numbered among themselves
    for number, written in enumerate(heads):
        head = written
        if "activity" in written:
            head = {**written, "activity": Activity(written["activity"])}
        if "bank" in head:
            result.append(Series.of_bank(**{**head, "bank": banks[head["bank"]]}))
            continue
        first, last = np.searchsorted(series, [own, own + 1])
        end = np.cumsum(gap[first:last] + cycles[first:last])
        start = end - cycles[first:last]
        names = {int(text): label for text, label in labels.get(number, {}).items()}
        result.append(Series(**head, start=start, end=end, value=value[first:last], labels=names))
        own += 1
    return tuple(result)
