"""The team's synchronization constructs: locks, barriers, fences."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from cyclescope.hls.ir import Op

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from cyclescope.c import Range
    from cyclescope.hls.front._context import Context
    from cyclescope.hls.ir import Value

__all__ = [
    "acquire",
    "barrier",
    "fence",
    "is_first",
    "locked",
    "query",
    "release",
    "shared_by",
    "thread_number",
]

_LOCK_KINDS = frozenset({"critical", "atomic", "reduction"})


@contextmanager
def locked(ctx: Context, kind: str, name: str = "") -> Iterator[None]:
    """Under mutual exclusion.

    Args:
        ctx: the region's lowering.
        kind: the construct; each has locks of its own.
        name: of a `critical` that has one.

    Raises:
        SourceError: this thread has the lock already.
    """
    acquire(ctx, kind, name)
    yield
    release(ctx, kind, name)


def acquire(
    ctx: Context, kind: str, name: str, *, nests: bool = False, is_one: bool = False
) -> None:
    """Take a lock: what is behind in the text is under mutual exclusion.

    Args:
        ctx: the region's lowering.
        kind: the construct; each has locks of its own.
        name: the lock.
        nests: who has it may take it again.
        is_one: a variable, which other branches of the text may set, too; not an array of locks.

    Raises:
        SourceError: this thread has the lock already.
    """
    key = kind, name
    number = ctx.team.numbers.setdefault(key, len(ctx.team.locks))
    if number == len(ctx.team.locks):
        shown = f"{kind}({name})" if name in _LOCK_KINDS else name
        ctx.team.locks.append(shown or kind)
    if number in ctx.team.held and nests:
        ctx.team.held.append(number)
        return
    if number in ctx.team.held and not is_one:
        instead = "give the inner one another name" if kind != "lock" else "use another lock"
        raise ctx.refuse(
            ctx.shared.where, f"{kind}{name and f'({name})'} inside itself waits forever; "
            f"{instead}"
        )  # fmt: skip
    ctx.b.effect(Op.ACQUIRE, when=ctx.flow.pred, constant=number, name=ctx.team.locks[number])
    ctx.team.held.append(number)


def release(ctx: Context, kind: str, name: str, *, nests: bool = False) -> None:
    """Give a lock back.

    Args:
        ctx: the region's lowering.
        kind: the construct.
        name: the lock.
        nests: who has taken it several times gives it back as often.

    Raises:
        SourceError: this thread has not taken it, as far as the text shows.
    """
    number = ctx.team.numbers.get((kind, name))
    if number is None or (nests and number not in ctx.team.held):
        raise ctx.refuse(
            ctx.shared.where, f"the {kind} {name} is not set in front of this, in the order of the "
            f"text; set and unset it in one block"
        )  # fmt: skip
    if number in ctx.team.held:
        ctx.team.held.remove(number)
    if nests and number in ctx.team.held:
        return
    ctx.b.effect(Op.RELEASE, when=ctx.flow.pred, constant=number, name=ctx.team.locks[number])


def thread_number(ctx: Context) -> Value:
    """The number of the thread among all of its league, 32 bits."""
    return ctx.b.const(32, 0) if ctx.team.is_alone else ctx.b.leaf(Op.THREAD, 32)


def is_first(ctx: Context) -> Value:
    """Return whether the present thread is its team's first: one bit."""
    return ctx.b.op(Op.EQ, thread_number(ctx), ctx.b.const(32, 0), width=1)


def shared_by(ctx: Context, width: int) -> Value:
    """The number of threads that share the work of a loop here."""
    if ctx.team.size is None or ctx.team.is_alone:
        return ctx.b.const(width, ctx.threads)
    return ctx.b.resized(ctx.b.use(ctx.team.size), width, is_signed=False)


def _size(ctx: Context) -> Value:
    """The threads in the present team."""
    if ctx.team.size is None or ctx.team.is_alone:
        return ctx.b.const(32, 1 if ctx.team.is_alone else ctx.team.each)
    return ctx.b.use(ctx.team.size)


def _is_parallel(ctx: Context) -> Value:
    """Return whether the innermost team with several threads has them, 32 bits."""
    if ctx.team.size is None:
        return ctx.b.const(32, int(ctx.team.each > 1))
    several = ctx.b.op(Op.ULT, ctx.b.const(32, 1), ctx.b.use(ctx.team.size), width=1)
    return ctx.b.resized(several, 32, is_signed=False)


def _most(ctx: Context) -> Value:
    """The threads that a further team would have at most."""
    return ctx.b.const(32, ctx.team.most if ctx.team.forks else ctx.team.each)


def _own_number(ctx: Context) -> Value:
    """The number of the thread in its team; the teams have consecutive threads."""
    number = thread_number(ctx)
    if ctx.team.is_alone or ctx.team.forks or ctx.team.each == ctx.most_threads:
        return number
    return ctx.b.op(Op.UREM, number, ctx.b.const(32, ctx.team.each), width=32)


def _team_number(ctx: Context) -> Value:
    if ctx.team.teams == 1:
        return ctx.b.const(32, 0)
    each = ctx.b.const(32, ctx.team.each)
    return ctx.b.op(Op.UDIV, ctx.b.leaf(Op.THREAD, 32), each, width=32)


def _thread_limit(ctx: Context) -> Value:
    directive = ctx.host.target.directive
    said = directive.clause("thread_limit")
    limit = ctx.constants.value(said, directive.where) if said is not None else None
    return ctx.b.const(32, (1 << 31) - 1 if limit is None else limit)


def _level(ctx: Context) -> Value:
    """The number of parallel regions around the present statement, nested ones included."""
    own = ctx.host.target.directive.has("parallel")
    return ctx.b.const(32, int(own) + ctx.team.nested)


_QUERIES: dict[str, Callable[[Context], Value]] = {
    "omp_get_thread_num": _own_number,
    "omp_get_num_threads": _size,
    "omp_get_max_threads": _most,
    "omp_get_team_num": _team_number,
    "omp_get_num_teams": lambda ctx: ctx.b.const(32, ctx.team.teams),
    # As a native run has them, whose one device is the host itself.
    **dict.fromkeys(
        (
            "omp_get_device_num",
            "omp_get_initial_device",
            "omp_get_default_device",
            "omp_in_final",
            "omp_get_dynamic",
            "omp_get_nested",
            "omp_get_cancellation",
        ),
        lambda ctx: ctx.b.const(32, 0),
    ),
    "omp_is_initial_device": lambda ctx: ctx.b.const(32, 1),
    "omp_get_num_devices": lambda ctx: ctx.b.const(32, 1),
    "omp_get_thread_limit": lambda ctx: _thread_limit(ctx),
    "omp_get_level": lambda ctx: _level(ctx),
    "omp_get_active_level": lambda ctx: (
        _is_parallel(ctx)
        if ctx.team.forks or ctx.host.target.directive.has("parallel")
        else ctx.b.const(32, 0)
    ),
    "omp_in_parallel": _is_parallel,
}


def query(ctx: Context, name: str) -> Value | None:
    """The value of an OpenMP query about the team; None for anything else."""
    found = _QUERIES.get(name)
    return found(ctx) if found is not None else None


def fence(ctx: Context, where: Range) -> None:
    """Shared accesses before are over before those behind begin."""
    with ctx.at(where):
        ctx.b.effect(Op.FENCE)


def barrier(ctx: Context, where: Range) -> None:
    """All of the team wait for each other."""
    if ctx.team.is_alone:
        return
    with ctx.at(where):
        number = len(ctx.team.barriers)
        ctx.team.barriers.append(where)
        size = [ctx.team.size] if ctx.team.size is not None else []
        ctx.b.effect(Op.BARRIER, *size, when=ctx.flow.pred, constant=number)
