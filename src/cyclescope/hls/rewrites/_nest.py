"""The loops and the accesses of a target region, as far as their numbers are known."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from cyclescope.c import (
    STEPS,
    Array,
    Assign,
    Binary,
    Break,
    Call,
    Cast,
    Conditional,
    Continue,
    Declare,
    Evaluate,
    Expr,
    For,
    If,
    Index,
    Literal,
    Member,
    Name,
    Pointer,
    Return,
    Scalar,
    Stmt,
    Unary,
    Variable,
    Vector,
    children,
    expressions,
    inner_statements,
    own_expressions,
    statements,
    without_casts,
)
from cyclescope.hls.front import directives
from cyclescope.hls.rewrites._forms import Form, form_of

if TYPE_CHECKING:
    from cyclescope.c import Pragma
    from cyclescope.hls.rewrites._kernel import Kernel

__all__ = ["Access", "Loop", "Nest", "nest_of"]

_LOCKS = ("critical", "atomic")


@dataclass(frozen=True, eq=False)
class Loop:
    """A loop that counts a variable up by a constant, which nothing else changes.

    Attributes:
        stmt: it.
        variable: that it counts.
        lower: its first value; of a cyclic loop that of the first thread.
        upper: above its last one.
        step: from one value to the next; of a cyclic loop from one thread's to the next one's.
        around: the loops around it, outermost first.
        pragma: the directive that shares its iterations out.
        cyclic: the variables with the thread's number and the size of the team, if thread t has
            the iterations t, t + size, t + 2 size …
        conditional: whether it is executed may depend on data.
    """

    stmt: For
    variable: Variable
    lower: Form
    upper: Form
    step: int
    around: tuple[Loop, ...]
    pragma: Pragma | None
    cyclic: tuple[Variable, Variable] | None
    conditional: bool

    @property
    def is_parallel(self) -> bool:
        """Return whether the team's threads share its iterations out."""
        return self.pragma is not None or self.cyclic is not None

    @property
    def trips(self) -> int | None:
        """Its iterations, of all threads together."""
        if not self.lower.is_number or not self.upper.is_number:
            return None
        return max(0, -((self.lower.constant - self.upper.constant) // self.step))

    @property
    def last(self) -> int | None:
        """Its variable's last value, if it has iterations and their number is known."""
        trips = self.trips
        return self.lower.constant + self.step * (trips - 1) if trips else None

    @property
    def declares(self) -> bool:
        """Return whether its variable is its own."""
        return isinstance(self.stmt.init, Declare)


@dataclass(frozen=True, eq=False)
class Access:
    """An access of an array.

    Attributes:
        node: the expression.
        variable: the array.
        forms: its subscripts, outermost first; empty if they aren't known.
        reads, writes: what it does there.
        loops: around it, outermost first.
        conditional: whether it takes place may depend on data.
        is_known_loop: all loops around it are among `loops`.
        lanes: elements from there on, of a vector.
    """

    node: Expr
    variable: Variable
    forms: tuple[Form | None, ...]
    reads: bool
    writes: bool
    loops: tuple[Loop, ...]
    conditional: bool
    is_known_loop: bool
    lanes: int = 1

    @property
    def subscripts(self) -> tuple[Form, ...] | None:
        """Its subscripts, if all are known."""
        found = tuple(f for f in self.forms if f is not None)
        return found if found and len(found) == len(self.forms) else None


@dataclass
class Nest:
    """The loops and accesses of a region.

    Attributes:
        loops: those that are known, in the order of the text.
        accesses: of arrays, in the order of the text.
        places: the place of each statement in the text: the loops around it.
        parents: the statement around each statement.
    """

    kernel: Kernel
    loops: list[Loop] = field(default_factory=list)
    accesses: list[Access] = field(default_factory=list)
    places: dict[Stmt, tuple[Loop, ...]] = field(default_factory=dict)
    parents: dict[Stmt, Stmt] = field(default_factory=dict)

    def inside(self, stmt: Stmt) -> list[Access]:
        """The accesses in a statement."""
        own = {id(e) for e in expressions(stmt)}
        return [a for a in self.accesses if id(a.node) in own]

    @cached_property
    def written(self) -> frozenset[Variable]:
        """The arrays that the region writes."""
        return frozenset(a.variable for a in self.accesses if a.writes)

    def path(self, loop: Loop) -> str:
        """A loop's name for people, which no change elsewhere changes."""
        names = [f"for {one.variable.name}" for one in (*loop.around, loop)]
        same = [
            other for other in self.loops
            if [f"for {o.variable.name}" for o in (*other.around, other)] == names
        ]  # fmt: skip
        number = f" #{same.index(loop) + 1}" if len(same) > 1 else ""
        return f"{self.kernel.target.function.name}: {', '.join(names)}{number}"

    def loops_in(self, stmt: Stmt) -> list[Loop]:
        """The loops in a statement, itself included."""
        own = {id(s) for s in statements(stmt)}
        return [loop for loop in self.loops if id(loop.stmt) in own]


def nest_of(kernel: Kernel) -> Nest:
    """The loops and accesses of a kernel's region."""
    nest = Nest(kernel)
    _Visitor(kernel, nest).statement(kernel.target.stmt, (), False, True)
    return nest


class _Visitor:
    def __init__(self, kernel: Kernel, nest: Nest) -> None:
        self.kernel, self.nest = kernel, nest
        self._counted: dict[Variable, Loop | None] = {}
        self._resolving: set[Variable] = set()

    def statement(
        self, stmt: Stmt, loops: tuple[Loop, ...], conditional: bool, known: bool
    ) -> None:
        self.nest.places[stmt] = loops
        if isinstance(stmt, For):
            self._for(stmt, loops, conditional, known)
            return
        is_loop = not isinstance(stmt, If) and hasattr(stmt, "condition")
        for expr in own_expressions(stmt):
            self.expression(expr, loops, conditional or is_loop, known and not is_loop, reads=True)
        for inner in inner_statements(stmt):
            if inner is not None:
                self.nest.parents[inner] = stmt
                unsure = conditional or isinstance(stmt, If) or is_loop
                self.statement(inner, loops, unsure, known and not is_loop)

    def _for(self, stmt: For, loops: tuple[Loop, ...], conditional: bool, known: bool) -> None:
        if stmt.init is not None:
            self.nest.parents[stmt.init] = stmt
            self.statement(stmt.init, loops, conditional, known)
        self.nest.parents[stmt.body] = stmt
        loop = self._loop(stmt, loops, conditional or not known)
        for expr in own_expressions(stmt):
            self.expression(expr, loops, True, False, reads=True)
        if loop is None:
            self.statement(stmt.body, loops, True, False)
            return
        self.nest.loops.append(loop)
        jumps = any(isinstance(s, Break | Continue | Return) for s in statements(stmt.body))
        outer = self._counted.get(loop.variable)
        self._counted[loop.variable] = loop
        unsure = conditional or jumps or not loop.trips
        self.statement(stmt.body, (*loops, loop), unsure, known and not jumps)
        self._counted[loop.variable] = outer

    def _loop(self, stmt: For, loops: tuple[Loop, ...], conditional: bool) -> Loop | None:
        """A statement as a loop that counts."""
        variable, first = _begin(stmt.init)
        if variable is None or first is None or stmt.condition is None or stmt.step is None:
            return None
        kind = variable.type
        if not isinstance(kind, Scalar) or kind.kind != "int" or kind.bits < 32:
            return None
        if any(_changes(e, variable) for e in expressions(stmt.body)):
            return None
        if any(
            isinstance(e, Unary) and e.op == "&" and _is(e.operand, variable)
            for e in expressions(self.kernel.target.function.body)
        ):
            return None
        lower = self.form(first)
        upper = self._upper(stmt.condition, variable)
        step = _step(stmt.step, variable)
        apart = self.form(step) if step is not None else None
        if lower is None or upper is None or apart is None or variable in upper.variables:
            return None
        if any(_changes(e, v) for v in upper.variables for e in expressions(stmt.body)):
            return None
        cyclic = None
        if not apart.is_number:
            cyclic = self._cyclic(lower, apart)
            if cyclic is None:
                return None
            apart = Form.of(apart.terms[(cyclic[1],)])
            lower = lower.without(cyclic[0])
        if apart.constant <= 0:
            return None
        pragma = next((p for p in stmt.pragmas if _shares(p)), None)
        return Loop(
            stmt, variable, lower, upper, apart.constant, loops, pragma, cyclic, conditional
        )

    def _upper(self, condition: Expr, variable: Variable) -> Form | None:
        if not isinstance(condition, Binary):
            return None
        left, right, op = condition.left, condition.right, condition.op
        if op in (">", ">="):
            left, right, op = right, left, {">": "<", ">=": "<="}[op]
        if op not in ("<", "<=") or not _is(left, variable):
            return None
        found = self.form(right)
        return found if found is None or op == "<" else found + Form.of(1)

    def _cyclic(self, lower: Form, step: Form) -> tuple[Variable, Variable] | None:
        """The thread's number and the team's size, if they share iterations out in turn."""
        if len(step.terms) != 1:
            return None
        ((term, factor),) = step.terms.items()
        if len(term) != 1 or not _asks(term[0], "omp_get_num_threads"):
            return None
        numbers = [v for v in lower.variables if _asks(v, "omp_get_thread_num")]
        if len(numbers) != 1 or lower.factor(numbers[0]) != factor:
            return None
        return numbers[0], term[0]

    def form(self, expr: Expr) -> Form | None:
        return form_of(expr, self._known)

    def _known(self, variable: Variable) -> Form | None:
        if variable in self._counted and self._counted[variable] is not None:
            return Form.of(variable)
        value = self.kernel.constant(variable)
        if value is not None:
            return Form.of(value)
        if not self.kernel.is_fixed(variable) or variable in self._resolving:
            return None
        if variable.scope == "local" and variable.init is not None:
            self._resolving.add(variable)
            found = form_of(variable.init, self._known)
            self._resolving.discard(variable)
            if found is not None:
                return found
        return Form.of(variable)

    def expression(
        self,
        expr: Expr,
        loops: tuple[Loop, ...],
        conditional: bool,
        known: bool,
        *,
        reads: bool,
        writes: bool = False,
    ) -> None:
        """Find the accesses in an expression."""

        def visit(part: Expr, unsure: bool = False, **does: bool) -> None:
            given = {"reads": True, **does}
            self.expression(part, loops, conditional or unsure, known, **given)

        match expr:
            case Assign(op=op, target=target, value=value):
                visit(value)
                visit(target, reads=op != "=", writes=True)
            case Unary(op=op, operand=operand) if op in STEPS:
                visit(operand, writes=True)
            case Unary(op="*") if _vector(expr) is not None:
                variable, subscripts, lanes = _vector(expr) or (None, [], 1)
                assert variable is not None
                forms = tuple(self.form(s) for s in subscripts)
                does = reads, writes
                self._add(expr, variable, forms, does, loops, conditional, known, lanes)
                for inner in subscripts:
                    visit(inner)
            case Unary(op="*", operand=operand):
                self._pointed(operand, loops, conditional, reads, writes)
            case Unary(op="&", operand=operand):
                self._pointed(expr, loops, conditional, True, True)
            case Conditional(condition=condition, then=then, other=other):
                visit(condition)
                visit(then, unsure=True)
                visit(other, unsure=True)
            case Binary(op="&&" | "||", left=left, right=right):
                visit(left)
                visit(right, unsure=True)
            case Index() if _array(expr) is not None:
                variable, subscripts = _array(expr) or (None, [])
                assert variable is not None
                if isinstance(expr.type, Array):  # a row, whose elements are anywhere
                    self._add(expr, variable, (), (reads, writes), loops, conditional, known)
                else:
                    forms = tuple(self.form(s) for s in subscripts)
                    does = reads, writes
                    self._add(expr, variable, forms, does, loops, conditional, known)
                for inner in subscripts:
                    visit(inner)
            case Name(variable=variable) if isinstance(variable.type, Array | Pointer):
                self._add(expr, variable, (), (True, True), loops, conditional, known)
            case Cast(operand=inner) | Member(base=inner):
                visit(inner, reads=reads, writes=writes)
            case Index(base=base, index=index):
                visit(base, reads=reads, writes=writes)
                visit(index)
            case _:
                for inner in children(expr):
                    visit(inner)

    def _pointed(
        self, expr: Expr, loops: tuple[Loop, ...], conditional: bool, reads: bool, writes: bool
    ) -> None:
        """An access by a pointer: somewhere in the arrays that make it."""
        expr = without_casts(expr)
        if isinstance(expr, Unary) and expr.op == "&":
            found = _array(expr.operand)
            if found is not None:
                variable, subscripts = found
                self._add(expr, variable, (), (reads, writes), loops, conditional, False)
                for inner in subscripts:
                    self.expression(inner, loops, conditional, False, reads=True)
                return
        if isinstance(expr, Name):
            if isinstance(expr.variable.type, Array | Pointer):
                self._add(expr, expr.variable, (), (reads, writes), loops, conditional, False)
            return
        for inner in children(expr):
            if isinstance(inner.type, Array | Pointer):
                self._pointed(inner, loops, conditional, reads, writes)
            else:
                self.expression(inner, loops, conditional, False, reads=True)

    def _add(
        self,
        node: Expr,
        variable: Variable,
        forms: tuple[Form | None, ...],
        does: tuple[bool, bool],
        loops: tuple[Loop, ...],
        conditional: bool,
        known: bool,
        lanes: int = 1,
    ) -> None:
        self.nest.accesses.append(
            Access(node, variable, forms, does[0], does[1], loops, conditional, known, lanes)
        )


def _vector(expr: Expr) -> tuple[Variable, list[Expr], int] | None:
    """Of `*(VECTOR *)&a[i]`: the array, the subscripts of its first element, how many it has."""
    if not isinstance(expr, Unary) or not isinstance(expr.type, Vector):
        return None
    inner = without_casts(expr.operand)
    if not isinstance(inner, Unary) or inner.op != "&" or inner.operand.type != expr.type.element:
        return None
    found = _array(inner.operand)
    return None if found is None else (*found, expr.type.lanes)


def _array(expr: Expr) -> tuple[Variable, list[Expr]] | None:
    """An element's array, and its subscripts, outermost first."""
    subscripts: list[Expr] = []
    while isinstance(expr, Index):
        if not isinstance(expr.base.type, Array | Pointer):
            return None
        subscripts.insert(0, expr.index)
        expr = without_casts(expr.base) if _decays(expr.base) else expr.base
    if isinstance(expr, Name) and isinstance(expr.variable.type, Array | Pointer):
        return expr.variable, subscripts
    return None


def _decays(expr: Expr) -> bool:
    return isinstance(expr, Cast) and expr.implicit


def _begin(init: Stmt | None) -> tuple[Variable | None, Expr | None]:
    match init:
        case Declare(variables=(variable,)):
            return variable, variable.init
        case Evaluate(value=Assign(op="=", target=Name(variable=variable), value=value)):
            return variable, value
    return None, None


def _is(expr: Expr, variable: Variable) -> bool:
    inner = without_casts(expr)
    return isinstance(inner, Name) and inner.variable is variable


def _changes(expr: Expr, variable: Variable) -> bool:
    match expr:
        case Assign(target=target):
            return _is(target, variable)
        case Unary(op=op, operand=operand) if op in STEPS or op == "&":
            return _is(operand, variable)
    return False


def _step(expr: Expr, variable: Variable) -> Expr | None:
    """The number that an expression adds to a variable."""
    match expr:
        case Unary(op="pre++" | "post++", operand=operand) if _is(operand, variable):
            return Literal(expr.where, expr.type, 1)
        case Assign(op="+=", target=target, value=value) if _is(target, variable):
            return value
        case Assign(op="=", target=target, value=Binary(op="+", left=left, right=right)):
            if _is(target, variable) and _is(left, variable):
                return right
            if _is(target, variable) and _is(right, variable):
                return left
    return None


def _asks(variable: Variable, function: str) -> bool:
    """Return whether a variable's value is what a function of OpenMP says."""
    given = without_casts(variable.init) if variable.init is not None else None
    return isinstance(given, Call) and given.function == function


def _shares(pragma: Pragma) -> bool:
    return any(d.has("for") or d.has("distribute") for d in directives([pragma]))
