"""Runs that are interrupted: reset in the middle, with the memory as it was at first, and again."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING
from unittest.mock import patch

from cyclescope.hls.run import _simulation
from cyclescope.hls.run._simulation import run_setup

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cyclescope.hls.run._simulation import HardwareRun, Setup
    from cyclescope.sim import Design

TIMES = 20
END = 2  # cycles in which the memory is looked at


def with_resets(setup: Setup, seed: int) -> tuple[HardwareRun, str]:
    """A run, and what is wrong with the last of those that follow many resets; empty if nothing is.

    Each reset takes one cycle and comes at a moment of its own. The run behind the last one must
    be as long as the other, and leave the same in the memory, with the same trace.
    """
    once = run_setup(setup, optimise="-O0")
    moments = random.Random(seed).choices(range(1, once.cycles - END), k=TIMES)
    plain = _simulation.prepare

    def prepare(*args: object, **options: object) -> Design:
        return _interrupted(plain(*args, **options), moments)  # type: ignore[arg-type]

    with patch.object(_simulation, "prepare", prepare):
        again = run_setup(setup, optimise="-O0")
    cycles = again.cycles - sum(moments) - 2 * TIMES  # what asks for it, and the reset
    if not (once.complete and again.complete):
        return once, f"no end: {once.stop_reason}; with resets: {again.stop_reason}"
    if cycles != once.cycles:
        return once, f"{cycles} cycles after a reset, not {once.cycles}"
    if again.arrays != once.arrays:
        return once, "other results after a reset"
    return once, "" if again.trace == once.trace else "another trace after a reset"


def _interrupted(design: Design, moments: Sequence[int]) -> Design:
    assert design.harness is not None
    cases = " ".join(f"{number}: now = clock == {moment};" for number, moment in enumerate(moments))
    bench = _replaced(
        design.harness.verilog,
        "  reg reset;\n",
        "  reg reset, now;\n  integer resets = 0;\n"
        f"  always @* case (resets) {cases} default: now = 0; endcase\n",
    )
    bench = _replaced(
        bench,
        "    if (reset) begin\n      started <= first;\n",
        "    if (go && !reset && now) begin\n"
        "      reset <= 1;\n      resets <= resets + 1;\n    end\n"
        "    if (reset) begin\n      started <= first;\n",
    )
    memory = _replaced(
        design.sources["dram.v"],
        "    if (reset) begin\n      now <= START;\n",
        "    if (reset) begin\n      $readmemh(name, lines);\n      now <= START;\n",
    )
    return replace(
        design,
        sources={**design.sources, "dram.v": memory},
        harness=replace(design.harness, verilog=bench),
    )


def _replaced(text: str, old: str, new: str) -> str:
    assert text.count(old) == 1
    return text.replace(old, new)
