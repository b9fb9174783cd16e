"""Position notations of today's Calyx are read and blanked out; other bytes keep their place."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cyclescope.calyx._compile import compile_program
from cyclescope.calyx._text import read_program
from cyclescope.errors import SourceError
from cyclescope.model import Position

PROGRAM = """\
import "primitives/core.futil"; // @pos{9} in a comment
component main<"pos"={0}>() -> () {
  cells { @pos{1} r = std_reg(32); @external @pos{1} m = comb_mem_d1(32, 1, 1); }
  wires {
    group one<"promotable"=1, "pos"={2}> { r.in = 32'd1; r.write_en = 1'd1; one[done] = r.done; }
    comb group c<"pos"={3}> { }
    static<1> group s<"pos"={4,5}> { r.in = 32'd2; r.write_en = 1'd1; }
  }
  control {
    @pos{6} seq {
      @pos{7} @bound(2) one;
      @bound(3) @pos{8} one;
      one;
    }
  }
}
sourceinfo #{
FILES
  0: gen.py
  1: kernel.fuse
POSITIONS
  0: 0 10
  2: 0 20
  4: 0 40
  5: 1 41
  6: 0 60
  7: 0 70
  8: 1 80
}#
"""


def load(tmp_path: Path, text: str = PROGRAM) -> tuple[Path, object]:
    path = tmp_path / "p.futil"
    path.write_text(text)
    return path, read_program(path)[path]


def levels(text: object, offset: int) -> list[tuple[str, str, int]]:
    return [(p.level, p.file, p.line) for p in text.positions(offset)[1:]]  # type: ignore[attr-defined]


def test_what_0_7_1_cannot_parse_is_gone_and_the_rest_stays(tmp_path: Path) -> None:
    _, text = load(tmp_path)
    clean = text.clean.decode()
    assert len(clean) == len(PROGRAM)
    assert [len(line) for line in clean.split("\n")] == [len(x) for x in PROGRAM.split("\n")]
    assert "sourceinfo" not in clean
    assert clean.count("@pos") == 1  # the one in the comment
    for kept in ('group one<"promotable"=1, ', "@external", "@bound(2) one;", "@bound(3)"):
        assert kept in clean
    for index, (before, after) in enumerate(zip(PROGRAM, clean, strict=True)):
        assert after in (before, " "), f"byte {index} changed"


@pytest.mark.parametrize(
    ("start", "expected"),
    [
        ("component main", [("calyx-py", "gen.py", 10)]),
        ("group one", [("calyx-py", "gen.py", 20)]),
        ("static<1> group s", [("calyx-py", "gen.py", 40), ("dahlia", "kernel.fuse", 41)]),
        ("seq {", [("calyx-py", "gen.py", 60)]),
        ("@bound(2) one", [("calyx-py", "gen.py", 70)]),
        ("@bound(3) @pos{8}", [("dahlia", "kernel.fuse", 80)]),
        ("one;\n    }", []),
    ],
)
def test_positions_stand_where_the_compiler_sees_the_statement(
    tmp_path: Path, start: str, expected: list[tuple[str, str, int]]
) -> None:
    _, text = load(tmp_path)
    assert levels(text, PROGRAM.index(start)) == expected


def test_the_first_position_is_the_programs_own(tmp_path: Path) -> None:
    _, text = load(tmp_path)
    offset = PROGRAM.index("static<1>")
    assert text.positions(offset)[0] == Position("calyx", "p.futil", 7, 5)


def test_a_program_without_positions_is_left_alone() -> None:
    path = Path(__file__).parents[2] / "examples" / "calyx" / "switch_par.futil"
    text = read_program(path)[path]
    assert not text.cleaned
    assert text.clean == path.read_bytes()


@given(st.text(alphabet='@pos{}0123<>"=#/* \n;seqgroupa', max_size=60))
def test_any_text_keeps_its_length_and_lines(noise: str) -> None:
    from cyclescope.calyx import _text

    data = noise.encode()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "noise.futil"
        path.write_bytes(data)
        text = _text._read(path, path)
    assert len(text.clean) == len(data)
    assert text.clean.count(b"\n") == data.count(b"\n")


def test_imported_files_are_read_too(tmp_path: Path) -> None:
    (tmp_path / "inner.futil").write_text('component f<"pos"={0}>() -> () {}\n')
    main = tmp_path / "main.futil"
    main.write_text('import "inner.futil";\nimport "primitives/core.futil";\n')
    texts = read_program(main)
    assert sorted(t.name for t in texts.values()) == ["inner.futil", "main.futil"]


def test_no_file_and_no_text(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="no such file"):
        read_program(tmp_path / "none.futil")
    (tmp_path / "b.futil").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SourceError, match="not a text file"):
        read_program(tmp_path / "b.futil")


@pytest.mark.parametrize(
    ("control", "deep"),
    [
        ("seq { " * 10_001 + "g; " + "} " * 10_001, True),
        ("if r.out { g; } " + "else if r.out { g; } " * 10_001, True),
        ("if r.out { g; } else if r.out { g; } " * 10_001, False),
        ("seq { g; } " * 10_001, False),
        ("// " + "{ " * 10_001, False),
    ],
    ids=["blocks", "chain", "many chains", "many blocks", "comment"],
)
def test_what_lies_too_deep_for_the_compiler_is_refused(
    tmp_path: Path, control: str, deep: bool
) -> None:
    main = tmp_path / "main.futil"
    main.write_text(f"component main() -> () {{\n  control {{ seq {{ {control}\n}} }} }}\n")
    if not deep:
        assert read_program(main)[main].clean
        return
    with pytest.raises(SourceError, match=r"main\.futil:2: more than 10,000 statements") as error:
        read_program(main)
    assert "\n" not in str(error.value)


def test_the_compiler_has_stack_for_deep_statements(tmp_path: Path) -> None:
    main = tmp_path / "main.futil"
    group = "group g { r.in = 1'd1; r.write_en = 1'd1; g[done] = r.done; }"
    body = "seq { " * 3000 + "g; " + "} " * 3000
    main.write_text(
        'import "primitives/core.futil";\ncomponent main() -> () {\n'
        f"  cells {{ r = std_reg(1); }} wires {{ {group} }} control {{ {body} }} }}\n"
    )
    assert "module main" in compile_program(main).design.sources["design.sv"]
