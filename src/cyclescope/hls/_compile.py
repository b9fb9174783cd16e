"""From a C text to graphs and their schedules."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cyclescope._stack import deep_recursion
from cyclescope.c import read_c
from cyclescope.hls.front import (
    Constants,
    find_target,
    lower,
    task_races,
    with_stacks,
    with_variants,
)
from cyclescope.hls.ir import Draft
from cyclescope.hls.passes import run_passes
from cyclescope.hls.schedule import explained, schedule

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping, Sequence

    from cyclescope.c import Range, Unit, Variable
    from cyclescope.hls.front import Cells, PrintCall, Target
    from cyclescope.hls.ir import Graph, Node, Region, Schedule

__all__ = ["Program", "compile_c", "explain"]


@dataclass(frozen=True, slots=True)
class Program:
    """A compiled text.

    Attributes:
        unit: the text.
        target: its region there.
        constants: values of the text's macros.
        region: the region's graphs, with dependences.
        schedules: of all graphs, outside in.
        variables: of the host, by name of memory.
        scalars: of the host, in the region's order.
        copied: variables of the host that the region has copies of, which it gives values to.
        statics: initial contents of memories that are static locals, by name.
        cells: name of a memory of the host → the pointers in it that the region follows.
        heaps: name of a memory that these lead to → variables that lead there or are in it, each
            with the scalar of where.
        joined: names of variables whose memories overlap at the host's, by block.
        blocks: name of a memory that several variables of the host lead to → these, each with the
            scalar that says where in it.
        printing: calls that the host makes when the region is over, by number from 1 on.
        exact: arithmetic that cannot overflow.
        guarded: loads and stores under mutual exclusion.
        warnings: for people; each begins with file and line.
        undecided: memories whose contents depend on which thread is last.
        teams: their number, and the threads in each, as far as the program can tell.
        overruled: the teams are not those that the text says.
        team: the scalar that says whether there is a team at all; None: there always is.
        forks: the statements of `parallel` regions inside that have teams.
        size: the words that say how many threads there are, if only the run knows.
        link: further C files of the program, for the host's side alone.
    """

    unit: Unit
    target: Target
    constants: Constants
    region: Region
    schedules: dict[Graph, Schedule]
    variables: dict[str, Variable]
    scalars: tuple[Variable, ...]
    copied: tuple[Variable, ...]
    statics: dict[str, bytes]
    cells: dict[str, Cells]
    heaps: dict[str, dict[Variable, Variable]]
    joined: tuple[tuple[str, ...], ...]
    blocks: dict[str, dict[Variable, Variable]]
    printing: tuple[PrintCall, ...]
    exact: frozenset[Node]
    guarded: frozenset[Node]
    warnings: tuple[str, ...]
    undecided: frozenset[str]
    teams: tuple[int, int]
    overruled: bool
    team: Variable | None = None
    forks: frozenset[Range] = frozenset()
    size: tuple[str, ...] = ()
    link: tuple[Path, ...] = ()


@deep_recursion()
def compile_c(
    file: str | os.PathLike[str],
    *,
    text: str | None = None,
    threads: int | None = None,
    defines: Mapping[str, str] | None = None,
    include: Sequence[str | os.PathLike[str]] = (),
    region: int | None = None,
    joined: Sequence[Sequence[str]] = (),
    link: Sequence[str | os.PathLike[str]] = (),
    verifies: bool | None = None,
    after: Callable[[str, Draft], None] | None = None,
) -> Program:
    """Compile the target region of a C file.

    Args:
        file: its path, and the name that messages give it.
        text: its text, if it isn't the file's own.
        threads: the team's size; None: as the text says, else 8.
        defines: macros: name → value.
        include: folders of headers.
        region: a line of the target region, if there are several; the host runs the others.
        joined: names of pointers and arrays that lead into one block of the host's memory, a list
            for each block: those are one memory of the hardware.
        link: further C files of the program, for the host's side alone.
        verifies: whether the form's laws are checked after each pass; None: if the environment
            variable CYCLESCOPE_VERIFY_IR is set, and not empty.
        after: called after the lowering and after each pass, with its name and the region.

    Raises:
        SourceError: the file isn't C, or its region contains something that isn't supported.
        LawError: a pass has broken a law of the form.
        ToolError: libclang is missing.
    """
    unit = read_c(file, text=text, defines=defines, include=include)
    constants = Constants(unit, dict(defines or {}), tuple(map(Path, include)))
    target = find_target(unit, region)
    unit = with_variants(unit, target)
    races = task_races(unit, target)
    unit, said = with_stacks(unit, target)
    lowered = lower(unit, target, constants, threads, tuple(map(tuple, joined)))
    said += races if lowered.region.threads > 1 else []
    draft = Draft(lowered.region, lowered.shared, [*said, *lowered.warnings])
    run_passes(draft, verifies=verifies, after=after)
    return Program(
        unit,
        target,
        constants,
        draft.region,
        schedule(draft.region.root),
        {a.name: v for a, v in lowered.hosts.items() if a in draft.region.arrays},
        lowered.scalars,
        lowered.copied,
        lowered.statics,
        lowered.cells,
        lowered.heaps,
        lowered.joined,
        {n: p for n, p in lowered.blocks.items() if n in (m.name for m in draft.region.arrays)},
        lowered.printing,
        frozenset(lowered.shared.exact),
        frozenset(lowered.shared.guarded),
        tuple(draft.warnings),
        frozenset(a.name for a in draft.undecided),
        lowered.teams,
        lowered.overruled,
        lowered.team,
        lowered.forks,
        lowered.size,
        tuple(map(Path, link)),
    )


def explain(program: Program) -> str:
    """The schedule for people: memories, and for each loop its stages, its interval and why."""
    return explained(program.region, program.schedules, program.unit.text)
