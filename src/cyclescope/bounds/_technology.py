"""Latencies of operators, by type, for a technology.

A statement's depth is its technology's base for the widest type in it, plus the operators along
the longest path of its expression, rounded up to whole cycles. A statement without an operator
is a copy.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["FAMILIES", "OPERATORS", "VIRTEX7", "Technology"]

FAMILIES = ("double", "float", "int", "long")
OPERATORS = (
    *("base", "add", "mul", "div", "compare", "select", "logic", "shift", "neg", "convert"),
    *("sqrt", "abs", "minmax", "round", "exp", "log", "pow", "trig"),
)


@dataclass(frozen=True, slots=True)
class Technology:
    """Operator latencies in cycles; fractions of a cycle say that operators chain in one.

    Attributes:
        name: for people.
        copy: depth of a statement without operators.
        latency: (family, operator) → cycles; `base` is what a statement costs besides.
    """

    name: str
    copy: int
    latency: Mapping[tuple[str, str], Fraction]

    def of(self, family: str, operator: str) -> Fraction | None:
        """The latency of an operator, None if the technology gives none; `long` falls to `int`."""
        found = self.latency.get((family, operator))
        if found is None and family == "long":
            return self.latency.get(("int", operator))
        return found

    def overridden(self, changes: Mapping[tuple[str, str], Fraction], copy: int) -> Technology:
        """The same with some latencies changed."""
        return replace(self, latency={**self.latency, **changes}, copy=copy)


def _table(**families: dict[str, str]) -> dict[tuple[str, str], Fraction]:
    return {(f, o): Fraction(v) for f, row in families.items() for o, v in row.items()}


# Double and int: the depths of the cprof paper (section 6: Virtex-7, 5 ns, Vivado HLS 2015.4),
# as they follow from its Table 3: a double costs 2 + 8 an add or multiply + 36 a divide; two
# int adders chain in a cycle and a multiplier takes six. Its square root is 3 deep in all.
# Float: the fully pipelined latencies of the vendor's floating-point operator core for single
# precision (PG060: add 11, multiply 8, divide and square root 28, compare 2, conversion 6),
# for want of figures in the paper. Exponentials, logarithms, powers and trigonometry: round
# numbers without a source, so that kernels that use them run; a calibration gives better ones.
VIRTEX7 = Technology(
    name="virtex7-200MHz",
    copy=1,
    latency=_table(
        double={
            "base": "2",
            "add": "8",
            "mul": "8",
            "div": "36",
            "compare": "1/2",
            "select": "1/2",
            "neg": "0",
            "convert": "6",
            "sqrt": "1",
            "abs": "0",
            "minmax": "1",
            "round": "6",
            "exp": "30",
            "log": "30",
            "pow": "60",
            "trig": "40",
        },
        float={
            "base": "2",
            "add": "11",
            "mul": "8",
            "div": "28",
            "compare": "2",
            "select": "1/2",
            "neg": "0",
            "convert": "6",
            "sqrt": "28",
            "abs": "0",
            "minmax": "2",
            "round": "6",
            "exp": "20",
            "log": "20",
            "pow": "40",
            "trig": "30",
        },
        int={
            "base": "1",
            "add": "1/2",
            "mul": "6",
            "div": "35",
            "compare": "1/2",
            "select": "1/2",
            "logic": "1/2",
            "shift": "1/2",
            "neg": "1/2",
            "convert": "0",
            "abs": "1",
            "minmax": "1",
        },
    ),
)
