"""Profile files that promise more than they hold: refused in one line, before memory is taken."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import time
import zipfile
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest

from cyclescope.errors import ProfileFileError
from cyclescope.model import load, save
from strategies import calyx_profiles

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

from hypothesis import HealthCheck, given, settings

Members = dict[str, bytes]


def members(path: Path) -> Members:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def parquet(frame: pl.DataFrame, **options: object) -> bytes:
    stream = io.BytesIO()
    frame.write_parquet(stream, **options)  # type: ignore[arg-type]
    return stream.getvalue()


def changed(made: Members, table: str, **columns: object) -> bytes:
    frame = pl.read_parquet(io.BytesIO(made[f"{table}.parquet"]))
    return parquet(frame.with_columns(**{name: pl.lit(v) for name, v in columns.items()}))


def head(made: Members, **changes: object) -> bytes:
    return json.dumps({**json.loads(made["head.json"]), **changes}).encode()


def long_table(count: int) -> pl.DataFrame:
    ones, zeros = np.ones(count, np.uint8), np.zeros(count, np.uint8)
    return pl.DataFrame({"segment": zeros, "cycles": ones, "state": zeros})


def many_runs(made: Members) -> Members:
    count = 100_000_000
    runs = long_table(count)
    packed = parquet(runs, compression="zstd", row_group_size=50_000_000)
    assert len(packed) < 200_000
    return {**made, "runs.parquet": packed, "head.json": head(made, cycles=count)}


def filled(made: Members) -> Members:
    """The same in a file that is large, but not as large as what it makes."""
    count = 40_000_000
    runs = long_table(count)
    packed = parquet(runs, compression="zstd", row_group_size=count)
    foot = len(packed) - 8 - int.from_bytes(packed[-8:-4], "little")
    packed = packed[:foot] + bytes(1_000_000) + packed[foot:]
    return {**made, "runs.parquet": packed, "head.json": head(made, cycles=count)}


def long_order(made: Members) -> Members:
    order = pl.DataFrame({"segment": np.zeros(100_000_000, np.uint8)})
    return {**made, "order.parquet": parquet(order, compression="zstd", row_group_size=50_000_000)}


def long_names(made: Members) -> Members:
    frames = pl.read_parquet(io.BytesIO(made["frames.parquet"]))
    wide = pl.concat([frames[:1]] * 20_000).with_columns(detail=pl.lit("x" * 100_000))
    return {**made, "frames.parquet": parquet(wide, compression="zstd")}


def one_long_name(made: Members) -> Members:
    frames = pl.read_parquet(io.BytesIO(made["frames.parquet"]))
    long = frames.with_columns(name=pl.lit("x" * 300_000_000))
    return {**made, "frames.parquet": parquet(long[:1], compression="zstd")}


def announced(made: Members) -> Members:
    """A page whose header announces a hundred times of what is in it."""
    packed = bytearray(made["frames.parquet"])
    frames = pl.read_parquet(io.BytesIO(packed))
    long = frames[:1].with_columns(kind=pl.lit("x" * 1_200_000))
    packed = bytearray(parquet(long.select("kind"), compression="zstd"))
    # The header is a Thrift structure: type, size, packed size, as varints of zigzag.
    assert packed[4] == packed[6] == 0x15
    assert [byte >> 7 for byte in packed[7:11]] == [1, 1, 1, 0]
    packed[7:11] = b"\xff\xff\xff\x7e"
    return {**made, "frames.parquet": bytes(packed)}


def long_lists(made: Members) -> Members:
    numbers = pl.Series("paths", [np.zeros(20_000_000, np.int64)])
    columns = {"cell": ["c"], "type": ["t"], "luts": [1], "ffs": [1], "dsps": [0], "brams": [0]}
    areas = pl.DataFrame(columns).with_columns(numbers, seen=pl.lit(value=True))
    packed = parquet(areas, compression="zstd")
    assert len(packed) < 20_000
    return {**made, "areas.parquet": packed}


def damaged_page(made: Members) -> Members:
    packed = bytearray(made["runs.parquet"])
    packed[4:40] = bytes(36)
    return {**made, "runs.parquet": bytes(packed)}


def texts(made: Members, column: str, value: object) -> Members:
    frames = pl.read_parquet(io.BytesIO(made["frames.parquet"]))
    return {**made, "frames.parquet": parquet(frames.with_columns(pl.lit(value).alias(column)))}


HOSTILE: dict[str, Callable[[Members], Members]] = {
    "runs without number": many_runs,
    "runs without number in a large file": filled,
    "an order without end": long_order,
    "cycles that no integer holds": lambda m: {
        **m, "runs.parquet": changed(m, "runs", cycles=2**62),
    },
    "a segment that is not there": lambda m: {
        **m, "order.parquet": changed(m, "order", segment=10**9),
    },
    "a segment of number 10^12": lambda m: {
        **m, "runs.parquet": changed(m, "runs", segment=10**12),
    },
    "a state that is not there": lambda m: {**m, "runs.parquet": changed(m, "runs", state=10**9)},
    "names without end": long_names,
    "a name without end": one_long_name,
    "a page that announces more than it holds": announced,
    "a list without end": long_lists,
    "a page without a header": damaged_page,
    "a name that is none": lambda m: texts(m, "name", None),
    "a name that is a number": lambda m: texts(m, "name", 3),
    "a latency beyond all numbers": lambda m: texts(m, "latency", 2.5),
    "a line that is none": lambda m: texts(
        m, "positions", [{"level": "calyx", "file": "f", "line": None, "column": None}],
    ),
    "half a character in the head": lambda m: {
        **m, "head.json": head(m, meta={**json.loads(m["head.json"])["meta"], "title": "\ud800"}),
    },
    "a period of zero": lambda m: {
        **m, "head.json": head(m, meta={**json.loads(m["head.json"])["meta"], "period_ps": 0}),
    },
    "a tree of number 10^12": lambda m: {**m, "states.parquet": changed(m, "states", tree=10**12)},
    "a tree of number 3 * 10^8": lambda m: {
        **m, "states.parquet": changed(m, "states", tree=3 * 10**8),
    },
    "a tree below 0": lambda m: {**m, "states.parquet": changed(m, "states", tree=-1)},
    "more cycles than there are numbers": lambda m: {
        **m, "runs.parquet": changed(m, "runs", cycles=2**62),
    },
    "a path below another's": lambda m: {**m, "paths.parquet": changed(m, "paths", parent=10**9)},
    "a deep head": lambda m: {**m, "head.json": b"[" * 200_000 + b"]" * 200_000},
    "a long number in the head": lambda m: {
        **m, "head.json": b'{"version":' + b"9" * 10_000 + b"}",
    },
    "banks without number": lambda m: {**m, "head.json": head(m, banks=[[1, 1]] * 100_000)},
    "a large bank": lambda m: {**m, "head.json": head(m, banks=[[10**9, 10**9]])},
    "version 0": lambda m: {**m, "head.json": head(m, version=0)},
    "version true": lambda m: {**m, "head.json": head(m, version=True)},
    "version 99": lambda m: {**m, "head.json": head(m, version=99)},
}  # fmt: skip


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A profile as we write it."""
    folder = tmp_path_factory.mktemp("sound")
    program = folder / "p.futil"
    program.write_text(
        'import "primitives/core.futil"; component main() -> () { cells { r = std_reg(1); } wires '
        "{ group g { r.in = 1'd1; r.write_en = 1'd1; g[done] = r.done; } } "
        "control { seq { g; g; g; } } }\n"
    )
    from cyclescope.cli import main

    assert main(["calyx", str(program), "-o", str(folder / "p.cyc")]) == 0
    return folder / "p.cyc"


MEASURED = """import resource, sys, time
from cyclescope.errors import ProfileFileError
from cyclescope.model import load
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
started = time.process_time()
try:
    load(sys.argv[1]); said = "loaded"
except ProfileFileError as error:
    said = str(error)
grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
print(f"{grown >> 10}|{time.process_time() - started}|{said}")
"""


def measured(path: Path) -> tuple[int, float, str]:
    """Megabytes and seconds of processor time that loading took, and what it said."""
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, str(path)], stdout=subprocess.PIPE, text=True, check=True
    )
    grown, seconds, said = done.stdout.rstrip("\n").split("|", 2)
    return int(grown), float(seconds), said


@pytest.mark.long(keep_one_in=12)
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_profile_is_refused_with_little_memory(
    sound: Path, tmp_path: Path, name: str
) -> None:
    path = tmp_path / "h.cyc"
    with zipfile.ZipFile(path, "w") as archive:
        for member, data in HOSTILE[name](members(sound)).items():
            archive.writestr(member, data)
    grown, seconds, said = measured(path)
    assert said.startswith(f"{path}: ")
    assert "\n" not in said
    assert grown < 200
    assert seconds < 5


def test_a_deflated_member_is_refused_at_once(sound: Path, tmp_path: Path) -> None:
    path = tmp_path / "h.cyc"
    made = members(sound)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        with archive.open("head.json", "w", force_zip64=True) as stream:
            for _ in range(64):
                stream.write(b" " * (1 << 22))
        for member, data in made.items():
            if member != "head.json":
                archive.writestr(member, data)
    grown, seconds, said = measured(path)
    assert "its member" in said
    assert grown < 100
    assert seconds < 2


def test_a_member_twice_is_refused(sound: Path, tmp_path: Path) -> None:
    path = tmp_path / "h.cyc"
    with zipfile.ZipFile(path, "w") as archive:
        for member, data in members(sound).items():
            archive.writestr(member, data)
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("head.json", b"{}")
    with pytest.raises(ProfileFileError, match=r"its member head\.json"):
        load(path)


def test_a_device_is_no_profile() -> None:
    started = time.monotonic()
    with pytest.raises(ProfileFileError, match="a device or a pipe"):
        load("/dev/zero")
    assert time.monotonic() - started < 2


@given(profile=calyx_profiles())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_we_write_is_never_taken_for_hostile(profile: object, tmp_path: Path) -> None:
    path = tmp_path / "p.cyc"
    save(profile, path, force=True)  # type: ignore[arg-type]
    assert load(path) == profile


def test_the_most_regular_of_long_runs_is_read(sound: Path, tmp_path: Path) -> None:
    from dataclasses import replace

    from cyclescope.model import Runs

    profile = load(sound)
    if len(profile.forest) < 2:
        pytest.skip("needs two trees")
    tree = np.arange(5_000_000, dtype=np.int64) % 2
    long = replace(profile, schedule=Runs(np.ones(len(tree), np.int64), tree), series=())
    save(long, tmp_path / "long.cyc")
    assert (tmp_path / "long.cyc").stat().st_size < 200_000
    assert load(tmp_path / "long.cyc").cycles == 5_000_000


def test_a_member_whose_name_is_no_text(sound: Path, tmp_path: Path) -> None:
    # Found by scripts/fuzz.py: the zip says that the name is UTF-8, and it is not.
    data = sound.read_bytes()
    at = data.rindex(b"PK\x01\x02")
    changed = bytearray(data)
    changed[at + 8 : at + 10] = (0x800).to_bytes(2, "little")
    changed[at + 46] = 0xA3
    (tmp_path / "h.cyc").write_bytes(bytes(changed))
    with pytest.raises(ProfileFileError, match="not a profile, or cut short"):
        load(tmp_path / "h.cyc")


@pytest.mark.parametrize("number", [2**63 - 1, 2**62, 7, -1])
def test_a_tree_that_is_not_there(number: int, sound: Path, tmp_path: Path) -> None:
    # Found by scripts/fuzz.py: of 2^63 - 1 numpy's `bincount` counts before its result, which
    # damages the heap, and shows some files later.
    parts = members(sound)
    parts["trees.parquet"] = parquet(pl.DataFrame({"tree": [0, number, 0], "path": [0, 0, 0]}))
    with zipfile.ZipFile(tmp_path / "h.cyc", "w") as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    with pytest.raises(ProfileFileError, match="trees are numbered from 0 on"):
        load(tmp_path / "h.cyc")
