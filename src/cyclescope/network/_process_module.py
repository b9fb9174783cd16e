"""The hardware of a process: its control, its choice of channels, its function, its writes."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

import numpy as np

from cyclescope.errors import InputError
from cyclescope.network._function import function_module
from cyclescope.network._sequencer import sequencer
from cyclescope.rtl import Module, cat, choose, const, mux

if TYPE_CHECKING:
    from cyclescope.network._channels import Channel, Input, Network, Station
    from cyclescope.rtl import Expr

__all__ = ["STATE_BITS", "WHOM_BITS", "State", "process_module", "stages_of"]


class State(IntEnum):
    """The activity of a process in a cycle, as `state` shows it; at `START` a firing begins."""

    IDLE = 0
    WORK = 1
    FULL = 2
    OPERAND = 3
    RESOURCE = 4
    START = 5


STATE_BITS = 3
WHOM_BITS = 16


def process_module(network: Network, station: Station, name: str) -> Module:
    """The hardware of a process.

    In a cycle in which all operands of its next firing are at the heads of their channels it takes
    them, unless the firing before began less than the interval ago. The results are written after
    the read stage, the latency and the write stage; if a channel that they go to is full then, the
    whole process stops until it is not.

    Args:
        network: that it is part of.
        station: which process.
        name: of the module.

    Returns:
        A module with the inputs `valid<n>` and `data<n>` and the output `pop<n>` for each channel
        n that it reads, the input `full<n>` and the output `push<n>` for each that it writes, a
        `result<n>` for each result, `done`, and for a source `next` and `element`.

    Raises:
        InputError: read and write stage take no time.
        SourceError: see `function_module`.
    """
    return _Builder(network, station, name).build()


def stages_of(network: Network, station: Station) -> int:
    """Cycles from the begin of a firing to its write.

    Raises:
        InputError: there are none.
    """
    process = station.process
    # A token is written in the last of all these cycles, so that there is a register less.
    stages = network.read + process.latency + network.write - 1
    if network.read + network.write < 1 or stages < 1:
        raise InputError(
            f"{network.kernel}: {process.name} takes no time to read, compute and write, which "
            "is no hardware; give the calibration read = 1 and write = 1"
        )
    return stages


class _Builder:
    def __init__(self, network: Network, station: Station, name: str) -> None:
        self.network, self.station, self.name = network, station, name
        process = station.process
        what = f"{process.name}: {process.kind}, {station.count} firings"
        self.m = Module(name, f"{what}, line {process.where.line}.")
        # A token is written in the last of all these cycles, so that there is a register less.
        self.front = network.read if network.write else network.read - 1
        self.back = max(0, network.write - 1)
        self.stages = stages_of(network, station)
        self.there: list[Expr] = []
        self.full: list[Expr] = []

    def build(self) -> Module:
        """The module."""
        m, station = self.m, self.station
        firings = station.count
        left = m.register("left", firings.bit_length(), reset=firings)
        active = m.wire("active", left.any())
        fire = m.forward_wire("fire", 1)
        stalled = m.forward_wire("stalled", 1)
        enable = m.wire("ce", ~stalled)
        ready, operands, givens = self._read(fire)
        free = self._interval(fire)
        m.update(left, left - 1, fire)
        # One bit for each stage: a firing is in it.
        stages: list[Expr] = []
        moving: Expr = fire
        for number in range(self.stages):
            stage = m.register(f"stage{number}", 1, reset=0)
            m.update(stage, moving, enable)
            stages.append(stage)
            moving = stage
        results = self._results(operands, givens, enable)
        self._write(moving, stalled, results)
        if station.process.kind == "source":
            m.output("next", fire)
        m.assign(fire, active & ready & free & enable)
        busy = m.wire("busy", cat(fire, *stages).any() if stages else fire)
        m.output("done", ~active & ~busy)
        m.output("moving", busy & ~stalled)
        waits = mux(ready & ~free, State.RESOURCE, const(State.OPERAND, STATE_BITS))
        idle = mux(active, waits, State.IDLE)
        does = mux(fire, State.START, mux(busy, const(State.WORK, STATE_BITS), idle))
        state = mux(stalled, State.FULL, does)
        m.wire("state", state, keep=True)
        # Whom it waits for: the first operand that is not there, the first channel that is full.
        first = mux(stalled, _first(self.full), _first([~there for there in self.there]))
        m.wire("whom", first, keep=True)
        return m

    def _interval(self, fire: Expr) -> Expr:
        """May the next firing begin?"""
        interval = self.station.process.interval
        if interval < 2:
            return const(1, 1)
        m = self.m
        rest = m.register("rest", (interval - 1).bit_length(), reset=0)
        m.update(rest, rest - 1, rest.any())
        m.update(rest, interval - 1, fire)
        return m.wire("free", rest.none())

    # Reading

    def _read(self, fire: Expr) -> tuple[Expr, list[Expr | None], list[Expr]]:
        """A bit that all operands are there, their values, and the control's."""
        m, station = self.m, self.station
        fields: list[np.ndarray[tuple[int], np.dtype[np.int64]]] = []
        widths: list[int] = []
        for own in station.inputs:
            fields.append(own.choice % (len(own.channels) + 2))
            widths.append((len(own.channels) + 1).bit_length())
            fields.append(own.table.view(np.int64))
            widths.append(max(1, own.width))
        graph = station.process.function
        for given, bits in zip(graph.givens, station.trace.givens, strict=True):
            fields.append(np.ascontiguousarray(bits).view(np.int64))
            widths.append(given.type.bits)
        words = self._words("reads", fields, widths, fire)
        ready: Expr = const(1, 1)
        operands: list[Expr | None] = []
        for own in station.inputs:
            choice, table = words.pop(0), words.pop(0)
            there, value = self._operand(own, choice, table, fire)
            ready = there if ready.value is not None else ready & there
            operands.append(value)
            self.there.append(there)
        return m.wire("ready", ready), operands, words

    def _words(
        self,
        name: str,
        fields: list[np.ndarray[tuple[int], np.dtype[np.int64]]],
        widths: list[int],
        step: Expr,
    ) -> list[Expr]:
        """The fields of a control sequence."""
        if not fields:
            return []
        own = sequencer(f"{self.name}_{name}", np.stack(fields, axis=1), widths)
        return own.build(self.m, name, step)

    def _operand(
        self, own: Input, choice: Expr, table: Expr, fire: Expr
    ) -> tuple[Expr, Expr | None]:
        """A bit that an operand is there, and its value."""
        m = self.m
        there: list[Expr] = []
        data: list[Expr] = []
        for place, channel in enumerate(own.channels):
            chosen = m.named(choice.eq(place), "chosen")
            there.append(m.input(f"valid{channel.number}", 1))
            m.output(f"pop{channel.number}", fire & chosen)
            if own.width:
                data.append(m.input(f"data{channel.number}", own.width))
        # Behind the channels: what no process wrote, and what is not read.
        ready = choose(choice, [*there, const(1, 1), const(1, 1)])
        if not own.width:
            return m.wire("there", ready), None
        value = choose(choice, [*data, table, table])
        return m.wire("there", ready), m.wire("operand", value)

    # Computing

    def _results(self, operands: list[Expr | None], givens: list[Expr], enable: Expr) -> list[Expr]:
        m, station = self.m, self.station
        process = station.process

        def later(value: Expr, cycles: int) -> Expr:
            return m.delay(value, "late", cycles, when=enable) if value.value is None else value

        match process.kind:
            case "source":
                element = m.input("element", station.widths[0])
                return [later(element, self.stages)]
            case "sink":
                assert operands[0] is not None
                return [later(operands[0], self.stages)]
            case _:
                module = function_module(f"{self.name}_function", process)
        inputs: dict[str, Expr] = {"ce": enable}
        wanted = {port.name for port in module.ports() if port.direction == "input"}
        for number, operand in enumerate(operands):
            if f"operand{number}" in wanted:
                assert operand is not None
                inputs[f"operand{number}"] = later(operand, self.front)
        for number, given in enumerate(givens):
            if f"given{number}" in wanted:
                inputs[f"given{number}"] = later(given, self.front)
        function = m.instance(module, "function", inputs)
        return [later(function[f"result{n}"], self.back) for n in range(len(station.outputs))]

    # Writing

    def _write(self, moving: Expr, stalled: Expr, results: list[Expr]) -> None:
        m, station = self.m, self.station
        channels = [channel for outputs in station.outputs for channel in outputs]
        write = m.wire("write", moving & ~stalled, keep=True)
        masks = self._words(
            "writes", [_mask(station, c) for c in channels], [1] * len(channels), write
        )
        blocked: Expr = const(0, 1)
        for channel, mask in zip(channels, masks, strict=True):
            full = m.input(f"full{channel.number}", 1)
            m.output(f"push{channel.number}", write & mask)
            self.full.append(full & mask)
            blocked = blocked | (full & mask)
        m.assign(stalled, moving & blocked)  # type: ignore[arg-type]
        for number, result in enumerate(results):
            m.output(f"result{number}", result)
        if station.process.kind == "sink":
            m.output("written", write)


def _first(bits: list[Expr]) -> Expr:
    """The place of the first bit that is set."""
    place: Expr = const(0, WHOM_BITS)
    for number, bit in reversed(list(enumerate(bits))):
        place = mux(bit, const(number, WHOM_BITS), place)
    return place


def _mask(station: Station, channel: Channel) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Of each firing whether its result goes through a channel."""
    mask = np.zeros(station.count, np.int64)
    mask[channel.sends] = 1
    return mask
