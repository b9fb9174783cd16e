"""`--level` in every view, and the source view."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

import cyclescope
from cyclescope.cli import main
from cyclescope.model import Position
from strategies import large_profile


@pytest.fixture
def profile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    made = large_profile(20)
    frames = tuple(
        replace(f, positions=(*f.positions, Position("dahlia", "k.fuse", i // 3 + 1)))
        for i, f in enumerate(made.catalog)
    )
    text = "\n".join(f"statement {i};" for i in range(len(frames)))
    cyclescope.save(replace(made, catalog=frames, sources={"k.fuse": text}), "p.cyc")
    return Path("p.cyc")


@pytest.mark.parametrize(
    "arguments",
    [
        ["summary", "p.cyc"],
        ["table", "p.cyc", "groups"],
        ["table", "p.cyc", "lines"],
        ["source", "p.cyc"],
        ["flamegraph", "p.cyc", "-o", "-"],
        ["diff", "p.cyc", "p.cyc", "--format", "json", "--flamegraph", "d.svg", "--force"],
        ["advise", "p.cyc", "--format", "json"],
        ["check", "p.cyc", "--budget", "times(main/k.fuse:2 statement 1;)>0"],
        ["export", "p.cyc", "--format", "folded-scaled", "-o", "-"],
        ["export", "p.cyc", "--format", "speedscope", "-o", "-"],
    ],
    ids=lambda arguments: " ".join(arguments[::2]),
)
def test_every_view_has_levels(
    profile: Path, capfdbinary: pytest.CaptureFixture[bytes], arguments: list[str]
) -> None:
    assert main([*arguments, "--level", "dahlia"]) == 0
    shown = capfdbinary.readouterr().out + b"".join(p.read_bytes() for p in Path().glob("*.svg"))
    assert b"k.fuse" in shown
    assert main([*arguments, "--level", "cobol"]) == 2
    message = capfdbinary.readouterr().err.decode()
    assert "no positions at level cobol; this profile has calyx, dahlia" in message
    assert len(message.splitlines()) == 1


def test_a_report_of_a_level(profile: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = []
    monkeypatch.setattr(
        "cyclescope.views.write_report", lambda named, _stream, **_options: shown.extend(named)
    )
    assert main(["report", "p.cyc", "--level", "dahlia"]) == 0
    [(name, at_level)] = shown
    assert name == "p"
    assert "k.fuse:2 statement 1;" in {frame.name for frame in at_level.catalog}
    assert main(["report", "p.cyc", "--level", "cobol", "--force"]) == 2


def test_advice_is_the_same_at_other_places(
    profile: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = []
    for level in ([], ["--level", "dahlia"]):
        assert main(["advise", "p.cyc", "--format", "json", *level]) == 0
        found.append(json.loads(capsys.readouterr().out)["advice"])
    assert found[0]
    for advice, file in zip(found, ("prog.futil", "k.fuse"), strict=True):
        for site in (site for finding in advice for site in finding["sites"]):
            assert (site.pop("file"), site.pop("line") > 0) == (file, True)
    assert found[0] == found[1]


def test_a_timeline_of_a_level(profile: Path) -> None:
    assert main(["timeline", "p.cyc", "--level", "dahlia"]) == 0
    assert b"k.fuse:2 statement 1;" in Path("p.pftrace").read_bytes()


def test_the_source_as_text_and_as_a_picture(
    profile: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("heat.svg", "heat.txt"):
        assert main(["source", "p.cyc", "--level", "dahlia", "-o", name]) == 0
        assert main(["source", "p.cyc", "--level", "dahlia", "-o", name]) == 3
    assert Path("heat.svg").read_text().startswith("<?xml")
    assert "statement 1;" in Path("heat.txt").read_text()
