"""From a C file to its bounds."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from cyclescope._stack import deep_recursion
from cyclescope.bounds._calibration import Calibration, read_schedule_report
from cyclescope.bounds._contents import contents_of, made_up_values
from cyclescope.bounds._curve import Resources, curve_of
from cyclescope.bounds._detail import Detail, detail_of
from cyclescope.bounds._estimate import Bounds, Estimate
from cyclescope.bounds._host import Host, makes_up, undefined
from cyclescope.bounds._kernel import called_with, find_kernel, network_of
from cyclescope.bounds._native import OutsideError, Program, Records, TooManyFiringsError
from cyclescope.bounds._probe import passed_extents
from cyclescope.c import Pointer, Scalar, link, read_c
from cyclescope.errors import InputError, SourceError, ToolError

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping

    from cyclescope.bounds._network import Network
    from cyclescope.c import Function, Unit, Variable

__all__ = ["DETAIL_LIMIT", "MEMORY", "estimate", "prepare"]

MEMORY = 256 << 20
"""Bytes for both estimates' profiles of activity, unless told otherwise."""

DETAIL_LIMIT = 4_000_000
"""Firings that are kept at most; each takes some 15 to 30 bytes."""


Files: TypeAlias = "str | os.PathLike[str] | Sequence[str | os.PathLike[str]]"


def prepare(
    file: Files,
    *,
    kernel: str | None = None,
    text: str | None = None,
    defines: Mapping[str, str] | None = None,
    include: Sequence[str | os.PathLike[str]] = (),
    arguments: Mapping[str, int | float] | None = None,
    calibration: Calibration | None = None,
    report: str | os.PathLike[str] | None = None,
    hosted: bool = False,
) -> tuple[Unit, Network, list[str], Calibration]:
    """Read a kernel and find its process network, without running it.

    Args:
        file: the C file, or all files of a program.
        kernel: the function's name; may be left out where only one function could be meant.
        text: the file's text, if it isn't to be read.
        defines: macros; they win over those of the calibration.
        include: header folders.
        arguments: the kernel's scalar parameters by name.
        calibration: latencies, sources, sinks.
        report: an HLS tool's log to take statements' depths from.
        hosted: the user's program calls the kernel, on its own memory.

    Returns:
        The text's tree, the network, the C declarations of its program, the calibration in use.

    Raises:
        SourceError: the text cannot be read, or contains what isn't supported.
        InputError: the calibration, report or arguments are wrong.
    """
    given = calibration or Calibration(origin="calibration")
    unit = _read(_files(file), kernel, text, {**given.defines, **(defines or {})}, include)
    function = find_kernel(unit, kernel)
    return _prepared(unit, function, given, report, dict(arguments or {}), hosted=hosted)


def _files(file: Files) -> list[Path]:
    if isinstance(file, str) or not isinstance(file, Sequence):
        return [Path(file)]
    return [Path(f) for f in file]


def _read(
    files: Sequence[Path],
    kernel: str | None,
    text: str | None,
    defines: Mapping[str, str],
    include: Sequence[str | os.PathLike[str]],
) -> Unit:
    """The program's files as one translation unit."""
    externals: dict[str, Variable] = {}
    units = [
        read_c(
            path,
            text=text if number == 0 else None,
            defines=defines,
            include=[*include, path.parent],
            externals=externals,
        )
        for number, path in enumerate(files)
    ]
    return units[0] if len(units) == 1 else link(units, kernel)


_MOST = 5_000  # a C compiler takes some seven milliseconds for each


def _prepared(
    unit: Unit,
    function: Function,
    given: Calibration,
    report: str | os.PathLike[str] | None,
    arguments: dict[str, int | float],
    *,
    hosted: bool,
    loose: frozenset[str] = frozenset(),
) -> tuple[Unit, Network, list[str], Calibration]:
    if report is not None:
        # A report covers a whole design: rules for functions that this kernel lacks are no error.
        rules = tuple(r for r in read_schedule_report(report) if r.label in unit.functions)
        given = given.with_rules(rules)
    network, declarations = network_of(unit, function, given, arguments, hosted=hosted, loose=loose)
    for what, count in (
        ("statements and ports", len(network.processes)),
        ("arrays and variables", len(network.storages)),
    ):
        if count > _MOST:
            raise SourceError(
                f"{function.where}: {function.name} has {count:,} {what}; at most {_MOST:,} are"
                " followed: put them into loops and arrays"
            )
    return unit, network, declarations, given


@deep_recursion()
def estimate(
    file: Files,
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
    trace: bool = False,
    data: Mapping[str, Sequence[object]] | None = None,
    values: bool = False,
    verify: bool = False,
    program_arguments: Sequence[str] = (),
    call: int = 0,
    resources: Resources | None = None,
) -> Bounds:
    """A kernel's absolute and unbounded cycles, by running it natively with time stamps.

    Where the files have a `main`, it runs, and the kernel is profiled on what it is called with;
    `arguments` or `data` call the kernel by itself instead, on values that are made up else.

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
        trace: with `detail` and `values`, also keep what each firing read and wrote, for
            `trace_of`.
        data: contents of arrays (nested lists) by name; others hold numbers of no meaning.
        values: keep what the kernel computed in `Bounds.values`.
        verify: also keep what the kernel itself computes, compiled plainly, for `differences`.
        program_arguments: what `main` gets.
        call: which of its calls to profile, from 1; 0: all, and keep the longest.
        resources: numbers of resources a statement for `Bounds.curve`.

    Raises:
        SourceError: as `prepare`; or the kernel left an array or divided by zero.
        InputError: the calibration, report, arguments or data are wrong.
        ToolError: no compiler.
        RunError: the kernel crashed, or memory ran out.
    """
    given = calibration or Calibration(origin="calibration")
    macros = {**given.defines, **(defines or {})}
    files = _files(file)
    unit = _read(files, kernel, text, macros, include)
    function = find_kernel(unit, kernel)
    own_values = bool(arguments) or bool(data) or bool(given.arguments)
    made_up = makes_up(unit) or own_values
    if call and made_up:
        raise InputError(
            f"--call {call}: no main calls {function.name}; "
            f"give its file{', without --arg and --data' if own_values else ''}"
        )
    host = None
    if verify or not made_up:
        folders = [str(folder) for folder in include]
        host = Host(files, unit, function, defines=macros, include=folders, text=text)
    numbers = dict(arguments or {})
    options = (calibration or given, report, numbers, memory, values or verify)
    kinds = (detail, detail_limit, trace, data, resources)
    loose: frozenset[str] = frozenset()
    try:
        if host is not None and not made_up:
            numbers |= passed_extents(host, program_arguments, call)
        while True:
            try:
                return _estimated(
                    unit, function, options, kinds, host, tuple(program_arguments), call,
                    made_up=made_up, loose=loose,
                )  # fmt: skip
            except OutsideError as outside:
                # The program does it nevertheless: so does the kernel, on the same memory.
                name = outside.array.name.split(".")[0]
                if made_up or not outside.array.is_outer or name in loose:
                    raise
                loose |= {name}
    except ToolError as error:
        missing = undefined(error)
        if made_up or not missing:
            raise
        # Not all of the program is here: its kernel is.
        bounds = _estimated(unit, function, options, kinds, None, (), 0, made_up=True)
        bounds.network.made_up.insert(0, f"main isn't run: nothing here defines {missing}")
        return bounds


def _estimated(
    unit: Unit,
    function: Function,
    options: tuple[Calibration, str | os.PathLike[str] | None, dict[str, int | float], int, bool],
    kinds: tuple[bool, int, bool, Mapping[str, Sequence[object]] | None, Resources | None],
    host: Host | None,
    program_arguments: tuple[str, ...],
    call: int,
    *,
    made_up: bool,
    loose: frozenset[str] = frozenset(),
) -> Bounds:
    given, report, arguments, memory, values = options
    detail, detail_limit, trace, data, resources = kinds
    guessed: set[str] = set()
    if host is not None and made_up:
        # What its `main` will make up must be known here as well.
        told = {**called_with(unit, function), **given.arguments, **arguments}
        pointers = [param.name for param in function.params if isinstance(param.type, Pointer)]
        arguments.update({name: told.get(name, 1) for name in pointers})
        guessed = {name for name in pointers if name not in told}
    unit, network, declarations, used = _prepared(
        unit, function, given, report, arguments, hosted=host is not None, loose=loose
    )
    network.guessed |= guessed
    contents = contents_of(network, data) if data else None
    if host is not None and made_up:
        for param in function.params:
            if isinstance(param.type, Scalar) and param.name not in network.scalars:
                if not param.type.is_float:
                    raise SourceError(
                        f"{param.where}: the size {param.name}, of which no caller tells the "
                        f"value, is not supported here; give it with --arg {param.name}=…"
                    )
                network.made_up.append(f"{param.name} = 1.5")
    if made_up:
        network.made_up += made_up_values(network, data or {})
    with Program(
        network, declarations, host=host, made_up=made_up, arguments=program_arguments, call=call
    ) as program:
        run = partial(program.run, read=used.read, write=used.write, memory=memory, data=contents)
        kept = None
        if detail:
            with suppress(TooManyFiringsError):
                kept = run(dump=values, detail_limit=detail_limit, trace=trace)
        bounds = Bounds(unit, network, used, kept or run(dump=values))
        program.call = bounds.records.call
        if resources is not None:
            bounds.curve = curve_of(bounds, resources, run)
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
