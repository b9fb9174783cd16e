"""A program that applies every floating-point primitive to pairs of numbers, in both formats."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

FORMATS = {32: (8, 24), 64: (11, 53)}
CODES = {32: ("<f", "<I"), 64: ("<d", "<Q")}
TYPES = {32: np.float32, 64: np.float64}
NAN = {32: 0xFFC00000, 64: 0xFFF8 << 48}


def bits(value: float, width: int) -> int:
    real, integer = CODES[width]
    if math.isnan(value):
        return NAN[width]
    number: int = struct.unpack(integer, struct.pack(real, value))[0]
    return number


def number(pattern: int, width: int) -> float:
    real, integer = CODES[width]
    value: float = struct.unpack(real, struct.pack(integer, pattern))[0]
    return value


@dataclass(frozen=True)
class Operation:
    """A group of the program.

    Attributes:
        name: of the group and of the memory it writes.
        cell: which primitive, with `W`, `E`, `S` for width, exponent, significand.
        inputs: its assignments.
        output: port that is stored.
        bits: of that port; 0 for the width of the format.
        cycles: that the group is active: up to that of `done`, in which it stores.
        expected: from the two operands' bits and the width.
    """

    name: str
    cell: str
    inputs: str
    output: str
    bits: int
    cycles: int
    expected: Callable[[int, int, int], int]


def _arithmetic(compute: Callable[[np.floating, np.floating], np.floating]):
    def expected(a: int, b: int, width: int) -> int:
        kind = TYPES[width]
        with np.errstate(all="ignore"):
            return bits(float(compute(kind(number(a, width)), kind(number(b, width)))), width)

    return expected


def _relation(holds: Callable[[float, float], bool]):
    return lambda a, b, width: int(holds(number(a, width), number(b, width)))


def _to_integer(a: int, _: int, width: int) -> int:
    x = number(a, width)
    if math.isnan(x):
        return (1 << 31) - 1
    whole = math.copysign(1 << 40, x) if math.isinf(x) else math.trunc(x)
    return int(min(max(whole, -(1 << 31)), (1 << 31) - 1)) % (1 << 32)


def _from_integer(a: int, width: int, *, signed: bool) -> int:
    integer = a & 0xFFFFFFFF
    if signed and integer >> 31:
        integer -= 1 << 32
    return bits(float(TYPES[width](integer)), width)


_PAIR = "X.left = read_a.out; X.right = read_b.out;"
_NEAREST = "X.control = 1'd1; X.roundingMode = 3'd0;"
_ADD = "std_addFN(E, S, W)"
_DIVIDE = "std_divSqrtFN(E, S, W)"
_COMPARE = "std_compareFN(E, S, W)"
_QUIET = f"{_PAIR} X.signaling = 1'd0;"
OPERATIONS = (
    Operation("sum", _ADD, f"{_PAIR} {_NEAREST} X.subOp = 1'd0;", "out", 0, 3,
              _arithmetic(lambda a, b: a + b)),
    Operation("difference", _ADD, f"{_PAIR} {_NEAREST} X.subOp = 1'd1;", "out", 0, 3,
              _arithmetic(lambda a, b: a - b)),
    Operation("product", "std_mulFN(E, S, W)", f"{_PAIR} {_NEAREST}", "out", 0, 3,
              _arithmetic(lambda a, b: a * b)),
    Operation("quotient", _DIVIDE, f"{_PAIR} {_NEAREST} X.sqrtOp = 1'd0;", "out", 0, 33,
              _arithmetic(lambda a, b: a / b)),
    Operation("root", _DIVIDE, f"{_PAIR} {_NEAREST} X.sqrtOp = 1'd1;", "out", 0, 33,
              _arithmetic(lambda a, _: np.sqrt(a))),
    Operation("less", _COMPARE, _QUIET, "lt", 1, 3, _relation(lambda a, b: a < b)),
    Operation("equal", _COMPARE, _QUIET, "eq", 1, 3, _relation(lambda a, b: a == b)),
    Operation("greater", _COMPARE, _QUIET, "gt", 1, 3, _relation(lambda a, b: a > b)),
    Operation("unordered", _COMPARE, _QUIET, "unordered", 1, 3,
              _relation(lambda a, b: a != a or b != b)),
    Operation("whole", "std_fpToInt(E, S, W, 32)",
              "X.in = read_a.out; X.signedOut = 1'd1;", "out", 32, 3, _to_integer),
    Operation("signed_real", "std_intToFp(32, E, S, W)",
              "low.in = read_a.out; X.in = low.out; X.signedIn = 1'd1;", "out", 0, 3,
              lambda a, _, width: _from_integer(a, width, signed=True)),
    Operation("unsigned_real", "std_intToFp(32, E, S, W)",
              "low.in = read_a.out; X.in = low.out; X.signedIn = 1'd0;", "out", 0, 3,
              lambda a, _, width: _from_integer(a, width, signed=False)),
)  # fmt: skip


def program(width: int, count: int) -> str:
    """The program: a loop over `count` pairs in the memories a and b.

    A memory has a word more: after the last round the index points to it.
    """
    exponent, significand = FORMATS[width]

    def of_format(text: str) -> str:
        for key, value in (("W", width), ("E", exponent), ("S", significand)):
            text = text.replace(f"({key},", f"({value},").replace(f" {key},", f" {value},")
            text = text.replace(f" {key})", f" {value})")
        return text

    memories = [("a", width), ("b", width), *((o.name, o.bits or width) for o in OPERATIONS)]
    cells = [f"@external {name} = comb_mem_d1({size}, {count + 1}, 8);" for name, size in memories]
    cells += [f"read_{n} = std_wire({width});" for n in "ab"]
    cells += ["i = std_reg(8);", "next = std_add(8);", "more = std_lt(8);"]
    cells.append(f"low = {'std_slice(64, 32)' if width == 64 else 'std_wire(32)'};")
    shared = dict.fromkeys(of_format(o.cell) for o in OPERATIONS)
    names = {cell: f"unit{n}" for n, cell in enumerate(shared)}
    cells += [f"{name} = {cell};" for cell, name in names.items()]
    groups = []
    for o in OPERATIONS:
        unit = names[of_format(o.cell)]
        inputs = o.inputs.replace("X.", f"{unit}.").replace("; ", ";\n      ")
        groups.append(f"""
    group do_{o.name} {{
      {inputs}
      {unit}.go = !{unit}.done ? 1'd1;
      {o.name}.addr0 = i.out;
      {o.name}.write_data = {unit}.{o.output};
      {o.name}.write_en = {unit}.done;
      do_{o.name}[done] = {o.name}.done;
    }}""")
    newline = "\n    "
    return f"""\
import "primitives/core.futil";
import "primitives/memories/comb.futil";
import "primitives/float/addFN.futil";
import "primitives/float/mulFN.futil";
import "primitives/float/divSqrtFN.futil";
import "primitives/float/compareFN.futil";
import "primitives/float/intToFp.futil";
import "primitives/float/fpToInt.futil";
component main(@go go: 1) -> (@done done: 1) {{
  cells {{
    {newline.join(cells)}
  }}
  wires {{
    a.addr0 = i.out;
    b.addr0 = i.out;
    read_a.in = a.read_data;
    read_b.in = b.read_data;
    comb group another {{ more.left = i.out; more.right = 8'd{count}; }}
    group step {{
      next.left = i.out;
      next.right = 8'd1;
      i.in = next.out;
      i.write_en = 1'd1;
      step[done] = i.done;
    }}{"".join(groups)}
  }}
  control {{
    while more.out with another {{
      seq {{ {" ".join(f"do_{o.name};" for o in OPERATIONS)} step; }}
    }}
  }}
}}
"""
