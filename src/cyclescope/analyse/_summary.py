"""The answer in brief: how long, how well used, what was odd, and where the time went."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from cyclescope.analyse._account import Account, Use, account, uses_of_paths
from cyclescope.analyse._places import places
from cyclescope.analyse._team import Team, team
from cyclescope.model import (
    Activity,
    Cause,
    Ints,
    Kind,
    Meta,
    Position,
    Profile,
    cycles_with,
    leaves,
    tree_cycles,
)

__all__ = ["HotPath", "Summary", "is_hot", "summarise"]


def is_hot(use: Use) -> bool:
    """Return whether a path of that use can be hot: one that computes, not one that waits."""
    return use != Use(Activity.WAITING, Cause.OPERAND.value)


@dataclass(frozen=True, slots=True)
class HotPath:
    """A path inside a cell instance and its own cycles, spent at its end.

    Attributes:
        instance: the instance, dotted. Whoever called it: its callers are told apart in the
            flame graph, here they would only split one hot spot into many lukewarm ones. Of
            threads without a design around them that share the path: `threads`.
        stack: labels from below the instance's cell down; empty for the cell itself.
        kind: of the last frame: work if it is a group, overhead if a control block or a cell.
        cycles: cycles in which it was active and called nothing but primitives. With threads it
            is where they are, whoever they are, in thread-cycles.
        share: of the run's total, exact. Paths active in parallel each count the whole cycle.
            With threads, of all thread-cycles.
        position: where the last frame comes from.
    """

    instance: str
    stack: tuple[str, ...]
    kind: Kind | str
    cycles: int
    share: Fraction
    position: Position | None


@dataclass(frozen=True, slots=True)
class Summary:
    """A whole run in brief; `meta` says whether it is complete and what went wrong.

    `team` is None where there are no threads.
    """

    meta: Meta
    cycles: int
    account: Account
    hottest: tuple[HotPath, ...]
    team: Team | None = None

    def share(self, cycles: int) -> Fraction:
        """Cycles of the run's total, exactly."""
        return Fraction(cycles, self.cycles) if self.cycles else Fraction(0)


def summarise(profile: Profile, *, hottest: int = 10) -> Summary:
    """Summarise a profile, with its hottest paths: at most that many, most cycles first."""
    threads = team(profile)
    place_of = places(profile, as_team=threads is not None)
    own = _own_cycles(profile, place_of, each=threads is not None)
    for path, use in enumerate(uses_of_paths(profile)):
        if not is_hot(use):
            own[place_of[path]] = 0
    whole = profile.cycles * (1 if threads is None else len(threads.members))
    example: dict[int, int] = {}
    heads: dict[int, set[str]] = {}
    for path, place in enumerate(place_of):
        example.setdefault(place, path)
        if threads is not None:
            heads.setdefault(place, set()).add(profile.instances[profile.lineage(path)[0]])
    order = np.argsort(-own, kind="stable")[:hottest]
    paths = []
    for place in order[own[order] > 0].tolist():
        path = example[place]
        frame = profile.frame_of(path)
        chain = profile.lineage(path)
        instance = profile.instances[path if threads is None else chain[0]]
        if len(heads.get(place, ())) > 1:
            instance = "threads"
        inside = [p for p in chain if threads or profile.instances[p] == instance]
        paths.append(
            HotPath(
                instance=instance,
                stack=tuple(
                    profile.frame_of(p).label
                    for p in inside
                    if profile.frame_of(p).kind not in (Kind.CELL, Kind.THREAD)
                ),
                kind=frame.kind,
                cycles=int(own[place]),
                share=Fraction(int(own[place]), whole),
                position=frame.positions[0] if frame.positions else None,
            )
        )
    return Summary(
        meta=profile.meta,
        cycles=profile.cycles,
        account=account(profile),
        hottest=tuple(paths),
        team=threads,
    )


def _own_cycles(profile: Profile, place: tuple[int, ...], *, each: bool) -> Ints:
    """For each place the cycles in which nothing but primitives was active below it.

    Paths of one place that are active together count once, or `each`.

    Primitives count for the group that calls them: a group that drives three adders is one
    thing to look at, not three.
    """
    frames = [profile.frame_of(path).kind for path in range(len(profile.call_paths))]
    kept = np.array([kind is not Kind.PRIMITIVE for kind in frames], dtype=np.bool_)
    trees, paths = profile.leaves if kept.all() else leaves(profile, kept)
    ends = np.array(place, dtype=np.int64)[paths]
    count = max(place, default=-1) + 1
    if not each:
        return cycles_with(profile, trees, ends, count)
    own = np.zeros(count, dtype=np.int64)
    np.add.at(own, ends, tree_cycles(profile)[trees])
    return own
