"""Names made safe, and numbers as text."""

from __future__ import annotations

import unicodedata
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cyclescope.views._text import (
    clip,
    cycles_text,
    duration,
    markdown_cell,
    nanoseconds,
    percent,
    spreadsheet_cell,
    visible,
    width_of,
)


@given(st.text(st.characters(codec=None)))
def test_visible_text_is_one_line_that_any_encoding_and_terminal_takes(text: str) -> None:
    shown = visible(text, also=";")
    shown.encode("utf-8")
    assert len(shown.splitlines()) <= 1
    assert ";" not in shown
    assert not any(unicodedata.category(c) in ("Cc", "Cf", "Cs", "Cn", "Co") for c in shown)


@given(st.text(st.characters(min_codepoint=32, max_codepoint=126)))
def test_plain_text_stays_as_it_is(text: str) -> None:
    assert visible(text) == text


def test_escapes_say_which_character_it_was() -> None:
    assert visible("\xff\x80\uffff") == "\xff\\x80\\uffff"
    assert visible("a\x1b[0m\u202e\U000e0001\ud800é漢") == ("a\\x1b[0m\\u202e\\U000e0001\\ud800é漢")


@given(st.text())
def test_no_spreadsheet_cell_is_a_formula(text: str) -> None:
    assert not spreadsheet_cell(text).strip().startswith(("=", "+", "-", "@"))


@pytest.mark.parametrize("text", ["=1+2", " =1", "+1", "-1", "@x", "\t=1"])
def test_formulas_get_a_quote_and_lose_nothing(text: str) -> None:
    assert spreadsheet_cell(text).lstrip("'") == visible(text)


def test_markdown_cells_hold_no_markup() -> None:
    assert markdown_cell("a|b *c* <i>`x`") == "a\\|b \\*c\\* \\<i\\>\\`x\\`"


@given(st.text(), st.integers(1, 30))
def test_clipped_text_fits(text: str, columns: int) -> None:
    shown = visible(text)
    short = clip(shown, columns)
    assert width_of(short) <= columns
    assert short == shown or short.endswith("…")


@pytest.mark.parametrize(
    ("share", "expected"),
    [
        (Fraction(0), "0.0 %"),
        (Fraction(1), "100.0 %"),
        (Fraction(1, 3), "33.3 %"),
        (Fraction(2, 3), "66.7 %"),
        (Fraction(1, 10**9), "<0.1 %"),
        (1 - Fraction(1, 10**9), ">99.9 %"),
        (Fraction(5, 10_000), "0.1 %"),
        (Fraction(3245, 1000), "324.5 %"),
        (Fraction(-3, 1000), "-0.3 %"),
        (Fraction(-1000, 5807), "-17.2 %"),
    ],
)
def test_percentages_do_not_lie_at_the_ends(share: Fraction, expected: str) -> None:
    assert percent(share) == expected


def test_exact_numbers_in_words() -> None:
    assert cycles_text(Fraction(13, 3)) == "4 1/3"
    assert cycles_text(Fraction(1, 3)) == "1/3"
    assert cycles_text(1_489_329) == "1,489,329"
    assert nanoseconds(3333) == "3.333 ns"
    assert nanoseconds(4_000_000) == "4,000 ns"


@pytest.mark.parametrize(
    ("picoseconds", "expected"),
    [
        (0, "0 ps"),
        (999, "999 ps"),
        (3333, "3.333 ns"),
        (5000, "5 ns"),
        (20_284, "20.28 ns"),
        (999_949, "999.9 ns"),
        (999_950, "1 µs"),
        (4_966_912, "4.967 µs"),
        (14_484_684_485, "14.48 ms"),
        (1_000_000_000_000, "1 s"),
        (12_345_600_000_000_000, "12,346 s"),
    ],
)
def test_a_time_has_four_digits(picoseconds: int, expected: str) -> None:
    assert duration(picoseconds) == expected
