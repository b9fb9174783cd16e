"""`calyx --vary`: the same program without a pass, side by side."""

from __future__ import annotations

from pathlib import Path

import pytest

import cyclescope
from cyclescope.cli import main

EXAMPLES = Path(__file__).parents[2] / "examples" / "calyx"
RUN = ["calyx", str(EXAMPLES / "multiply.futil"), "--data", str(EXAMPLES / "multiply.json")]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_the_multiplication_with_and_without_promotion(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*RUN, "--vary", "static-promotion,cell-share", "-o", "m.cyc"]) == 0
    table = capsys.readouterr().out.splitlines()
    assert table[1].split()[3:5] == ["6", "6"]
    assert table[2].split()[3:8] == ["14", "+133.3", "%", "9", "5"]
    assert table[3].split()[3:6] == ["6", "±0.0", "%"]
    names = ["m.cyc", "m.no-static-promotion.cyc", "m.no-cell-share.cyc"]
    assert [cyclescope.load(name).cycles for name in names] == [6, 14, 6]
    assert f"cyclescope timeline {' '.join(names)}" in table[-1]
    assert main(["timeline", *names, "-o", "all.svg"]) == 0
    assert "no static-promotion · 14 cycles" in Path("all.svg").read_text()
    assert main(["timeline", *names]) == 0
    assert Path("m.pftrace").read_bytes().count(b"multiply.futil") >= 3
    assert main([*RUN, "--vary", "static-promotion,cell-share", "-o", "m.cyc"]) == 3


def test_equal_titles_are_told_apart_by_their_files() -> None:
    for name in ("one", "two"):
        assert main([*RUN, "-o", f"{name}.cyc"]) == 0
    assert main(["timeline", "one.cyc", "two.cyc", "-o", "both.svg"]) == 0
    text = Path("both.svg").read_text()
    assert "one: multiply.futil · 6 cycles" in text
    assert "two: multiply.futil · 6 cycles" in text


@pytest.mark.parametrize(
    ("more", "status", "said"),
    [
        (["--vary", "no-such-pass"], 2, "no-such-pass"),
        (["--vary", " , "], 2, "name a pass"),
        (["--vary", "cell-share", "--memories", "m.json"], 2, "--memories"),
        (["--vary", "cell-share", "--area-report", "r.rpt"], 2, "--area-report"),
    ],
)
def test_wrong_use(
    more: list[str], status: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*RUN, *more]) == status
    assert said in capsys.readouterr().err


def test_no_profile_given(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["timeline"]) == 2
    assert "PROFILE" in capsys.readouterr().err
