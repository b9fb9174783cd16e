"""The longest ways through a graph of events, for many lengths of its edges at once.

An event happens as soon as all edges to it are over: its time is the largest of those of the events
before it with the edge between them. Events that wait for one other and that one waits for are kept
as one long edge, so few are left that have to be looked at.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cyclescope.model import Ints

__all__ = ["LongestWays"]


class LongestWays:
    """The ways through a graph, from its first event to its last.

    Attributes:
        chain: the long edge that each edge is in.
        chains: how many there are.
    """

    def __init__(self, offset: Ints, source: Ints) -> None:
        """Look at a graph.

        Args:
            offset: the edges to event e are those from `offset[e]` to before `offset[e + 1]`; the
                first event has none, every other one has some.
            source: the event that each leads from, an earlier one.
        """
        events = len(offset) - 1
        into = np.diff(offset)
        out = np.bincount(source, minlength=events)
        kept = (into != 1) | (out != 1)
        number = np.cumsum(kept) - 1
        # Where an event is kept, each edge to it begins a chain of its own; elsewhere its one edge
        # continues that of the event before it.
        target = np.repeat(np.arange(events), into)
        ends = kept[target]
        chain = np.full(len(source), -1, dtype=np.int64)
        chain[ends] = np.arange(int(ends.sum()))
        after = np.zeros(events, dtype=np.int64)  # the one edge that leads on from an event
        after[source] = np.arange(len(source))
        edges, onward = chain.tolist(), after.tolist()
        for edge in np.flatnonzero(~ends)[::-1].tolist():
            edges[edge] = edges[onward[int(target[edge])]]
        self.chain = np.array(edges, dtype=np.int64)
        self.chains = int(ends.sum())
        first = np.full(self.chains, -1, dtype=np.int64)
        begins = kept[source]
        first[self.chain[begins]] = number[source[begins]]
        self._from = first
        at = np.searchsorted(number[target[ends]], np.arange(int(kept.sum()) + 1))
        self._at: list[int] = at.tolist()

    def sums(self, values: Ints) -> Ints:
        """The sums of edges' values over each chain, shape (chains, …) for (edges, …)."""
        total = np.zeros((self.chains, *values.shape[1:]), dtype=np.int64)
        np.add.at(total, self.chain, values)
        return total

    def last(self, length: Ints) -> Ints:
        """The time of the last event.

        Args:
            length: of each chain in each case, shape (chains, cases).
        """
        nodes = len(self._at) - 1
        time = np.zeros((nodes, length.shape[1]), dtype=np.int64)
        rows, lengths, from_ = list(time), list(length), self._from.tolist()
        add, maximum = np.add, np.maximum
        for node in range(1, nodes):
            first, after = self._at[node], self._at[node + 1]
            row = rows[node]
            add(rows[from_[first]], lengths[first], out=row)
            for chain in range(first + 1, after):
                maximum(row, rows[from_[chain]] + lengths[chain], out=row)
        return np.asarray(time[-1])

    def critical(self, length: Ints) -> NDArray[np.bool_]:
        """Find the chains of the longest way, shape (chains,) and true for these.

        Args:
            length: of each chain, shape (chains,).
        """
        lengths, from_ = length.tolist(), self._from.tolist()
        time, decisive = [0], [0]
        for first, after in pairwise(self._at[1:]):
            ends = [time[from_[chain]] + lengths[chain] for chain in range(first, after)]
            time.append(max(ends))
            # Of several that end last the first one is as good as any.
            decisive.append(first + ends.index(time[-1]))
        found = np.zeros(self.chains, dtype=np.bool_)
        node = len(time) - 1
        while node:
            chain = decisive[node]
            found[chain] = True
            node = from_[chain]
        return found
