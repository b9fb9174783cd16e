"""cyclescope: see where every clock cycle of a hardware accelerator goes.

>>> import cyclescope
>>> profile = cyclescope.load("run.cyc")          # doctest: +SKIP
>>> profile.cycles, profile.runs, profile.frames  # doctest: +SKIP
>>> profile.flamegraph(), profile.advise()        # doctest: +SKIP

`load` gives a `cyclescope.notebook.Profile`; its `frames`, `paths`, `trees`, `runs` and `counters`
are Polars frames, its pictures show themselves in a notebook. The rooms of the package, in the
order in which data flows, are `model`, `sim`, `c`, `calyx`, `bounds`, `traces`, `analyse`, `views`
and `cli`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope.errors import CyclescopeError

if TYPE_CHECKING:
    from cyclescope.model import save
    from cyclescope.notebook import Profile, load

__all__ = ["CyclescopeError", "Profile", "__version__", "load", "save"]

__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    # The model needs NumPy, which takes longer to load than most commands' help to print.
    if name == "save":
        from cyclescope.model import save

        return save
    if name in {"Profile", "load"}:
        from cyclescope import notebook

        return getattr(notebook, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
