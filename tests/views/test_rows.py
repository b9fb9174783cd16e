"""Parquet written part by part, and rows as lines, from the native module."""

from __future__ import annotations

import io

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cyclescope._native import TableWriter, format_rows, write_table

WHOLE = st.integers(-(2**63), 2**63 - 1)


def ints(values: list[int]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.array(values, dtype=np.int64)


@settings(max_examples=30, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.none() | WHOLE, st.none() | st.text(), st.none() | st.booleans(),
            st.none() | st.floats(allow_nan=False),
        )
    )
)  # fmt: skip
def test_values_that_may_be_missing_are_read_as_they_are(
    rows: list[tuple[int | None, str | None, bool | None, float | None]],
) -> None:
    names = ["a number", "t=x", "b,", "f{"]
    kinds = ["whole?", "text?", "truth?", "number?"]
    columns = [
        (name, kind, [row[n] for row in rows])
        for n, (name, kind) in enumerate(zip(names, kinds, strict=True))
    ]
    table = pl.read_parquet(io.BytesIO(write_table(columns)))
    assert table.columns == names
    assert table.rows() == rows


@settings(max_examples=30, deadline=None)
@given(st.lists(st.lists(st.tuples(WHOLE, st.integers(-1, 2)), max_size=5), min_size=1))
def test_parts_are_one_table(parts: list[list[tuple[int, int]]]) -> None:
    table, data = TableWriter(), b""
    for part in parts:
        numbers, which = ints([n for n, _ in part]), ints([w for _, w in part])
        data += table.add([("n", "whole", numbers), ("t", "names", (["x", "", "ä"], which))])
    data += table.finish()
    texts = ["x", "", "ä", None]
    expected = [(n, texts[w]) for part in parts for n, w in part]
    assert pl.read_parquet(io.BytesIO(data)).rows() == expected


def test_many_parts_are_few_groups_and_come_as_they_are_made() -> None:
    table, data, early = TableWriter(), b"", 0
    for start in range(0, 1_000_000, 1000):
        data += table.add([("n", "whole", np.arange(start, start + 1000))])
        early = max(early, len(data)) if start < 500_000 else early
    data += table.finish()
    assert 1000 < early < len(data)
    assert pl.read_parquet(io.BytesIO(data))["n"].to_list() == list(range(1_000_000))


def test_a_part_with_other_columns_is_refused() -> None:
    table = TableWriter()
    table.add([("n", "whole", ints([1]))])
    with pytest.raises(ValueError, match="other columns"):
        table.add([("m", "whole", ints([1]))])
    with pytest.raises(ValueError, match="no table"):
        TableWriter().finish()


@given(st.lists(st.tuples(WHOLE, st.integers(0, 1))))
def test_rows_are_lines(rows: list[tuple[int, int]]) -> None:
    texts = ["one", "zwei ü"]
    made = format_rows(
        ["<", ":", ">\n"], [(None, ints([n for n, _ in rows])), (texts, ints([w for _, w in rows]))]
    )
    assert made.decode() == "".join(f"<{n}:{texts[w]}>\n" for n, w in rows)


def test_rows_that_do_not_fit_together_are_refused() -> None:
    with pytest.raises(ValueError, match="pieces"):
        format_rows(["a"], [(None, ints([1]))])
    with pytest.raises(ValueError, match="rows"):
        format_rows(["", "", ""], [(None, ints([1])), (None, ints([1, 2]))])
    for which in (-1, 1):
        with pytest.raises(ValueError, match="not below 1"):
            format_rows(["", ""], [(["x"], ints([which]))])
