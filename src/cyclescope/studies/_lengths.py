"""Other lengths tried for real: the program with the change made, simulated."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope._files import scratch
from cyclescope.analyse import activations, retimed
from cyclescope.calyx import lengthened, recorded_options, run_program
from cyclescope.errors import InputError, VerifyError
from cyclescope.model import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from cyclescope.analyse import OtherLength
    from cyclescope.calyx import Outcome
    from cyclescope.model import Frame, Profile

__all__ = ["simulated_lengths"]

_SLOWER = 2  # times as long as foretold may a run take


def simulated_lengths(
    profile: Profile,
    changes: Sequence[OtherLength],
    program: Path,
    data: Path | None,
    progress: Callable[[str], object] = lambda _: None,
) -> tuple[int, ...]:
    """Simulate a Calyx program with some groups made longer, compiled as the profile's was.

    Args:
        profile: its run.
        changes: lengths of groups, as `retimed` takes them; longer than they are.
        program: its main file.
        data: its memories; None if it has none.
        progress: told of each run.

    Returns:
        Cycles, for each of the lengths that `retimed` gives.

    Raises:
        InputError: a change cannot be made: of something that is no group, to fewer cycles, or of
            a group of several lengths.
        VerifyError: the program with the change does not end, or leaves other memories.
        SourceError, DataError, ToolError, RunError, OutputError: see `cyclescope.errors`.
    """
    foretold = retimed(profile, changes)
    now = [_group(profile, change) for change in changes]
    options = recorded_options(profile.meta)
    first = run_program(program, data, options)
    if first.cycles != profile.cycles:
        raise InputError(
            f"{program} takes {first.cycles:,} cycles, the profile has {profile.cycles:,}: give the"
            " profile's program and data"
        )
    totals: list[int] = []
    for number, (length, expected) in enumerate(
        zip(foretold.lengths, foretold.totals, strict=True)
    ):
        progress(f"run {number + 1} of {len(foretold.lengths)}")
        with scratch("lengths") as folder:
            path = program
            for step, (change, (frame, cycles, promoted)) in enumerate(
                zip(changes, now, strict=True)
            ):
                wanted = length if change.first != change.last else change.first
                if wanted < cycles:
                    raise InputError(
                        f"{change.name} takes {cycles:,} cycles: it can be made longer, not"
                        f" shorter; give {cycles:,} or more"
                    )
                if wanted > cycles:
                    copies = folder / f"change{step}"
                    copies.mkdir()
                    path = lengthened(
                        path, copies, frame.component, _name(frame),
                        length=cycles, more=wanted - cycles, promoted=promoted,
                    )  # fmt: skip
            limit = _SLOWER * max(expected, first.cycles) + 1000
            totals.append(_cycles(run_program(path, data, options, limit), first, changes))
    return tuple(totals)


def _group(profile: Profile, change: OtherLength) -> tuple[Frame, int, bool]:
    """The group that a change is of, its length, and whether it is scheduled statically."""
    frames = [profile.catalog[frame] for frame, _ in change.keys]
    if any(frame.kind is not Kind.GROUP for frame in frames):
        raise InputError(f"{change.name}: only groups can be made longer")
    known = activations(profile, Kind.GROUP)
    ran = [
        (key, found)
        for key, found in known.items()
        if profile.catalog[key[0]].component == frames[0].component
        and _name(profile.catalog[key[0]]) == _name(frames[0])
    ]
    if {key for key, _ in ran} - set(change.keys) and len({i for (_, i), _ in ran}) == 1:
        raise InputError(
            f"{change.name}: the group is enabled in other places, too; give its name alone,"
            f" {_name(frames[0])}"
        )
    if len({instance for (_, instance), _ in ran}) > 1:
        raise InputError(
            f"{change.name}: {frames[0].component} runs in several instances, and the change of a"
            " program is one of all of them"
        )
    lengths = {n for _, found in ran for n in (found.shortest, found.longest)}
    if len(lengths) != 1:
        raise InputError(
            f"{change.name} takes {min(lengths):,} to {max(lengths):,} cycles: only what always"
            " takes as long can be made longer"
        )
    return frames[0], lengths.pop(), all(frame.latency is not None for frame in frames)


def _name(frame: Frame) -> str:
    """The group's name in the program: a frame's names the line as well, if there are several."""
    return frame.definition or frame.name


def _cycles(outcome: Outcome, first: Outcome, changes: Sequence[OtherLength]) -> int:
    names = ", ".join(change.name for change in changes)
    if outcome.stopped:
        raise VerifyError(
            f"with other lengths of {names} the program does not end: {outcome.stopped}"
        )
    if outcome.memories != first.memories:
        raise VerifyError(f"with other lengths of {names} the program leaves other memories")
    return outcome.cycles
