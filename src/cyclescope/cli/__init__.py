"""The command line: one verb, one module; no logic, only arguments in and results out."""

from __future__ import annotations

import errno
import importlib
import io
import os
import signal
import sys
import threading
import warnings
from contextlib import suppress
from pathlib import Path

import click

from cyclescope import __version__
from cyclescope._address_space import is_near, limited_to
from cyclescope._garbage import collect_rarely
from cyclescope._interrupts import forget, interrupt, was_interrupted
from cyclescope._visible import visible
from cyclescope.cli._groups import Group
from cyclescope.cli._voice import with_voice
from cyclescope.errors import CyclescopeError

__all__ = ["COMMANDS", "all_is_said", "main", "program"]

# Sources first, then views. A verb is the command of that name in the module of that name, with
# an underscore behind it where the word is taken.
COMMANDS = (
    "calyx",
    "bounds",
    "survey",
    "hls",
    "import",
    "report",
    "summary",
    "table",
    "source",
    "area",
    "flamegraph",
    "timeline",
    "export",
    "diff",
    "check",
    "advise",
    "improve",
    "critical",
    "whatif",
    "ladder",
    "query",
    "sweep",
    "cache",
    "completion",
    "help",
)


class _Verbs(Group):
    """The commands in the order given, each imported when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:  # noqa: ARG002
        if name not in COMMANDS:
            return None
        module = importlib.import_module(f"cyclescope.cli._{name}")
        command: click.Command = getattr(module, f"{name}_", None) or getattr(module, name)
        return with_voice(command)

    def invoke(self, ctx: click.Context) -> object:
        """As click's, which would put an empty line before what we say of an interruption."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            if sys.stderr.isatty():
                print(file=sys.stderr)  # the terminal shows ^C
            raise click.exceptions.Abort from None


# \b keeps click from filling the lines that follow into a paragraph.
_HELP = """See where every clock cycle of a hardware accelerator goes.

A source makes a profile (.cyc); views show it:

\b
  cyclescope calyx PROGRAM.futil --data DATA.json -o OUT.cyc
  cyclescope bounds KERNEL.c --kernel FUNCTION -o OUT.cyc
  cyclescope hls PROGRAM.c -o OUT.cyc
  cyclescope report OUT.cyc
  cyclescope flamegraph OUT.cyc
  cyclescope timeline OUT.cyc
"""


@click.group(cls=_Verbs, help=_HELP, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "-V", "--version", message="cyclescope %(version)s")
@click.pass_context
def program(context: click.Context) -> None:
    """Everything that the command line can do."""
    if context.obj:
        sys.unraisablehook = _tell_again
        _end_in_time()


# A system that stops us waits for two seconds before it insists.
_STOPPED_SECONDS = 1.8


def _end_in_time() -> None:
    """See to it that we end in time when the system stops us, whatever library is at work then."""
    from cyclescope._native import end_after

    line, told = os.pipe2(os.O_CLOEXEC)
    os.set_blocking(told, False)
    end_after(line, bytes([signal.SIGTERM]), _STOPPED_SECONDS, "cyclescope: interrupted\n", 130)
    signal.set_wakeup_fd(told, warn_on_full_buffer=False)


def _tell_again(unraisable: sys.UnraisableHookArgs) -> None:
    """Tell of an interrupt a little later that came where nobody is told: in what cleans up."""
    if issubclass(unraisable.exc_type, KeyboardInterrupt):
        signal.signal(signal.SIGALRM, interrupt)
        signal.setitimer(signal.ITIMER_REAL, 0.01)
    elif not was_interrupted():  # what an interrupt left half made cannot clean up
        sys.__unraisablehook__(unraisable)


def all_is_said() -> None:
    """Note that all output is written: the process may take its time to end."""
    if threading.current_thread() is threading.main_thread():
        told = signal.set_wakeup_fd(-1)
        if told >= 0:
            with suppress(OSError):
                os.write(told, b"\0")


def main(arguments: list[str] | None = None, *, watched: bool = False) -> int:
    """Run the command line; gives the exit status.

    Args:
        arguments: after the program's name; None for those of the process.
        watched: the process is ours: the system's SIGTERM ends it within two seconds, libraries'
            warnings are not shown, and the collector of garbage is set.

    0 done, 1 or 2 wrong use or input, 3 to 6 as in `cyclescope.errors`, 70 a bug of ours, 130
    interrupted. CYCLESCOPE_DEBUG=1 shows the traceback of an error.
    """
    # A terminal that closes, or a system that stops us, is as good as Ctrl-C: tools that we started
    # must end too, and temporary files go.
    if threading.current_thread() is threading.main_thread():
        forget()
    if watched:
        collect_rarely()
    if watched and not sys.warnoptions:
        # What libraries have to remark is not for who uses us.
        warnings.simplefilter("ignore")
    # The shell closed it (`>&-`): nobody listens, but files are written all the same.
    if sys.stdout is None:
        sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        # What a terminal's encoding cannot show is shown by its number.
        if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors="backslashreplace")
    try:
        status = program.main(arguments, prog_name="cyclescope", standalone_mode=False, obj=watched)
        sys.stdout.flush()
    except SystemExit:
        # So click ends if whoever reads our output has seen enough.
        return 0
    except (KeyboardInterrupt, click.exceptions.Abort):
        return _complain("interrupted", 130)
    except Exception as error:  # noqa: BLE001 - nobody should see a traceback
        return _complain("interrupted", 130) if was_interrupted(error) else _failed(error)
    return status if isinstance(status, int) else 0


def _failed(error: Exception) -> int:
    """Say in a line what went wrong; the exit status."""
    match error:
        case click.exceptions.NoArgsIsHelpError():
            error.show()
            return error.exit_code
        case click.ClickException():
            return _complain(_one_line(error), error.exit_code)
        case CyclescopeError():
            return _complain(str(error), error.exit_code, error)
        case BrokenPipeError():
            # Whoever read our output has seen enough. Python must not complain about it at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0
        case OSError(errno=errno.ENOSPC | errno.EDQUOT | errno.EFBIG | errno.EIO):
            # Files have errors of their own; what is left is the standard output.
            sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
            reason = f"{error.strerror}; free some space"
            return _complain(f"standard output cannot be written: {reason}", 3)
        case MemoryError():
            where = f": {limited_to()}" if is_near() else ""
            return _complain(f"out of memory{where}; profile fewer cycles (--cycle-limit)", 1)
    if is_near():
        return _complain(f"out of memory: {limited_to()}; allow more, or profile less", 1, error)
    what = f"{type(error).__name__}: {error}".splitlines()[0]
    return _complain(f"a bug of cyclescope: {what}; please report it", 70, error)


def _one_line(error: click.ClickException) -> str:
    """Wrong use: what is wrong, and which page says how it is done."""
    message = error.format_message().rstrip(".")
    context = error.ctx if isinstance(error, click.UsageError) else None
    hint = f"; see {context.command_path} --help" if context is not None else ""
    return message[:1].lower() + message[1:] + hint


def _complain(message: str, status: int, error: Exception | None = None) -> int:
    if error is not None and os.environ.get("CYCLESCOPE_DEBUG"):
        raise error
    # One line, whatever names the program has.
    print(f"cyclescope: {visible(' '.join(message.split()))}", file=sys.stderr)
    return status
