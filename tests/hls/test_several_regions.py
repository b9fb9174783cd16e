"""Programs with several target regions: one becomes hardware, the host runs the others."""

from __future__ import annotations

import pytest

from cyclescope.errors import RunError, SourceError
from cyclescope.hls import Host, compile_c, differences, interpret

TEXT = """\
#include <stdio.h>
#define PROBE int probed = 0; _Pragma("omp target map(from: probed)") { probed = 1; }
int a[9], s = 5, i;
void step(int *p) {
#pragma omp target enter data map(to: a)
#pragma omp target map(p[0:9])
    for (i = 0; i < 9; i++) { s += i; p[i] = s; }
}
int main(void) {
    step(a);
#pragma omp target teams distribute parallel for num_threads(3)
    for (int k = 0; k < 9; k++)
        a[k] += s;
    PROBE
    printf("%d %d %d %d\\n", a[8], s, i, probed);
}
"""
PLACES = {6: "step", 7: "step", 11: "main", 13: "main"}


@pytest.mark.long(keep_one_in=4)
@pytest.mark.parametrize("line", PLACES)
def test_a_line_chooses_the_region(line: int) -> None:
    program = compile_c("k.c", text=TEXT, region=line)
    assert program.region.name == PLACES[line]
    told = [w for w in program.warnings if "is run by the host" in w]
    assert len(told) == 2
    assert {w.split(":")[1] for w in told} == {"12" if PLACES[line] == "step" else "7", "14"}
    with Host(program) as host:
        native = host.run()
        assert native.stdout == b"46 5 0 1\n"
        assert host.run(unmodified=True).stdout == native.stdout
        outputs = interpret(program.region, native.inputs, native.scalars)
        assert not differences(program, native.outputs, outputs)
        assert host.replay(outputs) == (native.stdout, 0)


@pytest.mark.parametrize("line", [None, 5, 15])
def test_without_a_region_s_line_it_is_not_known_which(line: int | None) -> None:
    with pytest.raises(SourceError, match=r"lines 6, 11|in lines 6, 11"):
        compile_c("k.c", text=TEXT, region=line)


def test_the_region_of_a_macro_is_the_host_s_beside_another() -> None:
    text = TEXT.replace("#pragma omp target map(p[0:9])", "")
    assert compile_c("k.c", text=text).region.name == "main"


def test_the_region_of_a_macro_alone_is_refused() -> None:
    text = TEXT.replace("#pragma omp target map(p[0:9])", "").replace(
        "#pragma omp target teams", "//"
    )
    with pytest.raises(SourceError, match=r"k\.c:14: a macro contains both this target region's"):
        compile_c("k.c", text=text)


NOWHERE = """\
void set(int *p) {
#pragma omp target
    p[3] = 1;
}
int main(void) {
    int a[9];
    set(a);
}
"""


def test_a_pointer_to_no_block_is_refused_by_name() -> None:
    with Host(compile_c("k.c", text=NOWHERE)) as host:
        message = (
            r"k.c:2: p does not point to a block of malloc: say .* map\(tofrom: p\[0:count\]\)"
        )
        with pytest.raises(RunError, match=message):
            host.run()


DECLARED = """\
#pragma omp declare target
int a[3] = {1, 2, 3};
#pragma omp end declare target
int main(void) {
#pragma omp target map(alloc: a[0:3])
    a[1] = 7;
    return a[0] + a[1] + a[2];
}
"""


def test_what_is_declared_is_there_whatever_a_clause_says() -> None:
    program = compile_c("k.c", text=DECLARED)
    with Host(program) as host:
        native = host.run()
        outputs = interpret(program.region, native.inputs, native.scalars)
        assert host.replay(outputs) == (b"", 11)
    assert native.status == 11


BLOCKS = """\
#include <stdlib.h>
int main(void) {
    char *many[3000];
    for (int i = 0; i < 3000; i++)
        many[i] = malloc(i % 90 + 1);
    for (int i = 0; i < 3000; i += 2)
        free(many[i]);
    for (int i = 0; i < 3000; i += 4)
        many[i] = i % 3 ? calloc(7, 3) : realloc(NULL, 21);
    char *p = many[1501] + 2, *q = many[1600];
#pragma omp target
    p[0] = q[20] = 1;
}
"""


def test_blocks_end_where_malloc_says() -> None:
    with Host(compile_c("k.c", text=BLOCKS)) as host:
        inputs = host.run().inputs
    assert (len(inputs["p"]), len(inputs["q"])) == (1501 % 90 + 1 - 2, 21)


def test_a_macros_region_may_stand_behind_a_directive_of_data() -> None:
    text = (
        "int a[4], on;\n"
        '#define PROBE _Pragma("omp target map(from: on)") { on = 1; } on += 2;\n'
        "int main(void) {\n"
        "#pragma omp target update to(a)\n"
        "PROBE\n"
        "#pragma omp target map(tofrom: a)\n"
        "a[0] = 5;\n"
        "return a[0] + on - 8;\n}\n"
    )
    program = compile_c("k.c", text=text)
    with Host(program) as host:
        native = host.run()
        outputs = interpret(program.region, native.inputs, native.scalars)
        assert not differences(program, native.outputs, outputs)
        assert native.status == host.replay(outputs)[1] == 0
