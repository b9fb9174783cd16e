"""`cyclescope ladder`: what it does not take, in one line. What it does: tests/analyse."""

from __future__ import annotations

from pathlib import Path

import pytest

from cyclescope.cli import main


@pytest.mark.parametrize(
    ("text", "status"),
    [("int main(void) { return 0; }\n", 2), ("int main(void) {", 2), ("", 2)],
)
def test_what_is_no_program_for_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, status: int
) -> None:
    source = tmp_path / "k.c"
    source.write_text(text)
    assert main(["ladder", str(source)]) == status
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "k.c" in said


def test_wrong_use(tmp_path: Path) -> None:
    assert main(["ladder", str(tmp_path / "none.c")]) == 2
    assert main(["ladder", str(tmp_path / "none.c"), "--args", "'"]) == 2
    existing = Path(tmp_path / "l.txt")
    existing.write_text("")
    assert main(["ladder", str(tmp_path / "none.c"), "-o", str(existing)]) == 3
