"""The data-flow form as text, for people: values by name, with types and places in the C text.

    region @dot threads(8) {  // dot.c:5:9
      memory @a : external, 4-byte words, to device  // dot.c:3:14
      scalar 0 n : i32
      …
      %i_2, %s_2 = loop @L7 carried(%i = %c0_i32, %s = %c0_i32) invariant(%1 = %n) {  // dot.c:7:3
        %2 = slt %i, %1 : i1  // dot.c:7:19
        …
        !1 %4 = load @a[%3] : i32 after(!2)  // dot.c:8:10
        …
        continue %2 with(%i = %5, %s = %6)
        order !1 before !2 of iteration +1
      }

`iN` is a bit vector of N bits; what an operation reads in it, integers or floats, its name says.
An effect that others wait for has a token, `!1`; `after` lists those of the same iteration, `order`
those of an earlier one.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from cyclescope.hls.ir._graph import Op, Value

if TYPE_CHECKING:
    from cyclescope.c import Range
    from cyclescope.hls.ir._graph import Array, Graph, Node, Region

__all__ = ["printed"]


def printed(region: Region) -> str:
    """A region's text, with a newline at its end."""
    return _Printer(region).text()


class _Printer:
    def __init__(self, region: Region) -> None:
        self._region = region
        self._lines: list[str] = []
        self._taken: set[str] = set()
        self._arrays: dict[Array, str] = {}
        self._values: dict[Value, str] = {}
        self._tokens: dict[Node, str] = {}
        self._numbers = 0

    def text(self) -> str:
        region = self._region
        self._line(0, f"region @{region.name} threads({region.threads}) {{", region.where)
        for array in region.arrays:
            name = self._arrays[array] = self._unique("@", array.name)
            size = "" if array.bytes is None else f", {array.bytes} bytes"
            ways = {"to": array.to_device, "from": array.from_device}
            copied = " and ".join(way for way, is_meant in ways.items() if is_meant)
            copied = f", {copied} device" if copied else ""
            zeroed = ", zero at first" if array.zeroed else ""
            what = f"{array.place}{size}, {array.word}-byte words{copied}{zeroed}"
            self._line(1, f"memory {name} : {what}", array.where)
        scalars = [f"{name} : i{width}" for name, width in region.scalars]
        for number, text in enumerate(scalars):
            self._line(1, f"scalar {number} {text}")
        for number, lock in enumerate(region.locks):
            self._line(1, f"lock {number} {lock}")
        for number, where in enumerate(region.barriers):
            self._line(1, f"barrier {number}", where)
        self._graph(region.root, 1)
        self._line(0, "}")
        return "\n".join(self._lines) + "\n"

    def _line(self, depth: int, text: str, where: Range | None = None) -> None:
        place = ""
        if where is not None:
            place = f"  // {Path(where.file).name}:{where.line}:{where.column}"
        self._lines.append(f"{'  ' * depth}{text}{place}")

    def _unique(self, mark: str, name: str) -> str:
        stem = re.sub(r"[^\w.]+", "_", name)
        if not stem:
            self._numbers += 1
            stem = str(self._numbers)
        shown, number = f"{mark}{stem}", 1
        while shown in self._taken:
            number += 1
            shown = f"{mark}{stem}_{number}"
        self._taken.add(shown)
        return shown

    def _define(self, node: Node) -> list[str]:
        name = node.name if node.op is not Op.LOOP else ""
        if node.op is Op.CONST:
            name = f"c{node.constant}_i{node.widths[0]}"
        elif node.op is Op.SCALAR and node.constant < len(self._region.scalars):
            name = self._region.scalars[node.constant][0]
        elif node.op in (Op.THREAD, Op.THREADS):
            name = node.op.value
        found = []
        for value in node.results:
            if node.body is not None and value.index < len(node.body.carried):
                name = node.body.carried[value.index].param.name
            found.append(self._values.setdefault(value, self._unique("%", name)))
        return found

    def _value(self, value: Value) -> str:
        return self._values.get(value) or f"<undefined {value.node.op}>"

    def _graph(self, graph: Graph, depth: int) -> None:
        waited = {n for node in graph.nodes for n in node.after}
        waited |= {n for order in graph.orders for n in (order.before, order.after)}
        for node in graph.nodes:
            if node in waited:
                self._tokens[node] = f"!{len(self._tokens) + 1}"
        for node in graph.nodes:
            if node.op is not Op.PARAM:
                self._node(node, depth)
        if graph.continues is not None:
            given = ", ".join(
                f"{self._value(c.param.result)} = {self._value(c.next)}" for c in graph.carried
            )
            self._line(depth, f"continue {self._value(graph.continues)} with({given})")
        for order in graph.orders:
            before, after = self._tokens[order.before], self._tokens[order.after]
            self._line(depth, f"order {before} before {after} of iteration +{order.distance}")

    def _node(self, node: Node, depth: int) -> None:
        token = f"{self._tokens[node]} " if node in self._tokens else ""
        operands = [self._value(v) for v in node.operands]
        text = self._operation(node, operands)
        if node.widths and node.body is None:
            text += f" : {', '.join(f'i{w}' for w in node.widths)}"
        if node.when is not None:
            text += f" if {self._value(node.when)}"
        if node.after:
            text += f" after({', '.join(self._tokens.get(n, '!?') for n in node.after)})"
        if node.body is None:
            results = ", ".join(self._define(node))
            self._line(depth, token + (f"{results} = {text}" if results else text), node.where)
            return
        body, count = node.body, len(node.body.carried)
        for param in (*(c.param for c in body.carried), *body.invariants):
            self._define(param)
        inner = [c.param for c in body.carried] + body.invariants
        pairs = [
            f"{self._value(p.result)} = {given}" for p, given in zip(inner, operands, strict=False)
        ]
        head = f" carried({', '.join(pairs[:count])})" if count else ""
        head += f" invariant({', '.join(pairs[count:])})" if pairs[count:] else ""
        results = ", ".join(self._define(node))
        start = f"{token}{results} = " if results else token
        rest = text.removeprefix("loop")
        self._line(depth, f"{start}loop @{body.label}{head}{rest} {{", node.where)
        self._graph(body, depth + 1)
        self._line(depth, "}")

    def _operation(self, node: Node, operands: list[str]) -> str:
        array = self._arrays.get(node.array, "@?") if node.array is not None else ""
        match node.op:
            case Op.CONST:
                return f"const {node.constant}"
            case Op.SCALAR:
                return f"scalar {node.constant}"
            case Op.LOOP:
                return "loop"
            case Op.LOAD:
                return f"load {array}[{operands[0]}]"
            case Op.STORE:
                return f"store {array}[{operands[0]}], {operands[1]} : i{node.operands[1].width}"
            case Op.COPY if node.source is not None:
                to, start, size = operands
                source = self._arrays.get(node.source, "@?")
                return f"copy {array}[{to}] from {source}[{start}], {size} bytes"
            case Op.ACQUIRE | Op.RELEASE | Op.BARRIER:
                return f"{node.op} {node.constant} {', '.join(operands)}".rstrip()
            case Op.EXTRACT:
                return f"extract {operands[0]} from bit {node.constant}"
        return f"{node.op} {', '.join(operands)}".rstrip()
