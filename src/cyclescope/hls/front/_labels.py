"""`goto`: to a statement of a block around it.

Forward, what lies between is conditional on a variable that the jump sets, as behind a `break`.
Backward, the statements from the label to the last such jump are a loop.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from cyclescope.c import Declare, Tool, refusal
from cyclescope.hls.front._assigned import gotos_out, leaves_loop
from cyclescope.hls.front._context import flag
from cyclescope.hls.front._control import branch, changed_in, going_on, looped
from cyclescope.hls.front._structs import hold, on_wires, release, wires_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from cyclescope.c import Goto, Stmt, Variable
    from cyclescope.hls.front._context import Context

__all__ = ["go_to", "labelled"]


def go_to(ctx: Context, stmt: Goto) -> None:
    """Jump to a label.

    Raises:
        SourceError: it is inside of a statement that this one is outside of.
    """
    jumped = ctx.flow.labels.get(stmt.target)
    if jumped is None:
        raise refusal(stmt.construct, Tool.HLS, stmt.where, f"goto {stmt.target}")
    ctx.vars.env[jumped] = ctx.b.const(1, 1)


def labelled(
    ctx: Context,
    body: tuple[Stmt, ...],
    lower: Callable[[tuple[Stmt, ...]], None],
    *,
    entered: bool = False,
) -> None:
    """Lower the statements of a block, some of which may go to others.

    Args:
        ctx: the region's lowering.
        body: the statements.
        lower: lowers some of them in a row, among which nothing goes from one to another.
        entered: the first one's label is known to the jumps.

    Raises:
        SourceError: a jump cannot be made of branches and loops.
    """
    parts = _parts(body, entered=entered)
    ahead: dict[str, int] = {}
    for number, part in enumerate(parts):
        label = part[0].label
        before = {target for other in parts[:number] for s in other for target in gotos_out(s)}
        if label in before:
            ahead[label] = number
    if len(parts) <= 1 and not any(_is_loop(p, entered=entered) for p in parts):
        lower(body)
        return
    # What one part declares later ones may name, whichever of them a jump leaves out.
    declared = _declared(ctx, body)
    for variable in declared:
        hold(ctx, variable, None)
    around, known = ctx.flow.flags, ctx.flow.labels
    own = {label: flag(f"at {label}", body[0].where) for label in ahead}
    for jumped in own.values():
        ctx.vars.env[jumped] = ctx.b.const(1, 0)
    ctx.flow.flags = [*around, *own.values()]
    ctx.flow.labels = {**known, **own}

    def run(number: int) -> None:
        part = parts[number]
        jumped = own.get(part[0].label)
        if jumped is not None:
            ctx.vars.env[jumped] = ctx.b.const(1, 0)
        if _is_loop(part, entered=entered and number == 0):
            _again(ctx, part, lower)
        else:
            lower(part)

    for number, part in enumerate(parts):
        reached = own.get(part[0].label)
        if reached is not None:
            ctx.flow.flags = [f for f in ctx.flow.flags if f is not reached]
        branch(ctx, going_on(ctx), partial(run, number))
    ctx.flow.flags, ctx.flow.labels = around, known
    for jumped in own.values():
        ctx.vars.env.pop(jumped, None)
    for variable in declared:
        release(ctx, variable)


def _declared(ctx: Context, body: tuple[Stmt, ...]) -> list[Variable]:
    """The variables on wires that statements of a block declare."""
    found = [v for stmt in body if isinstance(stmt, Declare) for v in stmt.variables]
    return [v for v in found if v.scope != "static" and on_wires(ctx, v)]


def _parts(body: tuple[Stmt, ...], *, entered: bool) -> list[tuple[Stmt, ...]]:
    """The statements, cut in front of each label that one jumps to, and behind loops of jumps."""
    targets = {label for stmt in body for label in gotos_out(stmt)}
    found: list[tuple[Stmt, ...]] = []
    at = 0
    while at < len(body):
        end = at if at == 0 and entered else _last_jump(body, at)
        while any(_last_jump(body, n) > end for n in range(at + 1, end + 1)):
            end = max(_last_jump(body, n) for n in range(at + 1, end + 1))
        is_loop = _last_jump(body, at) >= at and not (at == 0 and entered)
        stop = max(at, end) + 1
        while not is_loop and stop < len(body) and body[stop].label not in targets - {""}:
            stop += 1
        found.append(body[at:stop])
        at = stop
    return found


def _last_jump(body: tuple[Stmt, ...], at: int) -> int:
    """The last statement that goes back to one; -1 if there is none."""
    label = body[at].label
    found = [n for n in range(at, len(body)) if label in gotos_out(body[n])] if label else []
    return found[-1] if found else -1


def _is_loop(part: tuple[Stmt, ...], *, entered: bool) -> bool:
    return not entered and _last_jump(part, 0) >= 0


def _again(ctx: Context, body: tuple[Stmt, ...], lower: Callable[[tuple[Stmt, ...]], None]) -> None:
    """Statements up to the last jump back to the first of them."""
    label, where = body[0].label, body[0].where
    for stmt in body:
        if leaves_loop(stmt):
            raise ctx.refuse(
                stmt.where, f"break or continue out of what goto {label} repeats; write it as a "
                f"loop"
            )  # fmt: skip
    again = flag(f"again at {label}", where)
    ctx.vars.env[again] = ctx.b.const(1, 0)

    def iteration() -> None:
        flags, labels = ctx.flow.flags, ctx.flow.labels
        ctx.vars.env[again] = ctx.b.const(1, 0)
        ctx.flow.flags, ctx.flow.labels = [*flags, again], {**labels, label: again}
        labelled(ctx, body, lower, entered=True)
        ctx.flow.flags, ctx.flow.labels = flags, labels

    changed = changed_in(ctx, body)
    wires = (w for variable in _declared(ctx, body) for w in wires_of(ctx, variable))
    changed += [w for w in wires if w in ctx.vars.env and w not in changed]
    looped(
        ctx,
        where,
        [*changed, again],
        test=lambda: ctx.vars.env[again],
        body=iteration,
        step=None,
        test_first=False,
        jumps=True,
    )
    del ctx.vars.env[again]
