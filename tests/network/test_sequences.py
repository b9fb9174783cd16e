"""Control sequences: folded into loops, they are what they were."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cyclescope.network._sequence import Leaf, Loop, Node, fold, unfold


def leaves(nodes: tuple[Node, ...]) -> int:
    return sum(1 if isinstance(node, Leaf) else leaves(node.body) for node in nodes)


def words(*rows: tuple[int, ...]) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    return np.array(rows, dtype=np.int64).reshape(len(rows), -1)


@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from([0, 0, 1])), min_size=1, max_size=60))
def test_any_sequence_is_what_its_fold_unfolds_to(rows: list[tuple[int, int]]) -> None:
    assert list(unfold(fold(words(*rows)))) == rows


@st.composite
def nests(draw: st.DrawFn) -> list[tuple[int, ...]]:
    """The counters of a loop nest whose bounds depend on those around, and affine words."""
    extents = draw(st.lists(st.integers(1, 6), min_size=1, max_size=3))
    lower = draw(st.lists(st.booleans(), min_size=len(extents), max_size=len(extents)))
    factors = draw(st.lists(st.integers(-3, 3), min_size=len(extents), max_size=len(extents)))
    first = draw(st.booleans())
    rows: list[tuple[int, ...]] = []

    def visit(level: int, counters: tuple[int, ...]) -> None:
        if level == len(extents):
            value = sum(f * c for f, c in zip(factors, counters, strict=True))
            rows.append((value, int(first and counters[-1] == 0)))
            return
        begin = counters[-1] if lower[level] and counters else 0
        for counter in range(begin, extents[level]):
            visit(level + 1, (*counters, counter))

    visit(0, ())
    return rows or [(0, 0)]


@given(nests())
def test_loop_nests_are_found_again(rows: list[tuple[int, ...]]) -> None:
    assert list(unfold(fold(words(*rows)))) == rows


def test_a_triangle_takes_few_places_however_large_it_is() -> None:
    found = {
        size: leaves(fold(words(*((i - j, int(j == 0)) for i in range(size) for j in range(i)))))
        for size in (12, 60)
    }
    assert found[12] == found[60] <= 8, found


def test_loops_of_loops_have_affine_trips() -> None:
    (*first, loop) = fold(words(*((j,) for i in range(3, 20) for j in range(i))))
    assert not first
    assert isinstance(loop, Loop)
    (inner,) = loop.body
    assert isinstance(inner, Loop)
    assert (inner.trips.base, inner.trips.steps) == (3, (1,))


def test_what_does_not_fold_remains_a_list() -> None:
    row = [5, 1, 4, 4, 0, 9, 2, 6]
    assert leaves(fold(words(*((n,) for n in row)))) >= 7
