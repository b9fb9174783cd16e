"""The known defects of the original tools are not here (`docs/original.md`, by number).

The defects of reading traces (10, 13) and of deriving tables (14) have tests in those packages;
here are those that a program shows.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from cyclescope.analyse import table
from cyclescope.calyx import profile_program, verify_program
from cyclescope.model import Kind, Profile, active_cycles, check_laws
from meaning import design_overhead

PROGRAMS = Path(__file__).parent / "programs"


@cache
def profile(name: str) -> Profile:
    result = profile_program(PROGRAMS / f"{name}.futil", PROGRAMS / f"{name}.json").profile
    check_laws(result)
    return result


def cycles_of(found: Profile, *stack: str) -> int:
    """Cycles in which a call path is active; a label matches by its beginning."""
    wanted = [
        path
        for path in range(len(found.call_paths))
        if len(labels := found.stack(path)) == len(stack)
        and all(label.startswith(part) for label, part in zip(labels, stack, strict=True))
    ]
    return int(active_cycles(found)[wanted].sum())


def test_1_a_repeated_single_enable_runs_so_many_times() -> None:
    found = profile("static_repeat")
    # `inc_a` is enabled in one place, and runs 10 times there.
    repeats = [p for p in range(len(found.call_paths)) if found.stack(p)[-1] == "inc_a"]
    assert int(active_cycles(found)[repeats].sum()) == 10


@pytest.mark.long(keep_one_in=3)
@pytest.mark.parametrize("name", ["static_repeat", "sync_shared_condition", "sync_pair"])
def test_2_no_count_and_no_memory_changes(name: str) -> None:
    assert verify_program(PROGRAMS / f"{name}.futil", PROGRAMS / f"{name}.json").holds


def test_3_static_control_below_dynamic_control_has_its_lines() -> None:
    found = profile("static_islands")
    static = [f for f in found.catalog if f.kind is Kind.CONTROL and f.detail.startswith("static")]
    assert {f.positions[0].line for f in static} == {56, 57, 60}


def test_4_statements_need_no_seq_around_them() -> None:
    found = profile("bare_statements")
    assert design_overhead(found).useful > 0
    assert all(f.positions for f in found.catalog if f.kind is Kind.GROUP and not f.generated)


def test_5_inlined_components_are_profiled_below_their_invoke() -> None:
    found = profile("inlined")
    shown = {".".join(found.stack(p)) for p in range(len(found.call_paths))}
    assert any("invoke a" in stack and "dbl" in stack for stack in shown)
    assert any("invoke b" in stack and "dbl" in stack for stack in shown)


def test_6_continuous_assignments_stop_nothing() -> None:
    assert profile("continuous").cycles == 4


def test_7_invoked_primitives_are_shown_below_their_invoke() -> None:
    found = profile("invoke_primitives")
    below = {
        (found.stack(int(found.call_paths.parent[p]))[-1].split(" L")[0], found.frame_of(p).name)
        for p in range(len(found.call_paths))
        if found.frame_of(p).kind is Kind.PRIMITIVE
    }
    assert {("invoke m", "m"), ("invoke d", "d"), ("invoke a", "a")} <= below


def test_8_components_out_of_reach_stop_nothing() -> None:
    found = profile("never_called")
    assert found.meta.complete
    assert not any(f.name == "unused" for f in found.catalog)


def test_10_a_condition_of_two_threads_is_shown_in_both() -> None:
    found = profile("sync_shared_condition")
    loops = {
        found.stack(p)[-2] for p in range(len(found.call_paths)) if found.stack(p)[-1][:4] == "more"
    }
    assert loops == {"while L51", "while L54"}


def test_12_promoted_programs_keep_their_control() -> None:
    found = profile("static_repeat")
    names = {row.frame.name for row in table(found, Kind.CONTROL) if row.cycles}
    assert {"static repeat L57", "static repeat L58", "static seq L58"} <= names
