"""The comparison of recorded traces: it agrees with a right import, and sees a wrong one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from cyclescope.traces import import_paraver

from . import corpus

if TYPE_CHECKING:
    from pathlib import Path

TRACE = """#Paraver (21/11/2026 at 12:00):100_ns:1(4):2:1(2:1),2(1:1,1:1),1
c:1:1:1:1
1:1:1:1:1:0:30:1
1:2:1:1:2:10:60:3
3:1:1:1:1:10:20:2:1:1:2:5:40:64:1
1:1:1:1:1:30:90:3
2:3:2:1:1:50:9:7
1:2:1:1:2:60:120:17
"""


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "t.prv"
    path.write_text(TRACE)
    (tmp_path / "t.pcf").write_text("STATES\n0 Idle\n1 Running\n3 Waiting a message\n")
    return path


def test_two_readers_agree(trace: Path) -> None:
    sums, lost, wrong = corpus.compare(trace, None)
    assert (sums.end, sums.records, lost, wrong) == (120, 6, [], [])
    assert sums.totals == {
        "1.1.1": {"idle": 30, "running": 30, "waiting a message": 60},
        "1.1.2": {"idle": 10, "waiting a message": 50, "state 17": 60},
        "2.1.1": {"idle": 120},
        "2.2.1": {"idle": 120},
    }


def test_a_line_of_another_kind_ends_no_section_of_names(trace: Path) -> None:
    names = trace.with_suffix(".pcf")
    names.write_text(names.read_text().replace("1 Running", "NOTE by hand\n1 Running"))
    sums, _, wrong = corpus.compare(trace, None)
    assert sums.totals["1.1.1"]["running"] == 30
    assert not wrong


def test_a_wrong_import_is_seen(trace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    right = import_paraver(trace)

    def told(wrong: object) -> list[str]:
        monkeypatch.setattr(corpus, "import_paraver", lambda _: wrong)
        return corpus.compare(trace, None)[2]

    other = trace.with_name("other.prv")
    other.write_text(TRACE.replace("30:90:3", "30:91:3"))
    (other.with_suffix(".pcf")).write_bytes(trace.with_suffix(".pcf").read_bytes())
    assert told(import_paraver(other)) == [
        "sums: thread 1.1.1, idle: 29 and 30",
        "sums: thread 1.1.1, waiting a message: 61 and 60",
    ]
    assert told(replace(right, series=())) == ["messages sent differ", "bytes sent differ"]


def test_states_are_named_as_paramedir_names_them() -> None:
    columns = ["Running", "Unknown state 0", "Idle", "Unknown state 12"]
    assert [corpus.state_of(c) for c in columns] == ["running", "idle", "idle", "state 12"]
