"""Models of arithmetic units for simulation: the host's arithmetic instead of the RTL's.

An arithmetic unit's RTL is some two hundred operations a cycle to a simulator, of which only its
results matter here; in a design with a hundred units nothing else would take time, and a division
is most of what there is to compile. A model has the same name, ports, latency and results: the
units are proven equal to the host's arithmetic, and their NaN is always the same. `--unit-rtl`
simulates the units themselves.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cyclescope.rtl import unit

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["with_models"]

# Of x and y.
_FLOATS = {
    "fadd": "x + y",
    "fsub": "x - y",
    "fmul": "x * y",
    "fdiv": "x / y",
    "fsqrt": "std::sqrt(x)",
}
# Of a and b; what C leaves undefined is as the units have it.
_INTEGERS = {
    "udiv": "b ? a / b : ~T(0)",
    "urem": "b ? a % b : a",
    "sdiv": "!b ? ~T(0) : b == ~T(0) ? T(0) - a : T(S(a) / S(b))",
    "srem": "!b ? a : b == ~T(0) ? T(0) : T(S(a) % S(b))",
}
_TYPES = {
    32: ("float", "uint32_t", "int32_t", "0xffc00000u"),
    64: ("double", "uint64_t", "int64_t", "0xfff8000000000000ull"),
}
_NAME = re.compile(rf"({'|'.join((*_FLOATS, *_INTEGERS))})(32|64)\.v")


def with_models(sources: Mapping[str, str]) -> dict[str, str]:
    """The sources with models in the place of the units that have one; for Verilator only."""
    result = dict(sources)
    for name in sources:
        if match := _NAME.fullmatch(name):
            result[name] = _model(match[1], int(match[2]))
    return result


def _model(operation: str, width: int) -> str:
    of = unit(operation, width)
    real, bits, signed, nan = _TYPES[width]
    two = len(of.inputs) == 2
    # The operands' bits come as C++ expressions.
    body = f"[]({bits} a{f', {bits} b' if two else ''}) {{ "
    if operation in _INTEGERS:
        body += f"using T = {bits}; using S = {signed}; return {_INTEGERS[operation]}; }}("
    else:
        body += f"{real} x; std::memcpy(&x, &a, sizeof x); "
        if two:
            body += f"{real} y; std::memcpy(&y, &b, sizeof y); "
        # The result is canonical if it is no number.
        body += (
            f"const {real} z = {_FLOATS[operation]}; {bits} q; std::memcpy(&q, &z, sizeof q); "
            f"return z != z ? {bits}({nan}) : q; }}("
        )
    operands = 'a, ", ", b' if two else "a"
    ports = "".join(f"  input wire [{width - 1}:0] {name},\n" for name in of.inputs)
    stages = "".join(f"    s{i} <= s{i - 1};\n" for i in range(1, of.latency))
    names = ", ".join(f"s{i}" for i in range(of.latency))
    return f"""\
// {of.name} for simulation: the host's arithmetic, {of.latency} cycles later.
module {of.name} (
  input wire clk,
{ports}  output wire [{width - 1}:0] q
);
  reg [{width - 1}:0] {names};
  always @(posedge clk) begin
    s0 <= $c{width}("{body}", {operands}, ")");
{stages}  end
  assign q = s{of.latency - 1};
endmodule
"""
