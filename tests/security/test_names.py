"""Files whose names are made to be misread: read and written as any other, shown escaped."""

from __future__ import annotations

import contextlib
import io
import os
from pathlib import Path

import pytest

from cyclescope.cli import main
from security.signals import KERNEL, PROGRAM, STUDY, WAVE

NAMES = {
    "a newline": b"a\nb",
    "a carriage return": b"a\rb",
    "a colour": b"\x1b[31mred",
    "a title": b"\x1b]0;own\x07",
    "an option": b"-o",
    "two dashes": b"--",
    "blanks": b" a  b ",
    "a format": b"%s%n%(x)s{0}{x}",
    "a command": b"$(touch PWNED);`touch PWNED`|touch PWNED&",
    "quotes": b"a'b\"c\\d",
    "a comment": b"a#b;c*",
    "right to left": "\u202egpj".encode(),
    "another encoding": b"caf\xe9\xff",
    "markup": b"<img src=x onerror=alert(1)>".replace(b"/", b""),
    "two hundred letters": b"x" * 200,
}
VERBS = (
    "calyx F.futil -o G.cyc",
    "bounds F.c -o G.cyc --vcd G.vcd --network G.svg",
    "import vcd F.vcd --signals m.b -o G.cyc",
    "sweep F.toml -o G",
    "summary F.cyc",
    "report F.cyc -o G.html",
    "table F.cyc groups -o G.csv",
    "source F.cyc",
    "flamegraph F.cyc -o G.svg",
    "timeline F.cyc -o G.pftrace",
    "export F.cyc --format paraver -o G.prv",
    "diff F.cyc F.cyc",
    "check F.cyc --budget cycles<=100000 --junit G.xml",
    "advise F.cyc",
    "ladder F.cyc",
)
TEXTS = {"futil": PROGRAM, "c": KERNEL, "vcd": WAVE}


@pytest.fixture(scope="module")
def profile(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("profile")
    (folder / "p.futil").write_text(PROGRAM)
    assert main(["calyx", str(folder / "p.futil"), "-o", str(folder / "p.cyc")]) == 0
    return (folder / "p.cyc").read_bytes()


@pytest.mark.long(keep_one_in=4)
@pytest.mark.parametrize("what", NAMES)
def test_a_name_made_to_be_misread(
    what: str, profile: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    name = os.fsdecode(NAMES[what])
    for kind, text in TEXTS.items():
        Path(f"{name}.{kind}").write_text(text)
    Path(f"{name}.toml").write_text(STUDY)
    Path("p.futil").write_text(PROGRAM)
    Path(f"{name}.cyc").write_bytes(profile)
    for verb in VERBS:
        there = {path.name for path in tmp_path.iterdir()}
        words = [
            word.replace("F.", f"./{name}.").replace("G", f"./out {name}")
            for word in verb.split(" ")
        ]
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = main(words)
        assert 0 <= status <= 5, (verb, status, err.getvalue())
        assert err.getvalue().count("\n") <= 1, verb
        for text in (out.getvalue(), err.getvalue()):
            shown = text.replace("\n", "")
            assert not {"\x1b", "\x07", "\r", "\u202e"} & set(shown), verb
        new = {path.name for path in tmp_path.iterdir()} - there
        assert all(made.startswith("out ") for made in new), (verb, new)
    assert not list(tmp_path.rglob("PWNED"))
