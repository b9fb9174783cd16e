"""Values of arrays: what the user gives a kernel, and the types in which it keeps them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cyclescope.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cyclescope.bounds._network import Network
    from cyclescope.c import Scalar

__all__ = ["contents_of", "dtype_of", "made_up_values"]


def dtype_of(kind: Scalar) -> np.dtype[np.generic]:
    """The numpy type of a C number."""
    if kind.kind == "bool":
        return np.dtype(np.uint8)
    return np.dtype(f"{kind.kind[0]}{kind.bits // 8}")


def contents_of(network: Network, data: Mapping[str, object]) -> bytes:
    """The data file of a program: every parameter and global in order.

    Args:
        network: whose arrays they are.
        data: nested lists by name; what isn't named is filled with small numbers.

    Raises:
        DataError: a name that isn't an array, a wrong shape, or something that is no number.
    """
    outer = [s for s in network.storages if s.is_outer]
    names = {s.name for s in outer}
    for name in data:
        if name not in names:
            raise DataError(
                f"data for {name}: no such array; there are: {', '.join(sorted(names))}"
            )
    parts = []
    for storage in outer:
        kind = dtype_of(storage.type)
        if storage.name not in data:
            numbers = 1 + np.arange(storage.size) % 7
            if storage.initialised:
                numbers = np.array([storage.initial.get(i, 0) for i in range(storage.size)])
            parts.append(numbers.astype(kind).tobytes())
            continue
        try:
            array = np.array(data[storage.name])
        except ValueError:
            raise DataError(f"data for {storage.name}: rows of different lengths") from None
        if array.dtype.kind not in "iufb" or (
            array.dtype.kind == "f" and not storage.type.is_float
        ):
            raise DataError(f"data for {storage.name}: must be {storage.type} numbers")
        if array.size != storage.size or (array.shape != storage.dims and storage.dims):
            raise DataError(
                f"data for {storage.name}: shape {list(array.shape)}, must be {list(storage.dims)}"
            )
        parts.append(array.astype(kind).tobytes())
    return b"".join(parts)


def made_up_values(network: Network, data: Mapping[str, object]) -> list[str]:
    """The arrays whose contents are made up, each with what it is, for people."""
    found = []
    for storage in network.storages:
        given = storage.initialised or storage.name in data
        if not storage.is_outer or given or not (storage.read or storage.written):
            continue
        extents = "".join(f"[{extent}]" for extent in storage.dims)
        found.append(f"{storage.type} {storage.name}{extents}")
    return found
