"""The function of a process: its expression as a graph of typed operations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cyclescope.c import Range, Scalar

__all__ = ["Apply", "Function", "Given", "Node", "Number", "Operand", "inside"]


@dataclass(frozen=True, slots=True)
class Operand:
    """The value of a token: the number of the process's operand, and its type."""

    number: int
    type: Scalar


@dataclass(frozen=True, slots=True)
class Number:
    """A constant."""

    value: int | float
    type: Scalar


@dataclass(frozen=True, slots=True)
class Given:
    """A value that the process's control knows, such as a loop counter, by its C text."""

    text: str
    type: Scalar


@dataclass(frozen=True, slots=True)
class Apply:
    """An operation.

    Attributes:
        op: C's operator (binary `-`, unary `neg`), `cast`, `select`, or a function of <math.h> by
            the name that it has for double.
        type: of the result.
        args: the operands, in C's order.
        where: its place in the text.
    """

    op: str
    type: Scalar
    args: tuple[Node, ...]
    where: Range


Node: TypeAlias = Operand | Number | Given | Apply


@dataclass(frozen=True, slots=True)
class Function:
    """The function of a process.

    Attributes:
        results: one graph for each value that it writes; None where it is not known as one.
        givens: the control's values in it, each once.
    """

    results: tuple[Node | None, ...] = ()
    givens: tuple[Given, ...] = ()


def inside(roots: Iterable[Node | None]) -> Iterator[Node]:
    """The nodes of some graphs, each once, operands before what uses them."""
    seen: set[int] = set()
    for root in roots:
        stack = [(root, False)] if root is not None else []
        while stack:
            node, ready = stack.pop()
            if ready:
                yield node
            elif id(node) not in seen:
                seen.add(id(node))
                stack.append((node, True))
                if isinstance(node, Apply):
                    stack.extend((arg, False) for arg in reversed(node.args))
