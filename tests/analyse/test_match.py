"""Call paths of two versions of a design: renamed and moved blocks find each other."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cyclescope.analyse import match_paths, plain_name
from cyclescope.analyse._match import _greedy
from cyclescope.model import Kind, Meta, Position, Profile, ProfileBuilder
from meaning import Frame

from ..strategies import calyx_profiles
from .teams import team_profile, team_profiles

Tree = tuple  # (name, *children); a name's first word says what it is


def profile(*nodes: Tree, component: str = "main") -> Profile:
    """A profile in which each path is active for a cycle: `("seq", ("read",), …)`."""
    builder = ProfileBuilder()
    paths: list[int] = []
    lines = iter(range(1, 1000))

    def add(parent: int, node: Tree) -> None:
        name, *children = node
        line = next(lines)
        word = name.split()[0]
        if word in ("seq", "par", "if", "while"):
            frame = Frame(Kind.CONTROL, f"{name} L{line}", component, word)
        elif word == "cell":
            frame = Frame(Kind.CELL, name.split()[1], component, name.split()[2])
        else:
            frame = Frame(Kind.GROUP, name, component)
        frame = replace(frame, positions=(Position("calyx", "p.futil", line),))
        path = builder.path(parent, frame)
        paths.append(path)
        for child in children:
            add(path, child)

    root = builder.path(-1, Frame(Kind.CELL, "main", "", "main"))
    for node in nodes:
        add(root, node)
    trees = [builder.tree([path]) for path in paths]
    return builder.build(Meta("calyx", "p.futil"), [1] * len(trees), trees)


def pairs(before: Profile, after: Profile) -> dict[str, str]:
    """Names of matched frames, without the main cell."""
    partner = match_paths(before, after)
    return {
        plain_name(before.frame_of(path)): plain_name(after.frame_of(other))
        for path, other in enumerate(partner)
        if other >= 0 and path
    }


@settings(max_examples=80)
@given(calyx_profiles(hostile=True) | team_profiles())
def test_a_profile_is_itself(found: Profile) -> None:
    assert match_paths(found, found) == tuple(range(len(found.call_paths)))


EITHER = st.tuples(calyx_profiles(), calyx_profiles()) | st.tuples(team_profiles(), team_profiles())


@settings(max_examples=80)
@given(EITHER)
def test_matching_is_symmetric_and_one_to_one(both: tuple[Profile, Profile]) -> None:
    one, two = both
    there, back = match_paths(one, two), match_paths(two, one)
    met = {(path, other) for path, other in enumerate(there) if other >= 0}
    assert met == {(other, path) for path, other in enumerate(back) if other >= 0}
    assert len({other for _, other in met}) == len(met)
    kinds = {(one.frame_of(p).kind, two.frame_of(q).kind) for p, q in met}
    assert all(a is b for a, b in kinds)


@settings(max_examples=40)
@given(calyx_profiles(), st.integers(0, 2**32))
def test_other_names_and_lines_change_nothing(found: Profile, seed: int) -> None:
    rng = random.Random(seed)
    new = {name: f"n{rng.getrandbits(40):x}" for name in sorted({f.name for f in found.catalog})}

    def elsewhere(frame: Frame) -> Frame:
        places = tuple(replace(p, line=p.line + 1000) for p in frame.positions)
        name = new[frame.name]
        if frame.kind is Kind.CONTROL:
            name = f"{frame.detail} L{places[0].line}" if places else frame.name
        return replace(frame, name=name, positions=places)

    renamed = replace(found, catalog=tuple(map(elsewhere, found.catalog)))
    partner = match_paths(found, renamed)
    assert -1 not in partner
    # Equal blocks under one block may stand for each other; what they call stays with them.
    for path, other in enumerate(partner):
        parent = int(found.call_paths.parent[path])
        above = int(renamed.call_paths.parent[other])
        assert (partner[parent] if parent >= 0 else -1) == above


def test_the_switch_of_the_paper() -> None:
    before = profile(
        ("seq", ("read",), ("par", ("if a", ("run_1",)), ("if b", ("run_2",))), ("write",))
    )
    after = profile(("seq", ("read",), ("if a", ("run_1",), ("if b", ("run_2",))), ("write",)))
    same = {name: name for name in ("seq", "read", "write", "run_1", "run_2")}
    assert pairs(before, after) == same | {"if a": "if a", "if b": "if b"}


CASES = {
    "a block around": (
        profile(("seq", ("a",), ("b",))),
        profile(("par", ("seq", ("a",), ("b",)), ("c",))),
        {"seq": "seq", "a": "a", "b": "b"},
    ),
    "another order": (
        profile(("seq", ("a",), ("b",), ("c",))),
        profile(("seq", ("c",), ("b",), ("a",))),
        {"seq": "seq", "a": "a", "b": "b", "c": "c"},
    ),
    "blocks told apart by what they hold": (
        profile(("par", ("if", ("a",)), ("if", ("b",)))),
        profile(("par", ("if", ("b",)), ("if", ("a",)))),
        {"par": "par", "if": "if", "a": "a", "b": "b"},
    ),
    "a group in another block": (
        profile(("seq", ("if", ("a",), ("b",)), ("c",))),
        profile(("seq", ("if", ("a",)), ("c",), ("b",))),
        {"seq": "seq", "if": "if", "a": "a", "b": "b", "c": "c"},
    ),
    "a new name": (
        profile(("seq", ("a",), ("multiply_rows",), ("c",))),
        profile(("seq", ("a",), ("multiply_row",), ("new", ("inner",)), ("c",))),
        {"seq": "seq", "a": "a", "multiply_rows": "multiply_row", "c": "c"},
    ),
    "nothing in common": (
        profile(("seq", ("a",))),
        profile(("while", ("x", ("y",)), ("z",))),
        {},
    ),
    "a cell that another group calls": (
        profile(("seq", ("call", ("cell q queue", ("push",))), ("other",))),
        profile(("seq", ("later", ("cell q queue", ("push",))))),
        {"seq": "seq", "call": "later", "q": "q", "push": "push"},
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_cases(case: str) -> None:
    before, after, expected = CASES[case]
    assert pairs(before, after) == expected
    assert pairs(after, before) == {new: old for old, new in expected.items()}


def test_the_contents_decide_between_namesakes() -> None:
    before, after, _ = CASES["blocks told apart by what they hold"]
    partner = match_paths(before, after)
    for path, other in enumerate(partner):
        inside = {before.frame_of(p).name for p in range(len(partner)) if path in
                  before.lineage(p) and before.frame_of(p).kind is Kind.GROUP}  # fmt: skip
        there = {after.frame_of(p).name for p in range(len(partner)) if other in
                 after.lineage(p) and after.frame_of(p).kind is Kind.GROUP}  # fmt: skip
        assert inside == there


def _loops(before: Profile, after: Profile) -> dict[str, str]:
    return {a: b for a, b in pairs_by_name(before, after).items() if a.startswith("L")}


def pairs_by_name(before: Profile, after: Profile) -> dict[str, str]:
    return {
        before.frame_of(path).name: after.frame_of(other).name if other >= 0 else ""
        for path, other in enumerate(match_paths(before, after))
    }


def test_loops_find_each_other_whatever_their_lines() -> None:
    before = team_profile([(3, "i", (4, "j"), (6, "k"))])
    # A loop more before them, the inner ones in another order, on others' lines.
    after = team_profile([(3, "j"), (5, "i", (6, "k"), (8, "j"))])
    assert _loops(before, after) == {"L3": "L5", "L4": "L8", "L6": "L6"}
    assert _loops(after, before) == {"L3": "", "L5": "L3", "L6": "L6", "L8": "L4"}
    # Where that is not known by shape and order; a counter of another name is no matter.
    for other in (team_profile([(9, "i", (11, "j"), (12, "k"))], sites=False),
                  team_profile([(9, "k", (11, "x"), (12, "k"))])):  # fmt: skip
        assert _loops(before, other) == {"L3": "L9", "L4": "L11", "L6": "L12"}


def test_names_lose_the_place_that_they_stand_at_and_no_other() -> None:
    at = (Position("c", "k.c", 12, 3),)
    for name, plain in {
        "if L12": "if", "if L12:3": "if", "L12": "", "if L13": "if L13", "ifL12": "ifL12",
        "read L1": "read L1", "L12 if": "L12 if",
    }.items():  # fmt: skip
        assert plain_name(Frame(Kind.CONTROL, name, "k", positions=at)) == plain
    assert plain_name(Frame(Kind.CONTROL, "if L12", "k")) == "if L12"


def test_more_threads_are_new() -> None:
    loop = (3, "")
    found = pairs_by_name(team_profile([loop], 3), team_profile([loop], 2))
    assert found["thread 1"] == "thread 1"
    assert found["thread 2"] == ""


@given(
    st.dictionaries(
        st.tuples(st.integers(0, 6), st.integers(0, 6)), st.sampled_from([0.5, 0.7, 1.0])
    )
)
def test_the_best_pairs_are_the_same_from_either_side(scores: dict[tuple[int, int], float]) -> None:
    chosen = _greedy(scores)
    turned = _greedy({(j, i): score for (i, j), score in scores.items()})
    assert sorted(chosen) == sorted((i, j) for j, i in turned)
    assert len({i for i, _ in chosen}) == len({j for _, j in chosen}) == len(chosen)


def test_a_deep_design_needs_no_deep_stack() -> None:
    builder = ProfileBuilder()
    path = builder.path(-1, Frame(Kind.CELL, "main", "", "main"))
    for level in range(3000):
        path = builder.path(path, Frame(Kind.CONTROL, f"if L{level}", "main", "if"))
    found = builder.build(Meta("calyx", "deep"), [5], [builder.tree([path])])
    assert match_paths(found, found) == tuple(range(3001))
