"""Read and print every Calyx program of a folder, and compare.

    python tests/calyx/round_trip.py FOLDER [--compiler CALYX [--library FOLDER]]

For each `.futil` below FOLDER: what is read, printed and read again must be the same tree, and
printing that the same bytes. With `--compiler`, whatever that compiler takes as it is, it must
take as printed, too, and make the same of it (after its pass `well-formed`). Prints the programs
that fail and a summary; exits with 1 if one does that the compiler takes.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
import time
from pathlib import Path

from cyclescope.calyx._own import OwnCompiler, RefusalError, find_own_compiler
from cyclescope.calyx._syntax_print import print_syntax
from cyclescope.calyx._syntax_read import read_syntax
from cyclescope.errors import SourceError


def differs(data: bytes, name: str) -> bytes | str:
    """The printed program, or what is wrong."""
    try:
        tree = read_syntax(data, name)
    except SourceError as error:
        return f"not read: {error}"
    printed = print_syntax(tree)
    again = read_syntax(printed, "printed")
    return printed if again == tree and print_syntax(again) == printed else "differs"


def made_of(compiler: OwnCompiler, path: Path) -> str | None:
    """The output of a compiler for a program; None if it refuses it."""
    try:
        printed = compiler.run([str(path), "-p", "well-formed", "-b", "calyx"])
    except RefusalError:
        return None
    # Positions refer to a table of their own; what it is called depends on the order of files.
    return re.sub(r'@pos\{[^}]*\} |, "pos"=\{[^}]*\}|<"pos"=\{[^}]*\}>', "", printed)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--compiler")
    parser.add_argument("--library", type=Path)
    chosen = parser.parse_args()
    compiler = find_own_compiler(chosen.compiler, chosen.library) if chosen.compiler else None
    programs = sorted(chosen.folder.rglob("*.futil"))
    size, failed, taken, equal = 0, 0, 0, 0
    begin = time.monotonic()
    for program in programs:
        data = program.read_bytes()
        size += len(data)
        outcome = differs(data, str(program))
        stock = made_of(compiler, program) if compiler else None
        taken += stock is not None
        if isinstance(outcome, str):
            print(f"{program}: {outcome}", flush=True)
            failed += compiler is None or stock is not None
        elif compiler and stock is not None:
            with tempfile.NamedTemporaryFile(suffix=".futil", dir=program.parent) as copy:
                Path(copy.name).write_bytes(outcome)
                same = made_of(compiler, Path(copy.name)) == stock
            equal += same
            if not same:
                failed += 1
                print(f"{program}: the compiler makes another program of the printed one")
    seconds = time.monotonic() - begin
    print(f"{len(programs)} programs, {size:,} bytes, {seconds:.1f} s; {failed} failed")
    if compiler:
        print(f"{taken} taken by {compiler.path}, {equal} of them equal when printed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
