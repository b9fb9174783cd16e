"""Pointers that lead into one of several memories, and those that lead nowhere.

Into which memories a pointer may lead is known at compile time. If there are several, the upper
bits of its value say which one it is, by its place among them; each access is then one of each
memory, of which one happens. What a pointer may be given later in a loop is known only at the
loop's end: the lowering finds out and begins again with what it has found, until it finds nothing
more.

The null pointer has the upper two bits 10, which no offset of an access has. In a memory it is
zero, as in C, so the upper bit is the other way round there.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from cyclescope.c import Literal, without_casts
from cyclescope.hls.front._context import Location
from cyclescope.hls.ir import Array, Op, Place

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cyclescope.c import Expr, Variable
    from cyclescope.hls.front._context import Context
    from cyclescope.hls.ir import Value

__all__ = [
    "Choice",
    "Plan",
    "Target",
    "choice",
    "chosen",
    "in_common",
    "is_null",
    "is_null_constant",
    "key_of",
    "may_lead_to",
    "members",
    "nowhere",
    "null",
    "put_in_memory",
    "retagged",
]

_TAG = 48  # the bits from here on say which memory it is
_TAG_BITS = 8
_NULL = 1 << 63

Key = tuple[str, str, tuple[int, int]]
"""What a pointer is kept in, in each attempt to lower the region: name, file and place."""


class Target(NamedTuple):
    """A memory in each attempt: the how manyth of its name and place it is, and whose.

    The variable is that of which it is made where the text first names it, None if it is made
    otherwise.
    """

    name: str
    file: str
    start: tuple[int, int]
    number: int
    is_host: bool
    variable: Variable | None


@dataclass(slots=True)
class Plan:
    """Into which memories pointers may lead.

    Attributes:
        known: pointer → the memories, as the attempts before have found.
        found: the same, as this attempt has.
        open: what cannot be lowered, unless more is found.
    """

    known: dict[Key, dict[Target, None]] = field(default_factory=dict)
    found: dict[Key, dict[Target, None]] = field(default_factory=dict)
    open: list[Exception] = field(default_factory=list)

    def more(self) -> Plan | None:
        """The plan of the next attempt; None: this one has found nothing more."""
        whole = {key: dict(targets) for key, targets in self.known.items()}
        for key, targets in self.found.items():
            whole.setdefault(key, {}).update(targets)
        return Plan(whole) if whole != self.known else None


@dataclass(eq=False, slots=True)
class Choice(Array):
    """One of several memories, as the upper bits of an offset say."""

    members: tuple[Array, ...] = ()


def members(array: Array) -> tuple[Array, ...]:
    """The memories that something in a memory may be in."""
    return array.members if isinstance(array, Choice) else (array,)


def choice(ctx: Context, arrays: Iterable[Array]) -> Array:
    """One memory, or the choice between several; those that are equal are the same."""
    several = tuple(dict.fromkeys(arrays))
    if len(several) == 1:
        return several[0]
    known = ctx.vars.choices.get(several)
    if known is None:
        name = " or ".join(a.name for a in several) or "nothing"
        where = several[0].where if several else ctx.shared.where
        known = Choice(name, Place.EXTERNAL, None, 1, False, False, where, members=several)
        ctx.vars.choices[several] = known
    return known


def nowhere(ctx: Context) -> Array:
    """The memory of a pointer of which nothing is known, or that is null."""
    return choice(ctx, ())


def null(ctx: Context) -> Value:
    """The null pointer."""
    return ctx.b.const(64, _NULL)


def is_null(ctx: Context, pointer: Value) -> Value:
    """Return whether a pointer is null: one bit."""
    high = ctx.b.op(Op.EXTRACT, pointer, width=2, constant=62)
    return ctx.b.op(Op.EQ, high, ctx.b.const(2, 2), width=1)


def is_null_constant(expr: Expr) -> bool:
    """Return whether an expression is zero as a pointer."""
    inner = without_casts(expr)
    return isinstance(inner, Literal) and not inner.value


def put_in_memory(ctx: Context, pointer: Value) -> Value:
    """A pointer's bits in memory; also the other way."""
    return ctx.b.op(Op.XOR, pointer, ctx.b.const(64, _NULL), width=64)


def key_of(holder: Variable | Array, sort: str) -> Key:
    """The pointer, or the pointers of a type in a memory, in each attempt."""
    where = holder.where
    return (f"{holder.name} {sort}", where.file, where.start)


def _target(ctx: Context, array: Array) -> Target:
    same = [a for a in ctx.host.arrays if _place(a) == _place(array)]
    owner, host = ctx.host.owners.get(array), ctx.host
    if array in host.hosts:
        is_made = (
            array not in host.heaps
            and array not in host.blocks
            and (array.name not in host.statics or array in host.strings.values())
        )
    else:
        is_made = owner is not None and ctx.vars.memories.get(owner) is array
    return Target(
        *_place(array), same.index(array), array in host.hosts, owner if is_made else None
    )


def _place(array: Array) -> Key:
    return (array.name, array.where.file, array.where.start)


def may_lead_to(
    ctx: Context, holder: Variable | Array, arrays: Iterable[Array], sort: str = ""
) -> None:
    """Write down into which memories a pointer may lead."""
    found = ctx.host.plan.found.setdefault(key_of(holder, sort), {})
    for array in arrays:
        for one in members(array):
            found[_target(ctx, one)] = None


def retagged(ctx: Context, place: Location, array: Array) -> Location:
    """A place in a memory as one in a choice that contains this memory."""
    before, after = members(place.array), members(array)
    at = ctx.b.use(place.offset)
    if place.array is array or not before:
        return Location(array, at, place.type, place.extents)
    moves = [after.index(a) - k for k, a in enumerate(before)]
    moved: Value | None = None
    for k, by in enumerate(moves):
        step = ctx.b.const(64, (by << _TAG) & ((1 << 64) - 1))
        one = ctx.b.op(Op.ADD, at, step, width=64, exact=True)
        moved = one if moved is None else ctx.b.select(_has_tag(ctx, at, k), one, moved)
    assert moved is not None
    return Location(array, moved, place.type, place.extents)


def in_common(ctx: Context, places: list[Location]) -> list[Location]:
    """Places as such of one memory, or of one choice between memories."""
    every = [a for place in places for a in members(place.array)]
    array = choice(ctx, every)
    return [retagged(ctx, place, array) for place in places]


def _has_tag(ctx: Context, pointer: Value, number: int) -> Value:
    tag = ctx.b.op(Op.EXTRACT, pointer, width=_TAG_BITS, constant=_TAG)
    return ctx.b.op(Op.EQ, tag, ctx.b.const(_TAG_BITS, number), width=1)


def chosen(ctx: Context, place: Location) -> list[tuple[Value | None, Location]]:
    """The places that one in a choice may be, each with the condition that it is; None: it is."""
    if not isinstance(place.array, Choice):
        return [(None, place)]
    at = ctx.b.use(place.offset)
    found: list[tuple[Value | None, Location]] = []
    others = ctx.b.const(1, 0)
    last = len(place.array.members) - 1
    for number, array in enumerate(place.array.members):
        here = _has_tag(ctx, at, number)
        if number == last:  # what leads beyond all of them is an error of this one
            here = ctx.b.negated(others)
        others = ctx.b.op(Op.OR, others, here, width=1)
        low = ctx.b.const(64, number << _TAG)
        moved = ctx.b.op(Op.SUB, at, low, width=64, exact=True)
        found.append((here, Location(array, moved, place.type, place.extents)))
    return found
