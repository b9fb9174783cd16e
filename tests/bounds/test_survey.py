"""Many kernels side by side: the table, the picture, what is left out."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner, Result

from cyclescope.bounds import estimate, read_calibration
from cyclescope.cli import program
from cyclescope.views import DesignSpace, design_space_svg

SCALE = "void kernel(double a[9], double b[9]) { for (int i = 0; i < 9; i++) b[i] = a[i] * 2.0; }\n"
SUM = """double kernel_sum(double a[N]) {
    double s = 0;
    for (int i = 0; i < N; i++)
        s += a[i];
    return s;
}
int helper(int v) { return v; }
"""
SPACE = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    own = tmp_path / "kernels"
    (own / "deep").mkdir(parents=True)
    (own / "scale.c").write_text(SCALE)
    (own / "scale.toml").write_text("read = 4\n")
    (own / "deep" / "sum.c").write_text(SUM)
    return own


def survey(*words: object) -> Result:
    return CliRunner().invoke(program, ["survey", *map(str, words)])


def test_every_kernel_of_a_folder(folder: Path, tmp_path: Path) -> None:
    picture = tmp_path / "all.svg"
    told = survey(folder, "-D", "N=12", "-o", picture, "--json")
    assert told.exit_code == 0
    rows = {Path(row["file"]).stem: row for row in json.loads(told.stdout)}
    assert [*rows] == ["sum", "scale"]
    alone = {
        "sum": estimate(folder / "deep" / "sum.c", defines={"N": "12"}, detail=True),
        "scale": estimate(
            folder / "scale.c", calibration=read_calibration(folder / "scale.toml"), detail=True
        ),
    }
    for name, found in alone.items():
        for one in found.estimates:
            row = rows[name][one.name]
            assert row["cycles"] == one.cycles
            assert row["maximum_parallelism"] == one.maximum_parallelism
            assert row["average_parallelism"] == float(one.average_parallelism)
            assert sum(limit["cycles"] for limit in row["limits"]) == one.cycles
    assert rows["sum"]["absolute"]["limits"][0]["kind"] == "recurrence"
    root = ElementTree.parse(picture).getroot()
    assert len(root.findall(f"{SPACE}g/{SPACE}circle")) == 2 * 2 * len(rows)
    table = survey(folder, "-D", "N=12").stdout.splitlines()
    assert len(table) == 2 + len(rows)
    assert "recurrence of s L4" in table[2]


def test_what_cannot_be_bounded_is_named_and_the_rest_is_not_lost(folder: Path) -> None:
    (folder / "broken.c").write_text("void kernel(int a[2]) { a[0] = nothing; }\n")
    told = survey(folder, "-D", "N=12", "--no-detail")
    assert told.exit_code == 1
    assert len(told.stdout.splitlines()) == 2 + 2
    assert "not bounded: " in told.stderr
    assert "broken.c:1" in told.stderr
    assert "Traceback" not in told.output


@pytest.mark.parametrize("words", [["none"], ["empty"], ["all.svg"], ["kernels", "-D", "1=2"]])
def test_nothing_to_survey_is_one_line(words: list[str], folder: Path) -> None:
    from cyclescope.cli import main

    (folder.parent / "empty").mkdir()
    assert main(["survey", str(folder.parent / words[0]), *words[1:]]) in (2, 5)


def test_a_file_of_every_program_is_no_kernel_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "one.c").write_text(
        "int start(void);\nvoid kernel(int a[3]) { a[1] = a[0] + a[2]; }\n"
        "int main(void) { int a[3] = {1, 2, 3}; kernel(a); return start(); }\n"
    )
    (tmp_path / "shared.c").write_text("int start(void) { return 0; }\n")
    told = survey(tmp_path, "--with", tmp_path / "shared.c", "--json")
    assert told.exit_code == 0
    (row,) = json.loads(told.stdout)
    assert row["made_up"] == []


def test_the_picture_is_safe_whatever_the_values() -> None:
    hostile = "</text><script>\x00\u202e&"
    rows = [
        DesignSpace(hostile, (0.0, 0.0), (0.0, 0.0)),
        DesignSpace("b", (0.5, 12.25), (1.0, 1e6)),
    ]
    for given in ([], rows):
        drawn = design_space_svg("a < b", given)
        assert b"<script" not in drawn
        ElementTree.fromstring(drawn)
