"""The constructs of C that the tools refuse: one list, from which each of them speaks.

The front end reads all of C; what a tool cannot take is refused as a `Construct` of this list,
which says for each tool why. docs/c-language.md has the list as a table.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, StrEnum
from typing import TYPE_CHECKING

from cyclescope.errors import SourceError

if TYPE_CHECKING:
    from cyclescope.c._tree import Range

__all__ = ["Construct", "Tool", "refusal", "refused_table"]


class Tool(StrEnum):
    """The tools that take C."""

    BOUNDS = "bounds"
    HLS = "hls"


@dataclass(frozen=True, slots=True)
class _Refused:
    """The reasons for which a construct is refused; an empty reason says that the tool takes it."""

    title: str
    instead: str
    bounds: str = ""
    hls: str = ""


_NO_MODEL = "no operator of the model has such operands"
_NO_UNIT = "there is no arithmetic unit for it"
_NO_STACK = "hardware has no stack"
_NO_TARGET = "the callee isn't known before it runs"
_LAYOUT = "two numbers may overlap in part"
_NO_NODE = "the front end's tree has no node for it"
_UNKNOWN = "it isn't known what it does"


class Construct(Enum):
    """The constructs of C that some tool refuses."""

    RECURSION = _Refused("recursion", "write a loop", _NO_STACK)
    UNION = _Refused("a union", "use a struct", _LAYOUT)
    PACKED = _Refused("a bit-field or packed struct", "use whole fields", _LAYOUT)
    NUMBER = _Refused(
        "a number of another type than 8 to 64 bits, float and double",
        "use one of those", _NO_MODEL, _NO_UNIT,
    )  # fmt: skip
    VECTOR = _Refused(
        "a vector", "use an array", "a token is one number, and a vector's lanes share one",
    )  # fmt: skip
    FUNCTION_POINTER = _Refused(
        "a function's address", "call it by its name", _NO_TARGET, _NO_TARGET
    )
    NO_BODY = _Refused("a call without a body", "give its text", _UNKNOWN, _UNKNOWN)
    MATHS = _Refused(
        "a function of math.h that has no arithmetic unit",
        "compute it on the host's side, or give its text",
        hls="there are units for sqrt, exp, log, sin, cos, tanh, minima, maxima and rounding only, "
        "for powf, and for pow with a constant exponent of 2 or -1",
    )  # fmt: skip
    FMA = _Refused("fma", "write a * b + c, rounded twice", hls=_NO_UNIT)
    ASSEMBLY = _Refused("inline assembly", "write C", _UNKNOWN, _UNKNOWN)
    GOTO = _Refused(
        "goto into a statement", "use if, for, while and do",
        hls="control is made of nested graphs, into which nothing jumps",
    )  # fmt: skip
    SWITCH = _Refused(
        "a switch with a range of more than 256 values, or with labels inside of other statements",
        "write each case as a statement of the switch",
        _NO_NODE, _NO_NODE,
    )  # fmt: skip
    INITIAL = _Refused(
        "a local array of more than 1,024 elements with an initial value", "fill it in a loop",
        hls="each would be a store of its own",
    )  # fmt: skip
    STRING = _Refused("a string as a value", "use an array", _NO_MODEL)
    COMPOUND = _Refused("a compound literal of an array", "declare a variable", _NO_NODE, _NO_NODE)
    OTHER = _Refused(
        "what C11 or GNU C adds (`({…})`, `_Generic`, anonymous members, …)",
        "write it with plain C operators and statements", _NO_NODE, _NO_NODE,
    )  # fmt: skip

    @property
    def title(self) -> str:
        """The construct, with its article."""
        return self.value.title

    @property
    def instead(self) -> str:
        """The text to write in its place."""
        return self.value.instead

    def reason(self, tool: Tool) -> str:
        """The reason for which a tool refuses it; empty if it takes it."""
        return self.value.bounds if tool is Tool.BOUNDS else self.value.hls


def refusal(construct: Construct, tool: Tool, where: Range, what: str = "") -> SourceError:
    """The error for a construct that a tool refuses.

    Args:
        construct: what the list has.
        tool: who refuses it; the list must say so.
        where: the place.
        what: what it is here, if that says more than the list.
    """
    reason = construct.reason(tool)
    assert reason, (construct, tool)
    named = what or construct.title
    return SourceError(f"{where}: {named} is not supported: {reason}; {construct.instead}")


def refused_table() -> str:
    """The list as a Markdown table."""
    rows = [
        f"| {c.title} | {c.reason(Tool.BOUNDS) or 'taken'} | {c.reason(Tool.HLS) or 'taken'} | "
        f"{c.instead} |"
        for c in Construct
    ]
    return "\n".join(["| | `bounds` | `hls` | instead |", "|---|---|---|---|", *rows, ""])
