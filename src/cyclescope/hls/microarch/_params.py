"""Constants of the machine: its external memory, as the host, the bench and the threads see it."""

from __future__ import annotations

__all__ = [
    "ADDRESS",
    "BANKS",
    "BANK_BITS",
    "FOLD",
    "LINE",
    "LINE_BITS",
    "OFFSET",
    "TAGS",
    "bank_of",
]

BANKS = 4

BANK_BITS = 2
"""Bits of a bank's number."""

LINE = 64
"""Bytes that a bank reads or writes at once."""

LINE_BITS = 8 * LINE

OFFSET = 6
"""Bits of a byte's place in its line."""

ADDRESS = 32
"""Bits of a byte address."""

TAGS = 32
"""Reads that may be under way in a bank."""

FOLD = 5
"""Groups of bits of a line's number that choose its bank."""


def bank_of(line: int) -> int:
    """The bank of a line: its number's lowest pairs of bits, exclusive-ored.

    Strides of powers of two thus use all banks, up to 16 KiB. More pairs would be a level of logic
    more, in the longest path: from an address to the arbiters.
    """
    bank = 0
    for pair in range(FOLD):
        bank ^= line >> BANK_BITS * pair & BANKS - 1
    return bank
