"""Numbers of Calyx data files and the bits that stand for them.

A format is the `format` object of Calyx's data JSON: `numeric_type` is `bitnum`, `fixed_point` or
`ieee754_float`; `is_signed`; `width`; a fixed-point format has two of `width`, `int_width` and
`frac_width`. Integers and fixed-point numbers are in two's complement if signed; floats are IEEE
754-2019 binary16, binary32 or binary64.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

from cyclescope._files import parse_number
from cyclescope.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Number", "NumberFormat", "parse_format"]

Number = int | float | str | Decimal | Fraction
"""What data may hold; files hold the first three."""

MAX_BITS = 1 << 20
FLOAT_CODES = {16: "e", 32: "f", 64: "d"}
NOT_FINITE = {"nan": math.nan, "infinity": math.inf, "inf": math.inf}


@dataclass(frozen=True, slots=True)
class NumberFormat:
    """The interpretation of the bits of a word.

    Attributes:
        kind: `bitnum`, `fixed_point` or `ieee754_float`.
        signed: two's complement; of no meaning for floats.
        width: bits of a word.
        fraction: bits after the binary point; 0 but for fixed point.
    """

    kind: str
    signed: bool
    width: int
    fraction: int = 0

    def encode(self, value: object) -> int:
        """The bits of a number.

        A fixed-point number that the format has no bits for is rounded to the nearest one that it
        has, ties to even, as Calyx's tools do; so is a float.

        Raises:
            DataError: the value is no number of this kind or out of range; without a place.
        """
        if self.kind == "ieee754_float":
            return self._encode_float(value)
        if self.kind == "fixed_point":
            scaled = round(_fraction(value) * 2**self.fraction)
        else:
            scaled = _integer(value)
        low = -(1 << (self.width - 1)) if self.signed else 0
        high = low + (1 << self.width) - 1
        if not low <= scaled <= high:
            raise DataError(
                f"{value} is out of range: {self} has {self._text(low)} to {self._text(high)}"
            )
        bits: int = scaled & ((1 << self.width) - 1)
        return bits

    def decode(self, bits: int) -> int | float | str:
        """The number that some bits stand for.

        Args:
            bits: the word, 0 ≤ bits < 2**width.

        Returns:
            An int, a fixed-point number's exact decimal text, or a float (the text `NaN`,
            `Infinity` or `-Infinity` for what JSON has no number for).
        """
        if self.kind == "ieee754_float":
            return self._decode_float(bits)
        negative = self.signed and bits >> (self.width - 1)
        value = bits - (1 << self.width) if negative else bits
        return self._text(value) if self.kind == "fixed_point" else value

    def __str__(self) -> str:
        sign = "signed" if self.signed else "unsigned"
        if self.kind == "fixed_point":
            return f"{sign} fixed point {self.width - self.fraction}.{self.fraction}"
        return f"{self.width}-bit {sign} bitnum" if self.kind == "bitnum" else f"float{self.width}"

    def _text(self, scaled: int) -> str:
        if not self.fraction:
            return str(scaled)
        # n / 2**f is exactly n * 5**f / 10**f.
        digits = str(abs(scaled) * 5**self.fraction).rjust(self.fraction + 1, "0")
        text = f"{digits[: -self.fraction]}.{digits[-self.fraction :].rstrip('0')}"
        # Written as Calyx's tools do: 1, -1.25, 4.656612873077392578125E-10.
        return str(Decimal(("-" if scaled < 0 else "") + text.rstrip(".")))

    def _encode_float(self, value: object) -> int:
        number = _float(value)
        try:
            packed = struct.pack(">" + FLOAT_CODES[self.width], number)
        except OverflowError:
            raise DataError(f"{value} is out of range: too large for {self}") from None
        return int.from_bytes(packed, "big")

    def _decode_float(self, bits: int) -> float | str:
        packed = bits.to_bytes(self.width // 8, "big")
        number: float = struct.unpack(">" + FLOAT_CODES[self.width], packed)[0]
        if math.isnan(number):
            return "NaN"
        if math.isinf(number):
            return "Infinity" if number > 0 else "-Infinity"
        if self.width == 64:
            return number
        # The shortest decimal that reads back as the same bits, not the double's long one.
        for digits in range(1, 10):
            short = float(f"{number:.{digits}g}")
            if self._packs_to(short, packed):
                return short
        return number

    def _packs_to(self, number: float, packed: bytes) -> bool:
        try:
            return struct.pack(">" + FLOAT_CODES[self.width], number) == packed
        except OverflowError:
            return False


def parse_format(value: object) -> NumberFormat:
    """Reads a format object.

    Raises:
        DataError: a key is missing, ill-typed or contradicts another; without a place.
    """
    if not isinstance(value, dict):
        raise DataError("`format` must be an object with numeric_type, is_signed and width")
    kind = value.get("numeric_type")
    if kind not in ("bitnum", "fixed_point", "ieee754_float"):
        raise DataError(
            f"numeric_type is {_shown(kind)}; it must be bitnum, fixed_point or ieee754_float"
        )
    signed = value.get("is_signed")
    if not isinstance(signed, bool):
        raise DataError(f"is_signed is {_shown(signed)}; it must be true or false")
    width, fraction = _size(value, "width"), 0
    if kind == "fixed_point":
        whole, part = _size(value, "int_width"), _size(value, "frac_width")
        if sum(x is not None for x in (width, whole, part)) < 2:
            raise DataError("fixed_point needs two of width, int_width and frac_width")
        width = width if width is not None else (whole or 0) + (part or 0)
        fraction = part if part is not None else width - (whole or 0)
        if fraction < 0 or fraction > width or (whole is not None and whole + fraction != width):
            raise DataError("width, int_width and frac_width of fixed_point do not add up")
    if width is None or width < 1:
        raise DataError(f"width is {_shown(width)}; it must be at least 1")
    if kind == "ieee754_float" and width not in FLOAT_CODES:
        raise DataError(f"width is {width}; an ieee754_float has 16, 32 or 64")
    return NumberFormat(str(kind), signed, width, fraction)


def _size(value: Mapping[str, object], key: str) -> int | None:
    size = value.get(key)
    if size is None:
        return None
    if isinstance(size, bool) or not isinstance(size, int) or size < 0:
        raise DataError(f"{key} is {_shown(size)}; it must be a whole number")
    if size > MAX_BITS:
        raise DataError(f"{key} is {size}; at most {MAX_BITS} bits are possible")
    return size


def _shown(value: object) -> str:
    return "missing" if value is None else repr(value)


def _integer(value: object) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, str):
        try:
            return int(value, 0)
        except ValueError:
            pass
    raise DataError(f"{_shown(value)} is not a whole number")


def _fraction(value: object) -> Fraction:
    if isinstance(value, Fraction):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return Fraction(value)
    if isinstance(value, float | str | Decimal):
        # Of a float, the decimal that was written, not the binary that stands for it.
        try:
            return parse_number(repr(value) if isinstance(value, float) else str(value))
        except OverflowError as error:
            raise DataError(f"{value} is out of range: {error}") from None
        except ValueError:
            pass
    raise DataError(f"{_shown(value)} is not a number")


def _float(value: object) -> float:
    if isinstance(value, str):
        sign = -1.0 if value.startswith("-") else 1.0
        special = NOT_FINITE.get(value.lstrip("+-").lower())
        if special is not None:
            return sign * special
    try:
        if isinstance(value, int | float | str | Decimal | Fraction) and not isinstance(
            value, bool
        ):
            number = float(value)
            if math.isinf(number) and not isinstance(value, float):
                raise DataError(f"{value} is out of range: too large for a float")
            return number
    except OverflowError:
        raise DataError(f"{value} is out of range: too large for a float") from None
    except ValueError:
        pass
    raise DataError(f"{_shown(value)} is not a number")
