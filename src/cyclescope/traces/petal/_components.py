"""The components of a design in Petal's files, as the call-tree builder reads it."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from cyclescope.calltree import Call, Compiled, Component, Group, Nesting, Recording, Register
from cyclescope.model import CONTROL, WORK, Frame, Kind, Position, segmented
from cyclescope.traces.petal._promoted import Steps

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from cyclescope.model import Ints
    from cyclescope.traces.petal import _side
    from cyclescope.traces.petal._probes import Design, Instance, Probe
    from cyclescope.traces.petal._side import SideFiles

__all__ = ["components_of", "main_frame", "recording_of"]

_UNIQUE = re.compile(r"UG\d*$")


def main_frame(side: SideFiles) -> Frame:
    """The frame of the main cell."""
    main = side.components[side.main]
    position = main.positions.get("")
    positions = (position,) if position else ()
    return Frame(Kind.CELL, main.name, main.name, detail=main.name, positions=positions, **CONTROL)


def components_of(design: Design, side: SideFiles, program: str) -> dict[str, Component]:
    """The components of a program.

    Args:
        design: its instances in the waveform; equal ones need not show equally much.
        side: the files beside the waveform.
        program: file name for source positions.
    """
    instances: dict[str, list[Instance]] = {name: [] for name in side.components}
    for instance in design.instances:
        instances[instance.component.name].append(instance)
    return {
        name: _Maker(component, instances[name], side, program).component()
        for name, component in side.components.items()
    }


def recording_of(
    design: Design, columns: Mapping[bytes, int], values: Ints, runs: tuple[Ints, Ints, int | None]
) -> Recording:
    """The recording of the signals of a design's instances.

    Args:
        design: its instances.
        columns: key of a signal → its column in `values`.
        values: of the signals in each state, shape (states, signals).
        runs: state and cycles of each run, and the state after the last, if there is one.
    """
    top = design.instances[0]
    alike: dict[str, list[int]] = {}
    for place, instance in enumerate(design.instances):
        alike.setdefault(instance.component.name, []).append(place)
    states = np.zeros((len(values), len(design.instances)), dtype=np.int64)
    vectors = {}
    for component, places in alike.items():
        keys = [{s.name: s.key for s in design.instances[place].signals} for place in places]
        names = list(dict.fromkeys(name for own in keys for name in own))
        rows = np.full((len(places), len(values), len(names)), -1, dtype=np.int64)
        for own, shown in zip(keys, rows, strict=True):
            there = [n for n, name in enumerate(names) if name in own]
            shown[:, there] = values[:, [columns[own[names[n]]] for n in there]]
        every = rows.reshape(len(places) * len(values), len(names))
        distinct, number = np.unique(every, axis=0, return_inverse=True)
        states[:, places] = number.reshape(len(places), -1).T
        vectors[component] = dict(zip(names, distinct.T.tolist(), strict=True))
    run_state, run_cycles, after = runs
    depth = len(top.scope)
    return Recording(
        instances=tuple(
            (".".join((top.component.name, *instance.scope[depth:])), instance.component.name)
            for instance in design.instances
        ),
        vectors=vectors,
        states=states,
        runs=segmented([(run_cycles, run_state)]),
        after=after,
    )


class _Maker:
    def __init__(
        self,
        component: _side.Component,
        instances: Sequence[Instance],
        side: SideFiles,
        program: str,
    ) -> None:
        self._own, self._side, self._program = component, side, program
        self._lines = Counter((n.operator, n.line) for n in component.nodes.values())
        self._groups = {g: s.name for i in instances for g, s in i.groups.items()}
        self._registers = {r: s.name for i in instances for r, s in i.registers.items()}
        self._children = {cell for i in instances for cell in i.children}
        self._calls: dict[str, dict[Call, None]] = {}
        for instance in instances:
            for probe in instance.calls:
                self._calls.setdefault(probe.group, {})[self._call(probe)] = None
        # The statements: first control blocks, then what is enabled.
        self._place = {descriptor: n for n, descriptor in enumerate(component.nodes)}
        blocks = len(self._place)
        self._enable = {group: blocks + n for n, group in enumerate(component.enables)}

    def component(self) -> Component:
        own, place, enable = self._own, self._place, self._enable
        parent: dict[int, int | None] = {}
        for descriptor, node in place.items():
            parent[node] = next((place[d] for d in own.chain(descriptor)[-2::-1]), None)
        for group, node in enable.items():
            parent[node] = next((place[d] for d in own.chain(own.enables[group])[::-1]), None)
        nesting = Nesting(parent, place.values())
        frames = {node: self._node(descriptor) for descriptor, node in place.items()}
        frames |= {node: self._group(group) for group, node in enable.items()}
        return Component(
            name=own.name,
            nesting=nesting,
            frames=frames,
            inlined={},
            groups=tuple(
                Group(
                    name=group,
                    signal=signal,
                    frame=self._group(group),
                    places=(enable[group],) if group in enable else (),
                    calls=tuple(self._calls.get(group, ())),
                )
                for group, signal in self._groups.items()
            ),
            compiled=tuple(dict.fromkeys(self._compiled())),
            continuous=tuple(self._calls.get("", ())),
            only_continuous=not own.nodes and not own.enables,
            steps=Steps(own, nesting, place, enable),
        )

    def _compiled(self) -> Iterator[Compiled]:
        own = self._own
        for group in own.groups:
            node = group.node
            what = "" if node is None else f" ({self._node(node).name})"
            below = [] if node is None else list(self._below(node))
            registers = ((group.fsm, "fsm"), *((r, "par done") for r in group.done))
            yield Compiled(
                name=group.name,
                signal=f"{group.name}_go_out",
                block=None if node is None else self._place[node],
                leaves=tuple(below),
                inner=tuple(
                    other.name
                    for other in own.groups
                    if node is not None and other.node is not None
                    and other.node != node and other.node.startswith(node)
                ),
                registers=tuple(
                    Register(signal, kind, f"{register}{what}")
                    for register, kind in dict.fromkeys(registers)
                    if (signal := self._registers.get((register or "", kind, group.name)))
                ),
            )  # fmt: skip

    def _below(self, node: str) -> Iterable[str]:
        """The signals of the groups that are enabled below a statement."""
        return (
            signal
            for group, signal in self._groups.items()
            if self._own.enables.get(group, "").startswith(node)
        )

    def _call(self, probe: Probe) -> Call:
        own = self._own
        # The compiler splits a group in two, either half with the probes of the whole: what either
        # half starts is said by the port that starts it.
        when = probe.signal if probe.start is None else probe.start
        if probe.kind == "se" and probe.group:
            return Call("group", probe.name, when=(when.name,))
        kind = Kind.PRIMITIVE if probe.kind == "primitive" else Kind.CELL
        merged = probe.name not in self._children
        actual = own.shared.get(probe.name, probe.name) if merged else probe.name
        inside = own.cells.get(actual) if kind is Kind.CELL else None
        return Call(
            kind="primitive" if kind is Kind.PRIMITIVE else "cell",
            actual=actual,
            frame=self._called(probe.name, kind),
            name=probe.name,
            when=(when.name,),
            component=inside if inside in self._side.components else None,
        )

    def _node(self, descriptor: str) -> Frame:
        """A control statement; named after its place where its line is not known."""
        node = self._own.nodes[descriptor]
        name = f"{node.operator} L{node.line}" if node.operator else f"control {descriptor}"
        if node.operator and self._lines[node.operator, node.line] > 1:
            name = f"{name} {descriptor}"
        position = (Position("calyx", self._program, node.line),) if node.line else ()
        return Frame(
            Kind.CONTROL,
            name,
            self._own.name,
            detail=node.operator,
            positions=position,
            **CONTROL,
        )

    def _group(self, name: str) -> Frame:
        """A group, under the name that it had before enables were made unique."""
        plain = _UNIQUE.sub("", name) if name in self._own.enables else name
        return Frame(
            Kind.GROUP,
            plain,
            self._own.name,
            positions=self._positions(plain),
            generated=name not in self._own.enables,
            **WORK,
        )

    def _called(self, name: str, kind: Kind) -> Frame:
        """A cell or primitive."""
        own = self._own
        detail = own.cells.get(name) or own.primitives.get(name) or ""
        return Frame(
            kind,
            name,
            own.name,
            detail=detail,
            positions=self._positions(name),
            generated=not detail,
            **(CONTROL if kind is Kind.CELL else WORK),
        )

    def _positions(self, name: str) -> tuple[Position, ...]:
        found = self._own.positions.get(name)
        return (found,) if found is not None else ()
