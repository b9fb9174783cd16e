"""A kernel's process network as hardware, beside the bounds of the same kernel.

What `bounds` speaks of is built: each process a module with its pipelined function, its loop
counters and its choice of channels; each dependence a FIFO, or a reordering buffer where values
are read in another order than they are written in; sources and sinks for the arrays. It runs in
simulation, every result is compared with the native run, and what each process did in each cycle
is a Profile.

    bounds = estimate("atax.c", detail=True, values=True, trace=True)
    measured = measure(bounds)
    measured.cycles, measured.depths.tokens
"""

from cyclescope.network._area import with_areas
from cyclescope.network._channels import Channel, Input, Network, Station, network_of, with_figures
from cyclescope.network._depths import Depths, Point, depth_curve, least_depths
from cyclescope.network._measure import Measurement, files_of, measure, write_files
from cyclescope.network._profile import flows_of
from cyclescope.network._report import report_dict, report_text
from cyclescope.network._simulate import Simulation, simulate
from cyclescope.network._timing import Timing
from cyclescope.network._top import Hardware, hardware_of

__all__ = [
    "Channel",
    "Depths",
    "Hardware",
    "Input",
    "Measurement",
    "Network",
    "Point",
    "Simulation",
    "Station",
    "Timing",
    "depth_curve",
    "files_of",
    "flows_of",
    "hardware_of",
    "least_depths",
    "measure",
    "network_of",
    "report_dict",
    "report_text",
    "simulate",
    "with_areas",
    "with_figures",
    "write_files",
]
