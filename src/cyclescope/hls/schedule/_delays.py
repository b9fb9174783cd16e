"""The delays of operations: stages of pipelined units, nanoseconds of plain logic.

The nanoseconds are those of a 140 MHz design on an FPGA of the Stratix 10 class: a level of
logic with its wires takes about 0.5 ns, a carry chain 0.03 ns a bit. Those of multipliers and of
block RAM are an ECP5's (grade 6: 3.9 and 5.6 ns of a cycle of 10, without their wires), as parts
of the same cycle.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope.hls.ir import EFFECTS, LEAVES, WIRING, Op, Place
from cyclescope.hls.schedule._units import unit_of

if TYPE_CHECKING:
    from cyclescope.hls.ir import Node

__all__ = ["BUDGET", "REGISTERED", "delay", "latency", "out", "setup", "varies"]

BUDGET = 6.1
"""Logic between two registers: a cycle of 7.14 ns less the registers' own times and skew."""

_SETUP = 2.0
_MULTIPLIER = 5.5

REGISTERED = 0.6
"""Logic behind a register that still counts as none."""

_BLOCK = 4.2
"""From the clock to the word of a block RAM."""

_LEVEL = 0.5
_CARRY = 0.03
_SUMS = frozenset({Op.ADD, Op.SUB, Op.SLT, Op.SLE, Op.ULT, Op.ULE})
_EQUAL = frozenset({Op.EQ, Op.NE})
_SHIFTS = frozenset({Op.SHL, Op.LSHR, Op.ASHR})
_AS_LONG_AS_IT_TAKES = 1 << 20


def varies(node: Node) -> bool:
    """Return whether an operation has a variable latency, so that its stage has one, too."""
    if node.op in (Op.LOAD, Op.STORE):
        return node.array is not None and node.array.place is Place.EXTERNAL
    return node.op in (Op.COPY, Op.LOOP, Op.ACQUIRE, Op.BARRIER)


def latency(node: Node) -> int:
    """Stages from an operation's begin to its result; 0 for plain logic."""
    if node.op in EFFECTS:
        return 1
    if node.op is Op.PARAM or node.op in LEAVES:
        return 0
    unit = unit_of(node, _AS_LONG_AS_IT_TAKES)
    return unit.latency if unit is not None else 0


def setup(node: Node) -> float:
    """Nanoseconds in front of the first register of an arithmetic unit or a memory."""
    # The products of an integer multiplier are before it, and take most of a cycle.
    return _MULTIPLIER if node.op is Op.MUL else _SETUP


def out(node: Node) -> float:
    """Nanoseconds from the clock to the result of an operation that takes stages."""
    if node.op is Op.LOAD and node.array is not None and node.array.place is not Place.EXTERNAL:
        return _BLOCK
    return REGISTERED


def delay(node: Node) -> float:
    """Nanoseconds of an operation that is plain logic."""
    op = node.op
    if op in LEAVES or op in WIRING or op is Op.PARAM:
        return 0.0
    width = node.operands[0].width
    if op in _SUMS:
        return 2 * _LEVEL + _CARRY * width
    if op in _EQUAL:
        return _LEVEL * (1 + (max(width, 2) - 1).bit_length() / 2)
    if op in _SHIFTS:
        by_constant = node.operands[1].node.op is Op.CONST
        return 0.0 if by_constant else _LEVEL * (width - 1).bit_length()
    if op is Op.MUL:  # one that no arithmetic unit does
        return min(BUDGET, 2 * _LEVEL + 2 * _LEVEL * (width - 1).bit_length())
    return _LEVEL
