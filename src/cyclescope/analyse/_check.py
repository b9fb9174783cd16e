"""Limits on a profile: budgets that must hold, regressions that must not.

cycles <= 1_400_000          a budget
useful >= 30%                a share of the account: of the run's cycles, or its tracks' cycles
waiting(memory) <= 5%        an activity, or a part of it by its cause; the cause alone will do
spinning <= 5%               a state of its threads
longest(main.queue/push) < 8 of one frame in an instance
cycles > +2%                 a regression, against another profile
"""

from __future__ import annotations

import operator
import re
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

from cyclescope._files import parse_number
from cyclescope.analyse._account import Account, Use, account, possible_uses
from cyclescope.analyse._activations import Activations, activations
from cyclescope.analyse._contents import same_results
from cyclescope.analyse._names import frames_by_name, hint
from cyclescope.errors import InputError
from cyclescope.model import Activity, Cause, Kind, Profile, Severity, active_cycles

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from cyclescope.analyse._activations import Key

__all__ = ["Finding", "Limit", "check", "parse_limit"]

_RUN = ("cycles", "useful", "lost")
_FRAME = ("cycles", "times", "shortest", "longest")
_CAUSES = frozenset(cause.value for cause in Cause)
_ACTIVITIES = {activity.value: activity for activity in Activity}
_OPERATORS: dict[str, Callable[[Fraction | float, Fraction], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
}
_FORM = re.compile(r"\s*(\w+)\s*(?:\((.*)\))?\s*(<=|>=|==|!=|<|>)\s*([^<>=!]+?)\s*", re.DOTALL)
_VALUE = re.compile(r"([+-]?)(\d[\d_,]*(?:\.\d+)?)\s*(%?)")


@dataclass(frozen=True, slots=True)
class Limit:
    """A comparison of one figure of a profile with a number.

    Attributes:
        text: as it was written, without superfluous blanks.
        metric: what is compared.
        of: the frame it is asked of, or the cause of an activity; empty for the whole run.
        operator: one of `<= >= == != < >`.
        value: the number; per cent if `percent` says so.
        percent: of the account, or of the other profile's figure if `relative`.
        relative: it is the change since another profile that is compared.
    """

    text: str
    metric: str
    of: str
    operator: str
    value: Fraction
    percent: bool
    relative: bool

    def holds(self, figure: Fraction | float) -> bool:
        """Return whether the comparison is true of a figure."""
        return _OPERATORS[self.operator](figure, self.value)


@dataclass(frozen=True, slots=True)
class Finding:
    """The outcome of one limit.

    Attributes:
        name: the limit's text, or what else was looked at (`complete`).
        passed: whether it is as it should be.
        measured: the profile's figure; None where there is none.
        base: the other profile's; None without one.
        figure: what was compared with the limit's value, in its unit of measure.
        detail: one line for people.
    """

    name: str
    passed: bool
    measured: int | None
    base: int | None
    figure: Fraction | float | None
    detail: str


def parse_limit(text: str, *, relative: bool = False) -> Limit:
    """Read a limit.

    Args:
        text: as in this module's head.
        relative: a change since another profile: the number needs a sign.

    Raises:
        InputError: it is no limit, or there is no such figure.
    """
    shown = " ".join(text.split())
    form = _FORM.fullmatch(text)
    value = _VALUE.fullmatch(form[4]) if form else None
    example = "cycles > +2%" if relative else "cycles <= 1000"
    if form is None or value is None:
        raise InputError(f"{shown}: not a limit; write it like '{example}'")
    metric, of = form[1], " ".join((form[2] or "").split())
    if form[2] is not None and metric not in (*_FRAME, *_ACTIVITIES):
        known = ", ".join((*_FRAME, *_ACTIVITIES))
        raise InputError(f"{shown}: no figure {metric} of a frame; there are {known}")
    if form[2] is not None and not of:
        raise InputError(f"{shown}: name a frame between the brackets, such as main.queue/push")
    if relative and not value[1]:
        raise InputError(f"{shown}: a change needs a sign; write it like '{example}'")
    percent = bool(value[3])
    if percent and not relative and form[2] is not None and metric in _FRAME:
        raise InputError(f"{shown}: {metric} is not a share of the run; write a number without %")
    try:
        number = parse_number(value[2].replace("_", "").replace(",", ""))
    except OverflowError as error:
        raise InputError(f"{shown}: not a limit: {error}") from None
    return Limit(
        text=shown,
        metric=metric,
        of=of,
        operator=form[3],
        value=-number if value[1] == "-" else number,
        percent=percent,
        relative=relative,
    )


def check(
    profile: Profile,
    budgets: Iterable[str | Limit] = (),
    *,
    against: Profile | None = None,
    fail_on: Iterable[str | Limit] = (),
    strict: bool = False,
) -> tuple[Finding, ...]:
    """Check a profile: compare it with limits.

    Args:
        profile: what to check. A run that was stopped, or one with errors on the way, fails.
        budgets: what must be true of it.
        against: the profile with which `fail_on` compares.
        fail_on: what must not be true of the change since `against`. Memories that hold the same
            before both runs must hold the same after them, too.
        strict: lost data fails too.

    Raises:
        InputError: a limit that cannot be read, or asks for what the profile does not have.
    """
    figures = _Figures(profile)
    limits = [b if isinstance(b, Limit) else parse_limit(b) for b in budgets]
    changes = [f if isinstance(f, Limit) else parse_limit(f, relative=True) for f in fail_on]
    if changes and against is None:
        raise InputError(f"{changes[0].text}: a change since what? give a profile to compare with")
    findings = list(_sound(profile, strict))
    findings += [_budget(figures, limit) for limit in limits]
    if against is not None:
        base = _Figures(against)
        findings += [
            replaced for replaced in _sound(against, strict, "base: ") if not replaced.passed
        ]
        findings += _same_results(against, profile)
        findings += [_change(figures, base, limit) for limit in changes]
    return tuple(findings)


def _sound(profile: Profile, strict: bool, who: str = "") -> Iterable[Finding]:
    meta = profile.meta
    reason = f" ({meta.stop_reason})" if meta.stop_reason else ""
    detail = "the run reached its end" if meta.complete else f"stopped before its end{reason}"
    yield Finding(f"{who}complete", meta.complete, profile.cycles, None, None, detail)
    bad = (Severity.ERROR, Severity.DATA_LOSS) if strict else (Severity.ERROR,)
    for anomaly in meta.anomalies:
        if anomaly.severity in bad:
            detail = f"{anomaly.severity.value}: {anomaly.name} \u00d7 {anomaly.count}"
            yield Finding(f"{who}{anomaly.name}", False, anomaly.count, None, None, detail)


def _same_results(base: Profile, profile: Profile) -> Iterable[Finding]:
    """A run that computes something else is not faster, however few cycles it takes."""
    found = same_results(base, profile)
    if found is not None and found.compared:
        wrong = f"after the run, not as before: {', '.join(found.differing)}"
        same = f"equal after the run: {', '.join(found.compared)}"
        detail = wrong if found.differing else same
        number = len(found.differing)
        yield Finding("same memories", not found.differing, number, None, None, detail)


def _budget(figures: _Figures, limit: Limit) -> Finding:
    measured = figures.get(limit)
    figure = Fraction(measured)
    detail = f"{measured:,}"
    if limit.percent:
        whole = figures.whole(limit)
        figure = Fraction(100 * measured, whole or 1)
        detail += f" of {whole:,} ({float(figure):.1f} %)"
    return Finding(limit.text, limit.holds(figure), measured, None, figure, detail)


def _change(figures: _Figures, base: _Figures, limit: Limit) -> Finding:
    measured, old = figures.get(limit), base.get(limit)
    change = measured - old
    # From nothing to something is a rise without bound.
    share = Fraction(100 * change, old) if old else float("inf") * change if change else Fraction(0)
    figure = share if limit.percent else Fraction(change)
    detail = f"{old:,} \u2192 {measured:,} ({change:+,}, {float(share):+.1f} %)"
    return Finding(limit.text, not limit.holds(figure), measured, old, figure, detail)


class _Figures:
    """A profile's figures, each worked out when first asked for."""

    def __init__(self, profile: Profile) -> None:
        self.profile = profile

    def get(self, limit: Limit) -> int:
        metric = limit.metric
        if metric in _ACTIVITIES:
            activity = _ACTIVITIES[metric]
            if not limit.of:
                return self._account.of(activity)
            return self._account.parts.get(Use(activity, limit.of.replace("_", " ")), 0)
        if limit.of:
            found = self._find(limit)
            fields = {"cycles": "total"}
            return int(getattr(found, fields.get(metric, metric)))
        if metric == "cycles":
            return self.profile.cycles
        if metric in ("useful", "lost"):
            useful = self._account.useful
            return useful if metric == "useful" else self._account.total - useful
        return self._named(limit)

    def _named(self, limit: Limit) -> int:
        """A cause, or a state of threads: names that the profile gives."""
        name = limit.metric.replace("_", " ")
        uses = [use for use in self._uses if use.cause == name]
        if len(uses) > 1:
            ways = " or ".join(f"{use.activity.value}({use.cause})" for use in uses)
            raise InputError(f"{limit.text}: {name} is the cause of several; write {ways}")
        if uses:
            return self._account.parts.get(uses[0], 0)
        if name in self._states:
            return self._states[name]
        if name in _CAUSES:
            return 0
        known = [*_RUN, *_ACTIVITIES, *(use.cause.replace(" ", "_") for use in self._uses)]
        known += [state.replace(" ", "_") for state in self._states]
        there = ", ".join(dict.fromkeys(word for word in known if word))
        raise InputError(
            f"{limit.text}: {self.profile.meta.title} has no figure {name}; there are {there}"
        )

    def whole(self, limit: Limit) -> int:
        """Return the whole that a share is part of: the account; for `cycles` the run's."""
        return self.profile.cycles if limit.metric == "cycles" else self._account.total

    @cached_property
    def _account(self) -> Account:
        return account(self.profile)

    @cached_property
    def _uses(self) -> list[Use]:
        """All uses that the profile's frames and counters may show, whether they occur or not."""
        return possible_uses(self.profile)

    @cached_property
    def _states(self) -> dict[str, int]:
        """Cycles of all tracks in each state, by its name."""
        cycles = active_cycles(self.profile).tolist()
        result: dict[str, int] = {}
        for path, spent in enumerate(cycles):
            frame = self.profile.frame_of(path)
            if frame.kind is Kind.STATE:
                result[frame.name] = result.get(frame.name, 0) + spent
        return result

    @cached_property
    def _activations(self) -> dict[Key, Activations]:
        return activations(self.profile)

    @cached_property
    def _frames(self) -> dict[str, list[Key]]:
        return frames_by_name(self.profile, self._activations)

    def _find(self, limit: Limit) -> Activations:
        found = self._frames.get(limit.of, [])
        if len(found) == 1:
            return self._activations[found[0]]
        title = self.profile.meta.title
        if found:
            where = [name for name in self._frames if name.endswith(f"/{limit.of}")]
            several = f": {', '.join(where[:5])} …" if where else ""
            raise InputError(
                f"{limit.text}: {len(found)} frames of {title} are called {limit.of}{several}; "
                f"name one with its instance"
            )
        there = hint(limit.of, self._frames)
        raise InputError(f"{limit.text}: nothing called {limit.of} ran in {title}; {there}")
