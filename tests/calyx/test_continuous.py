"""Components that continuous assignments start, as written or as the compiler made them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from cyclescope.calyx import CalyxOptions, profile_program
from cyclescope.views import folded

if TYPE_CHECKING:
    from pathlib import Path

    from cyclescope.model import Profile

HEAD = 'import "primitives/core.futil";\nimport "primitives/memories/comb.futil";\n'
TICK = """component tick(x: 8) -> (y: 8) {
  cells { n = std_reg(8); a = std_add(8); }
  wires {
    y = n.out;
    group g { a.left = n.out; a.right = x; n.in = a.out; n.write_en = 1'd1; g[done] = n.done; }
  }
  control { g; }
}
"""
# A register switches a counter on and off.
SWITCHED = """component main() -> () {
  cells { @external m = comb_mem_d1(8, 1, 1); t = tick(); on = std_reg(1); }
  wires {
    t.x = 8'd2;
    t.go = on.out;
    group start { on.in = 1'd1; on.write_en = 1'd1; start[done] = on.done; }
    group stop { on.in = 1'd0; on.write_en = 1'd1; stop[done] = on.done; }
    group put { m.write_data = t.y; m.write_en = 1'd1; put[done] = m.done; }
  }
  control { seq { start; put; put; stop; put; } }
}
"""
# Of fixed length, `outer` is compiled to continuous assignments; one of them starts `t`.
NESTED = """component twice(x: 8) -> (y: 8) {
  cells { n = std_reg(8); a = std_add(8); r = std_reg(8); }
  wires {
    y = r.out;
    a.left = n.out;
    a.right = x;
    group first { n.in = a.out; n.write_en = 1'd1; first[done] = n.done; }
    group then { r.in = n.out; r.write_en = 1'd1; then[done] = r.done; }
  }
  control { seq { first; then; } }
}
component outer(x: 8) -> (y: 8) {
  cells { t = twice(); r = std_reg(8); }
  wires {
    y = r.out;
    group keep { r.in = t.y; r.write_en = 1'd1; keep[done] = r.done; }
  }
  control { seq { invoke t(x = x)(); keep; } }
}
component main() -> () {
  cells { @external m = comb_mem_d1(8, 1, 1); o = outer(); }
  wires { group put { m.write_data = o.y; m.write_en = 1'd1; put[done] = m.done; } }
  control { seq { invoke o(x = 8'd3)(); put; } }
}
"""


def profile(folder: Path, text: str, *disable: str) -> Profile:
    program, data = folder / "p.futil", folder / "p.json"
    program.write_text(HEAD + TICK + text)
    form = {"numeric_type": "bitnum", "is_signed": False, "width": 8}
    data.write_text(json.dumps({"m": {"data": [0], "format": form}}))
    return profile_program(program, data, CalyxOptions(disable=disable)).profile


@pytest.mark.parametrize("disable", [(), ("static-promotion",)], ids=["promoted", "as written"])
def test_a_cell_that_nobody_calls_runs_below_continuous_assignments(
    tmp_path: Path, disable: tuple[str, ...]
) -> None:
    lines = folded(profile(tmp_path, SWITCHED, *disable)).splitlines()
    [adds] = [line for line in lines if "a [std_add]" in line]
    assert adds.rsplit(" ", 1)[0] == "main;continuous assignments;t [tick];g;a [std_add]"


@pytest.mark.parametrize("disable", [(), ("static-promotion",)], ids=["promoted", "as written"])
def test_a_call_is_no_continuous_assignment_however_it_was_compiled(
    tmp_path: Path, disable: tuple[str, ...]
) -> None:
    found = profile(tmp_path, NESTED, *disable)
    assert "continuous assignments" not in {frame.name for frame in found.catalog}
    [first] = [line for line in folded(found).splitlines() if ";first;" in line]
    assert ";invoke t;t [twice];seq" in first
