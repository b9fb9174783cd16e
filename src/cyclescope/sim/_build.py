"""From Verilog to a program: verilate, compile as one C++ file, link with a runtime built once."""

from __future__ import annotations

import json
import re
import shutil
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cyclescope.errors import RunError, ToolError
from cyclescope.sim import _cache
from cyclescope.sim._phases import phase
from cyclescope.sim._probe import lay_out, layout_text, probe_verilog
from cyclescope.sim._runtime import (
    CXX_FLAGS,
    LINK_FLAGS,
    dpi_objects,
    include_flags,
    precompiled_header,
    runtime_key,
    runtime_objects,
)
from cyclescope.sim._toolchain import call, end_calls, find_compiler, find_verilator

if TYPE_CHECKING:
    from collections.abc import Iterable
    from concurrent.futures import Future
    from pathlib import Path

    from cyclescope.sim._design import Design
    from cyclescope.sim._toolchain import Compiler, Verilator

__all__ = ["Built", "build"]

VERILATOR_FLAGS = (
    "--cc",
    "-O3",
    "--x-assign",
    "fast",
    "--x-initial",
    "fast",
    "--no-timing",
    "--converge-limit",
    "1000",
    "--output-split",
    "0",
    # Some of a compiler's passes take time with the square of a function's length: 2 MB of Verilog
    # compile in half the time of 3000, and what runs is as fast.
    "--output-split-cfuncs",
    "500",
    "-Wno-fatal",
    "-Wno-lint",
    "-Wno-style",
    "-Wwarn-UNOPTFLAT",
    "--quiet",
    "--prefix",
    "Vcyc",
)


# What runs once, before the first cycle, is a third of a design's code.
SLOW = """\
#ifdef __clang__
#pragma clang optimize off
#else
#pragma GCC push_options
#pragma GCC optimize("O0")
#endif
{includes}#ifdef __clang__
#pragma clang optimize on
#else
#pragma GCC pop_options
#endif
"""


@dataclass(frozen=True, slots=True)
class Built:
    """A design as a program.

    Attributes:
        program: the executable, in the user's cache.
        design: what it was built from.
        loops: signals on circular combinational paths, as Verilator names them.
    """

    program: Path
    design: Design
    loops: tuple[str, ...]


def build(design: Design, *, optimise: str = "-O1") -> Built:
    """Builds a design, or finds it in the cache.

    The cache knows it by its sources, capture, testbench, compiler, Verilator and flags.

    Args:
        design: what to build.
        optimise: the C++ compiler's optimisation flag for the design's own code.

    Raises:
        ToolError: a compiler is missing or rejects the design.
        OutputError: the cache cannot be written.
        RunError: the capture is not possible as asked.
    """
    compiler, verilator = find_compiler(), find_verilator()
    layouts = [lay_out(m) for m in design.capture]
    for module in design.capture:
        # Verilator passes over a `bind` to a module that is not there.
        head = re.compile(rf"\bmodule\s+{re.escape(module.module)}\b")
        if not any(head.search(text) for text in design.sources.values()):
            raise RunError(f"{module.module}: no source has this module, so nothing to capture")
    bench = design.bench
    sources = dict(design.sources)
    ours = {"cyc_probe.sv": probe_verilog(design.capture, layouts), "cyc_top.sv": bench.verilog}
    for name, text in ours.items():
        if name in sources:
            raise RunError(f"{name}: this name is taken; rename the source")
        if text:
            sources[name] = text
    job = _Job(
        compiler,
        verilator,
        optimise,
        sources,
        bench.top,
        bench.cpp,
        layout_text(layouts, bench.scope),
    )
    key = _cache.content_key(
        runtime_key(compiler, verilator),
        optimise,
        *VERILATOR_FLAGS,
        SLOW,
        *(part for item in sources.items() for part in item),
        job.top,
        job.main,
        job.layout,
    )
    folder = _cache.entry(f"design-{key}", job.fill)
    loops = json.loads((folder / "loops.json").read_text("utf-8"))
    return Built(folder / "sim", design, tuple(loops))


@dataclass(frozen=True, slots=True)
class _Job:
    compiler: Compiler
    verilator: Verilator
    optimise: str
    sources: dict[str, str]
    top: str
    main: str
    layout: str

    def fill(self, folder: Path) -> None:
        """Builds in `folder`; leaves the program and the names of loops."""
        with ThreadPoolExecutor(1) as pool:
            # The longest part of a machine's first build; nothing but the link waits for it.
            objects = pool.submit(runtime_objects, self.compiler, self.verilator)
            try:
                self._compile(folder, objects)
            except KeyboardInterrupt:
                # The pool waits for its thread, and the thread for its tool.
                while not wait([objects], 0.05).done:
                    end_calls()
                raise
        for name in ("src", "obj"):
            shutil.rmtree(folder / name)
        for name in ("all.cpp", "all.o"):
            (folder / name).unlink()

    def _compile(self, folder: Path, objects: Future[list[Path]]) -> None:
        phase("translating the hardware to C++ (Verilator)")
        loops = self._verilate(folder)
        (folder / "loops.json").write_text(json.dumps(loops), "utf-8")
        uses_dpi = self._gather(folder)
        phase("compiling the simulator")
        header = precompiled_header(self.compiler, self.verilator, self.optimise)
        call(
            [
                *(*self.compiler.command, *CXX_FLAGS, self.optimise, "-Iobj"),
                *include_flags(self.verilator),
                *("-include", str(header), "-c", "all.cpp", "-o", "all.o"),
            ],
            what="the C++ compiler",
            cwd=folder,
            makes=folder / "all.o",
            read=(self.verilator.root, header.parent),
        )
        phase("linking the simulator")
        linked = objects.result()
        if uses_dpi:
            linked += dpi_objects(self.compiler, self.verilator)
        call(
            [
                *(*self.compiler.command, *LINK_FLAGS, "all.o", "-o", "sim"),
                *map(str, linked),
                *self.compiler.libraries,
            ],
            what="the C++ linker",
            cwd=folder,
            makes=folder / "sim",
            read=linked,
        )

    def _verilate(self, folder: Path) -> list[str]:
        source = folder / "src"
        source.mkdir()
        for name, text in self.sources.items():
            (source / name).write_text(text, "utf-8")
        try:
            output = call(
                [
                    *(str(self.verilator.program), *VERILATOR_FLAGS, "--Mdir", "../obj"),
                    *("--top-module", self.top, *self.sources),
                ],
                what="verilator",
                cwd=source,
                own=folder,
                read=(self.verilator.root,),
                env={"VERILATOR_ROOT": str(self.verilator.root)},
            )
        except ToolError as error:
            raise ToolError(f"{error}{self._words_at(str(error))}") from error
        loops = set(re.findall(r"UNOPTFLAT: .*?: '([^']+)'", output))
        return sorted(name.removeprefix(f"{self.top}.") for name in loops)

    def _words_at(self, error: str) -> str:
        """The text at the place of a syntax error, which only we have."""
        found = re.search(r" (\S+):(\d+):\d+: syntax error", error)
        if found is None or found[1] not in self.sources:
            return ""
        line = self.sources[found[1]].split("\n")[int(found[2]) - 1].strip()
        return f" in `{line[:80]}`; if a name there is a word of SystemVerilog, choose another"

    def _gather(self, folder: Path) -> bool:
        generated = sorted(p.name for p in (folder / "obj").glob("Vcyc*.cpp"))
        slow = [name for name in generated if name.endswith("__Slow.cpp")]
        text = _includes(name for name in generated if name not in slow)
        text += SLOW.format(includes=_includes(slow))
        text += f'#include "Vcyc.h"\nstatic const char cyc_layout[] = R"cyc({self.layout})cyc";\n'
        (folder / "all.cpp").write_text(text + self.main, "utf-8")
        return "Vcyc__Dpi.cpp" in generated


def _includes(names: Iterable[str]) -> str:
    return "".join(f'#include "{name}"\n' for name in names)
