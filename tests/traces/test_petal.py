"""The files that the original leaves, for a small design of our own."""

from __future__ import annotations

import gzip
import json
import lzma
from typing import TYPE_CHECKING

import pytest

from cyclescope.errors import DataError
from cyclescope.model import Severity, check_laws
from cyclescope.traces import import_petal
from cyclescope.views import folded
from meaning import design_overhead
from traces.design import (
    CYCLES,
    FOLDED,
    KEY,
    SIDE_FILES,
    SIGNALS,
    body,
    change,
    header,
    write_run,
    write_side_files,
)

if TYPE_CHECKING:
    from pathlib import Path

    from cyclescope.model import Profile


def stacks(profile: Profile) -> dict[str, int]:
    lines = (line.rsplit(" ", 1) for line in folded(profile).splitlines())
    return {stack: int(count) for stack, count in lines}


def problems(profile: Profile) -> dict[str, int]:
    return {a.name: a.count for a in profile.meta.anomalies}


def test_each_cycle_shows_what_ran_in_it(tmp_path: Path) -> None:
    write_run(tmp_path)
    profile = import_petal(tmp_path, program="small.futil")
    check_laws(profile)
    assert stacks(profile) == FOLDED
    assert profile.cycles == len(CYCLES)
    assert profile.meta.complete
    assert not profile.meta.anomalies


def test_a_cycle_that_only_updates_the_state_belongs_to_the_statement_that_the_state_runs(
    tmp_path: Path,
) -> None:
    # The original shows `seq` only: cycles 3 and 9 are in state 1, which runs the condition.
    write_run(tmp_path)
    profile = import_petal(tmp_path)
    starts = profile.schedule.start.tolist()
    tree = profile.schedule.tree[starts.index(3)]
    last = profile.forest[int(tree)][-1]
    assert profile.frame_of(int(last)).name == "while L12"


def test_frames_know_their_lines_and_kinds(tmp_path: Path) -> None:
    write_run(tmp_path)
    profile = import_petal(tmp_path, program="small.futil")
    frames = {frame.name: frame for frame in profile.catalog}
    assert str(frames["while L12"].positions[0]) == "small.futil:12"
    assert str(frames["step"].positions[0]) == "gen.py:9"
    assert frames["lt"].positions[0].level == "calyx-py"
    assert frames["mul"].kind.value == "primitive"
    assert frames["inner"].generated


def test_texts_that_are_beside_the_files_are_carried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, away = tmp_path / "run", tmp_path / "away"
    folder.mkdir()
    away.mkdir()
    write_run(folder)
    monkeypatch.chdir(away)
    assert not import_petal(folder).sources
    (folder / "gen.py").write_text("three\n")
    (folder / "run.futil").write_text("ten\n")
    assert import_petal(folder).sources == {"gen.py": "three\n", "run.futil": "ten\n"}
    assert not import_petal(folder, embed=False).sources
    # A program that is named is read wherever it lies; what the files name only if it is at hand.
    (tmp_path / "own.futil").write_text("own\n")
    assert import_petal(folder, program="../own.futil").sources["../own.futil"] == "own\n"
    outside = json.dumps(SIDE_FILES["adl-metadata.json"]).replace("gen.py", "../../secret.py")
    write_side_files(folder, **{"adl-metadata.json": json.loads(outside)})
    (tmp_path.parent / "secret.py").write_text("secret\n")
    assert set(import_petal(folder).sources) == {"run.futil"}


def test_control_registers_are_counters(tmp_path: Path) -> None:
    write_run(tmp_path)
    profile = import_petal(tmp_path)
    fsm = next(s for s in profile.series if s.metric == "fsm")
    assert (fsm.track, fsm.name) == ("main", "fsm (seq L10)")
    assert fsm.value.tolist() == [0, 1, 2, 1, 3]
    assert fsm.end.tolist() == [2, 4, 8, 10, 11]
    overhead = design_overhead(profile)
    assert (overhead.cycles, overhead.useful, overhead.fsm) == (10, 5, 4)


def test_what_the_files_say_twice_is_shown_once(tmp_path: Path) -> None:
    write_run(tmp_path)
    expected = import_petal(tmp_path)
    records = json.loads(json.dumps(SIDE_FILES["fsm.json"]))
    children = records[1]["Par"]["child_groups"]
    children.append(children[0])
    write_side_files(tmp_path, **{"fsm.json": [*records, records[1]]})
    profile = import_petal(tmp_path)
    assert [(s.track, s.name) for s in profile.series] == [
        (s.track, s.name) for s in expected.series
    ]
    assert stacks(profile) == FOLDED


@pytest.mark.parametrize("ending", [".vcd.gz", ".vcd.xz"])
def test_packed_waveforms_give_the_same(tmp_path: Path, ending: str) -> None:
    plain = write_run(tmp_path)
    expected = import_petal(tmp_path)
    pack = gzip.compress if ending.endswith("gz") else lzma.compress
    packed = tmp_path / f"run{ending}"
    packed.write_bytes(pack(plain.read_bytes()))
    plain.unlink()
    profile = import_petal(tmp_path)
    assert profile.schedule == expected.schedule
    assert profile.catalog == expected.catalog
    packed.write_bytes(packed.read_bytes()[:-20])
    assert problems(import_petal(tmp_path))["waveform cut"] == 1


def test_other_layouts_of_the_same_changes_give_the_same(tmp_path: Path) -> None:
    write_run(tmp_path)
    expected = import_petal(tmp_path)
    text = body()
    layouts = [
        text.replace("\n", "\r\n"),
        text.replace("\n", " "),
        text.replace(" ", "\n"),
        text.replace("#45\n", "#45 $comment 1! #3 b1 &~ $end\n"),
        "$dumpvars\n" + text.replace("#5\n", "$end\n#5\n", 1),
        text.replace("#15\n", "#15\nr0.5 ~~\nsabc ~~\n1~~\nb1111111 ~~\n"),
    ]
    for layout in layouts:
        write_run(tmp_path, header() + layout + "\n")
        profile = import_petal(tmp_path)
        assert stacks(profile) == FOLDED, layout[:40]
        assert profile.schedule == expected.schedule
        assert not profile.meta.anomalies


def test_unknown_values_are_inactive(tmp_path: Path) -> None:
    unknown = "".join(f"x{key}\n" for name, key in KEY.items() if name != "fsm_out")
    text = body().replace("#0\n", "#0\n" + unknown, 1)
    write_run(tmp_path, header() + text)
    assert stacks(import_petal(tmp_path)) == FOLDED


def test_a_run_without_an_end_is_not_complete(tmp_path: Path) -> None:
    text = header() + body()
    write_run(tmp_path, text[: text.index("#75")])
    profile = import_petal(tmp_path)
    assert profile.cycles == 6
    assert not profile.meta.complete
    assert problems(profile) == {"run not complete": 1}


def test_time_that_runs_back_and_missing_edges_are_data_loss(tmp_path: Path) -> None:
    write_run(tmp_path, header() + body().replace("#45", "#4"))
    profile = import_petal(tmp_path)
    assert stacks(profile) == FOLDED
    assert problems(profile) == {"time runs back": 1, "clock irregular": 2}
    assert {a.severity for a in profile.meta.anomalies} == {Severity.DATA_LOSS}


def test_damaged_words_are_data_loss(tmp_path: Path) -> None:
    write_run(tmp_path, header() + body().replace("\n1$~\n", "\nq$~\n", 1))
    assert "waveform damaged" in problems(import_petal(tmp_path))


def test_a_group_whose_position_was_lost_is_placed_by_what_it_starts(tmp_path: Path) -> None:
    # The original shows no block for it, and 0 flattened cycles in its table.
    write_run(tmp_path)
    records = json.loads(json.dumps(SIDE_FILES["fsm.json"]))
    records[0]["Fsm"]["pos"] = []
    write_side_files(tmp_path, **{"fsm.json": records})
    profile = import_petal(tmp_path)
    assert stacks(profile) == FOLDED
    records[0]["Fsm"]["states"][0]["group"] = "wrapper_of_init"
    write_side_files(tmp_path, **{"fsm.json": records})
    assert problems(import_petal(tmp_path)) == {"control group without a place": 1}
    records[1]["Par"]["pos"] = []
    write_side_files(tmp_path, **{"fsm.json": records})
    profile = import_petal(tmp_path)
    assert problems(profile) == {"control group without a place": 1}
    assert stacks(profile)["main;seq L10;while L12;par L13"] == 1


def test_without_lines_statements_are_named_by_their_place(tmp_path: Path) -> None:
    write_run(tmp_path)
    (tmp_path / "ctrl-pos.json").unlink()
    (tmp_path / "adl-metadata.json").unlink()
    profile = import_petal(tmp_path)
    assert stacks(profile)["main;control main.-;init;add0 [std_add]"] == 1


def test_a_line_that_statements_share_says_nothing_about_which(tmp_path: Path) -> None:
    write_run(tmp_path)
    expected = stacks(import_petal(tmp_path))
    places, groups = (
        json.loads(json.dumps(SIDE_FILES[name])) for name in ("path-descriptors.json", "fsm.json")
    )
    # 9 is the generator's line: of the `par`, whose own line nobody noted, and of the loop around.
    places["main"]["control_pos"] = {"main.-": [1], "main.-1-b-": [3, 9], "main.-1-": [2, 9]}
    groups[1]["Par"]["pos"] = [9]
    write_side_files(tmp_path, **{"path-descriptors.json": places, "fsm.json": groups})
    assert stacks(import_petal(tmp_path)) == expected


def test_names_may_contain_what_joins_them(tmp_path: Path) -> None:
    text = (header() + body()).replace("initUG", "in___itUG").replace("add0___", "ad___d0___")
    write_run(tmp_path, text)
    places = json.loads(json.dumps(SIDE_FILES["path-descriptors.json"]))
    places["main"]["enables"]["in___itUG"] = places["main"]["enables"].pop("initUG")
    cells = json.loads(json.dumps(SIDE_FILES["cells.json"]).replace("add0", "ad___d0"))
    write_side_files(tmp_path, **{"path-descriptors.json": places, "cells.json": cells})
    assert stacks(import_petal(tmp_path))["main;seq L10;in___it;ad___d0 [std_add]"] == 1


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("cells.json", "{}", "an object|a list"),
        ("cells.json", "[]", "main"),
        ("cells.json", "[{", "not JSON"),
        ("cells.json", "[" * 100_000, "not JSON"),
        ("fsm.json", '[{"Fsm": {"component": 3}}]', "a string"),
        ("path-descriptors.json", '{"main": {"enables": []}}', "an object"),
        ("ctrl-pos.json", '{"main": [{"pos_num": "1"}]}', "an integer|a string"),
        ("ctrl-pos.json", f'{{"main": [{{"pos_num": {1 << 63}}}]}}', "an integer|a string"),
        ("shared-cells.json", '{"main": [7]}', "an object"),
        ("shared-cells.json", '{"\\ud800": []}', "surrogates"),
        ("adl-metadata.json", '{"adl": "Py", "components": [{}]}', "a string"),
    ],
)
def test_damaged_side_files_are_named(tmp_path: Path, name: str, content: str, says: str) -> None:
    write_run(tmp_path)
    (tmp_path / name).write_text(content)
    with pytest.raises(DataError, match=says) as caught:
        import_petal(tmp_path)
    assert name in str(caught.value)


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="is not a folder"):
        import_petal(tmp_path / "absent")
    with pytest.raises(DataError, match="contains 0 waveforms"):
        import_petal(tmp_path)
    write_run(tmp_path)
    (tmp_path / "other.vcd").write_text("")
    with pytest.raises(DataError, match="contains 2 waveforms"):
        import_petal(tmp_path)
    with pytest.raises(DataError, match="empty"):
        import_petal(tmp_path, tmp_path / "other.vcd")
    with pytest.raises(DataError, match="cannot be read"):
        import_petal(tmp_path, tmp_path / "absent.vcd")
    (tmp_path / "fsm.json").unlink()
    with pytest.raises(DataError, match=r"fsm.json: is missing"):
        import_petal(tmp_path, tmp_path / "run.vcd")


def test_a_waveform_without_probes_shows_the_program_alone(tmp_path: Path) -> None:
    shown = {name: SIGNALS[name] for name in ("clk", "go", "done")}
    kept = {KEY[name] for name in shown}
    lines = (line for line in body().split("\n"))
    changes = "\n".join(x for x in lines if x[:1] in ("#", "") or x[1:] in kept)
    profile = import_petal(tmp_path, write_run(tmp_path, header(shown) + changes))
    assert folded(profile) == "main 10\n"


def test_a_waveform_of_another_program_is_refused(tmp_path: Path) -> None:
    write_run(tmp_path, (header() + body()).replace("module main", "module other"))
    with pytest.raises(DataError, match="no module main"):
        import_petal(tmp_path)
    write_run(tmp_path, header() + "#0\n" + change("clk", 0) + "\n#5\n" + change("clk", 1) + "\n")
    with pytest.raises(DataError, match="never runs"):
        import_petal(tmp_path)
