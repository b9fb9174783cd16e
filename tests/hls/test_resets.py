"""A reset in the middle of a run: the next one is as if there had been none before.

All programs: `benches/sweep_hls.py --reset`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from cyclescope.errors import RunError
from cyclescope.hls import MemoryModel, differences
from cyclescope.hls.run._simulation import Setup, set_up
from cyclescope.hls.trace._core import UnitOptions
from hls.resets import with_resets
from hls.test_profiled import compiled, machine

if TYPE_CHECKING:
    from cyclescope.hls import Machine

# What is under way when a reset comes: inner loops and copies; locks; schedules, atomics and what
# is zero at first.
CHOSEN = ("double_buffer", "critical_sections", "conditional_last")
UNIT = UnitOptions("", period=64)


def setup(name: str, on: Machine) -> Setup:
    _, native = compiled(name)
    memory = MemoryModel(seed=5, stall=50)
    return set_up(on, native.inputs, native.scalars, memory=memory, cycle_limit=10**6)


@pytest.mark.long
@pytest.mark.parametrize("name", CHOSEN)
def test_after_a_reset_a_run_is_as_ever(name: str) -> None:
    program, native = compiled(name)
    run, wrong = with_resets(setup(name, machine(name, UNIT)), seed=1)
    assert not wrong
    assert not differences(program, native.outputs, run.arrays)


@pytest.mark.long
def test_what_a_reset_leaves_is_seen() -> None:
    name = CHOSEN[0]
    on = machine(name, UNIT)
    # The answers that a bank still owes.
    line, without = (f"if (reset) bank2_tags_head <= {to};" for to in ("6'd0", "bank2_tags_head"))
    assert sum(line in text for text in on.sources.values()) == 1
    sources = {file: text.replace(line, without) for file, text in on.sources.items()}
    try:
        _, wrong = with_resets(setup(name, replace(on, sources=sources)), seed=1)
    except RunError as error:
        wrong = str(error)
    assert wrong
