"""The values that the kernel computes when it is compiled plainly: a check."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cyclescope.bounds._estimate import Bounds

__all__ = ["differences"]


def differences(bounds: Bounds) -> list[str]:
    """Names of arrays whose values in the two runs aren't the same, bit for bit.

    Args:
        bounds: made with `verify=True`, or with `values=True` by a program's own `main`.
    """
    records = bounds.records
    assert records.plain or not records.final
    differing = [
        bounds.network.storages[index].name
        for index, raw in records.final.items()
        if records.plain[index] != raw
    ]
    if -1 in records.plain and records.plain[-1] != records.result:
        differing.append(f"the result of {bounds.network.kernel}")
    return differing
