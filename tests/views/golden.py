"""Goldens: expected files that a person can read, renewed by `CYCLESCOPE_UPDATE_GOLDEN=1`."""

from __future__ import annotations

import os
from pathlib import Path

DATA = Path(__file__).parent / "data"


def check_golden(name: str, found: str) -> None:
    path = DATA / name
    if os.environ.get("CYCLESCOPE_UPDATE_GOLDEN"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(found, encoding="utf-8")
    assert found == path.read_text(encoding="utf-8"), f"differs from {path}"
