"""Edits of a text."""

from __future__ import annotations

import pytest

from cyclescope._edits import Edit, apply_edits, overlap
from cyclescope._rewrites import Candidate, Claim, apply_candidates, compatible


def test_edits_leave_the_rest_as_it_was() -> None:
    text = b"seq { a; b; } // kept"
    edits = [Edit(12, 12, b"c; "), Edit(0, 3, b"par"), Edit(12, 12, b"d; ")]
    assert apply_edits(text, edits) == b"par { a; b; c; d; } // kept"
    assert apply_edits(text, []) == text


def test_edits_that_overlap_or_lie_outside_are_refused() -> None:
    assert overlap([Edit(0, 4, b""), Edit(3, 5, b"")])
    assert not overlap([Edit(0, 4, b""), Edit(4, 5, b""), Edit(4, 4, b"x")])
    with pytest.raises(ValueError, match="overlap"):
        apply_edits(b"abcdef", [Edit(0, 4, b""), Edit(3, 5, b"")])
    with pytest.raises(ValueError, match="outside"):
        apply_edits(b"abc", [Edit(2, 4, b"")])


def test_a_piece_of_text_moves_to_one_place_alone() -> None:
    def moved(place: str, to: int) -> Candidate:
        edits = (Edit(2, 4, b""), Edit(to, to, b"cd"))
        return Candidate("move", place, 1, Claim.CONSTRUCTION, "", edits, frozenset({(2, 4)}))

    here, there = moved("here", 0), moved("there", 6)
    assert compatible([here, there]) == [here]
    assert apply_candidates(b"abcdef", [here]) == b"cdabef"
