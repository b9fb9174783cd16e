"""Random programs: the engine against the interpreter and a plain compilation; other writings."""

from __future__ import annotations

import pytest

from bounds.programs import STYLES, compared, figures


@pytest.mark.long(keep_one_in=9)
@pytest.mark.parametrize("seed", range(9))
def test_as_interpreted_and_compiled(seed: int) -> None:
    """In every style once: the same cycles and firings, however it is written."""
    one = compared(seed, plainly=True)
    other = compared(seed, list(STYLES.values())[seed])
    assert figures(one) == figures(other)
