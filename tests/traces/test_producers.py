"""One design and one run as ten producers write it: the same states in every cycle.

`data/waves/make.sh` made the files, and says of which versions.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from cyclescope.model import check_laws
from cyclescope.traces import import_signals
from cyclescope.traces.wave import open_waveform
from traces.test_signals import history

WAVES = Path(__file__).parent / "data" / "waves"
CLOCK = {
    "migen": "sys_clk",
    "icarus": "bench.clk",
    "verilator": "bench.clk",
    "gtkwave": "bench.clk",
}
FILES = sorted(p for form in ("vcd", "fst", "ghw") for p in WAVES.glob(f"*/*.{form}"))
IDS = [f"{p.parent.name}/{p.name}" for p in FILES]
COUNTS = 12
STATES = [0 if count < 3 else 1 if count < 7 else 2 for count in range(COUNTS + 1)]


def cycles(rows: list[tuple[int, int, str]]) -> list[str]:
    """The state of each cycle."""
    return [state for start, end, state in rows for _ in range(start, end)]


def full_names(path: Path, *names: str) -> list[str]:
    signals = open_waveform(path).signals
    return [next(s.full_name for s in signals if s.name == name) for name in names]


def test_there_are_ten_producers() -> None:
    assert len({path.parent for path in FILES}) == 10


@pytest.mark.long(keep_one_in=4)
@pytest.mark.parametrize("path", FILES, ids=IDS)
def test_the_same_states_from_every_producer(path: Path) -> None:
    names = full_names(path, "count", "state", "busy")
    # A clock has several names where it is a port too; the file made of GHDL's has one.
    clock = "clk" if path.stem == "phase" else CLOCK.get(path.parent.name, "clk")
    profile = import_signals(path, names, clock)
    check_laws(profile)
    count, state, busy = (cycles(history(profile, name)) for name in names)
    # Where a run begins and ends is the producer's: some show an edge more than others.
    assert COUNTS - 1 <= profile.cycles <= COUNTS
    first = int(count[0])
    assert first in (0, 1)
    expected = range(first, first + profile.cycles)
    assert count == [str(number) for number in expected]
    assert state == [str(STATES[number]) for number in expected]
    assert busy == [str(int(STATES[number] == 1)) for number in expected]
    assert not [a for a in profile.meta.anomalies if a.severity.value != "info"]


@pytest.mark.parametrize(
    "file", ["ghdl/counter.ghw", "ghdl/counter.fst", "gtkwave/phase.vcd", "pyvcd/counter.vcd"]
)
def test_states_by_their_names(file: str) -> None:
    path = WAVES / file
    profile = import_signals(path, ["phase"], "clk")
    names = cycles(history(profile, full_names(path, "phase")[0]))
    assert [name.replace("at ", "") for name in names] == [
        ("idle", "run", "rest")[state] for state in STATES[1 : len(names) + 1]
    ]


@pytest.mark.long(keep_one_in=3)
@pytest.mark.parametrize("folder", ["icarus", "ghdl", "yosys"])
def test_one_run_in_several_forms(folder: str) -> None:
    found = {}
    for path in sorted((WAVES / folder).iterdir()):
        if path.suffix == ".fst" and folder == "ghdl":
            assert path.read_bytes()[0] == 254  # packed as a whole
        names = full_names(path, "count", "state", "busy")
        profile = import_signals(path, names)
        runs = [history(profile, name) for name in names]
        found[path.name] = runs
    assert len(found) > 1
    assert len({str(runs) for runs in found.values()}) == 1


@pytest.mark.parametrize("file", ["icarus/counter.vcd", "icarus/counter.fst", "pyvcd/counter.vcd"])
def test_real_numbers(file: str) -> None:
    profile = import_signals(WAVES / file, ["level"])
    rows = history(profile, full_names(WAVES / file, "level")[0])
    assert {state for *_, state in rows} >= {"0.0", "1.5", "3.0"}
