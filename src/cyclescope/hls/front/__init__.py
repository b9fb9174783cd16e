"""C and OpenMP: from the text to a region.

In goes a translation unit of `cyclescope.c`; out comes, by way of its `Target`, what `lower` makes
of it: a `Lowered` region as the text has it, and which variables of the host it uses.
"""

from cyclescope.hls.front._heaps import HEAP, Cells, merged
from cyclescope.hls.front._printing import PRINTED, PrintCall, PrintedPlace
from cyclescope.hls.front._recursion import with_stacks
from cyclescope.hls.front._region import SIZE, TEAM, Lowered, lower
from cyclescope.hls.front._scopes import is_inside, visible
from cyclescope.hls.front._target import Target, find_target
from cyclescope.hls.front.omp._directives import Constants, MapItem, directives, meant
from cyclescope.hls.front.omp._taken import openmp_table
from cyclescope.hls.front.omp._task_races import task_races
from cyclescope.hls.front.omp._variants import with_variants

__all__ = [
    "HEAP",
    "PRINTED",
    "SIZE",
    "TEAM",
    "Cells",
    "Constants",
    "Lowered",
    "MapItem",
    "PrintCall",
    "PrintedPlace",
    "Target",
    "directives",
    "find_target",
    "is_inside",
    "lower",
    "meant",
    "merged",
    "openmp_table",
    "task_races",
    "visible",
    "with_stacks",
    "with_variants",
]
