"""Import what the original Petal leaves: a waveform of an instrumented design and JSON files."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from cyclescope._files import read_source, source_below
from cyclescope.calltree import CallTrees
from cyclescope.errors import DataError
from cyclescope.model import Anomaly, Meta, Profile, Severity
from cyclescope.traces._inputs import digest, tool_versions
from cyclescope.traces.petal._components import components_of, main_frame, recording_of
from cyclescope.traces.petal._probes import Design, find_design
from cyclescope.traces.petal._side import read_side_files
from cyclescope.traces.wave import (
    LIMITS,
    MAX_BITS,
    Limits,
    States,
    open_waveform,
    rising,
    sample,
    unique,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cyclescope.model import Ints
    from cyclescope.traces.wave import Changes, Waveform

__all__ = ["import_petal"]

_WAVEFORMS = (".vcd", ".vcd.gz", ".vcd.xz", ".fst")


def import_petal(
    folder: Path,
    waveform: Path | None = None,
    *,
    program: str = "",
    period_ps: int | None = None,
    embed: bool = True,
    limits: Limits = LIMITS,
) -> Profile:
    """The profile of a run that the original Petal's flow recorded.

    Args:
        folder: with the JSON files and, unless given, the one waveform.
        waveform: VCD (.gz, .xz) or FST of the instrumented design.
        program: name of the Calyx program, for source positions; the folder's if not given.
        period_ps: the clock's period in picoseconds, if known.
        embed: whether the profile carries the texts that positions name: the program's, and of
            those that generated it the ones below the folder or the current one.
        limits: on what the waveform may ask for.

    Raises:
        DataError: a file is missing or damaged, or they do not belong together.
    """
    if not folder.is_dir():
        raise DataError(f"{folder}: is not a folder; name the one with the waveform and cells.json")
    path = waveform or _only_waveform(folder)
    side = read_side_files(folder)
    given, program = program, program or f"{folder.resolve().name}.futil"
    with ThreadPoolExecutor(1) as pool:
        hashed = pool.submit(digest, path)
        wave = open_waveform(path, limits)
        design = find_design(path, wave.signals, side)
        run = _record(wave, design)
        recording = recording_of(design, run.columns, *run.window())
        main = main_frame(side)
        made = CallTrees(main, main.name, components_of(design, side, program), recording)
        trees = made.trees()
        for series in made.registers():
            made.profile.counter(series)
        meta = Meta(
            source="traces",
            title=program,
            complete=run.complete,
            stop_reason="" if run.complete else "the waveform ends before main is done",
            period_ps=period_ps,
            tools=tool_versions(wave.form),
            inputs=dict(sorted({**side.digests, path.name: hashed.result()}.items())),
            options={"from": "petal", "waveform": wave.form},
            anomalies=tuple(_anomalies(design, run)),
        )
    profile = made.profile.build_states(meta, recording.runs, trees)
    return replace(profile, sources=_texts(profile, folder, given)) if embed else profile


def _texts(profile: Profile, folder: Path, program: str) -> dict[str, str]:
    """The texts at hand, by the names that positions give them."""
    here = folder.resolve()
    found: dict[str, str | None] = {}
    for file in dict.fromkeys(p.file for frame in profile.catalog for p in frame.positions):
        text = source_below(file, (here, Path.cwd().resolve()))
        # A build folder contains copies of files that were named from where the build was started.
        found[file] = source_below(Path(file).name, (here,)) if text is None else text
    if program and found.get(program, "") is None:
        found[program] = read_source(Path(program))
    return {file: text for file, text in found.items() if text is not None}


def _only_waveform(folder: Path) -> Path:
    found = sorted(p for p in folder.iterdir() if p.name.endswith(_WAVEFORMS) and p.is_file())
    if len(found) != 1:
        names = ", ".join(p.name for p in found[:3]) or "none"
        raise DataError(
            f"{folder}: contains {len(found)} waveforms ({names}); name one (--waveform)"
        )
    return found[0]


@dataclass(frozen=True)
class _Recording:
    """The recording of a design in a waveform.

    Attributes:
        states: after each rising edge of the clock.
        columns: key of a signal → its column there.
        start, end: the first sample of the run, and the one after its last.
        complete: main was seen to be done.
        anomalies: met while reading.
    """

    states: States
    columns: dict[bytes, int]
    start: int
    end: int
    complete: bool
    anomalies: tuple[Anomaly, ...]

    def window(self) -> tuple[Ints, tuple[Ints, Ints, int | None]]:
        """The values in the states of the run and the cycle after it; its runs of them."""
        shown, state = np.unique(self.states.state[self.start : self.end + 1], return_inverse=True)
        cycles = self.end - self.start
        after = int(state[cycles]) if len(state) > cycles else None
        state = state[:cycles]
        first = np.flatnonzero(np.concatenate(([True], state[1:] != state[:-1])))
        lengths = np.diff(np.append(first, cycles))
        return self.states.values[shown], (state[first], lengths, after)


def _record(wave: Waveform, design: Design) -> _Recording:
    own = [signal for instance in design.instances for signal in instance.signals]
    signals = unique([design.clock, design.go, design.done, *own])
    for signal in signals:
        if not 1 <= signal.width <= MAX_BITS:
            raise DataError(
                f"{wave.path}: {signal.full_name} has {signal.width} bits; control signals have "
                f"1 to {MAX_BITS}"
            )
    columns = {signal.key: place for place, signal in enumerate(signals)}
    changes = wave.read(signals)
    for signal, labels in zip(signals, changes.labels, strict=True):
        if labels is not None:
            raise DataError(
                f"{wave.path}: {signal.full_name} has values that are not bits ({labels[0]}); the "
                "file is damaged"
            )
    clock = columns[design.clock.key]
    edges = rising(changes, clock)
    anomalies = (*changes.anomalies, *_irregular(changes, edges))
    changes = changes.without(clock)
    states = sample(changes, edges, [signal.width for signal in signals], unknown=0)
    on = (states.values[:, columns[design.go.key]] == 1)[states.state]
    off = (states.values[:, columns[design.done.key]] == 1)[states.state]
    start = int(np.argmax(on)) if on.any() else len(on)
    # Main raises done in the cycle after its last.
    ends = np.flatnonzero(off[start:])
    end = start + int(ends[0]) if len(ends) else len(on)
    if not len(ends) and end > start and edges[-1] == len(changes.times) - 1:
        # A cycle that begins with the last thing in the file did not end, and may lack changes.
        end -= 1
    if start == end:
        raise DataError(f"{wave.path}: main never runs; nothing to import")
    return _Recording(states, columns, start, end, bool(len(ends)), anomalies)


def _irregular(changes: Changes, edges: Ints) -> Iterator[Anomaly]:
    """Periods of the clock that differ from the usual: edges may be missing."""
    periods = np.diff(changes.times[edges])
    odd = int(np.count_nonzero(periods != np.median(periods))) if len(periods) else 0
    if odd:
        detail = "periods of the clock that differ from the others; edges may be missing"
        yield Anomaly("clock irregular", Severity.DATA_LOSS, odd, detail)


def _anomalies(design: Design, run: _Recording) -> Iterator[Anomaly]:
    yield from run.anomalies
    if not run.complete:
        detail = "the waveform ends before main is done"
        yield Anomaly("run not complete", Severity.DATA_LOSS, 1, detail)
    lost = sorted(
        {
            f"{instance.component.name}.{group.name}"
            for instance in design.instances
            for group in instance.component.groups
            if group.node is None
        }
    )
    if lost:
        detail = "compiler-made groups of no known statement, not shown: " + ", ".join(lost[:5])
        yield Anomaly("control group without a place", Severity.INFO, len(lost), detail)
    if design.removed:
        detail = "called, but not in the design; not shown: " + ", ".join(design.removed[:5])
        yield Anomaly("cell removed by the compiler", Severity.INFO, len(design.removed), detail)
    if design.strange:
        detail = "not shown: " + ", ".join(design.strange[:5])
        yield Anomaly("probe of another component", Severity.INFO, len(design.strange), detail)
