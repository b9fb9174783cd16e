"""Loop counters: the variables that a loop steps affinely, which address units keep for nothing.

A variable is a counter of a loop if all that changes it there are steps, by amounts that the loop
leaves alone, and every way to the next iteration takes the same ones (in the head, the condition,
or the body: straight in it, before each `continue`, in each branch). Where it is not, and outside
that loop, it is a variable like any other.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

from cyclescope.c import (
    STEPS,
    Array,
    Assign,
    Binary,
    Block,
    Break,
    Call,
    Cast,
    Conditional,
    Continue,
    Declare,
    DoWhile,
    Empty,
    Evaluate,
    Expr,
    For,
    Function,
    Goto,
    If,
    Index,
    Literal,
    Member,
    Name,
    Pointer,
    Return,
    Scalar,
    Stmt,
    Switch,
    Unary,
    Variable,
    While,
    called,
    children,
    expressions,
    inner_statements,
    outermost,
    own_expressions,
    show,
    statements,
    walk,
    whole,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cyclescope.c import Unit

__all__ = [
    "Counters",
    "Loop",
    "counters_of",
    "declared",
    "named",
    "reached",
    "root_of",
]

Loop: TypeAlias = "For | While | DoWhile"


def declared(function: Function) -> list[Variable]:
    """The variables that a function declares, its parameters first."""
    inside = [v for s in statements(function.body) if isinstance(s, Declare) for v in s.variables]
    return [*function.params, *inside]


def reached(unit: Unit, function: Function) -> Iterator[Function]:
    """A function and those with a body that it calls, or that they call; each once."""
    yield function
    for other in called(expressions(function.body), unit.functions):
        if other.body is not None and other is not function:
            yield other


def named(function: Function) -> set[Variable]:
    """The variables that a function names, in its extents, too."""
    extents = (n for v in declared(function) for e in v.extents for n in walk(e))
    every = (*extents, *expressions(function.body))
    return {n.variable for n in every if isinstance(n, Name)}


def _changes(node: Expr) -> list[tuple[Variable, Expr]]:
    """The variables that an expression changes, each with the node that does."""
    found = []
    for inner in walk(node):
        target: Expr | None = None
        if isinstance(inner, Assign):
            target = inner.target
        elif isinstance(inner, Unary) and inner.op in STEPS:
            target = inner.operand
        variable = root_of(target) if target is not None else None
        if variable is not None:
            found.append((variable, inner))
    return found


def root_of(node: Expr) -> Variable | None:
    """The variable that an lvalue is, or is a field of; `p->x` is none of `p`."""
    owner = whole(node)
    return owner.variable if isinstance(owner, Name) else None


@dataclass
class Counters:
    """The known facts about a function's variables.

    Attributes:
        loops: the counters of each loop.
        steps: the expressions that step a counter in its loop.
        starts: for each loop and counter what gives it its first value, where that is told: an
            assignment, or a variable with its initial value.
        changed: the variables that the function itself changes.
        addressed: those of which some function takes the address.
        pure: pointers that only ever hold addresses made of counters, parameters and constants.
    """

    loops: dict[Stmt, frozenset[Variable]] = field(default_factory=dict)
    steps: set[Expr] = field(default_factory=set)
    starts: dict[tuple[Stmt, Variable], Expr | Variable] = field(default_factory=dict)
    changed: set[Variable] = field(default_factory=set)
    addressed: set[Variable] = field(default_factory=set)
    pure: set[Variable] = field(default_factory=set)

    @cached_property
    def beginnings(self) -> set[Expr | Variable]:
        """All that gives a counter its first value."""
        return set(self.starts.values())


def counters_of(
    unit: Unit, function: Function, data: frozenset[Variable] = frozenset()
) -> Counters:
    """Analyse a function; what it calls counts where it changes globals.

    Args:
        unit: its text.
        function: which.
        data: those of its parameters that are passed something that must be waited for.
    """
    return _Analysis(unit, function, data).result


class _Analysis:
    def __init__(self, unit: Unit, function: Function, data: frozenset[Variable]) -> None:
        self._unit = unit
        self._given = data
        self._behind: dict[str, set[Variable]] = {}
        self._data: set[Variable] = set()
        self._inside = _Inside()
        self.result = Counters()
        every = outermost(function.body)
        self.result.changed = {v for e in every for v, _ in _changes(e)}
        self.result.addressed = _addressed(unit)
        self._steady = set(function.params) - self.result.changed - data
        for node in statements(function.body):
            if isinstance(node, Declare):
                self._steady |= {
                    v
                    for v in node.variables
                    if isinstance(_plain(v.init), Literal) and v not in self.result.changed
                }
        self._visit(function.body, frozenset())
        self._begin(function)
        self._purify(function)

    def _called(self, name: str) -> set[Variable]:
        """The globals that a function changes, or one that it calls."""
        if name not in self._behind:
            self._behind[name] = set()
            function = self._unit.functions.get(name)
            if function is not None and function.body is not None:
                self._behind[name] = self._all_changes(function.body)
        return self._behind[name]

    def _all_changes(self, node: Stmt | None) -> set[Variable]:
        found: set[Variable] = set()
        for expression in outermost(node):
            found |= {v for v, _ in _changes(expression)}
            for inner in walk(expression):
                if isinstance(inner, Call):
                    found |= self._called(inner.function)
        return found

    def _visit(self, node: Stmt | None, outer: frozenset[Variable]) -> None:
        match node:
            case None:
                return
            case For() | While() | DoWhile():
                own = self._counters(node, outer)
                self.result.loops[node] = own
                for part in ("init", "body"):
                    self._visit(getattr(node, part, None), outer | own)
            case _:
                for inner in inner_statements(node):
                    self._visit(inner, outer)

    def _counters(self, loop: Loop, outer: frozenset[Variable]) -> frozenset[Variable]:
        head = [e for e in own_expressions(loop) if e is not None]
        inside = [*head, *outermost(loop.body)]
        changes: dict[Variable, list[Expr]] = {}
        for expression in inside:
            for variable, node in _changes(expression):
                changes.setdefault(variable, []).append(node)
        behind = {
            v
            for e in inside
            for n in walk(e)
            if isinstance(n, Call)
            for v in self._called(n.function)
        }
        once = {n for e in head for n in _certain(e)}
        touched = set(changes) | behind
        found = set()
        for variable, nodes in changes.items():
            kind = variable.type
            whole = isinstance(kind, Pointer) or (
                isinstance(kind, Scalar) and not kind.is_float and kind.kind != "bool"
            )
            if not whole or variable in behind or variable in self.result.addressed:
                continue
            if not all(self._is_step(n, touched, outer) for n in nodes):
                continue
            if all(n in once for n in nodes) or (
                all(n in once for e in head for v, n in _changes(e) if v is variable)
                and self._inside.ways(loop.body, variable).is_one(loop.body)
            ):
                found.add(variable)
                self.result.steps |= set(nodes)
        return frozenset(found)

    def _is_step(self, node: Expr, touched: set[Variable], outer: frozenset[Variable]) -> bool:
        match node:
            case Unary():
                return True
            case Assign(op="+=" | "-=", value=value):
                return self._is_steady(value, touched, outer)
            case Assign(op="=", target=Name(variable=variable), value=value):
                match _plain(value):
                    case Binary(op="+" | "-" as op, left=left, right=right):
                        if _names(left, variable):
                            return self._is_steady(right, touched, outer)
                        return (
                            op == "+"
                            and _names(right, variable)
                            and self._is_steady(left, touched, outer)
                        )
        return False

    def _is_steady(
        self, node: Expr | None, touched: set[Variable], outer: frozenset[Variable]
    ) -> bool:
        match node:
            case Literal(value=int()):
                return True
            case Name(variable=variable):
                return variable not in touched and (variable in outer or variable in self._steady)
            case Cast(operand=operand, type=Scalar(kind="int" | "uint")):
                return self._is_steady(operand, touched, outer)
            case Unary(op="-" | "~" | "!", operand=operand):
                return self._is_steady(operand, touched, outer)
            case Binary(left=left, right=right):
                return all(self._is_steady(e, touched, outer) for e in (left, right))
        return False

    # -- pointers ------------------------------------------------------------------------------

    def _purify(self, function: Function) -> None:
        """Find the pointers that hold nothing but addresses: assume all, and strike out."""
        given: list[tuple[Variable, Expr | None]] = []
        for node in statements(function.body):
            if isinstance(node, Declare):
                given += [(v, v.init) for v in node.variables if isinstance(v.type, Pointer)]
        for expression in outermost(function.body):
            for variable, change in _changes(expression):
                if isinstance(variable.type, Pointer) and isinstance(change, Assign):
                    given.append((variable, change.value))
        known = self.result.steps | self.result.beginnings
        stepped = {
            v
            for e in outermost(function.body)
            for v, n in _changes(e)
            if n not in known and not isinstance(v.type, Pointer)
        }
        begun = {
            v
            for node in statements(function.body)
            if isinstance(node, Declare)
            for v in node.variables
            if v.init is not None and v not in known and v not in self._steady
        }
        self._data = stepped | begun | self._given
        self.result.pure = {v for v, _ in given if v.scope != "global"} | {
            p for p in function.params if isinstance(p.type, Pointer)
        }
        self.result.pure -= self.result.addressed | self._given
        while True:
            struck = {
                v
                for v, value in given
                if v in self.result.pure and value is not None and not self._is_pure(value)
            }
            if not struck:
                return
            self.result.pure -= struck

    def _is_pure(self, node: Expr) -> bool:
        """Return whether an expression is an address, or a number for one, that reads no data."""
        match node:
            case Literal():
                return True
            case Name(variable=variable):
                if isinstance(variable.type, Pointer):
                    return variable in self.result.pure
                return isinstance(variable.type, Array) or (
                    variable.scope in ("local", "param")
                    and isinstance(variable.type, Scalar)
                    and variable not in self._data
                )
            case Index(base=base, index=index) if isinstance(node.type, Array):
                return self._is_pure(base) and self._is_pure(index)
            case Unary(op="&", operand=operand):
                return self._is_place(operand)
            case Unary(op="-", operand=operand) | Cast(operand=operand):
                return self._is_pure(operand)
            case Unary(op=op, operand=operand) if op in STEPS:
                return self._is_pure(operand)
            case Binary(left=left, right=right):
                return self._is_pure(left) and self._is_pure(right)
            case Conditional(condition=a, then=b, other=c):
                return self._is_pure(a) and self._is_pure(b) and self._is_pure(c)
            case Assign(value=value) if isinstance(node.type, Pointer):
                return self._is_pure(value)
            case Member() if isinstance(node.type, Array):
                return self._is_place(node)
        return False

    def _is_place(self, node: Expr) -> bool:
        match node:
            case Name():
                return True
            case Index(base=base, index=index):
                return self._is_pure(index) and (
                    self._is_place(base) if isinstance(base.type, Array) else self._is_pure(base)
                )
            case Member(base=base, arrow=arrow):
                return self._is_pure(base) if arrow else self._is_place(base)
            case Unary(op="*", operand=operand):
                return self._is_pure(operand)
        return False

    # -- first values --------------------------------------------------------------------------

    def _begin(self, function: Function) -> None:
        """Find what gives each counter its first value: the head, or what comes before it."""
        for depth, block in enumerate(_sequences(function.body)):
            for number, node in enumerate(block):
                for variable in self.result.loops.get(node, ()):
                    start: Expr | Variable | None = None
                    if isinstance(node, For):
                        start = _start(node.init, variable)
                    if start is None:
                        start = self._before(block[:number], variable)
                    if start is None and depth == 0 and variable.scope == "param":
                        touched = {v for n in block[:number] for v in self._all_changes(n)}
                        start = None if variable in touched else variable
                    if start is not None:
                        self.result.starts[(node, variable)] = start

    def _before(self, block: list[Stmt], variable: Variable) -> Expr | Variable | None:
        for node in reversed(block):
            start = _start(node, variable)
            if start is not None:
                return start
            if variable in self._all_changes(node) or node.label:
                return None
        return None


def _sequences(node: Stmt | None) -> Iterator[list[Stmt]]:
    """The lists of statements that follow each other; inner blocks are part of theirs."""
    if node is None:
        return
    flat = _flat(node)
    yield flat
    for inner in flat:
        match inner:
            case Switch(sections=sections):
                for section in sections:
                    for body in section.body:
                        yield from _sequences(body)
            case _:
                for part in ("then", "other", "body"):
                    yield from _sequences(getattr(inner, part, None))


def _flat(node: Stmt) -> list[Stmt]:
    if isinstance(node, Block):
        return [inner for part in node.body for inner in _flat(part)]
    return [node]


def _start(node: Stmt | None, variable: Variable) -> Expr | Variable | None:
    """The value that a plain statement sets a variable to, if only an assignment does."""
    match node:
        case Declare(variables=variables):
            return variable if variable in variables and variable.init is not None else None
        case Evaluate(value=value):
            found = [n for v, n in _changes(value) if v is variable]
            if len(found) == 1 and found[0] in _commas(value):
                last = found[0]
                return last if isinstance(last, Assign) and last.op == "=" else None
    return None


def _commas(node: Expr) -> list[Expr]:
    if isinstance(node, Binary) and node.op == ",":
        return [*_commas(node.left), *_commas(node.right)]
    return [node]


def _certain(node: Expr) -> Iterator[Expr]:
    """The parts of an expression that are evaluated whenever it is."""
    yield node
    match node:
        case Binary(op="&&" | "||", left=left):
            yield from _certain(left)
        case Conditional(condition=condition):
            yield from _certain(condition)
        case _:
            for inner in children(node):
                yield from _certain(inner)


_MOST_WAYS = 8

_Steps: TypeAlias = "tuple[tuple[str, str], ...]"


@dataclass
class _Ways:
    """The steps of a variable on the ways through a statement: each its sign and amount.

    Attributes:
        on: the ways that go on behind it.
        again: those that `continue` takes.
        out: those that `break` takes.
        jumps: those that `goto` takes, by label, as far as it hasn't been passed.
        told: whether all that changes the variable there is on a way.
    """

    on: set[_Steps]
    again: set[_Steps] = field(default_factory=set)
    out: set[_Steps] = field(default_factory=set)
    jumps: dict[str, set[_Steps]] = field(default_factory=dict)
    told: bool = True

    def is_one(self, body: Stmt) -> bool:
        """Return whether all ways through this body of a loop take the same steps."""
        back = self.jumps and any(inner.label in self.jumps for inner in statements(body))
        return self.told and not back and len(self.on | self.again) == 1

    def at(self, label: str) -> _Ways:
        """Before a statement with a label, which may be empty."""
        rest = {name: ways for name, ways in self.jumps.items() if name != label}
        return replace(self, on=self.on | self.jumps.get(label, set()), jumps=rest)

    def then(self, other: _Ways) -> _Ways:
        """One statement, and another one behind it."""
        on, again, out, *ends = (
            {tuple(sorted(a + b)) for a in self.on for b in ways}
            for ways in (other.on, other.again, other.out, *other.jumps.values())
        )
        told = self.told and other.told and max(map(len, (on, again, out))) <= _MOST_WAYS
        jumps = _joined(self.jumps, dict(zip(other.jumps, ends, strict=True)))
        return _Ways(on, self.again | again, self.out | out, jumps, told)

    def beside(self, other: _Ways) -> _Ways:
        """One statement, or another one in its place."""
        return _Ways(
            self.on | other.on,
            self.again | other.again,
            self.out | other.out,
            _joined(self.jumps, other.jumps),
            self.told and other.told,
        )


def _joined(a: dict[str, set[_Steps]], b: dict[str, set[_Steps]]) -> dict[str, set[_Steps]]:
    return {label: a.get(label, set()) | b.get(label, set()) for label in {**a, **b}}


class _Inside:
    """Facts about the inside of statements; what loops around one ask again is kept."""

    def __init__(self) -> None:
        self._changed: dict[Stmt, set[Variable]] = {}
        self._jumps: dict[Stmt, bool] = {}

    def leaves(self, node: Stmt, variable: Variable) -> bool:
        """Return whether a statement leaves a variable alone, and jumps nowhere."""
        if node not in self._changed:
            inside = list(statements(node))
            self._changed[node] = {
                v for s in inside for e in own_expressions(s) for v, _ in _changes(e)
            }
            self._jumps[node] = any(isinstance(s, Goto) for s in inside)
        return variable not in self._changed[node] and not self._jumps[node]

    def ways(self, node: Stmt | None, variable: Variable) -> _Ways:
        """The ways through a statement."""
        match node:
            case Block(body=body):
                found = _Ways({()})
                for inner in body:
                    found = found.at(inner.label).then(self.ways(inner, variable))
                return found
            case Declare() | Evaluate():
                return _way(own_expressions(node), variable)
            case If(condition=condition, then=then, other=other):
                chosen = self.ways(then, variable).beside(self.ways(other, variable))
                return _way([condition], variable).then(chosen)
            case Switch(condition=condition, sections=sections):
                reached = _Ways(set())
                for section in sections:
                    reached = reached.beside(_Ways({()}))
                    for inner in section.body:
                        reached = reached.then(self.ways(inner, variable))
                if not any(None in section.values for section in sections):
                    reached = reached.beside(_Ways({()}))
                left = replace(reached, on=reached.on | reached.out, out=set())
                return _way([condition], variable).then(left)
            case Continue():
                return _Ways(set(), again={()})
            case Break():
                return _Ways(set(), out={()})
            case Goto(target=target):
                return _Ways(set(), jumps={target: {()}})
            case Return():
                return _Ways(set(), told=_way(own_expressions(node), variable).on == {()})
            case For() | While() | DoWhile():
                init = node.init if isinstance(node, For) else None
                moved = {v for e in own_expressions(node) for v, _ in _changes(e)}
                told = variable not in moved and self.leaves(node.body, variable)
                return self.ways(init, variable).then(_Ways({()}, told=told))
            case None | Empty():
                return _Ways({()})
        return _Ways({()}, told=False)


def _way(values: list[Expr], variable: Variable) -> _Ways:
    """The way through expressions that are evaluated one after the other."""
    certain = {n for e in values for n in _certain(e)}
    changes = [n for e in values for v, n in _changes(e) if v is variable]
    steps = tuple(sorted(_amount(n, variable) for n in changes))
    return _Ways({steps}, told=all(n in certain for n in changes))


def _amount(node: Expr, variable: Variable) -> tuple[str, str]:
    """The sign and amount of a step."""
    if isinstance(node, Unary):
        return STEPS[node.op], "1"
    assert isinstance(node, Assign)
    by, sign = node.value, node.op[0]
    sum_ = _plain(by)
    if node.op == "=" and isinstance(sum_, Binary):
        sign = sum_.op
        by = sum_.right if _names(sum_.left, variable) else sum_.left
    return sign, show(_plain(by) or by)


def _plain(node: Expr | None) -> Expr | None:
    while isinstance(node, Cast) and isinstance(node.type, Scalar) and not node.type.is_float:
        node = node.operand
    return node


def _names(node: Expr, variable: Variable) -> bool:
    plain = _plain(node)
    return isinstance(plain, Name) and plain.variable is variable


def _addressed(unit: Unit) -> set[Variable]:
    """The variables of a text whose address is taken."""
    return {
        root
        for function in unit.functions.values()
        for n in expressions(function.body)
        if isinstance(n, Unary) and n.op == "&" and (root := root_of(n.operand)) is not None
    }
