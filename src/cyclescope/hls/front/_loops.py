"""Loops: as nodes with graphs of their own, or unrolled."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope.c import Call, DoWhile, Expr, For, Name, Return, Scalar, Variable, While, walk
from cyclescope.hls.front._assigned import assigned, expressions, has_effects, may_jump, statements
from cyclescope.hls.front._context import flag
from cyclescope.hls.front._statements import Statements
from cyclescope.hls.front.omp._directives import unroll_pragma
from cyclescope.hls.ir._builder import Builder, constant_of
from cyclescope.hls.ir._graph import Carried, Graph, Op

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from cyclescope.c import Range, Stmt
    from cyclescope.hls.ir._graph import Value

__all__ = ["Loops", "returns"]

_MOST_COPIES = 1024


class Loops(Statements):
    """Lowers loops."""

    def loop(self, stmt: For | While | DoWhile) -> None:
        """A loop of the text."""
        test: Expr | None = stmt.condition
        step: Expr | None = None
        if isinstance(stmt, For):
            if stmt.init is not None:
                self.statement(stmt.init)
            step = stmt.step
        unroll = unroll_pragma(stmt.pragmas)
        if unroll is not None and test is not None and not isinstance(stmt, DoWhile):
            asked = self._asked(*unroll)
            count = self._trips(stmt.body, test, step)
            if count is not None and (asked is None or count <= asked):
                self._unrolled(stmt.body, step, count)
                return
            if asked is None:
                self.warnings.append(
                    f"{unroll[1]}: the number of iterations isn't known; the loop stays as it is"
                )
            else:
                whole = count is not None and count % asked == 0
                self._partly(stmt.body, test, step, asked, whole=whole, where=stmt.where)
                return
        self.looped(
            stmt.where,
            self.changed([stmt.body], [test, step]),
            test=(lambda: self.condition(test)) if test is not None else None,
            body=lambda: self.statement(stmt.body),
            step=(lambda: self._evaluate(step)) if step is not None else None,
            test_first=not isinstance(stmt, DoWhile),
            rotate=test is not None and self._has_effects(test),
            jumps=may_jump(stmt.body) or returns(stmt.body),
        )

    def _evaluate(self, expr: Expr) -> None:
        self.rvalue(expr)

    def _asked(self, words: tuple[str, ...], where: Range) -> int | None:
        if not words:
            return None
        asked = self.constants.value(words, where)
        if asked is None or asked < 1:
            raise self.refuse(where, f"unroll {' '.join(words)}: give a positive constant")
        if asked > _MOST_COPIES:
            raise self.refuse(where, f"unroll {asked}: more than {_MOST_COPIES} copies")
        return asked

    def _has_effects(self, test: Expr) -> bool:
        return has_effects(test, self.unit.functions, set(self.memories))

    def changed(self, parts: Iterable[Stmt], tests: Iterable[Expr | None] = ()) -> list[Variable]:
        """The known variables that a loop's parts give values to, in a stable order."""
        found: list[Expr] = []
        jumps = False
        for part in parts:
            found += expressions(part)
            jumps = jumps or returns(part)
        for test in tests:
            if test is not None:
                found += walk(test)
        wanted = assigned(found, self.unit.functions, self.aliases)
        if jumps:
            for returned, result in self.returning[-1:]:
                wanted |= {returned} | ({result} if result is not None else set())
        wanted = {self.whole.get(v, v) for v in wanted}
        return [v for v in self.env if self.whole.get(v, v) in wanted]

    def looped(
        self,
        where: Range,
        variables: list[Variable],
        *,
        test: Callable[[], Value] | None,
        body: Callable[[], None],
        step: Callable[[], None] | None,
        test_first: bool = True,
        rotate: bool = False,
        jumps: bool = False,
    ) -> None:
        """A loop as a node.

        Args:
            where: the loop's text.
            variables: what it changes.
            test: lowers the condition; None: always true.
            body: lowers an iteration.
            step: lowers what follows it.
            test_first: not so for `do … while`.
            rotate: the condition has effects, so it is evaluated at an iteration's end.
            jumps: the body holds `break`, `continue` or `return`.
        """
        outer, pred = self.b, self.pred
        rotate = rotate or jumps or not test_first
        going = flag("going on", where)
        if rotate:
            first = test() if test is not None and test_first else outer.const(1, 1)
            self.env[going] = outer.use(first)
            variables = [*variables, going]
        init = [outer.use(self.env[v]) for v in variables]
        # `L12` is the loop in line 12.
        graph = Graph(self.labels.unique(f"L{where.line}"), where)
        before = self.env
        self.b, self.pred = Builder(graph, self.shared, outer), None
        self.env = dict(before)
        params = []
        for variable, start in zip(variables, init, strict=True):
            param = self.b.param(start.width, variable.name)
            params.append(param)
            self.env[variable] = param
        if rotate:
            graph.stay = self.env[going]
        else:
            graph.stay = self.b.use(test()) if test is not None else self.b.const(1, 1)
        broken = self._iteration(where, body, jumps=jumps)
        if rotate:
            self._rotated(going, test, step, broken)
        elif step is not None:
            step()
        for variable, param in zip(variables, params, strict=True):
            last = self.b.use(self.env[variable])
            graph.carried.append(Carried(param.node, last))
        inner = self.b
        self.b, self.pred, self.env = outer, pred, before
        outside = list(inner.imported)
        node = outer.effect(
            Op.LOOP,
            *init,
            *outside,
            widths=tuple(v.width for v in init),
            when=pred,
            body=graph,
            name=graph.label,
        )
        for variable, result in zip(variables, node.results, strict=True):
            self.env[variable] = result
        self.env.pop(going, None)

    def counted(self, where: Range, count: Value, body: Callable[[Value], None]) -> None:
        """A loop of the compiler's own over the numbers below a count; it assigns no variable.

        Args:
            where: what it is for.
            count: 64 bits, signed.
            body: lowers an iteration, given its number.
        """
        at = Variable("element", Scalar("int", 64), where, "local")
        self.env[at] = self.b.const(64, 0)

        def forward() -> None:
            one = self.b.const(64, 1)
            self.env[at] = self.b.op(Op.ADD, self.env[at], one, width=64, exact=True)

        self.looped(
            where,
            [at],
            test=lambda: self.b.op(Op.SLT, self.env[at], count, width=1),
            body=lambda: body(self.env[at]),
            step=forward,
        )
        del self.env[at]

    def _rotated(
        self,
        going: Variable,
        test: Callable[[], Value] | None,
        step: Callable[[], None] | None,
        broken: Value,
    ) -> None:
        """The end of an iteration whose condition is evaluated there."""
        again: list[Value] = []

        def end() -> None:
            if step is not None:
                step()
            again.append(test() if test is not None else self.b.const(1, 1))

        self.branch(self.b.negated(broken), end)
        off = self.b.const(1, 0)
        self.env[going] = self.b.select(broken, off, again[0]) if again else off

    def _iteration(self, where: Range, body: Callable[[], None], *, jumps: bool) -> Value:
        """One iteration's body; gives whether it has left the loop."""
        if not jumps:
            body()
            return self.b.const(1, 0)
        broken, skipped = flag("broken", where), flag("skipped", where)
        self.env[broken] = self.env[skipped] = self.b.const(1, 0)
        flags = self.flags
        self.flags = [*flags, broken, skipped]
        self.loop_flags.append((broken, skipped))
        body()
        self.loop_flags.pop()
        self.flags = flags
        left = [self.env.pop(broken)] + [self.env[f] for f in flags if f in self.env]
        del self.env[skipped]
        return self.b.either(left)

    # Unrolling.

    def _trips(self, body: Stmt, test: Expr, step: Expr | None) -> int | None:
        """How often a loop runs, if that can be computed now; leaves no trace."""
        if self._has_effects(test) or (step is not None and may_not_repeat(step)):
            return None
        inside = set(self.changed([body]))
        names = set(self.changed([], [step]))
        if inside & names or not names or self._reads(test) & inside:
            return None
        before = dict(self.env)
        count = 0
        try:
            while count <= _MOST_COPIES:
                known = constant_of(self.condition(test))
                if known is None:
                    return None
                if not known:
                    return count
                count += 1
                if step is not None:
                    self.rvalue(step)
        finally:
            self.env = before
        return None

    def _reads(self, expr: Expr) -> set[Variable]:
        return {e.variable for e in walk(expr) if isinstance(e, Name)}

    def _unrolled(self, body: Stmt, step: Expr | None, count: int) -> None:
        jumps = may_jump(body) or returns(body)

        def end() -> None:
            if step is not None:
                self.rvalue(step)

        def copy(number: int) -> None:
            self.copied(body.where)
            left = self._iteration(body.where, lambda: self.statement(body), jumps=True)

            def on() -> None:
                end()
                if number + 1 < count:
                    copy(number + 1)

            self.branch(self.b.negated(left), on)

        if jumps and count:
            copy(0)
            return
        for _ in range(count):
            self.copied(body.where)
            self.statement(body)
            end()

    def _partly(
        self, body: Stmt, test: Expr, step: Expr | None, copies: int, *, whole: bool, where: Range
    ) -> None:
        """Several iterations in one; each but the first asks whether it takes place."""
        if may_jump(body) or returns(body):
            raise self.refuse(where, "a loop with break, continue or return isn't unrolled partly")

        def copy(number: int) -> None:
            self.copied(where)
            self.statement(body)
            if step is not None:
                self.rvalue(step)
            if number + 1 < copies:
                if whole:
                    copy(number + 1)
                else:
                    self.branch(self.condition(test), lambda: copy(number + 1))

        self.looped(
            where,
            self.changed([body], [test, step]),
            test=lambda: self.condition(test),
            body=lambda: copy(0),
            step=None,
            rotate=self._has_effects(test),
        )


def may_not_repeat(step: Expr) -> bool:
    """Whether a step does more than change variables."""
    return any(isinstance(e, Call) for e in walk(step))


def returns(body: Stmt) -> bool:
    """Whether a body returns from the function around it, however deep."""
    return any(isinstance(s, Return) for s in statements(body))
