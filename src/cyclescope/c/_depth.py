"""The limits on the depth and size of a program's trees."""

from __future__ import annotations

__all__ = ["DEEPEST", "DEEPEST_TYPE", "MOST_MEMBERS", "MOST_STATEMENTS"]

DEEPEST = 1200
"""Levels of nesting that an expression or a statement may have."""

DEEPEST_TYPE = 200
"""Levels of structs, arrays and pointers that a type may have."""

MOST_MEMBERS = 4_096
"""Members of a struct, those of the structs in it and behind its pointers included: whoever looks
at a type looks at all of them."""

MOST_STATEMENTS = 20_000
"""Statements of a file: each takes about a millisecond, and some more of those that read it."""
