"""From a capture to a Profile: one call tree for each distinct state of the whole design."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from cyclescope.calyx._activity import Activity, ComponentProbes, GroupActivity
from cyclescope.calyx._frames import ComponentFrames
from cyclescope.calyx._record import Call
from cyclescope.model import (
    CONTROL,
    Bank,
    Frame,
    Ints,
    Kind,
    Meta,
    Profile,
    ProfileBuilder,
    Series,
    control_register,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cyclescope.calyx._compile import Program
    from cyclescope.sim import Capture

__all__ = ["bare_profile", "build_profile"]

# What passes let a group of the program write (simplify-with-control a condition's register,
# group2invoke the input of an invoke): no cell of the program's, so none of what the group calls.
_OF_PASSES = re.compile(r"comb_reg\d*|\w+_guarded_wire\d*")


@dataclass(frozen=True)
class _Instance:
    """A cell on a call path: its component, its captured instance and its reference cells.

    Attributes:
        path: its call path.
        component: of which it is an instance.
        name: the captured instance that it is.
        shown: its name along the call path; differs where cells are shared or passed along.
        refs: for each reference cell of the component, the captured instance that was passed.
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
    """What an instance contributes in one state of its probes."""

    paths: list[int] = field(default_factory=list)
    cells: list[_Instance] = field(default_factory=list)


def build_profile(
    program: Program, capture: Capture, meta: Meta, used: dict[str, set[int]] | None = None
) -> Profile:
    """The profile of a run.

    Args:
        program: instrumented; its capture modules are the capture's.
        capture: of a run of it.
        meta: the profile's head.
        used: gets the call paths of each cell and control register, by its name along the
            hierarchy of the design: two cells that the compiler merged are one there.
    """
    return _Builder(program, capture, {} if used is None else used).build(meta)


def bare_profile(program: Program, cycles: int, meta: Meta) -> Profile:
    """The profile of a program in which no group can run: its main cell for so many cycles."""
    builder = ProfileBuilder()
    name = program.record.main
    frames = ComponentFrames(program, name, program.record.components[name])
    path = builder.path(-1, Frame(Kind.CELL, name, name, detail=name, **CONTROL))
    if frames.only_continuous:
        path = builder.path(path, frames.continuous())
    return builder.build(meta, [cycles], [builder.tree([path])])


class _Builder:
    def __init__(self, program: Program, capture: Capture, used: dict[str, set[int]]) -> None:
        self._record = program.record
        self._used = used
        self._blocks: dict[tuple[str, int], set[int]] = {}  # (instance, node) → its paths
        self._capture = capture
        self._components = dict(capture.instances)
        main, top = self._record.main, self._record.top
        self._root = main if top == main else f"{top}.{main}"
        self._profile = ProfileBuilder()
        self._frames = {
            name: ComponentFrames(program, name, component)
            for name, component in self._record.components.items()
        }
        self._index = {name: i for i, (name, _) in enumerate(capture.instances)}
        self._probes = {
            name: self._component_probes(name) for name in self._frames if name in capture.vectors
        }
        self._activities: dict[tuple[str, int], Activity] = {}
        self._expansions: dict[tuple[int, int], _Expansion] = {}
        self._shown: dict[str, list[str]] = {}

    def _component_probes(self, name: str) -> ComponentProbes:
        layout = self._capture.layouts[name]
        values = {p.name: self._capture.values(name, p.name).tolist() for p in layout.places}
        return ComponentProbes(self._frames[name], values, len(self._capture.vectors[name]))

    def build(self, meta: Meta) -> Profile:
        record = self._record
        main = Frame(Kind.CELL, record.main, record.main, detail=record.main, **CONTROL)
        root = _Instance(self._profile.path(-1, main), record.main, self._root, record.main)
        self._note(root)
        self._use(self._root, root.path)
        states = self._capture.states.tolist()
        tree = np.array([self._tree(root, state) for state in states], dtype=np.int64)
        self._name_the_rest()
        for series in self._registers(complete=meta.complete):
            self._profile.counter(series)
        runs = self._capture.run_state
        shown = tree[runs] if len(tree) else runs
        return self._profile.build(meta, self._capture.run_cycles, shown)

    def _tree(self, root: _Instance, state: Sequence[int]) -> int:
        active: list[int] = []
        waiting = [root]
        while waiting:
            instance = waiting.pop()
            active.append(instance.path)
            frames = self._frames[instance.component]
            if frames.only_continuous:
                active.append(self._profile.path(instance.path, frames.continuous()))
            index = self._index.get(instance.name)
            if index is None:
                continue
            expansion = self._expand(instance, state[index])
            active.extend(expansion.paths)
            waiting.extend(
                cell for cell in expansion.cells if not cell.lingers or self._busy(cell, state)
            )
        return self._profile.tree(active)

    def _busy(self, cell: _Instance, state: Sequence[int]) -> bool:
        """Whether anything in a cell is active."""
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
            found = self._activities[key] = self._probes[component].activity(vector)
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
        frames = self._frames[instance.component]
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
                path = self._profile.path(instance.path, frames.inner_group(group.group))
            self._fill_group(expansion, instance, path, group, by_name)
        for cell in activity.continuous:
            path = self._profile.path(instance.path, frames.continuous())
            call = Call("cell", cell, cell, None)
            self._fill_cell(expansion, instance, path, call, ())

    def _fill_group(
        self,
        expansion: _Expansion,
        instance: _Instance,
        path: int,
        group: GroupActivity,
        by_name: dict[str, GroupActivity],
    ) -> None:
        expansion.paths.append(path)
        frames = self._frames[instance.component]
        for call in group.calls:
            if call.kind == "primitive":
                frame = frames.cell(call.name, kind=Kind.PRIMITIVE, group=group.group)
                if frame.generated and _OF_PASSES.fullmatch(frame.name):
                    self._use(self._resolve(instance, call.actual), path)
                    continue
                if self._removed(instance, call):
                    continue
                below = self._profile.path(path, frame)
                expansion.paths.append(below)
                self._use(self._resolve(instance, call.actual), below)
            elif call.kind == "cell":
                self._fill_cell(expansion, instance, path, call, group.group.refs)
            elif call.actual in by_name:
                inner = by_name[call.actual]
                below = self._profile.path(path, frames.inner_group(inner.group))
                self._fill_group(expansion, instance, below, inner, by_name)
        for call in group.lingering:
            self._fill_cell(expansion, instance, path, call, (), lingers=True)

    def _fill_cell(
        self,
        expansion: _Expansion,
        instance: _Instance,
        parent: int,
        call: Call,
        refs: Sequence[tuple[str, str]],
        *,
        lingers: bool = False,
    ) -> None:
        frames = self._frames[instance.component]
        known = frames.declared(call.actual)
        if self._removed(instance, call):
            return
        path = self._profile.path(parent, frames.cell(call.name))
        where = self._resolve(instance, call.actual)
        self._use(where, path)
        if known is None or where is None:
            expansion.paths.append(path)
            return
        given = tuple(
            (ref, inner) for ref, cell in refs if (inner := self._resolve(instance, cell))
        )
        shown = f"{instance.shown}.{call.name}"
        # What is passed by reference may be of another component than declared.
        component = self._components.get(where, known.type)
        cell = _Instance(path, component, where, shown, given, lingers)
        self._note(cell)
        expansion.cells.append(cell)

    def _removed(self, instance: _Instance, call: Call) -> bool:
        """Whether the compiler found that nobody sees what a cell does, and removed it."""
        frames = self._frames[instance.component]
        known = frames.declared(call.actual)
        given = known is not None and known.reference
        return not given and call.actual not in frames.component.kept

    def _resolve(self, instance: _Instance, cell: str) -> str | None:
        """The captured instance that a cell name stands for, through reference cells."""
        known = self._frames[instance.component].declared(cell)
        if known is not None and known.reference:
            return dict(instance.refs).get(cell)
        return f"{instance.name}.{cell}"

    def _node_path(self, instance: _Instance, node: int) -> int:
        """The call path of a statement below its instance."""
        frames = self._frames[instance.component]
        path = instance.path
        for above in reversed(frames.tree.chain(node)):
            frame = frames.node(above)
            path = self._profile.path(path, frame)
            entry = self._record.nodes[above]
            if frame.kind is Kind.GROUP and above != node and entry.cell is not None:
                # The invoke of a component that was inlined: show its cell all the same.
                path = self._profile.path(path, frames.cell(entry.cell))
        return path

    def _name_the_rest(self) -> None:
        """Frames of statements that never ran, so that tables can say so."""
        for name in sorted({component for _, component in self._capture.instances}):
            frames = self._frames[name]
            for node in frames.tree.members:
                self._profile.frame(frames.node(node))

    def _registers(self, *, complete: bool) -> Iterator[Series]:
        """The control registers of every instance over time, in one bank."""
        capture = self._capture
        columns: list[Ints] = []
        named: list[tuple[str, str, str]] = []
        last_steps: dict[int, int] = {}  # column → value, of the registers that ended the run
        last_state = capture.states[capture.run_state[-1]] if complete else None
        for index, (instance, component) in enumerate(capture.instances):
            record, frames = self._record.components[component], self._frames[component]
            for block in record.compiled:
                if block.probe not in record.live:
                    continue
                node = frames.tree.compiled_block(block)
                what = f" ({frames.node(node).name})" if node is not None else ""
                for register in block.registers:
                    # tdcc makes the group of a component's whole control last. If it runs in the
                    # last cycle, its last step is what ended the run.
                    whole = block is record.compiled[-1] and block.final_state is not None
                    if whole and last_state is not None:
                        running = capture.values(component, block.probe)[last_state[index]]
                        if running:
                            last_steps[len(columns)] = block.final_state or 0
                    value = capture.values(component, register.name).astype(np.int64)
                    columns.append(value[capture.states[:, index]])
                    for path in self._blocks.get((instance, -1 if node is None else node), ()):
                        self._use(f"{instance}.{register.name}", path)
                    named.append((instance, register.name + what, register.kind))
        if not columns:
            return
        bank = self._bank(np.stack(columns, axis=1), last_steps)
        for column, (instance, name, kind) in enumerate(named):
            for track in self._shown.get(instance, [self._track(instance)]):
                yield control_register(track, name, kind, bank, column)

    def _bank(self, rows: Ints, last_steps: dict[int, int]) -> Bank:
        """The registers' values in each state of the design (shape: states, registers), as runs."""
        values, number = np.unique(rows, axis=0, return_inverse=True)
        state, cycles = number.reshape(-1)[self._capture.run_state], self._capture.run_cycles
        if last_steps:
            # The new values show in the cycle after the run, and are all that is known of it.
            after = values[state[-1]].copy()
            after[list(last_steps)] = list(last_steps.values())
            values = np.vstack([values, after])
            state, cycles = np.append(state, len(values) - 1), np.append(cycles, 1)
        first = np.flatnonzero(np.concatenate(([True], state[1:] != state[:-1])))
        return Bank(np.add.reduceat(cycles, first), state[first], values)

    def _track(self, instance: str) -> str:
        """What to call an instance that never ran."""
        record = self._record
        return instance if record.top == record.main else instance.removeprefix(f"{record.top}.")
