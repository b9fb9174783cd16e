"""Calyx programs improved: what depends on timing is rejected for its memories."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from calyx.generator import generate
from calyx.random_rewrites import check, rewritten, wrong
from cyclescope._rewrites import apply_candidates
from cyclescope.analyse import fixed_lengths, table
from cyclescope.calyx import CalyxOptions, profile_program
from cyclescope.calyx.rewrites import REWRITES
from cyclescope.model import Kind
from cyclescope.studies import Measurements, improve, subject_of

if TYPE_CHECKING:
    from pathlib import Path

# One arm writes 1 after its condition was asked, the other 2 after a cycle: the later one stays.
# The order changes once the condition takes no cycle of its own.
TWO_WRITERS = """\
import "primitives/core.futil";
import "primitives/memories/comb.futil";
component main() -> () {
  cells {
    @external m = comb_mem_d1(8, 1, 1);
    a = std_reg(8); b = std_reg(8); eq = std_eq(8);
  }
  wires {
    comb group test { eq.left = b.out; eq.right = 8'd0; }
    group one { a.in = 8'd1; a.write_en = 1'd1; one[done] = a.done; }
    group two { a.in = 8'd2; a.write_en = 1'd1; two[done] = a.done; }
    group keep { b.in = 8'd0; b.write_en = 1'd1; keep[done] = b.done; }
    group out { m.addr0 = 1'd0; m.write_data = a.out; m.write_en = 1'd1; out[done] = m.done; }
  }
  control {
    seq { par { if eq.out with test { one; } seq { keep; two; } } out; }
  }
}
"""


@pytest.mark.long
def test_two_writers_whose_order_a_rewrite_changes_are_rejected(tmp_path: Path) -> None:
    program, data = tmp_path / "writers.futil", tmp_path / "writers.json"
    program.write_text(TWO_WRITERS)
    shape = {"numeric_type": "bitnum", "is_signed": False, "width": 8}
    data.write_text(json.dumps({"m": {"data": [0], "format": shape}}))
    subject = subject_of(program, [data], {})
    found = improve(
        subject, program.read_bytes(), Measurements(None, ""), only=["continuous-condition"]
    )
    assert found.text == TWO_WRITERS.encode()
    (tried,) = found.tried
    assert tried.verdict.startswith("memories differ: m[0] is 2, the original 1")


@pytest.mark.long
@pytest.mark.parametrize("seed", range(2))
def test_rewrites_by_construction_keep_the_memories_of_random_programs(seed: int) -> None:
    counts, problems = check(seed, 2, own=seed == 1)
    assert not problems
    assert sum(counts.values()) > 0


# A memory's `done` is still high in the cycle after a word was stored.
STORE_AND_LOAD = """\
import "primitives/core.futil";
import "primitives/memories/seq.futil";
component main() -> () {
  cells { @external m = seq_mem_d1(8, 4, 2); a = std_reg(8); }
  wires {
    group store {
      m.addr0 = 2'd1; m.content_en = 1'd1; m.write_en = 1'd1; m.write_data = 8'd7;
      store[done] = m.done;
    }
    group load {
      m.addr0 = 2'd2; m.content_en = !m.done ? 1'd1; a.in = m.read_data; a.write_en = m.done;
      load[done] = a.done;
    }
    group keep {
      m.addr0 = 2'd0; m.content_en = 1'd1; m.write_en = 1'd1; m.write_data = a.out;
      keep[done] = m.done;
    }
  }
  control { seq { store; load; keep; } }
}
"""


@pytest.mark.parametrize("optimised", [True, False])
def test_static_control_keeps_a_load_after_a_store(optimised: bool) -> None:
    text, counts = rewritten(STORE_AND_LOAD.encode(), ["static-control"])
    assert counts == {"static-control": 1}
    shape = {"numeric_type": "bitnum", "is_signed": False, "width": 8}
    data = {"m": {"data": [1, 2, 3, 4], "format": shape}}
    assert not wrong(text, data, {"m": [3, 7, 3, 4]}, optimised=optimised)


def test_random_programs_have_candidates_of_the_usual_rewrites() -> None:
    names = [rewrite.name for rewrite in REWRITES]
    counts = sum((rewritten(generate(s).text.encode(), names)[1] for s in range(8)), Counter())
    usual = {"continuous-condition", "flatten", "promote-group", "seq-to-par", "static-control"}
    assert usual <= {name for name, count in counts.items() if count}


# The compiler takes `load` apart: the memory's part, then the register's, one cycle each with one
# between them. Written as it is, it takes two.
LOADS = """\
import "primitives/core.futil";
import "primitives/memories/seq.futil";
component main() -> () {
  cells {
    @external m = seq_mem_d1(8, 4, 2); @external n = seq_mem_d1(8, 4, 2);
    i = std_reg(2); add = std_add(2); r = std_reg(8);
  }
  wires {
    group load {
      m.addr0 = i.out; m.content_en = 1'd1; m.write_en = 1'd0;
      r.in = m.read_data; r.write_en = m.done; load[done] = r.done;
    }
    group store {
      n.addr0 = i.out; n.content_en = 1'd1; n.write_en = 1'd1; n.write_data = r.out;
      store[done] = n.done;
    }
    group step { add.left = i.out; add.right = 2'd1; i.in = add.out; i.write_en = 1'd1;
      step[done] = i.done; }
  }
  control { repeat 4 { seq { load; store; step; } } }
}
"""


def test_a_group_that_the_compiler_takes_apart_is_as_long_as_its_text_says(tmp_path: Path) -> None:
    program, data = tmp_path / "loads.futil", tmp_path / "loads.json"
    program.write_text(LOADS)
    shape = {"numeric_type": "bitnum", "is_signed": False, "width": 8}
    words = {"m": [7, 5, 3, 1], "n": [0] * 4}
    data.write_text(json.dumps({k: {"data": v, "format": shape} for k, v in words.items()}))
    # In a static block the parts follow each other at once: together they are the whole.
    together = profile_program(program, data, CalyxOptions()).profile
    assert fixed_lengths(together)["main", "load"] == 2
    apart = CalyxOptions(disable=("static-promotion",))
    profile = profile_program(program, data, apart).profile
    lengths = fixed_lengths(profile)
    assert ("main", "load") not in lengths
    assert lengths["main", "step"] == 1
    (load,) = [row for row in table(profile, Kind.GROUP) if row.frame.name == "load"]
    assert load.frame.split
    assert not load.could_be_static
    subject = subject_of(program, [data], {})
    (made,) = [c for c in subject.candidates(LOADS.encode()) if c.rewrite == "static-control"]
    text = apply_candidates(LOADS.encode(), [made])
    assert b"static<2> group load" in text
    assert not subject.measure(text).failure
