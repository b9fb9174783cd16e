"""Random kernels, rewritten step by step, and their results natively."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope._rewrites import Claim, apply_candidates
from cyclescope.hls.rewrites import candidates_of, read_kernel
from hls.kernels import kernel, native

if TYPE_CHECKING:
    import random
    from pathlib import Path

__all__ = ["rewritten"]

_STEPS = 4


def rewritten(seed: int, r: random.Random, folder: Path) -> tuple[list[str], str]:
    """The names of the rewrites that were applied to a kernel, and what went wrong.

    Only such as are equal by construction are.
    """
    text = kernel(seed).encode()
    expected = native(text, folder)
    names: list[str] = []
    places: list[str] = []
    for _ in range(_STEPS):
        found = read_kernel("k.c", text)
        assert found is not None
        sound = [c for c in candidates_of(found) if c.claim is Claim.CONSTRUCTION]
        kinds = sorted({c.rewrite for c in sound})
        if not kinds:
            break
        # Each rewrite as likely, however many places it has.
        kind = r.choice(kinds)
        one = r.choice([c for c in sound if c.rewrite == kind])
        names.append(kind)
        places.append(f"{kind} at {one.place}")
        text = apply_candidates(text, [one])
        if native(text, folder) != expected:
            return names, f"{', '.join(places)}\n{text.decode()}"
    return names, ""
