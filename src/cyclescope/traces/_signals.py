"""Import any waveform: a list of signals, each read as the state that something is in."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np

from cyclescope.errors import DataError
from cyclescope.model import (
    Activity,
    Anomaly,
    Frame,
    Ints,
    Kind,
    Meta,
    Profile,
    ProfileBuilder,
    Severity,
)
from cyclescope.traces._inputs import digest, tool_versions
from cyclescope.traces._state_meaning import UNKNOWN as NOT_KNOWN
from cyclescope.traces._state_meaning import WORK, StateMeaning, folded
from cyclescope.traces.wave import (
    LIMITS,
    UNKNOWN,
    Limits,
    SignalKind,
    find_signal,
    listing,
    open_waveform,
    rising,
    sample,
    unique,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from cyclescope.traces.wave import Changes, Signal, States, Waveform

__all__ = ["import_signals", "list_signals"]

_SHOWN = 10  # values that an error names
_MOST_STATES = 100_000


def import_signals(
    path: Path,
    names: Sequence[str],
    clock: str | None = None,
    *,
    period_ps: int | None = None,
    work: Collection[str] = (),
    limits: Limits = LIMITS,
) -> Profile:
    """The profile in which each signal is a thread and each of its values a state.

    Args:
        path: VCD (.gz, .xz), FST or GHW.
        names: of the signals, dotted; the end of a name is enough if only one signal has it.
        clock: sample after each of its rising edges, one cycle each. Without a clock, the
            states at all times are shown, and a cycle is the waveform's unit of time.
        period_ps: the clock's period in picoseconds, if known.
        work: values that are work, each alone or as `signal=value`; of all others it is unknown
            what they are for.
        limits: on what the waveform may ask for.

    Raises:
        DataError: the file or a signal cannot be read, or nothing happens in it.
    """
    if not names:
        raise DataError(f"{path}: no signal is named; say which to read (--signals)")
    wave = open_waveform(path, limits)
    named = {name: find_signal(wave, name) for name in names}
    chosen = list(dict.fromkeys(named.values()))
    ticking = find_signal(wave, clock) if clock is not None else None
    signals = unique([*chosen, *([ticking] if ticking else [])])
    _check_kinds(wave, signals)
    columns = {signal.key: place for place, signal in enumerate(signals)}
    with ThreadPoolExecutor(1) as pool:
        hashed = pool.submit(digest, path)
        changes = wave.read(signals)
        if ticking is not None:
            at = rising(changes, columns[ticking.key])
            lengths: Ints = np.ones(len(at), dtype=np.int64)
            where = f"the clock {ticking.full_name} never rises"
        else:
            at, lengths = _intervals(changes)
            where = "no time passes"
        if not lengths.sum():
            raise DataError(f"{path}: {where}; nothing to import")
        states = sample(changes, at, changes.widths)
        used = [columns[signal.key] for signal in chosen]
        builder = ProfileBuilder()
        meaning = _Work(named, work)
        tree = _trees(wave, builder, chosen, changes, states, used, meaning)
        options = {"from": "signals", "waveform": wave.form}
        if ticking is not None:
            options["clock"] = ticking.full_name
        elif period_ps is None and wave.tick_fs is not None:
            tick = wave.tick_fs / changes.per_tick / 1000
            period_ps = tick.numerator if tick.denominator == 1 else None
        meta = Meta(
            source="traces",
            title=path.name,
            period_ps=period_ps,
            tools=tool_versions(wave.form),
            inputs={path.name: hashed.result()},
            options=options,
            anomalies=(*changes.anomalies, *_undefined(chosen, states, used)),
        )
    return builder.build(meta, lengths, tree[states.state])


def list_signals(path: Path, pattern: str = "", *, limits: Limits = LIMITS) -> Iterator[str]:
    """Lines for people: the scopes and signals of a waveform.

    Args:
        path: VCD (.gz, .xz), FST or GHW.
        pattern: part of a full name, or all of it with `*`, `?` and `[...]`.
        limits: on what the waveform may ask for.

    Raises:
        DataError: the file cannot be read.
    """
    return listing(open_waveform(path, limits), pattern)


def _check_kinds(wave: Waveform, signals: Sequence[Signal]) -> None:
    for signal in signals:
        if signal.kind is SignalKind.EVENT or (signal.kind is SignalKind.BITS and not signal.width):
            raise DataError(
                f"{wave.path}: {signal.full_name} is an event: it has no value that could be a "
                "state; choose another signal"
            )


def _intervals(changes: Changes) -> tuple[Ints, Ints]:
    """The time steps with a change, and how long each lasts until the next one."""
    at = np.unique(np.concatenate((np.zeros(1, dtype=np.int32), changes.step))).astype(np.int64)
    # Where time runs back, nothing has any length until it is caught up with.
    time = np.maximum.accumulate(changes.times)
    return at, np.diff(np.append(time[at], max(int(time[-1]), changes.end)))


def _trees(
    wave: Waveform,
    builder: ProfileBuilder,
    chosen: Sequence[Signal],
    changes: Changes,
    states: States,
    used: list[int],
    work: _Work,
) -> Ints:
    if len(states.values) > _MOST_STATES:
        raise DataError(
            f"{wave.path}: the signals show more than {_MOST_STATES:,} combinations of values; "
            "choose signals that are states, not data"
        )
    threads = [
        builder.path(
            -1,
            Frame(
                Kind.THREAD,
                signal.full_name,
                ".".join(signal.scope),
                activity=Activity.UNKNOWN,
                track=True,
            ),
        )
        for signal in chosen
    ]

    def state(place: int, value: int) -> int:
        name = _state(chosen[place], changes.labels[used[place]], value)
        meaning = work.meaning(chosen[place], name)
        frame = Frame(Kind.STATE, name, chosen[place].full_name, **meaning)
        return builder.path(threads[place], frame)

    rows = states.values[:, used].tolist()
    trees = [builder.tree(state(place, v) for place, v in enumerate(row)) for row in rows]
    work.check(wave.path)
    return np.array(trees, dtype=np.int64)


class _Work:
    """Values that the user calls work: of any signal, or of one."""

    def __init__(self, named: Mapping[str, Signal], work: Collection[str]) -> None:
        self._names: dict[Signal, set[str]] = {}
        for name, signal in named.items():
            self._names.setdefault(signal, {signal.full_name}).add(name)
        self._told = folded(work)
        self._wanted = {*self._told}
        self._there: dict[str, None] = {}

    def meaning(self, signal: Signal, value: str) -> StateMeaning:
        """The meaning of a signal's value."""
        self._there[value] = None
        keys = {*folded([value, *(f"{name}={value}" for name in self._names[signal])])}
        found = keys & self._told.keys()
        self._wanted -= found
        return WORK if found else NOT_KNOWN

    def check(self, path: Path) -> None:
        """Raise `DataError` if a value is called work that no signal has."""
        if self._wanted:
            strange = self._told[min(self._wanted)]
            there = ", ".join(list(self._there)[:_SHOWN])
            raise DataError(f"{path}: no signal has the value {strange}; there are {there}")


def _state(signal: Signal, labels: Sequence[str] | None, value: int) -> str:
    """The name of a value."""
    if value == UNKNOWN:
        return "x"
    if labels is None:
        named = signal.states and signal.states.get(f"{value:0{signal.width}b}")
        return named or str(value)
    text = labels[value]
    return text if text.strip() else f"'{text}'"


def _undefined(chosen: Sequence[Signal], states: States, used: list[int]) -> list[Anomaly]:
    """Samples in which a signal has no value."""
    often = np.bincount(states.state, minlength=len(states.values))
    missing = (states.values[:, used] == UNKNOWN) * often[:, None]
    count = int(missing.sum())
    if not count:
        return []
    names = [s.full_name for s, n in zip(chosen, missing.sum(axis=0).tolist(), strict=True) if n]
    detail = "shown as state x: " + ", ".join(names[:5])
    return [Anomaly("signal without a value", Severity.INFO, count, detail)]
