"""Bounds of a region's operations: executed with time stamps, a process an operation.

The model is that of `cyclescope.bounds` (van Teijlingen et al., *Determining Performance
Boundaries on High-Level System Specifications*, SCOPES 2016), with an operation of the data-flow
graph in place of a statement: what one functional unit does, so that the hardware can never be
faster. Its latency is the schedule's, a memory's the least that it can be, one cycle. As
there, only values are waited for; what steers control (conditions of loops, branches, effects) is
not. Each thread is by itself: what others write is there at once.

A further estimate, the II-constrained bound, is nearer to the hardware: an iteration of a loop
begins no sooner after the one before it than the schedule and the contexts of variable-latency
stages let it, and what is in it no sooner than it; a loop that is entered again goes on from there.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from cyclescope.hls.ir import (
    EFFECTS,
    LEAVES,
    WIRING,
    Graph,
    Interpreter,
    InterpreterText,
    Node,
    Op,
    Value,
)
from cyclescope.hls.microarch import LINE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cyclescope.hls._compile import Program
    from cyclescope.hls.ir import Array, Schedule
    from cyclescope.hls.run._host import Native

__all__ = ["MOST_ITERATIONS", "Share", "shares"]

MOST_ITERATIONS = 1_000_000
"""Iterations of all threads that `shares` executes at most: about a minute."""

# Absolute, II-constrained, unbounded: these wait for memory; the first two for functional units.
# And chains.
_KINDS = ("a", "p", "u", "c")
_MEMORY, _UNITS = 3, 2

_Names = tuple[str, ...]
_NOTHING: _Names = ("0",) * len(_KINDS)
_Marks = dict[int, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class Share:
    """The bounds of a thread's part of a region, in cycles; each is at least the one before it.

    Attributes:
        chain: the longest chain of operations in one iteration of the loops that it is in, if
            what earlier iterations computed and the data in memory were there at once.
        unbounded: with as many functional units as there are executions.
        absolute: with one functional unit for each operation, which begins one execution a cycle,
            in order.
        scheduled: the same, where iterations begin at the minimum interval of the hardware.
    """

    chain: int
    unbounded: int
    absolute: int
    scheduled: int


def shares(program: Program, native: Native, limit: int = MOST_ITERATIONS) -> tuple[Share, ...]:
    """Bounds of each thread.

    Args:
        program: compiled.
        native: its run on the host, for what the region is given.
        limit: iterations of all threads together, at most.

    Raises:
        RunError: an access out of range, a deadlock, or more iterations than the limit.
    """
    machine = _BoundsInterpreter(program, native, limit)
    machine.run()
    return tuple(
        Share(chain, free, bound, scheduled) for bound, scheduled, free, chain in machine.ends
    )


class _BoundsInterpreter(Interpreter):
    def __init__(self, program: Program, native: Native, limit: int) -> None:
        self.program = program
        threads = program.region.threads
        # For each thread: until when it takes; for each of its arrays when a word was written.
        self.ends = [[0] * len(_KINDS) for _ in range(threads)]
        self.marks: list[list[_Marks]] = [
            [{} for _ in program.region.arrays] for _ in range(threads)
        ]
        super().__init__(program.region, native.inputs, native.scalars, None, limit)

    def _text(self, scalars: Sequence[int]) -> InterpreterText:
        return _BoundsText(self.program, scalars)

    def _more(self, text: InterpreterText) -> dict[str, Any]:
        assert isinstance(text, _BoundsText)
        free, slots, left = (
            [[0] * count for _ in self.ends] for count in (text.units, text.units, len(text.names))
        )
        return {
            "free": free, "slots": slots, "left": left, "ends": self.ends, "marks": self.marks,
            "written": _written, "write": _write, "never": (0,) * _MEMORY,
        }  # fmt: skip


def _written(marks: _Marks, first: int, words: int) -> tuple[int, ...]:
    """The time at which the last of these words was written, in each estimate."""
    found = [marks[w] for w in range(first, first + words) if w in marks]
    return tuple(map(max, zip(*found, strict=True))) if found else (0,) * _MEMORY


def _write(marks: _Marks, first: int, words: int, mark: tuple[int, ...]) -> None:
    for word in range(first, first + words):
        marks[word] = mark


class _BoundsText(InterpreterText):
    """A region as Python functions that compute, beside each value, when it is ready.

    A value has one such time in each estimate. The function of a graph takes the time at which its
    iteration begins, in the II-constrained estimate, then the values that it is given and their
    times; it returns (values, times).
    """

    def __init__(self, program: Program, scalars: Sequence[int]) -> None:
        self.units = 0
        self._program = program
        self._latency = {n: t for s in program.schedules.values() for n, t in s.latency.items()}
        self._ready: dict[Node, _Names] = {}
        self._word = _words(program)
        super().__init__(program.region, scalars, None)

    def _graph(self, graph: Graph) -> None:
        name = self._named(graph)
        carried = [c.param for c in graph.carried]
        given = [*carried, *graph.invariants]
        for node in given:
            self._ready[node] = self._own(node)
        for node in carried:
            own = self._own(node)
            self._ready[node] = (*own[:_MEMORY], "0")
        values = [self._value[node] for node in given]
        times = [time for node in given for time in self._own(node)]
        start = (
            ["begin"] if graph.continues is not None else ["begin=0"]
        )  # the root, which nobody calls
        lines = [
            f"def {name}({', '.join(['memories', 'thread', *start, *values, *times])}):",
            "    mark, unit, end = marks[thread], free[thread], ends[thread]",
            "    slot, last = slots[thread], left[thread]",
        ]
        if graph.continues is None:
            lines += [f"    {line}" for node in self._order(graph) for line in self._node(node)]
            lines += ["    if False: yield"]
        else:
            early, late = self._split(graph)
            mine = f"last[{len(self.names) - 1}]"
            lines.append(f"    begin = max(begin, {mine})")
            lines += ["    while True:", "        yield"]
            lines += [f"        {line}" for node in early for line in self._node(node)]
            lines.append(f"        if not {self._name(graph.continues)}: break")
            lines += [f"        {line}" for node in late for line in self._node(node)]
            if carried:
                left = [*map(self._value.__getitem__, carried)]
                right = [self._name(c.next) for c in graph.carried]
                for c in graph.carried:
                    left += self._own(c.param)
                    right += self._times(c.next)
                lines.append(f"        {', '.join(left)} = {', '.join(right)}")
            lines.append(f"        begin += {_min_interval(self._program.schedules[graph])}")
            lines.append(f"    {mine} = begin")
        back = [time for node in carried for time in self._own(node)]
        results = "".join(f"{self._value[node]}, " for node in carried)
        lines.append(f"    return ({results}), ({''.join(f'{s}, ' for s in back)})")
        self._lines += lines

    def _own(self, node: Node) -> _Names:
        return tuple(f"{self._value[node]}{kind}" for kind in _KINDS)

    def _times(self, value: Value) -> _Names:
        if value.node.op is Op.LOOP:
            name = self._value[value.node]
            at = len(_KINDS) * value.index
            return tuple(f"{name}s[{at + kind}]" for kind in range(len(_KINDS)))
        return self._ready[value.node]

    def _node(self, node: Node) -> list[str]:
        lines = super()._node(node)
        if node.op is Op.PARAM:
            return lines
        if node.op in LEAVES:
            self._ready[node] = _NOTHING
            return lines
        if node.op not in EFFECTS:
            return lines + self._computed(node)
        happens = self._happened(node)
        if node.when is None:
            return lines + happens
        if node.op is Op.LOOP:
            nothing = f"{self._value[node]}s = {(0,) * len(_KINDS) * len(node.widths)}"
        elif node.op is Op.LOAD:
            nothing = f"{' = '.join(self._own(node))} = 0"
        else:
            nothing = "pass"
        happens = [f"    {line}" for line in happens or ["pass"]]
        return [*lines, f"if {self._name(node.when)}:", *happens, "else:", f"    {nothing}"]

    def _effect(self, node: Node, name: str) -> tuple[list[str], str]:
        lines, nothing = super()._effect(node, name)
        if node.op is Op.LOOP:
            assert node.body is not None
            given = [self._name(v) for v in node.operands]
            given += [time for v in node.operands for time in self._times(v)]
            given = ["memories", "thread", "begin", *given]
            call = f"{self.names[node.body]}({', '.join(given)})"
            lines = [f"{name}, {name}s = yield from {call}"]
        return lines, nothing

    def _computed(self, node: Node) -> list[str]:
        """The times at which an operation without effects has its result."""
        operands = [self._times(v) for v in node.operands]
        if node.op in WIRING and len(operands) == 1:
            self._ready[node] = operands[0]
            return []
        own = self._ready[node] = self._own(node)
        lines = []
        for kind, name in enumerate(own):
            from_ = [times[kind] for times in operands]
            if node.op is Op.SELECT:
                # Only the value that is taken is waited for.
                taken = f"({from_[1]} if {self._name(node.operands[0])} else {from_[2]})"
                from_ = [from_[0], taken] if from_[1] != from_[2] else from_[:2]
            lines.append(f"{name} = {_latest(from_, kind)}")
        if node.op in WIRING:
            return lines
        return lines + self._takes(node, own)

    def _takes(self, node: Node, own: _Names, takes: str = "1") -> list[str]:
        """An execution: in some estimates its functional unit must be free; then its latency."""
        lines = []
        for name, units in zip(own[:_UNITS], ("unit", "slot"), strict=True):
            unit = f"{units}[{self.units}]"
            lines += [f"if {name} < {unit}: {name} = {unit}", f"{unit} = {name} + {takes}"]
        self.units += 1
        latency = str(self._latency[node]) if takes == "1" else takes
        if latency != "0":
            lines += [f"{name} += {latency}" for name in own]
        return lines

    def _happened(self, node: Node) -> list[str]:
        """The times at which an effect that takes place is over; none for those that only steer."""
        if node.op not in (Op.LOAD, Op.STORE, Op.COPY):
            return []
        assert node.array is not None
        own = self._own(node)
        operands = [self._times(v) for v in node.operands]
        lines = [f"{name} = {_latest([s[k] for s in operands], k)}" for k, name in enumerate(own)]
        if node.op is Op.LOAD:
            self._ready[node] = own
            bits = node.widths[0]
            lines += self._after_writing(node.array, self._name(node.operands[0]), bits // 8, own)
            return lines + self._takes(node, own)
        if node.op is Op.STORE:
            lines += self._takes(node, own)
            size = str(node.operands[1].width // 8)
        else:
            assert node.source is not None
            source = self._name(node.operands[1])
            size = self._name(node.operands[2])
            lines += self._after_writing(node.source, source, size, own)
            lines += [f"lines = max(1, -(-{size} // {LINE}))", *self._takes(node, own, "lines")]
        array, word = self._place[node.array], self._word[node.array]
        first = f"{self._name(node.operands[0])} // {word}"
        mark = ", ".join(own[:_MEMORY])
        lines.append(f"write(mark[{array}], {first}, {_count(size, word)}, ({mark}))")
        return lines + [f"if {name} > end[{k}]: end[{k}] = {name}" for k, name in enumerate(own)]

    def _after_writing(self, array: Array, at: str, size: int | str, own: _Names) -> list[str]:
        """Let a read wait until its data are written; a chain ends at memory."""
        place, word = self._place[array], self._word[array]
        first = f"{at} // {word}"
        if size == word:
            found = f"mark[{place}].get({first}, never)"
        else:
            found = f"written(mark[{place}], {first}, {_count(size, word)})"
        lines = [f"there = {found}"]
        return lines + [
            f"if there[{k}] > {name}: {name} = there[{k}]" for k, name in enumerate(own[:_MEMORY])
        ]


def _min_interval(schedule: Schedule) -> int:
    """The minimum interval between two iterations of a thread in the hardware, in cycles.

    Between two variable-latency stages there is one at a time: behind them is one context for each
    thread.
    """
    lengths = (b - a for a, b in pairwise((-1, *schedule.waiting)))
    return max([schedule.interval, *lengths])


def _latest(times: Sequence[str], kind: int) -> str:
    begun = ["begin"] if _KINDS[kind] == "p" else []
    found = [time for time in dict.fromkeys([*times, *begun]) if time != "0"]
    if len(found) < 2:
        return found[0] if found else "0"
    return f"max({', '.join(found)})"


def _count(size: int | str, word: int) -> str:
    number = str(size)
    return str(max(1, int(number) // word)) if number.isdigit() else f"-(-{number} // {word})"


def _words(program: Program) -> dict[Array, int]:
    """For each array the bytes of its narrowest access: in such words its marks are kept."""
    found: dict[Array, int] = {}
    for graph in program.schedules:
        for node in graph.nodes:
            for array in (node.array, node.source):
                if array is None:
                    continue
                size = LINE
                if node.op is Op.LOAD:
                    size = node.widths[0] // 8
                elif node.op is Op.STORE:
                    size = node.operands[1].width // 8
                else:
                    size = 1 if array.word > LINE else min(LINE, array.word)
                found[array] = min(found.get(array, size), size)
    return found
