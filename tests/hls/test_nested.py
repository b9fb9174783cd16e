"""Parallel regions inside the region: each has a team of one thread, as natively, and is told."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from cyclescope.hls import Host, compile_c, differences, interpret, measure

FOLDER = Path(__file__).parent / "nested"
WARNINGS = {"last_private": 1, "threads": 4, "teams": 1, "one_thread": 2}

pytestmark = pytest.mark.usefixtures("host_compiler")


@pytest.mark.long(keep_one_in=4)
@pytest.mark.parametrize("name", WARNINGS)
def test_a_nested_region_computes_what_it_does_natively(name: str) -> None:
    program = compile_c(FOLDER / f"{name}.c")
    assert len(program.warnings) == WARNINGS[name]
    for warning in program.warnings:
        assert "a parallel region inside the region has a team of one thread" in warning
    assert not program.undecided
    with Host(program) as host:
        for unmodified in (False, True):
            native = host.run(unmodified=unmodified)
            for shuffle in (None, random.Random(1), random.Random(2)):
                outputs = interpret(program.region, native.inputs, native.scalars, shuffle=shuffle)
                assert not differences(program, native.outputs, outputs)


@pytest.mark.long
def test_so_it_does_in_hardware() -> None:
    found = measure(compile_c(FOLDER / "threads.c"))
    assert all(not j.differing and not j.why_not for j in found.judgements)
