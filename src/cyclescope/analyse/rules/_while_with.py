"""A loop whose condition takes cycles of its own: `while … with` (Petal, section 8.2.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope.analyse.rules._leverage import bounds_of_blocks
from cyclescope.analyse.rules._rule import Place, Rule, counted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cyclescope.analyse.rules._facts import Facts

__all__ = ["RULE"]


def _find(facts: Facts) -> Iterable[Place]:
    for frame, paths in facts.blocks("while"):
        conditions = [p for path in paths for p in facts.children[path] if facts.is_condition(p)]
        if not conditions:
            continue
        tests, entries = facts.times(conditions), facts.times(paths)
        asked = facts.cycles(conditions)
        # Steps of the loop's own register: one after each test, if the loop has no fixed schedule.
        steps = sum(facts.own[path] for path in paths) // tests if tests else 0
        rounds = max(tests - entries, 0)
        each = asked // tests + steps if tests else 0
        # A test before a loop of fixed length costs a step that a group of its own does not.
        saving = rounds * each + (entries if not steps else 0)
        most = asked + sum(facts.own[path] for path in paths) + entries
        yield Place.at(
            frame,
            evidence=(
                f"{facts.of(conditions[0]).name} is asked {counted(tests, 'time')} in "
                f"{counted(entries, 'loop')} and takes {counted(asked, 'cycle')}"
                + (f", {tests * steps:,} more to step on" if steps else "")
            ),
            saving=min(saving, most),
            at_least=0,
            at_most=most,
            cycles=facts.example(paths),
        )


RULE = Rule(
    name="while-with",
    title="a loop condition that takes cycles of its own",
    reference="Petal, section 8.2.2",
    change=(
        "Keep the condition in a register: a group that writes it, enabled before the loop and in "
        "the body, beside the work: in the arm of a par that has cycles to spare, for instance "
        "after the counter's increment."
    ),
    verify=(
        "Compare with cyclescope diff; the loop must run as often: cyclescope table P.cyc groups."
    ),
    sources=frozenset({"calyx"}),
    find=_find,
    bounds=bounds_of_blocks,
)
