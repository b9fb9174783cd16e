"""Probes that are not in the design: functions of signals that are (see `rust/src/formulas.rs`)."""

from __future__ import annotations

import operator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

__all__ = ["Formulas", "read_formulas"]

_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
}


@dataclass(frozen=True, slots=True)
class Formulas:
    """The probes of a component as formulas of its module's signals.

    Attributes:
        signals: name in Verilog and width in bits.
        terms: values of one bit, each of earlier ones (`and`, `or`, `not`) or of a signal: as it
            is (`signal`), or beside a constant (`compare`); `true`.
        probes: probe → number of its term.
    """

    signals: tuple[tuple[str, int], ...] = ()
    terms: tuple[tuple[str, tuple[Any, ...]], ...] = ()
    probes: Mapping[str, int] = field(default_factory=dict)

    def values(
        self, signal: Callable[[str], NDArray[Any]], rows: int
    ) -> dict[str, NDArray[np.bool_]]:
        """The value of each probe.

        Args:
            signal: values of a signal, shape (rows,).
            rows: how many combinations of values there are.
        """
        known = [signal(name) for name, _ in self.signals]
        found: list[NDArray[np.bool_]] = []
        for kind, of in self.terms:
            if kind == "true":
                value = np.ones(rows, bool)
            elif kind == "signal":
                value = known[of[0]] != 0
            elif kind == "compare":
                how, which, constant = of
                value = np.asarray(_COMPARE[how](known[which], constant), bool)
            elif kind == "not":
                value = ~found[of[0]]
            elif kind == "and":
                value = found[of[0]] & found[of[1]]
            else:
                value = found[of[0]] | found[of[1]]
            found.append(value)
        return {probe: found[term] for probe, term in self.probes.items()}


def read_formulas(data: Mapping[str, Any] | None) -> Formulas:
    """From the record's JSON; nothing is worked out if there is none."""
    if data is None:
        return Formulas()
    return Formulas(
        signals=tuple((name, width) for name, width in data["signals"]),
        terms=tuple(_term(term) for term in data["terms"]),
        probes=data["probes"],
    )


def _term(term: str | dict[str, Any]) -> tuple[str, tuple[Any, ...]]:
    if isinstance(term, str):
        return term, ()
    ((kind, of),) = term.items()
    return kind, tuple(of) if isinstance(of, list) else (of,)
