"""Texts that a profile carries: the program's, its generator's, and nobody else's."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from cyclescope.analyse import at_level, line_cycles
from cyclescope.calyx import CalyxOptions, profile_program
from cyclescope.calyx._sources import source_texts
from cyclescope.calyx._text import read_program
from cyclescope.model import Kind, Profile, check_laws, scaled_weights

if TYPE_CHECKING:
    from pathlib import Path

PROGRAM = """\
import "primitives/core.futil";
component main() -> () {
  cells { r = std_reg(8); s = std_reg(8); }
  wires {
    group one { r.in = 8'd1; r.write_en = 1'd1; one[done] = r.done; }
    group two { s.in = 8'd2; s.write_en = 1'd1; two[done] = s.done; }
    group three { r.in = 8'd3; r.write_en = 1'd1; three[done] = r.done; }
  }
  control { @pos{0} seq { @pos{1} one; @pos{1} two; three; } }
}
sourceinfo #{
FILES
  0: HERE
POSITIONS
  0: 0 1
  1: 0 2
}#
"""


def folder(tmp_path: Path, named: str) -> Path:
    inside = tmp_path / "project"
    inside.mkdir()
    program = inside / "p.futil"
    program.write_text(PROGRAM.replace("HERE", named))
    return program


def profile(program: Path, **options: bool) -> Profile:
    chosen = CalyxOptions(disable=("static-promotion",), **options)
    return profile_program(program, None, chosen).profile


def test_a_generated_program_at_its_generators_level(tmp_path: Path) -> None:
    program = folder(tmp_path, "gen/kernel.fuse")
    (program.parent / "gen").mkdir()
    text = "let a = 1;\nlet b = 1; let c = 2;\n"
    (program.parent / "gen" / "kernel.fuse").write_text(text)
    found = profile(program)
    assert found.sources == {"p.futil": program.read_text(), "gen/kernel.fuse": text}
    seen = at_level(found, "dahlia")
    check_laws(seen)
    assert sum(scaled_weights(seen)) == found.cycles
    names = {f.name: f.generated for f in seen.catalog if f.kind in (Kind.CONTROL, Kind.GROUP)}
    assert names == {
        "seq kernel.fuse:1 let a = 1;": False,
        "kernel.fuse:2 let b = 1; let c = 2;": False,
        "three": True,
    }
    lines = {line.line: line for line in line_cycles(found, "dahlia")}
    assert lines[2].cycles == 2
    assert lines[2].text == "let b = 1; let c = 2;"
    assert sum(line.own for line in lines.values()) == found.cycles


def test_without_sources_there_are_none(tmp_path: Path) -> None:
    assert profile(folder(tmp_path, "kernel.fuse"), embed=False).sources == {}


@pytest.mark.parametrize(
    "named", ["../secret.py", "SECRET", "secret.txt", "link.py", "folder.py", "none.py", "large.py"]
)
def test_files_elsewhere_are_not_carried(tmp_path: Path, named: str) -> None:
    secret = tmp_path / "secret.py"
    secret.write_text("password = 1\n")
    program = folder(tmp_path, str(secret) if named == "SECRET" else named)
    inside = program.parent
    (inside / "secret.txt").write_text("password = 1\n")
    (inside / "link.py").symlink_to(secret)
    (inside / "folder.py").mkdir()
    (inside / "large.py").write_text("#" * (5 << 20))
    texts = source_texts(program, read_program(program).values())
    assert list(texts) == ["p.futil"]


def test_what_is_no_text_is_left_out(tmp_path: Path) -> None:
    program = folder(tmp_path, "kernel.fuse")
    (program.parent / "kernel.fuse").write_bytes(b"\xff\xfe\x00")
    assert list(source_texts(program, read_program(program).values())) == ["p.futil"]
