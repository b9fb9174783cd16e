"""Networks with other latencies, intervals and depths: foretold, stepped and simulated."""

from __future__ import annotations

import json
import random
import re
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from cyclescope.analyse import Figure, best_changes, critical, parse_lengths, retimed
from cyclescope.bounds import Bounds, Calibration, estimate, read_calibration
from cyclescope.cli import main
from cyclescope.errors import InputError, LawError
from cyclescope.model import Edge, Process, between, check_laws, load, save
from cyclescope.network import flows_of, hardware_of, measure, network_of, with_figures
from cyclescope.studies import simulated_network
from network.sanlps import Maker, in_icarus
from network.stepped import random_network, stepped

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cyclescope.model import Profile

FOLDER = Path(__file__).parents[2] / "examples" / "bounds" / "polybench"
Sites = dict[int, Process | Edge]


def drawn(chosen: random.Random, profile: Profile) -> Sites:
    """Other figures of some of a network's processes and channels."""
    others: Sites = {}
    for number, site in enumerate(profile.sites):
        if chosen.random() < 0.5:
            continue
        if isinstance(site, Process):
            latency, interval = chosen.randint(2, 20), chosen.randint(1, 4)
            others[number] = replace(site, latency=latency, interval=interval)
        elif isinstance(site, Edge):
            others[number] = replace(site, depth=chosen.randint(1, (site.tokens or 1) + 2))
    return others


def texts(profile: Profile, others: Mapping[int, Process | Edge]) -> list[str]:
    """The same, as a person writes them."""
    found = []
    alike: Counter[str] = Counter()
    for number, site in enumerate(profile.sites):
        if isinstance(site, Process) and number in others:
            other = others[number]
            assert isinstance(other, Process)
            found += [f"{site.name} = {other.latency}", f"{site.name} interval = {other.interval}"]
        elif isinstance(site, Edge):
            ends = (profile.sites[end].label for end in (site.producer, site.consumer))
            name = f"{' to '.join(ends)} {site.operand}"
            alike[name] += 1
            if number in others:
                other = others[number]
                assert isinstance(other, Edge)
                found.append(f"{name}#{alike[name]} depth = {other.depth}")
    return found


def foretold(profile: Profile, *changes: str) -> int | None:
    (total,) = retimed(profile, parse_lengths(profile, changes)).totals
    return total


# The prediction, against networks stepped cycle by cycle


def test_other_figures_take_what_stepping_each_cycle_takes() -> None:
    seen: Counter[str] = Counter()
    for seed in range(250):
        chosen = random.Random(seed)
        profile = random_network(chosen)
        check_laws(profile)
        assert foretold(profile) == profile.cycles
        for _ in range(3):
            others = drawn(chosen, profile)
            found = stepped(profile, others)
            assert foretold(profile, *texts(profile, others)) == found, (seed, others)
            kind = "deadlock" if found is None else "other"
            seen["same" if found == profile.cycles else kind] += 1
    assert min(seen[kind] for kind in ("deadlock", "other", "same")) > 20, seen


def test_a_delay_of_the_slack_leaves_the_total_and_one_more_does_not() -> None:
    seen: Counter[str] = Counter()
    for seed in range(120):
        profile = random_network(random.Random(seed))

        def longer(number: int, more: int, profile: Profile = profile) -> int:
            site = profile.sites[number]
            assert isinstance(site, Process)
            found = stepped(profile, {number: replace(site, latency=site.latency + more)})
            return profile.cycles if found is None else found - profile.cycles

        by_name = {profile.catalog[f.key[0]].name: f for f in critical(profile).frames}
        for number, site in enumerate(profile.sites):
            if not isinstance(site, Process):
                continue
            figures = by_name[site.name]
            assert figures.slack is not None
            assert longer(number, figures.slack) <= 0, seed
            assert longer(number, figures.slack + 1) > 0, seed
            seen["slack" if figures.slack else "none"] += 1
            seen["shorter"] += longer(number, figures.slack) < 0
            less = stepped(profile, {number: replace(site, latency=max(site.latency - 1, 2))})
            can = site.latency > 2 and less is not None
            assert figures.saved == (profile.cycles - (less or 0) if can else None), seed
    assert min(seen["slack"], seen["none"]) > 50, seen


def test_the_best_change_is_the_best_of_all() -> None:
    steps = 0
    for seed in range(40):
        profile = random_network(random.Random(seed))
        cycles, others = profile.cycles, Sites()
        for step in best_changes(profile, 3):
            assert step.figure in (Figure.LATENCY, Figure.INTERVAL)
            tried = []
            for number, site in enumerate(profile.sites):
                if isinstance(site, Process):
                    now = others.get(number, site)
                    assert isinstance(now, Process)
                    tried += [{number: replace(now, latency=2)}, {number: replace(now, interval=1)}]
            totals = [stepped(profile, others | one) or profile.cycles for one in tried]
            assert step.cycles == min(totals) < cycles, seed
            least = {str(step.figure): step.least}
            name = profile.catalog[step.keys[0][0]].name
            number = next(n for n, site in enumerate(profile.sites) if site.label == name)
            others |= {number: replace(others.get(number, profile.sites[number]), **least)}  # type: ignore[type-var,arg-type]
            assert stepped(profile, others) == step.cycles
            cycles = step.cycles
            steps += 1
    assert steps > 40


# The prediction, against hardware


def bounds_of(text: str, **options: object) -> Bounds:
    return estimate("k.c", text=text, detail=True, values=True, trace=True, **options)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run of trisolv: `run.rtl.cyc`."""
    folder = tmp_path_factory.mktemp("trisolv")
    kernel = FOLDER / "trisolv.c"
    bounds = estimate(
        kernel,
        calibration=read_calibration(kernel.with_suffix(".toml")),
        detail=True,
        values=True,
        trace=True,
    )
    save(measure(bounds).profile, folder / "run.rtl.cyc")
    return folder


@pytest.mark.long(keep_one_in=4)
@pytest.mark.skipif(shutil.which("iverilog") is None, reason="no Icarus Verilog")
@pytest.mark.parametrize("seed", range(4))
def test_other_figures_take_what_the_hardware_takes(seed: int) -> None:
    chosen = random.Random(seed)
    stages = Calibration(read=chosen.randint(1, 3), write=chosen.randint(0, 2))
    bounds = bounds_of(Maker(200 + seed).text(), calibration=stages)
    profile, network = measure(bounds).profile, network_of(bounds)
    assert foretold(profile) == stepped(profile) == profile.cycles
    for _ in range(4):
        others = drawn(chosen, profile)
        sites = [others.get(number, site) for number, site in enumerate(profile.sites)]
        processes = [site for site in sites if isinstance(site, Process)]
        other = with_figures(network, [(site.latency, site.interval) for site in processes])
        depths = [site.depth or 0 for site in sites if isinstance(site, Edge)]
        found = in_icarus(other, hardware_of(other, dict(enumerate(depths))))
        assert foretold(profile, *texts(profile, others)) == found == stepped(profile, others)


@pytest.mark.long
def test_a_delay_of_the_slack_in_hardware(folder: Path) -> None:
    """Inserted in the hardware of a kernel it leaves the total, one more cycle raises it."""
    profile = load(folder / "run.rtl.cyc")
    names = {profile.catalog[f.key[0]].name: f.slack for f in critical(profile).frames}
    name, slack = max(names.items(), key=lambda item: item[1] or 0)
    site = next(s for s in profile.sites if s.label == name)
    assert isinstance(site, Process)
    assert slack
    longest = site.latency + slack
    changes = parse_lengths(profile, [f"{name} = {longest}..{longest + 1}"])
    kernel = FOLDER / "trisolv.c"
    calibration = read_calibration(kernel.with_suffix(".toml"))
    tried = simulated_network(profile, changes, kernel, calibration=calibration)
    assert [one.cycles for one in tried] == list(retimed(profile, changes).totals)
    assert tried[0].cycles == profile.cycles
    assert (tried[1].cycles or 0) > profile.cycles


# On the command line


def told(capsys: pytest.CaptureFixture[str], *words: str | Path) -> str:
    """The one line that refuses a command."""
    assert main([str(word) for word in words]) == 2
    line = capsys.readouterr().err
    assert line.count("\n") == 1, line
    return line


def check_of(kernel: str) -> list[str]:
    return ["--check", str(FOLDER / f"{kernel}.c"), "--calibration", str(FOLDER / f"{kernel}.toml")]


@pytest.mark.long
def test_changes_are_made_and_simulated(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A curve, another change beside it, and values for which the network comes to a standstill."""
    given = ["whatif", str(folder / "run.rtl.cyc"), "x L14 = 30", "x L15 to x L14 depth = 29..31"]
    assert main([*given, *check_of("trisolv"), "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["error"] for row in rows] == [0, 0, 0]
    assert all(row["total"] == row["simulated"] for row in rows)
    assert rows[0]["total"] is None
    assert rows[1]["total"] > 9497
    assert main(given) == 0
    assert capsys.readouterr().out.splitlines()[1].split() == ["29", "deadlock"]


def test_the_best_changes_name_a_process_and_its_figure(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["whatif", str(folder / "run.rtl.cyc"), "--best", "2", "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert rows[0]["name"] == "x L14"
    assert (rows[0]["figure"], rows[0]["least"]) == ("latency", 2)
    assert rows[0]["total"] > rows[1]["total"]


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        (["x L41 = 3"], "no process x L41 in .*; there are .*x L14"),
        (["memory latency = 3"], "no process memory in .*; there are x L12"),
        (["\x1b[31m interval = 3"], "no process .*; there are x L12"),
        (["x L14 depth = 3"], "no channel x L14 in .*; there are .*x L14"),
        (["x L14 to x L14 = 3"], "a channel; it has a depth: 'x L14 to x L14 depth = 3'"),
        (["x L14 = 1"], "the latency is from 2"),
        (["x L14 interval = 0..4"], "the interval is from 1"),
        (["x L14 to x L14 depth = 0"], "the depth is from 1"),
        (["x L14 = 4294967296"], "the latency is from 2 to 2,147,483,647"),
        (["x L14 = 3", "x L14 latency = 4"], "changed twice, as x L14 too"),
        (["x L14 = 3..4", "x L15 = 3..4"], "one curve at a time"),
        (["x L14 = -3"], "not a length"),
        (["x L14"], "not a length"),
        (["= 3"], "not a length"),
    ],
)
def test_what_is_no_change_is_told(
    folder: Path, capsys: pytest.CaptureFixture[str], changes: list[str], says: str
) -> None:
    line = told(capsys, "whatif", folder / "run.rtl.cyc", *changes)
    assert re.search(says, line), line
    assert "\x1b" not in line


def test_what_cannot_be_built_is_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = folder / "run.rtl.cyc"
    many = told(capsys, "whatif", file, "x L14 = 1001", *check_of("trisolv"))
    assert "functions of at most 1,000 stages" in many
    other = folder / "other.c"
    other.write_text((FOLDER / "trisolv.c").read_text().replace("i < ", "i + 1 < "))
    given = ["--calibration", FOLDER / "trisolv.toml"]
    line = told(capsys, "whatif", file, "x L14 = 9", "--check", other, *given)
    assert "give the profile's program" in line
    line = told(capsys, "whatif", file, "x L14 = 9", *check_of("trisolv"), "--anew")
    assert "--anew is for Calyx programs" in line


def test_a_run_that_does_not_know_its_firings_is_to_be_measured_anew(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    profile = load(folder / "run.rtl.cyc")
    save(replace(profile, flows=()), folder / "old.cyc")
    line = told(capsys, "whatif", folder / "old.cyc", "x L14 = 3")
    assert "measure the hardware anew: cyclescope bounds --rtl DIR" in line
    assert "measure the hardware anew" in told(capsys, "whatif", folder / "old.cyc", "--best", "1")
    assert main(["critical", str(folder / "old.cyc"), "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert {row["slack"] for row in rows} == {None}
    assert sum(row["critical"] for row in rows) == profile.cycles


# What a profile keeps


def test_flows_are_those_of_the_network_and_survive_a_file(folder: Path, tmp_path: Path) -> None:
    profile = load(folder / "run.rtl.cyc")
    kernel = FOLDER / "trisolv.c"
    bounds = estimate(
        kernel,
        calibration=read_calibration(kernel.with_suffix(".toml")),
        detail=True,
        values=True,
        trace=True,
    )
    assert profile.flows == flows_of(network_of(bounds))
    # Each read takes what its channel's producer sent, each value that is sent is read.
    for flow in profile.flows:
        edge = profile.sites[flow.edge]
        assert isinstance(edge, Edge)
        assert (edge.tokens, edge.reads) == (len(flow.sends), len(flow.reads))
        assert flow.given[-1] == len(flow.sends)
    for seed in range(20):
        drawn = random_network(random.Random(seed))
        save(drawn, tmp_path / f"{seed}.cyc")
        again = load(tmp_path / f"{seed}.cyc")
        assert again == drawn
        assert again.flows == drawn.flows


def _flow(**others: object) -> Profile:
    """A network of two processes with another flow between them."""
    chosen = random.Random(0)
    while True:
        profile = random_network(chosen)
        if len(profile.flows) == 1 and len(profile.flows[0].sends) > 3:
            return replace(profile, flows=(replace(profile.flows[0], **others),))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "others",
    [
        {"edge": 0},
        {"edge": 99},
        {"sends": np.array([], np.int64), "reads": np.array([], np.int64)},
        {"sends": np.array([3, 2, 1, 0])},
        {"sends": np.array([0, 1, 2, 99])},
        {"sends": np.arange(2)},
        {"firings": np.array([-1, 0, 1, 2])},
        {"firings": np.arange(99)},
        {"reads": np.array([0])},
        {"reads": np.array([99, 0, 1, 2])},
    ],
)
def test_a_flow_that_cannot_be_is_refused(others: dict[str, object], tmp_path: Path) -> None:
    check_laws(_flow())
    wrong = _flow(**others)
    with pytest.raises(LawError):
        check_laws(wrong)


def test_a_part_of_a_run_has_no_flows(folder: Path) -> None:
    profile = load(folder / "run.rtl.cyc")
    with pytest.raises(InputError, match="measure the hardware anew"):
        parse_lengths(between(profile, 0, profile.cycles // 2), ["x L14 = 3"])


def test_a_process_that_never_fires_has_neither_slack_nor_leverage() -> None:
    idle = next(filter(None, map(_with_an_idle_one, range(100))))
    number = max(n for n, site in enumerate(idle.sites) if isinstance(site, Process))
    frame = next(f for f in critical(idle).frames if idle.catalog[f.key[0]].name == f"p{number}")
    assert (frame.slack, frame.saved, frame.leverage) == (None, None, None)


def _with_an_idle_one(seed: int) -> Profile | None:
    """A network whose last process never fires; None if that changes the cycles."""
    profile = random_network(random.Random(seed))
    number = max(n for n, site in enumerate(profile.sites) if isinstance(site, Process))
    sites = list(profile.sites)
    sites[number] = replace(sites[number], firings=0)  # type: ignore[call-arg]
    flows = tuple(flow for flow in profile.flows if number not in _ends(profile, flow.edge))
    idle = replace(profile, sites=tuple(sites), flows=flows)
    return idle if flows and stepped(idle) == profile.cycles else None


def _ends(profile: Profile, number: int) -> tuple[int, int]:
    edge = profile.sites[number]
    assert isinstance(edge, Edge)
    return edge.producer, edge.consumer
