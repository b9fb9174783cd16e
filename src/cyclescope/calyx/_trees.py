"""From a capture to a Profile: what the compiler noted, as the call-tree builder reads it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cyclescope.calltree import (
    Call,
    CallTrees,
    Compiled,
    Component,
    Group,
    Promoted,
    Recording,
    Register,
    Repeat,
    continuous_frame,
)
from cyclescope.calyx._frames import ComponentFrames
from cyclescope.calyx._record import probe_signal, register_signal
from cyclescope.model import CONTROL, Frame, Kind, ProfileBuilder

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cyclescope.calyx import _record
    from cyclescope.calyx._compile import Program
    from cyclescope.calyx._record import ComponentRecord
    from cyclescope.model import Meta, Profile
    from cyclescope.sim import Capture

__all__ = ["bare_profile", "build_profile"]

# What passes let a group of the program write (simplify-with-control a condition's register,
# group2invoke the input of an invoke): no cell of the program's, so none of what the group calls.
_OF_PASSES = re.compile(r"comb_reg\d*|\w+_guarded_wire\d*")


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
    record = program.record
    components = {name: _component(program, name) for name in record.components}
    recording = Recording(
        instances=capture.instances,
        vectors={
            module: _values(record.components[module], module, capture)
            for module in capture.layouts
        },
        states=capture.states,
        runs=capture.runs,
        complete=meta.complete,
    )
    instance = record.main if record.top == record.main else f"{record.top}.{record.main}"
    made = CallTrees(_main(program), instance, components, recording, used)
    trees = made.trees()
    for series in made.registers():
        made.profile.counter(series)
    return made.profile.build_states(meta, capture.runs, trees)


def _values(component: ComponentRecord, module: str, capture: Capture) -> dict[str, list[int]]:
    """Probes and control registers of a component in each vector of its module."""
    values = component.formulas.values(
        lambda signal: capture.values(module, signal), len(capture.vectors[module])
    )
    named = {probe: column.astype(int).tolist() for probe, column in values.items()}
    for probe in component.live - values.keys():
        named[probe] = capture.values(module, probe_signal(probe)).tolist()
    for register in component.registers:
        signal = register_signal(register.name)
        named[register.name] = capture.values(module, signal).tolist()
    return named


def bare_profile(program: Program, cycles: int, meta: Meta) -> Profile:
    """The profile of a program in which no group can run: its main cell for so many cycles."""
    builder = ProfileBuilder()
    path = builder.path(-1, _main(program))
    if _frames(program, program.record.main).only_continuous:
        path = builder.path(path, continuous_frame(program.record.main))
    return builder.build(meta, [cycles], [builder.tree([path])])


def _main(program: Program) -> Frame:
    name = program.record.main
    return Frame(Kind.CELL, name, name, detail=name, **CONTROL)


def _frames(program: Program, name: str) -> ComponentFrames:
    return ComponentFrames(program, name, program.record.components[name])


def _component(program: Program, name: str) -> Component:
    frames = _frames(program, name)
    own, tree = frames.component, frames.tree
    # Compiled, the groups of a component of fixed length are continuous assignments, too.
    called = {call.actual for g in own.groups for call in g.calls}
    inlined = {
        node: frames.cell(cell)
        for node in tree.parent
        if node not in tree.blocks and (cell := program.record.nodes[node].cell) is not None
    }
    return Component(
        name=name,
        nesting=tree,
        frames={node: frames.node(node) for node in tree.parent},
        inlined=inlined,
        groups=tuple(_group(frames, g) for g in own.groups if g.probe in own.live),
        compiled=tuple(_compiled(frames, own.compiled)),
        promoted=tuple(
            Promoted(s.probe, block, frozenset(s.leaves), whole=tree.holds_all(block, s.leaves))
            for s in own.statics
            if s.probe in own.live and (block := tree.block_of(s.leaves, s.kind)) is not None
        ),
        repeats=tuple(
            Repeat(r.probe, r.node, r.groups) for r in own.repeats if r.probe in own.live
        ),
        references=frozenset(cell.name for cell in own.cells if cell.reference),
        continuous=tuple(
            _cell(frames, cell, cell, probe)
            for cell, probe in own.continuous
            if probe in own.live and cell not in called and not _removed(frames, cell)
        ),
        only_continuous=frames.only_continuous,
    )


def _group(frames: ComponentFrames, group: _record.GroupRecord) -> Group:
    return Group(
        name=group.name,
        signal=group.probe,
        frame=frames.inner_group(group),
        places=tuple(frames.tree.sites(group.nodes)),
        calls=tuple(_calls(frames, group)),
        refs=group.refs,
    )


def _calls(frames: ComponentFrames, group: _record.GroupRecord) -> Iterator[Call]:
    for call in group.calls:
        if call.kind == "cell":
            if not _removed(frames, call.actual):
                yield _cell(frames, call.name, call.actual, call.probe)
            continue
        when = () if call.probe is None else (call.probe,)
        if call.kind == "group":
            yield Call("group", call.actual, when=when)
            continue
        frame = frames.cell(call.name, kind=Kind.PRIMITIVE, group=group)
        if frame.generated and _OF_PASSES.fullmatch(frame.name):
            yield Call("primitive", call.actual, when=when)
        elif not _removed(frames, call.actual):
            yield Call("primitive", call.actual, frame, when=when)


def _cell(frames: ComponentFrames, name: str, actual: str, probe: str | None) -> Call:
    known = frames.declared(actual)
    return Call(
        kind="cell",
        actual=actual,
        frame=frames.cell(name),
        name=name,
        when=() if probe is None else (probe,),
        component=known.type if known is not None else None,
        lingers=frames.is_static(actual),
    )


def _removed(frames: ComponentFrames, actual: str) -> bool:
    """Return whether the compiler found that nobody sees what a cell does, and removed it."""
    known = frames.declared(actual)
    given = known is not None and known.reference
    return not given and actual not in frames.component.kept


def _compiled(
    frames: ComponentFrames, compiled: Iterable[_record.CompiledRecord]
) -> Iterator[Compiled]:
    every = tuple(compiled)
    for one in every:
        if one.probe not in frames.component.live:
            continue
        block = frames.tree.compiled_block(one)
        what = f" ({frames.node(block).name})" if block is not None else ""
        yield Compiled(
            name=one.name,
            signal=one.probe,
            block=block,
            leaves=one.leaves,
            inner=one.children,
            registers=tuple(Register(r.name, r.kind, r.name + what) for r in one.registers),
            # tdcc makes the group of a component's whole control last.
            final_state=one.final_state if one is every[-1] else None,
            sites=one.calls_shared,
        )
