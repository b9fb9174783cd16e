"""Random programs: the engine against the interpreter and a plain compilation; two writings."""

from __future__ import annotations

import pytest

from bounds.programs import OTHER, compared


@pytest.mark.parametrize("seed", range(12))
def test_as_interpreted_and_compiled(seed: int) -> None:
    one, other = compared(seed, plainly=True), compared(seed, OTHER)
    assert (one.absolute.cycles, one.unbounded.cycles, one.firings) == (
        other.absolute.cycles, other.unbounded.cycles, other.firings,
    )  # fmt: skip
