"""The packet scheduler at a small size: simulated, its pops are the software model's."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from cyclescope.analyse import design_overhead
from cyclescope.calyx import profile_program
from cyclescope.model import check_laws

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


def test_nested_ifs_are_a_tenth_to_a_fifth_faster_than_a_parallel_switch(tmp_path: Path) -> None:
    parallel, nested = (cycles_of(variant, tmp_path) for variant in ("par", "nested"))
    assert 0.80 <= nested / parallel <= 0.90


def test_the_check_notices_a_wrong_answer(tmp_path: Path) -> None:
    cycles_of("nested", tmp_path)
    memories = json.loads((tmp_path / "memories.json").read_text())
    memories["answers"]["data"][-1] ^= 1
    (tmp_path / "memories.json").write_text(json.dumps(memories))
    with pytest.raises(subprocess.CalledProcessError):
        script("check.py", tmp_path / "memories.json")
