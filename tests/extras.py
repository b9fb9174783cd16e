"""Whether the tools that the package's extras bring are on this machine."""

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
"""Whether no Yosys is there that is new enough, on PATH or in a package."""
