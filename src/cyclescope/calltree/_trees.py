"""From a recording to call trees: one for each distinct state of the whole design."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from cyclescope.calltree._activity import Activity, Decoder
from cyclescope.model import WORK, Bank, Frame, Ints, Kind, ProfileBuilder, Series, control_register

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from cyclescope.calltree._activity import GroupActivity
    from cyclescope.calltree._component import Call, Compiled, Component
    from cyclescope.calltree._recording import Recording, Vectors

__all__ = ["CallTrees", "continuous_frame"]


def continuous_frame(component: str) -> Frame:
    """The frame of what works by continuous assignments, and calls the cells that they start."""
    return Frame(Kind.GROUP, "continuous assignments", component, generated=True, **WORK)


@dataclass(frozen=True)
class _Instance:
    """A cell on a call path: its component, its recorded instance and its reference cells.

    Attributes:
        path: its call path.
        component: of which it is an instance.
        name: the recorded instance that it is.
        shown: its name along the call path; differs where cells are shared or passed along.
        refs: for each reference cell of the component, the recorded instance that was passed.
        lingers: started earlier, by a start that lasts one cycle: active as long as it is busy.
    """

    path: int
    component: str
    name: str
    shown: str
    refs: tuple[tuple[str, str], ...] = ()
    lingers: bool = False


@dataclass
class _Expansion:
    """The part of the tree that an instance contributes in one state of its signals."""

    paths: list[int] = field(default_factory=list)
    cells: list[_Instance] = field(default_factory=list)


class CallTrees:
    """Makes the call tree of each state of a design, and the series of its control registers.

    Args:
        main: the frame of the main cell; its name is the component's.
        instance: the main cell's name in the recording.
        components: by name.
        recording: of a run.
        used: gets the call paths of each cell and control register, by its name along the
            hierarchy of the design: two cells that the compiler merged are one there.

    Attributes:
        profile: the part made so far.
    """

    def __init__(
        self,
        main: Frame,
        instance: str,
        components: Mapping[str, Component],
        recording: Recording,
        used: dict[str, set[int]] | None = None,
    ) -> None:
        self.profile = ProfileBuilder()
        self._components, self._recording = components, recording
        self._used = {} if used is None else used
        self._blocks: dict[tuple[str, int], set[int]] = {}  # (instance, block) → its paths
        self._component_of = dict(recording.instances)
        self._index = {name: i for i, (name, _) in enumerate(recording.instances)}
        self._decoders = {
            name: Decoder(components[name], vectors) for name, vectors in recording.vectors.items()
        }
        self._activities: dict[tuple[str, int], Activity] = {}
        self._expansions: dict[tuple[int, int], _Expansion] = {}
        self._shown: dict[str, list[str]] = {}
        self._root = _Instance(self.profile.path(-1, main), main.name, instance, main.name)
        self._note(self._root)
        self._use(instance, self._root.path)

    def trees(self) -> Ints:
        """The tree of each state. Statements that never ran get frames, too: tables say so."""
        states = self._recording.states.tolist()
        trees = np.array([self._tree(state) for state in states], dtype=np.int64)
        for name in sorted({component for _, component in self._recording.instances}):
            for frame in self._components[name].frames.values():
                self.profile.frame(frame)
        return trees

    def _tree(self, state: Sequence[int]) -> int:
        active: list[int] = []
        waiting = [self._root]
        while waiting:
            instance = waiting.pop()
            active.append(instance.path)
            if self._components[instance.component].only_continuous:
                active.append(self._continuous(instance))
            index = self._index.get(instance.name)
            if index is None:
                continue
            expansion = self._expand(instance, state[index])
            active.extend(expansion.paths)
            waiting.extend(
                cell for cell in expansion.cells if not cell.lingers or self._busy(cell, state)
            )
        return self.profile.tree(active)

    def _busy(self, cell: _Instance, state: Sequence[int]) -> bool:
        """Return whether anything in a cell is active."""
        index = self._index.get(cell.name)
        if index is None:
            return False
        activity = self._activity(cell.component, state[index])
        return bool(activity.groups or activity.blocks)

    def _use(self, cell: str | None, path: int) -> None:
        if cell is not None:
            self._used.setdefault(cell, set()).add(path)

    def _note(self, instance: _Instance) -> None:
        names = self._shown.setdefault(instance.name, [])
        if instance.shown not in names:
            names.append(instance.shown)

    def _activity(self, component: str, vector: int) -> Activity:
        key = (component, vector)
        found = self._activities.get(key)
        if found is None:
            found = self._activities[key] = self._decoders[component].activity(vector)
        return found

    def _expand(self, instance: _Instance, vector: int) -> _Expansion:
        key = (instance.path, vector)
        found = self._expansions.get(key)
        if found is None:
            found = _Expansion()
            self._fill(found, instance, self._activity(instance.component, vector))
            self._expansions[key] = found
        return found

    def _fill(self, expansion: _Expansion, instance: _Instance, activity: Activity) -> None:
        for block in sorted(activity.blocks):
            path = self._node_path(instance, block)
            expansion.paths.append(path)
            self._blocks.setdefault((instance.name, block), set()).add(path)
        by_name = {group.group.name: group for group in activity.groups}
        called = {call.actual for g in activity.groups for call in g.calls if call.kind == "group"}
        for group in activity.groups:
            if group.node is not None:
                path = self._node_path(instance, group.node)
            elif group.group.name in called:
                continue
            else:
                path = self.profile.path(instance.path, group.group.frame)
            self._fill_group(expansion, instance, path, group, by_name)
        for call in activity.continuous:
            self._fill_call(expansion, instance, self._continuous(instance), call, ())

    def _continuous(self, instance: _Instance) -> int:
        return self.profile.path(instance.path, continuous_frame(instance.component))

    def _fill_group(
        self,
        expansion: _Expansion,
        instance: _Instance,
        path: int,
        group: GroupActivity,
        active: Mapping[str, GroupActivity],
    ) -> None:
        """Add a group and what it calls; `active` are the groups that may be below it."""
        expansion.paths.append(path)
        # A recording may have groups that call each other, as deep as it likes.
        waiting = [(path, group, iter(group.calls), frozenset((group.group.name,)))]
        while waiting:
            path, group, calls, above = waiting[-1]
            for call in calls:
                if call.kind != "group":
                    self._fill_call(expansion, instance, path, call, group.group.refs)
                elif call.actual in active and call.actual not in above:
                    inner = active[call.actual]
                    below = self.profile.path(path, inner.group.frame)
                    expansion.paths.append(below)
                    waiting.append((below, inner, iter(inner.calls), above | {call.actual}))
                    break
            else:
                waiting.pop()
                for call in group.lingering:
                    self._fill_call(expansion, instance, path, call, (), lingers=True)

    def _fill_call(
        self,
        expansion: _Expansion,
        instance: _Instance,
        parent: int,
        call: Call,
        refs: Sequence[tuple[str, str]],
        *,
        lingers: bool = False,
    ) -> None:
        where = self._resolve(instance, call.actual)
        if call.frame is None:
            self._use(where, parent)
            return
        path = self.profile.path(parent, call.frame)
        self._use(where, path)
        if call.component is None or where is None:
            expansion.paths.append(path)
            return
        given = tuple(
            (ref, inner) for ref, cell in refs if (inner := self._resolve(instance, cell))
        )
        # What is passed by reference may be of another component than declared.
        component = self._component_of.get(where, call.component)
        cell = _Instance(path, component, where, f"{instance.shown}.{call.name}", given, lingers)
        self._note(cell)
        expansion.cells.append(cell)

    def _resolve(self, instance: _Instance, cell: str) -> str | None:
        """The recorded instance that a cell name stands for, through reference cells."""
        if cell in self._components[instance.component].references:
            return dict(instance.refs).get(cell)
        return f"{instance.name}.{cell}"

    def _node_path(self, instance: _Instance, node: int) -> int:
        """The call path of a statement below its instance."""
        component, path = self._components[instance.component], instance.path
        for above in reversed(component.nesting.chain(node)):
            path = self.profile.path(path, component.frames[above])
            if above != node and above in component.inlined:
                path = self.profile.path(path, component.inlined[above])
        return path

    def registers(self) -> Iterator[Series]:
        """The control registers of every instance over time, in one bank."""
        recording = self._recording
        columns: list[Ints] = []
        named: list[tuple[str, str, str]] = []
        last_steps: dict[int, int] = {}  # column → value, of the registers that ended the run
        for index, (instance, component) in enumerate(recording.instances):
            vectors = recording.vectors[component]
            for compiled in self._components[component].compiled:
                last_step = self._last_step(compiled, vectors, index)
                for register in compiled.registers:
                    value = np.array(vectors[register.signal], dtype=np.int64)
                    shown = value[recording.states[:, index]]
                    if (shown < 0).any():
                        continue  # another instance of the component shows it
                    if last_step is not None:
                        last_steps[len(columns)] = last_step
                    columns.append(shown)
                    named.append((instance, register.label, register.kind))
                    block = -1 if compiled.block is None else compiled.block
                    for path in self._blocks.get((instance, block), ()):
                        self._use(f"{instance}.{register.signal}", path)
        if not columns:
            return
        bank = _bank(recording, np.stack(columns, axis=1), last_steps)
        for column, (instance, label, kind) in enumerate(named):
            for track in self._shown.get(instance, [self._track(instance)]):
                yield control_register(track, label, kind, bank, column)

    def _last_step(self, compiled: Compiled, vectors: Vectors, index: int) -> int | None:
        """The last step of a component's whole control, if that is what ended the run."""
        recording = self._recording
        if not recording.complete or compiled.final_state is None:
            return None
        last = recording.states[recording.runs.last, index]
        return compiled.final_state if vectors[compiled.signal][last] > 0 else None

    def _track(self, instance: str) -> str:
        """Name the track of an instance that never ran."""
        return self._root.shown + instance.removeprefix(self._root.name)


def _bank(recording: Recording, rows: Ints, last_steps: Mapping[int, int]) -> Bank:
    """The registers' values in each state of the design (shape: states, registers), as runs.

    What the last cycle leads to shows in the cycle after it; if that was not recorded, the last
    steps are all that is known of it.
    """
    values, number = np.unique(rows, axis=0, return_inverse=True)
    shown, after = number.reshape(-1), -1
    if recording.after is not None:
        after = int(shown[recording.after])
    elif last_steps:
        row = values[shown[recording.runs.last]].copy()
        row[list(last_steps)] = list(last_steps.values())
        values, after = np.vstack([values, row]), len(values)
    return Bank.of(recording.runs, shown, values, after)
