"""How a view shows what a cycle is for: a name, a colour and a shade for each use.

Every view takes them from here, so that a cause has one colour everywhere. Causes that nobody here
knows get a colour of their activity's, always the same one for the same name.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from zlib import crc32

from cyclescope.model import Activity, Cause

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cyclescope.analyse import Use

__all__ = ["SHADES", "UseStyle", "styles", "use_style"]

SHADES = "█▓▒░·"
"""What tells uses apart where there are no colours, in the order in which a view lists them."""


@dataclass(frozen=True, slots=True)
class UseStyle:
    """How a use is shown.

    Attributes:
        name: for people.
        colour: of a picture, as CSS has it.
        dark: whether text on it is white.
        terminal: Rich's style.
    """

    name: str
    colour: str
    dark: bool
    terminal: str


# Work green and idle dark as in the pictures of Nymble and Paraver (section V-C), what waits red to
# yellow, control violet to blue.
_KNOWN = {
    (Activity.WORK, ""): ("#4f9d69", False, "green"),
    (Activity.WAITING, Cause.MEMORY): ("#e08a3c", False, "yellow"),
    (Activity.WAITING, Cause.ARBITRATION): ("#c9a227", False, "bright_yellow"),
    (Activity.WAITING, Cause.LOCK): ("#d9493f", True, "red"),
    (Activity.WAITING, Cause.BARRIER): ("#b5485f", True, "bright_red"),
    (Activity.WAITING, Cause.OPERAND): ("#e3a06f", False, "yellow"),
    (Activity.WAITING, Cause.RESOURCE): ("#c96f4a", False, "red"),
    (Activity.WAITING, Cause.MESSAGE): ("#e07a5f", False, "red"),
    (Activity.WAITING, Cause.INNER_LOOP): ("#d9b48f", False, "bright_yellow"),
    (Activity.WAITING, Cause.THREAD_START): ("#b08968", False, "yellow"),
    (Activity.CONTROL, Cause.FSM): ("#7e6bb5", True, "magenta"),
    (Activity.CONTROL, Cause.PAR_DONE): ("#5b8fc9", False, "blue"),
    (Activity.CONTROL, Cause.BOTH): ("#a05195", True, "bright_magenta"),
    (Activity.CONTROL, Cause.OTHER): ("#9aa0a8", False, "bright_black"),
    (Activity.UNKNOWN, ""): ("#d5d8dd", False, "white"),
    (Activity.IDLE, ""): ("#4b4f57", True, "bright_black"),
}
_OTHERS = {
    Activity.WAITING: (("#e5989b", "#cf8e80", "#f2b56b", "#b56576"), "red"),
    Activity.CONTROL: (("#9d8ec7", "#7fa3c9", "#b58db6", "#8896ab"), "magenta"),
}
_NAMES = {
    (Activity.WORK, ""): "useful",
    (Activity.CONTROL, Cause.FSM): "control: FSM update",
    (Activity.CONTROL, Cause.PAR_DONE): "control: par-done update",
    (Activity.CONTROL, Cause.BOTH): "control: FSM and par-done update",
    (Activity.CONTROL, Cause.OTHER): "control: other",
}


def use_style(use: Use) -> UseStyle:
    """How to show one use."""
    key = (use.activity, use.cause)
    name = _NAMES.get(key, use.label)
    if key in _KNOWN:
        return UseStyle(name, *_KNOWN[key])
    colours, terminal = _OTHERS.get(use.activity, (("#d5d8dd",), "white"))
    return UseStyle(name, colours[crc32(use.cause.encode()) % len(colours)], False, terminal)


def styles(uses: Iterable[Use]) -> dict[Use, UseStyle]:
    """How to show each of several."""
    return {use: use_style(use) for use in uses}
