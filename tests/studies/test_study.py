"""Study files: what they mean, and what is refused, each in one line that names the file."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cyclescope.errors import InputError
from cyclescope.studies import (
    Objective,
    Option,
    Result,
    Study,
    front,
    make_trial,
    read_study,
    search_of,
)
from cyclescope.studies._results import _plain

if TYPE_CHECKING:
    from pathlib import Path

COMMANDS = {
    "calyx": {
        "data": Option("--data", "", switch=False, multiple=False, path=True),
        "disable-pass": Option("--disable-pass", "", switch=False, multiple=True, path=False),
        "D": Option("-D", "", switch=False, multiple=True, path=False),
        "threads": Option("--threads", "", switch=False, multiple=False, path=False),
        "area": Option("--area", "", switch=True, multiple=False, path=False),
        "reorder": Option("--reorder", "--no-reorder", switch=True, multiple=False, path=False),
    }
}

GOOD = """
[study]
command = "calyx"
input = "p.futil"
files = ["lib/l.futil"]
objectives = ["cycles", "max useful"]
[fixed]
data = "d.json"
"D.M" = 3
area = true
[space]
disable-pass = [[], ["a", "b"]]
"D.N" = { from = 8, to = 16, step = 4 }
reorder = [true, false]
"""


def study(folder: Path, text: str) -> Study:
    (folder / "s.toml").write_text(text)
    return read_study(folder / "s.toml", COMMANDS)


def test_a_point_becomes_a_command(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    for name in ("p.futil", "d.json", "lib/l.futil"):
        (tmp_path / name).write_text(name)
    found = study(tmp_path, GOOD)
    assert found.points == 12
    assert found.objectives == (Objective("cycles"), Objective("useful", largest=True))
    search, points = search_of(found), []
    while (point := search.ask()) is not None:
        points.append(point)
    assert len(points) == 12
    trial = make_trial(found, points[-1])
    assert trial.arguments == (
        "calyx", "p.futil", "--data", "d.json", "-D", "M=3", "--area",
        "--disable-pass", "a", "--disable-pass", "b", "-D", "N=16", "--no-reorder",
    )  # fmt: skip
    assert set(trial.files) == {"p.futil", "d.json", "lib/l.futil"}
    assert make_trial(found, points[0]).arguments[-3:] == ("-D", "N=8", "--reorder")
    digests = {make_trial(found, p).digest for p in points}
    assert len(digests) == 12
    (tmp_path / "lib" / "l.futil").write_text("another")
    assert not digests & {make_trial(found, p).digest for p in points}
    (tmp_path / "d.json").unlink()
    with pytest.raises(InputError, match="cannot be read"):
        make_trial(found, points[0])


def test_a_range_goes_up_by_one_unless_it_says_otherwise(tmp_path: Path) -> None:
    text = GOOD.replace("to = 16, step = 4", "to = 11")
    assert study(tmp_path, text).space["D.N"] == (8, 9, 10, 11)


@pytest.mark.parametrize(
    ("values", "column"),
    [
        ([3, None], [3, None]),
        ([True, None, False], [True, None, False]),
        (["a", "b"], ["a", "b"]),
        ([True, 3], ["true", "3"]),
        ([True, "a", None], ["true", '"a"', None]),
        ([1, 0.5], ["1", "0.5"]),
        ([["a"], []], ['["a"]', "[]"]),
    ],
)
def test_a_column_has_one_type(values: list[object], column: list[object]) -> None:
    assert _plain(values) == column


def test_random_points_are_different_and_the_same_each_time(tmp_path: Path) -> None:
    text = GOOD.replace("objectives", 'search = "random"\ntrials = 7\nseed = 3\nobjectives')

    def points() -> list[str]:
        search = search_of(study(tmp_path, text))
        return [repr(point) for point in iter(search.ask, None)]

    assert points() == points()
    assert len(set(points())) == 7
    many = study(tmp_path, text.replace("trials = 7", "trials = 99"))
    assert len(list(iter(search_of(many).ask, None))) == many.points == 12


BAD = {
    "no TOML": ("[study", "not a study"),
    "no command": ("[space]\nthreads = [1]", "command must be one of calyx"),
    "another command": ("[study]\ncommand = 'summary'", "command must be"),
    "an unknown table": ("[stuff]", "unknown table"),
    "an unknown key": ("[study]\ncommands = 'calyx'", "unknown key commands"),
    "nothing varies": ("[study]\ncommand = 'calyx'\ninput = 'p'", "empty"),
    "an unknown option": (GOOD.replace("reorder", "order"), "order: no such option"),
    "no choices": (GOOD.replace("[true, false]", "[]"), "list of choices"),
    "choices alike": (GOOD.replace("[true, false]", "[true, true]"), "alike"),
    "a switch with a value": (GOOD.replace("[true, false]", "[1, 2]"), "not true or false"),
    "a value that is a switch": (GOOD + "threads = [true]", "not a text or number"),
    "a list for one value": (GOOD + "threads = [[1, 2]]", "one value"),
    "a range backwards": (GOOD.replace("to = 16", "to = 1"), "range"),
    "a range without end": (GOOD.replace(", to = 16", ""), "range"),
    "a huge range": (GOOD.replace("to = 16, step = 4", "to = 999999999"), "more than"),
    "a huge grid": (
        GOOD.replace("to = 16, step = 4", "to = 90000") + "threads = { from = 1, to = 90000 }",
        "points",
    ),
    "fixed and varying": (GOOD + "data = ['d', 'e']", "fixed and varies"),
    "no input": (GOOD.replace('input = "p.futil"', ""), "give the input once"),
    "input twice": (GOOD + "input = ['a', 'b']", "give the input once"),
    "a file elsewhere": (GOOD.replace("d.json", "../d.json"), "leaves"),
    "an absolute file": (GOOD.replace("d.json", "/etc/passwd"), "below the study"),
    "another search": (GOOD.replace("files", "search = 'all'\nfiles"), "search must be"),
    "random without end": (GOOD.replace("files", "search = 'random'\nfiles"), "trials"),
    "an odd objective": (GOOD.replace("max useful", "most useful"), "objective"),
    "an objective twice": (GOOD.replace("max useful", "cycles"), "different"),
    "odd trials": (GOOD.replace("files", "trials = 'ten'\nfiles"), "whole number"),
    "a date": (GOOD + "threads = [2020-01-01]", "no text or number"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_is_no_study(tmp_path: Path, case: str) -> None:
    text, said = BAD[case]
    with pytest.raises(InputError, match=said) as caught:
        study(tmp_path, text)
    assert "s.toml" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        read_study(tmp_path / "none.toml", COMMANDS)


def results(figures: list[tuple[int, int]]) -> list[Result]:
    return [
        Result(f"{number}", {"n": number}, {"cycles": a, "useful": b}, "", 1.0)
        for number, (a, b) in enumerate(figures)
    ]


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=30))
def test_the_front_is_what_no_other_run_beats(figures: list[tuple[int, int]]) -> None:
    runs = results(figures)
    best = front(runs, (Objective("cycles"), Objective("useful", largest=True)))
    chosen = {run.digest for run in best}
    for run in runs:
        a, b = run.figures["cycles"], run.figures["useful"]
        beaten = any((c <= a and d >= b) and (c, d) != (a, b) for c, d in figures)
        assert (run.digest in chosen) is not beaten
    assert [r.figures["cycles"] for r in best] == sorted(r.figures["cycles"] for r in best)


def test_failed_runs_are_not_on_the_front() -> None:
    failed = Result("f", {"n": 1}, {}, "it broke", 0.1)
    assert front([failed], (Objective("cycles"),)) == []
    assert len(front([failed, *results([(3, 1)])], (Objective("cycles"),))) == 1


def test_optuna_finds_the_least(tmp_path: Path) -> None:
    pytest.importorskip("optuna", reason="the extra `sweep` is not installed")
    text = GOOD.replace('objectives = ["cycles", "max useful"]', "").replace(
        "files", 'search = "optuna"\ntrials = 40\nseed = 1\nfiles'
    )
    text = text.replace("from = 8, to = 16, step = 4", "from = 1, to = 64")
    search = search_of(study(tmp_path, text))
    seen = []
    waiting = []
    chance = random.Random(1)
    while (point := search.ask()) is not None:
        waiting.append(point)
        # As with several workers: told later, in another order; some runs fail.
        if len(waiting) == 3:
            chance.shuffle(waiting)
            for done in waiting:
                value = abs(done["D.N"] - 40) + len(done["disable-pass"])
                search.tell(done, None if done["D.N"] == 7 else [float(value)])
                seen.append(value)
            waiting.clear()
    assert len(seen) + len(waiting) == 40
    assert min(seen) <= 3
