"""The kernel's own text, compiled plainly and run on the same data: the check of the values."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from cyclescope._files import scratch
from cyclescope.bounds._contents import dtype_of
from cyclescope.bounds._forms import literal
from cyclescope.bounds._native import compile_c, execute
from cyclescope.c import Pointer, Scalar
from cyclescope.errors import RunError, SourceError

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from cyclescope.bounds._estimate import Bounds

__all__ = ["differences", "native_run"]


def native_run(
    bounds: Bounds,
    *,
    defines: Mapping[str, str] | None = None,
    include: Sequence[str | os.PathLike[str]] = (),
    optimise: str = "-O2",
) -> tuple[dict[int, bytes], float]:
    """Compile the user's file as it is, and call the kernel on the data of the estimate's run.

    Args:
        bounds: made with `values=True`.
        defines: macros, besides those of the calibration.
        include: header folders.
        optimise: the compiler's level.

    Returns:
        What each parameter and global holds afterwards, by storage, and the seconds of
        processor time that the kernel took.

    Raises:
        SourceError: the kernel takes or uses what cannot be handed over (structs, static locals).
        ToolError: the file does not compile with the system's headers.
        RunError: it crashed.
    """
    network = bounds.network
    outer = [s for s in network.storages if s.is_outer]
    function = bounds.unit.functions[network.kernel]
    for storage in outer:
        known = storage.role == "param" or storage.name in bounds.unit.variables
        if "." in storage.name or not known:
            raise SourceError(
                f"{storage.where}: {storage.name} cannot be handed to a plain run; "
                f"verify kernels whose arrays are parameters or globals"
            )
    lines = ["#define main cyclescope_user_main", f'#include "{_quoted(bounds.unit.file)}"']
    lines += ["#undef main", "#include <stdio.h>", "#include <time.h>"]
    lines += [f"static {s.type} arg{s.index}[{s.size}];" for s in outer if s.role == "param"]
    lines.append("int main(int argc, char **argv) {")
    lines.append(
        'FILE *in = fopen(argv[1], "rb"), *out = fopen(argv[2], "wb"); if (!in || !out) return 4;'
    )
    names = {s.index: f"arg{s.index}" if s.role == "param" else f"&{s.name}" for s in outer}
    for s in outer:
        lines.append(
            f"if (fread({names[s.index]}, sizeof({s.type}), {s.size}, in) != {s.size}) return 4;"
        )
    arguments = []
    by_name = {s.name: s for s in outer if s.role == "param"}
    for param in function.params:
        if isinstance(param.type, Scalar):
            value = network.scalars.get(param.name, 1.5)
            arguments.append(literal(value, param.type))
        else:
            target = str(param.type.target) if isinstance(param.type, Pointer) else "void"
            arguments.append(f"({target} *)arg{by_name[param.name].index}")
    lines.append("struct timespec a, b; clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);")
    lines.append(f"{network.kernel}({', '.join(arguments)});")
    lines.append("clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);")
    lines.append("double seconds = (b.tv_sec - a.tv_sec) + 1e-9 * (b.tv_nsec - a.tv_nsec);")
    lines += [f"fwrite({names[s.index]}, sizeof({s.type}), {s.size}, out);" for s in outer]
    lines.append("fwrite(&seconds, sizeof seconds, 1, out); return fclose(out) ? 4 : 0; }")
    with scratch("native") as folder:
        flags = [optimise, "-ffunction-sections", "-Wl,--gc-sections"]
        macros = {**bounds.calibration.defines, **(defines or {})}
        flags += [f"-D{k}={v}" for k, v in macros.items()]
        folders = [Path(path) for path in (*include, Path(bounds.unit.file).parent)]
        flags += [f"-I{path}" for path in folders]
        compile_c("\n".join(lines) + "\n", folder / "native", flags, read=folders)
        initial = b"".join(bounds.records.initial[s.index] for s in outer)
        (folder / "in").write_bytes(initial)
        command = [str(folder / "native"), str(folder / "in"), str(folder / "out")]
        status = execute(command, network.kernel)
        if status:
            raise RunError(f"{network.kernel}: its plain run failed (status {status})")
        raw = (folder / "out").read_bytes()
    values: dict[int, bytes] = {}
    position = 0
    for s in outer:
        size = s.size * dtype_of(s.type).itemsize
        values[s.index] = raw[position : position + size]
        position += size
    return values, float(np.frombuffer(raw[position:], dtype=np.float64)[0])


def differences(bounds: Bounds, native: dict[int, bytes]) -> list[str]:
    """Names of arrays whose values in the two runs aren't the same, bit for bit."""
    return [
        storage.name
        for storage in bounds.network.storages
        if storage.index in native and native[storage.index] != bounds.records.final[storage.index]
    ]


def _quoted(file: str) -> str:
    return str(Path(file).resolve()).replace("\\", "\\\\").replace('"', '\\"')
