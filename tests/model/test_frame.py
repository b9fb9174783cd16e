"""Frames: fixed lengths and labels."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cyclescope.model import Frame, Kind

BLOCK = Frame(Kind.CONTROL, "seq L3", "main", detail="seq")


def test_a_length_is_fixed_by_the_compiler_or_by_the_program() -> None:
    assert not BLOCK.static
    assert replace(BLOCK, detail="static seq").static
    assert replace(BLOCK, latency=0).static


@pytest.mark.parametrize(
    ("kind", "detail", "label"),
    [
        (Kind.CELL, "sub", "s1 [sub]"),
        (Kind.PRIMITIVE, "std_reg", "s1 [std_reg]"),
        (Kind.CELL, "s1", "s1"),
        (Kind.CELL, "", "s1"),
        (Kind.GROUP, "comb group", "s1"),
    ],
)
def test_a_label_says_what_a_cell_or_primitive_is_an_instance_of(
    kind: Kind, detail: str, label: str
) -> None:
    assert Frame(kind, "s1", "main", detail=detail).label == label
