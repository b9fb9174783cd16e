"""Profiles of threads in loops, as strategies draw them and as tests write them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import strategies as st

from cyclescope.model import Kind, Meta, Position, Profile, ProfileBuilder
from cyclescope.model import Loop as LoopSite
from meaning import Frame

if TYPE_CHECKING:
    from collections.abc import Sequence

Loop = tuple  # (line, counter, *inner loops)

__all__ = ["Loop", "team_profile", "team_profiles"]


def team_profile(
    loops: Sequence[Loop], threads: int = 2, *, sites: bool = True, states: Sequence[str] = ()
) -> Profile:
    """Each thread is in each loop for a cycle, first in state `running`, then in `states`."""
    builder = ProfileBuilder()
    root = builder.path(-1, Frame(Kind.CELL, "k", "k"))
    counters: dict[int, str] = {}
    ways: list[list[int]] = []

    def add(parent: int, loop: Loop, paths: list[int]) -> None:
        line, counter, *inner = loop
        frame = Frame(Kind.LOOP, f"L{line}", "k", positions=(Position("c", "k.c", line, 1),))
        counters[builder.frame(frame)] = counter
        path = builder.path(parent, frame)
        paths.append(path)
        for below in inner:
            add(path, below, paths)

    for number in range(threads):
        thread = builder.path(root, Frame(Kind.THREAD, f"thread {number}", "k", str(number)))
        paths: list[int] = []
        for name in ("running", *states):
            state = builder.path(thread, Frame(Kind.STATE, name, "k", name))
            paths.append(state)
            for loop in loops:
                add(state, loop, paths)
        ways.append(paths)
    trees = [builder.tree(list(active)) for active in zip(*ways, strict=True)]
    known = [LoopSite("k", counter=name, frame=number) for number, name in counters.items()]
    return builder.build(Meta("hls", "k.c"), [1] * len(trees), trees, sites=known if sites else ())


@st.composite
def team_profiles(draw: st.DrawFn) -> Profile:
    """Threads in nested loops, of which may be known what they count."""
    lines = iter(sorted(draw(st.sets(st.integers(1, 60), min_size=7, max_size=7))))

    def loop(depth: int) -> Loop:
        line = next(lines)
        name = draw(st.sampled_from(["i", "j", "k", ""]))
        inner = [loop(depth + 1) for _ in range(draw(st.integers(0, 2)) if depth < 2 else 0)]
        return (line, name, *inner)

    found = [loop(0)] if draw(st.booleans()) else []
    states = draw(st.lists(st.sampled_from(["critical", "spinning"]), unique=True))
    return team_profile(found, draw(st.integers(1, 3)), sites=draw(st.booleans()), states=states)
