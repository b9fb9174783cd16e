"""The compiler's record of a program, typed (see `rust/src/record.rs`).

It knows probes and numbers of statements. What a recording shows by them, signals and frames, is
said in `calltree`'s terms by `_trees`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from cyclescope.calyx._formulas import Formulas, read_formulas

__all__ = [
    "CallRecord",
    "CellRecord",
    "CompiledRecord",
    "ComponentRecord",
    "GroupRecord",
    "Node",
    "Record",
    "RegisterRecord",
    "StaticRecord",
    "probe_signal",
    "read_record",
    "register_signal",
]


@dataclass(frozen=True, slots=True)
class Node:
    """A statement of the control program as written; `parent` and `sites` are node numbers."""

    component: str
    parent: int | None
    kind: str
    file: str
    offset: int
    group: str | None
    cell: str | None
    latency: int | None
    origin: int | None
    sites: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CellRecord:
    """A cell as declared: its component or primitive and that one's parameters."""

    name: str
    type: str
    kind: str
    params: tuple[int, ...]
    reference: bool
    external: bool


@dataclass(frozen=True, slots=True)
class CallRecord:
    """A call by a group; without a probe, whenever the group is active."""

    kind: str
    name: str
    actual: str
    probe: str | None


@dataclass(frozen=True, slots=True)
class GroupRecord:
    """A probed group and the nodes that it implements (none: other groups call it)."""

    name: str
    nodes: tuple[int, ...]
    probe: str
    calls: tuple[CallRecord, ...]
    refs: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class StaticRecord:
    """A control block of fixed length (cycles) and the group probes inside it."""

    kind: str
    probe: str
    latency: int
    leaves: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RepeatRecord:
    """A repeat (its node) that became a counting loop: the groups that count, and their probe."""

    node: int
    probe: str
    groups: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RegisterRecord:
    """A control register: `fsm` or `par done`; width in bits."""

    name: str
    kind: str
    width: int


@dataclass(frozen=True, slots=True)
class CompiledRecord:
    """A group that implements a control block, with its registers and the groups it starts."""

    name: str
    kind: str
    probe: str
    leaves: tuple[str, ...]
    registers: tuple[RegisterRecord, ...]
    final_state: int | None
    children: tuple[str, ...]
    calls_shared: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class ComponentRecord:
    """Everything about one component; `assigns`: its text has continuous assignments."""

    is_comb: bool
    assigns: bool
    file: str
    offset: int
    latency: int | None
    cells: tuple[CellRecord, ...]
    group_positions: tuple[tuple[str, str, int], ...]
    groups: tuple[GroupRecord, ...]
    statics: tuple[StaticRecord, ...]
    repeats: tuple[RepeatRecord, ...]
    compiled: tuple[CompiledRecord, ...]
    continuous: tuple[tuple[str, str], ...]
    live: frozenset[str]
    kept: frozenset[str]
    formulas: Formulas

    @property
    def registers(self) -> tuple[RegisterRecord, ...]:
        """The control registers of what is left in the design."""
        left = (block for block in self.compiled if block.probe in self.live)
        return tuple(register for block in left for register in block.registers)


@dataclass(frozen=True, slots=True)
class Record:
    """Everything about a program: `main` is its entry as written, `top` the module around it.

    `foreign` is the Verilog that neither we nor Calyx wrote: (file or primitive, text). `warnings`
    are what the built-in compiler finds odd about the program.
    """

    main: str
    top: str
    nodes: tuple[Node, ...]
    components: dict[str, ComponentRecord]
    memories: tuple[tuple[str, str, tuple[int, ...]], ...]
    passes: tuple[str, ...]
    foreign: tuple[tuple[str, str], ...]
    warnings: tuple[str, ...] = ()


def probe_signal(probe: str) -> str:
    """The wire in the Verilog that is a probe."""
    return f"{probe}_in"


def register_signal(register: str) -> str:
    """The wire in the Verilog that is a register's state."""
    return f"{register}_out"


def read_record(text: str) -> Record:
    """From the JSON that the compiler binding gives."""
    data = json.loads(text)
    record = data["record"]
    return Record(
        main=data["main"],
        top=data["top"],
        nodes=tuple(Node(**{**n, "sites": tuple(n["sites"])}) for n in record["nodes"]),
        components={name: _component(c) for name, c in record["components"].items()},
        memories=tuple((name, kind, tuple(params)) for name, kind, params in data["memories"]),
        passes=tuple(data["passes"]),
        foreign=tuple((name, text) for name, text in data["foreign"]),
        warnings=tuple(record["warnings"]),
    )


def _component(data: dict[str, Any]) -> ComponentRecord:
    def pairs(rows: list[list[str]]) -> tuple[tuple[str, str], ...]:
        return tuple((a, b) for a, b in rows)

    def group(row: dict[str, Any]) -> GroupRecord:
        calls = tuple(CallRecord(**call) for call in row["calls"])
        return GroupRecord(
            row["name"], tuple(row["nodes"]), row["probe"], calls, pairs(row["refs"])
        )

    def compiled(row: dict[str, Any]) -> CompiledRecord:
        return CompiledRecord(
            name=row["name"],
            kind=row["kind"],
            probe=row["probe"],
            leaves=tuple(row["leaves"]),
            registers=tuple(RegisterRecord(**r) for r in row["registers"]),
            final_state=row["final_state"],
            children=tuple(row["children"]),
            calls_shared=pairs(row["calls_shared"]),
        )

    return ComponentRecord(
        is_comb=data["is_comb"],
        assigns=data["assigns"],
        file=data["file"],
        offset=data["offset"],
        latency=data["latency"],
        cells=tuple(CellRecord(**{**c, "params": tuple(c["params"])}) for c in data["cells"]),
        group_positions=tuple((n, f, o) for n, f, o in data["group_positions"]),
        groups=tuple(group(g) for g in data["groups"]),
        statics=tuple(StaticRecord(**{**s, "leaves": tuple(s["leaves"])}) for s in data["statics"]),
        repeats=tuple(RepeatRecord(**{**r, "groups": tuple(r["groups"])}) for r in data["repeats"]),
        compiled=tuple(compiled(c) for c in data["compiled"]),
        continuous=pairs(data["continuous"]),
        live=frozenset(data["live"]),
        kept=frozenset(data["kept"]),
        formulas=read_formulas(data["formulas"]),
    )
