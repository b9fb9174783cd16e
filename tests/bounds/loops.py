"""The variables that a loop steps, and the pointers made of no data: for the interpreter.

As docs/bounds.md says it under *Loop counters* and *Pointers*, found on the syntax tree.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from cyclescope.c import (
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
    If,
    Index,
    Literal,
    Member,
    Name,
    Pointer,
    Return,
    Scalar,
    Switch,
    Unary,
    Unit,
    Variable,
    While,
    children,
    show,
    walk,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

STEPS = {"pre++": 1, "post++": 1, "pre--": -1, "post--": -1}


def own_expressions(node: Any) -> Iterator[Expr]:
    """The expressions of a statement and of all inside it."""
    if node is None:
        return
    yield from _own(node)
    if isinstance(node, Return) and node.value is not None:
        yield node.value
    for part in ("condition", "step"):
        if isinstance(node, For | While | DoWhile) and getattr(node, part, None) is not None:
            yield getattr(node, part)
    for inner in _parts(node):
        yield from own_expressions(inner)


def changes(node: Any) -> list[tuple[Variable, Any]]:
    """The variables that a statement changes, whole or a field of them, each with what does."""
    return [c for e in own_expressions(node) for c in _expression_changes(e)]


class Counters:
    """Of each loop of a function: the variables that it steps by the same each time round.

    `data`: those of its parameters that must be waited for.
    """

    def __init__(
        self, unit: Unit, function: Function, addressed: set[Variable], data: frozenset[Variable]
    ) -> None:
        self.unit, self.addressed = unit, addressed
        self.loops: dict[int, set[Variable]] = {}
        self.steps: set[int] = set()
        self.starts: dict[tuple[int, Variable], Any] = {}
        self.beginnings: set[int] = set()
        self.changed = {v for v, _ in changes(function.body)}
        self.params = set(function.params)
        self.fixed = {v for v in _constants(function.body) if v not in self.changed}
        self.fixed |= self.params - self.changed - data
        assert function.body is not None
        self.scan(function.body, set(), top=True)
        self.impure = self.made_of_data(function, data)

    def is_pure(self, v: Variable) -> bool:
        """Return whether it is a pointer made of counters, parameters and constants alone."""
        return isinstance(v.type, Pointer) and v not in self.impure and v not in self.addressed

    def made_of_data(self, function: Function, data: frozenset[Variable]) -> set[Variable]:
        """The variables that are, or may be, data; pointers that are made of such."""
        known = self.steps | self.beginnings
        given = changes(function.body)
        impure = {v for v, n in given if id(n) not in known and not isinstance(v.type, Pointer)}
        impure |= data
        every = _declared(function.body)
        impure |= {
            v
            for v in every
            if v.init is not None
            and not isinstance(v.type, Pointer)
            and id(v) not in known
            and v not in self.fixed
        }
        made = [(v, v.init) for v in every if isinstance(v.type, Pointer) and v.init is not None]
        made += [
            (v, n.value) for v, n in given if isinstance(v.type, Pointer) and isinstance(n, Assign)
        ]
        while True:
            more = {v for v, e in made if v not in impure and self.reads(e, impure)}
            if not more:
                return impure
            impure |= more

    def reads(self, node: Expr, impure: set[Variable]) -> bool:
        """Return whether a value is made of data."""
        match node:
            case Name(variable=v):
                if isinstance(node.type, Array):
                    return False
                if v.scope in ("global", "static") or v in self.addressed:
                    return isinstance(v.type, Pointer) or v in self.changed or v in self.addressed
                return v in impure
            case Unary(op="&", operand=operand):
                return self.place_reads(operand, impure)
            case Index() | Member() if isinstance(node.type, Array):
                return self.place_reads(node, impure)
            case Index() | Member() | Call() | Unary(op="*"):
                return True
        return any(self.reads(inner, impure) for inner in children(node))

    def place_reads(self, node: Expr, impure: set[Variable]) -> bool:
        match node:
            case Index(base=base, index=index):
                inside = isinstance(base.type, Array)
                first = self.place_reads(base, impure) if inside else self.reads(base, impure)
                return first or self.reads(index, impure)
            case Member(base=base, arrow=arrow):
                return self.reads(base, impure) if arrow else self.place_reads(base, impure)
            case Unary(op="*", operand=operand):
                return self.reads(operand, impure)
        return False

    # -- loops ---------------------------------------------------------------------------------

    def scan(self, node: Any, outer: set[Variable], *, top: bool = False) -> None:
        """A statement, or several that follow each other in a block."""
        line = _line(node)
        for number, inner in enumerate(line):
            if isinstance(inner, For | While | DoWhile):
                mine = self.loops[id(inner)] = self.counters(inner, outer)
                for v in mine:
                    self.begin(inner, v, line[:number], top=top)
                self.scan(inner.body, outer | mine)
            else:
                for part in _parts(inner):
                    self.scan(part, outer)

    def begin(self, loop: Any, v: Variable, before: list[Any], *, top: bool) -> None:
        line = [*before, loop.init] if isinstance(loop, For) else before
        for node in reversed(line):
            found = [c for w, c in changes(node) if w is v]
            if isinstance(node, Declare) and v in node.variables:
                if v.init is not None:
                    self.note(loop, v, v)
                return
            if found:
                plain = isinstance(node, Evaluate) and len(found) == 1
                last = found[0]
                if plain and isinstance(last, Assign) and last.op == "=" and last in _commas(node):
                    self.note(loop, v, last)
                return
            if v in self.behind(node):
                return
        if top and v in self.params:
            self.note(loop, v, v)

    def note(self, loop: Any, v: Variable, start: Any) -> None:
        self.starts[id(loop), v] = start
        self.beginnings.add(id(start))

    def behind(self, node: Any, seen: frozenset[str] = frozenset()) -> set[Variable]:
        """The variables that the functions called by a statement change."""
        found: set[Variable] = set()
        for e in own_expressions(node):
            for call in walk(e):
                if isinstance(call, Call) and call.function not in seen:
                    called = self.unit.functions.get(call.function)
                    if called is not None and called.body is not None:
                        found |= {v for v, _ in changes(called.body)}
                        found |= self.behind(called.body, seen | {call.function})
        return found

    def counters(self, loop: Any, outer: set[Variable]) -> set[Variable]:
        head = [e for e in (loop.condition, getattr(loop, "step", None)) if e is not None]
        every = [c for e in head for c in _expression_changes(e)] + changes(loop.body)
        behind = self.behind(loop)
        touched = {v for v, _ in every} | behind
        sure = {id(n) for e in head for n in _sure(e)}
        found = set()
        for v in touched - behind - self.addressed:
            mine = [c for w, c in every if w is v]
            whole = isinstance(v.type, Pointer) or (
                isinstance(v.type, Scalar) and v.type.kind in ("int", "uint")
            )
            if not whole or not all(self.even(c, v, touched, outer) for c in mine):
                continue
            inside = [c for w, c in changes(loop.body) if w is v]
            if any(id(c) not in sure for c in mine if not any(c is i for i in inside)):
                continue
            if inside and not self.alike(loop.body, v):
                continue
            found.add(v)
            self.steps |= {id(c) for c in mine}
        return found

    def alike(self, body: Any, v: Variable) -> bool:
        """Return whether all ways to the next iteration step a variable alike."""
        try:
            ends = list(itertools.islice(self.walks([body], v), 200))
        except _UnclearError:
            return False
        sums = {tuple(sorted(steps)) for steps, end in ends if end in ("", "continue")}
        return len(sums) == 1 and len(ends) < 200

    def walks(self, line: list[Any], v: Variable) -> Iterator[tuple[list[Any], str]]:
        """The ways through statements: what steps a variable there, and the jump at its end."""
        if not line:
            yield [], ""
            return
        node, rest = line[0], line[1:]
        first: Iterator[tuple[list[Any], str]]
        match node:
            case Block(body=body):
                first = self.walks(list(body), v)
            case Declare() | Evaluate():
                first = iter([(self.along(_own(node), v), "")])
            case If(condition=condition, then=then, other=other):
                test = self.along([condition], v)
                arms = [[then], [other] if other is not None else []]
                first = ((test + s, e) for arm in arms for s, e in self.walks(arm, v))
            case Switch(condition=condition, sections=sections):
                test = self.along([condition], v)
                bodies = [
                    [inner for s in sections[n:] for inner in s.body] for n in range(len(sections))
                ]
                if all(None not in s.values for s in sections):
                    bodies.append([])
                first = (
                    (test + s, "" if e == "break" else e)
                    for inside in bodies
                    for s, e in self.walks(inside, v)
                )
            case Return(value=value) if value is not None and self.along([value], v):
                raise _UnclearError
            case Continue() | Break() | Return():
                first = iter([([], type(node).__name__.lower())])
            case For() | While() | DoWhile():
                own = [e for e in (node.condition, getattr(node, "step", None)) if e is not None]
                deeper = [w for e in own for w, _ in _expression_changes(e)]
                if v in [*deeper, *(w for w, _ in changes(node.body))]:
                    raise _UnclearError
                first = self.walks([node.init] if isinstance(node, For) and node.init else [], v)
            case Empty():
                first = iter([([], "")])
            case _:
                raise _UnclearError
        for steps, end in first:
            if end:
                yield steps, end
            else:
                yield from ((steps + more, last) for more, last in self.walks(rest, v))

    def along(self, values: list[Expr], v: Variable) -> list[Any]:
        """The steps of a variable in expressions that are evaluated for sure."""
        sure = {id(n) for e in values for n in _sure(e)}
        found = [c for e in values for w, c in _expression_changes(e) if w is v]
        if any(id(c) not in sure for c in found):
            raise _UnclearError
        return [_amount(c, v) for c in found]

    def even(self, node: Any, v: Variable, touched: set[Variable], outer: set[Variable]) -> bool:
        if isinstance(node, Unary):
            return True
        by = node.value
        if node.op == "=":
            by = _whole(by)
            if not isinstance(by, Binary) or by.op not in "+-":
                return False
            left, right = _whole(by.left), _whole(by.right)
            if isinstance(left, Name) and left.variable is v:
                by = right
            elif by.op == "+" and isinstance(right, Name) and right.variable is v:
                by = left
            else:
                return False
        elif node.op not in ("+=", "-="):
            return False
        return all(
            (isinstance(n, Literal) and isinstance(n.value, int))
            or (isinstance(n, Cast) and isinstance(n.type, Scalar) and not n.type.is_float)
            or isinstance(n, Binary)
            or (isinstance(n, Unary) and n.op in "-~!")
            or (
                (isinstance(n, Name) and n.variable not in touched)
                and n.variable in outer | self.fixed
            )
            for n in walk(by)
        )


class _UnclearError(Exception):
    pass


def _amount(node: Any, v: Variable) -> tuple[int, str]:
    """The direction of a step, and how far it goes, without where it is written."""
    if isinstance(node, Unary):
        return STEPS[node.op], "1"
    by, sign = node.value, -1 if node.op == "-=" else 1
    if node.op == "=":
        whole = _whole(by)
        assert isinstance(whole, Binary)
        left = _whole(whole.left)
        sign = -1 if whole.op == "-" else 1
        by = whole.right if isinstance(left, Name) and left.variable is v else whole.left
    return sign, show(_whole(by))


def _whole(node: Expr) -> Expr:
    while isinstance(node, Cast) and isinstance(node.type, Scalar) and not node.type.is_float:
        node = node.operand
    return node


def _declared(node: Any) -> list[Variable]:
    own = list(node.variables) if isinstance(node, Declare) else []
    return own + [v for inner in _parts(node) for v in _declared(inner)]


def _constants(node: Any) -> list[Variable]:
    """The variables that are declared with a number."""
    return [
        v for v in _declared(node) if v.init is not None and isinstance(_whole(v.init), Literal)
    ]


def _commas(node: Evaluate) -> list[Expr]:
    found, left = [], [node.value]
    while left:
        e = left.pop()
        if isinstance(e, Binary) and e.op == ",":
            left += [e.left, e.right]
        else:
            found.append(e)
    return found


def _parts(node: Any) -> list[Any]:
    match node:
        case Block(body=body):
            return list(body)
        case If(then=then, other=other):
            return [n for n in (then, other) if n is not None]
        case For(init=init, body=body):
            return [n for n in (init, body) if n is not None]
        case While(body=body) | DoWhile(body=body):
            return [body]
        case Switch(sections=sections):
            return [n for s in sections for n in s.body]
    return []


def _line(node: Any) -> list[Any]:
    if isinstance(node, Block):
        return [n for inner in node.body for n in _line(inner)]
    return [node]


def _own(node: Any) -> list[Expr]:
    match node:
        case Declare(variables=variables):
            return [v.init for v in variables if v.init is not None]
        case Evaluate(value=value):
            return [value]
        case If(condition=condition) | Switch(condition=condition):
            return [condition]
    return []


def _expression_changes(node: Expr) -> list[tuple[Variable, Any]]:
    found: list[tuple[Variable, Any]] = []
    for inner in walk(node):
        target = inner.target if isinstance(inner, Assign) else None
        if isinstance(inner, Unary) and inner.op in STEPS:
            target = inner.operand
        while isinstance(target, Member | Cast) and not (
            isinstance(target, Member) and target.arrow
        ):
            target = target.base if isinstance(target, Member) else target.operand
        if isinstance(target, Name):
            found.append((target.variable, inner))
    return found


def _sure(node: Expr) -> list[Expr]:
    if isinstance(node, Conditional):
        return [node, *_sure(node.condition)]
    if isinstance(node, Binary) and node.op in ("&&", "||"):
        return [node, *_sure(node.left)]
    return [node, *(n for inner in children(node) for n in _sure(inner))]
