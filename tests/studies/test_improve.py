"""Searching for rewrites: what is kept, what is rejected and why, budgets, and going on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from cyclescope._edits import Edit
from cyclescope._rewrites import Candidate, Claim, Measured, Rewrite
from cyclescope.errors import InputError
from cyclescope.studies import (
    Measurements,
    cost_table,
    fuzzed,
    improve,
    improvement_diff,
    kept_table,
    tried_table,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path


@dataclass
class Letters:
    """Programs of letters: small ones may become large; each letter has a price.

    A `B` saves 3 cycles, a `C` costs one, a `D` breaks the result, an `E` saves nothing by itself
    and 5 beside a `B`, an `F` saves 2 unless confirmed.
    """

    measured: list[bytes] = field(default_factory=list)
    stop_after: int = 99

    @property
    def rewrites(self) -> Sequence[Rewrite]:
        return (Rewrite("opening", "Opens.", opens=True), Rewrite("letters", "Enlarges."))

    def candidates(self, text: bytes) -> Sequence[Candidate]:
        found = []
        for at, letter in enumerate(text.decode()):
            name = "opening" if letter in "eg" else "letters"
            if letter.islower():
                edit = Edit(at, at + 1, letter.upper().encode())
                claim = Claim.DATA if letter == "b" else Claim.CONSTRUCTION
                found.append(Candidate(name, f"letter {letter}", 1, claim, "why", (edit,)))
        return found

    def measure(self, text: bytes) -> Measured:
        if len(self.measured) >= self.stop_after:
            raise KeyboardInterrupt
        self.measured.append(text)
        if b"D" in text:
            return Measured("memories differ: d is 1", 0)
        saved = 3 * (b"B" in text) - (b"C" in text) + 2 * (b"F" in text)
        saved += 5 * (b"B" in text and b"E" in text)
        return Measured("", 100 - saved)

    def confirm(self, text: bytes) -> str:
        return "F is not proved" if b"F" in text else ""

    def cost(self, text: bytes) -> Mapping[str, int]:
        return {"luts": sum(chr(c).isupper() for c in text)}

    def files(self) -> Mapping[str, bytes]:
        return {}

    def at(self, folder: Path) -> Letters:
        return self


def test_what_saves_is_kept_and_the_rest_is_rejected_with_a_reason() -> None:
    found = improve(Letters(), b"abcde", Measurements(None, ""))
    assert (found.text, found.before, found.after) == (b"aBcdE", 100, 92)
    why = {t.candidates[0].place: t.verdict for t in found.tried if len(t.candidates) == 1}
    assert why["letter c"] == "slower by 1"
    assert why["letter d"] == "memories differ: d is 1"
    assert why["letter a"] == "gains nothing"
    assert improvement_diff(found, "p").decode().splitlines()[-1].endswith("+aBcdE")


def test_a_batch_that_changes_no_cycle_is_not_tried_in_parts() -> None:
    subject = Letters()
    found = improve(subject, b"aaaaaaaa", Measurements(None, ""))
    assert (found.text, found.runs) == (b"aaaaaaaa", 2)


def test_what_opened_nothing_is_taken_out() -> None:
    assert improve(Letters(), b"bg", Measurements(None, "")).text == b"Bg"


def test_what_is_not_confirmed_is_taken_back() -> None:
    found = improve(Letters(), b"bf", Measurements(None, ""))
    assert b"F" not in found.text
    assert not found.doubts
    assert any(t.verdict == "F is not proved" for t in found.tried)


def test_a_budget_ends_the_search_with_the_best_so_far() -> None:
    found = improve(Letters(), b"bcdeg", Measurements(None, ""), budget=3)
    assert found.runs <= 3
    assert "budget of 3" in found.stopped


def test_a_batch_that_loses_as_much_as_before_is_not_tried_in_parts_again() -> None:
    class Late(Letters):
        @property
        def rewrites(self) -> Sequence[Rewrite]:
            return tuple(reversed(super().rewrites))

    subject = Late()
    improve(subject, b"ccg", Measurements(None, ""))
    assert {b"CCg", b"Ccg", b"ccG", b"CCG"} <= set(subject.measured)
    assert b"CcG" not in subject.measured


def test_of_rivals_the_one_that_gains_more_goes_first() -> None:
    class Rivals(Letters):
        """An `x` becomes either a `B` or an `F`, for which one gains more."""

        @property
        def rewrites(self) -> Sequence[Rewrite]:
            return Rewrite("less", "Gains 2."), Rewrite("more", "Gains 3.", rival="less")

        def candidates(self, text: bytes) -> Sequence[Candidate]:
            return [
                Candidate(name, "x", 1, Claim.CONSTRUCTION, "why", (Edit(at, at + 1, new),))
                for name, new in (("less", b"F"), ("more", b"B"))
                if (at := text.find(b"x")) >= 0
            ]

    found = improve(Rivals(), b"x", Measurements(None, ""))
    assert (found.text, found.after) == (b"B", 97)
    assert found.runs == 3


def test_an_interrupt_ends_the_search_with_the_best_so_far(tmp_path: Path) -> None:
    subject = Letters(stop_after=2)
    state = tmp_path / "state.json"
    found = improve(subject, b"ebd", Measurements(state, ""), workers=1)
    assert found.stopped == "interrupted"
    assert found.text == b"Ebd"
    again = Letters()
    whole = improve(again, b"ebd", Measurements(state, ""), workers=1)
    assert whole.text == b"EBd"
    assert whole.known == 2
    assert not set(again.measured) & set(subject.measured)


def test_an_interrupt_while_the_result_is_checked_loses_nothing() -> None:
    class Slow(Letters):
        def confirm(self, text: bytes) -> str:
            raise KeyboardInterrupt

    found = improve(Slow(), b"ebd", Measurements(None, ""))
    assert (found.text, found.stopped) == (b"EBd", "interrupted")


def test_a_state_of_other_data_is_not_used(tmp_path: Path) -> None:
    state = tmp_path / "state.json"
    improve(Letters(), b"b", Measurements(state, "one"))
    assert improve(Letters(), b"b", Measurements(state, "two")).known == 0
    state.write_text("[]")
    with pytest.raises(InputError, match="not the state"):
        Measurements(state, "one")


def test_tables_say_claims_and_costs() -> None:
    subject = Letters()
    found = improve(subject, b"abc", Measurements(None, ""))
    assert kept_table(found).rows[0][:5] == ("letters", 1, 97, 3, "checked on this data only")
    assert ("letters", 1, 97, "gains nothing") in [row[:4] for row in tried_table(found).rows]
    assert cost_table(subject, found).rows == (("*", "as it is", 100, 0), ("*", "letters", 97, 1))


def test_fuzzed_data_has_the_same_shape_and_range(tmp_path: Path) -> None:
    import json

    data = tmp_path / "d.json"
    shape = {"numeric_type": "bitnum", "is_signed": False, "width": 8}
    data.write_text(json.dumps({"m": {"data": [[3, 5], [9, 4]], "format": shape}}))
    one, two = (json.loads(p.read_text())["m"] for p in fuzzed(data, 2, tmp_path))
    assert one != two
    assert one["format"] == shape
    assert [len(row) for row in one["data"]] == [2, 2]
    assert all(3 <= word <= 9 for row in one["data"] for word in row)
