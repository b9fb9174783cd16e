"""The stored results of a study: a folder with a line and a profile for each run, and one table.

    STUDY.sweep/trials/DIGEST.json      point, figures or failure, seconds
    STUDY.sweep/profiles/DIGEST.cyc     the profile
    STUDY.sweep/results.parquet         all runs of the study, a row each

A run is found again by the digest of its command and of all that it reads, so a study that was
stopped, or extended, goes on where it is.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from cyclescope._files import write_whole
from cyclescope.errors import CyclescopeError, InputError, OutputError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from cyclescope.model import Profile
    from cyclescope.studies._study import Objective
    from cyclescope.studies._trial import Outcome, Trial

__all__ = ["Result", "Store", "figures_of", "front", "results_parquet"]


@dataclass(frozen=True)
class Result:
    """The result of one run.

    Attributes:
        digest: which run it was.
        point: what varied → its value.
        figures: name → number; empty if the run failed.
        failure: why it failed, in one line; empty if it did not.
        seconds: how long it took when it ran.
    """

    digest: str
    point: dict[str, Any]
    figures: dict[str, int]
    failure: str
    seconds: float


class Store:
    """The folder of a study."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for part in ("trials", "profiles"):
            try:
                (folder / part).mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise OutputError(f"{folder}: cannot be made: {error.strerror}") from None

    def profile_path(self, digest: str) -> Path:
        """The path of a run's profile."""
        return self.folder / "profiles" / f"{digest}.cyc"

    def get(self, trial: Trial) -> Result | None:
        """The stored result of a run; None if it has not been made, or only in part."""
        try:
            text = (self.folder / "trials" / f"{trial.digest}.json").read_text(encoding="utf-8")
            known = json.loads(text)
            return Result(trial.digest, trial.point, known["figures"], known["failure"],
                          known["seconds"])  # fmt: skip
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def put(self, trial: Trial, outcome: Outcome) -> Result:
        """Keep what came of a run."""
        figures: dict[str, int] = {}
        failure = outcome.failure
        if not failure:
            path = self.profile_path(trial.digest)
            with write_whole(path, force=True) as stream:
                stream.write(outcome.profile)
            try:
                figures = figures_of(_load(path))
            except CyclescopeError as error:
                failure = str(error)
        result = Result(trial.digest, trial.point, figures, failure, round(outcome.seconds, 3))
        target = self.folder / "trials" / f"{trial.digest}.json"
        with write_whole(target, force=True) as stream:
            stream.write(json.dumps(asdict(result), indent=1, default=str).encode() + b"\n")
        return result


def _load(path: Path) -> Profile:
    from cyclescope.model import load

    return load(path)


def figures_of(profile: Profile) -> dict[str, int]:
    """The figures of a profile that a study can ask for.

    `cycles`, `useful`, `overhead` and its kinds; with areas `luts`, `ffs`, `dsps`, `brams` and
    `area`, all as one number; of an estimate `absolute` and `unbounded`.

    Raises:
        InputError: the run was stopped before its end, or left a memory that is wrong; its figures
            mean nothing.
    """
    from cyclescope.analyse import account, area_table
    from cyclescope.model import Severity

    if not profile.meta.complete:
        reason = f" ({profile.meta.stop_reason})" if profile.meta.stop_reason else ""
        raise InputError(f"stopped before its end{reason}")
    if any(memory.wrong for memory in profile.meta.memories):
        what = next(a.detail for a in profile.meta.anomalies if a.severity is Severity.ERROR)
        raise InputError(f"wrong memories: {what}")
    whole = account(profile)
    figures = {
        "cycles": profile.cycles,
        "useful": whole.useful,
        "lost": whole.total - whole.useful,
        **{use.label: units for use, units in whole.lost.items()},
    }
    if profile.areas:
        from cyclescope.model import Kind

        rows = area_table(profile, (Kind.CELL,))
        for name in ("luts", "ffs", "dsps", "brams"):
            figures[name] = sum(getattr(row, name) for row in rows)
        figures["area"] = sum(row.cost for row in rows)
    for name in ("absolute", "unbounded"):
        if profile.meta.options.get(name, "").isdecimal():
            figures[name] = int(profile.meta.options[name])
    return figures


def front(results: Sequence[Result], objectives: Sequence[Objective]) -> list[Result]:
    """The runs that no other run beats: as good in everything, better in something.

    Of runs with equal figures all are on it. In order of the first objective.
    """
    names = [objective.name for objective in objectives]
    sound = [result for result in results if all(name in result.figures for name in names)]

    def beats(a: Result, b: Result) -> bool:
        pairs = [(o, a.figures[o.name], b.figures[o.name]) for o in objectives]
        none_worse = not any(o.better(y, x) for o, x, y in pairs)
        return none_worse and any(o.better(x, y) for o, x, y in pairs)

    best = [r for r in sound if not any(beats(other, r) for other in sound)]
    first = objectives[0]
    sign = -1 if first.largest else 1
    return sorted(best, key=lambda r: sign * r.figures[first.name])


def results_parquet(results: Sequence[Result], objectives: Sequence[Objective]) -> bytes:
    """All runs as a Parquet table: what varied, the figures, `best` (on the front), failures."""
    from cyclescope._native import write_table

    best = {result.digest for result in front(results, objectives)}
    varied = list(dict.fromkeys(name for result in results for name in result.point))
    figures = list(dict.fromkeys(name for result in results for name in result.figures))
    columns: list[tuple[str, str, list[Any]]] = []
    for name in varied:
        values = _plain([result.point.get(name) for result in results])
        columns.append((name, _kind(values), values))
    for name in figures:
        # A figure that is called like an option keeps both.
        key = name if name not in varied else f"figure {name}"
        columns.append((key, "whole?", [r.figures.get(name) for r in results]))
    columns.append(("best", "truth?", [r.digest in best for r in results]))
    columns.append(("failure", "text?", [r.failure for r in results]))
    columns.append(("seconds", "number?", [r.seconds for r in results]))
    columns.append(("digest", "text?", [r.digest for r in results]))
    return write_table(columns)


def _kind(values: list[Any]) -> str:
    """The kind of a column of values of one type."""
    kinds = {bool: "truth?", int: "whole?", float: "number?", str: "text?"}
    return next((kinds[type(value)] for value in values if value is not None), "text?")


def _plain(values: list[Any]) -> list[Any]:
    """Values of one type for a column; JSON texts where they are lists or mixed."""
    kinds = {type(value) for value in values if value is not None}
    if kinds <= {int} or kinds <= {float} or kinds <= {str} or kinds <= {bool}:
        return values
    return [None if value is None else json.dumps(value) for value in values]
