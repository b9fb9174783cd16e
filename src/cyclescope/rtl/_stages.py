"""Notation for a pipelined unit: values by name, and cuts between its stages."""

from __future__ import annotations

from operator import lshift, rshift
from typing import TYPE_CHECKING

from cyclescope.rtl._expr import Expr, cat, const, mux

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from cyclescope.rtl._module import Module

__all__ = [
    "Stages",
    "leading_zeros",
    "shift_left",
    "shift_right",
    "shift_right_coarsely",
    "shift_right_sticky",
    "some_in_parts",
]


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

    def cut(self, *, separate: Collection[str] = ()) -> None:
        """Ends a stage: each value is there one cycle later.

        Args:
            separate: names of values whose registers are not to be merged with others of the same
                value, as synthesis does: what reads them has no time for long wires.
        """
        if not self.registers:
            return
        object.__setattr__(self, "depth", self.depth + 1)
        for name, value in self._values.items():
            if value.value is None:
                self._values[name] = self.module.delay(
                    value, f"{name}_{self.depth}", separate=name in separate
                )

    def beside(self) -> Stages:
        """Another pipeline of the same kind."""
        return Stages(self.module, registers=self.registers)

    def drop(self, *names: str) -> None:
        """Forgets values: a name left over from an earlier step is then an error."""
        for name in names:
            del self._values[name]


def leading_zeros(v: Stages, value: Expr, *, cut: int = 0) -> Expr:
    """The number of leading zeros; all ones if there is no one at all.

    Of ever larger parts it is found whether they have a one, and how many zeros are in front of it:
    twice the size costs one level of logic.

    Args:
        v: where the search goes on; it uses the names `some` and `zeros`.
        value: to look at.
        cut: ends a stage when this is known of parts of so many bits, a power of two, or of the
            halves, if it is of no more bits; 0: does not.

    Returns:
        As many bits as `value.width` rounded up to a power of two needs.
    """
    bits = (value.width - 1).bit_length()
    if value.value is not None:
        # Many times quicker than by parts: to evaluate a functional unit.
        known = value.width - value.value.bit_length() if value.value else -1
        return const(known % (1 << bits), bits)
    m = v.module
    if missing := (1 << bits) - value.width:
        value = cat(value, const(0, missing))
    value = m.wire("counted", value)
    # Of each part, the lowest first, of two bits to begin with.
    pairs = range(0, value.width, 2)
    some: list[Expr] = [value[i + 1] | value[i] for i in pairs]
    zeros: list[Expr] = [~value[i + 1] for i in pairs]
    while len(some) > 1:
        if cut and 1 << zeros[0].width == min(cut, 1 << bits - 1):
            count, width = len(some), zeros[0].width
            v.some, v.zeros = cat(*reversed(some)), cat(*reversed(zeros))
            v.cut()
            some = [v.some[i] for i in range(count)]
            zeros = [v.zeros[width * (i + 1) - 1 : width * i] for i in range(count)]
        low, high = (zeros[0::2], zeros[1::2])
        in_low, in_high = (some[0::2], some[1::2])
        zeros = [
            m.wire("zeros", cat(~there, mux(there, first, second)))
            for there, first, second in zip(in_high, high, low, strict=True)
        ]
        some = [m.wire("some", a | b) for a, b in zip(in_low, in_high, strict=True)]
    return zeros[0]


_AT_ONCE = 5  # bits of a shift's amount that one stage uses
_FINE = 3  # of a longer one the second stage uses so many


def shift_left(v: Stages, **amounts: str) -> None:
    """Shifts values of `v` left: each named one by the value with the name given for it.

    A stage ends in between if there are more than 32 places to shift by.
    """
    _shift(v, amounts, lshift)


def shift_right(v: Stages, **amounts: str) -> None:
    """Shifts values of `v` right, as `shift_left` does left; what is shifted out is lost."""
    _shift(v, amounts, rshift)


def _shift(v: Stages, amounts: Mapping[str, str], shifted: Callable[[Expr, Expr], Expr]) -> None:
    fine = 0
    if any(getattr(v, by).width > _AT_ONCE for by in amounts.values()):
        fine = _FINE
        for name, by in amounts.items():
            amount = getattr(v, by)
            coarse = cat(amount[amount.width - 1 : fine], const(0, fine))
            setattr(v, name, shifted(getattr(v, name), coarse))
        v.cut()
    for name, by in amounts.items():
        amount = getattr(v, by)
        setattr(v, name, shifted(getattr(v, name), amount[fine - 1 : 0] if fine else amount))


def some_in_parts(value: Expr, size: int) -> Expr:
    """A bit for each part of `size` bits, the lowest first: there is a one in it."""
    top = value.width - 1
    parts = [value[min(i + size - 1, top) : i].any() for i in range(0, top + 1, size)]
    return cat(*reversed(parts))


_NIBBLE = 4


def shift_right_sticky(value: Expr, amount: Expr) -> tuple[Expr, Expr]:
    """`value >> amount`, and whether a one was lost.

    It moves by multiples of four first. Of which groups of four all is lost needs no word that has
    moved; what is lost of the next one is in the lowest bits then.
    """
    ones = const(-1, value.width)
    if amount.width <= 2:
        return value >> amount, (value & ~(ones << amount)).any()
    coarse, fine = amount[amount.width - 1 : 2], amount[1:0]
    groups = some_in_parts(value, _NIBBLE)
    passed = ~(const(-1, groups.width) << coarse)
    lost = (groups & passed).any()
    moved = value >> cat(coarse, const(0, 2))
    least = moved[_NIBBLE - 2 : 0] & ~(const(-1, _NIBBLE - 1) << fine)
    return moved >> fine, lost | least.any()


def shift_right_coarsely(v: Stages, name: str, by: str) -> Expr:
    """The first of two stages of a long shift right: by a multiple of eight places.

    `v.<by>` becomes what is left to shift by. Returns whether a one was lost.
    """
    amount = getattr(v, by)
    coarse = cat(amount[amount.width - 1 : _FINE], const(0, _FINE))
    shifted, lost = shift_right_sticky(getattr(v, name), coarse)
    setattr(v, name, shifted)
    setattr(v, by, amount[_FINE - 1 : 0])
    return lost
