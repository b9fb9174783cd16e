"""The style in which a view shows what a cycle is for: a name, a colour and a shade for each use.

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

__all__ = ["SHADES", "UseStyle", "about_use", "colour_on_dark", "styles", "use_style"]

SHADES = "█▓▒░·"
"""What tells uses apart where there are no colours, in the order in which a view lists them."""


@dataclass(frozen=True, slots=True)
class UseStyle:
    """The style of a use.

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
    (Activity.WAITING, Cause.LOCK): ("#d2433a", True, "red"),
    (Activity.WAITING, Cause.BARRIER): ("#b5485f", True, "bright_red"),
    (Activity.WAITING, Cause.OPERAND): ("#e3a06f", False, "yellow"),
    (Activity.WAITING, Cause.RESOURCE): ("#c96f4a", False, "red"),
    (Activity.WAITING, Cause.CHANNEL): ("#b86b8f", False, "bright_red"),
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
_ON_DARK = {(Activity.IDLE, ""): "#6f747e"}
"""Colours for a dark page, of what would not be seen there."""

_NAMES = {
    (Activity.WORK, ""): "useful",
    (Activity.CONTROL, Cause.FSM): "control: FSM update",
    (Activity.CONTROL, Cause.PAR_DONE): "control: par-done update",
    (Activity.CONTROL, Cause.BOTH): "control: FSM and par-done update",
    (Activity.CONTROL, Cause.OTHER): "control: other",
}
_ABOUT = {
    (Activity.WORK, ""): "Something that does work is active: a group, a statement, an operation.",
    (Activity.WAITING, Cause.MEMORY): "The external memory has not answered yet. Fewer or wider "
    "requests, requests issued earlier and copies in local memory make it shorter.",
    (Activity.WAITING, Cause.ARBITRATION): "A request is ready to be issued, but another one is "
    "issued on the port in that cycle. Fewer or wider requests make it shorter.",
    (Activity.WAITING, Cause.LOCK): "Another thread is in the critical section. A shorter section, "
    "an atomic operation or a sum for each thread makes it shorter.",
    (Activity.WAITING, Cause.BARRIER): "Other threads have not reached the barrier yet: their "
    "work is uneven.",
    (Activity.WAITING, Cause.OPERAND): "A value that it needs is not computed yet.",
    (Activity.WAITING, Cause.RESOURCE): "Its values are there; the operator or port that it needs "
    "is taken.",
    (Activity.WAITING, Cause.CHANNEL): "A result is computed, but a channel that it goes to is "
    "full.",
    (Activity.WAITING, Cause.MESSAGE): "A message of another process has not arrived yet.",
    (Activity.WAITING, Cause.INNER_LOOP): "An outer loop's stage waits for the loop inside it.",
    (Activity.WAITING, Cause.THREAD_START): "The thread is not started yet: they are started one "
    "after the other.",
    (Activity.CONTROL, Cause.FSM): "Nothing works while a control block goes from one state to the "
    "next. Static control, larger groups and less nesting make it shorter.",
    (Activity.CONTROL, Cause.PAR_DONE): "Nothing works while a `par` notes that an arm has ended. "
    "Arms that exclude each other, or are very short, need no `par`.",
    (Activity.CONTROL, Cause.BOTH): "Nothing works while a state register and a `par` take a step "
    "at once.",
    (Activity.CONTROL, Cause.OTHER): "Control is active, but no register of it takes a step: it "
    "waits for what it has started to begin or to be done.",
    (Activity.UNKNOWN, ""): "The profile does not say what it is for.",
    (Activity.IDLE, ""): "It has nothing to do: not begun yet, or done already.",
}
_ABOUT_ACTIVITY = {
    Activity.WAITING: "It waits: the cause is named by the source of the profile.",
    Activity.CONTROL: "Nothing works, control is active: the cause is named by the source of the "
    "profile.",
}


def use_style(use: Use) -> UseStyle:
    """Return the style of one use."""
    key = (use.activity, use.cause)
    name = _NAMES.get(key, use.label)
    if key in _KNOWN:
        return UseStyle(name, *_KNOWN[key])
    colours, terminal = _OTHERS.get(use.activity, (("#d5d8dd",), "white"))
    return UseStyle(name, colours[crc32(use.cause.encode()) % len(colours)], False, terminal)


def colour_on_dark(use: Use) -> str:
    """A use's colour on a dark page, as CSS has it."""
    return _ON_DARK.get((use.activity, use.cause), use_style(use).colour)


def about_use(use: Use) -> str:
    """Explain a use to a stranger, and what makes it shorter where that can be said."""
    known = _ABOUT.get((use.activity, use.cause))
    return known or _ABOUT_ACTIVITY.get(use.activity, _ABOUT[Activity.UNKNOWN, ""])


def styles(uses: Iterable[Use]) -> dict[Use, UseStyle]:
    """Return the style of each of several uses."""
    return {use: use_style(use) for use in uses}
