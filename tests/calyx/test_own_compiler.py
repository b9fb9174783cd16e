"""Programs through a compiler of the user's own: the same profile as from the built-in one.

The compiler is `$CALYX` if set (release 0.7.1 or a main-branch build; `$CALYX_LIBRARY` names the
folder of its primitives, if it needs one), else a stand-in over the built-in one.
"""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from cyclescope import _native
from cyclescope.calyx import (
    CalyxOptions,
    OwnCompiler,
    compile_program,
    find_own_compiler,
    profile_program,
    verify_program,
)
from cyclescope.calyx._complaints import explain_printed
from cyclescope.cli._calyx import calyx as command
from cyclescope.errors import SourceError, ToolError
from cyclescope.model import Frame, Profile, check_laws

HERE = Path(__file__).parent
PROGRAMS = HERE / "programs"
CONFIGURATIONS = {
    "default": CalyxOptions(),
    "no promotion": CalyxOptions(disable=("static-promotion",)),
}


def script(path: Path, text: str) -> Path:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


@pytest.fixture(scope="session")
def compiler(tmp_path_factory: pytest.TempPathFactory) -> OwnCompiler:
    if given := os.environ.get("CALYX"):
        library = os.environ.get("CALYX_LIBRARY")
        return find_own_compiler(given, Path(library) if library else None)
    folder = tmp_path_factory.mktemp("calyx")
    stand_in = script(folder / "calyx", f"exec '{sys.executable}' '{HERE / 'stand_in.py'}' \"$@\"")
    _native.write_library(folder / "library")
    return find_own_compiler(stand_in, folder / "library")


def history(profile: Profile) -> list[tuple[int, frozenset[tuple[Frame, ...]]]]:
    """Cycles and call paths of each run; what compilers number by themselves is not numbered."""

    def plain(frame: Frame) -> Frame:
        name = frame.name.rstrip("0123456789") if frame.generated else frame.name
        return replace(frame, name=name)

    paths = [
        tuple(plain(profile.frame_of(p)) for p in profile.lineage(path))
        for path in range(len(profile.call_paths))
    ]
    trees = [
        frozenset(paths[p] for p in profile.forest[t].tolist()) for t in range(len(profile.forest))
    ]
    runs = zip(profile.schedule.cycles.tolist(), profile.schedule.tree.tolist(), strict=True)
    return [(cycles, trees[tree]) for cycles, tree in runs]


# One program for each way of our passes: promoted and compiled blocks, split and shared groups,
# inlining, shared conditions, reference cells, counted repeats, groups that call groups.
WAYS = [
    ("bound_loop", "default"),
    ("if_with", "no promotion"),
    ("inlined", "default"),
    ("invoke_component", "default"),
    ("one_instance_two_groups", "no promotion"),
    ("pipes", "default"),
    ("group_calls_group", "default"),
    ("repeat_nested", "no promotion"),
    ("sync_shared_condition", "default"),
]


@pytest.mark.long(keep_one_in=4)
@pytest.mark.parametrize(("name", "configuration"), WAYS)
def test_the_profile_is_that_of_the_built_in_compiler(
    compiler: OwnCompiler, name: str, configuration: str
) -> None:
    program, data = PROGRAMS / f"{name}.futil", PROGRAMS / f"{name}.json"
    options = CONFIGURATIONS[configuration]
    own = profile_program(program, data, replace(options, compiler=compiler))
    built_in = profile_program(program, data, options)
    check_laws(own.profile)
    assert own.profile.cycles == built_in.profile.cycles
    assert own.memories == built_in.memories
    assert history(own.profile) == history(built_in.profile)
    assert own.profile.meta.tools["calyx binary"] == f"sha256 {compiler.digest}"


@pytest.mark.long
def test_measuring_moves_no_cycle(compiler: OwnCompiler) -> None:
    options = CalyxOptions(compiler=compiler)
    program, data = PROGRAMS / "sync_pair.futil", PROGRAMS / "sync_pair.json"
    assert verify_program(program, data, options).holds


def test_a_complaint_of_the_compiler_has_its_place(compiler: OwnCompiler, tmp_path: Path) -> None:
    program = tmp_path / "bad.futil"
    program.write_text(
        'import "primitives/core.futil";\ncomponent main() -> () {\n  cells { r = std_rg(8); }\n'
        "  wires {}\n  control {}\n}\n"
    )
    with pytest.raises(SourceError, match="std_rg") as caught:
        compile_program(program, compiler=compiler)
    assert str(caught.value).startswith(f"{program}:")
    with pytest.raises(SourceError, match="unknown pass or alias `tdc`"):
        compile_program(program, passes=["tdc"], compiler=compiler)


def test_the_command_takes_it(compiler: OwnCompiler, tmp_path: Path) -> None:
    program, data = PROGRAMS / "one_cycle.futil", PROGRAMS / "one_cycle.json"
    given = ["--compiler", str(compiler.path)]
    if compiler.library:
        given += ["--library", str(compiler.library)]
    target = tmp_path / "out.cyc"
    arguments = [str(program), "--data", str(data), *given, "-o", str(target)]
    done = CliRunner().invoke(command, arguments, catch_exceptions=False)
    assert done.exit_code == 0
    assert target.exists()


def test_what_the_compiler_refuses_is_refused(compiler: OwnCompiler, tmp_path: Path) -> None:
    """With probes in it, this program is another one, which the compiler takes."""
    program = tmp_path / "empty_arm.futil"
    program.write_text(
        'import "primitives/core.futil";\ncomponent main() -> () {\n'
        "  cells { r = std_reg(32); }\n"
        "  wires { group a { r.in = 32'd7; r.write_en = 1'd1; a[done] = r.done; } }\n"
        "  control { seq { par { a; } repeat 3 { par { repeat 2 { a; } seq { } } } } }\n}\n"
    )
    for instrument in (True, False):
        with pytest.raises(SourceError, match="stopped"):
            compile_program(program, instrument=instrument, disable=("drop-empty",))
        if os.environ.get("CALYX"):  # the tests' own compiler is corrected, too
            with pytest.raises(SourceError, match="stopped"):
                compile_program(program, instrument=instrument, compiler=compiler)


def test_a_constant_moves_no_place(compiler: OwnCompiler, tmp_path: Path) -> None:
    if not os.environ.get("CALYX"):
        pytest.skip("release 0.7.1 does not read floating-point constants; set CALYX to main's")
    program = tmp_path / "constant.futil"
    program.write_text(
        'import "primitives/core.futil";\nimport "primitives/float.futil";\n'
        f"component main() -> () {{\n  cells {{ r = std_reg(32);\n"
        f"    c = std_float_const(0, 32, 1{'0' * 40}); }}\n"
        "  wires { group a { r.in = c.out; r.write_en = 1'd1; a[done] = r.done; } }\n"
        "  control {\n    a;\n  }\n}\n"
    )
    made = compile_program(program, compiler=compiler)
    node = next(n for n in made.record.nodes if n.kind == "enable")
    assert made.positions(node.file, node.offset)[0].line == 8


# Without any compiler.


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("echo hello", "is not a Calyx compiler"),
        ("exit 3", "is not a Calyx compiler"),
        ("[ $1 = --version ] && echo Calyx compiler version 0.9.0", "pass-help"),
    ],
)
def test_a_program_that_is_no_calyx_is_refused(tmp_path: Path, text: str, says: str) -> None:
    path = script(tmp_path / "calyx", text)
    with pytest.raises(ToolError, match=says):
        compile_program(PROGRAMS / "one_cycle.futil", compiler=find_own_compiler(path))


def test_what_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="not a program that can be run"):
        find_own_compiler(tmp_path / "calyx")
    path = script(tmp_path / "calyx", "echo Calyx compiler version 0.7.1")
    with pytest.raises(ToolError, match="no such folder"):
        find_own_compiler(path, tmp_path / "library")
    broken = tmp_path / "broken"
    broken.write_bytes(b"\x7fELF nothing")
    broken.chmod(0o755)
    with pytest.raises(ToolError, match="cannot be run"):
        find_own_compiler(broken)


def test_complaints_become_one_line() -> None:
    warned = "[WARN  calyx] something\nError: p.futil\n3 |  a;\n  |  ^^ Undefined group: a\n"
    parsed = (
        "Error: Failed to parse `p.futil`:\n --> p.futil:2:9\n |\n2 | a\n | ^\n = expected semi"
    )
    cases = {
        warned: "p.futil:3: Undefined group: a",
        parsed: "p.futil:2:9: expected a semicolon",
        "Error: Import path `x` not found": "m.futil: Import path `x` not found",
        "thread 'main' panicked at src/a.rs:1:2:\ncalled `unwrap()`\nnote: run": (
            "m.futil: the compiler /opt/calyx stopped: called `unwrap()`"
        ),
        "it ended with status -11": "m.futil: it ended with status -11",
    }
    for said, line in cases.items():
        assert str(explain_printed(Path("m.futil"), said, Path("/opt/calyx"))) == line
