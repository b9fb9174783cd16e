"""Writing files: whole or not at all, and never over another without leave; reading sources."""

from __future__ import annotations

import os
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from cyclescope.errors import OutputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["check_free", "read_source", "source_below", "write_whole"]


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
    if not path.parent.is_dir():
        raise OutputError(f"{path}: there is no folder {path.parent}; make it first")
    if not os.access(path.parent, os.W_OK):
        raise OutputError(f"{path}: the folder {path.parent} cannot be written to")


def _is_stream(path: Path) -> bool:
    """Whether it is a device or a pipe: what is there is written to, and never replaced."""
    return path.exists() and not path.is_file()


@contextmanager
def write_whole(path: Path, *, force: bool = False) -> Iterator[BinaryIO]:
    """Open a file that appears under its name only when all of it is written.

    A device or a pipe (`/dev/null`, the shell's `>(…)`) is written to as it is.

    Raises:
        OutputError: as `check_free`, or the disk is full or fails.
    """
    check_free(path, force=force)
    if _is_stream(path):
        try:
            with path.open("wb") as stream:
                yield stream
        except BrokenPipeError:
            raise
        except OSError as error:
            reason = error.strerror or str(error)
            raise OutputError(f"{path}: cannot be written: {reason}") from error
        return
    partial: Path | None = None
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        partial = Path(name)
        with os.fdopen(handle, "wb") as stream:
            yield stream
        # mkstemp makes private files; give it the rights that any other new file gets.
        umask = os.umask(0)
        os.umask(umask)
        partial.chmod(0o666 & ~umask)
        partial.replace(path)
    except OSError as error:
        reason = error.strerror or str(error)
        raise OutputError(f"{path}: cannot be written: {reason}; nothing was left there") from error
    finally:
        if partial is not None:
            with suppress(OSError):
                partial.unlink()


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
