"""The meaning of the states of other tools' traces: what the user calls work, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

from cyclescope.model import Activity

if TYPE_CHECKING:
    from collections.abc import Collection

__all__ = ["UNKNOWN", "WORK", "StateMeaning", "folded"]


class StateMeaning(TypedDict):
    """The part of a frame that says what its cycles are for."""

    activity: Activity
    cause: str


WORK = StateMeaning(activity=Activity.WORK, cause="")
UNKNOWN = StateMeaning(activity=Activity.UNKNOWN, cause="")


def folded(names: Collection[str]) -> dict[str, str]:
    """Names of states, by what tells them apart: neither capitals nor blanks do."""
    return {" ".join(name.split()).casefold(): name for name in names}
