"""A loop that runs is active in every cycle of it, whatever the compiler made to count for it."""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING

import pytest

from cyclescope.calyx import CalyxOptions, profile_program, verify_program
from cyclescope.errors import DataError
from cyclescope.model import Kind, Profile

if TYPE_CHECKING:
    from pathlib import Path

PROGRAM = """import "primitives/core.futil";
import "primitives/memories/comb.futil";
component main() -> () {
  cells {
    @external out = comb_mem_d1(8, 1, 1);
    i = std_reg(2); lt = std_lt(2); step = std_add(2);
    a = std_reg(8); inc = std_add(8); b = std_reg(8);
  }
  wires {
    comb group more { lt.left = i.out; lt.right = 2'd2; }
    group clear { i.in = 2'd0; i.write_en = 1'd1; clear[done] = i.done; }
    group next { step.left = i.out; step.right = 2'd1; i.in = step.out; i.write_en = 1'd1;
      next[done] = i.done; }
    group add { inc.left = a.out; inc.right = 8'd1; a.in = inc.out; a.write_en = 1'd1;
      add[done] = a.done; }
    group copy { b.in = a.out; b.write_en = 1'd1; copy[done] = b.done; }
    group put { out.addr0 = 1'd0; out.write_data = b.out; out.write_en = 1'd1;
      put[done] = out.done; }
  }
  control {
    seq {
      repeat 3 {
        repeat 2 {
          seq {
            add;
            copy;
            clear;
            while lt.out with more { next; }
          }
        }
      }
      put;
    }
  }
}
"""
DATA = {"out": {"data": [0], "format": {"numeric_type": "bitnum", "is_signed": False, "width": 8}}}
NO_OPTIMISATION = (
    *("validate", "compile-sync", "simplify-with-control", "compile-invoke"),
    *("compile-repeat", "collapse-control", "compile", "lower"),
)
OPTIONS = {
    "default": CalyxOptions(),
    "no promotion": CalyxOptions(disable=("static-promotion",)),
    "no optimisation": CalyxOptions(passes=NO_OPTIMISATION),
}


def cycles_by_name(profile: Profile) -> dict[str, list[int]]:
    """Frame name → the cycles in which it was active."""
    found: dict[str, set[int]] = {}
    start = 0
    for cycles, tree in zip(profile.schedule.cycles, profile.schedule.tree, strict=True):
        for path in profile.forest[tree].tolist():
            if profile.frame_of(path).kind in (Kind.CONTROL, Kind.GROUP):
                now = range(start, start + int(cycles))
                found.setdefault(profile.frame_of(path).name, set()).update(now)
        start += int(cycles)
    return {name: sorted(cycles) for name, cycles in found.items()}


@pytest.mark.long(keep_one_in=3)
@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS.keys())
def test_a_counted_loop_has_no_gaps(tmp_path: Path, options: CalyxOptions) -> None:
    program, data = tmp_path / "p.futil", tmp_path / "d.json"
    program.write_text(PROGRAM, "utf-8")
    data.write_text(json.dumps(DATA), "utf-8")
    assert verify_program(program, data, options).holds
    run = profile_program(program, data, options)
    assert run.memories["out"]["data"] == [6]
    active = cycles_by_name(run.profile)
    first, last = active["add"][0], active["next"][-1]
    assert len(active["add"]) == 6
    assert set(range(first, last + 1)) <= set(active["repeat L22"])
    inner = active["repeat L23"]
    pauses = sum(after - before > 1 for before, after in itertools.pairwise(inner))
    assert pauses == 2  # while the outer loop counts
    assert set(inner) < set(active["repeat L22"]) < set(active["seq L21"])
    # A step between two statements of the inner seq belongs to it, promoted in part or not.
    steps = set(active["seq L24"])
    for one, other in itertools.pairwise(active["add"]):
        after_last = max(c for c in active["while L28"] if c < other)
        assert set(range(one, after_last + 1)) <= steps


@pytest.mark.long(keep_one_in=3)
@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS.keys())
def test_a_repeat_that_is_all_of_the_control_counts_outside_its_body(
    tmp_path: Path, options: CalyxOptions
) -> None:
    program, data = tmp_path / "p.futil", tmp_path / "d.json"
    text, rest = PROGRAM.split("    seq {\n      repeat 3 {")
    body = "{\n clear;\n while lt.out with more {\n add; copy; next; } put; }"
    program.write_text(f"{text}    repeat 3 {body}\n  }}\n}}\n", "utf-8")
    assert rest
    data.write_text(json.dumps(DATA), "utf-8")
    run = profile_program(program, data, options)
    assert run.memories["out"]["data"] == [6]
    active = cycles_by_name(run.profile)
    inner = active["seq L22"]
    assert active["repeat L21"] == list(range(run.profile.cycles))
    # To set the counter up, and to move it on after each of three iterations.
    counting = sorted(set(active["repeat L21"]) - set(inner))
    assert len(counting) >= 4
    assert counting[-1] > active["put"][-1]
    assert counting[0] < active["clear"][0]


@pytest.mark.parametrize("given", [True, False], ids=["data", "no data"])
def test_a_pass_that_takes_the_memories_away_is_named(tmp_path: Path, *, given: bool) -> None:
    program, data = tmp_path / "p.futil", tmp_path / "d.json"
    program.write_text(PROGRAM, "utf-8")
    data.write_text(json.dumps(DATA), "utf-8")
    for work in (profile_program, verify_program):
        with pytest.raises(DataError, match=r"p\.futil: .*`externalize`.*-d externalize"):
            work(program, data if given else None, CalyxOptions(passes=("external",)))
    options = CalyxOptions(passes=("external",), disable=("externalize",))
    assert profile_program(program, data, options).memories["out"]["data"] == [6]


def test_a_cell_that_the_compiler_removed_is_not_shown_as_running(tmp_path: Path) -> None:
    program = tmp_path / "unseen.futil"
    program.write_text(
        """\
import "primitives/core.futil";
component unseen() -> () {
  cells { r = std_reg(4); }
  wires { group set { r.in = 4'd1; r.write_en = 1'd1; set[done] = r.done; } }
  control { seq { set; set; } }
}
component main() -> () {
  cells { u = unseen(); r = std_reg(4); }
  wires {
    group call { u.go = 1'd1; call[done] = u.done; }
    group keep { r.in = 4'd1; r.write_en = 1'd1; keep[done] = r.done; }
  }
  control { seq { call; keep; } }
}
"""
    )
    promoted = profile_program(program, None).profile
    assert not [f for f in promoted.catalog if f.kind is Kind.CELL and f.name == "u"]
    options = CalyxOptions(disable=("static-promotion",))
    stepwise = profile_program(program, None, options).profile
    assert [f.detail for f in stepwise.catalog if f.name == "u"] == ["unseen"]


def test_a_program_without_groups_has_a_profile(tmp_path: Path) -> None:
    program = tmp_path / "bare.futil"
    program.write_text(
        """\
import "primitives/core.futil";
component main() -> () {
  cells { r = std_reg(1); }
  wires { r.in = 1'd1; r.write_en = 1'd1; done = r.done; }
  control {}
}
"""
    )
    profile = profile_program(program, None).profile
    assert profile.cycles == verify_program(program, None).stock_cycles == 1
    assert [f.name for f in profile.catalog] == ["main", "continuous assignments"]
