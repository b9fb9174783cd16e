"""Sizes, alignments and offsets are gcc's."""

from __future__ import annotations

import random
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from cyclescope.c import Struct, alignment_of, placed_fields, read_c, size_of

if TYPE_CHECKING:
    from pathlib import Path

SCALARS = ("char", "short", "int", "long", "float", "double", "unsigned char", "long *")


def _structs(seed: int, count: int) -> str:
    """Structs with random fields; later ones hold earlier ones."""
    pick = random.Random(seed)
    text = "typedef float four __attribute__((vector_size(16)));\n"
    for number in range(count):
        known = [*SCALARS, "four", *(f"struct s{n}" for n in range(number))]
        fields = "".join(
            f" {pick.choice(known)} f{n}{pick.choice(('', '', '[3]', '[2][5]'))};"
            for n in range(pick.randrange(1, 7))
        )
        text += f"struct s{number} {{{fields} }};\n"
    return text


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc, the judge")
@pytest.mark.parametrize("seed", range(3))
def test_structs_are_laid_out_as_gcc_does(seed: int, tmp_path: Path) -> None:
    count = 25
    text = _structs(seed, count)
    given = "".join(f"struct s{n} v{n};\n" for n in range(count))
    unit = read_c("layout.c", text=text + given)
    ours, asked = [], []
    for n in range(count):
        kind = unit.variables[f"v{n}"].type
        assert isinstance(kind, Struct)
        ours += [size_of(kind), alignment_of(kind), *(at for at, _, _ in placed_fields(kind))]
        names = [name for _, name, _ in placed_fields(kind)]
        asked += [f"sizeof(v{n})", f"_Alignof(struct s{n})"]
        asked += [f"__builtin_offsetof(struct s{n}, {name})" for name in names]
    prints = "".join(f'    printf("%zu\\n", {a});\n' for a in asked)
    (tmp_path / "judge.c").write_text(
        f"#include <stdio.h>\n{text}{given}int main(void) {{\n{prints}}}\n", "utf-8"
    )
    subprocess.run(["gcc", "judge.c", "-o", "judge"], cwd=tmp_path, check=True)
    judge = subprocess.run([tmp_path / "judge"], check=True, capture_output=True, text=True)
    assert ours == list(map(int, judge.stdout.split()))
