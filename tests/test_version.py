"""The version: one in all places, and that of the tag."""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from types import ModuleType

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("version", ROOT / "scripts" / "version.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("described", "expected"),
    [
        ("", "0.1.0.dev0"),
        ("v0.2.0-0-gabc1234", "0.2.0"),
        ("v1.2.3-5-gabc1234", "1.2.4.dev5+gabc1234"),
    ],
)
def test_the_version_is_that_of_the_tag(script: ModuleType, described: str, expected: str) -> None:
    assert script.version(described, "0.1.0") == expected


def test_a_tag_that_is_no_version_is_said(script: ModuleType) -> None:
    with pytest.raises(ValueError, match=r"v1\.2\.3"):
        script.version("version-2-0-gabc1234", "0.1.0")


def test_a_copy_of_the_sources_states_it_everywhere(script: ModuleType, tmp_path: Path) -> None:
    assert script.stated(ROOT)
    for name in ("pyproject.toml", "src/cyclescope/__init__.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    script.write(tmp_path, "7.8.9")
    assert script.stated(tmp_path) == "7.8.9"
    (tmp_path / "pyproject.toml").write_text('version = "7.8.8"\n')
    with pytest.raises(ValueError, match="differ"):
        script.stated(tmp_path)
