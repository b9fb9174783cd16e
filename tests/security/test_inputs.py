"""Inputs that `scripts/fuzz.py` has kept or found: each is read, or refused by an error of ours."""

from __future__ import annotations

import random
import re
import subprocess
import sys
from pathlib import Path

import pytest

from cyclescope.errors import CyclescopeError
from security.formats import FORMATS, KEPT, NUMBERS, seeds

ROOT = Path(__file__).resolve().parents[2]


def accept(name: str, data: bytes, folder: Path) -> bool:
    """Return whether it is read; if not, it is refused with a message, not a crash."""
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


# In a process of its own: what others took is taken.
GREEDY = """
import importlib.util, sys
from pathlib import Path
from cyclescope.errors import DataError
place = importlib.util.spec_from_file_location("fuzz", sys.argv[1])
fuzz = importlib.util.module_from_spec(place)
sys.modules["fuzz"] = fuzz
place.loader.exec_module(fuzz)
fuzz.MEMORY = 50 << 20

def read(folder):
    bytearray(200 << 20)
    if refused:
        raise DataError("refused, but late")

for refused in (False, True):
    print(fuzz.attempt(fuzz.Format(("f",), read), b"", Path(sys.argv[2]))[:5])
"""


def test_an_input_that_takes_too_much_before_it_is_refused_is_a_finding(tmp_path: Path) -> None:
    command = [sys.executable, "-c", GREEDY, str(ROOT / "scripts/fuzz.py"), str(tmp_path)]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["took", "took"]


WITH_NUMBERS = (
    "calibration", "log", "model", "costs", "study", "arrays", "memories", "expected", "paraver",
    "dump", "vcd", "kernel", "openmp",
)  # fmt: skip
SLOW = ("kernel", "openmp")


@pytest.mark.long(keep_one_in=4)
@pytest.mark.parametrize("name", WITH_NUMBERS)
def test_a_number_becomes_another(name: str, tmp_path: Path) -> None:
    """Of 5,000 digits, with an exponent that fills the memory, not finite, of another script."""
    rng = random.Random(15)
    made = [
        seed[: number.start()] + other + seed[number.end() :]
        for seed in seeds(name)
        for number in re.finditer(rb"(?<![\w.])-?\d+(?:\.\d+)?", seed)
        for other in NUMBERS
    ]
    for data in rng.sample(made, min(len(made), 20 if name in SLOW else 150)):
        accept(name, data, tmp_path)


OPENMP = """int main(void) {
  int a[4] = {1, 2, 3, 4};
%s
  for (int i = 0; i < 4; i++) a[i] = a[i] + 1;
  return a[0];
}
"""
DIRECTIVES = {
    "a section from infinity": "#pragma omp target parallel for map(tofrom: a[1e999:4])",
    "a section of a fraction": "#pragma omp target parallel for map(tofrom: a[0.5:4])",
    "threads of 5,000 digits": f"#pragma omp target parallel for num_threads({'9' * 5000})",
    "a shift that fills the memory": "#pragma omp target parallel for num_threads(1 << 9999999999)",
    "a shift by less than nothing": "#pragma omp target parallel for num_threads(1 << -1)",
    "a quotient of the largest": "#pragma omp target parallel for num_threads(1 / (1 << 62 << 62))",
    "a word that is none": "#pragma omp target parallel for\n#pragma omp crINIT_LIST_EXPRt)",
}


@pytest.mark.parametrize("what", DIRECTIVES)
def test_a_directive_that_makes_no_sense(what: str, tmp_path: Path) -> None:
    accept("openmp", (OPENMP % DIRECTIVES[what]).encode(), tmp_path)
