"""Limits: what they mean, what is refused, what a stopped run is worth."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cyclescope.analyse import Use, account, activations, check, parse_limit
from cyclescope.errors import InputError
from cyclescope.model import Activity, Kind, Meta, Profile, ProfileBuilder, Runs
from meaning import Frame, design_overhead

from ..strategies import calyx_profiles, large_profile
from ..views.switch import switch_profile


def sound(**meta: object) -> Profile:
    return switch_profile(**{"anomalies": (), **meta})


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("cycles <= 9", True),
        ("cycles<9", False),
        ("cycles == 9", True),
        ("cycles != 9", False),
        ("cycles >= 1_000", False),
        ("cycles<=1,000", True),
        ("useful >= 33.3%", True),
        ("useful >= 33.4 %", False),
        ("lost < 6.5", True),
        ("control < 6.5", True),
        ("control(other) <= 50%", True),
        ("cycles(main) == 9", True),
        ("cycles( main.s1 ) == 1", True),
        ("times(main/read) == 1", True),
        ("longest(main/par L31) <= 4", True),
        ("longest(main/par#1) <= 4", True),
        ("longest(par) <= 3", False),
        ("cycles(main/if#2) <= 2", True),
        ("shortest(par L31) > 4", False),
        ("times(decrement) == 1", True),
    ],
)
def test_budgets(text: str, holds: bool) -> None:
    complete, finding = check(sound(), [text])
    assert complete.passed
    assert finding.passed is holds
    assert finding.name == " ".join(text.split())


@settings(max_examples=30)
@given(calyx_profiles(), st.sampled_from(["<=", ">=", "<", ">", "==", "!="]))
def test_figures_are_those_of_the_analyses(found: Profile, sign: str) -> None:
    whole = account(found)
    figures = {"cycles": found.cycles, "useful": whole.useful, "lost": whole.total - whole.useful}
    for name in ("fsm", "par done", "both", "other"):
        use = Use(Activity.CONTROL, name)
        figures[name.replace(" ", "_")] = figures[f"control({name})"] = whole.parts.get(use, 0)
    for name, figure in figures.items():
        *_, finding = check(found, [f"{name} {sign} {figure}"])
        assert finding.measured == figure
        assert finding.passed is (sign in ("<=", ">=", "=="))
    for (frame, instance), known in activations(found).items():
        what = found.catalog[frame]
        cell = what.kind is Kind.CELL
        name = instance if cell else f"{instance}/{what.name}"
        *_, finding = check(found, [f"times({name}) == {known.times}"])
        assert finding.passed


@pytest.mark.parametrize(
    ("change", "fails"),
    [
        ("cycles > +0", True),
        ("cycles > +200%", False),
        ("cycles > +199.9%", True),
        ("cycles > +18", False),
        ("cycles < -1", False),
        ("fsm > +5%", False),
        ("fsm < -99%", True),
        ("other > +10", True),
        ("longest(main/par L31) >= +8", True),
    ],
)
def test_changes(change: str, fails: bool) -> None:
    found = sound()
    from dataclasses import replace

    slower = replace(
        found, schedule=Runs(found.schedule.cycles * 3, found.schedule.tree), series=()
    )
    *_, finding = check(slower, against=found, fail_on=[change])
    assert finding.passed is not fails


def test_from_nothing_to_something_is_more_than_any_share() -> None:
    found = sound()
    from dataclasses import replace

    quiet = replace(found, series=())
    assert design_overhead(quiet).fsm == 0
    *_, finding = check(found, against=quiet, fail_on=["fsm > +1000%"])
    assert not finding.passed
    *_, finding = check(quiet, against=quiet, fail_on=["fsm > +0%"])
    assert finding.passed
    assert finding.figure == Fraction(0)


def test_a_stopped_run_meets_no_budget() -> None:
    stopped = sound(complete=False, stop_reason="cycle limit")
    findings = check(stopped, ["cycles <= 9"])
    assert [f.passed for f in findings] == [False, True]
    assert "cycle limit" in findings[0].detail
    findings = check(sound(), against=stopped, fail_on=["cycles > +0"])
    assert [f.name for f in findings if not f.passed] == ["base: complete"]


def test_lost_data_fails_if_asked_to() -> None:
    found = switch_profile()
    assert all(f.passed for f in check(found))
    assert [f.name for f in check(found, strict=True) if not f.passed] == ["late probe"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "not a limit"),
        ("cycles", "not a limit"),
        ("cycles <= lots", "not a limit"),
        ("cycles <= 1 2", "not a limit"),
        ("cycles = 9", "not a limit"),
        ("cylces <= 9", "no figure cylces"),
        ("times <= 9", "no figure times"),
        ("useful(main) <= 9", "no figure useful of a frame"),
        ("cycles() <= 9", "name a frame"),
        ("times(main/read) <= 9%", "not a share"),
        ("times(main/raed) <= 9", "main/read"),
        ("times(s1) <= 9", "main.s1"),
    ],
)
def test_what_is_no_limit(text: str, said: str) -> None:
    with pytest.raises(InputError, match=said) as caught:
        check(sound(), [text])
    assert "\n" not in str(caught.value)


def test_what_is_no_change() -> None:
    with pytest.raises(InputError, match="needs a sign"):
        parse_limit("cycles > 2%", relative=True)
    with pytest.raises(InputError, match="since what"):
        check(sound(), fail_on=["cycles > +2%"])
    with pytest.raises(InputError, match="nothing called"):
        check(sound(), against=sound(), fail_on=["times(x) > +2%"])


def test_namesakes_want_an_instance() -> None:
    found = next(
        p for p in (_same_names(seed) for seed in range(50)) if p is not None
    )  # two queues of one component
    profile, name, names = found
    with pytest.raises(InputError, match="name one with its instance"):
        check(profile, [f"times({name}) > 0"])
    assert all(f.passed for f in check(profile, [f"times({n}) > 0" for n in names])[1:])


def _same_names(seed: int) -> tuple[Profile, str, list[str]] | None:
    import random

    from cyclescope.model import Meta

    from ..strategies import Machine, machine_profile

    profile = machine_profile(Machine(random.Random(seed)), 3, Meta("calyx", "p.futil"))
    where: dict[int, list[str]] = {}
    for frame, instance in activations(profile, Kind.GROUP):
        where.setdefault(frame, []).append(instance)
    for frame, instances in where.items():
        if len(instances) > 1:
            name = profile.catalog[frame].name
            return profile, name, [f"{instance}/{name}" for instance in instances]
    return None


def test_states_of_threads_have_budgets() -> None:
    build = ProfileBuilder()
    region = build.path(-1, Frame(Kind.CELL, "k", "k", "k"))
    threads = [build.path(region, Frame(Kind.THREAD, f"t{n}", "k")) for n in range(2)]
    trees = []
    for states in (("running", "running"), ("critical", "spinning")):
        at = zip(threads, states, strict=True)
        trees.append(build.tree([build.path(t, Frame(Kind.STATE, s, "k")) for t, s in at]))
    profile = build.build(Meta("hls", "k.c"), [8, 2], trees)
    found = check(profile, ["spinning <= 10%", "spinning <= 9%", "running == 16", "idle == 0"])
    assert [one.passed for one in found[1:]] == [True, False, True, True]
    assert found[1].detail == "2 of 20 (10.0 %)"
    with pytest.raises(InputError, match="has no figure spinning"):
        check(large_profile(3), ["spinning <= 5%"])
