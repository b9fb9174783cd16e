"""Phases that take turns where only the text says which loop is where, as in a unit's trace."""

from __future__ import annotations

import numpy as np
import pytest

from cyclescope.analyse import advise
from cyclescope.analyse.rules._threads import terms
from cyclescope.model import Kind, Meta, Position, Profile, ProfileBuilder, Series
from meaning import Frame

HEAD = "void k(float *A) {\n#pragma omp target\n{\n"  # the region is in line 2
LOAD, WORK = (
    "for (int x = 0; x < 8; ++x) {0}[{1}x] = A[c + x];\n",
    "for (int y = 0; y < 8; ++y) sum += {0}[{1}y];\n",
)


def rounds(*phases: str) -> str:
    """A program whose rounds have these phases, a line each, from line 5 on."""
    return HEAD + "for (int c = 0; c < n; c += 8) {\n" + "".join(phases) + "}\n}\n}\n"


def trace(text: str, waits: list[str], *, stalled: int = 400, running: int = 1000) -> Profile:
    """Two threads of which a unit counted when they waited for memory."""
    builder = ProfileBuilder()
    place = (Position("c", "k.c", 2),)
    root = builder.path(-1, Frame(Kind.CELL, "k", "k", positions=place))
    start, end = np.array([0]), np.array([running])
    states = []
    for number in (0, 1):
        thread = builder.path(root, Frame(Kind.THREAD, f"thread {number}", "k", str(number)))
        states.append(builder.path(thread, Frame(Kind.STATE, "running", "k", "running")))
        value = np.array([stalled])
        track = f"thread {number}"
        builder.counter(
            Series(track, "stalls: memory", "stall", "cycles", thread, start, end, value)
        )
    for wait in waits:
        value = np.array([2 * stalled])
        builder.counter(Series("k", wait, "stall", "thread cycles", root, start, end, value))
    profile = builder.build(Meta("hls", "k.c"), [running], [builder.tree(states)])
    object.__setattr__(profile, "sources", {"k.c": text})
    return profile


def found(text: str, waits: list[str], **counts: int) -> list[tuple[int, int, int]]:
    """The rule's sites: line, saving, at most."""
    return [
        (site.position.line if site.position else 0, site.saving, site.at_most)
        for advice in advise(trace(text, waits, **counts))
        if advice.rule.name == "double-buffering"
        for site in advice.places
    ]


ONE = ["waiting: load of A, line 5"]


def test_a_buffer_that_is_filled_and_read_in_one_round() -> None:
    text = rounds(LOAD.format("t", ""), WORK.format("t", ""))
    # A thread waits in 400 of 1000 cycles: no more can be hidden, and half of that is expected.
    assert found(text, ONE) == [(4, 200, 400)]
    assert found(text, ONE, stalled=700) == [(4, 150, 300)]
    assert found(text, ["waiting: copy to t, line 5"]) == [(4, 200, 400)]
    assert found(text, ONE, stalled=199) == []  # half of it is less than a tenth of the run


OTHER = {
    "the other of two": ("t", "b & 1][", "t", "(b - 1) & 1]["),
    "the other of two, in one dimension": ("t", "(b & 1) * 8 + ", "t", "((b + 1) & 1) * 8 + "),
    "the one before": ("t", "b + 1][", "t", "b - 1]["),
    "another array": ("t", "", "u", ""),
}


@pytest.mark.parametrize("case", OTHER)
def test_buffers_that_alternate(case: str) -> None:
    into, which, of, one = OTHER[case]
    assert found(rounds(LOAD.format(into, which), WORK.format(of, one)), ONE) == []
    same = rounds(LOAD.format(into, which), WORK.format(into, which))
    assert len(found(same, ONE)) == 1


def test_blanks_and_the_order_of_terms_are_no_matter() -> None:
    text = rounds(LOAD.format("t", "(b & 1) * 8 + "), "for (;;) s += t[ y+(b&1)*8 ];\n")
    assert found(text.replace("for (;;)", "for (int y = 0; y < 8; y++)"), ONE) == [(4, 200, 400)]


def test_two_buffers_by_turns_in_a_round() -> None:
    """The first that is computed on came in the round before."""
    waits = ["waiting: load of A, line 5", "waiting: load of A, line 7"]
    text = rounds(
        LOAD.format("odd", ""), WORK.format("even", ""),
        LOAD.format("even", ""), WORK.format("odd", ""),
    )  # fmt: skip
    assert found(text, waits) == []
    serial = rounds(
        LOAD.format("even", ""), WORK.format("even", ""),
        LOAD.format("odd", ""), WORK.format("odd", ""),
    )  # fmt: skip
    assert len(found(serial, waits)) == 1


def test_blocks_of_several_rows() -> None:
    load = "for (int r = 0; r < 8; ++r)\nfor (int x = 0; x < 8; ++x)\nt[r][x] = A[c + x];\n"
    work = "for (int r = 0; r < 8; ++r)\nfor (int x = 0; x < 8; ++x)\nsum += t[x][r];\n"
    assert found(rounds(load, work), ["waiting: load of A, line 7"]) == [(4, 200, 400)]


def test_a_loop_that_loads_and_computes_is_no_phase() -> None:
    waits = ["waiting: load of A, line 5"]
    both = "for (int x = 0; x < 8; ++x) {0} = A[c + x];\n"
    assert found(rounds(both.format("sum +"), WORK.format("t", "")), waits) == []
    mixed = "for (int r = 0; r < 8; ++r) {\n" + LOAD.format("t", "") + WORK.format("t", "") + "}\n"
    waits = ["waiting: load of A, line 6"]
    # They take turns inside; the loop around them is neither the one nor the other.
    assert [line for line, *_ in found(rounds(mixed, WORK.format("u", "")), waits)] == [5]


def test_a_loop_that_loads_beside_one_that_computes_is_no_phase() -> None:
    work = "for (int r = 0; r < 8; ++r) {\nu = A[r];\n" + WORK.format("t", "") + "}\n"
    waits = ["waiting: load of A, line 5", "waiting: load of A, line 7"]
    assert found(rounds(LOAD.format("t", ""), work), waits) == []
    assert len(found(rounds(LOAD.format("t", ""), work), waits[:1])) == 1


def test_without_the_text_nothing_is_said() -> None:
    assert found("", ONE) == []
    assert found(rounds(LOAD.format("t", ""), WORK.format("t", "")), []) == []


def test_terms_keep_their_sign() -> None:
    assert [term.strip() for term in terms("a - (b + c) * 2 + d[e - 1]")] == [
        "a",
        "- (b + c) * 2",
        "d[e - 1]",
    ]
