"""Recursion as a loop: functions that call each other in a circle, with a stack of their own.

Such a group of functions becomes one function that executes a step: what one of them does up to its
next call into the group, or to its end. A loop executes steps until the first call is over. What a
function must know again behind a call is in arrays, with an element for each level of calls; the
number of the place at which it goes on is another one. Up to there a step leaves out what the call
has done already.

The stack is the thread's own memory, so its depth is bounded: a call beyond it is an access out of
range, which stops the region. All of this is a rewriting of the typed tree: what follows sees
nothing but loops, branches and arrays.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from cyclescope.c import (
    Array,
    Assign,
    Binary,
    Block,
    Break,
    Call,
    Cast,
    Conditional,
    Construct,
    Declare,
    DoWhile,
    Empty,
    Evaluate,
    For,
    Function,
    If,
    Index,
    InitList,
    Literal,
    Member,
    Name,
    Pointer,
    Range,
    Return,
    Scalar,
    Section,
    Stmt,
    Struct,
    Switch,
    Tool,
    Unary,
    Variable,
    Void,
    While,
    called,
    children,
    expressions,
    rebuilt,
    refusal,
    statements,
    walk,
)
from cyclescope.errors import SourceError
from cyclescope.hls.front._assigned import assigned, gotos_out, may_write
from cyclescope.hls.front._layout import size_of
from cyclescope.hls.front._memory import LEVELS, STACK
from cyclescope.hls.front._scopes import in_text_order
from cyclescope.hls.front.omp._directives import directives

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from cyclescope.c import CType, Expr, Unit
    from cyclescope.hls.front._target import Target
    from cyclescope.hls.front.omp._directives import Directive

__all__ = ["LEVELS", "with_stacks"]

_INT = Scalar("int", 32)
_MOST_INITIAL = 1024


def with_stacks(unit: Unit, target: Target) -> tuple[Unit, list[str]]:
    """The text with each recursive function that a region calls as a loop; and what is to be said.

    Raises:
        SourceError: a recursive function contains what can't be left and entered again.
    """
    functions = dict(unit.functions)
    said: list[str] = []
    done: set[str] = set()
    for function in called(expressions(target.body), unit.functions):
        if function.name in done:
            continue
        reached = called(expressions(function.body), unit.functions)
        if function not in reached:
            continue
        names = {f.name for f in reached if function in called(expressions(f.body), unit.functions)}
        members = [f for f in unit.functions.values() if f.name in names]
        done |= names
        functions.update(_Group(unit.functions, members).functions())
        who = " and ".join(f.name for f in members)
        said.append(
            f"{members[0].where}: {who} may be {LEVELS} calls deep in a thread; the region stops at"
            f" a deeper one, as one that leaves the memory of its calls"
        )
    return replace(unit, functions=functions), said


@dataclass(slots=True)
class _Member:
    """A function of a group.

    Attributes:
        function: it.
        number: its place in the group.
        result: the variable that its last call's result is in; None: it has none.
        first, last: the numbers of the places behind its calls.
    """

    function: Function
    number: int
    result: Variable | None
    first: int = 0
    last: int = 0


@dataclass(slots=True)
class _Names:
    """The variables of a member in other words.

    Attributes:
        levels: variable → the array that has one for each level.
        renamed: variable that stays one → what it is now called by.
    """

    levels: dict[Variable, Variable] = field(default_factory=dict)
    renamed: dict[Variable, Variable] = field(default_factory=dict)


class _Group:
    """Functions that call each other, and the variables that their steps share."""

    def __init__(self, functions: Mapping[str, Function], members: Sequence[Function]) -> None:
        self.known = functions
        where = members[0].where
        name = members[0].name
        self.depth = _variable("depth", _INT, where)
        self.place = _variable("place", _INT, where)  # where to go on; 0: here
        self.which = _variable("function", _INT, where)
        self.running = _variable("running", _INT, where)
        self.places = Variable(f"calls_of_{name}", Array(_INT, LEVELS), where, STACK)
        self.members: dict[str, _Member] = {}
        self.sites = 0
        self.temporaries: set[Variable] = set()
        self.wires: list[Variable] = []  # what a step leaves to another one, at no level
        self.names = _Names()
        self.params: dict[Variable, Variable] = {}  # by level, what calls hand over
        for number, function in enumerate(members):
            result = function.result
            if isinstance(result, Pointer):
                raise SourceError(
                    f"{function.where}: {function.name} calls itself and returns {result}; return "
                    f"a subscript"
                )
            own = None if isinstance(result, Void) else _variable("result", result, function.where)
            self.members[function.name] = _Member(function, number, own)
            for param in function.params:
                self.level(param, function.name)
                self.params[param] = self.names.levels[param]

    def functions(self) -> dict[str, Function]:
        """The functions as loops, and the one that executes a step."""
        first = next(iter(self.members.values())).function
        step = f"{first.name} (a step)"
        body: Stmt = Empty(first.where)
        for member in reversed(self.members.values()):
            assert member.function.body is not None
            member.first = self.sites + 1
            own = _Steps(self, member).of(member.function.body)
            member.last = self.sites
            body = If(
                own.where, _equal(self.which, member.number, own.where), own, body
            ) if len(self.members) > 1 else own  # fmt: skip
        whole = body if isinstance(body, Block) else Block(body.where, (body,))
        found = {step: Function(step, (), Void(), self._returns(whole), first.where, internal=True)}
        for member in self.members.values():
            found[member.function.name] = replace(
                member.function, body=self._loop(member, step), pragmas=()
            )
        return found

    def _returns(self, body: Block) -> Block:
        """A step with its `return`s, which need to know where calls go on."""

        def mapped(stmt: Stmt) -> Stmt:
            return self._back(stmt) if isinstance(stmt, _Leave) else _inside(stmt, mapped)

        found = mapped(body)
        assert isinstance(found, Block)
        return found

    def _back(self, stmt: _Leave) -> Stmt:
        """The end of a call: on behind the place that it was made at."""
        where = stmt.where
        back: list[Stmt] = [
            _set(self.depth, _plus(self.depth, -1, where), where),
            _set(self.place, self.at_level(self.places, where), where),
        ]
        if len(self.members) > 1:
            for member in self.members.values():
                inside = _between(self.place, member.first, member.last, where)
                back.append(
                    If(where, inside, _set(self.which, _number(member.number, where), where), None)
                )
        over = _set(self.running, _number(0, where), where)
        return Block(
            where,
            (
                If(where, _equal(self.depth, 0, where), over, Block(where, tuple(back))),
                Return(where, None),
            ),
        )

    def _loop(self, member: _Member, step: str) -> Block:
        """A function's body: steps until its call is over."""
        function, result = member.function, member.result
        assert function.body is not None
        where = function.body.where
        every = [m.result for m in self.members.values() if m.result is not None]
        own = [self.depth, self.place, self.which, self.running, self.places]
        body: list[Stmt] = [
            Declare(where, (*own, *every, *self.wires, *self.names.levels.values())),
            _set(self.which, _number(member.number, where), where),
            _set(self.running, _number(1, where), where),
        ]
        for param in function.params:
            to = Index(
                where, _value_type(param), _name(self.params[param], where), _number(0, where)
            )
            given = Name(where, _value_type(param), param)
            body.append(Evaluate(where, Assign(where, to.type, "=", to, given, to.type)))
        one = Evaluate(where, Call(where, Void(), step, ()))
        body.append(DoWhile(where, Block(where, (one,)), _name(self.running, where)))
        if result is not None:
            body.append(Return(where, _name(result, where)))
        return Block(where, tuple(body))

    def at_level(self, levels: Variable, where: Range, deeper: int = 0) -> Index:
        """The element of an array for the present call, or for one that begins."""
        assert isinstance(levels.type, Array)
        at = _plus(self.depth, deeper, where) if deeper else _name(self.depth, where)
        return Index(where, levels.type.element, _name(levels, where), at)

    def level(self, variable: Variable, function: str) -> None:
        """Let each level of calls have a variable of its own.

        Raises:
            SourceError: its size is not known.
        """
        kind = _value_type(variable)
        if (isinstance(kind, Array) and _is_open(kind)) or len(variable.extents) > 1:
            raise SourceError(
                f"{variable.where}: {variable.name}, in a function that calls itself, has a size "
                f"known only at run time; give it a constant one"
            )
        self.names.levels[variable] = Variable(
            f"{variable.name}_of_{function}", Array(kind, LEVELS), variable.where, STACK,
            volatile=variable.volatile,
        )  # fmt: skip

    def calls(self, expr: Expr | None) -> bool:
        """Return whether an expression contains calls into the group."""
        return expr is not None and any(
            isinstance(e, Call) and e.function in self.members for e in walk(expr)
        )

    def is_entered(self, stmt: Stmt) -> bool:
        """Return whether a statement contains calls into the group, or tasks."""
        return any(
            isinstance(e, Call) and e.function in self.members for e in expressions(stmt)
        ) or any(p.tokens[:2] == ("omp", "task") for s in statements(stmt) for p in s.pragmas)


@dataclass(frozen=True, eq=False, slots=True)
class _Leave(Empty):
    """The end of a call, its result given."""


class _Steps:
    """A member's statements as steps."""

    def __init__(self, group: _Group, member: _Member) -> None:
        self.group = group
        self.member = member

    def of(self, body: Block) -> Block:
        """Its body."""
        steps = self._sequence(body.body)
        return Block(body.where, (*steps, _Leave(body.where)))

    # Statements: those without calls into the group under the condition that nothing is left out.

    def _sequence(self, body: Sequence[Stmt]) -> list[Stmt]:
        found: list[Stmt] = []
        plain: list[Stmt] = []

        def guard() -> None:
            if plain:
                where = _span(plain)
                out = gotos_out(Block(where, tuple(plain)))
                if out:
                    raise SourceError(
                        f"{where}: goto {min(out)} past a call by which a function calls itself "
                        f"isn't supported; use if and loops"
                    )
                here = _equal(self.group.place, 0, where)
                found.append(If(where, here, Block(where, tuple(plain)), None))
                plain.clear()

        for stmt in body:
            if isinstance(stmt, Declare):
                for variable in stmt.variables:
                    if variable.scope == "static":
                        plain.append(Declare(stmt.where, (variable,)))
                        continue
                    self.group.level(variable, self.member.function.name)
                    for part in self._initial(variable):
                        if self.group.is_entered(part):
                            guard()
                            found += self._entered(part)
                        else:
                            plain.append(self._renamed(part))
            elif self.group.is_entered(stmt):
                guard()
                found += self._entered(stmt)
            else:
                plain.append(self._renamed(stmt))
        guard()
        return found

    def _initial(self, variable: Variable) -> list[Stmt]:
        """The assignments of a variable's initial value."""
        init, where = variable.init, variable.where
        if init is None:
            return []
        parts: list[Stmt] = []

        def assign(to: Expr, given: Expr | None) -> None:
            kind = to.type
            if len(parts) > _MOST_INITIAL:
                raise refusal(Construct.INITIAL, Tool.HLS, where)
            if isinstance(given, InitList) or given is None:
                values = given.values if given is not None else ()
                inner: list[Expr] | None = None
                if isinstance(kind, Array) and kind.extent is not None:
                    inner = [
                        Index(where, kind.element, to, _number(n, where))
                        for n in range(min(kind.extent, _MOST_INITIAL + 1))
                    ]
                elif isinstance(kind, Struct):
                    inner = [Member(where, t, to, name, arrow=False) for name, t in kind.fields]
                if inner is not None:
                    rest = len(inner) - len(values)
                    for part, value in zip(inner, (*values, *[None] * rest), strict=False):
                        assign(part, value)
                    return
                if isinstance(kind, Pointer):
                    given = values[0] if values else Literal(where, _INT, 0)
                elif isinstance(kind, Scalar):
                    given = values[0] if values else Literal(where, kind, 0)
            assert given is not None
            if isinstance(kind, Scalar) and given.type != kind:
                given = Cast(where, kind, given, implicit=True)
            parts.append(Evaluate(where, Assign(where, kind, "=", to, given, kind)))

        assign(_name(variable, where), init)
        return parts

    def _entered(self, stmt: Stmt) -> list[Stmt]:
        """A statement that contains calls into the group."""
        bare = replace(stmt, pragmas=(), label="")
        for directive in reversed(directives(stmt.pragmas)):
            if directive.words == ("task",):
                return self._task(bare, directive)
            if directive.words not in (("taskwait",), ("taskyield",), ("taskgroup",)):
                name = " ".join(directive.words)
                raise SourceError(
                    f"{directive.where}: omp {name} around a call by which a function calls itself "
                    f"isn't supported; write it inside the function's end, or use omp task"
                )
        where = stmt.where
        match bare:
            case Block(body=body, trailing=trailing):
                for directive in directives(trailing):
                    if directive.words not in (("taskwait",), ("taskyield",)):
                        bare = Block(where, (), trailing=trailing)
                        return [*self._sequence(body), self._here(bare)]
                return self._sequence(body)
            case Evaluate(value=value):
                return self._evaluated(value, where)
            case Return(value=value):
                assert value is not None
                ahead, left = self._hoisted(value)
                return [*self._ahead(ahead), self._here(self._renamed(Return(where, left)))]
            case If(condition=condition, then=then, other=other):
                ahead, left = self._hoisted(condition)
                return [*self._ahead(ahead), *self._if(left, then, other, where)]
            case Switch():
                return self._switch(bare)
            case While(condition=condition, body=body):
                if self.group.calls(condition):
                    test = self._left_if_not(condition)
                    endless = While(where, Literal(where, _INT, 1), Block(where, (*test, body)))
                    return self._entered(endless)
                return [self._while(condition, None, body, where)]
            case For(init=init, condition=condition, step=step, body=body):
                first = self._sequence([init]) if init is not None else []
                if self.group.calls(condition) or self.group.calls(step):
                    return [*first, *self._general(condition, step, body, where)]
                return [*first, self._while(condition, step, body, where)]
            case DoWhile(condition=condition, body=body):
                if self.group.calls(condition):
                    return self._general(condition, None, body, where, test_first=False)
                before = self.group.sites
                inner = Block(body.where, tuple(self._sequence([body])))
                loop = DoWhile(where, inner, self._expr(condition))
                return [If(where, self._goes_on(before, None, where), loop, None)]
        raise SourceError(f"{where}: a call of the function itself in such a statement; use if")

    def _if(self, condition: Expr, then: Stmt, other: Stmt | None, where: Range) -> list[Stmt]:
        before = self.group.sites
        first = Block(then.where, tuple(self._sequence([then])))
        goes = self._goes_on(before, self._expr(condition), where)
        second: Stmt | None = None
        if other is not None:
            before = self.group.sites
            inner = Block(other.where, tuple(self._sequence([other])))
            second = If(other.where, self._goes_on(before, None, where), inner, None)
        return [If(where, goes, first, second)]

    def _while(self, test: Expr | None, step: Expr | None, body: Stmt, where: Range) -> Stmt:
        """A loop whose condition and step have no calls: entered, or gone on in."""
        before = self.group.sites
        inner = Block(body.where, tuple(self._sequence([body])))
        goes = self._goes_on(before, self._expr(test) if test is not None else None, where)
        if step is None:
            return While(where, goes, inner)
        return For(where, None, goes, self._expr(step), inner)

    def _general(
        self,
        test: Expr | None,
        step: Expr | None,
        body: Stmt,
        where: Range,
        *,
        test_first: bool = True,
    ) -> list[Stmt]:
        """A loop whose condition or step has calls: both in front of each iteration's body."""
        again = self._temporary(_INT, where)
        one, zero = Literal(where, _INT, 1), Literal(where, _INT, 0)
        ahead: list[Stmt] = [Evaluate(where, step)] if step is not None else []
        tests = self._left_if_not(test) if test is not None else []
        if not test_first:
            ahead, tests = [*ahead, *tests], []
        inner: list[Stmt] = [
            If(where, _name(again, where), Block(where, tuple(ahead)), None),
            Evaluate(where, _assign(again, one, where)),
            *tests,
            body,
        ]
        loop = While(where, one, Block(where, tuple(inner)))
        return self._sequence([Evaluate(where, _assign(again, zero, where)), loop])

    def _left_if_not(self, condition: Expr) -> list[Stmt]:
        where = condition.where
        no = Unary(where, _INT, "!", condition)
        return [If(where, no, Break(where), None)]

    def _switch(self, stmt: Switch) -> list[Stmt]:
        where, group = stmt.where, self.group
        chosen = self._temporary(stmt.condition.type, where)
        ahead = self._sequence([Evaluate(where, _assign(chosen, stmt.condition, where))])
        before = group.sites
        sections = tuple(
            Section(section.values, tuple(self._sequence(section.body)))
            for section in stmt.sections
        )
        inner = replace(stmt, condition=self._expr(_name(chosen, where)), sections=sections)
        return [*ahead, If(where, self._goes_on(before, None, where), inner, None)]

    def _task(self, stmt: Stmt, directive: Directive) -> list[Stmt]:
        """A task, executed at once: with its own values of what it assigns and does not share."""
        shared = set(directive.names("shared"))
        where = stmt.where
        first: list[Stmt] = []
        copies: dict[Variable, Variable] = {}
        if directive.clause("default") != ("shared",):
            found = assigned(list(expressions(stmt)), self.group.known, {})
            written = may_write(stmt)
            listed = set(directive.names("private"))
            for variable in in_text_order(self.group.names.levels):
                kind = _value_type(variable)
                is_given = variable in (written if isinstance(kind, Array) else found)
                is_own = variable.name in listed or (is_given and variable.name not in shared)
                if not is_own or not any(
                    isinstance(e, Name) and e.variable is variable for e in expressions(stmt)
                ):
                    continue
                copy = copies[variable] = self._temporary(kind, where)
                if variable.name in listed:
                    continue
                given = _name(variable, where)
                if isinstance(kind, Array):
                    size = Literal(where, Scalar("uint", 64), size_of(kind, where))
                    parts = (_name(copy, where), given, size)
                    first.append(Evaluate(where, Call(where, Pointer(Void()), "memcpy", parts)))
                else:
                    first.append(Evaluate(where, _assign(copy, given, where)))
        found_first, levels = self._sequence(first), self.group.names.levels
        before = {variable: levels[variable] for variable in copies}
        levels.update((variable, levels[copy]) for variable, copy in copies.items())
        inner = self._sequence([stmt])
        levels.update(before)
        return [*found_first, *inner]

    # Calls.

    def _evaluated(self, value: Expr, where: Range) -> list[Stmt]:
        """An expression as a statement: of a call's result, as soon as that is there."""
        match value:
            case Call(function=name) if name in self.group.members:
                return self._site(value, None, where)
            case Assign(target=target, value=given) if not self.group.calls(target):
                call = given.operand if isinstance(given, Cast) else given
                if isinstance(call, Call) and call.function in self.group.members:
                    result = self.group.members[call.function].result
                    assert result is not None
                    taken: Expr = _name(result, where)
                    if isinstance(given, Cast):
                        taken = replace(given, operand=taken)
                    return self._site(call, replace(value, value=taken), where)
        ahead, left = self._hoisted(value)
        found = self._ahead(ahead)
        if not isinstance(left, Name | Literal):
            found.append(self._here(self._renamed(Evaluate(where, left))))
        return found

    def _site(self, call: Call, then: Expr | None, where: Range) -> list[Stmt]:
        """A call into the group: its arguments are handed over, and the step is at its end."""
        group, callee = self.group, self.group.members[call.function]
        ahead: list[Stmt] = []
        args: list[Expr] = []
        for arg in call.args:
            before, left = self._hoisted(arg)
            ahead += before
            args.append(left)
        found = self._ahead(ahead)
        group.sites += 1
        number = group.sites
        begin: list[Stmt] = []
        for param, arg in zip(callee.function.params, args, strict=False):
            to = group.at_level(group.params[param], where, 1)
            given = self._expr(arg)
            if given.type != to.type and isinstance(to.type, Scalar):
                given = Cast(where, to.type, given, implicit=True)
            begin.append(Evaluate(where, Assign(where, to.type, "=", to, given, to.type)))
        here = group.at_level(group.places, where)
        begin.append(Evaluate(where, Assign(where, _INT, "=", here, _number(number, where), _INT)))
        begin.append(_set(group.depth, _plus(group.depth, 1, where), where))
        if len(group.members) > 1:
            begin.append(_set(group.which, _number(callee.number, where), where))
        begin.append(Return(where, None))
        after: list[Stmt] = [_set(group.place, _number(0, where), where)]
        if then is not None:
            after.append(Evaluate(where, self._expr(then)))
        back = If(where, _equal(group.place, number, where), Block(where, tuple(after)), None)
        enters = _equal(group.place, 0, where)
        return [*found, If(where, enters, Block(where, tuple(begin)), back)]

    def _hoisted(self, expr: Expr) -> tuple[list[Stmt], Expr]:
        """The calls of an expression as statements in front of it, and what is left of it."""
        where, group = expr.where, self.group
        if not group.calls(expr):
            return [], expr
        match expr:
            case Binary(op="&&" | "||" as op, left=left, right=right):
                ahead, first = self._hoisted(left)
                is_true = self._temporary(_INT, where)
                ahead.append(Evaluate(where, _assign(is_true, _truth(first), where)))
                value: Expr = _name(is_true, where)
                asked: Expr = value if op == "&&" else Unary(where, _INT, "!", value)
                rest: tuple[Stmt, ...] = (Evaluate(where, _assign(is_true, _truth(right), where)),)
                return [*ahead, If(where, asked, Block(where, rest), None)], value
            case Binary(op=",", left=left, right=right):
                ahead, last = self._hoisted(right)
                return [Evaluate(where, left), *ahead], last
            case Conditional(condition=condition, then=then, other=other):
                ahead, asked = self._hoisted(condition)
                if isinstance(expr.type, Void):
                    arms: list[Stmt] = [Evaluate(where, then), Evaluate(where, other)]
                    value = Literal(where, _INT, 0)
                else:
                    either = self._temporary(expr.type, where)
                    arms = [Evaluate(where, _assign(either, e, where)) for e in (then, other)]
                    value = _name(either, where)
                return [*ahead, If(where, asked, arms[0], arms[1])], value
            case Call(function=name) if name in group.members:
                if isinstance(expr.type, Void):
                    return [Evaluate(where, expr)], Literal(where, _INT, 0)
                to = self._temporary(expr.type, where)
                return [Evaluate(where, _assign(to, expr, where))], _name(to, where)
        ahead = []
        parts: list[Expr] = []
        for inner in children(expr):
            before, left = self._hoisted(inner)
            ahead += before
            parts.append(left)
        return ahead, rebuilt(expr, parts)

    def _ahead(self, ahead: list[Stmt]) -> list[Stmt]:
        """Statements that were hoisted; the last one's result need not be kept by level."""
        match ahead[-1:]:
            case [Evaluate(value=Assign(target=Name(variable=to), value=Call()))] if (
                to in self.group.temporaries
            ):
                kept = self.group.names.levels.pop(to)
                assert isinstance(kept.type, Array)
                self.group.wires.append(to)
        return self._sequence(ahead)

    def _temporary(self, kind: CType, where: Range) -> Variable:
        found = _variable(f"value_{len(self.group.temporaries) + 1}", kind, where)
        self.group.temporaries.add(found)
        self.group.level(found, self.member.function.name)
        return found

    # Parts.

    def _here(self, stmt: Stmt) -> Stmt:
        return If(stmt.where, _equal(self.group.place, 0, stmt.where), stmt, None)

    def _goes_on(self, before: int, condition: Expr | None, where: Range) -> Expr:
        """Return whether what has the calls since is entered here, or gone on in."""
        group = self.group
        here: Expr = _equal(group.place, 0, where)
        if condition is not None:
            here = Binary(where, _INT, "&&", here, condition)
        if before == group.sites:
            return here
        inside = _between(group.place, before + 1, group.sites, where)
        return Binary(where, _INT, "||", inside, here)

    def _renamed(self, stmt: Stmt) -> Stmt:
        """A statement without calls into the group, of the present level's variables."""
        levels = {v.name for v in self.group.names.levels}
        for inner in statements(stmt):
            pragmas = (*inner.pragmas, *(inner.trailing if isinstance(inner, Block) else ()))
            for pragma in pragmas:
                clash = sorted(levels.intersection(pragma.tokens[2:]))
                if pragma.tokens[:1] == ("omp",) and clash:
                    raise SourceError(
                        f"{pragma.where}: a directive that names {clash[0]}, which each call of "
                        f"{self.member.function.name} has its own of; use a variable of the block"
                    )

        def mapped(inner: Stmt) -> Stmt:
            if isinstance(inner, Declare):
                return replace(inner, variables=tuple(map(self._declared, inner.variables)))
            if isinstance(inner, Return):
                where, result = inner.where, self.member.result
                parts: list[Stmt] = []
                if inner.value is not None and result is not None:
                    value = self._expr(inner.value)
                    if isinstance(result.type, Scalar) and value.type != result.type:
                        value = Cast(where, result.type, value, implicit=True)
                    parts.append(Evaluate(where, _assign(result, value, where)))
                return Block(where, (*parts, _Leave(where)), pragmas=inner.pragmas)
            return _inside(inner, mapped, self._expr)

        return mapped(stmt)

    def _declared(self, variable: Variable) -> Variable:
        if variable.scope == "static":
            return variable
        found = self.group.names.renamed[variable] = replace(
            variable,
            init=self._expr(variable.init) if variable.init is not None else None,
            extents=tuple(map(self._expr, variable.extents)),
        )
        return found

    def _expr(self, expr: Expr) -> Expr:
        names = self.group.names
        if isinstance(expr, Name):
            if expr.variable in names.levels:
                return self.group.at_level(names.levels[expr.variable], expr.where)
            renamed = names.renamed.get(expr.variable)
            return replace(expr, variable=renamed) if renamed is not None else expr
        return rebuilt(expr, [self._expr(inner) for inner in children(expr)])


def _variable(name: str, kind: CType, where: Range) -> Variable:
    return Variable(name, kind, where, "local")


def _name(variable: Variable, where: Range) -> Name:
    return Name(where, variable.type, variable)


def _number(value: int, where: Range) -> Literal:
    return Literal(where, _INT, value)


def _assign(variable: Variable, value: Expr, where: Range) -> Assign:
    kind = variable.type
    return Assign(where, kind, "=", _name(variable, where), value, kind)


def _set(variable: Variable, value: Expr, where: Range) -> Evaluate:
    return Evaluate(where, _assign(variable, value, where))


def _plus(variable: Variable, value: int, where: Range) -> Binary:
    return Binary(where, _INT, "+", _name(variable, where), _number(value, where))


def _equal(variable: Variable, value: int, where: Range) -> Binary:
    return Binary(where, _INT, "==", _name(variable, where), _number(value, where))


def _between(variable: Variable, first: int, last: int, where: Range) -> Binary:
    if first == last:
        return _equal(variable, first, where)
    name = _name(variable, where)
    low = Binary(where, _INT, "<=", _number(first, where), name)
    high = Binary(where, _INT, "<=", name, _number(last, where))
    return Binary(where, _INT, "&&", low, high)


def _truth(expr: Expr) -> Expr:
    return Unary(expr.where, _INT, "!", Unary(expr.where, _INT, "!", expr))


def _span(parts: Sequence[Stmt]) -> Range:
    """The range from the first to the last of some statements."""
    first, last = parts[0].where, parts[-1].where
    if first.file != last.file or last.end < first.start:
        return first
    return Range(first.file, first.line, first.column, last.end_line, last.end_column)


def _value_type(variable: Variable) -> CType:
    """The type of a variable's value: of a parameter that is declared as an array, a pointer."""
    if variable.scope == "param" and isinstance(variable.type, Array):
        return Pointer(variable.type.element)
    return variable.type


def _is_open(kind: CType) -> bool:
    while isinstance(kind, Array):
        if kind.extent is None:
            return True
        kind = kind.element
    return False


def _inside(
    stmt: Stmt, mapped: Callable[[Stmt], Stmt], of: Callable[[Expr], Expr] = lambda expr: expr
) -> Stmt:
    """A statement with each in it, and each of its expressions, mapped."""
    match stmt:
        case Block(body=body):
            return replace(stmt, body=tuple(map(mapped, body)))
        case Evaluate(value=value):
            return replace(stmt, value=of(value))
        case If(condition=condition, then=then, other=other):
            last = mapped(other) if other is not None else None
            return replace(stmt, condition=of(condition), then=mapped(then), other=last)
        case For(init=init, condition=condition, step=step, body=inner):
            return replace(
                stmt,
                init=mapped(init) if init is not None else None,
                condition=of(condition) if condition is not None else None,
                step=of(step) if step is not None else None,
                body=mapped(inner),
            )
        case While(condition=condition, body=inner) | DoWhile(condition=condition, body=inner):
            return replace(stmt, condition=of(condition), body=mapped(inner))
        case Return(value=value) if value is not None:
            return replace(stmt, value=of(value))
        case Switch(condition=condition, sections=sections):
            return replace(
                stmt,
                condition=of(condition),
                sections=tuple(
                    Section(section.values, tuple(map(mapped, section.body)))
                    for section in sections
                ),
            )
    return stmt
