"""The program around the region: its own text, run natively and again with given results."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import pytest

from cyclescope.errors import RunError, SourceError
from cyclescope.hls import (
    Host,
    OverlapError,
    Program,
    compile_c,
    differences,
    interpret,
    measure,
    order_matters,
)
from cyclescope.hls.run import _host

if TYPE_CHECKING:
    from pathlib import Path

HEAD = "#include <stdio.h>\n#include <stdlib.h>\n"

pytestmark = pytest.mark.usefixtures("host_compiler")


def program(text: str, threads: int | None = 2) -> Program:
    return compile_c("h.c", text=HEAD + text, threads=threads)


def test_a_program_goes_on_with_other_results() -> None:
    # The statement ends behind its semicolon; the host's text around it stays as it is: ä, "}".
    text = """\
int main(int argc, char **argv) {
  int n = atoi(argv[1]), x = 3; /* ä */ if (argc > 1) {
  #pragma omp target map(tofrom: x) \\
      map(to: n)
  x = x * n; puts("}"); } printf("%d\\n", x); return x & 7; }
"""
    with Host(program(text)) as host:
        native = host.run(["7"])
        assert (native.stdout, native.status) == (b"}\n21\n", 5)
        assert native.inputs == {"x": struct.pack("<i", 3)}
        assert native.scalars == (7,)
        assert native.outputs == {"x": struct.pack("<i", 21)}
        assert host.replay({"x": struct.pack("<i", 99)}, ["7"]) == (b"}\n99\n", 3)


VARIANTS = {
    "regions": """
#ifdef FAST
#pragma omp target parallel for num_threads(4) map(from: b)
for (int i = 0; i < 8; i++) b[i] = 4 * i;
#else
#pragma omp target parallel for num_threads(2) map(from: b)
for (int i = 0; i < 8; i++) b[i] = 2 * i;
#endif
""",
    "directives": """
#if !defined _OPENMP
#error "regions need OpenMP"
#elif defined FAST
#pragma omp target parallel for num_threads(4) map(from: b)
#else
#pragma omp target parallel for num_threads(2) map(from: b)
#endif
for (int i = 0; i < 8; i++) b[i] = omp_get_num_threads() * i;
""",
    "begins": """
#ifdef FAST
#pragma omp target parallel num_threads(4) map(from: b)
{
#else
#pragma omp target parallel num_threads(2) map(from: b)
{
#endif
#ifdef NEVER
#pragma omp single
#else
#pragma omp for
#endif
for (int i = 0; i < 8; i++) b[i] = omp_get_num_threads() * i;
}
""",
}


@pytest.mark.parametrize("fast", [False, True])
@pytest.mark.parametrize("text", VARIANTS.values(), ids=VARIANTS)
def test_a_region_has_variants_by_the_preprocessor(text: str, fast: bool) -> None:
    text = f"#include <omp.h>\nint b[8]; int main(void) {{ {text} return b[7]; }}"
    made = compile_c("h.c", text=text, defines={"FAST": "1"} if fast else {})
    assert made.region.threads == (4 if fast else 2)
    with Host(made) as host:
        native = host.run()
        assert native.status == 7 * made.region.threads
        assert host.replay(native.outputs) == (b"", native.status)


def test_a_function_that_only_a_directive_names_is_there() -> None:
    """Compilers with OpenMP of their own drop it, or put it in the call's place."""
    text = """\
static int plain(int i) { return i; }
static int other(int i) { return i + 100; }
static int elsewhere(int i) { return i + 1000; }
#pragma omp declare variant(elsewhere) match(device={kind(gpu)})
#pragma omp declare variant(other) match(construct={target})
static int value(int i) { return -plain(i); }
int main(void) {
  int a[4] = {0};
  #pragma omp target parallel for map(tofrom: a)
  for (int i = 0; i < 4; i++) a[i] = value(i);
  printf("%d %d", a[3] > 100, value(3));
}
"""
    with Host(program(text)) as host:
        native = host.run(unmodified=True)
        assert native.stdout == b"1 -3"


def test_the_first_time_counts_if_the_region_is_entered_again() -> None:
    text = """\
static void twice(int *a) {
  #pragma omp target parallel for map(tofrom: a[0:4])
  for (int i = 0; i < 4; ++i)
    a[i] *= 2;
}
int main(void) {
  int a[4] = {1, 2, 3, 4};
  for (int i = 0; i < 3; ++i) twice(a);
  printf("%d", a[3]);
}
"""
    made = program(text)
    with Host(made) as host:
        native = host.run()
        assert native.stdout == b"32"
        assert native.outputs["a"] == struct.pack("<4i", 2, 4, 6, 8)
        outputs = interpret(made.region, native.inputs, native.scalars)
        assert host.replay(outputs) == (b"32", 0)
        assert host.replay({"a": struct.pack("<4i", 0, 0, 0, 1)})[0] == b"4"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "int main(void) { if (0)\n{\n#pragma omp target\n;\n} return 3; }",
            r"ended \(status 3\) without entering the target region",
        ),
        (
            "int main(void) { int *a = 0;\n#pragma omp target map(tofrom: a[0:4])\na[0] = 1; }",
            "killed by signal 11",
        ),
        (
            "int main(void) { int a[8], *b = a + 2;\n"
            "#pragma omp target map(tofrom: a, b[0:2])\na[0] = b[1]; }",
            "a and b are mapped to overlapping memory",
        ),
    ],
)
def test_what_goes_wrong_in_the_host_is_told(text: str, message: str) -> None:
    with Host(program(text)) as host, pytest.raises(RunError, match=message) as caught:
        host.run()
    assert "\n" not in str(caught.value)


BLOCK = """\
#include <stdio.h>
#include <stdlib.h>
int main(void) {
  int n = 24, own[16] = {0}, *a = malloc(n * sizeof *a), *b = a + 5, *c = a + 2, *d = own + 3;
  for (int i = 0; i < n; i++) a[i] = i;
  #pragma omp target
  for (int i = 0; i < 12; i++) {
    b[i] += a[i + 4];
    c[i] -= b[i];
    own[i] += i;
    d[i] += own[i + 2] + c[i];
  }
  for (int i = 0; i < n; i++) printf("%d ", a[i] + own[i & 15]);
}
"""


@pytest.mark.long
def test_pointers_into_one_block_have_one_memory() -> None:
    joined: tuple[tuple[str, ...], ...] = ()
    for expected in (("a", "b"), ("a", "b", "c"), ("own", "d")):
        made = compile_c("h.c", text=BLOCK, joined=joined)
        with Host(made) as host, pytest.raises(OverlapError) as caught:
            host.run()
        joined = caught.value.joined
        assert {*expected} == {*joined[-1]}
    made = compile_c("h.c", text=BLOCK, joined=joined)
    assert {a.name for a in made.region.arrays} == {"_and_".join(names) for names in joined}
    assert measure(made).agrees


def test_other_files_of_the_program_are_the_hosts(tmp_path: Path) -> None:
    (tmp_path / "more.c").write_text("int more(int n) { return 3 * n; }\n")
    text = (
        "#include <stdio.h>\nint more(int); int a[1];\nint main(void) { a[0] = more(5);\n"
        '#pragma omp target\na[0]++;\nprintf("%d", more(a[0])); }'
    )
    with Host(compile_c("h.c", text=text, link=[tmp_path / "more.c"])) as host:
        assert host.run().stdout == b"48"


def test_a_region_needs_a_host() -> None:
    text = "void f(int *a) {\n#pragma omp target map(a[0:1])\na[0] = 1; }"
    with pytest.raises(SourceError, match="no main function"):
        Host(compile_c("h.c", text=text))


SUM = """\
int main(void) {{ {kind} s = 0; float a[8] = {{0}};
  #pragma omp target parallel for map(tofrom: s, a) reduction(+: s)
  for (int i = 0; i < 8; ++i) {{ s += i; a[i] = s; }} }}
"""


@pytest.mark.long
def test_a_region_that_hangs_or_crashes_natively_is_left_to_the_hardware(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(_host, "_POLL", 0.1)
    stuck = """\
int main(void) {
  int a[4] = {1, 2, 3, 4};
  #pragma omp target parallel map(tofrom: a)
  { if (a[0] == 1 && omp_get_thread_num()) {
  #pragma omp barrier
  } }
}
"""
    made = program(f"#include <omp.h>\n{stuck}")
    with Host(made) as host:
        with pytest.raises(RunError, match="threads wait for each other"):
            host.run()
        begun = host.begin()
    assert (begun.inputs["a"], begun.outputs) == (struct.pack("<4i", 1, 2, 3, 4), {})
    with pytest.raises(RunError, match="thread 1 waits in the barrier of line 8"):
        measure(made)


def test_only_where_the_order_of_threads_is_open_may_results_differ_a_little() -> None:
    single = program(SUM.format(kind="float"), threads=1)
    whole = program(SUM.format(kind="int"))
    loose = program(SUM.format(kind="float"))
    assert [order_matters(p) for p in (single, whole, loose)] == [False, False, True]
    exact = {"s": struct.pack("<f", 28.0), "a": struct.pack("<8f", *range(8))}
    near = {"s": struct.pack("<f", 28.0001), "a": struct.pack("<8f", *range(7), 7.00001)}
    far = {"s": struct.pack("<f", 28.01), "a": exact["a"]}
    assert differences(loose, exact, near) == []
    assert differences(loose, exact, far) == [
        "s: 1 of 1 elements differ, the first at 0: 28.01 in hardware, 28.0 natively"
    ]
    assert len(differences(single, exact, near)) == 2


def test_what_the_last_thread_decides_is_not_compared() -> None:
    made = program(
        "#include <omp.h>\nint main(void) { int a[2] = {0}, b[2] = {0};\n"
        "#pragma omp target parallel map(tofrom: a, b)\n{\n#pragma omp critical\n"
        "a[0] = 5 + omp_get_thread_num();\nb[omp_get_thread_num()] = 1; } return a[0]; }"
    )
    native = {"a": struct.pack("<2i", 6, 0), "b": struct.pack("<2i", 1, 1)}
    assert not differences(made, native, native | {"a": struct.pack("<2i", 5, 0)})
    assert differences(made, native, native | {"b": struct.pack("<2i", 1, 0)})


def test_one_nan_is_as_good_as_another() -> None:
    made = program(SUM.format(kind="float"), threads=1)
    one, other = (struct.pack("<I", bits) for bits in (0x7FC00000, 0xFFC00001))
    rest = bytes(32)
    assert differences(made, {"s": one, "a": rest}, {"s": other, "a": rest}) == []
    zero, minus = struct.pack("<f", 0.0), struct.pack("<f", -0.0)
    assert differences(made, {"s": zero, "a": rest}, {"s": minus, "a": rest})


def test_a_file_that_the_program_makes_is_there_for_this_run_alone(tmp_path: Path) -> None:
    source = tmp_path / "p.c"
    source.write_text(
        "#include <stdio.h>\nint main(void) {\nchar line[8] = {0};\nint a[4] = {0};\n"
        'FILE *made = fopen("made.txt", "a+");\n'
        "#pragma omp target parallel for num_threads(2) map(tofrom: a)\n"
        'for (int i = 0; i < 4; i++) { a[i] = i; if (i == 3) fprintf(made, "%d\\n", i); }\n'
        'fclose(made);\nmade = fopen("made.txt", "r");\n'
        "while (fgets(line, sizeof line, made)) fputs(line, stdout);\nreturn fclose(made);\n}\n"
    )
    program = compile_c(source)
    with Host(program) as host:
        for _ in range(2):
            native = host.run()
            assert native.stdout == b"3\n"
            outputs = interpret(program.region, native.inputs, native.scalars)
            assert host.replay(outputs) == (b"3\n", 0)
    assert not (tmp_path / "made.txt").exists()


@pytest.mark.parametrize("inside", ["", "#pragma omp single\n"])
def test_one_of_the_host_s_threads_runs_the_region_in_hardware(inside: str) -> None:
    text = (
        "int main(void) {\nint a[4] = {0}, b[4] = {0};\n#pragma omp parallel num_threads(4)\n{\n"
        f"int me = omp_get_thread_num();\n{inside}"
        "#pragma omp target map(tofrom: a, b)\n{ a[me] += 10 + me;\n"
        "#pragma omp parallel num_threads(2)\n#pragma omp atomic\n"
        "b[me] += omp_get_num_threads(); }\n}\n"
        'int one = 0;\nfor (int i = 0; i < 4; i++) { one += b[i]; printf("%d ", a[i]); }\n'
        "return one;\n}\n"
    )
    compiled = program("#include <omp.h>\n" + text, threads=None)
    with Host(compiled) as host:
        for _ in range(10):
            native = host.run()
            outputs = interpret(compiled.region, native.inputs, native.scalars)
            if not inside:
                assert native.stdout == b"10 11 12 13 "
                assert (native.status, native.scalars) == (16, (0,))
            assert not differences(compiled, native.outputs, outputs)
            assert inside or host.replay(outputs) == (native.stdout, native.status)
