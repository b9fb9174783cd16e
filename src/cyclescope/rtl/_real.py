"""Real functions and constants to any number of bits, on integers that count units of 2^-bits.

The series are those of every calculus book; each result is a few units off at most, so whoever
wants a bound asks for some bits more than are needed.
"""

from __future__ import annotations

from functools import cache

__all__ = ["cosine", "exp2", "log1p_ratio", "log2_e", "logarithm_of_2", "sine_ratio", "tanh_ratio"]
__all__ += ["two_over_pi"]


@cache
def pi(bits: int) -> int:
    """Pi, by Machin's formula: 16 arctan(1/5) - 4 arctan(1/239)."""
    guard = 16
    one = 1 << bits + guard

    def arctan(inverse: int) -> int:
        power, total, n = one // inverse, 0, 0
        while power:
            total += (-1) ** n * (power // (2 * n + 1))
            power //= inverse * inverse
            n += 1
        return total

    return 16 * arctan(5) - 4 * arctan(239) >> guard


@cache
def logarithm_of_2(bits: int) -> int:
    """The natural logarithm of 2, as 2 artanh(1/3)."""
    guard = 16
    power, total, n = (1 << bits + guard) // 3, 0, 1
    while power:
        total += power // n
        power //= 9
        n += 2
    return 2 * total >> guard


@cache
def log2_e(bits: int) -> int:
    """The binary logarithm of e."""
    return (1 << 2 * bits + 32) // logarithm_of_2(bits + 32)


@cache
def two_over_pi(bits: int) -> int:
    """2 / pi: what Payne and Hanek's reduction multiplies by."""
    return (1 << 2 * bits + 33) // pi(bits + 32)


def exp2(x: int, bits: int) -> int:
    """2 to the power of x, of -1 … 1 or so."""
    y = x * logarithm_of_2(bits) >> bits
    term = total = 1 << bits
    n = 0
    while term not in (0, -1):
        n += 1
        term = (term * y >> bits) // n
        total += term
    return total


def log1p_ratio(t: int, bits: int) -> int:
    """log(1 + t) / t, for -1/2 … 1 or so: 2 artanh(s) / t where s = t / (2 + t)."""
    divisor = (2 << bits) + t
    s = (t << bits) // divisor
    square = s * s >> bits
    power, total, n = 1 << bits, 0, 1
    while power:
        total += power // n
        power = power * square >> bits
        n += 2
    return (2 * total << bits) // divisor


def sine_ratio(u: int, bits: int) -> int:
    """sin(pi u / 2) / u."""
    half = pi(bits) >> 1
    return half * _alternating(half * u >> bits, bits, 2) >> bits


def cosine(u: int, bits: int) -> int:
    """cos(pi u / 2)."""
    return _alternating((pi(bits) >> 1) * u >> bits, bits, 1)


def _alternating(x: int, bits: int, first: int) -> int:
    """1 - x² / (first (first + 1)) + …: the cosine if `first` is 1, sin(x) / x if it is 2."""
    square = x * x >> bits
    term = total = 1 << bits
    n = first
    while term:
        term = (term * square >> bits) // (n * (n + 1))
        total += term if (n - first) % 4 == 2 else -term
        n += 2
    return total


def tanh_ratio(x: int, bits: int) -> int:
    """tanh(x) / x, as sinh(x) / x over cosh(x), whose terms are all positive."""
    square = x * x >> bits
    odd = even = term_odd = term_even = 1 << bits
    n = 1
    while term_even:
        term_even = (term_even * square >> bits) // (n * (n + 1))
        term_odd = (term_odd * square >> bits) // ((n + 1) * (n + 2))
        even += term_even
        odd += term_odd
        n += 2
    return (odd << bits) // even
