"""Advice: followed, it saves what it promised, within its bound; elsewhere it is silent."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings

from cyclescope.analyse import RULES, Advice, advise
from cyclescope.bounds import estimate, profile_of
from cyclescope.calyx import CalyxOptions, profile_program
from cyclescope.model import Frame, Kind, Meta, Position, Profile, ProfileBuilder

from ..strategies import calyx_profiles

EXAMPLES = Path(__file__).parents[2] / "examples" / "calyx"
PROGRAMS = Path(__file__).parents[1] / "calyx" / "programs"


@cache
def run(name: str, *disable: str) -> Profile:
    folder = EXAMPLES if (EXAMPLES / f"{name}.futil").exists() else PROGRAMS
    program = folder / f"{name}.futil"
    options = CalyxOptions(disable=disable)
    return profile_program(program, program.with_suffix(".json"), options).profile


def first(profile: Profile) -> Advice:
    return advise(profile)[0]


def said(profile: Profile) -> dict[str, Advice]:
    return {advice.rule.name: advice for advice in advise(profile)}


# (before, options), (after, options), the rule that must come first, whether it is exact
FOLLOWED = {
    "section 2": (("switch_par",), ("switch_if",), "par-switch", True),
    "section 7.1": (("multiply", "static-promotion"), ("multiply",), "static", True),
    "section 7.2": (("shared_pipes",), ("shared_pipes", "cell-share"), "sharing", True),
    "section 8.2.2": (("while_with",), ("while_parallel",), "while-with", True),
    "section 8.2.2, half of it": (("while_with",), ("while_manual",), "while-with", False),
}


@pytest.mark.parametrize("study", FOLLOWED)
def test_the_papers_studies(study: str) -> None:
    before, after, rule, exact = FOLLOWED[study]
    slow, fast = run(*before), run(*after)
    advice = first(slow)
    assert advice.rule.name == rule
    saved = slow.cycles - fast.cycles
    assert advice.at_least <= saved <= advice.at_most
    assert advice.at_least <= advice.saving <= advice.at_most
    if exact:
        assert advice.saving == saved
    assert rule not in said(fast) or not exact


def test_the_packet_scheduler(tmp_path: Path) -> None:
    """Section 8.2: the switches come first, then the loops' conditions, then static groups."""
    totals = {}
    for variant in ("par", "nested"):
        script = EXAMPLES / "packet_scheduler" / "generate.py"
        command = [sys.executable, "-B", str(script), "--variant", variant, "-o", str(tmp_path)]
        subprocess.run([*command, "--commands", "300"], check=True, capture_output=True)
        program = tmp_path / f"scheduler_{variant}.futil"
        totals[variant] = profile_program(program, tmp_path / "scheduler.json").profile
    found = advise(totals["par"])
    assert [advice.rule.name for advice in found] == ["par-switch", "while-with", "static"]
    saved = totals["par"].cycles - totals["nested"].cycles
    assert found[0].at_least <= saved <= found[0].at_most
    assert abs(found[0].saving - saved) < saved / 5
    assert "par-switch" not in said(totals["nested"])


ROWS = """
#define N 24
double A[N][N], x[N], s[N];
void product(void) {
  for (int i = 0; i < N; i++) s[i] = 0.0;
  %s
      s[i] = s[i] + A[i][j] * x[j];
}
"""
BY_ROWS = "for (int i = 0; i < N; i++)\n    for (int j = 0; j < N; j++)"
BY_COLUMNS = "for (int j = 0; j < N; j++)\n    for (int i = 0; i < N; i++)"


def bounded(folder: Path, name: str, loops: str, which: str = "absolute") -> Profile:
    source = folder / f"{name}.c"
    source.write_text(ROWS % loops)
    result = estimate(source, kernel="product")
    return profile_of(result, getattr(result, which))


def test_a_recurrence_is_interleaved(tmp_path: Path) -> None:
    slow, fast = (bounded(tmp_path, "k", loops) for loops in (BY_ROWS, BY_COLUMNS))
    advice = first(slow)
    assert advice.rule.name == "late-operand"
    assert "its own result" in advice.sites[0].evidence
    saved = slow.cycles - fast.cycles
    assert saved > slow.cycles / 2
    assert advice.at_least <= saved <= advice.at_most
    assert not advise(fast) or first(fast).saving < slow.cycles - fast.cycles
    assert not advise(bounded(tmp_path, "u", BY_ROWS, "unbounded"))


def switch(*arms: tuple[int, int], condition: bool = False) -> Profile:
    """`par` of one `if` each; arm i works in cycles from its first number to before its second."""
    builder = ProfileBuilder()

    def control(detail: str, line: int) -> Frame:
        where = (Position("calyx", "p.futil", line),)
        return Frame(Kind.CONTROL, f"{detail} L{line}", "main", detail, where)

    main = builder.path(-1, Frame(Kind.CELL, "main", "", "main"))
    par = builder.path(main, control("par", 1))
    end = max(last for _, last in arms)
    ifs = [builder.path(par, control("if", 2 + i)) for i in range(len(arms))]
    groups = [builder.path(p, Frame(Kind.GROUP, f"g{i}", "main")) for i, p in enumerate(ifs)]
    if condition:
        register = Frame(Kind.PRIMITIVE, "comb_reg", "main", "std_reg", generated=True)
        for group in groups:
            builder.path(group, register)
    trees = []
    for cycle in range(end + 2):
        inside = [g for g, (a, b) in zip(groups, arms, strict=True) if a <= cycle < b]
        trees.append(builder.tree([par, *(ifs if cycle == 0 else []), *inside]))
    return builder.build(Meta("calyx", "p.futil"), [1] * len(trees), trees)


def test_a_par_whose_arms_both_work_is_no_switch() -> None:
    assert "par-switch" in said(switch((1, 3), (0, 0)))
    assert "par-switch" not in said(switch((1, 3), (1, 2)))
    # Not at once, but in one activation: nested ifs would leave one of them out.
    assert "par-switch" not in said(switch((1, 2), (3, 4)))


def test_nothing_to_say_of_programs_without_the_patterns() -> None:
    for silent in (run("switch_if"), run("while_parallel"), run("multiply")):
        assert not advise(silent)


@settings(max_examples=40)
@given(calyx_profiles(hostile=True))
def test_bounds_are_in_order_and_within_the_run(profile: Profile) -> None:
    found = advise(profile)
    for advice in found:
        assert 0 <= advice.at_least <= advice.saving <= advice.at_most <= profile.cycles
        for site in advice.sites:
            assert 0 <= site.at_least <= site.saving <= site.at_most
            assert "\n" not in site.evidence or any("\n" in f.name for f in profile.catalog)
            if site.cycles is not None:
                assert 0 <= site.cycles[0] < site.cycles[1] <= profile.cycles
    assert [a.saving for a in found] == sorted((a.saving for a in found), reverse=True)


def test_without_the_text_the_bound_is_wider_and_still_holds() -> None:
    slow, fast = run("multiply", "static-promotion"), run("multiply")
    advice = first(replace(slow, sources={}))
    assert advice.rule.name == "static"
    assert advice.saving == 5  # the state updates; what may run at once stands in the text
    assert advice.at_least <= slow.cycles - fast.cycles <= advice.at_most
    assert "sharing" not in said(replace(run("shared_pipes"), sources={}))


def test_a_profile_of_another_source_is_left_alone() -> None:
    assert not advise(run("switch_par").with_meta(source="hls"))


def test_rules_have_names_of_their_own_and_say_what_to_do() -> None:
    names = [rule.name for rule in RULES]
    assert len(set(names)) == len(names)
    for rule in RULES:
        assert rule.change
        assert rule.verify
        assert rule.reference
        assert json.dumps(rule.name).isascii()
