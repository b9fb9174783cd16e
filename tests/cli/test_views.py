"""The verbs that show a profile: files, standard output, refusals."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import cyclescope
from cyclescope.cli import COMMANDS, main
from cyclescope.cli._common import Period, pairs
from strategies import large_profile


@pytest.fixture
def profile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    cyclescope.save(large_profile(20), "p.cyc")
    return Path("p.cyc")


VIEWS = [
    (["flamegraph", "p.cyc"], "p.svg"),
    (["flamegraph", "p.cyc", "--flat"], "p.flat.svg"),
    (["timeline", "p.cyc"], "p.pftrace"),
    (["timeline", "p.cyc", "--gzip"], "p.pftrace.gz"),
    (["export", "p.cyc", "--format", "folded"], "p.folded"),
    (["export", "p.cyc", "--format", "folded-scaled"], "p.scaled.folded"),
    (["export", "p.cyc", "--format", "speedscope"], "p.speedscope.json"),
    (["export", "p.cyc", "--format", "csv", "--table", "trees"], "p.trees.csv"),
]


@pytest.mark.parametrize(("arguments", "name"), VIEWS, ids=[name for _, name in VIEWS])
def test_a_view_writes_one_file_and_never_over_another(
    profile: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], name: str
) -> None:
    assert main(arguments) == 0
    assert sorted(p.name for p in Path().iterdir()) == sorted([profile.name, name])
    assert name in capsys.readouterr().out
    written = Path(name).read_bytes()
    assert written
    assert main(arguments) == 3
    assert "--force" in capsys.readouterr().err
    assert main([*arguments, "--force"]) == 0
    assert Path(name).read_bytes() == written


def test_threads_have_boxes_of_their_own_where_asked_for(profile: Path) -> None:
    run = str(Path(__file__).parents[1] / "analyse" / "data" / "gemm-4-blocked.cyc")
    for way in ("merged", "apart"):
        assert main(["flamegraph", run, "--threads", way, "-o", f"{way}.svg"]) == 0
    merged, apart = (Path(f"{way}.svg").read_text() for way in ("merged", "apart"))
    assert ">thread 0<" in apart
    assert ">thread 0<" not in merged


@pytest.mark.parametrize("named", [False, True])
def test_a_recording_of_several_waveforms_needs_a_name(profile: Path, named: bool) -> None:
    made = Path(__file__).parents[1] / "traces" / "data" / "petal" / "joints"
    shutil.copytree(made, "run")
    (waveform,) = (p for p in Path("run").iterdir() if ".vcd" in p.name or ".fst" in p.name)
    shutil.copy(waveform, f"run/other_{waveform.name}")
    given = ["--waveform", str(waveform)] if named else []
    assert main(["import", "petal", "run", *given, "-o", "out.cyc"]) == (0 if named else 2)


def test_a_definition_without_a_value_is_one() -> None:
    assert pairs(("N=12", "QUICK", "TEXT=a=b", "NONE="), "-D") == {
        "N": "12", "QUICK": "1", "TEXT": "a=b", "NONE": "",
    }  # fmt: skip


def test_standard_output(profile: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(["export", "p.cyc", "--format", "folded", "-o", "-"]) == 0
    printed = capfdbinary.readouterr().out
    assert printed.startswith(b"main")
    assert [p.name for p in Path().iterdir()] == [profile.name]


@pytest.mark.parametrize("kind", ["cells", "groups", "control", "primitives"])
@pytest.mark.parametrize("form", ["text", "csv", "json", "markdown"])
def test_tables(profile: Path, capsys: pytest.CaptureFixture[str], kind: str, form: str) -> None:
    assert main(["table", str(profile), kind, "--format", form]) == 0
    assert capsys.readouterr().out.strip()


def test_a_parquet_table_is_not_for_the_terminal(
    profile: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["table", str(profile), "--format", "parquet"]) == 2
    assert "-o FILE" in capsys.readouterr().err
    assert main(["table", str(profile), "--format", "parquet", "-o", "t.parquet"]) == 0


def test_summary_as_json_has_what_scripts_need(
    profile: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["summary", str(profile), "--format", "json"]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["complete"] is True
    assert summary["useful"] + sum(summary["lost"].values()) == summary["cycles"]


@pytest.mark.parametrize("command", [c for c in COMMANDS if c not in ("calyx", "bounds", "import")])
def test_no_profile_no_view(tmp_path: Path, command: str) -> None:
    extra = ["--format", "folded"] if command == "export" else []
    assert main([command, str(tmp_path / "none.cyc"), *extra]) == 2


def test_a_reader_that_stops_early_hears_no_complaint(profile: Path) -> None:
    command = f"{sys.executable} -m cyclescope export {profile} --format csv --table runs -o -"
    done = subprocess.run(
        ["sh", "-c", f"{command} | head -c 10"], capture_output=True, text=True, check=True
    )
    assert len(done.stdout) == 10
    assert done.stderr == ""


def test_help_is_quick_and_lists_the_commands_in_order(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["--help"]) == 0
    text = capsys.readouterr().out.split("Commands:")[1]
    places = [text.index(f"\n  {name} ") for name in COMMANDS]
    assert places == sorted(places)


def test_help_needs_nothing_heavy() -> None:
    code = (
        "import sys; from cyclescope.cli import main; main(['--help']);"
        "heavy = {'polars', 'numpy', 'google', 'perfetto', 'rich'} & set(sys.modules);"
        "print(heavy, file=sys.stderr); sys.exit(bool(heavy))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_wrong_use_is_told_as_such(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["no-such-verb"]) == 2
    assert "no-such-verb" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "picoseconds"),
    [("10ns", 10_000), ("7.14 ns", 7_140), ("500ps", 500), ("1us", 10**6), ("100MHz", 10_000),
     ("140MHz", 7_143), ("1.5GHz", 667)],
)  # fmt: skip
def test_periods(text: str, picoseconds: int) -> None:
    assert Period().convert(text, None, None) == picoseconds


@pytest.mark.parametrize("text", ["", "10", "0ns", "-1ns", "0.0001ns", "fast", "1e9", "10 parsecs"])
def test_what_is_no_period(profile: Path, text: str) -> None:
    assert main(["timeline", str(profile), "--period", text]) == 2
