"""A profile has its hardware's schedule: what --explain says, as data."""

from __future__ import annotations

from pathlib import Path

import pytest

from cyclescope.errors import LawError
from cyclescope.hls import compile_c, explain, machine_of
from cyclescope.hls.run._scheduled import with_schedule
from cyclescope.hls.trace import Sites
from cyclescope.model import Bound, Loop, Operation, Site, site_from_json, site_to_json

FOLDER = Path(__file__).parent / "programs"
EXAMPLES = Path(__file__).parents[2] / "examples" / "hls"
PROGRAMS = [
    *(FOLDER / f"{name}.c" for name in ("floats", "histogram", "local_vectors", "nested_locks")),
    *(FOLDER / f"{name}.c" for name in ("thread_private", "sections", "double_buffer")),
    *sorted(EXAMPLES.glob("*/*.c")),
]


def scheduled(source: Path, text: str | None = None) -> tuple[list[Site], str]:
    """The sites of a program, and what --explain says of it."""
    program = compile_c(source, text=text, defines={"DIM": "16"} if text is None else {})
    machine = machine_of(program)
    every = Sites(machine.region, machine.pipelines).every
    return list(with_schedule(every, machine, program.unit.text)), explain(program)


@pytest.mark.parametrize("source", PROGRAMS, ids=lambda p: p.stem)
def test_a_schedule_is_what_is_explained(source: Path) -> None:
    sites, text = scheduled(source)
    operations = [site for site in sites if isinstance(site, Operation)]
    label = {o.of: o.array for o in operations if o.name == "loop"} | {-1: ""}
    told: set[tuple[str, int, int]] = set()
    waiting: set[tuple[str, int]] = set()
    loop, stage = "", 0
    for row in text.splitlines():
        words = row.split()
        if row.startswith(("loop ", "the region,")):
            loop = words[1].rstrip(",") if row.startswith("loop ") else ""
        elif row.startswith("  stage "):
            stage = int(words[1])
            if row.endswith("waits for"):
                waiting.add((loop, stage))
        elif row.startswith("    line "):
            told.add((loop, stage, int(words[1].rstrip(":"))))
    assert told == {(label[o.loop], o.stage, o.position.line) for o in operations if o.position}
    assert waiting == {(label[o.loop], o.stage) for o in operations if o.waits}


@pytest.mark.parametrize("source", PROGRAMS, ids=lambda p: p.stem)
def test_no_operation_begins_before_what_it_needs(source: Path) -> None:
    sites, _ = scheduled(source)
    for site in sites:
        assert site_from_json(site_to_json(site)) == site
        if not isinstance(site, Operation):
            continue
        for number in site.after:
            before = sites[number]
            assert isinstance(before, Operation)
            assert before.loop == site.loop
            assert before.stage + before.stages <= site.stage


@pytest.mark.parametrize("source", PROGRAMS, ids=lambda p: p.stem)
def test_a_loop_has_the_interval_that_its_bounds_ask_for(source: Path) -> None:
    sites, _ = scheduled(source)
    for number, site in enumerate(sites):
        if isinstance(site, Loop):
            own = [b.interval for b in sites if isinstance(b, Bound) and b.loop == number]
            assert max(own, default=1) == site.interval
    for bound in sites:
        if isinstance(bound, Bound):
            parts = [sites[n] for n in bound.operations]
            assert all(isinstance(o, Operation) and o.loop == bound.loop for o in parts)


def test_a_sum_is_bound_by_its_recurrence_and_waits_where_memory_is() -> None:
    text = """
#include <omp.h>
void k(float *a, float *b, int n) {
#pragma omp target parallel map(to: a[0:n]) map(tofrom: b[0:8]) num_threads(4)
  { float s = 0;
    for (int i = omp_get_thread_num(); i < n; i += 4)
      s += a[i];
    b[omp_get_thread_num()] = s; } }
"""
    sites, _ = scheduled(Path("k.c"), text)
    (bound,) = [site for site in sites if isinstance(site, Bound)]
    assert (bound.limit, bound.name) == ("recurrence", "s")
    (adder,) = [sites[n] for n in bound.operations]
    assert isinstance(adder, Operation)
    assert (adder.unit, adder.text, adder.count) == ("fadd32", "s += a[i]", 1)
    assert bound.interval == adder.stages + 1
    (load,) = [site for site in sites if isinstance(site, Operation) and site.name == "load"]
    assert load.waits
    assert load.label == "load a"
    assert sites[load.of].label == "load of a"
    assert sites.index(load) in adder.after


def test_lanes_side_by_side_are_one_operation() -> None:
    sites, _ = scheduled(EXAMPLES / "pi" / "pi.c")
    adders = [s for s in sites if isinstance(s, Operation) and s.name == "fadd" and s.count > 1]
    assert adders


def test_sites_of_another_machine_are_noticed() -> None:
    program = compile_c(FOLDER / "floats.c")
    with pytest.raises(LawError, match="sites"):
        with_schedule([], machine_of(program), program.unit.text)
