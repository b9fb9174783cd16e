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
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from cyclescope.errors import RunError
from cyclescope.sim._probe import INSTANCE, WORD, Layout, Place

if TYPE_CHECKING:
    from collections.abc import Mapping
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
        run_state: state of each run, an index into `states`.
        run_cycles: cycles of each run; neighbours have different states.
    """

    layouts: Mapping[str, Layout]
    instances: tuple[tuple[str, str], ...]
    vectors: Mapping[str, NDArray[np.uint64]]
    states: NDArray[np.int64]
    run_state: NDArray[np.int64]
    run_cycles: NDArray[np.int64]

    @property
    def cycles(self) -> int:
        """All recorded cycles."""
        return int(self.run_cycles.sum())

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
    data = path.read_bytes()
    if data[: len(MAGIC)] != MAGIC:
        raise RunError(f"{path}: not a capture; run the simulation again")
    wrapper, layouts = "", list[Layout]()
    instances: list[tuple[str, int]] = []
    vectors: dict[int, list[NDArray[np.uint64]]] = {}
    pairs: dict[int, list[NDArray[np.uint32]]] = {}
    run_state: list[NDArray[np.int64]] = []
    run_cycles: list[NDArray[np.int64]] = []
    at = len(MAGIC)
    while at + HEAD.size <= len(data):
        tag, a, b, size = HEAD.unpack_from(data, at)
        at += HEAD.size
        if at + size > len(data):
            break
        if tag == ord("L"):
            wrapper, layouts = _layouts(data[at : at + size])
        elif tag == ord("I"):
            name = data[at : at + size].decode()
            instances.append((name.removeprefix(wrapper).removesuffix("." + INSTANCE), a))
        elif tag == ord("V"):
            vectors.setdefault(a, []).append(
                np.frombuffer(data, "<u8", size // 8, at).reshape(b, -1)
            )
        elif tag == ord("P"):
            pairs.setdefault(a, []).append(np.frombuffer(data, "<u4", size // 4, at).reshape(b, 2))
        elif tag == ord("R"):
            wide, long = a & 0xFF, a >> 8
            run_state.append(np.frombuffer(data, f"<u{wide}", b, at).astype(np.int64))
            run_cycles.append(np.frombuffer(data, f"<u{long}", b, at + b * wide).astype(np.int64))
        at += size
    every = [
        _joined(vectors.get(i, []), np.zeros((0, x.words), np.uint64))
        for i, x in enumerate(layouts)
    ]
    state, cycles = _merge(
        _joined(run_state, np.zeros(0, np.int64)), _joined(run_cycles, np.zeros(0, np.int64))
    )
    return Capture(
        layouts={x.module: x for x in layouts},
        instances=tuple((name, layouts[module].module) for name, module in instances),
        vectors={x.module: v for x, v in zip(layouts, every, strict=True)},
        states=_states(
            len(instances),
            {i: _joined(p, np.zeros((0, 2), np.uint32)).astype(np.int64) for i, p in pairs.items()},
            len(every[instances[0][1]]) if instances else 1,
        ),
        run_state=state,
        run_cycles=cycles,
    )


def _layouts(text: bytes) -> tuple[str, list[Layout]]:
    head = json.loads(text)
    return head["wrapper"], [
        Layout(m["module"], m["words"], tuple(Place(*place) for place in m["signals"]))
        for m in head["modules"]
    ]


def _joined(parts: list[NDArray[T]], empty: NDArray[T]) -> NDArray[T]:
    return np.concatenate(parts) if parts else empty


def _merge(
    state: NDArray[np.int64], cycles: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Runs of one state that a flush had cut become one again."""
    if len(state) == 0:
        return state, cycles
    first = np.flatnonzero(np.concatenate(([True], state[1:] != state[:-1])))
    return state[first], np.add.reduceat(cycles, first)


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
