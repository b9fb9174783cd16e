"""Rewrites of C kernels: what they change, that results stay, and where they must be silent."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from cyclescope._edits import apply_edits
from cyclescope._rewrites import Claim
from cyclescope.hls.rewrites import REWRITERS, candidates_of, read_kernel
from hls.kernels import native
from hls.rewritten import rewritten

if TYPE_CHECKING:
    from pathlib import Path

    from cyclescope._rewrites import Candidate

_TOP = """#include <stdio.h>
#include <omp.h>
#define N 24
#define M 19
#define AT(x, i, j) x[(i) * N + (j)]
float a[N * N], b[N * N], out[N * N], v[N];
int key[N * N], bins[8], rows[N];
"""
_END = """
int main(void) {
    for (int i = 0; i < N * N; i++) {
        a[i] = i * 29 % 31 - 9;
        b[i] = i * 17 % 23 - 7;
        key[i] = i * 13 % 8;
    }
    for (int i = 0; i < N; i++)
        v[i] = i * 5 % 7;
    kernel(a, b, out, N);
    for (int i = 0; i < N * N; i++)
        printf("%a ", out[i]);
    for (int i = 0; i < N; i++)
        printf("%a %d ", v[i], rows[i]);
    for (int i = 0; i < 8; i++)
        printf("%d ", bins[i]);
    return 0;
}
"""
_MAPS = "map(to: a, b, key) map(tofrom: out, v, bins, rows)"


def program(
    body: str, *, threads: int = 3, params: str = "float *p, float *q, float *r, int n"
) -> str:
    """A program with a region around some statements."""
    return (
        f"{_TOP}void kernel({params}) {{\n    #pragma omp target parallel {_MAPS}"
        " num_threads(3)\n    {\n"
        "        int me = omp_get_thread_num(), all = omp_get_num_threads();\n"
        f"{body}    }}\n}}\n{_END}"
    )


def found(text: str, name: str, *, reassociate: bool = False) -> list[Candidate]:
    """The candidates of a rewrite."""
    kernel = read_kernel("k.c", text.encode())
    assert kernel is not None
    every = candidates_of(kernel, reassociate=reassociate)
    return [c for c in every if c.rewrite == name]


def changed(text: str, candidate: Candidate) -> str:
    return apply_edits(text.encode(), candidate.edits).decode()


def check(text: str, name: str, folder: Path, *, reassociate: bool = False) -> list[str]:
    """The texts after a rewrite, each with the original's output."""
    candidates = found(text, name, reassociate=reassociate)
    assert candidates
    expected = native(text.encode(), folder)
    assert expected[0] == 0
    texts = [changed(text, c) for c in candidates[:2]]
    for new in texts:
        assert native(new.encode(), folder) == expected, new
    return texts


ROWS = """        #pragma omp for
        for (int i = 0; i < N; i++) {
            float s = 0;  // a row's sum
            for (int j = 0; j < N; j++)
                s += a[i * N + j] * v[j];
            out[i] = s;
        }
"""
ROWS_IN_TURN = """        for (int row = me; row < n; row += all) {
            float sum = b[row];
            for (int col = 0; n > col; col += 1) {
                int here = row * n + col;
                sum = sum * 2 - a[here];
            }
            out[row] = sum;
        }
"""
COLUMNS = """        #pragma omp for
        for (int j = 0; j < N; ++j) {
            float s = 1;
            for (int i = 0; i < M; ++i)
                s = s + AT(a, i, j) * v[i];
            out[j] = s;  /* one of y */
        }
"""
PRODUCT = """        for (int i = me; i < M; i += all)
            for (int j = 0; j <= N - 1; j++) {
                float s = 0;
                for (int k = 0; k < N; k++)
                    s += AT(a, i, k) * AT(b, k, j);
                AT(out, i, j) = s * 2;
            }
"""
COUNTS = """        #pragma omp for
        for (int i = 0; i < N * N; i++) {
            #pragma omp critical
            bins[key[i]] += 1;
        }
"""
PAIRS = """        #pragma omp for schedule(dynamic, 2)
        for (int i = 0; i < N; i++)
            #pragma omp critical (both)
            {
                rows[key[i]] -= i;
                for (int j = 0; j < 3; j++) bins[j]++;
            }
"""
PARTS = """        for (int i = 1; i < N; i++) {
            int part = 0;
            for (int j = me; j < M; j += all)
                part += key[i * N + j] * j;
            #pragma omp critical
            rows[i] += part;
        }
"""
PARTS_SHARED = """        for (int r = 0; r < N; r += 2) {
            int part = 0;
            #pragma omp for
            for (int j = 0; j < M; j++)
                part += key[r * N + j];
            #pragma omp atomic
            rows[r] += part;
        }
"""
STENCIL = """        #pragma omp for
        for (int i = 1; i < N * M - 1; i++)
            out[i] = a[i - 1] + 2 * a[i] + a[i + 1];
"""
COPIED = """        for (int i = me; i < N; i += all) {
            float line[N];
            for (int j = 0; j < N; j++) line[j] = a[i * N + j];
            // all of it is here
            float s = i;
            for (int j = 0; j < N; j++) s = s / 2 + line[j];
            out[i] = s;
        }
"""
COPIED_TWICE = """        #pragma omp for
        for (int i = 0; i < N; i++) {
            float s = 0;
            for (int j = 0; j < 4; j++) {
                float left[4], right[2][4];
                for (int k = 0; k < 4; k++) left[k] = AT(a, i, j * 4 + k);
                for (int m = 0; m < 2; m++)
                    for (int k = 0; k < 4; k++) right[m][k] = b[(j + m) * N + k];
                for (int k = 0; k < 4; k++) s = left[k] * right[j % 2][k] - s;
            }
            out[i] = s;
        }
"""
# A loop that needs what its own earlier iterations computed.
CHAIN = """        #pragma omp for
        for (int i = 0; i < N; i++)
            for (int j = 1; j < N; j++)
                out[i * N + j] = out[i * N + j - 1] + a[i * N + j];
"""
# Rows of a matrix whose length nobody knows.
UNKNOWN = """        int cols = key[3] + 16;
        #pragma omp for
        for (int i = 0; i < 8; i++) {
            float s = 0;
            for (int j = 0; j < cols; j++) s += a[i * cols + j];
            out[i] = s;
        }
"""
# Where a thread's part of the second loop relies on its part of the first.
RELYING = """        #pragma omp for schedule(static) nowait
        for (int i = 0; i < N; i++) out[i] = a[i] * 2;
        #pragma omp for schedule(static)
        for (int i = 0; i < N; i++) v[i] = out[i] + 1;
"""
# A sum that is also asked for.
ASKED = """        #pragma omp for
        for (int i = 0; i < N; i++) {
            #pragma omp critical
            { bins[1] += key[i]; rows[i] = bins[1] > 0; }
        }
"""
FLOAT_SUM = """        #pragma omp for
        for (int i = 0; i < N; i++) {
            #pragma omp critical
            v[key[i]] += 1;
        }
"""
FLOAT_PARTS = """        for (int i = 0; i < N; i++) {
            float part = 0;
            for (int j = me; j < N; j += all) part += AT(a, i, j);
            #pragma omp critical
            out[i] += part;
        }
"""
# All add to the same elements.
SAME_ROWS = """        for (int i = 0; i < N; i++) {
            int part = 0;
            for (int j = me; j < M; j += all) part += key[i * N + j];
            #pragma omp critical
            rows[i / 2] += part;
        }
"""
# The region writes what it reads.
WRITTEN = """        #pragma omp for
        for (int i = 0; i < N; i++) {
            float s = 0;
            for (int j = 0; j < N; j++) s += v[j];
            out[i] = s;
        }
        #pragma omp for
        for (int i = 0; i < N; i++) v[i] = out[i];
"""
GUARDED = """        #pragma omp for
        for (int i = 0; i < N; i++) {
            float s = 0;
            for (int j = 0; j < N; j++)
                if (key[j] > 3) s += a[i * 2 + j];
            out[i] = s;
        }
"""

EXACT = [
    ("vector-lanes", COLUMNS, 1),
    ("vector-lanes", PRODUCT, 1),
    ("vector-loads", ROWS, 1),
    ("vector-loads", ROWS_IN_TURN, 1),
    ("local-copy", ROWS, 3),
    ("local-copy", PRODUCT, 3),
    ("blocking", STENCIL, 2),
    ("blocking", ROWS, 2),
    ("private-sums", COUNTS, 1),
    ("private-sums", PAIRS, 1),
    ("outer-sharing", PARTS, 1),
    ("outer-sharing", PARTS_SHARED, 1),
    ("double-buffering", COPIED, 1),
    ("double-buffering", COPIED_TWICE, 1),
    ("team-size", ROWS, 4),
    ("team-size", ROWS_IN_TURN, 4),
    ("schedule", STENCIL, 3),
    ("schedule", ROWS, 3),
]

SILENT = [
    ("vector-lanes", CHAIN),
    ("vector-lanes", ROWS),  # rows are not side by side
    ("vector-lanes", STENCIL),  # an address is no multiple of the vector's size
    ("vector-lanes", RELYING),
    ("vector-loads", UNKNOWN),
    ("vector-loads", GUARDED),  # perhaps the array ends before
    ("local-copy", UNKNOWN),
    ("local-copy", GUARDED.replace("key[j] > 3", "key[j] > i")),
    ("blocking", STENCIL.replace("out[i]", "out[key[i]]")),
    ("blocking", RELYING),
    ("private-sums", ASKED),
    ("private-sums", FLOAT_SUM),
    ("outer-sharing", SAME_ROWS),
    ("outer-sharing", FLOAT_PARTS),
    ("double-buffering", COPIED.replace("i += all) {", "i += all) { if (i == 5) continue;")),
    ("double-buffering", COPIED.replace("s / 2 + line[j]", "line[j] += s")),
    ("schedule", CHAIN.replace("i * N + j - 1", "j")),
    ("schedule", RELYING),
]


@pytest.mark.long(keep_one_in=5)
@pytest.mark.parametrize(("name", "body", "count"), EXACT)
def test_results_stay(name: str, body: str, count: int, tmp_path: Path) -> None:
    text = program(body)
    candidates = found(text, name)
    assert len(candidates) >= count
    assert {c.claim for c in candidates} == {Claim.CONSTRUCTION}
    check(text, name, tmp_path)


@pytest.mark.parametrize(("name", "body"), SILENT)
def test_silent_where_it_cannot_be_proven(name: str, body: str) -> None:
    if name in ("vector-loads", "local-copy"):
        arrays = {c.place.rsplit(", ", 1)[-1].split(" ")[0] for c in found(program(body), name)}
        assert "a" not in arrays
    else:
        assert found(program(body), name) == []


def test_written_arrays_are_not_copied() -> None:
    assert not any(", v" in c.place for c in found(program(WRITTEN), "local-copy"))


@pytest.mark.parametrize(
    ("name", "body"), [("private-sums", FLOAT_SUM), ("outer-sharing", FLOAT_PARTS)]
)
def test_sums_of_floating_point_on_request(name: str, body: str, tmp_path: Path) -> None:
    text = program(body)
    assert found(text, name) == []
    assert {c.claim for c in found(text, name, reassociate=True)} == {Claim.ROUNDING}
    check(text, name, tmp_path, reassociate=True)  # of whole numbers, which are exact


def test_one_loop_around_a_shared_one_is_shared_out_instead(tmp_path: Path) -> None:
    body = """        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) {
                float part = 0;
                for (int k = me; k < M; k += all) part += AT(a, i, k) * AT(b, k, j);
                #pragma omp critical
                AT(out, i, j) += part;
            }
"""
    assert len(found(program(body), "outer-sharing", reassociate=True)) == 1
    check(program(body), "outer-sharing", tmp_path, reassociate=True)


def test_a_team_that_threads_depend_on_is_checked_only() -> None:
    (claim,) = {c.claim for c in found(program("        out[me] = all;\n"), "team-size")}
    assert claim is Claim.DATA


def test_comments_and_macros_stay() -> None:
    text = program(COLUMNS)
    (one, *_) = found(text, "vector-lanes")
    new = changed(text, one)
    assert "s = s + *(float_x4 *)&a[i * 24 + j] * v[i];" in new
    assert "*(float_x4 *)&out[j] = s;  /* one of y */" in new
    assert "float_x4 s = {1, 1, 1, 1};" in new
    rows = program(ROWS)
    assert "// a row's sum" in changed(rows, found(rows, "vector-loads")[0])
    assert "// all of it is here" in changed(
        program(COPIED), found(program(COPIED), "double-buffering")[0]
    )


def test_other_names_change_nothing() -> None:
    for name, body, _ in EXACT:
        other = body.replace("part", "share_of_it").replace("int i ", "int index_of_i ")
        if other.count("index_of_i") == 0:
            assert len(found(program(other), name)) == len(found(program(body), name))


def test_what_a_parameter_is_at_every_call_is_known() -> None:
    body = ROWS_IN_TURN
    assert found(program(body), "vector-loads")
    (one, *_) = found(program(body), "vector-loads")
    assert "n is 24 at every call" in one.reason
    twice = program(body).replace(
        "kernel(a, b, out, N);", "kernel(a, b, out, N); kernel(a, b, out, 7);"
    )
    assert not found(twice, "vector-loads")


def test_addresses_that_are_not_known_are_not_aligned() -> None:
    body = COLUMNS.replace("AT(a, i, j)", "p[i * N + j]").replace("out[j]", "r[j]")
    maps = (
        _MAPS.replace("a, b", "p[0:N*N], key").replace("key, key", "key").replace("out", "r[0:N]")
    )
    text = program(body).replace(_MAPS, maps)
    assert found(text, "vector-lanes")
    assert not found(
        text.replace("kernel(a, b, out, N)", "kernel(a + 1, b, out, N)"), "vector-lanes"
    )


def test_each_has_a_name_and_a_sentence() -> None:
    names = [one.rewrite.name for one in REWRITERS]
    assert len(set(names)) == len(names) == 9
    assert all(one.rewrite.sentence for one in REWRITERS)
    assert {name for name, *_ in EXACT} == set(names)


@pytest.mark.parametrize("seed", range(3))
def test_random_kernels(seed: int, tmp_path: Path) -> None:
    """`benches/random_rewrites.py` takes more of them."""
    steps, fault = rewritten(seed, random.Random(seed), tmp_path)
    assert not fault
    assert steps
