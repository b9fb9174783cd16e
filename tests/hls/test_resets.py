"""A reset in the middle of a run: the next one is as if there had been none before.

All programs: `benches/sweep_hls.py --reset`.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from cyclescope.errors import RunError, ToolError
from cyclescope.hls import (
    Host,
    Machine,
    MemoryModel,
    Native,
    Program,
    compile_c,
    differences,
    machine_of,
)
from cyclescope.hls.run._simulation import Setup, set_up
from cyclescope.hls.trace._core import UnitOptions
from hls.resets import with_resets

FOLDER = Path(__file__).parent / "programs"
# Threads, and what is under way when a reset comes: inner loops and copies; locks; schedules,
# atomics and what is zero at first.
CHOSEN = {"double_buffer": 3, "critical_sections": 4, "conditional_last": 3}


def prepared(name: str, threads: int) -> tuple[Program, Native, Machine]:
    program = compile_c(FOLDER / f"{name}.c", threads=threads)
    try:
        host = Host(program)
    except ToolError as error:
        pytest.skip(str(error))
    with host:
        native = host.run([], threads=threads)
    return program, native, machine_of(program, unit=UnitOptions(name, period=64))


def setup(native: Native, machine: Machine) -> Setup:
    memory = MemoryModel(seed=5, stall=50)
    return set_up(machine, native.inputs, native.scalars, memory=memory, cycle_limit=10**6)


@pytest.mark.long
@pytest.mark.parametrize("name", CHOSEN)
def test_after_a_reset_a_run_is_as_ever(name: str) -> None:
    program, native, machine = prepared(name, CHOSEN[name])
    run, wrong = with_resets(setup(native, machine), seed=1)
    assert not wrong
    assert not differences(program, native.outputs, run.arrays)


@pytest.mark.long
def test_what_a_reset_leaves_is_seen() -> None:
    _, native, machine = prepared("double_buffer", 3)
    # The answers that a bank still owes.
    line, without = (f"if (reset) bank2_tags_head <= {to};" for to in ("6'd0", "bank2_tags_head"))
    assert sum(line in text for text in machine.sources.values()) == 1
    sources = {name: text.replace(line, without) for name, text in machine.sources.items()}
    try:
        _, wrong = with_resets(setup(native, replace(machine, sources=sources)), seed=1)
    except RunError as error:
        wrong = str(error)
    assert wrong
