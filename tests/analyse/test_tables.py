"""Tables against a plain walk over every cycle, and rows that people rely on."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings

from cyclescope.analyse import activations, table
from cyclescope.model import Kind, Meta, Position, Profile, ProfileBuilder, spans
from meaning import Frame

from ..strategies import calyx_profiles

KINDS = (Kind.CELL, Kind.GROUP, Kind.CONTROL, Kind.PRIMITIVE)


@settings(max_examples=40, deadline=None)
@given(calyx_profiles())
def test_totals_equal_a_walk_over_the_cycles(profile: Profile) -> None:
    expected: dict[tuple[int, str], int] = {}
    for tree, cycles in zip(
        profile.schedule.tree.tolist(), profile.schedule.cycles.tolist(), strict=True
    ):
        frames = {
            (int(profile.call_paths.frame[p]), profile.instances[p])
            for p in profile.forest[tree].tolist()
        }
        for key in frames:
            expected[key] = expected.get(key, 0) + cycles
    found = activations(profile)
    assert {key: what.total for key, what in found.items() if what.total} == expected
    for what in found.values():
        assert what.times * what.shortest <= what.total <= what.times * what.longest


@settings(max_examples=40, deadline=None)
@given(calyx_profiles())
def test_kinds_apart_are_the_whole(profile: Profile) -> None:
    whole = activations(profile)
    apart = {}
    for kind in KINDS:
        apart |= activations(profile, kind)
    assert apart == whole


@settings(max_examples=40, deadline=None)
@given(calyx_profiles())
def test_every_frame_has_a_row_and_rows_are_sorted(profile: Profile) -> None:
    for kind in KINDS:
        rows = table(profile, kind)
        assert {r.frame for r in rows} == {f for f in profile.catalog if f.kind is kind}
        assert [r.cycles for r in rows] == sorted((r.cycles for r in rows), reverse=True)
        for row in rows:
            assert row.share == Fraction(row.cycles, profile.cycles)
            assert (row.average is None) == (row.times == 0)
            if row.account is not None:
                assert row.account.total == row.cycles


@settings(max_examples=40, deadline=None)
@given(calyx_profiles())
def test_spans_of_some_paths_are_those_of_all(profile: Profile) -> None:
    whole = spans(profile)
    for path in range(0, len(profile.call_paths), 2):
        some = spans(profile, paths=np.array([path]))
        own = whole.path == path
        assert (some.start == whole.start[own]).all()
        assert (some.end == whole.end[own]).all()
        assert (some.path == path).all()


@settings(max_examples=60, deadline=None)
@given(calyx_profiles())
def test_no_activation_outlives_its_caller(profile: Profile) -> None:
    found = spans(profile)
    parents = profile.call_paths.parent.tolist()
    spans_of: dict[int, list[tuple[int, int]]] = {}
    for path, start, end in zip(found.path, found.start, found.end, strict=True):
        spans_of.setdefault(int(path), []).append((int(start), int(end)))
    for path, own in spans_of.items():
        if parents[path] >= 0:
            callers = spans_of[parents[path]]
            assert all(any(s <= a and b <= e for s, e in callers) for a, b in own)


def build(cycles: list[int], shown: list[list[str]], latency: int | None = None) -> Profile:
    builder = ProfileBuilder()
    main = builder.path(-1, Frame(Kind.CELL, "main", "", "main"))
    groups = {
        name: builder.path(
            main, Frame(Kind.GROUP, name, "main", "", (Position("calyx", "p.futil", 4),), latency)
        )
        for name in ("a", "b")
    }
    trees = [builder.tree([main, *(groups[n] for n in names)]) for names in shown]
    return builder.build(Meta("calyx", "p.futil"), cycles, trees)


def test_activations_of_equal_length_could_be_static() -> None:
    profile = build([2, 1, 2, 1, 3], [["a"], ["b"], ["a"], [], ["b"]])
    rows = {row.frame.name: row for row in table(profile, Kind.GROUP)}
    a, b = rows["a"], rows["b"]
    assert (a.times, a.cycles, a.shortest, a.longest, a.average) == (2, 4, 2, 2, 2)
    assert (b.times, b.cycles, b.shortest, b.longest, b.average) == (2, 4, 1, 3, 2)
    assert a.could_be_static
    assert not b.could_be_static
    assert str(a.position) == "p.futil:4"


def measured(*rows: tuple[Frame, tuple[int, ...]]) -> Profile:
    """Below `main` each frame, active for so many cycles each time, one after another."""
    builder = ProfileBuilder()
    main = builder.path(-1, Frame(Kind.CELL, "main", "main", "main"))
    cycles, trees = [], []
    for frame, lengths in rows:
        path = builder.path(main, frame)
        for length in lengths:
            cycles += [length, 1]
            trees += [builder.tree([path]), builder.tree([main])]
    return builder.build(Meta("calyx", "measured"), cycles, trees)


def could(profile: Profile, kind: Kind) -> set[str]:
    return {row.frame.name for row in table(profile, kind) if row.could_be_static}


def group(name: str, definition: str = "", detail: str = "", **more: bool) -> Frame:
    return Frame(Kind.GROUP, name, "main", detail, definition=definition, **more)


def test_a_group_is_judged_by_all_places_that_enable_it() -> None:
    """Three cycles at one place and two at another: it has no fixed length at either."""
    profile = measured(
        (group("g L1", "g"), (3, 3)),
        (group("g L2", "g"), (2, 2)),
        (group("h L3", "h"), (2, 2)),
        (group("h L4", "h"), (2,)),
        (group("k"), (1,)),
    )
    assert could(profile, Kind.GROUP) == {"h L3", "h L4", "k"}


def test_a_group_is_judged_by_all_instances_of_its_component() -> None:
    builder = ProfileBuilder()
    main = builder.path(-1, Frame(Kind.CELL, "main", "main", "main"))
    trees, cycles = [], []
    for cell, a, b in (("one", 2, 1), ("two", 2, 5)):
        inside = builder.path(main, Frame(Kind.CELL, cell, "main", "worker"))
        for name, length in (("a", a), ("b", b)):
            trees.append(builder.tree([builder.path(inside, Frame(Kind.GROUP, name, "worker"))]))
            cycles.append(length)
    profile = builder.build(Meta("calyx", "p"), cycles, trees)
    assert could(profile, Kind.GROUP) == {"a"}
    assert could(profile, Kind.CELL) == set()


def test_what_nobody_can_declare_static_is_not_proposed() -> None:
    profile = measured(
        (group("with", detail="comb group"), (1, 1)),
        (group("made", generated=True), (1, 1)),
        (Frame(Kind.CONTROL, "static par L1", "main", "static par"), (4, 4)),
        (Frame(Kind.CONTROL, "while L2", "main", "while"), (4, 4)),
        (Frame(Kind.CONTROL, "if L3", "main", "if"), (4, 4)),
    )
    assert could(profile, Kind.GROUP) == set()
    assert could(profile, Kind.CONTROL) == {"if L3"}


def test_a_block_with_something_inside_that_varies_could_not_be_static() -> None:
    """However equal its own activations were: a shorter arm, or a `while`, hides in it."""
    builder = ProfileBuilder()
    main = builder.path(-1, Frame(Kind.CELL, "main", "main", "main"))

    def block(name: str, operator: str, above: int = main) -> int:
        return builder.path(above, Frame(Kind.CONTROL, name, "main", operator))

    par, loop, seq = block("par L1", "par"), block("seq L2", "seq"), block("seq L3", "seq")
    rounds = block("while L4", "while", loop)
    long, short, inner, only = (
        builder.path(above, group(name))
        for above, name in ((par, "long"), (par, "short"), (rounds, "inner"), (seq, "only"))
    )
    shown = [([long, short], 1), ([long], 2), ([long, short], 2), ([long], 1),
             ([inner], 2), ([only], 2)]  # fmt: skip
    trees, cycles = [], []
    for number, (paths, length) in enumerate(shown):
        trees.append(builder.tree(paths))
        cycles.append(length)
        if number % 2:
            trees.append(builder.tree([main]))
            cycles.append(1)
    profile = builder.build(Meta("calyx", "p"), cycles, trees)
    assert could(profile, Kind.GROUP) == {"long", "inner", "only"}
    assert could(profile, Kind.CONTROL) == {"seq L3"}
    assert could(profile, Kind.CELL) == set()


def test_what_is_static_already_is_not_proposed_and_is_counted_one_by_one() -> None:
    (a, b) = table(build([6, 1], [["a"], []], latency=2), Kind.GROUP)
    assert (a.times, a.shortest, a.longest, a.could_be_static) == (3, 2, 2, False)
    assert (b.times, b.cycles, b.average, b.could_be_static) == (0, 0, None, False)


@pytest.mark.parametrize(("inner", "times"), [(2, 3), (None, 1)])
def test_what_is_static_is_cut_with_all_it_calls_if_all_of_that_is_static(
    inner: int | None, times: int
) -> None:
    builder = ProfileBuilder()
    main = builder.path(-1, Frame(Kind.CELL, "main", "", "main"))
    seq = builder.path(main, Frame(Kind.CONTROL, "seq", "main", "static seq", latency=2))
    group = builder.path(seq, Frame(Kind.GROUP, "g", "main", latency=inner))
    adder = builder.path(group, Frame(Kind.PRIMITIVE, "add", "main", "std_add"))
    profile = builder.build(Meta("calyx", "cut"), [6], [builder.tree([adder])])
    found = spans(profile)
    for path in (seq, group, adder):
        assert (found.path == path).sum() == times
    assert (found.path == main).sum() == 1
    (row,) = table(profile, Kind.PRIMITIVE)
    assert (row.times, row.cycles) == (times, 6)


@pytest.mark.parametrize(("second", "times", "cycles"), [(2, 1, 5), (3, 2, 6)])
def test_calls_of_one_cell_join_only_where_they_overlap(
    second: int, times: int, cycles: int
) -> None:
    builder = ProfileBuilder()
    main = builder.path(-1, Frame(Kind.CELL, "main", "", "main"))
    cell = Frame(Kind.CELL, "q", "main", "queue")
    one = builder.path(builder.path(main, Frame(Kind.GROUP, "one", "main")), cell)
    two = builder.path(builder.path(main, Frame(Kind.GROUP, "two", "main")), cell)
    shown = [[p for p, s in ((one, 0), (two, second)) if s <= c < s + 3] for c in range(cycles)]
    trees = [builder.tree(paths) for paths in shown]
    rows = table(builder.build(Meta("calyx", "q"), [1] * cycles, trees), Kind.CELL)
    (row,) = [r for r in rows if r.instance == "main.q"]
    assert (row.times, row.cycles) == (times, cycles)


def test_instances_of_a_component_are_told_apart() -> None:
    builder = ProfileBuilder()
    main = builder.path(-1, Frame(Kind.CELL, "main", "", "main"))
    work = Frame(Kind.GROUP, "work", "queue")
    ends = []
    for name in ("q0", "q1"):
        call = builder.path(main, Frame(Kind.GROUP, f"call_{name}", "main"))
        ends.append(builder.path(builder.path(call, Frame(Kind.CELL, name, "main", "queue")), work))
    trees = [builder.tree([end]) for end in ends]
    rows = table(builder.build(Meta("calyx", "q"), [5, 7], trees), Kind.GROUP)
    of_work = {row.instance: row.cycles for row in rows if row.frame.name == "work"}
    assert of_work == {"main.q0": 5, "main.q1": 7}


def test_a_profile_without_cycles_has_only_rows_of_frames_never_active() -> None:
    builder = ProfileBuilder()
    builder.frame(Frame(Kind.GROUP, "never", "main"))
    (row,) = table(builder.build(Meta("calyx", "empty"), [], []), Kind.GROUP)
    assert (row.instance, row.times, row.share, row.average) == ("", 0, 0, None)
