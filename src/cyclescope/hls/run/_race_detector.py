"""A data race in one run of a region: two accesses that nothing orders, one of them a store.

The region's data-flow form runs thread by thread. Two accesses of a byte by different threads are
ordered if a barrier is between them, or if they are under one lock. Any thread may be the one that
executes a `single` construct: there it counts as a thread of its own. What threads do by flushes is
not looked at: a region that has one is said to have no race.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from cyclescope.errors import RunError
from cyclescope.hls.ir import Interpreter, Op, Place

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence

    from cyclescope.hls.ir import Array, Graph, Node, Region

__all__ = ["find_race"]

_MOST = 400_000  # iterations of all threads: seconds

_Access = tuple[int, frozenset[int], "Node", bool]  # the phase, the locks, the node, does it write


def find_race(region: Region, arrays: Mapping[str, bytes], scalars: Sequence[int]) -> str:
    """Two accesses of a region that race, as text; empty if none are found.

    Args:
        region: its graphs.
        arrays: contents of the external arrays.
        scalars: bits of the host's scalars, in the region's order.
    """
    if region.threads == 1 or _has_flush(region.root):
        return ""
    detector = _Detector(region, arrays, scalars, None, _MOST)
    with suppress(RunError):  # a deadlock, or too long: what was seen before counts
        detector.run()
    return detector.found


def _named(who: int) -> str:
    return f"thread {who}" if who >= 0 else "whoever executes a single"


def _has_flush(graph: Graph) -> bool:
    inner = [n.body for n in graph.nodes if n.body is not None]
    return any(n.op is Op.FENCE for n in graph.nodes) or any(map(_has_flush, inner))


class _Detector(Interpreter):
    """The interpreter, with all accesses of each byte since the last barrier."""

    def __init__(
        self,
        region: Region,
        arrays: Mapping[str, bytes],
        scalars: Sequence[int],
        shuffle: None,
        limit: int,
    ) -> None:
        self.found = ""
        self._phase = [0] * region.threads
        self._locks: list[frozenset[int]] = [frozenset()] * region.threads
        self._seen: dict[tuple[Array, int], dict[int, list[_Access]]] = {}
        self._singles = region.singles
        super().__init__(region, arrays, scalars, shuffle, limit)

    def _note(
        self, array: Array | None, offset: int, size: int, node: Node, thread: int, *, writes: bool
    ) -> None:
        if self.found or array is None or array.place is not Place.EXTERNAL:
            return
        phase, locks = self._phase[thread], self._locks[thread]
        who = -self._singles.get(node, -thread)
        for byte in range(offset, offset + size):
            threads = self._seen.setdefault((array, byte), {})
            for other, accesses in threads.items():
                for then, under, at, wrote in accesses if other != who else ():
                    if then == phase and (writes or wrote) and not (under & locks):
                        one, two = ("writes" if w else "reads" for w in (wrote, writes))
                        self.found = (
                            f"data race: {_named(other)} {one} byte {byte} of {array.name} "
                            f"({at.where}), {_named(who)} {two} it ({node.where}), and neither a "
                            f"barrier nor a lock is between"
                        )
                        return
            own = threads.setdefault(who, [])
            if own and own[0][0] != phase:
                own.clear()
            if not any(under == locks and wrote >= writes for _, under, _, wrote in own):
                own.append((phase, locks, node, writes))

    # What is out of range is left out: the thread perhaps has what leads there of a race.

    def _load(self, memory: bytearray, offset: int, node: Node, thread: int) -> int:
        if offset + node.widths[0] // 8 > len(memory):
            return 0
        self._note(node.array, offset, node.widths[0] // 8, node, thread, writes=False)
        return super()._load(memory, offset, node, thread)

    def _store(self, memory: bytearray, offset: int, value: int, node: Node, thread: int) -> None:
        size = node.operands[1].width // 8
        if offset + size > len(memory):
            return
        self._note(node.array, offset, size, node, thread, writes=True)
        super()._store(memory, offset, value, node, thread)

    def _copy(
        self, to: bytearray, given: bytearray, place: Sequence[int], node: Node, thread: int
    ) -> None:
        target, source, size = place
        if target + size > len(to) or source + size > len(given):
            return
        self._note(node.source, source, size, node, thread, writes=False)
        self._note(node.array, target, size, node, thread, writes=True)
        super()._copy(to, given, place, node, thread)

    def _acquire(self, number: int, thread: int) -> Generator[None, None, None]:
        yield from super()._acquire(number, thread)
        self._locks[thread] |= {number}

    def _release(self, number: int) -> None:
        thread = self.held[number]
        if thread is not None:
            self._locks[thread] -= {number}
        super()._release(number)

    def _barrier(
        self, number: int, thread: int, size: int | None = None
    ) -> Generator[None, None, None]:
        yield from super()._barrier(number, thread, size)
        self._phase[thread] += 1
