"""Control sequences in hardware: loop counters, or a table of what does not fold."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

from cyclescope.network._sequence import Affine, Leaf, Loop, Node, fold, segments
from cyclescope.rtl import External, Module, cat, choose, const, mux

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from cyclescope.rtl import Expr, Net, Shape

__all__ = ["Sequencer", "sequencer"]

_MOST_LEAVES = 48
"""Places of a loop nest; a sequence that needs more is a table."""


@dataclass(frozen=True, eq=False, slots=True)
class Sequencer:
    """A module that shows one word after the other.

    Attributes:
        shape: has the input `step` and the outputs `word0` …; None if all words are the same.
        constants: of each field its value if it never changes, and there is no output.
        widths: bits of each field.
        places: leaves of its loop nest, 0 for a table.
        entries: of its table, 0 for a loop nest.
    """

    shape: Module | None
    constants: tuple[int | None, ...]
    widths: tuple[int, ...]
    places: int = 0
    entries: int = 0

    def build(self, m: Module, name: str, step: Expr) -> list[Expr]:
        """The words' fields in a module; `step` goes to the next word."""
        found: list[Expr] = []
        instance = m.instance(self.shape, name, {"step": step}) if self.shape is not None else None
        for number, (value, width) in enumerate(zip(self.constants, self.widths, strict=True)):
            if value is not None:
                found.append(const(value, width))
            else:
                assert instance is not None
                found.append(instance[f"word{number}"])
        return found


def sequencer(name: str, words: NDArray[np.int64], widths: Sequence[int]) -> Sequencer:
    """Build the hardware of a sequence.

    Args:
        name: of the module.
        words: shape (length, fields), the length at least 1.
        widths: bits of each field.
    """
    still = (words == words[:1]).all(axis=0).tolist()
    constants = tuple(
        int(words[0, number]) % (1 << width) if same else None
        for number, (same, width) in enumerate(zip(still, widths, strict=True))
    )
    moving = [number for number, same in enumerate(still) if not same]
    if not moving:
        return Sequencer(None, constants, tuple(widths))
    own = words[:, moving]
    sizes = [widths[number] for number in moving]
    nodes = fold(own)
    nest = _Nest(nodes)
    if len(nest.leaves) > _MOST_LEAVES:
        found = list(segments(own))
        table = _table(name, found, moving, sizes)
        return Sequencer(table, constants, tuple(widths), entries=len(found))
    counters = _counters(name, nest, moving, sizes)
    return Sequencer(counters, constants, tuple(widths), places=len(nest.leaves))


@dataclass(eq=False, slots=True)
class _Level:
    """A loop with its place among others: its depth, its first and last leaf."""

    loop: Loop
    depth: int
    first: int
    last: int
    most: int


@dataclass(eq=False)
class _Nest:
    """The leaves of a sequence in order, and its loops."""

    nodes: tuple[Node, ...]
    leaves: list[Leaf] = field(default_factory=list)
    levels: list[_Level] = field(default_factory=list)

    def __post_init__(self) -> None:
        for node in self.nodes:
            self._visit(node, ())

    def _visit(self, node: Node, around: tuple[int, ...]) -> None:
        if isinstance(node, Leaf):
            self.leaves.append(node)
            return
        terms = zip(node.trips.steps, around, strict=True)
        most = node.trips.base + sum(max(0, step * (trips - 1)) for step, trips in terms)
        level = _Level(node, len(around), len(self.leaves), 0, most)
        self.levels.append(level)
        for inner in node.body:
            self._visit(inner, (*around, most))
        level.last = len(self.leaves) - 1


def _counters(name: str, nest: _Nest, fields: list[int], widths: list[int]) -> Module:
    """A loop nest: a counter for each level, and the place in the nest."""
    m = Module(name, "The counters of a control sequence.")
    step = m.input("step", 1)
    count = len(nest.leaves)
    at = m.register("place", max(1, (count - 1).bit_length()), reset=0) if count > 1 else None
    depth = max((level.depth + 1 for level in nest.levels), default=0)
    most = [max(lv.most for lv in nest.levels if lv.depth == d) for d in range(depth)]
    counters = [m.register(f"counter{d}", n.bit_length(), reset=0) for d, n in enumerate(most)]
    more: dict[int, Net] = {}
    for number, level in enumerate(nest.levels):
        counter = counters[level.depth]
        bound = _affine(level.loop.trips, counters, counter.width)
        more[number] = m.wire(f"more{number}", (counter + 1).ne(bound))
    places: list[Expr] = []
    following: list[list[Expr]] = [[] for _ in counters]
    for leaf in range(count):
        ending = [n for n, level in enumerate(nest.levels) if level.last == leaf]
        ending.sort(key=lambda n: nest.levels[n].depth)  # the innermost is the last
        if at is not None:
            place: Expr = const((leaf + 1) % count, at.width)
            for n in ending:
                place = mux(more[n], const(nest.levels[n].first, at.width), place)
            places.append(place)
        new: list[Expr] = list(counters)
        over: Expr = const(1, 1)
        for n in reversed(ending):
            d = nest.levels[n].depth
            gone = mux(more[n], counters[d] + 1, 0)
            new[d] = mux(over, gone, counters[d])
            over = over & ~more[n] if over.value is None else ~more[n]
        for own, value in zip(following, new, strict=True):
            own.append(value)
    if at is not None:
        m.update(at, choose(at, places), step)
    for counter, values in zip(counters, following, strict=True):
        m.update(counter, _chosen(at, values), step)
    for column, (number, width) in enumerate(zip(fields, widths, strict=True)):
        values = [_affine(leaf.fields[column], counters, width) for leaf in nest.leaves]
        m.output(f"word{number}", _chosen(at, values))
    return m


def _chosen(at: Net | None, values: list[Expr]) -> Expr:
    return values[0] if at is None else choose(at, values)


def _affine(value: Affine, counters: Sequence[Expr], width: int) -> Expr:
    """The value of an affine number, modulo 2^width."""
    size = 1 << width
    total: Expr = const(value.base % size, width)
    for counter, step in zip(counters, value.steps, strict=False):
        if step % size:
            own = counter.zext(width) if counter.width <= width else counter.trunc(width)
            total = own * (step % size) + total if step % size != 1 else own + total
    return total


def _table(
    name: str,
    found: list[tuple[int, tuple[int, ...], tuple[int, ...]]],
    fields: list[int],
    widths: list[int],
) -> Module:
    """A table of segments: how many words each has, the first of them, and how they rise."""
    m = Module(name, "A control sequence that is no loop nest: a table of its segments.")
    step = m.input("step", 1)
    rising = [
        any(rise[column] % (1 << width) for _, _, rise in found)
        for column, width in enumerate(widths)
    ]
    lengths = max(length for length, _, _ in found).bit_length()
    bits = [lengths, *widths, *(w for w, rises in zip(widths, rising, strict=True) if rises)]
    rows = []
    for length, first, rise in found:
        rows.append([length, *first, *(r for r, rises in zip(rise, rising, strict=True) if rises)])
    address = max(1, (len(rows) - 1).bit_length())
    entry = m.register("entry", address, reset=0)
    words: Shape = _rom(f"{name}_rom", rows, bits, address)
    rom = m.instance(words, "rom", {"address": entry})["word"]
    edges = [sum(bits[n:]) for n in range(len(bits) + 1)]
    parts = [rom[high - 1 : low] for high, low in pairwise(edges)]
    within = m.register("within", lengths, reset=0)
    last = m.wire("last", (within + 1).eq(parts[0]))
    m.update(within, mux(last, 0, within + 1), step)
    m.update(entry, entry + 1, step & last)
    rises = iter(parts[1 + len(widths) :])
    for column, (number, width) in enumerate(zip(fields, widths, strict=True)):
        word = parts[1 + column]
        if rising[column]:
            risen = m.register(f"risen{number}", width, reset=0)
            m.update(risen, mux(last, 0, risen + next(rises)), step)
            word = word + risen
        m.output(f"word{number}", word)
    return m


def _rom(name: str, rows: list[list[int]], bits: list[int], address: int) -> External:
    width = sum(bits)
    lines = [
        f"module {name} (",
        f"  input wire [{address - 1}:0] address,",
        f"  output reg [{width - 1}:0] word",
        ");",
        "  always @* case (address)",
    ]
    for number, row in enumerate(rows):
        value = cat(*(const(v % (1 << w), w) for v, w in zip(row, bits, strict=True))).value
        lines.append(f"    {address}'d{number}: word = {width}'h{value:x};")
    lines += [f"    default: word = {width}'h0;", "  endcase", "endmodule", ""]
    return External(name, "\n".join(lines), (("address", address),), (("word", width),), ())
