"""The variables that must be in a memory, since the text takes their addresses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope.c import (
    Call,
    Member,
    Name,
    Pointer,
    Struct,
    Unary,
    called,
    children,
    outermost,
    walk,
    whole,
    without_casts,
)
from cyclescope.hls.front._calls import BLOCKS
from cyclescope.hls.front._layout import is_flat, size_of
from cyclescope.hls.front.omp._directives import folded

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from cyclescope.c import Expr, Function, Variable

__all__ = ["addressed", "is_plain"]


def is_plain(expr: Expr) -> bool:
    """Return whether an object is a variable, or a field of one, without anything to compute."""
    match expr:
        case Name() | Unary(op="*", operand=Name()) | Member(base=Name()):
            return True
        case Member(base=base, arrow=False):
            return is_plain(base)
    return False


def addressed(parts: Iterable[Expr], functions: Mapping[str, Function]) -> set[Variable]:
    """The variables whose addresses are values, not just a way to name them.

    Handing `&x` to a function that only says `*p` or `p->field`, or hands it on to such a one,
    names x.

    Args:
        parts: outermost expressions.
        functions: by name.
    """
    return _Addresses(functions).of(list(parts))


class _Addresses:
    def __init__(self, functions: Mapping[str, Function]) -> None:
        self._functions = functions
        self._names: dict[Variable, bool] = {}  # parameters, by whether they only name

    def of(self, parts: list[Expr]) -> set[Variable]:
        found: set[Variable] = set()
        every = (e for part in parts for e in walk(part))
        inside = [
            e for function in called(every, self._functions) for e in outermost(function.body)
        ]  # fmt: skip
        for part in (*parts, *inside):
            found.update(self._taken(part))
        return found

    def _taken(self, expr: Expr) -> Iterator[Variable]:
        match expr:
            case Unary(op="&", operand=operand):
                owner = whole(operand)
                if isinstance(owner, Name):
                    yield owner.variable
            case Member(base=Unary(op="&", operand=inner), arrow=True):
                yield from self._taken(inner)
                return
            case Unary(op="*", operand=Unary(op="&", operand=inner)):
                yield from self._taken(inner)
                return
            case Call(function=name, args=args) if name.removeprefix("__builtin_") in BLOCKS:
                for arg in args:
                    if not _is_copied_whole(arg, args):
                        yield from self._taken(arg)
                return
            case Call():
                for arg, param in self._given(expr):
                    if not (_is_address(arg) and param is not None and self._only_names(param)):
                        yield from self._taken(arg)
                return
        for inner in children(expr):
            yield from self._taken(inner)

    def _given(self, call: Call) -> list[tuple[Expr, Variable | None]]:
        function = self._functions.get(call.function)
        params = function.params if function is not None and function.body is not None else ()
        missing: list[Variable | None] = [None] * (len(call.args) - len(params))
        return list(zip(call.args, [*params, *missing], strict=False))

    def _only_names(self, param: Variable) -> bool:
        """Return whether a pointer parameter is only used to name what it points to."""
        known = self._names.get(param)
        if known is not None:
            return known
        self._names[param] = True  # while it is looked at
        for function in self._functions.values():
            if param in function.params:
                uses = (self._uses(expr, param) for expr in outermost(function.body))
                self._names[param] = not any(uses)
        return self._names[param]

    def _uses(self, expr: Expr, param: Variable) -> bool:
        """Return whether an expression uses a parameter's value itself."""
        match expr:
            case Name(variable=variable):
                return variable is param
            case Unary(op="*", operand=Name()) | Member(base=Name(), arrow=True):
                return False
            case Call():
                return any(
                    self._uses(arg, param)
                    and not (isinstance(arg, Name) and to is not None and self._only_names(to))
                    for arg, to in self._given(expr)
                )
        return any(self._uses(inner, param) for inner in children(expr))


def _is_address(expr: Expr) -> bool:
    return isinstance(expr, Unary) and expr.op == "&" and is_plain(expr.operand)


def _is_copied_whole(arg: Expr, args: tuple[Expr, ...]) -> bool:
    """Return whether the address of a variable only says what memcpy or memset is about, all of it.

    A struct's value has no padding, so it is copied whole only from or to its like.
    """
    pointers = list(map(without_casts, args[:2]))
    pointer = without_casts(arg)
    if not isinstance(pointer, Unary) or not _is_address(pointer) or len(args) != 3:
        return False
    kind = pointer.operand.type
    if not is_flat(kind) or folded(args[2]) != size_of(kind, arg.where):
        return False
    return not isinstance(kind, Struct) or all(
        not isinstance(p.type, Pointer) or p.type.target == kind for p in pointers
    )
