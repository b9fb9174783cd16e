"""Advice on a program that is no example: an interpreter of four operations, in four versions."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from cyclescope.analyse import advise
from cyclescope.analyse.rules._facts import Facts
from cyclescope.calyx import CalyxOptions, profile_program
from cyclescope.model import Kind

if TYPE_CHECKING:
    from pathlib import Path

    from cyclescope.analyse import Advice
    from cyclescope.model import Profile

TEXT = """
import "primitives/core.futil";
import "primitives/memories/comb.futil";
import "primitives/binary_operators.futil";

component main() -> () {
  cells {
    @external code = comb_mem_d1(32, 16, 4);
    @external out = comb_mem_d1(32, 1, 1);
    i = std_reg(5);
    acc = std_reg(32);
    op = std_reg(32);
    go_on = std_reg(1);
    lt = std_lt(5);
    up = std_add(5);
    sum = std_add(32);
    m = std_mult_pipe(32);
    lsh = std_lsh(32);
    inv = std_not(32);
    e0 = std_eq(32);
    e1 = std_eq(32);
    e2 = std_eq(32);
    e3 = std_eq(32);
    cut = std_slice(5, 4);
  }
  wires {
    TEST
    group fetch {
      cut.in = i.out; code.addr0 = cut.out; op.in = code.read_data; op.write_en = 1'd1;
      fetch[done] = op.done;
    }
    group add {
      sum.left = acc.out; sum.right = 32'd7; acc.in = sum.out; acc.write_en = 1'd1;
      add[done] = acc.done;
    }
    group mul {
      m.left = acc.out; m.right = 32'd3; m.go = !m.done ? 1'd1;
      acc.in = m.out; acc.write_en = m.done;
      mul[done] = acc.done;
    }
    group neg {
      inv.in = acc.out; acc.in = inv.out; acc.write_en = 1'd1;
      neg[done] = acc.done;
    }
    group shl {
      lsh.left = acc.out; lsh.right = 32'd1; acc.in = lsh.out; acc.write_en = 1'd1;
      shl[done] = acc.done;
    }
    group clear { acc.in = 32'd1; acc.write_en = 1'd1; clear[done] = acc.done; }
    group next {
      up.left = i.out; up.right = 5'd1; i.in = up.out; i.write_en = 1'd1;
      next[done] = i.done;
    }
    group store {
      out.addr0 = 1'd0; out.write_data = acc.out; out.write_en = 1'd1;
      store[done] = out.done;
    }
    e0.left = op.out; e0.right = 32'd0;
    e1.left = op.out; e1.right = 32'd1;
    e2.left = op.out; e2.right = 32'd2;
    e3.left = op.out; e3.right = 32'd3;
  }
  control {
    CONTROL
  }
}
"""
SIDE_BY_SIDE = """par {
        if e0.out { add; }
        if e1.out { seq { mul; neg; } }
        if e2.out { shl; }
        if e3.out { clear; }
      }"""
NESTED = """if e0.out { add; } else {
      if e1.out { seq { mul; neg; } } else {
      if e2.out { shl; } else {
      if e3.out { clear; } } } }"""
ASKED = """comb group more { lt.left = i.out; lt.right = 5'd16; }"""
KEPT = """group test {
      lt.left = i.out; lt.right = 5'd16; go_on.in = lt.out; go_on.write_en = 1'd1;
      test[done] = go_on.done;
    }"""


def run(folder: Path, *, nested: bool = False, kept: bool = False, static: bool = True) -> Profile:
    switch = NESTED if nested else SIDE_BY_SIDE
    if kept:
        loop = f"seq {{ test; while go_on.out {{ seq {{ fetch; {switch} next; test; }} }} store; }}"
    else:
        loop = f"seq {{ while lt.out with more {{ seq {{ fetch; {switch} next; }} }} store; }}"
    program, data = folder / "interpreter.futil", folder / "interpreter.json"
    program.write_text(TEXT.replace("TEST", KEPT if kept else ASKED).replace("CONTROL", loop))
    form = {"numeric_type": "bitnum", "is_signed": False, "width": 32}
    code = [1, 2, 0, 3, 3, 1, 0, 2, 2, 1, 0, 0, 3, 1, 2, 1]
    memories = {"code": {"data": code, "format": form}, "out": {"data": [0], "format": form}}
    data.write_text(json.dumps(memories))
    options = CalyxOptions(disable=() if static else ("static-promotion",))
    return profile_program(program, data, options).profile


def said(profile: Profile) -> dict[str, Advice]:
    return {advice.rule.name: advice for advice in advise(profile)}


def test_dynamic_control_is_a_switch_first(tmp_path: Path) -> None:
    slow, fast = (run(tmp_path, nested=nested, static=False) for nested in (False, True))
    found = said(slow)
    assert next(iter(found)) == "par-switch"
    saved = slow.cycles - fast.cycles
    assert found["par-switch"].at_least <= saved <= found["par-switch"].at_most
    assert found["par-switch"].saving == pytest.approx(saved, rel=0.2)
    assert "par-switch" not in said(fast)


def test_static_control_has_no_switch_and_nothing_shared(tmp_path: Path) -> None:
    """Its arms take as long as the longest whichever runs: nested ifs would be no shorter."""
    slow, same = run(tmp_path), run(tmp_path, nested=True)
    assert slow.cycles == same.cycles
    assert list(said(slow)) == list(said(same)) == ["while-with"]
    fast = run(tmp_path, nested=True, kept=True)
    saved = slow.cycles - fast.cycles
    assert saved > 0
    advice = said(slow)["while-with"]
    assert advice.at_least <= saved <= advice.at_most
    assert advice.saving == pytest.approx(saved, rel=0.2)
    assert not advise(fast)


def test_what_a_condition_shows_is_read(tmp_path: Path) -> None:
    facts = Facts(run(tmp_path, nested=True))
    blocks = {facts.of(p).detail: p for p in range(len(facts.parent)) if facts.of(p).detail == "if"}
    uses = facts.dependences.of(facts, blocks["if"])
    assert uses is not None
    assert {"e3", "op"} <= uses.read  # the innermost: of `e3`, and what drives it
    (group,) = (
        p for p in range(len(facts.parent))
        if facts.of(p).kind is Kind.GROUP and facts.of(p).name == "fetch"
    )  # fmt: skip
    fetch = facts.dependences.of(facts, group)
    assert fetch is not None
    assert fetch.conflicts(uses)
