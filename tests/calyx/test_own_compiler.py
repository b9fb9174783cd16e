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
from cyclescope.calyx._own import RefusalError, explain
from cyclescope.calyx._own._encode import encode
from cyclescope.calyx._own._notes import Design, Notes, both, either, retarget
from cyclescope.calyx._own._plan import _tag, _with_ours
from cyclescope.calyx._syntax import Assignment
from cyclescope.calyx._syntax_read import read_syntax
from cyclescope.calyx._text import read_program
from cyclescope.cli._calyx import calyx as command
from cyclescope.errors import SourceError, ToolError
from cyclescope.model import Frame, Profile, check_laws

HERE = Path(__file__).parent
PROGRAMS = HERE / "programs"
NAMES = sorted(path.stem for path in PROGRAMS.glob("*.futil"))
OUR_NAMES = {
    "encode": "encode-control",
    "tag_split_groups": "tag-split-groups",
    "drop_unused": "drop-unused",
    "note_invokes": "note-invokes",
    "tag_inlined": "tag-inlined",
    "note_cells": "note-cells",
    "instrument": "instrument",
    "note_repeats": "note-repeats",
    "probe_repeats": "probe-repeats",
    "probe_static": "probe-static",
    "note_blocks": "note-blocks",
    "probe_blocks": "probe-blocks",
}
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
    version = compiler.run(["--help"]) if os.environ.get("CALYX") else ""
    if not version:
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


@pytest.mark.parametrize("name", NAMES)
def test_control_is_encoded_as_by_the_built_in_compiler(name: str) -> None:
    program = PROGRAMS / f"{name}.futil"
    built_in = compile_program(program).record
    notes = Notes([], {}, {})
    texts = read_program(program)
    items = []
    for path, text in texts.items():
        file = read_syntax(text.data, str(path))
        items += file.items
        for item in file.items:
            if hasattr(item, "control"):
                _tag(notes, item, str(path))
    file.items = items
    encode(notes, Design(file))
    own = [node for node in notes.nodes if node["kind"] != "shared"]
    keys = ("component", "kind", "offset", "group", "cell")
    known = {n["component"] for n in own}
    expected = [n for n in built_in.nodes if n.origin is None and n.component in known]
    expected = [n for n in expected if n.kind != "shared"]
    found = sorted(tuple(str(n[k]) for k in keys) for n in own if n["kind"] != "seq")
    assert found == sorted(
        tuple(str(getattr(n, k)) for k in keys) for n in expected if n.kind != "seq"
    )


@pytest.mark.parametrize(
    "passes",
    [
        ("all",),
        ("validate", "compile", "lower"),
        ("validate", "compile-sync", "compile-repeat", "compile", "lower"),
        ("validate", "compile-invoke", "compile", "post-opt", "lower"),
    ],
)
def test_our_passes_stand_where_the_built_in_compiler_has_them(passes: tuple[str, ...]) -> None:
    flat = _flat(passes)
    try:
        steps = compile_program(PROGRAMS / "one_cycle.futil", passes=passes).record.passes
    except SourceError:
        pytest.skip("these passes alone make no design")
    own = [step if isinstance(step, str) else OUR_NAMES[step.__name__] for step in _with_ours(flat)]
    assert own == list(steps)


def _flat(passes: tuple[str, ...]) -> list[str]:
    compiler = OwnCompiler(Path("calyx"), "0.7.1")
    vars(compiler)["aliases"] = _aliases()
    return compiler.passes(passes)


def _aliases() -> dict[str, tuple[str, ...]]:
    text = _native.pass_help()
    passes, _, aliases = text.partition("Aliases:")
    names = [line[2:].split(":")[0] for line in passes.splitlines() if line.startswith("- ")]
    known = {name: (name,) for name in names}
    for line in aliases.strip().splitlines():
        name, _, members = line.removeprefix("- ").partition(":")
        known[name] = tuple(m.strip() for m in members.split(",") if m.strip())
    return known


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("echo hello", "is no Calyx compiler"),
        ("exit 3", "is no Calyx compiler"),
        ("[ $1 = --version ] && echo Calyx compiler version 0.9.0", "pass-help"),
    ],
)
def test_a_program_that_is_no_calyx_is_refused(tmp_path: Path, text: str, says: str) -> None:
    path = script(tmp_path / "calyx", text)
    with pytest.raises(ToolError, match=says):
        compile_program(PROGRAMS / "one_cycle.futil", compiler=find_own_compiler(path))


def test_what_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="no program that can be run"):
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
    compiler = OwnCompiler(Path("/opt/calyx"), "0.7.1")
    warned = "[WARN  calyx] something\nError: p.futil\n3 |  a;\n  |  ^^ Undefined group: a\n"
    parsed = (
        "Error: Failed to parse `p.futil`:\n --> p.futil:2:9\n |\n2 | a\n | ^\n = expected semi"
    )
    cases = {
        warned: "p.futil:3: Undefined group: a",
        parsed: "p.futil:2:9: expected semi",
        "Error: Import path `x` not found": "m.futil: Import path `x` not found",
        "thread 'main' panicked at src/a.rs:1:2:\ncalled `unwrap()`\nnote: run": (
            "m.futil: the compiler /opt/calyx stopped: called `unwrap()`"
        ),
        "it ended with status -11": "m.futil: it ended with status -11",
    }
    for said, line in cases.items():
        assert str(explain(compiler, Path("m.futil"), RefusalError(said))) == line


def test_guards_and_holes() -> None:
    assert both(None, "a.out") == "a.out"
    assert both("a | b", "c == 1'd1") == "(a | b) & (c == 1'd1)"
    assert both("a", "a") == "a"
    assert either("a", None) is None
    assert either("a", "b & c") == "a | (b & c)"
    moved = retarget([Assignment("g[done]", "xg[go] & g[go]", "g-g[go]")], "g", "h")
    assert [(a.dst, a.guard, a.src) for a in moved] == [("h[done]", "xg[go] & h[go]", "g-g[go]")]
