"""From a C file to its bounds."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from cyclescope.bounds._calibration import Calibration, read_schedule_report
from cyclescope.bounds._contents import contents_of
from cyclescope.bounds._detail import Detail, detail_of
from cyclescope.bounds._estimate import Bounds, Estimate
from cyclescope.bounds._kernel import find_kernel, network_of
from cyclescope.bounds._native import Program, Records, TooManyFiringsError
from cyclescope.c import read_c

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping, Sequence

    from cyclescope.bounds._network import Network
    from cyclescope.c import Unit

__all__ = ["DETAIL_LIMIT", "MEMORY", "estimate", "prepare"]

MEMORY = 256 << 20
"""Bytes for both estimates' profiles of activity, unless told otherwise."""

DETAIL_LIMIT = 4_000_000
"""Firings that are kept at most; each takes some 30 to 60 bytes."""


def prepare(
    file: str | os.PathLike[str],
    *,
    kernel: str | None = None,
    text: str | None = None,
    defines: Mapping[str, str] | None = None,
    include: Sequence[str | os.PathLike[str]] = (),
    arguments: Mapping[str, int | float] | None = None,
    calibration: Calibration | None = None,
    report: str | os.PathLike[str] | None = None,
) -> tuple[Unit, Network, list[str], Calibration]:
    """Read a kernel and find its process network, without running it.

    Args:
        file: the C file.
        kernel: the function's name; may be left out where only one function could be meant.
        text: the file's text, if it isn't to be read.
        defines: macros; they win over those of the calibration.
        include: header folders.
        arguments: the kernel's scalar parameters by name.
        calibration: latencies, sources, sinks.
        report: an HLS tool's log to take statements' depths from.

    Returns:
        The text's tree, the network, the C declarations of its program, the calibration in use.

    Raises:
        SourceError: the text cannot be read, or holds what isn't supported.
        InputError: the calibration, report or arguments are wrong.
    """
    given = calibration or Calibration(origin="calibration")
    unit = read_c(
        file,
        text=text,
        defines={**given.defines, **(defines or {})},
        include=[*include, Path(file).parent],
    )
    function = find_kernel(unit, kernel)
    if report is not None:
        # A report covers a whole design: rules for functions that this kernel lacks are no error.
        rules = tuple(r for r in read_schedule_report(report) if r.label in unit.functions)
        given = given.with_rules(rules)
    network, declarations = network_of(unit, function, given, dict(arguments or {}))
    return unit, network, declarations, given


def estimate(
    file: str | os.PathLike[str],
    *,
    kernel: str | None = None,
    text: str | None = None,
    defines: Mapping[str, str] | None = None,
    include: Sequence[str | os.PathLike[str]] = (),
    arguments: Mapping[str, int | float] | None = None,
    calibration: Calibration | None = None,
    report: str | os.PathLike[str] | None = None,
    memory: int = MEMORY,
    detail: bool = False,
    detail_limit: int = DETAIL_LIMIT,
    data: Mapping[str, Sequence[object]] | None = None,
    values: bool = False,
) -> Bounds:
    """A kernel's absolute and unbounded cycles, by running it natively with time stamps.

    Args:
        file: as for `prepare`, like all down to `report`.
        kernel: the function's name.
        text: the file's text.
        defines: macros.
        include: header folders.
        arguments: scalar parameters.
        calibration: latencies, sources, sinks.
        report: an HLS tool's log.
        memory: bytes for the profiles of activity; beyond, their resolution is lowered.
        detail: also keep every firing, for waits, edges, the critical path and reordering; if
            there are more than `detail_limit`, `Bounds.detail` stays None.
        detail_limit: see there.
        data: contents of arrays (nested lists) by name; others hold numbers of no meaning.
        values: keep what the kernel computed in `Bounds.values`.

    Raises:
        SourceError: as `prepare`; or the kernel left an array or divided by zero.
        InputError: the calibration, report, arguments or data are wrong.
        ToolError: no compiler.
        RunError: the kernel crashed, or memory ran out.
    """
    unit, network, declarations, used = prepare(
        file, kernel=kernel, text=text, defines=defines, include=include, arguments=arguments,
        calibration=calibration, report=report,
    )  # fmt: skip
    contents = contents_of(network, data) if data else None
    with Program(network, declarations) as program:
        run = partial(program.run, read=used.read, write=used.write, memory=memory, data=contents)
        kept = None
        if detail:
            with suppress(TooManyFiringsError):
                kept = run(dump=values, detail_limit=detail_limit)
        bounds = Bounds(unit, network, used, kept or run(dump=values))
        if kept is not None:
            bounds.detail = detail_of(bounds)
            run = partial(run, detail_limit=detail_limit)  # of the same program as before
            bounds.reordered = _reordered(bounds, bounds.detail, run)
    return bounds


def _reordered(bounds: Bounds, detail: Detail, run: Callable[[], Records]) -> Estimate:
    """The absolute estimate where reading through a reordering buffer takes its time.

    A process with such an edge starts every `reorder` cycles at best (see docs/bounds.md).
    """
    network = bounds.network
    if not any(edge.reordered and edge.consumer.kind == "statement" for edge in detail.edges):
        return bounds.absolute
    usual = [process.interval for process in network.processes]
    for edge in detail.edges:
        if edge.reordered and edge.consumer.kind == "statement":
            edge.consumer.interval = max(edge.consumer.interval, bounds.calibration.reorder)
    try:
        return Bounds(bounds.unit, network, bounds.calibration, run()).absolute
    finally:
        for process, interval in zip(network.processes, usual, strict=True):
            process.interval = interval
