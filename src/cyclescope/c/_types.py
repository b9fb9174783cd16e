"""C types, reduced to what a hardware source needs to know of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from cyclescope.c._refused import Construct

__all__ = [
    "Array",
    "CType",
    "Field",
    "Placed",
    "Pointer",
    "Scalar",
    "Struct",
    "Unknown",
    "Vector",
    "Void",
]


@dataclass(frozen=True, slots=True)
class Scalar:
    """An arithmetic type.

    Attributes:
        kind: `int`, `uint`, `float` (binary floating point of any width) or `bool`.
        bits: width in memory: 8 to 64 for integers, 32 or 64 for floating point.
    """

    kind: str
    bits: int

    @property
    def is_float(self) -> bool:
        """Return whether arithmetic on it is floating point."""
        return self.kind == "float"

    def __str__(self) -> str:
        """The type as C writes it on a 64-bit machine."""
        if self.kind == "float":
            return "double" if self.bits == 64 else "float"
        if self.kind == "bool":
            return "_Bool"
        name = {8: "signed char", 16: "short", 32: "int", 64: "long"}[self.bits]
        return f"unsigned {name.removeprefix('signed ')}" if self.kind == "uint" else name


@dataclass(frozen=True, slots=True)
class Void:
    """No value."""

    def __str__(self) -> str:
        """`void`."""
        return "void"


@dataclass(frozen=True, slots=True)
class Pointer:
    """A pointer to `target`."""

    target: CType

    def __str__(self) -> str:
        """The type as C would write it, roughly."""
        return f"{self.target} *"


@dataclass(frozen=True, slots=True)
class Array:
    """An array of `extent` elements; None where the text gives no constant (`a[]`, `a[n]`)."""

    element: CType
    extent: int | None

    def __str__(self) -> str:
        """The type as C would write it, roughly."""
        base: CType = self
        extents = ""
        while isinstance(base, Array):
            extents += "[]" if base.extent is None else f"[{base.extent}]"
            base = base.element
        return f"{base}{extents}"


@dataclass(frozen=True, slots=True)
class Struct:
    """A struct with its fields in order; two structs are equal if their names and fields are."""

    name: str
    fields: tuple[tuple[str, CType], ...]

    def field(self, name: str) -> CType:
        """The type of a field."""
        return dict(self.fields)[name]

    def __str__(self) -> str:
        """`struct name`."""
        return f"struct {self.name}"


@dataclass(frozen=True, slots=True)
class Vector:
    """A GNU vector (`vector_size`): `lanes` elements in one register."""

    element: Scalar
    lanes: int

    def __str__(self) -> str:
        """`double vector of 4`."""
        return f"{self.element} vector of {self.lanes}"


@dataclass(frozen=True, slots=True)
class Unknown:
    """A type outside the tree (`long double`, unions, function pointers).

    Attributes:
        name: as C writes it.
        construct: as what of C it is refused.
    """

    name: str
    construct: Construct = Construct.NUMBER

    def __str__(self) -> str:
        """The type as C writes it."""
        return self.name


@dataclass(frozen=True, slots=True)
class Field:
    """A member of a type whose members are where it says.

    Attributes:
        name: as written; empty for an anonymous struct or union.
        type: as declared.
        at: bits in front of it.
        bits: its width, if it is a bit-field; else 0.
    """

    name: str
    type: CType
    at: int
    bits: int = 0


@dataclass(frozen=True, slots=True)
class Placed(Unknown):
    """A union, or a struct with bit-fields or packed: of a tool that takes no such type, unknown.

    Attributes:
        fields: its members, those without a name and a type of their own left out.
        bytes: its size.
        alignment: in bytes.
    """

    fields: tuple[Field, ...] = ()
    bytes: int = 0
    alignment: int = 1

    @property
    def is_union(self) -> bool:
        """Return whether only one of the members has a value."""
        return self.construct is Construct.UNION

    def field(self, name: str) -> Field:
        """A member by its name."""
        return next(f for f in self.fields if f.name == name)


CType: TypeAlias = Scalar | Void | Pointer | Array | Struct | Vector | Unknown
