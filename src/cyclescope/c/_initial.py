"""Initialiser lists brought into their types' form: one value for each element or field.

libclang gives them as written. Inner braces may be left out and designators may name what is
meant (C11, 6.7.9), so the values alone don't say where they belong.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, TypeAlias

from cyclescope.c import _clang
from cyclescope.c._tree import InitList, Literal
from cyclescope.c._types import Array, Placed, Scalar, Struct, Vector
from cyclescope.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from cyclescope.c._clang import Cursor
    from cyclescope.c._tree import Expr, Range
    from cyclescope.c._types import CType

    Given: TypeAlias = "Expr | _Slots"

__all__ = ["initial_list", "initial_text"]


_MOST = 1 << 20


class _Slots:
    """An element of an array, struct or vector each; what isn't given is left out."""

    def __init__(self, kind: CType) -> None:
        self.kind = kind
        self.given: dict[int, Given] = {}
        self.next = 0

    def inner(self) -> CType:
        """The type of what comes next."""
        match self.kind:
            case Array(element=element) | Vector(element=element):
                return element
            case Struct(fields=fields):
                return fields[self.next][1]
            case Placed(fields=members):
                return members[self.next].type
        raise AssertionError(self.kind)

    @property
    def is_full(self) -> bool:
        """Return whether nothing comes next."""
        match self.kind:
            case Array(extent=extent):
                return extent is not None and self.next >= extent
            case Vector(lanes=lanes):
                return self.next >= lanes
            case Struct(fields=fields):
                return self.next >= len(fields)
            case Placed(fields=members):
                return self.next >= (1 if self.kind.is_union else len(members))
        return True

    def put(self, value: Given) -> None:
        """Give what comes next its value."""
        self.given[self.next] = value
        self.next += 1

    def opened(self) -> _Slots:
        """Open the next slot, to be given in pieces; what it has of them it keeps."""
        known = self.given.get(self.next)
        slots = known if isinstance(known, _Slots) else _Slots(self.inner())
        slots.next = 0
        self.put(slots)
        return slots

    def frozen(self, where: Range) -> InitList:
        """The list, with zeros in its gaps."""
        values: list[Expr] = []
        count = max(self.given, default=-1) + 1
        if count > _MOST:
            raise SourceError(
                f"{where}: an initial value for element {count - 1:,}; up to {_MOST:,} elements can"
                " have one"
            )
        zero: Expr | None = None
        for number in range(count):
            value = self.given.get(number)
            if isinstance(value, _Slots):
                values.append(value.frozen(where))
            elif value is not None:
                values.append(value)
            elif zero is not None and not isinstance(self.kind, Struct | Placed):
                values.append(zero)
            else:
                self.next = number
                kind = self.inner()
                scalar = isinstance(kind, Scalar)
                zero = Literal(where, kind, 0) if scalar else InitList(where, kind, ())
                values.append(zero)
        return InitList(where, self.kind, tuple(values))


def initial_list(
    cursor: Cursor, kind: CType, where: Range, build: Callable[[Cursor], Expr]
) -> InitList | None:
    """The list of a cursor; None if it says something that isn't understood.

    Args:
        cursor: a list in braces.
        kind: of what it initialises.
        where: the list.
        build: the expression of a cursor.
    """
    given = _given(cursor, kind, where, build)
    return given.frozen(where) if isinstance(given, _Slots) else given


def _given(
    cursor: Cursor, kind: CType, where: Range, build: Callable[[Cursor], Expr]
) -> InitList | _Slots | None:
    """The values that a list in braces gives."""
    inside = [c for c in _clang.children(cursor) if c.kind.is_expression()]
    text = initial_text(inside[0], kind, where) if len(inside) == 1 else None
    if text is not None:
        return text
    if not isinstance(kind, Array | Struct | Placed | Vector):
        return InitList(where, kind, tuple(map(build, inside)))
    return _filled(inside, kind, where, build)


def _filled(
    inside: list[Cursor], kind: CType, where: Range, build: Callable[[Cursor], Expr]
) -> _Slots | None:
    """The slots that a list's values fill."""
    whole = _Slots(kind)
    stack = [whole]
    for item in inside:
        value, at = item, [(0, 0)]
        designators = _designators(item)
        if designators is not None:
            *path, value = designators
            places = _places(kind, path, _is_span(item, value))
            if places is None:
                return None
            stack, at = _walked(whole, places)
        else:
            while stack[-1].is_full and len(stack) > 1:
                stack.pop()
            if stack[-1].is_full:
                break  # more than the object has: a warning of the compiler's
        first, last = at[-1]
        top = stack[-1]
        for number in range(first, last + 1):
            if designators is not None:
                del stack[stack.index(top) + 1 :]
                top.next = number
            same = top.given.get(first)
            if number > first and same is not None and not isinstance(same, _Slots):
                top.put(same)
            elif not _put(stack, value, where, build):
                return None
    return whole


def _put(stack: list[_Slots], value: Cursor, where: Range, build: Callable[[Cursor], Expr]) -> bool:
    """Put a value where the innermost of some slots expect one, or deeper inside."""
    if value.kind.name == "INIT_LIST_EXPR":
        inner = _given(value, stack[-1].inner(), where, build)
        if inner is not None:
            stack[-1].put(inner)
        return inner is not None
    text = initial_text(value, stack[-1].inner(), where)
    made = build(value) if text is None else text
    while True:
        kind = stack[-1].inner()
        if (
            not isinstance(kind, Array | Struct | Placed | Vector)
            or made.type == kind
            or text is not None
        ):
            stack[-1].put(made)
            return True
        stack.append(stack[-1].opened())
        if stack[-1].is_full:  # a struct without fields
            return False


def _designators(item: Cursor) -> list[Cursor] | None:
    """The designators of a designated value, and the value; None if it has none."""
    if item.kind.name != "UNEXPOSED_EXPR" or item.type.spelling != "void":
        return None
    inside = _clang.children(item)
    return inside if len(inside) > 1 else None


def _is_span(item: Cursor, value: Cursor) -> bool:
    """Return whether a designator is GNU's `[first ... last]`."""
    words: Iterator[str] = (
        t.spelling for t in item.get_tokens() if t.extent.start.offset < value.extent.start.offset
    )
    return "..." in words


def _places(kind: CType, path: list[Cursor], is_span: bool) -> list[tuple[int, int]] | None:
    """The numbers of the slots that designators name: first and last of each."""
    found: list[tuple[int, int]] = []
    waiting = list(path)
    while waiting:
        cursor = waiting.pop(0)
        if isinstance(kind, Struct | Placed) and cursor.kind.name == "MEMBER_REF":
            members = (
                kind.fields if isinstance(kind, Struct) else [(f.name, f.type) for f in kind.fields]
            )
            names = [name for name, _ in members]
            if cursor.spelling not in names:
                return None
            number = names.index(cursor.spelling)
            found.append((number, number))
            kind = members[number][1]
            continue
        first = _clang.evaluate(cursor)
        if not isinstance(kind, Array | Vector) or not isinstance(first, int):
            return None
        last: int | float | None = first
        if is_span:
            if len(path) != 2:  # which of several it is can't be told
                return None
            last = _clang.evaluate(waiting.pop(0))
        if not isinstance(last, int):
            return None
        found.append((first, last))
        kind = kind.element
    return found


def _walked(
    whole: _Slots, places: list[tuple[int, int]]
) -> tuple[list[_Slots], list[tuple[int, int]]]:
    """The slots on the way to a designated place, and the places."""
    stack = [whole]
    for number, _ in places[:-1]:
        stack[-1].next = number
        stack.append(stack[-1].opened())
    return stack, places


def initial_text(cursor: Cursor, kind: CType, where: Range) -> InitList | None:
    """The characters of a string literal that initialises an array of them."""
    if not isinstance(kind, Array) or not isinstance(kind.element, Scalar):
        return None
    while cursor.kind.name in ("UNEXPOSED_EXPR", "PAREN_EXPR"):
        inner = _clang.children(cursor)
        if len(inner) != 1:
            return None
        cursor = inner[0]
    if cursor.kind.name != "STRING_LITERAL" or kind.element.bits != 8:
        return None
    written = cursor.spelling.removeprefix("u8")
    try:
        text: bytes = ast.literal_eval(f"b{written}")
    except (SyntaxError, ValueError):
        return None
    signed = kind.element.kind == "int"
    values = [b - 256 if signed and b > 127 else b for b in text][: kind.extent]
    return InitList(where, kind, tuple(Literal(where, kind.element, v) for v in values))
