"""cyclescope: see where every clock cycle of a hardware accelerator goes.

>>> import cyclescope
>>> profile = cyclescope.load("run.cyc")          # doctest: +SKIP
>>> profile.cycles, profile.runs, profile.frames  # doctest: +SKIP
>>> profile.flamegraph(), profile.advise()        # doctest: +SKIP

`load` gives a `cyclescope.notebook.Profile`; its `frames`, `paths`, `trees`, `runs` and `counters`
are Polars frames, its pictures show themselves in a notebook. The parts of the package, in the
order in which data flows, are `model`, `sim`, `c`, `calyx`, `bounds`, `traces`, `analyse`, `views`
and `cli`.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]
import sys

# Started as a program, Ctrl-C just ends us until `__main__` can answer it: no traceback of modules
# half loaded. `signal` itself would take longer to load than all of this.
_is_program = sys.argv[:1] and (
    sys.argv[0].endswith("/cyclescope")
    or sys.orig_argv[-len(sys.argv) - 1 :][:2] == ["-m", "cyclescope"]
)
if _is_program and _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
    _signal.signal(_signal.SIGINT, _signal.SIG_DFL)

from typing import TYPE_CHECKING  # noqa: E402

from cyclescope.errors import CyclescopeError  # noqa: E402

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
