"""C programs in simulated hardware against their native runs; all of them: benches/sweep_hls.py.

What a reset does not clear begins with random bits.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from cyclescope.errors import ToolError
from cyclescope.hls import Host, MemoryModel, compile_c, differences, interpret, machine_of
from cyclescope.hls.run._simulation import run_setup, set_up
from hls import generator
from hls.dirty import dirty

FOLDER = Path(__file__).parent / "programs"
# Threads (not a power of two among them), and what each is here for.
CHOSEN = {
    "preload_rows": 3,  # copies from and to any byte
    "double_buffer": 2,  # loops side by side on local arrays
    "nested_exits": 3,  # conditions that hold late
    "one_store": 1,
    "lock_variables": 4,  # locks that are set and unset by calls
    "distances": 2,  # intervals that are a share of a recurrence's length
    "sections": 3,  # threads that do different things
    "up_to_and_with": 2,  # loops to `<=`
    "ends_for_good": 3,  # conditions that hold again behind the end
    "conditional_last": 3,  # counters that are zero at first
}
WAYS = [(MemoryModel(), False), (MemoryModel(seed=5, stall=50), False), (MemoryModel(seed=6), True)]


@pytest.mark.long(keep_one_in=4)
@pytest.mark.parametrize("name", CHOSEN)
def test_a_program_computes_in_hardware_what_it_does_natively(name: str) -> None:
    program = compile_c(FOLDER / f"{name}.c", threads=CHOSEN[name])
    try:
        host = Host(program)
    except ToolError as error:
        pytest.skip(str(error))
    with host:
        native = host.run([], threads=program.region.threads)
    machine = dirty(machine_of(program))
    for memory, in_order in WAYS:
        run = run_setup(
            set_up(machine, native.inputs, native.scalars, memory=memory, in_order=in_order)
        )
        assert run.complete
        assert not differences(program, native.outputs, run.arrays)


@pytest.mark.long
@pytest.mark.parametrize("seed", [4])
def test_a_random_program_computes_in_hardware_what_its_graphs_say(seed: int) -> None:
    kernel = generator.generate(seed)
    threads = 1 + seed % 3
    program = compile_c(f"seed{seed}.c", text=generator.device_text(kernel, threads))
    arrays, given = generator.inputs(kernel, threads)
    arrays = generator.complete(program, arrays)
    scalars = generator.scalars_of(program, kernel, given, threads)
    want = interpret(program.region, arrays, scalars)
    machine = dirty(machine_of(program))
    for memory, in_order in WAYS[1:]:
        run = run_setup(set_up(machine, arrays, scalars, memory=memory, in_order=in_order))
        assert {name: run.arrays[name] for name in want} == want
