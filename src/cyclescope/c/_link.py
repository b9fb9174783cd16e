"""Several files as one program, and where a function's body begins in a preprocessed text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope.c import _clang
from cyclescope.c._tree import Function, Unit

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["body_start", "link"]


def link(units: Sequence[Unit], first: str | None = None) -> Unit:
    """The functions and variables of several files in one translation unit.

    Args:
        units: read with the same `externals`.
        first: a function; its file's own names go before those of other files. `None`: the
            first file's.
    """
    order = list(units)
    if first is not None:
        order.sort(key=lambda u: (f := u.functions.get(first)) is None or f.body is None)
    main = order[0]
    functions: dict[str, Function] = {}
    for unit in order:
        for name, function in unit.functions.items():
            known = functions.get(name)
            if known is None or (known.body is None and not function.internal):
                functions[name] = function
    doubled = {
        name
        for unit in order
        for name, function in unit.functions.items()
        if function.body is not None and function.where != functions[name].where
    }
    return Unit(
        main.file,
        functions,
        {n: v for unit in reversed(order) for n, v in unit.variables.items()},
        {n: s for unit in reversed(order) for n, s in unit.structs.items()},
        {n: t for unit in order for n, t in unit.sources.items()},
        tuple(s for unit in order for s in unit.skipped),
        frozenset(doubled),
        tuple(p for unit in order for p in unit.stray),
    )


def body_start(text: str, function: str) -> int | None:
    """The begin of a function's body in a preprocessed text: behind its brace, in bytes.

    None if the text doesn't define it.
    """
    for cursor in _clang.declarations(text):
        if cursor.spelling == function and cursor.kind.name == "FUNCTION_DECL":
            for inner in _clang.children(cursor):
                if inner.kind.name == "COMPOUND_STMT":
                    return int(inner.extent.start.offset) + 1
    return None
