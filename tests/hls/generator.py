"""Random C programs within what the compiler supports, free of undefined behaviour.

A program is a body that each of a team's threads executes with its number in `me`; it reads
shared inputs, works on variables and arrays of its own, and writes its own part of the outputs.
Threads meet in critical sections and atomics, at barriers, in shared loops and their reductions,
always so that their order changes nothing. The same text runs natively and as hardware.
"""

from __future__ import annotations

import random
import struct
from dataclasses import dataclass, field

__all__ = [
    "JOINED", "OUT", "OUTS", "SIZE", "Kernel", "device_text", "generate", "inputs", "native_text",
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
JOINED = {"total": "uint32_t", "sum": "int64_t", "low": "int16_t", "high": "uint64_t"}
VECTORS = {
    "float2": ("float", 2), "float4": ("float", 4), "float8": ("float", 8),
    "double2": ("double", 2), "double4": ("double", 4), "uint2": ("uint32_t", 2),
    "uint4": ("uint32_t", 4), "ulong2": ("uint64_t", 2), "ushort8": ("uint16_t", 8),
    "uchar16": ("uint8_t", 16), "uchar4": ("uint8_t", 4),
}  # fmt: skip
HEAD = """\
#include <stdint.h>
#include <math.h>
#include <omp.h>
""" + "".join(
    f"typedef {kind} {name} __attribute__((vector_size({lanes} * sizeof({kind}))));\n"
    for name, (kind, lanes) in VECTORS.items()
)


@dataclass
class Kernel:
    """A random program: its helper functions and its threads' body."""

    seed: int
    functions: str
    body: str


def _unsigned(kind: str) -> str:
    return kind if kind.startswith("u") else f"u{kind}"


def _bits(kind: str) -> int:
    return {"float": 32, "double": 64}.get(kind) or int("".join(c for c in kind if c.isdigit()))


@dataclass
class _Scope:
    variables: dict[str, str] = field(default_factory=dict)
    fixed: set[str] = field(default_factory=set)
    locals: dict[str, tuple[str, int]] = field(default_factory=dict)
    vectors: dict[str, str] = field(default_factory=dict)
    tables: dict[str, tuple[str, int, int]] = field(default_factory=dict)  # of two dimensions

    def inner(self) -> _Scope:
        return _Scope(
            dict(self.variables), set(self.fixed), dict(self.locals), dict(self.vectors),
            dict(self.tables),
        )  # fmt: skip


class _Generator:
    def __init__(self, seed: int) -> None:
        self.r = random.Random(seed)
        self.seed = seed
        self.count = 0
        self.functions: list[tuple[str, str, list[str]]] = []
        self.in_function = False
        self.loops = 0
        self.jumps = True
        self.lines: list[str] = []

    def name(self, base: str) -> str:
        self.count += 1
        return f"{base}{self.count}"

    # Expressions

    def index(self, scope: _Scope, size: int, depth: int) -> str:
        return f"(({self.expr(scope, 'uint32_t', depth)}) & {size - 1})"

    def literal(self, kind: str) -> str:
        r = self.r
        if kind in FLOATS:
            value = r.choice([0.0, 1.0, -1.0, 0.5, 3.25, -7.75, 1e-3, 123456.0, r.uniform(-9, 9)])
            return f"{value!r}{'f' if kind == 'float' else ''}"
        bits = _bits(kind)
        value = r.choice([0, 1, 2, 3, 7, r.randrange(1 << min(bits - 1, 8)), (1 << (bits - 1)) - 1])
        if kind.startswith("int") and r.random() < 0.3:
            value = -value
        return f"(({kind}){value}{'ll' if bits == 64 else ''})"

    def leaf(self, scope: _Scope, kind: str) -> str:
        r = self.r
        choices = [n for n, t in scope.variables.items() if t == kind]
        if choices and r.random() < 0.75:
            return r.choice(choices)
        other = [n for n, t in scope.variables.items() if t in INTEGERS]
        if kind in INTEGERS and other and r.random() < 0.5:
            return f"(({kind}){r.choice(other)})"
        return self.literal(kind)

    def expr(self, scope: _Scope, kind: str, depth: int) -> str:
        if depth <= 0 or self.r.random() < 0.15:
            return self.leaf(scope, kind)
        if kind in FLOATS:
            return self.floating(scope, kind, depth - 1)
        return self.integer(scope, kind, depth - 1)

    def integer(self, scope: _Scope, kind: str, depth: int) -> str:
        r = self.r
        choice = r.randrange(15)
        u, bits = _unsigned(kind), _bits(kind)
        if choice < 4:
            a, b = self.expr(scope, kind, depth), self.expr(scope, kind, depth)
            wide = "uint64_t" if bits == 64 else "uint32_t"
            return f"(({kind})(({wide})({a}) {r.choice('+-*')} ({wide})({b})))"
        if choice < 6:
            a, b = self.expr(scope, kind, depth), self.expr(scope, kind, depth)
            return f"(({kind})(({a}) {r.choice('&|^')} ({b})))"
        if choice == 6:
            a, b = self.expr(scope, kind, depth), self.expr(scope, "uint32_t", depth)
            return f"(({kind})(({u})({a}) << (({b}) & {bits - 1})))" if r.random() < 0.5 else (
                f"(({kind})(({a}) >> (({b}) & {bits - 1})))"
            )  # fmt: skip
        if choice == 7:
            name = self.leaf(scope, kind)
            divisor = (
                self.expr(scope, kind, 0) if r.random() < 0.5 else str(r.choice([2, 3, 8, 10]))
            )
            return f"(({kind})(({divisor}) > 0 ? ({name}) {r.choice('/%')} ({divisor}) : ({name})))"
        if choice == 8:
            return f"(({kind})({r.choice('-~!')}({self.expr(scope, u, depth)})))"
        if choice == 9:
            other = r.choice(INTEGERS + FLOATS)
            a, b = self.expr(scope, other, depth), self.expr(scope, other, depth)
            return f"(({kind})(({a}) {r.choice(['<', '<=', '>', '>=', '==', '!='])} ({b})))"
        if choice == 10:
            return self.ternary(scope, kind, depth)
        if choice == 11:
            return f"(({kind})({self.expr(scope, r.choice(INTEGERS), depth)}))"
        if choice == 12 and depth > 0:
            other = r.choice(FLOATS)
            name = self.expr(scope, other, 1)
            return f"(({kind})(({name}) > -100 && ({name}) < 100 ? (int)({name}) : 5))"
        if choice == 14 and r.random() < 0.3:
            return f"(({kind})(_Bool)({self.expr(scope, r.choice(INTEGERS + FLOATS), depth)}))"
        if choice == 14 and r.random() < 0.5:
            return self.lane(scope, kind, depth)
        if choice == 13:
            a, b = self.condition(scope, depth), self.condition(scope, depth)
            return f"(({kind})({a} {r.choice(['&&', '||'])} {b}))"
        return self.memory(scope, kind, depth)

    def floating(self, scope: _Scope, kind: str, depth: int) -> str:
        r = self.r
        choice = r.randrange(10)
        if choice < 4:
            a, b = self.expr(scope, kind, depth), self.expr(scope, kind, depth)
            return f"(({a}) {r.choice('+-*/')} ({b}))"
        if choice == 9:
            # Of zeros with different signs and of NaNs, C leaves open which one is chosen.
            a, b = (f"{self.expr(scope, kind, depth)}" for _ in range(2))
            test = f"({a}) < ({b}) || ({a}) > ({b})"
            word = r.choice(["fmin", "fmax"]) + ("f" if kind == "float" else "")
            return f"({test} ? {word}({a}, {b}) : ({a}))" if len(a + b) < 160 else f"({a})"
        if choice == 4:
            suffix = "f" if kind == "float" else ""
            inner = self.expr(scope, kind, depth)
            if r.random() < 0.5:
                return f"fabs{suffix}({inner})"
            return f"sqrt{suffix}(fabs{suffix}({inner}))"
        if choice == 5:
            return f"(({kind})({self.expr(scope, r.choice(INTEGERS), depth)}))"
        if choice == 6:
            return self.ternary(scope, kind, depth)
        if choice == 7:
            return self.lane(scope, kind, depth)
        if choice == 8:
            other = "double" if kind == "float" else "float"
            return f"(({kind})({self.expr(scope, other, depth)}))"
        return self.memory(scope, kind, depth)

    def lane(self, scope: _Scope, kind: str, depth: int) -> str:
        r = self.r
        fit = [n for n, t in scope.vectors.items() if (VECTORS[t][0] in FLOATS) <= (kind in FLOATS)]
        if not fit:
            return self.leaf(scope, kind)
        name = r.choice(fit)
        lanes = VECTORS[scope.vectors[name]][1]
        lane = self.index(scope, lanes, depth) if r.random() < 0.3 else str(r.randrange(lanes))
        return f"(({kind}){name}[{lane}])"

    def ternary(self, scope: _Scope, kind: str, depth: int) -> str:
        test = self.condition(scope, depth)
        a, b = self.expr(scope, kind, depth), self.expr(scope, kind, depth)
        return f"({test} ? ({a}) : ({b}))"

    def condition(self, scope: _Scope, depth: int) -> str:
        kind = self.r.choice(INTEGERS + FLOATS)
        a, b = self.expr(scope, kind, depth), self.expr(scope, kind, depth)
        return f"(({a}) {self.r.choice(['<', '<=', '>', '>=', '==', '!='])} ({b}))"

    def memory(self, scope: _Scope, kind: str, depth: int) -> str:
        r = self.r
        choice = r.random()
        if choice < 0.1 and scope.tables:
            name, (own, rows, columns) = r.choice(list(scope.tables.items()))
            if (own in FLOATS) <= (kind in FLOATS):
                row, column = (self.index(scope, n, min(depth, 1)) for n in (rows, columns))
                return f"(({kind}){name}[{row}][{column}])"
        if choice < 0.4 and scope.locals:
            name, (_, size) = r.choice(list(scope.locals.items()))
            return f"(({kind}){self.guarded(scope, name, size, depth, kind)})"
        if choice < 0.5 and self.functions and not self.in_function:
            name, result, params = r.choice(self.functions)
            given = ", ".join(self.expr(scope, p, min(depth, 1)) for p in params)
            if result in INTEGERS or kind in FLOATS:
                return f"(({kind}){name}({given}))"
        if choice < 0.65 and not self.in_function:
            name = r.choice([n for n, t in OUTS.items() if (t in FLOATS) <= (kind in FLOATS)])
            return f"(({kind}){name}[me * {OUT} + {self.index(scope, OUT, depth)}])"
        if self.in_function:
            return self.leaf(scope, kind)
        name = r.choice([n for n, t in ARRAYS.items() if (t in FLOATS) <= (kind in FLOATS)])
        return f"(({kind}){name}[{self.index(scope, SIZE, depth)}])"

    def guarded(self, scope: _Scope, name: str, size: int, depth: int, kind: str) -> str:
        own = scope.locals[name][0]
        if own in FLOATS and kind in INTEGERS:
            return self.literal(kind)
        return f"{name}[{self.index(scope, size, depth)}]"

    # Statements

    def block(self, scope: _Scope, depth: int, count: int, indent: int) -> None:
        for _ in range(count):
            self.statement(scope, depth, indent)

    def say(self, indent: int, text: str) -> None:
        self.lines.append("  " * indent + text)

    def statement(self, scope: _Scope, depth: int, indent: int) -> None:
        r = self.r
        choice = r.random()
        if choice < 0.2:
            self.declare(scope, indent)
        elif choice < 0.5:
            self.assign(scope, indent)
        elif choice < 0.62 and not self.in_function:
            self.output(scope, indent)
        elif choice < 0.75 and depth > 0:
            self.say(indent, f"if ({self.condition(scope, 2)}) {{")
            self.block(scope.inner(), depth - 1, r.randint(1, 3), indent + 1)
            if r.random() < 0.5:
                self.say(indent, "} else {")
                self.block(scope.inner(), depth - 1, r.randint(1, 3), indent + 1)
            self.say(indent, "}")
        elif choice < 0.79 and depth > 0:
            self.switch(scope, depth, indent)
        elif choice < 0.92 and depth > 0 and self.loops < 3:
            self.loop(scope, depth, indent)
        elif self.in_function and r.random() < 0.3:
            self.say(indent, f"if ({self.condition(scope, 1)}) return {self.result(scope)};")
        elif self.loops and self.jumps and r.random() < 0.5:
            word = r.choice(["break", "continue"])
            self.say(indent, f"if ({self.condition(scope, 1)}) {word};")
        elif not self.in_function and r.random() < 0.4:
            # Only one of them in a program: they don't exclude each other.
            directive = ("critical", "atomic")[self.seed % 2]
            self.say(0, f"#pragma omp {directive}")
            self.say(indent, f"total += (uint32_t)({self.expr(scope, 'uint32_t', 1)});")
        else:
            self.assign(scope, indent)

    def switch(self, scope: _Scope, depth: int, indent: int) -> None:
        r = self.r
        self.say(indent, f"switch (({self.expr(scope, r.choice(INTEGERS), 2)}) & 7) {{")
        values = r.sample(range(8), r.randint(1, 4))
        default = r.randrange(2 * len(values))
        for position, value in enumerate(values):
            self.say(indent, f"case {value}:" + (" default:" if position == default else ""))
            if r.random() < 0.8:
                self.say(indent + 1, "{")
                self.block(scope.inner(), depth - 1, r.randint(1, 2), indent + 1)
                self.say(indent + 1, "}")
            if r.random() < 0.6 or position == len(values) - 1:
                self.say(indent + 1, "break;")
        self.say(indent, "}")

    def team(self, scope: _Scope, indent: int) -> None:
        """All threads together: a word handed on, or a shared loop."""
        r = self.r
        if r.random() < 0.4:
            self.say(indent, f"given[me] = {self.expr(scope, 'uint32_t', 2)};")
            self.say(0, "#pragma omp barrier")
            name = self.name("v")
            self.say(indent, f"uint32_t {name} = given[(me + 1) % omp_get_num_threads()];")
            self.say(0, "#pragma omp barrier")
            scope.variables[name] = "uint32_t"
            return
        given = r.choice(["", "static", "static, 1", "static, 3"])
        schedule = f" schedule({given})" if given else ""
        i, k = self.name("i"), self.name("i")
        inner = scope.inner()
        inner.variables |= {i: "int32_t", k: "int32_t"}
        inner.fixed |= {i, k}
        first, step = r.randrange(3), r.choice(["++", " += 1", " += 2", " += 3"])
        collapsed = r.random() < 0.25
        if collapsed:
            schedule = " collapse(2)"
        self.say(0, f"#pragma omp for{schedule} reduction(+: sum) reduction(min: low)"
                 f" reduction(max: high)")  # fmt: skip
        end = r.choice([7, 16, 23])
        self.say(indent, f"for (int32_t {i} = {first}; {i} < {end}; {i}{step})")
        if collapsed:
            self.say(indent, f"for (int32_t {k} = 5; {k} >= {r.randrange(6)}; {k}--)")
        else:
            inner.variables.pop(k)
        self.say(indent, "{")
        self.loops += 3  # no loops inside
        self.jumps = False
        self.block(inner, 1, r.randint(0, 2), indent + 1)
        self.jumps = True
        self.loops -= 3
        self.say(indent + 1, f"sum += {self.expr(inner, 'int32_t', 2)};")
        for word, test, kind in (("low", "<", "int16_t"), ("high", ">", "uint64_t")):
            if r.random() < 0.6:
                name = self.name("v")
                self.say(indent + 1, f"{kind} {name} = {self.expr(inner, kind, 2)};")
                self.say(indent + 1, f"{word} = {name} {test} {word} ? {name} : {word};")
        self.say(indent, "}")

    def result(self, scope: _Scope) -> str:
        return self.expr(scope, self.functions[-1][1], 1)

    def declare(self, scope: _Scope, indent: int) -> None:
        r = self.r
        choice = r.random()
        if choice < 0.15 and not self.in_function:
            kind, size = r.choice(INTEGERS + FLOATS), r.choice([4, 8, 16])
            name = self.name("a")
            self.say(indent, f"{kind} {name}[{size}];")
            i = self.name("i")
            if r.random() < 0.5:
                self.say(0, "#pragma unroll")
            self.say(indent, f"for (int {i} = 0; {i} < {size}; {i}++)")
            self.say(indent + 1, f"{name}[{i}] = ({kind})({i} * 3 + me);")
            scope.locals[name] = (kind, size)
        elif choice < 0.3:
            name = self.name("w")
            sort = r.choice(list(VECTORS))
            kind, lanes = VECTORS[sort]
            given = ", ".join(self.expr(scope, kind, 1) for _ in range(r.choice([1, lanes])))
            self.say(indent, f"{sort} {name} = {{{given}}};")
            scope.vectors[name] = sort
        elif choice < 0.36 and not self.in_function:
            kind, rows, columns = r.choice(INTEGERS + FLOATS), r.choice([2, 4]), r.choice([4, 8])
            name, i = self.name("t"), self.name("i")
            self.say(indent, f"{kind} {name}[{rows}][{columns}];")
            self.say(indent, f"for (int {i} = 0; {i} < {rows * columns}; {i}++)")
            self.say(indent + 1, f"{name}[{i} / {columns}][{i} % {columns}] = ({kind})({i} - me);")
            scope.tables[name] = (kind, rows, columns)
        else:
            kind, name = r.choice(INTEGERS + FLOATS), self.name("v")
            self.say(indent, f"{kind} {name} = {self.expr(scope, kind, 3)};")
            scope.variables[name] = kind

    def assign(self, scope: _Scope, indent: int) -> None:
        r = self.r
        choice = r.random()
        if choice < 0.2 and scope.locals:
            name, (kind, size) = r.choice(list(scope.locals.items()))
            place = f"{name}[{self.index(scope, size, 1)}]"
            self.say(indent, f"{place} = {self.expr(scope, kind, 2)};")
            return
        if choice < 0.35 and scope.vectors:
            self.on_vector(scope, indent)
            return
        if choice < 0.42 and scope.tables:
            name, (kind, rows, columns) = r.choice(list(scope.tables.items()))
            place = f"{name}[{self.index(scope, rows, 1)}][{self.index(scope, columns, 1)}]"
            self.say(indent, f"{place} = {self.expr(scope, kind, 2)};")
            return
        targets = [n for n in scope.variables if n not in scope.fixed]
        if not targets:
            self.declare(scope, indent)
            return
        name = r.choice(targets)
        kind = scope.variables[name]
        if kind in FLOATS:
            op = r.choice(["=", "=", "+=", "-=", "*="])
        elif kind.startswith("u") or _bits(kind) < 32:  # the narrow ones in int
            op = r.choice(["=", "=", "+=", "-=", "*=", "&=", "|=", "^="])
        else:
            op = r.choice(["=", "=", "&=", "|=", "^="])
        if kind in INTEGERS and r.random() < 0.1:
            op = r.choice([">>=", "/=", "%="])
            right = r.randrange(1, 8) if kind.startswith("u") or op == ">>=" else 3
            self.say(indent, f"{name} {op} {right};")
            return
        if op == "=" and kind.startswith("u") and r.random() < 0.2:
            self.say(indent, f"{name}{r.choice(['++', '--'])};")
            return
        self.say(indent, f"{name} {op} {self.expr(scope, kind, 3)};")

    def on_vector(self, scope: _Scope, indent: int) -> None:
        r = self.r
        name, sort = r.choice(list(scope.vectors.items()))
        kind, lanes = VECTORS[sort]
        others = [n for n, t in scope.vectors.items() if t == sort]
        operators = "+-*" if kind in FLOATS else "+-*&|^"
        what = r.randrange(7)
        if what == 0:
            self.say(indent, f"{name}[{r.randrange(lanes)}] = {self.expr(scope, kind, 2)};")
        elif what == 1:
            lane = self.index(scope, lanes, 1)
            self.say(indent, f"{name}[{lane}] += {self.expr(scope, kind, 1)};")
        elif what == 2:
            self.say(indent, f"{name} = {name} {r.choice(operators)} {r.choice(others)};")
        elif what == 3:
            one = f"({kind})({self.expr(scope, kind, 1)})"  # narrow ones would be ints
            self.say(indent, f"{name} {r.choice(operators)}= {one};")
        elif what == 4 and kind not in FLOATS:
            test = r.choice(["<", "<=", "==", "!=", ">"])
            other = r.choice(others)
            self.say(indent, f"{name} = ({sort})({name} {test} {other}) & {r.choice(others)};")
        elif what == 5 and kind not in FLOATS:
            shift = r.choice(["<<", ">>"])
            self.say(indent, f"{name} = {name} {shift} {r.randrange(_bits(kind))};")
        elif what == 6 and kind in ("float", "double") and not self.in_function:
            array = "in_f" if kind == "float" else "in_d"
            at = f"{lanes} * {self.index(scope, SIZE // lanes, 1)}"
            self.say(indent, f"{name} = *(const {sort} *)&{array}[{at}];")
        else:
            self.say(indent, f"{name} = -{name};")

    def output(self, scope: _Scope, indent: int) -> None:
        r = self.r
        name, kind = r.choice(list(OUTS.items()))
        place = f"{name}[me * {OUT} + {self.index(scope, OUT, 1)}]"
        fit = [n for n, t in scope.vectors.items() if VECTORS[t][0] == kind]
        if fit and r.random() < 0.3:
            vector = r.choice(fit)
            sort = scope.vectors[vector]
            lanes = VECTORS[sort][1]
            where = f"me * {OUT} + {lanes} * {self.index(scope, OUT // lanes, 1)}"
            if r.random() < 0.5:
                self.say(indent, f"*({sort} *)&{name}[{where}] = {vector};")
            else:
                self.say(indent, f"{vector} = *({sort} *)&{name}[{where}];")
            return
        op = r.choice(["=", "+="]) if kind in ("uint64_t", "float") else "="
        self.say(indent, f"{place} {op} {self.expr(scope, kind, 3)};")

    def loop(self, scope: _Scope, depth: int, indent: int) -> None:
        r = self.r
        inner = scope.inner()
        name, count = self.name("i"), r.randint(1, 6)
        kind = r.choice(["int32_t", "uint32_t", "int64_t"])
        form = r.randrange(5)
        bound = str(count)
        if r.random() < 0.3:
            bound = f"(int)(({self.leaf(scope, 'uint32_t')}) % 5)"
        inner.variables[name] = kind
        inner.fixed.add(name)
        self.loops += 1
        before = len(self.lines)
        if form < 3:
            if r.random() < 0.35:
                self.say(0, r.choice(["#pragma unroll", "#pragma unroll 2", "#pragma unroll 3"]))
            step = r.choice([f"{name}++", f"++{name}", f"{name} += 2"])
            self.say(indent, f"for ({kind} {name} = 0; {name} < {bound}; {step}) {{")
            body = len(self.lines)
            self.block(inner, depth - 1, r.randint(1, 4), indent + 1)
            partly = "#pragma unroll " in self.lines[before]
            text = "\n".join(self.lines[body:])
            if partly and any(w in text for w in ("break", "continue", "return")):
                self.lines.pop(before)
            self.say(indent, "}")
        elif form == 3:
            self.say(indent, f"{kind} {name} = {bound};")
            test = f"{name} > 0"
            if r.random() < 0.5:
                test += f" && {self.condition(scope, 2)}"
            self.say(indent, f"while ({test}) {{")
            self.say(indent + 1, f"{name}--;")
            self.block(inner, depth - 1, r.randint(1, 3), indent + 1)
            self.say(indent, "}")
        else:
            self.say(indent, f"{kind} {name} = 0;")
            self.say(indent, "do {")
            self.say(indent + 1, f"{name}++;")
            self.block(inner, depth - 1, r.randint(1, 3), indent + 1)
            self.say(indent, f"}} while ({name} < {bound});")
        self.loops -= 1

    def function(self) -> str:
        r = self.r
        result = r.choice(INTEGERS + FLOATS)
        params = [r.choice(INTEGERS + FLOATS) for _ in range(r.randint(1, 3))]
        name = f"f{self.seed}_{len(self.functions)}"
        scope = _Scope({f"p{i}": t for i, t in enumerate(params)})
        given = ", ".join(f"{t} p{i}" for i, t in enumerate(params))
        self.functions.append((name, result, params))
        self.lines, self.in_function = [f"static {result} {name}({given}) {{"], True
        self.block(scope, 2, r.randint(1, 4), 1)
        self.say(1, f"return {self.expr(scope, result, 2)};")
        self.say(0, "}")
        self.in_function = False
        text = "\n".join(self.lines)
        self.lines = []
        return text

    def kernel(self) -> Kernel:
        r = self.r
        functions = "\n".join(self.function() for _ in range(r.randint(0, 2)))
        scope = _Scope({"me": "int32_t", "x": "int32_t", "y": "double"}, {"me", "x", "y"})
        for kind in r.sample(INTEGERS + FLOATS, 3):
            name = self.name("v")
            self.say(1, f"{kind} {name} = {self.expr(scope, kind, 2)};")
            scope.variables[name] = kind
        for _ in range(r.randint(3, 9)):
            if r.random() < 0.12:
                self.team(scope, 1)
            else:
                self.statement(scope, 3, 1)
        for name, kind in OUTS.items():
            self.say(1, f"{name}[me * {OUT}] = {self.expr(scope, kind, 2)};")
        return Kernel(self.seed, functions, "\n".join(self.lines))


def generate(seed: int) -> Kernel:
    """The program of a seed."""
    return _Generator(seed).kernel()


def _params() -> str:
    arrays = [f"{t} *{n}" for n, t in {**ARRAYS, **OUTS}.items()]
    return ", ".join([*arrays, "int32_t x", "double y", "uint32_t *given"])


def device_text(kernel: Kernel, threads: int) -> str:
    """The program with its body as a target region."""
    given = ", ".join(f"{n}[0:{SIZE}]" for n in ARRAYS)
    results = ", ".join(f"{n}[0:{OUT * threads}]" for n in OUTS)
    joined = ", ".join(JOINED)
    return (
        f"{HEAD}{kernel.functions}\n"
        f"uint32_t kernel({_params()}) {{\n"
        + "".join(f"  {kind} {name} = 0;\n" for name, kind in JOINED.items())
        + f"#pragma omp target parallel map(to: {given})"
        f" map(tofrom: {results}, {joined}, given[0:{threads}]) num_threads({threads})\n"
        f"  {{\n  int32_t me = omp_get_thread_num();\n{kernel.body}\n  }}\n"
        f"  return {' + '.join(JOINED)};\n}}\n"
    )


def native_text(kernels: list[Kernel], threads: int) -> str:
    """A program that runs several kernels and prints their outputs."""
    text = [HEAD, "#include <stdio.h>", "#include <string.h>"]
    names = [*ARRAYS, *OUTS]
    joined = [f"{kind} {name};" for name, kind in JOINED.items()]
    text.append(f"struct joined {{ {' '.join(joined)} }};")
    for kernel in kernels:
        text += [
            kernel.functions,
            f"static struct joined kernel{kernel.seed}({_params()}) {{",
            *(f"  {kind} {name} = 0;" for name, kind in JOINED.items()),
            f"#pragma omp parallel num_threads({threads})",
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
    text += ["int main(void) {", f"  int32_t x; double y; uint32_t given[{threads}];"]
    for kernel in kernels:
        text += [f"  fread({n}, sizeof {n}, 1, stdin);" for n in names]
        text += ["  fread(&x, sizeof x, 1, stdin); fread(&y, sizeof y, 1, stdin);"]
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
            bits = _bits(kind)
            low = 0 if kind.startswith("u") else -(1 << (bits - 1))
            values = [
                r.choice([0, 1, 5, low, low + (1 << bits) - 1, low + r.getrandbits(bits)])
                for _ in range(count)
            ]
        found[name] = struct.pack(f"<{count}{codes[kind]}", *values)
    found |= {name: bytes(_bits(kind) // 8) for name, kind in JOINED.items()}
    found["given"] = bytes(4 * threads)
    x, y = r.randrange(-100, 100), r.uniform(-3, 3)
    return found, [x & 0xFFFFFFFF, int.from_bytes(struct.pack("<d", y), "little")]
