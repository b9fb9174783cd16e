"""The packet scheduler at a small size: simulated, its pops are the software model's."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from cyclescope.calyx import profile_program
from cyclescope.model import check_laws
from meaning import design_overhead

EXAMPLE = Path(__file__).parents[2] / "examples" / "calyx" / "packet_scheduler"


def script(name: str, *arguments: object) -> None:
    command = [sys.executable, "-B", str(EXAMPLE / name), *map(str, arguments)]
    subprocess.run(command, check=True, capture_output=True)


def cycles_of(variant: str, folder: Path) -> int:
    script("generate.py", "--variant", variant, "--commands", 300, "-o", folder)
    run = profile_program(folder / f"scheduler_{variant}.futil", folder / "scheduler.json")
    (folder / "memories.json").write_text(json.dumps(run.memories))
    script("check.py", folder / "memories.json")
    check_laws(run.profile)
    overhead = design_overhead(run.profile)
    assert overhead.useful + overhead.overhead == run.profile.cycles
    return run.profile.cycles


@pytest.mark.long
def test_every_rewrite_is_right_and_faster_than_the_one_before(tmp_path: Path) -> None:
    steps = ("par", "nested", "wired", "static", "merged")
    cycles = [cycles_of(variant, tmp_path) for variant in steps]
    assert cycles == sorted(cycles, reverse=True)
    # The paper's first step saves 17.7 % of its program, all steps together 46.9 %.
    assert 0.80 <= cycles[1] / cycles[0] <= 0.90
    assert cycles[-1] / cycles[0] <= 0.531


def test_the_check_notices_a_wrong_answer(tmp_path: Path) -> None:
    cycles_of("nested", tmp_path)
    memories = json.loads((tmp_path / "memories.json").read_text())
    memories["answers"]["data"][-1] ^= 1
    (tmp_path / "memories.json").write_text(json.dumps(memories))
    with pytest.raises(subprocess.CalledProcessError):
        script("check.py", tmp_path / "memories.json")
