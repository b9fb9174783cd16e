"""The bounds ladder of a program: unbounded ≤ absolute ≤ measured, and what lies between.

Each rung is the one before it and its gaps, exactly. The bounds are those of the program as one
thread would run it, with the latencies of the units that the hardware uses; so the first measured
rung is a run of one thread. More threads are one more rung.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cyclescope.analyse.rules._facts import Facts
from cyclescope.analyse.rules._threads import Threads
from cyclescope.c import Scalar

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from cyclescope.bounds import Bounds, Calibration
    from cyclescope.hls import Measurement, MemoryModel, Program
    from cyclescope.model import Profile

__all__ = ["Gap", "Rung", "climb", "ladder", "thread_time"]

_ME = re.compile(r"\bomp_get_thread_num\s*\(\s*\)")
_TEAM = re.compile(r"\bomp_get_num_threads\s*\(\s*\)")


@dataclass(frozen=True, slots=True)
class Gap:
    """A part of the way from one rung to the next: what it is, and its cycles (may be negative)."""

    name: str
    cycles: int


@dataclass(frozen=True, slots=True)
class Rung:
    """A number of cycles, and the gaps that lead to it from the rung below."""

    name: str
    cycles: int
    gaps: tuple[Gap, ...] = ()


def thread_time(profile: Profile) -> dict[str, int]:
    """How the thread that ends last spent the run; the parts sum to its cycles.

    Keys: `start` (not started yet), `memory`, `lock`, `barrier` (waiting), `end` (others are still
    at it, or the region is being left), `work` (the rest: computing, its pipeline, its control).
    """
    facts = Facts(profile)
    threads = Threads(facts)
    ends = []
    for path in threads.paths:
        busy = [c for c in facts.children[path] if facts.of(c).name != "idle"]
        ends.append(max((int(facts.spans(c)[1][-1]) for c in busy), default=0))
    last = max(range(threads.count), key=ends.__getitem__)
    start = min(threads.first()[last], profile.cycles)
    time = {
        "start": start,
        "memory": threads.counter("stalls: memory")[last],
        "lock": threads.state("spinning")[last],
        "barrier": threads.counter("stalls: barrier")[last],
        "end": profile.cycles - max(ends[last], start),
    }
    return time | {"work": profile.cycles - sum(time.values())}


def ladder(bounds: Bounds, alone: Profile, together: Profile | None = None) -> tuple[Rung, ...]:
    """The rungs of a program.

    Args:
        bounds: of the program as one thread runs it.
        alone: a run of one thread.
        together: a run of several; None if the program has but one.
    """
    low, high = bounds.unbounded.cycles, bounds.absolute.cycles
    taken = 0
    if bounds.detail is not None:
        path = bounds.detail.critical_path["absolute"]
        taken = min(sum(s.cycles for s in path if s.cause == "resource"), high - low)
    rungs = [
        Rung("unbounded", low),
        Rung(
            "absolute",
            high,
            (
                Gap("one firing after another waits for its operand", high - low - taken),
                Gap("one resource for each statement", taken),
            ),
        ),
    ]
    time = thread_time(alone)
    # What the bound counts for a statement the hardware spends working, or hides.
    rest = time["work"] - high
    name = "pipeline and control" if rest >= 0 else "parts of a statement overlap"
    waits = {"memory": "memory", "lock": "lock", "barrier": "barrier", "start": "thread start",
             "end": "leaving the region"}  # fmt: skip
    gaps = [*(Gap(what, time[key]) for key, what in waits.items()), Gap(name, rest)]
    rungs.append(Rung("one thread", alone.cycles, tuple(gap for gap in gaps if gap.cycles)))
    if together is not None:
        rungs.append(_together(alone, together))
    return tuple(rungs)


def _together(alone: Profile, together: Profile) -> Rung:
    time = thread_time(together)
    waits = {"lock": "waiting for locks", "barrier": "waiting at barriers (imbalance)",
             "start": "thread start"}  # fmt: skip
    gaps = [Gap(what, time[key]) for key, what in waits.items()]
    shared = together.cycles - alone.cycles - sum(gap.cycles for gap in gaps)
    gaps.append(Gap("work and waiting for memory side by side", shared))
    count = len(Threads(Facts(together)).paths)
    return Rung(f"{count} threads", together.cycles, tuple(gap for gap in gaps if gap.cycles))


def climb(
    source: Path,
    *,
    threads: int | None = None,
    defines: Mapping[str, str] | None = None,
    include: Sequence[Path] = (),
    arguments: Sequence[str] = (),
    memory: MemoryModel | None = None,
) -> tuple[Rung, ...]:
    """Run what a program's ladder needs: its bounds, and hardware of one thread and of several.

    Args:
        source: a C program with a target region, as for `cyclescope hls`.
        threads: hardware threads; as the program says if not given.
        defines: macros.
        include: folders of headers.
        arguments: of the program's main function.
        memory: timing of the external memory.

    Raises:
        SourceError: the hardware compiler or the bounds do not take the program.
        RunError: a run went wrong.
    """
    from cyclescope.bounds import estimate
    from cyclescope.hls import compile_c, measure

    macros = dict(defines or {})
    single = compile_c(source, threads=1, defines=macros, include=include)
    alone = measure(single, arguments, memory=memory)
    given = _given(single, alone)
    text = single.unit.sources[single.unit.file]
    bounds = estimate(
        source,
        kernel=single.region.name,
        text=_TEAM.sub("1", _ME.sub("0", text)),
        defines=macros,
        include=include,
        arguments=given,
        calibration=_calibration(),
        detail=True,
    )
    several = compile_c(source, threads=threads, defines=macros, include=include)
    if several.region.threads == 1:
        return ladder(bounds, alone.profile)
    together = measure(several, arguments, memory=memory)
    return ladder(bounds, alone.profile, together.profile)


def _given(program: Program, run: Measurement) -> dict[str, int | float]:
    """What the host gave the region, where it is a parameter: array sizes, values of scalars."""
    words = {array.name: array.word for array in program.region.arrays}
    sizes = run.native.inputs
    scalars = {
        name: (bits, width)
        for (name, width), bits in zip(program.region.scalars, run.native.scalars, strict=True)
    }
    given: dict[str, int | float] = {}
    for param in program.unit.functions[program.region.name].params:
        if param.name in scalars:
            bits, width = scalars[param.name]
            if isinstance(param.type, Scalar) and param.type.is_float:
                code = {32: "<If", 64: "<Qd"}[width]
                given[param.name] = struct.unpack(f"<{code[2]}", struct.pack(code[:2], bits))[0]
            else:
                given[param.name] = bits - (bits >> (width - 1) << width)
        elif param.name in sizes and words.get(param.name):
            given[param.name] = len(sizes[param.name]) // words[param.name]
    return given


def _calibration() -> Calibration:
    """The latencies of the hardware's own units; logic between them costs nothing."""
    from cyclescope.bounds import read_calibration
    from cyclescope.rtl import unit

    lines = ["read = 1", "write = 1"]
    for family, width in (("float", 32), ("double", 64)):
        units = {"add": "fadd", "mul": "fmul", "div": "fdiv", "sqrt": "fsqrt"}
        costs = {name: unit(of, width).latency for name, of in units.items()}
        costs |= {"base": 0, "compare": unit("flt", width).latency, "select": 0, "convert": 0}
        lines += [f"[operators.{family}]", *(f"{name} = {cost}" for name, cost in costs.items())]
    for family, width in (("int", 32), ("long", 64)):
        costs = {"base": 0, "add": 0, "mul": unit("mul", width).latency, "compare": 0, "select": 0}
        lines += [f"[operators.{family}]", *(f"{name} = {cost}" for name, cost in costs.items())]
    return read_calibration("latencies of the hardware", text="\n".join(lines))
