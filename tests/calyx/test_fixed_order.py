"""Equal programs give equal Verilog, whatever order the compiler's hash tables have."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAMS = Path(__file__).parent / "programs"
CODE = """
import hashlib, sys
from pathlib import Path
from cyclescope.calyx import compile_program
for instrument in (True, False):
    design = compile_program(Path(sys.argv[1]), instrument=instrument).design
    print(hashlib.sha256("".join(design.sources.values()).encode()).hexdigest())
"""


@pytest.mark.long
@pytest.mark.parametrize("program", ["ref_component", "internal_memories"])
def test_every_compilation_gives_the_same_text(program: str) -> None:
    command = [sys.executable, "-c", CODE, str(PROGRAMS / f"{program}.futil")]
    # A process has one order for its hash tables, so each compiles in one of its own.
    texts = {
        subprocess.run(command, capture_output=True, text=True, check=True).stdout for _ in range(4)
    }
    assert len(texts) == 1
