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
        define: the macro with which the finding is followed, `NAME` or `NAME=value`.
        start_cost: cycles that the host needs for each thread.
    """

    rule: str
    program: str
    define: str
    start_cost: int = 1


HLS = (
    *(Case("narrow-loads", p, "VECTOR") for p in ("nearest", "matvec", "taps", "pairs")),
    *(Case("blocking", p, "LOCAL") for p in ("nearest", "matvec", "taps", "pairs")),
    *(Case("critical-section", p, "PRIVATE") for p in ("nearest", "energy", "bins", "largest")),
    *(Case("double-buffering", f"blocks_{p}", "BUFFERS")
      for p in ("sum", "scaled", "largest", "copied")),
    *(Case("imbalance", f"shares_{p}", "CYCLIC")
      for p in ("triangle", "falling", "last", "squares")),
    *(Case("thread-start", f"starts_{p}", "THREADS=2", 2500)
      for p in ("squares", "bits", "remainders", "zero")),
)  # fmt: skip
