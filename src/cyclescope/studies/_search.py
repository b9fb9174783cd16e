"""The choice of points of a space to try: all, some at random, or those that Optuna proposes."""

from __future__ import annotations

import itertools
import json
import random
from typing import TYPE_CHECKING, Any, Protocol

from cyclescope.errors import ToolError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cyclescope.studies._study import Study

__all__ = ["Search", "search_of"]

Point = dict[str, Any]


class Search(Protocol):
    """Proposes points, and hears what came of them."""

    def ask(self) -> Point | None:
        """The next point; None if there are no more."""

    def tell(self, point: Point, figures: Sequence[float] | None) -> None:
        """Record the objectives at a point; None if the run failed."""


def search_of(study: Study) -> Search:
    """The search that a study asks for.

    Raises:
        ToolError: Optuna is asked for and not installed.
    """
    if study.search == "optuna":
        return _Optuna(study)
    return _Listed(study)


class _Listed:
    """Points that are known beforehand."""

    def __init__(self, study: Study) -> None:
        names, choices = list(study.space), list(study.space.values())
        if study.search == "grid":
            points = itertools.product(*choices)
        else:
            points = _sampled(choices, study.trials, study.points, study.seed)
        self._points = (dict(zip(names, values, strict=True)) for values in points)

    def ask(self) -> Point | None:
        """The next point."""
        return next(self._points, None)

    def tell(self, point: Point, figures: Sequence[float] | None) -> None:
        """Nothing follows from it."""


def _sampled(
    choices: Sequence[Sequence[Any]], trials: int, points: int, seed: int
) -> itertools.product[Any] | Any:
    """Different points, each equally likely; all of them if no more are asked for."""
    chance = random.Random(seed)  # noqa: S311 - no secret
    for number in chance.sample(range(points), min(trials, points)):
        rest, values = number, []
        for options in choices:
            rest, index = divmod(rest, len(options))
            values.append(options[index])
        yield tuple(values)


class _Optuna:
    """Optuna's sampler, through its ask-and-tell interface.

    Choices are given to it as texts (JSON), since they may be lists; numbers stay numbers.
    """

    def __init__(self, study: Study) -> None:
        try:
            import optuna
        except ImportError:
            raise ToolError(
                "search = 'optuna' needs Optuna, which is not installed: "
                "pip install 'cyclescope[sweep]'"
            ) from None
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self._optuna = optuna
        self._left = study.trials
        self._waiting: list[tuple[str, Any]] = []
        self._space: dict[str, Any] = {}
        self._values: dict[str, dict[Any, Any]] = {}
        for name, choices in study.space.items():
            step = _step(choices)
            if step:
                known: Any = optuna.distributions.IntDistribution(
                    choices[0], choices[-1], step=step
                )
                self._values[name] = {value: value for value in choices}
            else:
                texts = [json.dumps(choice) for choice in choices]
                known = optuna.distributions.CategoricalDistribution(texts)
                self._values[name] = dict(zip(texts, choices, strict=True))
            self._space[name] = known
        self._study = optuna.create_study(
            directions=["maximize" if o.largest else "minimize" for o in study.objectives],
            sampler=optuna.samplers.TPESampler(seed=study.seed),
        )

    def ask(self) -> Point | None:
        """Return the point that Optuna would like to know next."""
        if not self._left:
            return None
        self._left -= 1
        trial = self._study.ask(self._space)
        point = {name: self._values[name][value] for name, value in trial.params.items()}
        self._waiting.append((json.dumps(point, sort_keys=True), trial))
        return point

    def tell(self, point: Point, figures: Sequence[float] | None) -> None:
        """Pass it on; of two trials at one point, the one that has waited longer."""
        key = json.dumps(point, sort_keys=True)
        place = next(i for i, (known, _) in enumerate(self._waiting) if known == key)
        _, trial = self._waiting.pop(place)
        if figures is None:
            self._study.tell(trial, state=self._optuna.trial.TrialState.FAIL)
        else:
            self._study.tell(trial, list(figures))


def _step(choices: Sequence[Any]) -> int:
    """The step of an even ladder of integers, 0 if the choices are none."""
    if len(choices) < 3 or not all(type(value) is int for value in choices):
        return 0
    steps = {b - a for a, b in itertools.pairwise(choices)}
    return steps.pop() if len(steps) == 1 and min(steps) > 0 else 0
