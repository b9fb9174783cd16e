"""`cyclescope diff`: formats, files, refusals."""

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
    cyclescope.save(large_profile(20), "a.cyc")
    cyclescope.save(large_profile(25), "b.cyc")


def test_to_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    a, b = cyclescope.load("a.cyc").cycles, cyclescope.load("b.cyc").cycles
    assert main(["diff", "a.cyc", "b.cyc"]) == 0
    assert f"{b - a:+,} cycles" in capsys.readouterr().out
    assert main(["diff", "a.cyc", "b.cyc", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["cycles"] == b - a
    assert main(["diff", "a.cyc", "a.cyc"]) == 0
    assert "no difference" in capsys.readouterr().out


def test_to_files(capsys: pytest.CaptureFixture[str]) -> None:
    page = ["diff", "a.cyc", "b.cyc", "--format", "html"]
    assert main(page) == 2
    assert "-o FILE" in capsys.readouterr().err
    assert main([*page, "-o", "d.html", "--flamegraph", "d.svg"]) == 0
    written = Path("d.html").read_bytes(), Path("d.svg").read_bytes()
    assert main([*page, "-o", "d.html"]) == 3
    assert main([*page, "-o", "d.html", "--flamegraph", "d.svg", "--force"]) == 0
    assert written == (Path("d.html").read_bytes(), Path("d.svg").read_bytes())


def test_no_profile_no_comparison() -> None:
    assert main(["diff", "a.cyc", "none.cyc"]) == 2
    assert main(["diff", "a.cyc"]) == 2


def test_the_name_of_the_output_says_its_format() -> None:
    command = ["diff", "a.cyc", "b.cyc", "-o"]
    for name in ("d.HTML", "d.json", "d.md", "d.svg", "d.txt", "d"):
        assert main([*command, name]) == 0
    assert b"<html" in Path("d.HTML").read_bytes()
    assert json.loads(Path("d.json").read_text())["cycles"]
    assert Path("d.md").read_text().startswith("**")
    assert Path("d.svg").read_bytes().startswith(b"<?xml")
    assert Path("d.txt").read_bytes() == Path("d").read_bytes()
    assert main(["diff", "--format", "text", "a.cyc", "b.cyc", "-o", "d.json", "--force"]) == 0
    assert Path("d.json").read_bytes() == Path("d").read_bytes()
    assert main([*command, "d.png"]) == 3
    for name, first in (("t.csv", b"instance,"), ("t.json", b"[\n"), ("t.parquet", b"PAR1")):
        assert main(["table", "-o", name, "a.cyc", "groups"]) == 0
        assert Path(name).read_bytes().startswith(first), name
    assert main(["advise", "a.cyc", "-o", "a.json"]) == 0
    assert json.loads(Path("a.json").read_text())["cycles"]
