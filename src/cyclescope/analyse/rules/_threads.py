"""What rules ask of a run of hardware threads: states, waits, loops, and the text of a line."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from cyclescope.analyse._texts import c_loops, counter_of, source_line
from cyclescope.analyse.rules._rule import Place
from cyclescope.model import Kind, Position

if TYPE_CHECKING:
    from cyclescope.analyse.rules._facts import Facts

__all__ = ["Loop", "Threads", "Wait", "accesses", "subscripts", "terms"]

_WAIT = re.compile(r"(load of|store to|copy to|lock|barrier)(?: (.*))?")


@dataclass(frozen=True, slots=True)
class Wait:
    """A place where threads wait: what for, of which array, on which line, thread-cycles."""

    verb: str
    array: str
    line: int
    cycles: int


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop: its line, the loops around it from outside in, the variable that it counts.

    Its last line is known from the text alone.
    """

    line: int
    around: tuple[int, ...]
    variable: str
    end: int | None = None


class Threads:
    """A profile of threads."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self.profile = facts.profile
        kinds = [facts.of(path).kind for path in range(len(facts.parent))]
        self.paths = [path for path, kind in enumerate(kinds) if kind is Kind.THREAD]
        self.count = len(self.paths)
        team = facts.team
        self._members = team.members if team is not None else ()
        frames = [facts.of(path) for path in range(len(kinds))]
        self.file = next((f.positions[0].file for f in frames if f.positions), "")
        self.region = frames[0].name if frames else ""

    def place(
        self,
        name: str,
        line: int | None,
        evidence: str,
        saving: int,
        at_most: int,
        cycles: tuple[int, int] | None = None,
    ) -> Place:
        """A place of the region, or (without a line) the region; it may save nothing at all."""
        root = self._facts.of(0).positions
        position = root[0] if root else None
        if line is not None:
            position = Position("c", self.file, line)
        return Place(name, self.region, position, evidence, saving, 0, at_most, cycles)

    def state(self, name: str) -> list[int]:
        """For each thread the cycles in a state (`idle`, `running`, `critical`, `spinning`)."""
        return [member.states.get(name, 0) for member in self._members]

    def stalled(self) -> list[int]:
        """For each thread the cycles in which it waits for memory, critical sections left out."""
        running = self.state("running")
        stalls = self.counter("stalls: memory")
        return [min(pair) for pair in zip(running, stalls, strict=True)]

    def first(self) -> list[int]:
        """For each thread the cycle in which it started to work; the run's length if never."""
        result = []
        for path in self.paths:
            idle = [c for c in self._facts.children[path] if self._facts.of(c).name == "idle"]
            starts = [
                int(start[0])
                for child in self._facts.children[path]
                if child not in idle and len(start := self._facts.spans(child)[0])
            ]
            result.append(min(starts, default=self.profile.cycles))
        return result

    def entered(self, name: str) -> list[int]:
        """For each thread how often it entered a state."""
        return [
            sum(
                len(self._facts.spans(child)[0])
                for child in self._facts.children[path]
                if self._facts.of(child).name == name
            )
            for path in self.paths
        ]

    def worked(self) -> list[int]:
        """For each thread the cycles from its start to its end, less what it waited for others."""
        barriers = self.counter("stalls: barrier")
        result = []
        for number, path in enumerate(self.paths):
            spans = [
                self._facts.spans(child)
                for child in self._facts.children[path]
                if self._facts.of(child).name != "idle"
            ]
            begun = [(int(start[0]), int(end[-1])) for start, end in spans if len(start)]
            if begun:
                taken = max(end for _, end in begun) - min(start for start, _ in begun)
                waited = self.state("spinning")[number] + barriers[number]
                result.append(max(taken - waited, 0))
            else:
                result.append(0)
        return result

    def counter(self, name: str) -> list[int]:
        """For each thread the total of a counter."""
        return [
            sum(count for (_, counter), count in member.counts.items() if counter == name)
            for member in self._members
        ]

    def total(self, name: str) -> int:
        """The total of a counter of the whole region."""
        every = (s for s in self.profile.series if s.name == name and s.path not in self.paths)
        return sum(int(series.value.sum()) for series in every)

    @cached_property
    def waits(self) -> tuple[Wait, ...]:
        """Where threads waited, longest first."""
        team = self._facts.team
        found = []
        for wait in team.waits if team is not None else ():
            match = _WAIT.fullmatch(wait.what)
            if match is not None and wait.line:
                found.append(Wait(match[1], match[2] or "", wait.line, wait.cycles))
        return tuple(found)

    @cached_property
    def loops(self) -> dict[int, Loop]:
        """Loops by the line of their head."""
        result: dict[int, Loop] = {}
        for path in range(len(self._facts.parent)):
            frame = self._facts.of(path)
            if frame.kind is not Kind.LOOP or not frame.positions:
                continue
            line = frame.positions[0].line
            around = tuple(
                self._facts.of(p).positions[0].line
                for p in self.profile.lineage(path)[:-1]
                if self._facts.of(p).kind is Kind.LOOP and self._facts.of(p).positions
            )
            result.setdefault(line, Loop(line, around, counter_of(self.text(line))))
        return result or self._loops_of_text()

    def _loops_of_text(self) -> dict[int, Loop]:
        """As the program has them: a profiling unit knows states, not in which loop they are."""
        root = self._facts.of(0).positions if self.paths else ()
        region = root[0].line if root else 0
        # Those of the host around the region are no loops of it.
        inside = [
            loop
            for loop in c_loops(self.profile.sources.get(self.file, ""))
            if not loop.line < region <= loop.end
        ]
        return {
            loop.line: Loop(
                loop.line,
                tuple(o.line for o in inside if o.line < loop.line and loop.end <= o.end),
                counter_of(self.text(loop.line)),
                loop.end,
            )
            for loop in inside
        }

    @cached_property
    def is_timed(self) -> bool:
        """Whether the profile says when threads are in which loop."""
        return any(loop.end is None for loop in self.loops.values())

    def loop_of(self, line: int) -> Loop | None:
        """The innermost loop whose head is at or before a line: the last one that began there."""
        heads = [
            head
            for head, loop in self.loops.items()
            if head <= line and (loop.end is None or line <= loop.end)
        ]
        return self.loops[max(heads)] if heads else None

    def text(self, line: int) -> str:
        """A line of the program without comments; empty if the profile does not carry it."""
        return source_line(self.profile, self.file, line)

    def inside(self, line: int) -> list[np.ndarray[tuple[int], np.dtype[np.bool_]]]:
        """For each thread, of each cycle, whether it was in a loop."""
        result = []
        for thread in self.paths:
            mask = np.zeros(self.profile.cycles, dtype=np.bool_)
            for path in self._facts.below(thread):
                frame = self._facts.of(path)
                if frame.kind is Kind.LOOP and frame.positions and frame.positions[0].line == line:
                    for start, end in zip(*self._facts.spans(path), strict=True):
                        mask[start:end] = True
            result.append(mask)
        return result


def subscripts(text: str, at: int) -> tuple[tuple[str, ...], int]:
    """What stands between the brackets behind a name that ends here, and where they end."""
    found: list[str] = []
    end = at
    while text[at : at + 1] == "[":
        depth, end = 1, at + 1
        while end < len(text) and depth:
            depth += {"[": 1, "]": -1}.get(text[end], 0)
            end += 1
        found.append(text[at + 1 : end - 1])
        at = end + len(text[end:]) - len(text[end:].lstrip())
    return tuple(found), end


def accesses(text: str, array: str) -> list[tuple[str, ...]]:
    """What stands between the brackets behind an array's name, for each time it does."""
    names = re.finditer(rf"\b{re.escape(array)}\s*(?=\[)", text)
    return [subscripts(text, match.end())[0] for match in names]


def terms(sum_: str) -> list[str]:
    """The terms of a sum, brackets kept together; those taken off begin with their sign."""
    found, depth = [""], 0
    for char in sum_:
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(char, 0)
        if char in "+-" and not depth:
            found.append(char.strip("+"))
        else:
            found[-1] += char
    return found
