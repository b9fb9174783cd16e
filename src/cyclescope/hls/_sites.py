"""The places of a region that its cycles are spent on, as the profile's sites."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from cyclescope.hls._ir import Op
from cyclescope.hls._waits import loses, place_of
from cyclescope.model import Access, Barrier, Lock, Loop, Position

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cyclescope.c import Range
    from cyclescope.hls._ir import Node
    from cyclescope.hls._machine_pipe import Pipeline
    from cyclescope.model import Site

__all__ = ["Sites", "position_of"]


def position_of(where: Range) -> Position:
    """A place in the file's own name: equal programs give equal profiles wherever they lie."""
    return Position("c", Path(where.file).name, where.line, where.column)


class Sites:
    """The sites of a region, numbered: its loops, then the places where threads wait.

    Attributes:
        every: all sites.
        waits: for each name of a place where threads wait (`place_of`) its site's number.
    """

    def __init__(self, region: str, pipelines: Sequence[Pipeline]) -> None:
        self._region = region
        self.every: list[Site] = []
        self.waits: dict[str, int] = {}
        loops = {}
        for pipe in pipelines:
            if pipe.root:
                continue
            loops[pipe] = len(self.every)
            where = position_of(pipe.graph.where)
            self.every.append(Loop(region, where, interval=pipe.schedule.interval))
        for pipe in pipelines:
            for gate in pipe.gates:
                for operation in gate.operations:
                    if loses(operation.node):
                        self._wait(operation.node, loops.get(pipe, -1))

    def _wait(self, node: Node, loop: int) -> None:
        name = place_of(node)
        if name in self.waits:
            return
        self.waits[name] = len(self.every)
        where = position_of(node.where)
        if node.op is Op.ACQUIRE:
            self.every.append(Lock(self._region, position=where))
        elif node.op is Op.BARRIER:
            self.every.append(Barrier(self._region, where))
        else:
            assert node.array is not None
            width = None
            if node.op is not Op.COPY:
                bits = node.widths[0] if node.op is Op.LOAD else node.operands[1].width
                width = bits // 8
            self.every.append(
                Access(
                    *(self._region, node.array.name, where, node.op is not Op.LOAD, width),
                    loop=loop,
                    copies=node.op is Op.COPY,
                )
            )
