"""Programs that try what they should not: the table of docs/security.md, row by row.

Each row is run as a user would, with the mechanism on (nothing happens, one line says why, or the
run just goes on without) and with it switched off (it happens, and one line has said that it may).
"""

from __future__ import annotations

import ctypes
import errno
import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from security.conftest import HERE, LANDLOCK, SECCOMP, needs_all

if TYPE_CHECKING:
    from pathlib import Path

MADE = "PWNED"

# Kernels before Linux 6.6 have no `fchmodat2`.
_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall(452, -100, b"", 0, 0)
HAS_FCHMODAT2 = ctypes.get_errno() != errno.ENOSYS

CORE = 'import "primitives/core.futil";\n'
MAIN = """component main(@go go: 1) -> (@done done: 1) {
  cells { e = evil(); r = std_reg(1); }
  wires { group g { e.in = 1'd1; r.in = e.out; r.write_en = 1'd1; g[done] = r.done; } }
  control { g; }
}
"""
QUIET = (
    "component main() -> () { cells { r = std_reg(1); } wires { group g { r.in = 1'd1; "
    "r.write_en = 1'd1; g[done] = r.done; } } control { g; } }\n"
)
KERNEL = "void kern(int a[4]) { for (int i = 0; i < 4; i++) a[i] = a[i] + 1; }\n"


def inline(body: str) -> str:
    return f"{CORE}comb primitive evil(in: 1) -> (out: 1) {{ assign out = in; {body} }};\n{MAIN}"


def extern(file: str) -> str:
    return f'{CORE}extern "{file}" {{ comb primitive evil(in: 1) -> (out: 1); }}\n{MAIN}'


def module(body: str) -> str:
    return f"module evil(input logic in, output logic out);\nassign out = in;\n{body}\nendmodule\n"


def constructor(body: str) -> str:
    return (
        f"{KERNEL}__attribute__((constructor)) static void first(void) {{\n"
        "extern int system(const char *); extern int creat(const char *, unsigned);\n"
        f"{body} }}\n"
    )


HOST = """#include <stdio.h>
int main(void) {
  int a[4] = {1, 2, 3, 4};
  FILE *made = fopen("PWNED", "w");
  if (made) fclose(made);
#pragma omp target parallel num_threads(1) map(tofrom: a[0:4])
  { for (int i = 0; i < 4; i++) a[i] = a[i] + 1; }
  return a[0] != 2;
}
"""


@dataclass(frozen=True)
class Row:
    """A program and how it is told from the table.

    Attributes:
        name: in the table.
        files: name → text, made in an empty folder.
        command: of cyclescope.
        status, says: how it ends with the mechanism on, and a part of what it says.
        off: options that switch the mechanism off.
        leaves: whether the file `PWNED` is there afterwards, with the mechanism off.
        off_status: how it ends then.
    """

    name: str
    files: dict[str, str]
    command: list[str]
    status: int
    says: str
    off: list[str] = field(default_factory=lambda: ["--trust"])
    leaves: bool = True
    off_status: int = 0


CALYX = ["calyx", "p.futil"]
VERIFY = ["bounds", "p.c", "--kernel", "kern", "--verify"]
CONFINED = ["--confine=off"]
SYSTEM = f'initial $system("id > {MADE}");'
OPEN = f'integer f; initial begin f = $fopen("{MADE}", "w"); $fclose(f); end'

# Refused for what they say.
REFUSED = [
    Row("inline $system", {"p.futil": inline(SYSTEM)}, CALYX, 2, "$system runs a program"),
    Row("inline $fopen", {"p.futil": inline(OPEN)}, CALYX, 2, "$fopen opens files"),
    Row(
        "inline $writememh",
        {"p.futil": inline(f'logic [3:0] m [4]; initial $writememh("{MADE}", m);')},
        CALYX, 2, "$writememh opens files",
    ),
    Row(
        "extern $system",
        {"p.futil": extern("e.sv"), "e.sv": module(SYSTEM)}, CALYX, 2, "e.sv:3: $system runs",
    ),
    Row(
        "extern in an import",
        {"p.futil": 'import "q.futil";\n' + MAIN, "q.futil": extern("e.sv").removesuffix(MAIN),
         "e.sv": module(SYSTEM)},
        CALYX, 2, "e.sv:3: $system runs",
    ),
    Row(
        "DPI import",
        {"p.futil": extern("e.sv"), "e.sv": module(
            'import "DPI-C" function int system(string s);\ninteger f;\n'
            f'initial f = system("id > {MADE}");')},
        CALYX, 2, "e.sv:3: an import from",
    ),
    Row(
        "inline C++",
        {"p.futil": inline(f'initial $c("system(\\"id > {MADE}\\");");')},
        CALYX, 2, "$c is no function that is known",
    ),
    Row(
        "name made by a macro",
        {"p.futil": inline(f'\n`define S(x) $``x\ninitial `S(system)("id > {MADE}");')},
        CALYX, 2, "a `$` without a name",
    ),
    Row(
        "name after a long string",
        {"p.futil": inline(f'string s = """ " """; initial $system("id > {MADE}"); // "')},
        CALYX, 2, "a string that does not end",
    ),
    Row(
        "Verilog include",
        {"p.futil": extern("e.sv"), "e.sv": module('`include "/etc/passwd"')},
        CALYX, 2, "`include reads", leaves=False, off_status=4,
    ),
    Row(
        "inline $readmemh",
        {"p.futil": inline('logic [7:0] m [4]; initial $readmemh("/etc/passwd", m);')},
        CALYX, 2, "$readmemh opens files", leaves=False, off_status=5,
    ),
    Row(
        "extern $dumpfile",
        {"p.futil": extern("e.sv"),
         "e.sv": module(f'initial begin $dumpfile("@HERE@/{MADE}"); $dumpvars; end')},
        CALYX, 2, "e.sv:3: $dumpfile opens", leaves=False,
    ),
    Row(
        "name split by a comment",
        {"p.futil": inline(f'initial $/**/system("id > {MADE}");')},
        CALYX, 2, "a `$` without a name", off_status=4, leaves=False,
    ),
    Row(
        "name after an escaped one",
        {"p.futil": extern("e.sv"), "e.sv": module(f'wire \\a\x1c" ; {SYSTEM} //"')},
        CALYX, 2, "the character 0x1c can hide",
    ),
    Row(
        "name after another space",
        {"p.futil": extern("e.sv"), "e.sv": module(f'wire \\a\x0b" ; {SYSTEM} //"')},
        CALYX, 2, "the character 0xb can hide",
    ),
    Row(
        "name behind a letter that is none",
        {"p.futil": extern("e.sv"), "e.sv": module(f'wire \\a\xa0" ; {SYSTEM} //"')},
        CALYX, 2, "the character 0xa0 can hide",
    ),
    Row(
        "name in a continued comment of a macro",
        {"p.futil": extern("e.sv"), "e.sv": module(f"`define A // x \\\n {SYSTEM}\n`A")},
        CALYX, 2, "e.sv:4: $system runs a program",
    ),
    Row(
        "Verilator's C++ section",
        {"p.futil": extern("e.sv"),
         "e.sv": module(f'`systemc_ctor\n system("id > {MADE}");\n`verilog')},
        CALYX, 2, "e.sv:3: `systemc_ctor is no directive", off_status=0, leaves=False,
    ),
    Row(
        "include by a macro",
        {"p.futil": extern("e.sv"), "e.sv": module('`define I `include\n`I "/etc/passwd"')},
        CALYX, 2, "e.sv:3: `include reads", leaves=False, off_status=4,
    ),
    Row(
        "extern by an absolute path",
        {"sub/p.futil": extern("@HERE@/e.sv"), "e.sv": module("")},
        ["calyx", "sub/p.futil"], 2, "which is outside the program's folder", leaves=False,
    ),
    Row(
        "extern by a link",
        {"sub/p.futil": extern("l.sv"), "e.sv": module(""), "sub/l.sv": "-> ../e.sv"},
        ["calyx", "sub/p.futil"], 2, "which is outside the program's folder", leaves=False,
    ),
    Row(
        "import outside",
        {"sub/p.futil": 'import "../q.futil";\n' + QUIET, "q.futil": CORE},
        ["calyx", "sub/p.futil"], 2, "imports ../q.futil, which is outside", leaves=False,
    ),
    Row(
        "import outside, written oddly",
        {"sub/p.futil": 'import /* */ "../q.futil";\n' + QUIET, "q.futil": CORE},
        ["calyx", "sub/p.futil"], 2, "which is outside the program's folder", leaves=False,
    ),
    Row(
        "extern outside",
        {"sub/p.futil": extern("../e.sv"), "e.sv": module("")},
        ["calyx", "sub/p.futil"], 2, "which is outside the program's folder", leaves=False,
    ),
    Row(
        "import by a link",
        {"sub/p.futil": 'import "q.futil";\n' + QUIET, "q.futil": CORE,
         "sub/q.futil": "-> ../q.futil"},
        ["calyx", "sub/p.futil"], 2, "which is outside the program's folder", leaves=False,
    ),
    Row(
        "C include outside",
        {"p.c": '#include "/etc/passwd"\n' + KERNEL},
        ["bounds", "p.c"], 2, "p.c:1: includes /etc/passwd, which is outside",
        leaves=False, off_status=2,
    ),
    Row(
        "C include by a link",
        {"sub/p.c": '#include "q.h"\n' + KERNEL, "q.h": "", "sub/q.h": "-> ../q.h"},
        ["bounds", "sub/p.c"], 2, "which is outside the program's folder", leaves=False,
    ),
    Row(
        "C include by a macro",
        {"p.c": '#define F "/etc/passwd"\n#include F\n' + KERNEL},
        ["bounds", "p.c"], 2, "p.c:2: includes /etc/passwd, which is outside",
        leaves=False, off_status=2,
    ),
    Row(
        "C include of the next one",
        {"sub/p.c": '#include "q.h"\n' + KERNEL, "q.h": "", "sub/q.h": '#include "../q.h"\n'},
        ["bounds", "sub/p.c"], 2, "which is outside the program's folder", leaves=False,
    ),
    Row(
        "C of a device",
        {"p.c": "#include </dev/zero>\n" + KERNEL},
        ["bounds", "p.c"], 2, "takes libclang more than", leaves=False, off_status=2,
    ),
    Row(
        "study that names a compiler",
        {"p.futil": CORE + QUIET, "s.toml": '[study]\ncommand = "calyx"\ninput = "p.futil"\n'
         '[space]\ncompiler = ["./evilcc"]\n', "evilcc": f"#!/bin/sh\n: > {MADE}\n"},
        ["sweep", "s.toml"], 2, "a study names no program", leaves=False, off_status=2,
    ),
    Row(
        "study that trusts",
        {"p.futil": inline(SYSTEM), "s.toml": '[study]\ncommand = "calyx"\ninput = "p.futil"\n'
         '[fixed]\ntrust = true\n[space]\npass = ["all"]\n'},
        ["sweep", "s.toml"], 2, "a study names no program and allows nothing",
        leaves=False, off_status=2,
    ),
    Row(
        "study that reads outside",
        {"sub/s.toml": '[study]\ncommand = "calyx"\ninput = "p.futil"\n[space]\npass = ["all"]\n',
         "p.futil": CORE + QUIET, "sub/p.futil": "-> ../p.futil"},
        ["sweep", "sub/s.toml"], 2, "leaves the study's folder", leaves=False,
        off_status=2,
    ),
]  # fmt: skip

# Harmless because of where they run.
CONFINES = [
    Row(
        "trusted $system, confined",
        {"p.futil": inline(SYSTEM)},
        [*CALYX, "--trust", "--confine=auto"], 0, "", ["--confine=off"],
    ),
    Row(
        "trusted $fopen, confined",
        {"p.futil": inline(OPEN)}, [*CALYX, "--trust", "--confine=auto"], 0, "", ["--confine=off"],
    ),
    Row(
        "C that runs before main",
        {"p.c": constructor(f'system("id > {MADE}");')}, VERIFY, 0, "", CONFINED,
    ),
    Row(
        "C that writes a file",
        {"p.c": constructor(f'creat("{MADE}", 0666);')}, VERIFY, 0, "", CONFINED,
    ),
    Row(
        "C that opens a socket",
        {"p.c": constructor("extern int socket(int, int, int); extern void _exit(int);\n"
                            "if (socket(2, 2, 0) >= 0 || socket(1, 1, 0) >= 0) _exit(3);")},
        VERIFY, 0, "", CONFINED, leaves=False, off_status=5,
    ),
    Row(
        "C that changes a mode",
        {"p.c": constructor("extern int chmod(const char *, unsigned); extern void _exit(int);\n"
                            'if (!chmod("@HERE@/p.c", 0600)) _exit(3);')},
        VERIFY, 0, "", CONFINED, leaves=False, off_status=5,
    ),
    Row(
        "C that changes a mode by a newer call",
        {"p.c": constructor("extern long syscall(long, ...); extern void _exit(int);\n"
                            'if (!syscall(452, -100, "@HERE@/p.c", 0600, 0)) _exit(3);')},
        VERIFY, 0, "", CONFINED, leaves=False, off_status=5 if HAS_FCHMODAT2 else 0,
    ),
    Row(
        "C that multiplies",
        {"p.c": constructor("extern int fork(void); extern int pause(void);\n"
                            "for (int i = 0; i < 12; i++) fork(); pause();")},
        VERIFY, 5, "more than 512 processes", CONFINED, leaves=False, off_status=5,
    ),
    Row(
        "C that reads the environment",
        {"p.c": constructor("extern char *getenv(const char *); extern void _exit(int);\n"
                            'if (getenv("SECRET_TOKEN")) _exit(3);')},
        VERIFY, 0, "", CONFINED, leaves=False, off_status=5,
    ),
    Row(
        "C that signals its parent",
        {"p.c": constructor("extern int kill(int, int); extern int getppid(void);\n"
                            "extern void _exit(int); if (!kill(getppid(), 0)) _exit(3);")},
        VERIFY, 0, "", CONFINED, leaves=False, off_status=5,
    ),
    Row(
        "C that writes at an absolute path",
        {"p.c": constructor(f'creat("@HERE@/{MADE}", 0666);')}, VERIFY, 0, "", CONFINED,
    ),
    Row(
        "C that does not end",
        {"p.c": constructor("extern int pause(void); for (;;) pause();")},
        [*VERIFY, "--time-limit", "1"], 5, "more than 1 s", CONFINED, leaves=False, off_status=5,
    ),
    Row(
        "assembly that includes a file",
        {"sub/p.c": KERNEL + '__asm__(".include \\"@HERE@/secret\\"\\n");\n', "secret": "secret"},
        ["bounds", "sub/p.c", "--verify"], 4, "secret", CONFINED, leaves=False, off_status=4,
    ),
    Row(
        "assembly that reads a file",
        {"sub/p.c": KERNEL
         + '__asm__(".section .rodata\\nx: .incbin \\"@HERE@/secret\\"\\n.text");\n',
         "secret": "secret"},
        ["bounds", "sub/p.c", "--verify"], 4, "secret", CONFINED, leaves=False,
    ),
    Row(
        "host that writes a file",
        {"p.c": HOST}, ["hls", "p.c"], 0, "", CONFINED,
    ),
]  # fmt: skip

ROWS = REFUSED + CONFINES


def lay(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        if text.startswith("-> "):
            path.symlink_to(text.removeprefix("-> "))
        else:
            path.write_text(text.replace("@HERE@", str(folder)), "utf-8")
            path.chmod(0o755)


def cyclescope(
    folder: Path, arguments: list[str], before: list[str] | None = None
) -> tuple[int, list[str]]:
    """Its status, and what it says on the standard error, line by line."""
    done = subprocess.run(
        [*(before or []), sys.executable, "-m", "cyclescope", *arguments],
        cwd=folder,
        env={**os.environ, "CYCLESCOPE_CONFINE": "", "SECRET_TOKEN": "hunter2"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    return done.returncode, done.stderr.splitlines()


@pytest.mark.long(keep_one_in=15)
@needs_all
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_with_the_mechanism_on(row: Row, tmp_path: Path) -> None:
    lay(tmp_path, row.files)
    status, said = cyclescope(tmp_path, row.command)
    assert status == row.status, said
    assert row.says in "\n".join(said)
    assert len(said) == (1 if row.says else 0)
    assert not list(tmp_path.rglob(MADE))


@pytest.mark.long(keep_one_in=28)
@needs_all
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_with_the_mechanism_off(row: Row, tmp_path: Path) -> None:
    lay(tmp_path, row.files)
    status, said = cyclescope(tmp_path, [*row.command, *row.off])
    assert status == row.off_status, said
    assert bool(list(tmp_path.rglob(MADE))) == row.leaves
    if row.leaves:
        why = "--trust" if "--trust" in [*row.command, *row.off] else row.off[0]
        warning = "what this runs may do all that you may, limits of time and memory apart"
        assert said == [f"cyclescope: not confined ({why}): {warning}"]


LACKS = {"Landlock": LANDLOCK, "seccomp": SECCOMP}


@pytest.mark.long
@needs_all
@pytest.mark.skipif(not SECCOMP, reason="the number of the call is not known for this processor")
@pytest.mark.parametrize("lacking", LACKS)
def test_a_system_without_a_mechanism(lacking: str, tmp_path: Path) -> None:
    lay(tmp_path, {"p.c": KERNEL})
    before = [sys.executable, str(HERE / "without.py"), str(LACKS[lacking])]
    status, said = cyclescope(tmp_path, VERIFY, before)
    assert status == 0
    assert len(said) == 1
    assert said[0].startswith("cyclescope: not fully confined on this system: it has no " + lacking)
    status, said = cyclescope(tmp_path, [*VERIFY, "--confine=require"], before)
    assert status == 4
    assert len(said) == 1
    assert "cannot confine what this runs on this system: it has no " + lacking in said[0]
    assert cyclescope(tmp_path, [*VERIFY, "--confine=require"])[0] == 0


def test_the_page_has_every_row() -> None:
    page = (HERE.parents[1] / "docs" / "security.md").read_text("utf-8")
    table = page.partition("<!-- programs -->")[2].partition("<!-- end -->")[0]
    named = re.findall(r"^\| ([^|]+?) \|", table, re.MULTILINE)
    assert [name.replace("`", "") for name in named[1:]] == [row.name for row in ROWS]
