"""The Verilog that captures: one small module bound into each module whose signals are wanted.

Signals are packed into 64-bit words, none split over two unless it is wider than a word. A word
that changes is reported; nothing else happens in a cycle.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cyclescope.errors import RunError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cyclescope.sim._design import CaptureModule

__all__ = ["Layout", "Place", "lay_out", "layout_text", "probe_verilog"]

WORD = 64
INSTANCE = "cyc_probe"


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a signal in its module's vector.

    Attributes:
        name: the signal's label.
        width: bits.
        word: index of the first word.
        shift: lowest bit in that word; 0 if the signal is wider than a word.
    """

    name: str
    width: int
    word: int
    shift: int


@dataclass(frozen=True, slots=True)
class Layout:
    """The packing of a module's signals."""

    module: str
    words: int
    places: tuple[Place, ...]


def lay_out(module: CaptureModule) -> Layout:
    """Packs a module's signals into words, in their order.

    Raises:
        RunError: no signals, a width below 1, or two signals with one name.
    """
    places: list[Place] = []
    words, free = 0, 0
    seen: set[str] = set()
    for signal in module.signals:
        if signal.width < 1:
            raise RunError(f"{module.module}: signal {signal.label} has {signal.width} bits")
        if signal.label in seen:
            raise RunError(f"{module.module}: signal {signal.label} is captured twice")
        seen.add(signal.label)
        if signal.width <= free:
            places.append(Place(signal.label, signal.width, words - 1, WORD - free))
            free -= signal.width
        else:
            places.append(Place(signal.label, signal.width, words, 0))
            count = -(-signal.width // WORD)
            words += count
            free = count * WORD - signal.width if count == 1 else 0
    if not places:
        raise RunError(f"{module.module}: nothing to capture")
    return Layout(module.module, words, tuple(places))


def layout_text(layouts: Sequence[Layout], wrapper: str) -> str:
    """The layouts as text for the recorder (first line) and the reader (the JSON after it).

    Args:
        layouts: of all captured modules, in order.
        wrapper: what to cut from the begin of instances' names.
    """
    modules = [
        {
            "module": x.module,
            "words": x.words,
            "signals": [[p.name, p.width, p.word, p.shift] for p in x.places],
        }
        for x in layouts
    ]
    return (
        " ".join(str(x.words) for x in layouts)
        + "\n"
        + json.dumps({"wrapper": wrapper, "modules": modules})
    )


def probe_verilog(modules: Sequence[CaptureModule], layouts: Sequence[Layout]) -> str:
    """Verilog of the probe modules and their `bind` directives."""
    # A misspelt signal must be an error, not a new net.
    return "\n".join(
        [
            "`default_nettype none",
            *(
                _probe_module(i, m, x)
                for i, (m, x) in enumerate(zip(modules, layouts, strict=True))
            ),
            "`default_nettype wire\n",
        ]
    )


def _probe_module(index: int, module: CaptureModule, layout: Layout) -> str:
    words: list[list[tuple[str, int]]] = [[] for _ in range(layout.words)]
    ports, connections = ["input wire clk"], [f".clk({module.clock})"]
    for i, (signal, place) in enumerate(zip(module.signals, layout.places, strict=True)):
        ports.append(f"input wire [{place.width - 1}:0] s{i}")
        connections.append(f".s{i}({place.width}'({signal.expression}))")
        if place.width <= WORD:
            words[place.word].append((f"s{i}", place.width))
            continue
        for part, low in enumerate(range(0, place.width, WORD)):
            high = min(low + WORD, place.width) - 1
            words[place.word + part].append((f"s{i}[{high}:{low}]", high - low + 1))
    name = f"cyc_probe_{index}"
    stores = "".join(
        f'    $c("cyc::words[", base, " + {w}] = {_packed(parts)}, ";");\n'
        for w, parts in enumerate(words)
    )
    return f"""\
module {name}({_lines(ports)});
  int unsigned base;
  string name;
  initial begin
    name = $sformatf("%m");
    base = $c32("cyc::instance(", name, ", {index})");
  end
  always @(posedge clk) begin
{stores}  end
endmodule
bind {module.module} {name} {INSTANCE}({_lines(connections)});
"""


def _lines(parts: Sequence[str]) -> str:
    """Parts of a list, each on a line: Verilator takes 40,000 tokens on one."""
    return ",\n  ".join(parts)


def _packed(parts: Sequence[tuple[str, int]]) -> str:
    """The rest of a `$c` whose C++ expression packs parts, lowest first, into a word.

    As (((c << 1) + b) << 1) + a, so that a signal costs two instructions. What Verilator gives to
    `$c` may have stray bits above its width; extended to 64 bits it has none.
    """
    (first, _), *rest = reversed(parts)
    text = "(" * len(rest) + f"\", 64'({first})"
    for part, width in rest:
        text += f', " << {width}) + ", 64\'({part})'
    return text
