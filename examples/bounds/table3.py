"""Table 3 of the cprof paper, regenerated.

    python examples/bounds/table3.py [--headers] [--out-of-order] [--rtl]

Every kernel in `polybench/` is compiled and run with its calibration; nothing is stored. A kernel
whose calibration has a tweak has two rows, with it and without. `--headers` adds the same table
with each benchmark header's own size and type, `--out-of-order` the estimate in which reordering
buffers take their time, beside the paper's RTL column; `--rtl` builds each network as hardware with
the least channels, simulates it, and compares every result with the native run.
"""

from __future__ import annotations

import argparse
import csv
import time
from dataclasses import replace
from pathlib import Path

from cyclescope.bounds import Bounds, Calibration, estimate, read_calibration
from cyclescope.network import measure

FOLDER = Path(__file__).parent
NOTES = {
    "doitgen": "the paper's 182028 is a misprint: its Diff (0.0 %) and factor (866) are of 181028",
    "durbin": "the paper's unbounded 152 is impossible: 31 sums in a chain at k = 31 alone",
}


def bounds(kernel: str, calibration: Calibration, *, detail: bool = False) -> Bounds:
    """The bounds of an example."""
    return estimate(FOLDER / "polybench" / f"{kernel}.c", calibration=calibration, detail=detail)


def mark(found: Bounds, row: dict[str, str]) -> str:
    """Compare a row with the paper's."""
    same = [
        found.absolute.cycles == int(row["absolute"]),
        found.unbounded.cycles == int(row["unbounded"]),
    ]
    return {(True, True): "=", (True, False): "unb. differs", (False, True): "abs. differs"}.get(
        (same[0], same[1]), "differs"
    )


def main() -> None:
    """Print what is asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--headers", action="store_true", help="also with the headers' sizes")
    parser.add_argument("--out-of-order", action="store_true", help="also with reordering buffers")
    parser.add_argument("--rtl", action="store_true", help="also the networks as hardware")
    options = parser.parse_args()
    rows = list(csv.DictReader((FOLDER / "table3.csv").read_text().splitlines()))
    begin = time.perf_counter()
    form = "{:15} {:>9} {:>9} {:>9} {:>10} {:>10} {:>7}  {}"
    print(form.format("kernel", "RTL", "abs.", "unb.", "our abs.", "our unb.", "factor", ""))
    exact = 0
    for row in rows:
        kernel = row["kernel"]
        file = FOLDER / "polybench" / f"{kernel}.toml"
        tweaked = read_calibration(file)
        for calibration in [
            tweaked,
            *([read_calibration(file, tweak=False)] if tweaked.reason else []),
        ]:
            found = bounds(kernel, calibration)
            exact += mark(found, row) == "=" and calibration is tweaked
            said = mark(found, row)
            if calibration.reason:
                said += f"  with a tweak: {calibration.reason}"
            elif calibration is not tweaked:
                said += "  without the tweak"
            if kernel in NOTES and calibration is tweaked:
                said += f"  ({NOTES[kernel]})"
            print(
                form.format(
                    kernel if calibration is tweaked else "", row["rtl"], row["absolute"],
                    row["unbounded"], found.absolute.cycles, found.unbounded.cycles,
                    f"{float(found.factor):.0f}", said,
                )
            )  # fmt: skip
    print(f"{exact} of {len(rows)} exact in both columns; {time.perf_counter() - begin:.1f} s")
    if options.headers:
        headers(rows)
    if options.out_of_order:
        out_of_order(rows)
    if options.rtl:
        rtl(rows)


def headers(rows: list[dict[str, str]]) -> None:
    """The table with sizes and types of the benchmark's headers."""
    print("\nWith the benchmark headers' own sizes and types, without tweaks:")
    form = "{:15} {:>9} {:>9} {:>10} {:>10}  {}"
    print(form.format("kernel", "abs.", "unb.", "our abs.", "our unb.", ""))
    for row in rows:
        file = FOLDER / "polybench" / f"{row['kernel']}.toml"
        calibration = replace(read_calibration(file, tweak=False), defines={})
        found = bounds(row["kernel"], calibration)
        print(
            form.format(
                row["kernel"], row["absolute"], row["unbounded"], found.absolute.cycles,
                found.unbounded.cycles, mark(found, row),
            )
        )  # fmt: skip


def out_of_order(rows: list[dict[str, str]]) -> None:
    """The absolute estimates with reordering buffers, beside RTL."""
    print("\nAbsolute, with reading through a reordering buffer at 3 cycles; RTL minus estimate:")
    form = "{:15} {:>9} {:>9} {:>9} {:>11} {:>9}"
    print(form.format("kernel", "RTL", "plain", "RTL - it", "reordering", "RTL - it"))
    for row in rows:
        calibration = read_calibration(FOLDER / "polybench" / f"{row['kernel']}.toml")
        found = bounds(row["kernel"], calibration, detail=True)
        assert found.reordered is not None
        plain, reordered, rtl = found.absolute.cycles, found.reordered.cycles, int(row["rtl"])
        print(form.format(row["kernel"], rtl, plain, rtl - plain, reordered, rtl - reordered))


def rtl(rows: list[dict[str, str]]) -> None:
    """The networks as hardware, beside the estimates and the paper's columns."""
    print("\nAs hardware; RTL minus estimate, the paper's and ours:")
    form = "{:15} {:>9} {:>9} {:>8} {:>9} {:>9} {:>8} {:>8} {:>9}"
    head = ("kernel", "RTL", "abs.", "diff.", "our RTL", "our abs.", "diff.", "buffers", "bits")
    print(form.format(*head))
    for row in rows:
        calibration = read_calibration(FOLDER / "polybench" / f"{row['kernel']}.toml")
        found = estimate(
            FOLDER / "polybench" / f"{row['kernel']}.c", calibration=calibration, detail=True,
            values=True, trace=True,
        )  # fmt: skip
        built = measure(found)
        theirs, absolute = int(row["rtl"]), int(row["absolute"])
        buffers = sum(channel.is_reordered for channel in built.network.channels)
        print(
            form.format(
                row["kernel"], theirs, absolute, theirs - absolute, built.cycles,
                found.absolute.cycles, built.cycles - found.absolute.cycles, buffers,
                built.depths.bits,
            ),
            flush=True,
        )  # fmt: skip


if __name__ == "__main__":
    main()
