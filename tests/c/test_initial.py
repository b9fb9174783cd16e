"""Initialiser lists say for each element and field what C gives it (C11, 6.7.9)."""

from __future__ import annotations

import pytest

from cyclescope.c import Array, Cast, Expr, InitList, Literal, Opaque, Struct, read_c

HEAD = """\
struct in { float z[2]; short k; };
struct pt { int a; float b; struct in c; };
typedef float v4 __attribute__((vector_size(16)));
struct lanes { v4 v; int n; };
"""


def plain(expr: Expr | None) -> object:
    match expr:
        case InitList(values=values):
            return list(map(plain, values))
        case Cast(operand=operand):
            return plain(operand)
        case Literal(value=value):
            return value
        case Opaque(construct=construct):
            return construct
    return type(expr).__name__


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("int x[6] = {[2] = 5, 6, [0] = 1};", [1, 0, 5, 6]),
        ("int x[] = {[0 ... 3] = 7, 8};", [7, 7, 7, 7, 8]),
        ("int x[2][3] = {1, 2, 3, 4};", [[1, 2, 3], [4]]),
        ("int x[2][3] = {{1}, {[1] = 4}};", [[1], [0, 4]]),
        ("int x[2][2][2] = {[1] = {{1}, 2, 3}, [0][1][1] = 9, 8};", [[[], [0, 9]], [[8], [2, 3]]]),
        ("struct pt x = {1, 2, 3, 4, 5};", [1, 2, [[3, 4], 5]]),
        ("struct pt x = {.c.k = 9, .b = 7};", [0, 7, [[], 9]]),
        ("struct pt x = {.c = {{1}, 2}, .c.z[1] = 4};", [0, 0, [[1, 4], 2]]),
        ("struct pt x[2] = {1, 2, {{3}}, {.a = 4}};", [[1, 2, [[3]]], [4]]),
        ("struct pt x[3] = {[2].a = 4, 5, [0].c.z[1] = 6, 7};", [[0, 0, [[0, 6], 7]], [], [4, 5]]),
        ("struct lanes x[2] = {(v4){1, 2, 3, 4}, 5, {.n = 3}};", [[[1, 2, 3, 4], 5], [[], 3]]),
        ("struct lanes x[2] = {1, 2, 3, 4, 5, 6};", [[[1, 2, 3, 4], 5], [[6]]]),
        ("struct pt x = {};", []),
        ('char x[6] = "a\\n\\x80" "b";', [97, 10, -128, 98]),
        ('unsigned char x[2][3] = {"abc", [1] = {"d"}};', [[97, 98, 99], [100]]),
        ('char x[] = "";', []),
        ("int x = {3};", [3]),
    ],
)
def test_a_list_has_its_type_s_form(text: str, values: object) -> None:
    (variable,) = read_c("k.c", text=HEAD + text).variables.values()
    assert plain(variable.init) == values


def test_the_types_are_those_of_the_elements() -> None:
    unit = read_c("k.c", text=HEAD + "struct pt x[2] = {1, 2, 3};")
    init = unit.variables["x"].init
    assert isinstance(init, InitList)
    assert isinstance(init.type, Array)
    (first,) = init.values
    assert isinstance(first, InitList)
    assert first.type == unit.structs["pt"]
    inner = first.values[2]
    assert isinstance(inner, InitList)
    assert isinstance(inner.type, Struct)


def test_what_is_not_understood_is_opaque() -> None:
    unit = read_c("k.c", text="union u { int n; float f; }; union u x = {.f = 2};")
    assert isinstance(unit.variables["x"].init, InitList | Opaque)
