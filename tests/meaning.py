"""Frames for tests that are about something else: what they are for follows from what they are."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from cyclescope.analyse import Account, Use, account, accounts_of_instances
from cyclescope.model import CONTROL, WORK, Activity, Cause, Kind
from cyclescope.model import Frame as PlainFrame

if TYPE_CHECKING:
    from cyclescope.model import Profile

__all__ = ["CAUSES", "Frame", "Split", "design_overhead", "instance_overheads"]

_OF_KIND: dict[Any, dict[str, Any]] = {
    Kind.CELL: {**CONTROL},
    Kind.CONTROL: {**CONTROL},
    Kind.GROUP: {**WORK},
    Kind.PRIMITIVE: {**WORK},
    Kind.PROCESS: {**WORK, "track": True},
    Kind.THREAD: {"activity": Activity.IDLE, "track": True},
}
_OF_STATE: dict[str, dict[str, Any]] = {
    "running": {**WORK},
    "critical": {**WORK},
    "spinning": {"activity": Activity.WAITING, "cause": Cause.LOCK.value},
    "idle": {"activity": Activity.IDLE},
}
CAUSES = {"fsm": Cause.FSM.value, "par done": Cause.PAR_DONE.value}
"""Causes of control by the metric of a register."""


def Frame(*arguments: Any, **options: Any) -> PlainFrame:  # noqa: N802 - stands for the class
    """A frame that declares what a source of ours declares of one of that kind and name."""
    made = PlainFrame(*arguments, **options)
    if made.kind is Kind.STATE:
        return replace(made, **_OF_STATE.get(made.name, {"activity": Activity.UNKNOWN}))
    return replace(made, **_OF_KIND.get(made.kind, {}))


class Split(NamedTuple):
    """A Calyx account, by the names of Petal's classes."""

    cycles: int
    useful: int
    fsm: int
    par_done: int
    both: int
    other: int

    @property
    def overhead(self) -> int:
        return self.cycles - self.useful


def _split(found: Account) -> Split:
    causes = (Cause.FSM, Cause.PAR_DONE, Cause.BOTH, Cause.OTHER)
    lost = (found.parts.get(Use(Activity.CONTROL, cause.value), 0) for cause in causes)
    split = Split(found.total, found.useful, *lost)
    assert found.tracks or sum(split[1:]) == split.cycles
    return split


def design_overhead(profile: Profile) -> Split:
    """The account of a design."""
    return _split(account(profile))


def instance_overheads(profile: Profile) -> dict[str, Split]:
    """Those of its instances."""
    return {name: _split(found) for name, found in accounts_of_instances(profile).items()}
