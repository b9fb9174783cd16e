"""Random profiles of threads in states, with counters of both sorts."""

from __future__ import annotations

import random

import numpy as np
from hypothesis import strategies as st

from cyclescope.model import Kind, Meta, Position, Profile, ProfileBuilder, Series
from meaning import Frame
from strategies import HOSTILE

STATES = ("idle", "running", "critical", "spinning")


def _intervals(rng: random.Random, cycles: int, *, gaps: bool) -> tuple[list[int], list[int]]:
    start, end, at = [], [], 0
    while at < cycles:
        at += rng.randint(0, 3) if gaps else 0
        until = min(at + rng.randint(1, 5), cycles)
        if at >= until:
            break
        start.append(at)
        end.append(until)
        at = until
    return start, end


def _series(
    rng: random.Random, track: str, name: str, metric: str, path: int, cycles: int
) -> Series:
    start, end = _intervals(rng, cycles, gaps=rng.random() < 0.5)
    low = 0 if metric == "bytes" or rng.random() < 0.7 else -(1 << 40)
    value = [rng.randint(low, 1 << rng.choice((3, 20, 62))) for _ in start]
    columns = (np.array(column, dtype=np.int64) for column in (start, end, value))
    return Series(track, name, metric, "B" if metric == "bytes" else "", path, *columns)


@st.composite
def threaded_profiles(draw: st.DrawFn, *, hostile: bool = False) -> Profile:
    """Threads below a region, each in one state, loops below the states, and counters."""
    rng = random.Random(draw(st.integers(0, 2**32)))
    threads = draw(st.integers(1, 5))
    builder = ProfileBuilder()
    region = builder.path(-1, Frame(Kind.CELL, "region", "", "gemm"))
    paths = []
    for number in range(threads):
        name = rng.choice(HOSTILE) + str(number) if hostile else f"thread {number}"
        paths.append(builder.path(region, Frame(Kind.THREAD, name, "region")))
    cycles, trees = [], []
    for _ in range(draw(st.integers(1, 30))):
        active = []
        for thread in paths:
            state = rng.choice(STATES)
            path = builder.path(thread, Frame(Kind.STATE, state, "region"))
            active.append(path)
            if state == "running" and rng.random() < 0.5:
                where = (Position("c", "gemm.c", 12),)
                active.append(builder.path(path, Frame(Kind.LOOP, "L12", "gemm", "", where)))
        trees.append(builder.tree(active))
        cycles.append(rng.randint(1, 9))
    total = sum(cycles)
    for number, path in enumerate(paths):
        track = f"region.thread {number}"
        if rng.random() < 0.8:
            builder.counter(_series(rng, track, "bytes read", "bytes", path, total))
        if rng.random() < 0.5:
            builder.counter(_series(rng, track, "outstanding", "requests out", path, total))
    if rng.random() < 0.5:
        builder.counter(_series(rng, "bank 0", "row misses", "row misses", -1, total))
    return builder.build(Meta("hls", "gemm.c"), cycles, trees)
