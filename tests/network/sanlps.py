"""Random static affine nested loop programs (SANLPs) as networks; and the long comparison.

    python tests/network/sanlps.py [--icarus] COUNT [SEED]

builds COUNT kernels as hardware, with channels that hold all tokens. Every result of every firing
is compared with the native run, whose values are compared with a plain compilation; the cycles are
compared with the bounds: unbounded ≤ absolute ≤ hardware, and where no channel is a reordering
buffer hardware ≤ absolute + 25. With `--icarus` the hardware runs in Icarus Verilog, which compiles
in a fraction of the time, instead of Verilator.
"""

from __future__ import annotations

import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from cyclescope.bounds import differences, estimate
from cyclescope.errors import CyclescopeError
from cyclescope.network import Timing, hardware_of, network_of, simulate
from cyclescope.network._bench import bench, wrapper
from cyclescope.network._simulate import write_inputs, write_results
from cyclescope.rtl import sources

if TYPE_CHECKING:
    from collections.abc import Callable

    from cyclescope.bounds import Bounds
    from cyclescope.network import Hardware, Network

RANKS = {"a": 1, "b": 1, "M": 2, "P": 2, "x": 1, "Y": 2}
REAL = frozenset("abMP")


class Maker:
    """Makes one kernel from a seed.

    Three of four kernels go through their arrays in the order of the loops, as most programs do:
    their channels are FIFOs but for where statements meet in another order. The others take
    elements in any.
    """

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.n = self.random.randint(3, 8)
        self.loops = 0
        self.ordered = self.random.random() < 0.75

    def text(self) -> str:
        """The kernel."""
        params = ", ".join(
            f"{'double' if name in REAL else 'int'} {name}{f'[{self.n}]' * rank}"
            for name, rank in RANKS.items()
        )
        body = "".join(self.nest(0, ()) for _ in range(self.random.randint(1, 3)))
        return f"void kernel({params})\n{{\n{body}}}\n"

    def nest(self, depth: int, counters: tuple[str, ...]) -> str:
        """A loop with statements and loops in it."""
        self.loops += 1
        own = f"i{self.loops}"
        low = self.random.choice(["0", "0", "1", *counters, *(f"{c} + 1" for c in counters)])
        high = self.random.choice(
            [f"{self.n}", f"{self.n}", *counters, *(f"{c} + 1" for c in counters)]
        )
        inner = (*counters, own)
        body = ""
        for _ in range(self.random.randint(1, 2)):
            if depth < 2 and self.random.random() < 0.5:
                body += self.nest(depth + 1, inner)
            else:
                body += self.statement(inner)
        if not self.ordered and self.random.random() < 0.3:
            return (
                f"for (int {own} = {self.n} - 1; {own} >= {low}; {own}--) {{\n"
                f"if ({own} < {high}) {{\n{body}}}\n}}\n"
            )
        return f"for (int {own} = {low}; {own} < {high}; {own}++) {{\n{body}}}\n"

    def place(self, name: str, counters: tuple[str, ...]) -> str:
        """An element; its subscripts stay in the array."""
        text = name
        if self.ordered:
            # Of the counters the outermost ones, or a part of them, in the order of the loops.
            first = self.random.randint(0, max(0, min(1, len(counters) - RANKS[name])))
            chosen = [*counters, counters[-1]][first : first + RANKS[name]]
            return text + "".join(f"[{counter}]" for counter in chosen)
        for _ in range(RANKS[name]):
            counter = self.random.choice(counters)
            text += f"[{self.random.choice([counter, counter, f'{self.n - 1} - {counter}'])}]"
        return text

    def expression(self, names: list[str], counters: tuple[str, ...], depth: int) -> str:
        """A sum, product … of elements, counters and constants."""
        kind = self.random.random()
        if depth == 0 or kind < 0.3:
            other = self.random.choice(["3", "2", self.random.choice(counters)])
            chosen = self.place(self.random.choice(names), counters)
            return chosen if self.random.random() < 0.85 else other
        left = self.expression(names, counters, depth - 1)
        right = self.expression(names, counters, depth - 1)
        if kind < 0.4:
            than = self.random.choice(["<", ">=", "=="])
            return f"({left} {than} {right} ? {left} : {right})"
        return f"({left} {self.random.choice('+-**+')} {right})"

    def statement(self, counters: tuple[str, ...]) -> str:
        """An assignment, perhaps under a condition."""
        target = self.random.choice(sorted(RANKS))
        names = [name for name in RANKS if (name in REAL) == (target in REAL)]
        if self.random.random() < 0.1:
            names = list(RANKS)
        place = self.place(target, counters)
        value = self.expression(names, counters, self.random.randint(0, 2))
        text = f"{place} {self.random.choice(['=', '+='])} {value};\n"
        if self.random.random() < 0.2:
            test = f"{self.random.choice(counters)} {self.random.choice(['<', '!=', '>'])} 2"
            return f"if ({test}) {{\n{text}}}\n"
        return text


def in_icarus(network: Network, hardware: Hardware) -> int | None:
    """Simulate a network with Icarus Verilog, each result compared.

    Returns:
        Its cycles, None for a deadlock.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file, text in sources(hardware.top).items():
            (folder / file).write_text(text)
        (folder / "bench.v").write_text(bench(network, hardware, judge=True))
        (folder / "testbench.v").write_text(wrapper())
        write_inputs(network, folder)
        write_results(network, folder)
        files = sorted(file.name for file in folder.glob("*.v"))
        subprocess.run(["iverilog", "-g2005", "-o", "sim", *files], cwd=folder, check=True)
        done = subprocess.run(
            ["vvp", "sim"], cwd=folder, check=True, capture_output=True, text=True
        )
        if "CYC deadlock" in done.stdout:
            return None
        assert "CYC" not in done.stdout, done.stdout
        found = re.search(r"^cycles (\d+)$", done.stdout, re.MULTILINE)
        assert found is not None, done.stdout
        for station in network.stations:
            if station.process.kind == "sink":
                written = (folder / f"sink{station.number}.out").read_text().splitlines()
                words = " ".join(line for line in written if not line.startswith("//")).split()
                assert [int(word, 16) for word in words] == station.trace.results[0].tolist()
        return int(found[1])


def in_verilator(network: Network, hardware: Hardware) -> int:
    """The same with Verilator."""
    found = simulate(network, hardware)
    for station in network.stations:
        if station.process.kind == "sink":
            assert (found.collected[station.number] == station.trace.results[0]).all()
    return found.cycles


def compare(
    text: str, simulator: Callable[[Network, Hardware], int | None] = in_verilator
) -> tuple[Bounds, Network, int]:
    """Build a kernel as hardware with channels that hold all tokens, and compare all there is."""
    bounds = estimate("k.c", text=text, detail=True, values=True, trace=True, verify=True)
    assert not differences(bounds)
    network = network_of(bounds)
    hardware = hardware_of(network, {c.number: c.tokens for c in network.channels})
    cycles = simulator(network, hardware)
    assert cycles is not None
    assert Timing(network).run(hardware.depths)[0] == cycles
    assert bounds.unbounded.cycles <= bounds.absolute.cycles <= cycles
    if not any(channel.is_reordered for channel in network.channels):
        assert cycles <= bounds.absolute.cycles + 25, (cycles, bounds.absolute.cycles)
    return bounds, network, cycles


def main() -> None:
    """Compare as many kernels as are asked for."""
    given = [word for word in sys.argv[1:] if word != "--icarus"]
    simulator = in_verilator if len(given) == len(sys.argv) - 1 else in_icarus
    count = int(given[0])
    seed = int(given[1]) if len(given) > 1 else 0
    wrong = 0
    # How many cycles above the bound, in order and with reordering buffers.
    above: dict[bool, list[int]] = {False: [], True: []}
    for number in range(seed, seed + count):
        text = Maker(number).text()
        try:
            bounds, network, cycles = compare(text, simulator)
        except (CyclescopeError, AssertionError) as error:
            wrong += 1
            print(f"seed {number}: {type(error).__name__}: {error}\n{text}", flush=True)
            continue
        absolute = bounds.absolute.cycles
        above[any(c.is_reordered for c in network.channels)].append(cycles - absolute)
        print(f"seed {number}: {absolute} {cycles}", flush=True)
    print(f"{count} kernels, {wrong} wrong")
    for reordered, found in above.items():
        what = "with reordering buffers" if reordered else "in order"
        print(f"{len(found)} {what}: at most {max(found, default=0)} cycles above the bound")


if __name__ == "__main__":
    main()
