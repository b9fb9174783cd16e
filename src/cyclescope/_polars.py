"""Polars (`pl`, the extra `frames`), loaded where its frames are asked for."""

from __future__ import annotations

import os
import sys

from cyclescope._address_space import address_space, require_space
from cyclescope.errors import ToolError

__all__ = ["pl"]

if "polars" not in sys.modules and address_space():
    require_space("Polars, which makes frames,", 1024)  # with 900, it depends
    # Each thread more reserves more, on a large machine more than all the rest.
    os.environ.setdefault("POLARS_MAX_THREADS", "1")

try:
    import polars as pl
except ImportError:
    raise ToolError(
        "frames need Polars, which is not installed: pip install 'cyclescope[frames]'"
    ) from None
