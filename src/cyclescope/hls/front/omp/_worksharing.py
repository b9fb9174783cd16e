"""Work-sharing (OpenMP 4.5, 2.7): who has which of a loop's iterations, or of some sections."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from cyclescope.c import (
    Assign,
    Binary,
    Block,
    Cast,
    Declare,
    Evaluate,
    Expr,
    For,
    Name,
    Scalar,
    Stmt,
    Unary,
    Variable,
    without_casts,
)
from cyclescope.hls.front._assigned import breaks, gotos_out, may_jump, returns, variables_read
from cyclescope.hls.front._blocks import copy_object
from cyclescope.hls.front._context import Location, SharedScalarError
from cyclescope.hls.front._control import branch, changed_in, stepped
from cyclescope.hls.front._conversions import convert
from cyclescope.hls.front._dispatch import bare, rvalue, statement
from cyclescope.hls.front._memory import load_from, new_array, store_to
from cyclescope.hls.front._pointers import has_pointers
from cyclescope.hls.front._structs import (
    held_value,
    hold,
    is_held,
    release,
    store_object,
    wires_of,
)
from cyclescope.hls.front.omp._chunks import Chunks, take_chunks
from cyclescope.hls.front.omp._clauses import check
from cyclescope.hls.front.omp._constructs import lowers, within
from cyclescope.hls.front.omp._directives import directives
from cyclescope.hls.front.omp._privatization import innermost, named, own_copy, release_copy
from cyclescope.hls.front.omp._reductions import begin_reductions, end_reductions
from cyclescope.hls.front.omp._team import barrier, is_first, locked, shared_by, thread_number
from cyclescope.hls.ir import Op, Place, StaticSchedule, constant_of, signed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from cyclescope.c import Range
    from cyclescope.hls.front._context import Context
    from cyclescope.hls.front.omp._directives import Directive
    from cyclescope.hls.ir import Array, Value

__all__ = ["work_share"]

_KINDS = frozenset({"static", "dynamic", "guided", "auto", "runtime"})


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
    shown: Variable | None = None  # the text's variable, where that is too small to count in
    linear: tuple[tuple[Variable, Value, Value], ...] = ()  # what grows: its first value, its step


def _share_loops(
    ctx: Context, directive: Directive, stmt: Stmt, *, is_last: bool
) -> tuple[Value | None, dict[Variable, Value]]:
    """A loop's iterations, or those of several ones inside each other.

    Args:
        ctx: the region's lowering.
        directive: what says how.
        stmt: the loop.
        is_last: whether it must be known who has the last iteration.

    Returns:
        Whether this thread has the last one, if asked; what the loops' variables are then.

    Raises:
        SourceError: the team can't share the loops.
    """
    schedule = _schedule(ctx, directive)
    collapsed = directive.clause("collapse")
    depth = 1
    if collapsed is not None:
        depth = ctx.constants.value(collapsed, directive.where) or 0
    if depth < 1:
        raise ctx.refuse(directive.where, "collapse: give a positive constant number of loops")
    if depth > 1 and _is_triangular(stmt, depth):
        if directive.clause("schedule") is not None:
            raise ctx.refuse(
                directive.where, "schedule can't be of loops whose bounds depend on each other "
                "(OpenMP 5.0, 2.9.2); remove it"
            )  # fmt: skip
        if ctx.team.now is not None:
            raise ctx.refuse(
                directive.where, "lastprivate(conditional: …) of loops whose bounds depend on each "
                "other; collapse fewer"
            )  # fmt: skip
        return _share_triangle(ctx, _loops(ctx, directive, stmt, depth), is_last=is_last)
    nest = [_canonical(ctx, loop) for loop in _loops(ctx, directive, stmt, depth)]
    # The loops' variables are each thread's own, wherever they were.
    small = [level.shown for level in nest if level.shown is not None]
    if small:
        nest[-1] = replace(nest[-1], body=_with_small(nest))
    kept = {v: ctx.vars.env[v] for v in small if v in ctx.vars.env}
    numbers = [level.variable for level in nest]
    mapped = [variable for variable in (*numbers, *small) if variable in ctx.vars.memories]
    shared = {variable: ctx.vars.memories.pop(variable) for variable in mapped}
    for variable in small:
        hold(ctx, variable, None)
    total = nest[0].count
    for level in nest[1:]:
        width = max(total.width, level.count.width)
        total = ctx.b.op(
            Op.MUL,
            ctx.b.resized(total, width, is_signed=False),
            ctx.b.resized(level.count, width, is_signed=False),
            width=width,
        )
    if isinstance(schedule, int):
        schedule = _countable(ctx, total, schedule, directive.where)
    mine = None
    if is_last and not isinstance(schedule, Chunks):
        mine = _has_last(ctx, total, schedule)
    ends = {level.variable: _at(ctx, level, level.count) for level in nest} if is_last else {}
    for level in nest:
        if level.shown is not None and ends:
            assert isinstance(level.shown.type, Scalar)
            end = ends[level.variable]
            ends[level.shown] = ctx.b.resized(end, level.shown.type.bits, is_signed=True)
    if directive.linear:
        nest[0], grown = _with_linear(ctx, directive, nest[0], total)
        ends |= grown
    if isinstance(schedule, Chunks):
        mine = _take_all(ctx, nest, total, schedule)
    elif len(nest) == 1 and (schedule is None or _stays(ctx, nest[0], schedule)):
        _share_one(ctx, nest[0], schedule)
    else:
        _share_nest(ctx, nest, total, schedule)
    for variable in small:
        release(ctx, variable)
    ctx.vars.env.update(kept)
    ctx.vars.memories.update(shared)
    return mine, ends


def _loops(ctx: Context, directive: Directive, stmt: Stmt, depth: int) -> list[For]:
    """Loops inside each other, the outermost first.

    Raises:
        SourceError: there are fewer, or one is left by a jump.
    """
    found: list[For] = []
    inner = stmt
    for _ in range(depth):
        while isinstance(inner, Block) and len(inner.body) == 1:
            inner = inner.body[0]
        if not isinstance(inner, For):
            raise ctx.refuse(inner.where, f"omp {' '.join(directive.words)} needs a for loop")
        if breaks(inner.body) or returns(inner.body) or gotos_out(inner.body):
            raise ctx.refuse(
                inner.where, "a work-sharing loop can't be left by break, return or goto"
            )
        found.append(inner)
        inner = inner.body
    return found


def _is_triangular(stmt: Stmt, depth: int) -> bool:
    """Return whether a loop's bounds depend on the variable of one around it."""
    outer: set[Variable] = set()
    inner = stmt
    for _ in range(depth):
        while isinstance(inner, Block) and len(inner.body) == 1:
            inner = inner.body[0]
        if not isinstance(inner, For):
            return False
        if outer & _read_by(inner):
            return True
        variable, _ = _start(inner)
        outer |= {variable} if variable is not None else set()
        inner = inner.body
    return False


def _share_triangle(
    ctx: Context, loops: list[For], *, is_last: bool
) -> tuple[Value | None, dict[Variable, Value]]:
    """Loops whose bounds depend on those around them, as one (OpenMP 5.0, 2.9.1).

    A first pass over all but the innermost counts the iterations. In the second one each thread
    does, of each of the innermost loops, what is in its block of all iterations.

    Returns:
        Whether this thread has the last iteration; what the loops' variables are then.
    """
    where = loops[0].where
    wide = Scalar("int", 64)
    started = [_start(loop)[0] for loop in loops]
    variables = [v for v in started if v is not None]
    mapped = {v: ctx.vars.memories.pop(v) for v in variables if v in ctx.vars.memories}
    before = {v: ctx.vars.env.pop(v) for v in variables if v in ctx.vars.env}
    done = Variable("iterations", wide, where, "local")
    ends = {v: Variable(f"{v.name} behind", v.type, where, "local") for v in variables}

    def through(level: int, changed: list[Variable], leaf: Callable[[_Canonical], None]) -> None:
        loop = _canonical(ctx, loops[level])
        if loop.shown is not None:
            raise ctx.refuse(
                loop.where, f"{loop.shown.name}, of one of several loops whose bounds depend on "
                f"each other, must be int or long, not {loop.shown.type}"
            )  # fmt: skip
        end = _at(ctx, loop, loop.count)
        if ends[loop.variable] in ctx.vars.env:
            ctx.vars.env[ends[loop.variable]] = end
        if level + 1 == len(loops):
            leaf(loop)
            return
        ctx.vars.env[loop.variable] = loop.first
        stepped(
            ctx,
            loop.where,
            loop.variable,
            loop.step,
            changed=changed,
            test=lambda number: _before(ctx, loop, number, end),
            body=lambda _: through(level + 1, changed, leaf),
        )
        del ctx.vars.env[loop.variable]

    def count_of(loop: _Canonical) -> Value:
        return ctx.b.resized(loop.count, 64, is_signed=False)

    def count(loop: _Canonical) -> None:
        ctx.vars.env[done] = ctx.b.op(Op.ADD, ctx.vars.env[done], count_of(loop), width=64)

    zero = ctx.b.const(64, 0)
    ctx.vars.env[done] = zero
    for variable, end in ends.items():
        assert isinstance(variable.type, Scalar)
        ctx.vars.env[end] = ctx.b.const(variable.type.bits, 0)
    through(0, [done, *ends.values()], count)
    total = ctx.vars.env.pop(done)
    behind = {variable: ctx.vars.env.pop(end) for variable, end in ends.items()}
    mine = _has_last(ctx, total, None) if is_last else None
    first, last = _own_block(ctx, total)

    def run(loop: _Canonical) -> None:
        already, size = ctx.vars.env[done], count_of(loop)
        begin, end = (_clamped(ctx, ctx.b.use(v), already, size) for v in (first, last))
        begin, end = (ctx.b.resized(v, loop.type.bits, is_signed=False) for v in (begin, end))
        _run(ctx, loop, _at(ctx, loop, begin), _at(ctx, loop, end), loop.step, None)
        del ctx.vars.env[loop.variable]
        ctx.vars.env[done] = ctx.b.op(Op.ADD, already, size, width=64)

    ctx.vars.env[done] = zero
    changed = [v for v in changed_in(ctx, [loops[-1].body]) if v not in variables]
    through(0, [done, *changed], run)
    del ctx.vars.env[done]
    ctx.vars.memories.update(mapped)
    ctx.vars.env.update(before)
    return mine, behind


def _clamped(ctx: Context, number: Value, already: Value, size: Value) -> Value:
    """The number of an iteration among those of an innermost loop: from 0 to its size."""
    at = ctx.b.op(Op.SUB, number, already, width=64)
    at = ctx.b.select(ctx.b.op(Op.SLT, at, ctx.b.const(64, 0), width=1), ctx.b.const(64, 0), at)
    return ctx.b.select(ctx.b.op(Op.SLT, size, at, width=1), size, at)


def _schedule(ctx: Context, directive: Directive) -> Chunks | int | None:
    """The schedule of a loop: chunks that threads take, static ones of a size, or equal blocks."""
    words, size = directive.clause("schedule") or ("static",), None
    if not directive.has("parallel") and directive.clause("schedule") is None:
        words = directive.clause("dist_schedule") or words
    kind = next(w for w in words if w in _KINDS)
    given = words[words.index(kind) + 2 :]
    if given:
        size = ctx.constants.value(given, directive.where)
        if size is None or size < 1:
            raise ctx.refuse(directive.where, "schedule: give a positive constant chunk")
    if ctx.team.is_alone or ctx.team.is_ordered:
        return None
    if kind in ("dynamic", "guided"):
        return Chunks(size or 1, kind == "guided")
    return size


def _countable(ctx: Context, total: Value, chunk: int, where: Range) -> int:
    """A static chunk's size; where it has far more iterations than the loop, as many as that.

    Raises:
        SourceError: from a thread's chunk to its next one is too far for the loop's variable.
    """
    most = (1 << (total.width - 2)) // ctx.threads
    if chunk > most:
        chunk = min(chunk, constant_of(total) or chunk)
    if chunk > most:
        raise ctx.refuse(
            where, f"schedule: a chunk of {chunk} iterations is too large for {ctx.threads} "
            f"threads; at most {most} are possible"
        )  # fmt: skip
    return chunk


def _stays(ctx: Context, loop: _Canonical, chunk: int) -> bool:
    """Return whether a loop's variable can go from a thread's chunk to its next one.

    Behind the last chunk it is beyond the loop's bound: by more than its type allows, perhaps.
    """
    width, is_signed = loop.type.bits, loop.type.kind == "int"
    first, step, count = (constant_of(v) for v in (loop.first, loop.step, loop.count))
    step = signed(step, width) if step is not None else 1
    reach = ctx.threads * chunk * step
    if first is None or count is None:
        return abs(reach) < 1 << (width - 2) and (is_signed or step > 0)
    lowest = -(1 << (width - 1)) if is_signed else 0
    end = (signed(first, width) if is_signed else first) + count * step + reach
    return lowest <= end < lowest + (1 << width)


def _take_all(ctx: Context, nest: list[_Canonical], total: Value, chunks: Chunks) -> Value:
    """A loop, or a nest of loops, in chunks that threads take; gives who has the last iteration."""
    if len(nest) > 1:
        share = _nest_runner(ctx, nest, total.width)

        def run(begin: Value, end: Value) -> Value:
            return ctx.b.op(Op.NE, share(begin, end, 1), begin, width=1)

    else:
        (loop,) = nest

        def run(begin: Value, end: Value) -> Value:
            first = _at(ctx, loop, begin)
            _run(ctx, loop, first, _at(ctx, loop, end), loop.step, None)
            return ctx.b.op(Op.NE, ctx.vars.env.pop(loop.variable), first, width=1)

    own = {level.variable for level in nest}
    for variable in own:
        ctx.vars.env.pop(variable, None)
    changed = [v for v in changed_in(ctx, [nest[-1].body]) if v not in own]
    return take_chunks(ctx, nest[0].where, total, chunks, changed, run)


def _has_last(ctx: Context, total: Value, chunk: int | None) -> Value:
    """Return whether the last iteration is this thread's."""
    width = total.width
    if chunk is None:
        begin, end = _own_block(ctx, total)
        some = ctx.b.op(Op.ULT, begin, end, width=1)
        return ctx.b.op(Op.AND, ctx.b.op(Op.EQ, end, total, width=1), some, width=1)
    before = ctx.b.op(Op.SUB, total, ctx.b.const(width, 1), width=width)
    number = ctx.b.op(Op.UDIV, before, ctx.b.const(width, chunk), width=width)
    whose = ctx.b.op(Op.UREM, number, shared_by(ctx, width), width=width)
    some = ctx.b.op(Op.NE, total, ctx.b.const(width, 0), width=1)
    own = ctx.b.op(Op.EQ, whose, _thread(ctx, width), width=1)
    return ctx.b.op(Op.AND, own, some, width=1)


def _read_by(stmt: For) -> set[Variable]:
    """The variables that a loop's bounds and step read."""
    parts = [stmt.condition, stmt.step]
    found = {v for e in parts if e is not None for v in variables_read(e)}
    _, start = _start(stmt)
    return found | (variables_read(start) if start is not None else set())


def _thread(ctx: Context, width: int) -> Value:
    return ctx.b.resized(thread_number(ctx), width, is_signed=False)


def _own_block(ctx: Context, count: Value) -> tuple[Value, Value]:
    """The first of this thread's iterations and the one after its last, in equal blocks."""
    width = count.width
    team, thread = shared_by(ctx, width), _thread(ctx, width)
    if ctx.team.is_ordered:
        return ctx.b.const(width, 0), count
    each = ctx.b.op(Op.UDIV, count, team, width=width)
    rest = ctx.b.op(Op.UREM, count, team, width=width)
    extra = ctx.b.op(Op.ULT, thread, rest, width=1)
    before = ctx.b.select(extra, thread, rest)
    begin = ctx.b.op(Op.ADD, ctx.b.op(Op.MUL, each, thread, width=width), before, width=width)
    size = ctx.b.op(Op.ADD, each, ctx.b.resized(extra, width, is_signed=False), width=width)
    return begin, ctx.b.op(Op.ADD, begin, size, width=width)


def _share_one(ctx: Context, loop: _Canonical, chunk: int | None) -> None:
    """Blocks of equal size, or chunks round robin (OpenMP 4.5, 2.7.1)."""
    width = loop.type.bits
    variable = loop.variable
    sort = loop.type
    if chunk is None:
        begin, end = _own_block(ctx, loop.count)
        first, last = _at(ctx, loop, begin), _at(ctx, loop, end)
        _run(ctx, loop, first, last, loop.step, chunk)
        return
    last = _at(ctx, loop, loop.count)
    each = ctx.b.op(Op.MUL, loop.step, ctx.b.const(width, chunk), width=width, exact=True)
    mine = ctx.b.op(Op.MUL, each, _thread(ctx, width), width=width, exact=True)
    first = ctx.b.op(Op.ADD, loop.first, mine, width=width, exact=sort.kind == "int")
    turn = ctx.b.op(Op.MUL, each, shared_by(ctx, width), width=width, exact=True)
    if chunk == 1:
        _run(ctx, loop, first, last, turn, chunk)
        return
    at = Variable(f"{variable.name} chunk", sort, loop.where, "local")
    ctx.vars.env[at] = first

    def chunk_body(start: Value) -> None:
        after = ctx.b.op(Op.ADD, start, each, width=width, exact=sort.kind == "int")
        inside = _before(ctx, loop, after, last)
        _run(ctx, loop, start, ctx.b.select(inside, after, last), loop.step, chunk)

    stepped(
        ctx,
        loop.where,
        at,
        turn,
        changed=changed_in(ctx, [loop.body]),
        test=lambda start: _before(ctx, loop, start, last),
        body=chunk_body,
    )
    ctx.vars.env.pop(at, None)


def _run(
    ctx: Context,
    loop: _Canonical,
    first: Value,
    last: Value,
    step: Value,
    chunk: int | None,
) -> None:
    variable, width = loop.variable, loop.type.bits
    changed = [v for v in changed_in(ctx, [loop.body]) if v is not variable]
    ctx.vars.env[variable] = first

    def body(number: Value) -> None:
        change, count = constant_of(loop.step), constant_of(loop.count)
        is_known = ctx.team.size is None or ctx.team.size.node.op is Op.CONST
        if change and is_known and not ctx.team.is_alone and not ctx.team.is_ordered:
            shared = StaticSchedule(signed(change, width), count, chunk, ctx.threads)
            ctx.shared.work_sharing[number.node] = shared
        if ctx.team.now is not None:
            places = (number, loop.first)
            change = constant_of(loop.step) or 0
            ahead, behind = places[::-1] if change >> (width - 1) else places
            done = ctx.b.op(Op.SUB, ahead, ctx.b.use(behind), width=width)
            _count(ctx, ctx.b.resized(done, 64, is_signed=False))
        for grows, start, by in loop.linear:
            done = ctx.b.op(Op.SUB, number, ctx.b.use(loop.first), width=width)
            done = ctx.b.op(Op.SDIV, done, ctx.b.use(loop.step), width=width)
            done = ctx.b.resized(done, start.width, is_signed=True)
            grown = ctx.b.op(Op.MUL, done, by, width=start.width)
            ctx.vars.env[grows] = ctx.b.op(Op.ADD, ctx.b.use(start), grown, width=start.width)
        statement(ctx, loop.body)

    stepped(
        ctx,
        loop.where,
        variable,
        step,
        changed=changed,
        test=lambda number: _before(ctx, loop, number, last),
        body=body,
        jumps=may_jump(loop.body),
    )


def _count(ctx: Context, number: Value) -> None:
    """Note the number of an iteration, where assignments ask for it."""
    if ctx.team.now is not None:
        ctx.vars.env[ctx.team.now] = ctx.b.op(Op.ADD, number, ctx.b.const(64, 1), width=64)


def _nest_runner(
    ctx: Context, nest: list[_Canonical], width: int
) -> Callable[[Value, Value, Value | int], Value]:
    """The function that lowers some iterations of loops collapsed into one.

    The one's number, from a value up to another one by a step, says where in the nest it is; it is
    given back as it is after the last.
    """
    number = Variable("iteration", Scalar("uint", width), nest[0].where, "local")
    changed = [v for v in changed_in(ctx, [nest[-1].body]) if v not in {n.variable for n in nest}]

    def body(left: Value) -> None:
        left = ctx.b.use(left)
        _count(ctx, ctx.b.resized(left, 64, is_signed=False))
        for level in reversed(nest):
            count = ctx.b.resized(level.count, width, is_signed=False)
            at = ctx.b.op(Op.UREM, left, count, width=width) if level is not nest[0] else left
            left = ctx.b.op(Op.UDIV, left, count, width=width)
            index = ctx.b.resized(at, level.type.bits, is_signed=False)
            ctx.vars.env[level.variable] = _at(ctx, level, index)
        statement(ctx, nest[-1].body)
        for level in nest:
            del ctx.vars.env[level.variable]

    def share(begin: Value, end: Value, step: Value | int) -> Value:
        ctx.vars.env[number] = begin
        stepped(
            ctx,
            nest[0].where,
            number,
            step,
            changed=changed,
            test=lambda value: ctx.b.op(Op.ULT, value, end, width=1),
            body=body,
            jumps=may_jump(nest[-1].body),
        )
        return ctx.vars.env.pop(number)

    return share


def _share_nest(ctx: Context, nest: list[_Canonical], total: Value, chunk: int | None) -> None:
    """Loops collapsed into one, in blocks of equal size or in chunks round robin."""
    width = total.width
    share = _nest_runner(ctx, nest, width)
    changed = [v for v in changed_in(ctx, [nest[-1].body]) if v not in {n.variable for n in nest}]
    for level in nest:
        ctx.vars.env.pop(level.variable, None)
    if chunk is None:
        share(*_own_block(ctx, total), 1)
        return
    first = ctx.b.op(Op.MUL, _thread(ctx, width), ctx.b.const(width, chunk), width=width)
    if chunk == 1:
        share(first, total, shared_by(ctx, width))
        return
    start = Variable("chunk", Scalar("uint", width), nest[0].where, "local")
    ctx.vars.env[start] = first

    def chunk_body(begin: Value) -> None:
        begin = ctx.b.use(begin)
        end = ctx.b.op(Op.ADD, begin, ctx.b.const(width, chunk), width=width)
        inside = ctx.b.op(Op.ULT, end, total, width=1)
        share(begin, ctx.b.select(inside, end, total), 1)

    stepped(
        ctx,
        nest[0].where,
        start,
        ctx.b.op(Op.MUL, ctx.b.const(width, chunk), shared_by(ctx, width), width=width),
        changed=changed,
        test=lambda begin: ctx.b.op(Op.ULT, begin, total, width=1),
        body=chunk_body,
    )
    ctx.vars.env.pop(start, None)


def _at(ctx: Context, loop: _Canonical, number: Value) -> Value:
    width = loop.type.bits
    signed = loop.type.kind == "int"
    moved = ctx.b.op(Op.MUL, number, loop.step, width=width, exact=signed)
    return ctx.b.op(Op.ADD, loop.first, moved, width=width, exact=signed)


def _before(ctx: Context, loop: _Canonical, a: Value, b: Value) -> Value:
    """Return whether value a comes before b in the loop's direction."""
    step = loop.step.node
    if step.op is Op.CONST and step.constant >> (loop.type.bits - 1):
        a, b = b, a
    return ctx.b.op(Op.SLT if loop.type.kind == "int" else Op.ULT, a, b, width=1)


def _canonical(ctx: Context, stmt: For) -> _Canonical:
    """A loop in the form `for (i = a; i < b; i += c)` (OpenMP 4.5, 2.6).

    Raises:
        SourceError: it has another form.
    """
    where = stmt.where
    variable, start = _start(stmt)
    test, step = stmt.condition, stmt.step
    if variable is None or start is None or not isinstance(variable.type, Scalar):
        raise ctx.refuse(where, "a work-sharing loop begins with `i = first`")
    sort = variable.type
    if sort.is_float:
        raise ctx.refuse(where, f"a work-sharing loop's variable must be an integer, not {sort}")
    ctx.vars.fixed.discard(variable)
    first = convert(ctx, rvalue(ctx, start), start.type, sort, where)
    given = _limit(test, variable)
    if given is None:
        raise ctx.refuse(where, f"a work-sharing loop compares {variable.name} with a bound")
    shown = None
    if sort.bits < 32:
        shown, wide = variable, Scalar("int", 32)
        first = convert(ctx, first, sort, wide, where)
        variable, sort = Variable(f"{variable.name} as int", wide, where, "local"), wide
    op, bound = given
    last = convert(ctx, rvalue(ctx, bound), bound.type, sort, where)
    width, signed = sort.bits, sort.kind == "int"
    change = _change(ctx, step, shown or variable, sort)
    if op in ("<=", ">="):
        one = ctx.b.const(width, 1 if op == "<=" else -1)
        last = ctx.b.op(Op.ADD, last, one, width=width, exact=signed)
    down = op in (">", ">=")
    if op == "!=" and change.node.op is Op.CONST:
        down = bool(change.node.constant >> (width - 1))
    ahead, behind = (last, first) if not down else (first, last)
    runs = ctx.b.op(Op.SLT if signed else Op.ULT, behind, ahead, width=1)
    distance = ctx.b.op(Op.SUB, ahead, behind, width=width)
    size = change if not down else ctx.b.op(
        Op.SUB, ctx.b.const(width, 0), change, width=width
    )  # fmt: skip
    raised = ctx.b.op(
        Op.ADD,
        distance,
        ctx.b.op(Op.SUB, size, ctx.b.const(width, 1), width=width),
        width=width,
    )
    count = ctx.b.op(Op.UDIV, raised, size, width=width)
    count = ctx.b.select(runs, count, ctx.b.const(width, 0))
    return _Canonical(variable, sort, first, change, count, stmt.body, where, shown)


def _with_small(nest: list[_Canonical]) -> Stmt:
    """The body of loops, behind what gives the text's variables that are small their values."""
    inner = nest[-1].body
    given: list[Stmt] = []
    for level in nest:
        if level.shown is not None:
            where, kind = inner.where, level.shown.type
            number = Cast(where, kind, Name(where, level.type, level.variable), implicit=True)
            value = Assign(where, kind, "=", Name(where, kind, level.shown), number, kind)
            given.append(Evaluate(where, value))
    return Block(inner.where, (*given, inner))


def _with_linear(
    ctx: Context, directive: Directive, loop: _Canonical, total: Value
) -> tuple[_Canonical, dict[Variable, Value]]:
    """A loop with the variables that grow from iteration to iteration; what they are at the end."""
    ends: dict[Variable, Value] = {}
    found: list[tuple[Variable, Value, Value]] = []
    for name, words in directive.linear.items():
        variable = named(ctx, directive, name)
        if variable is None or variable in (loop.variable, loop.shown):
            continue
        step = ctx.constants.value(words, directive.where)
        if not isinstance(variable.type, Scalar) or variable.type.is_float or step is None:
            raise ctx.refuse(
                directive.where, f"linear({name}): only integers, with a constant step; compute "
                f"it in the loop"
            )  # fmt: skip
        start = held_value(ctx, variable)
        by = ctx.b.const(start.width, step)
        found.append((variable, start, by))
        grown = ctx.b.resized(total, start.width, is_signed=False)
        grown = ctx.b.op(Op.MUL, grown, by, width=start.width)
        ends[variable] = ctx.b.op(Op.ADD, start, grown, width=start.width)
    return replace(loop, linear=tuple(found)), ends


def _change(ctx: Context, step: Expr | None, variable: Variable, sort: Scalar) -> Value:
    width, where = sort.bits, ctx.shared.where
    match step:
        case Unary(op="pre++" | "post++"):
            return ctx.b.const(width, 1)
        case Unary(op="pre--" | "post--"):
            return ctx.b.const(width, -1)
        case Assign(op="+=", value=value):
            return convert(ctx, rvalue(ctx, value), value.type, sort, where)
        case Assign(op="-=", value=value):
            size = convert(ctx, rvalue(ctx, value), value.type, sort, where)
            return ctx.b.op(Op.SUB, ctx.b.const(width, 0), size, width=width, exact=True)
        case Assign(op="=", value=Binary(op="+", left=left, right=right)):
            other = right if _names(left, variable) else left
            return convert(ctx, rvalue(ctx, other), other.type, sort, where)
        case Assign(op="=", value=Binary(op="-", left=left, right=right)) if _names(left, variable):
            size = convert(ctx, rvalue(ctx, right), right.type, sort, where)
            return ctx.b.op(Op.SUB, ctx.b.const(width, 0), size, width=width, exact=True)
    raise ctx.refuse(where, f"a work-sharing loop steps by `{variable.name} += constant`")


def _share_with_last(ctx: Context, directive: Directive, stmt: Stmt) -> None:
    """The iterations of a work-sharing loop, or sections, with what the last one leaves behind.

    Raises:
        SourceError: `lastprivate` of something that can't be it.
    """
    names = directive.names("lastprivate")
    given = directive.names("firstprivate")
    last: dict[Variable, Array] = {}
    where = directive.where
    for name in dict.fromkeys((*names, *directive.linear)):
        variable = named(ctx, directive, name)
        if variable is None:
            continue
        if name in directive.linear and is_held(ctx, variable):
            ctx.vars.fixed.discard(variable)
            continue
        array = ctx.vars.memories.get(variable)
        if ctx.team.is_alone and (array is None or array.place is Place.LOCAL):
            continue  # the one thread of the team has the last iteration, behind all others
        if array is None and not ctx.vars.fixed.isdisjoint(wires_of(ctx, variable)):
            raise SharedScalarError(f"{where}: {name} is shared by all threads", variable)
        if array is None:
            raise ctx.refuse(
                where, f"lastprivate({name}): it is each thread's own already; declare it "
                f"outside the region"
            )  # fmt: skip
        if not is_held(ctx, variable) and has_pointers(innermost(variable.type)):
            raise ctx.refuse(
                where, f"lastprivate({name}): it contains pointers; assign them behind the loop"
            )
        last[variable] = array
        own_copy(
            ctx, variable, last[variable], where, is_given=name in given or name in directive.linear
        )
        if name in directive.conditional:
            _begin_writes(ctx, variable, where)
    given += directive.linear
    if {*names, *directive.linear} & set(given) & {v.name for v in last}:
        barrier(ctx, where)  # before any thread stores, all have their copies
    ends: dict[Variable, Value] = {}
    if directive.has("sections"):
        mine: Value | None = _share_sections(ctx, directive, stmt)
    else:
        share = partial(_share_loops, ctx, directive, stmt, is_last=bool(last))
        mine, ends = _by_first(ctx, share) if ctx.team.is_ordered else share()
    last_writes, ctx.team.last_writes, ctx.team.now = ctx.team.last_writes, {}, None
    if last_writes:
        _end_writes(ctx, {v: (last_write, last[v]) for v, last_write in last_writes.items()}, where)
    last = {variable: array for variable, array in last.items() if variable not in last_writes}
    if not last:
        return
    assert mine is not None

    def hand_back() -> None:
        for variable, array in last.items():
            place = Location(array, ctx.b.const(64, 0), variable.type)
            if variable in ctx.vars.memories:
                own = Location(ctx.vars.memories[variable], ctx.b.const(64, 0), variable.type)
                copy_object(ctx, place, own, where)
                continue
            value = ends[variable] if variable in ends else held_value(ctx, variable)
            store_object(ctx, place, value, where)

    with ctx.at(where):
        branch(ctx, mine, hand_back)
    for variable, array in last.items():
        release_copy(ctx, variable, array)


def _begin_writes(ctx: Context, variable: Variable, where: Range) -> None:
    """Let a thread note in which iteration it assigns a variable last.

    Raises:
        SourceError: the variable isn't on wires.
    """
    if not isinstance(variable.type, Scalar) or not is_held(ctx, variable):
        raise ctx.refuse(
            where, f"lastprivate(conditional: {variable.name}): only scalars whose address is not "
            f"kept; assign a scalar"
        )  # fmt: skip
    kind = Scalar("uint", 64)
    last_write = ctx.team.last_writes[variable] = Variable(
        f"{variable.name} set", kind, where, "local"
    )
    ctx.vars.env[last_write] = ctx.b.const(64, 0)
    ctx.vars.whole[last_write] = variable  # it changes where that does
    ctx.team.now = Variable("iteration", kind, where, "local")


def _end_writes(
    ctx: Context, last_writes: dict[Variable, tuple[Variable, Array]], where: Range
) -> None:
    """Keep of each variable what the last iteration that assigns it does."""
    kind, zero = Scalar("uint", 64), ctx.b.const(64, 0)
    latest: list[Location] = []
    with ctx.at(where), locked(ctx, "reduction"):
        for variable, (last_write, array) in last_writes.items():
            shown = Variable(f"{variable.name}_set_at_L{where.line}", kind, where, "local")
            known = new_array(ctx, shown, Place.SHARED, 8, to=False, back=False, zeroed=True)
            latest.append(Location(known, zero, kind))
            mine = ctx.vars.env.pop(last_write)
            del ctx.vars.whole[last_write]
            value = held_value(ctx, variable)
            later = ctx.b.op(Op.ULT, load_from(ctx, latest[-1], 64), mine, width=1)

            to = Location(array, zero, variable.type)
            keep = partial(_keep, ctx, (latest[-1], mine), (to, value), where)
            branch(ctx, later, keep)
            release_copy(ctx, variable, array)
    # The next time begins anew.
    barrier(ctx, where)
    first = is_first(ctx)
    with ctx.at(where):
        for place in latest:
            branch(ctx, first, partial(store_to, ctx, place, zero))
    barrier(ctx, where)


def _keep(
    ctx: Context, number: tuple[Location, Value], given: tuple[Location, Value], where: Range
) -> None:
    """Store the number of an iteration and what it has assigned."""
    store_to(ctx, *number)
    store_object(ctx, *given, where)


@contextmanager
def _own_counters(ctx: Context, directive: Directive, stmt: Stmt) -> Iterator[None]:
    """The variables of the loops inside that `ordered(n)` is of, too: each thread's own."""
    words = directive.clause("ordered")
    depth = ctx.constants.value(words, directive.where) if words else None
    loops = _loops(ctx, directive, stmt, depth) if depth and depth > 1 else []
    named = {variable for loop in loops[1:] if (variable := _start(loop)[0]) is not None}
    shared = {v: a for v, a in ctx.vars.memories.items() if v in named}
    for variable, array in shared.items():
        own_copy(ctx, variable, array, directive.where, is_given=False)
    yield
    for variable, array in shared.items():
        release_copy(ctx, variable, array)


def _by_first(
    ctx: Context, share: Callable[[], tuple[Value | None, dict[Variable, Value]]]
) -> tuple[Value | None, dict[Variable, Value]]:
    """Loops that the first thread executes alone."""
    first = is_first(ctx)
    found: list[tuple[Value | None, dict[Variable, Value]]] = []
    branch(ctx, first, lambda: found.append(share()))
    mine, ends = found[0]
    return (ctx.b.both(first, mine) if mine is not None else None), ends


def _share_sections(ctx: Context, directive: Directive, stmt: Stmt) -> Value:
    """Sections, in the threads' order, round robin; returns whether the last one is this thread's.

    Raises:
        SourceError: it can't be told what they are, or one is left by a jump.
    """
    if not isinstance(stmt, Block) or not stmt.body:
        raise ctx.refuse(directive.where, "omp sections needs a block of sections")
    mine: Value | None = None
    for number, section in enumerate(_sections(ctx, stmt)):
        if may_jump(section) or returns(section):
            raise ctx.refuse(section.where, "a section can't be left by break, continue or return")
        whose = ctx.b.op(Op.UREM, ctx.b.const(32, number), shared_by(ctx, 32), width=32)
        mine = ctx.b.op(Op.EQ, thread_number(ctx), whose, width=1)
        _count(ctx, ctx.b.const(64, number))
        branch(ctx, mine, partial(bare, ctx, section))
    assert mine is not None
    return mine


def _sections(ctx: Context, stmt: Block) -> list[Block]:
    """The sections of a block; in front of the first one the directive may be missing."""
    found: list[list[Stmt]] = [[]]
    for inner in stmt.body:
        own = directives(inner.pragmas)
        begins = [d for d in own if d.words == ("section",)]
        for directive in begins:
            check(directive)
        if begins and (len(begins) > 1 or own[0] is not begins[0]):
            raise ctx.refuse(begins[-1].where, "omp section needs a statement behind it")
        if begins and found[-1]:
            found.append([])
        found[-1].append(within(inner, own[1:]) if begins else inner)
    return [Block(body[0].where, tuple(body)) for body in found]


def work_share(ctx: Context, directive: Directive, stmt: Stmt) -> None:
    """The iterations of a work-sharing loop, or sections, with its reductions."""
    with ctx.at(stmt.where):
        entered = begin_reductions(ctx, directive)
        # One thread has all iterations of an ordered loop: so they are in order, whatever waits.
        before, ctx.team.is_ordered = ctx.team.is_ordered, directive.clause("ordered") is not None
        with _own_counters(ctx, directive, stmt):
            _share_with_last(ctx, directive, stmt)
        ctx.team.is_ordered = before
        end_reductions(ctx, directive, entered)


@lowers("for", "for simd", "loop", "sections")
def _shared(ctx: Context, directive: Directive, stmt: Stmt) -> None:
    work_share(ctx, directive, stmt)
    if directive.clause("nowait") is None:
        barrier(ctx, directive.where)


@lowers("distribute", "distribute simd", "distribute parallel for", "distribute parallel for simd")
def _distributed(ctx: Context, directive: Directive, stmt: Stmt) -> None:
    """The league's threads share the loop, each as a team of its own.

    Raises:
        SourceError: there is no league.
    """
    if not ctx.host.target.is_league:
        raise ctx.refuse(
            directive.where, f"omp {' '.join(directive.words)} isn't supported here; write it in a "
            f"`target teams` without `parallel`"
        )  # fmt: skip
    work_share(ctx, directive, stmt)


@lowers("simd")
def _simd(ctx: Context, _directive: Directive, stmt: Stmt) -> None:
    """Each thread executes the loop as it is."""
    bare(ctx, stmt)


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
