"""Profiles in Python: tables, pictures, comparisons, and what a notebook shows of them."""

from __future__ import annotations

import html
import io
import json
import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import polars as pl
import pytest
from hypothesis import given, settings

import cyclescope
from cyclescope import model, notebook, views
from cyclescope.errors import InputError, OutputError

from .strategies import calyx_profiles, large_profile
from .views.switch import switch_profile

if TYPE_CHECKING:
    from pathlib import Path

FACE = ("frame", "flamegraph", "timeline", "diff", "advise", "check", "query", "save", "of")


def shown() -> cyclescope.Profile:
    return cyclescope.Profile.of(switch_profile())


def test_what_is_loaded_is_what_was_saved(tmp_path: Path) -> None:
    plain = switch_profile()
    cyclescope.save(plain, tmp_path / "p.cyc")
    loaded = cyclescope.load(tmp_path / "p.cyc")
    assert isinstance(loaded, cyclescope.Profile)
    assert isinstance(loaded, model.Profile)
    assert loaded == plain == loaded
    assert plain == loaded
    assert loaded != plain.with_meta(title="another")
    assert isinstance(loaded.with_meta(title="another"), cyclescope.Profile)
    loaded.save(tmp_path / "q.cyc")
    assert (tmp_path / "q.cyc").read_bytes() == (tmp_path / "p.cyc").read_bytes()
    with pytest.raises(OutputError):
        loaded.save(tmp_path / "q.cyc")


def test_tables_are_frames() -> None:
    run = shown()
    groups = run.frame()
    assert isinstance(groups, pl.DataFrame)
    assert groups.to_dicts() == json.loads(views.table_view(run, model.Kind.GROUP, "json"))
    assert run.frame("cells")["cycles"].to_list() == [9, 1]
    assert run.frame("runs").equals(run.runs)
    with pytest.raises(InputError, match="no table stuff"):
        run.frame("stuff")


def test_pictures_show_themselves_and_are_saved(tmp_path: Path) -> None:
    run = shown()
    graph, line = run.flamegraph(), run.timeline(start=2, end=6)
    for picture in (graph, line, run.flamegraph(scaled=False)):
        bundle = picture._repr_mimebundle_(include=None)
        ET.fromstring(bundle["image/svg+xml"])
        assert bundle["text/plain"] == repr(picture)
    graph.save(tmp_path / "g.svg")
    assert (tmp_path / "g.svg").read_bytes() == views.flamegraph(run)
    for ending in (".svg", ".pftrace", ".pftrace.gz"):
        line.save(tmp_path / f"t{ending}")
        assert (tmp_path / f"t{ending}").stat().st_size > 100
    assert (tmp_path / "t.pftrace.gz").read_bytes()[:2] == b"\x1f\x8b"
    with pytest.raises(OutputError):
        graph.save(tmp_path / "g.svg")
    graph.save(tmp_path / "g.svg", force=True)
    with pytest.raises(InputError, match="unknown ending"):
        graph.save(tmp_path / "g.png")
    with pytest.raises(InputError):
        run.timeline(start=100)


def test_comparisons(tmp_path: Path) -> None:
    one, two = (cyclescope.Profile.of(large_profile(n)) for n in (5, 6))
    found = one.diff(two)
    frame = found.frame()
    assert frame.height == len(found.found.changes)
    assert abs(frame["own"].sum() - (two.cycles - one.cycles)) < 1e-6
    sides = [
        f"{side}_{what}" for side in ("before", "after") for what in ("instance", "stack", "line")
    ]
    assert frame.columns == ["status", "own", "active", *sides]
    assert one.diff(one).frame().schema == frame.schema
    assert one.diff(one).frame().height == 0
    bundle = found._repr_mimebundle_()
    assert bundle["text/markdown"] == views.diff_markdown(found.found)
    for ending in (".html", ".svg", ".md", ".json", ".txt"):
        found.save(tmp_path / f"d{ending}")
    assert (tmp_path / "d.txt").read_text() == views.diff_text(found.found)


def test_advice_and_checks_are_tuples_for_people() -> None:
    run = shown()
    advice = run.advise()
    assert advice[0].rule.name == "par-switch"
    assert repr(advice).startswith("9 cycles")
    assert advice._repr_markdown_().startswith("###")
    assert run.check("cycles <= 9").passed
    failed = run.check("cycles < 9", against=run)
    assert not failed.passed
    assert "FAIL" in repr(failed)
    assert "**FAIL**" in failed._repr_markdown_()


def test_questions() -> None:
    pytest.importorskip("duckdb", reason="the extra `query` is not installed")
    assert shown().query("SELECT sum(cycles) AS n FROM runs").to_dicts() == [{"n": 9}]


@settings(max_examples=10)
@given(calyx_profiles(hostile=True))
def test_names_stay_text_in_a_notebook(profile: model.Profile) -> None:
    run = cyclescope.Profile.of(profile)
    summary = run._repr_html_()
    assert re.sub(r'<pre style="[^"<>]*">|</pre>', "", summary).count("<") == 0
    page = run.flamegraph()._repr_mimebundle_()["text/html"]
    frame = re.fullmatch(
        r'<iframe sandbox="allow-scripts" [^<>]*srcdoc="([^"<>]*)"></iframe>', page
    )
    assert frame
    assert re.match(r"<style>[^<>]*</style><svg", html.unescape(frame[1]))


def test_a_summary_is_text_where_rich_would_show_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    run = shown()
    expected = repr(run)
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    assert repr(run) == expected
    for show in (views.print_summary, views.print_source):
        stream = io.StringIO()
        show(run, stream)
        assert "seq L" in stream.getvalue() or "cycles" in stream.getvalue()


def test_a_flame_graph_is_as_high_as_its_frame_and_no_wider() -> None:
    page = shown().flamegraph()._repr_mimebundle_()["text/html"]
    frame = re.search(r'width="100%" height="(\d+)"', page)
    picture = re.search(r'<svg[^>]* height="(\d+)', html.unescape(page))
    assert frame
    assert picture
    assert int(frame[1]) == int(picture[1]) + 20
    assert "max-width:100%" in page


def test_a_real_notebook_shows_everything(tmp_path: Path) -> None:
    nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
    pytest.importorskip("ipykernel", reason="ipykernel is not installed")
    cyclescope.save(switch_profile(), tmp_path / "run.cyc")
    wanted = {
        "cyclescope.load('run.cyc')": "text/html",
        "run.frame('groups')": "text/html",
        "run.flamegraph()": "text/html",
        "run.timeline()": "image/svg+xml",
        "run.diff(run)": "text/html",
        "run.advise()": "text/markdown",
        "run.check('cycles <= 9')": "text/markdown",
    }
    first = "import cyclescope; run = cyclescope.load('run.cyc')"
    cells = [nbformat.v4.new_code_cell(text) for text in (first, *wanted)]
    notebook_ = nbformat.v4.new_notebook(cells=cells)
    resources = {"metadata": {"path": str(tmp_path)}}
    nbclient.NotebookClient(notebook_, timeout=120, resources=resources).execute()
    for cell, kind in zip(notebook_.cells[1:], wanted.values(), strict=True):
        (output,) = cell.outputs
        assert output.output_type == "execute_result", cell.source
        assert kind in output.data
    assert "9 cycles" in notebook_.cells[1].outputs[0].data["text/html"]


def test_everything_of_the_face_is_documented() -> None:
    for name in FACE:
        assert getattr(notebook.Profile, name).__doc__, name
