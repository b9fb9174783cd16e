"""All reading is bounded: files and nesting without an end, names that are none."""

from __future__ import annotations

import json
import os
import resource
import tempfile
import time
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from cyclescope._files import read_bytes, read_source, scratch
from cyclescope.cli import main
from cyclescope.errors import OutputError, ProfileFileError, SourceError
from cyclescope.model import load, save

PROFILE = Path(__file__).parents[1] / "analyse/data/pi-start-1.cyc"
DEEP = 100_000
KERNEL = "void k(int a[4]) {{ for (int i = 0; i < 4; i++) a[i] = {}; }}\n"
QUIET = "component main() -> () { cells { } wires { } control { } }\n"


def complaint(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """The one line that it says."""
    status = main(arguments)
    said = capsys.readouterr().err
    assert 2 <= status <= 5, said
    assert said.count("\n") == 1
    assert said.isprintable() or said[:-1].isprintable()
    return said


@pytest.mark.parametrize(
    "arguments",
    [
        ["calyx", "{folder}/p.futil", "--data", "/dev/zero"],
        ["calyx", "/dev/zero"],
        ["bounds", "/dev/zero"],
        ["bounds", "{folder}/p.c", "--data", "/dev/zero"],
        ["bounds", "{folder}/p.c", "--calibration", "/dev/zero"],
        ["sweep", "/dev/zero"],
        ["summary", "/dev/zero"],
        ["import", "vcd", "/dev/zero", "--signals", "a"],
        ["import", "paraver", "/dev/zero"],
        ["import", "paraver", "{folder}/pipe"],
        ["calyx", "{folder}/pipe"],
        ["calyx", "{folder}/imports.futil"],
    ],
    ids=lambda arguments: " ".join(arguments).replace("{folder}/", ""),
)
def test_a_file_without_an_end(
    arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    from cyclescope import _files
    from cyclescope.calyx import _text
    from cyclescope.sim import _memory

    # The limits are those of large machines; the tests' need not be.
    before = _files.read_bytes
    monkeypatch.setattr(
        _files, "read_bytes", lambda path, most=1 << 30: before(path, min(most, 1 << 20))
    )
    monkeypatch.setattr(_text, "_LARGEST", 1 << 20)
    monkeypatch.setattr(_memory, "_LARGEST", 1 << 20)
    (tmp_path / "p.futil").write_text(QUIET)
    (tmp_path / "p.c").write_text(KERNEL.format("1"))
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "imports.futil").write_text('import "pipe";\n' + QUIET)
    said = complaint([word.format(folder=tmp_path) for word in arguments], capsys)
    assert "is larger than 1 MB" in said or "a device or a pipe" in said


@pytest.mark.parametrize("verb", ["sweep", "bounds"])
def test_toml_of_brackets(verb: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "x.toml").write_text("x = " + "[" * DEEP)
    (tmp_path / "p.c").write_text(KERNEL.format("1"))
    given = {
        "sweep": ["sweep", str(tmp_path / "x.toml")],
        "bounds": ["bounds", str(tmp_path / "p.c"), "--calibration", str(tmp_path / "x.toml")],
    }[verb]
    assert "x.toml" in complaint(given, capsys)


def test_toml_of_much(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "x.toml").write_text('x = "' + "y" * (2 << 20) + '"\n')
    assert "larger than 1 MB" in complaint(["sweep", str(tmp_path / "x.toml")], capsys)


@pytest.mark.parametrize("text", ["[" * DEEP, '{"a":' * DEEP, '{"a": ' + "9" * 10_000 + "}"])
@pytest.mark.parametrize("verb", ["calyx", "bounds"])
def test_json_of_brackets(
    verb: str, text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "x.json").write_text(text)
    (tmp_path / "p.futil").write_text(QUIET)
    (tmp_path / "p.c").write_text(KERNEL.format("1"))
    program = tmp_path / ("p.futil" if verb == "calyx" else "p.c")
    assert "x.json" in complaint([verb, str(program), "--data", str(tmp_path / "x.json")], capsys)


def test_a_memory_that_is_there_twice(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    memory = '{"data":[1],"format":{"numeric_type":"bitnum","is_signed":false,"width":32}}'
    (tmp_path / "x.json").write_text(f'{{"mem":{memory},"mem":{memory}}}')
    (tmp_path / "p.futil").write_text(QUIET)
    given = ["calyx", str(tmp_path / "p.futil"), "--data", str(tmp_path / "x.json")]
    said = complaint(given, capsys)
    assert "mem" in said
    assert "twice" in said


def test_escapes_in_a_message(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "p.futil").write_text('import "\x1b[2Jx.futil";\n' + QUIET)
    assert "\\x1b[2J" in complaint(["calyx", str(tmp_path / "p.futil")], capsys)
    (tmp_path / "p.futil").write_text('import "\u202ex\u2066.futil";\n' + QUIET)
    assert "\\u202e" in complaint(["calyx", str(tmp_path / "p.futil")], capsys)


@pytest.mark.parametrize(
    "what", ["nothing", "a folder", "a pipe", "a loop", "a file without an end"]
)
def test_an_extern_that_cannot_be_read(
    what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if what == "a folder":
        (tmp_path / "e.sv").mkdir()
    elif what == "a loop":
        (tmp_path / "e.sv").symlink_to("e.sv")
    elif what == "a pipe":
        os.mkfifo(tmp_path / "e.sv")
    elif what == "a file without an end":
        (tmp_path / "e.sv").touch()
        os.truncate(tmp_path / "e.sv", 1 << 40)
    (tmp_path / "p.futil").write_text('extern "e.sv" { primitive e() -> (); }\n' + QUIET)
    said = complaint(["calyx", str(tmp_path / "p.futil")], capsys)
    assert "e.sv: " in said
    assert "correct the name" in said


def test_components_each_of_which_has_the_one_before_twice(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = "component c0() -> () { cells { r = std_reg(1); } wires { } control { } }\n" + "".join(
        f"component c{n + 1}() -> () {{ cells {{ a = c{n}(); b = c{n}(); }} wires {{ }}"
        " control { seq { invoke a()(); invoke b()(); } } }\n"
        for n in range(30)
    )
    main = "component main() -> () { cells { a = c30(); } wires { } control { invoke a()(); } }\n"
    (tmp_path / "p.futil").write_text('import "primitives/core.futil";\n' + made + main)
    said = complaint(["calyx", str(tmp_path / "p.futil")], capsys)
    assert "p.futil: main has more than 32,768 instances" in said


def test_more_control_than_the_compiler_can_take(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (
        'import "primitives/core.futil";\ncomponent main() -> () {{ cells {{ r = std_reg(1); }}'
        " wires {{ group g {{ r.in = 1'd1; r.write_en = 1'd1; g[done] = r.done; }} }}"
        " control {{ seq {{ {} }} }} }}\n"
    )
    for control in ("g; " * 9_000, "if r.out { g; } " * 4_500, "par { repeat 2 { g; } } " * 3_000):
        (tmp_path / "p.futil").write_text(text.format(control))
        said = complaint(["calyx", str(tmp_path / "p.futil")], capsys)
        assert "p.futil: component main has more than 8192 control statements" in said
    assigned = "r.in = 1'd1; " * 20_000
    (tmp_path / "p.futil").write_text(text.format("g;").replace("r.in = 1'd1; ", assigned))
    said = complaint(["calyx", str(tmp_path / "p.futil")], capsys)
    assert "p.futil: component main has more than 20000 assignments" in said


LONG = {
    "terms": lambda n: "1" + " + a[i]" * n,
    "signs": lambda n: "- " * n + "1",
    "conditions": lambda n: "a[i] ? 1 : " * n + "2",
    "assignments": lambda n: "a[i] = " * n + "1",
    "addresses": lambda n: "*&" * n + "a[i]",
}


@pytest.mark.parametrize("kind", LONG)
@pytest.mark.parametrize("count", [2_000, 20_000])
def test_long_expressions_are_refused(kind: str, count: int) -> None:
    from cyclescope.c import read_c

    with pytest.raises(SourceError, match=r"k\.c:1: nested too deeply"):
        read_c("k.c", text=KERNEL.format(LONG[kind](count)))


@pytest.mark.long
@pytest.mark.parametrize("text", ["if (a[0]) ", "for (int i = 0; i < 2; i++) ", "while (a[0]) "])
def test_long_chains_of_statements_are_refused(text: str) -> None:
    from cyclescope.c import read_c

    with pytest.raises(SourceError, match=r"k\.c:1: nested too deeply"):
        read_c("k.c", text="void k(int a[4]) { " + text * 20_000 + "a[0] = 1; }")


def tenfold(joint: str) -> str:
    """Macros that expand to 10^25 numbers."""
    lines = [f"#define A{n + 1} " + joint.join([f"A{n}"] * 10) for n in range(24)]
    return "#define A0 " + joint.join("1" * 10) + "\n" + "\n".join(lines) + "\n"


BOMBS = {
    "sums": lambda folder: tenfold("+") + KERNEL.format("A24"),
    "statements": lambda folder: tenfold(";") + KERNEL.format("1; A24"),
    "names": lambda folder: (
        "#define B0(x) int x##a; int x##b;\n"
        + "".join(f"#define B{n + 1}(x) B{n}(x##a) B{n}(x##b)\n" for n in range(40))
        + "B40(v)\n"
        + KERNEL.format("1")
    ),
    "a device": lambda folder: '#include "/dev/zero"\n' + KERNEL.format("1"),
    "a pipe": lambda folder: f'#include "{folder}/pipe"\n' + KERNEL.format("1"),
    "itself": lambda folder: '#include "k.c"\n#include "k.c"\n' + KERNEL.format("1"),
    "alternatives": lambda folder: (
        "void k(int a[4]) { " + "if (a[0]) a[1] = 2; else " * 20_000 + "a[2] = 1; }\n"
    ),
    "a sparse array": lambda folder: (
        "int g[100000000] = {[99999999] = 1};\n" + KERNEL.format("g[i]")
    ),
    "a sparse array that fits": lambda folder: (
        "int g[9000000] = {[8999999] = 1};\n" + KERNEL.format("g[i]")
    ),
}


@pytest.mark.long(keep_one_in=16)
@pytest.mark.parametrize("bomb", BOMBS)
def test_c_that_grows_without_bound(
    bomb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from cyclescope.c import _limits

    # Of the processor and of the clock: a bomb takes them all.
    monkeypatch.setattr(_limits, "_SECONDS", 2)
    monkeypatch.setattr(_limits, "_PATIENCE", 20.0)
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "k.c").write_text(BOMBS[bomb](tmp_path))
    before = resource.getrusage(resource.RUSAGE_SELF)
    largest = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    said = complaint(["bounds", str(tmp_path / "k.c"), "-I", "/dev"], capsys)
    after = resource.getrusage(resource.RUSAGE_SELF)
    assert "k.c" in said
    assert after.ru_utime - before.ru_utime < 10
    assert after.ru_maxrss - before.ru_maxrss < 500 << 10
    # Of all that this process has started: what was before may have been larger.
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss <= max(largest, 2 << 20)


@pytest.mark.parametrize("star", ["", "*"])
def test_structs_each_of_which_has_the_one_before_twice(star: str) -> None:
    from cyclescope.c import read_c

    made = "".join(f"struct s{n + 1} {{ struct s{n} {star}a, {star}b; }};\n" for n in range(30))
    text = "struct s0 { int x; };\n" + made + "void k(struct s30 *q) { q = 0; }\n"
    with pytest.raises(SourceError, match=r"k\.c:1[0-9]: struct s\d+ has more than 4,096 members"):
        read_c("k.c", text=text)


DEEP_TYPES = {
    "structs": "struct s0 { int x; };\n"
    + "".join(f"struct s{n + 1} {{ struct s{n} x; }};\n" for n in range(3_000))
    + "void k(struct s3000 *q) { q = 0; }\n",
    "pointers": "typedef int t0;\n"
    + "".join(f"typedef t{n} *t{n + 1};\n" for n in range(3_000))
    + "void k(t3000 q) { q = 0; }\n",
    "arrays": f"void k(int q{'[1]' * 2_000}) {{ q = 0; }}\n",
}


@pytest.mark.parametrize("what", DEEP_TYPES)
def test_types_deep_in_each_other(what: str, capfd: pytest.CaptureFixture[str]) -> None:
    from cyclescope.c import read_c

    with pytest.raises(SourceError, match="has more than 200 levels of structs, arrays and"):
        read_c("k.c", text=DEEP_TYPES[what])
    # libclang's callbacks swallow an error, and tell it.
    assert capfd.readouterr().err == ""


LINES = {
    "blanks": " " * 1_000_000,
    "a string": 'const char *s = "' + "x" * 1_000_000 + '";',
    "escaped quotes": "#if 0\n" + '\\"' * 500_000 + "\n#endif",
    "beginnings of comments": "#if 0\n//" + "/*" * 500_000 + "\n#endif",
    "a pragma of comments": '#pragma mark "' + "/*" * 500_000 + '"\nint x;',
    "hashes": "#if 0\n" + "# " * 500_000 + "\n#endif",
    "pragmas": "#pragma mark\n" * 30_000 + "int x;",
    "pragmas left out": "#if 0\n#pragma mark\n#endif\n" * 10_000,
}


@pytest.mark.parametrize("what", LINES)
def test_a_text_is_read_in_one_go(what: str) -> None:
    from cyclescope.c import read_c

    before = time.process_time()
    unit = read_c("k.c", text=LINES[what] + "\n" + KERNEL.format("1"))
    assert unit.functions["k"].body is not None
    # What looked again from each character took minutes.
    assert time.process_time() - before < 20


def test_a_large_table_is_no_bomb() -> None:
    from cyclescope.c import read_c

    numbers = ", ".join(str(n % 251) for n in range(50_000))
    text = f"static const int t[50000] = {{{numbers}}};\n" + KERNEL.format("t[i]")
    assert len(read_c("k.c", text=text).variables["t"].init.values) == 50_000


@pytest.mark.long
def test_a_thousand_terms_are_bounded() -> None:
    from cyclescope.bounds import estimate

    result = estimate("k.c", text=KERNEL.format(LONG["terms"](1_000)))
    assert result.absolute.cycles > 0


@pytest.mark.parametrize("name", ["x" * 5_000, "a\0b.futil", "x/" * 3_000])
def test_an_import_whose_name_is_none(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "p.futil").write_text(f'import "{name}";\n' + QUIET)
    assert "p.futil" in complaint(["calyx", str(tmp_path / "p.futil")], capsys)


CALIBRATIONS = {
    "a huge exponent": '[operators.double]\nadd = "1e999999999"\n',
    "a huge denominator": '[operators.double]\nadd = "1/1e999999999"\n',
    "no denominator": '[operators.double]\nadd = "1/0"\n',
    "no number": "[operators.double]\nadd = nan\n",
    "no end": '[operators.double]\nadd = "inf"\n',
    "a hexadecimal number": "read = 0x" + "f" * 100_000 + "\n",
    "many digits": "read = " + "9" * 100_000 + "\n",
    "deep keys": "a" + ".a" * DEEP + " = 1\n",
    "a number for ranges": "[sources]\nA = { ranges = 3 }\n",
    "numbers for ranges": "[sources]\nA = { ranges = [3] }\n",
    "a number to skip": "[sources]\nA = { skip = [3] }\n",
    "a number to ignore": "[[statement]]\nline = 1\nignore = 3\n",
    "numbers to ignore": "[[statement]]\nline = 1\nignore = [3]\n",
    "a number for a label": "[[statement]]\nlabel = 3\n",
    "numbers for statements": "statement = [3]\n",
}


@pytest.mark.parametrize("what", CALIBRATIONS)
def test_a_calibration_of_what_it_cannot_be(
    what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "x.toml").write_text(CALIBRATIONS[what])
    (tmp_path / "p.c").write_text(KERNEL.format("1"))
    given = ["bounds", str(tmp_path / "p.c"), "--calibration", str(tmp_path / "x.toml")]
    assert "x.toml: " in complaint(given, capsys)


def test_a_message_is_of_a_length_to_be_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "x.json").write_text('{"m": {"data": ["' + "z" * 100_000 + '"]}}')
    (tmp_path / "p.c").write_text(KERNEL.format("1"))
    given = ["bounds", str(tmp_path / "p.c"), "--data", str(tmp_path / "x.json")]
    assert len(complaint(given, capsys)) < 3_000
    with pytest.raises(SourceError) as error:
        raise SourceError("k.c:1: " + "z" * 100_000)
    assert len(str(error.value)) < 3_000


SIZES = {
    "statements of a file": "void k(int a[4]) { " + "a[0] = a[1] + 1; " * 300 + "}\n",
    "statements of a kernel": "void k(int a[4]) {\n" + "a[0] = a[1] + 1;\n" * 60 + "}\n",
    "parameters": f"void k({', '.join(f'int p{i}[4]' for i in range(60))}) {{ p0[0] = 1; }}",
}


@pytest.mark.parametrize("what", SIZES)
def test_more_than_a_compiler_can_take(
    what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from cyclescope.bounds import _run
    from cyclescope.c import _read

    # The limits are those of patience; the tests' need not be.
    monkeypatch.setattr(_read, "MOST_STATEMENTS", 200)
    monkeypatch.setattr(_run, "_MOST", 50)
    (tmp_path / "k.c").write_text(SIZES[what])
    said = complaint(["bounds", str(tmp_path / "k.c")], capsys)
    assert "k.c:" in said
    assert "loops" in said


def test_a_region_of_more_accesses_than_can_be_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    from cyclescope.hls import compile_c
    from cyclescope.hls.passes import _size

    monkeypatch.setattr(_size, "_MOST_EFFECTS", 50)
    text = (
        "void k(int a[64]) {{\n#pragma omp target parallel num_threads(2) map(tofrom: a[0:64])\n"
        "  for (int i = 0; i < 64; i += {0}) {{ {1} }}\n}}\n"
    )
    few, many = ("".join(f"a[i + {n}] += 2; " for n in range(count)) for count in (8, 32))
    assert compile_c("k.c", text=text.format(8, few)).schedules
    with pytest.raises(SourceError, match=r"k\.c:3: more than 50 memory accesses"):
        compile_c("k.c", text=text.format(32, many))


def test_a_pipeline_of_more_registers_than_can_be_built(monkeypatch: pytest.MonkeyPatch) -> None:
    from cyclescope.hls import compile_c, machine_of
    from cyclescope.hls.microarch import _binding

    text = (
        "void k(int a[64]) {\n#pragma omp target parallel num_threads(2) map(tofrom: a[0:64])\n"
        "  for (int i = 0; i < 64; i++) a[i] = a[i] * a[i] / (a[i] + 3) + i;\n}\n"
    )
    program = compile_c("k.c", text=text)
    assert machine_of(program).sources
    monkeypatch.setattr(_binding, "_MOST_REGISTERS", 20)
    with pytest.raises(SourceError, match=r"k\.c:3: a pipeline of \d+ stages and \d+ registers"):
        machine_of(program)


@pytest.mark.parametrize("key", ["track", "name", "metric", "unit"])
def test_a_counter_whose_texts_are_numbers(key: str, tmp_path: Path) -> None:
    with zipfile.ZipFile(PROFILE) as given, zipfile.ZipFile(tmp_path / "p.cyc", "w") as made:
        for member in given.namelist():
            content = given.read(member)
            if member == "head.json":
                head = json.loads(content)
                head["series"][0][key] = -1
                content = json.dumps(head).encode()
            made.writestr(member, content)
    with pytest.raises(ProfileFileError, match=r"p\.cyc"):
        load(tmp_path / "p.cyc")


def test_a_latency_below_zero(tmp_path: Path) -> None:
    profile = load(PROFILE)
    frame = replace(profile.catalog[0], latency=-2)
    save(replace(profile, catalog=(frame, *profile.catalog[1:])), tmp_path / "p.cyc")
    with pytest.raises(ProfileFileError, match=r"p\.cyc"):
        load(tmp_path / "p.cyc")


def test_a_fixed_length_beyond_all_counts_is_no_length(tmp_path: Path) -> None:
    group = "static<1> group g { r.in = 1'd1; r.write_en = 1'd1; }"
    control = "static repeat 4000000000 { " * 3 + "g;" + " }" * 3
    path = tmp_path / "long.futil"
    path.write_text(
        'import "primitives/core.futil";\n'
        f"component main() -> () {{ cells {{ r = std_reg(1); }} wires {{ {group} }}"
        f" control {{ {control} }} }}\n"
    )
    # Stopped by the limit: what came before is kept.
    wanted = ["calyx", str(path), "--cycle-limit", "100", "-o", str(tmp_path / "long.cyc")]
    assert main(wanted) == 5
    assert load(tmp_path / "long.cyc").cycles == 100


def test_a_file_larger_than_a_gigabyte_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "large"
    for size in ((1 << 30) + 1, 1 << 40):
        with path.open("wb") as stream:
            stream.truncate(size)
        with pytest.raises(OSError, match="is larger than 1,024 MB"):
            read_bytes(path)


def test_a_source_of_four_megabytes_is_carried_and_no_larger_one(tmp_path: Path) -> None:
    path = tmp_path / "p.py"
    for size in (4 << 20, (4 << 20) + 1):
        path.write_text("#" * size)
        assert (read_source(path) is not None) == (size == 4 << 20)
    assert read_source(tmp_path / "none.py") is None


def test_a_temporary_folder_that_cannot_be_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "file"))
    with pytest.raises(OutputError, match="name another folder in TMPDIR"), scratch():
        pass
