"""The stack that deep programs need."""

from __future__ import annotations

import resource
from typing import TYPE_CHECKING

from cyclescope._stack import deep_recursion

if TYPE_CHECKING:
    import pytest


def test_the_stack_is_large_only_while_trees_are_walked(monkeypatch: pytest.MonkeyPatch) -> None:
    limits: list[tuple[int, int]] = []
    monkeypatch.setattr(resource, "setrlimit", lambda _, given: limits.append(given))
    for soft, hard, wanted in (
        (8 << 20, resource.RLIM_INFINITY, 96 << 20),
        (8 << 20, 64 << 20, 64 << 20),
        (8 << 20, 1 << 30, 96 << 20),
    ):
        monkeypatch.setattr(resource, "getrlimit", lambda _, s=soft, h=hard: (s, h))
        limits.clear()
        with deep_recursion():
            assert limits == [(wanted, hard)]
        assert limits == [(wanted, hard), (soft, hard)]
    for soft in (resource.RLIM_INFINITY, 200 << 20):
        monkeypatch.setattr(resource, "getrlimit", lambda _, s=soft: (s, resource.RLIM_INFINITY))
        limits.clear()
        with deep_recursion():
            assert not limits
