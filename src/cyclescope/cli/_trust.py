"""The options of commands that run what they profile: how it is confined, what it may ask for."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, TypeVar

import click

from cyclescope.cli._common import OneOf

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["TRUST_OPTIONS", "trust_options"]

Decorated = TypeVar("Decorated", bound="Callable[..., Any]")

# Parameters that only the user may choose, at the command line: no study, no other file.
TRUST_OPTIONS = frozenset({"confine", "trust", "time_limit", "compiler", "library"})


def trust_options(command: Decorated) -> Decorated:
    """`--confine`, `--trust` and `--time-limit`; they hold while the command runs."""

    @functools.wraps(command)
    def with_trust(
        *args: Any, confine: str | None, trust: bool, time_limit: float | None, **options: Any
    ) -> Any:
        from cyclescope.sim import Confine, Trust, trusting

        # Who trusts a program lets it do what it was written to do, unless told otherwise.
        chosen = confine or (Confine.OFF if trust else Confine.AUTO)
        with trusting(Trust(Confine(chosen), refuse=not trust, seconds=time_limit)):
            return command(*args, **options)

    for option in (
        click.option(
            "--time-limit",
            type=click.FloatRange(min=0, min_open=True),
            metavar="SECONDS",
            help="Time limit of a simulation (default: a day) or a native run (an hour;"
            " hls: 2 minutes).",
        ),
        click.option(
            "--trust",
            is_flag=True,
            help="Allow the program $system, $fopen and files outside its folder, and do not"
            " confine it.",
        ),
        click.option(
            "--confine",
            type=OneOf(["auto", "require", "off"]),
            envvar="CYCLESCOPE_CONFINE",
            show_envvar=True,
            help="Run the program without network, with writes only in its own folder:"
            " as far as the system supports it (auto, the default), fully or fail (require), off.",
        ),
    ):
        with_trust = option(with_trust)
    return with_trust  # type: ignore[return-value]
