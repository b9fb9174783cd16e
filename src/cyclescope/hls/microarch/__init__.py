"""From schedules to hardware: pipelines, memories, locks.

In goes a region with its schedules; out comes a `Machine`: Verilog, and what its nets mean. A
`Core` is the datapath around which a machine is built. The constants of the memory are said here.
"""

from cyclescope.hls.microarch._machine import Access, Core, Machine, build_machine, machine_around
from cyclescope.hls.microarch._memory import Traffic
from cyclescope.hls.microarch._params import (
    ADDRESS,
    BANK_BITS,
    BANKS,
    FOLD,
    LINE,
    LINE_BITS,
    OFFSET,
    bank_of,
)
from cyclescope.hls.microarch._parts import either, tid_width
from cyclescope.hls.microarch._peaks import peaks_of
from cyclescope.hls.microarch._pipeline import Pipeline

__all__ = [
    "ADDRESS",
    "BANKS",
    "BANK_BITS",
    "FOLD",
    "LINE",
    "LINE_BITS",
    "OFFSET",
    "Access",
    "Core",
    "Machine",
    "Pipeline",
    "Traffic",
    "bank_of",
    "build_machine",
    "either",
    "machine_around",
    "peaks_of",
    "tid_width",
]
