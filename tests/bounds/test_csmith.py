"""A few of csmith's programs; many by `csmith.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bounds.csmith import missing, plain, whole

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing() or "csmith is here")


def test_with_pointers_as_compiled(tmp_path: Path) -> None:
    assert whole(9, tmp_path) > 0


@pytest.mark.parametrize("seed", range(3))
def test_without_pointers_as_interpreted(seed: int, tmp_path: Path) -> None:
    plain(seed, tmp_path)
