"""Other lengths, foretold and simulated: groups made longer in the program itself."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cyclescope.analyse import parse_lengths, retimed
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
