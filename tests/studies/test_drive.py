"""Studies that are run: here, stopped and taken up again, and on a cluster that loses a worker."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest

import cyclescope
from cyclescope.cli import main
from cyclescope.cli._sweep import _commands
from cyclescope.errors import InputError, ToolError
from cyclescope.model import Runs
from cyclescope.studies import Outcome, Store, make_trial, read_study, run_study, run_trial

from ..views.switch import switch_profile

if TYPE_CHECKING:
    from collections.abc import Callable

    from cyclescope.model import Profile
    from cyclescope.studies import Result, Study, Trial

KERNEL = """
double A[N], B[N];
void scale(void) {
  for (int i = 0; i < N; i++)
    B[i] = A[i] * 3.0;
}
"""
STUDY = """
[study]
command = "bounds"
input = "k.c"
objectives = ["cycles", "unbounded"]
[space]
"D.N" = [4, 8, 16]
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "k.c").write_text(KERNEL)
    (tmp_path / "s.toml").write_text(STUDY)
    return tmp_path


def study() -> Study:
    return read_study(Path("s.toml"), _commands())


def test_the_sources_options_are_known() -> None:
    known = _commands()
    assert {"calyx", "bounds"} <= known.keys()
    assert known["calyx"]["data"].path
    assert known["calyx"]["disable-pass"].multiple
    assert known["bounds"]["D"].flag == "-D"
    assert not known["calyx"].keys() & {"o", "output", "force"}


def test_a_grid_from_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sweep", "s.toml", "--workers", "2"]) == 0
    said = capsys.readouterr().out
    table = pl.read_parquet("s.sweep/results.parquet")
    assert table["D.N"].to_list() == [4, 8, 16]
    cycles = table["cycles"].to_list()
    assert cycles == sorted(set(cycles))
    assert table["best"].to_list() == [True, False, False]
    assert not any(table["failure"].to_list())
    assert str(cycles[0]) in said
    assert Path("s.sweep/pareto.svg").read_text().count("<circle") == 3
    for digest, total in zip(table["digest"].to_list(), cycles, strict=True):
        assert cyclescope.load(f"s.sweep/profiles/{digest}.cyc").cycles == total
    # Known runs are not made again; new points are.
    made = {p.name: p.stat().st_mtime_ns for p in Path("s.sweep/trials").iterdir()}
    Path("s.toml").write_text(STUDY.replace("16]", "16, 32]"))
    assert main(["sweep", "s.toml"]) == 0
    again = {p.name: p.stat().st_mtime_ns for p in Path("s.sweep/trials").iterdir()}
    assert len(again) == 4
    assert made.items() <= again.items()


def made(profile: Profile) -> bytes:
    cyclescope.save(profile, "made.cyc", force=True)
    return Path("made.cyc").read_bytes()


def quick() -> Callable[[Trial], Outcome]:
    """Runs that take no time: the profile has as many cycles as the point says; -1 fails."""
    profile = switch_profile(anomalies=(), options={"absolute": "9", "unbounded": "3"})
    known = {
        n: made(replace(profile, schedule=Runs(profile.schedule.cycles * n, profile.schedule.tree),
                        series=()))
        for n in range(1, 40)
    }  # fmt: skip

    def call(trial: Trial) -> Outcome:
        size = trial.point["D.N"]
        return Outcome(known[size], "", 0.1) if size > 0 else Outcome(b"", "k.c:5: no size", 0.1)

    return call


def test_failures_are_kept_told_and_tried_again_if_asked() -> None:
    Path("s.toml").write_text(STUDY.replace("[4, 8, 16]", "[4, -1]"))
    told: list[tuple[int, bool]] = []

    def tell(result: Result, was_known: bool) -> None:
        told.append((result.point["D.N"], was_known))

    store, call = Store(Path("r")), quick()
    found = run_study(study(), store, workers=2, progress=tell, call=call)
    assert [result.failure for result in found] == ["", "k.c:5: no size"]
    assert sorted(told) == [(-1, False), (4, False)]
    told.clear()
    run_study(study(), store, progress=tell, call=call)
    assert sorted(told) == [(-1, True), (4, True)]
    told.clear()
    run_study(study(), store, retry=True, progress=tell, call=call)
    assert sorted(told) == [(-1, False), (4, True)]


def test_when_all_fails_the_command_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    Path("s.toml").write_text(STUDY.replace("[4, 8, 16]", "[-1]"))
    assert main(["sweep", "s.toml"]) == 5
    said = capsys.readouterr().err
    assert "1 of 1 runs failed: " in said
    assert "k.c" in said


def test_a_worker_that_breaks_is_a_failed_run() -> None:
    Path("s.toml").write_text(STUDY.replace("[4, 8, 16]", "[4]"))

    def broken(trial: Trial) -> Outcome:
        raise OSError("out of everything")

    (found,) = run_study(study(), Store(Path("r")), call=broken)
    assert found.failure == "the worker failed: OSError: out of everything"
    (found,) = run_study(study(), Store(Path("q")), call=lambda _: Outcome(b"no profile", "", 1.0))
    assert "not a profile" in found.failure


def test_a_stopped_run_has_no_figures() -> None:
    Path("s.toml").write_text(STUDY.replace("[4, 8, 16]", "[4]"))
    stopped = made(switch_profile(complete=False, stop_reason="cycle limit"))
    (found,) = run_study(study(), Store(Path("r")), call=lambda _: Outcome(stopped, "", 1.0))
    assert found.failure == "stopped before its end (cycle limit)"


def test_a_damaged_record_is_made_anew() -> None:
    Path("s.toml").write_text(STUDY.replace("[4, 8, 16]", "[4]"))
    call = quick()
    first = run_study(study(), Store(Path("r")), call=call)
    (record,) = Path("r/trials").iterdir()
    record.write_text(record.read_text()[:40])
    again = run_study(study(), Store(Path("r")), call=call)
    assert [r.figures for r in again] == [r.figures for r in first]
    assert json.loads(record.read_text())["digest"] == first[0].digest


@pytest.mark.long
def test_a_run_that_takes_too_long_is_ended() -> None:
    Path("k.c").write_text(KERNEL.replace("i++", "i += A[i] == A[i] ? 0 : 1"))
    Path("s.toml").write_text(STUDY.replace('"k.c"', '"k.c"\ntime_limit = 2'))
    outcome = run_trial(make_trial(study(), {"D.N": 4}))
    assert not outcome.profile
    assert outcome.failure
    assert outcome.seconds < 30


def test_an_objective_that_runs_do_not_have() -> None:
    Path("s.toml").write_text(STUDY.replace('"unbounded"', '"area"'))
    with pytest.raises(InputError, match="objective area is not a figure"):
        run_study(study(), Store(Path("r")), call=quick())


def test_optuna_drives_and_repeats_nothing() -> None:
    pytest.importorskip("optuna", reason="the extra `sweep` is not installed")
    Path("s.toml").write_text(
        STUDY.replace("objectives", 'search = "optuna"\ntrials = 30\nobjectives')
    )
    calls: list[int] = []
    known = quick()

    def counted(trial: Trial) -> Outcome:
        calls.append(trial.point["D.N"])
        return known(trial)

    found = run_study(study(), Store(Path("r")), workers=2, call=counted)
    assert sorted(calls) == sorted(r.point["D.N"] for r in found)
    assert 2 <= len(found) <= 3


def test_ctrl_c_ends_all_and_keeps_what_is_done() -> None:
    Path("s.toml").write_text(STUDY.replace("[4, 8, 16]", "{ from = 2, to = 60 }"))
    command = [sys.executable, "-m", "cyclescope", "sweep", "s.toml", "--workers", "2"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        trials = Path("s.sweep/trials")
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and not list(trials.glob("*.json")):
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in said
    done = len(list(trials.glob("*.json")))
    assert 1 <= done < 59


def test_no_cluster_no_run() -> None:
    pytest.importorskip("distributed", reason="the extra `dask` is not installed")
    with pytest.raises(ToolError, match="no Dask scheduler answers"):
        run_study(study(), Store(Path("r")), dask="not an address")


def slowly(call: Callable[[Trial], Outcome]) -> Callable[[Trial], Outcome]:
    def waiting(trial: Trial) -> Outcome:
        time.sleep(0.3)
        return call(trial)

    return waiting


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")
def test_a_cluster_of_three_one_killed_on_the_way() -> None:
    distributed = pytest.importorskip("distributed", reason="the extra `dask` is not installed")
    Path("s.toml").write_text(STUDY.replace("[4, 8, 16]", "[4, 5, 6, 7, 8, 9]"))
    killed: list[int] = []
    with distributed.LocalCluster(
        n_workers=3, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster:
        pids = [nanny.pid for nanny in cluster.workers.values()]

        def kill_one(result: Result, was_known: bool) -> None:
            if not killed:
                killed.append(pids[0])
                os.kill(pids[0], signal.SIGKILL)

        address = cluster.scheduler_address
        found = run_study(
            study(), Store(Path("far")), dask=address, progress=kill_one, call=slowly(quick())
        )
        # The real thing once: a run on a worker.
        Path("s.toml").write_text(STUDY.replace("[4, 8, 16]", "[4]"))
        (real,) = run_study(study(), Store(Path("real")), dask=address)
        assert not real.failure
        assert real.figures["cycles"] > 4
    assert killed
    assert [result.point["D.N"] for result in found] == [4, 5, 6, 7, 8, 9]
    assert not [result.failure for result in found if result.failure]
    assert [result.figures["cycles"] for result in found] == [9 * n for n in range(4, 10)]
