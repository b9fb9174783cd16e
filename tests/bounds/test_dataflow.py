"""A change of how a program is written, but not of what it does, changes no figure."""

from __future__ import annotations

import pytest

from cyclescope.bounds import Bounds, differences, estimate


def run(text: str) -> Bounds:
    found = estimate("k.c", text=text, kernel="kernel", detail=True, verify=True)
    assert differences(found) == []
    assert found.detail is not None
    for one in found.estimates:
        assert sum(step.cycles for step in found.detail.critical_path[one.name]) == one.cycles
    return found


def figures(text: str) -> tuple[int, int, int]:
    found = run(text)
    return found.absolute.cycles, found.unbounded.cycles, found.firings


HEAD = "#define N 24\n"
SAME = {
    "a counter is one only in its loop": (
        """void kernel(int key[N], int next[N], int out[N]) { int i, j;
           for (i = 0; i < N; i++) for (j = 0; j < 2; j++) out[i] += key[(i + j) % N];
           j = 0; for (i = 0; i < N; i++) { j = (next[j] * 5 + key[j]) % N; out[i] = j; } }""",
        """void kernel(int key[N], int next[N], int out[N]) { int i, j, p;
           for (i = 0; i < N; i++) for (j = 0; j < 2; j++) out[i] += key[(i + j) % N];
           p = 0; for (i = 0; i < N; i++) { p = (next[p] * 5 + key[p]) % N; out[i] = p; } }""",
    ),
    "a sum in a head is a sum": (
        """void kernel(int a[N], int b[N], int out[1]) { int i, s;
           for (i = 0, s = 0; i < N; i++, s += a[i - 1] * b[i - 1]) ; out[0] = s; }""",
        """void kernel(int a[N], int b[N], int out[1]) { int i, s; s = 0;
           for (i = 0; i < N; i++) s += a[i] * b[i]; out[0] = s; }""",
    ),
    "a variable is used twice": (
        """void kernel(int a[N], int b[N]) { int k; for (k = 0; k < N; k++) b[k] = a[k] + 1;
           for (k = a[0]; k < N; k = b[k] * a[k] + k) a[k] = k;
           k = a[3] * a[4] / 3; b[0] = k; b[1] = k * k; }""",
        """void kernel(int a[N], int b[N]) { int k, z; for (k = 0; k < N; k++) b[k] = a[k] + 1;
           for (k = a[0]; k < N; k = b[k] * a[k] + k) a[k] = k;
           z = a[3] * a[4] / 3; b[0] = z; b[1] = z * z; }""",
    ),
    "outlined pointers meet": (
        """void f(double *o, double *p, double *q, double *r) { *o = 1.0 + *q; *p = *r * 2.0; }
           void kernel(double x[N], double y[N], double z[N]) {
           for (int i = 1; i < N; i++) f(&x[i], &y[i], &z[i], &x[i - 1]); }""",
        """void f(double *o, double *p, double q, double r) { *o = 1.0 + q; *p = r * 2.0; }
           void kernel(double x[N], double y[N], double z[N]) {
           for (int i = 1; i < N; i++) f(&x[i], &y[i], z[i], x[i - 1]); }""",
    ),
    "while and for": (
        "void kernel(int a[N]) { int i = 0; while (i < N) { a[i] = a[i] + 1; i++; } }",
        "void kernel(int a[N]) { int i; for (i = 0; i < N; i += 1) a[i] = a[i] + 1; }",
    ),
    "while and for, with another first value": (
        """void kernel(int a[N][N]) { for (int i = 0; i < N; i++) { int j = i + 1;
           do { if (j >= N) break; a[i][j] += a[j][i]; } while (++j); } }""",
        """void kernel(int a[N][N]) { for (int i = 0; i < N; i++)
           for (int j = i + 1; j < N; j++) a[i][j] += a[j][i]; }""",
    ),
    "a macro and what it stands for": (
        """#define MAC(acc, p, q) ((acc) + (p) * (q))
           void kernel(double x[N], double y[N]) {
           for (int i = 2; i < N; i++) x[i] = MAC(x[i - 1], x[i - 2], y[i]); }""",
        """void kernel(double x[N], double y[N]) {
           for (int i = 2; i < N; i++) { x[i] = x[i - 1] + x[i - 2] * y[i]; } }""",
    ),
    "global counters": (
        """int i; int b[N] = {1, 2, 3}; void f(int out[N]) { out[i] = b[i] + i; }
           void kernel(int out[N]) { for (i = 0; i < N; i++) f(out); }""",
        """int b[N] = {1, 2, 3}; void f(int out[N], int i) { out[i] = b[i] + i; }
           void kernel(int out[N]) { for (int i = 0; i < N; i++) f(out, i); }""",
    ),
    "a parameter counts": (
        """void down(int a[N], int n) { while (n > 0) { n--; a[n] += 3; } }
           void kernel(int a[N]) { down(a, N); }""",
        "void kernel(int a[N]) { for (int i = N - 1; i >= 0; i--) a[i] += 3; }",
    ),
    "moving pointers": (
        """void kernel(int a[N], int b[N]) { int *p = a, *q = b;
           for (int i = 0; i < N; i++) *q++ += *p++ * 3; }""",
        "void kernel(int a[N], int b[N]) { for (int i = 0; i < N; i++) b[i] += a[i] * 3; }",
    ),
    "fields through a moving pointer": (
        """struct p { int k; double w; };
           void kernel(struct p v[N]) { for (int t = 0; t < 3; t++) { struct p *q = v;
           for (int i = 0; i < N - 1; i++, q++) q->w = q[1].w + 1.5; } }""",
        """struct p { int k; double w; };
           void kernel(struct p v[N]) { for (int t = 0; t < 3; t++)
           for (int i = 0; i < N - 1; i++) v[i].w = v[i + 1].w + 1.5; }""",
    ),
    "a counter's step is a value": (
        """void kernel(int a[N], int b[N]) { int t = 0;
           for (int i = 0; i < N; i++) { b[i] = (t = t + 1) + 1; a[t % N] += b[i]; } }""",
        """void kernel(int a[N], int b[N]) { int t = 0;
           for (int i = 0; i < N; i++) { t++; b[i] = t + 1; a[t % N] += b[i]; } }""",
    ),
    "a call that does nothing": (
        """void none(int v) { int w = v * 3; }
           void kernel(int a[N]) { for (int i = 0; i < N; i++) { none(a[i]); a[i] += 2; } }""",
        "void kernel(int a[N]) { for (int i = 0; i < N; i++) a[i] += 2; }",
    ),
    "assignments inside": (
        """void kernel(int a[N], int b[N]) {
           for (int i = 0; i < N; i++) a[i] += (b[i] = a[i] * 3); }""",
        """void kernel(int a[N], int b[N]) { for (int i = 0; i < N; i++) {
           b[i] = a[i] * 3; a[i] += b[i]; } }""",
    ),
    "switch": (
        """void kernel(int a[N], int b[N]) { for (int i = 0; i < N; i++) switch (i % 3) {
           case 0: a[i] += b[i]; case 1: a[i] *= 2; break; default: a[i] = b[i]; } }""",
        """void kernel(int a[N], int b[N]) { for (int i = 0; i < N; i++) {
           if (i % 3 == 0) a[i] += b[i]; if (i % 3 < 2) a[i] *= 2; else a[i] = b[i]; } }""",
    ),
    "goto": (
        """void kernel(int a[N], int b[N]) { for (int i = 0; i < N; i++) {
           if (a[i] < 3) goto small; a[i] *= b[i]; goto next; small: a[i] += b[i]; next: ; } }""",
        """void kernel(int a[N], int b[N]) { for (int i = 0; i < N; i++) {
           if (a[i] < 3) a[i] += b[i]; else a[i] *= b[i]; } }""",
    ),
    "structs that are returned": (
        """struct p { double x, y; };
           struct p turned(struct p a) { struct p r; for (int i = 0; i < 1; i++) {
               r.x = a.y * 2.0; r.y = a.x + 1.0; } return r; }
           void kernel(struct p v[N]) { for (int i = 0; i < N; i++) v[i] = turned(v[i]); }""",
        """struct p { double x, y; };
           void turned(struct p *to, struct p *a) { for (int i = 0; i < 1; i++) {
               struct p r; r.x = a->y * 2.0; r.y = a->x + 1.0; *to = r; } }
           void kernel(struct p v[N]) { for (int i = 0; i < N; i++) {
               struct p r; turned(&r, &v[i]); v[i] = r; } }""",
    ),
}  # fmt: skip


@pytest.mark.long(keep_one_in=10)
@pytest.mark.parametrize("name", SAME)
def test_two_ways_to_write_it(name: str) -> None:
    one, other = SAME[name]
    assert figures(HEAD + one) == figures(HEAD + other)


def test_local_arrays_begin_anew() -> None:
    text = """
    int hist(int a[8], int v) {
        int h[5000] = {0}, s = 0;
        for (int i = 0; i < 8; i++) h[(a[i] * 7 + v) % 5000] += 1;
        for (int i = 0; i < 5000; i++) s += h[i] * i;
        return s;
    }
    void kernel(int a[8], int out[3]) { for (int t = 0; t < 3; t++) out[t] = hist(a, t); }
    """
    run(text)


def test_the_address_of_a_pointer() -> None:
    run("""
    void kernel(int a[8], int b[8]) {
        int *p = a, **q = &p;
        for (int i = 0; i < 8; i++) { **q += b[i]; *q = b + 1; }
    }
    """)


def test_the_kernels_own_result_is_a_process() -> None:
    found = run("int kernel(int a[8], int b[8]) { return a[0] * b[1] / 3; }")
    # Behind the sources read, base 1, a multiplication of 6, a division of 35, write.
    assert found.unbounded.cycles == 3 + 1 + (1 + 6 + 35) + 1
    assert found.firings == 1


STEPPED = {
    "for": "for (int i = 0; i < 16; i++) { if (a[i] > 4) continue; b[i] = a[i] + i; }",
    "before continue": "int i = 0; while (i < 16) { if (a[i] > 4) { i++; continue; }"
    " b[i] = a[i] + i; i++; }",
    "in both branches": "int i = 0; while (i < 16) { if (a[i] > 4) i += 1;"
    " else { b[i] = a[i] + i; i = 1 + i; } }",
    "in sections": "int i = 0; do { switch (a[i] > 4) { case 1: ++i; continue;"
    " default: b[i] = a[i] + i; } i++; } while (i < 16);",
    "behind a label": "int i = 0; while (i < 16) { if (a[i] > 4) goto skip; b[i] = a[i] + i;"
    " skip: i++; }",
    "leaving early": "int i = 0; for (;;) { if (i == 16) goto out; if (a[i] > 4) { i++; goto on; }"
    " b[i] = a[i] + i; i++; on:; } out:;",
}


@pytest.mark.parametrize("form", STEPPED)
def test_a_counter_is_stepped_by_the_same_on_every_way(form: str) -> None:
    def cycles(body: str) -> tuple[int, int, int]:
        text = f"void kernel(int a[16], int b[16]) {{ {body} }}"
        found = estimate("k.c", text=text, kernel="kernel", data={"a": [3, 5, 4, 9] * 4})
        return found.absolute.cycles, found.unbounded.cycles, found.firings

    assert cycles(STEPPED[form]) == cycles(STEPPED["for"])


@pytest.mark.parametrize(
    "body",
    [
        "while (i < 16) { if (a[i] > 4) { i += 2; continue; } b[i] = a[i] + i; i++; }",
        "while (i < 15) { if (a[i] > 4) i++; b[i] = a[i] + i; i++; }",
        "while (i < 16) { again: b[i] = a[i] + i; i++; if (i == 3) goto again; }",
        "while (i < 16) { switch (a[i]) { case 3: i++; case 4: i++; } b[i & 15] = 1 + i; i++; }",
    ],
)
def test_a_counter_that_some_ways_step_otherwise_is_a_variable(body: str) -> None:
    text = f"void kernel(int a[16], int b[16]) {{ int i = 0; {body} }}"
    found = estimate("k.c", text=text, kernel="kernel", data={"a": [3, 5, 4, 9] * 4})
    assert any(process.targets == ["i"] for process in found.network.processes)


def test_a_parameter_that_nobody_reads_needs_no_value() -> None:
    text = "void kernel(int a[4], int n, float f) { for (int i = 0; i < 4; i++) a[i] += i; }"
    found = estimate("k.c", text=text, kernel="kernel", verify=True)
    assert differences(found) == []
    assert found.network.made_up == ["int a[4]"]
