"""The user's cache: what is built once and kept, shared by all processes of the user.

An entry is a folder named by what is in it and a hash. Whoever builds it holds the lock in it. When
its contents have reached the disk, a list of them with their digests is written, the file `ready`:
an entry without it is not there yet, and one that differs from it is damaged. It is then built once
more, without a word.

The cache is bounded: entries that were not used for longest go first, but never one that a process
has in use, which holds the lock `used` in it.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
import shutil
import stat
import time
from collections import OrderedDict
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cyclescope.errors import OutputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["Entry", "cache_folder", "clear", "content_key", "entries", "entry", "prune"]

LIMIT_BYTES = 768 << 20
_OWN = ("lock", "used", "ready")
# After these an entry stays: it is in use, gone, or not ours; its disk is read-only or full.
_STAYS = frozenset(
    {
        *(errno.EWOULDBLOCK, errno.ENOENT, errno.EISDIR),
        *(errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT),
    }
)
_HELD = 64  # entries that a process keeps in use
# To remove less frees nothing; a route of so many bytes took a quarter of an hour.
_SMALL = 64 << 10


def cache_folder() -> Path:
    """The cache's folder: `$CYCLESCOPE_CACHE`, else `cyclescope` in the user's cache (XDG)."""
    if named := os.environ.get("CYCLESCOPE_CACHE"):
        return Path(named).expanduser().absolute()
    base = os.environ.get("XDG_CACHE_HOME", "")
    # The XDG base directory specification has relative paths ignored.
    home = Path(base) if base.startswith("/") else Path("~/.cache").expanduser()
    return home / "cyclescope"


def content_key(*parts: str) -> str:
    """A hash of texts that is different if any of them is."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode()
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.hexdigest()[:24]


def entry(name: str, fill: Callable[[Path], None]) -> Path:
    """The folder of an entry, which is filled first if it is not there or damaged.

    Args:
        name: of the entry; equal names mean equal contents.
        fill: makes the contents in an empty folder; on an exception the entry does not come to be.

    Raises:
        OutputError: the cache cannot be written, or does not keep what is written to it.
    """
    folder = cache_folder() / name
    if _use(folder):
        return folder
    try:
        with _locked(folder):
            if not _use(folder):
                _fill(folder, fill)
                prune()
    except OSError as error:
        raise OutputError(
            f"{folder}: cannot write the cache ({error.strerror or error}); free some space, or"
            " name another folder in CYCLESCOPE_CACHE"
        ) from error
    return folder


def _fill(folder: Path, fill: Callable[[Path], None]) -> None:
    _empty(folder)
    try:
        fill(folder)
        _seal(folder)
    except BaseException:
        _empty(folder)
        raise
    if not _use(folder):
        raise OutputError(
            f"{folder}: the cache does not contain what was written to it; check that disk, or name"
            " another folder in CYCLESCOPE_CACHE"
        )


def _use(folder: Path) -> bool:
    """Hold an entry in use and say whether it is whole; one that is not is left alone."""
    if folder.is_symlink():
        return False
    try:
        handle = os.open(folder / "used", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH)
        whole = _is_file_of(handle, folder / "used") and _is_whole(folder)
        if whole:
            os.utime(folder / "ready")
            _hold(folder, handle)
            handle = -1
    except OSError:
        return False
    finally:
        if handle >= 0:
            os.close(handle)
    return whole


_held: OrderedDict[Path, int] = OrderedDict()


def _hold(folder: Path, handle: int) -> None:
    """Keep what was used last in use, until the process ends."""
    if (before := _held.pop(folder, None)) is not None:
        os.close(before)
    _held[folder] = handle
    while len(_held) > _HELD:
        os.close(_held.popitem(last=False)[1])


def _contents(folder: Path) -> Iterator[Path]:
    return (
        path for path in sorted(folder.rglob("*")) if path.parent != folder or path.name not in _OWN
    )


def _outside(path: Path) -> list[int]:
    """The attributes of an entry's file, read without opening it: its kind and rights, its size."""
    found = path.lstat()
    if not stat.S_ISREG(found.st_mode):
        return [stat.S_IFMT(found.st_mode), 0]
    return [stat.S_IFMT(found.st_mode) | found.st_mode & 0o111, found.st_size]


def _digest(path: Path) -> str:
    """Of a file's contents; empty if it is none."""
    if not stat.S_ISREG(path.lstat().st_mode):
        return ""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _seal(folder: Path) -> None:
    """Write down what is in an entry, once that is on the disk."""
    listed: dict[str, list[str | int]] = {}
    for path in _contents(folder):
        if path.is_file():
            _to_disk(path)
        listed[str(path.relative_to(folder))] = [*_outside(path), _digest(path)]
    draft = folder / "ready.draft"
    draft.write_text(json.dumps({"entry": folder.name, "files": listed}), "utf-8")
    _to_disk(draft)
    draft.replace(folder / "ready")
    _to_disk(folder)


def _to_disk(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


_LARGEST_LIST = 1 << 20  # bytes


def _is_whole(folder: Path) -> bool:
    try:
        # What has its name may be a pipe, which nobody writes, or have no end.
        handle = os.open(folder / "ready", os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(handle, "rb") as stream:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                return False
            found = json.loads(stream.read(_LARGEST_LIST))
        listed = found["files"]
        paths = {str(path.relative_to(folder)): path for path in _contents(folder)}
        # A whole entry under another's name is none.
        if found["entry"] != folder.name or listed.keys() != paths.keys():
            return False
        # What is another size is not read, however large it is.
        return all(listed[name][:2] == _outside(path) for name, path in paths.items()) and all(
            listed[name][2] == _digest(path) for name, path in paths.items()
        )
    except (OSError, ValueError, RecursionError, LookupError, TypeError, AttributeError):
        return False


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    while True:
        _make_folder(folder)
        try:
            handle = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        except IsADirectoryError:
            shutil.rmtree(folder / "lock", ignore_errors=True)
            continue
        except FileNotFoundError:
            if (folder / "lock").is_symlink():
                (folder / "lock").unlink()
            continue
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            # Whoever held it may have removed the folder meanwhile.
            if _is_file_of(handle, folder / "lock"):
                yield
                return
        finally:
            os.close(handle)


def _make_folder(folder: Path) -> None:
    """Make an entry's folder; what has its name and is no folder goes, what it leads to stays."""
    if folder.is_symlink():
        folder.unlink()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        if folder.parent.is_dir():
            folder.unlink()
            folder.mkdir(exist_ok=True)
        else:
            raise


def _is_file_of(handle: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), path.lstat())
    except FileNotFoundError:
        return False


def _empty(folder: Path) -> None:
    for item in folder.iterdir():
        if item.is_dir() and not item.is_symlink():
            shutil.rmtree(item, ignore_errors=True)
        elif item.name != "lock":
            item.unlink(missing_ok=True)


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of the cache.

    Attributes:
        folder: where it is.
        bytes: what it takes.
        used: when it was used last, in seconds since 1970; 0 if that lies ahead of us.
    """

    folder: Path
    bytes: int
    used: float

    @property
    def kind(self) -> str:
        """The kind of its contents: `design`, `runtime`, `area` and so on."""
        return self.folder.name.rpartition("-")[0] or self.folder.name


def entries() -> list[Entry]:
    """All entries, the one that was not used for longest first."""
    found = []
    # A clock that was set back makes what was used before it look new for ever.
    latest = time.time() + 60
    with suppress(OSError):
        for folder in cache_folder().iterdir():
            with suppress(OSError):
                # Somebody may have named a folder with other things in it.
                if folder.is_symlink() or not (folder / "lock").is_file():
                    continue
                files = [path.lstat() for path in folder.rglob("*")]
                mark = folder / ("ready" if (folder / "ready").is_file() else "lock")
                used = mark.stat().st_mtime
                size = sum(file.st_size for file in files)
                found.append(Entry(folder, size, 0.0 if used > latest else used))
    return sorted(found, key=lambda one: (one.used, one.folder.name))


def prune(limit: int | None = None) -> int:
    """Removes the entries that were not used for longest until the rest is within a limit.

    Entries in use, here or in other processes, stay. Small ones go after all others.

    Args:
        limit: bytes that may stay; None for the cache's limit.

    Returns:
        How many were removed.
    """
    limit = LIMIT_BYTES if limit is None else limit
    known = entries()
    total = sum(one.bytes for one in known)
    removed = 0
    for one in sorted(known, key=lambda one: one.bytes <= _SMALL):
        if total <= limit:
            break
        if _remove(one.folder):
            total -= one.bytes
            removed += 1
    return removed


def clear() -> int:
    """Removes all entries that nobody has in use; gives how many."""
    return prune(-1)


def _remove(folder: Path) -> bool:
    handles = []
    try:
        # A new one may be about to be used: then it is locked, or found to be gone.
        for name in ("lock", "used"):
            handles.append(os.open(folder / name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666))
            fcntl.flock(handles[-1], fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(folder, ignore_errors=True)
    except OSError as error:
        if error.errno not in _STAYS:
            raise
        return False
    finally:
        for handle in handles:
            os.close(handle)
    return True
