from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cyclescope.errors import DataError
from cyclescope.sim import Memory, read_data
from cyclescope.sim._memory import check_data, decode_memory, encode_memory

if TYPE_CHECKING:
    from pathlib import Path

BITNUM = {"numeric_type": "bitnum", "is_signed": True, "width": 8}


def nested(draw: st.DrawFn, dims: tuple[int, ...], leaf: st.SearchStrategy[int]) -> object:
    if not dims:
        return draw(leaf)
    return [nested(draw, dims[1:], leaf) for _ in range(dims[0])]


@st.composite
def memories(draw: st.DrawFn) -> tuple[Memory, dict[str, object]]:
    dims = tuple(draw(st.lists(st.integers(1, 4), min_size=1, max_size=5)))
    width, signed = draw(st.integers(1, 150)), draw(st.booleans())
    low = -(2 ** (width - 1)) if signed else 0
    data = nested(draw, dims, st.integers(low, low + 2**width - 1))
    number_format = {"numeric_type": "bitnum", "is_signed": signed, "width": width}
    return Memory("m", width, dims), {"data": data, "format": number_format}


@given(memories())
def test_what_goes_in_comes_out(case: tuple[Memory, dict[str, object]]) -> None:
    memory, entry = case
    text = encode_memory(memory, entry)
    assert len(text.split()) == memory.size
    assert decode_memory(memory, entry, text) == entry


def test_words_are_in_row_major_order() -> None:
    entry = {"data": [[1, 2, 3], [-1, 16, 0]], "format": BITNUM}
    assert encode_memory(Memory("m", 8, (2, 3)), entry) == "1\n2\n3\nff\n10\n0\n"


def test_comments_and_addresses_are_not_words() -> None:
    entry = {"data": [0, 0], "format": BITNUM}
    back = decode_memory(Memory("m", 8, (2,)), entry, "// 0x0\n@0\n7f // seven f\n80\n")
    assert back["data"] == [127, -128]


def test_a_narrow_memory_takes_a_wide_format() -> None:
    entry = {"data": [5], "format": {"numeric_type": "bitnum", "is_signed": True, "width": 32}}
    assert encode_memory(Memory("m", 3, (1,)), entry) == "5\n"
    with pytest.raises(DataError, match=r"memory m\[0\]: 8 does not fit the design's 3 bits"):
        encode_memory(Memory("m", 3, (1,)), {**entry, "data": [8]})
    with pytest.raises(DataError, match="width is 32, but the design's words have 64"):
        encode_memory(Memory("m", 64, (1,)), entry)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ([[1, 2], [3]], r"memory m\[1\]: 1 elements, but the design has 2 \(dimensions 2x2\)"),
        ([[1, 2]], "memory m: 1 elements, but the design has 2"),
        ([1, 2], r"memory m\[0\]: a list is expected here, not a number"),
        ({"0": 1}, "memory m: a list is expected here, not an object"),
        ([[1, 2], [3, [4]]], r"memory m\[1\]\[1\]: a number is expected here, not a list"),
        ([[1, 2], [3, 400]], r"memory m\[1\]\[1\]: 400 is out of range"),
        ([[1, "two"], [3, 4]], r"memory m\[0\]\[1\]: 'two' is not a whole number"),
        ([[1, None], [3, 4]], r"memory m\[0\]\[1\]: missing"),
    ],
)
def test_wrong_data_is_named_with_its_index(data: object, says: str) -> None:
    with pytest.raises(DataError, match=says):
        encode_memory(Memory("m", 8, (2, 2)), {"data": data, "format": BITNUM})


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        ([1, 2], "must be an object with `data` and `format`, not a list"),
        (None, "not null"),
        ({"format": BITNUM}, "memory m: `data` is missing"),
        ({"data": [0]}, "memory m: `format` must be an object"),
        ({"data": [0], "format": {**BITNUM, "width": -1}}, "memory m: width is -1"),
    ],
)
def test_a_wrong_entry_is_named(entry: object, says: str) -> None:
    with pytest.raises(DataError, match=says):
        encode_memory(Memory("m", 8, (1,)), entry)


def test_words_that_were_not_written_are_noticed() -> None:
    with pytest.raises(DataError, match="memory m: 1 of 2 words"):
        decode_memory(Memory("m", 8, (2,)), {"data": [0, 0], "format": BITNUM}, "00\n")
    # Where the disk was full, it is cut anywhere, and the last word is still one.
    with pytest.raises(DataError, match="memory m: the last word is cut off"):
        decode_memory(Memory("m", 8, (2,)), {"data": [0, 0], "format": BITNUM}, "00\n1")


def test_memories_and_data_must_be_the_same() -> None:
    have = [Memory("a", 32, (4,)), Memory("b", 1, (2, 3)), Memory("c", 8, (1,))]
    with pytest.raises(DataError, match=r"memory b \(2x3 words of 1 bits\), c \(1 words.*add it"):
        check_data(have, {"a": {}})
    with pytest.raises(DataError, match="data for x, y, but the design has no such"):
        check_data(have, {"a": {}, "b": {}, "c": {}, "x": {}, "y": {}})
    check_data(have, {"c": {}, "b": {}, "a": {}})


def test_a_data_file_keeps_decimals_as_written(tmp_path: Path) -> None:
    file = tmp_path / "a.data"
    file.write_text('{"m": {"data": [0.1, 1]}}')
    assert read_data(file) == {"m": {"data": [Decimal("0.1"), 1]}}


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b'{"m": \n oops}', r"a\.data:2:2: not JSON"),
        (b"[]", r"a\.data: the data must be an object"),
        (b"\xff\xfe", r"a\.data: cannot read the data: not UTF-8"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"m": ' + b"9" * 5000 + b"}", "too many digits"),
        (b"", "not JSON"),
        (b'{"m": {},\n "m": {}}', r'a\.data:2: "m" is given twice in one object'),
        (b'{"m": {"format": {"width": 1, "width": 2}}}', r'a\.data:1: "width" is given twice'),
    ],
)
def test_a_wrong_data_file_is_named(tmp_path: Path, content: bytes, says: str) -> None:
    file = tmp_path / "a.data"
    file.write_bytes(content)
    with pytest.raises(DataError, match=says):
        read_data(file)


def test_an_absent_data_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"none\.data: cannot read the data: No such file"):
        read_data(tmp_path / "none.data")


def test_a_narrow_unsigned_format_serves_wider_words() -> None:
    memory = Memory("m", 3, (2,))
    form = {"numeric_type": "bitnum", "is_signed": False, "width": 2}
    assert encode_memory(memory, {"data": [3, 0], "format": form}) == "3\n0\n"
    assert decode_memory(memory, {"format": form}, "7 1\n")["data"] == [7, 1]
    signed = form | {"is_signed": True}
    with pytest.raises(DataError, match="give that width"):
        encode_memory(memory, {"data": [1, 0], "format": signed})
