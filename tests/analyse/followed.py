"""Programs outside the examples, each with what advice says of it done by hand.

`PROGRAMS` is the table; `benches/bench_advice.py` runs all of it and prints it, the tests run
parts. A program is a C file, or a Calyx one, in `programs/`. With a macro (or in a second file) the
finding is followed; with REWRITTEN (or in a third file) it says the same in other words: `while`
for `for`, other names, subscripts in variables.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

__all__ = ["FOLDER", "HLS", "Case"]

FOLDER = Path(__file__).parent / "programs"


class Case(NamedTuple):
    """A finding on a program, and how it is followed.

    Attributes:
        rule: its name.
        program: the file's, without its suffix.
        change: the macro with which the finding is followed, `NAME` or `NAME=value`.
        define: further macros, of the program in any case.
        start_cost: cycles that the host needs for each thread.
    """

    rule: str
    program: str
    change: str
    define: tuple[str, ...] = ()
    start_cost: int = 1


def _kinds(rule: str, program: str, change: str, kinds: int, start_cost: int = 1) -> list[Case]:
    return [Case(rule, program, change, (f"KIND={k}",), start_cost) for k in range(1, kinds + 1)]


HLS = (
    *(Case("narrow-loads", p, "VECTOR") for p in ("nearest", "matvec", "taps", "pairs")),
    *(Case("blocking", p, "LOCAL") for p in ("nearest", "matvec", "pairs", "distances")),
    *(Case("critical-section", p, "PRIVATE") for p in ("energy", "bins", "largest", "counts")),
    *_kinds("double-buffering", "blocks", "BUFFERS", 3),
    Case("double-buffering", "blocks_copied", "BUFFERS"),
    *_kinds("imbalance", "shares", "CYCLIC", 4),
    *_kinds("thread-start", "starts", "THREADS=2", 4, 2500),
)
