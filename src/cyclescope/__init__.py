"""cyclescope: see where every clock cycle of a hardware accelerator goes.

>>> import cyclescope
>>> profile = cyclescope.load("run.cyc")          # doctest: +SKIP
>>> profile.cycles, profile.runs, profile.frames  # doctest: +SKIP

`load` gives a `cyclescope.model.Profile`; its `frames`, `paths`, `trees`, `runs` and `counters`
are Polars frames. The rooms of the package, in the order in which data flows, are `model`,
`sim`, `c`, `calyx`, `bounds`, `hls`, `traces`, `analyse`, `views` and `cli`.
"""

from cyclescope.errors import CyclescopeError
from cyclescope.model import Profile, load, save

__all__ = ["CyclescopeError", "Profile", "__version__", "load", "save"]

__version__ = "0.1.0"
