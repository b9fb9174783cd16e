"""The files and tools in the head of an imported profile."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from cyclescope.errors import DataError
from cyclescope.traces._text import check_file

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["digest", "tool_versions"]


def digest(path: Path) -> str:
    """SHA-256 of a file.

    Raises:
        DataError: it cannot be read.
    """
    check_file(path)
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from error


def tool_versions(form: str) -> dict[str, str]:
    """The tools that took part."""
    from cyclescope import __version__
    from cyclescope._native import WELLEN_VERSION

    tools = {"cyclescope": __version__}
    if form != "VCD":
        tools["wellen"] = WELLEN_VERSION
    return tools
