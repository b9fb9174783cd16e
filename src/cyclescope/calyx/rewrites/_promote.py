"""Groups whose length is known get it said, so that the compiler schedules them statically.

Precondition: the group was equally long in every activation of its definition, or its structure
fixes the length. By construction where the structure does:

- `done` is a register's, and the register is written from the first cycle on: one cycle;
- `done` is a register's, which is written when a pipelined multiplier or a memory of the library
  is done, and these are started from the first cycle on: their latency and one more. What starts
  them does not depend on the register.

Elsewhere the run's evidence is all there is, and the claim says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope.calyx.rewrites._lengths import length
from cyclescope.calyx.rewrites._rewrite import CalyxRewrite, candidate, lengths_edit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cyclescope._rewrites import Candidate
    from cyclescope.calyx.rewrites._scope import Scope

__all__ = ["REWRITE"]


def _find(scope: Scope) -> Iterator[Candidate]:
    if not scope.plain:
        return
    for group in scope.groups.values():
        dynamic = not group.comb and group.latency is None
        if not dynamic or "promotable" in group.attributes:
            continue
        known = length(scope, group)
        if known is None:
            continue
        place = f"{scope.name}: {group.name}"
        yield candidate(
            NAME, scope, place, group.start, known.claim, known.reason,
            lengths_edit(group, known.cycles),
        )  # fmt: skip


NAME = "promote-group"
REWRITE = CalyxRewrite(
    NAME,
    "Say the length of a group that always takes as long, so that the compiler needs no done"
    " signal of it.",
    opens=True,
    find=_find,
)
