"""Public waveforms of many simulators: a VCD and its FST counterpart have the same contents.

    python tests/traces/corpus.py DIR [FILE ...]

DIR is `wellen/inputs` of github.com/ekiwi/wellen. For each VCD that has an FST counterpart beside
it, made of it or with it by other programs, all signals that both declare are read as states at all
times, by two routes that share no code below `Waveform`: our own reader of VCD, and the crate
wellen. Their runs have to be equal. All other files have to open. Prints a row for each file that
does not, and the counts; exits with 1 if one is not known to be so.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from cyclescope.errors import DataError
from cyclescope.traces.wave import SignalKind, open_waveform

if TYPE_CHECKING:
    from cyclescope.traces.wave import Changes, Signal, Waveform

# What no reader can read, and why.
KNOWN = {
    "VCD_file_with_errors.vcd": "ends within its declarations",
    "sigrok/libsigrok.vcd.fst": "ends after its head: its writer was stopped",
    "ghdl/ghdl_issue_538.ghw": "wellen 0.25.7 knows no arrays of several dimensions",
}
# Counterparts that differ since their maker lost something: which signals, and why.
LOST = {
    "surfer/picorv32.vcd.fst": (77, "lacks the values of parameters, which are before `#0`"),
    "my-hdl/sigmoid_tb.vcd.fst": (4, "has NaN for the strings of signals declared as real"),
}
# A scope without a name has that of the next word there.
MISNAMED = "$end\n"
Runs = list[tuple[int, int, str]]


def counterparts(vcd: Path) -> list[Path]:
    """The FST files made of a VCD or with it."""
    made = [p for p in vcd.parent.glob(f"{vcd.name}*.fst") if p != vcd]
    source = vcd.with_suffix("") if vcd.stem.endswith(".fst") else vcd.with_suffix(".fst")
    return sorted({*made, *([source] if source.is_file() and source != vcd else [])})


def shown(changes: Changes, place: int, signal: Signal) -> Runs:
    """The values of a signal and when: (start, end, state), equal neighbours as one."""
    own = changes.signal == place
    step, value = changes.step[own], changes.value[own]
    # The last change of a step is what it shows; where time runs back nothing has any length.
    last = np.concatenate((step[1:] != step[:-1], [True]))[: len(step)]
    times = np.maximum.accumulate(changes.times)
    rows: Runs = [(int(times[0]), 0, "x")]
    for at, code in zip(times[step[last]].tolist(), value[last].tolist(), strict=True):
        labels = changes.labels[place]
        text = "x" if code < 0 else str(code) if labels is None else labels[code]
        if signal.kind is SignalKind.STRING:
            text = text.rstrip()
        if rows and rows[-1][0] == at:
            rows.pop()
        if not rows or rows[-1][2] != text:
            rows.append((at, 0, text))
    ends = [row[0] for row in rows[1:]] + [max(changes.end, int(times[-1]))]
    return [(a, end, text) for (a, _, text), end in zip(rows, ends, strict=True) if a < end]


def states(wave: Waveform) -> dict[str, Runs]:
    """The runs of every signal that has a value, by full name; of equal names the last."""
    named = {
        s.full_name: s
        for s in wave.signals
        if s.kind is not SignalKind.EVENT and (s.width or s.kind is SignalKind.STRING)
    }
    read = list({s.key: s for s in named.values()}.values())
    changes = wave.read(read)
    order = {signal.key: place for place, signal in enumerate(read)}
    return {
        name.removeprefix(f"{MISNAMED}."): shown(changes, order[s.key], s)
        for name, s in named.items()
    }


def compare(vcd: Path, fst: Path) -> tuple[int, list[str]]:
    """(signals that both declare, what differs)."""
    one, other = (states(open_waveform(path)) for path in (vcd, fst))
    both = one.keys() & other.keys()
    wrong = [
        f"{n}: {one[n][:4]} in the VCD, {other[n][:4]} in the FST"
        for n in sorted(both)
        if one[n] != other[n]
    ]
    wrong += [f"only the VCD declares {n}" for n in sorted(one.keys() - both)]
    wrong += [f"only the FST declares {n}" for n in sorted(other.keys() - both)]
    return len(both), wrong


def main() -> None:
    folder = Path(sys.argv[1])
    files = sorted(
        p for p in folder.rglob("*") if p.suffix in (".vcd", ".fst", ".ghw") and p.is_file()
    )
    if chosen := set(sys.argv[2:]):
        files = [p for p in files if str(p.relative_to(folder)) in chosen]
    counts: Counter[str] = Counter()
    failed = False
    for path in files:
        name = str(path.relative_to(folder))
        begun = time.perf_counter()
        form = path.suffix[1:].upper()
        counts[f"{form} tried"] += 1
        try:
            wave = open_waveform(path)
            wave.read([s for s in wave.signals if s.kind is not SignalKind.EVENT][:1])
            counts[f"{form} read"] += 1
        except DataError as error:
            known = KNOWN.get(name)
            failed |= known is None
            counts[f"{form} refused, known"] += known is not None
            print(f"{name}: {known or 'NOT KNOWN'}: {str(error)[len(str(path)) + 2 :]}")
            continue
        for other in counterparts(path) if form == "VCD" else ():
            counts["counterparts"] += 1
            try:
                number, wrong = compare(path, other)
            except DataError:
                print(f"{name}: its counterpart {other.name} cannot be read")
                known = KNOWN.get(str(other.relative_to(folder)))
                counts["counterparts refused, known"] += known is not None
                failed |= known is None
                continue
            counts["counterparts equal"] += not wrong
            counts["signals compared"] += number
            counts["signals equal"] += number - len(wrong)
            if wrong:
                lost, why = LOST.get(str(other.relative_to(folder)), (0, ""))
                counts["counterparts that lost something"] += lost == len(wrong)
                print(f"{name}: {len(wrong)} of {number} signals differ from {other.name}, {why}")
                if lost != len(wrong):
                    failed = True
                    print(*(f"    {line}" for line in wrong[:6]), sep="\n")
        if (spent := time.perf_counter() - begun) > 30:
            print(f"{name}: {spent:.0f} s")
    for what, number in sorted(counts.items()):
        print(f"{number:7,}  {what}")
    sys.exit(failed)


if __name__ == "__main__":
    main()
