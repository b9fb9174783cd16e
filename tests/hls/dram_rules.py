"""The rules of the external memory, interpreted request by request; what `dram.v` is tested by.

Times are cycles. Nothing of the Verilog is used here: the rules are those of docs/hls-hardware.md.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cyclescope.hls import MemoryModel

LONG_AGO = -(1 << 21)


@dataclass
class Row:
    """A DRAM bank: its open row, and the earliest times of commands."""

    open: int | None = None
    opened: int = LONG_AGO
    written: int = LONG_AGO
    free: int = LONG_AGO


@dataclass(frozen=True)
class Request:
    """A line that is read or written."""

    number: int
    row: int
    bank: int
    write: bool


@dataclass
class Bus:
    """A data bus, of one memory bank or of all."""

    free: int = LONG_AGO
    write: bool = False
    last: int = -1


@dataclass
class Bank:
    """A memory bank with its controller.

    Attributes:
        issued: request → the cycle in which its line is transferred.
    """

    model: MemoryModel
    bus: Bus
    rows: list[Row] = field(default_factory=lambda: [Row() for _ in range(16)])
    groups: list[int] = field(default_factory=lambda: [LONG_AGO] * 4)
    activations: list[int] = field(default_factory=list)
    waiting: deque[Request] = field(default_factory=deque)
    passed: int = 0
    refreshed: int = 0
    issued: dict[int, int] = field(default_factory=dict)

    def refreshing(self, now: int) -> bool:
        """Return whether all rows are closed in this cycle; closes them."""
        interval = self.model.refresh_interval
        if not interval or now < (self.refreshed + 1) * interval:
            return False
        self.refreshed += 1
        for row in self.rows:
            row.open = None
            row.free = max(row.free, now) + self.model.refresh
        return True

    def choose(self, now: int) -> Request:
        """The request that goes next: the oldest of open rows, or the oldest."""
        if self.passed < 16:
            for request in self.waiting:
                row = self.rows[request.bank]
                if row.open == request.row and row.free <= now:
                    return request
        return self.waiting[0]

    def issue(self, request: Request, now: int) -> None:
        """Issues the commands of a request."""
        self.passed = 0 if request is self.waiting[0] else self.passed + 1
        self.waiting.remove(request)
        model, row = self.model, self.rows[request.bank]
        at = max(row.free, now)
        if row.open != request.row:
            if row.open is not None:
                if model.ras:
                    at = max(at, row.opened + model.ras)
                if model.wr:
                    at = max(at, row.written + model.wr)
                at += model.rp
            if model.faw:
                if len(self.activations) >= 4:
                    at = max(at, self.activations[-4] + model.faw)
                at = max([at, *self.activations[-1:]])
            self.activations.append(at)
            row.opened, row.written, row.open = at, LONG_AGO, request.row
            at += model.rcd
        if model.ccd:
            at = max(at, self.groups[request.bank % 4])
        self.groups[request.bank % 4] = at + model.ccd
        row.free = at + 1
        turn = model.turnaround if request.write != self.bus.write else 0
        transfer = max(at + model.cas, self.bus.free + turn)
        self.bus.free, self.bus.write = transfer + model.line, request.write
        if request.write:
            row.written = transfer + model.line
        self.issued[request.number] = transfer


def transfers(model: MemoryModel, streams: list[list[tuple[int, Request]]]) -> list[dict[int, int]]:
    """The cycle in which each line is transferred, in the order of their commands.

    Args:
        model: the timing.
        streams: for each memory bank its requests, with the cycle from which on each is offered.
    """
    one = Bus()
    banks = [Bank(model, one if model.shared else Bus()) for _ in streams]
    left = [deque(s) for s in streams]
    now = 0
    while any(left) or any(bank.waiting for bank in banks):
        closed = [bank.refreshing(now) for bank in banks]
        horizon = model.cas + model.rcd + model.rp if model.window else 24
        wants = []
        for number, bank in enumerate(banks):
            offered = bool(left[number]) and left[number][0][0] <= now
            some = bool(bank.waiting) if model.window else offered
            wants.append(some and not closed[number] and bank.bus.free <= now + horizon)
        may = list(wants)
        if model.shared:
            turn = [(one.last + n) % len(banks) for n in range(1, len(banks) + 1)]
            first = next((b for b in turn if wants[b]), None)
            may = [b == first for b in range(len(banks))]
        for number, bank in enumerate(banks):
            offered = bool(left[number]) and left[number][0][0] <= now
            space = len(bank.waiting) < model.window
            taken = model.window and offered and not closed[number] and space
            if may[number]:
                if not model.window:
                    bank.waiting.append(left[number].popleft()[1])
                bank.issue(bank.choose(now), now)
                bank.bus.last = number
            if taken:
                bank.waiting.append(left[number].popleft()[1])
        now += 1
    return [bank.issued for bank in banks]
