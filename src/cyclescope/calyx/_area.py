"""The cost of the cells of a Calyx program, joined with the call paths that use them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cyclescope.model import Area
from cyclescope.sim import Usage

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from cyclescope.calyx._compile import Program
    from cyclescope.calyx._record import Record

__all__ = ["join_areas", "synthesis_verilog"]

# The compiler fills external memories from files; no hardware does.
_FILES = re.compile(
    r"^string DATA;\nint CODE;\ninitial begin\n.*?\nend\nfinal begin\n.*?\nend\n", re.S | re.M
)
_PARAMETERS = r"(?: *# *\((?:[^()]|\([^()]*\))*\))?"
_OUTSIDE = "_outside_the_design"


def synthesis_verilog(program: Program) -> str:
    """The design without its external memories: they lie outside of it, and cost it nothing.

    Each becomes an instance of a module without contents, so that what drives it is kept.
    """
    text = _FILES.sub("", program.design.sources["design.sv"])
    kinds: dict[str, None] = {}
    for name, kind, _ in program.record.memories:
        pattern = rf"^({re.escape(kind)})({_PARAMETERS} {re.escape(name)} \()"
        text, found = re.subn(pattern, rf"\1{_OUTSIDE}\2", text, flags=re.M)
        if found:
            kinds[kind] = None
    for kind in kinds:
        head = re.search(rf"^module {re.escape(kind)}\b.*?\n\);", text, re.M | re.S)
        if head is not None:
            empty = head[0].replace(f"module {kind}", f"module {kind}{_OUTSIDE}", 1)
            text += f"\n(* blackbox, keep *)\n{empty}\nendmodule\n"
    return text


def join_areas(
    record: Record, usage: Iterable[Usage], used: Mapping[str, Iterable[int]]
) -> tuple[Area, ...]:
    """Costs of the program's cells, with the call paths that use them.

    Args:
        record: of the program.
        usage: of every instance in the synthesised design. The top may have any name.
        used: call paths by cell, dotted from the record's top (see `build_profile`).

    Returns:
        Cells in the order of the design. What is inside a primitive counts for it.
    """
    top = record.main if record.top == record.main else record.top
    components = record.components
    kinds: dict[str, str] = {}  # instance → its component, for instances of components
    whole: dict[str, Usage] = {}
    for one in usage:
        _, _, below = one.instance.partition(".")
        name = f"{top}.{below}" if below else top
        module = one.module.removesuffix(_OUTSIDE)
        if module != one.module:
            continue
        above = name.rpartition(".")[0]
        inside = next((a for a in _upwards(above) if a in whole and a not in kinds), None)
        if inside is not None:
            whole[inside] = _sum(whole[inside], one)
            continue
        if not below or module in components or module == record.top:
            kinds[name] = _top_kind(record) if not below else module
        whole[name] = Usage(name, module, one.luts, one.ffs, one.dsps, one.brams)
    called = {component: _called(record, component) for component in components}
    result = []
    for name, one in whole.items():
        above, _, cell = name.rpartition(".")
        paths = tuple(sorted(used.get(name, ())))
        seen = bool(paths) or cell in called.get(kinds.get(above, ""), ())
        module = kinds.get(name, one.module)
        result.append(Area(name, module, one.luts, one.ffs, one.dsps, one.brams, paths, seen=seen))
    return tuple(result)


def _top_kind(record: Record) -> str:
    """The component of which the design's top is an instance."""
    return record.top if record.top in record.components else record.main


def _upwards(name: str) -> Iterable[str]:
    while name:
        yield name
        name = name.rpartition(".")[0]


def _sum(a: Usage, b: Usage) -> Usage:
    return Usage(
        a.instance, a.module, a.luts + b.luts, a.ffs + b.ffs, a.dsps + b.dsps, a.brams + b.brams
    )


def _called(record: Record, component: str) -> set[str]:
    """The cells of a component whose use the call paths would show."""
    groups = record.components[component].groups
    direct = {call.actual for group in groups for call in group.calls}
    passed = {cell for group in groups for _, cell in group.refs}
    return direct | passed
