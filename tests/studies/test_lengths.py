"""Other lengths, foretold and simulated: groups made longer in the program itself."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cyclescope.analyse import critical, parse_lengths, retimed
from cyclescope.calyx import CalyxOptions, profile_program
from cyclescope.cli import main
from cyclescope.errors import InputError
from cyclescope.model import save
from cyclescope.studies import simulated_lengths

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
    assert simulated_lengths(profile, lengths, program, data) == found


@pytest.mark.long
def test_a_static_group_is_idle_in_the_cycles_that_are_added(tmp_path: Path) -> None:
    program, data = tmp_path / "static.futil", tmp_path / "static.json"
    program.write_text(STATIC)
    form = {"numeric_type": "bitnum", "is_signed": False, "width": 8}
    data.write_text(json.dumps({"m": {"data": [0], "format": form}}))
    run = profile_program(program, data)
    assert run.memories["m"]["data"] == [6]
    lengths = parse_lengths(run.profile, ["twice = 2..4"])
    assert retimed(run.profile, lengths).totals == simulated_lengths(
        run.profile, lengths, program, data
    )


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
    assert capsys.readouterr().out.splitlines()[1].endswith(",16,0.0")
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
    assert simulated_lengths(profile, lengths, program, data) == found
