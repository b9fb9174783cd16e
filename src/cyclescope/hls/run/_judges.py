"""Judges of a run: other runs of the same program, that the hardware has nothing to do with."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from cyclescope.errors import RunError
from cyclescope.hls.run._compare import differences

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cyclescope.hls._compile import Program
    from cyclescope.hls.run._host import Host, Native

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
    arrays: Mapping[str, bytes],
    end: tuple[bytes, int],
) -> tuple[Judgement, ...]:
    """Compare a run's memories, and what the host's side made of them, with native runs.

    Args:
        program: that ran.
        host: its host.
        arguments: of its main function.
        native: the rewritten host's run, which the hardware's data are from.
        arrays: the external memories after the region in hardware.
        end: what the host's side wrote after it, and its exit status.

    Raises:
        ToolError: the unmodified program cannot be compiled.
    """

    def run(who: Judge) -> Native:
        unmodified = who is Judge.UNMODIFIED
        return host.run(arguments, unmodified=unmodified, inputs=native.inputs)

    def prints_in_any_order(who: Judge, first: Native) -> bool:
        """Return whether lines may come in any order, as those of several threads do."""
        if program.printing and program.region.threads > 1:
            return True
        try:
            return any(run(who).stdout != first.stdout for _ in range(_AGAIN))
        except RunError:
            return False

    def compared(who: Judge, first: Native) -> Judgement:
        differing = differences(program, first.outputs, arrays)
        alike = (_printed(end[0]), end[1]) == (_printed(first.stdout), first.status)
        if not alike and end[1] == first.status and _lines(end[0]) == _lines(first.stdout):
            alike = prints_in_any_order(who, first)
        if not differing:
            return Judgement(who, prints_alike=alike)
        open_: set[str] = set()
        for _ in range(_AGAIN):
            try:
                other = run(who)
            except RunError:
                break
            open_.update(n for n in first.outputs if other.outputs.get(n) != first.outputs[n])
        left = {n: first.outputs[n] if n in open_ else data for n, data in arrays.items()}
        found = differences(program, first.outputs, left)
        return Judgement(who, tuple(found), tuple(sorted(open_)), alike)

    own = compared(Judge.HOST, native)
    why_not = host.no_judge
    if not why_not:
        try:
            first = run(Judge.UNMODIFIED)
        except RunError as error:
            why_not = str(error)
        else:
            sizes = [{n: len(data) for n, data in run.inputs.items()} for run in (first, native)]
            if sizes[0] != sizes[1] or first.scalars != native.scalars:
                why_not = "its data differ from run to run"
    if why_not:
        return (Judgement(Judge.UNMODIFIED, why_not=why_not), own)
    return (compared(Judge.UNMODIFIED, first), own)


def _lines(text: bytes) -> list[bytes]:
    """The lines of a text, in an order that is not the text's."""
    return sorted(_printed(text).split(b"\n"))


def _printed(text: bytes) -> bytes:
    """The text with every NaN alike, as one is as good as another, and every address.

    Where Linux puts a program, its heap and its stack is at random, and says nothing of a run.
    """
    text = re.sub(rb"\b0x(?:7[ef]|5[56])[0-9a-f]{10}\b", b"0x", text)
    return re.sub(rb"(?i) *-?\bnan", b" nan", text)
