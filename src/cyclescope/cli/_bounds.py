"""`cyclescope bounds`: cycle bounds of a C kernel."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cyclescope._files import parse_json, read_text
from cyclescope.cli._common import (
    check_outputs,
    force_option,
    hush_if_quiet,
    json_option,
    pairs,
    progress,
    report,
    save_profiles,
    tell_json,
    told_option,
    writing,
)
from cyclescope.cli._kinds import FolderPath, InputPath
from cyclescope.cli._trust import trust_options

if TYPE_CHECKING:
    from cyclescope.bounds import Bounds, Resources
    from cyclescope.network import Measurement, Point

__all__ = ["arrays", "bounds", "numbers"]


def numbers(values: tuple[str, ...]) -> dict[str, int | float]:
    """Values of `--arg`, by name."""
    result: dict[str, int | float] = {}
    for name, given in pairs(values, "--arg").items():
        try:
            result[name] = int(given, 0)
        except ValueError:
            try:
                result[name] = float(given)
            except ValueError:
                raise click.BadParameter(f"{given} is no number", param_hint="--arg") from None
    return result


_BEHIND = "cyclescope.bounds.behind"


class _WithProgram(click.Command):
    """A command whose `--` precedes the words of another program."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As ever, but for what is behind `--`: that is kept in the context."""
        at = args.index("--") if "--" in args else len(args)
        ctx.meta[_BEHIND] = args[at + 1 :]
        return super().parse_args(ctx, args[:at])


class _Numbers(click.ParamType):  # type: ignore[type-arg] # generic only in newer click
    """Numbers of resources: `1,2,8`, or `1,2,...` to go on."""

    name = "numbers"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> Resources:
        """Rising numbers, and whether to go on."""
        from cyclescope.bounds import Resources

        words = [word.strip() for word in str(value).split(",")]
        onwards = words[-1] in ("…", "...")
        try:
            numbers = [int(word) for word in words[: len(words) - onwards]]
        except ValueError:
            numbers = []
        if not numbers or min(numbers) < 1 or max(numbers) >= 1 << 31:
            self.fail(f"{value} is no list of numbers from 1, such as 1,2,4,...", param, ctx)
        return Resources(tuple(sorted(set(numbers))), onwards)


@click.command(cls=_WithProgram)
@click.argument(
    "sources", nargs=-1, required=True, type=InputPath("a C program"),
    metavar="FILE.c… [-- ARGUMENTS]",
)  # fmt: skip
@click.option("--kernel", metavar="FUNCTION", help="The function; needed if there are several.")
@click.option(
    "--call", type=click.IntRange(min=1), default=None, metavar="N",
    help="Profile only main's Nth call; otherwise every call, with the details of the longest.",
)  # fmt: skip
@click.option("-D", "defines", multiple=True, metavar="NAME[=VALUE]", help="Define a macro.")
@click.option(
    "-I", "include", multiple=True, type=click.Path(path_type=Path), help="Look for headers here."
)
@click.option(
    "--arg", "arguments", multiple=True, metavar="NAME=NUMBER",
    help="A scalar parameter's value, or how many elements a pointer points to.",
)  # fmt: skip
@click.option(
    "--calibration", type=click.Path(path_type=Path), help="File of latencies, sources … (TOML)."
)
@click.option("--plain", is_flag=True, help="Ignore the calibration's [tweak].")
@click.option(
    "--hls-report", type=click.Path(path_type=Path), help="Take depths from an HLS tool's log."
)
@click.option("--data", type=click.Path(path_type=Path), help="Contents of arrays (JSON).")
@click.option(
    "--resources", type=_Numbers(), metavar="1,2,4,…",
    help="Also estimate with this many resources for each statement; ... at the end doubles them "
    "until the unbounded cycles are reached.",
)  # fmt: skip
@click.option(
    "--curve", type=click.Path(path_type=Path),
    help="Draw cycles against resources (SVG), for 1,2,4,... without --resources.",
)  # fmt: skip
@click.option(
    "-o", "--output", type=click.Path(path_type=Path, allow_dash=True),
    help="Profile of the absolute estimate; the unbounded one is written beside it"
    " (.unbounded.cyc); - for standard output: only the absolute one.",
)  # fmt: skip
@click.option("--vcd", type=click.Path(path_type=Path), help="Write the absolute waveform.")
@click.option("--network", type=click.Path(path_type=Path), help="Draw the process network (SVG).")
@json_option
@told_option
@click.option(
    "--detail/--no-detail", default=True, show_default=True,
    help="Record waits, critical path and edges; left out beyond 4 million firings.",
)  # fmt: skip
@click.option(
    "--memory", type=click.IntRange(min=1), default=256, show_default=True, metavar="MB",
    help="Memory for activity over time; above it the resolution is lowered.",
)  # fmt: skip
@click.option(
    "--rtl", type=FolderPath(), metavar="DIR",
    help="Build the process network as hardware, simulate it, and write its Verilog, a testbench "
    "and this run's data to DIR; with -o its profile is written beside the others (.rtl.cyc).",
)  # fmt: skip
@click.option(
    "--depths", is_flag=True,
    help="With --rtl: also print cycles against the memory of the network's channels.",
)  # fmt: skip
@click.option(
    "--area", is_flag=True,
    help="With --rtl and -o: also synthesise the network with Yosys, for cyclescope area.",
)  # fmt: skip
@click.option("--verify", is_flag=True, help="Compare the kernel's values with a plain run.")
@force_option
@trust_options
def bounds(
    sources: tuple[Path, ...], kernel: str | None, call: int | None,
    defines: tuple[str, ...], include: tuple[Path, ...],
    arguments: tuple[str, ...], calibration: Path | None, plain: bool, hls_report: Path | None,
    data: Path | None, resources: Resources | None, curve: Path | None, output: Path | None,
    vcd: Path | None, network: Path | None, as_json: bool, form: str,
    detail: bool, memory: int, rtl: Path | None, depths: bool,
    area: bool, verify: bool, force: bool,
) -> None:  # fmt: skip
    """Bound the cycles of a C kernel, without any hardware.

    Runs the kernel natively as a process network: with one resource for each statement
    (absolute), and with as many as there are firings (unbounded). If the files have a main, it
    runs with the ARGUMENTS, and the kernel is profiled with the data of its calls.
    """
    from cyclescope.analyse import bounds_ladder, network_ladder
    from cyclescope.bounds import (
        Resources,
        estimate,
        levels_of,
        profile_of,
        read_calibration,
        report_dict,
        report_text,
    )
    from cyclescope.network import report_dict as network_dict
    from cyclescope.network import report_text as network_text
    from cyclescope.network import with_areas

    if depths and rtl is None:
        raise click.BadParameter("needs --rtl, which builds the channels", param_hint="--depths")
    alone = output is not None and str(output) == "-"
    if area and (rtl is None or output is None or alone):
        raise click.BadParameter(
            "needs --rtl and -o, for hardware and the profile that it goes to", param_hint="--area"
        )
    beside = built = None
    if output is not None and not alone:
        beside = output.with_suffix(".unbounded.cyc")
        built = output.with_suffix(".rtl.cyc") if rtl is not None else None
    bench = rtl / "bench.v" if rtl is not None and rtl.is_dir() else None
    check_outputs(output, beside, built, vcd, network, curve, bench, force=force)
    if output is not None:
        hush_if_quiet()
    macros = pairs(defines, "-D")
    result = estimate(
        sources,
        kernel=kernel,
        defines=macros,
        include=include,
        arguments=numbers(arguments),
        calibration=read_calibration(calibration, tweak=not plain) if calibration else None,
        report=hls_report,
        memory=memory << 20,
        detail=detail or network is not None or rtl is not None,
        trace=rtl is not None,
        values=rtl is not None,
        data=arrays(data) if data is not None else None,
        verify=verify,
        program_arguments=click.get_current_context().meta[_BEHIND],
        call=call or 0,
        resources=resources or (Resources((1,), onwards=True) if curve is not None else None),
    )
    levels = levels_of(result, memory=memory << 20) if len(result.network.paths) > 1 else []
    if verify:
        _verify(result)
    hardware = _hardware(result, rtl, force=force) if rtl is not None else None
    points = _points(hardware) if hardware is not None and depths else []
    if output is not None:
        absolute = profile_of(result, result.absolute)
        rungs = bounds_ladder(
            result.unbounded.cycles, result.absolute.cycles, result.resource_cycles
        )
        absolute = absolute.with_meta(ladder=rungs)
        saved = [(absolute, output)]
        if beside is not None:
            saved.append((profile_of(result, result.unbounded), beside))
        if hardware is not None and built is not None:
            made = with_areas(hardware) if area else hardware.profile
            saved.append((made.with_meta(ladder=network_ladder(rungs, made)), built))
        save_profiles(saved, force=force)
    if vcd is not None:
        _waveform(result, vcd, force=force)
    if network is not None:
        _picture(result, hardware, network, force=force)
    if curve is not None:
        _curve(result, curve, force=force)
    if as_json or form == "json":
        whole = report_dict(result, levels)
        if hardware is not None:
            whole["rtl"] = network_dict(hardware, points)
        tell_json(json.dumps(whole, indent=1, ensure_ascii=False))
        return
    click.echo(report_text(result, levels), nl=False)
    if hardware is not None:
        click.echo(network_text(hardware, points), nl=False)
    if verify:
        click.echo("values: as in a plain run, bit for bit")
    for path, what in (
        (output, "profile, absolute"),
        (beside, "profile, unbounded"),
        (built, "profile, hardware"),
        (rtl, "hardware"),
        (vcd, "waveform"),
        (network, "network"),
        (curve, "curve"),
    ):
        if path is not None:
            report(path, what)


def _hardware(result: Bounds, folder: Path, *, force: bool) -> Measurement:
    from cyclescope.errors import RunError
    from cyclescope.network import measure, write_files

    if result.detail is None:
        raise RunError(f"{result.network.kernel}: too many firings for --rtl; use smaller sizes")
    with progress(result.network.kernel) as show:
        found = measure(result, progress=show)
    write_files(found, folder, force=force)
    return found


def _points(hardware: Measurement) -> list[Point]:
    from cyclescope.network import depth_curve

    return depth_curve(hardware.network, hardware.timing, hardware.depths)


def arrays(path: Path) -> dict[str, Any]:
    """The contents of arrays in a file, by name."""
    from cyclescope.errors import DataError

    try:
        loaded = parse_json(read_text(path, 1 << 30))
    except FileNotFoundError:
        raise DataError(f"{path}: no such file") from None
    except OSError as error:
        raise DataError(f"{path}: cannot read the data: {error.strerror or error}") from None
    except ValueError as error:
        raise DataError(f"{path}: not JSON: {error}") from None
    if not isinstance(loaded, dict):
        raise DataError(f"{path}: must be an object, array name → nested lists of numbers")
    return loaded


def _verify(result: Bounds) -> None:
    from cyclescope.bounds import differences
    from cyclescope.errors import VerifyError

    differing = differences(result)
    if differing:
        raise VerifyError(
            f"{result.unit.file}: values differ from a plain run in {', '.join(differing)}; "
            f"please report this kernel"
        )


def _waveform(result: Bounds, path: Path, *, force: bool) -> None:
    from cyclescope.bounds import profile_of
    from cyclescope.views import write_vcd

    cheaper = "the profile (-o) is smaller, and every view opens it"
    with writing(path, force=force, cheaper=cheaper) as stream:
        write_vcd(profile_of(result, result.absolute), stream)


def _curve(result: Bounds, path: Path, *, force: bool) -> None:
    from cyclescope.views import CurvePoint, curve_svg

    points = [CurvePoint(point.resources or 1, point.cycles) for point in result.curve]
    title = f"{result.network.kernel}: cycles against resources"
    cycles = result.absolute.cycles, result.unbounded.cycles
    with writing(path, force=force) as stream:
        stream.write(curve_svg(title, points, *cycles))


def _picture(result: Bounds, hardware: Measurement | None, path: Path, *, force: bool) -> None:
    from cyclescope.errors import RunError
    from cyclescope.views import NetworkEdge, NetworkNode, network_svg

    if result.detail is None:
        raise RunError(
            f"{result.network.kernel}: too many firings for --network; use smaller sizes"
        )
    rows = result.absolute.firings
    place = {row.process.index: n for n, row in enumerate(rows)}
    depths: dict[tuple[int, int, int], int] = {}
    if hardware is not None:
        found = zip(hardware.network.channels, hardware.depths.tokens, strict=True)
        for channel, depth in found:
            # Of several results of one process to one operand an edge is all.
            ends = channel.producer, channel.consumer, channel.operand
            depths[ends] = depths.get(ends, 0) + depth
    nodes = [
        NetworkNode(
            r.process.name, r.process.kind, f"{r.count:,} firings, depth {r.process.latency}"
        )
        for r in rows
    ]
    edges = [
        NetworkEdge(
            producer=place[e.producer.index],
            consumer=place[e.consumer.index],
            label=e.consumer.operands[e.operand],
            tokens=e.tokens,
            reads=e.reads,
            order=e.order,
            reordered=e.reordered,
            depth=depths.get((place[e.producer.index], place[e.consumer.index], e.operand), 0),
        )
        for e in result.detail.edges
    ]
    with writing(path, force=force) as stream:
        stream.write(network_svg(result.network.kernel, nodes, edges).encode())
