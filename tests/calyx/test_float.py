"""Floating-point primitives of Calyx's main branch: results, latencies, constants, refusals."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calyx.float.operations import FORMATS, NAN, OPERATIONS, bits, number, program
from cyclescope.calyx import compile_program, profile_program, verify_program
from cyclescope.calyx._float import complete, float_constant
from cyclescope.calyx._syntax_print import print_syntax
from cyclescope.calyx._syntax_read import read_syntax
from cyclescope.calyx._text import read_program
from cyclescope.errors import RunError, SourceError
from cyclescope.model import Kind, active_cycles

if TYPE_CHECKING:
    from pathlib import Path

REALS = (
    0.0, -0.0, 1.0, -1.0, 1.5, 0.1, -4.2, 3.0, 1e-45, -1e-45, 1.1754944e-38, 3.4028235e38, -1e30,
    5e-324, 1e308, 2147483647.0, 2147483648.0, -2147483649.0, 0.99999994, 1e-20,
    float("inf"), float("-inf"), float("nan"),
)  # fmt: skip


def pairs(width: int) -> list[tuple[int, int]]:
    def single(x: float) -> int:
        try:
            return bits(x, width)
        except OverflowError:
            return bits(float("inf"), width)

    patterns = [single(x) for x in REALS]
    return [(a, patterns[(i * 7 + 3) % len(patterns)]) for i, a in enumerate(patterns)] + [
        (patterns[1], patterns[0]),
        (patterns[2], patterns[2] + 1),
        (patterns[11], patterns[11]),
    ]


def files(folder: Path, width: int) -> tuple[Path, Path]:
    given_pairs = pairs(width)
    memories = {"a": [a for a, _ in given_pairs], "b": [b for _, b in given_pairs]}
    memories |= {o.name: [0] * len(given_pairs) for o in OPERATIONS}
    sizes = {"a": width, "b": width} | {o.name: o.bits or width for o in OPERATIONS}
    data = {
        name: {
            "data": [*values, 0],
            "format": {"numeric_type": "bitnum", "is_signed": False, "width": sizes[name]},
        }
        for name, values in memories.items()
    }
    source, values = folder / "operations.futil", folder / "operations.json"
    source.write_text(program(width, len(given_pairs)))
    values.write_text(json.dumps(data))
    return source, values


@pytest.mark.long
@pytest.mark.parametrize("width", [32, 64])
def test_every_operation_is_exact_and_as_long_as_main_has_it(tmp_path, width) -> None:
    source, data = files(tmp_path, width)
    run = profile_program(source, data)
    for o in OPERATIONS:
        wanted = [*(o.expected(a, b, width) for a, b in pairs(width)), 0]
        assert run.memories[o.name]["data"] == wanted, o.name
    profile = run.profile
    cycles = active_cycles(profile)
    frames = [profile.frame_of(path) for path in range(len(profile.call_paths))]
    for o in OPERATIONS:
        (path,) = (
            n for n, f in enumerate(frames) if f.kind is Kind.GROUP and f.name == f"do_{o.name}"
        )
        assert cycles[path] == o.cycles * len(pairs(width)), o.name
    units = {f.name for f in frames if f.kind is Kind.PRIMITIVE}
    assert {"unit0", "unit5"} < units


def test_measuring_changes_nothing(tmp_path) -> None:
    assert verify_program(*files(tmp_path, 32)).holds


CONSTANTS = """\
import "primitives/core.futil";
import "primitives/float.futil";
import "primitives/memories/comb.futil";
component main(@go go: 1) -> (@done done: 1) {
  cells {
    half = std_float_const(0, 64, 0.5); @external m = comb_mem_d1(64, 1, 1);
    // not one: std_float_const(1, 16, 0.5)
    tenth = std_float_const(
      0, 32, -0.1); CELL
    wide = std_pad(32, 64); sum = std_add(64);
  }
  wires {
    group g {
      wide.in = tenth.out; sum.left = half.out; sum.right = wide.out;
      m.addr0 = 1'd0; m.write_data = sum.out; m.write_en = 1'd1; g[done] = m.done;
    }
  }
  control { g; }
}
"""


def test_constants(tmp_path) -> None:
    source, data = tmp_path / "constants.futil", tmp_path / "constants.json"
    source.write_text(CONSTANTS.replace("CELL", ""))
    form = {"numeric_type": "bitnum", "is_signed": False, "width": 64}
    data.write_text(json.dumps({"m": {"data": [0], "format": form}}))
    run = profile_program(source, data)
    assert run.memories["m"]["data"] == [bits(0.5, 64) + bits(-0.1, 32)]
    profile = run.profile
    frames = [profile.frame_of(path) for path in range(len(profile.call_paths))]
    (place,) = next(f.positions for f in frames if f.name == "g")
    assert (place.line, place.column) == (18, 13)


def test_what_stands_behind_a_constant_is_found_where_it_is(tmp_path) -> None:
    source = tmp_path / "wrong.futil"
    source.write_text(CONSTANTS.replace("CELL", "other = std_nothing(3);"))
    with pytest.raises(SourceError, match=r"wrong\.futil:9:\d+: .*std_nothing"):
        compile_program(source)
    source.write_text(CONSTANTS.replace("0, 32, -0.1", "1, 32, -0.1").replace("CELL", ""))
    with pytest.raises(SourceError, match=r"wrong\.futil:8: std_float_const: representation 1"):
        compile_program(source)
    source.write_text(CONSTANTS.replace("0, 32, -0.1", "0, 16, -0.1").replace("CELL", ""))
    with pytest.raises(SourceError, match=r"wrong\.futil:8: std_float_const: 16 bits"):
        compile_program(source)


@given(st.decimals(allow_nan=False, allow_infinity=False, places=60) | st.integers())
def test_constants_are_the_nearest_numbers(value) -> None:
    text = f"{value:f}" if not isinstance(value, int) else str(value)
    for width in (32, 64):
        found = float_constant(0, width, text)
        assert found >> width - 1 == text.startswith("-")
        exact, magnitude = abs(Fraction(text)), found & ~(1 << width - 1)
        top = bits(float("inf"), width)
        if magnitude == top:
            assert exact >= (Fraction(number(top - 1, width)) * (1 + Fraction(1, 1 << 60)))
            continue
        here = abs(Fraction(number(magnitude, width)) - exact)
        for neighbour in (magnitude - 1, magnitude + 1):
            if 0 <= neighbour < top:
                there = abs(Fraction(number(neighbour, width)) - exact)
                assert here < there or (here == there and magnitude % 2 == 0)


def test_constants_are_rounded_once() -> None:
    # Half a place above 1 in 32 bits, and a little more than 64 bits can hold.
    assert float_constant(0, 32, "1.000000059604644775390625") == 0x3F800000
    assert float_constant(0, 32, "1.0000000596046447753906250000000001") == 0x3F800001
    assert float_constant(0, 64, "-0") == 1 << 63
    assert float_constant(0, 32, "1" + "0" * 39) == 0x7F800000
    assert float_constant(0, 64, "9" * 400) == 0x7FF0 << 48


@pytest.mark.parametrize("width", [32, 64])
@pytest.mark.parametrize("text", ["inf", "-inf", "INFINITY", "-Infinity", "NaN", "-nan"])
def test_constants_without_digits(width, text, tmp_path) -> None:
    exponent, quiet = (0xFF << 23, 1 << 22) if width == 32 else (0x7FF << 52, 1 << 51)
    expected = exponent | ("n" in text.lower()[-1] and quiet)
    expected |= int(text.startswith("-")) << width - 1
    assert float_constant(0, width, text) == expected
    source = tmp_path / "constant.futil"
    source.write_text(f"c = std_float_const(0, {width}, {text});")
    assert read_program(source)[source].clean == b"c = std_const(%d, %d);" % (width, expected)


def test_a_compiler_reads_the_constants_that_it_prints() -> None:
    """Calyx prints an infinity as a word, and all digits of a large number; it reads no words."""
    cells = "a = std_float_const(0, 32, -inf); b = std_float_const(0, 64, 0.%s12);" % ("0" * 40)
    text = f"component main() -> () {{ cells {{ {cells} }} wires {{ }} control {{ }} }}"
    printed = print_syntax(read_syntax(text.encode(), "a.futil")).decode()
    values = re.findall(r"std_float_const\(0, (\d+), ([^)]*)\)", printed)
    assert [float_constant(0, int(width), value) for width, value in values] == [
        bits(float("-inf"), 32),
        bits(float(f"0.{'0' * 40}12"), 64),
    ]
    assert all(re.fullmatch(r"-?\d+(\.\d+)?", value) for _, value in values)


INSTANCE = "std_addFN # (\n    .expWidth(E),\n    .numWidth(N),\n    .sigWidth(S)\n) x (\n);\n"


@pytest.mark.parametrize("form", ["5 11 16", "8 24 64", "8 8 16"])
def test_other_formats_are_refused(tmp_path, form) -> None:
    text = INSTANCE
    for key, value in zip("ESN", form.split(), strict=True):
        text = text.replace(f"({key})", f"({value})")
    with pytest.raises(SourceError, match=r"half\.futil: std_addFN\(.*expWidth 8"):
        complete(text, tmp_path / "half.futil")


ROUNDED = """\
import "primitives/core.futil";
import "primitives/float/mulFN.futil";
component main(@go go: 1) -> (@done done: 1) {
  cells { x = std_mulFN(8, 24, 32); }
  wires { group g { x.go = 1'd1; x.left = 32'd1; x.right = 32'd1; MODE g[done] = x.done; } }
  control { g; }
}
"""


def test_another_rounding_mode_ends_the_run(tmp_path) -> None:
    source = tmp_path / "rounded.futil"
    source.write_text(ROUNDED.replace("MODE", "x.roundingMode = 3'd2;"))
    with pytest.raises(RunError, match="rounding mode 2; only 0"):
        profile_program(source, None)
    source.write_text(ROUNDED.replace("MODE", ""))
    assert profile_program(source, None).profile.cycles == 2


def test_verilog_for_hardfloat_is_replaced(tmp_path) -> None:
    """As main's compiler leaves it."""
    theirs = """\
`include "HardFloat_consts.vi"
module std_mulFN #(parameter expWidth = 8, parameter sigWidth = 24, parameter numWidth = 32) (
  input go
);
  mulRecFN #(expWidth, sigWidth) unit();
endmodule
module main(input clk, input go, output done);
std_mulFN # (
    .expWidth(8),
    .numWidth(32),
    .sigWidth(24)
) m (
    .go(go)
);
endmodule
"""
    ours = complete(theirs, tmp_path / "p.futil")
    assert "HardFloat" not in ours
    assert "mulRecFN" not in ours
    assert ours.count("module std_mulFN") == 1
    assert "module fmul32_logic" in ours
    assert complete("module main; endmodule", tmp_path) == "module main; endmodule"


def test_formats_and_nans_are_those_of_the_host() -> None:
    assert set(FORMATS) == set(NAN)
