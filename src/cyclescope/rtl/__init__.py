"""Hardware by small means: a netlist layer that prints Verilog, and arithmetic units.

m = Module("mac")
a, b = m.input("a", 16), m.input("b", 16)
product = m.wire("product", a.zext(32) * b.zext(32), note="mac.c:3")
total = m.register("total", 32, reset=0)
m.update(total, total + product, when=m.input("valid", 1))
m.output("sum", total)
sources(m)  # {"mac.v": "module mac ( …"}
"""

from cyclescope.rtl._expr import Expr, Net, cat, choose, const, mux
from cyclescope.rtl._items import External, Instance, Memory, Port, Shape
from cyclescope.rtl._module import Module, origins, sources
from cyclescope.rtl._origin import Origin
from cyclescope.rtl._stalling import flat, held
from cyclescope.rtl._units import OPERATIONS, Operation, Unit, compute, logic, unit, variants

__all__ = [
    "OPERATIONS",
    "Expr",
    "External",
    "Instance",
    "Memory",
    "Module",
    "Net",
    "Operation",
    "Origin",
    "Port",
    "Shape",
    "Unit",
    "cat",
    "choose",
    "compute",
    "const",
    "flat",
    "held",
    "logic",
    "mux",
    "origins",
    "sources",
    "unit",
    "variants",
]
