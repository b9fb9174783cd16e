"""The judge of optimised programs: the memories of a build that shares no optimiser with them.

A program is compiled with the shortest list of passes that lowers it and run. Where the memories
of the build that is judged differ, either the program leaves its own result open, or a pass changed
its meaning. A result may depend on timing, which is tried by putting waits into the control, and
on the value of a port marked `@data` while nothing drives it, which is tried by driving it. The
pass is found in two ways: the list with the pass left out gives the right memories; and the passes
before it, then nothing but lowering, do so too, while with it they do not.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TYPE_CHECKING

from cyclescope._files import scratch
from cyclescope.calyx._compile import Program, compile_as, compile_program
from cyclescope.calyx._complaints import explain_printed
from cyclescope.calyx._simulate import check_top, simulate, stopped_because
from cyclescope.calyx._waits import with_waits
from cyclescope.errors import CyclescopeError, SourceError, VerifyError
from cyclescope.model import Anomaly, Severity

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from cyclescope.calyx._own import OwnCompiler
    from cyclescope.calyx._source import CalyxOptions
    from cyclescope.model import Meta
    from cyclescope.sim import Difference, Memory, MemoryData

__all__ = [
    "Judgement",
    "Open",
    "OpenResult",
    "Outcome",
    "Suspect",
    "judge_program",
    "judged",
    "run_compiled",
    "run_unoptimised",
]

_LOWER = (
    "wrap-main", "go-insertion", "wire-inliner", "clk-insertion", "reset-insertion",
    "merge-assigns", "default-assigns",
)  # fmt: skip
# What turns every statement into gates, and no more: nothing in here makes a design smaller or
# faster. Dead groups are those that the passes before leave behind; `tdcc` does not take them.
_UNOPTIMISED = (
    "compile-sync", "simplify-with-control", "compile-invoke", "compile-repeat",
    "dead-group-removal", "static-inline", "add-guard", "compile-static-interface",
    "compile-static", "tdcc", *_LOWER,
)  # fmt: skip
# For programs that do not import the primitive which `compile-sync` needs, and for compilers
# whose `compile-static` takes guards in one form only.
_INSTEAD = {
    "compile-sync": ("compile-sync-without-sync-reg",),
    "add-guard": ("add-guard", "simplify-static-guards"),
}
# They look at a program and do not change it.
_CHECKS = ("well-formed", "papercut", "canonicalize")
# Ports have all their assignments now, and not yet a default.
_BEFORE_DEFAULTS = "default-assigns"
_LEAST_LIMIT = 100_000  # cycles
_TIMES = 20  # as long as the program without optimisation may a build of it run
_TRIES = 4  # of other timings


@dataclass(frozen=True)
class Outcome:
    """A run's result.

    Attributes:
        program: what ran.
        cycles: how many.
        stopped: why it did not reach its end; empty if it did.
        memories: after it.
    """

    program: Program
    cycles: int
    stopped: str
    memories: MemoryData

    @property
    def declared(self) -> tuple[Memory, ...]:
        """The memories as the design has them."""
        return self.program.design.memories


def run_compiled(
    program: Program, values: Mapping[str, object], data: Path | None, limit: int | None
) -> Outcome:
    """Run a compiled program, which may be stopped before its end; arguments as of `simulate`."""
    result = simulate(program, values, data, limit)
    stopped = "" if result.complete else stopped_because(result)
    return Outcome(program, result.cycles, stopped, result.memories)


@dataclass(frozen=True)
class Suspect:
    """A pass that makes the difference.

    Attributes:
        name: the pass.
        cures: the other passes without it give the right memories.
        first: the passes up to it, then only lowering, are the first to give wrong ones.
        reason: why it could not be left out; empty if it could.
    """

    name: str
    cures: bool
    first: bool
    reason: str = ""


class Open(Enum):
    """The choices that a program leaves open, and its result depends on."""

    TIMING = (
        "timing",
        "its control waits here and there",
        "order what writes and reads it (seq, @sync)",
    )
    UNDRIVEN = (
        "what data ports hold while nothing drives them",
        "these hold ones",
        "drive the port, or do not read it then",
    )

    def __init__(self, what: str, when: str, cure: str) -> None:
        self.what = what
        self.when = when
        self.cure = cure


@dataclass(frozen=True)
class OpenResult:
    """A program whose result without optimisation changes with what it leaves open.

    Attributes:
        on: what the result depends on.
        found: the first word that changed, or why the run did not end.
    """

    on: Open
    found: Difference | str

    @property
    def told(self) -> str:
        """Describe for people what was seen."""
        found = self.found if isinstance(self.found, str) else self.found.told("and not")
        return f"without optimisation, too, they differ when {self.on.when} ({found})"


@dataclass(frozen=True)
class Judgement:
    """An optimised program against the same without optimisation.

    Attributes:
        optimised, reference: the two runs.
        by: the user's compiler if that compiled the reference, None for the built-in one.
        differing: the first word of each memory that differs, and how many do.
        open_: what the result depends on though the program leaves it open; None if nothing was
            found, or nothing differs.
        suspects: the passes that make the difference, the likeliest first.
    """

    optimised: Outcome
    reference: Outcome
    by: OwnCompiler | None
    differing: tuple[Difference, ...] = ()
    open_: OpenResult | None = None
    suspects: tuple[Suspect, ...] = ()

    @property
    def holds(self) -> bool:
        """Both ended, with equal memories."""
        return not self.differing and not self.optimised.stopped

    @property
    def explanation(self) -> str:
        """Explain in one line what is wrong and why; empty if nothing is."""
        if self.holds:
            return ""
        what = "; ".join(found.told("without optimisation") for found in self.differing[:3])
        if len(self.differing) > 3:
            what += f"; and {len(self.differing) - 3} more memories differ"
        if self.optimised.stopped:
            after = f"{self.optimised.stopped}, after {self.optimised.cycles:,} cycles"
            ends = f"{after}; without optimisation it ends after {self.reference.cycles:,}"
            what = f"{ends}; {what}" if what else ends
        return f"{what}; {self._cause()}"

    def _cause(self) -> str:
        if self.open_ is not None:
            on = self.open_.on
            return f"its results depend on {on.what}: {self.open_.told}; {on.cure}"
        if not self.suspects:
            return "no single pass makes the difference; try leaving out several (-d)"
        first = self.suspects[0]
        if first.first and first.cures:
            return (
                f"pass {first.name} makes the difference: the passes before it give the right"
                f" memories, and so do all without it; leave it out (-d {first.name}) and report it"
            )
        cures = [suspect.name for suspect in self.suspects if suspect.cures]
        others = f"; without {' or '.join(cures)} they are right" if cures else ""
        if first.first:
            cannot = f", which cannot be left out ({first.reason})" if first.reason else ""
            also = "" if first.reason or cures else "; others do so without it"
            return f"memories are wrong from pass {first.name} on{cannot}{also}{others}; report it"
        return f"memories are right without {' or '.join(cures)}; leave it out (-d) and report it"


def judge_program(
    path: Path,
    data: Path | None,
    options: CalyxOptions,
    *,
    progress: Callable[[str], object] = lambda _: None,
) -> Judgement:
    """Compare a program's memories with those of the same program without optimisation.

    Args:
        path: the program.
        data: its memories; None if it has none.
        options: how it is compiled.
        progress: told what is tried.

    Raises:
        VerifyError: it cannot be compiled without optimisation, or does not end then.
        SourceError, DataError, ToolError, RunError, OutputError: see `cyclescope.errors`.
    """
    return _Judge(path, data, options, progress).judgement()


def run_unoptimised(
    path: Path, data: Path | None, options: CalyxOptions, *, tries: int = 0
) -> tuple[Outcome, OpenResult | None]:
    """Run a program without optimisation, and tell whether it leaves its result open.

    Args:
        path: the program.
        data: its memories; None if it has none.
        options: how it is compiled.
        tries: other timings that are tried, to tell what it leaves open; None is told without.

    Raises:
        VerifyError: it cannot be compiled without optimisation, or does not end then.
        SourceError, DataError, ToolError, RunError, OutputError: see `cyclescope.errors`.
    """
    judge = _Judge(path, data, options, lambda _: None)
    with suppress(SourceError):
        check_top(compile_program(path, passes=("compile", "lower")))
    reference = judge.reference()
    return reference, judge.left_open(reference, tries) if tries else None


def judged(meta: Meta, outcome: Outcome, data: Path | None, options: CalyxOptions) -> Meta:
    """Say in the head of a run's profile what its memories should be, and whether they are.

    What cannot be judged, or depends on what the program leaves open, is noted as an anomaly.

    Args:
        meta: the head, with the contents of the memories.
        outcome: the run.
        data: the memories before it; None if there are none.
        options: how it was compiled.
    """
    from cyclescope.sim import memory_digest

    judge = _Judge(outcome.program.path, data, options, lambda _: None)
    try:
        reference = judge.reference()
    except VerifyError as error:
        note = Anomaly("not judged", Severity.INFO, 1, str(error))
        return replace(meta, anomalies=(*meta.anomalies, note))
    found = _compare(outcome, reference)
    if found and (open_ := judge.left_open(reference)):
        name = f"results depend on {open_.on.what}"
        note = Anomaly(name, Severity.INFO, len(found), open_.told)
        return replace(meta, anomalies=(*meta.anomalies, note))
    right = {m.name: memory_digest(m, reference.memories[m.name]) for m in reference.declared}
    notes = [
        Anomaly("wrong memory", Severity.ERROR, d.words, d.told("without optimisation"))
        for d in found
    ]
    return replace(
        meta,
        memories=tuple(replace(c, expected=right.get(c.memory, "")) for c in meta.memories),
        anomalies=(*meta.anomalies, *notes),
    )


@dataclass
class _Judge:
    path: Path
    data: Path | None
    options: CalyxOptions
    progress: Callable[[str], object]
    limit: int | None = None
    by: OwnCompiler | None = None
    values: MemoryData = field(default_factory=dict)
    known: dict[str, Outcome] = field(default_factory=dict)  # by Verilog

    def __post_init__(self) -> None:
        from cyclescope.sim import read_data

        self.values = read_data(self.data) if self.data else {}

    def judgement(self) -> Judgement:
        # An instrumented program knows its cells as they were written; any compiler's will do.
        with suppress(SourceError):
            check_top(compile_program(self.path, passes=("compile", "lower")))
        self.progress("without optimisation")
        reference = self.reference()
        self._bound(reference)
        self.progress("as compiled")
        program = compile_as(self.path, self.options, instrument=False)
        flat = program.record.passes
        optimised = self._run(program)
        differing = _compare(optimised, reference)
        found = Judgement(optimised, reference, self.by, differing)
        if found.holds:
            return found
        if open_ := self.left_open(reference):
            return replace(found, open_=open_)
        return replace(found, suspects=tuple(self._suspects(flat, reference)))

    def reference(self) -> Outcome:
        """The run without optimisation, by the built-in compiler if it takes the program."""
        self.limit = self.options.cycle_limit
        own = self.options.compiler
        compilers = [None] if own is None else [None, own]
        refusal: SourceError | None = None
        for compiler in compilers:
            try:
                program = _lowered(self.path, compiler)
            except SourceError as error:
                refusal = error
                continue
            outcome = self._run(program)
            if outcome.stopped:
                raise VerifyError(
                    f"{self.path}: cannot be verified: without optimisation, {outcome.stopped},"
                    f" after {outcome.cycles:,} cycles"
                )
            self.by = compiler
            return outcome
        raise VerifyError(
            f"{self.path}: cannot be verified: it does not compile without optimisation: {refusal}"
        )

    def _bound(self, reference: Outcome) -> None:
        """From now on no build may run much longer than the reference: a wrong one may not end."""
        if self.limit is None:
            self.limit = max(_LEAST_LIMIT, _TIMES * reference.cycles)

    # How a build is made and run.

    def _compile(self, passes: Sequence[str]) -> Program:
        return compile_program(
            self.path,
            passes=passes or ("none",),
            disable=_corrections(self.options),
            options=self.options.options,
            instrument=False,
            compiler=self.options.compiler,
        )

    def _run(self, program: Program) -> Outcome:
        text = program.design.sources["design.sv"]
        if text not in self.known:
            self.known[text] = run_compiled(program, self.values, self.data, self.limit)
        return self.known[text]

    def _right(self, program: Program, reference: Outcome) -> bool:
        try:
            outcome = self._run(program)
        except CyclescopeError:  # of the tools: what cannot be built or does not settle
            return False
        return not outcome.stopped and not _compare(outcome, reference)

    # Does the program leave its own result open?

    def left_open(self, reference: Outcome, tries: int = _TRIES) -> OpenResult | None:
        self._bound(reference)
        for attempt in range(tries):
            self.progress(f"with waits in its control ({attempt + 1} of {tries})")
            # What cannot be made, built or settled says nothing.
            with suppress(CyclescopeError), scratch("calyx") as folder:
                copy = with_waits(self.path, folder, attempt)
                other = self._run(_lowered(copy, self.by))
                if found := _changed(other, reference):
                    return OpenResult(Open.TIMING, found)
        if self.by is None:
            self.progress("with ones where nothing drives data")
            with suppress(CyclescopeError):
                other = self._run(_lowered(self.path, None, undriven=True))
                if found := _changed(other, reference):
                    return OpenResult(Open.UNDRIVEN, found)
        return None

    # Which pass?

    def _suspects(self, flat: Sequence[str], reference: Outcome) -> list[Suspect]:
        first = self._first_wrong(flat, reference)
        found: list[Suspect] = []
        if first is not None:
            found.append(self._without(flat, first, reference, first=True))
            if found[0].cures:
                return found
        for name in dict.fromkeys(flat):
            if name != first and name not in _CHECKS:
                suspect = self._without(flat, name, reference, first=False)
                if suspect.cures:
                    found.append(suspect)
        return found

    def _without(
        self, flat: Sequence[str], name: str, reference: Outcome, *, first: bool
    ) -> Suspect:
        self.progress(f"without {name}")
        try:
            program = self._compile([other for other in flat if other != name])
        except SourceError as error:
            return Suspect(name, cures=False, first=first, reason=str(error))
        return Suspect(name, cures=self._right(program, reference), first=first)

    def _first_wrong(self, flat: Sequence[str], reference: Outcome) -> str | None:
        """The pass after which the program is wrong, by bisection; None if none is found so."""
        start = self._prefix(flat, 0)
        if start is None or not self._right(start, reference):
            return None  # the lowering itself is wrong
        right, wrong = 0, len(flat)
        # A list that cannot be compiled says nothing: the nearest that can stands for it.
        while wrong - right > 1:
            middle = (right + wrong) // 2
            order = sorted(range(right + 1, wrong), key=lambda at: abs(at - middle))
            for at in order:
                program = self._prefix(flat, at)
                if program is not None:
                    if self._right(program, reference):
                        right = at
                    else:
                        wrong = at
                    break
            else:
                break
        # Between the two only lists that cannot be compiled are left.
        return flat[wrong - 1] if wrong - right == 1 else None

    def _prefix(self, flat: Sequence[str], count: int) -> Program | None:
        """The first passes, and then only what lowers."""
        self.progress(f"with the first {count} of {len(flat)} passes")
        parts = self.path, flat[:count], flat[count:], self.options
        try:
            if self.options.compiler is not None and self.by is None:
                return _lowered_here_after(*parts, self.options.compiler)
            return _lowered_after(*parts)
        except SourceError:
            return None


def _compare(found: Outcome, reference: Outcome) -> tuple[Difference, ...]:
    from cyclescope.sim import differences

    if not found.memories or not reference.memories:
        return ()
    return differences(reference.declared, found.memories, reference.memories)


def _changed(other: Outcome, reference: Outcome) -> Difference | str | None:
    """The first word in which a run differs, or why it did not end."""
    return other.stopped or next(iter(_compare(other, reference)), None)


def _known(names: Sequence[str], compiler: OwnCompiler | None) -> list[str]:
    """Those passes of a list that a compiler has."""
    if compiler is None:
        return list(names)
    return [name for name in names if name in compiler.aliases]


def _lowered(path: Path, compiler: OwnCompiler | None, *, undriven: bool = False) -> Program:
    """The program without any optimisation; `undriven`: with ones where nothing drives data.

    Raises:
        SourceError: it cannot be compiled so.
    """
    wanted: tuple[str, ...] = _UNOPTIMISED
    if undriven:
        at = wanted.index(_BEFORE_DEFAULTS)
        wanted = (*wanted[:at], "drive-undriven-data", *wanted[at:])
    passes = _known(wanted, compiler)
    try:
        return compile_program(path, passes=passes, instrument=False, compiler=compiler)
    except SourceError as error:
        other = _known([n for p in wanted for n in _INSTEAD.get(p, (p,))], compiler)
        try:
            return compile_program(path, passes=other, instrument=False, compiler=compiler)
        except SourceError:
            raise error from None


def _rest(before: Sequence[str], after: Sequence[str], compiler: OwnCompiler | None) -> list[str]:
    """The passes that lower after some others, in place of those that come after them.

    What a list runs once is not run twice; what it runs again later is needed again.
    """
    return _known([n for n in _UNOPTIMISED if n in after or n not in before], compiler)


def _corrections(options: CalyxOptions) -> tuple[str, ...]:
    """The corrections of the built-in compiler that the user leaves out."""
    if options.compiler is not None:
        return ()
    return tuple(name for name in options.disable if name not in _UNOPTIMISED)


def _lowered_after(
    path: Path, before: Sequence[str], after: Sequence[str], options: CalyxOptions
) -> Program:
    """The program after some passes, lowered without the others.

    Raises:
        SourceError: it cannot be compiled so.
    """
    return compile_program(
        path,
        passes=[*before, *_rest(before, after, options.compiler)],
        disable=_corrections(options),
        options=options.options,
        instrument=False,
        compiler=options.compiler,
    )


def _lowered_here_after(
    path: Path,
    before: Sequence[str],
    after: Sequence[str],
    options: CalyxOptions,
    compiler: OwnCompiler,
) -> Program:
    """The same by two compilers: the passes by the user's, the lowering by the built-in one.

    Raises:
        SourceError: the first refuses the program, or the other what the first prints.
    """
    from cyclescope.calyx._own import RefusalError, print_after
    from cyclescope.sim import current_trust, trusting

    with scratch("calyx") as folder:
        copy = folder / path.name
        try:
            copy.write_bytes(print_after(compiler, path, before, options.options))
        except RefusalError as refusal:
            raise explain_printed(path, str(refusal), compiler.path) from None
        # The program itself has been let in; what is printed names the library of the user's
        # compiler, wherever that is.
        with trusting(replace(current_trust(), refuse=False)):
            return compile_program(copy, passes=_rest(before, after, None), instrument=False)
