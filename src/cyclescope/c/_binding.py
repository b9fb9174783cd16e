"""The strength with which C's operators bind (C17, 6.5): where a printer needs brackets."""

from __future__ import annotations

__all__ = ["BINDING", "POSTFIX", "UNARY"]

_LEVELS = (
    (",",), ("=",), ("?",), ("||",), ("&&",), ("|",), ("^",), ("&",), ("==", "!="),
    ("<", ">", "<=", ">="), ("<<", ">>"), ("+", "-"), ("*", "/", "%"),
)  # fmt: skip

# Binary operator → its level; all associate to the left but assignment.
BINDING = {op: level for level, ops in enumerate(_LEVELS) for op in ops}
UNARY, POSTFIX = len(_LEVELS), len(_LEVELS) + 1
