"""Tests of whether what was read from a file is of the types that its class declares."""

from __future__ import annotations

import types
from dataclasses import fields
from functools import cache
from typing import TYPE_CHECKING, Any, Union, get_args, get_origin, get_type_hints

from cyclescope.errors import LawError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["check_types", "conforms"]

_WORD = 1 << 63


def check_types(instance: Any) -> None:
    """Raise `LawError` if an attribute of a data class is not of the type that it declares.

    Integers fit in 64 bits; texts can be written as UTF-8.
    """
    kind: Any = type(instance)
    for name, is_right in _checks(kind):
        if not is_right(getattr(instance, name)):
            raise LawError(f"{name} of a {kind.__name__.lower()} is of another type")


def conforms(value: object, hint: Any) -> bool:
    """Return whether a value is of a type, as in `check_types`."""
    return _check(hint)(value)


@cache
def _checks(kind: Any) -> list[tuple[str, Callable[[object], bool]]]:
    hints = get_type_hints(kind)
    return [(field.name, _check(hints[field.name])) for field in fields(kind)]


def _is_whole(value: object) -> bool:
    return type(value) is int and -_WORD <= value < _WORD


def _is_text(value: object) -> bool:
    if type(value) is not str:
        return False
    if value.isascii():
        return True
    try:
        value.encode()
    except UnicodeEncodeError:  # half of a pair
        return False
    return True


@cache
def _check(hint: Any) -> Callable[[object], bool]:
    if hint is int:
        return _is_whole
    if hint is str:
        return _is_text
    inner = tuple(_check(part) for part in get_args(hint) if part is not Ellipsis)
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        return lambda value: any(one(value) for one in inner)
    if origin is tuple:
        return lambda value: type(value) is tuple and all(inner[0](one) for one in value)
    if origin is dict:
        key, item = inner
        return lambda value: (
            type(value) is dict and all(key(k) and item(v) for k, v in value.items())
        )

    def is_one(value: object) -> bool:
        if type(value) is not hint:
            return False
        if hasattr(hint, "__dataclass_fields__"):
            check_types(value)
        return True

    return is_one
