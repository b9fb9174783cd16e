"""Advice: rules that find in a profile what could be changed to save cycles.

A rule is a module with a `RULE`. `RULES` is the literal list; `advise` asks them all and ranks
what they say. Savings are estimates with a bound; those of different rules may overlap, since two
changes can remove the same cycle.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cyclescope.analyse.rules import (
    _critical,
    _imbalance,
    _late_operand,
    _memory,
    _par_switch,
    _phases,
    _sharing,
    _static,
    _thread_start,
    _while_with,
)
from cyclescope.analyse.rules._facts import Facts
from cyclescope.analyse.rules._leverage import bounded
from cyclescope.analyse.rules._rule import Advice, Place, Rule

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from cyclescope.model import Profile

__all__ = ["RULES", "Advice", "Facts", "Place", "Rule", "advise"]

_LEAST = 0.01  # of the run: below, a finding does not rank

RULES: tuple[Rule, ...] = (
    _par_switch.RULE,
    _static.RULE,
    _while_with.RULE,
    _sharing.RULE,
    _late_operand.RULE,
    _critical.RULE,
    _memory.VECTOR,
    _memory.BLOCKING,
    _phases.RULE,
    _thread_start.RULE,
    _imbalance.RULE,
)


def advise(profile: Profile, rules: Iterable[Rule] = RULES) -> tuple[Advice, ...]:
    """Advise changes, most cycles first; nothing that saves less than a hundredth of the run.

    No place is expected to save more than the run would without its block, where the critical path
    is known.

    Args:
        profile: what to look at.
        rules: whom to ask; those of findings that save equally much stay in this order.
    """
    facts = Facts(profile)
    bounds: dict[Callable[[Profile], Callable[[Place], int]], Callable[[Place], int]] = {}
    found = []
    for rule in rules:
        if profile.meta.source not in rule.sources:
            continue
        places = [place for place in rule.find(facts) if place.saving > 0]
        if places and rule.bounds is not None:
            if rule.bounds not in bounds:
                bounds[rule.bounds] = rule.bounds(profile)
            places = [bounded(place, bounds[rule.bounds]) for place in places]
            places = [place for place in places if place.saving > 0]
        if places:
            places.sort(key=lambda place: -place.saving)
            most = profile.cycles if rule.most is None else rule.most(facts)
            found.append(Advice(rule, tuple(places), min(most, profile.cycles)))
    found = [advice for advice in found if advice.saving >= _LEAST * profile.cycles]
    found.sort(key=lambda advice: -advice.saving)
    return tuple(
        replace(
            advice,
            rank=1 + sum(other.saving > advice.saving for other in found),
            ties=tuple(
                other.rule.name
                for other in found
                if other is not advice and other.saving == advice.saving
            ),
        )
        for advice in found
    )
