"""OpenMP's pragmas as C reads them: macros, comments, joined lines, `_Pragma`.

Each directive and clause is understood, or refused in a line that says where and what to write.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from cyclescope.errors import SourceError
from cyclescope.hls import Program, compile_c, openmp_table
from cyclescope.hls.front.omp._constructs import INSTEAD
from cyclescope.hls.ir._graph import Op

HEAD = "#include <omp.h>\n#define N 3\n#define TEAM(n) num_threads(n)\nint a[64], s, t, k;\n"


def program(directive: str, body: str = "{ a[omp_get_thread_num()] = 1; }", **more: int) -> Program:
    text = f"{HEAD}int main(void) {{ enum {{ LOCAL = 6 }};\n{directive}\n{body}\n}}\n"
    return compile_c("p.c", text=text, **more)  # type: ignore[arg-type]


LOOP = "for (int i = 0; i < 64; i++) a[i] = omp_get_team_num();"


def inside(body: str) -> Program:
    return program(
        "#pragma omp target parallel num_threads(2) map(tofrom: a, s, t)", f"{{\n{body}\n}}"
    )


TARGET = "#pragma omp target parallel map(tofrom: a)"
TEAMS = {
    f"{TARGET} num_threads(5)": 5,
    f"{TARGET} num_threads(N)": 3,
    f"{TARGET} num_threads(N << 1)": 6,
    f"{TARGET} num_threads((N+1)*2)": 8,
    f"{TARGET} num_threads(N >= 3 ? 4 : 2)": 4,
    f"{TARGET} num_threads(0x10 | 1)": 17,
    f"{TARGET} num_threads(010)": 8,
    f"{TARGET} num_threads(4u)": 4,
    f"{TARGET} num_threads('\\5')": 5,
    f"{TARGET} num_threads(sizeof(int))": 4,
    f"{TARGET} num_threads((unsigned char)258)": 2,
    f"{TARGET} num_threads(LOCAL)": 6,
    f"{TARGET} num_threads(!!N + (N == 3) + (N != 2 && N <= 3))": 3,
    f"{TARGET} TEAM(N)": 3,
    f"{TARGET} num_threads /* a ) comment */ ( /* over\n lines */ N ) // and ( more": 3,
    f"{TARGET} \\\n num_threads(\\\nN)": 3,
    f"{TARGET} num_thr\\\neads(N)": 3,
    f"{TARGET}, num_threads(N), shared(a)": 3,
    f"#define P {TARGET[8:]}\n#undef N\n#define N 7\n{TARGET} num_threads(N)\n#undef N": 7,
    f"/* leading */ {TARGET} num_threads(3)": 3,
    f"{TARGET} num_threads(3) \\\n": 3,
    f"  #  pragma   omp{TARGET[11:]} num_threads(3)": 3,
    f"%:{TARGET[1:]} num_threads(3)": 3,
    "#pragma omp target map(tofrom: a)\n#pragma omp parallel num_threads(N + 1)": 4,
    f"#if 0\n{TARGET} num_threads(9)\n#else\n{TARGET} num_threads(2)\n#endif": 2,
    f"// #pragma omp foo \\\n#pragma omp bar\n{TARGET} num_threads(2)": 2,
    f"{TARGET} num_threads(8) thread_limit(4)": 4,
    f"{TARGET} if(parallel: N > 2) num_threads(4)": 4,
    f"{TARGET} if(parallel: N >= 4) num_threads(4)": 1,
}  # fmt: skip


@pytest.mark.parametrize("directive", TEAMS)
def test_the_size_of_a_team_is_read_as_c(directive: str) -> None:
    assert program(directive).region.threads == TEAMS[directive]


@pytest.mark.parametrize(
    ("called", "threads"), [("omp_set_num_threads(3);", 3), ("omp_set_num_threads(argc);", 8)]
)
def test_a_team_has_the_size_that_a_call_in_front_of_it_says(called: str, threads: int) -> None:
    text = f"""\
#include <omp.h>
int main(int argc, char **argv) {{
  int n = 0;
  {called}
  #pragma omp target parallel map(tofrom: n)
  if (!omp_get_thread_num()) n = omp_get_num_threads();
  omp_set_num_threads(2);
  return n;
}}
"""
    made = compile_c("k.c", text=text)
    assert (made.region.threads, made.overruled) == (threads, False)
    assert compile_c("k.c", text=text, threads=5).region.threads == 5


def test_a_team_of_another_size_overrules_the_text() -> None:
    given = f"{TARGET} num_threads(N)"
    assert not program(given).overruled
    assert not program(given, threads=3).overruled
    assert program(given, threads=4).overruled
    assert not program(TARGET, threads=4).overruled
    assert not program(f"{TARGET} num_threads(8) thread_limit(N)").overruled
    unknown = program(f"{TARGET} num_threads(k)", threads=4)
    assert (unknown.region.threads, unknown.overruled) == (4, True)


@pytest.mark.parametrize(
    ("clauses", "threads", "teams"),
    [
        ("parallel num_threads(300)", 8, 1),
        ("teams distribute parallel for num_teams(1000)", 8, 1),
        ("teams distribute parallel for num_teams(k) num_threads(4)", 4, 1),
        ("teams num_teams(k + 1)", 8, 8),
        ("teams distribute parallel for thread_limit(k)", 8, 1),
    ],
)
def test_a_size_that_hardware_cannot_have_is_the_default_and_said(
    clauses: str, threads: int, teams: int
) -> None:
    made = program(f"#pragma omp target {clauses} map(tofrom: a)", LOOP)
    assert (made.region.threads, made.teams[0], made.overruled) == (threads, teams, True)
    assert "OpenMP lets it have another size, --threads says which" in made.warnings[0]


@pytest.mark.parametrize(
    ("clauses", "threads", "teams"),
    [
        ("teams distribute parallel for num_teams(2)", 8, 2),
        ("teams distribute parallel for num_teams(2) num_threads(3)", 6, 2),
        ("teams distribute parallel for num_teams(4) thread_limit(1)", 4, 4),
        ("teams distribute num_teams(3)", 3, 3),
        ("teams distribute parallel for", 8, 1),
        ("teams distribute parallel for num_threads(5)", 5, 1),
    ],
)
def test_a_league_has_the_teams_that_the_text_says(clauses: str, threads: int, teams: int) -> None:
    made = program(f"#pragma omp target {clauses} map(tofrom: a)", LOOP)
    assert (made.region.threads, made.teams[0], made.overruled) == (threads, teams, False)
    assert not made.warnings


CONDITIONS = (
    "k >= 2",
    "target: k >= 2",
    "k<<1 != 4",
    "target: a[0] == 0 && k->x",
    "k ? s : t",
    "N",
)


@pytest.mark.parametrize("condition", CONDITIONS)
def test_a_condition_is_handed_on_token_by_token(condition: str) -> None:
    made = program(f"{TARGET} if({condition})", "a[0] = 1;")
    wanted = condition.removeprefix("target: ").replace("N", "3").replace(" ", "")
    assert "".join(made.target.condition) == wanted
    assert ">=" in made.target.condition or ">=" not in condition


# Where a flush is counted as a fence, a barrier as one: a directive is of the statement behind it.
PLACES = {
    '_Pragma("omp barrier") a[0] = 1;': 1,
    'a[0] = 1; _Pragma("omp barrier")': 1,
    'a[0] = 1; _Pragma("omp barrier") a[1] = 2; _Pragma("omp barrier")': 2,
    '_Pragma ( "omp" " barrier" )': 0,
    'if (k) { _Pragma("omp barrier") a[0] = 1; }': 1,
    "#define WAIT _Pragma(\"omp barrier\")\nWAIT a[0] = 1; WAIT": 2,
    "#pragma omp barrier\n#pragma omp barrier\n;": 2,
    "#if N == 3\n#pragma omp barrier\n#endif\n;": 1,
    "#if N == 4\n#pragma omp barrier\n#endif\n;": 0,
    "/*\n#pragma omp barrier\n*/": 0,
    "int critical = 1, barrier = 2; a[critical] = barrier;": 0,
    "#define barrier flush\n#pragma omp barrier\n;": 0,
}  # fmt: skip


@pytest.mark.parametrize("body", PLACES)
def test_directives_are_found_where_c_has_them(body: str) -> None:
    if 'omp" "' in body:  # strings are not joined before pragmas are read: no OpenMP
        with pytest.raises(SourceError):
            inside(body)
        return
    assert len(inside(body).region.barriers) == PLACES[body]


GOOD = (
    "#pragma omp for schedule(static, N + 1)", "#pragma omp for schedule(monotonic: static)",
    "#pragma omp for schedule(static) nowait", "#pragma omp for collapse(1)",
    "#pragma omp for schedule(dynamic)", "#pragma omp for schedule(nonmonotonic: guided, N)",
    "#pragma omp for private(k) firstprivate(t)", "#pragma omp for reduction(+ : s)",
    "#pragma omp for reduction(default, max: s, t)", "#pragma omp for lastprivate(s)",
    "#pragma omp for order(concurrent)", "#pragma omp for order(reproducible: concurrent)",
    "#pragma omp assume no_openmp holds(k > 0)\n#pragma omp for order(unconstrained: concurrent)",
    "#pragma omp simd safelen(4) simdlen(N + 1)",
    "#pragma omp for simd aligned(a: 16)", "#pragma omp loop bind(parallel)",
    "#pragma omp for reduction(^:s) reduction(&&:t)", "#pragma omp for reduction(-:s)",
    "#pragma omp critical", "#pragma omp critical(for)", "#pragma omp critical (x) hint(0)",
    "#pragma omp single nowait", "#pragma omp master", "#pragma omp masked",
)  # fmt: skip


@pytest.mark.parametrize("directive", GOOD)
def test_what_is_understood(directive: str) -> None:
    inside(f"{directive}\nfor (int i = 0; i < 8; i++) a[i] += i;\n")


# Of a loop: what it says must be in the message besides its line.
BAD = {
    "for schedule(dynamic, k)": "positive constant chunk", "for schedule(guided, 0)": "positive",
    "for schedule(dynamic, )": "schedule", "for schedule(guided 4)": "schedule",
    "for schedule(auto, 4)": "schedule",
    "for schedule(static, )": "schedule", "for schedule(static, 4, 4)": "schedule",
    "for schedule(simd: static)": "schedule", "for schedule(static 4)": "schedule",
    "for schedule(runtime, 4)": "schedule", "for schedule": "schedule",
    "for schedule(static) schedule(static)": "schedule twice", "for ordered ordered": "twice",
    "for ordered(1, 2)": "ordered", "for nowait(1)": "nowait", "for nowait nowait": "nowait twice",
    "for collapse": "collapse", "for collapse()": "collapse", "for collapse(k)": "collapse",
    "for collapse(1, 2)": "collapse", "for linear(k 2)": "linear", "for allocate()": "allocate",
    "for private": "private", "for private()": "private", "for private(s t)": "private",
    "for private(s, )": "private", "for private(a[0:4])": "private", "for private(*a)": "private",
    "for lastprivate(conditional: )": "lastprivate(conditional: x)",
    "for reduction(+)": "reduction", "for reduction(s)": "reduction",
    "for reduction(inscan, +: s)": "reduction", "for reduction(task: s)": "task",
    "for reduction(+: s, )": "reduction", "for reduction(+: s.x)": "reduction",
    "for reduction(+: s) reduction(*: s)": "s is in reduction twice", "for reduction(%: s)": "%",
    "for reduction(mine: s)": "mine", "for if(k)": "if", "for num_threads(2)": "num_threads",
    "for map(tofrom: a)": "map", "for copyin(s)": "copyin", "for bogus": "bogus",
    "for bogus(1)": "bogus", "for 3": "3", "for , nowait": ",", "for ;": ";", "for nowait ;": ";",
    "for +": "+", "for order(reproducible)": "order", "loop bind(here)": "bind",
    "critical(a, b)": "critical", "critical(3)": "critical(name)", "critical()": "critical(name)",
    "critical(x) hint(0) hint(0)": "hint twice", "atomic relaxed seq_cst": "exclude each other",
    "atomic read write": "exclude each other", "atomic compare": "compare",
    "atomic update fail(relaxed)": "fail", "atomic seq_cst(1)": "seq_cst", "atomic weak": "weak",
    "single copyprivate()": "copyprivate", "single private(s": "`(` is not closed",
    "masked filter(1)": "filter", "master nowait": "nowait", "flush relaxed": "relaxed",
    "flush(s) bogus": "bogus", "flush(3)": "list", "barrier nowait": "nowait",
    "taskwait depend(s)": "depend", "sections": "sections", "section": "section",
    "task detach(s)": "detach", "taskloop nowait": "nowait", "taskgroup nowait": "nowait",
    "taskyield nowait": "nowait", "taskwait nowait": "nowait", "task untied(s)": "untied alone",
    "ordered nowait": "nowait", "parallel map(s)": "map", "parallel for ordered()": "ordered",
    "teams": "teams", "target": "target", "cancel for": "cancel", "scan inclusive(s)": "scan",
    "cancellation point for": "cancellation point", "tile sizes(2)": "tile",
    "unroll partial(2)": "unroll", "error": "error",
    "threadprivate(s)": "threadprivate",
    "metadirective when(kind(host): for)": "is not a selector",
    "dispatch": "dispatch", "bogus": "bogus", "": "",
    "For": "For", "for simdx": "simdx", "paralel for": "paralel", "atomic foo(": "`(` is not",
    "for private(s))": "`)` closes nothing", "for private(s])": "`(` is not closed",
    "depobj(s) depend(in: t)": "depobj", "interop": "interop", "allocate(s)": "allocate",
    "requires reverse_offload": "requires", "workshare": "workshare",
    "metadirective when(user={condition(k)}: for)": "isn't known before the region runs",
    "metadirective otherwise(for) bogus(1)": "the clause bogus of omp metadirective",
    "task affinity(3)": "affinity(x[low:count])",
}  # fmt: skip


@pytest.mark.parametrize("words", BAD)
def test_what_is_not_understood_is_refused_in_a_line(words: str) -> None:
    with pytest.raises(SourceError) as caught:
        inside(f"#pragma omp {words}\nfor (int i = 0; i < 8; i++) a[i] += i;\n")
    said = str(caught.value)
    assert said.startswith("p.c:8: ")
    assert "\n" not in said
    assert BAD[words] in said


REGIONS = {
    "num_threads(0)": "positive",
    "num_threads(-1)": "positive", "num_threads()": "num_threads", "num_threads(1, 2)": "num_th",
    "num_threads(2) num_threads(2)": "twice", "num_threads(2;)": "num_threads(n)",
    "num_threads(2.5)": "positive constant",
    "num_threads(undeclared)": "positive constant",
    "default(private)": "default", "default(firstprivate)": "default", "proc_bind(far)": "proc",
    "depend(s)": "depend", "is_device_ptr()": "is_device_ptr", "in_reduction(s)": "in_",
    "has_device_addr()": "has_device", "uses_allocators(x)": "uses_all", "allocate()": "alloc",
    "defaultmap(own: aggregate)": "defaultmap", "defaultmap(bogus:scalar)": "defaultmap",
    "map(release: s)": "map", "map(delete: s)": "map", "map(present, to: s)": "map",
    "map(mapper(m), to: s)": "map", "map(iterator(i=0:2), to: s)": "map", "map(s.1)": "map",
    "map(tofrom: a)": "a is in map twice", "map(tofrom: *s)": "map", "map(to: s[0:1:2])": "map",
    "map(to: s, )": "map", "map()": "map", "map": "map", "map(inout: s)": "map",
    "device(ancestor: 1)": "device", "if()": "if", "if(simd2: k)": "if(", "if(k;)": "if",
    "schedule(static)": "schedule", "collapse(2)": "collapse", "nowait(1)": "nowait",
    "copyin(s)": "copyin", "reduction(+: s) reduction(+: s) bogus": "bogus", "private(3)": "priv",
    "shared()": "shared", "simdlen(4)": "simdlen",
}  # fmt: skip


@pytest.mark.parametrize("words", REGIONS)
def test_so_is_what_a_region_says(words: str) -> None:
    with pytest.raises(SourceError) as caught:
        program(f"{TARGET} {words}")
    said = str(caught.value)
    assert said.startswith("p.c:6: ")
    assert "\n" not in said
    assert REGIONS[words] in said


def test_a_team_does_not_share_what_each_region_has_a_copy_of() -> None:
    target = "#pragma omp target parallel num_threads(2) defaultmap(firstprivate)"
    program(target, "{ int own = a[1]; own++; }")
    with pytest.raises(SourceError, match=r"p.c:6: .*of a, which the team writes; name it in map"):
        program(target)
    program(f"{target} map(tofrom: a)")


LEVELS = {
    "#pragma omp declare variant(f)": "declare variant(function) match(…)",
    "#pragma omp requires reverse_offload": "requires reverse_offload",
    "#pragma omp bogus": "bogus",
}


@pytest.mark.parametrize("line", LEVELS)
def test_what_stands_outside_of_functions_is_read_too(line: str) -> None:
    text = (
        f"int s, a[4];\n{line}\nint main(void) {{\n#pragma omp target map(tofrom: a)\na[0] = 1; }}"
    )
    with pytest.raises(SourceError, match=r"p\.c:2: omp ") as caught:
        compile_c("p.c", text=text)
    assert LEVELS[line] in str(caught.value)


def test_what_is_harmless_there_is_not_refused() -> None:
    compile_c(
        "p.c",
        text="#pragma omp requires atomic_default_mem_order(seq_cst)\nint a[4];\n"
        "#pragma omp declare target\nvoid f(void) { a[0] = 1; }\n#pragma omp end declare target\n"
        "int main(void) {\n#pragma omp parallel for schedule(dynamic)\n"
        "for (int i = 0; i < 4; i++) a[i] = 1;\n#pragma omp target map(tofrom: a)\nf(); }",
    )


MACROS = {
    "#define P(x) _Pragma(#x)\nP(omp barrier)": "write #pragma omp, or _Pragma",
    '#define M a[0]++; _Pragma("omp critical") a[1]++;\nM': "a macro contains both this pragma and",
    "a[0] =\n#pragma omp flush\n1;": "belongs to no statement",
    'a[0] = _Pragma("omp flush") 1;': "belongs to no statement",
}


@pytest.mark.parametrize("body", MACROS)
def test_a_directive_whose_place_is_not_known_is_refused(body: str) -> None:
    with pytest.raises(SourceError) as caught:
        inside(body)
    assert MACROS[body] in str(caught.value)


def test_pragmas_of_headers_are_read(tmp_path: object) -> None:
    from pathlib import Path

    folder = Path(str(tmp_path))
    (folder / "h.h").write_text(
        "static void wait(void) {\n#pragma omp barrier\n;\n#pragma omp critical(NAME)\na[0]++; }\n"
    )
    text = (
        'int a[4];\n#define NAME here\n#include "h.h"\nint main(void) {\n'
        "#pragma omp target parallel map(tofrom: a)\nwait(); }\n"
    )
    made = compile_c(folder / "p.c", text=text)
    assert (len(made.region.barriers), made.region.locks) == (1, ("here",))


def test_each_kind_of_lock_is_its_own() -> None:
    made = inside(
        "\n#pragma omp critical(atomic)\n{\n#pragma omp atomic\ns++;\n#pragma omp critical\nt++;\n"
        "#pragma omp critical(critical)\nt++;\n#pragma omp critical(reduction)\nt++;\n"
        "#pragma omp critical(x)\nt++; }\n#pragma omp for reduction(+: t)\n"
        "for (int i = 0; i < 4; i++) t += i;\n"
    )
    locks = made.region.locks
    assert locks[:3] == ("critical(atomic)", "atomic", "critical")
    assert locks[3:] == ("critical(critical)", "critical(reduction)", "x", "reduction")


ATOMICS = {
    "": ("s++;", "--s;", "s += a[3];", "s = s * 2;", "s = a[1] + s;", "s <<= 1;", "a[k + 1] |= 2;"),
    "read": ("t = s;", "a[1] = a[2];"),
    "write seq_cst": ("s = 3;", "s = a[1] + t;"),
    "update relaxed": ("s -= t;",),
    "capture acq_rel": (
        "t = s++;", "t = s += 2;", "t = s = s + 1;", "{ t = s; s += 1; }", "{ s++; t = s; }",
        "{ t = s; s = 5; }",
    ),
}  # fmt: skip


@pytest.mark.parametrize("clauses", ATOMICS)
def test_atomics_load_and_store_under_their_lock_alone(clauses: str) -> None:
    for stmt in ATOMICS[clauses]:
        made = inside(f"int k = 0;\n#pragma omp atomic {clauses}\n{stmt}\n")
        ops = [n.op for n in made.region.root.nodes if n.op in (Op.ACQUIRE, Op.LOAD, Op.STORE)]
        under = ops[ops.index(Op.ACQUIRE) :]
        wanted = {"read": 1, "write seq_cst": 1, "capture acq_rel": 4}.get(clauses, 2)
        assert len(under) - 1 <= wanted + (clauses == "read"), stmt


FORMS = ("", "update", "read", "write", "capture")
ODD = ("s;", "s == t;", "s = t;", "{ s++; t++; }", "if (k) s++;", "s = t = k;",
       "s = s < t ? s : t;", "t = s + 1;", "{ s++; }", ";", "s++, t++;",
       "for (;;) s++;")  # fmt: skip


@pytest.mark.parametrize("stmt", ODD)
def test_atomics_have_the_forms_of_openmp(stmt: str) -> None:
    fits = {("read", "s = t;"), ("write", "s = t;")}
    fits |= {("write", "t = s + 1;"), ("write", "s = t = k;"), ("update", "{ s++; }")}
    fits |= {("", "{ s++; }"), ("write", "s = s < t ? s : t;")}
    for form in FORMS:
        body = f"int k = 0;\n#pragma omp atomic {form}\n{stmt}\n"
        if (form, stmt) in fits:
            continue
        with pytest.raises(SourceError, match=r"p\.c:9: omp atomic .*: write"):
            inside(body)


def test_an_atomic_access_may_call_what_locks_before_it() -> None:
    head = "static int more(int x) {\n#pragma omp atomic\nt++;\nreturn x + 1; }\n"
    for stmt, works in (("s += more(2);", True), ("a[more(2)] += 1;", False)):
        text = (
            f"{HEAD}{head}int main(void) {{\n"
            f"#pragma omp target parallel map(tofrom: a, s, t)\n"
            f"{{\n#pragma omp atomic\n{stmt}\n}}}}"
        )
        if works:
            compile_c("p.c", text=text)
            continue
        with pytest.raises(SourceError, match="a call of more, which has directives of its own"):
            compile_c("p.c", text=text)


MEETINGS = ("for", "for simd", "single", "barrier", "master")
AROUND = {
    "critical": "critical", "critical(x)": "critical", "single": "single", "master": "master",
    "for": "for", "for simd": "for simd", "loop": "loop",
}  # fmt: skip


@pytest.mark.parametrize("around", AROUND)
def test_threads_meet_where_all_come_together(around: str) -> None:
    loop = "for (int i = 0; i < 4; i++)"
    for meeting in MEETINGS:
        body = f"\n#pragma omp {meeting}\n" + (";" if meeting == "barrier" else f"{loop} a[i]++;")
        head = f"static void f(void) {{ {body} }}\n"
        text = (
            f"{HEAD}{head}int main(void) {{\n#pragma omp target parallel map(tofrom: a)\n{{\n"
            f"#pragma omp {around}\n{loop if around[:3] in ('for', 'loo') else ''} {{ f(); }} }}}}"
        )
        with pytest.raises(SourceError, match=rf"omp {meeting} inside omp {AROUND[around]} "):
            compile_c("p.c", text=text)
    inside(
        f"#pragma omp single\n{{\n#pragma omp critical\ns++; }}\n#pragma omp for\n{loop} a[i]++;"
    )
    with pytest.raises(SourceError, match="omp barrier inside omp target parallel for"):
        program(
            f"{TARGET[:27]} for map(tofrom: a)", f"{loop} {{\n#pragma omp barrier\na[i] = 1; }}"
        )


@pytest.mark.parametrize("name", INSTEAD)
def test_a_refused_directive_says_what_to_write(name: str) -> None:
    message = rf"p\.c:\d+: omp {name} isn't supported inside a target region; {INSTEAD[name]}"
    with pytest.raises(SourceError, match=message):
        inside(f"#pragma omp {name}\n{{ a[0] = 1; }}")


def test_the_page_has_the_table() -> None:
    page = Path(__file__).parents[2] / "docs" / "c-language.md"
    assert openmp_table() in page.read_text(encoding="utf-8")
