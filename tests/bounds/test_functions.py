"""Calls: outlined statements, levels, structs, pointers."""

from __future__ import annotations

import pytest

from cyclescope.bounds import Bounds, differences, estimate, levels_of, profile_of, report_dict
from cyclescope.errors import SourceError
from cyclescope.model import Kind, check_laws

PLAIN = """
void kernel(double A[8][8], double x[8], double y[8]) {
    for (int i = 0; i < 8; i++) {
        y[i] = 0;
        for (int j = 0; j < 8; j++)
            y[i] = y[i] + A[i][j] * x[j];
    }
}
"""
OUTLINED = """
void clear(double *out) { *out = 0; }
void mac(double *out, double sum, double a, double b) { (*out) = (sum) + (a) * (b); }
void kernel(double A[8][8], double x[8], double y[8]) {
    for (int i = 0; i < 8; i++) {
        clear(&y[i]);
        for (int j = 0; j < 8; j++)
            mac(&y[i], y[i], A[i][j], x[j]);
    }
}
"""
RETURNING = """
static double mac(double sum, double a, double b) { double p = a * b; return sum + p; }
void kernel(double A[8][8], double x[8], double y[8]) {
    for (int i = 0; i < 8; i++) {
        y[i] = 0;
        for (int j = 0; j < 8; j++)
            y[i] = mac(y[i], A[i][j], x[j]);
    }
}
"""
LEVELS = """
static void row(int n, double a[8], double x[8], double *y) {
    *y = 0;
    for (int j = 0; j < n; j++) *y = *y + a[j] * x[j];
}
void kernel(double A[8][8], double x[8], double y[8]) {
    for (int i = 0; i < 8; i++) row(8, A[i], x, &y[i]);
}
"""


def both(text: str, **options: object) -> tuple[int, int]:
    found = estimate("k.c", text=text, kernel="kernel", **options)  # type: ignore[arg-type]
    return found.absolute.cycles, found.unbounded.cycles


def run(text: str, **options: object) -> Bounds:
    return estimate("k.c", text=text, kernel="kernel", **options)  # type: ignore[arg-type]


@pytest.mark.long(keep_one_in=3)
@pytest.mark.parametrize("text", [OUTLINED, RETURNING, LEVELS])
def test_the_same_statements_in_other_forms(text: str) -> None:
    assert both(text) == both(PLAIN)


def test_outlined_statements_are_named_after_their_functions() -> None:
    names = [p.name for p in run(OUTLINED).network.processes if p.kind == "statement"]
    assert names == ["mac"]


def test_levels_are_reported() -> None:
    found = run(LEVELS)
    kernel, row = levels_of(found, memory=1 << 20)
    assert (kernel.path.function, kernel.depth, row.path.function, row.depth) == (
        "kernel", 0, "row", 1,
    )  # fmt: skip
    assert kernel.absolute.end == found.absolute.cycles
    assert kernel.absolute.start <= row.absolute.start <= row.absolute.end <= kernel.absolute.end
    assert row.work == 64 * 18
    # By itself: eight multiply-adds in a chain between source (3) and sink (3); a[0] and x[0] at 3.
    assert row.alone == (3 + 8 * 20 + 3, 3 + 8 * 20 + 3)
    profile = profile_of(found, found.absolute)
    check_laws(profile)
    kinds = [profile.frame_of(p).kind for p in range(len(profile.call_paths))]
    assert kinds.count(Kind.CELL) == 2
    assert report_dict(found, [kernel, row])["levels"][1]["function"] == "row"


def test_each_call_is_hardware_of_its_own() -> None:
    text = """
    static void scale(double a[8]) { for (int i = 0; i < 8; i++) a[i] = a[i] * 2.0; }
    void kernel(double a[8], double b[8]) { scale(a); scale(b); }
    """
    found = run(text)
    assert len(found.network.paths) == 3
    assert [f.count for f in found.absolute.firings if f.process.kind == "statement"] == [8, 8]
    # Had they shared one resource, it would have been 8 cycles more.
    assert found.absolute.cycles == 3 + 7 + 12 + 3


def test_values_pass_through_levels() -> None:
    text = """
    static int sum(int n, int a[4]) {
        int total = 0;
        for (int i = 0; i < n; i++) { if (i == 3) return total; total += a[i]; }
        return total;
    }
    void kernel(int a[4], int out[2]) { out[0] = sum(3, a); int k = sum(4, a); out[1] = k * k; }
    """
    found = run(text, values=True, data={"a": [5, 7, 11, 100]})
    assert found.values["out"].tolist() == [23, 529]


def test_a_function_of_itself_is_no_recursion() -> None:
    text = """
    static int square(int x) { return x * x; }
    void kernel(int a[2]) { a[0] = square(square(a[1])) + square(2); }
    """
    found = run(text, values=True, data={"a": [0, 3]})
    assert found.values["a"].tolist() == [85, 3]
    # Base 1, two multiplications in a chain, half a cycle of addition; the constant is folded.
    assert found.unbounded.cycles == 3 + (1 + 14 + 1) + 3


def test_kernels_that_do_nothing() -> None:
    for text in ("void kernel(void) {}", "void kernel(int a[3]) {}"):
        found = run(text)
        assert (found.absolute.cycles, found.unbounded.cycles, found.factor) == (0, 0, 1)
        for one in found.estimates:
            check_laws(profile_of(found, one))


def test_calls_do_not_multiply_without_end() -> None:
    calls = "void f0(int a[1]) { for (int i = 0; i < 1; i++) a[0] += 1; }"
    for n in range(1, 14):
        calls += f"void f{n}(int a[1]) {{ f{n - 1}(a); f{n - 1}(a); }}"
    with pytest.raises(SourceError, match="a program of more than 1000 calls"):
        run(calls + "void kernel(int a[1]) { f13(a); }")


def test_structs_are_their_fields() -> None:
    text = """
    struct c { double re, im; };
    void kernel(struct c a[4], struct c b[4]) {
        for (int i = 0; i < 4; i++) {
            b[i] = a[i];
            b[i].re = b[i].re * 2.0;
        }
    }
    """
    found = run(text, values=True, data={"a.re": [1, 2, 3, 4], "a.im": [5, 6, 7, 8]})
    assert found.values["b.re"].tolist() == [2, 4, 6, 8]
    assert found.values["b.im"].tolist() == [5, 6, 7, 8]


def test_pointers_into_arrays() -> None:
    text = """
    void kernel(int a[4][4]) {
        for (int i = 1; i < 4; i++) {
            int *row = a[i];
            const int *before = &a[i - 1][0];
            *(row + 1) = before[1] + row[0];
        }
    }
    """
    found = run(text, values=True, data={"a": [[1, 2, 3, 4]] * 4})
    assert found.values["a"][:, 1].tolist() == [2, 3, 4, 5]


def test_locals_globals_and_widths() -> None:
    text = """
    static const int weight[3] = {1, 2, 4};
    unsigned char small[3];
    int scale = 3;
    void kernel(long out[3]) {
        short local[3] = {7, 8, 9};
        for (int i = 0; i < 3; i++) {
            small[i] = 250 + weight[i] * local[i];
            out[i] = small[i] * scale;
        }
    }
    """
    found = run(text, values=True)
    wanted = [(250 + w * v) % 256 for w, v in ((1, 7), (2, 8), (4, 9))]
    assert found.values["small"].tolist() == wanted
    assert found.values["out"].tolist() == [3 * w for w in wanted]
    # What the text gives a value is no input.
    assert [f.process.name for f in found.absolute.firings if f.process.kind == "source"] == []


def test_data_dependent_control_runs_and_is_counted() -> None:
    text = """
    void kernel(int a[4], int out[1]) {
        int n = 0;
        for (int i = 0; i < 4; i++)
            if (a[i] > 2) n += a[i];
        while (n > 10) n = n - 4;
        out[0] = n;
    }
    """
    found = run(text, values=True, data={"a": [1, 5, 2, 9]})
    assert found.values["out"].tolist() == [10]
    assert not found.network.is_affine
    counted = [(t.reason, found.records.tests[n]) for n, t in enumerate(found.network.tests)]
    assert counted == [
        ("data-dependent condition", 4),
        ("data-dependent condition", 2),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("void kernel(int a[2]) { kernel(a); }", "k.c:1: recursion (kernel) is not supported"),
        ("int g(int); int f(int x) { return g(x) + 1; } int g(int x) { return f(x) + 1; }"
         " void kernel(int a[2]) { a[0] = f(a[1]); }", "k.c:1: recursion (f) is not supported"),
        ("int f(int); void kernel(int a[2]) { a[0] = f(1); }", "k.c:1: a call of f, which has no"),
        ("union u { int i; float f; }; void kernel(union u a[2]) { a[0].i = 1; }",
         "k.c:1: a of type union u"),
        ("void kernel(int a[2]) { __asm__(\"\"); }", "k.c:1: "),
        ("void kernel(int n, int a[2]) { a[0] = n; }", "k.c:1: the size n, of which no caller"),
        ("void kernel(long double a[2]) { a[0] = 1; }", "k.c:1: a of type long double"),
        ("void kernel(double a[2]) { a[0] = __builtin_powi(a[1], 2); }", "k.c:1: a call of"),
        ("void kernel(int a[4]) {\n for (int i = 0; i <= 4; i++) a[i] = a[0] + 1; }",
         "k.c:2: subscript 4 of a, extent 4, in `a[i] = a[0] + 1` leaves the array"),
        ("void kernel(int a[4][4]) { for (int i = 0; i < 4; i++) a[i][i - 1] = a[0][0] * 2; }",
         "k.c:1: subscript -1 of a, extent 4 (dimension 2), in `a[i][i - 1] = a[0][0] * 2`"),
        ("void kernel(int *a, int b[4]) { for (int i = 0; i < 4; i++) a[i] = b[i] + 1; }",
         "k.c:1: no caller says how many elements a points to, and `a[i] = b[i] + 1` needs "
         "more than one; give it with --arg a=…"),
        ("void kernel(int a[4]) { int *p = &a[2]; p[2] = a[0] + 1; }",
         "k.c:1: element 4 of a, which has 4, in `p[2] = a[0] + 1`"),
        ("void kernel(int a[4]) { a[0] = a[1] / (a[2] - a[2]); }",
         "k.c:1: integer division by zero in `a[0] = a[1] / (a[2] - a[2])`"),
    ],
)  # fmt: skip
def test_refused_by_name_and_line(text: str, message: str) -> None:
    with pytest.raises(SourceError) as caught:
        run(text)
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)
    assert ";" in str(caught.value) or "`" in str(caught.value)


def test_a_struct_by_value_without_a_main() -> None:
    text = """
    struct p { int k; double w; int v[2]; };
    double kernel(const struct p q, double a[4]) {
        double s = 0;
        for (int i = 0; i < 4; i++) s += a[i] * q.w + q.v[i & 1];
        a[0] = s + q.k;
        return s;
    }
    """
    found = run(text, verify=True)
    assert differences(found) == []
    assert "double q.w" in found.network.made_up
    given = {"q.k": [3], "q.w": [0.5], "q.v": [1, 2], "a": [1.0, 2.0, 3.0, 4.0]}
    values = run(text, values=True, data={**given, "q.k": 3, "q.w": 0.5}).values
    assert values["a"].tolist() == [14.0, 2.0, 3.0, 4.0]


def chain(length: int, body: str) -> str:
    """Functions that each call the one before; the last one is an operator of the kernel."""
    lines = ["int f0(int x) { return x + 1; }"]
    lines += [f"int f{i}(int x) {{ {body.replace('g', f'f{i - 1}')} }}" for i in range(1, length)]
    kernel = f"void kernel(int a[4]) {{ for (int i = 0; i < 4; i++) a[i] = f{length - 1}(a[i]); }}"
    return "\n".join([*lines, kernel])


@pytest.mark.long
def test_calls_that_double_with_each_function() -> None:
    found = run(chain(10, "return g(x) + g(x + 1);"), verify=True)
    assert differences(found) == []
    with pytest.raises(SourceError, match=r"inlining f\d+ .call 32,769 inside an expression"):
        run(chain(40, "return g(x) + g(x + 1);"))


@pytest.mark.long
def test_calls_too_deep_in_each_other() -> None:
    assert differences(run(chain(300, "return g(x) + 1;"), verify=True)) == []
    with pytest.raises(SourceError, match="too deep in each other; split them"):
        run(chain(6000, "return g(x) + 1;"))
