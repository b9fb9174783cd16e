"""A Calyx program that is to be improved: its candidates, and how a changed text is measured."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cyclescope._rewrites import Measured
from cyclescope.analyse import exclusive_blocks, fixed_lengths
from cyclescope.calyx import (
    CalyxOptions,
    copied_with,
    profile_program,
    run_program,
    run_unoptimised,
    synthesised,
)
from cyclescope.calyx.rewrites import REWRITES, Facts, blocks_of_lines, find_candidates
from cyclescope.errors import (
    CyclescopeError,
    DataError,
    OutputError,
    SourceError,
    ToolError,
    VerifyError,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from cyclescope._rewrites import Candidate
    from cyclescope.calyx import Outcome
    from cyclescope.calyx.rewrites import CalyxRewrite
    from cyclescope.model import Profile

__all__ = ["CalyxSubject", "calyx_subject"]

_SLOWER = 2  # times as long may a trial run as the program itself, and then it is stopped
_LEAST_LIMIT = 1000  # cycles
_TIMINGS = 2  # other timings with which the result is run once more


@dataclass(frozen=True)
class CalyxSubject:
    """A Calyx program.

    Attributes:
        path: the program.
        data: memories to run it on; (None,) for a program without.
        options: how it is compiled.
        facts: of its run, for rewrites.
        original: its run on each data.
        note: what is to be said of the program itself; empty if nothing.
        open_: its results depend on timing as it is, so that nothing follows from that.
    """

    path: Path
    data: tuple[Path | None, ...]
    options: CalyxOptions
    facts: Facts
    original: tuple[Outcome, ...]
    note: str = ""
    open_: bool = False

    @property
    def rewrites(self) -> Sequence[CalyxRewrite]:
        """All rewrites of Calyx programs."""
        return REWRITES

    def candidates(self, text: bytes) -> Sequence[Candidate]:
        """The candidates of a text."""
        return find_candidates(text, str(self.path), self.facts)

    def measure(self, text: bytes) -> Measured:
        """Compile a text as the program is, run it on all data, compare memories."""
        cycles = 0
        with copied_with(self.path, text) as copy:
            for data, original in zip(self.data, self.original, strict=True):
                limit = max(_SLOWER * original.cycles, _LEAST_LIMIT)
                try:
                    outcome = run_program(copy, data, self.options, limit)
                except (DataError, OutputError):
                    raise
                except SourceError as error:
                    said = str(error).replace(str(copy), self.path.name)
                    return Measured(f"does not compile: {said}", 0)
                except CyclescopeError as error:
                    return Measured(f"cannot be run: {error}", 0)
                if failure := _failure(outcome, original):
                    return Measured(failure, cycles + outcome.cycles)
                cycles += outcome.cycles
        return Measured("", cycles)

    def confirm(self, text: bytes) -> str:
        """Compare with a build without optimisation, also with other timing."""
        with copied_with(self.path, text) as copy:
            for number, (data, original) in enumerate(zip(self.data, self.original, strict=True)):
                tries = 0 if number or self.open_ else _TIMINGS
                try:
                    outcome, open_ = run_unoptimised(copy, data, self.options, tries=tries)
                except CyclescopeError as error:
                    return f"without optimisation: {error}"
                if failure := _failure(outcome, original):
                    return f"without optimisation {failure}"
                if open_ is not None:
                    return f"its results depend on {open_.on.what}: {open_.told}"
        return ""

    def files(self) -> Mapping[str, bytes]:
        """The program's files below its folder, and its data below `data/`."""
        with copied_with(self.path, self.path.read_bytes()) as copy:
            folder = copy.parent
            inside = [file for file in folder.rglob("*") if file.is_file()]
            found = {str(file.relative_to(folder)): file.read_bytes() for file in inside}
        return found | {_there(n): d.read_bytes() for n, d in enumerate(self.data) if d}

    def at(self, folder: Path) -> CalyxSubject:
        """The same program in another folder."""
        data = tuple(folder / _there(n) if d else None for n, d in enumerate(self.data))
        return replace(self, path=folder / self.path.name, data=data)

    def cost(self, text: bytes) -> Mapping[str, int]:
        """The look-up tables, flip-flops, multipliers and memory blocks of the design."""
        with copied_with(self.path, text) as copy:
            usage = synthesised(copy, self.options)
        return {
            name: sum(getattr(each, name) for each in usage)
            for name in ("luts", "ffs", "dsps", "brams")
        }


def calyx_subject(path: Path, data: Sequence[Path], options: CalyxOptions) -> CalyxSubject:
    """Run a Calyx program on all its data, and learn from the first run.

    Args:
        path: the program.
        data: its memories, several times; empty for a program without.
        options: how it is compiled.

    Raises:
        VerifyError: it does not end.
        SourceError, DataError, ToolError, RunError, OutputError: see `cyclescope.errors`.
    """
    runs: tuple[Path | None, ...] = tuple(data) or (None,)
    first = profile_program(path, runs[0], replace(options, judge=False, area=False))
    original = tuple(run_program(path, each, options) for each in runs)
    for outcome in original:
        if outcome.stopped:
            raise VerifyError(
                f"{path}: cannot be improved: it does not end ({outcome.stopped}, after"
                f" {outcome.cycles:,} cycles)"
            )
    note, is_open = _doubts(path, runs, options, original)
    return CalyxSubject(path, runs, options, _facts(path, first.profile), original, note, is_open)


def _doubts(
    path: Path,
    data: Sequence[Path | None],
    options: CalyxOptions,
    original: Sequence[Outcome],
) -> tuple[str, bool]:
    """Tell whether the program's own memories are those of a build without optimisation."""
    for each, outcome in zip(data, original, strict=True):
        try:
            reference, _ = run_unoptimised(path, each, options)
        except (VerifyError, ToolError) as error:
            return str(error), True
        if failure := _failure(outcome, reference):
            return f"as it is, {failure} without optimisation", True
    return "", False


def _there(number: int) -> str:
    """The place of a program's data in a folder that has all of its files."""
    return f"data/{number}.json"


def _failure(outcome: Outcome, original: Outcome) -> str:
    """Say in what a run differs from the one whose results are right; empty if in nothing."""
    from cyclescope.sim import differences

    if outcome.stopped:
        return f"does not end: {outcome.stopped} after {outcome.cycles:,} cycles"
    found = differences(list(original.declared), outcome.memories, original.memories)
    if not found:
        return ""
    more = f"; and {len(found) - 1} more" if len(found) > 1 else ""
    return f"memories differ: {found[0].told('the original')}{more}"


def _facts(path: Path, profile: Profile) -> Facts:
    lengths = fixed_lengths(profile)
    exclusive = exclusive_blocks(profile)
    return Facts(lengths, blocks_of_lines(path.read_bytes(), str(path), exclusive))
