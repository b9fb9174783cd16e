"""Dynamic and guided schedules: each iteration once, in chunks that idle threads take."""

from __future__ import annotations

import random
import struct

import pytest

from cyclescope.hls import Host, MemoryModel, Program, compile_c, interpret, machine_of, measure
from cyclescope.hls.run._simulation import run_setup, set_up

TEXT = """\
#include <omp.h>
int times[64], who[64], n = 37;
int main(void) {
#pragma omp target parallel num_threads(%d) map(tofrom: times, who)
  for (int round = 0; round < 3; round++)
#pragma omp for schedule(%s) nowait
    for (int i = 0; i < n; i++) {
#pragma omp atomic
      times[i]++;
      who[i] = omp_get_thread_num();
    } }
"""
SCHEDULES = ("dynamic", "dynamic, 4", "dynamic, 64", "guided", "guided, 5")


def made(schedule: str, threads: int) -> Program:
    return compile_c("c.c", text=TEXT % (threads, schedule), threads=threads)


def numbers(data: bytes) -> list[int]:
    return list(struct.unpack(f"<{len(data) // 4}i", data))


def chunks(who: list[int], least: int) -> None:
    """Each chunk but the last has at least so many iterations, in a row, of one thread."""
    start = 0
    while start < len(who):
        end = start
        while end < len(who) and who[end] == who[start]:
            end += 1
        assert end - start >= least or end == len(who)
        start = end


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("threads", [1, 3, 8])
def test_each_iteration_takes_place_once_in_each_instance(schedule: str, threads: int) -> None:
    program = made(schedule, threads)
    least = int(schedule.partition(",")[2] or 1)
    zeros = bytes(256)
    for seed in range(12):
        shuffle = random.Random(seed)
        found = interpret(program.region, {"times": zeros, "who": zeros}, (37,), shuffle=shuffle)
        assert numbers(found["times"]) == [3] * 37 + [0] * 27
        who = numbers(found["who"])[:37]
        assert set(who) <= set(range(threads))
        chunks(who, least)


@pytest.mark.long
@pytest.mark.usefixtures("host_compiler")
@pytest.mark.parametrize(("schedule", "threads"), [("dynamic, 2", 3), ("guided", 4)])
def test_so_it_does_in_hardware_with_any_memory(schedule: str, threads: int) -> None:
    program = made(schedule, threads)
    with Host(program) as host:
        native = host.run()
    machine = machine_of(program)
    for memory in (MemoryModel(), MemoryModel(seed=3, stall=50), MemoryModel(controller=1)):
        for in_order in (False, True):
            run = run_setup(
                set_up(machine, native.inputs, native.scalars, memory=memory, in_order=in_order)
            )
            assert run.complete
            assert run.arrays["times"] == native.outputs["times"]
            assert len(set(numbers(run.arrays["who"])[:37])) > 1


UNEVEN = """\
float a[32];
int main(void) {
#pragma omp target parallel for num_threads(4) map(tofrom: a) schedule(%s)
  for (int i = 0; i < 32; i++) {
    float s = i;
    for (int k = 0; k < i * i; k++) s = s * 0.5f + k;
    a[i] = s;
  } }
"""


@pytest.mark.long
@pytest.mark.usefixtures("host_compiler")
def test_threads_end_together_where_iterations_are_uneven() -> None:
    cycles = {
        schedule: measure(compile_c("u.c", text=UNEVEN % schedule)).profile.cycles
        for schedule in ("static", "dynamic")
    }
    # In equal blocks the last thread has 7 of 12 of the work.
    assert cycles["dynamic"] < 0.65 * cycles["static"]
