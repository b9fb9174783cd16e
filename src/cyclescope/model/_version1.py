"""Profiles of format version 1, which said nothing of what cycles are for: it followed from names.

What is here is what the views of that version took for granted. No source reads it.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from cyclescope.model._activity import Activity, Cause
from cyclescope.model._frame import Frame, Kind

if TYPE_CHECKING:
    from cyclescope.model._profile import Profile
    from cyclescope.model._series import Series

__all__ = ["with_meaning"]

_OF_KIND = {
    Kind.CELL: (Activity.CONTROL, Cause.OTHER),
    Kind.CONTROL: (Activity.CONTROL, Cause.OTHER),
    Kind.GROUP: (Activity.WORK, ""),
    Kind.PRIMITIVE: (Activity.WORK, ""),
    Kind.PROCESS: (Activity.WORK, ""),
    Kind.THREAD: (Activity.IDLE, ""),
}
_OF_STATE = {
    "running": (Activity.WORK, ""),
    "critical": (Activity.WORK, ""),
    "spinning": (Activity.WAITING, Cause.LOCK),
    "idle": (Activity.IDLE, ""),
}
_OF_METRIC = {"fsm": Cause.FSM, "par done": Cause.PAR_DONE}
_STALLS = re.compile("stalls: (.*)")


def with_meaning(profile: Profile) -> Profile:
    """A profile of version 1 with the activities that its names stood for."""
    catalog = tuple(_frame(frame) for frame in profile.catalog)
    for series in profile.series:
        _name(series)
    return replace(profile, catalog=catalog)


def _frame(frame: Frame) -> Frame:
    if frame.kind is Kind.STATE:
        activity, cause = _OF_STATE.get(frame.name, (Activity.UNKNOWN, ""))
    elif isinstance(frame.kind, Kind) and frame.kind in _OF_KIND:
        activity, cause = _OF_KIND[frame.kind]
    else:
        return frame
    return replace(frame, activity=activity, cause=str(cause), track=frame.kind is Kind.THREAD)


def _name(series: Series) -> None:
    """Give a counter its activity and cause, where its metric is one that has them."""
    if series.metric in _OF_METRIC:
        series.activity, series.cause = Activity.CONTROL, _OF_METRIC[series.metric]
    elif series.metric == "stall" and (stalls := _STALLS.fullmatch(series.name)):
        series.cause = stalls[1]
