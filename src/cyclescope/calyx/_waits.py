"""The same program with other timing: its control waits here and there.

Calyx promises an order of the children of `seq`, and none of those of `par`; how long a group takes
is its own affair. So a wait before a statement changes nothing that the program may rely on, and
where it changes a result, that result depends on timing. Nothing is put into what promises its
length: static control and components, and those whose interface has an interval.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from cyclescope.calyx._copies import write_copies
from cyclescope.calyx._syntax import (
    Assignment,
    CellText,
    ComponentText,
    GroupText,
    Statement,
    names_in,
)
from cyclescope.calyx._text import read_program

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

__all__ = ["with_waits"]


_SHORT = (0, 0, 1, 2, 3)  # times a group of two cycles
_LONG = (4, 12, 40)


def with_waits(path: Path, folder: Path, attempt: int) -> Path:
    """Write a copy of a program with waits; gives its main file.

    In each `par` one arm is late, and the others are as they were; elsewhere each statement may
    wait a little.

    Args:
        path: the program.
        folder: for the copy.
        attempt: 0, 1, …: which arms are late, and how long each wait is.

    Raises:
        SourceError: the program cannot be read.
    """
    from cyclescope.sim import current_trust

    texts = read_program(path, bound=current_trust().refuse)
    chance = Random(attempt)  # noqa: S311 - no secret

    def change(component: ComponentText, _file: str) -> None:
        promised = any("interval" in port.attributes for port in component.inputs)
        if component.control and not component.comb and component.latency is None and not promised:
            waits = _Waits(component, chance, attempt)
            component.control = [waits.inside(statement) for statement in component.control]
            waits.declare()

    return write_copies(texts, folder, change)


class _Waits:
    """Waits of one component: each a group of its own, so that those side by side do not meet."""

    def __init__(self, component: ComponentText, chance: Random, attempt: int) -> None:
        self._component, self._chance, self._attempt = component, chance, attempt
        self._names: list[str] = []
        self._taken = names_in(component)

    def inside(self, statement: Statement) -> Statement:
        """A statement with waits before its children."""
        if statement.static:
            return statement
        if statement.kind == "par":
            late = self._attempt % len(statement.body) if statement.body else 0
            arms = enumerate(statement.body)
            statement.body = [self._before(s, _LONG) if i == late else s for i, s in arms]
            return statement
        statement.body = [self._before(self.inside(s), _SHORT) for s in statement.body]
        if statement.otherwise is not None:
            statement.otherwise = [
                self._before(self.inside(s), _SHORT) for s in statement.otherwise
            ]
            statement.chained = False
        return statement

    def _before(self, statement: Statement, lengths: Sequence[int]) -> Statement:
        """A statement that waits first, or not."""
        count = self._chance.choice(lengths)
        if not count or statement.kind == "empty":
            return statement
        enable = Statement("enable", name=self._new())
        wait = Statement("repeat", count=count, body=[enable]) if count > 1 else enable
        return Statement("seq", body=[wait, statement])

    def _new(self) -> str:
        number = len(self._names)
        name = f"wait{number}"
        while name in self._taken or f"{name}_register" in self._taken:
            name += "_"
        self._names.append(name)
        return name

    def declare(self) -> None:
        """Add the groups, and the registers that they write."""
        for name in self._names:
            register = f"{name}_register"
            self._component.cells.append(CellText(register, "std_reg", ["1"], False, {}))
            assignments = [
                Assignment(f"{register}.in", None, "1'd1"),
                Assignment(f"{register}.write_en", None, "1'd1"),
                Assignment(f"{name}[done]", None, f"{register}.done"),
            ]
            self._component.wires.append(GroupText(name, {}, False, None, assignments))
