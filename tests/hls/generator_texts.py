"""The frame of a random program: what it reads and writes, and the texts around its body."""

from __future__ import annotations

import random
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cyclescope.hls.ir import Place

if TYPE_CHECKING:
    from cyclescope.hls import Program

__all__ = [
    "ARRAYS", "FLOATS", "INTEGERS", "JOINED", "OUT", "OUTS", "SIZE", "STRUCTS", "TALLY", "VECTORS",
    "Kernel", "complete", "device_text", "inputs", "native_text", "scalars_of",
    "unsigned", "width",
]  # fmt: skip

SIZE = 64  # elements of an input
OUT = 16  # elements of an output for each thread

INTEGERS = (
    "int8_t",
    "uint8_t",
    "int16_t",
    "uint16_t",
    "int32_t",
    "uint32_t",
    "int64_t",
    "uint64_t",
)
FLOATS = ("float", "double")
ARRAYS = {
    "in_i": "int32_t",
    "in_b": "uint8_t",
    "in_l": "int64_t",
    "in_f": "float",
    "in_d": "double",
}
OUTS = {"out_i": "int32_t", "out_l": "uint64_t", "out_f": "float", "out_s": "int16_t"}
# What threads share besides: sums and extremes of all, a word to hand to the next thread.
JOINED = {
    "total": "uint32_t", "sum": "int64_t", "low": "int16_t", "high": "uint64_t", "last": "int32_t",
}  # fmt: skip
TALLY = 4  # what is behind the threads' words in `given`, for reductions of a section
VECTORS = {
    "float2": ("float", 2), "float4": ("float", 4), "float8": ("float", 8),
    "double2": ("double", 2), "double4": ("double", 4), "uint2": ("uint32_t", 2),
    "uint4": ("uint32_t", 4), "ulong2": ("uint64_t", 2), "ushort8": ("uint16_t", 8),
    "uchar16": ("uint8_t", 16), "uchar4": ("uint8_t", 4),
}  # fmt: skip
# Structs, by paths to their parts: flat ones, and one that is in memory, as its array is.
STRUCTS = {
    "struct s0": (("a", "int8_t"), ("b", "float"), ("c", "uint64_t")),
    "struct s1": (
        ("p.a", "int8_t"), ("p.b", "float"), ("p.c", "uint64_t"), ("q", "int16_t"), ("r", "double")
    ),
    "struct s2": (("u", "uint16_t"), ("w[(IDX)]", "int32_t"), ("x.a", "int8_t"), ("x.b", "float")),
    "struct s3": (("v[1]", "float"), ("n", "uint8_t")),
}  # fmt: skip
HEAD = (
    """\
#include <stdint.h>
#include <string.h>
#include <math.h>
#include <omp.h>
"""
    + "".join(
        f"typedef {kind} {name} __attribute__((vector_size({lanes} * sizeof({kind}))));\n"
        for name, (kind, lanes) in VECTORS.items()
    )
    + """\
struct s0 { int8_t a; float b; uint64_t c; };
struct s1 { struct s0 p; int16_t q; double r; };
struct s2 { uint16_t u; int32_t w[4]; struct s0 x; };
struct s3 { float4 v; uint8_t n; };
struct r0 { uint32_t a; uint64_t b; };
#pragma omp declare reduction(mix : struct r0 : omp_out.a += omp_in.a, omp_out.b &= omp_in.b) \\
    initializer(omp_priv = {0, -1})
struct n0 { uint32_t v; struct n0 *next; const int32_t *more; };
union u0 { uint64_t u; uint16_t h[4]; int32_t i; float f; };
struct b0 { uint32_t a : 5; int32_t b : 11; uint64_t c : 37; uint8_t : 2; uint8_t d : 3;
            int16_t e : 16; };
struct __attribute__((packed)) k0 { int8_t a; int32_t b; uint64_t c : 61; int16_t d; };
static int32_t kept;
#pragma omp threadprivate(kept)
#pragma omp declare target
static uint32_t counted;
#pragma omp end declare target
static omp_lock_t guard;
static inline int64_t never_picked(int64_t x) { return x * 3 - 1; }
static inline int64_t the_picked(int64_t x) { return x ^ 85; }
#pragma omp declare variant(never_picked) match(user={condition(0)})
#pragma omp declare variant(the_picked) match(user={condition(1)})
static inline int64_t picked(int64_t x) { return -x; }
"""
)


@dataclass
class Kernel:
    """A random program: its helper functions and its threads' body.

    Where there is a limit, the threads are a team if the number x is above it, else one alone. A
    serial program is one thread's, with `parallel` regions inside.
    """

    seed: int
    functions: str
    body: str
    limit: int | None = None
    is_serial: bool = False

    def size(self, threads: int) -> str:
        """The clause that says how many threads the region has; some know it when it runs."""
        if self.is_serial:
            return ""
        return f" num_threads({threads}{' + (x & 0)' if self.seed % 7 == 3 else ''})"

    @property
    def condition(self) -> str:
        """The condition of the team; empty if it has none."""
        return "" if self.limit is None else f"x > {self.limit}"


def unsigned(kind: str) -> str:
    return kind if kind.startswith("u") else f"u{kind}"


def width(kind: str) -> int:
    return {"float": 32, "double": 64}.get(kind) or int("".join(c for c in kind if c.isdigit()))


def _params() -> str:
    arrays = [f"{t} *{n}" for n, t in {**ARRAYS, **OUTS}.items()]
    return ", ".join([*arrays, "int32_t x", "double y", "uint32_t *given"])


def device_text(kernel: Kernel, threads: int) -> str:
    """The program with its body as a target region."""
    given = ", ".join(f"{n}[0:{SIZE}]" for n in ARRAYS)
    results = ", ".join(f"{n}[0:{OUT * threads}]" for n in OUTS)
    joined = ", ".join(JOINED)
    return (
        f"#define TEAM {threads}\n{HEAD}{kernel.functions}\n"
        f"uint32_t kernel({_params()}) {{\n"
        + "".join(f"  {kind} {name} = 0;\n" for name, kind in JOINED.items())
        + f"#pragma omp target{'' if kernel.is_serial else ' parallel'} map(to: {given})"
        f" map(tofrom: {results}, {joined}, given[0:{threads + TALLY}])"
        f"{kernel.size(threads)}"
        f"{kernel.condition and f' if(parallel: {kernel.condition})'}\n"
        f"  {{\n  int32_t me = omp_get_thread_num();\n{kernel.body}\n  }}\n"
        f"  return {' + '.join(JOINED)};\n}}\n"
    )


def native_text(kernels: list[Kernel], threads: int) -> str:
    """A program that runs several kernels and prints their outputs."""
    text = [f"#define TEAM {threads}", HEAD, "#include <stdio.h>"]
    names = [*ARRAYS, *OUTS]
    joined = [f"{kind} {name};" for name, kind in JOINED.items()]
    text.append(f"struct joined {{ {' '.join(joined)} }};")
    for kernel in kernels:
        text += [
            kernel.functions,
            f"static struct joined kernel{kernel.seed}({_params()}) {{",
            *(f"  {kind} {name} = 0;" for name, kind in JOINED.items()),
            ""
            if kernel.is_serial
            else f"#pragma omp parallel num_threads({threads})"
            f"{kernel.condition and f' if({kernel.condition})'}",
            "  { int32_t me = omp_get_thread_num();",
            kernel.body,
            "  }",
            f"  return (struct joined){{ {', '.join(JOINED)} }};",
            "}",
        ]
    for name, kind in ARRAYS.items():
        text.append(f"static {kind} {name}[{SIZE}] __attribute__((aligned(64)));")
    for name, kind in OUTS.items():
        text.append(f"static {kind} {name}[{OUT * threads}] __attribute__((aligned(64)));")
    text += [
        "int main(void) {",
        "  omp_init_lock(&guard);",
        f"  int32_t x; double y; uint32_t given[{threads + TALLY}];",
    ]
    for kernel in kernels:
        text += [f"  fread({n}, sizeof {n}, 1, stdin);" for n in names]
        text += ["  fread(&x, sizeof x, 1, stdin); fread(&y, sizeof y, 1, stdin);"]
        text += ["  memset(given, 0, sizeof given);"]
        text += [f"  {{ struct joined j = kernel{kernel.seed}({', '.join(names)}, x, y, given);"]
        text += [f"  fwrite({n}, sizeof {n}, 1, stdout);" for n in OUTS]
        text += [f"  fwrite(&j.{n}, sizeof j.{n}, 1, stdout);" for n in JOINED]
        text += ["  }"]
    return "\n".join([*text, "  return 0;", "}", ""])


def inputs(kernel: Kernel, threads: int) -> tuple[dict[str, bytes], list[int]]:
    """Contents of the arrays, and the bits of the scalars x and y."""
    r = random.Random(f"inputs {kernel.seed}")
    codes = {"int32_t": "i", "uint8_t": "B", "int64_t": "q", "float": "f", "double": "d",
             "uint64_t": "Q", "int16_t": "h"}  # fmt: skip
    found = {}
    for name, kind in {**ARRAYS, **OUTS}.items():
        count = SIZE if name in ARRAYS else OUT * threads
        if kind in FLOATS:
            values: list[float] = [
                r.choice([0.0, -1.5, 2.0, 1e10, r.uniform(-50, 50)]) for _ in range(count)
            ]
        else:
            bits = width(kind)
            low = 0 if kind.startswith("u") else -(1 << (bits - 1))
            values = [
                r.choice([0, 1, 5, low, low + (1 << bits) - 1, low + r.getrandbits(bits)])
                for _ in range(count)
            ]
        found[name] = struct.pack(f"<{count}{codes[kind]}", *values)
    found |= {name: bytes(width(kind) // 8) for name, kind in JOINED.items()}
    found["given"] = bytes(4 * (threads + TALLY))
    x, y = r.randrange(-100, 100), r.uniform(-3, 3)
    return found, [x & 0xFFFFFFFF, int.from_bytes(struct.pack("<d", y), "little")]


def scalars_of(program: Program, kernel: Kernel, given: list[int], threads: int) -> list[int]:
    """The bits of all scalars of a program's region, given those of x and y."""
    x = given[0] - (given[0] >> 31 << 32)
    team = int(kernel.limit is not None and x > kernel.limit)
    values = {"x": given[0], "y": given[1], "cyclescope_team": team}
    values["cyclescope_size"] = threads
    return [values[name] for name, _ in program.region.scalars]


def complete(program: Program, arrays: dict[str, bytes]) -> dict[str, bytes]:
    """The arrays with the globals and static locals that a program has besides."""
    globals_ = {
        a.name: bytes(a.bytes)
        for a in program.region.arrays
        if a.place is Place.EXTERNAL and a.name not in arrays and a.bytes is not None
    }
    return arrays | globals_ | program.statics
