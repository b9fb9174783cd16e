"""Values, places and operands: what lowering an expression hands around."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import IntEnum
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

from cyclescope.bounds._function import Given

if TYPE_CHECKING:
    from collections.abc import Hashable

    from cyclescope.bounds._function import Node
    from cyclescope.bounds._network import Record, Storage
    from cyclescope.c import CType, Scalar

__all__ = [
    "Binding",
    "Form",
    "Layout",
    "Operands",
    "Place",
    "Snapshot",
    "Spot",
    "Value",
    "Written",
    "family_of",
    "literal",
]


class Form(IntEnum):
    """The dependence of a value; of two, the larger."""

    CONSTANT = 0
    AFFINE = 1
    OTHER = 2  # of loop counters and parameters, but not affine
    DATA = 3


@dataclass(frozen=True, slots=True)
class Value:
    """A scalar value: its C text, type, arrival in cycles after the reads, and form.

    An address is a value of an unsigned type of 64 bits. `node` is how it is computed, None if
    that is not known or the text alone tells it.
    """

    text: str
    type: Scalar
    at: Fraction = Fraction(0)
    form: Form = Form.CONSTANT
    node: Node | None = None

    @property
    def graph(self) -> Node | None:
        """Its graph; what no data decides is a value of the control, by its text."""
        if self.node is None and self.form <= Form.OTHER:
            return Given(self.text, self.type)
        return self.node


@dataclass(frozen=True, slots=True)
class Place:
    """Somewhere in a storage: an element, a row, or what a pointer points to.

    Attributes:
        layout: the storage, or for a struct its fields.
        offset: C text, in elements of `layout`'s outer array.
        dims: extents still to be indexed; None: as far as the storage goes.
        root: the storage's whole size at this level, to check pointers against.
        form: of the subscripts so far.
        text: as in the C source.
    """

    layout: Layout
    offset: str
    dims: tuple[int | None, ...]
    root: int
    form: Form
    text: str


@dataclass(frozen=True, slots=True)
class Spot:
    """Memory that a moving pointer points to: which storage it is in, is found while running.

    Attributes:
        address: C text of a `char *`.
        type: what lies there.
        form: of the address.
        text: as in the C source.
        at: when it is told which of several structs this is, in cycles after the reads.
    """

    address: str
    type: CType
    form: Form
    text: str
    at: Fraction = Fraction(0)


Layout: TypeAlias = "Storage | Record"
Binding: TypeAlias = Place | Spot | Value


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A copy of a struct's bytes: the C names of the copy and of where the struct is."""

    copy: str
    origin: str

    def cell(self, kind: Scalar, address: str) -> str:
        """C text of a number in the copy, by its address in the struct."""
        return f"(*({kind} *)((char *){self.copy} + ({address} - {self.origin})))"


@dataclass(frozen=True, slots=True)
class Written:
    """Something that the process at hand wrote already: its storage (None: any), its address."""

    storage: Storage | None
    address: str


@dataclass(slots=True)
class Operands:
    """The operands of a process while its expression is being lowered: one operand each read.

    `lvalues` has what it wrote last by an lvalue's name, for reads by the same name.
    """

    texts: list[str] = field(default_factory=list)
    storages: list[int] = field(default_factory=list)
    ignored: tuple[str, ...] = ()
    family_base: Fraction = Fraction(0)
    computes: bool = False
    written: list[Written] = field(default_factory=list)
    lvalues: dict[Hashable, Value] = field(default_factory=dict)

    def add(self, text: str, storage: int) -> int:
        """The number of a new operand; -1 for a storage that only the run finds."""
        self.texts.append(text)
        self.storages.append(storage)
        return len(self.texts) - 1


def family_of(kind: Scalar) -> str:
    """The technology's family for a type."""
    if kind.is_float:
        return "double" if kind.bits == 64 else "float"
    return "long" if kind.bits == 64 else "int"


def literal(number: int | float, kind: Scalar) -> str:
    """A number as a C constant of exactly that type and value."""
    if kind.is_float:
        value = float(number)
        if math.isnan(value):
            return f'(({kind})__builtin_nan(""))'
        if math.isinf(value):
            return f"(({kind}){'-' if value < 0 else ''}__builtin_inf())"
        return f"(({kind}){value.hex()})"
    value = int(number)
    suffix = "ULL" if kind.kind == "uint" else "LL"
    text = f"(-{-value - 1}LL - 1)" if value < 0 else f"{value}{suffix}"
    return f"(({kind}){text})"
