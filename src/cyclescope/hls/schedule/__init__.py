"""The assignment of operations to stages.

In goes a region's root graph with ordered effects; out comes a `Schedule` for it and for each loop
inside. Latencies, functional units and ports are chosen here; the hardware is built by them.
"""

from cyclescope.hls.schedule._delays import varies
from cyclescope.hls.schedule._explain import costs, explained
from cyclescope.hls.schedule._ports import PORTS
from cyclescope.hls.schedule._schedule import schedule
from cyclescope.hls.schedule._units import unit_of

__all__ = [
    "PORTS",
    "costs",
    "explained",
    "schedule",
    "unit_of",
    "varies",
]
