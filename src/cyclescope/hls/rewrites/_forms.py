"""Sums of products of variables with whole factors: what subscripts and loops' bounds are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cyclescope.c import Binary, Cast, Literal, Name, Scalar, Unary, Variable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from cyclescope.c import Expr

__all__ = ["Form", "form_of"]

_Term = tuple[Variable, ...]


@dataclass(frozen=True)
class Form:
    """A sum of products.

    Attributes:
        terms: factor of each product of variables, the empty one's is the constant; none is 0.
    """

    terms: Mapping[_Term, int]

    @staticmethod
    def of(value: int | Variable) -> Form:
        """A number, or a variable."""
        if isinstance(value, int):
            return Form({(): value} if value else {})
        return Form({(value,): 1})

    def __add__(self, other: Form) -> Form:
        total = dict(self.terms)
        for term, factor in other.terms.items():
            total[term] = total.get(term, 0) + factor
        return Form({term: factor for term, factor in total.items() if factor})

    def __sub__(self, other: Form) -> Form:
        return self + other.times(-1)

    def times(self, factor: int) -> Form:
        """A multiple."""
        return Form({term: factor * f for term, f in self.terms.items()} if factor else {})

    def __mul__(self, other: Form) -> Form:
        total = Form({})
        for a, factor in self.terms.items():
            for b, more in other.terms.items():
                term = tuple(sorted((*a, *b), key=lambda v: (v.name, id(v))))
                total += Form({term: factor * more})
        return total

    @property
    def constant(self) -> int:
        """The number in it that no variable is multiplied with."""
        return self.terms.get((), 0)

    @property
    def is_number(self) -> bool:
        """Return whether it has no variable."""
        return not self.variables

    @property
    def variables(self) -> frozenset[Variable]:
        """Those in it."""
        return frozenset(v for term in self.terms for v in term)

    @property
    def is_linear(self) -> bool:
        """Return whether no product has more than one variable."""
        return all(len(term) < 2 for term in self.terms)

    def factor(self, variable: Variable) -> int | None:
        """The factor of a variable, if it is a number."""
        if any(variable in term and len(term) > 1 for term in self.terms):
            return None
        return self.terms.get((variable,), 0)

    def without(self, *variables: Variable) -> Form:
        """The sum without the products that contain some variables."""
        return Form({t: f for t, f in self.terms.items() if not any(v in t for v in variables)})

    def shown(self, names: Mapping[Variable, str] | None = None) -> str:
        """C text: each product once, the constant last; names in the place of variables'."""
        names = names or {}
        parts: list[str] = []
        for term, factor in sorted(self.terms.items(), key=lambda x: (not x[0], _key(x[0]))):
            words = [names.get(v, v.name) for v in term]
            if abs(factor) != 1 or not words:
                words.append(str(abs(factor)))
            sign = "-" if factor < 0 else "+"
            parts.append((f" {sign} " if parts else "-" * (factor < 0)) + " * ".join(words))
        return "".join(parts) or "0"

    def __hash__(self) -> int:
        return hash(frozenset(self.terms.items()))


def _key(term: _Term) -> tuple[str, ...]:
    return tuple(v.name for v in term)


def form_of(expr: Expr, known: Callable[[Variable], Form | None]) -> Form | None:
    """An expression of signed integers as a sum, if it is one.

    In signed arithmetic no sum or product wraps, since C leaves that undefined.

    Args:
        expr: it.
        known: what a variable stands for; None: nothing that is known.
    """
    kind = expr.type
    if not isinstance(kind, Scalar) or kind.is_float:
        return None
    if isinstance(expr, Cast):
        inner = expr.operand.type
        if not isinstance(inner, Scalar) or inner.is_float or inner.kind == "bool":
            return None
        found = form_of(expr.operand, known)
        # A longer signed type has the same value; so has any type that a small number fits.
        if inner.kind == "int" and kind.kind == "int" and kind.bits >= inner.bits:
            return found
        return found if found is not None and found.is_number and _fits(found, kind) else None
    match expr:
        case Literal(value=int(value)):
            return Form.of(value)
        case Name(variable=variable) if kind.kind == "int":
            return known(variable)
        case Unary(op="-", operand=operand) if kind.kind == "int":
            inside = form_of(operand, known)
            return None if inside is None else inside.times(-1)
        case Unary(op="+", operand=operand):
            return form_of(operand, known)
        case Binary(op=op, left=left, right=right) if op in ("+", "-", "*", "/", "%"):
            a, b = form_of(left, known), form_of(right, known)
            if a is None or b is None or (kind.kind != "int" and not (a.is_number and b.is_number)):
                return None
            return _combined(op, a, b)
    return None


def _combined(op: str, a: Form, b: Form) -> Form | None:
    match op:
        case "+":
            return a + b
        case "-":
            return a - b
        case "*":
            return a * b
    if a.is_number and b.is_number and a.constant >= 0 and b.constant > 0:
        pair = divmod(a.constant, b.constant)
        return Form.of(pair[op == "%"])
    return None


def _fits(form: Form, kind: Scalar) -> bool:
    low = -(1 << kind.bits - 1) if kind.kind == "int" else 0
    return low <= form.constant < 1 << kind.bits - (kind.kind == "int")
