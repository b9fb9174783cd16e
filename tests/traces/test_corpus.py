"""The original's three recorded runs: its own pictures, from our reading of its files."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import pytest

from cyclescope.model import check_laws
from cyclescope.traces import import_petal
from traces.runs import CORPUS, MISSING, as_the_original, read_folded

if TYPE_CHECKING:
    from cyclescope.model import Profile

pytestmark = pytest.mark.skipif(not CORPUS.is_dir(), reason=MISSING)

CYCLES = {"tiny": 37, "gemm": 8_635, "pifo": 1_224_589}


@cache
def profile(name: str) -> Profile:
    return import_petal(CORPUS / name)


@pytest.mark.parametrize("name", CYCLES)
def test_every_cycle_of_the_run_is_there(name: str) -> None:
    result = profile(name)
    check_laws(result)
    assert result.cycles == CYCLES[name]
    assert result.meta.complete


@pytest.mark.parametrize("name", CYCLES)
@pytest.mark.parametrize("file", ["flamegraph.folded", "rust/flat-flame.folded"])
def test_flat_stacks_are_those_of_the_original(name: str, file: str) -> None:
    flat, _, _ = as_the_original(profile(name), CORPUS / name)
    assert flat == read_folded(CORPUS / name / file)


@pytest.mark.parametrize("name", CYCLES)
@pytest.mark.parametrize("file", ["py/scaled-flame.folded", "rust/scaled-flame.folded"])
def test_scaled_stacks_are_those_of_the_original_but_for_its_rounding(name: str, file: str) -> None:
    _, scaled, slack = as_the_original(profile(name), CORPUS / name)
    original = read_folded(CORPUS / name / file)
    assert scaled.keys() == original.keys()
    assert sum(scaled.values()) == CYCLES[name]
    for stack, share in scaled.items():
        assert abs(share - original[stack] / 1000) <= slack[stack] + 1e-4, stack
