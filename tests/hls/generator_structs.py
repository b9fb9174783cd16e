"""Random statements on structs, and on blocks of bytes."""

from __future__ import annotations

from hls.generator_expressions import Expressions, Scope
from hls.generator_texts import FLOATS, INTEGERS, STRUCTS

__all__ = ["Structs"]


class Structs(Expressions):
    """Writes statements that copy, initialise and hand over structs."""

    def say(self, indent: int, text: str) -> None:
        self.lines.append("  " * indent + text)

    def listed(self, scope: Scope, sort: str) -> str:
        """A list of initial values, whole, cut short or with designators."""
        r = self.r
        parts = [(path, kind) for path, kind in STRUCTS[sort] if "v[" not in path]
        if r.random() < 0.5 or sort in ("struct s2", "struct s3"):
            named = r.sample(parts, r.randint(1, len(parts)))
            given = [(p.replace("(IDX)", str(r.randrange(4))), kind) for p, kind in named]
            return ", ".join(f".{path} = {self.expr(scope, kind, 1)}" for path, kind in given)
        count = r.choice([1, len(parts)])
        return ", ".join(self.expr(scope, kind, 1) for _, kind in parts[:count])

    def place(self, scope: Scope, sort: str) -> str:
        """An object of a sort of struct."""
        fit = [n for n, t in scope.structs.items() if t == sort]
        rows = [n for n, (t, _) in scope.records.items() if t == sort]
        if rows and (not fit or self.r.random() < 0.4):
            name = self.r.choice(rows)
            return f"{name}[{self.index(scope, scope.records[name][1], 1)}]"
        return self.r.choice(fit)

    def structs(self, scope: Scope, indent: int) -> None:
        for _ in range(self.r.randint(1, 4)):
            self.on_structs(scope, indent)

    def on_structs(self, scope: Scope, indent: int) -> None:
        r = self.r
        if not scope.structs or r.random() < 0.25:
            self.new_struct(scope, indent)
            return
        name, sort = r.choice(list(scope.structs.items()))
        what = r.randrange(12)
        if (what == 0 or what > 9) and not self.in_function:
            rows, i, size = self.name("z"), self.name("i"), r.choice([2, 4])
            self.say(indent, f"{sort} {rows}[{size}];")
            if r.random() < 0.5:
                self.say(indent, f"for (int {i} = 0; {i} < {size}; {i}++) {rows}[{i}] = {name};")
            else:
                self.say(indent, f"memset({rows}, 0, sizeof {rows});")
                self.say(indent, f"memcpy(&{rows}[1], &{name}, sizeof({sort}));")
            scope.records[rows] = (sort, size)
        elif what == 1:
            self.say(indent, f"{name} = {self.place(scope, sort)};")
        elif what == 2:
            self.say(indent, f"{self.place(scope, sort)} = {name};")
        elif what == 3:
            test = self.condition(scope, 1)
            self.say(indent, f"{name} = {test} ? {self.place(scope, sort)} : {name};")
        elif what == 4 and self.movers and not self.in_function:
            self.moved(scope, indent)
        elif what == 5:
            self.say(indent, f"memcpy(&{name}, &{self.place(scope, sort)}, sizeof {name});")
        elif what in (6, 8) and scope.records:
            rows, (kept, size) = r.choice(list(scope.records.items()))
            path, kind = r.choice(list(STRUCTS[kept]))
            at = self.index(scope, size, 1)
            self.say(indent, f"{{ {kept} *q = &{rows}[{at}];")
            path = path.replace("(IDX)", self.index(scope, 4, 1))
            self.say(indent, f"  q->{path} = {self.expr(scope, kind, 2)}; }}")
        elif what == 7:
            self.punned(scope, indent)
        else:
            path, kind = self.path(scope, sort)
            op = r.choice(["=", "+=", "-="]) if kind in FLOATS or kind.startswith("u") else "="
            self.say(indent, f"{name}.{path} {op} {self.expr(scope, kind, 2)};")

    def new_struct(self, scope: Scope, indent: int) -> None:
        r = self.r
        name = self.name("s")
        sort = r.choice(list(STRUCTS))
        given = f"{{{self.listed(scope, sort)}}}"
        if sort in [*scope.structs.values()] and r.random() < 0.3:
            given = self.place(scope, sort)
        elif r.random() < 0.2:
            given = f"({sort}){given}"
        self.say(indent, f"{sort} {name} = {given};")
        scope.structs[name] = sort

    def moved(self, scope: Scope, indent: int) -> None:
        """A call that is given a struct and another one's address, and gives one back."""
        name, result, pointed = self.r.choice(self.movers)
        for sort in (result, pointed):
            if sort not in scope.structs.values():
                new = self.name("s")
                self.say(indent, f"{sort} {new} = {{{self.listed(scope, sort)}}};")
                scope.structs[new] = sort
        target = self.r.choice([n for n, t in scope.structs.items() if t == result])
        given, other = self.place(scope, result), self.place(scope, pointed)
        last = self.expr(scope, "int32_t", 1)
        self.say(indent, f"{target} = {name}({given}, &{other}, {last});")

    def mover(self) -> str:
        """A function on structs."""
        r = self.r
        result, pointed = r.choice(list(STRUCTS)), r.choice(list(STRUCTS))
        name = f"g{self.seed}_{len(self.movers)}"
        self.lines = [f"static {result} {name}({result} x, {pointed} *y, int32_t p) {{"]
        scope = Scope({"p": "int32_t"}, structs={"x": result, "(*y)": pointed})
        self.in_function = True
        for _ in range(r.randint(1, 4)):
            self.structs(scope, 1)
        if r.random() < 0.5:
            path, kind = self.path(scope, pointed)
            self.say(1, f"for (int i = 0; i < 3; i++) y->{path} = {self.expr(scope, kind, 2)};")
        self.say(1, f"return {r.choice([n for n, t in scope.structs.items() if t == result])};")
        self.say(0, "}")
        self.in_function = False
        self.movers.append((name, result, pointed))
        text = "\n".join(self.lines)
        self.lines = []
        return text

    def punned(self, scope: Scope, indent: int) -> None:
        """A number's bits as another number; NaNs aside, which have several."""
        r = self.r
        kind, bits = r.choice([("float", "uint32_t"), ("double", "uint64_t")])
        number, whole = self.name("v"), self.name("v")
        if r.random() < 0.5:
            self.say(indent, f"{kind} {number} = {self.expr(scope, kind, 1)};")
            self.say(indent, f"if ({number} != {number}) {number} = 1;")
            self.say(indent, f"{bits} {whole}; memcpy(&{whole}, &{number}, sizeof {number});")
        else:
            self.say(indent, f"{bits} {whole} = {self.expr(scope, bits, 1)};")
            self.say(indent, f"{kind} {number}; memcpy(&{number}, &{whole}, sizeof {number});")
        scope.variables |= {number: kind, whole: bits}
        scope.fixed |= {number, whole}

    def blocks(self, scope: Scope, indent: int) -> None:
        """A local array filled, or moved inside itself."""
        r = self.r
        if not scope.locals:
            self.structs(scope, indent)
            return
        name, (kind, size) = r.choice(list(scope.locals.items()))
        like = [n for n, (t, s) in scope.locals.items() if t == kind and s >= size and n != name]
        what = r.randrange(4)
        if what == 0 and kind in INTEGERS:
            self.say(indent, f"memset({name}, {r.choice([0, 0, 1, 255])}, sizeof {name});")
        elif what == 1 and like:
            self.say(indent, f"memcpy({name}, {r.choice(like)}, sizeof {name});")
        elif what == 2:
            to, given = r.randrange(2), r.randrange(2)
            count = f"(size_t)({self.expr(scope, 'uint32_t', 1)}) % {size - 1} * sizeof({kind})"
            self.say(indent, f"memmove({name} + {to}, {name} + {given}, {count});")
        elif kind == "float":
            at = self.index(scope, 32, 1)
            self.say(indent, f"memcpy({name}, in_f + {at}, {size} * sizeof(float));")
        else:
            self.structs(scope, indent)
