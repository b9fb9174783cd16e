"""Elementary functions against MPFR, and what their error is made of, in exact arithmetic."""

from __future__ import annotations

import ctypes
import ctypes.util
import math
import random
import struct
from fractions import Fraction

import pytest

from cyclescope.rtl import _elementary, _real, compute, flat, held, sources, unit
from cyclescope.rtl._format import float_format
from cyclescope.rtl._pieces import BITS
from rtl.benches import checker, in_verilator, lint
from rtl.fpu import FUNCTIONS, LIMIT

Function = "Callable[[int, int], int]"
ONE = 1 << BITS
BITS_OF = {32: ("<f", "<I"), 64: ("<d", "<Q")}


def number(bits: int, width: int) -> float:
    real, whole = BITS_OF[width]
    return struct.unpack(real, struct.pack(whole, bits))[0]


def bits(value: float, width: int) -> int:
    real, whole = BITS_OF[width]
    try:
        return struct.unpack(whole, struct.pack(real, value))[0]
    except OverflowError:
        return bits(math.copysign(math.inf, value), width)


def arguments(width: int, count: int) -> list[int]:
    """Corners, then what is hard for one of the functions."""
    r = random.Random(width)
    form = float_format(width)
    corners = [
        0.0,
        1.0,
        0.5,
        0.75,
        1.5,
        2.0,
        math.pi,
        math.pi / 2,
        math.e,
        88.7,
        709.7,
        745.1,
        9,
        20,
    ]
    found = [
        bits(s * math.nextafter(c, d), width) for c in corners for s in (1, -1) for d in (0, 99)
    ]
    tops = [1, (1 << form.fraction) - 1, 1 << form.fraction, (form.top << form.fraction) - 1]
    found += [t | s << width - 1 for t in tops for s in (0, 1)]
    found += [form.top << form.fraction, form.top << form.fraction | 1, (1 << width) - 1]
    found.append((2 * form.top + 1) << form.fraction)
    while len(found) < count:
        near = r.choice([(-45, 12), (-form.bias, form.bias), (-3, 6)])
        exponent = max(0, r.randint(*near) + form.bias)
        found.append(
            r.getrandbits(1) << width - 1 | exponent << form.fraction | r.getrandbits(form.fraction)
        )
        found.append(bits(r.getrandbits(r.randint(1, 60)) * (math.pi / 2), width))
    return found


class Mpfr:
    """The library GNU's compilers compute constants with, in as many bits as is asked for."""

    class Number(ctypes.Structure):
        _fields_ = (
            ("precision", ctypes.c_long),
            ("sign", ctypes.c_int),
            ("exponent", ctypes.c_long),
            ("limbs", ctypes.c_void_p),
        )

    def __init__(self, library: ctypes.CDLL) -> None:
        self.library = library
        self.x, self.y = self.Number(), self.Number()
        for n, precision in ((self.x, 64), (self.y, 200)):
            library.mpfr_init2(ctypes.byref(n), ctypes.c_long(precision))
        library.mpfr_get_z_2exp.restype = ctypes.c_long
        library.mpfr_set_d.argtypes = [ctypes.c_void_p, ctypes.c_double, ctypes.c_int]
        library.mpfr_get_d.restype = ctypes.c_double
        library.mpfr_get_str.restype = ctypes.c_char_p

    def __call__(self, function: str, x: float) -> Fraction | float:
        """The function's value to 200 bits; a float if it is zero, an infinity or no number."""
        lib = self.library
        lib.mpfr_set_d(ctypes.byref(self.x), x, 0)
        getattr(lib, f"mpfr_{function}")(ctypes.byref(self.y), ctypes.byref(self.x), 0)
        rough = lib.mpfr_get_d(ctypes.byref(self.y), 0)
        if not lib.mpfr_regular_p(ctypes.byref(self.y)):
            return rough
        exponent = ctypes.c_long()
        text = lib.mpfr_get_str(
            None, ctypes.byref(exponent), 16, ctypes.c_size_t(0), ctypes.byref(self.y), 0
        ).decode()
        sign = -1 if text.startswith("-") else 1
        digits = text.lstrip("-")
        # Far beyond either format one number too large, or too small, is as good as another.
        place = max(-999, min(exponent.value, 999))
        return sign * Fraction(int(digits, 16)) * Fraction(16) ** (place - len(digits))


@pytest.fixture(scope="module", name="mpfr")
def found_mpfr() -> Mpfr:
    name = ctypes.util.find_library("mpfr")
    if name is None:
        pytest.skip("MPFR is not installed; tests/rtl/test_units.py has the host's long double")
    return Mpfr(ctypes.CDLL(name))


def ulps(found: float, exact: Fraction, width: int) -> Fraction:
    """Units in the last place of the exact value between it and what was found."""
    form = float_format(width)
    size = abs(exact)
    place = size.numerator.bit_length() - size.denominator.bit_length()
    place -= Fraction(2) ** place > size
    place = max(place, 1 - form.bias) - form.fraction
    end = Fraction(2) ** (form.bias + 1)
    if size >= end:
        return Fraction(0 if math.isinf(found) else 1 << 60)
    value = math.copysign(1, found) * end if math.isinf(found) else Fraction(found)
    return abs(value - exact) / Fraction(2) ** place


@pytest.mark.parametrize("width", [32, 64])
@pytest.mark.parametrize("operation", sorted(FUNCTIONS))
def test_results_are_within_the_promise(mpfr, operation, width) -> None:
    most = Fraction(0)
    for x in arguments(width, 400):
        found = number(compute(operation, width, [x]), width)
        exact = mpfr(FUNCTIONS[operation], number(x, width))
        if isinstance(exact, float):
            assert (exact != exact and found != found) or (
                bits(exact, width) == bits(found, width)
            ), (number(x, width), found, exact)
            continue
        off = ulps(found, exact, width)
        assert off <= LIMIT, (number(x, width).hex(), found.hex(), float(off))
        most = max(most, off)
    assert most > 0.4


@pytest.mark.long(keep_one_in=4)
@pytest.mark.parametrize("width", [32, 64])
@pytest.mark.parametrize("operation", sorted(FUNCTIONS))
def test_what_is_computed_is_what_the_hardware_does(operation, width) -> None:
    known = unit(operation, width)
    vectors = [{"a": x} for x in arguments(width, 300)]
    expected = [{"q": compute(operation, width, [v["a"]])} for v in vectors]
    main = checker(known.module, vectors, expected, known.latency)
    assert in_verilator({**sources(known.module), "main.v": main}).splitlines()[0] == "end"


def _log(place: Fraction) -> tuple[Function, Fraction]:
    return _real.log1p_ratio, place if place < Fraction(1, 2) else (place - 1) / 2


def _quarter(place: Fraction) -> tuple[Function, Fraction]:
    return (
        (_real.sine_ratio, place)
        if place < Fraction(1, 2)
        else (_real.cosine, place - Fraction(1, 2))
    )


# Table → pieces for 1, and the function and its argument at a place counted in pieces by that.
TABLES = {
    "exp": (512, lambda place: (_real.exp2, place)),
    "log": (512, _log),
    "trigonometric": (512, _quarter),
    "tanh": (32, lambda place: (_real.tanh_ratio, place)),
}


@pytest.mark.parametrize("width", [32, 64])
@pytest.mark.parametrize("name", sorted(TABLES))
def test_polynomials_are_as_near_as_their_grid(name, width) -> None:
    """Between the nodes, in every ninth piece: little more than the coefficients' rounding."""
    pieces = getattr(_elementary, f"_{name}_pieces")(width)
    whole, meaning = TABLES[name]
    worst = Fraction(0)
    for i in range(0, len(pieces.coefficients), 9):
        for z in (Fraction(step, 32) for step in range(0, 32, 5)):
            value = sum(c * z**n for n, c in enumerate(pieces.coefficients[i]))
            function, x = meaning((i + z) / whole)
            exact = Fraction(function(int(x * ONE), BITS), ONE >> pieces.grid)
            worst = max(worst, abs(value - exact))
    assert Fraction(1, 4) < worst < Fraction(len(pieces.coefficients[0]), 2) + 1, float(worst)


@pytest.mark.parametrize("width", [32, 64])
def test_no_argument_is_nearer_to_a_multiple_of_a_quarter_turn(width) -> None:
    """The best fractions p / q of 2 / pi 2^e say how near q 2^e comes to a multiple of pi / 2.

    It is the classic bound (Muller, "Elementary Functions", section 9.3.2): convergents of the
    continued fraction, for every exponent of the format.
    """
    form = float_format(width)
    near = 1.0
    for exponent in range(-form.fraction, form.bias - form.fraction + 1):
        # 2 / pi 2^exponent, whose whole part is of no interest, as a fraction of integers
        length = 4 * form.fraction + exponent
        ratio = _real.two_over_pi(length + 40) % (1 << length + 40 - exponent)
        top, bottom = ratio, 1 << length + 40 - exponent
        numerator, denominator = (1, 0), (0, 1)
        while bottom:
            whole, rest = divmod(top, bottom)
            numerator = whole * numerator[0] + numerator[1], numerator[0]
            denominator = whole * denominator[0] + denominator[1], denominator[0]
            if denominator[0] >= 2 << form.fraction:
                break
            if numerator[0]:
                distance = abs(denominator[0] * ratio - (numerator[0] << length + 40 - exponent))
                near = min(near, distance / (1 << length + 40 - exponent))
            top, bottom = bottom, rest
    zeros = 64 if width == 64 else 32
    assert 2.0 ** (1 - zeros) < near < 2.0 ** (-zeros // 2)


def test_constants_are_known_to_every_bit() -> None:
    """Against decimals of handbooks (Abramowitz and Stegun, table 1.1)."""
    for value, text in (
        (_real.pi(120), "3.14159265358979323846264338327950288"),
        (_real.logarithm_of_2(120), "0.69314718055994530941723212145817656"),
        (_real.log2_e(120), "1.44269504088896340735992468100189213"),
        (_real.two_over_pi(120), "0.63661977236758134307553505349005744"),
    ):
        assert abs(Fraction(value, 1 << 120) - Fraction(text)) < Fraction(1, 10**33)


def test_functions_have_no_warnings_without_registers(tmp_path) -> None:
    for operation in FUNCTIONS:
        for made in (flat(operation, 32), held(operation, 32)):
            assert lint(tmp_path, sources(made.module), made.name) == ""
