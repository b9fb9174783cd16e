"""The objects that all simulations share: Verilator's runtime and the recorder, compiled once."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from cyclescope.errors import ToolError
from cyclescope.sim import _cache
from cyclescope.sim._design import cpp_source
from cyclescope.sim._toolchain import call

if TYPE_CHECKING:
    from pathlib import Path

    from cyclescope.sim._toolchain import Compiler, Verilator

__all__ = [
    "CXX_FLAGS",
    "LINK_FLAGS",
    "dpi_objects",
    "include_flags",
    "precompiled_header",
    "runtime_key",
    "runtime_objects",
]

CXX_FLAGS = (
    "-std=c++17",
    "-g0",
    "-w",
    "-pthread",
    "-DVERILATOR=1",
    "-DVM_COVERAGE=0",
    "-DVM_SC=0",
    "-DVM_TIMING=0",
    "-DVM_TRACE=0",
    "-DVM_TRACE_FST=0",
    "-DVM_TRACE_VCD=0",
    "-DVL_USER_FINISH",
    "-DVL_USER_STOP",
    "-DVL_USER_FATAL",
)
LINK_FLAGS = ("-pthread",)
VERILATORS = ("verilated.cpp", "verilated_threads.cpp")
OURS = ("recorder.cpp", "runtime.cpp")
HEADERS = ("recorder.h", "dictionary.h")
DPI = "verilated_dpi.cpp"
HEADER = '#include "verilated.h"\n#include "recorder.h"\n'


def include_flags(verilator: Verilator) -> tuple[str, ...]:
    """The compiler's flags for Verilator's headers."""
    include = verilator.root / "include"
    return (f"-I{include}", f"-I{include / 'vltstd'}")


def runtime_key(compiler: Compiler, verilator: Verilator) -> str:
    """A key of everything that goes into the runtime."""
    return _cache.content_key(
        compiler.identity,
        verilator.identity,
        str(verilator.root),
        *CXX_FLAGS,
        *LINK_FLAGS,
        HEADER,
        *(cpp_source(name) for name in (*HEADERS, *OURS)),
    )


def runtime_objects(compiler: Compiler, verilator: Verilator) -> list[Path]:
    """The objects that every design links with, compiled if the cache lacks them.

    Raises:
        ToolError: the compiler fails.
        OutputError: the cache cannot be written.
    """
    include = verilator.root / "include"

    def fill(folder: Path) -> None:
        for name in (*HEADERS, *OURS):
            (folder / name).write_text(cpp_source(name), "utf-8")
            if name in OURS:
                _compile(compiler, verilator, "-O3", folder / name, folder)
        # Nothing in here runs often: the shorter compilation is worth more.
        for name in VERILATORS:
            _compile(compiler, verilator, "-O1", include / name, folder)

    folder = _cache.entry(f"runtime-{runtime_key(compiler, verilator)}", fill)
    return sorted(folder.glob("*.o"))


def dpi_objects(compiler: Compiler, verilator: Verilator) -> list[Path]:
    """The further objects that a design with DPI functions links with.

    Raises:
        ToolError: the compiler fails.
        OutputError: the cache cannot be written.
    """

    def fill(folder: Path) -> None:
        _compile(compiler, verilator, "-O1", verilator.root / "include" / DPI, folder)

    return sorted(_cache.entry(f"dpi-{runtime_key(compiler, verilator)}", fill).glob("*.o"))


def _compile(
    compiler: Compiler, verilator: Verilator, optimise: str, source: Path, folder: Path
) -> None:
    call(
        [
            *(*compiler.command, *CXX_FLAGS, optimise, *include_flags(verilator)),
            *("-c", str(source), "-o", f"{source.stem}.o"),
        ],
        what="the C++ compiler",
        cwd=folder,
        makes=folder / f"{source.stem}.o",
        read=(verilator.root,),
    )


def precompiled_header(compiler: Compiler, verilator: Verilator, optimise: str) -> Path:
    """The header that a design's code includes first, precompiled where the compiler can.

    Raises:
        OutputError: the cache cannot be written.
    """

    def fill(folder: Path) -> None:
        (folder / "recorder.h").write_text(cpp_source("recorder.h"), "utf-8")
        (folder / "cyc.h").write_text(HEADER, "utf-8")
        # A compiler that cannot precompile reads the header itself: slower, as good.
        with suppress(ToolError):
            call(
                [
                    *(*compiler.command, *CXX_FLAGS, optimise, *include_flags(verilator)),
                    *("-x", "c++-header", "cyc.h", "-o", "cyc.h.gch"),
                ],
                what="the C++ compiler",
                cwd=folder,
                read=(verilator.root,),
            )

    key = _cache.content_key(runtime_key(compiler, verilator), optimise)
    return _cache.entry(f"header-{key}", fill) / "cyc.h"
