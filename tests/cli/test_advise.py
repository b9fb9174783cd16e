"""`cyclescope advise`: formats and refusals."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import cyclescope
from cyclescope.cli import main
from strategies import large_profile


@pytest.fixture(autouse=True)
def profiles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    cyclescope.save(large_profile(20), "p.cyc")


def test_formats(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["advise", "p.cyc"]) == 0
    assert "cyclescope timeline p.cyc" in capsys.readouterr().out
    assert main(["advise", "p.cyc", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["advice"]
    assert main(["advise", "p.cyc", "--format", "markdown", "-o", "a.md"]) == 0
    assert found["advice"][0]["rule"] in Path("a.md").read_text()
    assert main(["advise", "p.cyc", "--format", "markdown", "-o", "a.md"]) == 3


def test_the_place_it_names_can_be_looked_at(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["advise", "p.cyc"]) == 0
    looks = [
        line.split("look: cyclescope ")[1].split()
        for line in capsys.readouterr().out.splitlines()
        if "look: " in line
    ]
    for number, look in enumerate(looks):
        assert main([*look, "-o", f"{number}.pftrace"]) == 0
