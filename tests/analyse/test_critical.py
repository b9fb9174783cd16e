"""The critical path: cycles that add up, slack that is there, totals that come true."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from analyse.timed_programs import foretell, timed_program
from cyclescope.analyse import (
    Assumption,
    assumptions,
    best_changes,
    critical,
    frames_named,
    parse_lengths,
    retimed,
)
from cyclescope.analyse.rules import Place
from cyclescope.analyse.rules._leverage import bounded, bounds_of_blocks
from cyclescope.calyx import CalyxOptions, profile_program
from cyclescope.cli import main
from cyclescope.errors import InputError
from cyclescope.model import Kind, save, spans

if TYPE_CHECKING:
    from cyclescope.analyse import Critical, CriticalFrame, Key
    from cyclescope.model import Profile

EXAMPLES = Path(__file__).parents[2] / "examples" / "calyx"
ARMS = """\
import "primitives/core.futil";
component main() -> () {
  cells { a = std_reg(8); b = std_reg(8); c = std_reg(8); }
  wires {
    group wa { a.in = 8'd1; a.write_en = 1'd1; wa[done] = a.done; }
    group wb { b.in = 8'd2; b.write_en = 1'd1; wb[done] = b.done; }
    group wc { c.in = 8'd3; c.write_en = 1'd1; wc[done] = c.done; }
  }
  control { seq { par { seq { wa; wa; wa; } wb; } wc; } }
}
"""


MEETING = """\
import "primitives/core.futil";
component main() -> () {
  cells { a = std_reg(8); b = std_reg(8); }
  wires {
    group wa { a.in = 8'd1; a.write_en = 1'd1; wa[done] = a.done; }
    group wb { b.in = 8'd2; b.write_en = 1'd1; wb[done] = b.done; }
  }
  control { par { seq { wa; @sync(1); } seq { @sync(1); wb; } } }
}
"""


@pytest.fixture(scope="module")
def arms(tmp_path_factory: pytest.TempPathFactory) -> Profile:
    """Two arms, dynamic: one of five cycles and one of one."""
    path = tmp_path_factory.mktemp("arms") / "arms.futil"
    path.write_text(ARMS)
    return profile_program(path, None, _dynamic()).profile


def _dynamic() -> CalyxOptions:
    return CalyxOptions(disable=("static-promotion",))


def _named(profile: Profile, found: Critical, name: str) -> CriticalFrame:
    (one,) = [f for f in found.frames if profile.catalog[f.key[0]].name.split(" L")[0] == name]
    return one


def test_the_path_goes_through_the_longer_arm(arms: Profile) -> None:
    found = critical(arms)
    assert arms.cycles == found.cycles == sum(frame.critical for frame in found.frames)
    short = _named(arms, found, "wb")
    assert (short.critical, short.slack, short.leverage, short.times) == (0, 5, 0, 1)
    last = _named(arms, found, "wc")
    assert (last.critical, last.slack, last.leverage) == (1, 0, 1)


def test_advice_saves_no_more_than_the_run_has_without_its_block(arms: Profile) -> None:
    most = bounds_of_blocks(arms)

    def place(name: str) -> Place:
        (frame,) = (f for f in arms.catalog if f.name.split(" L")[0] == name)
        return bounded(Place.at(frame, "", 100, 50, 200, None), most)

    hidden, last, whole = place("wb"), place("wc"), place("par")
    assert (hidden.saving, hidden.at_least) == (0, 0)
    # Without the group, its state's update remains.
    assert last.saving == 1
    assert last.saving < whole.saving < arms.cycles


def test_who_is_over_early_waits_for_who_ends_last(arms: Profile) -> None:
    (wait,) = critical(arms).waits
    names = [arms.catalog[k[0]].name for k in (wait.caller, wait.waiting, wait.decisive)]
    assert [name.split(" L")[0] for name in names] == ["par", "wb", "seq"]
    assert (wait.times, wait.cycles) == (1, 5)


@pytest.mark.long
@pytest.mark.parametrize("seed", [3, 6])
def test_other_lengths_take_as_long_as_foretold(seed: int, tmp_path: Path) -> None:
    found = foretell(seed, tmp_path, most=2)
    assert len(found) >= 4
    assert [one for one in found if not one.right] == []


def test_a_plain_walk_over_all_activations_says_the_same(tmp_path: Path) -> None:
    for seed in (0, 5):
        profile = profile_program(*timed_program(seed).write(tmp_path)).profile
        found = critical(profile)
        assert sum(frame.critical for frame in found.frames) == profile.cycles
        for frame in found.frames:
            key = frame.key
            assert _walked(profile, key, frame.slack) == profile.cycles
            assert _walked(profile, key, frame.slack + 1) > profile.cycles
            assert profile.cycles - _walked(profile, key, -1) == frame.saved
            assert frame.leverage == Fraction(frame.saved, frame.times)


def _walked(profile: Profile, key: Key, more: int) -> int:
    """The run if each activation of a frame took more cycles, by a walk over every activation."""
    every = spans(profile)
    rows = list(zip(every.path.tolist(), every.start.tolist(), every.end.tolist(), strict=True))
    parent = profile.call_paths.parent.tolist()

    def length(path: int, start: int, end: int) -> int:
        called = sorted(
            (s, e, p) for p, s, e in rows
            if parent[p] == path and start <= s < end
            and profile.frame_of(p).kind is not Kind.PRIMITIVE
        )  # fmt: skip
        total, at = 0, start
        while called:
            phase = [called.pop(0)]
            while called and called[0][0] < max(e for _, e, _ in phase):
                phase.append(called.pop(0))
            begin = phase[0][0]
            total += begin - at + max(s - begin + length(p, s, e) for s, e, p in phase)
            at = max(e for _, e, _ in phase)
        own = (int(profile.call_paths.frame[path]), profile.instances[path]) == key
        return total + end - at + more * own

    return length(0, 0, profile.cycles)


def test_changes_come_one_after_another_the_best_first(arms: Profile, tmp_path: Path) -> None:
    # All groups take a cycle as it is, so nothing is left.
    assert best_changes(arms, 5) == ()
    profile = profile_program(*timed_program(6).write(tmp_path)).profile
    steps = best_changes(profile, 20)
    totals = [profile.cycles, *(step.cycles for step in steps)]
    assert totals == sorted(totals, reverse=True)
    assert len(set(totals)) == len(totals)
    changes = [f"{step.keys[0][1]}/{profile.catalog[step.keys[0][0]].name} = 1" for step in steps]
    assert retimed(profile, parse_lengths(profile, changes)).totals == (totals[-1],)


def test_a_curve_has_each_length(arms: Profile) -> None:
    found = retimed(arms, parse_lengths(arms, ["main/wb = 1..8"]))
    assert found.lengths == tuple(range(1, 9))
    assert found.totals == tuple(max(arms.cycles, arms.cycles + n - 6) for n in range(1, 9))


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        (["wb"], "not a length; write it like"),
        (["wb = -1"], "not a length"),
        (["wb = 9..3"], "from the least to the most"),
        (["wb = 1..10001"], "at most 10,000 lengths"),
        (["wbb = 1"], "nothing called wbb ran in arms.futil; there are "),
        (["wb = 1..2", "wc = 1..2"], "one curve at a time"),
        (["wb = 1", "main/wb = 2"], "changed twice"),
    ],
)
def test_what_is_no_change_is_told(arms: Profile, changes: list[str], says: str) -> None:
    with pytest.raises(InputError, match=says):
        parse_lengths(arms, changes)


def test_a_definition_is_all_its_places(arms: Profile) -> None:
    (change,) = parse_lengths(arms, ["main.wa = 3"])
    assert len(change.keys) == len(frames_named(arms, "wa")) == 3
    assert retimed(arms, [change]).totals == (arms.cycles + 6,)


def test_what_a_prediction_assumes_is_told(arms: Profile, tmp_path: Path) -> None:
    assert assumptions(arms, parse_lengths(arms, ["wb = 3"])) == ()
    # The compiler starts the reads and `i_next` at once, though they are steps of a `seq`.
    example = EXAMPLES / "multiply.futil"
    profile = profile_program(example, example.with_suffix(".json")).profile
    asked = parse_lengths(profile, ["read_B_idx = 3"])
    assert assumptions(profile, asked) == (Assumption.ORDER,)
    assert assumptions(profile, parse_lengths(profile, ["mult_A_B = 4"])) == ()
    path = tmp_path / "barrier.futil"
    path.write_text(MEETING)
    profile = profile_program(path, None).profile
    asked = parse_lengths(profile, ["wa = 3"])
    assert assumptions(profile, asked) == (Assumption.ALONE,)
    file = str(tmp_path / "barrier.cyc")
    save(profile, file)
    assert main(["whatif", file, "wa = 3", "--output", str(tmp_path / "said.csv")]) == 0
    assert Assumption.ALONE in (tmp_path / "said.csv").read_text()


def test_the_verbs(arms: Profile, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = str(tmp_path / "arms.cyc")
    save(arms, file)
    assert main(["critical", file, "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert sum(row["critical"] for row in rows) == arms.cycles
    assert main(["critical", file, "waits", "--of", "main/wb"]) == 0
    assert "wb" in capsys.readouterr().out.splitlines()[1]
    assert main(["critical", file, "waits", "--of", "main/wc"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1
    assert main(["critical", file, "--of", "main/wb"]) == 2
    assert main(["whatif", file, "wb = 9", "--format", "csv"]) == 0
    assert capsys.readouterr().out.splitlines()[1].startswith(f"{arms.cycles + 3},3,")
    assert main(["whatif", file, "--best", "3"]) == 0
    assert main(["whatif", file]) == 2
    assert main(["whatif", file, "wb = 1", "--best", "3"]) == 2
