"""Declarations of Calyx's library: which primitives are combinational, and their ports."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from cyclescope import _native
from cyclescope._files import scratch
from cyclescope.calyx._syntax import Extern, PrimitiveText, SyntaxFile
from cyclescope.calyx._syntax_read import read_syntax

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["declared", "library"]


@cache
def library() -> Mapping[str, PrimitiveText]:
    """The primitives of the built-in library, by name."""
    with scratch("calyx") as folder:
        root = folder / "library"
        _native.write_library(root)
        files = [read_syntax(path.read_bytes(), path.name) for path in root.rglob("*.futil")]
    return {primitive.name: primitive for file in files for primitive in declared(file)}


def declared(file: SyntaxFile) -> Iterator[PrimitiveText]:
    """The primitives that a file declares."""
    for item in file.items:
        if isinstance(item, Extern):
            yield from item.primitives
        elif isinstance(item, PrimitiveText):
            yield item
