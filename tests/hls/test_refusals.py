"""A construct that isn't supported is named with its line; one that looks wrong is a warning."""

from __future__ import annotations

import pytest

from cyclescope.errors import SourceError
from cyclescope.hls import compile_c

HEAD = """\
#include <omp.h>
#include <math.h>
#include <string.h>
struct pair { int a, b; };
struct view { int *at, n; } given;
struct wide { int at[300]; };
union both { int n; float f; };
static struct wide same(struct wide w) { return w; }
typedef float v4 __attribute__((vector_size(16)));
int printf(const char *, ...);
int table[8];
omp_lock_t lock, locks[4];
void k(int *a, int *b, float *f, int n) {
#pragma omp target parallel map(tofrom: a[0:n], f[0:n]) num_threads(4)
{
"""
LINE = HEAD.count("\n") + 1  # of the first line of a body


def compiled(body: str, threads: int | None = None) -> tuple[str, ...]:
    return compile_c("k.c", text=f"{HEAD}{body}\n}}\n}}\n", threads=threads).warnings


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("a[0] = tan(f[0]);", r"tan\(\) is not supported"),
        ("f[0] = fmaf(f[0], f[1], f[2]);", r"fmaf\(\) is not supported: .*; write a \* b \+ c"),
        ("a[0] = __builtin_rotateleft32(n, 3);", r"__builtin_rotateleft32\(\) is not supported"),
        ("extern int popcount(int); a[0] = popcount(n);", r"popcount\(\) is not supported"),
        ("switch (n) { case 1 ... 300: a[0] = 1; }", "a switch with a range"),
        ("switch (n) { case 1: if (n) case 2: a[0] = 1; }", "a switch with a range"),
        ("return;", "return out of a target region"),
        ("if (n) goto in; if (a[0]) { in: a[0] = n; }", "goto in is not supported: control is"),
        (
            "while (n) { again: if (a[0]) break; if (a[1]) goto again; a[0]++; }",
            "break or continue out of what goto again repeats; write it as a loop",
        ),
        (
            "#pragma omp for\nfor (int i = 0; i < n; i++) if (a[i]) goto out;\nout: a[0] = 1;",
            "can't be left by break, return or goto",
        ),
        ("static long s = (long)table; a[0] = s;", "is not a number known here"),
        ("char x[1 << 27]; x[n] = 1; a[0] = x[0];", "have 536,870,912 bytes, all threads together"),
        ("int x[n]; a[0] = x[0];", "the size of .* isn't known"),
        ("struct view v; a[0] = *v.at;", r"it isn't known what is read by `\*v.at`: the pointer"),
        ("struct view own; a[0] = own.at[n];", r"it isn't known what is read by `own.at\[n\]`"),
        ("struct wide w; w = same(w); a[0] = w.at[n];", "has more than 256 parts; pass its"),
        ("a[0] = same((struct wide){1}).at[0];", "has no place; give it to a variable first"),
        (
            "struct __attribute__((packed)) { char c; struct pair p; } u; a[0] = u.p.a;",
            "p, a struct pair, lies where its numbers are not aligned; declare it",
        ),
        ("struct { int n : 3; } u; int *p = &u.n; a[0] = *p;", "address of bit-field"),
        ("#pragma omp task detach(n)\na[0] = 1;", "the clause detach of omp task isn't supported"),
        ("#pragma omp taskloop\na[0] = 1;", "omp taskloop needs a for loop"),
        (
            "#pragma omp single\n{\n#pragma omp task\n{\n#pragma omp barrier\n} }",
            r"omp barrier inside omp single",
        ),
        ("#pragma omp for schedule(dynamic, n)\nfor (int i = 0; i < n; i++) a[i] = 1;", "chunk"),
        ("#pragma omp for schedule(static, n)\nfor (int i = 0; i < n; i++) a[i] = 1;", "chunk"),
        (
            "#pragma omp for schedule(static, 1 << 30)\nfor (int i = 0; i < n; i++) a[i] = 1;",
            "a chunk of 1073741824 iterations is too large for 4 threads; at most 268435456 are",
        ),
        ("#pragma omp for\nfor (float x = 0; x < 3; x++) a[0] = 1;", "must be an integer"),
        (
            "#pragma omp for collapse(2)\nfor (int i = 0; i < n; i++) for (short j = 0; j < i; j++)"
            " a[i] = 1;",
            "j, of one of several loops whose bounds depend on each other, must be int or long",
        ),
        (
            "float s = 0;\n#pragma omp for linear(s)\nfor (int i = 0; i < n; i++) a[i] = s;",
            r"linear\(s\): only integers, with a constant step",
        ),
        (
            "#pragma omp single copyprivate(n)\na[0] = n;",
            r"copyprivate\(n\): all threads share it",
        ),
        ("#pragma omp for\nfor (int i = 1; i < n; i *= 2) a[i] = 1;", "steps by"),
        ("#pragma omp for\nwhile (n) a[0] = 1;", "needs a for loop"),
        ("#pragma unroll n\nfor (int i = 0; i < n; i++) a[i] = 1;", "constant expression"),
        (
            "#pragma unroll\nfor (int i = 0; i < 900; i++)\n#pragma unroll\n"
            "for (int j = 0; j < 900; j++) a[i & 3] = j;",
            "more than 16384 copies of the text or 32768 operations",
        ),
        ("#pragma unroll 4000\nfor (int i = 0; i < n; i++) a[i] = 1;", "more than 1024"),
        (
            "#pragma omp declare reduction(own: short: omp_out += omp_in)\n"
            "#pragma omp for reduction(own: a[0:2])\nfor (int i = 0; i < n; i++) a[0] += i;",
            "isn't declared for int; add the type to omp declare reduction",
        ),
        (
            "#pragma omp declare reduction(own: int: omp_out += unknown)\n"
            "#pragma omp for reduction(own: a[0:2])\nfor (int i = 0; i < n; i++) a[0] += i;",
            "is no C there",
        ),
        (
            "int s = 0;\n#pragma omp for reduction(+: s)\nfor (int i = 0; i < n; i++) s += a[i];",
            "only scalars of the host",
        ),
        (
            "int s[4];\n#pragma omp for reduction(+: s)\nfor (int i = 0; i < n; i++) s[0] += a[i];",
            "only scalars of the host can be reduced, and arrays",
        ),
        (
            "#pragma omp for reduction(+: a)\nfor (int i = 0; i < n; i++) a[0] += i;",
            r"reduction of a: say how much of it, a\[0:count\]",
        ),
        (
            "#pragma omp for reduction(+: a[0:n])\nfor (int i = 0; i < n; i++) a[0] += i;",
            "its section must have constant bounds",
        ),
        (
            "#pragma omp for reduction(+: a[0:4)\nfor (int i = 0; i < n; i++) a[0] += i;",
            r"a \[ 0 : 4 \): `\[` is not closed; add a bracket",
        ),
        (
            "int s;\n#pragma omp for lastprivate(s)\nfor (int i = 0; i < n; i++) s = a[i];",
            "it is each thread's own already; declare it outside the region",
        ),
        (
            "omp_unset_lock(&lock);",
            "the lock lock is not set in front of this, in the order of the",
        ),
        (
            "omp_set_lock(locks); omp_set_lock(locks + 1); omp_unset_lock(locks);",
            r"lock\(locks\) inside itself waits forever; use another lock",
        ),
        ("omp_lock_t l; omp_init_lock(&l);", r"omp_init_lock\(\) isn't .*; call it on the host"),
        ("#pragma omp sections\na[0] = 1;", "omp sections needs a block of sections"),
        ("#pragma omp section\na[0] = 1;", "omp section isn't supported inside a target region"),
        (
            "#pragma omp sections\n{ n;\n#pragma omp section\n#pragma omp section\na[1] = 1; }",
            "omp section needs a statement behind it",
        ),
        (
            "#pragma omp sections\n{\n#pragma omp section nowait\na[1] = 1; }",
            "the clause nowait of omp section isn't supported; it can have no clause",
        ),
        (
            "for (;;) {\n#pragma omp sections\n{ n;\n#pragma omp section\nif (n) break; }\n}",
            "a section can't be left by break, continue or return",
        ),
        (
            "#pragma omp sections\n{ a[0] = 1;\n#pragma omp section\n{\n#pragma omp barrier\n} }",
            r"omp barrier inside omp sections \(k.c:\d+\): not all threads come there together",
        ),
        (
            "#pragma omp critical\n{\n#pragma omp sections\n{ a[0] = 1; }\n}",
            "omp sections inside omp critical",
        ),
        ("#pragma omp for\nfor (int i = 0; i < n; i++) { if (a[i]) break; }", "left by break"),
        (
            "#pragma omp for collapse(2) schedule(static)\nfor (int i = 0; i < n; i++)\n"
            "for (int j = i; j < n; j++) a[i] = j;",
            "schedule can't be of loops whose bounds depend on each other",
        ),
        ("short c[4] = {[n = 2] = 1}; a[0] = c[0];", "k.c:"),
        ("f[0] = omp_get_wtime();", r"omp_get_wtime\(\) isn't supported in .*; the profile has"),
        ("a[0] = omp_get_num_procs();", r"omp_get_num_procs\(\) isn't .*; call it on the host"),
        ("extern int later; a[0] = later;", "later is declared in the region; do so before"),
        (
            "#pragma omp critical (x)\n{\n#pragma omp critical (x)\na[0] = 1;\n}",
            r"critical\(x\) inside itself waits forever; give the inner one another name",
        ),
        ("int *p; a[0] = *p;", r"it isn't known what is read by `\*p`: the pointer is null or"),
        ("a[0] =\n#pragma omp critical\n1;", "belongs to no statement"),
        ("float x[2000] = {0}; f[0] = x[n];", "with an initial value is not supported"),
    ],
)
def test_what_is_not_supported_is_named(body: str, message: str) -> None:
    with pytest.raises(SourceError, match=message) as caught:
        compiled(body)
    assert "\n" not in str(caught.value)
    line = int(str(caught.value).split(":")[1])
    assert LINE - 2 <= line <= LINE + body.count("\n") or "again" in body


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("int a[4]; void k() {\n#pragma omp target map(a[0:)\n a[0] = 1; }", "a bracket"),
        (
            "long double a[4]; void k() {\n#pragma omp target\n a[0] = 1; }",
            "a value of type long double is not",
        ),
        ("int main(void) { return 0; }", "no statement has `#pragma omp target`"),
        (
            "void f(int *a) {\n#pragma omp target map(a[0:1])\na[0] = 1;\n"
            "#pragma omp target map(a[0:1])\na[0] = 2; }",
            r"k.c:4: a second target region; choose .* with --region LINE \(lines 2, 4\)",
        ),
        (
            "void f(int *a, int n) {\n"
            "#pragma omp target teams distribute parallel for if(parallel: n > 3) map(a[0:1])\n"
            "for (int i = 0; i < 1; i++) a[i] = 1; }",
            r"k.c:2: if\(parallel: n > 3\): the hardware's teams have their size before",
        ),
        ("void f(int *a) {\n#pragma omp target data map(a[0:1])\n{ } }", "no statement has"),
        (
            "int x, a[2]; int f(void) { return x; } void k(void) { int x = 5;\n"
            "#pragma omp target\n{ a[0] = x; a[1] = f(); } }",
            "k.c:1: x is another variable before the region, where it is passed; rename",
        ),
        ("void f(int *a) {\n#pragma omp target map(a[0:1]\na[0] = 1; }", "not closed"),
        ("void f(int *a) {\n#pragma omp target\na[0 = 1; }", "k.c:3"),
    ],
)
def test_regions_that_are_not_supported(text: str, message: str) -> None:
    with pytest.raises(SourceError, match=message):
        compile_c("k.c", text=text)


@pytest.mark.parametrize("threads", [0, 257])
def test_teams_have_a_size(threads: int) -> None:
    with pytest.raises(SourceError, match="from 1 to 256"):
        compiled("a[0] = 1;", threads)


@pytest.mark.parametrize(
    ("body", "place"),
    [
        ("a[0] = 1;", "a"),
        ("for (int i = 0; i < n; i++) a[i] += 1;", "a"),
        ("if (n > 3) f[n - 1] = 2;", "f"),
        ("int x[8]; x[0] = omp_get_thread_num(); a[3] = x[0];", "a"),
        ("for (int i = omp_get_thread_num(); i < n; i += 4) a[0] += a[i];", "a"),
        ("for (int i = omp_get_thread_num(); i < n; i += 4) if (a[i] < 3) f[1]++;", "f"),
        ("for (int i = omp_get_thread_num(); i < n; i += 4) if (i & 1) f[1]++;", "f"),
        ("for (int i = 0; i < omp_get_thread_num(); i++) while (a[0] < i) a[0] += 1;", "a"),
        ('_Pragma("omp for schedule(dynamic)") for (int i = 0; i < n; i++) a[0] += i;', "a"),
    ],
)
def test_a_data_race_that_can_be_seen_is_a_warning(body: str, place: str) -> None:
    (warning,) = compiled(body)
    assert warning.startswith(
        f"k.c:{LINE}: data race: every thread writes the same place of {place}"
    )
    assert not compiled(body, threads=1)


@pytest.mark.parametrize(
    "body",
    [
        "a[omp_get_thread_num()] = 1;",
        "for (int i = omp_get_thread_num(); i < n; i += 4) a[i] = 1;",
        "if (omp_get_thread_num() == 0) a[0] = 1;",
        "if (!omp_get_thread_num()) for (int i = 0; i < n; i++) a[0] += i;",
        "if (omp_get_thread_num() < 1) a[0]++;",
        "if (omp_get_thread_num() == 2 && a[1] > 4) a[0]++;",
        "for (int i = omp_get_thread_num(); i < n; i += 4) if (i == 5) a[0]++;",
        "#pragma omp critical\n{ a[0] += omp_get_thread_num(); a[1] = a[0]; }",
        "#pragma omp critical\nif (a[0] < omp_get_thread_num()) a[0] = omp_get_thread_num();",
        "for (int i = 0; i < omp_get_thread_num(); i++) a[7] = i;",
        "int i = 0; while (i < omp_get_thread_num()) i++; a[i] = 1;",
        "#pragma omp critical\na[0] = 1;",
        "#pragma omp atomic\na[0] += 1;",
        "#pragma omp single\na[0] = 1;",
        "int t;\n#pragma omp atomic capture\nt = a[9]++;\na[t] = 1; if (t == 1) f[0] = 1;",
        "int t;\n#pragma omp critical\n{ t = a[9]; a[9] += 2; }\na[t] = 1;",
        "#pragma omp for\nfor (int i = 0; i < n; i++) a[i] = 1;",
        "#pragma omp for schedule(guided)\nfor (int i = 0; i < n; i++) a[i] = f[i + 1];",
    ],
)
def test_what_threads_do_apart_or_protected_is_none(body: str) -> None:
    assert not compiled(body)


FOR = "#pragma omp for\nfor (int i = 1; i < 64; i++)\n"
FOR_J = FOR + "for (int j = 1; j < 64; j++)\n"
ALL, ONE, TWO, ANY = (f"#pragma omp for{way}\n" for way in (
    "", " schedule(static, 1)", " schedule(static, 2)", " schedule(dynamic)"
))  # fmt: skip
MINE = "int t = omp_get_thread_num();\n"


@pytest.mark.parametrize(
    "body",
    [
        FOR + "a[i] = a[i - 1] + 1;",
        FOR + "if (i < n - 2) a[i] = i > 1 ? a[i + 2] : 0;",
        FOR_J + "a[i * 64 + j] += a[(i - 1) * 64 + j];",
        FOR_J + "a[j * 64 + i] += a[j * 64 + i - 1];",
        FOR_J + "a[i * 64 + j] += a[(i - 1) * 64 + j + 1];",
        MINE + "a[t] = a[t + 1];",
        MINE + "a[t] = a[t + 3];",
        MINE + "for (int i = t; i < n; i += 4)\na[i] = a[i - 1];",
        MINE + "for (int i = t; i < 64; i += 4)\na[i] = a[i - 7];",
        ALL + "for (int i = 0; i < 4; i++) a[i] += a[i + 3];",
        ALL + "for (int i = 0; i < 5; i++) a[i] += a[i + 4];",
        ALL + "for (int i = 0; i < 64; i++) a[i] += a[i + 40];",
        ALL + "for (int i = 0; i < 8; i += 2) a[i] += a[i + 6];",
        ALL + "for (int i = 7; i >= 0; i--) a[i] += a[i + 7];",
        ALL + "for (long i = 0; i < 8; ++i) a[i] += a[i + 5];",
        ONE + "for (int i = 0; i < 64; i++) a[i] += a[i + 6];",
        TWO + "for (int i = 0; i < 64; i++) a[i] += a[i + 7];",
        TWO + "for (int i = 0; i < 64; i++) a[i] += a[i + 12];",
        ANY + "for (int i = 0; i < 64; i++) a[i] += a[i + 4];",
        ALL
        + "for (int i = 0; i < 8; i++) for (int j = 0; j < 4; j++) a[4*i + j] += a[4*i + j + 4];",
    ],
)
def test_a_cross_thread_race_is_a_warning(body: str) -> None:
    (warning,) = compiled(body)
    line = LINE + body.count("\n")
    assert warning.startswith(f"k.c:{line}: data race: this element of a is written by another")
    assert not compiled(body, threads=1)


def test_a_race_that_the_number_of_iterations_decides_says_so() -> None:
    (warning,) = compiled(ALL + "for (int i = 0; i < n; i++) a[i] += a[i + 4];")
    assert f"(k.c:{LINE + 1}) if the loop has more than 4 of them; read a copy" in warning
    assert not compiled(ONE + "for (int i = 0; i < n; i++) a[i] += a[i + 4];")


@pytest.mark.parametrize(
    "body",
    [
        FOR + "if (i & 1) a[i] = a[i - 1];",
        FOR + "f[i] = a[i - 1];",
        FOR + "{ a[2 * i] = 1; a[2 * i + 1] = a[2 * i]; }",
        FOR + "a[i] = a[i + n];",
        FOR + "a[i] = a[i + 63];",
        FOR_J + "a[i * 64 + j] += a[i * 64 + j - 1];",
        FOR_J + "a[j * 64 + i] += a[(j - 1) * 64 + i];",
        "#pragma omp for\nfor (int i = 1; i < n; i += 2) a[i] = a[i - 1] + a[i + 1];",
        MINE + "a[2 * t] = a[2 * t + 1];",
        MINE + "a[t] = a[t + 4];",
        MINE + "for (int i = t; i < n; i += 4) a[i] = a[i - 4];",
        MINE + "for (int i = t; i < 64; i += 4) a[i] = a[i - 8];",
        ALL + "for (int i = 0; i < 4; i++) a[i] += a[i + 4];",
        ALL + "for (int i = 0; i <= 3; i++) a[i] += a[i + 4];",
        ALL + "for (int i = 4; i < 8; i++) a[i] += a[i - 4];",
        ALL + "for (int i = 3; i >= 0; i--) a[i] += a[i + 4];",
        ALL + "for (unsigned i = 0; i != 4; i++) a[i] += a[i + 4];",
        ALL + "for (int i = 0; i < 8; i += 2) a[i] += a[i + 8];",
        ALL + "for (int i = 0; i < 8; i += 2) a[i] += a[i + 3];",
        ALL + "for (int i = 0; i < 64; i++) a[i] += a[i + 64];",
        ONE + "for (int i = 0; i < 64; i++) a[i] += a[i + 4];",
        ONE + "for (int i = 0; i < 64; i++) a[i] += a[i + 8];",
        TWO + "for (int i = 0; i < 64; i++) a[i] += a[i + 8];",
        TWO + "for (int i = 0; i < 64; i++) a[i] += a[i + 64];",
        ALL
        + "for (int i = 0; i < 2; i++) for (int j = 0; j < 4; j++) a[4*i + j] += a[4*i + j + 8];",
        MINE + "for (int i = 2 * t; i < n; i += 8) a[i] = a[i + 1];",
        MINE + "a[t] = 0; for (int i = 0; i < 8; i++) a[t] += a[t + 32];",
        MINE + "for (int i = 0; i < 9; i++) { f[t] = a[t + 1];\n#pragma omp barrier\na[t] = i; }",
    ],
)
def test_iterations_that_share_no_element_do_not_race(body: str) -> None:
    assert not compiled(body)


def test_who_writes_last_may_be_open() -> None:
    body = "#pragma omp critical\n{ int t = omp_get_thread_num(); a[1] = 3 * t; f[0] += t; }"
    lowered = compile_c("k.c", text=f"{HEAD}{body}\n}}\n}}\n")
    assert lowered.undecided == {"a"}
    assert lowered.warnings == (
        f"k.c:{LINE + 1}: every thread writes its own value to the same place of a: the last one"
        f" stays, and which that is, is open; combine them (+=)",
    )
    assert not compiled(body, threads=1)


def test_so_it_may_where_threads_synchronise_by_flushes() -> None:
    flush = "\n#pragma omp flush\n"
    body = (
        "int t = omp_get_thread_num();\n"
        f"if (t == 0) for (int i = 0; i < n; i++) {{ a[0] = 1; a[1] = 1; {flush} a[1] = 0;"
        " a[2]++; }\n"
        f"else for (int i = 0; i < n; i++) {{ f[0] = 0; {flush} f[t] = 1; }}"
    )
    text = f"{HEAD}{body}\n}}\n}}\n"
    assert compile_c("k.c", text=text).undecided == set()
    other = text.replace("f[0] = 0;", "a[0] = 0;")
    lowered = compile_c("k.c", text=other)
    assert lowered.undecided == {"a"}
    assert "threads write the same place of a one after the other: the last one's value" in "".join(
        lowered.warnings
    )
    assert compile_c("k.c", text=other.replace("#pragma omp flush", "")).undecided == set()


def test_a_loop_that_cannot_be_unrolled_is_a_warning() -> None:
    (warning,) = compiled(
        "#pragma unroll\nfor (int i = 0; i < n; i++) a[8 * i + omp_get_thread_num()] = 1;"
    )
    assert warning.startswith(f"k.c:{LINE}: the number of iterations isn't known")
