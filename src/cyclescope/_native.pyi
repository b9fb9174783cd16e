from collections.abc import Sequence
from pathlib import Path

import numpy as np

CALYX_VERSION: str
WELLEN_VERSION: str

class CompileError(Exception):
    """Arguments: message, file (empty if unknown), byte offset in it."""

class UnreadableError(CompileError):
    """The output of another compiler is not in the notation of release 0.7.1."""

def compile(
    file: Path,
    library: Path,
    work: Path,
    replacements: dict[Path, Path],
    passes: list[str],
    disable: list[str],
    options: list[str],
    instrument: bool,
    bound: bool,
    longer: list[tuple[int, int, bool]] = ...,
) -> tuple[str, str]: ...
def write_library(folder: Path) -> None: ...
def pass_help() -> str: ...
def print_program(
    file: Path, library: Path, passes: list[str], disable: list[str], options: list[str]
) -> str: ...
def instrumented_passes(passes: list[str]) -> list[tuple[str, bool]]:
    """A flat list of passes with ours where they belong: (name, whether it is one of ours)."""

class Instrumenter:
    """Our passes for a program on its way through another compiler.

    Arguments: (file, byte offset) of each statement that is tagged `@cyclescope_at`, by that
    number; of each component; of each group, by component.
    """

    def __init__(
        self,
        statements: list[tuple[str, int]],
        components: dict[str, tuple[str, int]],
        groups: dict[str, dict[str, tuple[str, int]]],
    ) -> None: ...
    def run(self, file: Path, passes: list[str]) -> str:
        """The program in a file after some of our passes, as text that any compiler reads.

        UnreadableError: release 0.7.1 does not read it, and nothing was done.
        """

    def finish(self, file: Path, passes: list[str]) -> str:
        """The record of the lowered program in a file, as JSON like that of `compile`.

        `passes` are those that it went through.
        """

def table_integers(data: bytes, column: str) -> bytearray:
    """ValueError if it isn't Parquet, or has no such column of integers."""

def table_rows(data: bytes) -> str:
    """ValueError if it isn't Parquet."""

def write_table(columns: Sequence[tuple[str, str, object]]) -> bytes:
    """Columns (name, kind, values) as a Parquet file.

    Kinds: of int64 arrays `narrow` (the narrowest type that can represent them all), `whole`,
        `optional`
    (-1 is a missing value); of lists `text`, `truth`, `whole lists`, `place lists`, and with None
    where there is no value `whole?`, `text?`, `truth?`, `number?`; `names`: a pair of texts and of
    an int64 array, which of them each row has (-1: none).
    """

class TableWriter:
    """A Parquet file that is written part by part."""

    def add(self, columns: Sequence[tuple[str, str, object]]) -> bytes:
        """Rows that follow, as `write_table` takes them; gives the bytes that are due.

        The first part says which columns there are; there may be no rows in it.
        """

    def finish(self) -> bytes:
        """The rest of the file."""

def format_rows(
    pieces: Sequence[str], fields: Sequence[tuple[Sequence[str] | None, _Ints]]
) -> bytes:
    """Rows as text: a piece before each field, and one behind the last.

    A field is (None, its numbers), or (texts, which of them each row has).
    """

_Ints = np.ndarray[tuple[int], np.dtype[np.int64]]

def segment_anchors(samples: Sequence[tuple[_Ints, _Ints]]) -> list[int]:
    """The states at whose runs sequences like these (state, cycles) are cut best."""

class Segmenter:
    """Takes runs in their order; gives the distinct segments, and which follows which."""

    def __init__(self, anchors: Sequence[int]) -> None: ...
    def add(self, state: _Ints, cycles: _Ints) -> None:
        """Runs that follow; neighbours of one state are one run. ValueError if they are none."""
    def finish(self) -> list[tuple[int, bytes]]:
        """Columns (bytes of an integer, integers): order, offsets, cycles, states."""

_Changes = tuple[bytearray, bytearray, bytearray, bytearray, list[str]]
"""(times, steps, signals, values, texts).

Times and values are of 64 bits, steps (-1 before the first time) and signals of 32. A value is -1
if it is not known, -2 for the first text, -3 for the second, and so on.
"""

class VcdBody:
    """The wanted signals of a VCD, by identifier and width."""

    def __init__(self, keys: Sequence[bytes], widths: Sequence[int]) -> None: ...
    def read(self, text: bytes, comment: bool) -> tuple[_Changes, int, int, bool, bool]:
        """The changes in text that begins and ends between two words.

        Returns (changes, digits after the point of the times, words that are no VCD, whether
        values come before the first time, whether it ends inside a comment); `comment` says
        whether it begins inside one. ValueError (what, byte): it cannot be read.
        """

def confinement() -> tuple[int, bool]:
    """(version of Landlock, 0 if there is none; whether there are seccomp filters)."""

def child_cursors(visit: int, cursor: int) -> bytes:
    """The tree below a cursor of libclang; both arguments are addresses."""

def end_after(line: int, signals: bytes, seconds: float, message: str, status: int) -> None:
    """End this process some time after one of these signals was written to `line`; 0 ends that."""

def end_with(parent: int) -> None:
    """Have this process, a copy made by `os.fork`, end when the one that made it does."""

def spawn(
    arguments: Sequence[bytes],
    environment: Sequence[bytes],
    folder: Path,
    streams: tuple[int, ...],
    *,
    kept: Sequence[int],
    limits: Sequence[tuple[int, int]],
    seconds: float,
    tasks: int,
    memory: int,
    files: tuple[list[Path], list[Path], list[Path]] | None,
    calculates: bool,
    alone: bool,
) -> tuple[int, int, int, int]:
    """Start a program under a guard; gives (guard, program, life line, report).

    A byte written to the life line is sent to the program's group as a signal; when the line
    closes the program ends. The guard reports its reason and the program's wait status as two
    32-bit words. OSError: it cannot be started; its text is the step that failed.
    """

def stored_signals(
    path: str, limit: int
) -> tuple[
    tuple[int, int] | None,
    list[list[str]],
    list[tuple[int, str, str, int, int, int | None]],
    list[list[tuple[str, str]]],
]:
    """The declarations of an FST or GHW.

    Returns (unit of time: so many of 10^exponent s; scopes: all names around; variables: scope by
    place, name, kind, bits, number of the signal, enumeration by place; enumerations: bits and
    name of each value). ValueError: it cannot be read.
    """

def stored_changes(path: str, wanted: Sequence[int], limit: int, texts: int) -> _Changes:
    """Changes of signals of an FST or GHW. ValueError: it cannot be read, or exceeds a limit."""

class NetworkTiming:
    """The timing of a process network in hardware.

    Arguments: of each process (firings, interval, cycles from a firing's begin to its write, of
    each operand the channel that each firing reads, negative: none); of each channel (producer,
    consumer, whether it is a reordering buffer, the token of each read, how many tokens are given
    up after each, the producer's firings that send one).
    """

    def __init__(
        self,
        stations: list[tuple[int, int, int, list[_Ints]]],
        channels: list[tuple[int, int, bool, _Ints, _Ints, _Ints]],
    ) -> None: ...
    def run(self, depths: list[int], limit: int | None) -> tuple[int | None, list[int]]:
        """Cycles with these depths, None: a deadlock, or more than `limit`; most tokens of each."""
