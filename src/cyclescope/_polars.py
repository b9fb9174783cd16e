"""Polars (`pl`), loaded where its tables are needed, and only where the address space suffices."""

from __future__ import annotations

import os
import sys

from cyclescope._address_space import address_space, require_space

__all__ = ["pl"]

if "polars" not in sys.modules and address_space():
    require_space("Polars, which makes tables for other tools,", 1024)  # with 900, it depends
    # Each thread more reserves more, on a large machine more than all the rest.
    os.environ.setdefault("POLARS_MAX_THREADS", "1")

import polars as pl
