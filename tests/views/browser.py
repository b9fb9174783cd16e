"""A Chromium that is on the machine already, driven by Playwright; nothing is downloaded."""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import patch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)

# Chromium would look for updates and hosts of its maker at every start.
QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


# Chromium makes sockets in its folder, and a socket's path has 107 characters at most.
_LONGEST = 60


@contextmanager
def scratch() -> Iterator[Path]:
    """A temporary folder whose path is short, wherever other temporary folders are."""
    usual = tempfile.gettempdir()
    with tempfile.TemporaryDirectory(dir=usual if len(usual) < _LONGEST else "/tmp") as folder:
        yield Path(folder)


@contextmanager
def chromium() -> Iterator[Browser]:
    from playwright.sync_api import sync_playwright

    with scratch() as folder:
        with patch.dict(os.environ, TMPDIR=str(folder)):
            playwright = sync_playwright().start()
        try:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(QUIET))
            try:
                yield browser
            finally:
                browser.close()
        finally:
            playwright.stop()
