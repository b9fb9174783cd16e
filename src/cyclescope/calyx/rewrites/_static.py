"""Control of fixed length as `static`: nothing in it waits for a done signal.

Precondition: every group inside has a known length (see `_lengths`), and the block has nothing
but enables, `seq`, `par`, `repeat` and `if`s without a group for their condition. The groups lose
their done signal; wherever else they are enabled they take as long as before.

A `done` may still be high from what used the cell in the cycle before: a group that starts a cell
while it is not done, and writes a register when it is, does both at their cycles instead. One that
asks a `done` otherwise was seen to take as long, and no more is known of it.

A static `if` takes as long as its longer branch, whichever it takes: those whose branches are
alike, by a cycle at most, are one rewrite, the others another, which pays seldom.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope._edits import Edit
from cyclescope._rewrites import Claim
from cyclescope.calyx._syntax import walk
from cyclescope.calyx.rewrites._lengths import length
from cyclescope.calyx.rewrites._rewrite import CalyxRewrite, bare, candidate, delete
from cyclescope.calyx.rewrites._scope import asks_done, cell_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cyclescope._rewrites import Candidate
    from cyclescope.calyx._syntax import GroupText, Statement
    from cyclescope.calyx.rewrites._lengths import Length
    from cyclescope.calyx.rewrites._scope import Scope

__all__ = ["BRANCHES", "REWRITE"]


def _alike(scope: Scope) -> Iterator[Candidate]:
    return _find(scope, NAME, slack=1)


def _any(scope: Scope) -> Iterator[Candidate]:
    return _find(scope, BRANCHES_NAME, slack=None)


def _find(scope: Scope, name: str, slack: int | None) -> Iterator[Candidate]:
    """Largest blocks that can be static; of an if, branches may differ by `slack` cycles."""
    if not scope.plain:
        return
    lengths = {
        name: found
        for name, group in scope.groups.items()
        if _convertible(scope, group) and (found := length(scope, group)) is not None
    }
    cycles: dict[int, int | None] = {}
    for statement in reversed(scope.statements):
        cycles[id(statement)] = _cycles(statement, lengths, cycles, slack)
    for statement in scope.statements:
        above = scope.parents.get(id(statement))
        inside = above is not None and cycles[id(above)] is not None
        if cycles[id(statement)] is None or inside:
            continue
        if statement.kind != "enable" and not statement.static:
            yield _made(scope, statement, lengths, name)


def _convertible(scope: Scope, group: GroupText) -> bool:
    """Return whether a group can do without its done signal."""
    if group.comb:
        return False
    if group.latency is not None:
        return True
    done = [a for a in group.assignments if a.dst == f"{group.name}[done]"]
    return len(done) == 1 and done[0].guard is None and group.name not in scope.called


def _cycles(
    statement: Statement,
    lengths: dict[str, Length],
    cycles: dict[int, int | None],
    slack: int | None,
) -> int | None:
    """The length of a statement that is or can be static; None for others."""
    if not bare(statement):
        return None
    if statement.kind == "enable":
        found = lengths.get(statement.name)
        return None if found is None else found.cycles
    if statement.kind not in ("seq", "par", "repeat", "if") or statement.with_group:
        return None
    then = [cycles[id(s)] for s in statement.body]
    other = [cycles[id(s)] for s in statement.otherwise or ()]
    known = [n for n in (*then, *other) if n is not None]
    if not then or len(known) < len(then) + len(other):
        return None
    if statement.kind == "par":
        return max(known)
    if statement.kind == "repeat":
        return sum(known) * statement.count or None
    first, second = sum(known[: len(then)]), sum(known[len(then) :])
    if statement.kind == "if" and slack is not None and abs(first - second) > slack:
        return first if statement.static else None
    return max(first, second)


def _made(scope: Scope, statement: Statement, lengths: dict[str, Length], name: str) -> Candidate:
    edits, claim, open_ = [], Claim.CONSTRUCTION, []
    for inner in walk([statement]):
        if inner.kind != "enable":
            if not inner.static:
                edits.append(Edit(inner.head[0], inner.head[0], b"static "))
            continue
        known, group = lengths[inner.name], scope.groups[inner.name]
        if known.claim is Claim.DATA or _asks(group, known):
            claim = Claim.DATA
            open_.append(inner.name)
        if group.latency is None:
            done = next(a for a in group.assignments if a.dst == f"{group.name}[done]")
            edits.append(Edit(group.start, group.start, f"static<{known.cycles}> ".encode()))
            edits.append(delete(scope.text, *done.span))
            edits += _timed(known)
    names = list(dict.fromkeys(open_))
    some = ", ".join(names[:3]) + (" …" if len(names) > 3 else "")
    reason = f"{some} always took as long in the run"
    if not names:
        reason = "every group in it has a fixed length"
    place = scope.place(statement)
    return candidate(name, scope, place, statement.start, claim, reason, dict.fromkeys(edits))


def _asks(group: GroupText, known: Length) -> bool:
    """Return whether a group that becomes static depends on a `done` that others leave."""
    if group.latency is not None:
        return False
    own = [a for a in (known.start, known.answer) if a is not None]
    waits = [a for a in group.assignments if a not in own and a.dst != f"{group.name}[done]"]
    if known.answer is not None:
        # At its cycle the answer is there, whatever `done` was before.
        cell = known.answer.guard or known.answer.src
        waits = [a for a in waits if not (a.guard == cell and a.src.startswith(cell_of(cell)))]
    return asks_done(waits)


def _timed(known: Length) -> Iterator[Edit]:
    """Start a cell in the cycles before its answer, and take this at its cycle."""
    last = known.cycles - 1
    if known.start is not None and known.start.guard is not None:
        yield Edit(*known.start.span, f"{known.start.dst} = %[0:{last}] ? 1'd1;".encode())
    if known.answer is not None:
        yield Edit(*known.answer.span, f"{known.answer.dst} = %{last} ? 1'd1;".encode())


NAME = "static-control"
REWRITE = CalyxRewrite(
    NAME,
    "Make control static where all in it has a fixed length: no step waits for a done signal.",
    find=_alike,
)
BRANCHES_NAME = "static-branches"
BRANCHES = CalyxRewrite(
    BRANCHES_NAME,
    "Make an if static though one branch is longer: both take as long then, and no step waits.",
    find=_any,
)
