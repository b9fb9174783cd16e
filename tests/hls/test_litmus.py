"""Litmus tests: what threads may see of each other's stores, under many timings of the memory.

All of them are in one region, so one machine is built; each is a loop over places of its own. The
variants without synchronisation are there to show that the timings can tell.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import numpy as np
import pytest

from cyclescope.errors import ToolError
from cyclescope.hls import MemoryModel, compile_c, interpret, machine_of
from cyclescope.hls.run._simulation import run_setup, set_up
from cyclescope.sim._toolchain import find_compiler, find_verilator

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cyclescope.hls import Program

    Results = Mapping[str, np.ndarray]

ROUNDS, APART, ENTRIES = 12, 16, 5  # places of a line each; entries into a critical section
TIMINGS = [
    MemoryModel(),
    *(MemoryModel(seed=seed, stall=stall) for seed in (1, 2, 3, 4, 5) for stall in (5, 40, 120)),
    *(MemoryModel(seed=seed, stall=300, stall_one_in=8) for seed in (6, 7, 8)),
    *(MemoryModel(controller=wait, cas=1, rcd=0, rp=0) for wait in (1, 90)),
]

# What two threads do in each round: {x}, {y} are the round's places, {r}, {s} its results. `BUSY`
# keeps a thread's write port busy, so that a load can overtake the store behind it.
BUSY = "busy[32 * me] = i; busy[32 * me + 16] = i;"
PAIRS = {
    "sb_plain": (f"{BUSY} {{x}} = 1; {{r}} = {{y}};", f"{BUSY} {{y}} = 1; {{r}} = {{x}};"),
    "sb_flush": (
        f"{BUSY} {{x}} = 1;\n#pragma omp flush\n{{r}} = {{y}};",
        f"{BUSY} {{y}} = 1;\n#pragma omp flush\n{{r}} = {{x}};",
    ),
    "sb_seq_cst": (
        "int v;\n#pragma omp atomic write seq_cst\n{x} = 1;\n"
        "#pragma omp atomic read seq_cst\nv = {y};\n{r} = v;",
        "int v;\n#pragma omp atomic write seq_cst\n{y} = 1;\n"
        "#pragma omp atomic read seq_cst\nv = {x};\n{r} = v;",
    ),
    "sb_atomic_flush": (
        "{x} = 1;\n#pragma omp atomic seq_cst\n{z}++;\n{r} = {y};",
        "{y} = 1;\n#pragma omp atomic seq_cst\n{z}++;\n{r} = {x};",
    ),
    "sb_critical": (
        "{x} = 1;\n#pragma omp critical\n{z}++;\n{r} = {y};",
        "{y} = 1;\n#pragma omp critical\n{z}++;\n{r} = {x};",
    ),
    "mp_flush": (
        "{x} = 1;\n#pragma omp flush\n{y} = 1;",
        "{r} = {y};\n#pragma omp flush\n{s} = {x};",
    ),
    "mp_release_acquire": (
        "{x} = 1;\n#pragma omp atomic write release\n{y} = 1;",
        "int v;\n#pragma omp atomic read acquire\nv = {y};\n{s} = {x}; {r} = v;",
    ),
    "mp_acq_rel": (
        "{x} = 1;\n#pragma omp atomic update acq_rel\n{y} += 1;",
        "int v;\n#pragma omp atomic capture acq_rel\n{{ v = {y}; {y} += 0; }}\n{s} = {x}; {r} = v;",
    ),
    "mp_critical": (
        "{x} = 1;\n#pragma omp critical(one)\n{y} = 1;",
        "int v;\n#pragma omp critical(one)\nv = {y};\n{s} = {x}; {r} = v;",
    ),
    "corr_relaxed": (
        "#pragma omp atomic write relaxed\n{x} = 1;",
        "int v, w;\n#pragma omp atomic read relaxed\nv = {x};\n"
        "#pragma omp atomic read relaxed\nw = {x};\n{r} = v; {s} = w;",
    ),
}
PETERSON = """
      want[{my}] = 1; turn[0] = {you};
      #pragma omp flush
      while (want[{your}] && turn[0] == {you}) {{
        #pragma omp flush
      }}
      {section}
      #pragma omp flush
      want[{my}] = 0;
      #pragma omp flush
"""
# Threads enter a critical section in turn; `me` and `you` are 0 and 1.
LOCKS = {
    "peterson": PETERSON,
    "peterson_plain": PETERSON.replace("#pragma omp flush", ""),
    "dekker": """
      want[{my}] = 1;
      #pragma omp flush
      while (want[{your}]) {{
        if (turn[0] != {me}) {{
          want[{my}] = 0;
          #pragma omp flush
          while (turn[0] != {me}) {{
            #pragma omp flush
          }}
          want[{my}] = 1;
        }}
        #pragma omp flush
      }}
      {section}
      turn[0] = {you};
      #pragma omp flush
      want[{my}] = 0;
      #pragma omp flush
""",
    "handed_on": """
      int next;
      do {{
        #pragma omp atomic read acquire
        next = turn[0];
      }} while (next != {me});
      {section}
      #pragma omp atomic write release
      turn[0] = {you};
""",
}


def forbidden(name: str, results: Results) -> int:
    """In how many rounds the threads saw what they may not see."""
    first, second = (results[f"{name}_{n}"][::APART] for n in (1, 2))
    if name.startswith("sb"):
        return int(((first == 0) & (second == 0)).sum())
    return int(((first != 0) & (second == 0)).sum())


def text() -> str:
    names = [f"{name}_{n}" for name in PAIRS for n in (1, 2)]
    arrays = [*names, *(f"x_{n}" for n in PAIRS), *(f"y_{n}" for n in PAIRS), "z"]
    parts = []
    for name, programs in PAIRS.items():
        parts.append("#pragma omp barrier\nif (me == 0) {")
        for number, own in enumerate(programs):
            number_of_r = number + 1 if name.startswith("sb") else 1
            body = own.format(
                x=f"x_{name}[{APART} * i]",
                y=f"y_{name}[{APART} * i]",
                z="z[0]",
                r=f"{name}_{number_of_r}[{APART} * i]",
                s=f"{name}_2[{APART} * i]",
            )
            parts.append(f"for (int i = 0; i < {ROUNDS}; i++) {{\n{body}\n}}\n")
            parts.append("} else {" if not number else "}\n")
    for name, lock in LOCKS.items():
        parts.append("#pragma omp barrier\nif (me == 0) {")
        section = f"count[{APART} * {list(LOCKS).index(name)}]++;"
        own_lock = lock.replace("want[", f"want_{name}[").replace("turn[", f"turn_{name}[")
        for me in (0, 1):
            you = 1 - me
            body = own_lock.format(me=me, you=you, my=APART * me, your=APART * you, section=section)
            parts.append(f"for (int i = 0; i < {ENTRIES}; i++) {{\n{body}\n}}\n")
            parts.append("} else {" if not me else "}\n")
    more = [f"{what}_{name}" for name in LOCKS for what in ("want", "turn")]
    declared = ", ".join(f"{a}[{APART * ROUNDS}]" for a in arrays)
    declared += "".join(f", {a}[{2 * APART}]" for a in more) + f", count[{APART * len(LOCKS)}]"
    declared += ", busy[64]"
    listed = ", ".join([*arrays, *more, "count", "busy"])
    return (
        f"#include <omp.h>\nint {declared};\nint main(void) {{\n"
        f"#pragma omp target parallel num_threads(2) map(tofrom: {listed})\n"
        f"{{ int me = omp_get_thread_num();\n{''.join(parts)}\n}}\n}}\n"
    )


@pytest.fixture(scope="module")
def program() -> Program:
    return compile_c("litmus.c", text=text())


@pytest.fixture(scope="module")
def seen(program: Program) -> list[Results]:
    """The memories after the region, for each timing."""
    try:
        find_compiler(), find_verilator()
    except ToolError as error:
        pytest.skip(str(error))
    machine = machine_of(program)
    arrays = {a.name: bytes(a.bytes or 0) for a in program.region.arrays}
    found = []
    for number, memory in enumerate(TIMINGS):
        # Who comes first also differs.
        run = run_setup(set_up(machine, arrays, memory=memory, start_cost=7 * number % 50))
        assert run.complete
        found.append({n: np.frombuffer(data, "<i4") for n, data in run.arrays.items()})
    return found


def test_there_are_enough_timings() -> None:
    assert len(TIMINGS) >= 20


@pytest.mark.long
@pytest.mark.parametrize("name", [n for n in PAIRS if not n.endswith("plain")])
def test_synchronised_threads_see_only_what_they_may(name: str, seen: list[Results]) -> None:
    assert [forbidden(name, results) for results in seen] == [0] * len(seen)


@pytest.mark.long
def test_without_synchronisation_the_timings_show_more(seen: list[Results]) -> None:
    assert any(forbidden("sb_plain", results) for results in seen)
    at = APART * list(LOCKS).index("peterson_plain")
    assert any(results["count"][at] != 2 * ENTRIES for results in seen)


@pytest.mark.long
@pytest.mark.parametrize("name", [n for n in LOCKS if not n.endswith("plain")])
def test_one_thread_at_a_time_is_in_a_critical_section(name: str, seen: list[Results]) -> None:
    at = APART * list(LOCKS).index(name)
    assert [int(results["count"][at]) for results in seen] == [2 * ENTRIES] * len(seen)


def test_the_interpreter_agrees(program: Program) -> None:
    arrays = {a.name: bytes(a.bytes or 0) for a in program.region.arrays}
    for seed in range(3):
        after = interpret(program.region, arrays, shuffle=random.Random(seed), limit=10**6)
        results = {n: np.frombuffer(data, "<i4") for n, data in after.items()}
        assert not any(forbidden(name, results) for name in PAIRS)
        assert (results["count"][::APART] == 2 * ENTRIES).all()
