"""From a C file to its bounds."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from cyclescope.bounds._calibration import Calibration, read_schedule_report
from cyclescope.bounds._estimate import Bounds
from cyclescope.bounds._kernel import find_kernel, network_of
from cyclescope.bounds._native import Program
from cyclescope.c import read_c

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from cyclescope.bounds._network import Network
    from cyclescope.c import Unit

__all__ = ["MEMORY", "estimate", "prepare"]

MEMORY = 256 << 20
"""Bytes for both estimates' profiles of activity, unless told otherwise."""


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
        called = {name for name in unit.functions}
        rules = tuple(r for r in read_schedule_report(report) if r.label in called)
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
    detail_limit: int = 0,
) -> Bounds:
    """A kernel's absolute and unbounded cycles, by running it natively with time stamps.

    Args:
        file, kernel, text, defines, include, arguments, calibration, report: as `prepare`.
        memory: bytes for the profiles of activity; beyond, their resolution is lowered.
        detail_limit: keep every firing, up to so many, for waits, edges and the critical path.

    Raises:
        SourceError: as `prepare`; or the kernel left an array or divided by zero.
        InputError: the calibration, report or arguments are wrong.
        ToolError: no compiler.
        RunError: the kernel crashed, or memory ran out.
    """
    unit, network, declarations, used = prepare(
        file, kernel=kernel, text=text, defines=defines, include=include, arguments=arguments,
        calibration=calibration, report=report,
    )  # fmt: skip
    with Program(network, declarations) as program:
        records = program.run(
            read=used.read, write=used.write, memory=memory, detail_limit=detail_limit
        )
    return Bounds(unit, network, replace(used), records)
