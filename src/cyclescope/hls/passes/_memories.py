"""The memories of a region, once it is known what it accesses."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cyclescope.hls.ir import Op
from cyclescope.hls.passes._dead_code import graphs

if TYPE_CHECKING:
    from cyclescope.hls.ir import Array, Draft

__all__ = ["keep_used_memories"]


def keep_used_memories(draft: Draft) -> None:
    """Leave out the memories that nothing accesses, and give the others names of their own.

    What nothing is stored to is not written back: the host's may be a constant.
    """
    used: set[Array] = set()
    stored: set[Array] = set()
    for graph in graphs(draft.region.root):
        for node in graph.nodes:
            if node.op is Op.STORE and node.array is not None:
                stored.add(node.array)
            used |= {a for a in (node.array, node.source) if a is not None}
    kept = tuple(a for a in draft.region.arrays if a in used)
    names: dict[str, int] = {}
    for array in kept:
        count = names[array.name] = names.get(array.name, 0) + 1
        if count > 1:
            array.name = f"{array.name}_{count}"
        array.from_device = array.from_device and array in stored
    draft.region = replace(draft.region, arrays=kept)
