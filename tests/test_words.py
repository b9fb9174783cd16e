"""The check of the project's words: which files it reads."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

import words  # noqa: E402


def test_virtual_environments_are_not_the_projects_text(tmp_path: Path) -> None:
    wrong = f"{words.QUESTIONS[0]} a docstring does not begin with."
    for folder in ("own", "environment"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "module.py").write_text(f'"""{wrong}"""\n', "utf-8")
    (tmp_path / "environment" / "pyvenv.cfg").touch()
    found = [finding.path for finding in words.check_all([tmp_path])]
    assert found == [tmp_path / "own" / "module.py"]
