"""A process network in the report: what is drawn and said is the profile's."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cyclescope.model import Edge, Kind, Meta, Position, Process, Profile, ProfileBuilder
from cyclescope.views._network_data import network_data
from cyclescope.views._network_plan import NetworkLine, network_plan
from meaning import Frame

from .browser import CHROMIUM
from .page import Seen, whole
from .test_report_page_use import AXE, barriers

if TYPE_CHECKING:
    from collections.abc import Callable

HOSTILE = "</text><script>a\u202e"


def chain() -> Profile:
    """A source, a sum that waits for itself, a sink; 100 cycles, 90 of them the sum's."""
    builder = ProfileBuilder()
    root = builder.path(-1, Frame(Kind.CELL, "kernel", "kernel"))
    names = ("sum L3", "source a", "sink s")
    paths = [
        builder.path(
            root, replace(Frame(Kind.PROCESS, name, "kernel"), positions=(Position("c", "k.c", 3),),
                          track=True)
        )
        for name in names
    ]  # fmt: skip
    critical = (90, 4, 6)
    sites = [
        Process("kernel", name, path=path, firings=9, latency=10, port=port, critical=cycles)
        for name, path, port, cycles in zip(
            names, paths, (False, True, True), critical, strict=True
        )
    ]
    edges = [
        Edge("kernel", 1, 0, "a[i]", 4, 1, array="a", tokens=9, reads=9, width=32, depth=2,
             held=30, critical=4),
        Edge("kernel", 0, 0, "s", 72, 8, array="s", tokens=8, reads=8, width=32, depth=1,
             critical=80),
        Edge("kernel", 0, 2, HOSTILE, 0, 0, array=HOSTILE, tokens=9, reads=18, reordered=True,
             width=32, depth=7, critical=0),
    ]  # fmt: skip
    trees = [builder.tree(paths), builder.tree(paths[:1])]
    return builder.build(Meta("network", "a chain"), [10, 90], trees, sites=[*sites, *edges])


def test_what_flows_is_there_once() -> None:
    found = network_data(chain())
    assert found is not None
    channels = [c for line in found["lines"] for c in line["channels"]]
    assert sorted(c["depth"] for c in channels) == [1, 2, 7]
    assert "\u202e" not in str(found)


def test_edges_of_which_only_the_waits_are_known_are_no_network() -> None:
    profile = chain()
    sites = tuple(replace(s, tokens=None) if isinstance(s, Edge) else s for s in profile.sites)
    assert network_data(replace(profile, sites=sites)) is None


def test_nodes_follow_what_they_read() -> None:
    # Statements 0 to 2, of which 2 gives 0 something back; source 3 is read by 2 alone; sink 4.
    pairs = [(0, 1), (1, 2), (2, 0), (3, 2), (2, 4)]
    plan = network_plan(5, dict.fromkeys(pairs, (50.0, 12.0)))
    x = [at[0] for at in plan.nodes]
    assert x[0] < x[1] == x[3] < x[2] < x[4]


@st.composite
def networks(draw: st.DrawFn) -> tuple[int, dict[tuple[int, int], tuple[float, float]]]:
    count = draw(st.integers(1, 8))
    node = st.integers(0, count - 1)
    size = st.tuples(st.floats(10, 200), st.sampled_from([12.0, 24.0, 36.0]))
    return count, draw(st.dictionaries(st.tuples(node, node), size, max_size=20))


@given(networks())
def test_nothing_in_a_picture_overlaps(
    network: tuple[int, dict[tuple[int, int], tuple[float, float]]],
) -> None:
    """Nodes and labels are apart, and no line passes one that is not its own."""
    count, labels = network
    plan = network_plan(count, labels)
    assert [_ends(line) for line in plan.lines] == sorted(labels)
    width, height = plan.node
    boxes = [(x, y, x + width, y + height) for x, y in plan.nodes]
    owners = [{line for line in plan.lines if node in _ends(line)} for node in range(count)]
    for line in plan.lines:
        pair = _ends(line)
        wide, high = labels[pair]
        x, y = line.label
        boxes.append((x - wide / 2, y - high, x + wide / 2, y))
        owners.append({line})
    for at, (left, top, right, bottom) in enumerate(boxes):
        assert left >= 0
        assert top >= 0
        assert right <= plan.width
        assert bottom <= plan.height
        for other in boxes[:at]:
            clear = left >= other[2] or other[0] >= right or top >= other[3] or other[1] >= bottom
            assert clear, (boxes[at], other)
    for line in plan.lines:
        for x, y in _points(line.path):
            for box, own in zip(boxes, owners, strict=True):
                inside = box[0] + 1 < x < box[2] - 1 and box[1] + 1 < y < box[3] - 1
                assert not inside or line in own, (line, box)


def _ends(line: NetworkLine) -> tuple[int, int]:
    return line.producer, line.consumer


def _points(path: str) -> list[tuple[float, float]]:
    """Points of a path of lines and cubic curves."""
    found: list[tuple[float, float]] = []
    for command, numbers in re.findall(r"([MLC])([^MLC]+)", path):
        own = [tuple(map(float, pair.split(","))) for pair in numbers.split()]
        if command == "M":
            found.append((own[0][0], own[0][1]))
            continue
        begin, end = found[-1], own[-1]
        first, second = own[:2] if command == "C" else (begin, end)
        for step in range(1, 21):
            t = step / 20
            found.append(
                (
                    _cubic(t, begin[0], first[0], second[0], end[0]),
                    _cubic(t, begin[1], first[1], second[1], end[1]),
                )
            )
    return found


def _cubic(t: float, a: float, b: float, c: float, d: float) -> float:
    s = 1 - t
    return s * s * s * a + 3 * s * s * t * b + 3 * s * t * t * c + t * t * t * d


@pytest.mark.skipif(CHROMIUM is None, reason="needs a Chromium (Debian: apt install chromium)")
def test_the_page_says_what_limits(show: Callable[..., Seen]) -> None:
    seen = show(("p", chain()))
    assert seen.text("hot-process") == "sum L3"
    assert seen.text("hot-channel") == "s"
    picture = seen.page.locator('svg[data-part="network"]')
    assert picture.locator(".process").count() == 3
    assert "sum L3" in (picture.locator(".process.hot").text_content() or "")
    # Source to sum, sum to itself; the line to the sink is not on the path.
    assert picture.locator(".channel.warm").count() == 2
    assert picture.locator(".channel.cold").count() == 1
    assert picture.locator("[stroke-dasharray]").count() == 1
    rows = seen.page.locator('[data-part="channels"] tbody tr').all()
    assert [whole(row.locator("td").first.inner_text()) for row in rows] == [80, 4, 0]
    assert "80 critical" in (picture.text_content() or "")
    # The plan only estimates how wide a text is.
    texts = [one.bounding_box() for one in picture.locator("text").all()]
    for at, one in enumerate(texts):
        for other in texts[:at]:
            assert one is not None
            assert other is not None
            assert any(
                max(one[way], other[way]) > min(one[way] + one[size], other[way] + other[size]) - 3
                for way, size in (("x", "width"), ("y", "height"))
            )
    picture.locator(".process.hot").click()
    assert "highlighted: sum L3" in seen.text("chosen")
    assert picture.locator(".process.pointed").count() == 1
    picture.locator(".process.hot").press("Enter")
    seen.page.wait_for_function("!document.querySelector('.process.pointed')")
    assert "highlighted" not in seen.text("chosen")
    assert seen.quiet()


@pytest.mark.long
@pytest.mark.skipif(CHROMIUM is None, reason="needs a Chromium (Debian: apt install chromium)")
@pytest.mark.skipif(not AXE.is_file(), reason="needs axe-core in web/node_modules (`make page`)")
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_the_network_is_no_barrier(show: Callable[..., Seen], dark: bool) -> None:
    assert barriers(show(("p", chain()), dark=dark).page) == []
