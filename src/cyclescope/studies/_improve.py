"""Improving a program: rewrites are tried, and those stay that save cycles and change no result.

All candidates of one rewrite are tried at once; where that fails or is slower, each half is, down
to single ones; where it changes no cycle, or loses as many as in an earlier text, all are rejected.
What gained as a batch is tried without each of its members. Of rivals, which change the same places
in two ways, the one goes first that gains more. This goes on, rewrite by rewrite, until a whole
pass changes nothing; then what was rejected gets a second chance in what the program has become,
and what was kept without a gain of its own is taken out if nothing came of it. Every text is
measured once; a store of measurements lets a search go on that was stopped.
"""

from __future__ import annotations

from concurrent.futures import FIRST_COMPLETED, wait
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from cyclescope._rewrites import apply_candidates, compatible
from cyclescope.studies._improve_report import replayed
from cyclescope.studies._improve_workers import workers_for

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from concurrent.futures import Future

    from cyclescope._rewrites import Candidate, Measured, Rewrite, Subject
    from cyclescope.studies._improve_workers import Workers
    from cyclescope.studies._measurements import Measurements

__all__ = ["Improvement", "Step", "Tried", "improve"]

_SMALL = 12  # candidates of a batch of which each is tried without


@dataclass(frozen=True)
class Tried:
    """Candidates that were tried together.

    Attributes:
        candidates: them.
        cycles: of the program with them, 0 if it did not compile.
        verdict: `kept`, or why not: `slower by 12`, `gains nothing`, `memory m differs: …`.
    """

    candidates: tuple[Candidate, ...]
    cycles: int
    verdict: str

    @property
    def kept(self) -> bool:
        """Return whether they were kept."""
        return self.verdict == "kept"


@dataclass(frozen=True)
class Step:
    """Candidates that were kept, and the cycles before and after."""

    candidates: tuple[Candidate, ...]
    before: int
    after: int


@dataclass(frozen=True)
class Improvement:
    """The result of a search.

    Attributes:
        original, text: the program before and after.
        before, after: cycles.
        steps: what was kept, in order.
        tried: everything that was tried.
        runs: how many texts were measured, of which `known` were measured by an earlier search.
        stopped: why the search ended before its end: `interrupted`, or the budget; empty if not.
        doubts: what speaks against the result, and was not mended.
    """

    original: bytes
    text: bytes
    before: int
    after: int
    steps: tuple[Step, ...] = ()
    tried: tuple[Tried, ...] = ()
    runs: int = 0
    known: int = 0
    stopped: str = ""
    doubts: str = ""

    @property
    def candidates(self) -> tuple[Candidate, ...]:
        """Everything that was kept."""
        return tuple(c for step in self.steps for c in step.candidates)


class _BudgetError(Exception):
    """The budget is used up."""


def improve(
    subject: Subject,
    text: bytes,
    measurements: Measurements,
    *,
    budget: int = 100,
    workers: int | None = None,
    dask: str | None = None,
    only: Sequence[str] = (),
    progress: Callable[[str], object] = lambda _: None,
) -> Improvement:
    """Search for rewrites of a program that save cycles and change no result.

    An interrupt ends the search with what was found so far.

    Args:
        subject: finds candidates and measures texts.
        text: the program.
        measurements: where measurements are, and go.
        budget: measure at most so many texts.
        workers: texts measured at a time, here.
        dask: address of a Dask scheduler, whose workers measure; None to measure here.
        only: names of rewrites to try; all if empty.
        progress: told what is tried, in a line.

    Raises:
        VerifyError: the program itself cannot be measured.
        SourceError: it cannot be read.
        ToolError: the cluster cannot be reached, or what it needs is not installed.
    """
    with workers_for(subject, workers, dask) as those:
        return _Search(subject, text, measurements, budget, those, tuple(only), progress).run()


@dataclass
class _Search:
    subject: Subject
    original: bytes
    measurements: Measurements
    budget: int
    workers: Workers
    only: tuple[str, ...]
    progress: Callable[[str], object]
    text: bytes = b""
    cycles: int = 0
    before: int = 0
    steps: list[Step] = field(default_factory=list)
    tried: list[Tried] = field(default_factory=list)
    rejected: dict[tuple[str, str], bytes] = field(default_factory=dict)  # in which text
    lost: dict[frozenset[tuple[str, str]], int] = field(default_factory=dict)  # by a batch
    stopped: str = ""

    def run(self) -> Improvement:
        self.text = self.original
        try:
            self.progress("as it is")
            self.before = self.cycles = self._measured([self.text])[0].cycles
            self._passes()
            # What was rejected in another text may gain something in this one.
            self.rejected = {k: t for k, t in self.rejected.items() if t == self.text}
            self._passes()
            self._without_idle()
        except KeyboardInterrupt:
            self.stopped = "interrupted"
            if not self.before:
                raise
        except _BudgetError:
            self.stopped = f"the budget of {self.budget} runs is used up"
        doubts = ""
        if self.stopped != "interrupted":
            try:
                doubts = self._confirmed()
            except KeyboardInterrupt:
                self.stopped = "interrupted"
        return Improvement(
            self.original, self.text, self.before, self.cycles, tuple(self.steps),
            tuple(self.tried), self.measurements.runs, self.measurements.known, self.stopped,
            doubts,
        )  # fmt: skip

    # Passes over the rewrites.

    @property
    def _rewrites(self) -> list[Rewrite]:
        return [r for r in self.subject.rewrites if not self.only or r.name in self.only]

    def _passes(self) -> None:
        """Try each rewrite in turn until none finds anything more."""
        while True:
            before = self.text
            for rivals in self._turns():
                for rewrite in self._best_first(rivals):
                    found = self._candidates(rewrite.name)
                    if found:
                        self._batch(rewrite, found)
            if self.text == before:
                return

    def _turns(self) -> list[list[Rewrite]]:
        """The rewrites in their order, those that are each other's rivals together."""
        turns: list[list[Rewrite]] = []
        for rewrite in self._rewrites:
            if rewrite.rival and turns and turns[-1][0].name == rewrite.rival:
                turns[-1].append(rewrite)
            else:
                turns.append([rewrite])
        return turns

    def _best_first(self, rivals: list[Rewrite]) -> list[Rewrite]:
        """Rivals in the order of what all their candidates gain."""
        found = {r.name: compatible(self._candidates(r.name)) for r in rivals}
        able = [r for r in rivals if found[r.name]]
        if len(able) < 2:
            return able
        results = self._try([found[r.name] for r in able])
        cycles = {
            r.name: m.cycles if not m.failure else self.cycles
            for r, m in zip(able, results, strict=True)
        }
        return sorted(able, key=lambda r: cycles[r.name])

    def _candidates(self, name: str) -> list[Candidate]:
        found = self.subject.candidates(self.text)
        return [c for c in found if c.rewrite == name and c.key not in self.rejected]

    def _again(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        """The same candidates in the text as it is now, those that are still possible."""
        wanted = {candidate.key for candidate in candidates}
        return [c for c in self._candidates(candidates[0].rewrite) if c.key in wanted]

    def _batch(self, rewrite: Rewrite, candidates: Sequence[Candidate]) -> None:
        """Try candidates of a rewrite at once, then by halves."""
        chosen = compatible(candidates)
        later = [c for c in candidates if c not in chosen]
        result = self._try([chosen])[0]
        if self._good(result, rewrite):
            self._keep(chosen, result)
            if not rewrite.opens:
                self._refine(chosen)
        else:
            self._tell(chosen, result)
            # Of those that change no cycle together, none gains what another one loses, but for a
            # chance that is not worth the runs.
            idle = not result.failure and result.cycles == self.cycles
            if len(chosen) == 1 or idle or self._as_before(chosen, result):
                self.rejected |= {candidate.key: self.text for candidate in chosen}
            else:
                middle = (len(chosen) + 1) // 2
                # Both at once: the second is there already if the first is rejected.
                self._measured([apply_candidates(self.text, h) for h in self._halves(chosen)])
                for half in (chosen[:middle], chosen[middle:]):
                    if again := self._again(half):
                        self._batch(rewrite, again)
        if later and (again := self._again(later)):
            self._batch(rewrite, again)

    def _as_before(self, chosen: list[Candidate], result: Measured) -> bool:
        """Return whether a batch lost as much in another text: its parts were tried there."""
        keys = frozenset(candidate.key for candidate in chosen)
        known, now = self.lost.get(keys), result.cycles - self.cycles
        self.lost[keys] = now
        return not result.failure and known == now

    def _halves(self, chosen: list[Candidate]) -> tuple[list[Candidate], list[Candidate]]:
        middle = (len(chosen) + 1) // 2
        return chosen[:middle], chosen[middle:]

    def _refine(self, kept: list[Candidate]) -> None:
        """Take out of a batch those without which the program is as fast, or faster."""
        if not 1 < len(kept) <= _SMALL:
            return
        start = self._before_last()
        rests = [[c for c in kept if c is not left] for left in kept]
        results = self._measured([apply_candidates(start, rest) for rest in rests])
        idle = [n for n, r in enumerate(results) if not r.failure and r.cycles <= self.cycles]
        if not idle:
            return
        # Two may each be idle only because the other is there: then the best one goes alone.
        best = min(idle, key=lambda n: results[n].cycles)
        useful = [c for n, c in enumerate(kept) if n not in idle]
        chosen, result = rests[best], results[best]
        if useful:
            together = self._measured([apply_candidates(start, useful)])[0]
            if not together.failure and together.cycles <= result.cycles:
                chosen, result = useful, together
        for n in idle:
            if kept[n] not in chosen:
                more = self.cycles - results[n].cycles
                verdict = f"slower by {more:,}" if more else "gains nothing"
                self.rejected[kept[n].key] = self.text
                self.tried.append(Tried((kept[n],), self.cycles, verdict))
        self.text, self.cycles = apply_candidates(start, chosen), result.cycles
        step = self.steps[-1]
        self.steps[-1] = replace(step, candidates=tuple(chosen), after=result.cycles)

    def _before_last(self) -> bytes:
        return self._replayed(self.steps[:-1])

    def _replayed(self, steps: Sequence[Step]) -> bytes:
        return replayed(self.subject, self.original, steps)

    def _without_idle(self) -> None:
        """Take out the steps that gained nothing, if nothing was built on them."""
        for step in [s for s in self.steps if s.after == s.before]:
            rest = [s for s in self.steps if s is not step]
            text = self._replayed(rest)
            result = self._measured([text])[0]
            if not result.failure and result.cycles <= self.cycles:
                self.text, self.cycles, self.steps = text, result.cycles, rest
                self.tried.append(Tried(step.candidates, result.cycles, "gains nothing"))

    def _confirmed(self) -> str:
        """Check the result by slower routes; go back to the last text that passes."""
        steps = list(self.steps)
        while steps:
            self.progress("checking the result")
            if not (doubt := self.subject.confirm(self.text)):
                return ""
            last = steps.pop()
            self.tried.append(Tried(last.candidates, self.cycles, doubt))
            self.steps, self.text, self.cycles = steps, self._replayed(steps), last.before
        return ""

    # Trials.

    def _try(self, batches: Sequence[list[Candidate]]) -> list[Measured]:
        return self._measured([apply_candidates(self.text, batch) for batch in batches])

    def _good(self, result: Measured, rewrite: Rewrite) -> bool:
        limit = self.cycles if rewrite.opens else self.cycles - 1
        return not result.failure and result.cycles <= limit

    def _keep(self, candidates: list[Candidate], result: Measured) -> None:
        self.text = apply_candidates(self.text, candidates)
        self.steps.append(Step(tuple(candidates), self.cycles, result.cycles))
        self.cycles = result.cycles
        self._tell(candidates, result, "kept")

    def _tell(self, candidates: list[Candidate], result: Measured, verdict: str = "") -> None:
        if not verdict:
            more = result.cycles - self.cycles
            verdict = result.failure or (f"slower by {more:,}" if more > 0 else "gains nothing")
        self.tried.append(Tried(tuple(candidates), result.cycles, verdict))

    def _measured(self, texts: Sequence[bytes]) -> list[Measured]:
        """Measure texts side by side, those that are not known yet."""
        wanted = [t for t in dict.fromkeys(texts) if self.measurements.get(t) is None]
        allowed = self.budget - self.measurements.runs
        if len(wanted) > allowed:
            raise _BudgetError
        for text in wanted:
            self.measurements.reserve(text)
        try:
            running = {self.workers.submit(text): text for text in wanted}
            self._collect(running)
        except BaseException:
            # Nobody waits for trials that are ended: who stops us may not wait either.
            self.measurements.release()
            self.workers.abandon()
            raise
        return [self.measurements.require(text) for text in texts]

    def _collect(self, running: dict[Future[Measured], bytes]) -> None:
        waiting = set(running)
        while waiting:
            done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            for future in done:
                self.measurements.put(running[future], future.result())
                best = f", best {self.cycles:,} of {self.before:,} cycles" if self.before else ""
                self.progress(f"run {self.measurements.runs} of at most {self.budget}{best}")
