"""Other lengths tried for real: the program with the change made, simulated.

`simulated_lengths` makes groups longer in the control of the measured run, which is what `retimed`
foretells. `compiled_anew` makes them longer in the program's text and has it compiled again: the
compiler may then split, share, inline and order other groups than it did.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cyclescope._files import scratch
from cyclescope.analyse import TriedLength, activations, retimed
from cyclescope.calyx import lengthened, recorded_options, run_longer, run_program
from cyclescope.errors import InputError, VerifyError
from cyclescope.model import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from cyclescope.analyse import OtherLength
    from cyclescope.calyx import CalyxOptions, Outcome
    from cyclescope.model import Frame, Profile

__all__ = ["compiled_anew", "simulated_lengths"]

_SLOWER = 2  # times as long as foretold may a run take


@dataclass(frozen=True)
class _Change:
    """A group that takes longer.

    Attributes:
        asked: the change.
        frames: the group where it ran.
        cycles: its length as it was.
        everywhere: these frames are all places in which the group ran.
    """

    asked: OtherLength
    frames: tuple[Frame, ...]
    cycles: int
    everywhere: bool

    def more(self, length: int) -> int:
        """The cycles to add for a length of the curve."""
        wanted = self.asked.at(length)
        if wanted < self.cycles:
            raise InputError(
                f"{self.asked.name} takes {self.cycles:,} cycles: it can be made longer, not"
                f" shorter; give {self.cycles:,} or more"
            )
        return wanted - self.cycles


def simulated_lengths(
    profile: Profile,
    changes: Sequence[OtherLength],
    program: Path,
    data: Path | None,
    progress: Callable[[str], object] = lambda _: None,
) -> tuple[TriedLength, ...]:
    """Simulate a Calyx program with some groups made longer, in the control of the profile's run.

    Args:
        profile: its run.
        changes: lengths of groups, as `retimed` takes them; longer than they are.
        program: its main file.
        data: its memories; None if it has none.
        progress: told of each run.

    Returns:
        The run with each of the lengths that `retimed` gives.

    Raises:
        InputError: a change cannot be made: of something that is no group, to fewer cycles, or of
            a group of several lengths; or the profile is another program's.
        VerifyError: the program with the change does not end.
        SourceError, DataError, ToolError, RunError, OutputError: see `cyclescope.errors`.
    """
    made = [_change(profile, change) for change in changes]

    def tried(length: int, options: CalyxOptions, first: Outcome, limit: int) -> TriedLength:
        more = {
            frame: cycles for one in made if (cycles := one.more(length)) for frame in one.frames
        }
        if not more:
            return _tried(first, first, same_control=True)
        found = run_longer(program, data, options, more, limit)
        return _tried(found.outcome, first, same_control=found.same_control)

    return _each_length(profile, changes, program, data, progress, tried)


def compiled_anew(
    profile: Profile,
    changes: Sequence[OtherLength],
    program: Path,
    data: Path | None,
    progress: Callable[[str], object] = lambda _: None,
) -> tuple[TriedLength, ...]:
    """Simulate a Calyx program with some groups made longer in its text, compiled anew.

    Args, Returns, Raises: as of `simulated_lengths`; a change of a single place of a group, or of
        one whose length the text promises, cannot be made in the text.
    """
    made = [_change(profile, change) for change in changes]
    for one in made:
        if not one.everywhere:
            raise InputError(
                f"{one.asked.name}: the group is enabled in other places, too; give its name alone,"
                f" {_name(one.frames[0])}"
            )

    def tried(length: int, options: CalyxOptions, first: Outcome, limit: int) -> TriedLength:
        with scratch("lengths") as folder:
            path = program
            for step, one in enumerate(made):
                if more := one.more(length):
                    copies = folder / f"change{step}"
                    copies.mkdir()
                    path = lengthened(
                        path, copies, one.frames[0].component, _name(one.frames[0]),
                        length=one.cycles, more=more,
                        promoted=all(frame.latency is not None for frame in one.frames),
                    )  # fmt: skip
            return _tried(run_program(path, data, options, limit), first)

    return _each_length(profile, changes, program, data, progress, tried)


def _each_length(
    profile: Profile,
    changes: Sequence[OtherLength],
    program: Path,
    data: Path | None,
    progress: Callable[[str], object],
    tried: Callable[[int, CalyxOptions, Outcome, int], TriedLength],
) -> tuple[TriedLength, ...]:
    """Try the lengths of a curve, one after another."""
    foretold = retimed(profile, changes)
    options = recorded_options(profile.meta)
    first = run_program(program, data, options)
    if first.cycles != profile.cycles:
        raise InputError(
            f"{program} takes {first.cycles:,} cycles, the profile has {profile.cycles:,}: give the"
            " profile's program and data"
        )
    found = []
    pairs = zip(foretold.lengths, foretold.totals, strict=True)
    for number, (length, expected) in enumerate(pairs):
        progress(f"run {number + 1} of {len(foretold.lengths)}")
        limit = _SLOWER * max(expected or 0, first.cycles) + 1000
        found.append(tried(length, options, first, limit))
    return tuple(found)


def _change(profile: Profile, change: OtherLength) -> _Change:
    """The group that a change is of."""
    frames = tuple(profile.catalog[frame] for frame, _ in change.keys)
    if any(frame.kind is not Kind.GROUP for frame in frames):
        raise InputError(f"{change.name}: only groups can be made longer")
    known = activations(profile, Kind.GROUP)
    of_component = {
        key: found
        for key, found in known.items()
        if profile.catalog[key[0]].component == frames[0].component
    }
    alike = [key for key in of_component if _name(profile.catalog[key[0]]) == _name(frames[0])]
    if len({instance for _, instance in alike}) > 1:
        raise InputError(
            f"{change.name}: {frames[0].component} runs in several instances, and the change of a"
            " program is one of all of them"
        )
    lengths = {n for key in change.keys for n in (known[key].shortest, known[key].longest)}
    if len(lengths) != 1:
        raise InputError(
            f"{change.name} takes {min(lengths):,} to {max(lengths):,} cycles: only what always"
            " takes as long can be made longer"
        )
    return _Change(change, frames, lengths.pop(), set(alike) <= set(change.keys))


def _name(frame: Frame) -> str:
    """The group's name in the program: a frame's names the line as well, if there are several."""
    return frame.definition or frame.name


def _tried(outcome: Outcome, first: Outcome, *, same_control: bool | None = None) -> TriedLength:
    if outcome.stopped:
        raise VerifyError(f"with other lengths the program does not end: {outcome.stopped}")
    return TriedLength(outcome.cycles, outcome.memories == first.memories, same_control)
