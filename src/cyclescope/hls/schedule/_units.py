"""The functional unit of an operation: the choice on which latencies depend."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope.hls.ir import APPROXIMATE, Op
from cyclescope.rtl import unit

if TYPE_CHECKING:
    from cyclescope.hls.ir import Node
    from cyclescope.rtl import Unit

__all__ = ["unit_of"]

# Operations that units of rtl/ do, by the units' names.
_UNITS = {
    Op.SDIV: "sdiv",
    Op.UDIV: "udiv",
    Op.SREM: "srem",
    Op.UREM: "urem",
    Op.FADD: "fadd",
    Op.FSUB: "fsub",
    Op.FMUL: "fmul",
    Op.FDIV: "fdiv",
    Op.FSQRT: "fsqrt",
    **{op: op.value for op in APPROXIMATE},
    Op.FMIN: "fmin",
    Op.FMAX: "fmax",
    Op.FEQ: "feq",
    Op.FLT: "flt",
    Op.FLE: "fle",
    Op.SITOFP: "sitofp",
    Op.UITOFP: "uitofp",
    Op.FPTOSI: "fptosi",
    Op.FPTOUI: "fptoui",
    Op.FPEXT: "fpext",
    Op.FPTRUNC: "fptrunc",
}
_CONVERSIONS = frozenset({Op.SITOFP, Op.UITOFP, Op.FPTOSI, Op.FPTOUI, Op.FPEXT, Op.FPTRUNC})
_COMPARISONS = frozenset({Op.FEQ, Op.FLT, Op.FLE})


def unit_of(node: Node, latency: int) -> Unit | None:
    """The arithmetic unit of an operation; None if it is plain logic.

    Args:
        node: the operation.
        latency: what the schedule allows; too little for the multiplier of a product makes it
            logic.
    """
    if node.op is Op.MUL:
        if latency == 0 or node.widths[0] not in (8, 16, 32, 64):
            return None
        product = unit("mul", node.widths[0])
        return product if product.latency <= latency else None
    if node.op not in _UNITS:
        return None
    source = node.operands[0].width
    if node.op in _CONVERSIONS:
        return unit(_UNITS[node.op], node.widths[0], source)
    return unit(_UNITS[node.op], source if node.op in _COMPARISONS else node.widths[0])
