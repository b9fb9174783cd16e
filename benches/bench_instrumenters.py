"""The cost of instrumenting: in the built-in compiler, and between the passes of another one.

    python benches/bench_instrumenters.py CALYX LIBRARY PROGRAM.futil …

Processor seconds of a compilation, this process and its children, least of three: stock and
instrumented, by the built-in compiler and by the one named.
"""

import resource
import sys
from pathlib import Path

from cyclescope.calyx import OwnCompiler, compile_program, find_own_compiler


def seconds() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used)


def least(program: Path, compiler: OwnCompiler | None, *, instrument: bool) -> float:
    taken = []
    for _ in range(3):
        before = seconds()
        compile_program(program, compiler=compiler, instrument=instrument)
        taken.append(seconds() - before)
    return min(taken)


def main() -> None:
    calyx, library, *programs = sys.argv[1:]
    other = find_own_compiler(calyx, Path(library))
    print("program", "bytes", "built-in", "measured", "other", "measured", sep="\t")
    for name in programs:
        path = Path(name)
        row = [least(path, c, instrument=i) for c in (None, other) for i in (False, True)]
        print(path.name, path.stat().st_size, *(f"{s:.2f}" for s in row), sep="\t", flush=True)


if __name__ == "__main__":
    main()
