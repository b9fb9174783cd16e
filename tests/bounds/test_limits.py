"""The limits of a kernel, by kind; pipeline efficiency; the curve between the bounds."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest
from click.testing import CliRunner

from cyclescope.bounds import Bounds, Calibration, LimitKind, Resources, StatementRule, estimate
from cyclescope.cli import program

FOLDER = Path(__file__).parents[2] / "examples" / "bounds" / "polybench"
HEAD = "void kernel(double a[40], double b[40], double c[40])\n{\ndouble s = 0, t = 0;\n"


def bounds(body: str, *rules: StatementRule) -> Bounds:
    calibration = Calibration(statements=rules)
    return estimate("k.c", text=f"{HEAD}{body}\n}}\n", detail=True, calibration=calibration)


def limits(found: Bounds, name: str = "absolute") -> list[tuple[LimitKind, list[str], int]]:
    assert found.detail is not None
    rows = found.detail.limits[name]
    total = found.absolute.cycles if name == "absolute" else found.unbounded.cycles
    assert sum(row.cycles for row in rows) == total
    assert [row.cycles for row in rows] == sorted((row.cycles for row in rows), reverse=True)
    return [(row.kind, [p.name for p in row.processes], row.cycles) for row in rows]


def test_a_sum_is_a_recurrence_in_both_estimates() -> None:
    found = bounds("for (int i = 0; i < 40; i++) s += a[i] * b[i];\nc[0] = s;")
    for name in ("absolute", "unbounded"):
        # 39 results are awaited by the next one of the 40, 18 deep with read and write.
        assert limits(found, name)[0] == (LimitKind.RECURRENCE, ["s L4"], 39 * 20)
    assert found.absolute.pipeline_efficiency is not None
    # The sum starts every 20 cycles; the copy once.
    assert found.absolute.pipeline_efficiency == Fraction(40 * 18 + 1, (39 * 20 + 1) * 18 + 1)


def test_a_recurrence_through_two_statements() -> None:
    found = bounds("for (int i = 0; i < 40; i++) {\nt = s * a[i];\ns = t + b[i];\n}\nc[0] = s;")
    kind, names, cycles = limits(found)[0]
    assert (kind, names) == (LimitKind.RECURRENCE, ["t L5", "s L6"])
    # Each 10 deep and 12 to the next; the first t and the last s are at the ends.
    assert cycles == (2 * 40 - 1) * 12


def test_a_statement_that_starts_seldom_limits_by_its_throughput() -> None:
    rule = StatementRule(label="slow", interval=7)
    found = bounds("for (int i = 0; i < 40; i++) slow: c[i] = a[i] * b[i];", rule)
    assert limits(found)[0] == (LimitKind.THROUGHPUT, ["slow"], 39 * 7)
    assert found.absolute.pipeline_efficiency == 1
    assert LimitKind.THROUGHPUT not in {kind for kind, *_ in limits(found, "unbounded")}


def test_a_stream_is_bound_by_its_input_and_a_chain_by_its_latency() -> None:
    body = "for (int i = 0; i < 40; i++) c[i] = a[i] * b[i];"
    kind, names, cycles = limits(bounds(body))[0]
    assert (kind, cycles) == (LimitKind.INPUT, 39 + 3)
    assert names[0] in ("source a", "source b")
    chain = bounds("s = a[0] * 2.0;\nt = s * 2.0;\nc[0] = t * 2.0;")
    kind, names, cycles = limits(chain, "unbounded")[0]
    assert (kind, cycles) == (LimitKind.LATENCY, 36)
    assert sorted(names) == ["c L6", "s L4", "t L5"]


def test_without_details_only_a_throughput_is_known() -> None:
    found = estimate(FOLDER / "atax.c")
    assert found.detail is None
    runner = CliRunner()
    said = runner.invoke(program, ["bounds", str(FOLDER / "atax.c"), "--no-detail"]).stdout
    # 1,024 firings, one a cycle: 1,023 cycles between the first and the last.
    assert "throughput of tmp L19, at least 1,023 cycles (5.1 %)" in said
    told = runner.invoke(program, ["bounds", str(FOLDER / "atax.c"), "--no-detail", "--json"])
    assert json.loads(told.stdout)["absolute_estimate"]["limits"] is None


def test_the_curve_goes_on_until_it_meets_the_bound() -> None:
    found = estimate(FOLDER / "atax.c", resources=Resources((1, 2), onwards=True))
    points = [(point.resources, point.cycles) for point in found.curve]
    assert points[0] == (1, 19948)
    assert points[-1][1] == 1286 < points[-2][1]
    assert [r for r, _ in points] == [2**n for n in range(len(points))]
    assert [c for _, c in points] == sorted((c for _, c in points), reverse=True)
    for point in found.curve:
        assert int(point.parallelism.sum()) == point.work == found.absolute.work


def test_command_prints_and_draws_the_curve(tmp_path: Path) -> None:
    drawn = tmp_path / "curve.svg"
    words = ["bounds", str(FOLDER / "atax.c"), "--no-detail", "--resources", "1,4,...", "--json"]
    told = CliRunner().invoke(program, [*words, "--curve", str(drawn)])
    rows = json.loads(told.stdout)["resources"]
    assert [row["resources"] for row in rows][:3] == [1, 4, 8]
    assert rows[0]["cycles"] == 19948
    assert rows[-1]["cycles"] == 1286
    assert all(0 < row["pipeline_efficiency"] <= 1 for row in rows)
    text = drawn.read_text()
    assert text.count("<circle") == len(rows)
    assert "19,948" in text
    assert "1,286" in text


@pytest.mark.parametrize("given", ["0", "a", "", "...", "1,-2", "1,,2", "99999999999"])
def test_numbers_of_resources_that_are_none(given: str) -> None:
    told = CliRunner().invoke(program, ["bounds", str(FOLDER / "atax.c"), "--resources", given])
    assert told.exit_code == 2
    assert "no list of numbers" in told.output


def test_resources_of_a_program_by_its_own_main(tmp_path: Path) -> None:
    """The same call, longest of three, is estimated again with the same values."""
    file = tmp_path / "p.c"
    file.write_text(
        "double a[32], s;\n"
        "void kernel(int n) { for (int i = 0; i < n; i++) s += a[i]; }\n"
        "int main(void) { kernel(3); kernel(20); kernel(5); return 0; }\n"
    )
    found = estimate(file, kernel="kernel", resources=Resources((1, 2), onwards=True))
    assert found.records.call == 2
    assert len(found.records.calls) == 3
    for point in found.curve:
        assert {row.process.name: row.count for row in point.firings} == {
            row.process.name: row.count for row in found.absolute.firings
        }
    assert found.curve[-1].cycles == found.unbounded.cycles > 20 * 12


def test_a_kernel_without_a_firing(tmp_path: Path) -> None:
    file = tmp_path / "k.c"
    file.write_text("void kernel(int a[2]) { }\n")
    drawn = tmp_path / "k.svg"
    told = CliRunner().invoke(program, ["bounds", str(file), "--curve", str(drawn)])
    assert told.exit_code == 0
    assert "absolute bounded by   nothing: no firing" in told.stdout
    assert drawn.exists()
