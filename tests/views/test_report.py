"""The report's data and file: what is in it, and that nothing in it can break out."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import zlib
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from cyclescope.analyse import account, advise, table
from cyclescope.model import Bank, Kind, Meta, Profile, ProfileBuilder, Series
from cyclescope.views import EMBED, write_report
from cyclescope.views._report_data import pack
from cyclescope.views._text import visible
from meaning import Frame

from ..strategies import HOSTILE, calyx_profiles, large_profile
from .switch import switch_profile

WEB = Path(__file__).parents[2] / "web"


class Block:
    """Reads the block as its description says, by other means than the page does."""

    def __init__(self, packed: bytes) -> None:
        whole = zlib.decompress(packed)
        size = int.from_bytes(whole[:4], "little")
        self.head: dict[str, Any] = json.loads(whole[4 : 4 + size])
        self._arrays = whole[4 + size :]
        assert (4 + size) % 8 == 0

    def __call__(self, entry: dict[str, Any]) -> list[int]:
        kind = np.dtype(f"<{entry['type']}")
        assert entry["at"] % 8 == 0
        return np.frombuffer(self._arrays, kind, entry["length"], entry["at"]).tolist()

    def runs(self, entry: dict[str, Any]) -> tuple[list[int], list[int]]:
        """(cycles, what) of runs whose repeated segments are stored once."""
        first = np.cumsum([0, *self(entry["size"])])
        cycles, what = self(entry["cycles"]), self(entry["what"])
        joined: list[list[int]] = []
        for segment in self(entry["order"]):
            for row in range(first[segment], first[segment + 1]):
                if joined and joined[-1][1] == what[row]:
                    joined[-1][0] += cycles[row]
                else:
                    joined.append([cycles[row], what[row]])
        return [n for n, _ in joined], [n for _, n in joined]


@settings(max_examples=40)
@given(calyx_profiles(hostile=True))
def test_the_block_holds_the_profile(profile: Profile) -> None:
    block = Block(pack(profile))
    head = block.head
    assert head["cycles"] == profile.cycles
    assert [p - 1 for p in block(head["paths"]["parent"])] == profile.call_paths.parent.tolist()
    assert block(head["paths"]["frame"]) == profile.call_paths.frame.tolist()
    assert block(head["trees"]["size"]) == np.diff(profile.forest.offset).tolist()
    assert block(head["trees"]["path"]) == profile.forest.path.tolist()
    shown = (profile.schedule.cycles.tolist(), profile.schedule.tree.tolist())
    assert block.runs(head["runs"]) == shown
    assert [f[1] for f in head["frames"]] == [
        visible(frame.label)[:300] or "(no name)" for frame in profile.catalog
    ]
    labels = [use["label"] for use in head["uses"]]
    units = dict(zip(labels, block(head["account"]["units"]), strict=True))
    assert head["account"]["unit"] == "cycles"
    assert {visible(use.label): n for use, n in account(profile).parts.items() if n} == {
        label: n for label, n in units.items() if n
    }
    cycles = dict.fromkeys(labels, 0)
    for length, index in zip(*block.runs(head["over"]), strict=True):
        cycles[labels[index]] += length
    assert cycles == units
    assert len(block(head["useOfPath"])) == len(profile.call_paths)
    for entry, series in zip(head["series"], profile.series, strict=True):
        start = np.cumsum(np.array(block(entry["gap"])) + block(entry["cycles"]))
        assert (start - block(entry["cycles"])).tolist() == series.start.tolist()
        assert block(entry["value"]) == series.value.tolist()
    rows = table(profile, Kind.GROUP) if "group" in head["tables"] else ()
    assert [(r[1], r[2], r[3]) for r in head["tables"].get("group", [])] == [
        (visible(row.instance)[:300], row.times, row.cycles) for row in rows
    ]


def test_the_block_holds_the_advice() -> None:
    profile = switch_profile()
    (finding,) = advise(profile)
    (packed,) = Block(pack(profile)).head["advice"]
    assert packed["title"] == finding.rule.title
    assert packed["saving"] == [finding.saving, finding.at_least, finding.at_most]
    assert packed["more"] == [0, 0]
    (site,) = packed["sites"]
    assert (site["name"], site["place"]) == ("par L31", ["switch.futil", 31])
    assert site["evidence"] == finding.places[0].evidence
    assert tuple(site["cycles"]) == finding.places[0].cycles
    assert Block(pack(profile.with_meta(source="traces"))).head["advice"] == []


def test_columns_of_a_bank_and_values_too_large_for_a_browser() -> None:
    bank = Bank(np.array([2, 3]), np.array([1, 0]), np.array([[1, 2], [3, 1 << 60]]))
    own = Series("main", "n", "bytes", "B", -1, *(np.array([v]) for v in (1, 4, -7)))
    both = [Series.of_bank("main", name, "x", "", -1, bank, i) for i, name in enumerate("ab")]
    builder = ProfileBuilder()
    for series in (*both, own):
        builder.counter(series)
    profile = builder.build(Meta("calyx", "p"), [5], [builder.tree([])])
    block = Block(pack(profile))
    stored = block.head["banks"][0]
    assert block.runs(stored["runs"]) == ([2, 3], [1, 0])
    assert stored["after"] == -1
    assert block(stored["values"]) == [1, 2, 3, float(1 << 60)]
    assert stored["values"]["inexact"] is True
    assert [entry.get("column") for entry in block.head["series"]] == [0, 1, None]
    assert block(block.head["series"][2]["value"]) == [-7]


def test_labels_of_values_are_in_the_block() -> None:
    builder = ProfileBuilder()
    main = builder.path(-1, Frame(Kind.CELL, "main", "", "main"))
    columns = (np.array(c, dtype=np.int64) for c in ([0, 2], [2, 4], [3, 0]))
    labels = {3: "Send\u202e", 0: "Outside"}
    builder.counter(Series("main", "MPI call", "event", "", -1, *columns, labels=labels))
    builder.counter(Series("main", "plain", "event", "", -1, *np.array([[0], [4], [1]])))
    profile = builder.build(Meta("traces", "t"), [4], [builder.tree([main])])
    labelled, plain = Block(pack(profile)).head["series"]
    assert labelled["labels"]["0"] == "Outside"
    assert labelled["labels"]["3"].startswith("Send")
    assert "\u202e" not in labelled["labels"]["3"]
    assert "labels" not in plain


def _texts(embed: str) -> list[dict[str, Any]]:
    lines = [f"line {n}\t{{}}" for n in range(1, 101)]
    texts = {"switch.futil": "\n".join(lines) + "\n", "other.futil": "unused\u202e"}
    profile = switch_profile()
    object.__setattr__(profile, "sources", texts)
    return list(Block(pack(profile, embed=embed)).head["sources"])


def test_how_much_source_is_embedded() -> None:
    assert EMBED == ("none", "used", "all")
    assert _texts("none") == []
    (used,) = _texts("used")
    shown = [first + i for first, lines in used["parts"] for i in range(len(lines))]
    named = {p.line for frame in switch_profile().catalog for p in frame.positions}
    assert shown == sorted({near for n in named for near in range(max(1, n - 3), n + 4)})
    assert used["parts"][0][1][0] == "line 1  {}"
    switch, other = _texts("all")
    assert switch["parts"][0][0] == 1
    assert len(switch["parts"][0][1]) == 100
    assert other["parts"] == [[1, ["unused\\u202e"]]]


def _report(*profiles: tuple[str, Profile], **options: str) -> bytes:
    stream = io.BytesIO()
    write_report(profiles, stream, **options)
    return stream.getvalue()


class _Tags(HTMLParser):
    """The elements that a browser would find."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))


@settings(max_examples=15)
@given(calyx_profiles(hostile=True))
def test_no_name_becomes_an_element(profile: Profile) -> None:
    for name in (HOSTILE[0], HOSTILE[1], 'a" onload="x'):
        parser = _Tags()
        parser.feed(_report((name, profile)).decode())
        scripts = [a for tag, a in parser.tags if tag == "script"]
        assert [a.get("type") for a in scripts] == ["application/vnd.cyclescope", "module"]
        assert scripts[0]["data-name"] == visible(name)
        assert not any(tag == "img" or "onload" in attrs for tag, attrs in parser.tags)


def test_the_policy_allows_the_page_s_own_script_and_style_and_nothing_else() -> None:
    page = _report(("p", switch_profile())).decode()
    parser = _Tags()
    parser.feed(page)
    (policy,) = [
        a["content"] or ""
        for tag, a in parser.tags
        if tag == "meta" and a.get("http-equiv") == "Content-Security-Policy"
    ]
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))

    def digest(text: str) -> str:
        return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"

    exact = re.findall(r'<script type="module">(.*?)</script>', page, re.S)
    assert rules["default-src"] == "'none'"
    assert rules["script-src"] == digest(exact[0])
    assert rules["style-src"] == digest(re.findall(r"<style>(.*?)</style>", page, re.S)[0])
    assert rules["require-trusted-types-for"] == "'script'"
    assert not re.search(r"(?:src|href)=\"(?!#|data:)", page.split("<script", 1)[0])


def test_the_same_bytes_each_time() -> None:
    assert _report(("p", large_profile(20))) == _report(("p", large_profile(20)))


def test_the_page_is_built_from_the_sources_that_are_here() -> None:
    """As web/fingerprint.ts has it; `make page` makes both agree."""
    files = [f"src/{path.name}" for path in (WEB / "src").iterdir()]
    files += ["fingerprint.ts", "index.html", "package-lock.json", "package.json"]
    files += ["tsconfig.json", "vite.config.ts"]
    digest = hashlib.sha256()
    for file in sorted(files):
        digest.update(file.encode() + b"\0" + (WEB / file).read_bytes() + b"\0")
    page = _report(("p", switch_profile())).decode()
    built_from = re.search(r'<meta name="built-from" content="(\w+)">', page)
    assert built_from is not None
    assert built_from[1] == digest.hexdigest(), "run `make page` and commit what it builds"


def test_lock_names_no_registry() -> None:
    lock = json.loads((WEB / "package-lock.json").read_text("utf-8"))
    assert not [name for name, entry in lock["packages"].items() if "resolved" in entry]


@pytest.mark.skipif(
    not shutil.which("npm") or not (WEB / "node_modules").is_dir(),
    reason="needs node and web/node_modules (`make page`); the fingerprint is compared anyway",
)
def test_building_anew_gives_the_same_page(tmp_path: Path) -> None:
    target = WEB.parent / "src" / "cyclescope" / "views" / "data" / "report.html"
    built = tmp_path / "report.html"
    subprocess.run(
        ["npx", "vite", "build", "--logLevel", "error"],
        cwd=WEB, check=True, env={**os.environ, "REPORT_PAGE": str(built)},
    )  # fmt: skip
    assert built.read_bytes() == target.read_bytes()
