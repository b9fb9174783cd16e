"""Random expressions, free of undefined behaviour."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from hls.generator_texts import (
    ARRAYS,
    FLOATS,
    INTEGERS,
    OUT,
    OUTS,
    SIZE,
    STRUCTS,
    VECTORS,
    unsigned,
    width,
)

__all__ = ["Expressions", "Scope"]


@dataclass
class Scope:
    variables: dict[str, str] = field(default_factory=dict)
    fixed: set[str] = field(default_factory=set)
    locals: dict[str, tuple[str, int]] = field(default_factory=dict)
    vectors: dict[str, str] = field(default_factory=dict)
    tables: dict[str, tuple[str, int, int]] = field(default_factory=dict)  # of two dimensions
    structs: dict[str, str] = field(default_factory=dict)
    records: dict[str, tuple[str, int]] = field(default_factory=dict)  # arrays of structs

    def inner(self) -> Scope:
        return Scope(
            dict(self.variables), set(self.fixed), dict(self.locals), dict(self.vectors),
            dict(self.tables), dict(self.structs), dict(self.records),
        )  # fmt: skip

    def counting(self, name: str) -> Scope:
        """The scope of a loop's body, in which nothing changes the loop's variable."""
        inner = self.inner()
        inner.variables[name] = "int32_t"
        inner.fixed.add(name)
        return inner


class Expressions:
    """Write expressions of the variables in a scope."""

    def __init__(self, seed: int) -> None:
        self.r = random.Random(seed)
        self.seed = seed
        self.count = 0
        self.functions: list[tuple[str, str, list[str]]] = []
        self.movers: list[tuple[str, str, str]] = []  # functions on structs
        self.in_function = False
        self.loops = 0
        self.jumps = True
        self.is_serial = seed % 6 == 5
        self.lines: list[str] = []

    def name(self, base: str) -> str:
        self.count += 1
        return f"{base}{self.count}"

    # Expressions

    def index(self, scope: Scope, size: int, depth: int) -> str:
        return f"(({self.expr(scope, 'uint32_t', depth)}) & {size - 1})"

    def literal(self, kind: str) -> str:
        r = self.r
        if kind in FLOATS:
            value = r.choice([0.0, 1.0, -1.0, 0.5, 3.25, -7.75, 1e-3, 123456.0, r.uniform(-9, 9)])
            return f"{value!r}{'f' if kind == 'float' else ''}"
        bits = width(kind)
        value = r.choice([0, 1, 2, 3, 7, r.randrange(1 << min(bits - 1, 8)), (1 << (bits - 1)) - 1])
        if kind.startswith("int") and r.random() < 0.3:
            value = -value
        return f"(({kind}){value}{'ll' if bits == 64 else ''})"

    def path(self, scope: Scope, sort: str) -> tuple[str, str]:
        """A part of a struct, and its kind."""
        path, kind = self.r.choice(STRUCTS[sort])
        return path.replace("(IDX)", self.index(scope, 4, 1)), kind

    def member(self, scope: Scope, kind: str) -> str:
        """A part of a struct, as a value of a kind."""
        r = self.r
        found = [(n, t) for n, t in scope.structs.items()]
        for name, (sort, size) in scope.records.items():
            found.append((f"{name}[{r.randrange(size)}]", sort))
        if not found:
            return self.leaf(scope, kind)
        name, sort = r.choice(found)
        path, own = self.path(scope, sort)
        return f"(({kind}){name}.{path})" if own in INTEGERS or kind in FLOATS else (
            self.leaf(scope, kind)
        )  # fmt: skip

    def leaf(self, scope: Scope, kind: str) -> str:
        r = self.r
        if scope.structs and r.random() < 0.2:
            name, sort = r.choice(list(scope.structs.items()))
            fit = [p for p, t in STRUCTS[sort] if t == kind and "IDX" not in p]
            if fit:
                return f"{name}.{r.choice(fit)}"
        choices = [n for n, t in scope.variables.items() if t == kind]
        if choices and r.random() < 0.75:
            return r.choice(choices)
        other = [n for n, t in scope.variables.items() if t in INTEGERS]
        if kind in INTEGERS and other and r.random() < 0.5:
            return f"(({kind}){r.choice(other)})"
        return self.literal(kind)

    def expr(self, scope: Scope, kind: str, depth: int) -> str:
        if depth <= 0 or self.r.random() < 0.15:
            return self.leaf(scope, kind)
        if kind in FLOATS:
            return self.floating(scope, kind, depth - 1)
        return self.integer(scope, kind, depth - 1)

    def integer(self, scope: Scope, kind: str, depth: int) -> str:
        r = self.r
        choice = r.randrange(17)
        u, bits = unsigned(kind), width(kind)
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
            to = r.choice(["(int)", "(int)", "lround", "lrint"])
            return f"(({kind})(({name}) > -100 && ({name}) < 100 ? {to}({name}) : 5))"
        if choice == 14 and r.random() < 0.3:
            return f"(({kind})(_Bool)({self.expr(scope, r.choice(INTEGERS + FLOATS), depth)}))"
        if choice == 14 and r.random() < 0.5:
            return self.lane(scope, kind, depth)
        if choice == 14:
            return self.member(scope, kind)
        if choice == 15:
            wide = r.choice(["", "l", "ll"])
            word = r.choice(["popcount", "parity", "ffs", "clrsb"])
            return f"(({kind})__builtin_{word}{wide}({self.expr(scope, 'int64_t', depth)}))"
        if choice == 16 and r.random() < 0.6:
            word = r.choice(["clz", "ctz"])
            return f"(({kind})__builtin_{word}ll(({self.expr(scope, 'uint64_t', depth)}) | 4))"
        if choice == 16 and r.random() < 0.5:
            return f"(({kind})__builtin_bswap32({self.expr(scope, 'uint32_t', depth)}))"
        if choice == 16:
            # To where a last bit makes no difference.
            name, word = self.expr(scope, "double", 1), r.choice(["exp", "sin", "cos", "tanh"])
            return f"(({kind})(({name}) > -4 && ({name}) < 4 ? lrint(64.3 * {word}({name})) : 5))"
        if choice == 13:
            a, b = self.condition(scope, depth), self.condition(scope, depth)
            return f"(({kind})({a} {r.choice(['&&', '||'])} {b}))"
        return self.memory(scope, kind, depth)

    def floating(self, scope: Scope, kind: str, depth: int) -> str:
        r = self.r
        choice = r.randrange(12)
        if choice < 4:
            a, b = self.expr(scope, kind, depth), self.expr(scope, kind, depth)
            return f"(({a}) {r.choice('+-*/')} ({b}))"
        if choice == 10:
            suffix = "f" if kind == "float" else ""
            word = r.choice(["floor", "ceil", "trunc", "round", "rint", "nearbyint"])
            if r.random() < 0.3:
                a, b = self.expr(scope, kind, depth), self.leaf(scope, kind)
                if r.random() < 0.5:
                    return f"fdim{suffix}({a}, {b})"
                return f"copysign{suffix}({a}, ({b}) == ({b}) ? ({b}) : 1)"
            return f"{word}{suffix}({self.expr(scope, kind, depth)})"
        if choice == 11:
            return self.member(scope, kind)
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

    def lane(self, scope: Scope, kind: str, depth: int) -> str:
        r = self.r
        fit = [n for n, t in scope.vectors.items() if (VECTORS[t][0] in FLOATS) <= (kind in FLOATS)]
        if not fit:
            return self.leaf(scope, kind)
        name = r.choice(fit)
        lanes = VECTORS[scope.vectors[name]][1]
        lane = self.index(scope, lanes, depth) if r.random() < 0.3 else str(r.randrange(lanes))
        return f"(({kind}){name}[{lane}])"

    def ternary(self, scope: Scope, kind: str, depth: int) -> str:
        test = self.condition(scope, depth)
        a, b = self.expr(scope, kind, depth), self.expr(scope, kind, depth)
        return f"({test} ? ({a}) : ({b}))"

    def condition(self, scope: Scope, depth: int) -> str:
        kind = self.r.choice(INTEGERS + FLOATS)
        a, b = self.expr(scope, kind, depth), self.expr(scope, kind, depth)
        return f"(({a}) {self.r.choice(['<', '<=', '>', '>=', '==', '!='])} ({b}))"

    def memory(self, scope: Scope, kind: str, depth: int) -> str:
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

    def guarded(self, scope: Scope, name: str, size: int, depth: int, kind: str) -> str:
        own = scope.locals[name][0]
        if own in FLOATS and kind in INTEGERS:
            return self.literal(kind)
        return f"{name}[{self.index(scope, size, depth)}]"
