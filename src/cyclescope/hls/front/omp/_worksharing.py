"""Loops dealt out to the team: in equal blocks, or in chunks in turn (OpenMP 4.5, 2.7.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cyclescope.c import (
    Assign,
    Binary,
    Block,
    Declare,
    Evaluate,
    Expr,
    For,
    Name,
    Scalar,
    Stmt,
    Unary,
    Variable,
)
from cyclescope.hls.front._assigned import breaks, may_jump, without_casts
from cyclescope.hls.front._loops import Loops, returns
from cyclescope.hls.ir._builder import Dealt, constant_of
from cyclescope.hls.ir._graph import Op
from cyclescope.hls.ir._semantics import signed

if TYPE_CHECKING:
    from cyclescope.c import Range
    from cyclescope.hls.front.omp._directives import Directive
    from cyclescope.hls.ir._graph import Value

__all__ = ["Dealing"]


@dataclass(frozen=True, slots=True)
class _Canonical:
    """A loop in OpenMP's canonical form: `count` values from `first` in steps of `step`."""

    variable: Variable
    type: Scalar
    first: Value
    step: Value
    count: Value
    body: Stmt
    where: Range


class Dealing(Loops):
    """Lowers loops whose iterations are shared by the team."""

    def deal(
        self, directive: Directive, stmt: Stmt, *, is_last: bool
    ) -> tuple[Value | None, dict[Variable, Value]]:
        """A loop's iterations, or those of several ones inside each other.

        Args:
            directive: what says how.
            stmt: the loop.
            is_last: whether it must be known who has the last iteration.

        Returns:
            Whether this thread has the last one, if asked; what the loops' variables are then.

        Raises:
            SourceError: the loops can't be dealt out.
        """
        words = directive.clause("schedule") or ("static",)
        chunk: int | None = None
        if "," in words and words[-2:] != (",", "static"):
            chunk = self.constants.value(words[words.index("static") + 2 :], directive.where)
            if chunk is None or chunk < 1:
                raise self.refuse(directive.where, "schedule: give a positive constant chunk")
        collapsed = directive.clause("collapse")
        depth = 1
        if collapsed is not None:
            depth = self.constants.value(collapsed, directive.where) or 0
        if depth < 1:
            raise self.refuse(directive.where, "collapse: give a positive constant number of loops")
        nest: list[_Canonical] = []
        inner = stmt
        for _ in range(depth):
            while isinstance(inner, Block) and len(inner.body) == 1:
                inner = inner.body[0]
            if not isinstance(inner, For):
                raise self.refuse(inner.where, f"omp {' '.join(directive.words)} needs a for loop")
            if breaks(inner.body) or returns(inner.body):
                raise self.refuse(inner.where, "a shared loop can't be left by break or return")
            own = {level.variable for level in nest}
            if own & self.read_by(inner):
                raise self.refuse(
                    inner.where, "the bounds of a collapsed loop can't depend on another's variable"
                )
            nest.append(self._canonical(inner))
            inner = nest[-1].body
        # The loops' variables are each thread's own, wherever they were.
        mapped = [level.variable for level in nest if level.variable in self.memories]
        shared = {variable: self.memories.pop(variable) for variable in mapped}
        total = nest[0].count
        for level in nest[1:]:
            width = max(total.width, level.count.width)
            total = self.b.op(
                Op.MUL,
                self.b.resized(total, width, is_signed=False),
                self.b.resized(level.count, width, is_signed=False),
                width=width,
            )
        mine = self._has_last(total, chunk) if is_last else None
        ends = {level.variable: self._at(level, level.count) for level in nest} if is_last else {}
        if len(nest) == 1:
            self._deal_one(nest[0], chunk)
        else:
            self._deal_nest(nest, total, chunk)
        self.memories.update(shared)
        return mine, ends

    def _has_last(self, total: Value, chunk: int | None) -> Value:
        """Whether the last iteration is this thread's."""
        width = total.width
        if chunk is None:
            begin, end = self._share(total)
            some = self.b.op(Op.ULT, begin, end, width=1)
            return self.b.op(Op.AND, self.b.op(Op.EQ, end, total, width=1), some, width=1)
        before = self.b.op(Op.SUB, total, self.b.const(width, 1), width=width)
        number = self.b.op(Op.UDIV, before, self.b.const(width, chunk), width=width)
        whose = self.b.op(Op.UREM, number, self.b.const(width, self.threads), width=width)
        some = self.b.op(Op.NE, total, self.b.const(width, 0), width=1)
        own = self.b.op(Op.EQ, whose, self._thread(width), width=1)
        return self.b.op(Op.AND, own, some, width=1)

    def read_by(self, stmt: For) -> set[Variable]:
        """The variables that a loop's bounds and step read."""
        parts = [stmt.condition, stmt.step]
        found = {v for e in parts if e is not None for v in self._reads(e)}
        _, start = _start(stmt)
        return found | (self._reads(start) if start is not None else set())

    def _thread(self, width: int) -> Value:
        return self.b.resized(self.b.leaf(Op.THREAD, 32), width, is_signed=False)

    def _share(self, count: Value) -> tuple[Value, Value]:
        """The first of this thread's iterations and the one after its last, in equal blocks."""
        width = count.width
        team, thread = self.b.const(width, self.threads), self._thread(width)
        each = self.b.op(Op.UDIV, count, team, width=width)
        rest = self.b.op(Op.UREM, count, team, width=width)
        extra = self.b.op(Op.ULT, thread, rest, width=1)
        before = self.b.select(extra, thread, rest)
        begin = self.b.op(Op.ADD, self.b.op(Op.MUL, each, thread, width=width), before, width=width)
        size = self.b.op(Op.ADD, each, self.b.resized(extra, width, is_signed=False), width=width)
        return begin, self.b.op(Op.ADD, begin, size, width=width)

    def _deal_one(self, loop: _Canonical, chunk: int | None) -> None:
        """Blocks of equal size, or chunks dealt out in turn (OpenMP 4.5, 2.7.1)."""
        width = loop.type.bits
        variable = loop.variable
        sort = loop.type
        if chunk is None:
            begin, end = self._share(loop.count)
            first, last = self._at(loop, begin), self._at(loop, end)
            self._run(loop, first, last, loop.step, chunk)
            return
        last = self._at(loop, loop.count)
        each = self.b.op(Op.MUL, loop.step, self.b.const(width, chunk), width=width, exact=True)
        mine = self.b.op(Op.MUL, each, self._thread(width), width=width, exact=True)
        first = self.b.op(Op.ADD, loop.first, mine, width=width, exact=sort.kind == "int")
        turn = self.b.op(Op.MUL, each, self.b.const(width, self.threads), width=width, exact=True)
        if chunk == 1:
            self._run(loop, first, last, turn, chunk)
            return
        at = Variable(f"{variable.name} chunk", sort, loop.where, "local")
        self.env[at] = first

        def chunk_body() -> None:
            start = self.env[at]
            after = self.b.op(Op.ADD, start, each, width=width, exact=sort.kind == "int")
            inside = self._before(loop, after, last)
            self._run(loop, start, self.b.select(inside, after, last), loop.step, chunk)

        def next_chunk() -> None:
            self.env[at] = self.b.op(
                Op.ADD, self.env[at], turn, width=width, exact=sort.kind == "int"
            )

        changed = self.changed([loop.body])
        self.looped(
            loop.where,
            [at, *changed],
            test=lambda: self._before(loop, self.env[at], last),
            body=chunk_body,
            step=next_chunk,
        )
        self.env.pop(at, None)

    def _run(
        self, loop: _Canonical, first: Value, last: Value, step: Value, chunk: int | None
    ) -> None:
        variable, width = loop.variable, loop.type.bits
        changed = [v for v in self.changed([loop.body]) if v is not variable]
        self.env[variable] = first

        def forward() -> None:
            self.env[variable] = self.b.op(
                Op.ADD, self.env[variable], step, width=width, exact=loop.type.kind == "int"
            )

        def body() -> None:
            change, count = constant_of(loop.step), constant_of(loop.count)
            if change:
                dealt = Dealt(signed(change, width), count, chunk, self.threads)
                self.shared.dealt[self.env[variable].node] = dealt
            self.statement(loop.body)

        self.looped(
            loop.where,
            [variable, *changed],
            test=lambda: self._before(loop, self.env[variable], last),
            body=body,
            step=forward,
            jumps=may_jump(loop.body),
        )

    def _deal_nest(self, nest: list[_Canonical], total: Value, chunk: int | None) -> None:
        """Loops collapsed into one: its number says where in the nest it is."""
        width = total.width
        number = Variable("iteration", Scalar("uint", width), nest[0].where, "local")
        changed = [v for v in self.changed([nest[-1].body]) if v not in {n.variable for n in nest}]

        def body() -> None:
            left = self.b.use(self.env[number])
            for level in reversed(nest):
                count = self.b.resized(level.count, width, is_signed=False)
                at = self.b.op(Op.UREM, left, count, width=width) if level is not nest[0] else left
                left = self.b.op(Op.UDIV, left, count, width=width)
                index = self.b.resized(at, level.type.bits, is_signed=False)
                self.env[level.variable] = self._at(level, index)
            self.statement(nest[-1].body)
            for level in nest:
                del self.env[level.variable]

        def share(begin: Value, end: Value, step: int) -> None:
            self.env[number] = begin

            def forward() -> None:
                by = self.b.const(width, step)
                self.env[number] = self.b.op(Op.ADD, self.env[number], by, width=width)

            self.looped(
                nest[0].where,
                [number, *changed],
                test=lambda: self.b.op(Op.ULT, self.env[number], end, width=1),
                body=body,
                step=forward,
                jumps=may_jump(nest[-1].body),
            )
            self.env.pop(number, None)

        for level in nest:
            self.env.pop(level.variable, None)
        if chunk is None:
            share(*self._share(total), 1)
            return
        first = self.b.op(Op.MUL, self._thread(width), self.b.const(width, chunk), width=width)
        if chunk == 1:
            share(first, total, self.threads)
            return
        start = Variable("chunk", Scalar("uint", width), nest[0].where, "local")
        self.env[start] = first

        def chunk_body() -> None:
            begin = self.b.use(self.env[start])
            end = self.b.op(Op.ADD, begin, self.b.const(width, chunk), width=width)
            inside = self.b.op(Op.ULT, end, total, width=1)
            share(begin, self.b.select(inside, end, total), 1)

        def next_chunk() -> None:
            turn = self.b.const(width, chunk * self.threads)
            self.env[start] = self.b.op(Op.ADD, self.env[start], turn, width=width)

        self.looped(
            nest[0].where,
            [start, *changed],
            test=lambda: self.b.op(Op.ULT, self.env[start], total, width=1),
            body=chunk_body,
            step=next_chunk,
        )
        self.env.pop(start, None)

    def _at(self, loop: _Canonical, number: Value) -> Value:
        width = loop.type.bits
        signed = loop.type.kind == "int"
        moved = self.b.op(Op.MUL, number, loop.step, width=width, exact=signed)
        return self.b.op(Op.ADD, loop.first, moved, width=width, exact=signed)

    def _before(self, loop: _Canonical, a: Value, b: Value) -> Value:
        """Whether value a comes before b in the loop's direction."""
        step = loop.step.node
        if step.op is Op.CONST and step.constant >> (loop.type.bits - 1):
            a, b = b, a
        return self.b.op(Op.SLT if loop.type.kind == "int" else Op.ULT, a, b, width=1)

    def _canonical(self, stmt: For) -> _Canonical:
        """A loop in the form `for (i = a; i < b; i += c)` (OpenMP 4.5, 2.6).

        Raises:
            SourceError: it has another form.
        """
        where = stmt.where
        variable, start = _start(stmt)
        test, step = stmt.condition, stmt.step
        if variable is None or start is None or not isinstance(variable.type, Scalar):
            raise self.refuse(where, "a shared loop begins with `i = first`")
        sort = variable.type
        if sort.is_float or sort.bits < 32:
            raise self.refuse(where, f"a shared loop's variable must be int or long, not {sort}")
        self.fixed.discard(variable)
        first = self.convert(self.rvalue(start), start.type, sort, where)
        given = _limit(test, variable)
        if given is None:
            raise self.refuse(where, f"a shared loop compares {variable.name} with a bound")
        op, bound = given
        last = self.convert(self.rvalue(bound), bound.type, sort, where)
        width, signed = sort.bits, sort.kind == "int"
        change = self._change(step, variable, sort)
        if op in ("<=", ">="):
            one = self.b.const(width, 1 if op == "<=" else -1)
            last = self.b.op(Op.ADD, last, one, width=width, exact=signed)
        down = op in (">", ">=")
        if op == "!=" and change.node.op is Op.CONST:
            down = bool(change.node.constant >> (width - 1))
        ahead, behind = (last, first) if not down else (first, last)
        runs = self.b.op(Op.SLT if signed else Op.ULT, behind, ahead, width=1)
        distance = self.b.op(Op.SUB, ahead, behind, width=width)
        size = change if not down else self.b.op(
            Op.SUB, self.b.const(width, 0), change, width=width
        )  # fmt: skip
        raised = self.b.op(
            Op.ADD,
            distance,
            self.b.op(Op.SUB, size, self.b.const(width, 1), width=width),
            width=width,
        )
        count = self.b.op(Op.UDIV, raised, size, width=width)
        count = self.b.select(runs, count, self.b.const(width, 0))
        return _Canonical(variable, sort, first, change, count, stmt.body, where)

    def _change(self, step: Expr | None, variable: Variable, sort: Scalar) -> Value:
        width, where = sort.bits, self.shared.where
        match step:
            case Unary(op="pre++" | "post++"):
                return self.b.const(width, 1)
            case Unary(op="pre--" | "post--"):
                return self.b.const(width, -1)
            case Assign(op="+=", value=value):
                return self.convert(self.rvalue(value), value.type, sort, where)
            case Assign(op="-=", value=value):
                size = self.convert(self.rvalue(value), value.type, sort, where)
                return self.b.op(Op.SUB, self.b.const(width, 0), size, width=width, exact=True)
            case Assign(op="=", value=Binary(op="+", left=left, right=right)):
                other = right if _names(left, variable) else left
                return self.convert(self.rvalue(other), other.type, sort, where)
            case Assign(op="=", value=Binary(op="-", left=left, right=right)) if _names(
                left, variable
            ):
                size = self.convert(self.rvalue(right), right.type, sort, where)
                return self.b.op(Op.SUB, self.b.const(width, 0), size, width=width, exact=True)
        raise self.refuse(where, f"a shared loop steps by `{variable.name} += constant`")


def _start(stmt: For) -> tuple[Variable | None, Expr | None]:
    match stmt.init:
        case Declare(variables=(variable,)):
            return variable, variable.init
        case Evaluate(value=Assign(op="=", target=Name(variable=variable), value=value)):
            return variable, value
    return None, None


def _names(expr: Expr, variable: Variable) -> bool:
    bare = without_casts(expr)
    return isinstance(bare, Name) and bare.variable is variable


def _limit(test: Expr | None, variable: Variable) -> tuple[str, Expr] | None:
    mirrored = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "!=": "!="}
    if isinstance(test, Binary) and test.op in mirrored:
        if _names(test.left, variable):
            return test.op, test.right
        if _names(test.right, variable):
            return mirrored[test.op], test.left
    return None
