"""The parts of modules: ports, wires, registers, memories, instances."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol

from cyclescope.rtl._expr import Expr, Net, const

if TYPE_CHECKING:
    from cyclescope.rtl._module import Module

__all__ = [
    "External",
    "Instance",
    "Item",
    "Memory",
    "Port",
    "Register",
    "Shape",
    "Wire",
    "check_width",
    "condition",
    "needs_clock",
]


@dataclass(frozen=True, slots=True)
class Port:
    """A port, `clk` and `reset` aside."""

    name: str
    width: int
    direction: Literal["input", "output"]


class Shape(Protocol):
    """A module that can be instantiated."""

    @property
    def name(self) -> str:
        """Its name."""

    def ports(self) -> tuple[Port, ...]:
        """Its ports without `clk` and `reset`."""

    def clocks(self) -> tuple[str, ...]:
        """Those of `clk` and `reset` that it has."""

    def children(self) -> tuple[Shape, ...]:
        """The modules of its instances."""

    def verilog(self) -> str:
        """Its text."""


@dataclass(frozen=True, slots=True)
class External:
    """A module whose Verilog was written otherwise."""

    name: str
    text: str
    inputs: tuple[tuple[str, int], ...]
    outputs: tuple[tuple[str, int], ...]
    clock_names: tuple[str, ...] = ("clk",)

    def ports(self) -> tuple[Port, ...]:
        """Its ports without `clk` and `reset`."""
        return (
            *(Port(name, width, "input") for name, width in self.inputs),
            *(Port(name, width, "output") for name, width in self.outputs),
        )

    def clocks(self) -> tuple[str, ...]:
        """Those of `clk` and `reset` that it has."""
        return self.clock_names

    def children(self) -> tuple[Shape, ...]:
        """None."""
        return ()

    def verilog(self) -> str:
        """Its text."""
        return self.text


@dataclass(eq=False, slots=True)
class Wire:
    """A net and what drives it; `value` is None until a forward wire is assigned."""

    net: Net
    value: Expr | None
    note: str
    forward: bool = False

    def reads(self) -> list[Expr]:
        """The expressions that it depends on."""
        return [self.value] if self.value is not None else []


@dataclass(eq=False, slots=True)
class Register:
    """A register: (condition, value) in order, the last that holds wins; then reset.

    Attributes:
        separate: synthesis is not to merge it with another that always has the same value.
    """

    net: Net
    reset: Expr | None
    note: str
    separate: bool = False
    updates: list[tuple[Expr | None, Expr]] = field(default_factory=list)

    def reads(self) -> list[Expr]:
        """The expressions that it depends on."""
        return [e for update in self.updates for e in update if e is not None]


@dataclass(eq=False, slots=True)
class Memory:
    """Words of memory; made by `Module.memory`.

    A read sees what was there before the writes of its cycle, unless the memory is a block: then
    nothing may depend on it. Addresses beyond the depth read anything and write nothing.

    Attributes:
        block: synthesis is to use block RAM. It has at most two ports for reads and writes, or one
            for writes and any number for reads, each a copy of the memory.
        words: its contents at the start; empty if they are not known.
        cleared: all its words are zero at the start; the name of the variable that counts them.
    """

    module: Module
    name: str
    width: int
    depth: int
    note: str
    block: bool = False
    words: tuple[int, ...] = ()
    cleared: str = ""
    writes: list[tuple[Expr, Expr, Expr, Expr | None]] = field(default_factory=list)

    @property
    def address_width(self) -> int:
        """Bits of an address."""
        return max(1, (self.depth - 1).bit_length())

    def write(
        self, address: Expr, data: Expr, enable: Expr, byte_enables: Expr | None = None
    ) -> None:
        """Adds a write port.

        Args:
            address: `address_width` bits.
            data: `width` bits.
            enable: one bit.
            byte_enables: one bit a byte, bit 0 for the low one; all bytes if absent.

        Raises:
            ValueError: a width is wrong.
        """
        check_width(address, self.address_width, f"address of {self.name}")
        check_width(data, self.width, f"data of {self.name}")
        check_width(enable, 1, f"enable of {self.name}")
        if byte_enables is not None:
            if self.width % 8:
                raise ValueError(f"{self.name}: byte enables, but {self.width} bits a word")
            check_width(byte_enables, self.width // 8, f"byte enables of {self.name}")
            # Each bit is used by name.
            byte_enables = self.module.named(byte_enables, f"{self.name}_bytes")
            data = self.module.named(data, f"{self.name}_data")
        self.writes.append((address, data, enable, byte_enables))

    def read(
        self, address: Expr, enable: Expr | None = None, *, name: str = "", note: str = ""
    ) -> Net:
        """Adds a synchronous read port: the word is there in the next cycle.

        Args:
            address: `address_width` bits.
            enable: keeps the output if 0; always reading if absent.
            name: of the register that the word arrives in.
            note: the place in the source.
        """
        check_width(address, self.address_width, f"address of {self.name}")
        m = self.module
        item = Register(m._net(name or f"{self.name}_out", self.width), None, m._noted(note))
        item.updates.append((condition(enable), self._word(address)))
        return m._add(item.net, item)

    def at(self, address: Expr) -> Expr:
        """The word at an address in the same cycle: for small memories, in look-up tables."""
        check_width(address, self.address_width, f"address of {self.name}")
        return self._word(address)

    def _word(self, address: Expr) -> Expr:
        if self.words and address.value is not None and not self.writes:
            return const(self.words[min(address.value, self.depth - 1)], self.width)
        # The memory is alive if its words are used: its name is a net to that end.
        uses = (*address.uses, (self.module._memory_nets[self], -1))
        text = f"{self.name}[{address.text}]"
        return Expr(self.width, text, "atom", self.module, uses)

    def reads(self) -> list[Expr]:
        """The expressions that it depends on."""
        return [e for port in self.writes for e in port if e is not None]


@dataclass(eq=False, slots=True)
class Instance:
    """An instance; `instance["port"]` is the net at an output."""

    shape: Shape
    name: str
    note: str
    inputs: dict[str, Expr]
    outputs: dict[str, Net]

    def __getitem__(self, port: str) -> Net:
        return self.outputs[port]

    def reads(self) -> list[Expr]:
        """The expressions that it depends on."""
        return list(self.inputs.values())


Item = Wire | Register | Memory | Instance


def check_width(value: Expr, width: int, what: str) -> None:
    """Raises ValueError for a value that is not `width` bits wide."""
    if value.width != width:
        raise ValueError(f"{what}: {value.text} has {value.width} bits, {width} are needed")


def condition(when: Expr | None) -> Expr | None:
    """The condition, None if it always holds."""
    return None if when is not None and when.value == 1 else when


def needs_clock(item: Item) -> bool:
    """Return whether it has a clock edge of its own; a table that is only read has none."""
    return isinstance(item, Register) or (isinstance(item, Memory) and bool(item.writes))
