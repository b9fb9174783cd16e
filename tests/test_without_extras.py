"""Work without the extras, and the message of one that is missing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from cyclescope.model import save

from .views.switch import switch_profile

ROOT = Path(__file__).parents[1]

# Polars is not there, whoever asks for it.
WITHOUT = """
import sys
sys.modules["polars"] = None
import io
from cyclescope.cli import main
for words in {commands!r}:
    status = main(words)
    assert status == 0, (words, status)
"""


def test_every_table_and_export_is_made_without_polars(tmp_path: Path) -> None:
    pytest.importorskip("duckdb", reason="the extra `query` is not installed")
    save(switch_profile(), tmp_path / "p.cyc")
    commands = [["export", "p.cyc", "--format", "paraver"]]
    for form in ("parquet", "csv", "json"):
        commands.append(["table", "p.cyc", "groups", "--format", form, "-o", f"t.{form}"])
        commands += [
            ["export", "p.cyc", "--format", form, "--table", table, "-o", f"{table}.{form}"]
            for table in ("frames", "paths", "trees", "runs", "counters")
        ]
        commands.append(
            ["query", "p.cyc", "SELECT * FROM frames JOIN paths USING (frame) JOIN trees USING"
             " (path) JOIN runs USING (tree)", "--format", form, "-o", f"q.{form}"]
        )  # fmt: skip
    code = WITHOUT.format(commands=commands)
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "q.parquet").read_bytes().startswith(b"PAR1")


def test_a_frame_without_polars_says_what_to_install() -> None:
    code = (
        "import sys; sys.modules['polars'] = None\n"
        "import cyclescope\n"
        "from cyclescope.model import Frame, Kind, Meta, ProfileBuilder\n"
        "builder = ProfileBuilder()\n"
        "tree = builder.tree([builder.path(-1, Frame(Kind.CELL, 'main', ''))])\n"
        "profile = builder.build(Meta('calyx', 'one'), [3], [tree])\n"
        "try: profile.runs\n"
        "except cyclescope.CyclescopeError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == (
        "frames need Polars, which is not installed: pip install 'cyclescope[frames]'\n"
    )
