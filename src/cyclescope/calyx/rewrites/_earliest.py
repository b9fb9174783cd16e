"""Statements of a `seq` as early as what they depend on allows.

Where statements fall into parts that do not depend on each other, each part is an arm of a `par`,
in its own order. Where all hang together, each statement goes to the first step at which all that
it depends on has ended (ASAP, as soon as possible), and what falls into one step runs side by side.

Precondition: what one of two statements drives, the other neither drives nor reads, wherever their
order changes or they run side by side. A combinational cell that groups use each for itself is no
dependence: those that run side by side get one each.
"""

from __future__ import annotations

from itertools import combinations, pairwise
from typing import TYPE_CHECKING

from cyclescope._edits import Edit
from cyclescope._rewrites import Claim
from cyclescope.calyx.rewrites._order import (
    dependences,
    shared_cells,
    with_cells_of_their_own,
)
from cyclescope.calyx.rewrites._rewrite import CalyxRewrite, bare, candidate
from cyclescope.calyx.rewrites._scope import asks_done

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cyclescope._rewrites import Candidate
    from cyclescope.calyx._syntax import Statement
    from cyclescope.calyx.rewrites._scope import Scope

__all__ = ["REWRITE", "levels"]


def _find(scope: Scope) -> Iterator[Candidate]:
    if not scope.plain or scope.aliased():
        return
    for block in scope.statements:
        if block.kind != "seq" or block.latency is not None or not bare(block):
            continue
        if len(block.body) < 3 or (block.static and _asks(scope, block)):
            continue
        before = dependences(scope, block.body)
        parts = _parts(before)
        steps = levels(before)
        if len(parts) > 1 and any(len(part) > 1 for part in parts):
            yield _made(scope, block, parts, together=True)
        elif len(parts) == 1 and [n for step in steps for n in step] != list(range(len(before))):
            yield _made(scope, block, steps, together=False)


def _asks(scope: Scope, block: Statement) -> bool:
    """Return whether a group in a static block looks at a `done`, which others may leave high."""
    groups = (scope.groups[name] for name in scope.groups_in(block) if name in scope.groups)
    return any(asks_done(group.assignments) for group in groups)


def levels(before: list[set[int]]) -> list[list[int]]:
    """Statements by step, if each runs as soon as those before it that it follows have ended."""
    level: list[int] = []
    for earlier in before:
        level.append(1 + max((level[n] for n in earlier), default=-1))
    steps: list[list[int]] = [[] for _ in range(1 + max(level, default=-1))]
    for n, at in enumerate(level):
        steps[at].append(n)
    return steps


def _parts(before: list[set[int]]) -> list[list[int]]:
    """Statements by part: no two parts depend on each other."""
    part = list(range(len(before)))
    for n, earlier in enumerate(before):
        for joined in {part[m] for m in earlier}:
            part = [part[n] if p == joined else p for p in part]
    return [[n for n, p in enumerate(part) if p == name] for name in dict.fromkeys(part)]


def _made(scope: Scope, block: Statement, groups: list[list[int]], *, together: bool) -> Candidate:
    """A block of parts side by side, or of steps in turn."""
    beside = combinations(groups, 2) if together else ()
    pairs = [(a, b) for one, other in beside for a in one for b in other]
    if not together:
        pairs = [pair for step in groups for pair in combinations(step, 2)]
    copies: dict[str, set[str]] = {}
    for a, b in pairs:
        later = block.body[max(a, b)]
        if shared := shared_cells(scope, later, block.body[min(a, b)]):
            copies.setdefault(later.name, set()).update(shared)
    opened, closed = block.block[0] + 1, block.block[1] - 1
    ends = [opened, *(s.span[1] for s in block.body)]
    pieces = [scope.text[a:b] for a, b in pairwise(ends)]
    fixed = b"static " if block.static else b""
    inner = fixed + (b"seq" if together else b"par")
    texts = [b"".join(pieces[n] for n in group) for group in groups]
    texts = [
        b" " + inner + b" {" + text + b" }" if len(group) > 1 else text
        for text, group in zip(texts, groups, strict=True)
    ]
    whole = b"".join(texts) + scope.text[ends[-1] : closed]
    if together:
        whole = b" " + fixed + b"par {" + whole + b" } "
    edits = [Edit(opened, closed, whole), *with_cells_of_their_own(scope, copies)]
    reason = "none drives what another beside or before it drives or reads"
    if copies:
        cells = sorted(set().union(*copies.values()))
        reason += f"; {', '.join(cells)} got for each alone"
    return candidate(
        NAME, scope, scope.place(block), block.start, Claim.CONSTRUCTION, reason,
        dict.fromkeys(edits), premises=(block,),
    )  # fmt: skip


NAME = "as-soon-as-possible"
REWRITE = CalyxRewrite(
    NAME,
    "Run each statement of a seq as soon as what it depends on has ended.",
    rival="seq-to-par",
    find=_find,
)
