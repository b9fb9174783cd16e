"""The tools that the extras bring: which of them this machine lacks."""

from __future__ import annotations

from cyclescope.errors import ToolError
from cyclescope.sim import find_yosys


def _missing() -> bool:
    try:
        find_yosys()
    except ToolError:
        return True
    return False


NO_YOSYS = _missing()
"""True where there is no Yosys that is new enough, on PATH or in a package."""
