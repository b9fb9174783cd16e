"""The tools with which the tests of rtl/ run Verilog: lint, Verilator, Icarus, Yosys."""

from __future__ import annotations

import random
import shutil
import subprocess
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from cyclescope.rtl import Expr, Module, cat, choose, mux
from cyclescope.sim import Design, build, run
from cyclescope.sim._toolchain import find_verilator

if TYPE_CHECKING:
    from pathlib import Path

Reference = Callable[[dict[str, int]], int]
OPERATIONS = """
+ - * & | ^ ~ << >> ashr <<c >>c ashrc == != < <= slt sle any all parity none part cat mux repeat
sext zext choose
"""
WIDTHS = (1, 2, 3, 8, 17, 32, 33, 64, 65, 100)


def lint(folder: Path, texts: dict[str, str], top: str) -> str:
    """The output of Verilator with all warnings on."""
    for name, text in texts.items():
        (folder / name).write_text(text, "utf-8")
    verilator = find_verilator()
    command = [str(verilator.program), "--lint-only", "--quiet", "-Wall", "--language", "1364-2005"]
    done = subprocess.run(
        [*command, "--top-module", top, *texts],
        cwd=folder,
        env={"VERILATOR_ROOT": str(verilator.root)},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout + done.stderr


def in_verilator(texts: dict[str, str]) -> str:
    """The output of a design with the top module `main` (clk, reset, go, done)."""
    result = run(build(Design("main", texts), optimise="-O0"), cycle_limit=100_000)
    assert result.complete, result.message
    return result.output


CLOCK = """
module clock;
  reg clk = 0, reset = 1;
  wire done;
  always #1 clk = ~clk;
  initial #9 reset = 0;
  main main(.clk(clk), .reset(reset), .go(~reset), .done(done));
  always @(posedge clk) if (done) $finish;
endmodule
"""


def in_icarus(folder: Path, texts: dict[str, str]) -> str:
    """The same in Icarus Verilog; skips where it is not installed."""
    if not shutil.which("iverilog"):
        pytest.skip("Icarus Verilog is not installed; Verilator runs the same design")
    for name, text in {**texts, "clock.v": CLOCK}.items():
        (folder / name).write_text(text, "utf-8")
    command = ["iverilog", "-g2005", "-s", "clock", "-o", "sim", *texts, "clock.v"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    done = subprocess.run(
        ["vvp", "-n", "sim"], cwd=folder, check=True, capture_output=True, text=True
    )
    return done.stdout


def checker(
    module: Module, vectors: list[dict[str, int]], expected: list[dict[str, int]], latency: int = 0
) -> str:
    """A `main` that feeds the vectors, one a cycle, and prints each difference."""
    ports = module.ports()
    inputs = [p for p in ports if p.direction == "input"]
    outputs = [p for p in ports if p.direction == "output"]
    lines = ["module main(input clk, input reset, input go, output done);", "  reg [31:0] n;"]
    wide_in, wide_out = sum(p.width for p in inputs), sum(p.width for p in outputs)
    lines += [
        f"  reg [{wide_in - 1}:0] given [0:{len(vectors) - 1}];",
        f"  reg [{wide_out - 1}:0] wanted [0:{len(vectors) - 1}];",
        f"  wire [{wide_in - 1}:0] now = given[n < {len(vectors)} ? n : 0];",
        f"  wire [{wide_out - 1}:0] out;",
        "  initial begin",
    ]
    for i, (vector, want) in enumerate(zip(vectors, expected, strict=True)):
        lines.append(f"    given[{i}] = {_packed([(p.width, vector[p.name]) for p in inputs])};")
        lines.append(f"    wanted[{i}] = {_packed([(p.width, want[p.name]) for p in outputs])};")
    lines.append("  end")
    lines.append(f"  {module.name} dut (")
    pins = [f".{name}({name})" for name in module.clocks()]
    for group, bus in ((inputs, "now"), (outputs, "out")):
        high = sum(p.width for p in group)
        for p in group:
            pins.append(f".{p.name}({bus}[{high - 1}:{high - p.width}])")
            high -= p.width
    lines.append("    " + ",\n    ".join(pins) + ");")
    lines.append(f"  assign done = n == {len(vectors) + latency};")
    lines += [
        "  always @(posedge clk)",
        "    if (reset) n <= 0; else if (go && !done) begin",
        "      n <= n + 1;",
        f"      if (n >= {latency}) begin",
    ]
    high = wide_out
    for p in outputs:
        part = f"[{high - 1}:{high - p.width}]"
        lines.append(
            f"        if (out{part} !== wanted[n - {latency}]{part})"
            f' $display("{p.name} of %0d: %h, not %h", n - {latency}, out{part},'
            f" wanted[n - {latency}]{part});"
        )
        high -= p.width
    lines += ["      end", f'      if (n == {len(vectors) + latency - 1}) $display("end");']
    lines += ["    end", "endmodule"]
    return "\n".join(lines) + "\n"


def _packed(fields: list[tuple[int, int]]) -> str:
    value, total = 0, 0
    for width, field in fields:
        value, total = value << width | field, total + width
    return f"{total}'h{value:x}"


class Expressions:
    """Random expressions beside functions that compute the same in Python."""

    def __init__(self, module: Module, seed: int) -> None:
        self.random = random.Random(seed)
        self.module = module
        self.count = 0
        self.known: dict[int, list[tuple[Expr, Reference]]] = {}
        for width in WIDTHS:
            for which in "ab":
                name = f"{which}{width}"
                self._keep(module.input(name, width), lambda env, name=name: env[name])

    def _keep(self, expr: Expr, reference: Reference) -> None:
        key = f"#{self.count}"  # computed once for each environment
        self.count += 1

        def once(env: dict[str, int]) -> int:
            if key not in env:
                env[key] = reference(env)
            return env[key]

        self.known.setdefault(expr.width, []).append((expr, once))

    def pick(self, width: int) -> tuple[Expr, Reference]:
        """Something of this width."""
        if width not in self.known:
            base = self.random.choice([w for w in WIDTHS if w >= width] or [100])
            expr, f = self.pick(base)
            if base >= width:
                low = self.random.randint(0, base - width)
                return expr[low + width - 1 : low], lambda e: f(e) >> low & ((1 << width) - 1)
            return expr.zext(width), f
        return self.random.choice(self.known[width])

    def step(self) -> None:
        """Makes one more."""
        r = self.random
        width = r.choice(WIDTHS)
        (a, fa), (b, fb) = self.pick(width), self.pick(width)
        if a is b:  # what is always so is a warning, and rightly
            return
        mask = (1 << width) - 1

        def signed(x: int, w: int = width) -> int:
            return x - (1 << w) if x >> w - 1 else x

        number = r.choice([0, 1, mask, mask >> 1, r.getrandbits(width)])
        if r.random() < 0.15:
            op = r.choice(["+", "-", "&", "==", "<", "<=", "slt", "sle"])
            b, fb = number, lambda _: number
        else:
            op = r.choice(OPERATIONS.split())
        count = r.randint(0, width + 2)
        amount, famount = self.pick(r.choice([1, 3, 8]))
        c, fc = self.pick(1)
        new: tuple[Expr, Reference]
        match op:
            case "+":
                new = a + b, lambda e: (fa(e) + fb(e)) & mask
            case "-":
                new = a - b, lambda e: (fa(e) - fb(e)) & mask
            case "*":
                new = a * b, lambda e: (fa(e) * fb(e)) & mask
            case "&":
                new = a & b, lambda e: fa(e) & fb(e)
            case "|":
                new = a | b, lambda e: fa(e) | fb(e)
            case "^":
                new = a ^ b, lambda e: fa(e) ^ fb(e)
            case "~":
                new = ~a, lambda e: fa(e) ^ mask
            case "<<":
                new = a << amount, lambda e: (fa(e) << famount(e)) & mask
            case ">>":
                new = a >> amount, lambda e: fa(e) >> famount(e)
            case "ashr":
                new = a.ashr(amount), lambda e: (signed(fa(e)) >> famount(e)) & mask
            case "<<c":
                new = a << count, lambda e: (fa(e) << count) & mask
            case ">>c":
                new = a >> count, lambda e: fa(e) >> count
            case "ashrc":
                new = a.ashr(count), lambda e: (signed(fa(e)) >> count) & mask
            case "==":
                new = a.eq(b), lambda e: int(fa(e) == fb(e))
            case "!=":
                new = a.ne(b), lambda e: int(fa(e) != fb(e))
            case "<":
                new = a.ult(b), lambda e: int(fa(e) < fb(e))
            case "<=":
                new = a.ule(b), lambda e: int(fa(e) <= fb(e))
            case "slt":
                new = a.slt(b), lambda e: int(signed(fa(e)) < signed(fb(e)))
            case "sle":
                new = a.sle(b), lambda e: int(signed(fa(e)) <= signed(fb(e)))
            case "any":
                new = a.any(), lambda e: int(fa(e) != 0)
            case "all":
                new = a.all(), lambda e: int(fa(e) == mask)
            case "parity":
                new = a.parity(), lambda e: fa(e).bit_count() & 1
            case "none":
                new = a.none(), lambda e: int(fa(e) == 0)
            case "part":
                low = r.randrange(width)
                high = r.randrange(low, width)
                part = (1 << high - low + 1) - 1
                new = a[high:low], lambda e: fa(e) >> low & part
            case "cat":
                low, flow = self.pick(8)
                new = cat(a, c, low), lambda e: (fa(e) << 9) | fc(e) << 8 | flow(e)
            case "mux":
                new = mux(c, a, b), lambda e: fa(e) if fc(e) else fb(e)
            case "repeat":
                new = a.repeat(2), lambda e: fa(e) << width | fa(e)
            case "sext":
                wide = (1 << width + 7) - 1
                new = a.sext(width + 7), lambda e: signed(fa(e)) & wide
            case "zext":
                new = a.zext(width + 5), lambda e: fa(e)
            case _:
                index, findex = self.pick(2)
                values = [self.pick(width) for _ in range(4)]
                new = (
                    choose(index, [v for v, _ in values]),
                    lambda e: values[findex(e)][1](e),
                )
        expr, reference = new
        if expr.value is None and (r.random() < 0.5 or len(expr.text) > 400):
            expr = self.module.wire(r.choice(["wire", "x", "a8", "3 d", "t"]), expr)
        if expr.width in WIDTHS and expr.value is None:
            self._keep(expr, reference)
