"""Other lengths, foretold and simulated: groups made longer in the program itself."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from cyclescope.analyse import critical, parse_lengths, retimed
from cyclescope.calyx import CalyxOptions, profile_program
from cyclescope.cli import main
from cyclescope.errors import InputError
from cyclescope.model import save
from cyclescope.studies import compiled_anew, simulated_lengths
from studies.random_lengths import lengthen

EXAMPLES = Path(__file__).parents[2] / "examples" / "calyx"
STATIC = """\
import "primitives/core.futil";
import "primitives/memories/comb.futil";
component main() -> () {
  cells { @external m = comb_mem_d1(8, 1, 1); r = std_reg(8); up = std_add(8); }
  wires {
    static<2> group twice {
      up.left = r.out; up.right = 8'd1; r.in = up.out; r.write_en = 1'd1;
    }
    static<1> group keep { m.addr0 = 1'd0; m.write_data = r.out; m.write_en = 1'd1; }
  }
  control { static seq { static repeat 3 { twice; } keep; } }
}
"""


@pytest.mark.long(keep_one_in=4)
@pytest.mark.parametrize(
    ("name", "changes", "disable"),
    [
        ("while_parallel", ["read = 1..3"], ()),
        ("while_parallel", ["read = 4", "incr = 3"], ()),
        ("while_parallel", ["update = 6"], ("static-promotion",)),
        ("switch_par", ["add_hundred = 5"], ()),
    ],
)
def test_what_is_foretold_is_simulated(
    name: str, changes: list[str], disable: tuple[str, ...]
) -> None:
    program, data = EXAMPLES / f"{name}.futil", EXAMPLES / f"{name}.json"
    profile = profile_program(program, data, CalyxOptions(disable=disable)).profile
    lengths = parse_lengths(profile, changes)
    found = retimed(profile, lengths).totals
    assert max(found) > profile.cycles
    tried = simulated_lengths(profile, lengths, program, data)
    assert tuple(one.cycles for one in tried) == found
    assert all(one.same_memories and one.same_control for one in tried)
    anew = compiled_anew(profile, lengths, program, data)
    assert tuple(one.cycles for one in anew) == found


@pytest.mark.long
def test_a_static_group_is_idle_in_the_cycles_that_are_added(tmp_path: Path) -> None:
    program, data = tmp_path / "static.futil", tmp_path / "static.json"
    program.write_text(STATIC)
    form = {"numeric_type": "bitnum", "is_signed": False, "width": 8}
    data.write_text(json.dumps({"m": {"data": [0], "format": form}}))
    run = profile_program(program, data)
    assert run.memories["m"]["data"] == [6]
    lengths = parse_lengths(run.profile, ["twice = 2..4"])
    found = retimed(run.profile, lengths).totals
    for tried in (simulated_lengths, compiled_anew):
        assert tuple(one.cycles for one in tried(run.profile, lengths, program, data)) == found


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ("read = 0", "it can be made longer, not shorter"),
        ("par L68 = 9", "only groups can be made longer"),
    ],
)
def test_what_cannot_be_made_is_told(change: str, says: str) -> None:
    program = EXAMPLES / "while_parallel.futil"
    data = program.with_suffix(".json")
    profile = profile_program(program, data).profile
    with pytest.raises(InputError, match=says):
        simulated_lengths(profile, parse_lengths(profile, [change]), program, data)


def test_another_program_is_told_from_the_profiles(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program, other = EXAMPLES / "while_parallel.futil", EXAMPLES / "while_with.futil"
    data = str(program.with_suffix(".json"))
    file = str(tmp_path / "loop.cyc")
    save(profile_program(program, Path(data)).profile, file)
    given = ["whatif", file, "read = 2", "--format", "csv", "--check"]
    assert main([*given, str(program), "--data", data]) == 0
    assert capsys.readouterr().out.splitlines()[1].endswith(",16,0.0,same,same")
    assert main([*given, str(program), "--data", data, "--anew"]) == 0
    assert capsys.readouterr().out.splitlines()[1].endswith(",16,0.0,same,same,16,0.0,same")
    assert main(["whatif", file, "read = 2", "--anew"]) == 2
    assert main([*given, str(other), "--data", data]) == 2
    assert "give the profile's program and data" in capsys.readouterr().err


# The compiler makes the `if` static, as long as its longer branch; it takes the other one.
STATIC_IF = """\
import "primitives/core.futil";
import "primitives/memories/comb.futil";
component main() -> () {
  cells { @external m = comb_mem_d1(8, 1, 1); a = std_reg(8); b = std_reg(8); eq = std_eq(8); }
  wires {
    eq.left = a.out; eq.right = 8'd1;
    group set_a { a.in = 8'd3; a.write_en = 1'd1; set_a[done] = a.done; }
    group short { b.in = 8'd2; b.write_en = 1'd1; short[done] = b.done; }
    static<5> group long { b.in = 8'd4; b.write_en = %4 ? 1'd1; }
    group keep { m.addr0 = 1'd0; m.write_data = b.out; m.write_en = 1'd1; keep[done] = m.done; }
  }
  control { seq { set_a; if eq.out { long; } else { short; } keep; } }
}
"""


@pytest.mark.long
def test_a_static_if_is_as_long_as_its_longer_branch(tmp_path: Path) -> None:
    program, data = tmp_path / "branches.futil", tmp_path / "branches.json"
    program.write_text(STATIC_IF)
    form = {"numeric_type": "bitnum", "is_signed": False, "width": 8}
    data.write_text(json.dumps({"m": {"data": [0], "format": form}}))
    profile = profile_program(program, data).profile
    slack = {profile.catalog[f.key[0]].name: f.slack for f in critical(profile).frames}
    assert slack["short"] == 4
    lengths = parse_lengths(profile, ["short = 4..7"])
    found = retimed(profile, lengths).totals
    assert found == tuple(profile.cycles + more for more in (0, 0, 1, 2))
    # With branches of such lengths it would not make the `if` static, and then it takes others.
    tried = simulated_lengths(profile, lengths, program, data)
    assert tuple((one.cycles, one.same_control) for one in tried) == tuple((n, True) for n in found)


HEAD = """\
import "primitives/core.futil";
import "primitives/memories/comb.futil";
import "primitives/binary_operators.futil";
"""
# The compiler splits `both` in two, gives `a` and `b` one register, and calls `work` twice.
CHANGED_BY_THE_TEXT = f"""\
{HEAD}component work(x: 8) -> (y: 8) {{
  cells {{ r = std_reg(8); mul = std_mult_pipe(8); }}
  wires {{
    group both {{ mul.left = x; mul.right = 8'd3; mul.go = !mul.done ? 1'd1;
      r.in = mul.out; r.write_en = mul.done; both[done] = r.done; }}
    y = r.out;
  }}
  control {{ both; }}
}}
component main() -> () {{
  cells {{ @external m = comb_mem_d1(8, 1, 1); a = std_reg(8); b = std_reg(8); c = std_reg(8);
    w = work(); }}
  wires {{
    group set_a {{ a.in = 8'd1; a.write_en = 1'd1; set_a[done] = a.done; }}
    group set_b {{ b.in = 8'd2; b.write_en = 1'd1; set_b[done] = b.done; }}
    group set_c {{ c.in = 8'd3; c.write_en = 1'd1; set_c[done] = c.done; }}
    group keep {{ m.addr0 = 1'd0; m.write_data = w.y; m.write_en = 1'd1; keep[done] = m.done; }}
  }}
  control {{ seq {{ set_a; set_b; set_c; invoke w(x = c.out)(); keep; }} }}
}}
"""
# `run` starts `twice` again in the cycle in which it has its result, and waits no longer.
STARTED_AGAIN = f"""\
{HEAD}component twice(x: 8) -> (y: 8) {{
  cells {{ r = std_reg(8); add = std_add(8); }}
  wires {{
    static<1> group first {{ add.left = x; add.right = x; r.in = add.out; r.write_en = 1'd1; }}
    static<1> group then {{ add.left = r.out; add.right = x; r.in = add.out; r.write_en = 1'd1; }}
    y = r.out;
  }}
  control {{ static seq {{ first; then; }} }}
}}
component main() -> () {{
  cells {{ @external m = comb_mem_d1(8, 1, 1); t = twice(); }}
  wires {{
    group run {{ t.go = 1'd1; t.x = 8'd5; m.write_data = t.done ? t.y; m.write_en = t.done ? 1'd1;
      m.addr0 = t.done ? 1'd0; run[done] = m.done; }}
  }}
  control {{ run; }}
}}
"""
# The same with a cell of one cycle: the last call is a whole one.
STARTED_AGAIN_AT_ONCE = re.sub(
    r"static<1> group then .*\n", "", STARTED_AGAIN.replace("static seq { first; then; }", "first;")
)
# A block of fixed length, once with the group in it and once without.
NOT_ALWAYS = f"""\
{HEAD}component main() -> () {{
  cells {{ @external m = comb_mem_d1(8, 1, 1); a = std_reg(8); b = std_reg(8); eq = std_eq(8);
    add = std_add(8); }}
  wires {{
    eq.left = a.out; eq.right = 8'd1;
    static<1> group count {{ add.left = a.out; add.right = 8'd1; a.in = add.out;
      a.write_en = 1'd1; }}
    static<3> group some {{ b.in = 8'd2; b.write_en = 1'd1; }}
    static<1> group keep {{ m.addr0 = 1'd0; m.write_data = b.out; m.write_en = 1'd1; }}
  }}
  control {{ static seq {{
    static repeat 3 {{ static seq {{ count; static if eq.out {{ some; }} }} }}
    keep;
  }} }}
}}
"""
# One arm reads what the other one writes in the same cycle.
MEETING = f"""\
{HEAD}component main() -> () {{
  cells {{ @external m = comb_mem_d1(8, 1, 1); a = std_reg(8); b = std_reg(8);
    c = std_reg(8); }}
  wires {{
    static<1> group give {{ a.in = 8'd7; a.write_en = 1'd1; }}
    static<1> group idle {{ c.in = 8'd0; c.write_en = 1'd1; }}
    static<1> group pause {{ b.in = 8'd0; b.write_en = 1'd1; }}
    static<1> group keep {{ m.addr0 = 1'd0; m.write_data = a.out; m.write_en = 1'd1; }}
  }}
  control {{ static par {{ static seq {{ idle; give; }} static seq {{ pause; keep; }} }} }}
}}
"""


def _written(folder: Path, text: str) -> tuple[Path, Path]:
    program, data = folder / "program.futil", folder / "program.json"
    program.write_text(text)
    form = {"numeric_type": "bitnum", "is_signed": False, "width": 8}
    data.write_text(json.dumps({"m": {"data": [0], "format": form}}))
    return program, data


@pytest.mark.long(keep_one_in=3)
@pytest.mark.parametrize(
    ("text", "change"),
    [
        (CHANGED_BY_THE_TEXT, "set_b = 2..5"),
        (CHANGED_BY_THE_TEXT, "main.w/both = 5..8"),
        (CHANGED_BY_THE_TEXT, "main/work = 5..8"),
        (STARTED_AGAIN, "main.t/first = 2..5"),
        (STARTED_AGAIN_AT_ONCE, "main.t/first = 2..5"),
        (NOT_ALWAYS, "some = 4..7"),
    ],
)
def test_the_control_stays_that_of_the_run(text: str, change: str, tmp_path: Path) -> None:
    program, data = _written(tmp_path, text)
    profile = profile_program(program, data).profile
    lengths = parse_lengths(profile, [change])
    found = retimed(profile, lengths).totals
    assert found[0] > profile.cycles
    tried = simulated_lengths(profile, lengths, program, data)
    assert tuple(one.cycles for one in tried) == found
    assert all(one.same_control and one.same_memories for one in tried)


@pytest.mark.long
def test_compiled_anew_the_groups_may_become_others(tmp_path: Path) -> None:
    program, data = _written(tmp_path, CHANGED_BY_THE_TEXT)
    profile = profile_program(program, data).profile
    lengths = parse_lengths(profile, ["set_b = 2"])
    (anew,) = compiled_anew(profile, lengths, program, data)
    (same,) = simulated_lengths(profile, lengths, program, data)
    assert anew.cycles != same.cycles
    assert anew.same_control is None


def test_other_memories_are_told(tmp_path: Path) -> None:
    program, data = _written(tmp_path, MEETING)
    profile = profile_program(program, data).profile
    for change, same in (("give = 2", True), ("pause = 2", False)):
        lengths = parse_lengths(profile, [change])
        (tried,) = simulated_lengths(profile, lengths, program, data)
        assert (tried.cycles,) == retimed(profile, lengths).totals
        assert tried.same_memories is same


@pytest.mark.long
def test_random_programs_take_as_long_as_foretold(tmp_path: Path) -> None:
    found = lengthen(1, tmp_path)
    assert [one for one in found if not one.right] == []
    assert [one for one in found if not one.assumed]


# The condition of the `if` is a step of its own before it, which the compiler makes static alone.
CONDITION_BEFORE = f"""\
{HEAD}component main() -> () {{
  cells {{ @external m = comb_mem_d1(8, 1, 1); a = std_reg(8); b = std_reg(8); eq = std_eq(8); }}
  wires {{
    comb group is_one {{ eq.left = a.out; eq.right = 8'd1; }}
    group set_a {{ a.in = 8'd3; a.write_en = 1'd1; set_a[done] = a.done; }}
    group short {{ b.in = 8'd2; b.write_en = 1'd1; short[done] = b.done; }}
    static<2> group long {{ b.in = 8'd4; b.write_en = %1 ? 1'd1; }}
    group keep {{ m.addr0 = 1'd0; m.write_data = b.out; m.write_en = 1'd1; keep[done] = m.done; }}
  }}
  control {{ seq {{ set_a; if eq.out with is_one {{ long; }} else {{ short; }} keep; }} }}
}}
"""


@pytest.mark.long
def test_a_condition_may_be_a_step_before_its_if(tmp_path: Path) -> None:
    program, data = _written(tmp_path, CONDITION_BEFORE)
    profile = profile_program(program, data).profile
    (block,) = (frame for frame in profile.catalog if frame.detail == "if")
    assert block.latency == 3
    lengths = parse_lengths(profile, ["short = 2..4"])
    found = retimed(profile, lengths).totals
    assert found == tuple(profile.cycles + more for more in (0, 1, 2))
    tried = simulated_lengths(profile, lengths, program, data)
    assert tuple(one.cycles for one in tried) == found
