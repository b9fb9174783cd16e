"""A resource that serves threads: nobody alone waits, nothing is served twice or lost."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cyclescope.analyse._resource import Resource, Use, Visit
from cyclescope.analyse._team_run import Piece, Place, run_team, steps_of

visits = st.lists(
    st.tuples(st.integers(0, 30), st.integers(1, 5)), min_size=1, max_size=8
)  # of each thread: when it comes, and the requests that it has


def ends(wanted: list[tuple[int, int]]) -> list[float]:
    """The moments when threads have been served, thread n being the n-th."""
    resource, over = Resource(), [0.0] * len(wanted)

    def until(moment: float) -> None:
        while resource.next < moment:
            now = resource.next
            if (visit := resource.served()) is not None:
                over[visit.thread] = now

    for moment, thread, requests in sorted((a, n, w) for n, (a, w) in enumerate(wanted)):
        until(moment)
        resource.comes(Visit(thread, moment, requests, 1.0, 0.0))
    until(float("inf"))
    return over


@given(visits)
def test_it_is_busy_while_somebody_is_there(wanted: list[tuple[int, int]]) -> None:
    """The last one leaves when a resource that always serves somebody has done it all."""
    busy = 0.0
    for moment, requests in sorted(wanted):
        busy = max(busy, moment) + requests
    assert max(ends(wanted)) == busy


@given(visits)
def test_each_waits_for_the_others_requests_at_the_most(wanted: list[tuple[int, int]]) -> None:
    every = sum(requests for _, requests in wanted)
    for (moment, requests), end in zip(wanted, ends(wanted), strict=True):
        assert requests <= end - moment <= every


def test_those_who_come_together_leave_together() -> None:
    """Each has a request served after each other one: all are as slow as the slowest."""
    assert ends([(0, 4)] * 8) == [25, 26, 27, 28, 29, 30, 31, 32]


def test_who_has_one_request_waits_for_one_of_each_other() -> None:
    assert ends([(0, 9), (0, 1), (2, 1)]) == [11, 2, 3]


def test_the_parts_of_an_iteration_are_no_whole_ones() -> None:
    """Before, in and behind a section: each takes a request of its own at the most."""
    places = [Place(0.0, holds=10.0, loop=0), Place(3.0, 0, 4.0)]
    steps = steps_of([Piece(10.0, places, 0, len(places))])
    end, _ = run_team([steps], [0.0], 0.0, {0: Use(1.0, 10.0, 1)}, {0: 1.0})
    assert 10 <= end <= 10 + 3
