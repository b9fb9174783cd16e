"""Names that Verilog-2005, SystemVerilog and the tools behind them all take."""

from __future__ import annotations

import re
from functools import cache

__all__ = ["KEYWORDS", "Names", "legal"]

# IEEE 1364-2005 (annex B) and IEEE 1800-2017 (annex B): what either reserves is taken in both.
_RESERVED = """
accept_on alias always always_comb always_ff always_latch and assert assign assume automatic
before begin bind bins binsof bit break buf bufif0 bufif1 byte case casex casez cell chandle
checker class clocking cmos config const constraint context continue cover covergroup
coverpoint cross deassign default defparam design disable dist do edge else end endcase
endchecker endclass endclocking endconfig endfunction endgenerate endgroup endinterface
endmodule endpackage endprimitive endprogram endproperty endsequence endspecify endtable
endtask enum event eventually expect export extends extern final first_match for force foreach
forever fork forkjoin function generate genvar global highz0 highz1 if iff ifnone ignore_bins
illegal_bins implements implies import incdir include initial inout input inside instance int
integer interconnect interface intersect join join_any join_none large let liblist library
local localparam logic longint macromodule matches medium modport module nand negedge nettype
new nexttime nmos nor noshowcancelled not notif0 notif1 null or output package packed
parameter pmos posedge primitive priority program property protected pull0 pull1 pulldown
pullup pulsestyle_ondetect pulsestyle_onevent pure rand randc randcase randsequence rcmos real
realtime ref reg reject_on release repeat restrict return rnmos rpmos rtran rtranif0 rtranif1
s_always s_eventually s_nexttime s_until s_until_with scalared sequence shortint shortreal
showcancelled signed small soft solve specify specparam static string strong strong0 strong1
struct super supply0 supply1 sync_accept_on sync_reject_on table tagged task this throughout
time timeprecision timeunit tran tranif0 tranif1 tri tri0 tri1 triand trior trireg type
typedef union unique unique0 unsigned until until_with untyped use uwire var vectored virtual
void wait wait_order wand weak weak0 weak1 while wildcard wire with within wor xnor xor
"""
KEYWORDS = frozenset(_RESERVED.split())
_FOREIGN = re.compile(r"[^A-Za-z0-9_]+")
_UNDERSCORES = re.compile(r"__+")


@cache
def legal(name: str) -> str:
    """The nearest name that is an identifier and no keyword.

    Two underscores in a row become one, as Verilator escapes them in the names it generates.
    """
    name = _UNDERSCORES.sub("_", _FOREIGN.sub("_", name))
    if not name or name == "_":
        return "n"
    if name[0].isdigit():
        name = f"n{name}"
    return f"{name}_" if name in KEYWORDS else name


class Names:
    """The names of one scope, each given once; the same requests give the same names."""

    __slots__ = ("_next", "_taken")

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._next: dict[str, int] = {}

    def take(self, wanted: str) -> str:
        """A free legal name: `wanted` if possible, else with a number."""
        base = legal(wanted)
        if base not in self._taken:
            self._taken.add(base)
            return base
        number = self._next.get(base, 2)
        stem = base if base.endswith("_") else f"{base}_"
        while (name := f"{stem}{number}") in self._taken:
            number += 1
        self._next[base] = number + 1
        self._taken.add(name)
        return name

    def take_exactly(self, name: str) -> str:
        """This very name.

        Raises:
            ValueError: it is not legal or taken.
        """
        if legal(name) != name or name in self._taken:
            raise ValueError(f"{name}: not a name that is legal and free here")
        self._taken.add(name)
        return name
