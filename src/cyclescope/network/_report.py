"""The report of a network in hardware: its cycles beside the bounds, its processes and channels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cyclescope.bounds import table_text
from cyclescope.network._judge import is_approximate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cyclescope.network._channels import Channel
    from cyclescope.network._depths import Point
    from cyclescope.network._measure import Measurement

__all__ = ["report_dict", "report_text"]

_SHOWN = 20  # channels in the summary


def kind_of(channel: Channel) -> str:
    """The kind of hardware that a channel is."""
    if channel.is_reordered:
        return "reordering buffer"
    return "FIFO" if channel.is_plain else "FIFO, read again"


def report_dict(measurement: Measurement, curve: Sequence[Point] = ()) -> dict[str, Any]:
    """Everything as plain data for JSON."""
    network, depths = measurement.network, measurement.depths
    names = [station.process.name for station in network.stations]
    return {
        "cycles": measurement.cycles,
        "bits": depths.bits,
        "firings": sum(station.count for station in network.stations),
        "channels": [
            {
                "producer": names[channel.producer],
                "consumer": names[channel.consumer],
                "operand": network.stations[channel.consumer].process.operands[channel.operand],
                "kind": kind_of(channel),
                "tokens": channel.tokens,
                "reads": len(channel.reads),
                "width": channel.width,
                "depth": depth,
                "one_less": one_less,
            }
            for channel, depth, one_less in zip(
                network.channels, depths.tokens, depths.one_less, strict=True
            )
        ],
        "curve": [
            {"depth": point.depth, "bits": point.bits, "cycles": point.cycles} for point in curve
        ],
    }


def report_text(measurement: Measurement, curve: Sequence[Point] = ()) -> str:
    """The summary that `bounds --rtl` prints behind its own."""
    network, depths = measurement.network, measurement.depths
    absolute = network.bounds.absolute.cycles
    firings = sum(station.count for station in network.stations)
    how = ", to rounding" if is_approximate(network) else ""
    lines = [
        "",
        f"as hardware  {measurement.cycles:,} cycles, {measurement.cycles - absolute:+,} to the "
        f"absolute bound; {firings:,} firings give what they give in the native run{how}",
        "",
    ]
    head = ["from", "to", "operand", "kind", "tokens", "reads", "depth", "with one less"]
    order = sorted(
        zip(network.channels, depths.tokens, depths.one_less, strict=True),
        key=lambda row: (-row[0].width * row[1], row[0].number),
    )
    rows = []
    for channel, depth, one_less in order[:_SHOWN]:
        ends = [network.stations[n] for n in (channel.producer, channel.consumer)]
        less = "deadlock" if one_less is None else f"{one_less - depths.cycles:+,} cycles"
        rows.append(
            [
                *(station.process.name for station in ends),
                ends[1].process.operands[channel.operand],
                kind_of(channel),
                f"{channel.tokens:,}",
                f"{len(channel.reads):,}",
                f"{depth:,}",
                less,
            ]
        )
    lines += table_text(head, rows, left=4)
    if len(order) > _SHOWN:
        lines.append(f"and {len(order) - _SHOWN} more (--format json has all)")
    lines.append(f"{depths.bits:,} bits in {len(order)} channels: the least for these cycles")
    if curve:
        lines.append("")
        cells = [
            [
                f"{point.depth:,}",
                f"{point.bits:,}",
                "deadlock" if point.cycles is None else f"{point.cycles:,}",
            ]
            for point in curve
        ]
        lines += table_text(["channels up to", "bits", "cycles"], cells, left=0)
    return "\n".join(lines) + "\n"
