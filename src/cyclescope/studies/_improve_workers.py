"""Workers that measure the texts of a search: threads here, or those of a Dask cluster.

A worker of a cluster gets all files that a measurement reads, and makes it in a process and a
folder of its own, under the settings of trust that hold here.
"""

from __future__ import annotations

import pickle
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from cyclescope._files import scratch, spread
from cyclescope._rewrites import Measured
from cyclescope.errors import CyclescopeError
from cyclescope.sim import Policy, current_trust, end_calls, finish, trusting
from cyclescope.studies._cluster import cluster

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from concurrent.futures import Executor, Future

    from cyclescope._rewrites import Subject
    from cyclescope.sim import Trust

__all__ = ["Workers", "measure_there", "serve", "workers_for"]

_JOB, _RESULT = "job.pickle", "result.pickle"


@dataclass(frozen=True)
class Workers:
    """Those who measure.

    Attributes:
        executor: takes measurements.
        measure: what it is given to call, with a text.
    """

    executor: Executor
    measure: Callable[[bytes], Measured]

    def submit(self, text: bytes) -> Future[Measured]:
        """Begin to measure a text."""
        return self.executor.submit(self.measure, text)

    def abandon(self) -> None:
        """End what is under way: nobody waits for it any more."""
        self.executor.shutdown(wait=False, cancel_futures=True)
        end_calls()


@contextmanager
def workers_for(subject: Subject, workers: int | None, dask: str | None) -> Iterator[Workers]:
    """Threads that each wait for a process, or the workers of a cluster.

    Args:
        subject: measures.
        workers: threads; None for one.
        dask: address of a Dask scheduler; None to measure here.

    Raises:
        ToolError: the cluster cannot be reached, or what it needs is not installed.
    """
    if dask is None:
        pool = ThreadPoolExecutor(workers or 1, thread_name_prefix="trial")
        try:
            yield Workers(pool, subject.measure)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
    else:
        with cluster(dask) as (executor, _):
            there = partial(measure_there, subject, subject.files(), current_trust())
            yield Workers(executor, there)


def measure_there(
    subject: Subject, files: Mapping[str, bytes], trust: Trust, text: bytes
) -> Measured:
    """Measure a text on this machine, which has none of the subject's files."""
    with scratch("trial") as folder:
        spread(folder, files)
        job = folder / _JOB
        job.write_bytes(pickle.dumps((subject.at(folder), trust, text)))
        # Our own program: it confines what it starts, and all of them end with us.
        command = [sys.executable, "-c", f"from {__name__} import serve; serve()", str(job)]
        done = finish(command, Policy(confined=False))
        result = folder / _RESULT
        if not result.is_file():
            said = done.stderr.decode("utf-8", "backslashreplace").strip().splitlines()
            return Measured(f"the worker failed: {said[-1] if said else 'without a word'}", 0)
        found = pickle.loads(result.read_bytes())  # noqa: S301 - our own child wrote it
    if isinstance(found, CyclescopeError):
        raise found
    assert isinstance(found, Measured)
    return found


def serve() -> None:
    """Measure what the file named on the command line asks for, and write the result beside it."""
    job = Path(sys.argv[1])
    subject, trust, text = pickle.loads(job.read_bytes())  # noqa: S301 - our own parent wrote it
    with trusting(trust):
        try:
            found: Measured | CyclescopeError = subject.measure(text)
        except CyclescopeError as error:
            found = error
    (job.parent / _RESULT).write_bytes(pickle.dumps(found))
