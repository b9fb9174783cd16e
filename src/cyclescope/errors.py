"""Every error that cyclescope raises on purpose.

    CyclescopeError              anything below; `exit_code` is the process's exit status
    ├── InputError               the user's input is wrong (exit 2)
    │   ├── SourceError          a program or kernel that cannot be read or compiled
    │   │   └── RegionError      a program without a target region
    │   ├── DataError            memory data that is missing, ill-typed or of the wrong shape
    │   └── ProfileFileError     a profile that is damaged, cut, foreign or newer than this tool
    ├── OutputError              a result cannot be written: it exists, the disk is full … (exit 3)
    ├── ToolError                a needed program is absent or failed (exit 4)
    ├── RunError                 a simulation that went wrong (exit 5)
    │   └── DeadlockError        a process network in which nothing moves any more
    ├── VerifyError              results are not what they must be (exit 6)
    └── LawError                 a profile that breaks a law of the model: our own bug (exit 70)

A message is one line that says where (file, line), what, and what to do about it.
The command line prints it after `cyclescope: ` and exits with `exit_code`.
"""

from __future__ import annotations

__all__ = [
    "CyclescopeError",
    "DataError",
    "DeadlockError",
    "InputError",
    "LawError",
    "OutputError",
    "ProfileFileError",
    "RegionError",
    "RunError",
    "SourceError",
    "ToolError",
    "VerifyError",
]


_LONGEST = 2_000  # characters of a message: it quotes what a stranger has written


class CyclescopeError(Exception):
    """Base of all; its text is one line for the user."""

    exit_code = 1

    def __str__(self) -> str:
        text = super().__str__()
        if len(text) <= _LONGEST:
            return text
        return f"{text[: _LONGEST // 2]} \u2026 {text[-_LONGEST // 2 :]}"


class InputError(CyclescopeError):
    """The user's input is wrong."""

    exit_code = 2


class SourceError(InputError):
    """A program or kernel that cannot be read or compiled."""


class RegionError(SourceError):
    """A program without a target region."""


class DataError(InputError):
    """Memory data that is missing, ill-typed or of the wrong shape."""


class ProfileFileError(InputError):
    """A profile file that is damaged, cut, foreign or newer than this tool."""


class OutputError(CyclescopeError):
    """A result cannot be written."""

    exit_code = 3


class ToolError(CyclescopeError):
    """A needed program is absent or failed."""

    exit_code = 4


class RunError(CyclescopeError):
    """A simulation that went wrong."""

    exit_code = 5


class DeadlockError(RunError):
    """A process network in which nothing moves any more."""


class VerifyError(CyclescopeError):
    """Results are not what they must be: measuring (law 4) or a compiler changed them."""

    exit_code = 6


class LawError(CyclescopeError):
    """A profile that breaks a law of the model: a bug of cyclescope, never of its user."""

    exit_code = 70
