"""Changes from one state to the next: few distinct ones, however often they happen."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from cyclescope.model._profile import Ints

__all__ = ["changes"]

_TABLE = 1 << 22  # entries of a table that costs less than sorting


def changes(states: Ints, count: int) -> tuple[Ints, Ints]:
    """The distinct changes between neighbours, and which one each is.

    A run of a million changes knows a few hundred distinct ones: whatever is worked out for a
    change is worked out once.

    Args:
        states: numbers from 0 to `count` - 1, shape (n,).
        count: how many states there are.

    Returns:
        before · count + after for each distinct change, ascending; and for each of the n - 1
        changes an index into that.
    """
    change = states[:-1] * count
    change += states[1:]
    if count * count > _TABLE:
        pairs, which = np.unique(change, return_inverse=True)
        return pairs, which.reshape(-1)
    seen = np.zeros(count * count, dtype=np.bool_)
    seen[change] = True
    pairs = np.flatnonzero(seen)
    rank = np.zeros(count * count, dtype=np.int64)
    rank[pairs] = np.arange(len(pairs))
    return pairs, rank[change]
