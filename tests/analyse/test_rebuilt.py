"""Blocks that became others are pairs by what they hold, and each is summed as a whole."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from hypothesis import given, settings

from cyclescope.analyse import diff
from cyclescope.model import Kind, Meta, Position, Profile, ProfileBuilder
from meaning import Frame

from ..views.switch import switch_profile
from .test_match import EITHER

if TYPE_CHECKING:
    from collections.abc import Sequence


def control(operator: str, line: int) -> Frame:
    position = Position("calyx", "switch.futil", line)
    return Frame(Kind.CONTROL, f"{operator} L{line}", "main", operator, (position,))


def program(nest: Sequence[Frame], lengths: Sequence[int], group: str = "run_s1") -> Profile:
    """`read`, a nest of blocks around one group, `write`: cycles of each block's own, of groups."""
    builder = ProfileBuilder()
    main = builder.path(-1, Frame(Kind.CELL, "main", "", "main"))
    seq = builder.path(main, control("seq", 1))
    paths = [builder.path(seq, Frame(Kind.GROUP, "read", "main"))]
    at = seq
    for block in nest:
        at = builder.path(at, block)
        paths.append(at)
    paths.append(builder.path(at, Frame(Kind.GROUP, group, "main")))
    paths.append(builder.path(seq, Frame(Kind.GROUP, "write", "main")))
    return builder.build(Meta("calyx", "p.futil"), lengths, [builder.tree([p]) for p in paths])


def test_a_par_and_the_ifs_that_it_became_are_a_pair() -> None:
    before = program([control("par", 3), control("if", 4)], [1, 4, 2, 3, 1])
    after = program([control("if", 3), control("if", 4), control("if", 5)], [1, 1, 1, 1, 3, 1])
    (pair,) = diff(before, after).rebuilt
    assert (pair.before.stack[-1], pair.after.stack[-1]) == ("par L3", "if L3")
    assert pair.spent == (9, 6)
    assert pair.change == -3
    assert (pair.before.own, pair.before.active, pair.after.active) == (4, 9, 6)


def test_the_same_operators_elsewhere_in_the_text_are_no_pair() -> None:
    before = program([control("par", 3), control("if", 4)], [1, 4, 2, 3, 1])
    after = program([control("par", 8), control("if", 9)], [1, 1, 2, 3, 1])
    assert diff(before, after).rebuilt == ()


def test_what_is_spent_in_parallel_is_split() -> None:
    found = switch_profile()
    catalog = tuple(
        control("static par", 31) if frame.name == "par L31" else frame for frame in found.catalog
    )
    (pair,) = diff(found, replace(found, catalog=catalog, series=())).rebuilt
    assert pair.spent == (4, 4)
    assert pair.before.own == 1


@settings(max_examples=40)
@given(EITHER)
def test_pairs_mirror_and_spend_no_more_than_there_is(both: tuple[Profile, Profile]) -> None:
    one, two = both
    there, back = diff(one, two).rebuilt, diff(two, one).rebuilt
    key = sorted((p.before.path, p.after.path, p.spent) for p in there)
    assert key == sorted((p.after.path, p.before.path, p.spent[::-1]) for p in back)
    for pair in there:
        assert Fraction(0) <= pair.before.own <= pair.spent[0] <= one.cycles
        assert Fraction(0) <= pair.after.own <= pair.spent[1] <= two.cycles


def test_unrelated_programs_are_said_to_be_so() -> None:
    builder = ProfileBuilder()
    main = builder.path(-1, Frame(Kind.CELL, "main", "", "main"))
    groups = [builder.path(main, Frame(Kind.GROUP, name, "main")) for name in ("load", "store")]
    other = builder.build(Meta("calyx", "q.futil"), [3, 4], [builder.tree([g]) for g in groups])
    mine = program([control("par", 3)], [1, 4, 3, 1])
    assert diff(mine, other).unrelated
    assert diff(mine, other).rebuilt == ()
    assert diff(mine, other).shared == (0, 3, 2)
    assert not diff(mine, mine).unrelated
    assert diff(mine, mine).shared == (3, 3, 3)
