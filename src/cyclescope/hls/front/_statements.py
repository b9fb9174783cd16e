"""Statements, and functions in the place of their calls."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from itertools import zip_longest
from typing import TYPE_CHECKING

from cyclescope.c import (
    Array,
    Assign,
    Block,
    Break,
    Construct,
    Continue,
    Declare,
    DoWhile,
    Empty,
    Evaluate,
    Expr,
    For,
    If,
    InitList,
    OpaqueStmt,
    Pointer,
    Return,
    Scalar,
    Stmt,
    Struct,
    Switch,
    Tool,
    Variable,
    Vector,
    Void,
    While,
    refusal,
)
from cyclescope.hls.front._assigned import may_jump
from cyclescope.hls.front._context import Location, flag
from cyclescope.hls.front._expressions import Expressions
from cyclescope.hls.front._layout import field_offset, is_block, size_of, width_of
from cyclescope.hls.front._objects import OnWire
from cyclescope.hls.front._pointers import is_object
from cyclescope.hls.front.omp._directives import directives
from cyclescope.hls.ir._graph import Op, Place, Value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cyclescope.c import Call, CType, Function, Range, Section
    from cyclescope.hls.front.omp._directives import Directive

__all__ = ["Statements", "within"]

_MOST_INITIAL = 1024


def within(stmt: Stmt, inner: Sequence[Directive]) -> Stmt:
    """A statement with the last of its directives alone, to stand in a construct.

    Args:
        stmt: the statement.
        inner: those of its directives that are inside the construct.
    """
    left = {d.where for d in inner}
    kept = [p for p in stmt.pragmas if p.tokens[:1] != ("omp",) or p.where in left]
    bare = replace(stmt, pragmas=tuple(kept))
    return Block(stmt.where, (bare,)) if inner else bare


class Statements(Expressions):
    """Lowers statements."""

    def statement(self, stmt: Stmt) -> None:
        """One statement with the directives before it.

        Raises:
            SourceError: it holds something that isn't supported.
        """
        with self.at(stmt.where):
            found = directives(stmt.pragmas)
            for position, directive in enumerate(found):
                if not self.is_standalone(directive):
                    self.construct(directive, within(stmt, found[position + 1 :]))
                    return
                self.standalone(directive)
            self._plain(stmt)

    @abstractmethod
    def is_standalone(self, directive: Directive) -> bool:
        """Whether a directive has no statement."""

    @abstractmethod
    def standalone(self, directive: Directive) -> None:
        """A barrier and its kin."""

    @abstractmethod
    def construct(self, directive: Directive, stmt: Stmt) -> None:
        """A directive with its statement."""

    @abstractmethod
    def loop(self, stmt: For | While | DoWhile) -> None:
        """A loop."""

    def _plain(self, stmt: Stmt) -> None:
        match stmt:
            case Block(body=body, trailing=trailing):
                self.sequence(body)
                for directive in directives(trailing):
                    self.standalone(directive)
            case Declare(variables=variables):
                for variable in variables:
                    self.declare(variable)
            case Evaluate(value=Assign(op="=", target=target, value=value)) if is_block(
                target.type, stmt.where
            ) and is_object(value):
                given, to = self.object(value), self.object(target)
                assert isinstance(given, Location)
                assert isinstance(to, Location)
                self.copy_object(to, given, stmt.where)
            case Evaluate(value=value):
                self.rvalue(value)
            case If(condition=condition, then=then, other=other):
                self.branch(
                    self.condition(condition),
                    lambda: self.statement(then),
                    (lambda: self.statement(other)) if other is not None else None,
                )
            case For() | While() | DoWhile():
                self.loop(stmt)
            case Return(value=value):
                self._return(value, stmt.where)
            case Break():
                self.env[self.loop_flags[-1][0]] = self.b.const(1, 1)
            case Continue():
                self.env[self.loop_flags[-1][1]] = self.b.const(1, 1)
            case Switch(condition=condition, sections=sections):
                self._switch(condition, sections, stmt.where)
            case OpaqueStmt(construct=construct):
                raise refusal(construct, Tool.HLS, stmt.where)
            case Empty():
                pass

    def sequence(self, body: tuple[Stmt, ...]) -> None:
        """Statements in a row; what a jump leaves out is conditional on there being none."""
        for position, stmt in enumerate(body):
            self.statement(stmt)
            rest = body[position + 1 :]
            if rest and may_jump(stmt):
                self.branch(self.going_on(), lambda rest=rest: self.sequence(rest))  # type: ignore[misc]
                return

    def going_on(self) -> Value:
        """Whether nothing has jumped yet."""
        jumped = [self.env[f] for f in self.flags if f in self.env]
        return self.b.negated(self.b.either(jumped))

    def _switch(self, condition: Expr, sections: tuple[Section, ...], where: Range) -> None:
        """Each section in turn, if its label was chosen or the one before it leads on to it."""
        chosen = self.rvalue(condition)
        here: list[Value] = []
        for section in sections:
            own = [self.b.const(chosen.width, v) for v in section.values if v is not None]
            equal = [self.b.op(Op.EQ, chosen, v, width=1) for v in own]
            here.append(self.b.either(equal))
        other = self.b.negated(self.b.either(here))
        broken, entered = flag("broken", where), flag("entered", where)
        off = self.b.const(1, 0)
        self.env[broken] = self.env[entered] = off
        flags = self.flags
        self.flags = [*flags, broken]
        around = self.loop_flags[-1][1] if self.loop_flags else broken  # of `continue`
        self.loop_flags.append((broken, around))
        for section, value in zip(sections, here, strict=True):
            default = other if None in section.values else off
            self.env[entered] = self.b.either([self.env[entered], value, default])
            enters = self.b.both(self.env[entered], self.going_on())
            assert enters is not None
            self.branch(enters, lambda body=section.body: self.sequence(body))  # type: ignore[misc]
        self.loop_flags.pop()
        self.flags = flags
        del self.env[broken], self.env[entered]

    def declare(self, variable: Variable) -> None:
        """A variable of the region's own."""
        kind, where = variable.type, variable.where
        if variable.scope == "static":
            what = f"{variable.name}, a static local,"
            raise refusal(Construct.STATIC, Tool.HLS, where, what)
        if not self.on_wires(variable):
            self._declare_array(variable)
            return
        if isinstance(kind, Pointer):
            self.bases.pop(variable, None)
            if variable.init is not None:
                self.point(variable, self.address(variable.init), where)
            return
        if self.is_view(kind):
            self.hold(variable, None)
            self.begin_view(variable, variable.init, where)
            return
        width_of(kind, where)
        if variable.init is None:
            self.hold(variable, None)
            return
        value = self.rvalue(variable.init)
        given = variable.init.type
        if isinstance(variable.init, InitList):
            given = kind
        self.hold(variable, self.convert(value, given, kind, where))

    def _declare_array(self, variable: Variable) -> None:
        place, init = self._local(variable), variable.init
        if init is not None and is_block(variable.type, variable.where) and is_object(init):
            given = self.object(init)
            assert isinstance(given, Location)
            self.copy_object(place, given, variable.where)
        elif variable.init is not None:
            self._initialise(place, 0, variable.init, variable.type)

    def _local(self, variable: Variable) -> Location:
        """A variable's own memory."""
        array = self.memories.get(variable)
        if array is None:
            size = size_of(variable.type, variable.where)
            array = self.new_array(variable, Place.LOCAL, size, to=False, back=False)
            self.memories[variable] = array
        return Location(array, self.b.const(64, 0), variable.type)

    def _initialise(self, start: Location, offset: int, init: Expr | None, kind: CType) -> None:
        where = self.shared.where
        if isinstance(kind, Array) and kind.extent is not None:
            if init is not None and not isinstance(init, InitList):
                raise self.refuse(where, "this initial value isn't supported; assign the elements")
            values = init.values if isinstance(init, InitList) else ()
            size = size_of(kind.element, where)
            if kind.extent > _MOST_INITIAL:
                raise refusal(Construct.INITIAL, Tool.HLS, where)
            for number in range(kind.extent):
                value = values[number] if number < len(values) else None
                self._initialise(start, offset + number * size, value, kind.element)
            return
        if isinstance(kind, Struct) and (init is None or isinstance(init, InitList)):
            values = init.values if init is not None else ()
            for (name, sort), value in zip_longest(kind.fields, values[: len(kind.fields)]):
                at = offset + field_offset(kind, name, where)
                self._initialise(start, at, value, sort)
            return
        place = Location(start.array, self.b.const(64, offset), kind)
        if init is None:
            self.store(place, self.b.const(width_of(kind, where), 0))
            return
        given = kind if isinstance(init, InitList) else init.type
        self.write(place, self.convert(self.rvalue(init), given, kind, where), where)

    def _return(self, value: Expr | None, where: Range) -> None:
        if not self.returning:
            raise self.refuse(where, "return out of a target region; use if")
        returned, result = self.returning[-1]
        if value is not None and result is not None:
            given = self.rvalue(value)
            self.hold(result, self.convert(given, value.type, result.type, where))
        self.env[returned] = self.b.const(1, 1)

    def inline(self, function: Function, call: Call) -> Value:
        """The body of a function in the place of its call.

        Raises:
            SourceError: it calls itself, or takes what isn't supported.
        """
        if function in self.calls:
            what = f"recursion ({function.name})"
            raise refusal(Construct.RECURSION, Tool.HLS, call.where, what)
        self.copied(call.where)
        assert function.body is not None
        # All arguments before any parameter: the function may be among their calls.
        ready: list[tuple[Variable, Value | Location | Variable]] = []
        blocks: list[tuple[Variable, Location]] = []
        views: list[tuple[Variable, Variable]] = []
        for param, arg in zip(function.params, call.args, strict=False):
            wire = self.wire(arg)
            if wire is not None:
                ready.append((param, wire.variable))
            elif isinstance(param.type, Pointer | Array):
                ready.append((param, self.address(arg)))
            elif self.is_view(param.type) and not isinstance(arg, InitList):
                view = self.object(arg)
                if not isinstance(view, OnWire):
                    raise refusal(Construct.POINTER_IN_MEMORY, Tool.HLS, arg.where)
                views.append((param, view.variable))
            elif self.is_view(param.type):
                self.hold(param, None)
                self.begin_view(param, arg, arg.where)
            elif is_block(param.type, call.where) and is_object(arg):
                place = self.object(arg)
                assert isinstance(place, Location)
                blocks.append((param, place))
            else:
                ready.append(
                    (param, self.convert(self.rvalue(arg), arg.type, param.type, arg.where))
                )
        for param, given in ready:
            self.aliases.pop(param, None)
            self.bases.pop(param, None)
            if isinstance(given, Value) and self.on_wires(param):
                self.hold(param, given)
            elif isinstance(given, Value):
                self.write(self._local(param), given, call.where)
            elif isinstance(given, Location):
                self.point(param, given, call.where)
            else:
                self.aliases[param] = given
        for param, variable in views:
            self.hold(param, None)
            self.copy_view(param, variable, call.where)
        for param, place in blocks:
            self.copy_object(self._local(param), place, call.where)
        returned = flag("returned", call.where)
        self.env[returned] = self.b.const(1, 0)
        result: Variable | None = None
        if isinstance(function.result, Scalar | Vector | Struct):
            width_of(function.result, call.where)
            result = Variable(function.name, function.result, call.where, "local")
            self.hold(result, None)
        elif not isinstance(function.result, Void):
            raise self.refuse(call.where, f"{function.name} returns {function.result}; inline it")
        flags, loops = self.flags, self.loop_flags
        self.flags, self.loop_flags = [returned], []
        self.calls.append(function)
        self.returning.append((returned, result))
        self.statement(function.body)
        self.returning.pop()
        self.calls.pop()
        self.flags, self.loop_flags = flags, loops
        self.env.pop(returned, None)
        if result is None:
            return self.b.const(32, 0)
        value = self.held(result)
        self.release(result)
        return value
