"""Output of the region: records in a buffer, which the host prints when the region is over."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from cyclescope.c import Array, Call, Cast, Evaluate, Name, Pointer, Scalar, Text, Variable
from cyclescope.hls.front._context import Location
from cyclescope.hls.front._control import branch
from cyclescope.hls.front._conversions import convert
from cyclescope.hls.front._dispatch import address, rvalue
from cyclescope.hls.front._layout import is_stream
from cyclescope.hls.front._memory import load_from, new_array, store_to
from cyclescope.hls.front._scopes import visible
from cyclescope.hls.front.omp._team import locked
from cyclescope.hls.ir import Op, Place

if TYPE_CHECKING:
    from cyclescope.c import Expr, Stmt
    from cyclescope.hls.front._context import Context
    from cyclescope.hls.ir import Value

__all__ = ["PRINTED", "PRINTING", "PrintCall", "PrintedPlace", "print_call", "printed_by"]

PRINTED = "cyclescope_printed"
"""The buffer's name in the host's text: 64-bit words. A record is the number of its call, from 1
on, and a word for each argument; behind the last one is 0, or the largest number if more is lost.
"""

_WORDS = 1 << 15
_STREAMS = frozenset({"stdout", "stderr"})
PRINTING = frozenset({"printf", "fprintf", "puts", "fputs", "putchar", "putc", "fputc", "fflush"})
"""Functions of the library that a region may call as statements."""


@dataclass(frozen=True, slots=True)
class PrintedPlace:
    """A pointer: a place in a memory of the host, whose offset there is the record's next word.

    Attributes:
        variable: what the memory is there.
    """

    variable: Variable


PrintedPart: TypeAlias = "str | Scalar | PrintedPlace"


@dataclass(frozen=True, slots=True)
class PrintCall:
    """A call in the region that the host makes in its place.

    Attributes:
        function: of the library.
        parts: its arguments: C as it is, or what the record's next word is.
    """

    function: str
    parts: tuple[PrintedPart, ...]

    @property
    def words(self) -> int:
        """The length of its record."""
        return 1 + sum(not isinstance(part, str) for part in self.parts)


def printed_by(stmt: Stmt) -> Call | None:
    """The call of a statement that prints and does nothing else; None if it is any other."""
    value = stmt.value if isinstance(stmt, Evaluate) else None
    while isinstance(value, Cast):
        value = value.operand
    return value if isinstance(value, Call) and _name(value) in PRINTING else None


def _name(call: Call) -> str:
    return call.function.removeprefix("__builtin_")


def print_call(ctx: Context, call: Call) -> None:
    """A record of a call, with the values of its arguments.

    Raises:
        SourceError: an argument is no number and no text that is known.
    """
    parts: list[PrintedPart] = []
    values: list[Value] = []
    for arg in call.args:
        if isinstance(arg.type, Pointer | Array) and not _is_known(ctx, arg):
            place = address(ctx, arg)
            parts.append(_place(ctx, call, arg, place))
            values.append(place.offset)
            continue
        part = _part(ctx, arg)
        parts.append(part)
        if isinstance(part, Scalar):
            value = convert(ctx, rvalue(ctx, arg), arg.type, part, arg.where)
            values.append(ctx.b.resized(value, 64, is_signed=part.kind == "int"))
    if _name(call) == "fflush":
        return
    ctx.host.printing.append(PrintCall(_name(call), tuple(parts)))
    number = ctx.b.const(64, len(ctx.host.printing))
    if ctx.most_threads == 1:
        _record(ctx, call, [number, *values])
        return
    with locked(ctx, "output", PRINTED):
        _record(ctx, call, [number, *values])


def _is_known(ctx: Context, arg: Expr) -> bool:
    """Return whether an argument is the same for the host: a string, or a stream of its own."""
    if isinstance(arg, Text):
        return True
    if not isinstance(arg, Name) or not is_stream(arg.type):
        return False
    seen = visible(ctx.unit, ctx.host.target.directive.where)
    return arg.variable.name in _STREAMS or seen.get(arg.variable.name) is arg.variable


def _place(ctx: Context, call: Call, arg: Expr, place: Location) -> PrintedPart:
    """A pointer as the host's; of block RAM, which the host has not, the offset alone.

    Raises:
        SourceError: it may be a string in block RAM.
    """
    variable = ctx.host.hosts.get(place.array)
    if variable is not None:
        return PrintedPlace(variable)
    form = next((a.spelling for a in call.args if isinstance(a, Text)), "%s")
    if re.search(r"%[^%a-z]*[sn]", form) or _name(call) not in ("printf", "fprintf"):
        text = ctx.unit.text(arg.where)
        raise ctx.refuse(
            arg.where, f"`{text}` can't be printed in a region: it is in a memory of the region's "
            f"own; print it on the host's side, or let it be mapped"
        )  # fmt: skip
    return Scalar("uint", 64)


def _part(ctx: Context, arg: Expr) -> PrintedPart:
    if isinstance(arg, Text):
        return arg.spelling
    if isinstance(arg, Name) and _is_known(ctx, arg):
        return arg.variable.name
    if isinstance(arg.type, Scalar):
        return arg.type
    text = ctx.unit.text(arg.where)
    raise ctx.refuse(
        arg.where, f"`{text}` can't be printed in a region: only numbers, pointers and strings "
        f"can; print it on the host's side"
    )  # fmt: skip


def _record(ctx: Context, call: Call, words: list[Value]) -> None:
    """Put words behind those that are there, while they fit."""
    buffer, counter = _memories(ctx, call)
    at = load_from(ctx, counter, 64)
    most = ctx.b.const(64, _WORDS - 1)
    end = ctx.b.op(Op.ADD, at, ctx.b.const(64, len(words)), width=64)
    fits = ctx.b.op(Op.ULE, end, most, width=1)
    lost = ctx.b.const(64, -1)

    def store(number: int, value: Value) -> None:
        place = ctx.b.op(Op.ADD, at, ctx.b.const(64, number), width=64)
        offset = ctx.b.op(Op.MUL, place, ctx.b.const(64, 8), width=64, exact=True)
        store_to(ctx, Location(buffer.array, offset, buffer.type), value)

    def rest() -> None:
        for number, value in enumerate(words[1:], 1):
            store(number, value)

    def all_of_it() -> None:
        store(0, ctx.b.select(fits, words[0], lost))
        branch(ctx, fits, rest)
        store_to(ctx, counter, ctx.b.select(fits, end, ctx.b.const(64, _WORDS)))

    branch(ctx, ctx.b.op(Op.ULE, at, most, width=1), all_of_it)


def _memories(ctx: Context, call: Call) -> tuple[Location, Location]:
    """The buffer, and the number of words in it."""
    word = Scalar("uint", 64)
    if ctx.host.printed is None:
        kind = Array(word, _WORDS)
        variable = Variable(PRINTED, kind, call.where, "global")
        buffer = new_array(ctx, variable, Place.EXTERNAL, 8 * _WORDS, to=True, back=True)
        ctx.host.hosts[buffer] = variable
        count = Variable("words_printed", word, call.where, "local")
        counter = new_array(ctx, count, Place.SHARED, 8, to=False, back=False, zeroed=True)
        ctx.host.printed = buffer, counter
    buffer, counter = ctx.host.printed
    start = ctx.b.const(64, 0)
    return Location(buffer, start, word), Location(counter, start, word)
