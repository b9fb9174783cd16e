"""User-defined reductions (OpenMP 4.5, 2.16): `declare reduction`, read by the C parser.

A directive's combiner and initializer are expressions of C with names of their own (`omp_out`,
`omp_in`, `omp_priv`, `omp_orig`). They are read as functions behind the text, in which these are
variables of the directive's type.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cyclescope.c import Block, Declare, Evaluate, Expr, Variable, statements
from cyclescope.errors import SourceError
from cyclescope.hls.front.omp._directives import renamed
from cyclescope.hls.front.omp._tokens import closing, split

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cyclescope.c import CType, Function, Pragma, Range, Unit
    from cyclescope.hls.front.omp._directives import Constants

__all__ = ["Declared", "declared_reduction", "is_declared"]

_NAME = "cyclescope_reduction"


@dataclass(frozen=True, slots=True)
class Declared:
    """A user-defined reduction of one type.

    Attributes:
        combiner: the expression that joins a value with the result.
        result, given: the variables that it calls these, `omp_out` and `omp_in`.
        own, original: the variables that the initializer calls a copy and what it is of.
        first: the initial value of a copy; None: zeros, or what `initializer` gives it.
        initializer: the expression that gives a copy its value; None: it has `first`.
    """

    combiner: Expr
    result: Variable
    given: Variable
    own: Variable
    original: Variable
    first: Expr | None
    initializer: Expr | None


def declared_reduction(
    constants: Constants, name: str, kind: CType, where: Range
) -> Declared | None:
    """The user-defined reduction of a name and type; None: there is none.

    Args:
        constants: of the text.
        name: an identifier or an operator.
        kind: of what is reduced.
        where: the directive that uses it; of several the last one in front of it counts.

    Raises:
        SourceError: it is no C.
    """
    found: Declared | None = None
    for pragma in _pragmas(constants.unit):
        words = pragma.tokens[4 : closing(pragma.tokens[3:]) + 3]
        if pragma.trouble or words[:2] != (name, ":") or pragma.where.start > where.start:
            continue
        listed, *parts = split(words[2:], ":")
        combiner = [w for n, part in enumerate(parts) for w in ([":"] * (n > 0) + [*part])]
        rest = pragma.tokens[closing(pragma.tokens[3:]) + 4 :]
        first = rest[2 : closing(rest[1:]) + 1] if rest[:2] == ("initializer", "(") else ()
        for sort in split(listed, ","):
            one = _read(constants, sort, combiner, first, pragma.where)
            if one.result.type == kind:
                found = one
    return found


def is_declared(constants: Constants, name: str) -> bool:
    """Return whether the text declares a reduction of a name, of whichever types."""
    return any(p.tokens[4:6] == (name, ":") for p in _pragmas(constants.unit))


def _pragmas(unit: Unit) -> Iterator[Pragma]:
    """The directives of a text."""
    found = list(unit.stray)
    for function in unit.functions.values():
        found += function.pragmas
        for stmt in statements(function.body):
            found += [*stmt.pragmas, *(stmt.trailing if isinstance(stmt, Block) else ())]
    ours = (p for p in found if p.tokens[:4] == ("omp", "declare", "reduction", "("))
    yield from sorted(dict.fromkeys(ours), key=lambda p: (p.where.file, p.where.start))


def _read(
    constants: Constants,
    sort: Sequence[str],
    combiner: Sequence[str],
    first: Sequence[str],
    where: Range,
) -> Declared:
    """The parts of a directive for one of its types.

    Raises:
        SourceError: it is no C.
    """
    kind = " ".join(sort)
    begins = first[:2] == ("omp_priv", "=")
    value = f"= {' '.join(first[2:])}" if begins else ""
    call = "" if begins else " ".join(first)
    unit = constants.behind(
        f"\nvoid {_NAME}_join(void) {{ {kind} omp_out; {kind} omp_in; {' '.join(combiner)}; }}\n"
        f"void {_NAME}_begin(void) {{ {kind} omp_orig; {kind} omp_priv {value}; {call}; }}\n"
    )
    if unit is None:
        raise SourceError(
            f"{where}: omp declare reduction of {kind}: it is read at the end of the file, and is "
            f"no C there; declare its types and functions outside of functions"
        )
    join, begin = (unit.functions[f"{_NAME}_{part}"] for part in ("join", "begin"))
    out, given = (_variable(join, n) for n in ("omp_out", "omp_in"))
    original, own = (_variable(begin, n) for n in ("omp_orig", "omp_priv"))
    combines, starts = _expression(join), _expression(begin)
    assert combines is not None
    known = constants.unit.variables
    return Declared(
        renamed(combines, known),
        out,
        given,
        own,
        original,
        renamed(own.init, known) if own.init is not None else None,
        renamed(starts, known) if starts is not None else None,
    )


def _variable(function: Function, name: str) -> Variable:
    return next(
        v
        for stmt in statements(function.body)
        if isinstance(stmt, Declare)
        for v in stmt.variables
        if v.name == name
    )


def _expression(function: Function) -> Expr | None:
    found = (s.value for s in statements(function.body) if isinstance(s, Evaluate))
    return next(found, None)
