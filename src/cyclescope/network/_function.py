"""The pipelined function of a process: its graph of operations on arithmetic units."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from cyclescope.bounds import Apply, Given, Number, Operand
from cyclescope.errors import SourceError
from cyclescope.rtl import Module, cat, const, flat, held, mux

if TYPE_CHECKING:
    from collections.abc import Callable

    from cyclescope.bounds import Node, Process
    from cyclescope.c import Range, Scalar
    from cyclescope.rtl import Expr

__all__ = ["APPROXIMATE", "function_module", "number_bits", "width_of"]

APPROXIMATE = frozenset({"exp", "log", "sin", "cos", "tanh"})
"""Functions whose last bit neither C nor IEEE 754 says."""

_FLOATS = {
    "+": "fadd",
    "-": "fsub",
    "*": "fmul",
    "/": "fdiv",
    "sqrt": "fsqrt",
    "fmin": "fmin",
    "fmax": "fmax",
    **{name: f"f{name}" for name in sorted(APPROXIMATE)},
}
_COMPARISONS = frozenset({"<", ">", "<=", ">=", "==", "!="})


def width_of(kind: Scalar) -> int:
    """Bits of a value of this type."""
    return kind.bits


def number_bits(value: float, kind: Scalar) -> int:
    """The bits of a constant."""
    if kind.is_float:
        return int.from_bytes(struct.pack("<d" if kind.bits == 64 else "<f", value), "little")
    return int(value) % (1 << kind.bits)


def function_module(name: str, process: Process) -> Module:
    """The function of a process: results `latency` cycles with `ce` after its operands.

    Units are pipelined where the latency suffices for them; else the longest of them are logic,
    with the registers behind it.

    Args:
        name: of the module.
        process: whose graph of operations it is.

    Returns:
        A module with the inputs `ce`, `operand0` … and `given0` …, as far as they are used, and
        the outputs `result0` ….

    Raises:
        SourceError: an operation without an arithmetic unit.
    """
    return _Builder(name, process).build()


class _Builder:
    """Places the operations of a graph in time."""

    def __init__(self, name: str, process: Process) -> None:
        self.process = process
        self.m = Module(name, f"The function of {process.name}, {process.latency} cycles.")
        self.flat: set[int] = set()
        self.enable = self.m.input("ce", 1)
        self.inputs: dict[str, Expr] = {}
        self.placed: dict[int, tuple[Expr, int]] = {}
        self.delayed: dict[tuple[int, int], Expr] = {}

    def build(self) -> Module:
        """The module."""
        process = self.process
        results = process.function.results
        self._fit([result for result in results if result is not None])
        for number, result in enumerate(results):
            assert result is not None
            value, time = self._value(result)
            self.m.output(f"result{number}", self._late(value, process.latency - time))
        return self.m

    def _fit(self, results: list[Node]) -> None:
        """Choose the operations that are logic, so that the latency suffices."""
        while True:
            times: dict[int, tuple[int, Apply | None]] = {}
            worst = max(results, key=lambda node: self._time(node, times))
            if self._time(worst, times) <= self.process.latency:
                return
            # On the longest path the longest unit has to go.
            path: list[Apply] = []
            node: Node | None = worst
            while isinstance(node, Apply):
                if self._latency(node):
                    path.append(node)
                node = max(node.args, key=lambda arg: self._time(arg, times), default=None)
            self.flat.add(id(max(path, key=self._latency)))

    def _time(self, node: Node, times: dict[int, tuple[int, Apply | None]]) -> int:
        if not isinstance(node, Apply):
            return 0
        if id(node) not in times:
            start = max((self._time(arg, times) for arg in node.args), default=0)
            times[id(node)] = start + self._latency(node), None
        return times[id(node)][0]

    def _latency(self, node: Apply) -> int:
        unit = _unit_of(node)
        if unit is None or id(node) in self.flat:
            return 0
        return held(*unit).latency

    def _late(self, value: Expr, cycles: int) -> Expr:
        """A value later; each delay of a value is made once."""
        if value.value is not None:
            return value
        value = self.m.named(value, "value")
        for _ in range(cycles):
            key = (id(value), 1)
            if key not in self.delayed:
                self.delayed[key] = self.m.delay(value, "late", when=self.enable)
            value = self.delayed[key]
        return value

    def _input(self, name: str, width: int) -> Expr:
        if name not in self.inputs:
            self.inputs[name] = self.m.input(name, width)
        return self.inputs[name]

    def _value(self, node: Node) -> tuple[Expr, int]:
        """The value of a node, and when it is there."""
        if id(node) not in self.placed:
            self.placed[id(node)] = self._made(node)
        return self.placed[id(node)]

    def _made(self, node: Node) -> tuple[Expr, int]:
        match node:
            case Number(value=value, type=kind):
                return const(number_bits(value, kind), width_of(kind)), 0
            case Operand(number=number, type=kind):
                return self._input(f"operand{number}", width_of(kind)), 0
            case Given(type=kind):
                number = self.process.function.givens.index(node)
                return self._input(f"given{number}", width_of(kind)), 0
            case Apply():
                pass
        found = [self._value(arg) for arg in node.args]
        time = max((at for _, at in found), default=0)
        args = [self._late(value, time - at) for value, at in found]
        with self.m.source(_note(node.where)):
            unit = _unit_of(node)
            if unit is None:
                return self.m.named(_logic(node, args), "value"), time
            return self._by_unit(node, unit, args), time + self._latency(node)

    def _by_unit(self, node: Apply, unit: tuple[str, int, int], args: list[Expr]) -> Expr:
        if node.op in (">", ">="):
            args = args[::-1]
        source = unit[2]
        if source:
            args = [_resized(args[0], node.args[0].type, source)]
        if id(node) in self.flat:
            shape = flat(*unit)
            inputs = dict(zip(shape.inputs, args, strict=True))
        else:
            shape = held(*unit)
            inputs = {**dict(zip(shape.inputs, args, strict=True)), "ce": self.enable}
        result: Expr = self.m.instance(shape.module, shape.name, inputs)["q"]
        if node.op in _COMPARISONS:
            return (~result if node.op == "!=" else result).zext(32)
        return result.trunc(width_of(node.type))


def _note(where: Range) -> str:
    return f"line {where.line}"


def _unit_of(node: Apply) -> tuple[str, int, int] | None:
    """The unit of an operation: its name, width and source width; None if it is plain logic."""
    op, kind = node.op, node.type
    first = node.args[0].type if node.args else kind
    if op == "cast":
        return _conversion(kind, first)
    if op in _COMPARISONS:
        if not first.is_float:
            return None
        return {"==": "feq", "!=": "feq", "<": "flt", ">": "flt"}.get(op, "fle"), first.bits, 0
    if kind.is_float:
        if op in _FLOATS:
            return _FLOATS[op], kind.bits, 0
        if op in ("neg", "fabs", "select", "copysign"):
            return None
    elif op == "*":
        return "mul", kind.bits, 0
    elif op in ("/", "%"):
        sign = "u" if kind.kind == "uint" else "s"
        return sign + ("div" if op == "/" else "rem"), kind.bits, 0
    elif op in _PLAIN:
        return None
    raise SourceError(
        f"{node.where}: there is no arithmetic unit for {op} of {kind}; compute it outside of the "
        "kernel, or leave --rtl out"
    )


_PLAIN = frozenset(
    {"+", "-", "&", "|", "^", "<<", ">>", "~", "!", "neg", "&&", "||", "select", "abs", "labs"}
)


def _conversion(kind: Scalar, first: Scalar) -> tuple[str, int, int] | None:
    if kind.kind == "bool" and first.is_float:
        return None
    if kind.is_float and first.is_float:
        if kind.bits == first.bits:
            return None
        return ("fpext" if kind.bits == 64 else "fptrunc"), kind.bits, first.bits
    if kind.is_float:
        sign = "si" if first.kind == "int" else "ui"
        return f"{sign}tofp", kind.bits, max(32, first.bits)
    if first.is_float:
        sign = "si" if kind.kind == "int" or kind.bits < 32 else "ui"
        return f"fpto{sign}", max(32, kind.bits), first.bits
    return None


def _true(value: Expr, kind: Scalar) -> Expr:
    """Is it not zero? Of floating point both zeros are."""
    return value[value.width - 2 : 0].any() if kind.is_float else value.any()


def _resized(value: Expr, kind: Scalar, width: int) -> Expr:
    """An integer of another width."""
    if width <= value.width:
        return value.trunc(width)
    return value.sext(width) if kind.kind == "int" else value.zext(width)


def _logic(node: Apply, args: list[Expr]) -> Expr:
    """The value of an operation that is plain logic."""
    op, kind = node.op, node.type
    width = width_of(kind)
    first = args[0]
    own = node.args[0].type
    match op:
        case "cast" if kind.kind == "bool":
            return _true(first, own).zext(width)
        case "cast":
            return first if kind.is_float else _resized(first, own, width)
        case "select":
            return mux(_true(first, own), args[1], args[2])
        case "!":
            return (~_true(first, own)).zext(width)
        case "&&":
            return (_true(first, own) & _true(args[1], node.args[1].type)).zext(width)
        case "||":
            return (_true(first, own) | _true(args[1], node.args[1].type)).zext(width)
        case "neg" if kind.is_float:
            return cat(~first[width - 1], first[width - 2 : 0])
        case "neg":
            return 0 - first
        case "~":
            return ~first
        case "fabs":
            return cat(const(0, 1), first[width - 2 : 0])
        case "copysign":
            return cat(args[1][width - 1], first[width - 2 : 0])
        case "abs" | "labs":
            return mux(first[width - 1], 0 - first, first)
        case ">>" if own.kind == "int":
            return first.ashr(args[1])
        case _ if op in _COMPARISONS:
            return _compared(op, first, args[1], signed=own.kind == "int").zext(width)
    return _BINARY[op](first, args[1])


_BINARY: dict[str, Callable[[Expr, Expr], Expr]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
    "<<": lambda a, b: a << b,
    ">>": lambda a, b: a >> b,
}


def _compared(op: str, a: Expr, b: Expr, *, signed: bool) -> Expr:
    if op in ("==", "!="):
        return a.eq(b) if op == "==" else a.ne(b)
    if op in (">", ">="):
        a, b = b, a
    if op in ("<", ">"):
        return a.slt(b) if signed else a.ult(b)
    return a.sle(b) if signed else a.ule(b)
