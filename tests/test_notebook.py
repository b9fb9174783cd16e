"""Profiles in Python: tables, pictures, comparisons, and what a notebook shows of them."""

from __future__ import annotations

import html
import io
import json
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree as ET

import polars as pl
import pytest
from hypothesis import given, settings

import cyclescope
from cyclescope import model, notebook, views
from cyclescope.errors import InputError, OutputError

from .strategies import calyx_profiles, large_profile
from .views.switch import switch_profile

EXAMPLE = Path(__file__).parents[1] / "examples" / "notebook" / "where-cycles-go.ipynb"
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


def tags(text: str) -> set[str]:
    """The kinds of elements in HTML."""
    found: set[str] = set()
    parser = HTMLParser()
    parser.handle_starttag = lambda tag, _: found.add(tag)  # type: ignore[method-assign]
    parser.feed(text)
    return found


def cells(text: str, caption: str) -> list[list[str]]:
    """The rows of a table in HTML, its headings first."""
    (table,) = re.findall(rf"<caption>{caption}</caption>(.*?)</table>", text, re.DOTALL)
    rows = re.findall(r"<tr>(.*?)</tr>", table, re.DOTALL)
    return [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in rows]


@settings(max_examples=20)
@given(calyx_profiles())
def test_a_summary_is_a_table_that_adds_up(profile: model.Profile) -> None:
    run = cyclescope.Profile.of(profile)
    if not run.cycles:
        return
    _, *uses, last = cells(run._repr_html_(), "Cycles by use")
    units = [int(row[1].replace(",", "")) for row in uses]
    assert sum(units) == int(last[1].replace(",", "")) == run.cycles
    frame = run.frame("account")
    assert frame["units"].to_list() == units
    assert abs(frame["share"].sum() - 1) < 1e-9


def test_advice_is_a_table_of_findings_and_a_frame_of_their_places() -> None:
    run = shown()
    advice = run.advise()
    _, *rows = cells(advice._repr_html_(), "What to change")
    assert [row[6] for row in rows] == [finding.rule.name for finding in advice]
    assert [int(row[1]) for row in rows] == [finding.saving for finding in advice]
    frame = advice.frame()
    assert frame.height == sum(len(finding.places) for finding in advice)
    assert frame["saving"].sum() == sum(p.saving for f in advice for p in f.places)
    nothing = cyclescope.Profile.of(large_profile(2)).advise()
    assert nothing.frame().schema == frame.schema


@settings(max_examples=10)
@given(calyx_profiles(hostile=True))
def test_names_stay_text_in_a_notebook(profile: model.Profile) -> None:
    run = cyclescope.Profile.of(profile)
    for text in (run._repr_html_(), run.advise()._repr_html_()):
        assert tags(text) <= {
            *("style", "div", "p", "b", "span", "table", "caption", "thead", "tbody", "tr", "th"),
            *("td", "details", "summary"),
        }
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


def test_the_example_runs_as_it_is(tmp_path: Path) -> None:
    """`jupyter nbconvert` as a user calls it; the tables are in the page that it makes."""
    pytest.importorskip("nbconvert", reason="nbconvert is not installed")
    pytest.importorskip("ipykernel", reason="ipykernel is not installed")
    convert = [sys.executable, "-m", "nbconvert", "--execute", "--to", "html"]
    done = subprocess.run(
        [*convert, EXAMPLE.name, "--output-dir", str(tmp_path)],
        cwd=EXAMPLE.parent,
        env=os.environ | {"JUPYTER_PLATFORM_DIRS": "1"},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    page = (tmp_path / f"{EXAMPLE.stem}.html").read_text()
    assert sum(int(row[1]) for row in cells(page, "Cycles by use")[1:-1]) == 9
    assert cells(page, "What to change")[1][6] == "par-switch"
    assert "9 cycles before, 6 after: 3 saved" in html.unescape(page)


def test_everything_of_the_face_is_documented() -> None:
    for name in FACE:
        assert getattr(notebook.Profile, name).__doc__, name
