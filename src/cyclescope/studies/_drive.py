"""Running a study: here, in several processes, or on a Dask cluster. No scheduler of our own."""

from __future__ import annotations

import os
import signal
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from cyclescope.errors import InputError
from cyclescope.studies._cluster import cluster
from cyclescope.studies._search import search_of
from cyclescope.studies._trial import Outcome, Trial, make_trial, run_trial

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from cyclescope.sim import Process
    from cyclescope.studies._results import Result, Store
    from cyclescope.studies._study import Study

__all__ = ["run_study"]


def run_study(
    study: Study,
    store: Store,
    *,
    workers: int | None = None,
    dask: str | None = None,
    retry: bool = False,
    progress: Callable[[Result, bool], None] | None = None,
    call: Callable[[Trial], Outcome] | None = None,
) -> list[Result]:
    """Run what of a study has not been run yet.

    Args:
        study: what to run.
        store: where results are, and go.
        workers: runs at a time; None for one a processor, or for as many as the cluster has.
        dask: address of a Dask scheduler; None to run here.
        retry: run again what failed before.
        progress: told of each result, and whether it was known already.
        call: what makes a run where it is made; `run_trial` if not given.

    Returns:
        A result for each point, in the order in which points were chosen, equal ones once.

    Raises:
        InputError: a file cannot be read, or an objective is no figure of the runs.
        ToolError: the cluster cannot be reached, or what it needs is not installed.
    """
    with _executor(workers, dask) as (executor, width, default):
        return _Driver(study, store, executor, width, call or default, retry, progress).run()


class _Driver:
    def __init__(
        self,
        study: Study,
        store: Store,
        executor: Executor,
        width: int,
        call: Callable[[Trial], Outcome],
        retry: bool,
        progress: Callable[[Result, bool], None] | None,
    ) -> None:
        self._study, self._store, self._executor, self._call = study, store, executor, call
        self._width, self._retry, self._progress = width, retry, progress
        self._search = search_of(study)
        self._results: dict[str, Result] = {}
        self._order: dict[str, None] = {}
        self._running: dict[Future[Outcome], Trial] = {}
        # Points that are asked for while the same run is under way wait for its result.
        self._in_flight: dict[str, list[dict[str, Any]]] = {}

    def run(self) -> list[Result]:
        more = True
        while more or self._running:
            while more and len(self._running) < self._width:
                point = self._search.ask()
                if point is None:
                    more = False
                else:
                    self._start(make_trial(self._study, point))
            if self._running:
                done, _ = wait(self._running, return_when=FIRST_COMPLETED)
                for future in done:
                    self._finish(future)
        return [self._results[digest] for digest in self._order]

    def _start(self, trial: Trial) -> None:
        digest = trial.digest
        self._order.setdefault(digest)
        if digest in self._in_flight:
            self._in_flight[digest].append(trial.point)
            return
        known = self._results.get(digest) or self._store.get(trial)
        if known is not None and not (self._retry and known.failure):
            self._keep(known, [trial.point], was_known=True)
            return
        self._in_flight[digest] = [trial.point]
        self._running[self._executor.submit(self._call, trial)] = trial

    def _finish(self, future: Future[Outcome]) -> None:
        trial = self._running.pop(future)
        try:
            outcome = future.result()
        except Exception as error:  # noqa: BLE001 - whatever a worker died of
            reason = f"{type(error).__name__}: {error}".splitlines()[0]
            outcome = Outcome(b"", f"the worker failed: {reason}", 0.0)
        points = self._in_flight.pop(trial.digest)
        self._keep(self._store.put(trial, outcome), points, was_known=False)

    def _keep(self, result: Result, points: list[dict[str, Any]], *, was_known: bool) -> None:
        first = result.digest not in self._results
        self._results[result.digest] = result
        figures = self._figures(result)
        for point in points:
            self._search.tell(point, figures)
        if first and self._progress is not None:
            self._progress(result, was_known)

    def _figures(self, result: Result) -> list[float] | None:
        if result.failure:
            return None
        wanted = [objective.name for objective in self._study.objectives]
        odd = [name for name in wanted if name not in result.figures]
        if odd:
            known = ", ".join(result.figures)
            raise InputError(
                f"{self._study.path}: objective {odd[0]} is not a figure of these runs; "
                f"there are {known}"
            )
        return [float(result.figures[name]) for name in wanted]


@contextmanager
def _executor(
    workers: int | None, dask: str | None
) -> Iterator[tuple[Executor, int, Callable[[Trial], Outcome]]]:
    if dask is None:
        with _here(workers or os.cpu_count() or 1) as found:
            yield found
    else:
        with _there(dask, workers) as found:
            yield found


@contextmanager
def _here(workers: int) -> Iterator[tuple[Executor, int, Callable[[Trial], Outcome]]]:
    """Threads that each wait for a process; whatever ends us ends the processes too."""
    processes: set[Process] = set()
    executor = ThreadPoolExecutor(workers, thread_name_prefix="trial")
    try:
        yield executor, workers, lambda trial: run_trial(trial, processes)
    except BaseException:
        executor.shutdown(wait=False, cancel_futures=True)
        for process in list(processes):
            process.send(signal.SIGTERM)
        raise
    finally:
        executor.shutdown()


@contextmanager
def _there(
    address: str, workers: int | None
) -> Iterator[tuple[Executor, int, Callable[[Trial], Outcome]]]:
    with cluster(address) as (executor, threads):
        yield executor, workers or threads, run_trial
