"""Judges of a run: other runs of the same program, that the hardware has nothing to do with."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from cyclescope.errors import RunError
from cyclescope.hls.front import SIZE
from cyclescope.hls.run._compare import differences

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from cyclescope.hls._compile import Program
    from cyclescope.hls.run._host import Host, Native, Reach

__all__ = ["Judge", "Judgement", "judge"]

_AGAIN = 4  # further runs where one differs: what it says may depend on the order of its threads


class Judge(StrEnum):
    """The judge that a run is compared with."""

    UNMODIFIED = "unmodified program"
    """The program's text with its directives as they are, compiled with OpenMP."""
    HOST = "rewritten host"
    """The program with its region in threads of the host, as the hardware's team."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """The judgement on a run.

    Attributes:
        judge: who.
        differing: arrays whose contents differ, a line each.
        undecided: arrays that its own runs do not agree on, which were not compared.
        prints_alike: the host's side writes the same and ends with the same status.
        why_not: why it could not judge; empty if it did.
    """

    judge: Judge
    differing: tuple[str, ...] = ()
    undecided: tuple[str, ...] = ()
    prints_alike: bool = True
    why_not: str = ""


def judge(
    program: Program,
    host: Host,
    arguments: Sequence[str],
    native: Native,
    reaches: Sequence[Reach],
    end: tuple[bytes, int],
) -> tuple[Judgement, ...]:
    """Compare a run's memories, and what the host's side made of them, with native runs.

    Args:
        program: that ran.
        host: its host.
        arguments: of its main function.
        native: the rewritten host's run, which the hardware's first data are from.
        reaches: the times that the region ran in hardware: the external memories before and after.
        end: what the host's side wrote after it, and its exit status.

    Raises:
        ToolError: the unmodified program cannot be compiled.
    """
    inputs = [reach.inputs for reach in reaches]

    def run(who: Judge) -> Native:
        unmodified = who is Judge.UNMODIFIED
        return host.run(arguments, unmodified=unmodified, inputs=inputs, times=len(inputs))

    def prints_in_any_order(who: Judge, first: Native) -> bool:
        """Return whether lines may come in any order, as those of several threads do."""
        if program.printing and program.region.threads > 1:
            return True
        try:
            return any(run(who).stdout != first.stdout for _ in range(_AGAIN))
        except RunError:
            return False

    def compared(who: Judge, first: Native) -> Judgement:
        known = _alike(program, first.reaches, reaches)
        if known < max(len(first.reaches), len(reaches)):
            why_not = "its data differ from run to run"
            if known:
                why_not += f", from the region's run {known + 1} on"
        else:
            why_not = ""
        before, after = first.reaches[:known], reaches[:known]
        alike = bool(why_not) or (_printed(end[0]), end[1]) == (
            _printed(first.stdout),
            first.status,
        )
        if not alike and end[1] == first.status and _lines(end[0]) == _lines(first.stdout):
            alike = prints_in_any_order(who, first)
        if not _differing(program, before, after):
            return Judgement(who, prints_alike=alike, why_not=why_not)
        open_: set[str] = set()
        for _ in range(_AGAIN):
            try:
                other = run(who)
            except RunError:
                break
            for a, b in zip(before, other.reaches, strict=False):
                open_.update(n for n in a.outputs if b.outputs.get(n) != a.outputs[n])
        found = _differing(program, before, after, open_)
        return Judgement(who, tuple(found), tuple(sorted(open_)), alike, "" if found else why_not)

    # One that came to the region once had the hardware's data.
    own = compared(Judge.HOST, native if len(reaches) == 1 else run(Judge.HOST))
    no_judge = host.no_judge or _too_few(program, reaches)
    if no_judge:
        return (Judgement(Judge.UNMODIFIED, why_not=no_judge), own)
    try:
        first = run(Judge.UNMODIFIED)
    except RunError as error:
        return (Judgement(Judge.UNMODIFIED, why_not=str(error)), own)
    return (compared(Judge.UNMODIFIED, first), own)


def _too_few(program: Program, reaches: Sequence[Reach]) -> str:
    """The reason that the hardware has fewer threads than the text wants; empty: it has all."""
    if not program.size:
        return ""
    place = next(n for n, v in enumerate(program.scalars) if v.name == SIZE)
    most = max(reach.scalars[place] for reach in reaches)
    if most <= program.region.threads:
        return ""
    return f"the text has {most} threads; --threads {most} gives the hardware as many"


def _differing(
    program: Program, native: Sequence[Reach], ran: Sequence[Reach], open_: Collection[str] = ()
) -> list[str]:
    """The differences of arrays that are not open, each time that the region ran."""
    found = []
    for number, (a, b) in enumerate(zip(native, ran, strict=True), 1):
        left = {n: a.outputs[n] if n in open_ else data for n, data in b.outputs.items()}
        lines = differences(program, a.outputs, left)
        found += [f"run {number}: {line}" if len(ran) > 1 else line for line in lines]
    return found


def _alike(program: Program, native: Sequence[Reach], ran: Sequence[Reach]) -> int:
    """The times, from the first on, that the host came to the region with data of one shape.

    Whether there is a team the unmodified program alone knows.
    """
    given = [n for n, v in enumerate(program.scalars) if v is not program.team]
    for number, (a, b) in enumerate(zip(native, ran, strict=False)):
        sizes = [{n: len(data) for n, data in one.inputs.items()} for one in (a, b)]
        if sizes[0] != sizes[1] or any(a.scalars[n] != b.scalars[n] for n in given):
            return number
    return min(len(native), len(ran))


def _lines(text: bytes) -> list[bytes]:
    """The lines of a text, in an order that is not the text's."""
    return sorted(_printed(text).split(b"\n"))


def _printed(text: bytes) -> bytes:
    """The text with every NaN alike, as one is as good as another, and every address.

    Where Linux puts a program, its heap and its stack is at random, and says nothing of a run.
    """
    text = re.sub(rb"\b0x(?:7[ef]|5[56])[0-9a-f]{10}\b", b"0x", text)
    return re.sub(rb"(?i) *-?\bnan", b" nan", text)
