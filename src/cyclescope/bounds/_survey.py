"""The bounds of many kernels side by side: the design space that each of them leaves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cyclescope.bounds._calibration import read_calibration
from cyclescope.bounds._report import float_or_none, limit_text, limits_rows, table_text
from cyclescope.bounds._run import MEMORY, estimate
from cyclescope.errors import CyclescopeError, InputError

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from cyclescope.bounds._estimate import Bounds

__all__ = ["programs_in", "survey", "survey_dict", "survey_text"]


def programs_in(places: Sequence[Path]) -> list[Path]:
    """The C files that are named, or lie in a folder that is, at any depth, in order of names.

    Raises:
        InputError: a place is missing, or there is no C file.
    """
    found: list[Path] = []
    for place in places:
        if place.is_dir():
            found += sorted(place.rglob("*.c"))
        elif place.exists():
            found.append(place)
        else:
            raise InputError(f"{place}: no such file or folder")
    if not found:
        raise InputError(f"{', '.join(map(str, places))}: no C file in there")
    return found


def survey(
    files: Sequence[Path],
    *,
    beside: Sequence[Path] = (),
    kernel: str | None = None,
    defines: Mapping[str, str] | None = None,
    include: Sequence[str | os.PathLike[str]] = (),
    calibration: Path | None = None,
    plain: bool = False,
    memory: int = MEMORY,
    detail: bool = True,
    told: Callable[[str], None] = lambda _: None,
) -> Iterator[tuple[Path, Bounds | CyclescopeError]]:
    """Estimate the kernel of each file, by itself or as its program's `main` calls it.

    Args:
        files: one kernel in each.
        beside: files that belong to every program.
        kernel: the function, if it isn't told by its name.
        defines: macros.
        include: header folders.
        calibration: of all kernels; without it, `NAME.toml` beside `NAME.c`, if there is one.
        plain: leave the calibrations' tweaks out.
        memory: as for `estimate`.
        detail: as for `estimate`.
        told: is told what is being done.

    Yields:
        Each file with its bounds, or with why there are none.
    """
    for file in files:
        told(str(file))
        own = calibration or file.with_suffix(".toml")
        try:
            rules = read_calibration(own, tweak=not plain) if calibration or own.exists() else None
            yield file, estimate(
                [file, *beside], kernel=kernel, defines=defines, include=include,
                calibration=rules, memory=memory, detail=detail,
            )  # fmt: skip
        except CyclescopeError as error:
            yield file, error


def survey_dict(rows: Sequence[tuple[Path, Bounds]]) -> list[dict[str, Any]]:
    """A row for each kernel, for JSON."""
    return [
        {
            "file": str(file),
            "kernel": found.network.kernel,
            "factor": float(found.factor),
            "firings": found.firings,
            "pipeline_efficiency": float_or_none(found.absolute.pipeline_efficiency),
            "made_up": found.network.made_up,
        }
        | {
            e.name: {
                "cycles": e.cycles,
                "maximum_parallelism": float(e.maximum_parallelism),
                "average_parallelism": float(e.average_parallelism),
                "resolution": e.resolution,
                "limits": limits_rows(found, e),
            }
            for e in found.estimates
        }
        for file, found in rows
    ]


def survey_text(rows: Sequence[tuple[Path, Bounds]]) -> str:
    """A line for each kernel: cycles, parallelism, efficiency, what bounds it."""
    above = [
        "",
        "cycles",
        "",
        "",
        "parallelism, average",
        "",
        "maximum",
        "",
        "pipeline",
        "absolute",
    ]
    head = ["kernel", "absolute", "unbounded", "factor", "absolute", "unbounded", "absolute"]
    head += ["unbounded", "efficiency", "bounded by"]
    table = [head]
    for file, found in rows:
        absolute, unbounded = found.estimates
        efficiency = absolute.pipeline_efficiency
        row = [file.stem, f"{absolute.cycles:,}", f"{unbounded.cycles:,}"]
        row.append(f"{float(found.factor):,.1f}")
        row += [f"{float(e.average_parallelism):,.2f}" for e in found.estimates]
        row += [f"{float(e.maximum_parallelism):,.0f}" for e in found.estimates]
        row.append("" if efficiency is None else f"{float(100 * efficiency):.1f} %")
        row.append(limit_text(found, absolute))
        table.append(row)
    return "\n".join(table_text(above, table, last=True)) + "\n"
