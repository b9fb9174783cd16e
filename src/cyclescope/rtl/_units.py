"""Arithmetic units by operation and width: pipelined, one operation a cycle, no stalls."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, cast

from cyclescope.rtl import _add, _compare, _convert, _divide, _elementary, _multiply
from cyclescope.rtl._expr import const
from cyclescope.rtl._module import Module
from cyclescope.rtl._stages import Stages

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from cyclescope.rtl._expr import Expr, Net

__all__ = ["OPERATIONS", "Operation", "Unit", "compute", "logic", "unit", "variants"]

_INTEGERS = (8, 16, 32, 64)
_FLOATS = (32, 64)


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation of a functional unit.

    Attributes:
        build: makes `result` in stages, from (stages, width, source width).
        widths: of the operands and, but for comparisons, of the result.
        sources: widths of the operand where it differs in kind from the result.
        text: what it does.
    """

    build: Callable[[Stages, int, int], None]
    widths: tuple[int, ...]
    sources: tuple[int, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Unit:
    """An arithmetic unit.

    Attributes:
        name: of its module, as in `fadd32` or `sitofp32_64`.
        latency: the result is at `q` so many cycles after the operands were at the inputs.
        module: has the inputs `a` and, with two operands, `b`, the output `q`, and `clk`.
        inputs: names of the inputs.
    """

    name: str
    latency: int
    module: Module
    inputs: tuple[str, ...]


def _plain(build: Callable[..., None], **options: object) -> Callable[[Stages, int, int], None]:
    return lambda v, width, _: build(v, width, **options)


def _float(text: str, build: Callable[..., None], **options: object) -> Operation:
    return Operation(_plain(build, **options), _FLOATS, (), text)


def _integer(text: str, build: Callable[..., None], **options: object) -> Operation:
    return Operation(_plain(build, **options), _INTEGERS, (), text)


def _converting(text: str, build: Callable[..., None], *, signed: bool) -> Operation:
    return Operation(partial(build, signed=signed), (32, 64), (32, 64), text)


OPERATIONS: Mapping[str, Operation] = {
    "fadd": _float("sum", _add.add, subtract=False),
    "fsub": _float("difference", _add.add, subtract=True),
    "fmul": _float("product", _multiply.fmul),
    "fdiv": _float("quotient", _divide.fdiv),
    "fsqrt": _float("square root", _divide.fsqrt),
    "fexp": _float("exponential", _elementary.exp),
    "flog": _float("natural logarithm", _elementary.log),
    "fsin": _float("sine", _elementary.trigonometric, cosine=False),
    "fcos": _float("cosine", _elementary.trigonometric, cosine=True),
    "ftanh": _float("hyperbolic tangent", _elementary.tanh),
    "fmin": _float("C's fmin", _compare.extreme, larger=False),
    "fmax": _float("C's fmax", _compare.extreme, larger=True),
    "feq": _float("equal", _compare.compare, relation="eq"),
    "flt": _float("less", _compare.compare, relation="lt"),
    "fle": _float("less or equal", _compare.compare, relation="le"),
    "sitofp": _converting("signed integer to float", _convert.from_integer, signed=True),
    "uitofp": _converting("unsigned integer to float", _convert.from_integer, signed=False),
    "fptosi": _converting("float to signed integer", _convert.to_integer, signed=True),
    "fptoui": _converting("float to unsigned integer", _convert.to_integer, signed=False),
    "fpext": Operation(lambda v, _, __: _convert.extend(v), (64,), (32,), "32 to 64 bits"),
    "fptrunc": Operation(lambda v, _, __: _convert.truncate(v), (32,), (64,), "64 to 32 bits"),
    "mul": _integer("product, low half", _multiply.mul),
    "sdiv": _integer("signed quotient", _divide.divide, signed=True, remainder=False),
    "udiv": _integer("unsigned quotient", _divide.divide, signed=False, remainder=False),
    "srem": _integer("signed remainder", _divide.divide, signed=True, remainder=True),
    "urem": _integer("unsigned remainder", _divide.divide, signed=False, remainder=True),
}


def _known(operation: str, width: int, source: int) -> Operation:
    if operation not in OPERATIONS:
        raise ValueError(f"{operation}: no such operation; there are {', '.join(OPERATIONS)}")
    known = OPERATIONS[operation]
    if width not in known.widths or source not in (known.sources or (0,)):
        raise ValueError(
            f"{operation} of {width} bits{f' from {source}' if source else ''}: there are widths"
            f" {known.widths}{f' from {known.sources}' if known.sources else ''}"
        )
    return known


@cache
def unit(operation: str, width: int, source: int = 0) -> Unit:
    """A pipelined unit: takes operands in every cycle, has no reset and no stall.

    Floating point is IEEE 754, rounding to nearest even, with subnormal numbers; a NaN that
    comes out is the default one of x86 (`0xffc00000`, `0xfff8000000000000`) whatever went in.

    Args:
        operation: a key of `OPERATIONS`.
        width: bits of the result; of the operands for comparisons.
        source: bits of the operand of a conversion.

    Raises:
        ValueError: there is no such operation, or not with these widths.
    """
    known = _known(operation, width, source)
    name = f"{operation}{width}_{source}" if source else f"{operation}{width}"
    module = Module(name)
    stages = Stages(module)
    known.build(stages, width, source)
    inputs = tuple(p.name for p in module.ports())
    module.output("q", stages.result)
    module.comment = f"{known.text}, {stages.depth} cycles"
    return Unit(name, stages.depth, module, inputs)


class _Known(Module):
    """A module whose inputs are constants, so that all its values are: an evaluator."""

    def __init__(self, operands: Sequence[int]) -> None:
        super().__init__("known")
        self._operands = list(operands)

    def input(self, name: str, width: int) -> Net:  # noqa: ARG002
        return cast("Net", const(self._operands.pop(0), width))

    def wire(self, name: str, value: Expr | int, width: int = 0, **_: object) -> Net:
        known = super()._value(value, width)
        assert known.value is not None, f"{name}: {known.text}"
        return cast("Net", known)


def compute(operation: str, width: int, operands: Sequence[int], source: int = 0) -> int:
    """The bits that an arithmetic unit delivers, evaluated from its own description.

    Args:
        operation: a key of `OPERATIONS`.
        width: as `unit` has it.
        operands: bits of its inputs, in order.
        source: as `unit` has it.

    Raises:
        ValueError: there is no such operation, or not with these widths.
    """
    known = _known(operation, width, source)
    stages = Stages(_Known(operands), registers=False)
    known.build(stages, width, source)
    value = stages.result.value
    assert value is not None
    return value


_LOGIC: Mapping[str, Callable[[Stages, int, int], None]] = {
    **{name: OPERATIONS[name].build for name in ("fadd", "fmul", "fdiv", "fsqrt", "sitofp")},
    "relations": _plain(_compare.relations),
    "saturate": partial(_convert.to_integer, signed=True, saturate=True),
}


@cache
def logic(operation: str, width: int, source: int = 0) -> Module:
    """An arithmetic unit as one piece of logic without registers, with the exceptions it raises.

    Besides `fadd`, `fmul`, `fdiv`, `fsqrt` and `sitofp` (from any width up to 65) there are
    `relations` (less, equal, greater, unordered, from the high bit down) and `saturate`, a
    conversion to a signed integer in which what does not fit becomes the nearest one that does.

    Args:
        operation: what it does.
        width: bits of the result; of the operands for `relations`.
        source: bits of the operand of a conversion.

    Returns:
        A module with the inputs `a` and `b`, the output `q` and, but for conversions, `flags`:
        of `relations` whether a signaling NaN is compared, else invalid, division by zero,
        overflow, underflow, inexact; where numbers may be subnormal also `early`, the underflow
        flag for those who detect tininess before rounding (`flags` has it after).

    Raises:
        ValueError: there is no such operation, or not with these widths.
    """
    if operation not in _LOGIC:
        raise ValueError(f"{operation}: no such operation; there are {', '.join(_LOGIC)}")
    module = Module(f"{operation}{width}_{source}_logic" if source else f"{operation}{width}_logic")
    stages = Stages(module, registers=False)
    _LOGIC[operation](stages, width, source)
    module.output("q", stages.result)
    if not source:
        module.output("flags", stages.raised)
    if operation in {"fadd", "fmul", "fdiv"}:
        module.output("early", stages.raised_early)
    return module


def variants() -> list[Unit]:
    """All units there are."""
    return [
        unit(operation, width, source)
        for operation, known in OPERATIONS.items()
        for width in known.widths
        for source in known.sources or (0,)
    ]
