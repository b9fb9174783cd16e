"""`cyclescope check` and the pytest plugin: exit codes, files, refusals."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

import cyclescope
from cyclescope.cli import main
from strategies import large_profile


@pytest.fixture(autouse=True)
def profiles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    cyclescope.save(large_profile(20), "fast.cyc")
    cyclescope.save(large_profile(25), "slow.cyc")


def test_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "fast.cyc"]) == 0
    assert "all 1 hold" in capsys.readouterr().out
    assert main(["check", "fast.cyc", "--budget", "cycles<10"]) == 1
    assert "FAIL" in capsys.readouterr().out
    assert main(["check", "fast.cyc", "--budget", "cycels<10"]) == 2
    assert main(["check", "none.cyc"]) == 2
    assert main(["check", "fast.cyc", "--fail-on", "cycles>+1%"]) == 2
    assert "--against" in capsys.readouterr().err


def test_slower_than_before_fails(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "fast.cyc", "--against", "slow.cyc"]) == 0
    assert main(["check", "slow.cyc", "--against", "fast.cyc"]) == 1
    lenient = ["--fail-on", "cycles>+1000%"]
    assert main(["check", "slow.cyc", "--against", "fast.cyc", *lenient]) == 0
    assert "\u2192" in capsys.readouterr().out


def test_files_for_ci() -> None:
    wanted = ["--json", "c.json", "--junit", "c.xml", "--markdown", "c.md"]
    arguments = ["check", "slow.cyc", "--against", "fast.cyc", "--budget", "useful>=1%", *wanted]
    assert main(arguments) == 1
    assert json.loads(Path("c.json").read_text())["passed"] is False
    assert ET.fromstring(Path("c.xml").read_text()).get("failures") == "1"
    assert "| own |" in Path("c.md").read_text()
    assert main(arguments) == 3
    assert main([*arguments, "--force"]) == 1


def test_one_format_alone_on_standard_output(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(["check", "fast.cyc", "--json", "-"]) == 0
    assert json.loads(capfdbinary.readouterr().out)["passed"] is True


TESTS = """
import pytest

def test_good(cyclescope):
    cyclescope.check(cyclescope.load("fast.cyc"), "cycles > 10", "useful >= 1%")

def test_too_slow(cyclescope):
    cyclescope.check(cyclescope.load("slow.cyc"), against="fast.cyc")

def test_over_budget(cyclescope):
    cyclescope.check(cyclescope.load("slow.cyc"), "cycles < 10")

def test_no_limit(cyclescope):
    cyclescope.check(cyclescope.load("slow.cyc"), "cycels < 10")

def test_no_profile(cyclescope):
    cyclescope.load("none.cyc")
"""


def run_pytest(folder: Path, *more: str) -> subprocess.CompletedProcess[str]:
    known = {point.name for point in entry_points(group="pytest11")}
    plugin = [] if "cyclescope" in known else ["-p", "cyclescope.pytest_plugin"]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *plugin, *more]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_the_pytest_plugin(tmp_path: Path) -> None:
    (tmp_path / "test_budgets.py").write_text(TESTS)
    done = run_pytest(tmp_path, "--junitxml=j.xml", "-W", "error")
    assert "4 failed, 1 passed" in done.stdout, done.stdout + done.stderr
    assert "FAIL  cycles > +0" in done.stdout
    assert "  own  " in done.stdout
    assert "FAIL  cycles < 10" in done.stdout
    assert "no figure cycels" in done.stdout
    assert "none.cyc" in done.stdout
    assert "CyclescopeError" not in done.stdout
    assert "Traceback" not in done.stdout
    assert "During handling" not in done.stdout
    found = {p.get("name"): p.get("value") for p in
             ET.parse(tmp_path / "j.xml").getroot().iter("property")}  # fmt: skip
    assert int(found["cycles"] or 0) > 0


def test_the_plugin_runs_any_source(tmp_path: Path) -> None:
    example = Path(__file__).parents[2] / "examples" / "calyx"
    for name in ("switch_if.futil", "switch_if.json"):
        (tmp_path / name).write_bytes((example / name).read_bytes())
    (tmp_path / "test_switch.py").write_text(
        "def test_switch(cyclescope):\n"
        "    run = cyclescope.calyx('switch_if.futil', 'switch_if.json')\n"
        "    cyclescope.check(run.profile, 'cycles == 6')\n"
        "    assert run.memories['mem'] is not None\n"
        "def test_bounds(cyclescope):\n"
        "    run = cyclescope.profile('bounds', 'atax.c', '-D', 'NX=8', '-D', 'NY=8')\n"
        "    cyclescope.check(run, 'cycles < 19948')\n"
        "def test_wrong(cyclescope):\n"
        "    cyclescope.profile('bounds', 'atax.c', '--kernel', 'nothing')\n"
    )
    kernel = example.parent / "bounds" / "polybench" / "atax.c"
    (tmp_path / "atax.c").write_bytes(kernel.read_bytes())
    done = run_pytest(tmp_path)
    assert "1 failed, 2 passed" in done.stdout, done.stdout + done.stderr
    assert "cyclescope: atax.c: no function nothing with a body" in done.stdout
    assert "Traceback" not in done.stdout
