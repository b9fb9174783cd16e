"""The paper's small cases, with its figures: Petal, sections 2, 7.1 and 8.2.2."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from cyclescope.calyx import CalyxOptions, profile_program
from cyclescope.model import Kind, Profile
from meaning import design_overhead

EXAMPLES = Path(__file__).parents[2] / "examples" / "calyx"


@cache
def profile(name: str, *disable: str) -> Profile:
    program = EXAMPLES / f"{name}.futil"
    return profile_program(
        program, program.with_suffix(".json"), CalyxOptions(disable=disable)
    ).profile


def tree(profile: Profile, cycle: int) -> str:
    """The call tree of a cycle as text, without primitives: `main(seq(par(if, if)))`."""
    run = int((profile.schedule.start <= cycle).sum()) - 1
    active = set(profile.forest[int(profile.schedule.tree[run])].tolist())
    children = profile.call_paths.children

    def show(path: int) -> str:
        frame = profile.frame_of(path)
        inner = [
            show(child)
            for child in children[path]
            if child in active and profile.frame_of(child).kind is not Kind.PRIMITIVE
        ]
        name = frame.detail if frame.kind is Kind.CONTROL else frame.name
        return f"{name}({', '.join(inner)})" if inner else name

    return show(0)


def groups_of(profile: Profile, cycle: int) -> set[str]:
    run = int((profile.schedule.start <= cycle).sum()) - 1
    paths = profile.forest[int(profile.schedule.tree[run])].tolist()
    return {f.name for p in paths if (f := profile.frame_of(p)).kind is Kind.GROUP}


def state_steps(profile: Profile) -> list[int]:
    """The cycles in which a state register takes a step: to a new value that isn't its first."""
    registers = [s for s in profile.series if s.metric == "fsm"]
    return sorted(
        {t - 1 for s in registers for t, v in zip(s.start, s.value, strict=True) if t and v}
    )


def test_the_parallel_switch_takes_nine_cycles_three_of_them_computation() -> None:
    overhead = design_overhead(profile("switch_par"))
    assert (overhead.cycles, overhead.useful) == (9, 3)
    # Figure 4: all others update control; the par itself costs one (cycle 5).
    assert (overhead.fsm, overhead.par_done, overhead.both, overhead.other) == (5, 1, 0, 0)


def test_the_nested_if_takes_six() -> None:
    overhead = design_overhead(profile("switch_if"))
    assert (overhead.cycles, overhead.useful) == (6, 3)
    assert (overhead.fsm, overhead.par_done, overhead.both, overhead.other) == (3, 0, 0, 0)


@pytest.mark.parametrize(
    ("cycle", "expected"),
    [
        (0, "main(seq(read))"),
        (1, "main(seq)"),
        (2, "main(seq(par(if, if, if)))"),
        (3, "main(seq(par(if(run_s1(s1(add_hundred))))))"),
        (4, "main(seq(par(if)))"),
        (5, "main(seq(par))"),
        (6, "main(seq)"),
        (7, "main(seq(write))"),
        (8, "main(seq)"),
    ],
)
def test_the_call_trees_of_the_switch_are_those_of_figure_6(cycle: int, expected: str) -> None:
    assert tree(profile("switch_par"), cycle) == expected


def test_the_loop_with_a_condition_group_updates_its_register_three_times() -> None:
    loop = profile("while_with")
    # Figure 17a: after init, before the first iteration, and when the loop ends.
    assert loop.cycles == 17
    assert state_steps(loop) == [1, 3, 16]
    assert [c for c in range(17) if "cond" in groups_of(loop, c)] == [2, 7, 11, 15]


def test_both_rewrites_of_the_loop_save_what_the_paper_says() -> None:
    manual, parallel = profile("while_manual"), profile("while_parallel")
    assert manual.cycles == 17 - 1
    assert parallel.cycles == 17 - 1 - 3


def test_the_multiplication_before_and_after_promotion() -> None:
    before, after = profile("multiply", "static-promotion"), profile("multiply")
    assert (before.cycles, after.cycles) == (14, 6)
    overhead = design_overhead(before)
    assert (overhead.useful, overhead.fsm, overhead.overhead) == (9, 5, 5)
    assert design_overhead(after).overhead == 0
    # Figure 10c: the reads and i_next moved beside each other, and no register is updated.
    assert groups_of(after, 0) == {"read_A_idx", "read_B_idx", "i_next"}
    assert state_steps(after) == []


def test_promoted_loops_stay_in_the_picture() -> None:
    program = Path(__file__).parent / "programs" / "matrix_multiply.futil"
    result = profile_program(program, program.with_suffix(".json")).profile
    seen = {
        frame.detail.removeprefix("static ")
        for path in range(len(result.call_paths))
        if (frame := result.frame_of(path)).kind is Kind.CONTROL
    }
    written = program.read_text().split("control {")[1]
    for operator in ("while", "repeat", "if", "par"):
        if f" {operator} " in written:
            assert operator in seen
    assert seen & {"while", "repeat"}
