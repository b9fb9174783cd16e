"""Tables are right about a program: what is static, what could be, and what works."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from cyclescope.analyse import table
from cyclescope.calyx import CalyxOptions, profile_program
from cyclescope.model import Kind
from meaning import design_overhead

if TYPE_CHECKING:
    from pathlib import Path

    from cyclescope.model import Profile

HEAD = 'import "primitives/core.futil";\nimport "primitives/memories/comb.futil";\n'
# `count` takes as long as `limit` says: longer at its first place. `twice` is static by its own
# word, and so is a `par` in a `par`, which the compiler makes one.
STATIC = """static<2> component twice(x: 8) -> (y: 8) {
  cells { r = std_reg(8); s = std_reg(8); a = std_add(8); }
  wires {
    static<1> group p { a.left = x; a.right = x; r.in = a.out; r.write_en = 1'd1; }
    static<1> group q { s.in = r.out; s.write_en = 1'd1; }
    y = s.out;
  }
  control { static seq { p; q; } }
}
component main() -> () {
  cells {
    @external m = comb_mem_d1(8, 1, 1);
    n = std_reg(8); a = std_add(8); lt = std_lt(8); fin = std_eq(8); limit = std_reg(8);
    flag = std_reg(1); u = std_reg(8); v = std_reg(8); w = std_reg(8); t = twice();
  }
  wires {
    comb group less { lt.left = n.out; lt.right = 8'd40; }
    group four { limit.in = 8'd4; limit.write_en = 1'd1; four[done] = limit.done; }
    group count {
      a.left = n.out; a.right = 8'd1; n.in = a.out;
      fin.left = n.out; fin.right = limit.out;
      n.write_en = !fin.out ? 1'd1;
      flag.in = fin.out; flag.write_en = fin.out;
      count[done] = flag.done;
    }
    group nine { limit.in = 8'd9; limit.write_en = 1'd1; nine[done] = limit.done; }
    group step {
      a.left = n.out; a.right = 8'd6; n.in = a.out; n.write_en = 1'd1; step[done] = n.done;
    }
    static<1> group su { u.in = 8'd1; u.write_en = 1'd1; }
    static<2> group sv { v.in = 8'd1; v.write_en = %1 ? 1'd1; }
    static<3> group sw { w.in = 8'd1; w.write_en = %2 ? 1'd1; }
    group put { m.write_data = t.y; m.write_en = 1'd1; put[done] = m.done; }
  }
  control {
    seq {
      four; count;
      nine; count;
      while lt.out with less { step; }
      static par { su; static par { sv; static par { sw; static invoke t(x = n.out)(); } } }
      put;
    }
  }
}
"""
# No group and no control program: a counter that stops itself, alone and below another's group.
ALONE = """component upto(@go go: 1) -> (@done done: 1, y: 4) {
  cells { c = std_reg(4); a = std_add(4); l = std_lt(4); fin = std_reg(1); }
  wires {
    a.left = c.out; a.right = 4'd1;
    l.left = c.out; l.right = 4'd8;
    c.in = a.out; c.write_en = go & l.out ? 1'd1;
    fin.in = go & !l.out ? 1'd1; fin.write_en = go & !l.out ? 1'd1;
    done = fin.out;
    y = c.out;
  }
  control {}
}
"""
CALLS = """component main() -> () {
  cells { @external m = comb_mem_d1(8, 1, 1); u = upto(); pad = std_pad(4, 8); }
  wires {
    group put {
      pad.in = u.y; m.write_data = pad.out; m.write_en = 1'd1; put[done] = m.done;
    }
  }
  control { seq { invoke u()(); put; } }
}
"""


def profile(folder: Path, text: str, *disable: str, memory: bool = True) -> Profile:
    program, data = folder / "p.futil", folder / "p.json"
    program.write_text(HEAD + text)
    form = {"numeric_type": "bitnum", "is_signed": False, "width": 8}
    data.write_text(json.dumps({"m": {"data": [0], "format": form}}))
    options = CalyxOptions(disable=disable)
    return profile_program(program, data if memory else None, options).profile


def labels(run: Profile, kind: Kind) -> dict[str, str]:
    """Name without its line → `is`, `could be` or nothing."""
    found: dict[str, str] = {}
    for row in table(run, kind):
        said = "is" if row.frame.static else "could be" if row.could_be_static else ""
        name = row.frame.name.split(" L")[0]
        assert found.setdefault(name, said) == said, name
    return found


def test_what_is_static_what_could_be_and_what_neither(tmp_path: Path) -> None:
    run = profile(tmp_path, STATIC, "static-promotion")
    assert labels(run, Kind.CELL) == {"main": "", "t": "is"}
    assert labels(run, Kind.CONTROL) == {"seq": "", "while": "", "static par": "is"} | {
        "static seq": "is"
    }
    assert labels(run, Kind.GROUP) == {
        "four": "could be", "nine": "could be", "step": "could be", "put": "could be",
        "count": "", "less": "",
        **dict.fromkeys(("su", "sv", "sw", "invoke t", "p", "q"), "is"),
    }  # fmt: skip
    lengths = {row.frame.name: (row.shortest, row.longest) for row in table(run, Kind.GROUP)}
    (first, _), (second, _) = (v for name, v in lengths.items() if name.startswith("count"))
    assert first != second


def test_a_while_whose_round_was_promoted_is_not_static(tmp_path: Path) -> None:
    run = profile(tmp_path, STATIC)
    assert labels(run, Kind.CONTROL)["while"] == ""
    (row,) = (r for r in table(run, Kind.CONTROL) if r.frame.detail == "while")
    assert (row.times, row.frame.latency) == (1, None)
    for kind in (Kind.GROUP, Kind.CONTROL):
        for row in table(run, kind):
            assert row.frame.latency in (None, row.shortest)


def test_a_component_of_continuous_assignments_works(tmp_path: Path) -> None:
    run = profile(tmp_path, ALONE.replace("component upto", "component main"), memory=False)
    assert (design_overhead(run).useful, design_overhead(run).other) == (run.cycles, 0)
    assert labels(run, Kind.CELL) == {"main": ""}

    # The compiler's inference takes a component without control for one of no cycles.
    run = profile(tmp_path, ALONE + CALLS, "static-inference")
    rows = {row.instance: row for row in table(run, Kind.CELL)}
    cell = rows["main.u"]
    assert cell.account is not None
    assert (cell.account.useful, cell.account.total) == (cell.cycles, cell.cycles)
    assert cell.cycles > 8
    assert labels(run, Kind.CELL) == {"main": "", "u": ""}
    (below,) = (p for p in range(len(run.call_paths))
                if run.frame_of(p).name == "continuous assignments")  # fmt: skip
    assert run.instances[below] == "main.u"
