"""Writing files: whole or not at all, and never over another without leave; reading sources."""

from __future__ import annotations

import atexit
import errno
import fcntl
import os
import re
import shutil
import signal
import stat
import tempfile
import time
from contextlib import contextmanager, suppress
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from cyclescope.errors import OutputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from fractions import Fraction

__all__ = [
    "check_free",
    "endless",
    "parse_json",
    "parse_number",
    "parse_toml",
    "read_bytes",
    "read_source",
    "read_text",
    "scratch",
    "source_below",
    "spread",
    "undisturbed",
    "unwritable",
    "write_folder",
    "write_together",
    "write_whole",
]


def check_free(path: Path, *, force: bool) -> None:
    """Refuse, before any work is done, an output that could not be written afterwards.

    Raises:
        OutputError: the file exists and `force` is not set, or its folder does not.
    """
    if path.is_dir():
        raise OutputError(f"{path}: is a folder; name a file")
    if _is_stream(path):
        return
    if path.exists() and not force:
        raise OutputError(f"{path}: exists already; choose another name or pass --force")
    folder = _led_to(path).parent
    if not folder.is_dir():
        raise OutputError(f"{path}: there is no folder {folder}; make it first")
    if not os.access(folder, os.W_OK):
        raise OutputError(f"{path}: the folder {folder} cannot be written to")


def _led_to(path: Path) -> Path:
    """The target of a link, which is written while the link stays; else the path itself.

    Raises:
        OutputError: the link leads nowhere, in a circle.
    """
    if not path.is_symlink():
        return path
    target = Path(os.path.realpath(path))
    if target.is_symlink():
        raise OutputError(f"{path}: is a link that leads to itself; remove it")
    return target


def _is_stream(path: Path) -> bool:
    """Return whether it is a device or a pipe: what is there is written to, and never replaced."""
    return path.exists() and not path.is_file()


def endless(path: Path) -> str:
    """Describe a device or a pipe, which need not end; nothing of files and folders.

    Raises:
        OSError, ValueError: there is no telling.
    """
    if path.exists() and not (path.is_file() or path.is_dir()):
        return f"{path}: is a device or a pipe, not a file; copy it to one"
    return ""


@contextmanager
def write_whole(path: Path, *, force: bool = False) -> Iterator[BinaryIO]:
    """Open a file that appears under its name only when all of it is written.

    A device or a pipe (`/dev/null`, the shell's `>(…)`) is written to as it is.

    Raises:
        OutputError: as `check_free`, or the disk is full or fails.
    """
    with write_together([path], force=force) as (stream,):
        yield stream


@contextmanager
def write_together(paths: Sequence[Path], *, force: bool = False) -> Iterator[list[BinaryIO]]:
    """Open several files that appear under their names only when all of all is written.

    If one of them cannot be given its name, those that have theirs lose them again; what was there
    before is there again. The first gets its name last.

    Raises:
        OutputError: as `check_free`, or the disk is full or fails.
    """
    for path in paths:
        check_free(path, force=force)
    drafts = [_Stream(path) if _is_stream(path) else _Draft(_led_to(path)) for path in paths]
    at = paths[0]
    try:
        for draft in drafts:
            at = draft.path
            draft.open()
        yield [draft.stream for draft in drafts]
        for draft in drafts:
            at = draft.path
            draft.complete()
        with undisturbed():
            for draft in reversed(drafts):
                at = draft.path
                draft.publish(force=force)
            for draft in drafts:
                draft.keep()
    except BrokenPipeError:
        raise
    except OSError as error:
        reason = error.strerror or str(error)
        kept = "" if _is_stream(at) else "; nothing was left there"
        raise OutputError(f"{at}: cannot be written: {reason}{kept}") from error
    finally:
        _surely(*(draft.discard for draft in drafts))


def write_folder(folder: Path, files: Mapping[str, str], *, force: bool) -> None:
    """Write files (name → text) into a folder, which is made where it is not there.

    Raises:
        OutputError: the folder cannot be made; else as `write_together`.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{folder}: cannot make this folder: {error.strerror}") from error
    with write_together([folder / name for name in files], force=force) as streams:
        for stream, text in zip(streams, files.values(), strict=True):
            stream.write(text.encode())


# How a file without a name gets one.
_UNNAMED = Path("/proc/self/fd").is_dir()


class _Draft:
    """A file without a name, or with one that nobody looks for, until it is published."""

    stream: BinaryIO

    def __init__(self, path: Path) -> None:
        self.path = path
        # Names are chosen before anything is made under them: whatever interrupts us, we know them.
        mark = os.urandom(6).hex()
        self._named = path.parent / f".{path.name[:200]}.{mark}"
        self._before = path.parent / f".{path.name[:200]}.{mark}.before"
        self._opened = self._new = self._published = self._kept = False

    def open(self) -> None:
        flags = os.O_WRONLY | os.O_CLOEXEC
        handle = -1
        if _UNNAMED:
            # Gone with us, however we go. Not every file system can.
            with suppress(OSError):
                handle = os.open(self.path.parent, flags | os.O_TMPFILE, 0o666)
        if handle < 0:
            handle = os.open(self._named, flags | os.O_CREAT | os.O_EXCL, 0o666)
        self.stream = os.fdopen(handle, "wb")
        self._opened = True

    def complete(self) -> None:
        """Hand all of it to the system: what cannot be written shows now."""
        self.stream.flush()

    def publish(self, *, force: bool) -> None:
        if not self._named.exists():
            handle = self.stream.fileno()
            # The directory's descriptor is not used, but asks for the call that follows links.
            source = f"/proc/self/fd/{handle}"
            os.link(source, self._named, src_dir_fd=handle, follow_symlinks=True)
        self._new = not self.path.exists()
        if not self._new:
            check_free(self.path, force=force)
            with suppress(OSError):
                os.link(self.path, self._before)
        try:
            if not self._new:
                raise FileExistsError
            # Of two that found the name free, one has it.
            os.link(self._named, self.path)
            self._named.unlink()
        except OSError:
            check_free(self.path, force=force)
            self._named.replace(self.path)
        self._published = True

    def keep(self) -> None:
        self._kept = True

    def discard(self) -> None:
        """Remove what has no name yet, and names that not all got."""
        if self._opened:
            with suppress(OSError):
                self.stream.close()
        if self._published and not self._kept:
            with suppress(OSError):
                if self._new:
                    self.path.unlink()
                elif self._before.exists():
                    self._before.replace(self.path)
        for left in (self._named, self._before):
            with suppress(OSError):
                left.unlink()


class _Stream(_Draft):
    """A device or a pipe: what is written is away."""

    def open(self) -> None:
        self.stream = self.path.open("wb")
        self._opened = True

    def publish(self, *, force: bool) -> None:
        pass

    def discard(self) -> None:
        if self._opened:
            with suppress(OSError):
                self.stream.close()


_STOPS = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}


def spread(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files below a folder of our own: path below it → content."""
    for name, data in files.items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)


@contextmanager
def undisturbed() -> Iterator[None]:
    """Let signals that would stop us wait for a few lines that belong together."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _STOPS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _surely(*steps: Callable[[], None]) -> None:
    """Do what has to be done at the end, also if a signal comes just before it is undisturbed.

    The steps may be done twice.
    """
    try:
        with undisturbed():
            for step in steps:
                step()
    except KeyboardInterrupt:
        with undisturbed():
            for step in steps:
                step()
        raise


_SCRATCH = "cyclescope-"
_OURS = re.compile(_SCRATCH + r"[a-z]+-[0-9a-f]{12}")  # no folder that a user might have made
_FRESH = 5.0  # seconds in which a folder may be made but not locked yet


_made: dict[Path, int] = {}  # scratch folders that are there, and the process that made them


@atexit.register
def _remove_scratch() -> None:
    """Remove what is left: an interrupt came between the making of a folder and its use."""
    for folder, process in list(_made.items()):
        if process == os.getpid():  # not in a copy that `os.fork` made
            shutil.rmtree(folder, ignore_errors=True)


def _temporary() -> Path:
    try:
        return Path(tempfile.gettempdir())
    except FileNotFoundError as error:
        raise OutputError(
            "no folder for temporary files can be written to; name one in TMPDIR"
        ) from error


@contextmanager
def scratch(kind: str = "run") -> Iterator[Path]:
    """A folder for temporary files, removed at the end.

    Folders that a killed process left behind go when the next one makes one: each is locked while
    somebody uses it.

    Raises:
        OutputError: it cannot be made.
    """
    folder = _temporary() / f"{_SCRATCH}{kind}-{os.urandom(6).hex()}"
    lock = -1
    try:
        try:
            with undisturbed():
                _made[folder] = os.getpid()
                folder.mkdir(mode=0o700)
                lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
                fcntl.flock(lock, fcntl.LOCK_EX)
        except OSError as error:
            raise unwritable(folder.parent, str(error.strerror)) from error
        _sweep(folder.parent)
        yield folder
    finally:
        _surely(partial(shutil.rmtree, folder, ignore_errors=True))
        _made.pop(folder, None)
        if lock >= 0:
            os.close(lock)


def unwritable(folder: str | os.PathLike[str], error: OSError | str) -> OutputError:
    """The error of a folder for temporary files that cannot be written to, for a reason."""
    reason = error
    if isinstance(error, OSError):
        folder, reason = error.filename or folder, error.strerror or str(error)
    return OutputError(
        f"{folder}: cannot write ({reason}); free some space or name another folder in TMPDIR"
    )


@cache
def _sweep(above: Path) -> None:
    """Remove what killed processes of this user left there; once a process."""
    with suppress(OSError):
        for entry in os.scandir(above):
            if _OURS.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False):
                _remove_if_left(Path(entry.path))


def _remove_if_left(folder: Path) -> None:
    with suppress(OSError):
        found = folder.lstat()
        # A clock that was set back must not keep it for ever.
        if found.st_uid != os.getuid() or abs(time.time() - found.st_ctime) < _FRESH:
            return
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
        lock = os.open(folder, flags)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)
        finally:
            os.close(lock)


_LARGEST = 1 << 30  # bytes
_LARGEST_STREAM = 256 << 20  # of a device or a pipe
_LARGEST_TEXT = 64 << 20


def read_bytes(path: Path, most: int = _LARGEST) -> bytes:
    """The contents of a file, which may be a device or a pipe without an end.

    Raises:
        OSError: it cannot be read, or is larger than `most` bytes.
    """
    with path.open("rb") as stream:
        found = os.fstat(stream.fileno())
        size = found.st_size
        # What has no end shows only by being read.
        most = most if stat.S_ISREG(found.st_mode) else min(most, _LARGEST_STREAM)
        data = stream.read(most + 1) if size <= most else b""
    if max(size, len(data)) > most:
        raise OSError(errno.EFBIG, f"is larger than {most >> 20:,} MB", str(path))
    return data


def read_text(path: Path, most: int = _LARGEST_TEXT, errors: str = "strict") -> str:
    """The text of a file in UTF-8, with the newlines of any system.

    Raises:
        OSError: as `read_bytes`.
        UnicodeDecodeError: it is none.
    """
    text = read_bytes(path, most).decode("utf-8", errors)
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def parse_json(text: str | bytes, **hooks: Any) -> Any:
    """As `json.loads`, but all that is wrong with a text is one kind of error.

    Raises:
        JSONDecodeError: it is not JSON, is nested too deeply, or a number is too long.
    """
    import json

    try:
        return json.loads(text, **hooks)
    except json.JSONDecodeError:
        raise
    except RecursionError:
        raise json.JSONDecodeError("nested too deeply", "", 0) from None
    except UnicodeDecodeError:
        raise json.JSONDecodeError("not UTF-8 text", "", 0) from None
    except ValueError:
        # Python refuses integers of thousands of digits.
        raise json.JSONDecodeError("a number has too many digits", "", 0) from None
    except ArithmeticError:
        # And `Decimal`, if numbers become that, exponents beyond 18 digits.
        raise json.JSONDecodeError("a number has too large an exponent", "", 0) from None


def parse_toml(text: str) -> dict[str, Any]:
    """As `tomllib.loads`, but all that is wrong with a text is one kind of error.

    Raises:
        TOMLDecodeError: it is not TOML, is larger than anybody writes, is nested too deeply, or an
            integer exceeds 64 bits.
    """
    import tomllib

    if len(text) > _LARGEST_TABLE:
        raise tomllib.TOMLDecodeError(f"larger than {_LARGEST_TABLE >> 20} MB")
    # The parser keeps every beginning of a key with dots.
    if any(part.count(".") > _DEEPEST for part in re.split(r"[,=\[\]{}\n]", text)):
        raise tomllib.TOMLDecodeError("nested too deeply")
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        raise
    except RecursionError:
        raise tomllib.TOMLDecodeError("nested too deeply") from None
    except ValueError as error:
        raise tomllib.TOMLDecodeError(str(error)) from None
    # Hexadecimal ones are of any length.
    level: list[Any] = [table]
    for _ in range(_DEEPEST):
        if any(type(value) is int and not -(1 << 63) <= value < 1 << 63 for value in level):
            raise tomllib.TOMLDecodeError("an integer exceeds 64 bits")
        inner = [value.values() if isinstance(value, dict) else value
                 for value in level if isinstance(value, dict | list)]  # fmt: skip
        level = [value for values in inner for value in values]
        if not level:
            return table
    raise tomllib.TOMLDecodeError("nested too deeply")


_LARGEST_TABLE = 1 << 20  # characters
_DEEPEST = 100  # levels of tables and lists
_DIGITS = 4_000  # the smallest floating-point numbers have 1,076
_EXPONENT = 10_000


def parse_number(text: str) -> Fraction:
    """The number that a text writes in decimal digits (`12`, `-0.5`, `1e-3`), exactly.

    Raises:
        OverflowError: it has more digits, or a larger exponent, than anybody means; as a fraction,
            1e999999999 would fill the memory.
        ValueError: it is no number, or none that is finite.
    """
    from decimal import Decimal, InvalidOperation
    from fractions import Fraction

    if len(text) > _DIGITS:
        raise OverflowError("it has too many digits")
    try:
        number = Decimal(text)
    except InvalidOperation:
        raise ValueError("it is no number") from None
    if not number.is_finite():
        raise ValueError("it is no finite number")
    if abs(number.adjusted()) > _EXPONENT:
        raise OverflowError("its exponent is too large")
    return Fraction(number)


_SOURCES = frozenset({".c", ".cpp", ".fuse", ".futil", ".h", ".mlir", ".py", ".scala"})
_LARGEST_SOURCE = 4 << 20  # bytes


def source_below(file: str, folders: Iterable[Path]) -> str | None:
    """The text of a source file that something else names; None if it is not at hand.

    What names a file can name any, and profiles are made to be passed on: only source files that
    lie below one of the folders (absolute, without links) are read.
    """
    folders = tuple(folders)
    for folder in folders:
        try:
            path = (folder / file).resolve()
        except (OSError, RuntimeError, ValueError):  # a loop of links, a NUL in the name
            continue
        if path.suffix in _SOURCES and any(path.is_relative_to(f) for f in folders):
            found = read_source(path)
            if found is not None:
                return found
    return None


def read_source(path: Path) -> str | None:
    """A text worth carrying; None if it is not there, too large, or no text."""
    try:
        if not path.is_file() or path.stat().st_size > _LARGEST_SOURCE:
            return None
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return None
