"""The scheduler's workload, and the scheduler in software: what the hardware has to answer."""

from __future__ import annotations

import random
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scheduler import POP, PUSH, Design

if TYPE_CHECKING:
    from collections.abc import Sequence

SEED = 2026


@dataclass(frozen=True)
class Workload:
    """Commands in order, and the packet of each push (0 beside a pop)."""

    commands: Sequence[int]
    packets: Sequence[int]


@dataclass(frozen=True)
class Result:
    """The contents of the memories after a run.

    Attributes:
        answers: for each pop the packet, or 0 if every flow was empty; then zeros to the end.
        counts: number of pops, of pushes refused, of pops without a packet.
    """

    answers: Sequence[int]
    counts: Sequence[int]


def make_workload(design: Design, seed: int = SEED) -> Workload:
    """Return random commands: half of them pushes, packets evenly spread over the flows.

    The same design and seed give the same workload on every machine. Packet numbers start at 1, so
    that 0 can stand for no packet.
    """
    source = random.Random(seed)
    commands, packets = [], []
    for _ in range(design.commands):
        command = source.choice((POP, PUSH))
        commands.append(command)
        packets.append(source.randrange(1, design.flows * design.flow_range) * (command == PUSH))
    return Workload(commands, packets)


def simulate(design: Design, workload: Workload) -> Result:
    """Return what a strict-priority scheduler with bounded FIFOs answers to the workload."""
    flows: list[deque[int]] = [deque() for _ in range(design.flows)]
    answers: list[int] = []
    dropped = unanswered = 0
    for command, packet in zip(workload.commands, workload.packets, strict=True):
        if command == PUSH:
            flow = flows[packet // design.flow_range]
            if len(flow) < design.depth:
                flow.append(packet)
            else:
                dropped += 1
        else:
            waiting = next((flow for flow in flows if flow), None)
            unanswered += waiting is None
            answers.append(waiting.popleft() if waiting else 0)
    unused = [0] * (design.commands - len(answers))
    return Result(answers + unused, [len(answers), dropped, unanswered])
