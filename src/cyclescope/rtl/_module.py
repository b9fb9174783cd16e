"""Modules: ports, wires, registers, memories and instances, printed as plain Verilog-2005."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from cyclescope.rtl._expr import Expr, Net, const
from cyclescope.rtl._items import (
    Instance,
    Memory,
    Port,
    Register,
    Wire,
    check_width,
    condition,
    needs_clock,
)
from cyclescope.rtl._names import Names, legal

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from cyclescope.rtl._items import Item, Shape
    from cyclescope.rtl._origin import Origin

__all__ = ["Module", "origins", "sources"]


class Module:
    """A Verilog module under construction.

        m = Module("mac")
        a, b = m.input("a", 16), m.input("b", 16)
        product = m.wire("product", a.zext(32) * b.zext(32), note="mac.c:3")
        total = m.register("total", 32, reset=0)
        m.update(total, total + product, when=m.input("valid", 1))
        m.output("sum", total)
        print(m.verilog())

    Names of nets are made legal and unique; names of ports must be so. Ports `clk` and `reset`
    (synchronous, active high) are there if something needs them, here or in an instance. What no
    output, and no net with `keep`, depends on is not printed. The text has no warnings under
    `verilator --lint-only -Wall`, one module a file.

    Attributes:
        name: of the module.
        comment: what it is, for its first line.
        origins: of its nets, memories and instances by name, as far as `part_of` told them, or the
            argument `origin`.
    """

    def __init__(self, name: str, comment: str = "", *, origin: Origin | None = None) -> None:
        if legal(name) != name:
            raise ValueError(f"{name}: not a name for a module")
        self.name = name
        self.comment = comment
        self.items: list[Item] = []
        self.drivers: dict[Net, Item] = {}
        self.kept: list[Net] = []
        self.origins: dict[str, Origin] = {}
        self.results: list[tuple[Port, Expr]] = []
        self._inputs: list[tuple[Port, Net]] = []
        self._order: list[Port] = []
        self._names = Names()
        for reserved in ("clk", "reset", "unused_bits"):
            self._names.take(reserved)
        self._memory_nets: dict[Memory, Net] = {}
        self._note = ""
        self._origin = origin

    # Ports

    def input(self, name: str, width: int) -> Net:
        """An input.

        Raises:
            ValueError: the name is taken or not legal.
        """
        port = Port(self._names.take_exactly(name), width, "input")
        net = Net(self, name, width)
        self._inputs.append((port, net))
        self._order.append(port)
        return net

    def output(self, name: str, value: Expr) -> None:
        """An output with its value.

        Raises:
            ValueError: the name is taken or not legal.
        """
        self._own(value)
        port = Port(self._names.take_exactly(name), value.width, "output")
        self.results.append((port, value))
        self._order.append(port)

    # Nets

    @contextmanager
    def source(self, note: str) -> Iterator[None]:
        """Notes everything made within as coming from this place, as in `kernel.c:12`."""
        before, self._note = self._note, note
        try:
            yield
        finally:
            self._note = before

    @contextmanager
    def part_of(self, origin: Origin | None) -> Iterator[None]:
        """Has everything made within come from there; in the text it makes no difference."""
        before, self._origin = self._origin, origin
        try:
            yield
        finally:
            self._origin = before

    def wire(
        self, name: str, value: Expr | int, width: int = 0, *, note: str = "", keep: bool = False
    ) -> Net:
        """A named net with a value; `width` is needed for an integer only.

        Args:
            name: what to call it, changed where it is not legal or taken.
            value: what it has.
            width: checked against the value's if given.
            note: the place in the source; that of `source()` if empty.
            keep: print it although nothing needs it.

        Raises:
            ValueError: the widths differ.
        """
        value = self._value(value, width)
        item = Wire(self._net(name, value.width), value, self._noted(note))
        return self._add(item.net, item, keep)

    def named(self, value: Expr, name: str) -> Net:
        """The value itself if it is a net of this module, else a wire that has it."""
        if isinstance(value, Net):
            self._own(value)
            return value
        return self.wire(name, value)

    def forward_wire(self, name: str, width: int, *, note: str = "", keep: bool = False) -> Net:
        """A wire whose value is given later, once, by `assign`."""
        item = Wire(self._net(name, width), None, self._noted(note), forward=True)
        return self._add(item.net, item, keep)

    def assign(self, net: Net, value: Expr | int) -> None:
        """Gives a wire made by `forward_wire` its value.

        Raises:
            ValueError: it is no such wire, has a value, or the widths differ.
        """
        item = self.drivers.get(net)
        if not isinstance(item, Wire) or item.value is not None:
            raise ValueError(f"{net.name}: no wire that waits for a value")
        item.value = self._value(value, net.width)

    def register(
        self,
        name: str,
        width: int,
        *,
        reset: int | None = None,
        note: str = "",
        keep: bool = False,
        separate: bool = False,
    ) -> Net:
        """A register; `update` says what it becomes.

        Args:
            name: what to call it.
            width: its bits.
            reset: its value after a reset; not reset if absent.
            note: the place in the source.
            keep: print it although nothing needs it.
            separate: synthesis is not to merge it with another that always has the same value,
                which would then be far from some of those that read it.
        """
        start = None if reset is None else const(reset, width)
        item = Register(self._net(name, width), start, self._noted(note), separate)
        return self._add(item.net, item, keep)

    def update(self, register: Net, value: Expr | int, when: Expr | None = None) -> None:
        """Set what the register becomes at the clock edge if `when` is true; of many the last wins.

        Raises:
            ValueError: it is no register, or a width is wrong.
        """
        item = self.drivers.get(register)
        if not isinstance(item, Register):
            raise ValueError(f"{register.name}: not a register of module {self.name}")
        value = self._value(value, register.width)
        if when is not None:
            self._own(when)
            check_width(when, 1, f"condition for {register.name}")
            if when.value == 0:
                return
        item.updates.append((condition(when), value))

    def delay(
        self,
        value: Expr,
        name: str,
        cycles: int = 1,
        *,
        when: Expr | None = None,
        reset: int | None = None,
        note: str = "",
        separate: bool = False,
    ) -> Expr:
        """The value `cycles` later, through as many registers; itself for 0."""
        self._own(value)
        for _ in range(cycles):
            register = self.register(name, value.width, reset=reset, note=note, separate=separate)
            self.update(register, value, when)
            value = register
        return value

    def memory(
        self,
        name: str,
        width: int,
        depth: int,
        *,
        note: str = "",
        block: bool = False,
        words: Sequence[int] = (),
        cleared: bool = False,
    ) -> Memory:
        """A memory of `depth` words; its methods add ports.

        Args:
            name: what to call it.
            width: bits of a word.
            depth: its words.
            note: the place in the source.
            block: to be block RAM, whatever synthesis would choose; see `Memory`.
            words: its contents at the start, all of them, as a table has that nothing writes.
            cleared: they are zeros.

        Raises:
            ValueError: no bits or no words, or another number of words at the start.
        """
        if depth < 1:
            raise ValueError(f"{name}: {depth} words")
        if words and len(words) != depth:
            raise ValueError(f"{name}: {depth} words, {len(words)} at the start")
        taken = self._names.take(name)
        counter = self._names.take(f"{taken}_number") if cleared else ""
        item = Memory(self, taken, width, depth, self._noted(note), block, tuple(words), counter)
        net = Net(self, item.name, width)
        self._memory_nets[item] = net
        self._add(net, item)
        return item

    def instance(
        self, shape: Shape, name: str, inputs: Mapping[str, Expr], *, note: str = ""
    ) -> Instance:
        """An instance; `clk` and `reset` are connected by themselves.

        Args:
            shape: the module.
            name: of the instance; its outputs are called `<name>_<port>`.
            inputs: a value for each input port.
            note: the place in the source.

        Raises:
            ValueError: a port is missing or unknown, or a width is wrong.
        """
        ports = shape.ports()
        wanted = [p.name for p in ports if p.direction == "input"]
        if sorted(inputs) != sorted(wanted):
            raise ValueError(f"{shape.name} has the inputs {wanted}, given are {sorted(inputs)}")
        item = Instance(shape, self._names.take(name), self._noted(note), {}, {})
        for port in ports:
            if port.direction == "input":
                value = inputs[port.name]
                self._own(value)
                check_width(value, port.width, f"{port.name} of {item.name}")
                item.inputs[port.name] = value
            else:
                net = self._net(f"{item.name}_{port.name}", port.width)
                item.outputs[port.name] = net
                self.drivers[net] = item
                self._note_origin(net.name)
        self.items.append(item)
        self._note_origin(item.name)
        return item

    # As a shape

    def ports(self) -> tuple[Port, ...]:
        """Its ports without `clk` and `reset`, in the order in which they were made."""
        return tuple(self._order)

    def clocks(self) -> tuple[str, ...]:
        """Those of `clk` and `reset` that it has."""
        clocked = any(needs_clock(i) for i in self.items)
        resets = any(isinstance(i, Register) and i.reset is not None for i in self.items)
        below = {c for i in self.items if isinstance(i, Instance) for c in i.shape.clocks()}
        return (("clk",) if clocked or "clk" in below else ()) + (
            ("reset",) if resets or "reset" in below else ()
        )

    def children(self) -> tuple[Shape, ...]:
        """The modules of its instances, each once."""
        return tuple(dict.fromkeys(i.shape for i in self.items if isinstance(i, Instance)))

    def verilog(self) -> str:
        """Its text; the same for the same calls.

        Raises:
            ValueError: a forward wire has no value.
        """
        from cyclescope.rtl._verilog import module_text

        return module_text(self)

    # For the other modules of this package

    def inputs(self) -> list[Net]:
        """The nets of the input ports."""
        return [net for _, net in self._inputs]

    def _net(self, name: str, width: int) -> Net:
        return Net(self, self._names.take(name), width)

    def _noted(self, note: str) -> str:
        return note or self._note

    def _add(self, net: Net, item: Item, keep: bool = False) -> Net:
        self.items.append(item)
        self.drivers[net] = item
        self._note_origin(net.name)
        if keep:
            self.kept.append(net)
        return net

    def _note_origin(self, name: str) -> None:
        if self._origin is not None:
            self.origins[name] = self._origin

    def _own(self, value: Expr) -> None:
        if value._scope is not self and value._scope is not None:
            raise ValueError(
                f"{value.text} of module {value._scope.name}: used in module {self.name}"
            )

    def _value(self, value: Expr | int, width: int) -> Expr:
        if isinstance(value, int):
            return const(value, width)
        self._own(value)
        if width and value.width != width:
            raise ValueError(f"{value.text}: {value.width} bits, not {width}")
        return value


def sources(top: Shape) -> dict[str, str]:
    """File name → text of a module and all it instantiates, those that others need first.

    Raises:
        ValueError: two different modules have one name.
    """
    texts: dict[str, str] = {}
    known: dict[str, Shape] = {}

    def visit(shape: Shape) -> None:
        if shape.name in known:
            if known[shape.name] != shape:
                raise ValueError(f"{shape.name}: two modules of this name")
            return
        known[shape.name] = shape
        for child in shape.children():
            visit(child)
        texts[f"{shape.name}.v"] = shape.verilog()

    visit(top)
    return texts


def origins(top: Shape) -> dict[str, Origin]:
    """The origins of nets, memories and instances, as far as their modules were told.

    A name has a dot after each instance, below the top module. What is in an instance and has no
    origin of its own has the instance's.
    """
    found: dict[str, Origin] = {}

    def visit(shape: Shape, prefix: str) -> None:
        if isinstance(shape, Module):
            found.update({prefix + name: origin for name, origin in shape.origins.items()})
            for item in shape.items:
                if isinstance(item, Instance):
                    visit(item.shape, f"{prefix}{item.name}.")

    visit(top, "")
    return found
