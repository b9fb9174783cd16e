"""Programs whose host comes to the region more than once: each time it runs in hardware."""

from __future__ import annotations

import struct
from dataclasses import replace

import numpy as np
import pytest

from cyclescope.errors import RunError
from cyclescope.hls import Host, Program, UnitOptions, compile_c, interpret, measure
from cyclescope.hls.run._judges import judge
from cyclescope.model import Loop, check_laws, in_sequence

HEAD = "#include <omp.h>\n#include <stdio.h>\n#include <stdlib.h>\n"

# The second time depends on the first one's results, in data, in sizes and in how often.
CHAIN = """\
static int step(int *a, int n) {
  int seen = 0;
  #pragma omp target parallel for num_threads(2) map(tofrom: a[0:n], seen) reduction(+: seen)
  for (int i = 0; i < n; ++i) {
    a[i] = 3 * a[i] + 1;
    seen += a[i];
  }
  return seen;
}
int main(void) {
  int a[8] = {1, 2, 3, 4, 5, 6, 7, 8}, seen = 8;
  while (seen < 1000) {
    seen = step(a, 8 - seen % 3);
    printf("%d\\n", seen);
  }
  return a[7];
}
"""

pytestmark = pytest.mark.usefixtures("host_compiler")


def program(text: str) -> Program:
    return compile_c("h.c", text=HEAD + text)


@pytest.mark.long
def test_each_time_runs_and_the_profile_has_them_one_after_another() -> None:
    result = measure(program(CHAIN))
    assert result.agrees
    assert result.stdout == result.native.stdout == b"69\n260\n645\n2084\n"
    assert len(result.runs) == len(result.native.reaches) == result.native.reached == 4
    assert not result.left
    profile = result.profile
    check_laws(profile)
    assert profile.cycles == result.run.cycles == sum(run.cycles for run in result.runs)
    (marks,) = (s for s in profile.series if s.metric == "run")
    assert np.diff(np.append(marks.start, profile.cycles)).tolist() == [
        run.cycles for run in result.runs
    ]
    assert marks.value.tolist() == [1, 2, 3, 4]
    (loop,) = (s for s in profile.sites if isinstance(s, Loop))
    # 8 - 8 % 3, 8 - 69 % 3, 8 - 260 % 3, 8 - 645 % 3 iterations of two threads together.
    assert (loop.executions, loop.trips) == (8, (6 + 8 + 6 + 8) // 8)
    alone = [measure(program(CHAIN), times=1).profile]
    assert alone[0].cycles == result.runs[0].cycles


def test_more_often_than_allowed_the_host_runs_it() -> None:
    result = measure(program(CHAIN), times=2)
    assert result.agrees
    assert result.stdout == result.native.stdout
    assert (len(result.runs), result.native.reached, result.left) == (2, 4, 2)


@pytest.mark.long
def test_the_profiling_unit_writes_each_run() -> None:
    result = measure(program(CHAIN), unit=UnitOptions("h.c"), times=3)
    assert result.agrees
    check_laws(result.profile)
    assert len(result.runs) == 3
    assert result.profile.cycles <= result.run.cycles


def test_a_wrong_result_of_any_time_is_seen() -> None:
    made = program(CHAIN)
    with Host(made) as host:
        native = host.run(times=4)
        for wrong in range(4):
            reaches = []
            coming = native.reaches[0]
            while coming is not None:
                outputs = interpret(made.region, coming.inputs, coming.scalars)
                if len(reaches) == wrong:
                    first = struct.unpack_from("<i", outputs["a"])[0]
                    outputs["a"] = struct.pack("<i", first ^ 1) + outputs["a"][4:]
                reaches.append(replace(coming, outputs=outputs))
                resumed = host.resume(reaches, times=4)
                coming = resumed.reach
            found = judge(made, host, [], native, reaches, (resumed.stdout, resumed.status))
            for one in found:
                assert [d.split(":")[0] for d in one.differing] == [f"run {wrong + 1}"]


@pytest.mark.long
def test_static_locals_keep_what_the_run_before_left() -> None:
    result = measure(
        program("""\
static int next(void) { static int n = 40; return ++n; }
int main(void) {
  for (int i = 0; i < 3; i++) {
    int x = 0;
    #pragma omp target map(tofrom: x)
    { x = next(); printf("in the region: %d\\n", x); }
    printf("%d\\n", x);
  }
}
""")
    )
    assert result.agrees
    assert result.stdout == b"".join(b"in the region: %d\n%d\n" % (n, n) for n in (41, 42, 43))


@pytest.mark.long
def test_what_goes_wrong_in_a_later_run_is_said() -> None:
    text = """\
int main(void) {
  int a[4] = {0};
  for (int i = 0; i < 6; i += 2) {
    #pragma omp target map(tofrom: a)
    a[i + 1] = i;
  }
}
"""
    with pytest.raises(RunError, match=r"h\.c:8: thread 0 writes 4 bytes at byte 20 of a"):
        measure(program(text))


def test_one_profile_in_sequence_is_itself() -> None:
    profile = measure(program(CHAIN), times=1).profile
    assert in_sequence([profile]) is profile
    twice = in_sequence([profile, profile])
    check_laws(twice)
    assert twice.cycles == 2 * profile.cycles
    for one, two in zip(profile.series, twice.series, strict=True):
        assert two.value.tolist() == 2 * one.value.tolist()
        assert two.head == one.head
    assert twice.schedule.tree_of.max() == profile.schedule.tree_of.max()
