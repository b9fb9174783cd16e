"""C++ compilers that do not do what they say: one line, whatever needs one."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from cyclescope.cli import main

EXAMPLES = Path(__file__).parents[2] / "examples"
REGION = "int main(void) { int x = 0;\n#pragma omp target map(tofrom: x)\nx = 1; return x; }\n"
KERNEL = "void k(int a[4]) { for (int i = 0; i < 4; i++) a[i] = a[i] * 2; }\n"
PROGRAM = "int a[4]; void k(int *a);\nint main(void) { k(a); return 0; }\n"
LEAVES = """#!/bin/sh
[ "$1" = --version ] && exec echo mine
while [ $# -gt 0 ]; do [ "$1" = -o ] && {} "$2"; shift; done; exit 0
"""
COMPILERS = {
    "leaves nothing": LEAVES.format("true"),
    "leaves an empty file": LEAVES.format(": >"),
    "leaves text": LEAVES.format("echo text >"),
    "leaves text that may be executed": LEAVES.format('echo text > "$2"; chmod +x'),
    "leaves what ends at once": LEAVES.format("cp /bin/true"),
}


@pytest.fixture(params=COMPILERS)
def _compiler(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "bin" / "compiler"
    file.parent.mkdir()
    file.write_text(COMPILERS[request.param])
    file.chmod(0o755)
    # No other compiler is a way out.
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.setattr("shutil.which", _without_gcc)
    monkeypatch.setenv("CXX", shlex.quote(str(file)))
    monkeypatch.setenv("CYCLESCOPE_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    Path("r.c").write_text(REGION)
    Path("k.c").write_text(KERNEL)
    Path("m.c").write_text(PROGRAM)


def _without_gcc(command: str, path: str | None = None) -> str | None:
    return command if Path(command).is_file() else None


@pytest.mark.usefixtures("_compiler")
@pytest.mark.parametrize(
    "command",
    [
        ["hls", "r.c"],
        ["bounds", "k.c"],
        ["bounds", "k.c", "m.c"],
        ["calyx", str(EXAMPLES / "calyx" / "switch_if.futil"),
         "--data", str(EXAMPLES / "calyx" / "switch_if.json"), "-o", "s.cyc"],
    ],
    ids=["hls", "kernel", "program", "calyx"],
)  # fmt: skip
def test_a_compiler_that_pretends_is_one_line(
    command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    status = main(command)
    said = capsys.readouterr().err
    assert said.count("\n") == 1, said
    # A program that starts may be what the text says; only its run shows that it is not.
    assert status == 4 or (status == 5 and "status 0" in said), said
    assert not list(Path().glob("*.cyc"))
