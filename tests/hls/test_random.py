"""Random programs: the data-flow form computes what the host's compiler says, in any order."""

from __future__ import annotations

import random
import shutil
import subprocess
from typing import TYPE_CHECKING

import numpy as np
import pytest

from cyclescope.errors import ToolError
from cyclescope.hls import MemoryModel, compile_c, interpret, machine_of
from cyclescope.hls.run._simulation import run_setup, set_up
from cyclescope.sim import find_compiler
from hls.dirty import dirty
from hls.generator import (
    ARRAYS,
    JOINED,
    OUTS,
    Kernel,
    complete,
    device_text,
    generate,
    inputs,
    native_text,
    scalars_of,
)

if TYPE_CHECKING:
    from pathlib import Path

    from cyclescope.hls import Machine
    from cyclescope.hls.trace._core import UnitOptions

FLAGS = ("-std=gnu11", "-O1", "-fopenmp", "-ffp-contract=off", "-fwrapv", "-w", "-x", "c")
FORMS = {
    "int32_t": "<i4", "uint64_t": "<u8", "float": "<f4", "int16_t": "<i2", "uint32_t": "<u4",
    "int64_t": "<i8",
}  # fmt: skip
RESULTS = {**OUTS, **JOINED}


def native(kernels: list[Kernel], threads: int, folder: Path) -> list[dict[str, bytes]]:
    """The outputs of kernels, run natively in one program."""
    gcc = shutil.which("gcc")  # which has OpenMP
    try:
        compiler = [gcc] if gcc else find_compiler().command
    except ToolError as error:
        pytest.skip(str(error))
    source = folder / "kernels.c"
    source.write_text(native_text(kernels, threads))
    command = [*compiler, *FLAGS, str(source), "-o", str(folder / "kernels"), "-lm"]
    subprocess.run(command, check=True)
    given = b""
    for kernel in kernels:
        arrays, scalars = inputs(kernel, threads)
        given += b"".join(data for name, data in arrays.items() if name in {**ARRAYS, **OUTS})
        given += scalars[0].to_bytes(4, "little") + scalars[1].to_bytes(8, "little")
    done = subprocess.run([folder / "kernels"], input=given, capture_output=True, check=True)
    found, position = [], 0
    for kernel in kernels:
        arrays, _ = inputs(kernel, threads)
        own = {}
        for name in RESULTS:
            size = len(arrays[name])
            own[name] = done.stdout[position : position + size]
            position += size
        found.append(own)
    return found


def same(kind: str, a: bytes, b: bytes) -> bool:
    """Return whether two arrays have the same contents, any NaN being as good as another."""
    x, y = np.frombuffer(a, FORMS[kind]), np.frombuffer(b, FORMS[kind])
    return a == b or bool(np.array_equal(x, y, equal_nan=True) and kind == "float")


def run(kernel: Kernel, threads: int, shuffle: random.Random | None) -> dict[str, bytes]:
    """The outputs of a kernel's data-flow form."""
    text = device_text(kernel, threads)
    program = compile_c(f"seed{kernel.seed}.c", text=text)
    arrays, scalars = inputs(kernel, threads)
    arrays = complete(program, arrays)
    given = scalars_of(program, kernel, scalars, threads)
    return {**arrays, **interpret(program.region, arrays, given, shuffle=shuffle)}


def hardware(
    kernel: Kernel, threads: int, unit: UnitOptions | None = None
) -> tuple[Machine, dict[str, bytes], list[int]]:
    """A kernel's hardware, with the arrays and scalars that it gets."""
    program = compile_c(f"seed{kernel.seed}.c", text=device_text(kernel, threads))
    arrays, scalars = inputs(kernel, threads)
    arrays = complete(program, arrays)
    machine = dirty(machine_of(program, unit=unit), kernel.seed)
    return machine, arrays, scalars_of(program, kernel, scalars, threads)


def in_hardware(kernel: Kernel, threads: int) -> dict[str, bytes]:
    """The outputs of a kernel's hardware, with a memory that stalls at random."""
    machine, arrays, scalars = hardware(kernel, threads)
    result = run_setup(
        set_up(
            machine,
            arrays,
            scalars,
            memory=MemoryModel(seed=kernel.seed + 1, stall=20),
            in_order=kernel.seed % 4 == 0,
            cycle_limit=10**6,
        ),
        optimise="-O0",
    )
    return {**arrays, **result.arrays}


def agrees(expected: dict[str, bytes], found: dict[str, bytes]) -> str:
    """The outputs that differ; empty if none does."""
    return ", ".join(n for n, kind in RESULTS.items() if not same(kind, expected[n], found[n]))


@pytest.mark.long
@pytest.mark.parametrize("first", range(0, 200, 50))
def test_a_random_program_computes_what_the_host_says(first: int, tmp_path: Path) -> None:
    threads = 1 + first // 50 % 3
    kernels = [generate(seed) for seed in range(first, first + 50)]
    wanted = native(kernels, threads, tmp_path)
    for kernel, expected in zip(kernels, wanted, strict=True):
        shuffle = random.Random(kernel.seed) if kernel.seed % 2 else None
        found = run(kernel, threads, shuffle)
        assert not agrees(expected, found), f"seed {kernel.seed}"


@pytest.mark.long(keep_one_in=4)
@pytest.mark.parametrize(("seed", "threads"), [(7, 2), (22, 3), (120, 1), (140, 5)])
def test_a_random_program_computes_the_same_in_hardware(
    seed: int, threads: int, tmp_path: Path
) -> None:
    kernel = generate(seed)
    (expected,) = native([kernel], threads, tmp_path)
    assert not agrees(expected, in_hardware(kernel, threads))
