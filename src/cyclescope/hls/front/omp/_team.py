"""The team's synchronization constructs: locks, barriers, fences."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from cyclescope.hls.ir import Op

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cyclescope.c import Range
    from cyclescope.hls.front._context import Context

__all__ = ["barrier", "fence", "locked"]

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
    key = kind, name
    number = ctx.team.numbers.setdefault(key, len(ctx.team.locks))
    if number == len(ctx.team.locks):
        shown = f"{kind}({name})" if name in _LOCK_KINDS else name
        ctx.team.locks.append(shown or kind)
    if number in ctx.team.held:
        raise ctx.refuse(
            ctx.shared.where, f"{kind}{name and f'({name})'} inside itself waits for ever; "
            f"give the inner one another name"
        )  # fmt: skip
    shown = ctx.team.locks[number]
    ctx.b.effect(Op.ACQUIRE, when=ctx.flow.pred, constant=number, name=shown)
    ctx.team.held.append(number)
    yield
    ctx.team.held.pop()
    ctx.b.effect(Op.RELEASE, when=ctx.flow.pred, constant=number, name=shown)


def fence(ctx: Context, where: Range) -> None:
    """Shared accesses before are over before those behind begin."""
    with ctx.at(where):
        ctx.b.effect(Op.FENCE)


def barrier(ctx: Context, where: Range) -> None:
    """All of the team wait for each other."""
    with ctx.at(where):
        number = len(ctx.team.barriers)
        ctx.team.barriers.append(where)
        ctx.b.effect(Op.BARRIER, when=ctx.flow.pred, constant=number)
