"""A browser for tests of pages, and reports shown in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from cyclescope.views import write_report

from .browser import chromium
from .page import Seen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from playwright.sync_api import Browser


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started


@pytest.fixture
def show(browser: Browser, tmp_path: Path) -> Iterator[Callable[..., Seen]]:
    contexts = []

    def show(*profiles: Any, dark: bool = False, embed: str = "used") -> Seen:
        file = tmp_path / "report.html"
        if isinstance(profiles[0], bytes):
            file.write_bytes(profiles[0])
        else:
            with file.open("wb") as stream:
                write_report(profiles, stream, embed=embed)
        context = browser.new_context(
            viewport={"width": 1300, "height": 900}, color_scheme="dark" if dark else "light"
        )
        contexts.append(context)
        seen = Seen(context.new_page(), file.as_uri())
        seen.page.on("request", lambda request: seen.requests.append(request.url))
        seen.page.on("console", lambda message: seen.complaints.append(message.text))
        seen.page.on("pageerror", lambda error: seen.complaints.append(str(error)))
        seen.page.goto(seen.address)
        seen.page.wait_for_selector("html[data-ready]")
        return seen

    yield show
    for context in contexts:
        context.close()
