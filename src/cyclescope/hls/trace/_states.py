"""The states of hardware threads, and what each is for (paper, section IV-B1)."""

from __future__ import annotations

from cyclescope.model import Activity, Cause, Frame, Kind

__all__ = ["STATES", "state_frame", "thread_frame"]

STATES = ("idle", "running", "critical", "spinning")
"""What two bits of state mean."""

_MEANING = {
    "idle": (Activity.IDLE, ""),
    "running": (Activity.WORK, ""),
    "critical": (Activity.WORK, ""),
    "spinning": (Activity.WAITING, Cause.LOCK.value),
    "unknown": (Activity.UNKNOWN, ""),
}


def thread_frame(thread: int, region: str) -> Frame:
    """A thread of a region: accounted for by itself."""
    name = f"thread {thread}"
    return Frame(Kind.THREAD, name, region, str(thread), activity=Activity.IDLE, track=True)


def state_frame(state: str, region: str) -> Frame:
    """One of `STATES`, or `unknown`: a trace has a hole."""
    activity, cause = _MEANING[state]
    return Frame(Kind.STATE, state, region, state, activity=activity, cause=cause)
