"""One design with many units and the program that streams vectors through it.

As a program it is the long run: `python tests/rtl/fpu.py [VECTORS [SEED]]`.
"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cyclescope.rtl import External, Module, Unit, sources, variants
from cyclescope.sim import Design, Harness, build

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cyclescope.rtl import Shape

BENCH = Path(__file__).with_name("units.cpp")
MAIN = """
int main(int argc, char** argv) {
    const u64 vectors = std::strtoull(argv[1], nullptr, 10);
    Source source(std::strtoull(argv[2], nullptr, 10), argv[3][0] == '1');
    VerilatedContext context;
    Vcyc top{&context};
    constexpr int N = sizeof checks / sizeof *checks, RING = 128;
    static u64 expected[N][RING];
    static Vector given[RING];
    static u64 wrong[N];
    for (u64 i = 0; i < vectors + RING; ++i) {
        const Vector v = source.next();
        given[i % RING] = v;
        top.a32 = v.a32; top.b32 = v.b32; top.a64 = v.a64; top.b64 = v.b64;
        top.ai = v.ai; top.bi = v.bi;
        top.clk = 0;
        top.eval();
        for (int n = 0; n < N; ++n) {
            const Check& c = checks[n];
            expected[n][i % RING] = c.expected(v);
            const u64 from = i - c.latency;
            if (i < RING || from >= vectors) continue;
            const u64 want = expected[n][from % RING], is = c.found(top);
            if (is != want && wrong[n]++ < 3) {
                const Vector& g = given[from % RING];
                std::printf("%s: %016lx %016lx | %08lx %08lx | %016lx %016lx: %lx, not %lx\\n",
                    c.name, g.a64, g.b64, g.a32, g.b32, g.ai, g.bi, is, want);
            }
        }
        top.clk = 1;
        top.eval();
    }
    for (int n = 0; n < N; ++n) std::printf("= %s %lu\\n", checks[n].name, wrong[n]);
    return 0;
}
"""

# Operation → the C++ that computes it from a, b (of the width W), for 32-bit floats; 64 alike.
FLOATS = {
    "fadd": "bits(A + B)",
    "fsub": "bits(A - B)",
    "fmul": "bits(A * B)",
    "fdiv": "bits(A / B)",
    "fsqrt": "bits(std::sqrt(A))",
    "fmin": "bits(smaller(A, B, QUIET(v.aW), QUIET(v.bW), false))",
    "fmax": "bits(smaller(A, B, QUIET(v.aW), QUIET(v.bW), true))",
    "feq": "A == B",
    "flt": "A < B",
    "fle": "A <= B",
}
INTEGERS = {
    "mul": "low(v.ai * v.bi, W)",
    "sdiv": "signed_divide(v.ai, v.bi, W, false)",
    "srem": "signed_divide(v.ai, v.bi, W, true)",
    "udiv": "unsigned_divide(v.ai, v.bi, W, false)",
    "urem": "unsigned_divide(v.ai, v.bi, W, true)",
}
KINDS = {32: "float", 64: "double"}


@dataclass(frozen=True)
class Subject:
    """What is tested: a unit, or a mutant of it that stands in its place."""

    operation: str
    width: int
    source: int
    unit: Unit
    shape: Shape

    @property
    def name(self) -> str:
        return self.shape.name

    def reference(self) -> str:
        width, source = self.width, self.source
        match self.operation:
            case "sitofp":
                integer = "int32_t" if source == 32 else "int64_t"
                return f"bits(static_cast<{KINDS[width]}>(static_cast<{integer}>(v.ai)))"
            case "uitofp":
                return f"bits(static_cast<{KINDS[width]}>(static_cast<u{source}>(v.ai)))"
            case "fptosi":
                return f"to_signed(f{source}(v.a{source}), {width})"
            case "fptoui":
                return f"to_unsigned(f{source}(v.a{source}), {width})"
            case "fpext":
                return "bits(static_cast<double>(f32(v.a32)))"
            case "fptrunc":
                return "bits(static_cast<float>(f64(v.a64)))"
        text = FLOATS.get(self.operation) or INTEGERS[self.operation]
        for key, value in (("QUIET", f"quiet{width}"), ("W", str(width))):
            text = text.replace(key, value)
        return text.replace("A", f"f{width}(v.a{width})").replace("B", f"f{width}(v.b{width})")

    def operands(self) -> tuple[str, str]:
        if self.operation in INTEGERS or self.operation in {"sitofp", "uitofp"}:
            return "ai", "bi"
        width = self.source or self.width
        return f"a{width}", f"b{width}"


def subject(unit: Unit, text: str = "", suffix: str = "") -> Subject:
    """A unit as it is, or with another text."""
    operation = unit.name.rstrip("0123456789_")
    width, _, source = unit.name.removeprefix(operation).partition("_")
    shape: Shape = unit.module
    if text:
        ports = [(p.name, p.width) for p in unit.module.ports()]
        name = f"{unit.name}_{suffix}"
        text = text.replace(f"module {unit.name} ", f"module {name} ")
        shape = External(name, text, tuple(ports[:-1]), (ports[-1],))
    return Subject(operation, int(width), int(source or 0), unit, shape)


def design(subjects: Sequence[Subject]) -> Design:
    """All of them side by side on the same inputs."""
    top = Module("top")
    ports = {
        n: top.input(n, w)
        for n, w in (("a32", 32), ("b32", 32), ("a64", 64), ("b64", 64), ("ai", 64), ("bi", 64))
    }
    lines = ["static const Check checks[] = {"]
    for s in subjects:
        inputs = {}
        for name, operand in zip(s.unit.inputs, s.operands(), strict=False):
            width = next(p.width for p in s.unit.module.ports() if p.name == name)
            inputs[name] = ports[operand][width - 1 : 0]
        top.output(f"q_{s.name}", top.instance(s.shape, s.name, inputs)["q"])
        lines.append(
            f'  {{"{s.name}", {s.unit.latency},'
            f" [](const Vector& v) -> u64 {{ return {s.reference()}; }},"
            f" [](const Vcyc& t) -> u64 {{ return t.q_{s.name}; }}}},"
        )
    lines.append("};")
    cpp = BENCH.read_text("utf-8") + "\n".join(lines) + MAIN
    return Design("top", sources(top), harness=Harness("top", "", cpp))


def stream(
    design: Design,
    vectors: int,
    *,
    seed: int = 1,
    all_corners: bool = False,
    optimise: str = "-O1",
) -> str:
    """What the program prints: the first differences, and `= unit count` for each unit."""
    program = build(design, optimise=optimise).program
    command = [str(program), str(vectors), str(seed), str(int(all_corners))]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def counts(output: str) -> dict[str, int]:
    """Unit → how many vectors went wrong."""
    rows = (line.split() for line in output.splitlines() if line.startswith("= "))
    return {name: int(count) for _, name, count in rows}


def main() -> int:
    """The long run."""
    vectors = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    output = stream(design([subject(u) for u in variants()]), vectors, seed=seed, all_corners=True)
    wrong = {name: n for name, n in counts(output).items() if n}
    print(
        output if wrong else f"{len(counts(output))} units, {vectors} vectors each: no difference"
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
