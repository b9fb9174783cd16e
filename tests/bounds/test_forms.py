"""Small kernels in the forms that C has for them, each against the interpreter."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest

from bounds.interpreter import interpret, leaves
from bounds.programs import same
from cyclescope.bounds import Bounds, differences, estimate
from cyclescope.c import Array, Scalar, Unit, Variable, read_c
from cyclescope.errors import SourceError

if TYPE_CHECKING:
    from pathlib import Path

HEAD = """
struct c { double re, im; };
struct nest { struct c at[2]; int z; };
struct point { int x; double w; int v[3]; };
struct node { int value; struct node *next; };
"""
FORMS = {
    # By value: what is written meanwhile does not show.
    "swapped by a list": "void kernel(struct c q[4]) {"
    " for (int i = 0; i < 4; i++) q[i] = (struct c){q[i].im, q[i].re}; }",
    "a list's missing fields": "void kernel(struct point q[4], int a[4]) {"
    " for (int i = 0; i < 4; i++) q[i] = (struct point){.w = a[i], .v = {[1] = a[i]}}; }",
    "a list into the struct it reads": "struct c mul(struct c a, struct c b) {"
    " return (struct c){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }"
    " void kernel(struct c q[6]) { struct c s = {1, 0};"
    " for (int i = 0; i < 6; i++) s = mul(s, q[i]); q[0] = s; }",
    "a list that is passed": "int f(struct c a) { return a.re > a.im; }"
    " void kernel(struct c q[4], int o[4]) {"
    " for (int i = 0; i < 4; i++) o[i] = f((struct c){q[i].im, 2.0}); }",
    "passed with its address, one process": "void f(struct point p, struct point *o) {"
    " o->x = p.x + 1; o->v[0] = p.x; o->v[1] = p.v[0]; }"
    " void kernel(struct point q[4]) { for (int i = 0; i < 4; i++) f(q[i], &q[i]); }",
    "passed with its address, a level": "void f(struct point p, struct point *o) {"
    " for (int i = 0; i < 3; i++) { o->x = p.x + 1; o->v[i] = p.x; } }"
    " void kernel(struct point q[4]) { for (int i = 0; i < 4; i++) f(q[i], &q[i]); }",
    "passed, and a global": "struct point g = {1, 0.5, {2, 3, 4}}; int f(struct point p) { int "
    "s = 0;"
    " for (int i = 0; i < 3; i++) { g.x = 5; s += p.x + g.x; } return s; }"
    " int kernel(int a[4]) { g.x = a[0]; return f(g); }",
    # Structs in structs, arrays of them.
    "copied with all that is inside": "void kernel(struct nest o[3]) {"
    " for (int i = 0; i < 3; i++) { struct nest *p = &o[(i + 1) % 3]; p->at[0].re += 1; o[i] = "
    "*p; } }",
    "initialised from others": "void kernel(struct c q[4], struct nest o[4]) {"
    " for (int i = 0; i < 4; i++) { struct nest t = {{q[i], {2}}, i}; o[i] = t; } }",
    "chosen": "void kernel(struct c q[4], struct c r[4], int a[4]) { for (int i = 0; i < 4; i++) {"
    " r[i] = a[i] > 3 ? q[i] : q[3 - i]; r[i].re += (a[i] & 1 ? q[i] : r[i]).im; } }",
    "linked": "void kernel(int a[5], int o[5]) { struct node n[5]; for (int i = 0; i < 5; i++) {"
    " n[i].value = a[i]; n[i].next = i < 4 ? &n[i + 1] : 0; } int k = 0;"
    " for (struct node *p = n; p; p = p->next) o[k++] = p->value + (p->next ? p->next->value : "
    "0); }",
    # Calls.
    "of its own result": "int gcd(int a, int b) { while (b) { int t = a % b; a = b; b = t; }"
    " return a; } int kernel(int a[4]) { return gcd(gcd(a[0], a[1]), gcd(a[2] + 4, gcd(6, "
    "a[3]))); }",
    "in the arms of a choice": "int f(int *p) { return (*p)++; } void kernel(int a[8], int b[8]) {"
    " int n = 0; for (int i = 0; i < 8; i++) b[i] = a[i] & 1 ? f(&n) : f(&a[i]) + n--; }",
    "read again by the same name": "void f(int *o, int *p, int v) { *o = v * v; *p = *o * 3;"
    " *o = *o + *p; } void kernel(int a[8], int b[8]) { for (int i = 0; i < 8; i++)"
    " f(&a[i], &b[i], b[i]); }",
    "read again by another name": "void f(int *o, int *p) { *o = *p * *p; *o = *p + 1; }"
    " void kernel(int a[8]) { for (int i = 1; i < 8; i++) { f(&a[i], &a[i]); f(&a[i], &a[i - "
    "1]); } }",
    "fields read again": "void f(struct point *p, int k) { p->v[k] = p->x * k; p->x = p->v[k] + 1;"
    " p->v[2] = p->v[k] * p->x; } void kernel(struct point q[4]) {"
    " for (int i = 0; i < 4; i++) f(&q[i], i % 3); }",
    "a number of counters that is passed on": "int pick(int c, int d) { if (c > d) return c;"
    " return d - c; } int last(int c) { return pick(c, 3); } void kernel(int a[6]) {"
    " for (int j = 0; j < 6; j++) a[1] = last(j % 3); }",
    # Control.
    "ranges of cases": "void kernel(unsigned char a[8], int o[3]) { for (int i = 0; i < 8; i++)"
    " switch (a[i] + 'a') { case 'a' ... 'c': o[0]++; break; case 'd' ... 'e': case 'z': o[1]++; "
    " default: o[2] += a[i]; } }",
    "read by conditions alone": "void kernel(int a[8], int b[8]) {"
    " for (int i = 0; i < 8; i++) if (a[i] > 3 && b[i]) a[i] = 1; }",
    "an address chosen by numbers": "void kernel(double a[6], double b[6]) {"
    " for (int i = 0; i < 6; i++) { double *p = a[i] * 2.0 > b[i] ? a : b; p[i] += 1.5; } }",
}  # fmt: skip


def contents(unit: Unit) -> tuple[dict[str, list[Any]], dict[str, Any]]:
    """The contents of arrays: in a row, as the interpreter takes them, and in their shapes."""
    flat: dict[str, list[Any]] = {}
    shapes: dict[str, list[int]] = {}
    params = unit.functions["kernel"].params
    for v in [*params, *(g for g in unit.variables.values() if g.init is None)]:
        numbers = random.Random(v.name)
        for _, kind, path in leaves(v.type, True):
            assert isinstance(kind, Scalar)
            number = numbers.randint(-40, 40) / 8 if kind.is_float else numbers.randint(0, 7)
            flat.setdefault(v.name + path, []).append(number if v in params else 0)
            shapes[v.name + path] = shape(v, path)
    rows = {
        name: nested(values, shapes[name])
        for name, values in flat.items()
        if shapes[name] and any(name.split(".")[0] == p.name for p in params)
    }
    return flat, rows


def shape(variable: Variable, path: str) -> list[int]:
    kind, found, names = variable.type, [], path.split(".")[1:]
    while True:
        if isinstance(kind, Array):
            found.append(kind.extent or 1)
            kind = kind.element
        elif names:
            kind = kind.field(names.pop(0))  # type: ignore[union-attr]
        else:
            return found


def nested(values: list[Any], extents: list[int]) -> list[Any]:
    if len(extents) < 2:
        return values
    size = len(values) // extents[0]
    return [nested(values[n * size : (n + 1) * size], extents[1:]) for n in range(extents[0])]


@pytest.mark.long(keep_one_in=4)
@pytest.mark.parametrize("name", FORMS)
def test_a_form_has_the_interpreters_outcome(name: str) -> None:
    text = HEAD + FORMS[name]
    unit = read_c("k.c", text=text)
    flat, rows = contents(unit)
    found = estimate("k.c", text=text, kernel="kernel", data=rows, detail=True, values=True)
    same(found, interpret(unit, "kernel", flat))


def run(text: str, **options: Any) -> Bounds:
    return estimate("k.c", text=HEAD + text, kernel="kernel", values=True, **options)


def test_what_is_read_again_has_its_depth() -> None:
    by_name = run("void f(int *o, int v) { *o = v * v; *o = *o * 3; }"
                  " void kernel(int a[8], int b[8]) { f(&a[0], b[0]); }")  # fmt: skip
    by_local = run("void f(int *o, int v) { int t = v * v; *o = t * 3; }"
                   " void kernel(int a[8], int b[8]) { f(&a[0], b[0]); }")  # fmt: skip
    statement = next(p for p in by_name.network.processes if p.kind == "statement")
    assert statement.latency == 1 + 6 + 6
    assert by_name.absolute.cycles == by_local.absolute.cycles


def test_extents_that_are_known_before_the_kernel_runs() -> None:
    text = """
    int last(int n, int m[2][n]) { int t[n + 1]; const int k = n - 1; int u[k];
        for (int i = 0; i < n; i++) t[i] = m[1][i]; u[k - 1] = t[k]; return u[k - 1]; }
    void kernel(int a[6], int b[3]) { int (*m)[3] = (int (*)[3])a; b[0] = last(3, m); }
    """
    found = run(text, data={"a": [1, 2, 3, 4, 5, 6]})
    assert found.values["b"][0] == 6
    with pytest.raises(SourceError, match="the extent n of t is not supported here; declare it"):
        run("void kernel(int a[6]) { int n = a[0] + 1; int t[n]; t[0] = n; a[1] = t[0]; }")


def test_extents_that_a_program_passes(tmp_path: Path) -> None:
    file = tmp_path / "k.c"
    file.write_text("""
    #include <stdlib.h>
    void kernel(int n, int m[n][n], int o[n]) { int t[n];
        for (int i = 0; i < n; i++) t[i] = m[i][n - 1 - i];
        for (int i = 0; i < n; i++) o[i] = t[i]; }
    int main(int argc, char **argv) { int n = atoi(argv[1]), (*m)[n] = malloc(n * n * sizeof(int));
        int *o = malloc(n * sizeof *o); for (int i = 0; i < n * n; i++) m[i / n][i % n] = i;
        kernel(n, m, o); if (argc > 2) kernel(n / 2, (void *)m, o); return 0; }
    """)
    found = estimate(file, kernel="kernel", values=True, program_arguments=["5"])
    assert found.values["o"].tolist() == [4, 8, 12, 16, 20]
    found = estimate(file, kernel="kernel", values=True, program_arguments=["6", "x"], call=2)
    assert found.values["o"].tolist() == [2, 4, 6]
    with pytest.raises(SourceError, match=r"k.c:3: .*differs from call to call .*\(3, 6\)"):
        estimate(file, kernel="kernel", program_arguments=["6", "x"])


ROWS = """
int s(int r, int c, int m[][c]) { int t = 0;
    for (int i = 0; i < r; i++) for (int j = 0; j < c; j++) t += m[i][j] << i; return t; }
int moved(int r, int c, int (*m)[c]) { int t = 0;
    for (int i = 0; i < r; i++, m++) for (int j = 0; j < c; j++) t += (*m)[j] << i; return t; }
int deep(int c, int m[2][c][c + 1]) { return m[1][c - 1][c] + m[0][1][2]; }
void kernel(int a[3][4], int b[8]) {
    b[0] = s(3, 4, a); b[1] = s(4, 3, (int (*)[3])a); b[2] = s(2, 2, (void *)&a[1][1]);
    b[3] = moved(3, 4, a); b[4] = moved(4, 3, (int (*)[3])a);
    int n = 4, t[2][3][4]; for (int i = 0; i < 24; i++) (&t[0][0][0])[i] = i;
    b[5] = deep(3, t); int (*m)[n] = (int (*)[n])a; b[6] = m[1][2] + (*(m + 2))[1] + (m + 2 - m);
}
"""


FIFO = """
struct fifo { struct node *head, *tail; };
int *find(int *p, int n, int k) {
    for (int i = 0; i < n; i++) if (p[i] == k) return p + i;
    return 0; }
void kernel(int a[8], int o[8]) {
    struct node pool[8]; struct fifo f; f.head = f.tail = 0;
    for (int i = 0; i < 8; i++) {
        struct node *p = &pool[i]; p->value = a[i]; p->next = 0;
        if (f.tail) f.tail->next = p; else f.head = p;
        f.tail = p; }
    for (int k = 0; f.head != 0; f.head = f.head->next) o[k++] = f.head->value;
    for (int i = 0; i < 8; i++) { int *p = find(a, 8, i); o[i] += p ? *p + (int)(p - a) : -1; }
}
"""


def test_addresses_that_are_none() -> None:
    found = run(FIFO, verify=True, data={"a": [3, 1, 4, 1, 5, 9, 2, 6]})
    assert differences(found) == []
    assert found.values["o"].tolist() == [2, 3, 12, 4, 11, 18, 15, 5]


def test_rows_of_computed_extents() -> None:
    found = estimate("k.c", text=ROWS, kernel="kernel", verify=True)
    assert differences(found) == []


FILES = """
int add(int v); void init(void); extern int shared; static int {0}[4] = {{1, 2, 3, 4}};
static int {1}(int v) {{ return v * 3; }}
void kernel(int a[4]) {{
    for (int i = 0; i < 4; i++) {{ a[i] = add({1}(a[i])) + {0}[i]; shared += a[i]; }} }}
int main(void) {{ int a[4] = {{5, 6, 7, 8}}; init(); kernel(a); return a[0] + shared; }}
"""
OTHER = """
static int table[4]; int shared = 3, calls;
static int twice(int v) { return v * 2; }
void init(void) { for (int i = 0; i < 4; i++) table[i] = i * i; }
int add(int v) {
    calls++; int s = twice(v); for (int i = 0; i < 4; i++) s += table[i] * calls; return s; }
"""


def test_globals_of_another_file(tmp_path: Path) -> None:
    one, other = tmp_path / "one.c", tmp_path / "other.c"
    one.write_text(FILES.format("own", "thrice"))
    other.write_text(OTHER)
    found = estimate([one, other], kernel="kernel", verify=True)
    assert differences(found) == []
    assert found.values["table"].tolist() == [0, 1, 4, 9]
    for names in (("table", "thrice"), ("own", "twice")):
        one.write_text(FILES.format(*names))
        with pytest.raises(SourceError, match=r"which is another .* rename one of them"):
            estimate([one, other], kernel="kernel")


# What gcc and clang make of an enumeration: unsigned without negative values, as small as it may be
# where it is packed, as large as its values need.
ENUMS = """
#include <stdint.h>
enum plain { A, B, C };
enum negative { M = -1, N };
enum large { X = 0x100000001LL, Y };
enum __attribute__((packed)) small { P = 200, Q };
struct row { enum small kind; int16_t width; enum large far; const int *values; };
int64_t kernel(enum plain u, enum negative s, enum small q, const struct row rows[3],
               int64_t out[12]) {
    u = (enum plain)(u - 3);
    out[0] = u > -1;  out[1] = u >> 1;  out[2] = s < 0;  out[3] = s >> 1;  out[4] = M < A;
    out[5] = q + 100;  out[6] = (enum small)(q + 100);  out[7] = -u;  out[8] = (int64_t)(double)u;
    for (int i = 0; i < 3; i++)
        out[9 + i] = rows[i].kind == Q ? rows[i].far + rows[i].values[i] : rows[i].width;
    return out[8] + sizeof(enum small) + (Y - X);
}
int main(void) {
    int values[3] = {5, 6, 7};
    struct row rows[3] = {{P, 3, X, values}, {Q, 4, Y, values}, {Q, 5, X, values}};
    int64_t out[12];
    return kernel(C, M, Q, rows, out) == 0;
}
"""


def test_enumerations_have_the_types_of_the_compiler() -> None:
    found = estimate("k.c", text=ENUMS, kernel="kernel", verify=True)
    assert differences(found) == []
    assert found.values["out"].tolist() == [
        0, 2**31 - 1, 1, -1, 1, 301, 45, 1, 2**32 - 1, 3, 2**32 + 8, 2**32 + 8,
    ]  # fmt: skip


# libclang does not say which parts of a head are missing, nor does a text with macros.
HEADS = """
#include <stdio.h>
#define STEP i++, p += 2
#define REST ; i < 4; i++
#define LATER(a, b) for (; a; b)
#define ENDLESS for (;;)
#define FROM(x) for (x;;)
#define COUNT(x) for (i = 0; x;)
#define STEPS(x) for (;; x)
#define BOTH(x, y) for (x;; y)
int kernel(int a[32]) {
    int i = 0, n = 0; int *p = a;
    if (a[0] > 99) printf("for (; i < 3; i++) {");
    for (; i < 3; STEP) *p = i;
    for (int i = 0 REST) n += i;
    LATER(i < 9, i += 2) a[i] = 7;
    ENDLESS { if (n++ > 9) break; }
    FROM(i = 2) { if (i++ > 4) break; a[8 + i] = n; }
    COUNT(i < 3) { a[16 + i] = i; i++; }
    STEPS(i--) { if (!i) break; a[20 + i] = i; }
    BOTH(i = 0, i++) { if (i > 2) break; a[24 + i] = 'f'; }
    LATER(i, i--) { LATER(n > i + 8, n--) a[28] += 1; }
    return n + i;
}
int main(void) { int a[32] = {1, 2, 3}; return kernel(a); }
"""


def test_heads_of_loops_that_macros_write() -> None:
    found = estimate("k.c", text=HEADS, kernel="kernel", verify=True)
    assert differences(found) == []
    assert found.values["a"].tolist()[:5] == [0, 2, 1, 7, 2]
