"""The variables that a piece of the text assigns, and the ways to leave it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope.c import (
    STEPS,
    Array,
    Assign,
    Binary,
    Block,
    Break,
    Call,
    Cast,
    Continue,
    DoWhile,
    Expr,
    For,
    Goto,
    If,
    Index,
    Member,
    Name,
    Pointer,
    Return,
    Scalar,
    Stmt,
    Switch,
    Unary,
    Variable,
    Vector,
    While,
    called,
    expressions,
    statements,
    walk,
    whole,
    without_casts,
)
from cyclescope.hls.front._calls import BLOCKS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from cyclescope.c import Function

__all__ = [
    "assigned",
    "breaks",
    "gotos_out",
    "has_effects",
    "lanes_written",
    "leaves_loop",
    "may_jump",
    "may_write",
    "returns",
    "root",
    "variables_read",
]


def _target(expr: Expr, aliases: Mapping[Variable, Variable]) -> Variable | None:
    match whole(expr):
        case (
            Unary(op="*", operand=Name(variable=pointer))
            | Member(base=Name(variable=pointer), arrow=True)
        ) if pointer in aliases:
            return aliases[pointer]
        case Name(variable=variable):
            return variable
    return None


def assigned(
    parts: list[Expr],
    functions: Mapping[str, Function],
    aliases: Mapping[Variable, Variable],
) -> set[Variable]:
    """The variables that expressions give values to, also in functions they call.

    Args:
        parts: expressions with all inside them (see `expressions`).
        functions: by name.
        aliases: pointer parameter → the variable it points to.
    """
    found: set[Variable] = set()
    inside = [e for function in called(parts, functions) for e in expressions(function.body)]
    everything = [*parts, *inside]
    read = {
        id(arg)
        for expr in everything
        if isinstance(expr, Call)
        for number, arg in enumerate(expr.args)
        if isinstance(arg, Unary) and _only_reads(expr.function, number, functions)
    }
    for expr in everything:
        target: Variable | None = None
        match expr:
            case Assign(target=place):
                target = _target(place, aliases)
            case Unary(op=op, operand=operand) if op in STEPS or (
                op == "&" and id(expr) not in read
            ):
                target = _target(operand, aliases)
            case Call(args=args):  # who is given a pointer may write there
                found |= {
                    aliases[a.variable]
                    for a in args
                    if isinstance(a, Name) and a.variable in aliases
                }
        if target is not None:
            found.add(target)
    return found


def _only_reads(name: str, number: int, functions: Mapping[str, Function]) -> bool:
    """Return whether a function only reads what a pointer parameter of it points to."""
    function = functions.get(name)
    if function is None or function.body is None or number >= len(function.params):
        return False
    param = function.params[number]
    known, every = 0, list(expressions(function.body))
    for expr in every:
        match expr:
            case Assign(target=place) if _is_through(place, param):
                return False
            case Unary(op=op, operand=place) if (op in STEPS or op == "&") and _is_through(
                place, param
            ):
                return False
            case (
                Member(base=Name(variable=variable), arrow=True)
                | Unary(op="*", operand=Name(variable=variable))
            ):
                known += variable is param
    return known == sum(isinstance(e, Name) and e.variable is param for e in every)


def _is_through(place: Expr, pointer: Variable) -> bool:
    """Return whether an object is what a pointer points to, or a part of it."""
    while True:
        match place:
            case (
                Unary(op="*", operand=Name(variable=variable))
                | Member(base=Name(variable=variable), arrow=True)
            ):
                return variable is pointer
            case Member(base=inner, arrow=False) | Cast(operand=inner):
                place = inner
            case Index(base=inner) if not isinstance(inner.type, Pointer):
                place = inner
            case _:
                return False


def root(expr: Expr) -> Variable | None:
    """The variable that an object or pointer begins at."""
    while True:
        match expr:
            case Name(variable=variable):
                return variable
            case (
                Index(base=inner) | Member(base=inner) | Unary(operand=inner) | Cast(operand=inner)
            ):
                expr = inner
            case Binary(left=left, right=right):
                expr = right if isinstance(left.type, Scalar) else left
            case _:
                return None


def may_write(stmt: Stmt) -> set[Variable | None]:
    """The variables that a statement itself may give values to, elements too, and by pointers."""
    found: set[Variable | None] = set()
    elements: set[int] = set()
    parts = list(expressions(stmt))
    for expr in parts:
        match expr:
            case Assign(target=place):
                found.add(root(place))
            case Unary(op=op, operand=place) if op in STEPS or op == "&":
                found.add(root(place))
            case Index(base=base):
                elements.add(id(without_casts(base)))
    # An array that is not subscripted is a pointer to it.
    return found | {
        e.variable
        for e in parts
        if isinstance(e, Name) and isinstance(e.type, Array) and id(e) not in elements
    }


def lanes_written(parts: Iterable[Expr]) -> set[Variable | None]:
    """The arrays of whose vectors single elements are written; None for an unknown one."""
    found: set[Variable | None] = set()
    for expr in parts:
        target: Expr | None = None
        match expr:
            case Assign(target=place):
                target = place
            case Unary(op=op, operand=operand) if op in STEPS:
                target = operand
        if not isinstance(target, Index) or isinstance(target.base, Name):
            continue  # not of a vector, or of one on wires
        if isinstance(target.base.type, Vector):
            found.add(root(target))
    return found


def has_effects(expr: Expr, functions: Mapping[str, Function], in_memory: set[Variable]) -> bool:
    """Return whether an expression reads memory, assigns or calls the user's functions."""
    for part in walk(expr):
        match part:
            case Assign() | Unary(op="*") | Member(arrow=True):
                return True
            case Unary(op=op) if op in STEPS:
                return True
            case Index(base=base) if not isinstance(base.type, Vector):
                return True
            case Name(variable=variable) if variable in in_memory:
                return True
            case Call(function=name) if name in functions and functions[name].body is not None:
                return True
            case Call(function=name) if name.removeprefix("__builtin_") in BLOCKS:
                return True
            case Call(function="omp_test_lock" | "omp_test_nest_lock"):
                return True
    return False


def breaks(stmt: Stmt) -> bool:
    """Return whether a loop's body may end the loop by `break`."""
    match stmt:
        case Break():
            return True
        case Block(body=body):
            return any(map(breaks, body))
        case If(then=then, other=other):
            return breaks(then) or (other is not None and breaks(other))
    return False


def gotos_out(stmt: Stmt) -> set[str]:
    """The labels outside of a statement that it may go to."""
    inside = list(statements(stmt))
    return {s.target for s in inside if isinstance(s, Goto)} - {s.label for s in inside}


def may_jump(stmt: Stmt) -> bool:
    """Return whether a statement may leave the block it is in."""
    return _leaves(stmt, (Break, Continue, Return)) or bool(gotos_out(stmt))


def leaves_loop(stmt: Stmt) -> bool:
    """Return whether a statement may end the loop around it, or its iteration."""
    return _leaves(stmt, (Break, Continue))


def _leaves(stmt: Stmt, by: tuple[type[Stmt], ...]) -> bool:
    """Return whether a statement contains one of those that would lead out of it."""
    match stmt:
        case Block(body=body):
            return any(_leaves(s, by) for s in body)
        case If(then=then, other=other):
            return _leaves(then, by) or (other is not None and _leaves(other, by))
        case For(body=inner) | While(body=inner) | DoWhile(body=inner):
            return Return in by and _leaves(inner, (Return,))
        case Switch(sections=sections):
            left = tuple(kind for kind in by if kind is not Break)
            return any(_leaves(s, left) for section in sections for s in section.body)
    return isinstance(stmt, by)


def returns(body: Stmt) -> bool:
    """Return whether a body returns from the function around it, however deep."""
    return any(isinstance(s, Return) for s in statements(body))


def variables_read(expr: Expr) -> set[Variable]:
    """The variables that an expression names."""
    return {e.variable for e in walk(expr) if isinstance(e, Name)}
