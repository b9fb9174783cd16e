"""cyclescope: see where every clock cycle of a hardware accelerator goes.

>>> import cyclescope
>>> profile = cyclescope.load("run.cyc")          # doctest: +SKIP
>>> profile.cycles, profile.runs, profile.frames  # doctest: +SKIP

`load` gives a `cyclescope.model.Profile`; its `frames`, `paths`, `trees`, `runs` and `counters`
are Polars frames. The rooms of the package, in the order in which data flows, are `model`,
`sim`, `c`, `calyx`, `bounds`, `traces`, `analyse`, `views` and `cli`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope.errors import CyclescopeError

if TYPE_CHECKING:
    from cyclescope.model import Profile, load, save

__all__ = ["CyclescopeError", "Profile", "__version__", "load", "save"]

__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    # The model needs NumPy, which takes longer to load than most commands' help to print.
    if name in {"Profile", "load", "save"}:
        from cyclescope import model

        return getattr(model, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
