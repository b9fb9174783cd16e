"""What the compiler's passes wrote down about a program, typed (see `rust/src/record.rs`)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

__all__ = [
    "Call",
    "Cell",
    "Compiled",
    "ComponentRecord",
    "Group",
    "Node",
    "Record",
    "Register",
    "Static",
    "read_record",
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
class Cell:
    """A cell as declared: its component or primitive and that one's parameters."""

    name: str
    type: str
    kind: str
    params: tuple[int, ...]
    reference: bool
    external: bool


@dataclass(frozen=True, slots=True)
class Call:
    """What a group calls; without a probe, whenever the group is active."""

    kind: str
    name: str
    actual: str
    probe: str | None


@dataclass(frozen=True, slots=True)
class Group:
    """A probed group and the nodes for which it stands (none: other groups call it)."""

    name: str
    nodes: tuple[int, ...]
    probe: str
    calls: tuple[Call, ...]
    refs: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Static:
    """A control block of fixed length (cycles) and the group probes inside it."""

    kind: str
    probe: str
    latency: int
    leaves: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """A repeat (its node) that became a counting loop: the groups that count, and their probe."""

    node: int
    probe: str
    groups: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Register:
    """A control register: `fsm` or `par done`; width in bits."""

    name: str
    kind: str
    width: int


@dataclass(frozen=True, slots=True)
class Compiled:
    """A group that implements a control block, with its registers and the groups it starts."""

    name: str
    kind: str
    probe: str
    leaves: tuple[str, ...]
    registers: tuple[Register, ...]
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
    cells: tuple[Cell, ...]
    group_positions: tuple[tuple[str, str, int], ...]
    groups: tuple[Group, ...]
    statics: tuple[Static, ...]
    repeats: tuple[Repeat, ...]
    compiled: tuple[Compiled, ...]
    continuous: tuple[tuple[str, str], ...]
    live: frozenset[str]
    kept: frozenset[str]


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

    def group(row: dict[str, Any]) -> Group:
        calls = tuple(Call(**call) for call in row["calls"])
        return Group(row["name"], tuple(row["nodes"]), row["probe"], calls, pairs(row["refs"]))

    def compiled(row: dict[str, Any]) -> Compiled:
        return Compiled(
            name=row["name"],
            kind=row["kind"],
            probe=row["probe"],
            leaves=tuple(row["leaves"]),
            registers=tuple(Register(**r) for r in row["registers"]),
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
        cells=tuple(Cell(**{**c, "params": tuple(c["params"])}) for c in data["cells"]),
        group_positions=tuple((n, f, o) for n, f, o in data["group_positions"]),
        groups=tuple(group(g) for g in data["groups"]),
        statics=tuple(Static(**{**s, "leaves": tuple(s["leaves"])}) for s in data["statics"]),
        repeats=tuple(Repeat(**{**r, "groups": tuple(r["groups"])}) for r in data["repeats"]),
        compiled=tuple(compiled(c) for c in data["compiled"]),
        continuous=pairs(data["continuous"]),
        live=frozenset(data["live"]),
        kept=frozenset(data["kept"]),
    )
