"""Random C programs with a target region that is free of races, for rewrites to change.

Each construct writes an array of its own; it reads inputs and, behind barriers, what earlier ones
wrote. Loops differ in how they count, in bounds that are no multiples of anything, in who shares
them out; some depend on their own earlier iterations.
"""

from __future__ import annotations

import random
import shutil
import subprocess
from typing import TYPE_CHECKING

from cyclescope.hls import Host, OverlapError, compile_c, differences, interpret

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from cyclescope.hls import Native, Program

__all__ = ["in_one_memory", "interpreted_as_native", "kernel", "native"]


def in_one_memory(text: str) -> Program:
    """A program, what leads into one block of the host's memory joined as its run asks for."""
    joined: tuple[tuple[str, ...], ...] = ()
    while True:
        made = compile_c("p.c", text=text, joined=joined)
        with Host(made) as host:
            try:
                host.begin()
            except OverlapError as error:
                joined = error.joined
            else:
                return made


def interpreted_as_native(made: Program, host: Host) -> tuple[Native, Mapping[str, bytes]]:
    """Interpret a program's region: the native run, and its outputs, which must be the same."""
    native = host.run()
    assert host.run(unmodified=True).stdout == native.stdout
    outputs = interpret(made.region, native.inputs, native.scalars)
    assert not differences(made, native.outputs, outputs)
    return native, outputs


def native(text: bytes, folder: Path) -> tuple[int, bytes]:
    """The exit status and the output of a program, compiled without optimisation."""
    source, program = folder / "program.c", folder / "program"
    source.write_bytes(text)
    gcc = shutil.which("gcc") or "cc"
    flags = ["-std=gnu11", "-O0", "-fopenmp", "-fwrapv", "-ffp-contract=off", "-w"]
    subprocess.run([gcc, *flags, str(source), "-o", str(program), "-lm"], check=True)
    done = subprocess.run([str(program)], capture_output=True, timeout=60, check=False)
    return done.returncode, done.stdout


def kernel(seed: int) -> str:
    """A program."""
    return _Kernel(random.Random(seed)).text()


class _Kernel:
    def __init__(self, r: random.Random) -> None:
        self.r = r
        self.n = r.choice([16, 20, 24, 32, 33, 47, 64])
        self.m = r.choice([8, 12, 16, 17, 20, 32])
        self.kind = r.choice(["float", "float", "int", "double"])
        self.inputs = ["a", "b"]
        self.outputs: list[str] = []
        self.globals: list[str] = []
        self.lines: list[str] = []
        self.scalars: list[str] = []
        self.cyclic = r.random() < 0.5

    def text(self) -> str:
        r = self.r
        choices: list[Callable[[], None]] = [
            self.map, self.rows, self.product, self.counts, self.recurrence, self.shift,
            self.partial, self.guarded, self.chained, self.walk, self.total, self.outer,
        ]  # fmt: skip
        for _ in range(r.randint(1, 4)):
            r.choice(choices)()
        flat = self.n * self.m
        arrays = [f"{self.kind} a[{flat}], b[{flat}];", "int which[N];", *self.globals]
        mapped = ", ".join([*self.outputs, *self.scalars])
        threads = r.choice([1, 2, 3, 4, 8])
        prints = [
            f"    for (int i = 0; i < (int)(sizeof {name} / sizeof({self.kinds(name)})); i++)"
            f" printf({self.format(name)}, ((({self.kinds(name)} *){name})[i]));"
            for name in self.outputs
        ]
        prints += [f"    printf({self.format(s)}, {s});" for s in self.scalars]
        own = "        int me = omp_get_thread_num(), all = omp_get_num_threads();\n"
        begin = own if any("me" in line.split("//")[0] for line in self.lines) else ""
        return (
            "#include <stdio.h>\n#include <omp.h>\n"
            f"#define N {self.n}\n#define M {self.m}\n#define AT(x, i, j) x[(i) * M + (j)]\n"
            + "\n".join(arrays)
            + "\nint main(void) {\n    unsigned z = 7;\n"
            + f"    for (int i = 0; i < {flat}; i++) {{ z = z * 1103515245u + 12345u;"
            + " a[i] = (int)(z >> 16 & 31) - 9; z = z * 1103515245u + 12345u;"
            + " b[i] = (int)(z >> 16 & 15) - 5; }\n"
            + "    for (int i = 0; i < N; i++) which[i] = (i * 7 + 3) % 8;\n"
            + f"    #pragma omp target parallel map(to: a, b, which) map(tofrom: {mapped})"
            + f" num_threads({threads})\n    {{\n{begin}"
            + "\n".join(self.lines)
            + "\n    }\n"
            + "\n".join(prints)
            + "\n    return 0;\n}\n"
        )

    # Parts

    def kinds(self, name: str) -> str:
        return "int" if name.startswith(("c", "t")) else self.kind

    def format(self, name: str) -> str:
        return '"%d "' if self.kinds(name) == "int" else '"%a "'

    def new(self, letter: str, shape: str, kind: str | None = None) -> str:
        name = f"{letter}{len(self.outputs) + len(self.scalars)}"
        if shape:
            self.outputs.append(name)
        else:
            self.scalars.append(name)
        self.globals.append(f"{kind or self.kind} {name}{shape};")
        return name

    def say(self, depth: int, text: str) -> None:
        note = self.r.choice(["", "", "", " // a note", " /* note */"])
        self.lines.append("    " * (depth + 2) + text + note)

    def head(self, v: str, low: str, high: str) -> str:
        """A loop's head, in one of many ways."""
        test = self.r.choice([f"{v} < {high}", f"{v} <= {high} - 1", f"{high} > {v}"])
        step = self.r.choice([f"{v}++", f"++{v}", f"{v} += 1", f"{v} = {v} + 1"])
        return f"for (int {v} = {low}; {test}; {step})"

    def shared(self, v: str, low: int, high: str, clauses: str = "") -> str:
        """The head of a loop that threads share out, with its directive said before."""
        if self.cyclic and not clauses:
            begin = "me" if low == 0 else f"{low} + me"
            return f"for (int {v} = {begin}; {v} < {high}; {v} += all)"
        schedule = self.r.choice(["", "", " schedule(static)", " schedule(dynamic, 2)"])
        self.lines.append(f"        #pragma omp for{schedule}{clauses}")
        return f"for (int {v} = {low}; {v} < {high}; {v}++)"

    def wait(self) -> None:
        if self.cyclic:
            self.lines.append("        #pragma omp barrier")

    def flat(self, at: str) -> str:
        """An element of an input."""
        name = self.r.choice(self.inputs)
        return f"{name}[{at}]"

    def value(self, *operands: str) -> str:
        r = self.r
        parts = [*operands, r.choice(["2", "3", "1"])]
        r.shuffle(parts)
        text = parts[0]
        for part in parts[1:]:
            text = f"{text} {r.choice(['+', '-', '*'])} {part}"
        return text if len(parts) < 3 or r.random() < 0.5 else f"({text}) * {parts[0]}"

    # Constructs

    def map(self) -> None:
        low = self.r.choice([0, 0, 0, 1, 2, 4])
        out = self.new("o", "[N]")
        head = self.shared("i", low, f"N - {low}" if low else "N")
        self.say(0, head)
        near = self.r.choice(["i", f"i - {low}" if low else "i", f"i + {low}" if low else "i"])
        self.say(1, f"{out}[i] = {self.value(self.flat(near), self.flat('i'))};")
        self.wait()
        self.inputs.append(out) if self.r.random() < 0.5 and not self.cyclic else None

    def rows(self) -> None:
        out = self.new("o", "[N]")
        self.say(0, self.shared("i", 0, "N") + " {")
        self.say(1, f"{self.kind} s = {self.r.choice(['0', '1', 'b[i]'])};")
        self.say(1, self.head("j", self.r.choice(["0", "0", "1"]), "M"))
        at = self.r.choice(["AT(a, i, j)", "a[i * M + j]", "a[M * i + j]"])
        form = self.r.choice(["s += {}", "s = s * 3 + {}", "s = {} - s"])
        text = self.r.choice([f"{at} * b[j]", f"{at} + b[j * 2]" if self.n >= 2 else at, at])
        self.say(2, form.format(text) + ";")
        self.say(1, f"{out}[i] = s;")
        self.say(0, "}")
        self.wait()

    def product(self) -> None:
        out = self.new("o", "[N][M]")
        self.say(0, self.shared("i", 0, "N"))
        self.say(1, self.head("j", "0", "M") + " {")
        start = self.r.choice(["0", "0", "2"])
        self.say(2, f"{self.kind} s = {start};")
        size = min(self.n, self.m)
        self.say(2, self.head("k", "0", str(size)) + " {")
        if self.r.random() < 0.4:
            self.say(3, "int here = k * M + j;")
            self.say(3, "s += a[i * M + k] * b[here];")
        else:
            self.say(3, "s += AT(a, i, k) * AT(b, k, j);")
        self.say(2, "}")
        self.say(2, f"{out}[i][j] = s;")
        self.say(1, "}")
        self.wait()

    def counts(self) -> None:
        out = self.new("c", "[8]", "int")
        was, self.cyclic = self.cyclic, False
        self.say(0, self.shared("i", 0, "N") + " {")
        lock = self.r.choice(["critical", "atomic", "critical (name)"])
        self.lines.append(f"            #pragma omp {lock}")
        self.say(1, f"{out}[which[i]] {self.r.choice(['+= 1', '-= 2', '+= i'])};")
        self.say(0, "}")
        self.cyclic = was

    def recurrence(self) -> None:
        out = self.new("o", "[N][M]")
        self.say(0, self.shared("i", 0, "N"))
        self.say(1, self.head("j", "1", "M"))
        back = self.r.choice(["j - 1", "j - 1", "0"])
        self.say(2, f"{out}[i][j] = {out}[i][{back}] * 2 - AT(a, i, j);")
        self.wait()

    def shift(self) -> None:
        out = self.new("o", "[N][M]")
        self.say(0, self.shared("i", 0, "N") + " {")
        self.say(1, self.head("j", "0", "M"))
        self.say(2, f"{out}[i][j] = a[i * M + j];")
        self.say(1, self.head("j", "0", "M - 4"))
        self.say(2, f"{out}[i][j] = {out}[i][j + {self.r.choice([1, 2, 4])}] + b[j];")
        self.say(0, "}")
        self.wait()

    def partial(self) -> None:
        out = self.new("c", "[N]", "int")
        was, self.cyclic = self.cyclic, True
        low = self.r.choice([0, 1])
        self.say(0, self.head("i", str(low), "N") + " {")
        self.say(1, "int s = 0;")
        self.say(1, "for (int j = me; j < M; j += all)")
        self.say(2, "s += (int)AT(a, i, j) * (int)b[j];")
        self.lines.append("            #pragma omp critical")
        self.say(1, f"{out}[i] += s;")
        self.say(0, "}")
        self.wait()
        self.cyclic = was

    def guarded(self) -> None:
        out = self.new("o", "[N]")
        self.say(0, self.shared("i", 0, "N") + " {")
        self.say(1, f"{self.kind} s = a[i];")
        self.say(1, self.head("j", "0", "M") + " {")
        self.say(2, "if (AT(b, i, j) > 0)")
        self.say(3, "s += AT(a, i, j);")
        if self.r.random() < 0.4:
            self.say(2, "if (s > 90) break;")
        self.say(1, "}")
        self.say(1, f"{out}[i] = s;")
        self.say(0, "}")
        self.wait()

    def chained(self) -> None:
        """Two loops of which a thread's part of the second relies on its part of the first."""
        first, second = self.new("o", "[N]"), self.new("o", "[N]")
        self.lines.append("        #pragma omp for schedule(static) nowait")
        self.say(0, "for (int i = 0; i < N; i++)")
        self.say(1, f"{first}[i] = {self.value(self.flat('i'))};")
        self.lines.append("        #pragma omp for schedule(static)")
        self.say(0, "for (int i = 0; i < N; i++)")
        self.say(1, f"{second}[i] = {first}[i] + b[i];")

    def walk(self) -> None:
        out = self.new("o", "[N]")
        self.say(0, self.shared("i", 0, "N") + " {")
        self.say(1, f"{self.kind} s = 0;")
        self.say(1, "int k = i;")
        self.say(1, "while (k > 0) { s += a[k]; k -= 3; }")
        self.say(1, f"{out}[i] = s;")
        self.say(0, "}")
        self.wait()

    def total(self) -> None:
        out = self.new("t", "", "int")
        was, self.cyclic = self.cyclic, False
        self.say(0, self.shared("i", 0, "N", f" reduction(+: {out})"))
        self.say(1, f"{out} += (int)a[i] * {self.r.choice(['i', '3', '(int)b[i]'])};")
        self.cyclic = was

    def outer(self) -> None:
        """A loop around a shared one, which goes over the array again and again."""
        out = self.new("o", "[N]")
        was, self.cyclic = self.cyclic, False
        self.say(0, "for (int t = 0; t < 3; t++) {")
        self.say(0, self.shared("i", 0, "N"))
        self.say(1, f"{out}[i] = {out}[i] * 2 + a[i] - t;")
        self.say(0, "}")
        self.cyclic = was
