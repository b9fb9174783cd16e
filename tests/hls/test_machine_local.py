"""Local arrays are block RAM: by their Verilog's form, and by what Yosys makes of them."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from cyclescope.errors import ToolError
from cyclescope.hls import Host, compile_c, machine_of
from cyclescope.hls.ir._graph import Node, Op, Place
from cyclescope.hls.microarch._local_memories import LocalArray
from cyclescope.hls.microarch._parts import tid_width
from cyclescope.hls.run._simulation import run_setup, set_up
from cyclescope.rtl import Module
from cyclescope.sim._synthesis import find_yosys, run_tool
from hls.dirty import dirty
from hls.graphs import HERE, local

PROGRAMS = Path(__file__).parent / "programs"
EXAMPLES = Path(__file__).parents[2] / "examples" / "hls" / "gemm"
ARRAYS = [
    EXAMPLES / "4-blocked.c",  # one place writes, four read
    EXAMPLES / "5-double-buffering.c",
    PROGRAMS / "preload_rows.c",  # the preloader writes
    PROGRAMS / "sorting.c",  # the preloader and two stores write
    PROGRAMS / "histogram.c",  # two stores write
]
BLOCK = '(* ram_style = "block", no_rw_check *)'


@pytest.mark.parametrize("source", ARRAYS, ids=lambda p: p.stem)
def test_every_local_array_is_a_block_with_no_more_ports_than_block_ram_has(source: Path) -> None:
    program = compile_c(source, threads=4)
    texts = machine_of(program, checks=False).sources
    (top,) = (text for name, text in texts.items() if name.endswith("_region.v"))
    blocks = set(re.findall(rf"{re.escape(BLOCK)}\n  reg \S+ (\w+) \[", top))
    arrays = {a.name for a in program.region.arrays if a.place is Place.LOCAL}
    assert {re.sub(r"_\d$", "", name) for name in blocks} == arrays
    for array in (a for a in program.region.arrays if a.place is Place.LOCAL):
        # Of words as wide as the block's, a power of two a thread, as small as possible.
        own = re.findall(
            rf"{re.escape(BLOCK)}\n  reg \[(\d+):0\] {array.name}(?:_\d+)? \[0:(\d+)\]", top
        )
        words = -(-8 * array.bytes // (int(own[0][0]) + 1))
        size = 1 << max(1, (words - 1).bit_length())
        assert sum(int(last) + 1 for _, last in own) == 4 * size
    for name in blocks:
        writes, reads = _accesses(top, name)
        if name in arrays:
            assert len(writes) == 1
            assert reads
        else:
            assert writes <= {f"{name}_port0_at", f"{name}_port1_at"} == reads


def _accesses(text: str, memory: str) -> tuple[set[str], set[str]]:
    """The addresses at which a memory is written, and read into a register."""
    writes, reads = set(), set()
    text = re.sub(r"  initial for .*\n.*\n", "", text)
    for found in re.finditer(rf"(\w+ <= )?(?<!reg )\b{memory}\[", text):
        depth, end = 1, found.end()
        while depth:
            depth += {"[": 1, "]": -1}.get(text[end], 0)
            end += 1
        address = text[found.end() : end - 1]
        if re.match(r"(\[[\d:]*\])? <=", text[end:]):
            writes.add(address)
        else:
            assert found[1], "a word that does not go straight into a register"
            assert text[end] == ";"
            reads.add(address)
    return writes, reads


def built(stores: list[int], loads: list[int], threads: int) -> Module:
    """64 words of 4 bytes a thread, with stores and loads of so many bits."""
    m = Module("lone")
    array = local("a", 256)
    uses = [Node(Op.STORE, (), (), HERE, array=array) for _ in stores]
    uses += [Node(Op.LOAD, (), (width,), HERE, array=array) for width in loads]
    made = LocalArray(m, array, threads, uses, "a.c:1")
    for i, width in enumerate(stores):
        valid, tid, offset = (m.input(f"store{i}{n}", w) for n, w in PINS)
        made.store(f"s{i}", valid, tid.trunc(tid_width(threads)), offset, m.input(f"v{i}", width))
    for i, width in enumerate(loads):
        valid, tid, offset = (m.input(f"load{i}{n}", w) for n, w in PINS)
        m.output(
            f"q{i}", made.load(f"l{i}", valid, valid, tid.trunc(tid_width(threads)), offset, width)
        )
    made.finish()
    return m


PINS = [("", 1), ("_tid", 3), ("_at", 32)]
LIBRARIES = {
    "ecp5": "-lib +/lattice/brams_16kd.txt",
    "xc7": "-lib +/xilinx/brams_xc4v.txt -D HAS_SIZE_36 -D HAS_CONFLICT_BUG -D HAS_MIXWIDTH_SDP",
}
CASES = [
    pytest.param([32], [32], 8, {"ecp5": 1, "xc7": 1}, id="a-writer-and-a-reader"),
    pytest.param([8], [32, 16], 8, {"ecp5": 2, "xc7": 2}, id="bytes"),
    pytest.param([32, 8], [32, 32], 2, {"ecp5": 4, "xc7": 2}, id="two-writers"),
]


@pytest.mark.parametrize(("stores", "loads", "threads", "cells"), CASES)
def test_yosys_finds_block_ram_in_it(
    stores: list[int], loads: list[int], threads: int, cells: dict[str, int], tmp_path: Path
) -> None:
    try:
        command = find_yosys()
    except ToolError as error:
        pytest.skip(str(error))
    (tmp_path / "lone.v").write_text(built(stores, loads, threads).verilog(), "ascii")
    common = "read_verilog lone.v; hierarchy -top lone; proc; opt; memory -nomap; design -save here"
    script = common.split("; ")
    for family, library in LIBRARIES.items():
        script += [
            "design -load here",
            f"memory_libmap {library}",
            f"tee -q -o {family} stat -json",
        ]
    (tmp_path / "script.ys").write_text("\n".join(script), "ascii")
    try:
        run_tool(command, "-q", "script.ys", what="yosys", folder=tmp_path)
    except ToolError as error:
        if "Can't open" in str(error):
            pytest.skip("this version of Yosys describes its block RAM in other files")
        raise
    for family, wanted in cells.items():
        stat = json.loads((tmp_path / family).read_text("utf-8"))
        found: dict[str, int] = stat["modules"]["\\lone"]["num_cells_by_type"]
        blocks = {kind: n for kind, n in found.items() if kind.startswith("$__")}
        assert sum(blocks.values()) == wanted, blocks
        assert not any(kind.startswith("$mem") for kind in found)


AT_FIRST = """\
#include <stdio.h>
int times[20], x = -1;
int main(void) {
#pragma omp target parallel num_threads(3) map(tofrom: times, x)
  {
#pragma omp for schedule(dynamic, 2)
    for (int i = 0; i < 20; i++) times[i]++;
#pragma omp for lastprivate(conditional: x)
    for (int i = 0; i < 20; i++) if (i % 7 == 3) x = i;
#pragma omp single
    printf("%d, x is %d\\n", times[19], x);
  } }
"""


@pytest.mark.long
@pytest.mark.usefixtures("host_compiler")
@pytest.mark.parametrize("is_mutant", [False, True])
def test_block_ram_may_begin_with_anything(*, is_mutant: bool) -> None:
    """Counters of chunks, of what was printed, and the last iteration that gave a value.

    A mutant takes their words for written.
    """
    program = compile_c("k.c", text=AT_FIRST)
    machine = dirty(machine_of(program))
    if is_mutant:
        texts = {
            name: re.sub(r"(_known) <= [^;]*;", r"\1 <= 1;", text)
            for name, text in machine.sources.items()
        }
        assert texts != machine.sources
        machine = replace(machine, sources=texts)
    with Host(program) as host:
        native = host.run()
        assert native.stdout == b"1, x is 17\n"
        run = run_setup(set_up(machine, native.inputs, native.scalars, cycle_limit=50_000))
        right = {
            "chunks": run.arrays["times"] == native.outputs["times"],
            "last": run.arrays["x"] == native.outputs["x"],
            "printed": host.replay(run.arrays) == (native.stdout, native.status),
        }
    assert all(right.values()) != is_mutant, right
