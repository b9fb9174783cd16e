"""The neural network: bit-exact in both variants, and what its profile says (Petal, 8.1)."""

from __future__ import annotations

import json
import runpy
import subprocess
import sys
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from cyclescope.analyse import table
from cyclescope.calyx import CalyxRun, profile_program
from cyclescope.model import Kind, check_laws
from meaning import instance_overheads

SCRIPT = Path(__file__).parents[2] / "examples" / "calyx" / "neural_network" / "generate.py"
EXAMPLE = runpy.run_path(str(SCRIPT))


@cache
def run(variant: str) -> CalyxRun:
    with TemporaryDirectory() as folder:
        command = [sys.executable, "-B", str(SCRIPT), "--variant", variant, "-o", folder]
        subprocess.run(command, check=True, capture_output=True)
        work = Path(folder)
        return profile_program(work / f"network_{variant}.futil", work / "network.json")


@pytest.mark.parametrize("variant", ["dynamic", "static"])
def test_the_results_are_the_models_bit_for_bit(variant: str) -> None:
    check_laws(run(variant).profile)
    wanted = EXAMPLE["expected"](EXAMPLE["memories"](64))
    assert any(wanted["hidden"])
    assert 0 in wanted["hidden"]
    for name, values in wanted.items():
        assert run(variant).memories[name]["data"] == values


def test_static_groups_take_the_steps_between_them_away() -> None:
    before, after = run("dynamic").profile, run("static").profile
    lost = instance_overheads(before)["main.net"]
    assert 0.5 < lost.useful / lost.cycles < 0.7
    kept = instance_overheads(after)["main.net"]
    assert kept.useful == lost.useful
    assert after.cycles <= 0.7 * before.cycles
    assert kept.overhead < 0.01 * kept.cycles


def test_the_group_table_says_what_could_be_static() -> None:
    rows = {row.frame.name: row for row in table(run("dynamic").profile, Kind.GROUP)}
    asked = rows["first_ask_weights_0"]
    assert (asked.times, asked.shortest, asked.longest) == (768, 1, 1)
    assert asked.could_be_static
    assert {row.frame.latency for row in table(run("static").profile, Kind.GROUP)} >= {1, 4}


def test_the_model_against_plain_arithmetic() -> None:
    # Exact fractions, rounded down where the hardware drops bits.
    from fractions import Fraction

    one = EXAMPLE["ONE"]
    memories = EXAMPLE["memories"](7)
    features = [Fraction(v, one) for v in memories["features"]]
    first = EXAMPLE["expected"](memories)["hidden"][0]
    total = memories["biases_0"][0]
    for weight, value in zip(memories["weights_0"][:64], features, strict=True):
        total += (Fraction(weight, one) * value * one).__floor__()
    assert first == max(total, 0)


def test_the_data_is_the_same_every_time(tmp_path: Path) -> None:
    for name in ("one", "two"):
        command = [sys.executable, "-B", str(SCRIPT), "-o", str(tmp_path / name)]
        subprocess.run(command, check=True, capture_output=True)
    first, second = (
        json.loads((tmp_path / n / "network.json").read_text()) for n in ("one", "two")
    )
    assert first == second
