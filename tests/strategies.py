"""Profiles for tests: random small ones, and a large one of a packet scheduler's size.

A tiny interpreter of Calyx control makes them: it walks a random control tree and says for each
cycle which call paths are active and which control registers are written, with one cycle lost
for each step of a `seq`, each finished arm of a `par` and each test of a loop.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
from hypothesis import strategies as st

from cyclescope.model import (
    Activity,
    Anomaly,
    Bank,
    Kind,
    Meta,
    Position,
    Profile,
    ProfileBuilder,
    Runs,
    Series,
    Severity,
    control_register,
    moved,
    segmented,
    together,
)
from meaning import CAUSES, Frame

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

HOSTILE = (
    "</SCRIPT><script>alert(1)</script>",
    "]]><!--<script>",
    "a;b c 12",
    "line\nbreak\r\ttab",
    "nul\0bell\x07esc\x1b[31mred",
    "line\u2028and\u2029para",
    "bidi\u202egnp.exe\u2066",
    "\"quotes\" 'and' `ticks` \\ | & % [bold]",
    "=1+2",
    "@cmd",
    "-2+3",
    "+SUM(A1)",
    "\ufeff\ufffe\uffff",
    "漢字の名前",
    "😀" * 20,
    "",
    "x" * 300,
)

Cycle = tuple[frozenset[int], frozenset[tuple[str, str, str]]]  # active paths, registers written


@dataclass
class Machine:
    """Makes designs and runs them, collecting paths in a builder."""

    rng: random.Random
    name: Callable[[str], str] = lambda base: base
    builder: ProfileBuilder = field(default_factory=ProfileBuilder)
    count: int = 0

    def fresh(self, base: str) -> str:
        self.count += 1
        return f"{self.name(base)}{self.count}"

    def line(self) -> tuple[Position, ...]:
        return (Position("calyx", f"{self.name('prog')}.futil", self.count),)

    def component(self, name: str, depth: int, cells: Sequence[tuple[str, str, dict]]) -> dict:
        """A random component: its control tree as nested dictionaries."""
        return {"name": name, "control": self.control(name, depth, cells)}

    def control(self, component: str, depth: int, cells: Sequence[tuple[str, str, dict]]) -> dict:
        operator = self.rng.choice(["seq", "par", "if", "while"]) if depth else "enable"
        if operator == "enable":
            return self.enable(component, cells)
        several = operator in ("seq", "par")
        children = [
            self.control(component, self.rng.randrange(depth), cells)
            for _ in range(self.rng.randint(1, 3) if several else 1)
        ]
        frame = Frame(Kind.CONTROL, self.fresh(f"{operator} L"), component, operator, self.line())
        return {
            "frame": frame,
            "children": children,
            "register": (self.fresh("fsm"), "par done" if operator == "par" else "fsm"),
            "times": self.rng.randint(1, 3) if operator == "while" else 1,
        }

    def enable(
        self, component: str, cells: Sequence[tuple[str, str, dict]], static_share: float = 0.2
    ) -> dict:
        latency = self.rng.randint(1, 4)
        static = self.rng.random() < static_share
        frame = Frame(
            Kind.GROUP,
            self.fresh("group"),
            component,
            "",
            self.line() if self.rng.random() < 0.8 else (),
            latency if static else None,
            self.rng.random() < 0.1,
        )
        cell = self.rng.choice(cells) if cells and not static and self.rng.random() < 0.4 else None
        primitives = [
            Frame(Kind.PRIMITIVE, self.fresh("add"), component, "std_add", self.line())
            for _ in range(self.rng.randrange(3))
        ]
        nested = None
        if cell is None and self.rng.random() < 0.15:
            nested = Frame(Kind.GROUP, self.fresh("inner"), component, "", self.line())
        return {
            "frame": frame,
            "latency": latency,
            "cell": cell,
            "primitives": primitives,
            "nested": nested,
        }

    def run(self, node: dict, parent: int, instance: str) -> list[Cycle]:
        """The cycles of one activation of a control node below a path."""
        path = self.builder.path(parent, node["frame"])
        if "children" not in node:
            return self._enable(node, path, instance)
        register = frozenset({(instance, *node["register"])})
        step: list[Cycle] = [(frozenset({path}), register)]
        bodies = [
            [body for _ in range(node["times"]) for body in (*self.run(child, path, instance),)]
            for child in node["children"]
        ]
        nothing: Cycle = (frozenset(), frozenset())
        cycles: list[Cycle] = []
        if node["frame"].detail == "par":
            arms = [body + step for body in bodies]
            for index in range(max(len(arm) for arm in arms)):
                now = [arm[index] if index < len(arm) else nothing for arm in arms]
                cycles.append(
                    (
                        frozenset().union(*(n[0] for n in now)),
                        frozenset().union(*(n[1] for n in now)),
                    )
                )
        else:
            for body in bodies:
                cycles += [*body, *step]
        return [(active | {path}, registers) for active, registers in cycles]

    def _enable(self, node: dict, path: int, instance: str) -> list[Cycle]:
        own = {path}
        if node["nested"] is not None:
            own.add(self.builder.path(path, node["nested"]))
        if node["cell"] is not None:
            name, component, body = node["cell"]
            kind = Frame(Kind.CELL, name, node["frame"].component, component)
            cell = self.builder.path(path, kind)
            inside = self.run(body["control"], cell, f"{instance}.{name}")
            return [(active | own | {cell}, registers) for active, registers in inside]
        latency = node["latency"]
        used = [self.builder.path(path, frame) for frame in node["primitives"]]
        return [
            (frozenset(own | {p for i, p in enumerate(used) if (i + c) % 2 == 0}), frozenset())
            for c in range(latency)
        ]

    def series(self, writes: Sequence[frozenset[tuple[str, str, str]]]) -> list[Series]:
        """Control registers' values from which of them change at the end of each cycle."""
        at: dict[tuple[str, str, str], list[int]] = {}
        for cycle, registers in enumerate(writes):
            for register in sorted(registers):
                at.setdefault(register, []).append(cycle)
        return [
            register_series(track, name, metric, np.array(cycles), len(writes))
            for (track, name, metric), cycles in sorted(at.items())
        ]


def register_series(track: str, name: str, metric: str, updates: np.ndarray, total: int) -> Series:
    """A register that changes at the end of each of the given cycles, the last one included."""
    starts = np.concatenate(([0], updates + 1)).astype(np.int64)
    ends = np.concatenate((starts[1:], [max(total, starts[-1] + 1)])).astype(np.int64)
    values = np.arange(len(starts), dtype=np.int64) % (2 if metric == "par done" else 5)
    meaning = {"activity": Activity.CONTROL, "cause": CAUSES[metric]}
    return Series(track, name, metric, "state", -1, starts, ends, values, **meaning)


def machine_profile(machine: Machine, depth: int, meta: Meta, idle: int = 1) -> Profile:
    """A random design, run once from reset to the end."""
    leaf = machine.component(machine.fresh("leaf"), min(depth, 1), ())
    middle_cells = [(machine.fresh("cell"), leaf["name"], leaf)]
    middle = machine.component(machine.fresh("middle"), min(depth, 2), middle_cells)
    cells = [
        (machine.fresh("queue"), middle["name"], middle),
        (machine.fresh("queue"), middle["name"], middle),
        (machine.fresh("unit"), leaf["name"], leaf),
    ]
    root = machine.builder.path(-1, Frame(Kind.CELL, "main", "", "main"))
    body = machine.run(machine.control("main", depth, cells), root, "main")
    machine.builder.frame(Frame(Kind.GROUP, machine.fresh("never"), "main", "", machine.line()))
    empty: Cycle = (frozenset(), frozenset())
    cycles = [*body, *[empty] * idle]
    trees = [machine.builder.tree(active | {root}) for active, _ in cycles]
    for series in machine.series([registers for _, registers in cycles]):
        machine.builder.counter(series)
    return machine.builder.build(meta, [1] * len(cycles), trees)


@st.composite
def calyx_profiles(draw: st.DrawFn, *, hostile: bool = False, depth: int = 3) -> Profile:
    """A small profile as a Calyx program leaves it; with hostile names where asked for."""
    seed = draw(st.integers(0, 2**32))
    rng = random.Random(seed)
    name: Callable[[str], str] = lambda base: base  # noqa: E731
    if hostile:
        name = lambda base: rng.choice((base, *HOSTILE))  # noqa: E731
    complete = draw(st.booleans())
    anomalies = (Anomaly(name("odd"), Severity.DATA_LOSS, 3, name("detail")),)
    meta = Meta(
        source="calyx",
        title=f"{name('prog')}.futil",
        complete=complete,
        stop_reason="" if complete else "cycle limit",
        period_ps=draw(st.sampled_from([None, 1000, 3333])),
        anomalies=draw(st.sampled_from([(), anomalies])),
    )
    machine = Machine(rng, name)
    return machine_profile(machine, draw(st.integers(0, depth)), meta, draw(st.integers(0, 2)))


def large_profile(commands: int = 11_000, seed: int = 5) -> Profile:
    """A profile of a packet scheduler's size: some 1.25 million cycles, 600,000 updates.

    Some dozens of variants of one command are interpreted, then strung together at random.
    """
    rng = random.Random(seed)
    machine = Machine(rng)
    fifo = _busy(machine, "fifo", ())
    fifos = [(f"fifo_{i}", "fifo", fifo) for i in range(6)]
    pifo = _busy(machine, "pifo", fifos)
    root = machine.builder.path(-1, Frame(Kind.CELL, "main", "", "main"))
    loop = Frame(Kind.CONTROL, "while L9", "main", "while", (Position("calyx", "pifo.futil", 9),))
    queue = [("myqueue", "pifo", pifo)]
    variants = []
    for _ in range(8):
        arms = [
            machine.control("main", 2, ()),
            {**machine.enable("main", (), 0), "cell": queue[0], "primitives": []},
            machine.control("main", 1, ()),
        ]
        frame = Frame(Kind.CONTROL, machine.fresh("seq L"), "main", "seq", machine.line())
        node = {"frame": frame, "children": arms, "register": ("fsm0", "fsm"), "times": 1}
        path = machine.builder.path(root, loop)
        variants.append(machine.run(node, path, "main"))
    trees = [
        np.array([machine.builder.tree(a | {root}) for a, _ in variant]) for variant in variants
    ]
    order = np.random.default_rng(seed).integers(0, len(variants), commands)
    start = np.cumsum([len(variants[v]) for v in order])
    total = int(start[-1])
    start = np.concatenate(([0], start[:-1]))
    writes: dict[tuple[str, str, str], list[np.ndarray]] = {}
    for index, variant in enumerate(variants):
        begins = start[order == index]
        offsets: dict[tuple[str, str, str], list[int]] = {}
        for cycle, (_, registers) in enumerate(variant):
            for register in registers:
                offsets.setdefault(register, []).append(cycle)
        for register, cycles in offsets.items():
            writes.setdefault(register, []).append(
                (begins[:, None] + np.array(cycles)[None, :]).reshape(-1)
            )
    for (track, name, metric), parts in sorted(writes.items()):
        updates = np.sort(np.concatenate(parts))
        machine.builder.counter(register_series(track, name, metric, updates, total))
    shown = np.concatenate([trees[v] for v in order])
    meta = Meta(source="calyx", title="packet_scheduler.futil")
    return machine.builder.build(meta, np.ones(total, dtype=np.int64), shown)


def kept_otherwise(profile: Profile, anchors: list[int]) -> Profile:
    """The same profile, its runs cut into segments at those of some states."""
    runs = profile.schedule
    segments = segmented([runs.segments.runs()], anchors)
    series = tuple(moved(profile.series, runs.segments, segments))
    return replace(profile, schedule=Runs.of(segments, runs.tree_of), series=series)


def with_banks(profile: Profile, seed: int) -> Profile:
    """The profile with more control registers: in a bank of the runs' states, and in one apart."""
    rng = np.random.default_rng(seed)

    def registers(name: str) -> list[Series]:
        known = profile.cycles + int(rng.integers(2))  # also what the last cycle led to
        begin = np.unique(np.append(0, rng.integers(0, known, int(rng.integers(12)))))
        values = np.unique(rng.integers(0, 3, (3, 2)), axis=0)
        state = rng.integers(0, len(values), len(begin))
        first = np.flatnonzero(np.append(True, state[1:] != state[:-1]))
        bank = Bank(np.diff(np.append(begin[first], known)), state[first], values)
        return [
            control_register("main", f"{name}{column}", metric, bank, column)
            for column, metric in enumerate(("fsm", "par done"))
        ]

    shared = together(replace(profile, series=tuple(registers("shared"))))
    return replace(shared, series=(*profile.series, *shared.series, *registers("apart")))


def _busy(machine: Machine, name: str, cells: Sequence[tuple[str, str, dict]]) -> dict:
    """A component in the manner of a queue: a switch written as a `par` of `if`s."""

    def block(operator: str, children: list[dict]) -> dict:
        frame = Frame(Kind.CONTROL, machine.fresh(f"{operator} L"), name, operator, machine.line())
        metric = "par done" if operator == "par" else "fsm"
        return {
            "frame": frame,
            "children": children,
            "register": (machine.fresh("fsm"), metric),
            "times": 1,
        }

    def work() -> dict:
        return {**machine.enable(name, (), 0), "latency": 1 if cells else 3, "nested": None}

    arms = []
    for cell in cells or [None] * 2:
        call = work() if cell is None else {**work(), "cell": cell, "primitives": []}
        arms.append(block("if", [block("seq", [work(), call, work()])]))
    pars = [block("par", arms[i : i + 2]) for i in range(0, len(arms), 2)]
    return {"name": name, "control": block("seq", [work(), *pars, work()])}
