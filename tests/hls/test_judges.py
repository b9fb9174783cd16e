"""The judges of a run: the unmodified program and the rewritten host, and what they can't say."""

from __future__ import annotations

import struct
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from cyclescope.errors import RunError
from cyclescope.hls import Host, Judge, Native, Program, Reach, compile_c, interpret, measure
from cyclescope.hls.run._host import EndlessError
from cyclescope.hls.run._judges import judge
from cyclescope.sim import Confine, Trust, trusting

if TYPE_CHECKING:
    from cyclescope.hls import Judgement

HEAD = "#include <omp.h>\n#include <stdio.h>\n#include <stdlib.h>\n"

pytestmark = pytest.mark.usefixtures("host_compiler")


def judged(program: Program, change: dict[str, bytes] | None = None) -> tuple[Judgement, ...]:
    """The judgements on the interpreter's results, or on others."""
    with Host(program) as host:
        native = host.run()
        arrays = interpret(program.region, native.inputs, native.scalars) | (change or {})
        end = host.replay(arrays, inputs=native.inputs)
        return judge(program, host, [], native, [replace(native.reaches[0], outputs=arrays)], end)


TEAM = """\
int n[2];
int main(void) {
#pragma omp target parallel num_threads(4) map(tofrom: n)
  if (!omp_get_thread_num()) n[1] = omp_get_num_threads();
  printf("%d\\n", n[1]); }
"""


def test_both_judge_what_is_right() -> None:
    found = judged(compile_c("h.c", text=HEAD + TEAM))
    assert [j.judge for j in found] == [Judge.UNMODIFIED, Judge.HOST]
    assert all(j == type(j)(j.judge) for j in found)  # nothing to say against it


def test_a_team_of_another_size_is_not_the_unmodified_programs() -> None:
    made = compile_c("h.c", text=HEAD + TEAM, threads=8)
    first, second = judged(made)
    assert first.why_not == "the teams are not those that the text says"
    assert second == type(second)(Judge.HOST)
    # Had the clause been lost, the rewritten host would have lost it, too; the other sees it.
    lost = replace(made, overruled=False)
    first, second = judged(lost)
    assert first.differing == (
        "n: 1 of 2 elements differ, the first at 1: 8 in hardware, 4 natively",
    )
    assert not first.prints_alike
    assert not second.differing


def test_wrong_memories_are_seen_by_both() -> None:
    made = compile_c("h.c", text=HEAD + TEAM)
    found = judged(made, {"n": struct.pack("<2i", 1, 4)})
    assert all("the first at 0: 1 in hardware, 0 natively" in j.differing[0] for j in found)
    assert all(j.prints_alike for j in found)


PROGRAMS = {
    "data that differ from run to run": """
int main(void) { int a[4] = {0}; long place = (long)&place ^ (long)malloc(1);
  for (int i = 0; i < 4; i++) a[i] = (int)(place >> (4 * i));
#pragma omp target parallel for map(tofrom: a)
  for (int i = 0; i < 4; i++) a[i] *= 3;
  int sum = 0; for (int i = 0; i < 4; i++) sum += a[i] == 3 * (int)(place >> (4 * i));
  puts(a[1] == a[1] ? "same" : "other"); }
""",
    "arrays that the region fills in part": """
int main(void) { int a[64]; long b[8];
#pragma omp target parallel for map(from: a, b)
  for (int i = 0; i < 8; i++) { a[2 * i] = i; if (i & 1) b[i] = i; }
  printf("%d %ld\\n", a[2], b[3]); }
""",
    "a region that is a task": """
int a[64]; int main(void) {
#pragma omp target parallel for map(tofrom: a) nowait
  for (int i = 0; i < 64; i++) a[i] = i;
#pragma omp taskwait
  printf("%d\\n", a[63]); }
""",
    "a loop construct": """
int a[64]; int main(void) {
#pragma omp target teams loop bind(teams) order(concurrent) map(tofrom: a)
  for (int i = 0; i < 64; i++) a[i] = i;
  printf("%d\\n", a[63]); }
""",
    "a league": """
int a[64], n; int main(void) {
#pragma omp target teams distribute num_teams(4) map(tofrom: a, n)
  for (int i = 0; i < 64; i++) { a[i] = i;
#pragma omp atomic
    n += i; }
  printf("%d %d\\n", a[63], n); }
""",
    "comments around directives": """
int a[8]; int main(void) {
 /* one
ä */ #pragma omp target parallel for map(tofrom: a) /* twö
 three */ num_threads(2) // four \\
 five
  for (int i = 0; i < 8; i++) a[i] = i; /* six */
  printf("%d\\n", a[7]); }
""",
    "constant arrays": """
const int c[4] = {1, 2, 3, 4}; int a[4]; int main(void) {
#pragma omp target parallel for map(to: c) map(from: a)
  for (int i = 0; i < 4; i++) a[i] = c[i];
  printf("%d\\n", a[3]); }
""",
    "a scalar that is mapped by default": """
int main(void) { int s = 3;
#pragma omp target defaultmap(tofrom: scalar)
  s = s * 2;
  printf("%d\\n", s); }
""",
}  # fmt: skip


@pytest.mark.long(keep_one_in=4)
@pytest.mark.parametrize("text", PROGRAMS.values(), ids=PROGRAMS)
def test_both_judges_can_be_asked_of(text: str) -> None:
    for found in judged(compile_c("h.c", text=HEAD + text)):
        assert found == type(found)(found.judge)


def test_what_a_judges_own_runs_do_not_agree_on_is_not_compared() -> None:
    made = compile_c("h.c", text=HEAD + TEAM.replace("n[2]", "n[2], m[2]").replace("n)", "n, m)")
                     .replace("n[1] = omp", "m[0] = 1, n[1] = omp"))  # fmt: skip

    class Fickle:
        no_judge = ""

        def __init__(self) -> None:
            self.runs = 0

        def run(self, *_: object, **__: object) -> Native:
            self.runs += 1
            outputs = {"n": struct.pack("<2i", 0, self.runs), "m": struct.pack("<2i", 1, 0)}
            return Native((Reach({}, (), outputs),), b"", 0)

    native = Fickle().run()
    arrays = {"n": struct.pack("<2i", 9, 9), "m": struct.pack("<2i", 1, 0)}
    for found in judge(made, Fickle(), [], native, [Reach({}, (), arrays)], (b"", 0)):  # type: ignore[arg-type]
        assert (found.undecided, found.differing) == (("n",), ())
    arrays["m"] = struct.pack("<2i", 2, 0)
    for found in judge(made, Fickle(), [], native, [Reach({}, (), arrays)], (b"", 0)):  # type: ignore[arg-type]
        assert found.undecided == ("n",)
        assert [line[:2] for line in found.differing] == ["m:"]


def test_a_judge_that_crashes_says_so() -> None:
    made = compile_c("h.c", text=HEAD + TEAM)
    with Host(made) as host:
        native = host.run()
        run = host.run

        def crashing(*given: object, **options: object) -> Native:
            if options.get("unmodified"):
                raise RunError("killed by signal 11")
            return run(*given, **options)  # type: ignore[arg-type]

        host.run = crashing  # type: ignore[method-assign, assignment]
        first, second = judge(made, host, [], native, native.reaches, (native.stdout, 0))
    assert first.why_not == "killed by signal 11"
    assert second == type(second)(Judge.HOST)


@pytest.mark.long
@pytest.mark.parametrize(
    ("body", "where"),
    [("volatile int k = 0; while (k == 0); a[0] = 1;", "h.c:6: "), ("", "h.c: ")],
)
def test_a_native_run_without_end_ends_by_a_limit(body: str, where: str) -> None:
    before = "" if body else "volatile int k = 0; while (k == 0);"
    text = (
        f"{HEAD}int a[4];\nint main(void) {{ {before}\n"
        f"#pragma omp target map(tofrom: a)\n{{ {body} }}\n}}\n"
    )
    made = compile_c("h.c", text=text)
    began = time.monotonic()
    with (
        trusting(Trust(Confine.AUTO, refuse=True, seconds=1)),
        pytest.raises(EndlessError) as caught,
    ):
        measure(made)
    assert time.monotonic() - began < 60  # neither again, nor the hardware
    said = str(caught.value)
    assert said.startswith(where)
    assert "took more than 1 s (its limit of time)" in said
    assert said.endswith("let it end, give it less to do, or more time with --time-limit")
    assert "\n" not in said


ADDRESSES = """\
int n[2];
int main(void) {
  int *block = malloc(8), own = 0;
#pragma omp target map(tofrom: n)
  n[1] = 3;
  printf("%p %p %p %d\\n", (void *)n, (void *)block, (void *)&own, n[1]); }
"""


@pytest.mark.long
def test_addresses_say_nothing() -> None:
    program = compile_c("h.c", text=HEAD + ADDRESSES)
    assert all(j.prints_alike and not j.differing for j in judged(program))
    wrong = judged(program, {"n": struct.pack("<2i", 0, 4)})
    assert not any(j.prints_alike for j in wrong)
