from __future__ import annotations

import re
import struct

import pytest

from cyclescope.rtl import OPERATIONS, Module, sources, unit, variants
from rtl.benches import checker, in_icarus, lint
from rtl.fpu import FUNCTIONS, LIMIT, all_logic, counts, design, mutant, stream, subject, worst

# Name of a mutant → (unit, what is replaced, by what). Each is a mistake that was once made in
# some floating-point unit; each must be seen in the vectors.
ROUNDING = {
    "truncates": (r"wire up = .*;", "wire up = 1'b0;"),
    "ties_away": (r"wire up = (\S+) & .*;", r"wire up = \1;"),
    "ties_down": (r"wire up = (.*) \| \S+\);", r"wire up = \1);"),
}
MUTANTS = {
    "fadd32": ROUNDING
    | {
        "no_sticky": (r" \| lost_\d\}", "}"),
        "no_subnormals": (r"wire \[27:0\] ones = sum \| .*;", "wire [27:0] ones = sum;"),
        "minus_zero": (r" & ~\(minus_5 & \(sum_5 == 28'd0\)\)", ""),
        "inf_minus_inf": (r" \| \(a_special & a_empty & .*\n.*;", ";"),
        "late_overflow": (r"10'hff\)", "10'h100)"),
        "early_overflow": (r"10'hff\)", "10'hfe)"),
        "far_apart": (r"\(\|distance\[7:5\]\) \? 5'h1f : ", ""),
        "subnormal_exponent": (r"a\[23\] \| ~a_normal", "a[23]"),
        "wrong_sign": (r"swap_1 \? sign_b_1 : sign_a_1", "sign_a_1"),
        "no_borrow": (r" \+ \{27'd0, minus_3\}", ""),
        "groups_stay": (r"\(7'h7f << distance_2_2\[4:2\]\)", "7'h7f"),
        "least_stay": (r"\(3'd7 <<\s+distance_2_2\[1:0\]\)", "3'd7"),
        "left_in_part": (r"wire \[2:0\] zeros_9 = {~", "wire [2:0] zeros_9 = {"),
    },
    "fsub64": ROUNDING | {"adds": (r"~b\[63\]", "b[63]"), "no_sticky": (r" \| lost_4\}", "}")},
    "fmul32": ROUNDING
    | {
        "no_sticky": (r"wire sticky = .*;", "wire sticky = 1'b0;"),
        "no_low_sticky": (r"\(\|sig_4\[20:0\]\)", "(|sig_4[20:1])"),
        "no_high_sticky": (r" \| \(sig_4\[47\] & sig_4\[21\]\)", ""),
        "no_subnormal_sticky": (r"wire sticky_2 = [^;]*;", "wire sticky_2 = sticky_5;"),
        "no_subnormal_operand": (r"left_3 <= .*;", "left_3 <= 0;"),
        "no_subnormal_result": (r"deep_5 <= deep;", "deep_5 <= 0;"),
        "other_depth": (r"sig_4\[47\] \? below_4 : below_more_4", "below_4"),
        "other_operand": (
            r"a_normal \? b_significand : a_significand",
            "a_normal ? a_significand : b_significand",
        ),
        "zero_times_inf": (r" \| \(zero_a_1 & infinite_b_1\)", ""),
        "lost_carry": (r"\{6'd0, tile_1_0_2\}", "{7'd0, tile_1_0_2[22:0]}"),
        "far_below": (r"\(\|part_\d+\[8:5\]\) \? 5'h1f : ", ""),
    },
    "fmul64": {
        "no_low_sticky": (r"\(\|sig_7\[49:0\]\)", "(|sig_7[49:1])"),
        "no_subnormal_sticky": (r"wire sticky_2 = [^;]*;", "wire sticky_2 = sticky_8;"),
        "no_fine_sticky": (r"wire sticky_3 = [^;]*;", "wire sticky_3 = sticky_9;"),
    },
    "fdiv32": {
        "no_sticky": (r"parts_18 <= .*;", "parts_18 <= 0;"),
        "no_subnormal_sticky": (r"wire sticky_2 = [^;]*;", "wire sticky_2 = sticky;"),
        "zero_by_zero": (r" \| \(zero_a_2 & zero_b_2\)", ""),
        "by_infinity": (r"wire none = .*;", "wire none = zero_a_2;"),
    },
    "fsqrt32": {
        "no_sticky": (r"sticky_30 <= .*;", "sticky_30 <= 0;"),
        "of_negative": (r"wire nan = .*;", "wire nan = a_special & ~a_empty;"),
        "odd_exponent": (r"e_3_2 \+ 10'h7f", "e_3_2 + 10'h80"),
    },
    "fexp32": {
        "truncates": ROUNDING["truncates"],
        "positive": (r"minus_\d+ \? .* : ", ""),
        "short_log2_e": (r"'ha570", "'h0"),
        "early_infinity": (r"8'h85 < a_exponent\) & ~a\[31\]", r"8'h84 < a_exponent) & ~a[31]"),
        "no_underflow": (r"(deep_\d+) <= .*;", r"\1 <= 0;"),
        "wrong_piece": (r"table_\[37\] = .*;", "table_[37] = table_[36];"),
    },
    "flog32": {
        "truncates": ROUNDING["truncates"],
        "subnormal": (r"left_2 <= .*;", "left_2 <= 0;"),
        "other_half": (r"sig_3\[22\] \? 23'd0 - sig_3\[22:0\] : ", ""),
        "adds": (r"wire opposed = .*;", "wire opposed = 1'd0;"),
        "short_log_2": (r"26'h17f7d", "26'h0"),
        "of_negative": (r" \| \(a\[31\] & ~\(~a_normal & a_empty\)\)", ""),
        "unsigned_step": (r"(fix_13) <= .*;", r"\1 <= 0;"),
    },
    "fsin32": {
        "truncates": ROUNDING["truncates"],
        "tiny": (r"tiny_\d+ \? {2'd0, exponent_\d+} : ", ""),
        "of_infinity": (r" \| \(a_special & a_empty\)", ""),
        "turn": (r"two_over_pi\[5\] = .*;", "two_over_pi[5] = 0;"),
        "mirror": (r"{71{turn_\d+\[71\]}}", "71'd0"),
        "half": (r"turn_\d+\[73\] & ", "1'd0 & "),
    },
    "fcos32": {"quarter": (r" \+ 2'd1;", ";")},
    "ftanh32": {
        "truncates": ROUNDING["truncates"],
        "no_end": (r"large_3 = .*;", "large_3 = large_2;"),
        "tiny": (r" & ~tiny_2", ""),
        "unsigned_step": (r"(fix_9) <= .*;", r"\1 <= 0;"),
    },
    "flt32": {"zeros": (r" & ~\(~a_normal & a_empty & \(~b_normal & b_empty\)\)", "")},
    "fle64": {"nan": (r" \| \(b_special & ~b_empty\);", ";")},
    "fmin32": {"signaling": (r" \| \(a_special & ~a_empty & ~a\[22\]\)", "")},
    "fptosi32_64": {"large": (r"large_2 \| ", ""), "top": (r"sig_2\[52:32\]", "sig_2[52:33]")},
    "fptoui32_32": {"far_below": (r"\(\|lacking\[9:7\]\) \? 7'h7f : ", "")},
    "fptrunc32_64": {"no_sticky": (r"wire sticky = .*;", "wire sticky = 1'b0;")},
    "sitofp32_64": {"no_sticky": (r"wire up = (\S+) & .*;", r"wire up = \1;")},
    "sdiv32": {"by_zero": (r" & ~zero_\d+", "")},
    "fadd32_logic": {
        "signaling": (r" & ~a\[22\]", ""),
        "inexact": (r"wire inexact = .*;", "wire inexact = ~(nan | infinite) & sig[3];"),
    },
    "fmul32_logic": {
        "overflow": (r" \| \(&rounded\[30:23\]\)", ""),
        "never_rescued": (r"wire late = .*;", "wire late = tiny;"),
        "as_if_late": (r"wire raised_early = .*;", "wire raised_early = raised[1];"),
    },
    "fdiv64_logic": {"by_zero": (r"wire divided = .*;", "wire divided = 0;")},
    "relations64_logic": {"zeros": (r"\(~a_normal & a_empty & \(~b_normal & b_empty\)\)", "1'b0")},
    "saturate32_64_logic": {"nan": (r" & ~nan", "")},
    "mul64": {"tile": (r"tile_1_1_1 <= .*;", "tile_1_1_1 <= 0;")},
}
# Dividers of other widths than those below differ in length only: the long run has them all.
LONG = {"udiv8", "srem8", "urem8", "sdiv16", "udiv16", "srem16", "urem16"}
LONG |= {"udiv64", "srem64", "urem64"}


@pytest.fixture(scope="module", name="output")
def streamed() -> str:
    """Vectors through units and mutants in one design."""
    subjects = [*(subject(u) for u in variants() if u.name not in LONG), *all_logic()]
    by_name = {s.shape.name: s for s in subjects}
    for name, changes in MUTANTS.items():
        subjects += [mutant(by_name[name], n, *change) for n, change in changes.items()]
    return stream(design(subjects), 150_000, optimise="-O0")


@pytest.fixture(scope="module", name="units")
def wrong(output) -> dict[str, int]:
    return counts(output)


@pytest.mark.long
def test_units_agree_with_the_host(units) -> None:
    originals = {u.name for u in variants()} - LONG
    assert originals < set(units)
    assert {n: c for n, c in units.items() if n in originals and c} == {}


@pytest.mark.long
def test_logic_without_registers_and_its_exceptions_agree_with_the_host(units) -> None:
    logic = {n: c for n, c in units.items() if re.search(r"_logic(_flags|_early)?$", n)}
    assert {"fdiv32_logic_early", "fmul64_logic_flags", "relations32_logic"} < set(logic)
    assert {n: c for n, c in logic.items() if c} == {}


@pytest.mark.long
def test_the_vectors_see_every_mutant(units) -> None:
    for name, changes in MUTANTS.items():
        for n in changes:
            wrong = [units.get(f"{name}_{n}{port}", 0) for port in ("", "_flags", "_early")]
            assert any(wrong), f"{name}: no vector sees {n}"


@pytest.mark.long
def test_functions_keep_their_promise(output) -> None:
    """Half a unit in the last place is rounding: what is less has not been measured at all."""
    off = worst(output)
    promised = {f"{name}{width}": off[f"{name}{width}"] for name in FUNCTIONS for width in (32, 64)}
    assert all(0.49 < units <= LIMIT for units in promised.values()), promised


def test_units_have_no_warnings(tmp_path) -> None:
    for known in variants():
        assert lint(tmp_path, sources(known.module), known.name) == ""


def test_icarus_computes_the_same(tmp_path) -> None:
    """A few numbers by hand, through another simulator."""
    known = unit("fadd", 32)
    pack = [(1.5, 2.25, 3.75), (1e38, 3e38, float("inf")), (1e-45, -1e-45, 0.0), (0.1, 0.2, 0.3)]

    def of(x: float) -> int:
        return struct.unpack("<I", struct.pack("<f", x))[0]

    vectors = [{"a": of(a), "b": of(b)} for a, b, _ in pack]
    expected = [{"q": of(q)} for *_, q in pack]
    texts = {
        **sources(known.module),
        "main.v": checker(known.module, vectors, expected, known.latency),
    }
    assert in_icarus(tmp_path, texts).splitlines()[0] == "end"


def test_what_there_is_is_listed() -> None:
    assert {u.name.rstrip("0123456789_") for u in variants()} == set(OPERATIONS)
    assert unit("fadd", 32) is unit("fadd", 32)
    assert isinstance(unit("fadd", 32).module, Module)
    for wrong in (("fma", 32, 0), ("fadd", 16, 0), ("fadd", 32, 64), ("sitofp", 32, 0)):
        with pytest.raises(ValueError, match=wrong[0]):
            unit(*wrong)
