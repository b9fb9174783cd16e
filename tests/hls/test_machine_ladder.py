"""The five matrix products of the paper: right, and each step faster than the one before."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

from cyclescope.errors import ToolError
from cyclescope.hls import Host, compile_c, measure

FOLDER = Path(__file__).parents[2] / "examples" / "hls" / "gemm"
VERSIONS = sorted(path.stem for path in FOLDER.glob("*.c"))
DIM = 64


@cache
def cycles(version: str) -> int:
    program = compile_c(FOLDER / f"{version}.c", defines={"DIM": str(DIM)})
    try:
        Host(program).close()
    except ToolError as error:
        pytest.skip(str(error))
    result = measure(program, cycle_limit=4_000_000)
    assert result.agrees, result.differing
    return result.run.cycles


@pytest.mark.long
def test_naive_takes_as_long_as_in_the_paper() -> None:
    assert 6.36 / 1.33 < cycles(VERSIONS[0]) / DIM**3 < 6.36 * 1.33


@pytest.mark.long
@pytest.mark.parametrize(("before", "after"), list(pairwise(VERSIONS)))
def test_each_step_is_faster(before: str, after: str) -> None:
    assert cycles(after) < cycles(before)


@pytest.mark.long
def test_all_steps_together_are_worth_what_they_are_in_the_paper() -> None:
    assert 19 / 1.5 < cycles(VERSIONS[0]) / cycles(VERSIONS[-1]) < 19 * 1.5
