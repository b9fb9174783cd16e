"""The arguments that a program passes to its kernel, for extents: it runs once before."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cyclescope._files import scratch
from cyclescope.bounds._counters import declared
from cyclescope.bounds._native import MOST_CALLS, compile_c, execute
from cyclescope.c import Name, Scalar, walk
from cyclescope.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cyclescope.bounds._host import Host
    from cyclescope.c import Function, Range, Variable

__all__ = ["passed_extents"]

_TEXT = """#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int cyclescope_inside;
static FILE *file;
static long long call, wanted;
void cyclescope_before(void **args)
{
    if (!file) {
        file = fopen(getenv("CYCLESCOPE_CALLS"), "wb");
        wanted = strtoll(getenv("CYCLESCOPE_CALL"), 0, 10);
        if (!file) _exit(4);
    }
    call++;
    if (wanted ? call == wanted : call <= MOST) {
        long long row[] = {VALUES};
        fwrite(row, sizeof row, 1, file);
        fflush(file);
    }
    if (wanted ? call == wanted : call >= MOST) _exit(0);
}
void cyclescope_after(void **args, void *value) {}
"""


def passed_extents(host: Host, arguments: Sequence[str], call: int) -> dict[str, int | float]:
    """The values of a kernel's parameters that extents in it are made of.

    Args:
        host: the user's program.
        arguments: what its `main` gets.
        call: of the kernel, from 1; 0: all, which must have the same.

    Raises:
        SourceError: an extent differs from call to call.
    """
    wanted = _in_extents(host.kernel)
    if not wanted:
        return {}
    params = [(n, p) for n, p in enumerate(host.kernel.params) if p in wanted]
    values = ", ".join(f"*({p.type} *)args[{n}]" for n, p in params)
    text = _TEXT.replace("VALUES", values).replace("MOST", str(MOST_CALLS))
    with scratch("bounds") as folder:
        program, noted = folder / "probe", folder / "calls"
        compile_c(text, program, ["-O1", "-Wl,--gc-sections"], host.compile(folder))
        settings = {"CYCLESCOPE_CALLS": str(noted), "CYCLESCOPE_CALL": str(call)}
        execute([str(program), *arguments], host.kernel.name, settings, host.readable(arguments))
        if not noted.exists():
            return {}  # what is wrong with the program is said when it runs for its figures
        rows = np.fromfile(noted, dtype=np.int64).reshape(-1, len(params))
    found: dict[str, int | float] = {}
    for (_, param), column in zip(params, rows.T.tolist(), strict=True):
        if len(set(column)) > 1:
            some = ", ".join(map(str, sorted(set(column))[:3]))
            raise SourceError(
                f"{wanted[param]}: an extent of {param.name}, which differs from call to call of "
                f"{host.kernel.name} ({some}), is not supported here; choose one with --call N"
            )
        if column:
            found[param.name] = column[0]
    return found


def _in_extents(kernel: Function) -> dict[Variable, Range]:
    """The whole parameters of which a kernel's extents are made, each with a place."""
    return {
        node.variable: variable.where
        for variable in declared(kernel)
        for extent in variable.extents
        for node in walk(extent)
        if isinstance(node, Name) and node.variable in kernel.params
        if isinstance(node.variable.type, Scalar) and not node.variable.type.is_float
    }
