"""Floating-point primitives of Calyx's main branch, on our own units.

The library of release 0.7.1 lacks `primitives/float.futil` and `primitives/float/*.futil`, and
main's Verilog needs Berkeley HardFloat, which neither has. Interfaces and latencies are main's:
`done` in the third cycle of `go` (a division's in the 33rd), as long as `go` is held.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from cyclescope._files import parse_number
from cyclescope.errors import SourceError

if TYPE_CHECKING:
    from pathlib import Path

    from cyclescope.rtl import Module

__all__ = ["complete", "float_constant", "write_float_library"]

_FORMATS = {(8, 24): 32, (11, 53): 64}
_INSTANCE = re.compile(r"\b(std_\w+)\s*#\s*\(([^()]*(?:\([^()]*\)[^()]*)*)\)\s*\w+\s*\(")
_BINDING = re.compile(r"\.(\w+)\((?:\d+'d)?(\d+)\)")


@dataclass(frozen=True, slots=True)
class _Primitive:
    """A primitive's interface.

    Attributes:
        file: its file in `primitives/float/`, without suffix.
        parameters: in their order.
        interval: cycles from `go` to the result.
        inputs: (name, width or parameter, attribute).
        outputs: (name, width or parameter, whether a register).
    """

    file: str
    parameters: tuple[str, ...]
    interval: int
    inputs: tuple[tuple[str, str, str], ...]
    outputs: tuple[tuple[str, str, bool], ...]

    @property
    def name(self) -> str:
        """In programs."""
        return f"std_{self.file}"


_WITH = "@write_together(1) "
_PAIR = (("left", "numWidth", _WITH), ("right", "numWidth", _WITH))
_MODES = (("roundingMode", "3", ""),)
_RESULT = (("out", "numWidth", True), ("exceptionFlags", "5", True))
_NUMBER = ("expWidth", "sigWidth", "numWidth")
_PRIMITIVES = (
    _Primitive(
        "addFN", _NUMBER, 2,
        (("control", "1", ""), ("subOp", "1", _WITH), *_PAIR, *_MODES), _RESULT,
    ),
    _Primitive("mulFN", _NUMBER, 2, (("control", "1", ""), *_PAIR, *_MODES), _RESULT),
    _Primitive(
        "divSqrtFN", _NUMBER, 32,
        (("control", "1", ""), ("sqrtOp", "1", ""), *_PAIR, *_MODES), _RESULT,
    ),
    _Primitive(
        "compareFN", _NUMBER, 2, (*_PAIR, ("signaling", "1", "")),
        (*((name, "1", True) for name in ("lt", "eq", "gt", "unordered")),
         ("exceptionFlags", "5", True)),
    ),
    _Primitive(
        "intToFp", ("intWidth", "expWidth", "sigWidth", "floatWidth"), 2,
        (("in", "intWidth", ""), ("signedIn", "1", "")), (("out", "floatWidth", False),),
    ),
    _Primitive(
        "fpToInt", ("expWidth", "sigWidth", "floatWidth", "intWidth"), 2,
        (("signedOut", "1", ""), ("in", "floatWidth", "")), (("out", "intWidth", True),),
    ),
)  # fmt: skip
_BY_NAME = {p.name: p for p in _PRIMITIVES}


def write_float_library(library: Path) -> None:
    """Adds the files that programs import to a library that the compiler searches.

    Raises:
        OSError: it cannot be written.
    """
    folder = library / "primitives" / "float"
    folder.mkdir(parents=True, exist_ok=True)
    note = "// The compiler's text refers to this file; the modules come with the design.\n"
    (folder.parent / "float.futil").write_text("// std_float_const becomes std_const.\n", "utf-8")
    for primitive in _PRIMITIVES:
        (folder / f"{primitive.file}.futil").write_text(_declaration(primitive), "utf-8")
        (folder / f"{primitive.file}.sv").write_text(note, "utf-8")


def _declaration(primitive: _Primitive) -> str:
    inputs = ["@clk clk: 1", "@reset reset: 1"]
    inputs.append(f"@write_together @interval({primitive.interval}) @go go: 1")
    inputs += [f"{attribute}{name}: {width}" for name, width, attribute in primitive.inputs]
    outputs = [f"{name}: {width}" for name, width, _ in primitive.outputs]
    return (
        f'extern "{primitive.file}.sv" {{\n'
        f"  primitive {primitive.name}[{', '.join(primitive.parameters)}](\n    "
        + ",\n    ".join(inputs)
        + "\n  ) -> (\n    "
        + ",\n    ".join([*outputs, "@done done: 1"])
        + "\n  );\n}\n"
    )


def float_constant(representation: int, width: int, text: str) -> int:
    """The bits of `std_float_const(representation, width, text)`.

    Beside decimal numbers the text may be `inf`, `infinity` or `nan` in any case, with a sign: so
    Calyx prints constants that have no digits.

    Raises:
        OverflowError: the number has too many digits or too large an exponent.
        ValueError: this representation or width is unknown.
    """
    if representation != 0:
        raise ValueError(f"representation {representation}: 0 (IEEE 754) is the only one")
    if width not in (32, 64):
        raise ValueError(f"{width} bits: floating-point constants have 32 or 64")
    sign = int(text.startswith("-")) << width - 1
    word = text.removeprefix("-").lower()
    exponent = 0xFF << 23 if width == 32 else 0x7FF << 52
    if word in ("inf", "infinity"):
        return sign | exponent
    if word == "nan":
        return sign | exponent | 1 << (22 if width == 32 else 51)
    exact = abs(parse_number(text))
    code, integer = ("<f", "<I") if width == 32 else ("<d", "<Q")
    try:
        guess: int = struct.unpack(integer, struct.pack(code, float(exact)))[0]
    except OverflowError:
        guess = exponent
    # By way of 64 bits it is rounded twice: a neighbour may be nearer. Infinity counts as the
    # number that would come next.
    near = (bits for bits in (guess - 1, guess, guess + 1) if 0 <= bits <= exponent)
    best = min(near, key=lambda bits: (abs(_value(bits, width) - exact), bits & 1))
    return sign | best


def _value(bits: int, width: int) -> Fraction:
    fraction = 23 if width == 32 else 52
    bias = (1 << width - fraction - 2) - 1
    exponent, low = bits >> fraction, bits & (1 << fraction) - 1
    significand = low | (int(exponent > 0) << fraction)
    return Fraction(significand) * Fraction(2) ** (max(exponent, 1) - bias - fraction)


def complete(verilog: str, path: Path) -> str:
    """A design with the modules of the floating-point primitives that it uses.

    Text of other origin for them, as main's compiler includes it, is replaced.

    Args:
        verilog: what a compiler made.
        path: the program, for messages.

    Raises:
        SourceError: a primitive is used in a format other than those of 32 and 64 bits.
    """
    used: dict[str, set[tuple[int, ...]]] = {}
    for name, text in _INSTANCE.findall(verilog):
        if primitive := _BY_NAME.get(name):
            bound = {key: int(value) for key, value in _BINDING.findall(text)}
            values = tuple(bound.get(key, -1) for key in primitive.parameters)
            _check(primitive, values, path)
            used.setdefault(name, set()).add(values)
    if not used:
        return verilog
    texts: dict[str, str] = {}
    wrappers = [
        _wrapper(_BY_NAME[name], sorted(bindings), texts) for name, bindings in sorted(used.items())
    ]
    verilog = re.sub(r'^[ \t]*`include "HardFloat_\w+\.v\w*".*\n', "", verilog, flags=re.MULTILINE)
    for name in used:
        verilog = re.sub(rf"^module {name}\b.*?^endmodule\b", "", verilog, flags=re.M | re.S)
    return "\n".join([verilog, *texts.values(), *wrappers])


def _check(primitive: _Primitive, values: tuple[int, ...], path: Path) -> None:
    bound = dict(zip(primitive.parameters, values, strict=True))
    form = bound["expWidth"], bound["sigWidth"]
    whole = bound.get("numWidth", bound.get("floatWidth"))
    what = f"{path}: {primitive.name}({', '.join(map(str, values))})"
    if _FORMATS.get(form) != whole:
        raise SourceError(
            f"{what}: there are the formats expWidth 8, sigWidth 24, 32 bits in all, and 11, 53,"
            " 64; use one of them"
        )
    if not 2 <= bound.get("intWidth", 32) <= 64:
        raise SourceError(f"{what}: integers have 2 to 64 bits here; use such a width")


def _wrapper(primitive: _Primitive, bindings: list[tuple[int, ...]], texts: dict[str, str]) -> str:
    """The module of a primitive; what it instantiates goes into `texts`."""
    head = ", ".join(f"parameter {name} = 0" for name in primitive.parameters)
    ports = ["input wire clk", "input wire reset", "input wire go"]
    ports += [f"input wire {_range(width)}{name}" for name, width, _ in primitive.inputs]
    for name, width, register in primitive.outputs:
        ports.append(f"output {'reg' if register else 'wire'} {_range(width)}{name}")
    ports.append("output wire done")
    lines = [f"module {primitive.name} #({head}) (", "  " + ",\n  ".join(ports), ");"]
    wires = {name: f"{name}_now" if register else name for name, _, register in primitive.outputs}
    lines += [
        f"  wire {_range(width)}{wires[name]};"
        for name, width, register in primitive.outputs
        if register
    ]
    lines.append("  generate")
    for values in bindings:
        same = " && ".join(
            f"{key} == {value}" for key, value in zip(primitive.parameters, values, strict=True)
        )
        lines.append(f"    if ({same}) begin : of_{'_'.join(map(str, values))}")
        bound = dict(zip(primitive.parameters, values, strict=True))
        lines += [f"      {line}" for line in _core(primitive, bound, wires, texts)]
        lines.append("    end")
    lines += ["  endgenerate", *_handshake(primitive, wires), "endmodule", ""]
    return "\n".join(lines)


def _core(
    primitive: _Primitive, bound: dict[str, int], wires: dict[str, str], texts: dict[str, str]
) -> list[str]:
    """The logic of a primitive between its inputs and the wires before its registers."""
    width = _FORMATS[bound["expWidth"], bound["sigWidth"]]

    def use(operation: str, width: int, source: int = 0) -> str:
        module = _logic(operation, width, source)
        texts.setdefault(module.name, module.verilog())
        return module.name

    match primitive.file:
        case "intToFp":
            bits = bound["intWidth"]
            # One bit more is enough for unsigned integers, too.
            return [
                f"{use('sitofp', width, bits + 1)} unit(.a({{signedIn & in[{bits - 1}], in}}),"
                f" .q({wires['out']}));"
            ]
        case "fpToInt":
            name = use("saturate", bound["intWidth"], width)
            return [f"{name} unit(.a(in), .q({wires['out']}));"]
        case "compareFN":
            four = ", ".join(wires[name] for name in ("lt", "eq", "gt", "unordered"))
            return [
                "wire signals;",
                f"{use('relations', width)} unit(.a(left), .b(right), .q({{{four}}}),"
                " .flags(signals));",
                f"assign {wires['exceptionFlags']} ="
                f" {{signals | (signaling & {wires['unordered']}), 4'd0}};",
            ]
        case "divSqrtFN":
            return [
                f"wire [{width - 1}:0] quotient, root;",
                "wire [4:0] divided, rooted;",
                "wire early;",
                f"{use('fdiv', width)} divider(.a(left), .b(right), .q(quotient),"
                " .flags(divided), .early(early));",
                f"{use('fsqrt', width)} rooter(.a(left), .q(root), .flags(rooted));",
                f"assign {wires['out']} = sqrtOp ? root : quotient;",
                f"assign {wires['exceptionFlags']} = sqrtOp ? rooted :"
                " {divided[4:2], control ? divided[1] : early, divided[0]};",
            ]
        case _:
            add = primitive.file == "addFN"
            right = f"{{right[{width - 1}] ^ subOp, right[{width - 2}:0]}}" if add else "right"
            return [
                "wire [4:0] flags;",
                "wire early;",
                f"{use('fadd' if add else 'fmul', width)} unit(.a(left), .b({right}),"
                f" .q({wires['out']}), .flags(flags), .early(early));",
                f"assign {wires['exceptionFlags']} ="
                " {flags[4:2], control ? flags[1] : early, flags[0]};",
            ]


def _handshake(primitive: _Primitive, wires: dict[str, str]) -> list[str]:
    last = primitive.interval - 1
    lines = [
        f"  reg [{last}:0] held;",
        f"  assign done = held[{last}];",
        "  always @(posedge clk) begin",
        f"    held <= go & ~reset ? {{held[{last - 1}:0], 1'b1}} : {last + 1}'d0;",
    ]
    for name, _, register in primitive.outputs:
        if register:
            lines.append(f"    if (reset) {name} <= 0; else if (go) {name} <= {wires[name]};")
    lines.append("  end")
    if any(name == "roundingMode" for name, _, _ in primitive.inputs):
        lines += [
            "`ifndef SYNTHESIS",
            "  always @(posedge clk)",
            "    if (go & ~reset & roundingMode != 3'd0)",
            f'      $fatal(1, "{primitive.name}: rounding mode %0d; only 0, to nearest even, is'
            ' there", roundingMode);',
            "`endif",
        ]
    return lines


def _range(width: str) -> str:
    return "" if width == "1" else f"[{int(width) - 1 if width.isdigit() else f'{width} - 1'}:0] "


def _logic(operation: str, width: int, source: int) -> Module:
    from cyclescope.rtl import logic

    return logic(operation, width, source)
