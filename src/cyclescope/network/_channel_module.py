"""The hardware of a channel: a FIFO, a FIFO whose reader reads again, a reordering buffer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope.network._sequencer import sequencer
from cyclescope.rtl import Module, const, mux

if TYPE_CHECKING:
    from cyclescope.network._channels import Channel
    from cyclescope.rtl import Expr

__all__ = ["channel_module"]


def channel_module(channel: Channel, name: str, depth: int) -> Module:
    """The hardware of a channel.

    A token that was pushed in a cycle can be read in the next. The tokens of a reordering buffer
    lie in block RAM, from where a read unit fetches them ahead of the process, in its order,
    one in each cycle; the one that it waits for it takes as it comes, past the RAM.

    Args:
        channel: which.
        name: of the module.
        depth: tokens that it keeps at most.

    Returns:
        A module with the inputs `push`, `in` and `pop` and the outputs `full`, `valid`, `out`.
    """
    kind = "A reordering buffer" if channel.is_reordered else "A FIFO"
    if not channel.is_plain and not channel.is_reordered:
        kind += " whose reader reads again"
    m = Module(name, f"{kind} of {depth} tokens.")
    push, token, pop = m.input("push", 1), m.input("in", channel.width), m.input("pop", 1)
    # Of a depth that cannot hold what is between the oldest token and the next the read must wait.
    bits = max(depth, 1 + int(channel.window[:, 0].max())).bit_length()
    count = m.register("count", bits, reset=0)
    memory = m.memory("tokens", channel.width, depth, block=channel.is_reordered)
    end = m.register("end", memory.address_width, reset=0)
    oldest = m.register("oldest", memory.address_width, reset=0)
    memory.write(end, token, push)
    m.update(end, _onwards(m, end, const(1, bits), depth), push)
    move = m.forward_wire("move", 1)
    offset, taken = _window(m, channel, name, bits, move)
    address = m.named(_onwards(m, oldest, offset, depth), "address")
    valid = m.wire("there", offset.ult(count))
    if channel.is_reordered:
        fetched = m.register("fetched", 1, reset=0)
        passing = m.wire("passing", push & offset.eq(count))
        m.assign(move, (valid | passing) & (~fetched | pop))
        m.update(fetched, move | (fetched & ~pop))
        passed = m.register("passed", 1)
        m.update(passed, passing, move)
        past = m.register("past", channel.width)
        m.update(past, token, move & passing)
        m.output("out", mux(passed, past, memory.read(address, move, name="token")))
        m.output("valid", fetched)
    else:
        m.assign(move, pop)
        m.output("out", memory.at(address))
        m.output("valid", valid)
    m.update(oldest, _onwards(m, oldest, taken, depth), move)
    added = mux(push, const(1, bits), 0)
    gone = mux(move, taken, 0)
    m.update(count, count + added - gone)
    m.output("full", count.eq(depth))
    return m


def _window(m: Module, channel: Channel, name: str, bits: int, move: Expr) -> tuple[Expr, Expr]:
    """The place of the next read behind the oldest token, and how many are given up by it."""
    if channel.is_plain:
        return const(0, bits), const(1, bits)
    window = channel.window
    width = max(1, int(window.max()).bit_length())
    order = sequencer(f"{name}_order", window, [width, width])
    offset, taken = order.build(m, "order", move)
    return _fit(offset, bits), _fit(taken, bits)


def _fit(value: Expr, width: int) -> Expr:
    return value.zext(width) if value.width <= width else value.trunc(width)


def _onwards(m: Module, address: Expr, by: Expr, depth: int) -> Expr:
    """An address so many tokens further in a ring."""
    width = address.width
    if depth == 1:
        return const(0, width)
    if depth == 1 << width:
        return address + _fit(by, width)
    wide = width + 1
    total = m.wire("ahead", _fit(address, wide) + _fit(by, wide))
    return mux(total.ult(depth), total, total - depth).trunc(width)
