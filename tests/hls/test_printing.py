"""Output of the region: what the host prints is what the unmodified program prints."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from cyclescope.errors import SourceError
from cyclescope.hls import Host, Judge, compile_c, interpret, measure

PROGRAM = Path(__file__).parent / "programs" / "printing.c"

TEAM = """\
#include <stdio.h>
#include <omp.h>
int main(void) {
    int a[9];
#pragma omp target parallel num_threads(3) map(from: a)
    {
        printf("thread %d\\n", omp_get_thread_num());
#pragma omp for
        for (int i = 0; i < 9; i++) {
            a[i] = i;
            if (i % 2)
                printf("%d is odd\\n", i);
        }
    }
    printf("%d\\n", a[8]);
}
"""


@pytest.mark.long
def test_the_host_prints_what_the_region_has() -> None:
    result = measure(compile_c(PROGRAM))
    assert result.agrees
    assert [j.prints_alike for j in result.judgements] == [True, True]
    assert result.stdout == result.native.stdout
    assert result.stdout.count(b"\n") == 12 + 6 + 5  # a line each; odd ones; the others
    assert b'three: "3"\t100%\na[ 3] = 9     d 1.500 ffffff0000000000\nodd\n' in result.stdout


@pytest.mark.long
def test_threads_print_in_any_order_each_line_once() -> None:
    result = measure(compile_c("k.c", text=TEAM))
    assert result.agrees
    assert not result.undecided
    assert sorted(result.stdout.splitlines()) == sorted(result.native.stdout.splitlines())
    assert result.stdout.splitlines()[-1] == b"8"


def test_a_line_that_is_missing_is_seen() -> None:
    program = compile_c("k.c", text=TEAM.replace("i % 2)", "i % 2 && omp_get_num_threads() < 4)"))
    other = compile_c("k.c", text=TEAM.replace("i % 2)", "i % 4 == 1)"))
    with Host(program) as host:
        native = host.run()
        outputs = interpret(other.region, native.inputs, native.scalars)
        from cyclescope.hls.run._judges import judge

        reaches = [replace(native.reaches[0], outputs=outputs)]
        found = judge(program, host, [], native, reaches, host.replay(outputs))
    assert [(j.judge, j.prints_alike) for j in found] == [
        (Judge.UNMODIFIED, False),
        (Judge.HOST, False),
    ]


def test_what_does_not_fit_is_lost_and_said() -> None:
    text = TEAM.replace("i < 9; i++) {\n            a[i] = i;", "i < 36000; i++) {\n a[i % 9] = i;")
    program = compile_c("k.c", text=text, threads=1)
    with Host(program) as host:
        native = host.run()
        outputs = interpret(program.region, native.inputs, native.scalars)
        stdout, status = host.replay(outputs)
    lines = stdout.splitlines()
    assert lines[:2] == [b"thread 0", b"1 is odd"]
    assert lines == [*native.stdout.splitlines()[: len(lines) - 1], b"35999"]
    assert status == 0
    assert 2 * (len(lines) - 1) < 1 << 15 < 36000
    assert len(lines) < len(native.stdout.splitlines())


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            'char s[4] = "abc"; printf("%s", s);',
            r"k.c:4: `s` can't be printed in a region: it is in",
        ),
        (
            'a[0] = printf("x");',
            r"k.c:4: the value of printf\(\) isn't known in a region, .*; write the call as a",
        ),
        ('char s[2]; sprintf(s, "x");', r"sprintf\(\) is not supported"),
    ],
)
def test_what_cannot_be_printed_is_refused(call: str, message: str) -> None:
    text = (
        f"#include <stdio.h>\nint a[4]; int main(void) {{\n#pragma omp target\n{{ {call} }}\n}}\n"
    )
    with pytest.raises(SourceError, match=message):
        compile_c("k.c", text=text)
