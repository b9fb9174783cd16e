"""A Dask cluster: who works there, and how work gets to it."""

from __future__ import annotations

import gc
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from cyclescope.errors import ToolError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from concurrent.futures import Executor

__all__ = ["cluster"]


@contextmanager
def cluster(address: str) -> Iterator[tuple[Executor, int]]:
    """Connect to a cluster: its executor, and how many calls it makes at a time.

    Args:
        address: of its scheduler.

    Raises:
        ToolError: it cannot be reached, has no workers, or what is needed is not installed.
    """
    try:
        from distributed import Client
    except ImportError:
        raise ToolError(
            "--dask needs dask.distributed, which is not installed: pip install 'cyclescope[dask]'"
        ) from None
    reason = ""
    try:
        client: Any = Client(address, timeout=20, set_as_default=False)  # type: ignore[no-untyped-call]
    except (OSError, ValueError, TimeoutError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
    if reason:
        # A client half made ends here: whenever else the collector met it, in the midst of the
        # start of the next one, it would wait for a lock that its own thread holds.
        gc.collect()
        raise ToolError(f"{address}: no Dask scheduler answers: {reason}")
    with client:
        threads = sum(client.nthreads().values())
        if not threads:
            raise ToolError(f"{address}: the Dask cluster has no workers; start some")
        # Work that a dead worker had goes to another one, a few times.
        executor = client.get_executor(pure=False, retries=3)
        try:
            yield executor, threads
        finally:
            executor.shutdown(wait=False)
