"""Libraries that an address space has no place for."""

from __future__ import annotations

import pytest

from cyclescope import _address_space
from cyclescope.errors import ToolError


@pytest.mark.parametrize(
    ("limit", "suffices"),
    [(0, True), (1, False), ((700 << 20) - 1, False), (700 << 20, True), (1 << 40, True)],
)
def test_a_library_is_refused_where_the_address_space_is_smaller(
    monkeypatch: pytest.MonkeyPatch, limit: int, suffices: bool
) -> None:
    monkeypatch.setattr(_address_space, "address_space", lambda: limit)  # 0: there is no limit
    if suffices:
        _address_space.require_space("It", 700)
        return
    with pytest.raises(ToolError, match="It needs 700 MB; allow more"):
        _address_space.require_space("It", 700)
