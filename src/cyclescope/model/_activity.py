"""The purpose of a cycle: said once, by the source that knows (DESIGN.md, "Meaning").

A frame declares its activity, and with `control` and `waiting` a cause. The causes below are those
of this project's sources. A source may have others: every view shows a cause by its own name.
"""

from __future__ import annotations

from enum import StrEnum

__all__ = ["Activity", "Cause"]


class Activity(StrEnum):
    """The activity of a frame that runs, in the order in which activities side by side count.

    Of several leaves in one cycle of a track the first in this order says what the cycle is: a
    cell in which a group works while the arm of a `par` beside it waits does work.
    """

    WORK = "work"
    WAITING = "waiting"
    CONTROL = "control"
    UNKNOWN = "unknown"
    IDLE = "idle"


class Cause(StrEnum):
    """The causes that sources of this project name; any other text is a cause, too."""

    # Of control: which registers take a step in that cycle (Petal, section 7).
    FSM = "fsm"
    PAR_DONE = "par done"
    BOTH = "both"
    # Of waiting.
    MEMORY = "memory"
    ARBITRATION = "arbitration"
    LOCK = "lock"
    BARRIER = "barrier"
    OPERAND = "operand"
    RESOURCE = "resource"
    CHANNEL = "full channel"
    MESSAGE = "message"
    INNER_LOOP = "inner loop"
    THREAD_START = "thread start"
    # Of either.
    OTHER = "other"
