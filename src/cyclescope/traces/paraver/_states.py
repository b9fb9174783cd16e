"""The meaning of Paraver's states."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope.model import Activity, Cause
from cyclescope.traces._state_meaning import UNKNOWN, WORK, StateMeaning, folded

if TYPE_CHECKING:
    from collections.abc import Collection

__all__ = ["state_meaning"]


def _is(activity: Activity, cause: str = "") -> StateMeaning:
    return StateMeaning(activity=activity, cause=str(cause))


_IDLE = _is(Activity.IDLE)


def _waiting(cause: str) -> StateMeaning:
    return _is(Activity.WAITING, cause)


# By names, as a .pcf or Paraver itself gives them: the states of its default semantics and of
# Extrae's and Dimemas' traces; and those that cyclescope writes.
_PARAVER = {
    "idle": _IDLE,
    "running": WORK,
    "critical": WORK,
    "spinning": _waiting(Cause.LOCK),
    "control": _is(Activity.CONTROL, Cause.OTHER),
    "not created": _IDLE,
    "waiting a message": _waiting(Cause.MESSAGE),
    "blocking send": _waiting(Cause.MESSAGE),
    "synchronization": _waiting(Cause.BARRIER),
    "test/probe": _waiting(Cause.MESSAGE),
    "scheduling and fork/join": _waiting(Cause.THREAD_START),
    "wait/waitall": _waiting(Cause.MESSAGE),
    "blocked": _waiting(Cause.OTHER),
    "immediate send": _waiting(Cause.MESSAGE),
    "immediate receive": _waiting(Cause.MESSAGE),
    "i/o": _waiting("I/O"),
    "group communication": _waiting(Cause.MESSAGE),
    "tracing disabled": UNKNOWN,
    "others": UNKNOWN,
    "send receive": _waiting(Cause.MESSAGE),
    "memory transfer": _waiting(Cause.MEMORY),
    "remote memory access": _waiting(Cause.MEMORY),
    "atomic memory operation": _waiting(Cause.MEMORY),
    "memory ordering operation": _waiting(Cause.MEMORY),
    "distributed locking": _waiting(Cause.LOCK),
    "startup latency": _waiting(Cause.MESSAGE),
    "waiting links": _waiting(Cause.ARBITRATION),
    "unknown": UNKNOWN,
}
_NUMBERS = {
    0: "idle",
    1: "running",
    2: "not created",
    3: "waiting a message",
    4: "blocking send",
    5: "synchronization",
    6: "test/probe",
    7: "scheduling and fork/join",
    8: "wait/waitall",
    9: "blocked",
    10: "immediate send",
    11: "immediate receive",
    12: "i/o",
    13: "group communication",
    14: "tracing disabled",
    15: "others",
    16: "send receive",
    17: "memory transfer",
}


def state_meaning(name: str, number: int, work: Collection[str] = ()) -> StateMeaning:
    """The meaning of a state.

    Args:
        name: as the trace has it; empty if it has none.
        number: Paraver's.
        work: names of states that the user calls work, as `folded` gives them.
    """
    (key,) = folded([name])
    if key in work:
        return WORK
    return _PARAVER.get(key or _NUMBERS.get(number, ""), UNKNOWN)
