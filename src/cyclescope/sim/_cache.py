"""The user's cache: what is built once and kept, shared by all processes of the user.

An entry is a folder named by what is in it and a hash. Whoever builds it holds the lock in it; the
file `ready` is written last, so an entry without it is not there yet. The cache is bounded: entries
that were not used for longest go first, but never one used within the last hour.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import shutil
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from cyclescope.errors import OutputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["cache_folder", "content_key", "entry", "prune"]

LIMIT_BYTES = 768 << 20
GRACE_SECONDS = 3600.0


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
    """The folder of an entry, which is filled first if it is not there.

    Args:
        name: of the entry; equal names mean equal contents.
        fill: makes the contents in an empty folder; on an exception the entry does not come to be.

    Raises:
        OutputError: the cache cannot be written.
    """
    folder = cache_folder() / name
    ready = folder / "ready"
    with suppress(OSError):
        os.utime(ready)
        return folder
    try:
        with _locked(folder):
            if not ready.exists():
                _empty(folder)
                try:
                    fill(folder)
                    ready.touch()
                except BaseException:
                    _empty(folder)
                    raise
                prune()
    except OSError as error:
        raise OutputError(
            f"{folder}: cannot write the cache ({error.strerror or error}); make room there, or"
            " name another folder in CYCLESCOPE_CACHE"
        ) from error
    return folder


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    while True:
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            # Whoever held it may have removed the folder meanwhile.
            if _is_file_of(handle, folder / "lock"):
                yield
                return
        except FileNotFoundError:
            continue
        finally:
            os.close(handle)


def _is_file_of(handle: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), path.stat())
    except FileNotFoundError:
        return False


def _empty(folder: Path) -> None:
    for item in folder.iterdir():
        if item.is_dir():
            shutil.rmtree(item, ignore_errors=True)
        elif item.name != "lock":
            item.unlink(missing_ok=True)


def prune(limit: int = LIMIT_BYTES, grace: float = GRACE_SECONDS) -> None:
    """Removes the entries that were not used for longest until the rest is within the limit.

    Args:
        limit: bytes that may stay.
        grace: entries used within this many seconds stay whatever their size.
    """
    now = time.time()
    entries = []
    total = 0
    for folder in cache_folder().iterdir():
        if not (folder / "lock").exists():
            continue
        with suppress(FileNotFoundError):
            used = max((f.stat().st_mtime for f in folder.iterdir()), default=0.0)
            size = sum(f.stat().st_size for f in folder.rglob("*"))
            total += size
            entries.append((used, size, folder))
    for used, size, folder in sorted(entries):
        if total <= limit:
            break
        if now - used > grace and _remove(folder):
            total -= size


def _remove(folder: Path) -> bool:
    try:
        handle = os.open(folder / "lock", os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(folder, ignore_errors=True)
    except OSError as error:
        if error.errno not in {errno.EWOULDBLOCK, errno.EACCES}:
            raise
        return False
    finally:
        os.close(handle)
    return True
