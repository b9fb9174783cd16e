"""Notation for a pipelined unit: values by name, and cuts between its stages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope.rtl._expr import Expr, cat, const, mux

if TYPE_CHECKING:
    from cyclescope.rtl._module import Module

__all__ = ["Stages", "leading_zeros", "shift_right_sticky", "total"]


class Stages:
    """Values of a pipeline without stalls; `cut` moves all of them into registers.

        v = Stages(module)
        v.sum = module.input("a", 8) + module.input("b", 8)
        v.cut()
        module.output("q", v.sum)  # one cycle after its operands

    What is not read behind a cut has no register there, as the module prints living nets only.

    Args:
        module: where the values are made.
        registers: if not, a cut does nothing and all is one piece of logic.
    """

    depth: int
    module: Module
    registers: bool
    _values: dict[str, Expr]

    def __init__(self, module: Module, *, registers: bool = True) -> None:
        object.__setattr__(self, "module", module)
        object.__setattr__(self, "depth", 0)
        object.__setattr__(self, "registers", registers)
        object.__setattr__(self, "_values", {})

    def __setattr__(self, name: str, value: Expr) -> None:
        self._values[name] = value if value.simple else self.module.wire(name, value)

    def __getattr__(self, name: str) -> Expr:
        try:
            return self._values[name]
        except KeyError:
            raise AttributeError(f"no value {name} in this stage") from None

    def cut(self) -> None:
        """Ends a stage: each value is there one cycle later."""
        if not self.registers:
            return
        object.__setattr__(self, "depth", self.depth + 1)
        for name, value in self._values.items():
            if value.value is None:
                self._values[name] = self.module.delay(value, f"{name}_{self.depth}")

    def beside(self) -> Stages:
        """Another pipeline of the same kind."""
        return Stages(self.module, registers=self.registers)

    def drop(self, *names: str) -> None:
        """Forgets values: a name left over from an earlier step is then an error."""
        for name in names:
            del self._values[name]


def leading_zeros(v: Stages, value: Expr, cuts: tuple[int, ...] = ()) -> Expr:
    """The number of leading zeros, found by halves; all ones if there is no one at all.

    Whether a part is empty is known for all parts before it is known which of them counts, so
    that a half costs one level of logic.

    Args:
        v: where the search goes on; it uses the names `window` and `zeros`.
        value: to look at.
        cuts: ends a stage before the half of each of these sizes is looked at.

    Returns:
        As many bits as `value.width` rounded up to a power of two needs.
    """
    bits = (value.width - 1).bit_length()
    missing = (1 << bits) - value.width
    v.window = cat(value, const(0, missing)) if missing else value
    segments: list[list[int]] = []
    for half in (1 << n for n in reversed(range(bits))):
        if not segments or half in cuts:
            segments.append([])
        segments[-1].append(half)
    found: list[Expr] = []
    for segment in segments:
        if found:
            v.zeros = cat(*found)
            v.cut()
            found = [v.zeros]
        # Size of parts → at the top bit of each, whether one of its bits is set; 1: the bits.
        some = {1: v.window}
        reach, part = v.window, 1
        while part < segment[0]:
            reach = v.module.wire("some", reach | (reach << part))
            part *= 2
            if part in segment:
                some[part] = reach
        for half in segment:
            empty = v.module.wire("empty", ~some[half][2 * half - 1])
            found.append(empty)
            for n in [n for n in some if n < half]:
                low, high = some[n][half - 1 : 0], some[n][2 * half - 1 : half]
                some[n] = v.module.wire("window", mux(empty, low, high))
        v.window = some[1]
    return cat(*found)


def shift_right_sticky(value: Expr, amount: Expr) -> tuple[Expr, Expr]:
    """`value >> amount`, and whether a one was lost."""
    ones = const(-1, value.width)
    return value >> amount, (value & ~(ones << amount)).any()


def total(v: Stages, terms: list[Expr], each: int) -> Expr:
    """The sum of terms of one width, at most `each` added in a stage; a cut between the stages."""
    while len(terms) > each:
        for i in range(0, len(terms), each):
            group = terms[i : i + each]
            setattr(v, f"part{i // each}", _sum(group))
        count = -(-len(terms) // each)
        v.cut()
        terms = [getattr(v, f"part{i}") for i in range(count)]
    return _sum(terms)


def _sum(terms: list[Expr]) -> Expr:
    result = terms[0]
    for term in terms[1:]:
        result = result + term
    return result
