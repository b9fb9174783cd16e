"""A loop whose iterations need nothing of each other, several of them at once in vectors.

Precondition: the loop counts by one; its iterations are independent (`independent`); its body
consists of declarations and assignments of numbers of one type, of loops that run alike in all
iterations, and of branches that go alike; arrays are accessed at neighbouring elements in
neighbouring iterations, at an address that is a multiple of the vector's size, or at one element.

Law: each lane computes what an iteration computed, the same operations on the same operands in the
same order; so all results are equal bit for bit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope._rewrites import Rewrite
from cyclescope.c import (
    STEPS,
    Array,
    Assign,
    Binary,
    Block,
    Call,
    Cast,
    Declare,
    Empty,
    Evaluate,
    Expr,
    For,
    If,
    Index,
    Literal,
    Name,
    Pointer,
    Scalar,
    Stmt,
    Unary,
    outermost,
    own_expressions,
    statements,
    walk,
    without_casts,
)
from cyclescope.hls.front import directives
from cyclescope.hls.rewrites._candidates import Rewriter, candidate, vector_type, wrapped
from cyclescope.hls.rewrites._independence import (
    asks_for_thread,
    declared,
    independent,
    redistributable,
)
from cyclescope.hls.rewrites._print import UnprintableError, changes, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cyclescope._edits import Edit
    from cyclescope._rewrites import Candidate
    from cyclescope.c import Variable
    from cyclescope.hls.rewrites._nest import Access, Loop, Nest

__all__ = ["LANES", "aligned", "first_value", "left_over", "sooner", "strip"]

_WIDTHS = (16, 32, 64)  # bytes of a vector
_FLOAT, _INT = {"+", "-", "*", "/"}, {"+", "-", "*", "&", "|", "^"}
_REWRITE = Rewrite(
    "vector-lanes", "computes several independent iterations of a loop at once, in vectors"
)


def _find(nest: Nest, reassociate: bool) -> Iterator[Candidate]:
    del reassociate
    for loop in nest.loops:
        for width in _WIDTHS:
            try:
                found = _Vectors(nest, loop, width)
                edits = found.edits()
            except (_No, UnprintableError):
                continue
            reason = "each lane computes what an iteration did, in the same order"
            what = f"{found.lanes} lanes"
            yield candidate(_REWRITE, nest, loop, what, reason, edits)


LANES = Rewriter(_REWRITE, _find)


class _No(Exception):  # noqa: N818
    """A loop that can't be in lanes."""


def strip(nest: Nest, loop: Loop, by: int) -> list[Edit]:
    """Edits of a loop's head that let it count by a number, and a loop for what is left over.

    Raises:
        UnprintableError: a macro makes the head, or a directive can't be written twice.
    """
    kernel, stmt = nest.kernel, loop.stmt
    trips, condition = loop.trips, stmt.condition
    first = first_value(stmt)
    assert trips is not None
    assert condition is not None
    assert stmt.step is not None
    if not kernel.is_plain(stmt.step.where) or not kernel.is_plain(stmt.where):
        raise UnprintableError
    name = loop.variable.name
    start, end = kernel.span(stmt.step.where)
    if loop.cyclic is None:
        edits = [kernel.edit(start, end, f"{name} += {by * loop.step}")]
    else:
        if not kernel.is_plain(first.where):
            raise UnprintableError
        number, size = loop.cyclic
        edits = [kernel.edit(start, end, f"{name} += {size.name} * {by * loop.step}")]
        begin = f"{number.name} * {by * loop.step}"
        if loop.lower.constant:
            begin += f" + {loop.lower.constant}"
        edits.append(kernel.edit(*kernel.span(first.where), begin))
    left = trips % by
    if not left:
        return edits
    edits += changes(kernel, [condition], sooner(nest, loop, (by - 1) * loop.step))
    edits += left_over(nest, loop, left)
    return edits


def sooner(nest: Nest, loop: Loop, by: int) -> dict[Expr, str]:
    """The text for a loop's bound with which it ends sooner."""
    condition = loop.stmt.condition
    assert isinstance(condition, Binary)
    bound = condition.right
    if any(isinstance(e, Name) and e.variable is loop.variable for e in walk(bound)):
        bound = condition.left
    if nest.kernel.is_use(bound.where):
        text = nest.kernel.written(bound.where).decode("utf-8", "surrogateescape")
        text = text if isinstance(without_casts(bound), Literal) else f"({text})"
    else:
        text = text_of(nest.kernel, bound)
    return {bound: f"{text} - {by}"} if by else {}


def left_over(nest: Nest, loop: Loop, left: int) -> list[Edit]:
    """The loop again, for its last iterations."""
    kernel, stmt = nest.kernel, loop.stmt
    if loop.cyclic is not None:
        raise UnprintableError
    start, end = kernel.statement_span(stmt)
    opened = start
    if stmt.pragmas:
        if any(p.is_operator or p.where.file != kernel.unit.file for p in stmt.pragmas):
            raise UnprintableError
        if any(d.has("target") or d.has("parallel") for d in directives(stmt.pragmas)):
            raise UnprintableError
        opened = kernel.span(stmt.pragmas[0].where)[0]
    first = first_value(stmt)
    if not kernel.is_plain(first.where) and kernel.constant_of(first) is None:
        raise UnprintableError
    init_start, init_end = kernel.span(first.where)
    assert loop.last is not None
    begin = loop.last - loop.step * (left - 1)
    again = kernel.text[opened:init_start] + str(begin).encode() + kernel.text[init_end:end]
    indent = kernel.indent(opened)
    edits = []
    if wrapped(nest, stmt):
        edits.append(kernel.edit(opened, opened, b"{\n" + indent))
        again += b"\n" + indent + b"}"
    return [*edits, kernel.edit(end, end, b"\n" + indent + again)]


def first_value(stmt: For) -> Expr:
    """The first value of a loop's variable."""
    match stmt.init:
        case Declare(variables=(variable,)) if variable.init is not None:
            return variable.init
        case Evaluate(value=Assign(value=value)):
            return value
    raise UnprintableError


def aligned(nest: Nest, access: Access, loop: Loop, lanes: int, size: int) -> bool:
    """Return whether an access is at a multiple of a vector's size in each so many iterations.

    Args:
        nest: the region's.
        access: at the next element in the next iteration.
        loop: those iterations are of.
        lanes: elements of the vector.
        size: its bytes.
    """
    forms = access.subscripts
    if forms is None or access.lanes > 1:
        return False
    kind = access.variable.type
    dimension = len(forms) - 1
    rows: list[int] = []  # elements from one row to the next, of the outer dimensions
    inner = (
        kind.target
        if isinstance(kind, Pointer)
        else kind.element
        if isinstance(kind, Array)
        else None
    )
    for _ in range(dimension):
        if not isinstance(inner, Array) or inner.extent is None:
            return False
        rows.append(inner.extent)
        inner = inner.element
    if not isinstance(inner, Scalar):
        return False
    for number, form in enumerate(forms):
        unit = 1
        for extent in rows[number:]:
            unit *= extent
        at = form.constant
        for term, factor in form.terms.items():
            if not term:
                continue
            counted = next((o for o in access.loops if term == (o.variable,)), None)
            if counted is None:
                if factor * unit % lanes:
                    return False
                continue
            if not counted.lower.is_number:
                return False
            at += factor * counted.lower.constant
            step = counted.step * (lanes if counted is loop else 1)
            if factor * unit * step % lanes:
                return False
        if at * unit % lanes:
            return False
    name = next((e for e in walk(access.node) if isinstance(e, Name)
                 and e.variable is access.variable), None)  # fmt: skip
    if access.variable in nest.kernel.own | nest.kernel.target.thread_private:
        return False  # nothing aligns an array of a thread's own
    return name is not None and nest.kernel.alignment(name) >= size


class _Vectors:
    """A loop in lanes."""

    def __init__(self, nest: Nest, loop: Loop, size: int) -> None:
        self.nest, self.loop, self.kernel = nest, loop, nest.kernel
        self.body = loop.stmt.body
        if loop.step != 1 or not loop.lower.is_number or not self.kernel.is_simple:
            raise _No
        self.accesses = {a.node: a for a in nest.inside(self.body)}
        # Where neighbours are: what the loop is worth it for.
        near = [a for a in self.accesses.values() if self._moves(a)]
        kinds = {a.node.type for a in near}
        if len(kinds) != 1:
            raise _No
        (kind,) = kinds
        if not isinstance(kind, Scalar) or kind.bits < 32:
            raise _No
        self.kind = kind
        self.lanes = size // (kind.bits // 8)
        self.size = size
        if (loop.trips or 0) < self.lanes or self.lanes < 2:
            raise _No
        if not independent(nest, loop) or asks_for_thread(nest, self.body):
            raise _No
        if loop.is_parallel and not redistributable(nest, loop):
            raise _No
        if any(p.tokens[:1] != ("omp",) for p in loop.stmt.pragmas) or any(
            c.name in ("collapse", "ordered", "lastprivate", "linear", "reduction", "schedule")
            for d in directives(loop.stmt.pragmas) for c in d.clauses
            if not (c.name == "schedule" and len(c.words or ()) < 2)
        ):  # fmt: skip
            raise _No
        self.vectors = self._found()
        self.new: dict[Expr, str] = {}
        self.declarations: list[Edit] = []

    def edits(self) -> list[Edit]:
        """The edits of the text.

        Raises:
            _No: the body is none that can be in lanes.
            UnprintableError: macros are in the way.
        """
        self.name, edits = vector_type(self.kernel, self.kind, self.lanes)
        edits += strip(self.nest, self.loop, self.lanes)
        self._statement(self.body)
        exprs = [
            e for s in statements(self.body) if not isinstance(s, Declare)
            for e in own_expressions(s)
        ]  # fmt: skip
        return [*edits, *self.declarations, *changes(self.kernel, exprs, self.new)]

    def _moves(self, access: Access) -> bool:
        """Return whether another iteration has another element."""
        return any(f is None or self.loop.variable in f.variables for f in access.forms)

    def _found(self) -> set[Variable]:
        """The variables that differ from lane to lane."""
        found: set[Variable] = set()
        own = {v for v in declared(self.body) if v.type == self.kind}
        while True:
            before = len(found)
            for stmt in statements(self.body):
                if isinstance(stmt, Declare):
                    found |= {
                        v for v in stmt.variables
                        if v in own and v.init is not None and self._differs(v.init, found)
                    }  # fmt: skip
            for top in outermost(self.body):
                for e in walk(top):
                    if not isinstance(e, Assign) or not isinstance(e.target, Name):
                        continue
                    if e.target.variable in own and self._differs(e.value, found):
                        found.add(e.target.variable)
            if len(found) == before:
                return found

    def _differs(self, expr: Expr, found: set[Variable]) -> bool:
        for e in walk(expr):
            access = self.accesses.get(e)
            if access is not None and self._moves(access):
                return True
            if isinstance(e, Name) and e.variable in found:
                return True
        return False

    # Statements

    def _statement(self, stmt: Stmt) -> None:
        match stmt:
            case Block(body=body):
                for inner in body:
                    self._statement(inner)
            case Declare():
                self._declare(stmt)
            case Evaluate(value=Assign() as value):
                self._assign(value)
            case For():
                inner_loop = next((one for one in self.nest.loops if one.stmt is stmt), None)
                if inner_loop is None or self.loop.variable in (
                    inner_loop.lower.variables | inner_loop.upper.variables
                ):
                    raise _No
                for expr in own_expressions(stmt):
                    if self._differs(expr, self.vectors):
                        raise _No
                self._statement(stmt.body)
            case If(condition=condition, then=then, other=other):
                if self._value(condition):
                    raise _No
                self._statement(then)
                if other is not None:
                    self._statement(other)
            case Empty():
                pass
            case _:
                raise _No

    def _declare(self, stmt: Declare) -> None:
        vectors = [v for v in stmt.variables if v in self.vectors]
        for variable in stmt.variables:
            if variable not in vectors and variable.init is not None:
                self._scalar(variable.init)
        if not vectors:
            return
        if not self.kernel.is_plain(stmt.where):
            raise _No
        lines = []
        for variable in stmt.variables:
            if not isinstance(variable.type, Scalar):
                raise _No
            if variable not in vectors:
                text = "" if variable.init is None else f" = {self._text(variable.init)}"
                lines.append(f"{variable.type} {variable.name}{text};")
                continue
            lines.append(f"{self.name} {variable.name}{self._initial(variable)};")
        start, end = self.kernel.statement_span(stmt)
        between = "\n" + self.kernel.indent(start).decode()
        self.declarations.append(self.kernel.edit(start, end, between.join(lines)))

    def _initial(self, variable: Variable) -> str:
        init = variable.init
        if init is None:
            return ""
        if self._value(init):
            return f" = {self._text(init)}"
        bare = without_casts(init)
        if isinstance(bare, Literal) and bare.value == 0 and str(bare.value)[0] != "-":
            return " = {0}"
        return f" = {{{', '.join([self._text(init)] * self.lanes)}}}"

    def _text(self, expr: Expr) -> str:
        text = text_of(self.kernel, expr, self.new)
        return text[1:-1] if text.startswith("(") and isinstance(expr, Binary) else text

    def _assign(self, expr: Assign) -> None:
        target = expr.target
        access = self.accesses.get(target)
        is_vector = (isinstance(target, Name) and target.variable in self.vectors) or (
            access is not None and self._vector_access(target, access)
        )
        differs = self._value(expr.value)
        if not is_vector:
            if differs or not isinstance(target, Name):
                raise _No
            return
        op = expr.op.removesuffix("=")
        if target.type != self.kind or expr.common != self.kind:
            raise _No
        if op and op not in (_FLOAT if self.kind.is_float else _INT):
            raise _No
        if not differs:
            if not op:
                raise _No
            self._broadcast(expr.value)

    # Expressions

    def _scalar(self, expr: Expr) -> None:
        """Check what is the same, or a subscript, in all lanes."""
        if self._differs(expr, self.vectors):
            raise _No

    def _value(self, expr: Expr) -> bool:
        """Return whether an expression differs from lane to lane."""
        if not self._differs(expr, self.vectors):
            for e in walk(expr):
                if isinstance(e, Assign) or (isinstance(e, Unary) and e.op in STEPS):
                    raise _No
                if isinstance(e, Name) and self._counts(e.variable):
                    self._outside_subscripts(expr, e)
            return False
        match expr:
            case Name():
                return True
            case Index():
                access = self.accesses.get(expr)
                if access is None or not self._vector_access(expr, access):
                    raise _No
                return True
            case Cast(operand=operand, type=kind) if kind == operand.type:
                return self._value(operand)
            case Unary(op="-", operand=operand) if self.kind.is_float and expr.type == self.kind:
                return self._value(operand)
            case Binary(op=op, left=left, right=right):
                if op not in (_FLOAT if self.kind.is_float else _INT) or expr.type != self.kind:
                    raise _No
                for part in (left, right):
                    if part.type != self.kind:
                        raise _No
                    if not self._value(part):
                        self._broadcast(part)
                return True
        raise _No

    def _counts(self, variable: Variable) -> bool:
        """Return whether a variable's value follows the loop's."""
        if variable is self.loop.variable:
            return True
        if variable in declared(self.body) and variable.init is not None:
            return any(
                isinstance(e, Name) and self._counts(e.variable) for e in walk(variable.init)
            )
        return False

    def _outside_subscripts(self, top: Expr, name: Name) -> None:
        """Refuse the loop's variable as a value: lanes have others."""
        if not any(
            isinstance(e, Index) and any(inner is name for inner in walk(e.index))
            for e in walk(top)
        ):
            raise _No

    def _broadcast(self, expr: Expr) -> None:
        """A number that all lanes share, in the elements' type."""
        if isinstance(expr, Cast) and expr.implicit:
            self.new[expr] = f"({self.kind}){text_of(self.kernel, expr, self.new)}"
        if isinstance(expr, Call):
            raise _No

    def _vector_access(self, expr: Expr, access: Access) -> bool:
        """Return whether an access becomes a vector's; False if it is one of one element."""
        if not self._moves(access):
            return False
        forms = access.subscripts
        if forms is None or not isinstance(expr, Index):
            raise _No
        if any(self.loop.variable in f.variables for f in forms[:-1]):
            raise _No
        if forms[-1].factor(self.loop.variable) != 1 or access.node.type != self.kind:
            raise _No
        if not aligned(self.nest, access, self.loop, self.lanes, self.size):
            raise _No
        if any(self._differs(s, self.vectors) for s in _subscripts(expr)):
            raise _No
        self.new[expr] = f"*({self.name} *)&{text_of(self.kernel, expr)}"
        return True


def _subscripts(expr: Expr) -> Iterator[Expr]:
    while isinstance(expr, Index):
        yield expr.index
        expr = expr.base
