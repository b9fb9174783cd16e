"""Profiles on disk: read back identical, and one clear error for everything else."""

from __future__ import annotations

import errno
import io
import json
import os
import stat
import subprocess
import sys
import zipfile
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import cyclescope
from cyclescope._native import table_integers, table_rows, write_table
from cyclescope.errors import CyclescopeError, OutputError, ProfileFileError
from cyclescope.model import FORMAT_VERSION, Frame, Kind, Meta, Position, Profile, ProfileBuilder
from strategies import HOSTILE, calyx_profiles, large_profile

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def profile() -> Profile:
    return large_profile(30)


@pytest.fixture
def saved(profile: Profile, tmp_path: Path) -> Path:
    path = tmp_path / "run.cyc"
    cyclescope.save(profile, path)
    return path


def members(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def rebuild(path: Path, parts: dict[str, bytes]) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)


@given(profile=calyx_profiles())
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_read_back_identical(profile: Profile, tmp_path: Path) -> None:
    path = tmp_path / "p.cyc"
    cyclescope.save(profile, path, force=True)
    assert cyclescope.load(path) == profile


def test_any_name_that_is_text_survives(tmp_path: Path) -> None:
    names = [name for name in HOSTILE if "\ud800" not in name]
    builder = ProfileBuilder()
    main = builder.path(-1, Frame(Kind.CELL, "main", "main"))
    groups = [builder.path(main, Frame(Kind.GROUP, name, name, name)) for name in names]
    profile = builder.build(Meta("calyx", names[0]), [3], [builder.tree(groups)])
    cyclescope.save(profile, tmp_path / "p.cyc")
    assert cyclescope.load(tmp_path / "p.cyc") == profile


def test_the_same_profile_gives_the_same_bytes(profile: Profile, tmp_path: Path) -> None:
    for name in "ab":
        cyclescope.save(profile, tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def every_run(parts: dict[str, bytes]) -> pl.DataFrame:
    """The runs one by one, as `docs/profile-file.md` says how to come to them."""
    order, runs, states = (
        pl.read_parquet(io.BytesIO(parts[f"{name}.parquet"]))
        for name in ("order", "runs", "states")
    )
    return (
        order.with_row_index("place")
        .join(runs.with_row_index("row"), on="segment")
        .join(states, on="state")
        .sort("place", "row")
    )


def test_tables_open_with_any_parquet_reader(saved: Path, profile: Profile) -> None:
    parts = members(saved)
    assert every_run(parts)["cycles"].sum() == profile.cycles
    # Stored, not deflated: a reader can map a table where it lies.
    with zipfile.ZipFile(saved) as archive:
        assert {info.compress_type for info in archive.infolist()} == {zipfile.ZIP_STORED}


@given(profile=calyx_profiles())
@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_polars_reads_in_the_tables_what_the_profile_says(profile: Profile, tmp_path: Path) -> None:
    path = tmp_path / "p.cyc"
    cyclescope.save(profile, path, force=True)
    parts = members(path)
    for name in ("frames", "paths", "trees"):
        table = pl.read_parquet(io.BytesIO(parts[f"{name}.parquet"]))
        assert table.equals(getattr(profile, name))
        assert table.schema == getattr(profile, name).schema
    shown = every_run(parts)
    assert (
        np.repeat(shown["tree"], shown["cycles"]).tolist()
        == np.repeat(profile.schedule.tree, profile.schedule.cycles).tolist()
    )


@given(
    st.lists(st.integers(-1, 2**40)),
    st.lists(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=3)),
    st.lists(st.tuples(st.text(), st.text(), st.integers(0, 9), st.integers(-9, 9)), max_size=3),
)
def test_columns_of_every_kind_are_read_back_by_two_readers(
    values: list[int], lists: list[list[int]], places: list[tuple[str, str, int, int]]
) -> None:
    size = min(len(values), len(lists))
    column = np.array(values[:size], dtype=np.int64)
    table = write_table(
        [
            ("narrow", "narrow", column),
            ("optional", "optional", column),
            ("lists", "whole lists", lists[:size]),
            ("places", "place lists", [places] * size),
            ("truth", "truth", [value > 5 for value in values[:size]]),
        ]
    )
    rows = [
        {
            "narrow": value,
            "optional": None if value == -1 else value,
            "lists": inner,
            "places": [
                dict(zip(("level", "file", "line", "column"), place, strict=True))
                for place in places
            ],
            "truth": value > 5,
        }
        for value, inner in zip(values, lists, strict=False)
    ]
    assert pl.read_parquet(io.BytesIO(table)).to_dicts() == rows
    assert json.loads(table_rows(table)) == rows
    assert np.frombuffer(table_integers(table, "optional"), np.int64).tolist() == values[:size]


def test_the_most_regular_of_runs_are_read_again() -> None:
    column = np.arange(20_000_000) % 2
    table = write_table([("tree", "narrow", column)])
    # Many rows in a small file are refused, as a trap.
    assert 20_000_000 / 32 <= len(table) < 1_000_000
    assert (np.frombuffer(table_integers(table, "tree"), np.int64) == column).all()
    assert pl.read_parquet(io.BytesIO(table))["tree"].sum() == 10_000_000


@pytest.mark.parametrize(
    ("most", "kind"),
    [
        (255, pl.UInt8),
        (256, pl.UInt16),
        (2**16, pl.UInt32),
        (2**32 - 1, pl.UInt32),
        (2**32, pl.Int64),
        (2**63 - 1, pl.Int64),
        (-1, pl.Int64),
    ],
)
def test_a_narrow_column_is_as_wide_as_its_values_need(most: int, kind: pl.DataType) -> None:
    table = write_table([("n", "narrow", np.array([0, most], dtype=np.int64))])
    read = pl.read_parquet(io.BytesIO(table))["n"]
    assert (read.dtype, read.to_list()) == (kind, [0, most])
    assert np.frombuffer(table_integers(table, "n"), np.int64).tolist() == [0, most]


@pytest.mark.parametrize(
    "columns",
    [
        [("a", "whole", np.arange(2)), ("b", "whole", np.arange(3))],
        [("a", "no such kind", [])],
    ],
)
def test_what_is_no_table_is_refused(columns: list[tuple[str, str, object]]) -> None:
    with pytest.raises(ValueError, match=r"length|kind"):
        write_table(columns)


def test_nobody_waits_for_a_data_frame_library_to_load_or_save(saved: Path) -> None:
    program = (
        "import sys; from cyclescope.model import load, save; "
        "save(load(sys.argv[1]), sys.argv[1], force=True); print('polars' in sys.modules)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program, str(saved)], capture_output=True, text=True, check=True
    )
    assert ran.stdout == "False\n"


def test_the_public_frames_say_what_the_profile_says(saved: Path) -> None:
    profile = cyclescope.load(saved)
    assert profile.runs.columns == ["start", "cycles", "tree"]
    assert profile.runs["start"][-1] + profile.runs["cycles"][-1] == profile.cycles
    assert profile.frames.height == len(profile.catalog)
    assert profile.trees.height == len(profile.forest.path)
    assert profile.paths["parent"].null_count() == 1
    assert set(profile.counters["metric"].unique()) <= {"fsm", "par done"}


def test_cut_anywhere_it_is_refused(saved: Path, tmp_path: Path) -> None:
    whole = saved.read_bytes()
    cut = tmp_path / "cut.cyc"
    for length in [*range(0, len(whole), max(1, len(whole) // 97)), len(whole) - 1]:
        cut.write_bytes(whole[:length])
        with pytest.raises(ProfileFileError, match=r"cut\.cyc: "):
            cyclescope.load(cut)


def test_a_flipped_byte_is_refused_or_harmless(
    saved: Path, profile: Profile, tmp_path: Path
) -> None:
    whole = saved.read_bytes()
    bad = tmp_path / "bad.cyc"
    for position in range(0, len(whole), max(1, len(whole) // 211)):
        data = bytearray(whole)
        data[position] ^= 0x55
        bad.write_bytes(bytes(data))
        with suppress(ProfileFileError):
            assert cyclescope.load(bad) == profile


def edit_head(path: Path, **changes: Any) -> None:
    parts = members(path)
    head = json.loads(parts["head.json"]) | changes
    rebuild(path, parts | {"head.json": json.dumps(head).encode()})


def test_a_newer_version_is_named(saved: Path) -> None:
    edit_head(saved, version=FORMAT_VERSION + 1)
    with pytest.raises(ProfileFileError, match="install a newer cyclescope"):
        cyclescope.load(saved)


def test_a_total_that_the_runs_do_not_give_is_refused(saved: Path, profile: Profile) -> None:
    edit_head(saved, cycles=profile.cycles + 1)
    with pytest.raises(ProfileFileError, match="do not sum to the total"):
        cyclescope.load(saved)


def test_a_table_that_breaks_a_law_is_refused(saved: Path) -> None:
    parts = members(saved)
    runs = pl.read_parquet(io.BytesIO(parts["runs.parquet"]))
    buffer = io.BytesIO()
    runs.with_columns(pl.col("state") * 0).write_parquet(buffer)
    rebuild(saved, parts | {"runs.parquet": buffer.getvalue()})
    with pytest.raises(ProfileFileError, match="damaged"):
        cyclescope.load(saved)


def test_segments_out_of_order_are_refused(saved: Path) -> None:
    parts = members(saved)
    runs = pl.read_parquet(io.BytesIO(parts["runs.parquet"]))
    for segments in ([1] + [0] * (len(runs) - 1), [0] * (len(runs) - 1) + [-1]):
        buffer = io.BytesIO()
        runs.with_columns(segment=pl.Series(segments)).write_parquet(buffer)
        rebuild(saved, parts | {"runs.parquet": buffer.getvalue()})
        with pytest.raises(ProfileFileError, match="segments are in order"):
            cyclescope.load(saved)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "not a profile"),
        (b"PK\x03\x04 and then nothing", "not a profile"),
        (b"main;seq 12\n" * 100, "not a profile"),
    ],
)
def test_foreign_files_are_named(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "foreign.cyc"
    path.write_bytes(content)
    with pytest.raises(ProfileFileError, match=message):
        cyclescope.load(path)


def test_another_zip_is_no_profile(tmp_path: Path) -> None:
    path = tmp_path / "other.zip"
    for parts in ({"a": b"1"}, {"head.json": b'{"format": "else"}'}, {"head.json": b"{"}):
        rebuild(path, parts)
        with pytest.raises(ProfileFileError, match=r"other\.zip: "):
            cyclescope.load(path)


def test_no_file_and_a_folder(tmp_path: Path) -> None:
    with pytest.raises(ProfileFileError, match="no such file"):
        cyclescope.load(tmp_path / "none.cyc")
    with pytest.raises(ProfileFileError, match="folder"):
        cyclescope.load(tmp_path)


def test_nothing_is_overwritten_without_force(saved: Path, profile: Profile) -> None:
    before = saved.read_bytes()
    with pytest.raises(OutputError, match="--force"):
        cyclescope.save(profile, saved)
    assert saved.read_bytes() == before
    cyclescope.save(profile, saved, force=True)
    assert saved.read_bytes() == before


def test_no_folder_to_write_to(profile: Profile, tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="there is no folder"):
        cyclescope.save(profile, tmp_path / "none" / "p.cyc")


def test_a_full_disk_leaves_the_old_file_and_no_part(
    saved: Path, profile: Profile, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = saved.read_bytes()

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(zipfile.ZipFile, "writestr", full)
    with pytest.raises(OutputError, match="No space left on device"):
        cyclescope.save(profile, saved, force=True)
    assert saved.read_bytes() == before
    assert [p.name for p in saved.parent.iterdir()] == [saved.name]


def test_an_interrupt_leaves_the_old_file_and_no_part(
    saved: Path, profile: Profile, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(zipfile.ZipFile, "writestr", interrupt)
    with pytest.raises(KeyboardInterrupt):
        cyclescope.save(profile, saved, force=True)
    assert [p.name for p in saved.parent.iterdir()] == [saved.name]


def test_a_new_file_has_the_rights_of_any_other(saved: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.touch()
    assert stat.S_IMODE(saved.stat().st_mode) == stat.S_IMODE(other.stat().st_mode)


def test_every_error_is_one_line_with_an_exit_code(saved: Path) -> None:
    saved.write_bytes(b"x")
    with pytest.raises(CyclescopeError) as caught:
        cyclescope.load(saved)
    assert "\n" not in str(caught.value)
    assert caught.value.exit_code == 2


WITHOUT_ENCODING = [
    "caf\udce9", "\\\udce9", "\\\\\udce9", "\ud800", "\\udce9", "\u00e9\udcff\u6f22",
]  # fmt: skip


@pytest.mark.parametrize("name", WITHOUT_ENCODING, ids=ascii)
def test_what_has_no_encoding_is_shown_by_its_number(name: str, tmp_path: Path) -> None:
    builder = ProfileBuilder()
    place = (Position("calyx", f"{name}.futil", 3),)
    path = builder.path(-1, Frame(Kind.CELL, name, "main", positions=place))
    meta = Meta("calyx", name, inputs={name: "0"}, options={"data": name})
    made = builder.build(meta, [4], [builder.tree([path])])
    cyclescope.save(made, tmp_path / "p.cyc")
    again = cyclescope.load(tmp_path / "p.cyc")
    shown = name.encode("utf-8", "backslashreplace").decode()
    assert (again.meta.title, again.meta.options) == (shown, {"data": shown})
    assert (again.catalog[0].name, again.meta.inputs) == (shown, {shown: "0"})
    assert again.catalog[0].positions[0].file == f"{shown}.futil"
