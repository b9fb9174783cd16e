"""The meaning of Calyx's frames and control registers, for every recorder (Petal, section 7)."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

from cyclescope.model._activity import Activity, Cause
from cyclescope.model._series import Series

if TYPE_CHECKING:
    from cyclescope.model._series import Bank

__all__ = ["CONTROL", "WORK", "control_register"]


class _Meaning(TypedDict):
    activity: Activity
    cause: str


CONTROL = _Meaning(activity=Activity.CONTROL, cause=Cause.OTHER.value)
"""Of a cell or a control block: where it is a leaf, nothing is done but to move on."""

WORK = _Meaning(activity=Activity.WORK, cause="")
"""Of a group or a primitive."""

_CAUSES = {"fsm": Cause.FSM, "par done": Cause.PAR_DONE}


def control_register(track: str, name: str, metric: str, bank: Bank, column: int) -> Series:
    """The values of a control register; its steps name the cause of cycles of control.

    Args:
        track: the instance to which it belongs, dotted.
        name: of the register, with its block.
        metric: `fsm` (a state) or `par done` (an arm of a `par` has ended).
        bank: its bank.
        column: where.
    """
    unit = "state" if metric == "fsm" else ""
    return Series.of_bank(
        track,
        name,
        metric,
        unit,
        -1,
        bank,
        column,
        activity=Activity.CONTROL,
        cause=_CAUSES[metric].value,
    )
