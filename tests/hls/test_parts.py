"""The small parts of the machine by themselves."""

from __future__ import annotations

import random

import pytest

from cyclescope.hls.microarch._parts import scheduler
from cyclescope.rtl import Module, const, mux, sources
from rtl.benches import checker, in_icarus, in_verilator

THREADS = (2, 3, 5, 8, 9)


def chosen(eligible: int, last: int, threads: int) -> int | None:
    """The next eligible thread behind the last that went, by going round."""
    ring = ((last + i) % threads for i in range(1, threads + 1))
    return next((t for t in ring if eligible >> t & 1), None)


@pytest.mark.parametrize("simulator", ["verilator", "icarus"])
def test_the_scheduler_goes_round_and_says_whom_it_chose(tmp_path, simulator) -> None:
    draw = random.Random(11)
    m = Module("dut")
    for n in THREADS:
        inputs = {"eligible": m.input(f"eligible{n}", n), "go": m.input(f"go{n}", 1)}
        hts = m.instance(scheduler(n, gated=True), f"hts{n}", inputs)
        m.output(f"grant{n}", hts["grant"])
        m.output(f"valid{n}", hts["valid"])
        # Which number there is without a thread is not said.
        number = hts["number"]
        m.output(f"number{n}", mux(hts["valid"], number, const(0, number.width)))
    last = {n: n - 1 for n in THREADS}
    vectors, expected = [], []
    for i in range(300):
        vector, row = {}, {}
        for n in THREADS:
            eligible = draw.getrandbits(n) & draw.getrandbits(n) if i else 0
            who = chosen(eligible, last[n], n)
            goes = int(who is not None and draw.random() < 0.7)
            vector |= {f"eligible{n}": eligible, f"go{n}": goes}
            row |= {f"valid{n}": int(who is not None), f"number{n}": who or 0}
            row[f"grant{n}"] = 0 if who is None else 1 << who
            if goes and who is not None:
                last[n] = who
        vectors.append(vector)
        expected.append(row)
    texts = {**sources(m), "main.v": checker(m, vectors, expected)}
    said = in_verilator(texts) if simulator == "verilator" else in_icarus(tmp_path, texts)
    assert said.split("\n")[0] == "end", said[:2000]
