"""An expression as C text, from the tree: what a macro stands for, not how it is called."""

from __future__ import annotations

from cyclescope.c._binding import BINDING, POSTFIX, UNARY
from cyclescope.c._tree import (
    Assign,
    Binary,
    Call,
    Cast,
    Conditional,
    Expr,
    Index,
    InitList,
    Literal,
    Member,
    Name,
    Opaque,
    Unary,
)

__all__ = ["show"]


def show(node: Expr) -> str:
    r"""The text of an expression in one line, without the conversions that nobody wrote.

    >>> from cyclescope.c import read_c, show
    >>> unit = read_c("k.c", text="#define F(x) ((x) * 2)\nint k(int a) { return F(a + 1); }")
    >>> show(unit.functions["k"].body.body[0].value)
    '(a + 1) * 2'
    """
    return _show(node)[0]


def _show(node: Expr) -> tuple[str, int]:
    """The text and how tightly its outermost operator binds."""
    match node:
        case Literal(value=value):
            return str(value), POSTFIX if value >= 0 else UNARY
        case Name(variable=variable):
            return variable.name, POSTFIX
        case Index(base=base, index=index):
            return f"{_inside(base, POSTFIX)}[{show(index)}]", POSTFIX
        case Member(base=base, field=field, arrow=arrow):
            return f"{_inside(base, POSTFIX)}{'->' if arrow else '.'}{field}", POSTFIX
        case Unary(op=op, operand=operand):
            if op.startswith("post"):
                return f"{_inside(operand, POSTFIX)}{op.removeprefix('post')}", POSTFIX
            return f"{op.removeprefix('pre')}{_inside(operand, UNARY)}", UNARY
        case Binary(op=op, left=left, right=right):
            level = BINDING.get(op, 0)
            text = f"{_inside(left, level)}{'' if op == ',' else ' '}{op} "
            return text + _inside(right, level + 1), level
        case Assign(op=op, target=target, value=value):
            return f"{_inside(target, 2)} {op} {_inside(value, 1)}", 1
        case Conditional(condition=condition, then=then, other=other):
            return f"{_inside(condition, 3)} ? {show(then)} : {_inside(other, 2)}", 2
        case Call(function=function, args=args):
            return f"{function}({', '.join(map(show, args))})", POSTFIX
        case Cast(operand=operand, implicit=True):
            return _show(operand)
        case Cast(operand=operand, type=kind):
            return f"({kind}){_inside(operand, UNARY)}", UNARY
        case InitList(values=values):
            return f"{{{', '.join(map(show, values))}}}", POSTFIX
        case Opaque(construct=construct):
            return f"({construct.title})", POSTFIX


def _inside(node: Expr, level: int) -> str:
    text, own = _show(node)
    return text if own >= level else f"({text})"
