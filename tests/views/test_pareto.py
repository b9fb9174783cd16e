"""The picture of a study: every run a point, names stay text."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st

from cyclescope.views import ParetoPoint, pareto_svg

from ..strategies import HOSTILE

SVG = "{http://www.w3.org/2000/svg}"

points = st.builds(
    ParetoPoint,
    x=st.integers(-(10**12), 10**12),
    y=st.integers(0, 50),
    label=st.sampled_from(HOSTILE),
    best=st.booleans(),
)


@given(st.lists(points, max_size=20), st.sampled_from(HOSTILE))
def test_every_run_is_a_point_inside_the_picture(runs: list[ParetoPoint], name: str) -> None:
    root = ET.fromstring(pareto_svg(runs, name, "area", name))
    circles = list(root.iter(f"{SVG}circle"))
    assert len(circles) == len(runs)
    for circle in circles:
        assert 0 < float(circle.get("cx", -1)) < 760
        assert 0 < float(circle.get("cy", -1)) < 480
    assert sum(circle.get("class") == "best" for circle in circles) == sum(p.best for p in runs)
    assert not list(root.iter(f"{SVG}script"))


def test_fewer_is_further_left_and_lower() -> None:
    runs = [ParetoPoint(10, 5, "a", True), ParetoPoint(20, 3, "b", True)]
    root = ET.fromstring(pareto_svg(runs, "cycles", "area", "study"))
    first, second = root.iter(f"{SVG}circle")
    assert float(first.get("cx", 0)) < float(second.get("cx", 0))
    assert float(first.get("cy", 0)) < float(second.get("cy", 0))


def test_numbers_are_between_their_axis_and_its_name() -> None:
    runs = [ParetoPoint(10, 5, "a", True), ParetoPoint(20, 3, "b", True)]
    root = ET.fromstring(pareto_svg(runs, "cycles of it", "area", "study"))
    texts = list(root.iter(f"{SVG}text"))
    (name,) = (float(t.get("y", 0)) for t in texts if t.text == "cycles of it")
    axis = max(float(line.get("y2", 0)) for line in root.iter(f"{SVG}line"))
    numbers = [t for t in texts if t.get("class") == "tick" and t.get("text-anchor") == "middle"]
    assert numbers
    assert all(axis + 10 < float(t.get("y", 0)) < name - 10 for t in numbers)


def test_names_do_not_cover_each_other() -> None:
    runs = [
        ParetoPoint(10, 500, "fast", True),
        ParetoPoint(2000, 3, "one of two", True),
        ParetoPoint(2000, 3, "the other", True),
        ParetoPoint(1999, 4, "close to them", True),
    ]
    root = ET.fromstring(pareto_svg(runs, "cycles", "area", "study"))
    shown = [text.text for text in root.iter(f"{SVG}text")]
    assert {"fast", "one of two and 1 more"} <= set(shown)
    assert "the other" not in shown
    assert "close to them" not in shown
    told = [title.text or "" for title in root.iter(f"{SVG}title")]
    assert any(title.startswith("close to them") for title in told)
