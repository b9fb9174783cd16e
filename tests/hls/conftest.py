"""Fixtures for what a machine may lack that tests of this package need."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from cyclescope.errors import ToolError
from cyclescope.hls import Host, compile_c

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session")
def host_compiler() -> None:
    """A C compiler that links a host: skips the test if there is none."""
    text = "int main(void) { int x = 0;\n#pragma omp target map(tofrom: x)\nx = 1; }"
    try:
        Host(compile_c("h.c", text=text)).close()
    except ToolError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="package", autouse=True)
def _verified() -> Iterator[None]:
    """Whatever these tests compile is verified after each pass."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CYCLESCOPE_VERIFY_IR", "1")
        yield
