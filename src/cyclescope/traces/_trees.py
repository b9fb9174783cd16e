"""From the states of an instrumented design to call trees."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from cyclescope.model import CONTROL, WORK, Frame, Kind, Position, ProfileBuilder
from cyclescope.traces._activity import Activity, Learned, activity, learn

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cyclescope.model import Ints
    from cyclescope.traces._probes import Design, Instance, Probe
    from cyclescope.traces._side import Component, SideFiles

__all__ = ["TreeMaker"]

_UNIQUE = re.compile(r"UG\d*$")


class ComponentFrames:
    """The frames of a component. The same question gives the same frame."""

    def __init__(self, component: Component, program: str) -> None:
        self._component, self._program = component, program
        self._lines = Counter((n.operator, n.line) for n in component.nodes.values())

    def node(self, descriptor: str) -> Frame:
        """A control statement; named after its place where its line is not known."""
        node = self._component.nodes[descriptor]
        name = f"{node.operator} L{node.line}" if node.operator else f"control {descriptor}"
        if node.operator and self._lines[node.operator, node.line] > 1:
            name = f"{name} {descriptor}"
        position = (Position("calyx", self._program, node.line),) if node.line else ()
        return Frame(
            Kind.CONTROL,
            name,
            self._component.name,
            detail=node.operator,
            positions=position,
            **CONTROL,
        )

    def group(self, name: str) -> Frame:
        """A group, under the name that it had before enables were made unique."""
        plain = _UNIQUE.sub("", name) if name in self._component.enables else name
        return Frame(
            Kind.GROUP,
            plain,
            self._component.name,
            positions=self._positions(plain),
            generated=name not in self._component.enables,
            **WORK,
        )

    def called(self, name: str, kind: Kind) -> Frame:
        """A cell or primitive."""
        own = self._component
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

    @property
    def only_continuous(self) -> bool:
        """Whether all its work is in continuous assignments: it has no control program."""
        return not self._component.nodes and not self._component.enables

    def continuous(self) -> Frame:
        """What works by continuous assignments, and calls the cells that they start."""
        name = self._component.name
        return Frame(Kind.GROUP, "continuous assignments", name, generated=True, **WORK)

    def everything(self) -> Iterator[Frame]:
        """The frames of all statements and of the groups that they enable."""
        yield from map(self.node, self._component.nodes)
        yield from map(self.group, self._component.enables)

    def _positions(self, name: str) -> tuple[Position, ...]:
        found = self._component.positions.get(name)
        return (found,) if found is not None else ()


class TreeMaker:
    """Makes the call tree of each state of a design.

    Args:
        design: its instances.
        side: what stands beside the waveform.
        program: file name for source positions.
        columns: key of a signal → its column in `values`.
        values: of the signals in each state (shape: states, signals).
    """

    def __init__(
        self,
        design: Design,
        side: SideFiles,
        program: str,
        columns: dict[bytes, int],
        values: Ints,
    ) -> None:
        self.profile = ProfileBuilder()
        self._frames = {n: ComponentFrames(c, program) for n, c in side.components.items()}
        self._activities: dict[int, list[Activity]] = {}
        self._numbers: dict[int, list[int]] = {}
        self._calls: dict[tuple[int, int, int], tuple[list[int], list[tuple[int, Instance]]]] = {}
        self._main = design.instances[0]
        main = self._main.component
        position = main.positions.get("")
        self._root = self.profile.path(
            -1,
            Frame(
                Kind.CELL,
                main.name,
                main.name,
                detail=main.name,
                positions=(position,) if position else (),
                **CONTROL,
            ),
        )
        self._states = len(values)
        self.shown: dict[tuple[str, ...], list[str]] = {self._main.scope: [main.name]}
        self._learn_and_decode(design, columns, values)

    def _learn_and_decode(self, design: Design, columns: dict[bytes, int], values: Ints) -> None:
        learned: dict[str, Learned] = {}
        local: list[tuple[Instance, list[dict[bytes, int]]]] = []
        for instance in design.instances:
            keys = list(dict.fromkeys(signal.key for signal in instance.signals))
            own = values[:, [columns[key] for key in keys]]
            distinct, number = np.unique(own, axis=0, return_inverse=True)
            self._numbers[id(instance)] = number.reshape(-1).tolist()
            rows = [dict(zip(keys, row, strict=True)) for row in distinct.tolist()]
            local.append((instance, rows))
            known = learned.setdefault(instance.component.name, {})
            for row in rows:
                learn(instance, row, known)
        for instance, rows in local:
            known = learned[instance.component.name]
            self._activities[id(instance)] = [activity(instance, row, known) for row in rows]

    def trees(self) -> Ints:
        """The tree of each state."""
        return np.array([self._tree(state) for state in range(self._states)], dtype=np.int64)

    def _tree(self, state: int) -> int:
        active: list[int] = []
        waiting = [(self._root, self._main)]
        while waiting:
            path, instance = waiting.pop()
            active.append(path)
            frames = self._frames[instance.component.name]
            if frames.only_continuous:
                active.append(self.profile.path(path, frames.continuous()))
            own, cells = self._expand(path, instance, self._numbers[id(instance)][state])
            active += own
            waiting += cells
        return self.profile.tree(active)

    def _expand(
        self, path: int, instance: Instance, number: int
    ) -> tuple[list[int], list[tuple[int, Instance]]]:
        key = (path, id(instance), number)
        found = self._calls.get(key)
        if found is None:
            found = self._calls[key] = ([], [])
            self._fill(*found, path, instance, self._activities[id(instance)][number])
        return found

    def _fill(
        self,
        paths: list[int],
        cells: list[tuple[int, Instance]],
        path: int,
        instance: Instance,
        now: Activity,
    ) -> None:
        frames = self._frames[instance.component.name]
        paths += [self._node(path, instance, node) for node in now.nodes]
        active = set(now.groups)
        called = {c.name for group in active for c in now.calls.get(group, ()) if c.kind == "se"}
        waiting: list[tuple[int, str, frozenset[str]]] = []
        for name in now.groups:
            place = instance.component.enables.get(name)
            if place is not None or name not in called:
                above = self._node(path, instance, place or "")
                waiting.append((self.profile.path(above, frames.group(name)), name, frozenset()))
        while waiting:
            group, name, above_names = waiting.pop(0)
            paths.append(group)
            for call in now.calls.get(name, ()):
                if call.kind != "se":
                    self._called(paths, cells, group, instance, call)
                elif call.name in active and call.name not in above_names:
                    below = self.profile.path(group, frames.group(call.name))
                    waiting.append((below, call.name, above_names | {name, call.name}))
        for call in now.calls.get("", ()):
            group = self.profile.path(path, frames.continuous())
            paths.append(group)
            self._called(paths, cells, group, instance, call)

    def node_name(self, instance: Instance, descriptor: str) -> str:
        """The name of a control statement."""
        return self._frames[instance.component.name].node(descriptor).name

    def _node(self, path: int, instance: Instance, place: str) -> int:
        """The call path of the innermost statement at or around a place."""
        frames = self._frames[instance.component.name]
        for descriptor in instance.component.chain(place):
            path = self.profile.path(path, frames.node(descriptor))
        return path

    def _called(
        self,
        paths: list[int],
        cells: list[tuple[int, Instance]],
        group: int,
        instance: Instance,
        call: Probe,
    ) -> None:
        kind = Kind.PRIMITIVE if call.kind == "primitive" else Kind.CELL
        frame = self._frames[instance.component.name].called(call.name, kind)
        path = self.profile.path(group, frame)
        real = instance.component.shared.get(call.name, call.name)
        inner = instance.children.get(call.name) or instance.children.get(real)
        if kind is Kind.PRIMITIVE or inner is None:
            paths.append(path)
            return
        for above in self.shown[instance.scope]:
            names = self.shown.setdefault(inner.scope, [])
            if (shown := f"{above}.{call.name}") not in names:
                names.append(shown)
        cells.append((path, inner))

    def name_the_rest(self, design: Design) -> None:
        """Frames of statements that never ran, so that tables can say so."""
        for name in sorted({i.component.name for i in design.instances}):
            for frame in self._frames[name].everything():
                self.profile.frame(frame)
