"""What one instance does in one state of its signals (Petal, section 5.2).

Groups and calls come straight from their probes. Of the control program are active

- the statements around an active group;
- those whose compiler-made group is active;
- while such a group only updates its state: the statement around what that state runs, as
  learned from the trace: the groups ever seen active in it. If they are all of a block that the
  compiler promoted to a fixed length, the state runs that block, and the step is of the
  statement around it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from cyclescope.traces._probes import Instance, Probe
    from cyclescope.traces._side import Component, ControlGroup
    from cyclescope.traces.wave import Signal

__all__ = ["Activity", "Learned", "activity", "learn"]

Learned = dict[tuple[str, int], set[str]]
"""(compiler-made group, its state) → the places of what was seen to run in it."""

# What the compiler calls the group of a promoted block, and a `while` that repeats one.
_PROMOTED = re.compile(
    r"(?:(?:while_)?wrapper_early_reset_)?static_(seq|par|if|repeat)(?:_thread)?\d*"
)


@dataclass(frozen=True, slots=True)
class Activity:
    """Descriptors of active statements; active groups; calls, by group ("" for continuous)."""

    nodes: tuple[str, ...]
    groups: tuple[str, ...]
    calls: dict[str, tuple[Probe, ...]]


def activity(instance: Instance, values: Mapping[bytes, int], learned: Learned) -> Activity:
    """What is active.

    Args:
        instance: whose signals are looked at.
        values: key of a signal → its value.
        learned: of the instance's component, from `learn` over all states.
    """
    component = instance.component
    groups = tuple(name for name, signal in instance.groups.items() if _high(signal, values))
    nodes: dict[str, None] = {}
    for name in groups:
        nodes.update(dict.fromkeys(component.chain(component.enables.get(name, ""))))
    for group, signal in instance.controls:
        if group.node is not None and _high(signal, values):
            nodes.update(dict.fromkeys(component.chain(_block(instance, group, values, learned))))
    calls: dict[str, list[Probe]] = {}
    for call in instance.calls:
        if _called(instance, call, values):
            calls.setdefault(call.group, []).append(call)
    return Activity(tuple(nodes), groups, {group: tuple(rows) for group, rows in calls.items()})


def learn(instance: Instance, values: Mapping[bytes, int], learned: Learned) -> None:
    """Note what is seen to run in the states of the instance's compiler-made groups."""
    for group, signal in instance.controls:
        state = _state(instance, group, values)
        if group.node is not None and state is not None and _high(signal, values):
            learned.setdefault((group.name, state), set()).update(_runs(instance, group, values))


def _high(signal: Signal, values: Mapping[bytes, int]) -> bool:
    return values.get(signal.key) == 1


def _called(instance: Instance, call: Probe, values: Mapping[bytes, int]) -> bool:
    """Whether a call is on.

    The compiler splits a group in two, either half with the probes of the whole: what either half
    starts is said by the port that starts it.
    """
    group = instance.groups.get(call.group)
    if call.start is None or group is None:
        return _high(call.signal, values)
    return _high(group, values) and _high(call.start, values)


def _state(instance: Instance, group: ControlGroup, values: Mapping[bytes, int]) -> int | None:
    signal = instance.registers.get((group.fsm or "", "fsm", group.name))
    return None if signal is None else values.get(signal.key)


def _around(component: Component, place: str) -> str:
    """The innermost statement around a place, not the place itself."""
    chain = component.chain(place)
    if chain and chain[-1] == place:
        chain.pop()
    return chain[-1] if chain else ""


def _runs(instance: Instance, group: ControlGroup, values: Mapping[bytes, int]) -> list[str]:
    """The places of what is active under a compiler-made group and under no other inside it."""
    component, own = instance.component, group.node or ""
    inner = [
        other.node
        for other, signal in instance.controls
        if other.node is not None
        and other.node != own
        and other.node.startswith(own)
        and _high(signal, values)
    ]
    places = [
        place
        for name, signal in instance.groups.items()
        if (place := component.enables.get(name, "")).startswith(own) and _high(signal, values)
    ]
    found = [*inner, *places]
    return [p for p in found if not any(p != i and p.startswith(i) for i in inner)]


def _block(
    instance: Instance, group: ControlGroup, values: Mapping[bytes, int], learned: Learned
) -> str:
    """The innermost statement that an active compiler-made group shows to be active."""
    own = group.node or ""
    state = _state(instance, group, values)
    if state is None or _runs(instance, group, values):
        return own
    seen = learned.get((group.name, state))
    if not seen:
        return own
    component = instance.component
    block = _promoted(component, group, state, learned)
    inner = [*sorted(seen), *([] if block is None else [block])]
    common = _common(component.chain(_around(component, place)) for place in inner)
    return common if common.startswith(own) else own


def _promoted(
    component: Component, group: ControlGroup, state: int, learned: Learned
) -> str | None:
    """The promoted block that a state runs, None if it runs another thing, or part of a block.

    The files do not say which block it is: it is the one around all that was seen in this state
    in which nothing of another state stands.
    """
    named = _PROMOTED.fullmatch(group.states.get(state, ""))
    if named is None:
        return None
    own = learned[group.name, state]
    others = _elsewhere(component, learned, own)
    around = _shared(component.chain(place) for place in sorted(own))
    free = [d for d in around if not any(place.startswith(d) for place in others)]
    same = [d for d in free if component.nodes[d].operator.removeprefix("static ") == named[1]]
    return next(iter(same or free), None)


def _elsewhere(component: Component, learned: Learned, own: set[str]) -> set[str]:
    """The places of what a state does not run, which was seen to run `own`.

    An enable that was never seen is in an arm not taken of some block that was, unless the files
    name the state that starts it, or a state was never seen of which they do not say what it runs.
    """
    seen = set().union(*learned.values())
    started = {_enabled(name) for group in component.groups for name in group.states.values()}
    known = {_enabled(name) for name in (*component.enables, *(g.name for g in component.groups))}
    unknown = any(
        not learned.get((group.name, state)) and _enabled(name) not in known
        for group in component.groups
        for state, name in group.states.items()
        if name != f"{group.fsm}_END"
    )
    unseen = {
        place
        for name, place in component.enables.items()
        if place not in seen and (unknown or _enabled(name) in started)
    }
    return (seen - own) | unseen


def _enabled(name: str) -> str:
    """What the names of a group and of what the compiler wraps around it have in common."""
    return name.removeprefix("wrapper_early_reset_").rstrip("0123456789")


def _shared(chains: Iterable[list[str]]) -> list[str]:
    """The statements that are on all chains, outermost first."""
    first, *rest = chains
    return [place for place in first if all(place in chain for chain in rest)]


def _common(chains: Iterable[list[str]]) -> str:
    """The innermost statement that is on all chains."""
    shared = _shared(chains)
    return shared[-1] if shared else ""
