"""Every command: streams, wrong files, suggestions, JSON, remedies."""

from __future__ import annotations

import ast
import io
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click
import pytest

import cyclescope
from cyclescope.cli import COMMANDS, main, program
from cyclescope.cli._kinds import FILE_KINDS, FolderPath, InputPath
from cyclescope.model import load, save

from ..views.switch import switch_profile

if TYPE_CHECKING:
    from collections.abc import Iterator

EXAMPLES = Path(__file__).parents[2] / "examples"


def commands() -> Iterator[tuple[str, click.Command]]:
    """Every command, those in groups too, with the words that call it."""
    for name in COMMANDS:
        command = program.get_command(click.Context(program), name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from ((f"{name} {inner}", one) for inner, one in command.commands.items())
        else:
            yield name, command


ALL = dict(commands())


def options(command: click.Command) -> list[click.Option]:
    return [one for one in command.params if isinstance(one, click.Option)]


def arguments(command: click.Command) -> list[click.Argument]:
    return [one for one in command.params if isinstance(one, click.Argument)]


READ_PROFILES = [
    words
    for words, command in ALL.items()
    if any(
        isinstance(a.type, InputPath) and a.type.kinds == ("a profile",) for a in arguments(command)
    )
]
# What a view needs besides its profiles.
MORE = {
    "export": ["--format", "folded"],
    "query": ["SELECT name FROM frames"],
    "whatif": ["--best", "1"],
}


@pytest.fixture
def profile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    save(switch_profile(), Path("p.cyc"))
    return Path("p.cyc")


def pipe_in(monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(path.read_bytes())))


def test_the_commands_that_read_profiles_are_found() -> None:
    assert {"report", "summary", "table", "diff", "check", "advise"} <= set(READ_PROFILES)


@pytest.mark.parametrize("verb", READ_PROFILES)
def test_a_profile_may_come_on_standard_input(
    verb: str,
    profile: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfdbinary: pytest.CaptureFixture[bytes],
) -> None:
    if verb == "query":
        pytest.importorskip("duckdb", reason="the extra `query` is not installed")
    words = ["-", "p.cyc"] if verb == "diff" else ["-"]
    expected = 2 if verb == "area" else 0  # it was not synthesised, whatever it came from
    pipe_in(monkeypatch, profile)
    assert main([verb, *words, *MORE.get(verb, [])]) == expected
    shown = capfdbinary.readouterr()
    assert shown.out or expected
    pipe_in(monkeypatch, profile)
    assert main([verb, *words, *MORE.get(verb, []), "-o", "-"]) == expected
    assert capfdbinary.readouterr().out or expected
    assert [path.name for path in Path().iterdir()] == ["p.cyc"]


def test_standard_input_is_read_once(profile: Path, monkeypatch: pytest.MonkeyPatch,
                                     capsys: pytest.CaptureFixture[str]) -> None:  # fmt: skip
    pipe_in(monkeypatch, profile)
    assert main(["diff", "-", "-"]) == 2
    assert "read once; name a file" in capsys.readouterr().err
    pipe_in(monkeypatch, Path(__file__))
    assert main(["summary", "-"]) == 2
    assert capsys.readouterr().err.startswith("cyclescope: standard input: not a profile")


def test_a_profile_on_standard_output_is_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    monkeypatch.chdir(tmp_path)
    kernel = EXAMPLES / "bounds" / "polybench" / "atax.c"
    Path("w.vcd").write_text(
        "$timescale 1ns $end\n$var wire 1 ! a $end\n$enddefinitions $end\n#0\n0!\n#5\n1!\n#9\n"
    )
    for words in (
        ["bounds", str(kernel), "-D", "M=4", "-D", "N=4"],
        ["import", "vcd", "w.vcd", "--signals", "a"],
    ):
        assert main([*words, "-o", "a.cyc", "-q"]) == 0
        assert capfdbinary.readouterr().out == b""
        assert main([*words, "-o", "-"]) == 0
        shown = capfdbinary.readouterr()
        assert shown.out == Path("a.cyc").read_bytes()
        assert b"cycles" in shown.err
        assert load("a.cyc").cycles > 0
        assert main([*words, "-o", "-", "-q"]) == 0
        assert capfdbinary.readouterr() == (shown.out, b"")
        assert main([*words, "-o", "-", "--format", "json"]) == 3
        assert b"two outputs to standard output" in capfdbinary.readouterr().err
        for path in Path().glob("a*.cyc"):
            path.unlink()
        assert [path.name for path in Path().iterdir()] == ["w.vcd"]


@pytest.mark.parametrize("words", ALL)
def test_no_output_is_a_file_named_dash(words: str) -> None:
    for option in options(ALL[words]):
        if option.name == "output":
            assert isinstance(option.type, click.Path)
            assert option.type.allow_dash or isinstance(option.type, FolderPath), words


@pytest.mark.parametrize("form", ["paraver", "csv", "json", "folded"])
def test_who_has_seen_enough_of_an_export_ends_it(form: str, tmp_path: Path) -> None:
    from strategies import large_profile

    save(large_profile(4_000), tmp_path / "p.cyc")
    command = f"{sys.executable} -m cyclescope export {tmp_path}/p.cyc --format {form} -o -"
    script = f"({command}; echo $? >&2) | head -c 10"
    done = subprocess.run(["sh", "-c", script], capture_output=True, check=True)
    assert (len(done.stdout), done.stderr) == (10, b"0\n")


@pytest.mark.parametrize("words", ALL)
def test_the_wrong_kind_of_file_is_told_the_right_command(
    words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [one for one in arguments(ALL[words]) if isinstance(one.type, InputPath)]
    named = {"import petal", "import nymble"}  # read a folder, and bytes that have no ending
    takes_files = any(isinstance(one.type, click.Path) for one in arguments(ALL[words]))
    assert files or words in named or not takes_files
    for one in files[:1]:
        assert isinstance(one.type, InputPath)
        for kind in FILE_KINDS:
            if kind.name not in one.type.kinds:
                file = tmp_path / f"x{kind.endings[0]}"
                assert main([*words.split(), str(file)]) == 2
                said = capsys.readouterr().err
                assert said.count("\n") == 1
                assert f"is {kind.name}" in said
                assert kind.instead.format(file) in said


def test_what_the_right_command_is_exists() -> None:
    for kind in FILE_KINDS:
        for words in re.findall(r"cyclescope ([a-z]+(?: vcd| paraver)?)", kind.instead):
            assert words in ALL
        for words in kind.verbs:
            found = arguments(ALL[words])[0].type
            assert isinstance(found, InputPath)
            assert kind.name in found.kinds


@pytest.mark.parametrize("words", ALL)
def test_a_word_that_is_no_choice_is_answered_with_a_near_one(
    words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for option in options(ALL[words]):
        if isinstance(option.type, click.Choice):
            word = str(next(iter(option.type.choices)))
            wrong = f"{word[:-1]}x{word[-1]}"
            assert main([*words.split(), option.opts[0], wrong]) == 2
            assert f"did you mean {word}?" in capsys.readouterr().err


def test_a_near_command_is_suggested_in_groups_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["import", "vdc", "x"]) == 2
    assert "no command vdc; did you mean vcd?" in capsys.readouterr().err
    assert main(["s.cyc"]) == 2
    assert "the command comes first: cyclescope report s.cyc" in capsys.readouterr().err


# Those that print no figures: pictures, files for other programs, texts about cyclescope.
NO_JSON = {
    "report", "flamegraph", "timeline", "source", "cache path", "cache clear", "completion", "help",
}  # fmt: skip


@pytest.mark.parametrize("words", ALL)
def test_there_is_one_way_to_ask_for_json(words: str) -> None:
    visible = [one for one in options(ALL[words]) if not one.hidden]
    assert not any("--json" in one.opts for one in visible)
    forms = [one for one in visible if "--format" in one.opts]
    if words not in NO_JSON:
        assert isinstance(forms[0].type, click.Choice)
        assert "json" in forms[0].type.choices


@pytest.mark.parametrize("verb", READ_PROFILES)
def test_what_is_asked_for_as_json_is_json(
    verb: str, profile: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if verb in NO_JSON or verb == "area":
        pytest.skip("no figures")
    if verb == "query":
        pytest.importorskip("duckdb", reason="the extra `query` is not installed")
    words = ["p.cyc"] * (2 if verb == "diff" else 1)
    more = [] if verb == "export" else MORE.get(verb, [])
    assert main([verb, *words, *more, "--format", "json", "-o", "-"]) == 0
    said = capsys.readouterr().out
    for line in said.splitlines() if verb == "export" else [said]:
        json.loads(line)


@pytest.mark.parametrize("words", ALL)
def test_every_command_can_be_told_to_say_less_or_more(words: str) -> None:
    flags = {flag for option in options(ALL[words]) for flag in option.opts}
    assert {"-q", "--quiet", "-v", "--verbose"} <= flags


@pytest.mark.parametrize("words", ALL)
def test_help_is_that_of_the_command(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["help", *words.split()]) == 0
    told = capsys.readouterr().out
    assert main([*words.split(), "--help"]) == 0
    assert capsys.readouterr().out == told


def test_help_without_a_command_and_of_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["help"]) == 0
    assert "Commands:" in capsys.readouterr().out
    assert main(["help", "sumary"]) == 2
    assert "did you mean summary?" in capsys.readouterr().err
    assert main(["help", "summary", "more"]) == 2


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_complete(shell: str, monkeypatch: pytest.MonkeyPatch,
                         capsys: pytest.CaptureFixture[str]) -> None:  # fmt: skip
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert f"_CYCLESCOPE_COMPLETE={shell}_complete" in script
    # As the script asks for it.
    monkeypatch.setenv("_CYCLESCOPE_COMPLETE", f"{shell}_complete")
    monkeypatch.setenv("COMP_WORDS", "cyclescope sum")
    monkeypatch.setenv("COMP_CWORD", "sum" if shell == "fish" else "1")
    assert main([]) == 0
    assert "summary" in capsys.readouterr().out


SOURCES = Path(cyclescope.__file__).parent
# Options of other programs that messages speak of.
OTHERS = {"--mdir", "--timing-allow-fail"}


def messages() -> Iterator[tuple[Path, str]]:
    """The texts of all errors that are raised, and of what commands say."""
    for file in SOURCES.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Raise) and node.exc is not None:
                inside: ast.AST = node.exc
            elif isinstance(node, ast.Call) and getattr(
                node.func, "id", getattr(node.func, "attr", "")
            ) in ("say", "fail", "echo", "Advice", "Anomaly"):
                inside = node
            else:
                continue
            for text in ast.walk(inside):
                if isinstance(text, ast.Constant) and isinstance(text.value, str):
                    yield file, text.value


@pytest.mark.long
def test_remedies_name_options_that_exist() -> None:
    known = {flag for command in ALL.values() for one in options(command)
             for flag in (*one.opts, *one.secondary_opts)}  # fmt: skip
    known |= {"--version", "--help"} | OTHERS
    named = [
        (file, option)
        for file, text in messages()
        for option in re.findall(r"(?<![\w-])--[a-z][a-z-]*[a-z]", text)
    ]
    assert len(named) > 40
    assert [(str(file), option) for file, option in named if option not in known] == []


def test_remedies_name_commands_that_exist() -> None:
    named = [
        (str(file), word)
        for file, text in messages()
        for word in re.findall(r"(?<![\w.])(?<!this )cyclescope ([a-z]+)\b", text)
    ]
    assert len(named) > 3
    assert [(file, word) for file, word in named if word not in COMMANDS] == []


def test_a_large_file_is_told_with_the_cheaper_choice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from cyclescope.cli import _common
    from strategies import large_profile

    monkeypatch.setattr(_common, "_LARGE", 1000)
    save(large_profile(400), tmp_path / "p.cyc")
    words = ["export", str(tmp_path / "p.cyc"), "--format", "csv"]
    assert main(words) == 0
    shown = capsys.readouterr()
    assert shown.err.count("\n") == 1
    assert "more than 0 MB; --format parquet is a fraction of it, --from and --to" in shown.err
    assert shown.out.rstrip().endswith("(0 MB)")
    assert main([*words, "--force", "-q"]) == 0
    assert capsys.readouterr().err == ""


def test_the_end_of_a_range_is_left_out_everywhere(
    profile: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    window = ["--from", "2", "--to", "5"]
    assert main(["export", "p.cyc", "--format", "csv", *window, "-o", "-"]) == 0
    rows = capsys.readouterr().out.splitlines()[1:]
    assert sum(int(row.split(",")[1]) for row in rows) == 5 - 2
    assert main(["timeline", "p.cyc", *window, "-o", "t.svg"]) == 0
    assert "cycles 2 to 4" in Path("t.svg").read_text("utf-8")
    for words in (["export", "p.cyc", "--format", "csv"], ["timeline", "p.cyc"]):
        capsys.readouterr()
        assert main([*words, "--from", "9"]) == 2
        said = capsys.readouterr().err
        assert "no cycles from 9 to before 9: the run has cycles 0 to 8" in said


def test_verbose_tells_each_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                 capsys: pytest.CaptureFixture[str]) -> None:  # fmt: skip
    from cyclescope.cli._voice import progress
    from cyclescope.sim import phase

    with click.Context(click.Command("x")) as context:
        context.meta["cyclescope.voice"] = 1
        with progress("p.futil") as show:
            phase("compiling")
            phase("simulating")
            show(100, 1.0)
    said = capsys.readouterr().err
    assert re.fullmatch(r"p\.futil: compiling: [\d.]+ s\np\.futil: simulating: [\d.]+ s\n", said)
