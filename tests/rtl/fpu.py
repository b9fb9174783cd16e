"""One design with many units and the program that streams vectors through it.

As a program it is the long run: `python tests/rtl/fpu.py [VECTORS [SEED]]`.
"""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from cyclescope.rtl import External, Module, Unit, logic, sources, variants
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
    static double worst[N];
    for (u64 i = 0; i < vectors + RING; ++i) {
        const Vector v = source.next();
        given[i % RING] = v;
        top.a32 = v.a32; top.b32 = v.b32; top.a64 = v.a64; top.b64 = v.b64;
        top.ai = v.ai; top.bi = v.bi;
        top.m32 = v.m32; top.m64 = v.m64;
        top.clk = 0;
        top.eval();
        for (int n = 0; n < N; ++n) {
            const Check& c = checks[n];
            if (c.expected) expected[n][i % RING] = c.expected(v);
            const u64 from = i - c.latency;
            if (i < RING || from >= vectors) continue;
            const Vector& g = given[from % RING];
            const u64 want = expected[n][from % RING], is = c.found(top);
            if (!c.expected) {
                const double off = c.off(g, is);
                worst[n] = std::max(worst[n], off);
                if (!(off <= c.limit) && wrong[n]++ < 3)
                    std::printf("%s: %08lx | %016lx: %lx, off by %g\\n",
                        c.name, g.m32, g.m64, is, off);
            } else if (is != want && wrong[n]++ < 3) {
                std::printf("%s: %016lx %016lx | %08lx %08lx | %016lx %016lx: %lx, not %lx\\n",
                    c.name, g.a64, g.b64, g.a32, g.b32, g.ai, g.bi, is, want);
            }
        }
        top.clk = 1;
        top.eval();
    }
    for (int n = 0; n < N; ++n) std::printf("= %s %lu %.4f\\n", checks[n].name, wrong[n], worst[n]);
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
# Operation → the host's function of a longer format, for results that may be off.
FUNCTIONS = {"fexp": "exp", "flog": "log", "fsin": "sin", "fcos": "cos", "ftanh": "tanh"}
LIMIT = 0.51
"""Units in the last place that results of functions are off at most; half of one is rounding."""
INTEGERS = {
    "mul": "low(v.ai * v.bi, W)",
    "sdiv": "signed_divide(v.ai, v.bi, W, false)",
    "srem": "signed_divide(v.ai, v.bi, W, true)",
    "udiv": "unsigned_divide(v.ai, v.bi, W, false)",
    "urem": "unsigned_divide(v.ai, v.bi, W, true)",
}
DIRECTIONS = ("input", "output")
KINDS = {32: "float", 64: "double"}


@dataclass(frozen=True)
class Subject:
    """The module under test: an arithmetic unit, a piece of logic, or a mutant of one.

    Attributes:
        shape: the module.
        latency: of its outputs.
        operands: input → what of the vectors it gets.
        outputs: output → C++ that computes it; where results may be off, that by which `is` is.
        limit: by so many units in the last place; 0 if results are exact.
    """

    shape: Shape
    latency: int
    operands: dict[str, str]
    outputs: dict[str, str]
    limit: float = 0


def reference(operation: str, width: int, source: int) -> str:
    """C++ for the result of an operation on a vector `v`."""
    match operation:
        case "sitofp":
            return f"bits(static_cast<{KINDS[width]}>(extended(v.ai, {source})))"
        case "uitofp":
            return f"bits(static_cast<{KINDS[width]}>(low(v.ai, {source})))"
        case "fptosi":
            return f"to_signed(f{source}(v.a{source}), {width})"
        case "fptoui":
            return f"to_unsigned(f{source}(v.a{source}), {width})"
        case "saturate":
            return f"saturated(f{source}(v.a{source}), {width})"
        case "fpext":
            return "bits(static_cast<double>(f32(v.a32)))"
        case "fptrunc":
            return "bits(static_cast<float>(f64(v.a64)))"
        case "relations":
            return f"relations(f{width}(v.a{width}), f{width}(v.b{width}))"
    if operation in FUNCTIONS:
        return f"ulps(f{width}(is), std::{FUNCTIONS[operation]}(longer(f{width}(v.m{width}))))"
    text = FLOATS.get(operation) or INTEGERS[operation]
    for key, value in (("QUIET", f"quiet{width}"), ("W", str(width))):
        text = text.replace(key, value)
    return text.replace("A", f"f{width}(v.a{width})").replace("B", f"f{width}(v.b{width})")


def _operands(operation: str, width: int, source: int, inputs: Sequence[str]) -> dict[str, str]:
    if operation in FUNCTIONS:
        return {"a": f"m{width}"}
    integers = operation in INTEGERS or operation in {"sitofp", "uitofp"}
    kind = "i" if integers else str(source or width)
    return {name: f"{name}{kind}" for name in inputs}


def subject(unit: Unit) -> Subject:
    """An arithmetic unit."""
    operation = unit.name.rstrip("0123456789_")
    width, _, source = unit.name.removeprefix(operation).partition("_")
    sizes = int(width), int(source or 0)
    operands = _operands(operation, *sizes, unit.inputs)
    limit = LIMIT if operation in FUNCTIONS else 0
    return Subject(unit.module, unit.latency, operands, {"q": reference(operation, *sizes)}, limit)


def mutant(original: Subject, name: str, pattern: str, replacement: str) -> Subject:
    """The same with something replaced in its text."""
    shape = original.shape
    text = shape.verilog()
    changed = re.sub(pattern, replacement, text)
    assert changed != text, f"{shape.name}: nothing to change for {name}\n{text}"
    changed = changed.replace(f"module {shape.name} ", f"module {shape.name}_{name} ")
    ports = {d: [(p.name, p.width) for p in shape.ports() if p.direction == d] for d in DIRECTIONS}
    external = External(
        f"{shape.name}_{name}",
        changed,
        tuple(ports["input"]),
        tuple(ports["output"]),
        shape.clocks(),
    )
    return replace(original, shape=external)


def logic_subject(operation: str, width: int, source: int = 0) -> Subject:
    """An arithmetic unit without registers, and the exceptions it raises."""
    module = logic(operation, width, source)
    inputs = [p.name for p in module.ports() if p.direction == "input"]
    outputs = {"q": reference(operation, width, source)}
    pair = f"f{width}(v.a{width}), f{width}(v.b{width})"
    symbol = {"fadd": "+", "fmul": "*", "fdiv": "/"}.get(operation)
    compute = f"[](auto x, auto y) {{ return x {symbol} y; }}"
    if operation == "fsqrt":
        compute = "[](auto x, auto) { return std::sqrt(x); }"
    if operation == "relations":
        # A quiet comparison is invalid for signaling NaNs alone.
        compute = f"[](auto x, auto y) {{ return {KINDS[width]}(x == y); }}"
        outputs["flags"] = f"raised({pair}, {compute}) >> 4"
    elif not source:
        outputs["flags"] = f"raised({pair}, {compute})"
    if symbol and width == 32:
        outputs["early"] = f"tiny_before({pair}, {compute})"
    return Subject(module, 0, _operands(operation, width, source, inputs), outputs)


def all_logic() -> list[Subject]:
    """Every piece of logic that there is, in some widths."""
    pairs = [(op, w) for op in ("fadd", "fmul", "fdiv", "fsqrt", "relations") for w in (32, 64)]
    return [
        *(logic_subject(op, width) for op, width in pairs),
        *(logic_subject("sitofp", w, bits) for w in (32, 64) for bits in (9, 33, 64)),
        *(logic_subject("saturate", bits, w) for w in (32, 64) for bits in (8, 32, 64)),
    ]


def design(subjects: Sequence[Subject]) -> Design:
    """All of them side by side on the same inputs."""
    top = Module("top")
    ports = {
        n: top.input(n, w)
        for n, w in (
            ("a32", 32),
            ("b32", 32),
            ("a64", 64),
            ("b64", 64),
            ("ai", 64),
            ("bi", 64),
            ("m32", 32),
            ("m64", 64),
        )
    }
    top.output("last", top.delay(ports["ai"][0], "before"))  # so that there is a clock
    lines = ["static const Check checks[] = {"]
    for s in subjects:
        widths = {p.name: p.width for p in s.shape.ports()}
        inputs = {name: ports[o][widths[name] - 1 : 0] for name, o in s.operands.items()}
        instance = top.instance(s.shape, s.shape.name, inputs)
        for port, expected in s.outputs.items():
            name = s.shape.name if port == "q" else f"{s.shape.name}_{port}"
            top.output(f"o_{name}", instance[port])
            exact = off = "nullptr"
            if s.limit:
                off = f"[](const Vector& v, u64 is) -> double {{ return {expected}; }}"
            else:
                exact = f"[](const Vector& v) -> u64 {{ return {expected}; }}"
            lines.append(
                f'  {{"{name}", {s.latency}, {exact}, {off}, {s.limit},'
                f" [](const Vcyc& t) -> u64 {{ return t.o_{name}; }}}},"
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
    """Run the test; return its output: the first differences, then `= unit count ulps` for each."""
    program = build(design, optimise=optimise).program
    command = [str(program), str(vectors), str(seed), str(int(all_corners))]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def counts(output: str) -> dict[str, int]:
    """Unit → how many vectors went wrong."""
    rows = (line.split() for line in output.splitlines() if line.startswith("= "))
    return {name: int(count) for _, name, count, _ in rows}


def worst(output: str) -> dict[str, float]:
    """Unit of a function → by how many units in the last place a result was off, at most."""
    rows = (line.split() for line in output.splitlines() if line.startswith("= "))
    return {name: float(off) for _, name, _, off in rows if re.match("|".join(FUNCTIONS), name)}


def main() -> int:
    """The long run."""
    vectors = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    subjects = [*(subject(u) for u in variants()), *all_logic()]
    output = stream(design(subjects), vectors, seed=seed, all_corners=True)
    wrong = {name: n for name, n in counts(output).items() if n}
    print(
        output if wrong else f"{len(counts(output))} results, {vectors} vectors each: no difference"
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
