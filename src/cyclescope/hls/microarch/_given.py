"""The values that a graph has for each thread: invariants, and carried ones, which it writes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope.hls.microarch._parts import ThreadMask, one_hot
from cyclescope.rtl import mux

if TYPE_CHECKING:
    from cyclescope.rtl import Expr, Memory, Module, Net

__all__ = ["Given"]


class Given:
    """A value of each thread.

    A memory in look-up tables has one port for writing: what comes with a thread's entry is in one,
    what iterations write in another, and a bit a thread says which of them has the newer word.
    """

    def __init__(
        self, m: Module, name: str, width: int, threads: int, *, carried: bool, note: str
    ) -> None:
        self._m, self._name, self._width, self._note = m, name, width, note
        self._threads = threads
        self._first = m.memory(name, width, threads, note=note)
        self._next: Memory | None = None
        if carried:
            self._next = m.memory(f"{name}_next", width, threads, note=note)
            self._is_next = ThreadMask(m, f"{name}_is_next", threads)
        self._written: tuple[Expr, Expr, Expr] | None = None
        self._reads: list[tuple[Net, Expr, Expr, bool]] = []

    def enter(self, valid: Expr, tid: Expr, value: Expr) -> None:
        """A thread comes in with this value."""
        self._first.write(tid, value, valid)
        if self._next is not None:
            self._is_next.clear(one_hot(valid, tid, self._threads))

    def write(self, valid: Expr, who: Expr, tid: Expr, value: Expr) -> None:
        """An iteration writes it, if it is carried; at one place.

        Args:
            valid: in this cycle.
            who: the thread's bit, then.
            tid: its number.
            value: of the next iteration.
        """
        assert self._next is not None
        assert self._written is None
        value = self._m.named(value, f"{self._name}_value")
        valid = self._m.named(valid, f"{self._name}_now")
        self._written = valid, tid, value
        self._next.write(tid, value, valid)
        self._is_next.set(who)

    def at(self, tid: Expr) -> Expr:
        """A thread's value."""
        if self._next is None:
            return self._first.at(tid)
        return mux(self._is_next.of(tid), self._next.at(tid), self._first.at(tid))

    def read(self, valid: Expr, tid: Expr, name: str, *, forwarded: bool) -> Net:
        """A register with a thread's value, from the next cycle on.

        Args:
            valid: in this cycle.
            tid: whose.
            name: of the register.
            forwarded: an iteration of the same thread may write it in the same cycle.
        """
        register = self._m.register(name, self._width, note=self._note)
        self._reads.append((register, valid, tid, forwarded))
        return register

    def finish(self) -> None:
        """All writes are known."""
        for register, valid, tid, forwarded in self._reads:
            value = self.at(tid)
            if forwarded and self._written is not None:
                writes, writer, new = self._written
                value = mux(writes & writer.eq(tid), new, value)
            self._m.update(register, value, valid)
        if self._next is not None:
            self._is_next.finish()
