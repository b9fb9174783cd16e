"""A program as today's generators print it: profiled by 0.7.1, seen at every source level."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope.calyx import profile_program
from cyclescope.model import Kind

if TYPE_CHECKING:
    from pathlib import Path

PROGRAM = """\
import "primitives/core.futil";
component main<"pos"={0}>() -> () {
  cells { @pos{1} r = std_reg(8); @pos{1} s = std_reg(8); lt = std_lt(8); add = std_add(8); }
  wires {
    group set<"pos"={2}> { r.in = 8'd1; r.write_en = 1'd1; set[done] = r.done; }
    group grow<"promotable"=1, "pos"={3}> {
      add.left = r.out; add.right = 8'd3; r.in = add.out; r.write_en = 1'd1; grow[done] = r.done;
    }
    comb group small<"pos"={4}> { lt.left = r.out; lt.right = 8'd9; }
  }
  control {
    @pos{5} seq {
      @pos{6} set;
      @pos{7, 9} while lt.out with small { @pos{8} grow; }
    }
  }
}
sourceinfo #{
FILES
  0: gen.py
  1: kernel.fuse
POSITIONS
  0: 0 1
  2: 0 12
  3: 0 13
  4: 0 14
  5: 0 20
  6: 0 21
  7: 0 22
  8: 0 23
  9: 1 5
}#
"""


def test_positions_of_all_levels_reach_the_frames(tmp_path: Path) -> None:
    path = tmp_path / "gen.futil"
    path.write_text(PROGRAM)
    profile = profile_program(path, None).profile
    found = {
        frame.name: [str(p) for p in frame.positions]
        for frame in profile.catalog
        if frame.kind in (Kind.CONTROL, Kind.GROUP)
    }
    assert found == {
        "seq L12": ["gen.futil:12", "gen.py:20"],
        "set": ["gen.futil:13", "gen.py:21"],
        "while L14": ["gen.futil:14", "gen.py:22", "kernel.fuse:5"],
        "small": ["gen.futil:14", "gen.py:22", "kernel.fuse:5"],
        "grow": ["gen.futil:14", "gen.py:23"],
    }
    levels = {p.level for frame in profile.catalog for p in frame.positions}
    assert levels == {"calyx", "calyx-py", "dahlia"}


def test_the_same_program_without_positions_takes_the_same_cycles(tmp_path: Path) -> None:
    from cyclescope.calyx._text import read_program

    path, plain = tmp_path / "with.futil", tmp_path / "without.futil"
    path.write_text(PROGRAM)
    plain.write_bytes(read_program(path)[path].clean)
    profiles = [profile_program(p, None).profile for p in (path, plain)]
    assert profiles[0].cycles == profiles[1].cycles
    assert profiles[0].schedule == profiles[1].schedule
