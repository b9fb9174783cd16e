"""Sequences of control words folded into loops: the counters that a process has in hardware.

What a process does in each firing (which channel it reads, which element of a window, to whom it
sends) is a sequence of words. In an affine program it is that of a loop nest; folding finds one
from the sequence alone, by joining equal groups whose numbers rise by a constant: A. Ketterlin and
P. Clauss, "Prediction and trace compression of data access addresses through nested loop
recognition" (CGO 2008). What doesn't fold remains a list.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

__all__ = ["Affine", "Leaf", "Loop", "Node", "fold", "segments", "unfold"]

_LONGEST = 24  # nodes of a loop's body
_LEAST = 3  # groups that make a loop: two always rise by a constant


@dataclass(frozen=True, slots=True)
class Affine:
    """`base` plus a step for each counter of the loops around, the outermost first."""

    base: int
    steps: tuple[int, ...] = ()

    def at(self, counters: tuple[int, ...]) -> int:
        """Its value where the loops' counters are these."""
        return self.base + sum(s * c for s, c in zip(self.steps, counters, strict=False))

    @property
    def is_constant(self) -> bool:
        """Return whether no counter changes it."""
        return not any(self.steps)


@dataclass(frozen=True, slots=True)
class Leaf:
    """One word: its fields."""

    fields: tuple[Affine, ...]


@dataclass(frozen=True, slots=True)
class Loop:
    """A body repeated; `trips` of the counters around, at least 1."""

    trips: Affine
    body: tuple[Node, ...]


Node: TypeAlias = Leaf | Loop

_Shape: TypeAlias = "int | tuple[tuple[_Shape, ...], tuple[int, ...]]"


@dataclass(slots=True, eq=False)
class _Group:
    """A node while it is being folded: what must be equal, and what may rise.

    Attributes:
        shape: the number of a leaf's fields; else (shapes of the body's nodes, how the body's
            numbers rise).
        numbers: a leaf's fields; a loop's trips, then the body's numbers in its first round.
    """

    shape: _Shape
    numbers: tuple[int, ...]


def fold(words: NDArray[np.int64]) -> tuple[Node, ...]:
    """Fold a sequence.

    Args:
        words: shape (length, fields).

    Returns:
        Nodes whose words, one after the other, are exactly those.
    """
    stack: list[_Group] = []
    fields = words.shape[1]
    for length, first, rise in segments(words):
        one = _Group(fields, first)
        stack.append(one if length == 1 else _Group(((fields,), rise), (length, *first)))
        while _reduced(stack):
            pass
    return tuple(_node(group, 0) for group in _paired(stack))


def segments(
    words: NDArray[np.int64],
) -> Iterator[tuple[int, tuple[int, ...], tuple[int, ...]]]:
    """Cut a sequence into segments of words that rise by a constant.

    Yields:
        Each one's length, first word, and rise; alone or by twos words do not rise.
    """
    count, fields = words.shape
    still = (0,) * fields
    rises = np.diff(words, axis=0)
    # The first of each segment of equal rises.
    starts = np.flatnonzero(np.append(True, (rises[1:] != rises[:-1]).any(axis=1))[: len(rises)])
    ends = [*starts[1:].tolist(), len(rises)][: len(starts)]
    at = 0
    for start, end in zip(starts.tolist(), ends, strict=True):
        begin = max(at, start)
        if end - begin + 1 < _LEAST:
            continue
        while at < begin:
            yield 1, tuple(words[at].tolist()), still
            at += 1
        yield end - begin + 1, tuple(words[begin].tolist()), tuple(rises[start].tolist())
        at = end + 1
    while at < count:
        yield 1, tuple(words[at].tolist()), still
        at += 1


def _numbers(groups: list[_Group]) -> tuple[int, ...]:
    return tuple([number for group in groups for number in group.numbers])


def _reduced(stack: list[_Group]) -> bool:
    """Join the newest groups with those that they continue; False if there are none."""
    size = len(stack)
    newest = stack[-1]
    for length in range(1, min(_LONGEST, size - 1) + 1):
        before = stack[size - length - 1]
        if isinstance(before.shape, tuple) and len(before.shape[0]) == length:
            # A loop, and once more its body?
            last = stack[size - length :]
            trips, *base = before.numbers
            shapes, rise = before.shape
            if shapes == tuple([group.shape for group in last]) and _numbers(last) == tuple(
                [b + trips * r for b, r in zip(base, rise, strict=True)]
            ):
                stack[size - length - 1 :] = [_Group(before.shape, (trips + 1, *base))]
                return True
        if _LEAST * length > size or not _rises(stack[-1 - 2 * length], before, newest):
            continue
        first, second, last = (
            stack[size - n * length : size - (n - 1) * length] for n in (3, 2, 1)
        )
        if not all(map(_rises, first, second, last)):
            continue
        shapes = tuple([group.shape for group in last])
        numbers = _numbers(first)
        rise = tuple([b - a for a, b in zip(numbers, _numbers(second), strict=True)])
        stack[size - 3 * length :] = [_Group((shapes, rise), (_LEAST, *numbers))]
        return True
    return False


def _rises(first: _Group, second: _Group, third: _Group) -> bool:
    """Return whether three groups are alike but for numbers that rise by a constant."""
    for a, b, c in zip(first.numbers, second.numbers, third.numbers, strict=False):
        if c - b != b - a:
            return False
    return first.shape == second.shape == third.shape


def _paired(stack: list[_Group]) -> list[_Group]:
    """Join equal neighbours, which are too few for a loop that is found from its rise."""
    for length in range(min(_LONGEST, len(stack) // 2), 0, -1):
        at = 0
        while at + 2 * length <= len(stack):
            if _equal(stack[at], stack[at + length]) and all(
                map(_equal, stack[at : at + length], stack[at + length : at + 2 * length])
            ):
                first = stack[at : at + length]
                shapes = tuple([group.shape for group in first])
                numbers = _numbers(first)
                rise = (0,) * len(numbers)
                stack[at : at + 2 * length] = [_Group((shapes, rise), (2, *numbers))]
            at += 1
    return stack


def _equal(first: _Group, second: _Group) -> bool:
    return first.numbers == second.numbers and first.shape == second.shape


def _node(group: _Group, depth: int) -> Node:
    numbers = [Affine(number, (0,) * depth) for number in group.numbers]
    return _built(group.shape, numbers)


def _built(shape: _Shape, numbers: list[Affine]) -> Node:
    if isinstance(shape, int):
        return Leaf(tuple(numbers))
    inner, rise = shape
    trips, *rest = numbers
    below = [Affine(n.base, (*n.steps, r)) for n, r in zip(rest, rise, strict=True)]
    body = []
    for own in inner:
        size = own if isinstance(own, int) else 1 + len(own[1])
        body.append(_built(own, below[:size]))
        below = below[size:]
    return Loop(trips, tuple(body))


def unfold(nodes: tuple[Node, ...]) -> Iterator[tuple[int, ...]]:
    """The words of some nodes."""

    def visit(node: Node, counters: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        if isinstance(node, Leaf):
            yield tuple(field.at(counters) for field in node.fields)
            return
        for trip in range(node.trips.at(counters)):
            for inner in node.body:
                yield from visit(inner, (*counters, trip))

    for node in nodes:
        yield from visit(node, ())
