"""Constant expressions have the values that gcc gives them."""

from __future__ import annotations

import random
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from cyclescope.c import Declare, fold, read_c, statements

if TYPE_CHECKING:
    from pathlib import Path

TYPES = ("signed char", "unsigned char", "short", "unsigned short", "int", "unsigned", "long")
NUMBERS = ("0", "1", "3", "-7", "200", "255", "70000", "2147483647", "3000000000", "12u", "5L")


def _expression(pick: random.Random, depth: int) -> str:
    if depth == 0:
        return f"({pick.choice(NUMBERS)})"
    one = _expression(pick, depth - 1)
    match pick.randrange(4):
        case 0:
            return f"({pick.choice((*TYPES, 'unsigned long'))}){one}"
        case 1:
            return f"(-{one})"
    return f"({one} {pick.choice('+-*/%')} {_expression(pick, depth - 1)})"


def _values(texts: list[str]) -> list[int | float | None]:
    """The known first values of variables with these initialisers."""
    declared = "".join(f"long x{n} = {t};\n" for n, t in enumerate(texts))
    body = read_c("fold.c", text=f"void f(void) {{\n{declared}}}\n").functions["f"].body
    found = [v.init for s in statements(body) if isinstance(s, Declare) for v in s.variables]
    return [fold(init, {}) for init in found]


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc, the judge")
@pytest.mark.parametrize("seed", range(3))
def test_whole_numbers_are_gccs(seed: int, tmp_path: Path) -> None:
    pick = random.Random(seed)
    texts = [_expression(pick, 1 + n % 4) for n in range(300)]
    found = dict(zip(texts, _values(texts), strict=True))
    known = {t: value for t, value in found.items() if value is not None}
    assert len(known) > len(found) // 2
    prints = "".join(f'    printf("%ld\\n", (long)({t}));\n' for t in known)
    source = f"#include <stdio.h>\nint main(void) {{\n{prints}}}\n"
    (tmp_path / "judge.c").write_text(source, "utf-8")
    trap = ("-w", "-fsanitize=undefined", "-fno-sanitize-recover", "-static-libubsan")
    subprocess.run(["gcc", *trap, "judge.c", "-o", "judge"], cwd=tmp_path, check=True)
    judge = subprocess.run([tmp_path / "judge"], check=True, capture_output=True, text=True)
    assert list(known.values()) == list(map(int, judge.stdout.split()))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e999", None),
        ("-1e999", None),
        ("1e999 - 1e999", None),
        ("1e19", None),
        ("(unsigned char)300.0", None),
        ("(unsigned char)255.9", 255),
        ("2147483647 + 1", None),
        ("4294967295u + 1", 0),
        ("0u - 1", 4294967295),
        ("1 / 0", None),
        ("1.0 / 0", None),
        ("1 << 31", -(1 << 31)),
        ("1 << 32", None),
        ("-1 >> 1", -1),
        ("(float)16777217", 16777216),
        ("(float)1e300", None),
        ("(_Bool)0.5", 1),
    ],
)
def test_values_at_the_borders(text: str, value: int | None) -> None:
    assert _values([text]) == [value]
