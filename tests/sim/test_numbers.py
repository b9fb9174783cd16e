from __future__ import annotations

import struct
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cyclescope.errors import DataError
from cyclescope.sim._numbers import NumberFormat, parse_format


@st.composite
def fixed_formats(draw: st.DrawFn) -> NumberFormat:
    width = draw(st.integers(1, 100))
    return NumberFormat("fixed_point", draw(st.booleans()), width, draw(st.integers(0, width)))


@st.composite
def with_bits(
    draw: st.DrawFn, formats: st.SearchStrategy[NumberFormat]
) -> tuple[NumberFormat, int]:
    chosen = draw(formats)
    return chosen, draw(st.integers(0, 2**chosen.width - 1))


bitnums = st.builds(NumberFormat, st.just("bitnum"), st.booleans(), st.integers(1, 200))
floats = st.builds(
    NumberFormat, st.just("ieee754_float"), st.booleans(), st.sampled_from([16, 32, 64])
)


@given(with_bits(bitnums | fixed_formats()))
def test_what_is_decoded_encodes_to_the_same_bits(case: tuple[NumberFormat, int]) -> None:
    number_format, bits = case
    assert number_format.encode(number_format.decode(bits)) == bits


@given(with_bits(floats))
def test_floats_too_but_for_the_payload_of_nan(case: tuple[NumberFormat, int]) -> None:
    number_format, bits = case
    value = number_format.decode(bits)
    assert value == "NaN" or number_format.encode(value) == bits


@given(with_bits(bitnums))
def test_bitnums_are_what_python_makes_of_the_bytes(case: tuple[NumberFormat, int]) -> None:
    number_format, bits = case
    size = number_format.width // 8 + 1
    fill = (
        -1 << number_format.width if number_format.signed and bits >> number_format.width - 1 else 0
    )
    data = ((bits | fill) % 256**size).to_bytes(size, "big")
    assert number_format.decode(bits) == int.from_bytes(data, "big", signed=number_format.signed)


@given(with_bits(fixed_formats()))
def test_fixed_point_text_is_exact(case: tuple[NumberFormat, int]) -> None:
    number_format, bits = case
    value = bits
    if number_format.signed and bits >> number_format.width - 1:
        value -= 2**number_format.width
    assert Fraction(str(number_format.decode(bits))) == Fraction(value, 2**number_format.fraction)


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_a_single_is_printed_as_numpy_prints_it(value: float) -> None:
    single = NumberFormat("ieee754_float", True, 32)
    (bits,) = struct.unpack(">I", struct.pack(">f", value))
    assert np.float32(single.decode(bits)) == np.float32(value)
    assert float(str(np.float32(value))) == single.decode(bits)


@pytest.mark.parametrize(
    ("kind", "signed", "width", "fraction", "value", "bits"),
    [
        ("bitnum", False, 4, 0, 15, 0xF),
        ("bitnum", True, 4, 0, -8, 0x8),
        ("bitnum", True, 32, 0, "-1", 0xFFFFFFFF),
        ("bitnum", False, 100, 0, 2**99, 2**99),
        ("fixed_point", True, 4, 2, -1.25, 0b1011),
        ("fixed_point", False, 4, 2, "1.25", 0b0101),
        ("fixed_point", True, 8, 4, Fraction(-1, 16), 0xFF),
        ("fixed_point", False, 8, 4, Decimal("0.1"), 0x02),
        ("ieee754_float", True, 16, 0, 1.5, 0x3E00),
        ("ieee754_float", True, 32, 0, Decimal("15.1239"), 0x4171FB7F),
        ("ieee754_float", True, 64, 0, -2, 0xC000000000000000),
        ("ieee754_float", True, 32, 0, "-Infinity", 0xFF800000),
    ],
)
def test_bits_of_known_numbers(kind, signed, width, fraction, value, bits) -> None:
    assert NumberFormat(kind, signed, width, fraction).encode(value) == bits


@pytest.mark.parametrize(
    ("bits", "text"),
    [(0, "0"), (16, "1"), (20, "1.25"), (255 - 19, "-1.25"), (1, "0.0625"), (128, "-8")],
)
def test_fixed_point_is_written_as_calyx_does(bits: int, text: str) -> None:
    assert NumberFormat("fixed_point", True, 8, 4).decode(bits) == text
    tiny = NumberFormat("fixed_point", False, 32, 31)
    assert tiny.decode(1) == "4.656612873077392578125E-10"


@pytest.mark.parametrize(
    ("kind", "value", "says"),
    [
        ("bitnum", 256, "256 is out of range: 8-bit unsigned bitnum has 0 to 255"),
        ("bitnum", -1, "out of range"),
        ("bitnum", 1.0, "1.0 is not a whole number"),
        ("bitnum", True, "True is not a whole number"),
        ("bitnum", None, "missing is not a whole number"),
        ("bitnum", "x", "'x' is not a whole number"),
        ("fixed_point", "16", "unsigned fixed point 4.4 has 0 to 15.9375"),
        ("fixed_point", "1e999999999", "exponent is too large"),
        ("fixed_point", float("nan"), "nan is not a number"),
        ("fixed_point", "1.2.3", "not a number"),
        ("fixed_point", False, "not a number"),
    ],
)
def test_a_wrong_number_is_refused(kind: str, value: object, says: str) -> None:
    with pytest.raises(DataError, match=says.replace("(", r"\(")):
        NumberFormat(kind, False, 8, 4 if kind == "fixed_point" else 0).encode(value)


@pytest.mark.parametrize("value", ["1e400", 10**400, 1e39, Decimal("1e39"), [], "one", True])
def test_a_wrong_float_is_refused(value: object) -> None:
    with pytest.raises(DataError, match=r"too large|not a number"):
        NumberFormat("ieee754_float", True, 32).encode(value)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"numeric_type": "float"}, "numeric_type is 'float'"),
        ({"numeric_type": None}, "numeric_type is missing"),
        ({"numeric_type": ["bitnum"]}, "numeric_type is"),
        ({"numeric_type": {"bitnum": 1}}, "numeric_type is"),
        ({"is_signed": 1}, "is_signed is 1"),
        ({"width": 0}, "at least 1"),
        ({"width": "8"}, "width is '8'"),
        ({"width": 10**20}, "at most 1048576 bits"),
        ({"width": None}, "width is missing"),
        ({"numeric_type": "ieee754_float"}, "16, 32 or 64"),
        ({"numeric_type": "fixed_point"}, "two of"),
        ({"numeric_type": "fixed_point", "int_width": 9}, "do not add up"),
        ({"numeric_type": "fixed_point", "int_width": 4, "frac_width": 3}, "do not add up"),
    ],
)
def test_a_wrong_format_is_refused(change: dict[str, object], says: str) -> None:
    with pytest.raises(DataError, match=says):
        parse_format({"numeric_type": "bitnum", "is_signed": False, "width": 8, **change})
    with pytest.raises(DataError, match="must be an object"):
        parse_format("bitnum")


@pytest.mark.parametrize(
    "sizes",
    [
        {"width": 8, "frac_width": 3},
        {"width": 8, "int_width": 5},
        {"int_width": 5, "frac_width": 3},
        {"width": 8, "int_width": 5, "frac_width": 3},
    ],
)
def test_any_two_sizes_make_a_fixed_point_format(sizes: dict[str, int]) -> None:
    read = parse_format({"numeric_type": "fixed_point", "is_signed": True, **sizes})
    assert read == NumberFormat("fixed_point", True, 8, 3)
