"""From a C text to graphs and their schedules."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cyclescope._stack import deep_recursion
from cyclescope.c import read_c
from cyclescope.hls.front._region import lower
from cyclescope.hls.front._target import find_target
from cyclescope.hls.front.omp._directives import Constants
from cyclescope.hls.passes._dependences import depend
from cyclescope.hls.schedule._explain import explained
from cyclescope.hls.schedule._schedule import schedule

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from cyclescope.c import Unit
    from cyclescope.hls.front._region import Lowered
    from cyclescope.hls.front._target import Target
    from cyclescope.hls.ir._graph import Graph, Region, Schedule

__all__ = ["Program", "compile_c", "explain"]


@dataclass(frozen=True, slots=True)
class Program:
    """A compiled text.

    Attributes:
        unit: the text.
        target: its region there.
        lowered: the region's graphs, and which variables of the host it uses.
        schedules: of all graphs, outside in.
        constants: values of the text's macros.
    """

    unit: Unit
    target: Target
    lowered: Lowered
    schedules: dict[Graph, Schedule]
    constants: Constants

    @property
    def region(self) -> Region:
        """The region's graphs, with dependences."""
        return self.lowered.region


@deep_recursion()
def compile_c(
    file: str | os.PathLike[str],
    *,
    text: str | None = None,
    threads: int | None = None,
    defines: Mapping[str, str] | None = None,
    include: Sequence[str | os.PathLike[str]] = (),
) -> Program:
    """Compile the target region of a C file.

    Args:
        file: its path, and the name that messages give it.
        text: its text, if it isn't the file's own.
        threads: the team's size; None: as the text says, else 8.
        defines: macros: name → value.
        include: folders of headers.

    Raises:
        SourceError: the file isn't C, or its region holds something that isn't supported.
        ToolError: libclang is missing.
    """
    unit = read_c(file, text=text, defines=defines, include=include)
    constants = Constants(unit, dict(defines or {}), tuple(map(Path, include)))
    target = find_target(unit)
    lowered = lower(unit, target, constants, threads)
    depend(lowered.region.root, lowered.exact)
    return Program(unit, target, lowered, schedule(lowered.region.root), constants)


def explain(program: Program) -> str:
    """The schedule for people: memories, and for each loop its stages, its interval and why."""
    return explained(program.region, program.schedules, program.unit.text)
