"""Two readers of a piece of VCD text give the same: the quick one, and the one for any layout."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cyclescope._native import VcdLines
from cyclescope.errors import DataError
from cyclescope.traces._lines import Layout, Piece, read_lines
from cyclescope.traces._words import WordReader

if TYPE_CHECKING:
    from collections.abc import Callable

PATH = Path("run.vcd")
KEYS = {b"!": 1, b'"a': 4, b"abcdefgh": 62, b"1": 1, b"#": 2}
LINES = [
    *("#0", "#17", "#999999999999999999", "#1000000000000000000", "#", "#1x"),
    *("0!", "1!", "x!", "Z!", "01", "11", "x1", "1#", '0"a', '1"', "1a", "1zz", "1abcdefghi", "0"),
    *("b1010 \"a", "B0 \"a", "bxz01 \"a", "b10101 \"a", "b12 \"a", "b \"a", "b101 nobody"),
    *(f"b{'1' * 62} abcdefgh", f"b{'1' * 63} abcdefgh", "b1 abcdefghi", "b1 abcdefg", "b1 #"),
    *("r0.5 nobody", "r0.5 !", "sidle nobody", "sidle !", "$dumpvars", "$end", "", "junk", "-!"),
    *("b1 1", "$comment", "$comment 1! $end", "1! 0!", " 1!", "1!\r", "b1", "b1 ! 1!", "b1  !"),
]  # fmt: skip


def outcome(read: Callable[[bytes, int], Piece | None], text: bytes) -> object:
    """What a reader finds, `DataError` if that is damaged, None if it leaves it to the other."""
    try:
        piece = read(text, 0)
    except DataError:
        return DataError
    if piece is None:
        return None
    columns = (piece.times, piece.step, piece.signal, piece.value)
    return (*(column.tolist() for column in columns), piece.strange)


@given(st.lists(st.sampled_from(LINES), max_size=12))
@example(["$dumpvars", "0!", "$end", "#17", 'b1010 "a', "junk"])
def test_the_quick_reader_gives_what_the_careful_one_gives(lines: list[str]) -> None:
    layout = Layout(list(KEYS), list(KEYS.values()))
    text = "".join(f"{line}\n" for line in lines).encode()
    quick = outcome(lambda piece, start: read_lines(PATH, piece, start, layout), text)
    assert quick in (None, outcome(WordReader(PATH, layout).read, text))


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(content: bytes) -> None:
    layout = Layout(list(KEYS), list(KEYS.values()))
    outcome(lambda piece, start: read_lines(PATH, piece, start, layout), content + b"\n")


def test_plain_text_needs_no_careful_reader() -> None:
    layout = Layout(list(KEYS), list(KEYS.values()))
    text = b'$dumpvars\n0!\nb1010 "a\n$end\n#5\nr0.5 nobody\n1!\njunk\n\n#7\nbx "a\n'
    found = outcome(lambda piece, start: read_lines(PATH, piece, start, layout), text)
    assert found == ([5, 7], [-1, -1, 0, 1], [0, 1, 0, 1], [0, 10, 1, -1], 1)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("#x", "byte 104: a time"),
        ('b12 "a', "byte 104: .*foreign"),
        ("r1 !", "byte 104: .*no bits"),
    ],
)
def test_damage_is_said_with_its_place_in_the_file(line: str, says: str) -> None:
    layout = Layout(list(KEYS), list(KEYS.values()))
    with pytest.raises(DataError, match=says):
        read_lines(PATH, f"#5\n\n{line}\n".encode(), 100, layout)


@pytest.mark.parametrize("keys", [[b""], [b"123456789"], [b"a b"], [b"a", b"b"]])
def test_what_can_be_no_identifier_is_refused(keys: list[bytes]) -> None:
    with pytest.raises(ValueError, match="identifiers"):
        VcdLines(keys, [1])


def test_many_identifiers_are_told_apart() -> None:
    keys = [f"{n:x}".encode() for n in range(5000)]
    text = "".join(f"{n % 2}{n:x}\n" for n in range(6000)).encode()
    piece = read_lines(PATH, b"#1\n" + text, 0, Layout(keys, [1] * 5000))
    assert piece is not None
    assert piece.signal.tolist() == list(range(5000))
    assert piece.value.tolist() == [n % 2 for n in range(5000)]
