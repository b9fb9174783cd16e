"""Sites: the places of a program that matter to what its cycles are spent on, as types.

Who knows the program writes them down (a source that has parsed it); counters point at them by
number, advice reads them. An attribute that is not known is None.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

from cyclescope.model._frame import Position
from cyclescope.model._types import check_types

__all__ = [
    "SITES",
    "Access",
    "Barrier",
    "CallSite",
    "Lock",
    "Loop",
    "Site",
    "site_from_json",
    "site_to_json",
]


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop.

    Attributes:
        function: in which it is.
        position: of its first line.
        trips: iterations of one execution, or the mean's floor where executions differ.
        interval: cycles from one iteration's start to the next one's, as scheduled.
        path: the call path of its own frame, -1 if it has none.
    """

    function: str
    position: Position | None = None
    trips: int | None = None
    interval: int | None = None
    path: int = -1

    @property
    def label(self) -> str:
        """The text for people."""
        return "loop"


@dataclass(frozen=True, slots=True)
class Access:
    """A read or write of an array.

    Attributes:
        function: in which it is.
        array: its name.
        position: of the expression.
        writes: it is a write.
        width: bytes that one access moves; None of a copy.
        stride: bytes from one access to the next in the innermost loop around it.
        dependence: iterations of that loop until an access that depends on this one.
        loop: the number of that loop among the sites, -1 for none.
        copies: it is a copy of a range to this array, from the memory.
    """

    function: str
    array: str
    position: Position | None = None
    writes: bool = False
    width: int | None = None
    stride: int | None = None
    dependence: int | None = None
    loop: int = -1
    copies: bool = False

    @property
    def label(self) -> str:
        """The text for people: `load of A`."""
        verb = "copy to" if self.copies else "store to" if self.writes else "load of"
        return f"{verb} {self.array}"


@dataclass(frozen=True, slots=True)
class Lock:
    """A critical section, or a lock's acquisition."""

    function: str
    name: str = ""
    position: Position | None = None

    @property
    def label(self) -> str:
        """The text for people."""
        return f"lock {self.name}".strip()


@dataclass(frozen=True, slots=True)
class Barrier:
    """A place at which threads wait for each other."""

    function: str
    position: Position | None = None

    @property
    def label(self) -> str:
        """The text for people."""
        return "barrier"


@dataclass(frozen=True, slots=True)
class CallSite:
    """A place that calls or starts another function, loop nest or unit."""

    function: str
    called: str
    position: Position | None = None

    @property
    def label(self) -> str:
        """The text for people."""
        return f"call of {self.called}"


Site: TypeAlias = "Loop | Access | Lock | Barrier | CallSite"

SITES: dict[str, type[Site]] = {
    "loop": Loop,
    "access": Access,
    "lock": Lock,
    "barrier": Barrier,
    "call": CallSite,
}
"""Kinds of site by their names in a file."""


def site_to_json(site: Site) -> dict[str, Any]:
    """A site as JSON values, its kind under `site`."""
    name = next(name for name, kind in SITES.items() if kind is type(site))
    return {"site": name, **asdict(site)}


def site_from_json(entry: dict[str, Any]) -> Site:
    """What `site_to_json` gave.

    Raises:
        KeyError, TypeError, LawError: it is no site.
    """
    if not isinstance(entry, dict):
        raise TypeError(f"{entry!r} is no site")
    values = {name: value for name, value in entry.items() if name != "site"}
    if values.get("position") is not None:
        values["position"] = Position(**values["position"])
    site = SITES[entry["site"]](**values)
    check_types(site)
    return site
