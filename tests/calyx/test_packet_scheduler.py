"""The packet scheduler's generator, its software model and its check, without a simulator."""

import json
import runpy
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

FOLDER = Path(__file__).parents[2] / "examples" / "calyx" / "packet_scheduler"


def load(name: str):
    """Import a module of the example as its own scripts do, and leave no trace of that."""
    before = set(sys.modules)
    sys.path.insert(0, str(FOLDER))
    try:
        return runpy.run_path(str(FOLDER / f"{name}.py"))
    finally:
        sys.path.remove(str(FOLDER))
        for module in set(sys.modules) - before:
            if str(FOLDER) in str(getattr(sys.modules[module], "__file__", "")):
                del sys.modules[module]


WORKLOAD = load("workload")
SCHEDULER = load("scheduler")
Design, PUSH, POP = SCHEDULER["Design"], SCHEDULER["PUSH"], SCHEDULER["POP"]


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-B", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=FOLDER, check=False)


def plain_scheduler(commands, packets, flows, depth, flow_range):
    """A second route to the answers: one list in order of arrival, searched for each pop."""
    waiting, answers, dropped = [], [], 0
    for command, packet in zip(commands, packets, strict=True):
        if command == PUSH:
            flow = packet // flow_range
            if sum(other // flow_range == flow for other in waiting) == depth:
                dropped += 1
            else:
                waiting.append(packet)
        elif waiting:
            chosen = min(waiting, key=lambda packet: packet // flow_range)
            waiting.remove(chosen)
            answers.append(chosen)
        else:
            answers.append(0)
    return answers, dropped


@given(
    st.lists(st.tuples(st.booleans(), st.integers(1, 59)), max_size=80),
    st.integers(1, 4),
)
def test_the_model_serves_flows_in_strict_order(steps, depth):
    commands = [PUSH if is_push else POP for is_push, _ in steps] or [POP]
    packets = [packet for _, packet in steps] or [0]
    design = Design("par", len(commands), flows=6, depth=depth, flow_range=10)
    result = WORKLOAD["simulate"](design, WORKLOAD["Workload"](commands, packets))
    answers, dropped = plain_scheduler(commands, packets, 6, depth, 10)
    assert result.answers == answers + [0] * (len(commands) - len(answers))
    assert result.counts == [len(answers), dropped, answers.count(0)]


def test_the_workload_is_the_same_every_time_and_uses_everything():
    design = Design("nested", 2000)
    first, again = (WORKLOAD["make_workload"](design) for _ in range(2))
    assert first == again
    assert first != WORKLOAD["make_workload"](design, seed=1)
    flows = Counter(packet // design.flow_range for packet in first.packets if packet)
    assert sorted(flows) == list(range(6))
    counts = WORKLOAD["simulate"](design, first).counts
    assert all(count > 0 for count in counts)


def test_the_variants_differ_in_their_control_only():
    texts = {variant: SCHEDULER["scheduler"](Design(variant, 10)) for variant in ("par", "nested")}
    outside = {
        variant: [part.split("  control {")[0] for part in text.split("\ncomponent ")[1:]]
        for variant, text in texts.items()
    }
    assert outside["par"] == outside["nested"]
    assert texts["par"] != texts["nested"]
    assert "} else {" in texts["nested"]


@pytest.mark.parametrize("size", ["commands", "flows", "depth", "flow_range"])
def test_a_design_of_size_zero_is_refused(size):
    with pytest.raises(ValueError, match=f"{size} must be at least 1"):
        Design("par", **({"commands": 1} | {size: 0}))


def test_generate_and_check_agree(tmp_path):
    for variant in ("par", "nested"):
        done = run("generate.py", "--commands", 60, "--variant", variant, "-o", tmp_path)
        assert done.returncode == 0, done.stderr
        assert (tmp_path / f"scheduler_{variant}.futil").exists()
    data = json.loads((tmp_path / "scheduler.json").read_text())
    workload = WORKLOAD["Workload"](data["commands"]["data"], data["packets"]["data"])
    result = WORKLOAD["simulate"](Design("par", 60), workload)
    data["answers"]["data"] = list(result.answers)
    data["counts"]["data"] = list(result.counts)
    memories = tmp_path / "memories.json"
    memories.write_text(json.dumps(data))
    done = run("check.py", memories)
    assert done.returncode == 0
    assert done.stdout.startswith(f"All right: {result.counts[0]} pops")

    data["answers"]["data"][3] += 1
    memories.write_text(json.dumps(data))
    done = run("check.py", memories)
    assert done.returncode == 1
    assert "answers: 1 of 60 wrong, first at 3" in done.stdout


@pytest.mark.parametrize("content", ["", "[1, 2]", '{"commands": 3}', "{}"])
def test_check_refuses_foreign_files_with_one_line(tmp_path, content):
    (tmp_path / "scheduler.json").write_text(content)
    (tmp_path / "memories.json").write_text(content)
    done = run("check.py", tmp_path / "memories.json")
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert "data" in done.stderr.splitlines()[-1]


def test_check_names_a_missing_file(tmp_path):
    done = run("check.py", tmp_path / "nothing.json")
    assert done.returncode == 2
    assert "scheduler.json: No such file" in done.stderr
