"""The Verilog of a module: what is alive, in the order in which it was made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope.rtl._expr import const
from cyclescope.rtl._items import Instance, Memory, Register, Wire, needs_clock

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cyclescope.rtl._expr import Expr, Net
    from cyclescope.rtl._items import Item
    from cyclescope.rtl._module import Module

__all__ = ["module_text"]

LINE = 100

# What synthesis must not merge: most tools read this of the register, Yosys of what writes it.
_SEPARATE = "(* keep *) "


def module_text(module: Module) -> str:
    """The module as Verilog-2005.

    Raises:
        ValueError: a forward wire has no value.
    """
    alive, used = _alive(module)
    clocks = module.clocks()
    lines = [f"// {line}" for line in module.comment.splitlines()]
    ports = [f"  input wire {name}" for name in clocks]
    ports += [f"  {p.direction} wire {_range(p.width)}{p.name}" for p in module.ports()]
    lines.append(f"module {module.name} (")
    lines.append(",\n".join(ports))
    lines.append(");")
    lines += _body(module, alive)
    lines += [_wrapped(f"  assign {port.name} = {e.text};") for port, e in module.results]
    lines += _sink(module, alive, used, clocks)
    lines.append("endmodule\n")
    return "\n".join(lines)


def _alive(module: Module) -> tuple[set[Item], dict[Net, int]]:
    """The items that an output or a kept net depends on, and which bits of each net are read."""
    used: dict[Net, int] = {}
    alive: set[Item] = set()
    todo: list[Item] = []
    drivers = module.drivers

    def read(expr: Expr) -> None:
        for net, mask in expr.uses:
            seen = used.get(net)
            if seen is None:
                used[net] = mask
                reach(net)
            elif seen != -1:
                used[net] = seen | mask

    def reach(net: Net) -> None:
        item = drivers.get(net)
        if item is not None and item not in alive:
            alive.add(item)
            todo.append(item)

    for net in module.kept:
        reach(net)
    for _, expr in module.results:
        read(expr)
    while todo:
        for expr in todo.pop().reads():
            read(expr)
    return alive, used


def _body(module: Module, alive: set[Item]) -> Iterator[str]:
    block: list[str] = []
    separate: list[str] = []
    for item in module.items:
        if item not in alive:
            continue
        if isinstance(item, Wire):
            if item.value is None:
                raise ValueError(f"{item.net.name}: a wire of {module.name} without a value")
            head = f"  wire {_range(item.net.width)}{item.net.name}"
            if item.forward:
                yield f"{head};{_comment(item.note)}"
            else:
                yield _wrapped(f"{head} = {item.value.text};", item.note)
        elif isinstance(item, Register):
            kept = _SEPARATE if item.separate else ""
            yield f"  {kept}reg {_range(item.net.width)}{item.net.name};{_comment(item.note)}"
            (separate if item.separate else block).extend(_register(item))
        elif isinstance(item, Memory):
            if item.block:
                yield '  (* ram_style = "block", no_rw_check *)'
            yield (
                f"  reg {_range(item.width)}{item.name} [0:{item.depth - 1}];{_comment(item.note)}"
            )
            if item.words:
                yield "  initial begin"
                for n, word in enumerate(item.words):
                    yield f"    {item.name}[{n}] = {const(word, item.width).text};"
                yield "  end"
            if at := item.cleared:
                yield f"  integer {at};"
                yield f"  initial for ({at} = 0; {at} < {item.depth}; {at} = {at} + 1)"
                yield f"    {item.name}[{at}] = {const(0, item.width).text};"
        else:
            yield from _instance(item)
    for item in module.items:
        if isinstance(item, Wire) and item.forward and item in alive:
            assert item.value is not None
            yield _wrapped(f"  assign {item.net.name} = {item.value.text};", item.note)
    for kept, lines in (("", block), (_SEPARATE, separate)):
        if lines:
            yield f"  {kept}always @(posedge clk) begin"
            yield from lines
            yield "  end"
    for item in module.items:
        if isinstance(item, Memory) and item in alive:
            yield from _writes(item)


def _register(item: Register) -> Iterator[str]:
    name = item.net.name
    indent = "    "
    if item.reset is not None:
        yield f"    if (reset) {name} <= {item.reset.text};"
        if not item.updates:
            return
        if len(item.updates) > 1 or item.updates[0][0] is not None:
            yield "    else begin"
            indent = "      "
        else:
            indent = "    else "
    for when, value in item.updates:
        condition = "" if when is None else f"if ({when.text}) "
        yield _wrapped(f"{indent}{condition}{name} <= {value.text};")
    if indent == "      ":
        yield "    end"


def _writes(item: Memory) -> Iterator[str]:
    for address, data, enable, byte_enables in item.writes:
        yield "  always @(posedge clk) begin"
        target = f"{item.name}[{address.text}]"
        if byte_enables is None:
            yield _wrapped(f"    if ({enable.text}) {target} <= {data.text};")
        else:
            yield _wrapped(f"    if ({enable.text}) begin")
            for byte in range(item.width // 8):
                bits = f"{8 * byte + 7}:{8 * byte}"
                bit = byte_enables[byte].text
                yield f"      if ({bit}) {target}[{bits}] <= {data[8 * byte + 7 : 8 * byte].text};"
            yield "    end"
        yield "  end"


def _instance(item: Instance) -> Iterator[str]:
    for net in item.outputs.values():
        yield f"  wire {_range(net.width)}{net.name};"
    yield f"  {item.shape.name} {item.name} ({_comment(item.note)}"
    pins = [f"    .{name}({name})" for name in item.shape.clocks()]
    for port in item.shape.ports():
        value = (item.inputs if port.direction == "input" else item.outputs)[port.name]
        pins.append(f"    .{port.name}({value.text})")
    yield ",\n".join(pins)
    yield "  );"


def _sink(
    module: Module, alive: set[Item], used: dict[Net, int], clocks: Iterable[str]
) -> Iterator[str]:
    """Names the bits that nothing reads, as lint wants to be told of them."""
    nets = module.inputs()
    for net, item in module.drivers.items():
        if item in alive and not isinstance(item, Memory):
            nets.append(net)
    parts: list[str] = []
    for net in nets:
        full = (1 << net.width) - 1
        rest = full & ~used.get(net, 0)
        if rest == full:
            parts.append(net.text)
            continue
        while rest:
            high = rest.bit_length() - 1
            low = (~rest & (1 << high) - 1).bit_length()
            parts.append(net[high:low].text)
            rest &= (1 << low) - 1
    reading = any(needs_clock(i) for i in alive)
    below = {c for i in alive if isinstance(i, Instance) for c in i.shape.clocks()}
    resets = any(isinstance(i, Register) and i.reset is not None for i in alive)
    if "clk" in clocks and not reading and "clk" not in below:
        parts.append("clk")
    if "reset" in clocks and not resets and "reset" not in below:
        parts.append("reset")
    if parts:
        yield _wrapped(f"  wire unused_bits = &{{1'b0, {', '.join(parts)}}};")


def _range(width: int) -> str:
    return "" if width == 1 else f"[{width - 1}:0] "


def _comment(note: str) -> str:
    return f"  // {' '.join(note.split())}" if note else ""


def _wrapped(line: str, note: str = "") -> str:
    if len(line) <= LINE:
        return line + _comment(note) if note else line
    indent = line[: len(line) - len(line.lstrip())] + "    "
    pieces: list[str] = []
    start, free = 0, LINE
    while len(line) - start > free:
        # An expression may be broken at any space.
        cut = line.rfind(" ", start + 1, start + free)
        if cut <= start + len(indent):
            cut = line.find(" ", start + free)
            if cut < 0:
                break
        pieces.append(line[start:cut])
        start, free = cut + 1, LINE - len(indent)
    pieces.append(line[start:])
    return f"\n{indent}".join(pieces) + _comment(note)
