"""Parallel regions inside the region: with teams, or one thread each and a warning."""

from __future__ import annotations

import random
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from cyclescope.c import read_c
from cyclescope.errors import SourceError
from cyclescope.hls import Host, compile_c, differences, interpret, measure
from cyclescope.hls.front.omp import _directives

if TYPE_CHECKING:
    from cyclescope.c import Unit

FOLDER = Path(__file__).parent / "nested"
WARNINGS = {"threads": 4, "teams": 1}
PROGRAMS = sorted(path.stem for path in FOLDER.glob("*.c"))

pytestmark = pytest.mark.usefixtures("host_compiler")


@pytest.mark.long(keep_one_in=4)
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_nested_region_computes_what_it_does_natively(name: str) -> None:
    program = compile_c(FOLDER / f"{name}.c")
    assert len(program.warnings) == WARNINGS.get(name, 0)
    for warning in program.warnings:
        assert "a parallel region inside the region has a team of one thread" in warning
    assert not program.undecided
    with Host(program) as host:
        for unmodified in (False, True):
            native = host.run(unmodified=unmodified)
            for shuffle in (None, random.Random(1), random.Random(2)):
                outputs = interpret(program.region, native.inputs, native.scalars, shuffle=shuffle)
                assert not differences(program, native.outputs, outputs)


@pytest.mark.long(keep_one_in=2)
@pytest.mark.parametrize("name", ["threads", "forks"])
def test_so_it_does_in_hardware(name: str) -> None:
    found = measure(compile_c(FOLDER / f"{name}.c"))
    assert all(not j.differing and not j.why_not for j in found.judgements)


@pytest.mark.parametrize(
    ("clauses", "threads", "sizes"),
    [("", 8, 8), ("num_threads(3)", 3, 3), ("num_threads(x + 1)", 8, 6), ("if(x > 5)", 8, 1)],
)
def test_a_region_without_a_team_has_as_many_threads_as_its_largest(
    clauses: str, threads: int, sizes: int
) -> None:
    text = f"""
        int omp_get_num_threads(void); int omp_in_parallel(void); int omp_get_max_threads(void);
        void f(int *seen, int x) {{
            #pragma omp target map(tofrom: seen[0:4])
            {{
                int own = omp_get_num_threads() * 100 + omp_in_parallel();
                #pragma omp parallel {clauses}
                {{
                    #pragma omp atomic
                    own += omp_get_num_threads();
                    #pragma omp barrier
                    #pragma omp single
                    seen[1] = omp_in_parallel();
                }}
                seen[0] = own;
                seen[2] = omp_get_max_threads();
            }}
        }}
    """
    region = compile_c("forks.c", text=text).region
    assert region.threads == threads
    for shuffle in (None, random.Random(1)):
        outputs = interpret(region, {"seen": bytes(16)}, [5], shuffle=shuffle)
        found = memoryview(outputs["seen"]).cast("i").tolist()
        most = min(8, threads)
        assert found == [100 + sizes * sizes, int(sizes > 1), most, 0]


@pytest.mark.parametrize("size", ["2.5", "x", "x + n", "a", "1 +"])
def test_a_size_is_a_whole_number(size: str) -> None:
    text = f"""
        void f(int *a, float x, int n) {{
            #pragma omp target map(tofrom: a[0:4])
            {{
                a[0] = n * x;
                #pragma omp parallel num_threads({size})
                a[1] = n;
            }}
        }}
    """
    with pytest.raises(SourceError, match=r"k\.c:6: num_threads\(.*\): give a whole number"):
        compile_c("k.c", text=text)


def test_the_text_is_read_once_for_each_expression_of_a_directive(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # It was once for each place where a directive takes effect: 48 s for some random programs.
    calls = "".join("add(a, n);" for _ in range(6))
    text = f"""
        #pragma omp declare reduction(sum: int: omp_out += omp_in)
        static void add(int *a, int n) {{
            int s = 0;
            #pragma omp parallel for reduction(sum: s) num_threads(n + 1) if(n > 2)
            for (int i = 0; i < 4; i++) s += a[i];
            a[0] += s;
        }}
        void f(int *a, int n) {{
            #pragma omp target map(tofrom: a[0:4])
            {{ {calls} }}
        }}
    """
    read: list[str | None] = []

    def counted(*args: Any, text: str | None = None, **kwargs: Any) -> Unit:
        read.append(text)
        return read_c(*args, text=text, **kwargs)

    monkeypatch.setattr(_directives, "read_c", counted)
    compile_c("calls.c", text=text)
    assert 1 < len(read) == len(set(read)) <= 4


def test_threads_in_step_agree_on_a_condition_of_the_first_ones() -> None:
    text = """
        void f(int *seen, int *a) {
            #pragma omp target map(tofrom: seen[0:8]) map(to: a[0:4])
            for (int i = 0, n = a[0]; i < n; i += a[1]) {
                int by = a[i & 3];
                if (by == 9) continue;
                #pragma omp parallel for
                for (int k = 0; k < 8; k++) seen[k] += by * k + i;
                if (a[3] < i) break;
            }
        }
    """
    region = compile_c("step.c", text=text).region
    given = [11, 2, 9, 7]
    wanted = [0] * 8
    for i in range(0, given[0], given[1]):
        if given[i & 3] == 9:
            continue
        wanted = [w + given[i & 3] * k + i for k, w in enumerate(wanted)]
        if given[3] < i:
            break
    for shuffle in (None, random.Random(1), random.Random(2)):
        arrays = {"seen": bytes(32), "a": b"".join(n.to_bytes(4, "little") for n in given)}
        outputs = interpret(region, arrays, [], shuffle=shuffle)
        assert memoryview(outputs["seen"]).cast("i").tolist() == wanted


def test_what_the_last_assignment_leaves_is_new_each_time() -> None:
    text = """
        void f(int *a, int *seen) {
            int x = -1;
            #pragma omp target parallel num_threads(3) map(to: a[0:12]) map(tofrom: seen[0:3], x)
            for (int t = 0; t < 3; t++) {
                #pragma omp for lastprivate(conditional: x) schedule(static, 2)
                for (int k = 11; k >= 0; k--) if (a[k] == t) x = 10 * t + k;
                #pragma omp single
                seen[t] = x;
            }
        }
    """
    region = compile_c("last.c", text=text).region
    values = [2, 1, 2, 9, 9, 2, 0, 9, 9, 1, 9, 9]
    arrays = {"a": b"".join(v.to_bytes(4, "little") for v in values), "seen": bytes(12)}
    for shuffle in (None, random.Random(1), random.Random(2)):
        outputs = interpret(region, {**arrays, "x": b"\xff" * 4}, [], shuffle=shuffle)
        assert memoryview(outputs["seen"]).cast("i").tolist() == [6, 11, 20]
