"""Advice: followed, it saves what it promised, within its bound; elsewhere it is silent."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

from cyclescope.analyse import RULES, Advice, Place, Rule, advise
from cyclescope.bounds import estimate, profile_of
from cyclescope.calyx import CalyxOptions, profile_program
from cyclescope.model import (
    Access,
    Activity,
    Kind,
    Lock,
    Loop,
    Meta,
    Position,
    Profile,
    ProfileBuilder,
    Series,
    load,
)
from cyclescope.model import Frame as PlainFrame
from cyclescope.views import advice_text
from meaning import Frame

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


@pytest.mark.long(keep_one_in=4)
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


@pytest.mark.long
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
    assert [advice.rule.name for advice in found] == ["par-switch", "static", "while-with"]
    saved = totals["par"].cycles - totals["nested"].cycles
    assert found[0].at_least <= saved <= found[0].at_most
    assert abs(found[0].saving - saved) < saved / 5
    assert "par-switch" not in said(totals["nested"])
    _check_static_groups(found[1], totals["par"], tmp_path)


GROUPS = {
    "fifo": ("accept", "store", "grow", "tail_wrap", "tail_next", "load", "give", "shrink",
             "head_wrap", "head_next"),
    "classifier": ("first_bound", "first_flow", "next_bound", "next_flow"),
    "strict_queue": ("first_flow", "nothing_yet"),
    "dataplane": ("keep_packet", "ask_packets", "keep_cmd", "ask_commands", "write_pops",
                  "write_dropped", "write_unanswered", "count_unanswered", "write_none"),
}  # fmt: skip
"""The scheduler's groups of fixed length, by component."""


def _check_static_groups(finding: Advice, plain: Profile, folder: Path) -> None:
    """One place for each definition, whatever its instances; followed, each saves what it says."""
    places = [(place.component, place.position) for place in finding.places]
    assert len(set(places)) == len(places)
    assert {component for component, _ in places} == set(GROUPS)
    # Five queues run the same text: its place counts what all of them lose.
    frames = [plain.frame_of(path) for path in range(len(plain.call_paths))]
    cells = [(n, f.detail) for n, f in zip(plain.instances, frames, strict=True)]
    assert len({name for name, detail in cells if detail == "fifo"}) > 1
    assert sum(place.saving for place in finding.places) == finding.saving
    text = (folder / "scheduler_par.futil").read_text()
    for chosen in (set(GROUPS), {"fifo"}, {"classifier"}):
        lines, component = [], ""
        for line in text.split("\n"):
            words = line.split()
            if words[:1] == ["component"]:
                component = words[1].partition("(")[0]
            if words[:1] == ["group"] and component in chosen and words[1] in GROUPS[component]:
                line = f'    group {words[1]}<"promotable"=1> {{'
            lines.append(line)
        followed = folder / "followed.futil"
        followed.write_text("\n".join(lines))
        saved = plain.cycles - profile_program(followed, folder / "scheduler.json").profile.cycles
        mine = [place for place in finding.places if place.component in chosen]
        assert sum(p.at_least for p in mine) <= saved <= sum(p.at_most for p in mine)
        if chosen == set(GROUPS):
            assert finding.at_least <= saved <= finding.at_most
            assert abs(finding.saving - saved) < saved / 10


def generated(example: str, program: str, data: str, folder: Path, *arguments: str) -> Profile:
    script = EXAMPLES / example / "generate.py"
    command = [sys.executable, "-B", str(script), *arguments, "-o", str(folder)]
    subprocess.run(command, check=True, capture_output=True)
    return profile_program(folder / program, folder / data).profile


@pytest.mark.long
def test_the_neural_network(tmp_path: Path) -> None:
    """Section 8.1: groups of fixed length in four lanes, which save their cycles side by side."""
    slow, fast = (
        generated("neural_network", f"network_{variant}.futil", "network.json", tmp_path,
                  "--variant", variant)
        for variant in ("dynamic", "static")
    )  # fmt: skip
    advice = first(slow)
    assert advice.rule.name == "static"
    saved = slow.cycles - fast.cycles
    assert advice.at_least <= saved <= advice.at_most
    assert advice.saving == pytest.approx(saved, rel=0.05)
    assert not advise(fast)


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
    result = estimate(source, kernel="product", detail=True)
    return profile_of(result, getattr(result, which))


def test_a_recurrence_is_interleaved(tmp_path: Path) -> None:
    slow, fast = (bounded(tmp_path, "k", loops) for loops in (BY_ROWS, BY_COLUMNS))
    advice = first(slow)
    assert advice.rule.name == "late-operand"
    assert "its own result" in advice.places[0].evidence
    saved = slow.cycles - fast.cycles
    assert saved > slow.cycles / 2
    assert advice.at_least <= saved <= advice.at_most
    assert not advise(fast) or first(fast).saving < slow.cycles - fast.cycles
    assert not advise(bounded(tmp_path, "u", BY_ROWS, "unbounded"))


def switch(*arms: tuple[int, int], condition: bool = False) -> Profile:
    """`par` of one `if` each; arm i works in cycles from its first number to before its second.

    Args:
        arms: a pair each.
        condition: each `if` has a group for its condition, all of which are active in cycle 0.
    """
    builder = ProfileBuilder()

    def control(detail: str, line: int) -> Frame:
        where = (Position("calyx", "p.futil", line),)
        return Frame(Kind.CONTROL, f"{detail} L{line}", "main", detail, where)

    main = builder.path(-1, Frame(Kind.CELL, "main", "", "main"))
    par = builder.path(main, control("par", 1))
    end = max(last for _, last in arms)
    ifs = [builder.path(par, control("if", 2 + i)) for i in range(len(arms))]
    groups = [builder.path(p, Frame(Kind.GROUP, f"g{i}", "main")) for i, p in enumerate(ifs)]
    comb = Frame(Kind.GROUP, "c", "main", "comb group")
    first = [builder.path(p, comb) for p in ifs] if condition else ifs
    trees = []
    for cycle in range(end + 2):
        inside = [g for g, (a, b) in zip(groups, arms, strict=True) if a <= cycle < b]
        trees.append(builder.tree([par, *(first if cycle == 0 else []), *inside]))
    return builder.build(Meta("calyx", "p.futil"), [1] * len(trees), trees)


def test_a_par_whose_arms_both_work_is_no_switch() -> None:
    (place,) = said(switch((1, 3), (0, 0)))["par-switch"].places
    assert place.evidence.startswith("1 activation, 2 arms seen")
    assert "par-switch" not in said(switch((1, 3), (1, 2)))
    # Not at once, but in one activation: nested ifs would leave one of them out.
    assert "par-switch" not in said(switch((1, 2), (3, 4)))


def test_conditions_worked_out_at_once_are_no_work_but_leave_the_least_saving_open() -> None:
    plain, found = (said(switch((1, 3), (0, 0), condition=c))["par-switch"] for c in (False, True))
    assert found.at_least == 0 < plain.at_least


def test_a_block_outside_of_loops_saves_at_most_its_own_cycles() -> None:
    builder = ProfileBuilder()

    def below(path: int, kind: Kind, name: str, detail: str = "") -> int:
        return builder.path(path, Frame(kind, name, "main", detail))

    main = below(-1, Kind.CELL, "main", "main")
    outer = below(main, Kind.CONTROL, "seq L1", "seq")
    cell = below(below(outer, Kind.GROUP, "call"), Kind.CELL, "part", "part")
    inner = below(outer, Kind.CONTROL, "seq L2", "seq")
    first, second = (below(inner, Kind.GROUP, name) for name in "ab")
    runs = {outer: 1, cell: 50, first: 2, inner: 1, second: 3}
    trees = [builder.tree([path]) for path in runs]
    profile = builder.build(Meta("calyx", "p.futil"), list(runs.values()), trees)
    advice = said(profile)["static"]
    assert [place.name for place in advice.places] == ["seq L2"]
    # Of its six cycles and the step before it three are left at least: those of the longer group.
    assert (advice.saving, advice.at_most) == (1, 4)


def test_nothing_to_say_of_programs_without_the_patterns() -> None:
    for silent in (run("switch_if"), run("while_parallel"), run("multiply")):
        assert not advise(silent)


@settings(max_examples=40)
@given(calyx_profiles(hostile=True))
def test_bounds_are_in_order_and_within_the_run(profile: Profile) -> None:
    found = advise(profile)
    for advice in found:
        assert 0 <= advice.at_least <= advice.saving <= advice.at_most <= profile.cycles
        for site in advice.places:
            assert 0 <= site.at_least <= site.saving <= site.at_most
            assert "\n" not in site.evidence or any("\n" in f.name for f in profile.catalog)
            if site.cycles is not None:
                assert 0 <= site.cycles[0] < site.cycles[1] <= profile.cycles
    assert [a.saving for a in found] == sorted((a.saving for a in found), reverse=True)


def test_without_sites_the_bound_is_wider_and_still_holds() -> None:
    slow, fast = run("multiply", "static-promotion"), run("multiply")
    advice = first(replace(slow, sites=()))
    assert advice.rule.name == "static"
    assert advice.saving == 5  # the state updates; what may run at once is in the sites
    assert advice.at_least <= slow.cycles - fast.cycles <= advice.at_most
    assert "sharing" not in said(replace(run("shared_pipes"), sites=()))
    assert said(replace(slow, sources={})) == said(slow)


def test_a_profile_of_another_source_is_left_alone() -> None:
    assert not advise(run("switch_par").with_meta(source="traces"))


def test_rules_have_names_of_their_own_and_say_what_to_do() -> None:
    names = [rule.name for rule in RULES]
    assert len(set(names)) == len(names)
    for rule in RULES:
        assert rule.change
        assert rule.verify
        assert rule.reference
        assert json.dumps(rule.name).isascii()


DATA = Path(__file__).parent / "data"
LADDER = ("1-naive", "2-no-critical", "3-vectors", "4-blocked", "5-double-buffering")
STEPS = ("critical-section", "narrow-loads", "blocking", "double-buffering")


def recorded(name: str) -> Profile:
    """A profile that `tests/analyse/data/record.sh` recorded: a run takes a minute to build."""
    return load(DATA / f"{name}.cyc")


@pytest.mark.parametrize("step", range(len(STEPS)), ids=STEPS)
def test_each_version_of_the_matrix_product_is_advised_to_become_the_next(step: int) -> None:
    """Nymble and Paraver, section V-C: what the authors did next comes first."""
    slow, fast = (recorded(f"gemm-{LADDER[step + i]}") for i in (0, 1))
    advice = first(slow)
    assert advice.rule.name == STEPS[step]
    saved = slow.cycles - fast.cycles
    assert advice.at_least <= saved <= advice.at_most
    assert saved / 2 <= advice.saving <= saved * 2
    assert STEPS[step] not in said(fast)


def test_the_last_version_has_nothing_left_to_say() -> None:
    assert not advise(recorded("gemm-5-double-buffering"))


@pytest.mark.parametrize("version", ["1-naive", "3-vectors"])
def test_a_profiling_units_trace_is_advised_as_a_profile_with_loops(version: str) -> None:
    """Its sites are the same; savings are alike, since its cycles are."""
    unit, full = recorded(f"unit-{version}"), recorded(f"gemm-{version}")
    assert Kind.LOOP not in {frame.kind for frame in unit.catalog}
    found, expected = said(unit), said(full)
    assert list(found) == list(expected)
    for name, advice in found.items():
        places = [(site.name, site.position) for site in advice.places]
        assert places == [(site.name, site.position) for site in expected[name].places]
        assert advice.saving == pytest.approx(expected[name].saving, rel=0.02)


def test_phases_of_a_units_trace_take_turns_where_a_loop_needs_another() -> None:
    """Follow which buffer a loop fills and the next one reads: in double buffering, two."""
    slow, fast = recorded("unit-4-blocked"), recorded("unit-5-double-buffering")
    advice = first(slow)
    assert advice.rule.name == "double-buffering"
    saved = slow.cycles - fast.cycles
    assert advice.at_least <= saved <= advice.at_most
    assert saved / 2 <= advice.saving <= saved * 2
    assert "line 22 computes with it" in advice.places[0].evidence
    assert not advise(fast)
    for other in ("unit-1-naive", "unit-3-vectors"):
        assert "double-buffering" not in said(recorded(other))


def test_threads_that_are_started_slowly() -> None:
    """Section V-D: the start of threads, not their work, fills the run."""
    slow, fast = recorded("pi-start-2500"), recorded("pi-start-1")
    advice = first(slow)
    assert advice.rule.name == "thread-start"
    assert advice.at_least <= slow.cycles - fast.cycles <= advice.at_most
    assert advice.saving == pytest.approx(slow.cycles - fast.cycles, rel=0.15)
    assert "thread-start" not in said(fast)


def test_shares_of_unequal_size() -> None:
    slow, fast = recorded("rows-block"), recorded("rows-cyclic")
    advice = first(slow)
    assert advice.rule.name == "imbalance"
    saved = slow.cycles - fast.cycles
    assert saved > slow.cycles / 3
    assert advice.at_least <= saved <= advice.at_most
    assert advice.saving == pytest.approx(saved, rel=0.2)
    assert "thread 7 has work" in advice.places[0].evidence
    assert "imbalance" not in said(fast)


def sections(times: int) -> Profile:
    """Two threads: one is in a critical section for which the other spins, so many times each."""
    builder = ProfileBuilder()
    root = builder.path(-1, Frame(Kind.CELL, "k", "k"))
    ways = []
    for number in (0, 1):
        thread = builder.path(root, Frame(Kind.THREAD, f"thread {number}", "k", str(number)))
        ways.append({
            name: builder.path(thread, Frame(Kind.STATE, name, "k", name))
            for name in ("running", "critical", "spinning")
        })  # fmt: skip
    turns = [("critical", "spinning"), ("running", "running"), ("spinning", "critical"),
             ("running", "running")] * times  # fmt: skip
    trees = [builder.tree([ways[0][a], ways[1][b]]) for a, b in turns]
    end = np.array([4 * len(trees)])
    values = (root, end * 0, end, end // 2)
    builder.counter(Series("k", "w", "stall", "thread cycles", *values, cause="lock", site=0))
    held = builder.frame(Frame(Kind.STATE, "critical", "k", "critical"))
    sites = [Lock("k", position=Position("c", "k.c", 4), held=held)]
    return builder.build(Meta("hls", "k.c"), [4] * len(trees), trees, sites=sites)


def test_a_section_at_the_end_is_no_matter() -> None:
    assert "critical-section" not in said(sections(2))
    advice = said(sections(20))["critical-section"]
    assert advice.saving == 40 * 4 // 2  # the waiting; what is done with the lock remains


def test_a_section_of_which_nobody_counted_the_place() -> None:
    advice = said(replace(sections(20), series=()))["critical-section"]
    assert advice.saving == 40 * 4
    assert advice.places[0].name == "critical sections"
    assert advice.places[0].position == Position("c", "k.c", 4)
    assert advice.at_most == sections(20).cycles


def copies(together: bool) -> Profile:
    """Two threads that wait for a copy, then compute; or both at once."""
    builder = ProfileBuilder()
    root = builder.path(-1, Frame(Kind.CELL, "k", "k"))
    place = {line: (Position("c", "k.c", line),) for line in (3, 6)}
    outer, inner = (
        builder.frame(Frame(Kind.LOOP, f"L{line}", "k", positions=place[line])) for line in (3, 6)
    )
    loads, works = [], []
    for number in (0, 1):
        thread = builder.path(root, Frame(Kind.THREAD, f"thread {number}", "k", str(number)))
        state = builder.path(thread, Frame(Kind.STATE, "running", "k", "running"))
        loads.append(builder.path(state, outer))
        works.append(builder.path(loads[-1], inner))
    trees = [builder.tree(works), builder.tree(works if together else loads)]
    cycles = [30, 20] * 4
    count = np.array([2 * 20 * 4])
    end = np.array([sum(cycles)])
    values = (root, end * 0, end, count)
    builder.counter(Series("k", "w", "stall", "thread cycles", *values, cause="memory", site=2))
    sites = [
        Loop("k", *place[3], frame=outer),
        Loop("k", *place[6], parent=0, needs=(2,), frame=inner),
        Access("k", "b", Position("c", "k.c", 4), writes=True, loop=0, copies=True),
    ]
    return builder.build(Meta("hls", "k.c"), cycles, trees * 4, sites=sites)


def test_blocks_that_are_brought_in_while_nothing_computes() -> None:
    advice = said(copies(together=False))["double-buffering"]
    assert advice.saving == 80
    assert "double-buffering" not in said(copies(together=True))


def test_without_sites_rules_of_memory_are_silent() -> None:
    """Only the compiler knows in which order an array is accessed; rules do not read the text."""
    slow = recorded("gemm-2-no-critical")
    bare = [Series(**s.head, start=s.start, end=s.end, value=s.value) for s in slow.series]
    for series in bare:
        series.site = -1
    assert not said(replace(slow, sites=(), series=tuple(bare)))
    assert list(said(replace(slow, sources={}))) == list(said(slow))


@pytest.mark.parametrize("version", LADDER)
def test_names_of_states_and_counters_are_no_matter(version: str) -> None:
    """Their meaning is declared; no rule reads a text."""
    plain = recorded(f"gemm-{version}")
    catalog = tuple(
        replace(frame, name=f"s{number}", detail="") if frame.kind is Kind.STATE else frame
        for number, frame in enumerate(plain.catalog)
    )
    series = []
    for number, one in enumerate(plain.series):
        head = one.head | {"name": f"c{number}"}
        meaning = {"activity": one.activity, "cause": one.cause, "site": one.site}
        series.append(Series(**(head | meaning), start=one.start, end=one.end, value=one.value))
    renamed = replace(plain, catalog=catalog, series=tuple(series), sources={})
    assert said(renamed) == said(plain)


def tracks(*works: int, cause: str, source: str = "traces") -> Profile:
    """Threads of which each works so long, then waits for the others until cycle 1000."""
    builder = ProfileBuilder()
    ways = []
    for number in range(len(works)):
        thread = PlainFrame(Kind.THREAD, f"worker {number}", "", "", track=True)
        path = builder.path(-1, replace(thread, activity=Activity.IDLE))
        busy = PlainFrame(Kind.STATE, "hammering", "", activity=Activity.WORK)
        there = PlainFrame(Kind.STATE, "napping", "", activity=Activity.WAITING, cause=cause)
        ways.append((builder.path(path, busy), builder.path(path, there)))
    edges = sorted({0, 1000, *works})
    trees = [
        builder.tree([way[begin >= work] for way, work in zip(ways, works, strict=True)])
        for begin in edges[:-1]
    ]
    return builder.build(Meta(source, "t.prv"), np.diff(edges).tolist(), trees)


def test_another_tools_threads_are_advised_by_what_their_states_are_for() -> None:
    (advice,) = advise(tracks(1000, 200, 200, 200, cause="barrier"))
    assert advice.rule.name == "imbalance"
    assert advice.saving == 600
    assert "worker 0 has work for 1,000 cycles" in advice.places[0].evidence
    assert advice.places[0].component == ""
    # Who waits for memory has as much to do as others.
    assert not advise(tracks(1000, 200, 200, 200, cause="memory"))
    (advice,) = advise(tracks(500, 480, 490, cause="lock"))
    assert advice.rule.name == "critical-section"


def test_what_saves_less_than_a_hundredth_does_not_rank() -> None:
    def finds(saving: int) -> Rule:
        place = Place("p", "k", None, "so", saving, 0, 1000, None)
        return Rule(f"r{saving}", "t", "r", "c", "v", frozenset({"traces"}), lambda _: [place])

    profile = tracks(1000, cause="lock")
    found = advise(profile, [finds(9), finds(10), replace(finds(10), name="other"), finds(30)])
    ranked = [(advice.rule.name, advice.rank, advice.ties) for advice in found]
    assert ranked == [("r30", 1, ()), ("r10", 2, ("other",)), ("other", 2, ("r10",))]
    assert "saves about 10 cycles (1.0 %), between 0 and 1,000, as much as other: a tie" in (
        advice_text(profile, found)
    )
