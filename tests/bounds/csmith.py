"""Programs of csmith's, by `bounds`: its values against a plain compilation, and the interpreter.

    python tests/bounds/csmith.py COUNT [SEED]

csmith (Yang, Chen, Eide, Regehr: *Finding and Understanding Bugs in C Compilers*, PLDI 2011;
Debian's packages `csmith` and `libcsmith-dev`) writes C without undefined behaviour, by options
without what `bounds` refuses by name (unions, bit-fields, packed structs) and `volatile`. Each seed
makes two programs:

- with pointers, structs of structs, `goto`: its own `main` calls `func_1`, whose values must be
  those of the same program compiled plainly;
- without pointers and `goto`: values, totals, every firing's start and waits must be the
  interpreter's.
"""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from bounds.interpreter import interpret
from bounds.programs import same
from cyclescope.bounds import differences, estimate
from cyclescope.c import read_c
from cyclescope.errors import CyclescopeError

SECONDS = 120  # for one program
MOST = 20_000  # firings that the interpreter takes
HEADERS = Path("/usr/include/csmith")
COMMON = [
    *("--no-unions", "--no-bitfields", "--no-packed-struct", "--no-volatiles"),
    *("--no-volatile-pointers", "--no-argc", "--concise", "--quiet", "--max-funcs", "3"),
    *("--max-block-size", "3", "--max-block-depth", "3", "--max-expr-complexity", "3"),
    *("--max-array-len-per-dim", "5", "--max-array-dim", "2"),
]
PLAIN = ["--no-pointers", "--no-jumps", "--nomain"]


def missing() -> str:
    """Say what keeps csmith from being used here; empty if nothing does."""
    if shutil.which("csmith") is None:
        return "there is no csmith (Debian: csmith)"
    return "" if HEADERS.is_dir() else "there is no csmith.h (Debian: libcsmith-dev)"


def written(seed: int, folder: Path, *, plain: bool) -> Path:
    """A program of a seed, with its headers next to it: those of the system are nobody's text."""
    if not (folder / "include").exists():
        shutil.copytree(HEADERS, folder / "include")
    options = [*COMMON, *(PLAIN if plain else [])]
    command = ["csmith", "--seed", str(seed), *options]
    # It leaves a file where it runs.
    made = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    file = folder / f"{'plain' if plain else 'whole'}{seed}.c"
    file.write_text(made.stdout)
    return file


def whole(seed: int, folder: Path) -> int:
    """Firings of a program that runs as it is; its values are those of a plain compilation."""
    file = written(seed, folder, plain=False)
    found = estimate(file, kernel="func_1", include=[folder / "include"], verify=True)
    assert differences(found) == []
    return found.firings


def plain(seed: int, folder: Path) -> int:
    """Firings of a program; if they are few, the interpreter has the same outcome."""
    file = written(seed, folder, plain=True)
    found = estimate(file, kernel="func_1", include=[folder / "include"], detail=True, values=True)
    if found.firings > MOST:
        return found.firings
    same(found, interpret(read_c(file, include=[folder / "include"]), "func_1", {}))
    return found.firings


def _ends(*_: object) -> None:
    raise TimeoutError


def main() -> int:
    reason = missing()
    if reason:
        sys.exit(reason)
    count = int(sys.argv[1])
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    told: Counter[str] = Counter()
    signal.signal(signal.SIGALRM, _ends)
    with tempfile.TemporaryDirectory() as name:
        for seed in range(first, first + count):
            for kind in (whole, plain):
                try:
                    signal.alarm(SECONDS)
                    firings = kind(seed, Path(name))
                    signal.alarm(0)
                    what = "equal" if firings else "equal, but nothing fires"
                    if kind is plain and firings > MOST:
                        what = "too long for the interpreter"
                    told[what] += 1
                    print(f"{kind.__name__} {seed}: {what}, {firings} firings", flush=True)
                except TimeoutError:
                    told["too long"] += 1
                except CyclescopeError as error:
                    signal.alarm(0)
                    told["refused"] += 1
                    print(f"{kind.__name__} {seed}: {error}", flush=True)
                except Exception as error:  # noqa: BLE001 - any difference is what is looked for
                    signal.alarm(0)
                    told["DIFFERENT"] += 1
                    print(f"{kind.__name__} {seed}: {type(error).__name__}: {str(error)[:300]}",
                          flush=True)  # fmt: skip
    print(", ".join(f"{number} {what}" for what, number in told.most_common()))
    return 1 if told["DIFFERENT"] else 0


if __name__ == "__main__":
    sys.exit(main())
