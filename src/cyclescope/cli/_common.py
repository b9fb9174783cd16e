"""Shared parts of commands: arguments, output files, progress."""

from __future__ import annotations

import difflib
import io
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NoReturn, TextIO, TypeVar, cast

import click

from cyclescope._files import check_free, parse_number, write_together
from cyclescope.cli._kinds import InputPath
from cyclescope.cli._voice import doing, is_quiet, is_verbose, progress, say, timing
from cyclescope.errors import InputError, OutputError

if TYPE_CHECKING:
    from typing_extensions import Buffer

    from cyclescope.model import Profile

__all__ = [
    "PROFILE",
    "OneOf",
    "Period",
    "StudySwitch",
    "check_form",
    "check_outputs",
    "check_picture",
    "doing",
    "force_option",
    "form_option",
    "format_option",
    "hush_if_quiet",
    "is_quiet",
    "is_verbose",
    "json_option",
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
    "save_profile",
    "save_profiles",
    "say",
    "target",
    "tell_json",
    "tell_summary",
    "timing",
    "told_option",
    "window_options",
    "words",
    "writing",
    "writing_together",
]

Decorated = TypeVar("Decorated", bound=Callable[..., Any])

PROFILE = InputPath("a profile", stdin=True)
"""The type of an argument that is a profile; `-` is one on standard input."""

profile_argument = click.argument("profile", type=PROFILE, metavar="PROFILE.cyc")
profiles_argument = click.argument(
    "profiles",
    type=PROFILE,
    nargs=-1,
    required=True,
    metavar="PROFILE.cyc...",
)


class OneOf(click.Choice):  # type: ignore[type-arg] # generic only in newer click
    """A choice whose likeliest word is suggested where another was given."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The chosen word."""
        words = [str(choice) for choice in self.choices]
        if value not in self.choices:
            self.fail(self._answer(str(value), words), param, ctx)
        return value

    @staticmethod
    def _answer(value: str, words: list[str]) -> str:
        near = difflib.get_close_matches(value.lower(), words, n=1, cutoff=0.5)
        hint = f"; did you mean {near[0]}?" if near else ""
        return f"'{value}' is not one of {', '.join(words)}{hint}"


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
            help="First cycle after the range; default: the end.",
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
    ".xml": "junit",
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
        type=OneOf(forms),
        callback=chosen,
        help=f"Default: by the extension of the output, else {forms[0]}.",
    )


form_option = format_option("text", "csv", "json", "markdown", "parquet")


# The spelling of earlier versions.
json_option = click.option("--json", "as_json", is_flag=True, hidden=True)


def told_option(command: Decorated) -> Decorated:
    """`--format` of what a command prints besides the files that it writes: text or JSON."""
    return click.option(
        "--format",
        "form",
        type=OneOf(("text", "json")),
        default="text",
        show_default=True,
        help="How to print the result.",
        callback=_told,
    )(command)


def _told(_context: click.Context, _: click.Parameter, form: str) -> str:
    if form == "json":
        _keep_output_clean(what=_JSON)
    return form


def tell_json(text: str) -> None:
    """Print the JSON that `--format json` asks for."""
    out = _standard_output()
    out.write(text if text.endswith("\n") else f"{text}\n")
    out.flush()


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
    help="Timing of the external memory, a file or a name: ddr4-2400 (the default),"
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
    """Load a profile, and show it at a source level. No output of the command may replace it.

    `-` is one on standard input.
    """
    from cyclescope.model import load, load_stream

    if _is_dash(path):
        profile = load_stream(_standard_input(), "standard input")
    else:
        profile = load(path)
        _inputs().append(path.resolve())
    if level is None:
        return profile
    from cyclescope.analyse import at_level

    return at_level(profile, level)


def _is_dash(path: Path) -> bool:
    return str(path) == "-"


_LARGEST_INPUT = 1 << 30  # bytes of a profile on standard input


def _standard_input() -> BinaryIO:
    """All of standard input.

    Raises:
        InputError: it is a terminal, too large, or was read already.
    """
    meta = click.get_current_context().find_root().meta
    if meta.setdefault(f"{__name__}.read", False):
        raise InputError("standard input (-) is read once; name a file for the other profile")
    meta[f"{__name__}.read"] = True
    stream = sys.stdin
    if stream is None or stream.isatty():
        raise InputError("standard input (-) is not a profile; pipe one to it, or name a file")
    data = stream.buffer.read(_LARGEST_INPUT + 1)
    if len(data) > _LARGEST_INPUT:
        raise InputError(f"standard input is larger than {_LARGEST_INPUT >> 20:,} MB; use a file")
    return io.BytesIO(data)


def _inputs() -> list[Path]:
    """The profiles that this run of the command line has read."""
    context = click.get_current_context(silent=True)
    found: list[Path] = [] if context is None else context.meta.setdefault(__name__, [])
    return found


def target(output: Path | None, profile: Path, suffix: str) -> Path:
    """The file to write: as asked, or beside the profile with another ending.

    What is made of a profile on standard input goes to standard output.
    """
    if output is None and _is_dash(profile):
        return profile
    if output is None and profile.is_dir():
        raise InputError(f"{profile}: is a folder, not a profile")
    return output if output is not None else profile.with_suffix(suffix)


def check_picture(path: Path | None) -> None:
    """Refuse a name that says it is another kind of picture than we draw."""
    if path is not None and path.suffix.lower() in _NOT_SVG:
        raise OutputError(f"{path}: pictures are SVG; call it {path.stem}.svg")


_NOT_SVG = {".bmp", ".eps", ".gif", ".jpeg", ".jpg", ".pdf", ".png", ".ps", ".webp"}


@contextmanager
def writing(path: Path, *, force: bool, cheaper: str = "") -> Iterator[BinaryIO]:
    """A stream to a file that appears only when whole, or to standard output.

    Args:
        path: of the file.
        force: write over one that is there.
        cheaper: what makes a smaller one, to say so if it is large.
    """
    with writing_together([path], force=force, cheaper=cheaper) as (stream,):
        yield stream


_LARGE = 50_000_000  # bytes


class _Measured:
    """A stream that tells, while it is written, that it becomes large."""

    def __init__(self, stream: BinaryIO, path: Path, cheaper: str) -> None:
        self._stream, self._path, self._cheaper = stream, path, cheaper
        self._written, self._told = 0, is_quiet()

    def write(self, data: Buffer) -> int:
        """As the stream's."""
        count = self._stream.write(data)
        self._written += memoryview(data).nbytes
        if self._written > _LARGE and not self._told:
            self._told = True
            say(f"{self._path}: more than {_LARGE // 10**6} MB; {self._cheaper}", err=True)
        return count

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def writing_together(
    paths: Sequence[Path], *, force: bool, cheaper: str = ""
) -> Iterator[list[BinaryIO]]:
    """Streams to files that appear only when all are whole; or one to standard output.

    The first of the files is measured, as in `writing`.
    """
    if [str(path) for path in paths] == ["-"]:
        out = _standard_output()
        buffer = getattr(out, "buffer", None)
        stream = buffer or io.BytesIO()
        yield [stream]
        stream.flush()
        if buffer is None:  # a program of its own has put a text in its place
            out.write(stream.getvalue().decode("utf-8", "replace"))
        return
    for path in paths:
        if path.exists() and path.resolve() in _inputs():
            raise OutputError(f"{path}: is the profile that is shown; choose another name")
    with write_together(paths, force=force) as (first, *others):
        yield [_measured(first, paths[0], cheaper), *others]


def _measured(stream: BinaryIO, path: Path, cheaper: str) -> BinaryIO:
    return cast("BinaryIO", _Measured(stream, path, cheaper)) if cheaper else stream


_REAL, _TAKEN = f"{__name__}.stdout", f"{__name__}.taken"
_HUSHED = f"{__name__}.hushed"
_JSON = "--format json prints on standard output"


def _standard_output() -> TextIO:
    """The stream of an output named `-`, whatever is printed elsewhere meanwhile."""
    context = click.get_current_context(silent=True)
    out = sys.stdout if context is None else context.find_root().meta.get(_REAL, sys.stdout)
    return cast("TextIO", out)


def _keep_output_clean(what: str) -> None:
    """Print on standard error from here on: standard output is for one thing, `what`."""
    context = click.get_current_context()
    meta = context.find_root().meta
    if _TAKEN in meta:
        raise OutputError(f"two outputs to standard output ({meta[_TAKEN]}); name a file for one")
    meta[_TAKEN] = what
    meta.setdefault(_REAL, sys.stdout)
    if not meta.get(_HUSHED):
        context.with_resource(redirect_stdout(sys.stderr))


def hush_if_quiet() -> None:
    """With `-q`, print nothing from here on but what `--format json` or `-o -` asks for."""
    context = click.get_current_context()
    if is_quiet():
        context.find_root().meta.setdefault(_REAL, sys.stdout)
        context.find_root().meta[_HUSHED] = True
        nowhere = context.with_resource(Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 - closed with it
        context.with_resource(redirect_stdout(nowhere))


def save_profile(profile: Profile, path: Path, *, force: bool) -> None:
    """Write a profile to a file, or to standard output.

    Raises:
        OutputError: it cannot be written, or standard output is a terminal.
    """
    save_profiles([(profile, path)], force=force)


def save_profiles(profiles: Sequence[tuple[Profile, Path]], *, force: bool) -> None:
    """Write profiles that belong together: all of them or none; to `-` one alone."""
    from cyclescope.model import save_stream

    paths = [path for _, path in profiles]
    with writing_together(paths, force=force) as streams:
        for (profile, _), stream in zip(profiles, streams, strict=True):
            save_stream(profile, stream)


def tell_summary(profile: Profile, form: str = "text") -> None:
    """Print the summary of a profile that was made."""
    from cyclescope.views import print_summary, summary_json

    if form == "json":
        tell_json(summary_json(profile))
    else:
        print_summary(profile, sys.stdout)


def not_complete(reason: str) -> NoReturn:
    """Say that a run was stopped before its end, and end.

    Raises:
        Exit: with the status that says so.
    """
    say(f"cyclescope: not complete: {reason}", err=True)
    raise click.exceptions.Exit(5)


def report(path: Path, what: str) -> None:
    """Say what was written, unless it went to standard output."""
    if str(path) != "-" and not is_quiet():
        size = path.stat().st_size if path.is_file() else 0
        say(f"{what}: {path}" + (f" ({size / 1e6:,.0f} MB)" if size > _LARGE else ""))


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
            self.fail(f"{value} is not a period; write 10ns, 500ps or 100MHz", param, ctx)
        exact = _UNITS[match[2]](number)
        if exact.denominator != 1 and not match[2].endswith("hz"):
            self.fail(f"{value} is finer than a picosecond", param, ctx)
        return max(1, round(exact))


def check_outputs(*paths: Path | None, force: bool) -> None:
    """Refuse before the work what could not be written after it.

    If one of them is `-`, what else is printed from here on goes to standard error.
    """
    given = [path for path in paths if path is not None]
    named = [path for path in given if not _is_dash(path)]
    for _ in range(len(given) - len(named)):
        _keep_output_clean("-")
    for index, path in enumerate(named):
        if path in named[:index]:
            raise OutputError(f"{path}: two outputs of one name; choose another for one of them")
        check_free(path, force=force)
