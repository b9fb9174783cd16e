"""`cyclescope report`: which file it writes, what it calls the profiles, what it refuses."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import cyclescope
from cyclescope.cli import main
from strategies import large_profile


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("before", "after"):
        Path(name).mkdir()
        cyclescope.save(large_profile(3), f"{name}/p.cyc")
    cyclescope.save(large_profile(4), "q.cyc")
    return tmp_path


def _names(page: Path) -> list[str]:
    return re.findall(r' data-name="([^"]*)">', page.read_text("utf-8"))


def test_a_report_stands_beside_its_profile(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["report", "q.cyc"]) == 0
    assert capsys.readouterr().out == "report: q.html\n"
    assert _names(Path("q.html")) == ["q"]
    assert "<title>q \u2013 cyclescope</title>" in Path("q.html").read_text("utf-8")


def test_profiles_are_called_as_they_are_told_apart(folder: Path) -> None:
    assert main(["report", "before/p.cyc", "q.cyc", "-o", "r.html"]) == 0
    assert _names(Path("r.html")) == ["p", "q"]
    assert main(["report", "before/p.cyc", "after/p.cyc", "-o", "s.html"]) == 0
    assert _names(Path("s.html")) == ["before/p.cyc", "after/p.cyc"]


def test_what_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report"]) == 2
    assert main(["report", "none.cyc"]) == 2
    assert "none.cyc" in capsys.readouterr().err
    assert main(["report", "q.cyc", "--embed-source", "some"]) == 2
    Path("q.html").write_text("mine")
    assert main(["report", "q.cyc"]) == 3
    assert Path("q.html").read_text() == "mine"
    Path("bad.cyc").write_bytes(Path("q.cyc").read_bytes()[:-30])
    assert main(["report", "q.cyc", "bad.cyc", "-o", "both.html"]) == 2
    assert not Path("both.html").exists()


def test_standard_output(folder: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(["report", "q.cyc", "-o", "-"]) == 0
    printed = capfdbinary.readouterr().out
    assert printed.startswith(b"<!doctype html>")
    assert printed.rstrip().endswith(b"</html>")
