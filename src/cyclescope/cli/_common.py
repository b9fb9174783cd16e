"""Shared parts of commands: arguments, output files, progress."""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NoReturn, TypeVar

import click

from cyclescope._files import check_free, parse_number, write_together
from cyclescope._visible import visible
from cyclescope.errors import InputError, OutputError

if TYPE_CHECKING:
    from cyclescope.model import Profile

__all__ = [
    "Period",
    "StudySwitch",
    "check_form",
    "check_outputs",
    "check_picture",
    "doing",
    "force_option",
    "form_option",
    "format_option",
    "level_option",
    "listing_option",
    "memory_option",
    "not_complete",
    "output_option",
    "pairs",
    "profile_argument",
    "profiles_argument",
    "progress",
    "read_profile",
    "report",
    "say",
    "target",
    "window_options",
    "words",
    "writing",
    "writing_together",
]

Decorated = TypeVar("Decorated", bound=Callable[..., Any])

profile_argument = click.argument("profile", type=click.Path(path_type=Path), metavar="PROFILE.cyc")
profiles_argument = click.argument(
    "profiles",
    type=click.Path(path_type=Path),
    nargs=-1,
    required=True,
    metavar="PROFILE.cyc...",
)
force_option = click.option("--force", is_flag=True, help="Overwrite existing files.")


level_option = click.option(
    "--level",
    metavar="LEVEL",
    help="Show this source level (calyx, calyx-py, dahlia, c …), if the profile has it.",
)


def window_options(what: str) -> Callable[[Decorated], Decorated]:
    """`--from` and `--to`, the window of cycles of which a command does something."""

    def both(command: Decorated) -> Decorated:
        last = click.option(
            "--to",
            "last",
            type=click.IntRange(min=1),
            metavar="CYCLE",
            help="Cycle to stop before; the end if not given.",
        )
        first = click.option(
            "--from",
            "first",
            type=click.IntRange(min=0),
            default=0,
            metavar="CYCLE",
            help=f"First cycle to {what}.",
        )
        return first(last(command))

    return both


_ENDINGS = {
    ".csv": "csv",
    ".htm": "html",
    ".html": "html",
    ".json": "json",
    ".md": "markdown",
    ".parquet": "parquet",
}


def format_option(*forms: str) -> Callable[[Decorated], Decorated]:
    """`--format` of these; without it what the output's ending says, else the first."""

    def chosen(context: click.Context, _: click.Parameter, given: str | None) -> str:
        output = context.params.get("output")
        said = _ENDINGS.get(output.suffix.lower(), "") if output is not None else ""
        return given or (said if said in forms else forms[0])

    return click.option(
        "--format",
        "form",
        type=click.Choice(forms),
        callback=chosen,
        help=f"Else as the name of the output ends, else {forms[0]}.",
    )


form_option = format_option("text", "csv", "json", "markdown", "parquet")


def pairs(values: tuple[str, ...], option: str) -> dict[str, str]:
    """The values of an option given as NAME or NAME=VALUE, by name; 1 where no value is given.

    Raises:
        BadParameter: a name is none.
    """
    result = {}
    for value in values:
        name, equals, given = value.partition("=")
        if not name.isidentifier():
            raise click.BadParameter(f"{value}: write NAME or NAME=VALUE", param_hint=option)
        result[name] = given if equals else "1"
    return result


def words(text: str) -> list[str]:
    """The words of `--args`, as a shell would split them.

    Raises:
        BadParameter: a quote is not closed.
    """
    import shlex

    try:
        return shlex.split(text)
    except ValueError:
        raise click.BadParameter(f"{text}: a quote is not closed", param_hint="--args") from None


def output_option(what: str) -> Callable[[Decorated], Decorated]:
    """`-o FILE`, with `-` for standard output."""
    return click.option(
        "-o",
        "--output",
        type=click.Path(path_type=Path, allow_dash=True),
        is_eager=True,  # its ending may say which format
        help=f"{what}; - for standard output.",
    )


memory_option = click.option(
    "--memory",
    type=click.Path(path_type=Path),
    metavar="NAME|MODEL.toml",
    help="Timing of the external memory, of a file or by name: ddr4-2400 (as without this option),"
    " ddr4-2400-detailed, ideal, shared.",
)


def listing_option(
    name: str, text: Callable[[], str], description: str
) -> Callable[[Decorated], Decorated]:
    """A flag that prints a text and exits, whatever else is given."""

    def show(context: click.Context, _option: click.Parameter, is_asked: bool) -> None:
        if is_asked and not context.resilient_parsing:
            click.echo(text())
            context.exit()

    return click.option(
        name, is_flag=True, is_eager=True, expose_value=False, callback=show, help=description
    )


def check_form(form: str, output: Path | None) -> None:
    """Refuse to show a form of `form_option` on the terminal that is not text."""
    if form == "parquet" and output is None:
        raise click.UsageError("--format parquet is not for the terminal; give -o FILE")


def read_profile(path: Path, level: str | None = None) -> Profile:
    """Load a profile, and show it at a source level. No output of the command may replace it."""
    from cyclescope.model import load

    profile = load(path)
    _inputs().append(path.resolve())
    if level is None:
        return profile
    from cyclescope.analyse import at_level

    return at_level(profile, level)


def _inputs() -> list[Path]:
    """The profiles that this run of the command line has read."""
    context = click.get_current_context(silent=True)
    found: list[Path] = [] if context is None else context.meta.setdefault(__name__, [])
    return found


def target(output: Path | None, profile: Path, suffix: str) -> Path:
    """The file to write: as asked, or beside the profile with another ending."""
    if output is None and profile.is_dir():
        raise InputError(f"{profile}: is a folder, not a profile")
    return output if output is not None else profile.with_suffix(suffix)


def check_picture(path: Path | None) -> None:
    """Refuse a name that says it is another kind of picture than we draw."""
    if path is not None and path.suffix.lower() in _NOT_SVG:
        raise OutputError(f"{path}: pictures are SVG; call it {path.stem}.svg")


_NOT_SVG = {".bmp", ".eps", ".gif", ".jpeg", ".jpg", ".pdf", ".png", ".ps", ".webp"}


@contextmanager
def writing(path: Path, *, force: bool) -> Iterator[BinaryIO]:
    """A stream to a file that appears only when whole, or to standard output."""
    with writing_together([path], force=force) as (stream,):
        yield stream


@contextmanager
def writing_together(paths: Sequence[Path], *, force: bool) -> Iterator[list[BinaryIO]]:
    """Streams to files that appear only when all are whole; or one to standard output."""
    if [str(path) for path in paths] == ["-"]:
        buffer = getattr(sys.stdout, "buffer", None)
        stream = buffer or io.BytesIO()
        yield [stream]
        stream.flush()
        if buffer is None:  # a program of its own has put a text in its place
            sys.stdout.write(stream.getvalue().decode("utf-8", "replace"))
        return
    for path in paths:
        if path.exists() and path.resolve() in _inputs():
            raise OutputError(f"{path}: is the profile that is shown; choose another name")
    with write_together(paths, force=force) as streams:
        yield streams


def say(text: str, *, err: bool = False) -> None:
    """Print a line in which there are names: whatever they hold, it stays one, and harmless."""
    click.echo(visible(text), err=err)


def not_complete(reason: str) -> NoReturn:
    """Say that a run was stopped before its end, and end.

    Raises:
        Exit: with the status that says so.
    """
    say(f"cyclescope: not complete: {reason}", err=True)
    raise click.exceptions.Exit(5)


def report(path: Path, what: str) -> None:
    """Say what was written, unless it went to standard output."""
    if str(path) != "-":
        say(f"{what}: {path}")


@contextmanager
def progress(label: str) -> Iterator[Callable[[int, float], None]]:
    """A line on the terminal that tells cycles and cycles/s; nothing where there is no terminal."""
    shown = False

    def show(cycles: int, seconds: float) -> None:
        nonlocal shown
        if sys.stderr.isatty():
            rate = cycles / seconds if seconds > 0 else 0.0
            print(f"\r{label}: {cycles:,} cycles, {rate:,.0f} cycles/s ", end="", file=sys.stderr)
            sys.stderr.flush()
            shown = True

    try:
        yield show
    finally:
        if shown:
            print("\r\x1b[K", end="", file=sys.stderr)


@contextmanager
def doing() -> Iterator[Callable[[str], None]]:
    """A line on the terminal that tells what is being done; nothing where there is no terminal."""
    shown = sys.stderr.isatty()

    def show(what: str) -> None:
        if shown:
            print(f"\r\x1b[K{what} \u2026", end="", file=sys.stderr)
            sys.stderr.flush()

    try:
        yield show
    finally:
        if shown:
            print("\r\x1b[K", end="", file=sys.stderr)


@contextmanager
def timing(label: str) -> Iterator[Callable[[str], None]]:
    """A line on the terminal that tells what is being done, and for how long; as `doing`."""
    from threading import Event, Thread
    from time import monotonic

    current: list[tuple[str, float]] = []
    ended = Event()

    def tick() -> None:
        while not ended.wait(1):
            if current:
                what, since = current[-1]
                line = f"{label}: {what}, {monotonic() - since:.0f} s"
                print(f"\r\x1b[K{line} ", end="", file=sys.stderr)
                sys.stderr.flush()

    def show(what: str) -> None:
        current.append((what, monotonic()))

    thread = Thread(target=tick, daemon=True)
    if sys.stderr.isatty():
        thread.start()
    try:
        yield show
    finally:
        ended.set()
        if thread.is_alive():
            thread.join()
            print("\r\x1b[K", end="", file=sys.stderr)


# Unit of a clock's period or frequency → picoseconds for a number of it.
_UNITS: dict[str, Callable[[Fraction], Fraction]] = {
    "ps": lambda n: n,
    "ns": lambda n: n * 10**3,
    "us": lambda n: n * 10**6,
    "khz": lambda n: 10**9 / n,
    "mhz": lambda n: 10**6 / n,
    "ghz": lambda n: 10**3 / n,
}


class StudySwitch(click.Option):
    """A switch that a study of many runs sets, unless it says otherwise."""


class Period(click.ParamType):  # type: ignore[type-arg] # generic only in newer click
    """A clock period (`7.14ns`, `500ps`) or frequency (`140MHz`); gives whole picoseconds."""

    name = "period"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Picoseconds of a cycle: exact for a period, the nearest for a frequency."""
        if isinstance(value, int):
            return value
        match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-z]+)\s*", str(value).lower())
        try:
            number = parse_number(match[1]) if match else Fraction(0)
        except OverflowError:
            number = Fraction(0)
        if match is None or match[2] not in _UNITS or number == 0:
            self.fail(f"{value} is no period; write 10ns, 500ps or 100MHz", param, ctx)
        exact = _UNITS[match[2]](number)
        if exact.denominator != 1 and not match[2].endswith("hz"):
            self.fail(f"{value} is finer than a picosecond", param, ctx)
        return max(1, round(exact))


def check_outputs(*paths: Path | None, force: bool) -> None:
    """Refuse before the work what could not be written after it."""
    named = [path for path in paths if path is not None and str(path) != "-"]
    for index, path in enumerate(named):
        if path in named[:index]:
            raise OutputError(f"{path}: two outputs of one name; choose another for one of them")
        check_free(path, force=force)
