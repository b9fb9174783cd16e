"""What one instance does in one state of its signals (Petal, section 5.2).

Groups and calls come straight from their probes. Of the control program are active

- the statements around an active group;
- those whose compiler-made group is active;
- while such a group only updates its state: the statement around what that state runs, as
  learned from the trace: the groups ever seen active in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from cyclescope.traces._probes import Instance, Probe
    from cyclescope.traces._side import Component, ControlGroup
    from cyclescope.traces._wave import Signal

__all__ = ["Activity", "Learned", "activity", "learn"]

Learned = dict[tuple[str, int], set[str]]
"""(compiler-made group, its state) → the statements around what was seen to run in it."""


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
        if _high(call.signal, values):
            calls.setdefault(call.group, []).append(call)
    return Activity(tuple(nodes), groups, {group: tuple(rows) for group, rows in calls.items()})


def learn(instance: Instance, values: Mapping[bytes, int], learned: Learned) -> None:
    """Note what is seen to run in the states of the instance's compiler-made groups."""
    for group, signal in instance.controls:
        state = _state(instance, group, values)
        if group.node is not None and state is not None and _high(signal, values):
            around = {
                _around(instance.component, place) for place in _runs(instance, group, values)
            }
            learned.setdefault((group.name, state), set()).update(around)


def _high(signal: Signal, values: Mapping[bytes, int]) -> bool:
    return values.get(signal.key) == 1


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
    chains = [instance.component.chain(place) for place in sorted(seen)]
    common = _common(chains)
    return common if common.startswith(own) else own


def _common(chains: Iterable[list[str]]) -> str:
    """The innermost statement that is on all chains."""
    first, *rest = chains
    shared = [place for place in first if all(place in chain for chain in rest)]
    return shared[-1] if shared else ""
