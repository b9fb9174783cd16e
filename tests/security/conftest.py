from __future__ import annotations

import platform
from pathlib import Path

import pytest

from cyclescope.sim import call, find_compiler, uncovered

HERE = Path(__file__).parent

LANDLOCK = 444
SECCOMP = {"x86_64": 317, "aarch64": 277}.get(platform.machine(), 0)

needs_all = pytest.mark.skipif(
    bool(uncovered()), reason=f"this system cannot confine wholly: {uncovered()}"
)


@pytest.fixture(scope="session")
def attempts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program that tries what hostile ones do."""
    folder = tmp_path_factory.mktemp("attempts")
    command = [*find_compiler().command, "-x", "c", "-w", str(HERE / "attempts.c")]
    call([*command, "-o", "attempts", "-lpthread"], what="cc", cwd=folder, read=(HERE,))
    return folder / "attempts"
