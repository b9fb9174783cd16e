"""Runs that compute something else: marked in profiles, never ranked, told by diff and check."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

import cyclescope
from calyx.wrong_compiler import PROGRAM
from cyclescope import _native
from cyclescope.cli import main
from cyclescope.studies import Objective, Result, figures_of, front

COMPILER = Path(__file__).parents[1] / "calyx" / "wrong_compiler.py"
BYTE = {"numeric_type": "bitnum", "is_signed": False, "width": 8}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program, its data, and a compiler whose comb-prop changes a constant."""
    folder = tmp_path_factory.mktemp("results")
    (folder / "p.futil").write_text(PROGRAM)
    for name, words in (("d.json", [0, 0, 0, 0]), ("e.json", [1, 0, 0, 0])):
        (folder / name).write_text(json.dumps({"m": {"data": words, "format": BYTE}}))
    script = folder / "calyx"
    script.write_text(
        f"#!/bin/sh\nexec '{sys.executable}' '{COMPILER}' 'constant changed' \"$@\"\n"
    )
    script.chmod(0o755)
    _native.write_library(folder / "library")
    return folder


@pytest.fixture(autouse=True)
def inside(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)


OWN = ["--compiler", "./calyx", "--library", "library"]


def profile(name: str, *more: str, data: str = "d.json") -> str:
    """The profile of a run, made once."""
    if not Path(name).exists():
        assert main(["calyx", "p.futil", "--data", data, "-o", name, *more]) == 0
    return name


def right() -> str:
    return profile("right.cyc", "--judge")


def other() -> str:
    """Without a judge, the wrong one says nothing of itself."""
    return profile("other.cyc", *OWN)


@pytest.mark.long
def test_memories_are_kept_as_digests() -> None:
    (memory,) = cyclescope.load(right()).meta.memories
    assert (memory.memory, memory.wrong) == ("m", False)
    assert memory.after == memory.expected != memory.before
    (same,) = cyclescope.load(profile("slow.cyc", "-d", "static-promotion")).meta.memories
    assert (same.before, same.after, same.expected) == (memory.before, memory.after, "")
    (wrong,) = cyclescope.load(other()).meta.memories
    assert wrong.before == memory.before
    assert wrong.after != memory.after


@pytest.mark.long
def test_vary_marks_what_is_wrong(capsys: pytest.CaptureFixture[str]) -> None:
    run = ["calyx", "p.futil", "--data", "d.json", *OWN, "--vary", "comb-prop", "-o", "v.cyc"]
    assert main(run) == 6
    said = capsys.readouterr()
    head, first, second, *_ = said.out.splitlines()
    assert head.split()[-1] == "memories"
    assert first.split()[-1] == "WRONG"
    assert second.split()[-1] == "right"
    assert "p.futil, as compiled: wrong memories: m[1] is " in said.err
    wrong = cyclescope.load("v.cyc")
    assert wrong.meta.memories[0].wrong
    assert [a.name for a in wrong.meta.anomalies] == ["wrong memory"]
    assert main(["check", "v.cyc"]) == 1
    assert "wrong memory" in capsys.readouterr().out
    assert main(["check", "v.no-comb-prop.cyc"]) == 0


def test_a_wrong_run_has_no_figures() -> None:
    """So a sweep does not rank it, however fast it is."""
    wrong = cyclescope.load(other())
    (memory,) = wrong.meta.memories
    reference = cyclescope.load(right()).meta.memories[0].after
    from dataclasses import replace

    from cyclescope.model import Anomaly, Severity

    marked = wrong.with_meta(
        memories=(replace(memory, expected=reference),),
        anomalies=(Anomaly("wrong memory", Severity.ERROR, 1, "m[1] is 18, not 20"),),
    )
    with pytest.raises(cyclescope.errors.InputError, match="wrong memories: m"):
        figures_of(marked)
    best = Result("a", {}, {"cycles": 9}, "", 0.0)
    failed = Result("b", {}, {}, "wrong memories: m[1] is 18, not 20", 0.0)
    assert front([failed, best], [Objective("cycles")]) == [best]


@pytest.mark.long
def test_a_sweep_judges_its_runs(capsys: pytest.CaptureFixture[str]) -> None:
    Path("s.toml").write_text(
        '[study]\ncommand = "calyx"\ninput = "p.futil"\n'
        '[fixed]\ndata = "d.json"\n[space]\nexpect = ["good.json", "bad.json"]\n'
    )
    (after,) = _memories(right())
    Path("good.json").write_text(json.dumps({"m": after}))
    Path("bad.json").write_text(json.dumps({"m": [*after[:3], 0]}))
    assert main(["sweep", "s.toml", "--workers", "1", "-o", "s.sweep"]) == 0
    said = capsys.readouterr()
    assert "good.json" in said.out
    assert "bad.json" not in said.out
    assert "1 of 2 runs failed" in said.err
    assert "m[3] is " in said.err
    stored = next(Path("s.sweep/profiles").glob("*.cyc"))
    assert cyclescope.load(stored).meta.memories[0].expected


def _memories(_profile: str) -> list[list[int]]:
    run = ["calyx", "p.futil", "--data", "d.json", "-o", "m.cyc", "--force", "--memories", "m.json"]
    assert main([*run]) == 0
    return [json.loads(Path("m.json").read_text())["m"]["data"]]


def test_diff_says_that_memories_differ(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", right(), other()]) == 0
    assert "MEMORIES DIFFER after the runs: m;" in capsys.readouterr().out
    assert main(["diff", right(), other(), "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)["memories"]
    assert found == {"compared": ["m"], "differing": ["m"], "other_data": []}
    assert main(["diff", right(), profile("slow.cyc", "-d", "static-promotion")]) == 0
    assert "equal memories after the runs" in capsys.readouterr().out
    assert main(["diff", right(), profile("data.cyc", data="e.json")]) == 0
    assert "other data in m before the runs" in capsys.readouterr().out
    assert main(["diff", right(), other(), "--format", "markdown"]) == 0
    assert "MEMORIES DIFFER" in capsys.readouterr().out


def test_check_fails_where_memories_differ(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", other(), "--against", right(), "--fail-on", "cycles>+1000%"]) == 1
    assert "same memories" in (said := capsys.readouterr().out)
    assert "after the run, not as before: m" in said
    slow = profile("slow.cyc", "-d", "static-promotion")
    assert main(["check", right(), "--against", slow]) == 0
    assert "equal after the run: m" in capsys.readouterr().out
    data = profile("data.cyc", data="e.json")
    assert main(["check", right(), "--against", data]) == 0
    assert "same memories" not in capsys.readouterr().out


def test_a_stopped_run_has_no_results() -> None:
    assert (
        main(["calyx", "p.futil", "--data", "d.json", "-o", "cut.cyc", "--cycle-limit", "9"]) == 5
    )
    assert cyclescope.load("cut.cyc").meta.memories == ()
