"""Cycles beside source lines: the table, the annotated text, the picture."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from xml.etree import ElementTree

import polars as pl
import pytest
from hypothesis import assume, given, settings

from cyclescope.errors import InputError
from cyclescope.model import Kind, Meta, Position, Profile, ProfileBuilder
from cyclescope.views import lines_view, print_source, source_svg, source_text
from meaning import Frame
from strategies import HOSTILE, calyx_profiles


def small(text: str | None = None) -> Profile:
    def place(line: int) -> tuple[Position, ...]:
        return (Position("calyx", "p.futil", line),)

    build = ProfileBuilder()
    main = build.path(-1, Frame(Kind.CELL, "main", "main", "main"))
    seq = build.path(main, Frame(Kind.CONTROL, "seq L2", "main", "seq", place(2)))
    one = build.path(seq, Frame(Kind.GROUP, "a", "main", "", place(3)))
    two = build.path(seq, Frame(Kind.GROUP, "b", "main", "", place(12)))
    trees = [build.tree([main]), build.tree([seq]), build.tree([one]), build.tree([one, two])]
    profile = build.build(Meta("calyx", "p.futil"), [1, 2, 1000, 3], trees)
    return replace(profile, sources={"p.futil": text}) if text is not None else profile


TEXT = "control {\n  seq {\n    a; // first\n" + "\n" * 8 + "    b;\n  }\n}\n"


def test_the_annotated_text_is_for_people() -> None:
    assert source_text(small(TEXT)) == (
        " cycles   useful  overhead      own            p.futil\n"
        "                                                1 │ control {\n"
        "  1,005    1,003         2        2             2 │   seq {\n"
        "  1,003    1,003         0  1,001.5  ████████   3 │     a; // first\n"
        "                                                4 │\n"
        "                                                5 │\n"
        "                                                ⋮\n"
        "                                               10 │\n"
        "                                               11 │\n"
        "      3        3         0      1.5            12 │     b;\n"
        "                                               13 │   }\n"
        "                                               14 │ }\n"
        "\n"
    )


def test_without_the_text_its_lines_stand_alone() -> None:
    shown = source_text(small())
    assert [line.split("│")[0].split()[-1] for line in shown.splitlines() if "│" in line] == [
        "2", "3", "12",
    ]  # fmt: skip


def test_a_position_past_the_text_is_no_accident() -> None:
    assert "12 │" in source_text(small("only\nthree\nlines\n"))


@pytest.mark.parametrize("text", ["", "last"])
def test_a_position_before_the_text_has_none(text: str) -> None:
    # Found by scripts/fuzz.py: line 0 was taken for the last one, or there was none.
    build = ProfileBuilder()
    main = build.path(-1, Frame(Kind.CELL, "main", "main", positions=(Position("c", "k.c", 0),)))
    profile = build.build(Meta("calyx", "k.c"), [5], [build.tree([main])])
    shown = source_text(replace(profile, sources={"k.c": text}))
    (own,) = (line for line in shown.splitlines() if "│" in line and " 0 │" in line)
    assert "last" not in own


def test_the_table_puts_the_hottest_first_and_what_has_no_line_last() -> None:
    table = lines_view(small(TEXT)).decode()
    assert [row.split()[5:7] for row in table.splitlines()[1:4]] == [
        ["1,001.5", "99.6"], ["2", "0.2"], ["1.5", "0.1"],
    ]  # fmt: skip
    assert table.splitlines()[4].split() == ["1", "0.1", "%", "(no", "line)"]
    rows = json.loads(lines_view(small(TEXT), fmt="json"))
    assert sum(row["own"] for row in rows) == 1006
    assert rows[0]["text"] == "    a; // first"
    parquet = pl.read_parquet(io.BytesIO(lines_view(small(TEXT), fmt="parquet")))
    assert parquet["cycles"].to_list() == [row["cycles"] for row in rows]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_stay_text(text: str) -> None:
    profile = small("\n".join([text.replace("\n", " ")] * 14))
    picture = source_svg(profile).decode()
    root = ElementTree.fromstring(picture)
    assert {element.tag.rsplit("}")[-1] for element in root.iter()} <= {"svg", "rect", "text"}
    for shown in (source_text(profile), lines_view(profile).decode()):
        assert "\x1b" not in shown
        assert "\u202e" not in shown


def test_a_profile_without_lines_is_told_so() -> None:
    build = ProfileBuilder()
    tree = build.tree([build.path(-1, Frame(Kind.CELL, "main", "main", "main"))])
    profile = build.build(Meta("calyx", "p.futil"), [3], [tree])
    with pytest.raises(InputError, match="which source line"):
        source_text(profile)
    assert b"(no line)" in lines_view(profile)


@given(calyx_profiles(hostile=True))
@settings(max_examples=25, deadline=None)
def test_any_profile_has_a_source_view(profile: Profile) -> None:
    assume(any(frame.positions for frame in profile.catalog))
    stream = io.StringIO()
    print_source(profile, stream)
    assert stream.getvalue() == source_text(profile)
    ElementTree.fromstring(source_svg(profile).decode())
    for fmt in ("text", "csv", "json", "markdown", "parquet"):
        assert lines_view(profile, fmt=fmt)
