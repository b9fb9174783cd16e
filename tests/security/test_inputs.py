"""Inputs that `scripts/fuzz.py` has kept or found: each is read, or refused by an error of ours."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from cyclescope.errors import CyclescopeError
from security.formats import FORMATS, KEPT, seeds

if TYPE_CHECKING:
    from pathlib import Path


def accept(name: str, data: bytes, folder: Path) -> bool:
    """Whether it is read; if not, it is refused in words."""
    folder.mkdir(exist_ok=True)
    FORMATS[name].lay(data, folder)
    try:
        FORMATS[name].read(folder)
    except CyclescopeError as error:
        said = str(error)
    else:
        return True
    assert len(said) < 10_000
    return False


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_has_a_seed_that_is_read(name: str, tmp_path: Path) -> None:
    assert any(accept(name, data, tmp_path) for data in seeds(name)[:10])


@pytest.mark.parametrize("name", FORMATS)
def test_kept_inputs(name: str, tmp_path: Path) -> None:
    for path in sorted((KEPT / name).glob("*")):
        accept(name, path.read_bytes(), tmp_path)
