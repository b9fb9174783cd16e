"""Followed, a finding saves an amount inside its bound; in other words it is the same finding."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from calyx_programs import CALYX, CalyxCase
from followed import BOUNDS, HLS, RECORDED, Case, bounded, calyx_run, findings, measured, recorded

from cyclescope.model import Profile, load

PAGE = Path(__file__).parents[2] / "docs" / "compare.md"


def check(rule: str, plain: Profile, followed: int, rewritten: Profile) -> None:
    said, again = findings(plain), findings(rewritten)
    advice = said[rule]
    assert advice.at_least <= plain.cycles - followed <= advice.at_most
    assert list(again) == list(said)
    for name, found in again.items():
        # A program in other words takes some cycles more or less.
        spare = 0.02 * plain.cycles
        assert found.saving == pytest.approx(said[name].saving, abs=spare)
        assert len(found.places) == len(said[name].places)


@pytest.mark.long(keep_one_in=4)
@pytest.mark.parametrize("case", CALYX, ids=lambda case: f"{case.rule} {case.name}")
def test_calyx(case: CalyxCase, tmp_path: Path) -> None:
    plain, followed, rewritten = (
        calyx_run(case, variant, tmp_path) for variant in ("plain", "followed", "rewritten")
    )
    check(case.rule, plain, followed.cycles, rewritten)


@pytest.mark.long(keep_one_in=4)
@pytest.mark.parametrize("case", BOUNDS, ids=lambda case: case.name)
def test_bounds(case: Case) -> None:
    plain, followed, rewritten = (
        bounded(case, variant) for variant in ("plain", "followed", "rewritten")
    )
    check(case.rule, plain, followed.cycles, rewritten)


@pytest.mark.parametrize("case", HLS, ids=lambda case: f"{case.rule} {case.name}")
def test_hardware_as_recorded(case: Case) -> None:
    """Profiles that `benches/bench_advice.py --record` made."""
    check(case.rule, *recorded(case))


@pytest.mark.parametrize("case", HLS, ids=lambda case: f"{case.rule} {case.name}")
def test_the_page_has_what_was_recorded(case: Case) -> None:
    plain, followed, _ = recorded(case)
    advice = findings(plain)[case.rule]
    shown = (plain.cycles, followed, plain.cycles - followed, advice.saving)
    row = f"| `{case.rule}` | {case.name} | " + " | ".join(f"{n:,}" for n in shown)
    row += f" | {advice.at_least:,} to {advice.at_most:,} |"
    assert row in PAGE.read_text("utf-8").splitlines(), "benches/bench_advice.py --recorded"


@pytest.mark.long
def test_a_recorded_profile_is_what_a_run_gives() -> None:
    """One of them is made anew: what is recorded is of this compiler."""
    case = next(case for case in HLS if case.rule == "blocking" and case.program == "distances")
    now, before = measured(case, "plain"), load(RECORDED / f"{case.file('plain')}.cyc")
    assert now.cycles == before.cycles
    assert now.sites == before.sites


def test_findings_that_only_help_together_are_one() -> None:
    """Each of two loops waits for its own results: with one of them turned round nothing is won."""
    (advice,) = findings(bounded(BOUNDS[1], "plain")).values()
    (place,) = advice.places
    assert place.evidence.count("its own result") == 2
    assert "change them together" in place.evidence


def test_no_finding_saves_what_a_resource_needs() -> None:
    """All firings of a statement take a cycle each, in whatever order."""
    profile = bounded(BOUNDS[0], "plain")
    (advice,) = findings(profile).values()
    n = 24
    inner = sum(k * k for k in range(n))  # firings of the statement with the most
    assert advice.at_most <= profile.cycles - inner
