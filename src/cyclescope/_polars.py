"""Polars (`pl`), loaded where its tables are needed, and only where there is room for it.

It starts threads as it is loaded, and ends the process, in its own words, if it cannot.
"""

from __future__ import annotations

import os
import sys

from cyclescope._address_space import address_space, limited_to
from cyclescope.errors import ToolError

__all__ = ["pl"]

_LEAST_MB = 1024  # of address space; with 900 it may or may not do, by what is where

if "polars" not in sys.modules and (limit := address_space()):
    if limit < _LEAST_MB << 20:
        raise ToolError(
            f"out of memory: {limited_to()}, and Polars, which makes tables for other tools, needs"
            f" {_LEAST_MB:,} MB; allow more"
        )
    # Each thread more reserves more, on a large machine more than all the rest.
    os.environ.setdefault("POLARS_MAX_THREADS", "1")

import polars as pl  # noqa: E402
