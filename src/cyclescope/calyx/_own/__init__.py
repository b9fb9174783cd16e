"""Programs through a Calyx compiler of the user's own (`--compiler`, `$CALYX`)."""

from cyclescope.calyx._own._compiler import OwnCompiler, RefusalError, find_own_compiler
from cyclescope.calyx._own._plan import (
    compile_instrumented,
    compile_stock,
    print_after,
)

__all__ = [
    "OwnCompiler",
    "RefusalError",
    "compile_instrumented",
    "compile_stock",
    "find_own_compiler",
    "print_after",
]
