"""The loop written by hand: on the tool's bench its sum is the native run's, in so many cycles."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

BENCHES = Path(__file__).parents[2] / "benches"


@pytest.mark.long
def test_the_sum_by_hand_is_right(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BENCHES))
    monkeypatch.delitem(sys.modules, "bench_by_hand", raising=False)
    from bench_by_hand import cycles, designs

    by_hand, tool, *_ = designs()
    # 64 lines of each array, two cycles to fetch a pair of them and 16 to add its products up.
    assert 64 * 18 < cycles(by_hand) < 64 * 18 + 100
    assert by_hand.simulated.sources.keys() == {"mac.v"}
    assert tool.simulated.sources.keys() > {"mac_region.v"}


@pytest.mark.long
def test_a_wrong_sum_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BENCHES))
    monkeypatch.delitem(sys.modules, "bench_by_hand", raising=False)
    from bench_by_hand import cycles, designs

    by_hand = designs()[0]
    text = by_hand.simulated.sources["mac.v"]
    wrong = text.replace("if (left == 1) state", "if (left == 2) state")
    assert wrong != text
    machine = replace(by_hand.simulated, sources={"mac.v": wrong})
    with pytest.raises(SystemExit, match="sum"):
        cycles(replace(by_hand, simulated=machine))
