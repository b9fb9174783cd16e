"""The depths of a network's channels: the least with which it is as fast as with any."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from cyclescope.network._channels import Network
    from cyclescope.network._timing import Timing

__all__ = ["Depths", "Point", "depth_curve", "least_depths"]


@dataclass(frozen=True, slots=True)
class Depths:
    """The least depths of a network's channels.

    Attributes:
        cycles: of the network with these depths, and with any larger ones.
        tokens: the depth of each channel.
        one_less: for each channel the cycles with one token less there; None: a deadlock.
        bits: of all channels' memories together.
    """

    cycles: int
    tokens: tuple[int, ...]
    one_less: tuple[int | None, ...]
    bits: int


@dataclass(frozen=True, slots=True)
class Point:
    """A point of the curve of memory against cycles.

    Attributes:
        depth: no channel is deeper than this, but for those that the network needs to end at all.
        bits: of all channels' memories together.
        cycles: None for a deadlock.
    """

    depth: int
    bits: int
    cycles: int | None


def least_depths(
    network: Network, timing: Timing, progress: Callable[[int, int], object] | None = None
) -> Depths:
    """Find the least depths with which the network takes as few cycles as with any.

    A channel with more space never makes a network slower, since all that a full channel does is
    to hold its producer up. So each channel's least depth is found by halving, one after the
    other, those with most memory first; with one token less in any of them the network is slower
    or comes to a standstill, which is tried at the end.

    Args:
        network: which.
        timing: its timing.
        progress: called with (channels done, channels).
    """
    channels = network.channels
    cycles, most = timing.run([c.tokens for c in channels])
    assert cycles is not None, "channels that hold all tokens are never full"
    # A channel that gets a token while it gives one is not full only if it has space for one more.
    depths = [min(c.tokens, count + 1) for c, count in zip(channels, most, strict=True)]
    order = sorted(channels, key=lambda c: (-depths[c.number] * c.width, c.number))
    for done, channel in enumerate(order):
        if progress is not None:
            progress(done, len(order))
        number = channel.number
        low, high = _floor(network, number), depths[number]
        while low < high:
            depths[number] = (low + high) // 2
            found, _ = timing.run(depths, limit=cycles + 1)
            if found == cycles:
                high = depths[number]
            else:
                low = depths[number] + 1
        depths[number] = high
    assert timing.run(depths)[0] == cycles, depths
    one_less: list[int | None] = []
    for number, depth in enumerate(depths):
        if depth == _floor(network, number):
            one_less.append(None)  # not even the token that is read next is kept
            continue
        fewer = [*depths[:number], depth - 1, *depths[number + 1 :]]
        one_less.append(timing.run(fewer)[0])
    return Depths(cycles, tuple(depths), tuple(one_less), _bits(network, depths))


def depth_curve(network: Network, timing: Timing, least: Depths) -> list[Point]:
    """Cycles against memory: with no channel deeper than 1, 2, 4 … tokens.

    Where a channel needs more for the network to end at all, it has as many as that.
    """
    needed = [_needed(network, timing, least, c.number) for c in network.channels]
    points = []
    depth = 1
    while True:
        depths = [
            max(need, min(depth, most)) for need, most in zip(needed, least.tokens, strict=True)
        ]
        points.append(Point(depth, _bits(network, depths), timing.run(depths)[0]))
        if depth >= max(least.tokens, default=1):
            return points
        depth *= 2


def _needed(network: Network, timing: Timing, least: Depths, number: int) -> int:
    """The least depth of a channel with which the network ends, all others as deep as they are."""
    low, high = _floor(network, number), least.tokens[number]
    while low < high:
        middle = (low + high) // 2
        depths = [*least.tokens[:number], middle, *least.tokens[number + 1 :]]
        if timing.run(depths)[0] is not None:
            high = middle
        else:
            low = middle + 1
    return high


def _floor(network: Network, number: int) -> int:
    """The depth below which a channel cannot hold what is between its oldest and its next token."""
    channel = network.channels[number]
    return 1 if channel.is_plain else int(channel.window[:, 0].max()) + 1


def _bits(network: Network, depths: list[int]) -> int:
    return sum(c.width * depths[c.number] for c in network.channels)
