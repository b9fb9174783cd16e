"""Random C kernels, each in several writings that mean the same; and the long comparison.

    python tests/bounds/programs.py COUNT [SEED [PLAINLY]]

compares COUNT kernels with the interpreter (`interpreter.py`), every PLAINLY-th (default 4; 0:
none) also with a plain compilation, and two writings of each with each other.
"""

from __future__ import annotations

import random
import re
import sys
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bounds.interpreter import Outcome, interpret
from cyclescope.bounds import Bounds, Estimate, Resources, differences, estimate
from cyclescope.bounds._detail import waits_of
from cyclescope.c import read_c

if TYPE_CHECKING:
    from collections.abc import Callable

N = 6
BETWEEN = (2, 3)  # resources a statement, besides one and any number
INTS = ("a", "b", "a", "b", "c", "d", "w", "l")
REALS = ("x", "y", "x", "y", "f")
ARRAYS = {"a": "int", "b": "int", "c": "signed char", "d": "unsigned short", "w": "unsigned",
          "l": "long", "x": "double", "y": "double", "f": "float"}  # fmt: skip
SCALARS = {"s": "int", "t": "int", "e": "short", "o": "unsigned char", "p": "unsigned",
           "r": "long", "u": "double", "v": "float"}  # fmt: skip
WHOLE = ("s", "t", "s", "t", "e", "o", "p", "r")
ARGUMENTS: dict[str, int | float] = {"n": 5, "alpha": 0.75}
HELPERS = """
#include <math.h>
#include <stdlib.h>
struct point { int k; double w; int v[2]; };
struct pair { struct point in; short z; };
int g = 1, gi = 2;
double gd[6];
const int table[8] = {3, -1, 4, 1, -5, 9, 2, -6};
static const double weight[4] = {0.5, -1.25, 2.0};
int sq(int v) { return v * v + 1; }
int twice(int v, int w) { return v + w * 2; }
double mix(double p, double q) { double r = p * 0.5; r += 1.0; return r + q; }
float blend(float p, int q) { float r = p * 2.0f; return r - q; }
double clip(double v) { return v > -50.0 ? (v < 50.0 ? v : 50.0) : -50.0; }
void both(int *o, int *p, int q) { *o = q + 1; *p = *o * 2; }
void meet(int *o, int *p, int *q) { *o = *q + 3; *p = *q * 2; *q += 1; }
void tally(int v) { g += v; }
int upper(int v) { g = v + 1; return g * 2; }
int total(int n, int v[6]) { int s = 0; for (int h = 0; h < 3; h++) s += v[h] * n; return s; }
int pick(int c, int d) { if (c > d) return c; return d - c; }
int last(int c) { return pick(c, 3); }
int walk(int *p, int m) { int s = 0; while (m-- > 0) s += *p++; return s; }
int count(int v) { static int made = 3; made += v & 7; return made; }
void global_step(int v[6]) { for (gi = 0; gi < 4; gi++) v[gi] += gi; }
void at_global(int v[6]) { v[gi] = v[gi] * 2 + gi; }
double norm(struct point q) { return q.w * q.w + q.k; }
struct point turned(struct point q, int k) { q.k += k; q.w = q.w * 0.5; q.v[1] = q.v[0]; return q; }
void set(struct point *o, struct point q) { o->k = q.k + 1; o->w = q.w + o->w; }
int inner(struct pair *q) { q->in.k = q->z + 1; return q->in.k * q->in.v[1]; }
struct point made(int k, double w) { return (struct point){k, w, {[1] = k + 1}}; }
struct pair paired(struct point p, int z) { struct pair r = {p}; r.z = z; return r; }
void tied(struct point *o, struct point p) { o->k = p.k + 1; o->v[0] = p.k; o->w = p.w * o->k; }
void spread(struct point *o, struct point p) {
    for (int h = 0; h < 2; h++) { o->k += p.k; o->v[h] = p.v[1] + p.k; } }
void chain(int *o, int v) { *o = v * v; *o += 3; *o = *o * *o; }
int indexed(struct point *o, int k) { o->v[k] = k * 3; o->k = o->v[k] + o->v[1]; return o->k; }
double sums(struct point *q, int m) {
    double s = 0; for (int h = 0; h < m; h++, q++) s += q->w; return s; }
"""
HEAD = "void kernel(int n, double alpha, int m[6][6], struct point q[4], struct pair z[2], "
HEAD += ", ".join(f"{kind} {name}[6]" for name, kind in ARRAYS.items()) + ") {\n"
LOCALS = "int i = 0, j = 0, k = 0, h = 0, kept = 0; "
LOCALS += " ".join(f"{kind} {name} = {number};" for number, (name, kind) in
                   enumerate(SCALARS.items(), 1)) + "\n"  # fmt: skip
LOCALS += "struct point own = {1, 2.5, {3}}; struct pair mine = {{2, 0.5, {1, 2}}, 3};\n"
# Each array is read and written outside of all branches, so that it has a sink.
TAIL = "".join(f"{name}[0] = {name}[1] + {name}[2];\n" for name in ARRAYS)
TAIL += "m[0][0] = m[1][1] + s + t + e + o + p + r + kept + h + g; x[1] = u + v + own.w + mine.z;\n"
TAIL += "q[0].k = q[1].k + own.v[1]; q[0].w = q[1].w * alpha; q[0].v[0] = q[1].v[1];\n"
TAIL += "z[0].in.k = z[1].in.k; z[0].in.w = z[1].in.w; z[0].in.v[0] = z[1].in.v[1];\n"
TAIL += "z[0].z = z[1].z + mine.in.k; gd[0] = gd[1] + weight[1]; g += n;\n}\n"


@dataclass(frozen=True)
class Style:
    """The style of a program's text, where C leaves the choice."""

    braces: bool = False
    loops: str = "for"
    compound: bool = True
    twice: str = "text"  # or `macro`, or `function`
    levels: bool = False  # blocks are functions
    prefix: str = ""

    def named(self, text: str) -> str:
        """The text with its local names changed."""
        if not self.prefix:
            return text
        names = "|".join(["i", "j", "k", "h", "kept", "own", "mine", *SCALARS])
        return re.sub(rf"(?<![.>])\b({names})\b(?!\()", rf"{self.prefix}\1", text)


PLAIN = Style()
STYLES = {
    "renamed": Style(prefix="own_"),
    "braces": Style(braces=True),
    "while": Style(loops="while"),
    "do": Style(loops="do"),
    "a = a + b": Style(compound=False),
    "macros": Style(twice="macro"),
    "outlined operators": Style(twice="function"),
    "outlined blocks": Style(levels=True),
    "all": Style(True, "while", compound=False, twice="macro", levels=True, prefix="own_"),
}


class Maker:
    """Makes one kernel; the same seed makes the same in every style."""

    def __init__(self, seed: int, style: Style) -> None:
        self.random = random.Random(seed)
        self.style = style
        self.counters: list[str] = []
        self.loops = 0  # those around that `break` may leave
        self.functions = ""
        self.levels = 0
        self.only_arrays = False

    def text(self) -> str:
        """The whole program."""
        body = "".join(self.statement(2) for _ in range(self.random.randint(3, 6)))
        macro = "#define TWICE(v, w) ((v) + (w) * 2)\n" if self.style.twice == "macro" else ""
        return macro + HELPERS + self.functions + HEAD + self.style.named(LOCALS + body + TAIL)

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

    def whole_element(self) -> str:
        """An lvalue of some whole type."""
        return self.choose(
            *[lambda: self.element(INTS)] * 4,
            lambda: f"m[{self.subscript()}][{self.subscript()}]",
            lambda: f"q[{self.subscript()} & 3].k",
            lambda: f"q[{self.subscript()} & 3].v[{self.subscript()} & 1]",
            lambda: f"z[{self.subscript()} & 1].z",
            lambda: f"z[{self.random.randrange(2)}].in.v[{self.subscript()} & 1]",
            lambda: "z[1].in.k" if self.only_arrays else self.random.choice(["own.k", "mine.z"]),
        )

    def real_element(self) -> str:
        return self.choose(
            *[lambda: self.element(REALS)] * 4,
            lambda: f"q[{self.subscript()} & 3].w",
            lambda: "z[1].in.w" if self.only_arrays else "own.w",
            lambda: f"gd[{self.subscript()}]",
        )

    def integer(self, depth: int) -> str:
        leaf = (
            *[self.whole_element] * 2,
            lambda: f"table[{self.subscript()}]",
            lambda: str(self.random.randint(0, 9)),
            *([lambda: self.random.choice([*WHOLE, "i", "j", "k", "n", "g"])] * 2
              if not self.only_arrays else [lambda: "g"]),
        )  # fmt: skip
        if depth == 0:
            return self.choose(*leaf)
        return self.choose(
            *leaf,
            lambda: f"({self.integer(depth - 1)} {self.operator()} {self.integer(depth - 1)})",
            lambda: f"({self.integer(depth - 1)} {self.operator()} {self.integer(depth - 1)})",
            lambda: f"({self.integer(depth - 1)} % {self.random.randint(2, 9)})",
            lambda: f"({self.integer(0)} {self.random.choice(['<<', '>>'])} "
                    f"{self.random.randint(1, 5)})",
            lambda: f"({self.condition()} ? {self.integer(depth - 1)} : {self.integer(depth - 1)})",
            lambda: f"sq({self.integer(depth - 1)})",
            lambda: f"{self.random.choice('-~!')}({self.integer(depth - 1)})",
            lambda: f"(int)clip({self.real(0)})",
            lambda: f"({self.random.choice(['signed char', 'unsigned short', 'long'])})"
                    f"({self.integer(depth - 1)})",
            lambda: self.twice(depth),
        )  # fmt: skip

    def twice(self, depth: int) -> str:
        v, w = (f"(int)({self.integer(depth - 1)})" for _ in range(2))
        match self.style.twice:
            case "macro":
                return f"TWICE({v}, {w})"
            case "function":
                return f"twice({v}, {w})"
        return f"(({v}) + ({w}) * 2)"

    def operator(self) -> str:
        return self.random.choice(["+", "-", "*", "&", "|", "^"])

    def condition(self) -> str:
        op = self.random.choice(["<", ">", "==", "!=", "<=", ">="])
        simple = f"{self.integer(1)} {op} {self.integer(0)}"
        if self.random.random() < 0.2:
            joint = self.random.choice(["&&", "||"])
            return f"({simple} {joint} {self.integer(0)} > 2)"
        if self.random.random() < 0.1:
            return f"({self.real(0)} {self.random.choice(['<', '>='])} {self.real(0)})"
        return f"({simple})"

    def real(self, depth: int) -> str:
        leaf = (
            self.real_element,
            lambda: f"{self.random.randint(1, 9)}.5{self.random.choice(['', '', 'f'])}",
            lambda: f"weight[{self.random.randrange(4)}]",
            *([lambda: self.random.choice(["u", "v", "alpha"])] * 2 if not self.only_arrays
              else []),
        )  # fmt: skip
        if depth == 0:
            return self.choose(*leaf)
        return self.choose(
            *leaf,
            *[lambda: f"({self.real(depth - 1)} {self.random.choice('+-*')} "
                      f"{self.real(depth - 1)})"] * 2,
            lambda: f"({self.real(depth - 1)} / 3.0)",
            lambda: f"({self.real(depth - 1)} / {self.random.randint(2, 5)}.0f)",
            lambda: f"mix({self.real(depth - 1)}, {self.integer(0)})",
            lambda: f"blend({self.real(0)}, {self.integer(0)})",
            lambda: f"({self.condition()} ? {self.real(depth - 1)} : {self.real(0)})",
            lambda: f"(double)({self.integer(depth - 1)})",
            lambda: f"-{self.real(0)}",
            lambda: f"norm(q[{self.subscript()} & 3])",
            lambda: self.library(depth),
        )  # fmt: skip

    def library(self, depth: int) -> str:
        value = self.real(depth - 1)
        return self.choose(
            lambda: f"sqrt(fabs({value}))",
            lambda: f"sqrtf(fabsf({value}))",
            lambda: f"fmin({value}, {self.real(0)})",
            lambda: f"fmaxf({value}, {self.real(0)})",
            lambda: f"floor({value})",
            lambda: f"exp(clip({value}) * 0.1)",
            lambda: f"sin(clip({value}))",
            lambda: f"cosf(clip({value}))",
            lambda: f"pow(clip({value}) + 60.0, 0.5)",
            lambda: f"abs({self.integer(0)})",
        )

    # -- statements ----------------------------------------------------------------------------

    def block(self, statements: str) -> str:
        many = statements.count("\n") > 1
        return f"{{\n{statements}}}\n" if many or self.style.braces else statements

    def updated(self, target: str, op: str, value: str) -> str:
        if self.style.compound:
            return f"{target} {op}= {value};\n"
        return f"{target} = {target} {op} ({value});\n"

    def of_arrays(self) -> tuple[Callable[[], str], ...]:
        """Statements that name no variable of the kernel's own."""
        return (
            *[lambda: f"{self.whole_element()} = {self.integer(2)};\n"] * 2,
            *[lambda: f"{self.real_element()} = {self.real(2)};\n"] * 2,
            lambda: self.updated(self.element(INTS), self.random.choice("+-*^"), self.integer(1)),
            lambda: self.updated(self.element(REALS), self.random.choice("+*"), self.real(1)),
            lambda: f"both(&a[{self.subscript()}], &b[{self.subscript()}], {self.integer(1)});\n",
            lambda: f"meet(&a[{self.subscript()}], &{self.random.choice('ab')}"
                    f"[{self.subscript()}], &b[{self.subscript()}]);\n",
            lambda: f"b[{self.subscript()}] = pick({self.integer(1)}, {self.integer(0)}) + 1;\n",
            lambda: f"tally({self.integer(1)});\n",
            lambda: f"{self.random.choice('ad')}[{self.random.randrange(N)}] = "
                    f"{self.random.choice(['upper', 'last', 'count'])}({self.integer(1)});\n",
            lambda: f"at_global({self.random.choice('ab')});\n",
            lambda: f"q[{self.subscript()} & 3] = q[{self.subscript()} & 3];\n",
            lambda: f"q[{self.subscript()} & 3] = turned(q[{self.subscript()} & 3], "
                    f"{self.integer(0)});\n",
            lambda: f"set(&q[{self.subscript()} & 3], q[{self.subscript()} & 3]);\n",
            lambda: f"a[{self.subscript()}] = inner(&z[{self.subscript()} & 1]);\n",
            lambda: f"z[{self.random.randrange(2)}].in = q[{self.subscript()} & 3];\n",
            lambda: f"{self.struct()} = made({self.integer(1)}, {self.real(0)});\n",
            self.listed,
            lambda: f"{self.struct()} = {self.condition()} ? {self.struct()} "
                    f": {self.struct()};\n",
            lambda: f"z[{self.random.randrange(2)}] = paired({self.struct()}, "
                    f"{self.integer(0)});\n",
            lambda: f"{self.random.choice(['tied', 'spread'])}"
                    f"(&{self.struct()}, {self.struct()});\n",
            self.tied_to_itself,
            lambda: f"chain(&{self.random.choice('ab')}[{self.subscript()}], {self.integer(1)});\n",
            lambda: f"a[{self.subscript()}] = indexed(&{self.struct()}, {self.integer(0)} & 1);\n",
            lambda: f"b[{self.subscript()}] = pick(last({self.integer(0)}), "
                    f"pick({self.integer(0)}, {self.integer(1)}));\n",
        )  # fmt: skip

    def struct(self) -> str:
        return f"q[{self.subscript()} & 3]"

    def listed(self) -> str:
        one, other = self.struct(), self.struct()
        return f"{one} = (struct point){{{other}.v[0], {self.real(1)}, {{{one}.k}}}};\n"

    def tied_to_itself(self) -> str:
        """A struct by value, and its address."""
        at = self.struct()
        return f"{self.random.choice(['tied', 'spread'])}(&{at}, {at});\n"

    def of_variables(self) -> tuple[Callable[[], str], ...]:
        free = [c for c in "ijk" if c not in self.counters]
        return (
            lambda: self.updated(self.random.choice("st"), "+", self.integer(1)),
            lambda: self.updated(self.random.choice("eopr"), self.random.choice("+-*|"),
                                 self.integer(1)),
            lambda: self.updated("u", self.random.choice("+*"), self.real(1)),
            lambda: self.updated("v", "+", self.real(1)),
            lambda: f"{self.random.choice(WHOLE)} = {self.integer(2)};\n",
            lambda: f"{self.random.choice('uv')} = {self.real(2)};\n",
            lambda: f"t = total({self.integer(0)}, {self.random.choice('ab')});\n",
            lambda: f"s = (t = {self.integer(1)}) + 1;\n",
            lambda: f"{self.element(INTS)} = kept = {self.integer(1)};\n",
            lambda: f"{self.random.choice('ab')}[h++ & 3] = {self.integer(1)};\n",
            lambda: f"s = walk({self.random.choice('ab')} + {self.random.randrange(3)}, "
                    f"{self.random.choice(['3', 'n - 2', '(t & 3)'])});\n",
            lambda: f"u = sums({self.random.choice(['q', 'q + 1'])}, 3);\n",
            lambda: f"own = {self.random.choice(['q', 'q'])}[{self.subscript()} & 3];\n",
            lambda: f"own = turned(own, {self.integer(0)});\n",
            lambda: f"own = turned(turned(own, 2), {self.integer(0)});\n",
            lambda: f"own = {self.condition()} ? own : {self.struct()};\n",
            lambda: f"own = (struct point){{own.v[1], {self.real(0)}, {{own.k}}}};\n",
            lambda: f"tied(&own, {self.random.choice(['own', self.struct()])});\n",
            lambda: f"{self.element(INTS)} = {self.condition()} ? s++ : --t;\n",
            lambda: f"set(&own, q[{self.subscript()} & 3]);\n",
            lambda: f"{{ mine.in = own; mine.z = {self.integer(0)}; }}\n",
            lambda: f"z[{self.random.randrange(2)}] = mine;\n",
            lambda: f"{self.random.choice(free)} = {self.integer(1)} & 3;\n" if free else ";\n",
            self.pointers,
            self.local_array,
        )  # fmt: skip

    def pointers(self) -> str:
        """A block with a pointer of its own."""
        array, other = self.random.choice("ab"), self.random.choice("ab")
        at, to = self.random.choice(["1", "n - 3", "(s & 3)", *self.counters]), self.integer(1)
        return self.choose(
            lambda: f"{{ int *to = {array}; for (int f_ = 0; f_ < 4; f_++) *to++ += {to}; }}\n",
            lambda: f"{{ int *to = {array}, *from = {other} + 1; int f_ = 0;\n"
                    f"do *to++ = *from++ * 2; while (++f_ < 4); }}\n",
            lambda: f"for (int *to = {array}; to < {array} + n; to++) *to ^= {to};\n",
            lambda: f"{{ int *to = &{array}[{at}]; *to = {to}; to[0] += {other}[1]; }}\n",
            lambda: f"{{ int *to = {self.condition()} ? {array} : {other}; to[1] = {to};\n"
                    f"to += {self.integer(0)} & 3; *to -= 1; kept = to - {array} < 2; }}\n"
                    if array == other else
                    f"{{ int *to = {self.condition()} ? {array} : {other}; to[1] = {to};\n"
                    f"to += {self.integer(0)} & 3; *to -= 1; }}\n",
            lambda: f"{{ struct point *to = &q[{at} & 3]; to->k += {to}; to->v[1] = to->k; }}\n",
            lambda: f"{{ struct point *to = q; for (int f_ = 0; f_ < 3; f_++, to++)\n"
                    f"to->w = to[1].w + {self.real(0)}; }}\n",
            lambda: f"{{ int *rows[2] = {{a, b}}; rows[{self.integer(0)} & 1][2] = {to}; }}\n",
            lambda: f"{{ int (*row)[6] = m + 1; row[1][{at}] = row[0][2] + 1; }}\n",
            lambda: f"s = walk(&{array}[{at}], {self.integer(0)} & 1);\n",
        )  # fmt: skip

    def local_array(self) -> str:
        """A block with an array of its own, which begins anew each time."""
        first = self.random.choice(["0", "1, 2", f"{self.integer(0)}, 5", f"3, {self.integer(1)}"])
        return (
            f"{{ int w_[4] = {{{first}}}; w_[{self.subscript()} & 3] += {self.integer(1)};\n"
            f"for (int f_ = 0; f_ < 3; f_++) w_[f_ + 1] += w_[f_]; s = w_[3]; }}\n"
        )

    def statement(self, depth: int) -> str:
        simple = self.of_arrays()
        if not self.only_arrays:
            simple += self.of_variables()
        if depth == 0 or (depth < 2 and self.random.random() < 0.5):
            return self.choose(*simple)
        return self.choose(
            *simple,
            *[lambda: self.loop(depth)] * 16,
            *[lambda: self.branch(depth)] * 5,
            *[lambda: self.level(depth)] * 3,
        )

    def level(self, depth: int) -> str:
        """A block of statements on arrays; or a function that is called here alone."""
        if self.only_arrays:
            return self.statement(depth - 1)
        before = self.counters, self.loops
        self.only_arrays, self.loops = True, 0
        body = "".join(self.statement(depth - 1) for _ in range(self.random.randint(1, 2)))
        self.only_arrays, (self.counters, self.loops) = False, before
        self.levels += 1
        counters = [c for c in "ijk" if c in self.counters]
        if not self.style.levels:
            free = [c for c in "ijk" if c not in self.counters]
            return f"{{ int {', '.join(f'{c} = 0' for c in free)};\n{body}}}\n" if free else (
                f"{{\n{body}}}\n"
            )  # fmt: skip
        free = [c for c in "ijk" if c not in self.counters]
        arrays = ["m", "q", "z", *ARRAYS]
        formals = ["int m[6][6]", "struct point q[4]", "struct pair z[2]"]
        formals += [f"{kind} {name}[6]" for name, kind in ARRAYS.items()]
        formals += [f"int {c}" for c in counters]
        own = f"int {', '.join(f'{c} = 0' for c in free)};\n" if free else ""
        self.functions += f"void level{self.levels}({', '.join(formals)}) {{\n{own}{body}}}\n"
        return f"level{self.levels}({', '.join([*arrays, *counters])});\n"

    def branch(self, depth: int) -> str:
        if self.random.random() < 0.3:
            loops, self.loops = self.loops, 0
            cases = ["0", "1", self.random.choice(["2", "2", "2 ... 5"])]
            sections = "".join(
                f"case {values}: {self.statement(0)}{self.random.choice(['', 'break;'])}\n"
                for values in cases
            )
            test = self.integer(1)
            last = self.statement(0)
            self.loops = loops
            return f"switch ({test} & 3) {{\n{sections}default: {last}}}\n"
        if self.loops and self.random.random() < 0.3:
            jump = self.random.choice(["break;", "break;", f"continue_{self.counters[-1]};"])
            return f"if ({self.condition()}) {jump}\n"
        text = f"if ({self.condition()}) {self.block(self.statement(depth - 1))}"
        if self.random.random() < 0.5:
            # An `else` without braces would belong to an `if` inside.
            text = f"if ({self.condition()}) {{\n{self.statement(depth - 1)}}}\n"
            text += f"else {self.block(self.statement(depth - 1))}"
        return text

    def loop(self, depth: int) -> str:
        left = [c for c in "ijk" if c not in self.counters]
        if not left:
            return self.statement(0)
        if not self.only_arrays and self.random.random() < 0.06:
            call = self.random.choice(["at_global(a)", "at_global(b)", "global_step(a)"])
            if call == "global_step(a)":
                return f"{call};\n"
            return f"for (gi = 0; gi < 4; gi++) {{ {call}; b[gi] = {self.integer(0)}; }}\n"
        v = self.random.choice(left)
        low, high = self.random.choice([0, 0, 1]), self.random.choice(["3", "4", str(N), "n"])
        if self.only_arrays and high == "n":
            high = "5"
        triangular = bool(self.counters) and self.random.random() < 0.3
        low_text = self.counters[-1] if triangular else str(low)
        begins = self.random.random()
        if begins < 0.1:
            low_text, triangular = f"({self.integer(0)} & 3)", True
        step = self.random.choice([1, 1, 2])
        data = self.random.random() < 0.15
        self.counters.append(v)
        self.loops += 1
        body = "".join(self.statement(depth - 1) for _ in range(self.random.randint(1, 2)))
        self.loops -= 1
        self.counters.pop()
        # A step that depends on data makes it a variable like any other.
        by = f"1 + ({self.integer(0)} & 1)" if data else str(step)
        stepped = f"{v} += {by}" if self.style.compound else f"{v} = {v} + ({by})"
        if step == 1 and not data and self.style.compound:
            stepped = f"{v}++"
        again = f"continue_{v};"
        if self.style.loops == "for" or (data and again in body):
            body = body.replace(again, "continue;")
            return f"for ({v} = {low_text}; {v} < {high}; {stepped}) {self.block(body)}"
        body = body.replace(again, f"{{ {stepped}; continue; }}")
        if self.style.loops == "do" and not triangular:
            return f"{v} = {low_text};\ndo {{\n{body}{stepped};\n}} while ({v} < {high});\n"
        return f"{v} = {low_text};\nwhile ({v} < {high}) {{\n{body}{stepped};\n}}\n"


def program(seed: int, style: Style = PLAIN) -> str:
    """The text of the kernel of a seed."""
    return Maker(seed, style).text()


SHAPES = {"m": (N, N), "q.k": (4,), "q.w": (4,), "q.v": (4, 2), "z.in.k": (2,), "z.in.w": (2,),
          "z.in.v": (2, 2), "z.z": (2,), "gd": (N,)}  # fmt: skip


def contents(seed: int) -> dict[str, list[int | float]]:
    """The contents of its arrays, row after row."""
    numbers = random.Random(seed ^ 0x5EED)
    made: dict[str, list[int | float]] = {}
    for name, shape in {**SHAPES, **dict.fromkeys(ARRAYS, (N,))}.items():
        size = shape[0] * (shape[1] if len(shape) > 1 else 1)
        real = ARRAYS.get(name, "") in ("double", "float") or name.split(".")[-1] in ("w", "gd")
        unsigned = name in ("d", "w")
        low = 0 if unsigned else -9
        made[name] = [
            numbers.randint(-40, 40) / 8 if real and name != "w" else numbers.randint(low, 9)
            for _ in range(size)
        ]
    return made


def nested(data: dict[str, list[int | float]]) -> dict[str, list[Any]]:
    """The same as lists of rows."""
    return {
        name: [values[r * SHAPES[name][1] : (r + 1) * SHAPES[name][1]]
               for r in range(SHAPES[name][0])]
        if len(SHAPES.get(name, ())) > 1 else values
        for name, values in data.items()
    }  # fmt: skip


def compared(seed: int, style: Style = PLAIN, *, plainly: bool = False) -> Bounds:
    """The engine's bounds of a kernel, equal to the interpreter's in everything.

    `plainly`: the values are compared with those of a plain compilation, too.
    """
    text, data = program(seed, style), contents(seed)
    found = estimate(
        "k.c", text=text, kernel="kernel", data=nested(data), arguments=ARGUMENTS,
        detail=True, values=True, verify=plainly, resources=Resources(BETWEEN),
    )  # fmt: skip
    if plainly:
        assert differences(found) == []
    given = data | {name: [value] for name, value in ARGUMENTS.items()}
    unit = read_c("k.c", text=text)
    wanted = interpret(unit, "kernel", given)
    same(found, wanted)
    between = interpret(unit, "kernel", given, BETWEEN, wanted.inputs)
    for e, point in enumerate(found.curve):
        same_starts(found, point, between, e)
    return found


def figures(found: Bounds) -> tuple[int, int, int]:
    """The figures that no way of writing may change."""
    return found.absolute.cycles, found.unbounded.cycles, found.firings


def same_starts(found: Bounds, estimated: Estimate, wanted: Outcome, e: int) -> None:
    """Assert that an estimate has the starts and the total of the interpreter's `e`-th."""
    starts: dict[Any, Counter[int]] = defaultdict(Counter)
    for row in estimated.firings:
        for t, n in enumerate(estimated.starts(row.process).tolist()):
            if n:
                starts[_key(found, row.process)][t] += n
    expected = {key: one[e] for key, one in wanted.starts.items()}
    wrong = {
        key: (starts.get(key), expected.get(key))
        for key in starts.keys() | expected.keys()
        if starts.get(key) != expected.get(key)
    }
    assert not wrong, f"{estimated.name}: {len(wrong)} processes, {_first(wrong)}"
    assert estimated.cycles == wanted.cycles[e]


def same(found: Bounds, wanted: Outcome) -> None:
    """Assert that engine and interpreter agree: values, totals, every firing's start, path sums."""
    for name, values in wanted.arrays.items():
        if name in found.values:  # else the kernel leaves it alone
            assert repr(found.values[name].ravel().tolist()) == repr(values), name
    for e, estimated in enumerate(found.estimates):
        same_starts(found, estimated, wanted, e)
        waits: dict[Any, list[int]] = defaultdict(lambda: [0, 0])
        for wait in waits_of(found, estimated):
            own_waits = waits[_key(found, wait.process)]
            own_waits[0] += wait.resource
            own_waits[1] += sum(cycles for cycles, _ in wait.operands)
        for key, expected in wanted.waits.items():
            if not str(key).startswith("source "):
                assert waits[key] == expected[2 * e : 2 * e + 2], (key, estimated.name)
        assert found.detail is not None
        path = found.detail.critical_path[estimated.name]
        assert sum(step.cycles for step in path) == estimated.cycles


def _first(wrong: dict[Any, Any]) -> str:
    key = min(wrong, key=lambda k: min([*(wrong[k][0] or [1 << 40]), *(wrong[k][1] or [1 << 40])]))
    return f"{key}: engine {wrong[key][0]}, interpreter {wrong[key][1]}"


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
    plainly = int(sys.argv[3]) if len(sys.argv) > 3 else 4
    styles = list(STYLES)
    wrong = []
    for seed in range(first, first + count):
        style = styles[seed % len(styles)]
        try:
            one = compared(seed, plainly=plainly > 0 and seed % plainly == 0)
            other = compared(seed, STYLES[style])
            pair = figures(one), figures(other)
            assert pair[0] == pair[1], f"plain and {style}: {pair}"
        except Exception as error:  # noqa: BLE001 - any difference is what is looked for
            wrong.append(seed)
            print(f"seed {seed} ({style}): {type(error).__name__}: {str(error)[:400]}", flush=True)
        if (seed - first) % 50 == 49:
            print(f"{seed - first + 1} kernels, {len(wrong)} differ", flush=True)
    print(f"{count} kernels in two writings each: {len(wrong)} differ {wrong[:20]}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
