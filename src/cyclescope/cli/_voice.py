"""Progress and notices on standard error: `-q`, `-v`, the line of a terminal."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from threading import Event, Thread
from time import monotonic
from typing import TYPE_CHECKING

import click

from cyclescope._visible import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["doing", "is_quiet", "is_verbose", "progress", "say", "timing", "with_voice"]

_VOICE = "cyclescope.voice"


def _voice() -> int:
    context = click.get_current_context(silent=True)
    return 0 if context is None else context.find_root().meta.get(_VOICE, 0)


def is_quiet() -> bool:
    """Return whether only results and errors are wanted (`-q`)."""
    return _voice() < 0


def is_verbose() -> bool:
    """Return whether each step is to be told with its time (`-v`)."""
    return _voice() > 0


def with_voice(command: click.Command) -> click.Command:
    """The command with `-q` and `-v`; the commands of a group have them."""
    if isinstance(command, click.Group):
        for inner in command.commands.values():
            with_voice(inner)
        return command
    if any(parameter.name == "quiet" for parameter in command.params):
        return command

    def heard(level: int) -> Callable[[click.Context, click.Parameter, bool], None]:
        def note(context: click.Context, _: click.Parameter, is_given: bool) -> None:
            if is_given:
                context.find_root().meta[_VOICE] = level

        return note

    def flag(short: str, name: str, level: int, text: str) -> click.Option:
        return click.Option(
            [short, f"--{name}"], is_flag=True, is_eager=True, expose_value=False, help=text,
            callback=heard(level),
        )  # fmt: skip

    command.params += [
        flag("-q", "quiet", -1, "Print only results and errors: no summary of a written profile, no"
             " progress."),
        flag("-v", "verbose", 1, "Print each step and how long it took."),
    ]  # fmt: skip
    return command


def say(text: str, *, err: bool = False) -> None:
    """Print a line in which there are names: whatever they hold, it stays one, and harmless."""
    click.echo(visible(text), err=err)


class _Line:
    """The line of a terminal that is written again and again; with `-v` a line for each step."""

    def __init__(self) -> None:
        self.verbose = is_verbose()
        self.shown = sys.stderr.isatty() and not is_quiet() and not self.verbose
        self._step: tuple[str, float] | None = None

    def write(self, text: str) -> None:
        if self.shown:
            print(f"\r\x1b[K{visible(text)} ", end="", file=sys.stderr)
            sys.stderr.flush()

    def begin(self, step: str) -> None:
        """Note a step, and tell of the one that is over."""
        self.end()
        self._step = (step, monotonic())

    def end(self) -> None:
        if self._step is not None and self.verbose:
            step, since = self._step
            say(f"{step}: {monotonic() - since:.1f} s", err=True)
        self._step = None

    def clear(self) -> None:
        self.end()
        if self.shown:
            print("\r\x1b[K", end="", file=sys.stderr)


@contextmanager
def progress(label: str) -> Iterator[Callable[[int, float], None]]:
    """A line on the terminal that tells the phase, cycles and cycles/s; see `_Line`.

    What is built for a simulation is told as it is built, with its seconds.
    """
    from cyclescope.sim import telling

    line = _Line()
    build = [("", 0.0)]
    over = Event()

    def tick() -> None:
        while not over.wait(1):
            what, since = build[0]
            if what:
                line.write(f"{label}: {what}, {monotonic() - since:.0f} s")

    def phase(what: str) -> None:
        build[0] = (what, monotonic())
        line.begin(f"{label}: {what}" if what else label)
        if what:
            line.write(f"{label}: {what}")

    def show(cycles: int, seconds: float) -> None:
        build[0] = ("", 0.0)
        rate = cycles / seconds if seconds > 0 else 0.0
        line.write(f"{label}: {cycles:,} cycles, {rate:,.0f} cycles/s")

    thread = Thread(target=tick, daemon=True)
    if line.shown:
        thread.start()
    try:
        with telling(phase):
            yield show
    finally:
        over.set()
        if thread.is_alive():
            thread.join()
        line.clear()


@contextmanager
def doing() -> Iterator[Callable[[str], None]]:
    """A line on the terminal that tells what is being done; see `_Line`."""
    line = _Line()

    def show(what: str) -> None:
        line.begin(what)
        line.write(f"{what} \u2026")

    try:
        yield show
    finally:
        line.clear()


@contextmanager
def timing(label: str) -> Iterator[Callable[[str], None]]:
    """A line on the terminal that tells what is being done, and for how long; see `_Line`."""
    line = _Line()
    current: list[tuple[str, float]] = []
    ended = Event()

    def tick() -> None:
        while not ended.wait(1):
            if current:
                what, since = current[-1]
                line.write(f"{label}: {what}, {monotonic() - since:.0f} s")

    def show(what: str) -> None:
        line.begin(f"{label}: {what}")
        current.append((what, monotonic()))

    thread = Thread(target=tick, daemon=True)
    if line.shown:
        thread.start()
    try:
        yield show
    finally:
        ended.set()
        if thread.is_alive():
            thread.join()
        line.clear()
