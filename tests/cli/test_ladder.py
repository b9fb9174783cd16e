"""`cyclescope ladder`: what it does not take, in one line. What it does: tests/analyse."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cyclescope.cli import main
from cyclescope.model import Gap, Rung, load, save

from ..views.switch import switch_profile


@pytest.mark.parametrize(
    ("text", "status"),
    [("int main(void) { return 0; }\n", 2), ("int main(void) {", 2), ("", 2)],
)
def test_what_is_no_program_for_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, status: int
) -> None:
    source = tmp_path / "k.c"
    source.write_text(text)
    assert main(["ladder", str(source)]) == status
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "k.c" in said


def test_wrong_use(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    none = str(tmp_path / "none.c")
    assert main(["ladder", none]) == 2
    assert main(["ladder", none, "--args", "'"]) == 2
    assert main(["ladder", none, "--kernel", "k"]) == 2
    assert main(["ladder", none, "--calyx", "d.cyc", "--threads", "2"]) == 2
    assert main(["ladder", none, "--calyx", "d.cyc", "--data", "d.json"]) == 2
    assert main(["ladder", none, "--calyx", "d.cyc", "--arg", "n=x"]) == 2
    assert main(["ladder", "run.cyc", "--threads", "2"]) == 2
    existing = tmp_path / "l.txt"
    existing.write_text("")
    assert main(["ladder", none, "-o", str(existing)]) == 3
    assert "Traceback" not in capsys.readouterr().err
    assert main(["ladder", "d.futil"]) == 2
    assert "cyclescope ladder KERNEL.c --calyx d.futil" in capsys.readouterr().err


def test_a_kernel_without_a_region_becomes_a_network(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, out = tmp_path / "k.c", tmp_path / "k.cyc"
    source.write_text(
        "void one(int a[N], int b[N]) { for (int i = 0; i < N; i++) b[i] = a[i] * a[i]; }\n"
        "void two(int a[N]) { a[0] = a[1] + 1; }\n"
    )
    given = ["ladder", str(source), "-D", "N=4"]
    assert main([*given, "--kernel", "one", "-o", str(out)]) == 0
    assert "as a network" in capsys.readouterr().out
    assert load(out).meta.ladder[-1].cycles == load(out).cycles
    assert main(given) == 2
    assert "--kernel one of: one, two" in capsys.readouterr().err
    assert main([*given, "--threads", "2"]) == 2
    assert "has no target region" in capsys.readouterr().err
    assert main([*given, "--kernel", "one", "--threads", "2"]) == 2
    assert "--threads is for hardware threads, --kernel for" in capsys.readouterr().err


def test_a_profile_that_holds_one_is_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run.cyc"
    save(switch_profile(), run)
    assert main(["ladder", str(run)]) == 2
    assert "bounds are not known" in capsys.readouterr().err
    rungs = (Rung("absolute", 5), Rung("the design", 9, (Gap("control", 4, "loops"),)))
    save(switch_profile().with_meta(ladder=rungs), run, force=True)
    assert load(run).meta.ladder == rungs
    assert main(["ladder", str(run)]) == 0
    assert "control" in capsys.readouterr().out
    assert main(["ladder", str(run), "--format", "json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["rungs"]) == 2
    picture = tmp_path / "l.svg"
    assert main(["ladder", str(run), "-o", str(picture)]) == 0
    assert picture.read_bytes().startswith(b"<?xml")


def test_a_calyx_design_beside_its_kernel(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, out = tmp_path / "run.cyc", tmp_path / "out.cyc"
    save(switch_profile(), run)
    kernel = tmp_path / "k.c"
    kernel.write_text("void k(int n, int *x) { for (int i = 0; i < n; i++) x[i] = x[i] + 1; }\n")
    given = ["--arg", "n=4", "--arg", "x=4"]
    assert main(["ladder", str(kernel), "--calyx", str(run), *given, "-o", str(out)]) == 0
    assert "the design" in capsys.readouterr().out
    profile = load(out)
    assert profile.meta.ladder[-1].cycles == profile.cycles == switch_profile().cycles
    threads = Path(__file__).parents[1] / "analyse/data/rows-block.cyc"
    assert main(["ladder", str(kernel), "--calyx", str(threads), *given]) == 2
    assert "not of a Calyx design" in capsys.readouterr().err
