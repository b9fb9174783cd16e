"""The limit of our address space: libraries do not say that it was too small."""

from __future__ import annotations

import resource
from contextlib import suppress
from pathlib import Path

from cyclescope.errors import ToolError

__all__ = ["address_space", "is_near", "limited_to", "require_space"]

_LARGEST = 512 << 20  # bytes that the largest library takes


def address_space() -> int:
    """The limit in bytes; 0 if there is none."""
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return 0 if limit == resource.RLIM_INFINITY else limit


def is_near() -> bool:
    """Return whether what is taken and the largest library together come to the limit."""
    limit = address_space()
    with suppress(OSError):
        taken = int(Path("/proc/self/statm").read_text("utf-8").split()[0])
        return 0 < limit <= taken * resource.getpagesize() + _LARGEST
    return limit > 0


def limited_to() -> str:
    """Describe the limit to a user."""
    return f"the address space is limited to {address_space() >> 20} MB (ulimit -v)"


def require_space(library: str, megabytes: int) -> None:
    """Say before a library is loaded that it would not find what it needs.

    For those that end the process then, in their own words.

    Args:
        library: its name, and what it is for.
        megabytes: of address space that it needs, with all the rest.

    Raises:
        ToolError: there are fewer.
    """
    if 0 < address_space() < megabytes << 20:
        raise ToolError(
            f"out of memory: {limited_to()}, and {library} needs {megabytes:,} MB; allow more"
        )
