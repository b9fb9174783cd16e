"""A small design, of which a route is recorded: a product and a sum, two lines of a program."""

from __future__ import annotations

from cyclescope.model import Part
from cyclescope.rtl import Module, Origin

__all__ = ["mac"]


def mac() -> Module:
    """Build the design: `total += x * y`, 200 times."""
    m = Module("mac", origin=Origin(Part.CONTROL))
    a, b = m.input("a", 32), m.input("b", 32)
    with m.part_of(Origin(Part.OPERATION, "mac.c", 3)):
        x, y = m.delay(a, "x"), m.delay(b, "y")
        product = m.delay(x * y, "product")
    with m.part_of(Origin(Part.OPERATION, "mac.c", 4)):
        total = m.register("total", 32, reset=0)
        added = m.wire("sum", total + product)
    count = m.register("count", 8, reset=0)
    m.update(count, count + 1, count.ne(200))
    m.update(total, added, count.ne(200))
    m.output("result", total)
    return m
