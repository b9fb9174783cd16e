"""The engine against the slow model, on random affine kernels."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from bounds.kernels import kernels
from bounds.reference import (
    Loop,
    Outcome,
    Statement,
    c_text,
    needs_reordering,
    order_class,
    run,
    textual,
)
from cyclescope.bounds import (
    Bounds,
    Calibration,
    Estimate,
    Resources,
    StatementRule,
    estimate,
    profile_of,
)
from cyclescope.bounds._detail import waits_of
from cyclescope.bounds._native import Program
from cyclescope.bounds._run import MEMORY, prepare
from cyclescope.model import check_laws

Kernel = tuple[Loop | Statement, ...]


def rules(kernel: Kernel) -> tuple[StatementRule, ...]:
    return tuple(
        StatementRule(label=s.label, latency=s.latency, interval=s.interval, origin=s.label)
        for s in textual(kernel)
    )


def engine(kernel: Kernel, *, read: int = 1, write: int = 1, **options: Any) -> Bounds:
    calibration = Calibration(read=read, write=write, statements=rules(kernel))
    return estimate("k.c", text=c_text(kernel), calibration=calibration, **options)


def compare(found: Estimate, wanted: Outcome) -> None:
    assert found.cycles == wanted.cycles
    assert {f.process.name: f.count for f in found.firings} == dict(wanted.firings)
    for firings in found.firings:
        for stage in "REW":
            profile = found.stage(firings.process, stage)
            dense = Counter({t: int(n) for t, n in enumerate(profile) if n})
            assert dense == wanted.stages[firings.process.name, stage], (
                firings.process.name,
                stage,
            )
    total = Counter({t: int(n) for t, n in enumerate(found.parallelism) if n})
    assert total == wanted.parallelism
    assert found.work == wanted.parallelism.total()
    assert found.maximum_parallelism == max(wanted.parallelism.values(), default=0)


@pytest.mark.long
@settings(max_examples=12, suppress_health_check=[HealthCheck.too_slow])
@given(kernels(), st.integers(1, 3), st.integers(1, 2))
def test_both_estimates_are_those_of_the_definitions(kernel: Kernel, read: int, write: int) -> None:
    found = engine(kernel, read=read, write=write)
    compare(found.absolute, run(kernel, resources=1, read=read, write=write))
    compare(found.unbounded, run(kernel, resources=None, read=read, write=write))
    assert found.unbounded.cycles <= found.absolute.cycles
    for one in found.estimates:
        profile = profile_of(found, one)
        check_laws(profile)
        assert profile.cycles == one.cycles


@pytest.mark.long
@settings(max_examples=12, suppress_health_check=[HealthCheck.too_slow])
@given(kernels())
def test_estimates_between_the_bounds(kernel: Kernel) -> None:
    numbers = (1, 2, 3, 5, 8, 1000)
    found = engine(kernel, resources=Resources(numbers))
    assert [point.resources for point in found.curve] == list(numbers)
    before = None
    for number, point in zip(numbers, found.curve, strict=True):
        compare(point, run(kernel, resources=number))
        assert point.pipeline_efficiency is None or 0 < point.pipeline_efficiency <= 1
        # Never later: not in all, and no process's work.
        if before is not None:
            assert point.cycles <= before.cycles
            assert all(a.end <= b.end for a, b in zip(point.firings, before.firings, strict=True))
        before = point
    for end, bound in ((found.curve[0], found.absolute), (found.curve[-1], found.unbounded)):
        assert (end.cycles, end.firings) == (bound.cycles, bound.firings)


@pytest.mark.long
@settings(max_examples=6, suppress_health_check=[HealthCheck.too_slow])
@given(kernels())
def test_the_ends_of_the_curve_are_the_bounds(kernel: Kernel) -> None:
    """The run with a number of resources by itself, where the curve takes the bounds' own."""
    unit, network, declarations, calibration = prepare(
        "k.c", text=c_text(kernel), calibration=Calibration(statements=rules(kernel))
    )
    with Program(network, declarations) as program:
        once = partial(program.run, read=1, write=1, memory=MEMORY)
        bounds = Bounds(unit, network, calibration, once())
        for number, bound in ((1, bounds.absolute), (10**6, bounds.unbounded)):
            point = bounds.with_resources(number, once(resources=number))
            assert (point.cycles, point.firings) == (bound.cycles, bound.firings)
            assert point.parallelism.tolist() == bound.parallelism.tolist()


@settings(max_examples=6, suppress_health_check=[HealthCheck.too_slow])
@given(kernels())
def test_edges_and_critical_path(kernel: Kernel) -> None:
    found = engine(kernel, detail=True)
    assert found.detail is not None
    wanted = run(kernel, resources=1)
    edges = {
        (e.producer.name, e.operand, e.consumer.name): e
        for e in found.detail.edges
        if e.consumer.kind == "statement"
    }
    assert edges.keys() == wanted.reads.keys()
    for key, tokens in wanted.reads.items():
        edge = edges[key]
        assert (edge.reads, edge.tokens) == (len(tokens), len(set(tokens)))
        assert edge.order == order_class(tokens)
        assert edge.reordered == needs_reordering(tokens)
    for one in found.estimates:
        path = found.detail.critical_path[one.name]
        assert sum(step.cycles for step in path) == one.cycles
        assert sum(limit.cycles for limit in found.detail.limits[one.name]) == one.cycles
        for wait in waits_of(found, one):
            by_operand = sum(cycles for cycles, _ in wait.operands)
            assert by_operand == sum(cycles for _, cycles in wait.producers)


@pytest.mark.long
@settings(max_examples=6, suppress_health_check=[HealthCheck.too_slow])
@given(kernels())
def test_little_memory_changes_resolution_only(kernel: Kernel) -> None:
    fine = engine(kernel)
    assume(fine.absolute.cycles > 0)
    # The text repeated many times needs more cycles than the least memory holds.
    longer = tuple(Loop(f"t{n}", 0, 400, (node,)) for n, node in enumerate(kernel))
    full, coarse = engine(longer), engine(longer, memory=1)
    for a, b in zip(full.estimates, coarse.estimates, strict=True):
        assert (a.cycles, a.work) == (b.cycles, b.work)
        assert [(f.count, f.first, f.last) for f in a.firings] == [
            (f.count, f.first, f.last) for f in b.firings
        ]
        step = b.resolution
        assert int(b.parallelism.sum()) == b.work
        for bin_, work in enumerate(b.parallelism.tolist()):
            assert work == int(a.parallelism[bin_ * step : (bin_ + 1) * step].sum())
        check_laws(profile_of(coarse, b))
        assert b.maximum_parallelism <= a.maximum_parallelism
