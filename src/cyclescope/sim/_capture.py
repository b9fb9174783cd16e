r"""Reads what the recorder wrote: which probe values held in which cycles.

The file, all little-endian: the magic `CYCAPT\x01\n`, then chunks of a head (four 32-bit words:
tag, a, b, size) and `size` bytes. A file that was cut is read up to its last whole chunk.

| tag | a | b | content |
|---|---|---|---|
| L | | | the layouts, JSON |
| I | module | | name of the next instance |
| V | module | count | new vectors, 64-bit words |
| P | node | count | new pairs of a node of the tree over the instances: right, left (32 bit) |
| R | bytes of a state, of a length | count | runs: column of states, column of lengths |
| E | | | why the run ended, and its cycles |
"""

from __future__ import annotations

import json
import os
import struct
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, TypeVar

import numpy as np

from cyclescope.errors import RunError
from cyclescope.model import SAMPLE, Segments, find_anchors, sampled, segmented
from cyclescope.sim._probe import INSTANCE, WORD, Layout, Place

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

__all__ = ["Capture", "load_capture"]

T = TypeVar("T", bound=np.generic)

MAGIC = b"CYCAPT\x01\n"
HEAD = struct.Struct("<4I")


@dataclass(frozen=True)
class Capture:
    """The captured values of a run.

    Attributes:
        layouts: module → how its signals are packed.
        instances: (hierarchical name, module) of each probed instance.
        vectors: module → its distinct vectors, shape (vectors, words), 64-bit words.
        states: the distinct global states: for each instance the number of its vector, shape
            (states, instances).
        runs: which state is current when, numbers of rows of `states`.
    """

    layouts: Mapping[str, Layout]
    instances: tuple[tuple[str, str], ...]
    vectors: Mapping[str, NDArray[np.uint64]]
    states: NDArray[np.int64]
    runs: Segments

    @property
    def cycles(self) -> int:
        """All recorded cycles."""
        return self.runs.total

    @cached_property
    def _dense(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        return self.runs.runs()

    @property
    def run_state(self) -> NDArray[np.int64]:
        """State of each run, one by one."""
        return self._dense[1]

    @property
    def run_cycles(self) -> NDArray[np.int64]:
        """Cycles of each run; neighbours have different states."""
        return self._dense[0]

    def values(self, module: str, signal: str) -> NDArray[np.uint64] | NDArray[np.object_]:
        """A signal's value in every vector of its module.

        Args:
            module: the module's name.
            signal: the signal's label.

        Returns:
            Shape (vectors,): 64-bit words, or Python ints if the signal is wider than a word.

        Raises:
            KeyError: no such module or signal.
        """
        place = next((p for p in self.layouts[module].places if p.name == signal), None)
        if place is None:
            raise KeyError(f"{module}.{signal}")
        words = self.vectors[module]
        if place.width > WORD:
            count = -(-place.width // WORD)
            columns = words[:, place.word : place.word + count].astype(np.object_)
            weights = np.array([1 << (WORD * i) for i in range(count)], dtype=np.object_)
            return np.asarray((columns * weights).sum(axis=1), dtype=np.object_)
        mask = np.uint64((1 << place.width) - 1)
        return (words[:, place.word] >> np.uint64(place.shift)) & mask


def load_capture(path: Path) -> Capture:
    """Reads a capture file, whole or cut.

    Raises:
        RunError: it is no capture file.
    """
    wrapper, layouts = "", list[Layout]()
    instances: list[tuple[str, int]] = []
    vectors: dict[int, list[NDArray[np.uint64]]] = {}
    pairs: dict[int, list[NDArray[np.uint32]]] = {}
    runs: list[_Runs] = []
    with path.open("rb") as stream:
        if stream.read(len(MAGIC)) != MAGIC:
            raise RunError(f"{path}: not a capture; run the simulation again")
        end = os.fstat(stream.fileno()).st_size
        while len(head := stream.read(HEAD.size)) == HEAD.size:
            tag, a, b, size = HEAD.unpack(head)
            at = stream.tell()
            if at + size > end:
                break
            if tag == ord("R"):
                runs.append(_Runs(at, a & 0xFF, a >> 8, b))
                stream.seek(size, os.SEEK_CUR)
                continue
            data = stream.read(size)
            if tag == ord("L"):
                wrapper, layouts = _layouts(data)
            elif tag == ord("I"):
                name = data.decode()
                instances.append((name.removeprefix(wrapper).removesuffix("." + INSTANCE), a))
            elif tag == ord("V"):
                vectors.setdefault(a, []).append(np.frombuffer(data, "<u8").reshape(b, -1))
            elif tag == ord("P"):
                pairs.setdefault(a, []).append(np.frombuffer(data, "<u4").reshape(b, 2))
        segments = _segments(stream, runs)
    every = [
        _joined(vectors.get(i, []), np.zeros((0, x.words), np.uint64))
        for i, x in enumerate(layouts)
    ]
    return Capture(
        layouts={x.module: x for x in layouts},
        instances=tuple((name, layouts[module].module) for name, module in instances),
        vectors={x.module: v for x, v in zip(layouts, every, strict=True)},
        states=_states(
            len(instances),
            {i: _joined(p, np.zeros((0, 2), np.uint32)).astype(np.int64) for i, p in pairs.items()},
            len(every[instances[0][1]]) if instances else 1,
        ),
        runs=segments,
    )


class _Runs(NamedTuple):
    """A chunk of runs: its place in the file, bytes of a state and of a length, number of runs."""

    at: int
    wide: int
    long: int
    rows: int

    def read(
        self, stream: BinaryIO, most: int | None = None
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """(cycles, state); at most so many of the first ones."""
        count = self.rows if most is None else min(self.rows, most)
        columns = []
        for at, width in ((self.at + self.rows * self.wide, self.long), (self.at, self.wide)):
            stream.seek(at)
            columns.append(np.frombuffer(stream.read(count * width), f"<u{width}").astype(np.int64))
        return columns[0], columns[1]


def _segments(stream: BinaryIO, chunks: Sequence[_Runs]) -> Segments:
    """The runs, read chunk by chunk: of a long run what repeats is kept once."""
    few = sampled(len(chunks), 1)
    anchors = find_anchors(chunks[n].read(stream, SAMPLE) for n in few)
    return segmented((chunk.read(stream) for chunk in chunks), anchors)


def _layouts(text: bytes) -> tuple[str, list[Layout]]:
    head = json.loads(text)
    return head["wrapper"], [
        Layout(m["module"], m["words"], tuple(Place(*place) for place in m["signals"]))
        for m in head["modules"]
    ]


def _joined(parts: list[NDArray[T]], empty: NDArray[T]) -> NDArray[T]:
    return np.concatenate(parts) if parts else empty


def _states(
    instances: int, pairs: Mapping[int, NDArray[np.int64]], single: int
) -> NDArray[np.int64]:
    """The vector numbers of every state, from the tree over the instances.

    Args:
        instances: how many leaves the tree has.
        pairs: node → its pairs (right, left); nodes are numbered level by level from the leaves.
        single: the number of states if the tree has no inner node.
    """
    children: list[tuple[int, int]] = []
    level = list(range(instances))
    while len(level) > 1:
        above = []
        for left, right in zip(level[::2], level[1::2], strict=False):
            above.append(instances + len(children))
            children.append((left, right))
        level = above + level[len(level) // 2 * 2 :]
    if not children:
        return np.arange(single, dtype=np.int64)[:, None][:, :instances]
    none = np.zeros((0, 2), np.int64)
    root = len(children) - 1
    numbers = {instances + root: np.arange(len(pairs.get(root, none)), dtype=np.int64)}
    for node in range(root, -1, -1):
        which = numbers.pop(instances + node)
        left, right = children[node]
        both = pairs.get(node, none)[which]
        numbers[right], numbers[left] = both[:, 0], both[:, 1]
    return np.stack([numbers[i] for i in range(instances)], axis=1)
