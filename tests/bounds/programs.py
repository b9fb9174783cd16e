"""Random C kernels, each in several writings that mean the same; and the long comparison.

    python tests/bounds/programs.py COUNT [SEED]

compares COUNT kernels with the interpreter (`interpreter.py`) and with a plain compilation, and
two writings of each with each other.
"""

from __future__ import annotations

import random
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bounds.interpreter import Outcome, interpret
from cyclescope.bounds import Bounds, Estimate, Resources, differences, estimate
from cyclescope.c import read_c

if TYPE_CHECKING:
    from collections.abc import Callable

N = 6
BETWEEN = (2, 3)  # resources a statement, besides one and any number
INTS, DOUBLES = ("a", "b"), ("x", "y")
HELPERS = """
int sq(int v) { return v * v + 1; }
double mix(double p, double q) { double r = p * 0.5; return r + q; }
void both(int *o, int *p, int q) { *o = q + 1; *p = *o * 2; }
int total(int n, int v[6]) { int s = 0; for (int h = 0; h < 3; h++) s += v[h] * n; return s; }
int pick(int c, int d) { if (c > d) return c; return d - c; }
"""
HEAD = "void kernel(int a[6], int b[6], int m[6][6], double x[6], double y[6]) {\n"
LOCALS = "int i = 0, j = 0, k = 0, s = 1, t = 2; double u = 0.5;\n"
# Each array is read and written outside of all branches, so that it has a sink.
TAIL = "".join(f"{n}[0] = {n}[1] + {v};\n" for n, v in (("a", 1), ("b", 1), ("x", "1.0")))
TAIL += "y[0] = y[1] + u; m[0][0] = m[1][1] + s + t;\n}\n"


@dataclass(frozen=True)
class Style:
    """How a program is written, where C leaves the choice."""

    braces: bool = False
    loops: str = "for"
    compound: bool = True
    macros: bool = False
    prefix: str = ""

    def named(self, text: str) -> str:
        """The text with its local names changed."""
        if not self.prefix:
            return text
        import re

        return re.sub(r"\b([ijkstu])\b", rf"{self.prefix}\1", text)


PLAIN = Style()
OTHER = Style(braces=True, loops="while", compound=False, macros=True, prefix="own_")


class Maker:
    """Makes one kernel; the same seed makes the same in every style."""

    def __init__(self, seed: int, style: Style) -> None:
        self.random = random.Random(seed)
        self.style = style
        self.counters: list[str] = []

    def text(self) -> str:
        """The whole program."""
        body = "".join(self.statement(2) for _ in range(self.random.randint(3, 6)))
        macro = "#define TWICE(v, w) ((v) + (w) * 2)\n" if self.style.macros else ""
        return macro + HELPERS + HEAD + self.style.named(LOCALS + body + TAIL)

    def choose(self, *options: Callable[[], str]) -> str:
        return self.random.choice(options)()

    # -- expressions ---------------------------------------------------------------------------

    def subscript(self) -> str:
        if self.counters and self.random.random() < 0.7:
            return self.random.choice(self.counters)
        return self.choose(
            lambda: str(self.random.randrange(N)), lambda: f"({self.integer(0)} & 3)"
        )

    def element(self, names: tuple[str, ...]) -> str:
        return f"{self.random.choice(names)}[{self.subscript()}]"

    def integer(self, depth: int) -> str:
        leaf = (
            lambda: self.element(INTS),
            lambda: f"m[{self.subscript()}][{self.subscript()}]",
            lambda: self.random.choice(["s", "t", "i", "j", "k"]),
            lambda: str(self.random.randint(0, 9)),
        )
        if depth == 0:
            return self.choose(*leaf)
        return self.choose(
            *leaf,
            lambda: f"({self.integer(depth - 1)} {self.operator()} {self.integer(depth - 1)})",
            lambda: f"({self.integer(depth - 1)} % {self.random.randint(2, 9)})",
            lambda: f"({self.condition()} ? {self.integer(depth - 1)} : {self.integer(depth - 1)})",
            lambda: f"sq({self.integer(depth - 1)})",
            lambda: f"-({self.integer(depth - 1)})",
            lambda: self.twice(depth),
        )

    def twice(self, depth: int) -> str:
        v, w = self.integer(depth - 1), self.integer(depth - 1)
        return f"TWICE({v}, {w})" if self.style.macros else f"(({v}) + ({w}) * 2)"

    def operator(self) -> str:
        return self.random.choice(["+", "-", "*", "&", "|", "^"])

    def condition(self) -> str:
        op = self.random.choice(["<", ">", "==", "!=", "<=", ">="])
        simple = f"{self.integer(1)} {op} {self.integer(0)}"
        if self.random.random() < 0.2:
            return f"({simple} && {self.integer(0)} > 2)"
        return f"({simple})"

    def real(self, depth: int) -> str:
        leaf = (
            lambda: self.element(DOUBLES),
            lambda: "u",
            lambda: f"{self.random.randint(1, 9)}.5",
        )
        if depth == 0:
            return self.choose(*leaf)
        return self.choose(
            *leaf,
            lambda: f"({self.real(depth - 1)} {self.random.choice('+-*')} {self.real(depth - 1)})",
            lambda: f"({self.real(depth - 1)} / 3.0)",
            lambda: f"mix({self.real(depth - 1)}, {self.integer(0)})",
            lambda: f"({self.condition()} ? {self.real(depth - 1)} : {self.real(0)})",
        )

    # -- statements ----------------------------------------------------------------------------

    def block(self, statements: str) -> str:
        many = statements.count("\n") > 1
        return f"{{\n{statements}}}\n" if many or self.style.braces else statements

    def updated(self, target: str, op: str, value: str) -> str:
        if self.style.compound:
            return f"{target} {op}= {value};\n"
        return f"{target} = {target} {op} ({value});\n"

    def statement(self, depth: int) -> str:
        free = [v for v in "ijk" if v not in self.counters]
        simple = (
            lambda: f"{self.element(INTS)} = {self.integer(2)};\n",
            lambda: f"{self.element(DOUBLES)} = {self.real(2)};\n",
            lambda: f"m[{self.subscript()}][{self.subscript()}] = {self.integer(1)};\n",
            lambda: self.updated(self.random.choice("st"), "+", self.integer(1)),
            lambda: self.updated("u", self.random.choice("+*"), self.real(1)),
            lambda: f"{self.random.choice('st')} = {self.integer(2)};\n",
            lambda: f"both(&a[{self.subscript()}], &b[{self.subscript()}], {self.integer(1)});\n",
            lambda: f"t = total({self.integer(0)}, {self.random.choice(INTS)});\n",
            lambda: f"b[{self.subscript()}] = pick({self.integer(1)}, {self.integer(0)}) + 1;\n",
            lambda: f"s = (t = {self.integer(1)}) + 1;\n",
            lambda: f"{self.random.choice(free)} = {self.integer(1)} & 3;\n" if free else ";\n",
        )
        if depth == 0 or (depth < 2 and self.random.random() < 0.5):
            return self.choose(*simple)
        return self.choose(*simple, *[lambda: self.loop(depth)] * 5, lambda: self.branch(depth))

    def branch(self, depth: int) -> str:
        if self.random.random() < 0.3:
            sections = "".join(
                f"case {n}: {self.statement(0)}{self.random.choice(['', 'break;'])}\n"
                for n in range(3)
            )
            return f"switch ({self.integer(1)} & 3) {{\n{sections}default: {self.statement(0)}}}\n"
        text = f"if ({self.condition()}) {self.block(self.statement(depth - 1))}"
        if self.random.random() < 0.5:
            # An `else` without braces would belong to an `if` inside.
            text = f"if ({self.condition()}) {{\n{self.statement(depth - 1)}}}\n"
            text += f"else {self.block(self.statement(depth - 1))}"
        return text

    def loop(self, depth: int) -> str:
        left = [v for v in "ijk" if v not in self.counters]
        if not left:
            return self.statement(0)
        v = self.random.choice(left)
        low, high = self.random.choice([0, 0, 1]), self.random.choice([3, 4, N])
        triangular = bool(self.counters) and self.random.random() < 0.3
        low_text = self.counters[-1] if triangular else str(low)
        step = self.random.choice([1, 1, 2])
        data = self.random.random() < 0.15
        self.counters.append(v)
        body = "".join(self.statement(depth - 1) for _ in range(self.random.randint(1, 2)))
        self.counters.pop()
        # A step that depends on data makes it a variable like any other.
        by = f"1 + ({self.integer(0)} & 1)" if data else str(step)
        stepped = f"{v} += {by}" if self.style.compound else f"{v} = {v} + ({by})"
        if step == 1 and not data and self.style.compound:
            stepped = f"{v}++"
        if self.style.loops == "for":
            return f"for ({v} = {low_text}; {v} < {high}; {stepped}) {self.block(body)}"
        return f"{v} = {low_text};\nwhile ({v} < {high}) {{\n{body}{stepped};\n}}\n"


def program(seed: int, style: Style = PLAIN) -> str:
    """The text of the kernel of a seed."""
    return Maker(seed, style).text()


def contents(seed: int) -> dict[str, list[int | float]]:
    """What its parameters hold."""
    numbers = random.Random(seed ^ 0x5EED)
    made: dict[str, list[int | float]] = {
        n: [numbers.randint(-9, 9) for _ in range(N)] for n in INTS
    }
    made["m"] = [numbers.randint(-9, 9) for _ in range(N * N)]
    return made | {n: [numbers.randint(-40, 40) / 8 for _ in range(N)] for n in DOUBLES}


def compared(seed: int, style: Style = PLAIN, *, plainly: bool = False) -> Bounds:
    """The engine's bounds of a kernel, equal to the interpreter's in everything.

    `plainly`: the values are compared with those of a plain compilation, too.
    """
    text, data = program(seed, style), contents(seed)
    given = data | {"m": [data["m"][N * r : N * r + N] for r in range(N)]}  # type: ignore[dict-item]
    found = estimate(
        "k.c", text=text, kernel="kernel", data=given, detail=True, values=True, verify=plainly,
        resources=Resources(BETWEEN),
    )  # fmt: skip
    if plainly:
        assert differences(found) == []
    unit = read_c("k.c", text=text)
    same(found, interpret(unit, "kernel", data))
    between = interpret(unit, "kernel", data, BETWEEN)
    for e, point in enumerate(found.curve):
        same_starts(found, point, between, e)
    return found


def same_starts(found: Bounds, estimated: Estimate, wanted: Outcome, e: int) -> None:
    """Whether an estimate has the starts and the total of the interpreter's `e`-th."""
    starts = {}
    for row in estimated.firings:
        process = row.process
        own = estimated.starts(process)
        starts[_key(found, process)] = {t: n for t, n in enumerate(own.tolist()) if n}
    assert starts == {key: dict(one[e]) for key, one in wanted.starts.items()}
    assert estimated.cycles == wanted.cycles[e]


def same(found: Bounds, wanted: Outcome) -> None:
    """Whether engine and interpreter agree: values, totals, every firing's start, path sums."""
    for name, values in wanted.arrays.items():
        assert repr(found.values[name].ravel().tolist()) == repr(values), name
    for e, estimated in enumerate(found.estimates):
        same_starts(found, estimated, wanted, e)
        assert found.detail is not None
        path = found.detail.critical_path[estimated.name]
        assert sum(step.cycles for step in path) == estimated.cycles


def _key(found: Bounds, process: object) -> object:
    if process.kind in ("source", "sink"):  # type: ignore[attr-defined]
        return process.name  # type: ignore[attr-defined]
    calls = []
    at = process.path  # type: ignore[attr-defined]
    while found.network.paths[at].parent >= 0:
        path = found.network.paths[at]
        calls.append((path.where.line, path.where.column, path.function))
        at = path.parent
    where = process.where  # type: ignore[attr-defined]
    return tuple(reversed(calls)), where.line, where.column


def main() -> int:
    count = int(sys.argv[1])
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    wrong = []
    for seed in range(first, first + count):
        try:
            one = compared(seed, plainly=seed % 4 == 0)
            other = compared(seed, OTHER)
            figures = [(f.absolute.cycles, f.unbounded.cycles, f.firings) for f in (one, other)]
            assert figures[0] == figures[1], f"two writings: {figures}"
        except Exception as error:  # noqa: BLE001 - any difference is what is looked for
            wrong.append(seed)
            print(f"seed {seed}: {type(error).__name__}: {str(error)[:300]}", flush=True)
        if (seed - first) % 50 == 49:
            print(f"{seed - first + 1} programs, {len(wrong)} differ", flush=True)
    print(f"{count} programs in two writings each: {len(wrong)} differ {wrong[:20]}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
