"""Frames for tests that are about something else: what they are for follows from what they are."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from cyclescope.model import CONTROL, WORK, Activity, Cause, Kind
from cyclescope.model import Frame as PlainFrame

__all__ = ["CAUSES", "Frame"]

_OF_KIND: dict[Any, dict[str, Any]] = {
    Kind.CELL: {**CONTROL},
    Kind.CONTROL: {**CONTROL},
    Kind.GROUP: {**WORK},
    Kind.PRIMITIVE: {**WORK},
    Kind.PROCESS: {**WORK},
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
