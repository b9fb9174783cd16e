"""A slow model of the bounds, written from the paper's definitions alone.

A kernel is plain data: loop nests of statements with affine subscripts. The model walks it in
program order, keeps a shadow time for each element and a control time for each statement
(section 4.5), and counts R$, E$ and W$ cycle by cycle (section 4.5.1). It shares nothing with
the package but the C text that is rendered here for both.
"""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

N = 4


@dataclass(frozen=True)
class Ref:
    """`array[subscripts]`; a subscript is a loop variable, its mirror N - 1 - v, or a number."""

    array: str
    subscripts: tuple[tuple[str, str | int], ...]

    def element(self, values: dict[str, int]) -> tuple[int, ...]:
        return tuple(
            {"at": lambda s: values[s], "mirror": lambda s: N - 1 - values[s], "number": int}[how](
                s
            )
            for how, s in self.subscripts
        )

    def c(self) -> str:
        render = {"at": "[{}]", "mirror": f"[{N} - 1 - {{}}]", "number": "[{}]"}
        return self.array + "".join(render[how].format(s) for how, s in self.subscripts)


@dataclass(frozen=True)
class Statement:
    """`target = reads joined by operators` (or `+=`); no reads: a constant."""

    label: str
    target: Ref
    accumulates: bool
    reads: tuple[Ref, ...]
    operators: tuple[str, ...]
    latency: int | None
    interval: int

    def operands(self) -> list[Ref]:
        return ([self.target] if self.accumulates else []) + list(self.reads)

    def c(self) -> str:
        text = self.reads[0].c() if self.reads else "1.5"
        for operator, read in zip(self.operators, self.reads[1:], strict=True):
            text = f"({text} {operator} {read.c()})"
        return f"{self.label}: {self.target.c()} {'+=' if self.accumulates else '='} {text};"

    def depth(self) -> int:
        """Λ_F: as given, else 2 + 8 for each add or multiply on the path and 36 a division."""
        if self.latency is not None:
            return self.latency
        cost = {"+": 8, "-": 8, "*": 8, "/": 36}
        path = sum(cost[o] for o in self.operators) + (8 if self.accumulates else 0)
        if self.accumulates and not self.reads:
            return 10
        return path + 2 if path else 1

    def is_constant(self) -> bool:
        return not self.operands()


@dataclass(frozen=True)
class Loop:
    """`for (variable = low; variable < high; variable++)`; low may be an outer variable."""

    variable: str
    low: str | int
    high: str | int
    body: tuple[Loop | Statement, ...]


@dataclass
class Outcome:
    """The model's results for one estimate."""

    cycles: int = 0
    firings: Counter[str] = field(default_factory=Counter)
    stages: dict[tuple[str, str], Counter[int]] = field(default_factory=dict)
    parallelism: Counter[int] = field(default_factory=Counter)
    reads: dict[tuple[str, int, str], list[int]] = field(default_factory=dict)


def textual(body: tuple[Loop | Statement, ...]) -> list[Statement]:
    """The statements of the text."""
    return [s for n in body for s in ([n] if isinstance(n, Statement) else textual(n.body))]


def arrays(body: tuple[Loop | Statement, ...]) -> dict[str, int]:
    """Array name → rank."""
    found: dict[str, int] = {}
    for node in body:
        if isinstance(node, Loop):
            found |= arrays(node.body)
        else:
            for ref in [node.target, *node.reads]:
                found[ref.array] = len(ref.subscripts)
    return dict(sorted(found.items()))


def c_text(body: tuple[Loop | Statement, ...]) -> str:
    params = ", ".join(f"double {a}{f'[{N}]' * rank}" for a, rank in arrays(body).items())
    return f"void kernel({params})\n{{\n{_c(body)}}}\n"


def _c(body: tuple[Loop | Statement, ...]) -> str:
    text = ""
    for node in body:
        if isinstance(node, Loop):
            v = node.variable
            text += f"for (int {v} = {node.low}; {v} < {node.high}; {v}++) {{\n{_c(node.body)}}}\n"
        else:
            text += node.c() + "\n"
    return text


def firings(
    body: tuple[Loop | Statement, ...], values: dict[str, int]
) -> Iterator[tuple[Statement, dict[str, int]]]:
    """Statements in program order with their iteration vectors."""
    for node in body:
        if isinstance(node, Statement):
            yield node, values
            continue
        low = values[node.low] if isinstance(node.low, str) else node.low
        high = values[node.high] if isinstance(node.high, str) else node.high
        for value in range(low, high):
            yield from firings(node.body, {**values, node.variable: value})


def elements(rank: int) -> list[tuple[int, ...]]:
    if rank == 0:
        return [()]
    return [(i, *rest) for i in range(N) for rest in elements(rank - 1)]


def run(
    body: tuple[Loop | Statement, ...], *, resources: int | None, read: int = 1, write: int = 1
) -> Outcome:
    """One estimate: with some resources for each statement, or (None) with any number."""
    ranks = arrays(body)
    written: set[tuple[str, tuple[int, ...]]] = set()
    every = textual(body)
    outputs = {s.target.array for s in every}
    # What the text only reads is an input; what it writes too, if an element is read unwritten.
    inputs = {ref.array for s in every for ref in s.operands()} - outputs
    for statement, values in firings(body, {}):
        for ref in statement.operands():
            if (ref.array, ref.element(values)) not in written:
                inputs.add(ref.array)
        written.add((statement.target.array, statement.target.element(values)))

    outcome = Outcome()
    shadow: dict[tuple[str, tuple[int, ...]], int] = {}
    writer: dict[tuple[str, tuple[int, ...]], tuple[str, int]] = {}
    control: dict[str, list[int]] = {}

    def fire(name: str, ready: int, depth: int, interval: int) -> int:
        start = ready
        if resources is not None:
            # A control variable for each resource; the firing takes the one that is least.
            free = control.setdefault(name, [0] * resources)
            chosen = free.index(min(free))
            start = free[chosen] = max(ready, free[chosen])
            free[chosen] += interval
        outcome.firings[name] += 1
        for stage, begin, length in (
            ("R", start, read), ("E", start + read, depth), ("W", start + read + depth, write)
        ):  # fmt: skip
            profile = outcome.stages.setdefault((name, stage), Counter())
            for cycle in range(begin, begin + length):
                profile[cycle] += 1
                if stage == "E":
                    outcome.parallelism[cycle] += 1
        end = start + read + depth + write
        outcome.cycles = max(outcome.cycles, end)
        return end

    for array in sorted(inputs):
        for element in elements(ranks[array]):
            shadow[array, element] = fire(f"source {array}", 0, 1, 1)
            writer[array, element] = (f"source {array}", outcome.firings[f"source {array}"])
    for statement, values in firings(body, {}):
        place = (statement.target.array, statement.target.element(values))
        if statement.is_constant():
            shadow[place] = 0
            writer.pop(place, None)
            continue
        ready = 0
        for number, ref in enumerate(statement.operands()):
            value = (ref.array, ref.element(values))
            ready = max(ready, shadow.get(value, 0))
            if value in writer:
                producer, token = writer[value]
                key = (producer, number, statement.label)
                outcome.reads.setdefault(key, []).append(token)
        shadow[place] = fire(statement.label, ready, statement.depth(), statement.interval)
        writer[place] = (statement.label, outcome.firings[statement.label])
    for array in sorted(outputs):
        for element in elements(ranks[array]):
            fire(f"sink {array}", shadow.get((array, element), 0), 1, 1)
    return outcome


def order_class(tokens: list[int]) -> str:
    """The edge's class from the tokens in the order in which they are read."""
    falls = any(b < a for a, b in itertools.pairwise(tokens))
    repeats = len(set(tokens)) < len(tokens)
    return ("out-of-order" if falls else "in-order") + (" with multiplicity" if repeats else "")


def needs_reordering(tokens: list[int]) -> bool:
    """Return whether the first reads alone are out of order."""
    seen = list(dict.fromkeys(tokens))
    return seen != sorted(seen)
