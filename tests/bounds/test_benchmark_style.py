"""Kernels in the style of the PolyBench suite go in as they are: headers, macros, a main."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from cyclescope.bounds import differences, estimate

if TYPE_CHECKING:
    from pathlib import Path

HEADER = """
#ifndef SUITE_H
#define SUITE_H
#include <stdlib.h>
#ifdef USE_CONSTANT_BOUNDS
# define LOOP_BOUND(constant, variable) constant
#else
# define LOOP_BOUND(constant, variable) variable
#endif
#define PADDING 0
#define TWO(var, a, b) var[a + PADDING][b + PADDING]
#define ONE(var, a) var[a + PADDING]
#define DECLARE_TWO(var, type, a, b) type(*var)[a + PADDING][b + PADDING]; \\
    var = (type(*)[a + PADDING][b + PADDING])suite_alloc((a) * (b), sizeof(type));
#define DECLARE_ONE(var, type, a) type(*var)[a + PADDING]; \\
    var = (type(*)[a + PADDING])suite_alloc(a, sizeof(type));
#define ARRAY(var) *var
extern void *suite_alloc(unsigned long long elements, int size);
#endif
"""
SIZES = """
#if !defined(MINI) && !defined(SMALL)
# define SMALL
#endif
#ifdef MINI
# define NX 6
# define NY 5
#endif
#ifdef SMALL
# define NX 12
# define NY 10
#endif
#define _B_NX LOOP_BOUND(NX, nx)
#define _B_NY LOOP_BOUND(NY, ny)
#ifndef TYPE
# define TYPE double
# define FORMAT "%0.2lf "
#endif
"""
SOURCE = """
#include <stdio.h>
#include <unistd.h>
#include <string.h>
#include <math.h>
#include <suite.h>
#include "sizes.h"

static void init_array(int nx, int ny, TYPE TWO(A, NX, NY), TYPE ONE(x, NY))
{
    for (int i = 0; i < ny; i++) x[i] = i * M_PI;
    for (int i = 0; i < nx; i++)
        for (int j = 0; j < ny; j++) A[i][j] = ((TYPE)i * (j + 1)) / nx;
}

static void print_array(int nx, TYPE ONE(y, NX))
{
    for (int i = 0; i < nx; i++) fprintf(stderr, FORMAT, y[i]);
}

static void kernel_mv(int nx, int ny, TYPE TWO(A, NX, NY), TYPE ONE(x, NY), TYPE ONE(y, NX))
{
    int i, j;
#pragma scop
    for (i = 0; i < _B_NX; i++) {
        y[i] = 0;
        for (j = 0; j < _B_NY; j++)
            y[i] = y[i] + A[i][j] * x[j];
    }
#pragma endscop
}

int main(int argc, char **argv)
{
    int nx = NX;
    int ny = NY;
    DECLARE_TWO(A, TYPE, NX, NY);
    DECLARE_ONE(x, TYPE, NY);
    DECLARE_ONE(y, TYPE, NX);
    init_array(nx, ny, ARRAY(A), ARRAY(x));
    kernel_mv(nx, ny, ARRAY(A), ARRAY(x), ARRAY(y));
    if (argc > 42 && !strcmp(argv[0], "")) print_array(nx, ARRAY(y));
    free((void *)A);
    return 0;
}
"""
ALLOCATES = """
#include <stdlib.h>
#include <suite.h>
void *suite_alloc(unsigned long long elements, int size) { return malloc(elements * size); }
"""
OWN = """
void kernel(double A[NX][NY], double x[NY], double y[NX]) {
    for (int i = 0; i < NX; i++) {
        y[i] = 0;
        for (int j = 0; j < NY; j++) y[i] += A[i][j] * x[j];
    }
}
"""


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    (tmp_path / "utilities").mkdir()
    (tmp_path / "utilities" / "suite.h").write_text(HEADER)
    (tmp_path / "utilities" / "suite.c").write_text(ALLOCATES)
    (tmp_path / "sizes.h").write_text(SIZES)
    (tmp_path / "mv.c").write_text(SOURCE)
    return tmp_path


@pytest.mark.long(keep_one_in=3)
@pytest.mark.parametrize(
    ("defines", "sizes"),
    [
        ({"MINI": "1"}, {"NX": "6", "NY": "5"}),
        ({}, {"NX": "12", "NY": "10"}),
        ({"USE_CONSTANT_BOUNDS": "1"}, {"NX": "12", "NY": "10"}),
    ],
)
def test_the_same_as_the_plain_kernel(
    suite: Path, defines: dict[str, str], sizes: dict[str, str]
) -> None:
    include = [suite / "utilities"]
    files = [suite / "mv.c", suite / "utilities" / "suite.c"]
    given = estimate(files, kernel="kernel_mv", defines=defines, include=include, verify=True)
    own = estimate("own.c", text=OWN, defines=sizes)
    for a, b in zip(given.estimates, own.estimates, strict=True):
        assert (a.cycles, a.parallelism.tolist()) == (b.cycles, b.parallelism.tolist())
    assert given.records.call == len(given.records.calls) == 1
    assert given.network.made_up == []
    assert differences(given) == []


def test_other_types_by_definition(suite: Path) -> None:
    include = [suite / "utilities"]
    defines = {"MINI": "1", "TYPE": "int", "FORMAT": '"%d"'}
    found = estimate(suite / "mv.c", kernel="kernel_mv", defines=defines, include=include)
    # Without the file that allocates, there is no program to run.
    assert found.network.made_up[0] == "main isn't run: nothing here defines suite_alloc"
    # An int multiply-add is 8 deep: five in a chain.
    assert found.unbounded.cycles == 3 + 5 * 10 + 3
