"""Local arrays: block RAM, a copy a thread.

In one cycle threads in different stages may want their copies, so that a single memory would need
as many ports as the program has accesses. Two forms have no more ports than block RAM has:

- One place writes: one memory with the thread's number in the address, one port for writing and
  one for each place that reads; for the latter synthesis repeats the memory.
- Several places write: a memory of two ports for each thread. The schedule sees to it that a
  thread never makes more than two accesses in a cycle; the first in the program takes one port,
  another one the other.

A word that is zero at first has a bit a thread that says whether it has been written: block RAM
begins with anything, and a reset does not change it.

No port ever reads a word that is used in the cycle in which another writes it: copies are the
threads' own, and the orders of the data flow keep a thread's accesses to one place a cycle apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cyclescope.hls.ir import Op, Place
from cyclescope.hls.microarch._params import LINE
from cyclescope.hls.microarch._parts import ThreadMask, either, one_hot
from cyclescope.hls.schedule import PORTS
from cyclescope.rtl import cat, const, mux

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cyclescope.hls.ir import Array, Graph, Node
    from cyclescope.rtl import Expr, Module, Net

__all__ = ["LocalArray", "local_uses"]


def local_uses(graph: Graph) -> dict[Array, list[Node]]:
    """The loads, stores and copies of each local array, in a graph and all inside it."""
    found: dict[Array, list[Node]] = {}
    for node in graph.nodes:
        if node.array is not None and node.array.place is not Place.EXTERNAL:
            found.setdefault(node.array, []).append(node)
        if node.body is not None:
            for array, nodes in local_uses(node.body).items():
                found.setdefault(array, []).extend(nodes)
    return found


@dataclass(frozen=True, eq=False, slots=True)
class _Use:
    """An access of an array with two ports a thread; `word` is what a load gets."""

    name: str
    valid: Expr
    tid: Expr
    index: Expr
    data: Expr | None = None
    enables: Expr | None = None
    word: Net | None = None


class LocalArray:
    """An array in block RAM, a copy a thread; byte enables, latency 1.

    Its words are as wide as the widest access, or a line of external memory if it is filled
    by copies.

    Args:
        m: where to build it.
        array: its contents.
        threads: how many there are.
        uses: all loads, stores and copies of it.
        note: its place in the source.
    """

    def __init__(
        self, m: Module, array: Array, threads: int, uses: Sequence[Node], note: str
    ) -> None:
        assert array.bytes is not None
        self._m, self._name, self._note = m, array.name, note
        self._word = LINE if any(n.op is Op.COPY for n in uses) else array.word
        words = self.lines = -(-array.bytes // self._word)
        self._index = max(1, (words - 1).bit_length())
        self._byte = (self._word - 1).bit_length()
        self._threads = threads if array.place is Place.LOCAL else 1
        # All copies are lines through the one port of the preloader.
        writers = {None if n.op is Op.COPY else n for n in uses if n.op is not Op.LOAD}
        self._uses: list[_Use] = []
        self._written: ThreadMask | None = None
        if array.zeroed and uses:
            assert array.bytes == self._word
            self._written = ThreadMask(m, f"{array.name}_written", self._threads, note=note)
        self._shared = len(writers) <= 1
        if self._shared:
            depth = self._threads << self._index
            self._memory = m.memory(
                array.name, 8 * self._word, depth, note=note, block=True, cleared=True
            )

    def load(self, name: str, valid: Expr, go: Expr, tid: Expr, offset: Expr, width: int) -> Expr:
        """Reads `width` bits; they are there in the next cycle.

        Args:
            name: of the place that reads, which may have a port of its own.
            valid: a thread is there in this cycle.
            go: it does read. That is known late, so the port of its own reads whether it does or
                not: nobody looks at such a word.
            tid: the thread.
            offset: in bytes.
            width: in bits.
        """
        m = self._m
        index = offset[self._byte + self._index - 1 : self._byte]
        if self._shared:
            got = self._memory.read(self._place(tid, index), valid, name=f"{name}_word")
        else:
            got = m.forward_wire(f"{name}_word", 8 * self._word)
            self._uses.append(_Use(name, go, tid, index, word=got))
        if self._written is not None:
            known = m.delay(self._written.of(tid), f"{name}_known", when=valid)
            got = m.wire(f"{name}_or_zero", got & known.repeat(got.width))
        if width == 8 * self._word:
            return got
        byte = m.delay(offset[self._byte - 1 : 0], f"{name}_byte", when=valid)
        return m.wire(f"{name}_part", (got >> cat(byte, const(0, 3))).trunc(width))

    def store(self, name: str, valid: Expr, tid: Expr, offset: Expr, data: Expr) -> None:
        """Writes the data's bytes; a read in the next cycle sees them."""
        m, size = self._m, self._word
        index = offset[self._byte + self._index - 1 : self._byte]
        enables: Expr | None = None
        if data.width < 8 * size:
            byte = m.named(offset[self._byte - 1 : 0], f"{name}_byte")
            enables = const((1 << data.width // 8) - 1, size) << byte
            data = m.named(data, f"{name}_value").repeat(8 * size // data.width)
        self._write(name, valid, tid, index, data, enables)

    def store_line(self, valid: Expr, tid: Expr, index: Expr, data: Expr, enables: Expr) -> None:
        """Writes bytes of a line."""
        name = f"{self._name}_line"
        self._write(name, valid, tid, index.trunc(self._index), data, enables)

    def _write(
        self, name: str, valid: Expr, tid: Expr, index: Expr, data: Expr, enables: Expr | None
    ) -> None:
        if self._written is not None:
            self._written.set(one_hot(valid, tid, self._threads))
        if self._shared:
            self._memory.write(self._place(tid, index), data, valid, enables)
        else:
            self._uses.append(_Use(name, valid, tid, index, data, enables))

    def _place(self, tid: Expr, index: Expr) -> Expr:
        return cat(tid, index) if self._threads > 1 else index

    # Two ports a thread

    def finish(self) -> None:
        """All accesses are known."""
        if self._written is not None:
            self._written.finish()
        if self._shared or not self._uses:
            return
        m = self._m
        words: list[list[Net]] = []
        second: list[list[Expr]] = [[] for _ in self._uses]
        for thread in range(self._threads):
            taken: Expr = const(0, 1)
            chosen: list[list[Expr]] = [[] for _ in range(PORTS)]
            for number, use in enumerate(self._uses):
                name = f"{use.name}_of_{thread}"
                mine = use.valid if self._threads == 1 else use.valid & use.tid.eq(thread)
                mine = m.wire(name, mine)
                chosen[0].append(m.wire(f"{name}_first", mine & ~taken))
                chosen[1].append(m.wire(f"{name}_second", mine & taken))
                second[number].append(chosen[1][-1])
                taken = m.wire(f"{name}_taken", taken | mine)
            words.append(self._copy(thread, chosen))
        for use, here in zip(self._uses, second, strict=True):
            if use.word is not None:
                late = m.delay(either(here, 1), f"{use.name}_late", when=use.valid)
                who = m.delay(use.tid, f"{use.name}_who", when=use.valid)
                ports = [_of(who, [w[port] for w in words]) for port in range(PORTS)]
                m.assign(use.word, mux(late, ports[1], ports[0]))

    def _copy(self, thread: int, chosen: Sequence[Sequence[Expr]]) -> list[Net]:
        """A thread's block RAM; the words that its ports read."""
        m, size = self._m, self._word
        title = f"{self._name}_{thread}" if self._threads > 1 else self._name
        memory = m.memory(
            title, 8 * size, 1 << self._index, note=self._note, block=True, cleared=True
        )
        found: list[Net] = []
        for port, mine in enumerate(chosen):
            name = f"{title}_port{port}"
            pairs = list(zip(self._uses, mine, strict=True))
            parts = [u.index & here.repeat(self._index) for u, here in pairs]
            address = m.wire(f"{name}_at", either(parts, self._index))
            stores = [(u, here) for u, here in pairs if u.data is not None]
            parts = [u.data & here.repeat(8 * size) for u, here in stores if u.data is not None]
            data = m.wire(f"{name}_in", either(parts, 8 * size))
            parts = [
                here.repeat(size) if u.enables is None else u.enables & here.repeat(size)
                for u, here in stores
            ]
            writes = m.wire(f"{name}_writes", either([here for _, here in stores], 1))
            memory.write(address, data, writes, m.wire(f"{name}_bytes", either(parts, size)))
            reads = either([here for u, here in pairs if u.word is not None], 1)
            reads = m.wire(f"{name}_reads", reads)
            found.append(memory.read(address, reads, name=f"{name}_out"))
        return found


def _of(number: Expr, words: Sequence[Expr]) -> Expr:
    """The word with this number, by a tree of choices."""
    if len(words) == 1:
        return words[0]
    half = 1 << (len(words) - 1).bit_length() - 1
    top = number[half.bit_length() - 1]
    return mux(top, _of(number, words[half:]), _of(number, words[:half]))
