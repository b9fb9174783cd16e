"""The time and memory of `cyclescope hls` for large programs of several shapes, and their growth.

    python benches/bench_hls_compile.py [--only SHAPE] [--sizes 64,128,…] [--unit] [--examples]

Each program is compiled in a process of its own: C to schedule (`compile_c`), its explanation
(`--explain`) and its Verilog (`machine_of`, with `--unit` besides the one with a profiling unit).
Times are processor time of that process without its start, since the machine may be shared. The
last column is the growth from the last size but one to the last. `--examples` prints the time of
all examples together.
"""

from __future__ import annotations

import argparse
import random
import resource
import subprocess
import sys
import tempfile
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[1]


def region(body: str, before: str = "", kind: str = "int") -> str:
    """A program whose four threads execute a body over four arrays."""
    arrays = "".join(f"{kind} {name}[8192];\n" for name in "abcd")
    maps = ", ".join(f"{name}[0:8192]" for name in "abcd")
    return (
        f"#include <omp.h>\n{arrays}{before}int main(void) {{\n"
        f"#pragma omp target parallel map(tofrom: {maps}) num_threads(4)\n"
        f"{{ int t = omp_get_thread_num();\n{body}}}\nreturn a[0] != 0; }}\n"
    )


def chained(n: int, kind: str, operators: str) -> str:
    """Assignments of four variables to each other."""
    r = random.Random(1)
    body = f"{kind} x0 = a[t], x1 = b[t], x2 = 3, x3 = 7;\n"
    for k in range(n):
        d, e, f = (r.randrange(4) for _ in range(3))
        body += f"x{d} = (x{e} {r.choice(operators)} x{f}) + {k};\n"
    return region(body + "a[t] = x0 + x1 + x2 + x3;\n", kind=kind)


def scalars(n: int) -> str:
    return chained(n, "int", "+-^")


def variables(n: int) -> str:
    names = n // 4
    body = "".join(f"int v{k} = {k} + t;\n" for k in range(names))
    steps = "".join(f"v{k} = v{k} * 3 + v{(k + 1) % names};\n" for k in range(names))
    stores = "".join(f"a[t * 1024 + {k}] = v{k};\n" for k in range(names))
    return region(f"{body}for (int i = 0; i < 100; i++) {{ {steps} }}\n{stores}")


def floats(n: int) -> str:
    return chained(n, "float", "+-*")


def accesses(n: int) -> str:
    r = random.Random(3)
    return region(
        "".join(
            f"{r.choice('abcd')}[t * 1024 + {r.randrange(1000)}] ="
            f" {r.choice('abcd')}[t * 1024 + {r.randrange(1000)}] + {k};\n"
            for k in range(n)
        )
    )


def strided(n: int, arrays: str, strides: tuple[int, ...], most: int) -> str:
    """Statements that each store what they load, at places that move with `i`."""
    r = random.Random(4)
    return "".join(
        f"{r.choice(arrays)}[i * {r.choice(strides)} + {r.randrange(most)}] ="
        f" {r.choice(arrays)}[i + {r.randrange(most)}] + {k};\n"
        for k in range(n)
    )


def pipelined(n: int) -> str:
    body = strided(n, "abcd", (1, 2, 4), 16)
    return region(f"for (int i = t; i < 1000; i += 4) {{ {body} }}\n")


def local_memories(n: int) -> str:
    body = strided(n, "xy", (1, 2), 64)
    return region(
        "int x[640], y[640]; for (int i = 0; i < 640; i++) { x[i] = a[i]; y[i] = i; }\n"
        f"for (int i = 0; i < 100; i++) {{ {body} }}\n"
        "for (int i = 0; i < 64; i++) a[t * 64 + i] = x[i] + y[i];\n"
    )


def loops(n: int) -> str:
    return region(
        "".join(
            f"for (int i = t; i < 100; i += 4) {{ int x = {'abcd'[k % 4]}[i + {k}]; x = x * 3;\n"
            f"{'abcd'[(k + 1) % 4]}[i + {k}] = x + {k}; }}\n"
            for k in range(n // 4)
        )
    )


def branches(n: int) -> str:
    chain = " else ".join(f"if (x == {3 * k}) y = x + {k};\n" for k in range(n // 2))
    return region(f"int x = a[t], y = 0; {chain} else y = 5; a[t] = y;\n")


def functions(n: int) -> str:
    count = n // 4
    text = "".join(
        f"static int f{k}(int x, int y) {{ int z = x * {k + 2} + y; z ^= x >> {k % 7};"
        f" return z + {k}; }}\n"
        for k in range(count)
    )
    calls = "".join(f"x = f{k}(x, t);\n" for k in range(count))
    return region(f"int x = a[t]; {calls} a[t] = x;\n", text)


def constructs(n: int) -> str:
    kinds = (
        "#pragma omp critical(c{k})\na[{k}] += t;\n",
        "#pragma omp barrier\n",
        "#pragma omp atomic\nb[{k}] += t;\n",
        "#pragma omp for\nfor (int i = 0; i < 64; i++) c[i] += {k};\n",
        "#pragma omp single\nd[{k}] = {k};\n",
        "#pragma omp critical\na[{k}] += 1;\n",
    )
    return region("".join(kinds[k % len(kinds)].format(k=k) for k in range(n // 4)))


def expression(n: int) -> str:
    r = random.Random(6)

    def deep(size: int) -> str:
        if size <= 1:
            return f"x{r.randrange(4)}"
        return f"({deep(size // 2)} {r.choice('+-*^')} {deep(size - size // 2)})"

    return region(f"int x0 = a[t], x1 = b[t], x2 = 5, x3 = t; a[t] = {deep(n)};\n")


def fields(n: int) -> str:
    body = "".join(
        f"q.{'xyz'[k % 3]} += q.{'xyz'[(k + 1) % 3]} ^ a[t * 1024 + {k}];\n" for k in range(n)
    )
    struct = "struct p { int x, y, z; };\n"
    return region(f"struct p q = {{1, 2, 3}}; {body} b[t] = q.x + q.y + q.z;\n", struct)


SHAPES: dict[str, Callable[[int], str]] = {
    f.__name__: f
    for f in (
        *(scalars, variables, floats, accesses, pipelined, local_memories, loops, branches),
        *(functions, constructs, expression, fields),
    )
}


def used() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def one(file: Path, *, unit: bool) -> None:
    """Compiles a program and prints what each part took."""
    from cyclescope._garbage import collect_rarely
    from cyclescope.hls import UnitOptions, compile_c, explain, machine_of

    collect_rarely()  # as the command does
    times = [used()]
    program = compile_c(file)
    times.append(used())
    explain(program)
    times.append(used())
    machine_of(program)
    if unit:
        machine_of(program, unit=UnitOptions(file.name))
    times.append(used())
    print(*(after - before for before, after in pairwise(times)))


def measured(file: Path, *, unit: bool) -> list[float]:
    command = [sys.executable, __file__, "--one", str(file), *(["--unit"] if unit else [])]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return [float(part) for part in done.stdout.split()]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", choices=SHAPES)
    parser.add_argument("--sizes", default="64,128,256,512")
    parser.add_argument("--unit", action="store_true")
    parser.add_argument("--examples", action="store_true")
    parser.add_argument("--one", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.one:
        one(asked.one, unit=asked.unit)
        return
    if asked.examples:
        files = sorted((ROOT / "examples" / "hls").glob("*/*.c"))
        total = sum(sum(measured(file, unit=asked.unit)) for file in files)
        print(f"{len(files)} examples: {total:.2f} s")
        return
    sizes = [int(size) for size in asked.sizes.split(",")]
    print("| statements | " + " | ".join(map(str, sizes)) + " | C to schedule | explanation |"
          " Verilog | growth |")  # fmt: skip
    print("|---|" + "---:|" * (len(sizes) + 4))
    with tempfile.TemporaryDirectory() as folder:
        for name in [asked.only] if asked.only else SHAPES:
            totals: list[float] = []
            parts: list[float] = []
            for size in sizes:
                file = Path(folder) / f"{name}{size}.c"
                file.write_text(SHAPES[name](size))
                parts = measured(file, unit=asked.unit)
                totals.append(sum(parts))
            row = [f"{t:.2f} s" for t in (*totals, *parts)]
            growth = totals[-1] / totals[-2] if len(totals) > 1 else 1.0
            print(f"| {name} | {' | '.join(row)} | {growth:.1f} |", flush=True)


if __name__ == "__main__":
    main()
