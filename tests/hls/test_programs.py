"""Programs: the data-flow form computes what a native run of the same text computes."""

from __future__ import annotations

import random
from functools import cache
from pathlib import Path

import pytest

from cyclescope.errors import ToolError
from cyclescope.hls import Host, compile_c, differences, interpret

FOLDER = Path(__file__).parent / "programs"
EXAMPLES = Path(__file__).parents[2] / "examples" / "hls"
PROGRAMS = [*sorted(FOLDER.glob("*.c")), *sorted(EXAMPLES.glob("*/*.c"))]
SMALL = {"DIM": "16"}  # of the examples
ARGUMENTS = {"pi": ["960"]}
TEAMS = (1, 2, 3, 8)
CONFIGURED = {"unwritten_arrays"}
"""Programs that read what they have not written: zeros by the FPGA's configuration, not a reset."""


@cache
def has_openmp() -> str:
    """Say why native runs aren't possible here; empty if they are."""
    try:
        Host(compile_c(FOLDER / "one_store.c")).close()
    except ToolError as error:
        return str(error)
    return ""


@pytest.mark.long(keep_one_in=15)
@pytest.mark.parametrize("source", PROGRAMS, ids=lambda p: p.stem)
def test_a_program_computes_what_it_does_natively(source: Path) -> None:
    if why := has_openmp():
        pytest.skip(why)
    arguments = ARGUMENTS.get(source.stem, [])
    with Host(compile_c(source, defines=SMALL)) as host:
        for threads in TEAMS:
            program = compile_c(source, threads=threads, defines=SMALL)
            native = host.run(arguments, threads=program.region.threads)
            for shuffle in (None, random.Random(threads)):
                outputs = interpret(
                    program.region,
                    native.inputs,
                    native.scalars,
                    shuffle=shuffle,
                    cleared=source.stem in CONFIGURED,
                )
                assert not differences(program, native.outputs, outputs), threads
        stdout, status = host.replay(outputs, arguments)
        assert stdout.split()[:2] == native.stdout.split()[:2]
        assert status == native.status
        assert not program.warnings
