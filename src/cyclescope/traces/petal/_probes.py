"""The instances of an instrumented design: which signals tell what each of them does."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cyclescope.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from cyclescope.traces.petal._side import Component, ControlGroup, SideFiles
    from cyclescope.traces.wave import Signal

__all__ = ["Design", "Instance", "Probe", "find_design"]

_NAME = re.compile(r"(.+)_(contprimitive|contcell|primitive|group|cell|se)_probe_out")
_GLUE = "___"
_JOINT = re.compile(f"(?={_GLUE})")
# The ports that start the primitives of Calyx's library: a memory's, an arithmetic unit's, a
# register's.
_STARTS = ("content_en", "go", "write_en")

Scope = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Probe:
    """A signal that is high while a group calls something.

    `kind` is `cell`, `primitive` or `se` (another group); `group` is empty for what continuous
    assignments start. `start` is the port that starts a primitive, if the waveform shows it.
    """

    kind: str
    group: str
    name: str
    signal: Signal
    start: Signal | None = None


@dataclass
class Instance:
    """A cell of the design.

    Attributes:
        component: of which it is an instance.
        groups: group → signal that is high while it is active.
        calls: what groups call.
        controls: compiler-made groups and the signals that are high while they are active.
        registers: (name, metric, the group that owns it) → signal.
        children: name of a cell in it → instance.
    """

    scope: Scope
    component: Component
    groups: dict[str, Signal] = field(default_factory=dict)
    calls: list[Probe] = field(default_factory=list)
    controls: list[tuple[ControlGroup, Signal]] = field(default_factory=list)
    registers: dict[tuple[str, str, str], Signal] = field(default_factory=dict)
    children: dict[str, Instance] = field(default_factory=dict)

    @property
    def signals(self) -> list[Signal]:
        """All its signals, in a fixed order."""
        return [
            *self.groups.values(),
            *(call.signal for call in self.calls),
            *(call.start for call in self.calls if call.start is not None),
            *(signal for _, signal in self.controls),
            *self.registers.values(),
        ]


@dataclass
class Design:
    """The instances, main first, and the signals that say when the run is on.

    Attributes:
        strange: probes that belong to another component than that in which they are.
        removed: cells that groups call but that the design does not have.
    """

    instances: list[Instance]
    clock: Signal
    go: Signal
    done: Signal
    strange: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)


def find_design(path: Path, signals: Iterable[Signal], side: SideFiles) -> Design:
    """Find main and everything in it.

    Args:
        path: of the waveform, for messages.
        signals: all that it declares.
        side: the files beside it.

    Raises:
        DataError: main or one of its ports is not there.
    """
    scopes: dict[Scope, dict[str, Signal]] = {}
    for signal in signals:
        scopes.setdefault(signal.scope, {}).setdefault(signal.name, signal)
    ports = ("clk", "go", "done")
    tops = [
        scope
        for scope, names in scopes.items()
        if scope and scope[-1] == side.main and all(port in names for port in ports)
    ]
    if not tops:
        raise DataError(
            f"{path}: has no module {side.main} with clk, go and done; is it the waveform of the "
            "program that the JSON files describe?"
        )
    top = min(tops, key=lambda scope: (len(scope), scope))
    clock, go, done = (scopes[top][port] for port in ports)
    design = Design([], clock, go, done)
    _Finder(scopes, side, design).visit(top, side.components[side.main])
    _drop_removed(design, scopes)
    return design


def _drop_removed(design: Design, scopes: dict[Scope, dict[str, Signal]]) -> None:
    """Forget calls of cells that are not in the design.

    A probe stays where the compiler finds that nobody sees what a cell does, and removes it. A
    waveform that shows no called primitive at all, or no called component, may leave out others.
    """
    absent: list[tuple[Instance, Probe]] = []
    shown: set[str] = set()
    for instance in design.instances:
        here = _cells_in(instance, scopes)
        for call in instance.calls:
            if call.kind == "se" or {call.name, instance.component.shared.get(call.name)} & here:
                shown.add(call.kind)
            else:
                absent.append((instance, call))
    for instance, call in absent:
        name = f"{instance.component.name}.{call.name}"
        if call.kind in shown:
            instance.calls.remove(call)
            if name not in design.removed:
                design.removed.append(name)


def _cells_in(instance: Instance, scopes: dict[Scope, dict[str, Signal]]) -> set[str]:
    """The cells of an instance of which the waveform shows the inside or a port."""
    cells = {**instance.component.cells, **instance.component.primitives}
    found = {cell for cell in cells if (*instance.scope, cell) in scopes}
    for name in scopes[instance.scope]:
        parts = [] if "_probe_" in name else name.split("_")
        longest = ("_".join(parts[:n]) for n in range(len(parts) - 1, 0, -1))
        found |= set(next(([cell] for cell in longest if cell in cells), ()))
    return found


class _Finder:
    def __init__(
        self, scopes: dict[Scope, dict[str, Signal]], side: SideFiles, design: Design
    ) -> None:
        self._scopes, self._side, self._design = scopes, side, design

    def visit(self, scope: Scope, component: Component) -> Instance:
        instance = Instance(scope, component)
        self._design.instances.append(instance)
        names = self._scopes[scope]
        self._probes(instance, names)
        for group in component.groups:
            go = names.get(f"{group.name}_go_out")
            if go is not None:
                instance.controls.append((group, go))
            for register, metric in ((group.fsm, "fsm"), *((r, "par done") for r in group.done)):
                signal = names.get(f"{register}_out")
                if register is not None and signal is not None:
                    instance.registers[register, metric, group.name] = signal
        for cell, kind in component.cells.items():
            inner = (*scope, cell)
            if inner in self._scopes and kind in self._side.components:
                instance.children[cell] = self.visit(inner, self._side.components[kind])
        return instance

    def _probes(self, instance: Instance, names: dict[str, Signal]) -> None:
        own = instance.component
        found: list[tuple[str, str, Signal]] = []
        for name, signal in names.items():
            match = _NAME.fullmatch(name)
            if match is None:
                continue
            what, kind = match[1].removesuffix(f"{_GLUE}{own.name}"), match[2]
            if what == match[1] or signal.width != 1:
                self._design.strange.append(signal.full_name)
            elif kind == "group":
                instance.groups[what] = signal
            else:
                found.append((what, kind, signal))
        for what, kind, signal in found:
            if kind.startswith("cont"):
                if kind == "contcell":
                    instance.calls.append(Probe("cell", "", what, signal))
                continue
            called, group = self._split(what, kind, instance)
            # An invoked primitive is probed as if it were a component.
            known = kind == "cell" and called not in own.cells and called in own.primitives
            real = own.shared.get(called, called)
            ports = (names.get(f"{real}_{port}") for port in _STARTS if kind == "primitive")
            start = next((port for port in ports if port is not None and port.width == 1), None)
            kind = "primitive" if known else kind
            instance.calls.append(Probe(kind, group, called, signal, start))

    def _split(self, what: str, kind: str, instance: Instance) -> tuple[str, str]:
        """Split a probe into callee and calling group; names may contain what joins them."""
        own = instance.component
        things = instance.groups if kind == "se" else {**own.cells, **own.primitives}
        # Of a name that ends or begins with `_` the glue is one of several places that look so.
        ways = [
            (what[: at.start()], what[at.start() + len(_GLUE) :]) for at in _JOINT.finditer(what)
        ]
        for thing, group in ways:
            if thing in things and group in instance.groups:
                return thing, group
        return next((way for way in ways if way[1] in instance.groups), (what, ""))
