"""The C front end: types, trees, pragmas, ranges, errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from cyclescope.c import (
    Array,
    Assign,
    Binary,
    Block,
    Call,
    Cast,
    Conditional,
    Construct,
    Declare,
    DoWhile,
    Evaluate,
    Expr,
    For,
    If,
    Index,
    Literal,
    Member,
    Name,
    Opaque,
    OpaqueStmt,
    Pointer,
    Scalar,
    Stmt,
    Struct,
    Switch,
    Unary,
    Unit,
    Unknown,
    Vector,
    While,
    read_c,
    walk,
)
from cyclescope.errors import SourceError

if TYPE_CHECKING:
    from pathlib import Path

INT = Scalar("int", 32)
DOUBLE = Scalar("float", 64)


def unit(text: str, **options: object) -> Unit:
    return read_c("k.c", text=text, **options)  # type: ignore[arg-type]


def body(text: str) -> tuple[Stmt, ...]:
    function = unit(f"void k(int n, double a[8], double x) {{ {text} }}").functions["k"]
    assert function.body is not None
    return function.body.body


def expression(text: str) -> Expr:
    (statement,) = body(f"x = {text};")
    assert isinstance(statement, Evaluate)
    assert isinstance(statement.value, Assign)
    return statement.value.value


def shown(node: Expr) -> str:
    """An expression with every operator in parentheses and every conversion visible."""
    match node:
        case Literal(value=value):
            return repr(value)
        case Name(variable=variable):
            return variable.name
        case Index(base=base, index=index):
            return f"{shown(base)}[{shown(index)}]"
        case Unary(op=op, operand=operand):
            return f"({op} {shown(operand)})"
        case Binary(op=op, left=left, right=right):
            return f"({shown(left)} {op} {shown(right)})"
        case Cast(type=kind, operand=operand):
            return f"<{kind}>{shown(operand)}"
        case Conditional(condition=a, then=b, other=c):
            return f"({shown(a)} ? {shown(b)} : {shown(c)})"
        case Call(function=name, args=args):
            return f"{name}({', '.join(map(shown, args))})"
    return type(node).__name__


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("a[0] + a[1] * x", "(a[0] + (a[1] * x))"),
        ("(a[0] + a[1]) * x", "((a[0] + a[1]) * x)"),
        ("a[n - 1] - -x", "(a[(n - 1)] - (- x))"),
        ("n / 2", "<double>(n / 2)"),
        ("n / 2.0f", "<double>(<float>n / 2.0)"),
        ("n > 3 && x < 1 ? x : 7", "(((n > 3) && (x < <double>1)) ? x : <double>7)"),
        ("~n << 2", "<double>((~ n) << 2)"),
        ("sizeof(double) + 'a'", "<double>(8 + <unsigned long>97)"),
        ("n++ - --n", "<double>((post++ n) - (pre-- n))"),
        ("*(a + n)", "(* (a + n))"),
        ("2[a]", "a[2]"),
        ("(float)x", "<double><float>x"),
    ],
)
def test_expressions(text: str, tree: str) -> None:
    assert shown(expression(text)) == tree


def test_macros_give_values() -> None:
    text = "#define N 16\n#define HALF (N / 2)\nvoid k(double a[N]) { a[HALF] = N * 1.5; }"
    function = unit(text).functions["k"]
    assert function.params[0].type == Array(DOUBLE, 16)
    (statement,) = function.body.body  # type: ignore[union-attr]
    assert isinstance(statement, Evaluate)
    assert shown(statement.value.value) == "(<double>16 * 1.5)"  # type: ignore[union-attr]


def test_defines_and_includes(tmp_path: Path) -> None:
    (tmp_path / "size.h").write_text("#define N (M + 1)\ntypedef float real;\n")
    found = unit(
        "#include <size.h>\n#include <stdio.h>\n#include <math.h>\nvoid k(real a[N]) { a[0] = 0; }",
        defines={"M": "4"},
        include=[tmp_path],
    )
    assert found.functions["k"].params[0].type == Array(Scalar("float", 32), 5)
    assert "printf" not in found.functions
    assert str(tmp_path / "size.h") in found.sources


@pytest.mark.parametrize(
    ("declaration", "kind"),
    [
        ("unsigned short v", Scalar("uint", 16)),
        ("long long v", Scalar("int", 64)),
        ("_Bool v", Scalar("bool", 8)),
        ("char v", Scalar("int", 8)),
        ("float (*v)[4]", Pointer(Array(Scalar("float", 32), 4))),
        ("double v[2][3]", Array(Array(DOUBLE, 3), 2)),
        ("struct z { double re, im; } v[2]",
         Array(Struct("z", (("re", DOUBLE), ("im", DOUBLE))), 2)),
        ("float v __attribute__((vector_size(16)))", Vector(Scalar("float", 32), 4)),
        ("enum e { A, B } v", Scalar("uint", 32)),
    ],
)  # fmt: skip
def test_types(declaration: str, kind: object) -> None:
    assert unit(f"{declaration};").variables["v"].type == kind


@pytest.mark.parametrize(
    ("declared", "wanted"),
    [
        ("float (*a)[n]", ["n"]),
        ("float (*a)[4][m]", ["4", "m"]),  # to clang, both are
        ("float a[n][m + 1][4]", ["n", "m + 1"]),
        ("float a[][n]", ["n"]),
        ("row *a[n]", ["n"]),
        ("float *a", []),
        ("float a[4][n * sizeof(int[3])]", ["4", "n * sizeof(int[3])"]),
    ],
)
def test_the_extents_of_a_declarator_are_those_that_are_open(
    declared: str, wanted: list[str]
) -> None:
    unit = read_c("k.c", text=f"typedef int row[3];\nvoid k(int n, int m, {declared}) {{}}")
    found = unit.functions["k"].params[-1].extents
    assert [unit.text(e.where) for e in found] == wanted


def test_a_pointer_with_an_initial_value_has_extents_too() -> None:
    unit = read_c("k.c", text="void k(int n) { double (*a)[n] = (double (*)[n])0; a = 0; }")
    body = unit.functions["k"].body
    assert body is not None
    (declared, _) = body.body
    assert isinstance(declared, Declare)
    assert [unit.text(e.where) for e in declared.variables[0].extents] == ["n"]


def test_the_host_may_use_what_c_has() -> None:
    heads = "assert ctype errno float inttypes limits math stdarg stddef stdint stdio stdlib"
    heads += " string time unistd omp sys/time sys/types sys/resource"
    text = "".join(f"#include <{h}.h>\n" for h in heads.split())
    text += """
static int order(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
int main(int argc, char **argv) {
  char line[80]; struct timeval now; gettimeofday(&now, 0); errno = 0;
  FILE *file = argc > 1 ? fopen(argv[1], "rb") : tmpfile();
  while (fgets(line, sizeof line, file)) { long x = strtol(line, 0, 10); printf("%" PRIu32, x); }
  int v[3] = {isnan(1.0), (int)strtod("2", 0), toupper('c')};
  qsort(v, 3, sizeof *v, order);
  fseek(file, 0, SEEK_END); rewind(file);
  return ferror(file) || SIZE_MAX == INT64_MAX || omp_get_num_teams() < LLONG_MIN;
}
"""
    assert list(read_c("k.c", text=text).functions) == ["order", "main"]


PACKED = "struct s (bit-fields, or packed)"


@pytest.mark.parametrize(
    ("declared", "name"),
    [
        ("__int128 x", "__int128"),
        ("_Complex float x", "_Complex float"),
        ("struct s { int b : 3; } x", PACKED),
        (
            "struct __attribute__((packed)) s { char c; int b; } x",
            "struct s (bit-fields, or packed)",
        ),
        ("struct s { char c; _Alignas(16) int b; } x", PACKED),
        ("union u { int i; float f; } x", "union u"),
    ],
)
def test_types_outside_the_tree_have_names(declared: str, name: str) -> None:
    kind = unit(f"{declared}[4], *y; ").variables["x"].type
    assert isinstance(kind, Array)
    assert isinstance(kind.element, Unknown)
    assert (kind.element.name, kind.extent) == (name, 4)


def test_a_type_that_the_binding_does_not_know_has_a_name() -> None:
    assert unit("_Float16 x[4]; void k(_Float16 (*y)[4]) {}").variables["x"].type == Unknown(
        "_Float16[4]"
    )


def test_a_switch_has_sections() -> None:
    (switch,) = body("switch (n) { case 'a': case -1: x = 1; break; default: { x = 2; } x = 3; }")
    assert isinstance(switch, Switch)
    assert [(s.values, len(s.body)) for s in switch.sections] == [((97, -1), 2), ((None,), 2)]
    (spans,) = body("switch (n) { case 1 ... 3: case 9: x = 1; break; case 8 ... 7: x = 2; }")
    assert isinstance(spans, Switch)
    assert [s.values for s in spans.sections] == [(1, 2, 3, 9), ()]
    for inside in ("case 1 ... 300: x = 1;", "x = 1; case 2: x = 2;"):
        (other,) = body(f"switch (n) {{ {inside} }}")
        assert isinstance(other, OpaqueStmt)
        assert not isinstance(other, Switch)


def test_loops_have_a_condition_and_a_body() -> None:
    first, last = body("while (n > 3) n -= 1; do n += 2; while (n < 5);")
    assert isinstance(first, While)
    assert isinstance(last, DoWhile)
    assert [shown(loop.condition) for loop in (first, last)] == ["(n > 3)", "(n < 5)"]
    assert [type(loop.body) for loop in (first, last)] == [Evaluate, Evaluate]


def test_runtime_extents_are_kept() -> None:
    param = unit("void k(int n, int m, double a[n][m + 1]) {}").functions["k"].params[2]
    assert [shown(e) for e in param.extents] == ["n", "(m + 1)"]
    assert param.type == Array(Array(DOUBLE, None), None)


@pytest.mark.parametrize(
    ("head", "parts"),
    [
        ("int i = 0; i < 3; i++", (True, True, True)),
        ("; ; ", (False, False, False)),
        ("; n < 3; ", (False, True, False)),
        ("int i = 0; ; i++", (True, False, True)),
        ("; ; n++", (False, False, True)),
        ("n = 0; ; ", (True, False, False)),
    ],
)
def test_for_parts(head: str, parts: tuple[bool, bool, bool]) -> None:
    (loop,) = body(f"for ({head}) break;")
    assert isinstance(loop, For)
    found = tuple(part is not None for part in (loop.init, loop.condition, loop.step))
    assert found == parts


def test_pragmas_belong_to_what_follows() -> None:
    text = """void k(int a[4]) {
#pragma omp target map(tofrom: a[0:4]) \\
    num_threads(2)
    {
        /* #pragma not this one */
        #pragma omp for // nor this
        for (int i = 0; i < 4; i++) {
            #pragma unroll 2
            for (int j = 0; j < 4; j++) a[i] += j;
            #pragma omp barrier
        }
    }
}"""
    (region,) = unit(text).functions["k"].body.body  # type: ignore[union-attr]
    assert isinstance(region, Block)
    (target,) = region.pragmas
    assert target.tokens[:3] == ("omp", "target", "map")
    assert target.tokens[-4:] == ("num_threads", "(", "2", ")")
    assert (target.where.line, target.where.end_line) == (2, 3)
    (loop,) = region.body
    assert [p.tokens for p in loop.pragmas] == [("omp", "for")]
    assert isinstance(loop, For)
    assert isinstance(loop.body, Block)
    assert [p.tokens for p in loop.body.body[0].pragmas] == [("unroll", "2")]
    assert [p.tokens for p in loop.body.trailing] == [("omp", "barrier")]


def test_ranges_give_the_text_back() -> None:
    text = "void k(double a[4]) {\n    a[0] = a[1]\n        + 2;\n}\n"
    found = unit(text)
    (statement,) = found.functions["k"].body.body  # type: ignore[union-attr]
    assert found.text(statement.where) == "a[0] = a[1] + 2"
    assert str(statement.where) == "k.c:2"
    assert (statement.where.column, statement.where.end_line) == (5, 3)


def test_what_is_outside_the_tree_names_itself() -> None:
    go, switch, loop, label = body("goto l; switch (n) { } while (n) n--; l: if (n) x = 1; else ;")
    assert isinstance(go, OpaqueStmt)
    assert go.construct is Construct.GOTO
    assert isinstance(switch, OpaqueStmt)
    assert switch.construct is Construct.SWITCH
    assert isinstance(switch, Switch)
    assert switch.sections == ()
    assert isinstance(loop, While)
    assert isinstance(label, If)
    assert label.label == "l"
    assert isinstance(expression("({ 1.0; })"), Opaque)


def test_vector_elements_and_struct_fields() -> None:
    text = """typedef float v4 __attribute__((vector_size(16)));
struct p { int at; v4 lanes; };
void k(struct p *q) { q->lanes[2] = q[1].at; }"""
    (statement,) = unit(text).functions["k"].body.body  # type: ignore[union-attr]
    assert isinstance(statement, Evaluate)
    nodes = list(walk(statement.value))
    arrows = [n.arrow for n in nodes if isinstance(n, Member)]
    assert arrows == [True, False]


def test_compound_assignment_knows_its_arithmetic() -> None:
    statement = body("n += x;")[0]
    assert isinstance(statement, Evaluate)
    assert isinstance(statement.value, Assign)
    assert statement.value.common == DOUBLE
    assert statement.value.type == INT


def test_several_declarations_share_one_variable() -> None:
    (declare, use) = body("double y = 1, z = y; x = z;")
    assert isinstance(declare, Declare)
    assert isinstance(use, Evaluate)
    value = use.value.value  # type: ignore[union-attr]
    assert isinstance(value, Name)
    assert value.variable is declare.variables[1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("void k( {", "k.c:1: "),
        ("void k(void) {\n  x = 1;\n}", "k.c:2: use of undeclared identifier 'x'"),
        ('#include "no.h"\n', "k.c:1: 'no.h' file not found; name its folder with -I"),
        ("int a\0b;", "k.c: contains zero bytes; give a C text"),
    ],
)
def test_bad_text(text: str, message: str) -> None:
    with pytest.raises(SourceError) as caught:
        unit(text)
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="no such file"):
        read_c(tmp_path / "none.c")
    with pytest.raises(SourceError, match="cannot be read"):
        read_c(tmp_path)


def test_deep_nesting_is_no_crash() -> None:
    deep = "(" * 200 + "x" + "+1)" * 200
    with pytest.raises(SourceError, match=r"nested too deeply|nesting level"):
        unit(f"double k(double x) {{ return {'(' * 3000}x{')' * 3000}; }}")
    assert unit(f"double k(double x) {{ return {deep}; }}").functions["k"].body is not None


@pytest.mark.parametrize(("defines", "expected"), [({}, "for"), ({"FAST": "1"}, "simd")])
def test_pragmas_that_the_preprocessor_leaves_out_are_none(
    defines: dict[str, str], expected: str
) -> None:
    text = """
#define N 8
void k(int *a) {
#ifdef FAST
    #pragma omp simd
#else
    #pragma omp for
#endif
#if 0
    #pragma omp barrier
#elif N > 4
    #pragma unroll
#endif
    for (int i = 0; i < N; i++) a[i] = i;
}
"""
    body = unit(text, defines=defines).functions["k"].body
    assert body is not None
    assert [p.tokens for p in body.body[0].pragmas] == [("omp", expected), ("unroll",)]


def test_a_variable_may_be_named_in_its_own_initial_value() -> None:
    text = "struct node { struct node *next; } head = {&head}; void f(void) { long x = (long)&x; }"
    unit = read_c("k.c", text=text)
    assert unit.variables["head"].init is not None
    (stmt,) = unit.functions["f"].body.body  # type: ignore[union-attr]
    assert isinstance(stmt, Declare)
    (variable,) = stmt.variables
    assert isinstance(variable.init, Cast)
    named = [e.variable for e in walk(variable.init) if isinstance(e, Name)]
    assert named == [variable]


def test_a_block_that_names_a_variable_of_elsewhere_declares_none() -> None:
    text = "int n; void f(void) { extern int n, later; int own; n = later; }"
    unit = read_c("f.c", text=text)
    first, second, last = unit.functions["f"].body.body
    assert first.variables == ()
    assert [v.name for v in second.variables] == ["own"]
    assert last.value.target.variable is unit.variables["n"]
    assert last.value.value.variable.scope == "global"
