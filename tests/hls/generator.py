"""Random C programs within what the compiler supports, free of undefined behaviour.

A program is a body that each of a team's threads executes with its number in `me`; it reads
shared inputs, works on variables and arrays of its own, and writes its own part of the outputs.
Threads meet in critical sections and atomics, at barriers, in work-sharing loops and reductions,
always so that their order changes nothing. The same text runs natively and as hardware.
"""

from __future__ import annotations

from hls.generator_expressions import Scope
from hls.generator_teams import Teams
from hls.generator_texts import (
    ARRAYS,
    FLOATS,
    INTEGERS,
    JOINED,
    OUT,
    OUTS,
    SIZE,
    VECTORS,
    Kernel,
    complete,
    device_text,
    inputs,
    native_text,
    scalars_of,
    width,
)

__all__ = [
    "ARRAYS", "JOINED", "OUT", "OUTS", "SIZE", "Kernel", "complete", "device_text", "generate",
    "inputs", "native_text", "scalars_of",
]  # fmt: skip


class _Generator(Teams):
    def block(self, scope: Scope, depth: int, count: int, indent: int) -> None:
        for _ in range(count):
            self.statement(scope, depth, indent)

    def statement(self, scope: Scope, depth: int, indent: int) -> None:
        r = self.r
        choice = r.random()
        if choice < 0.09:
            self.structs(scope, indent)
        elif choice < 0.13 and not self.in_function:
            self.blocks(scope, indent)
        elif choice < 0.17:
            self.constructs(scope, depth, indent)
        elif choice < 0.2 and not self.in_function:
            self.alone(scope, indent)
        elif choice < 0.27:
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

    def switch(self, scope: Scope, depth: int, indent: int) -> None:
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

    def team(self, scope: Scope, indent: int) -> None:
        """All threads together: a word handed on, or a work-sharing loop."""
        r = self.r
        if r.random() < 0.5:
            self.shared_work(scope, indent)
            return
        if r.random() < 0.4:
            self.say(indent, f"given[me] = {self.expr(scope, 'uint32_t', 2)};")
            self.say(0, "#pragma omp barrier")
            name = self.name("v")
            self.say(indent, f"uint32_t {name} = given[(me + 1) % omp_get_num_threads()];")
            self.say(0, "#pragma omp barrier")
            scope.variables[name] = "uint32_t"
            return
        if r.random() < 0.2:
            targets = [n for n in scope.variables if n not in scope.fixed]
            if r.random() < 0.3:
                kind, array = r.choice(["int32_t", "uint64_t"]), self.name("a")
                self.say(indent, f"{kind} {array}[3] = {{me, {self.same_for_all(kind)}}};")
                self.say(0, f"#pragma omp single copyprivate({array})")
                # Its first element is each thread's own, and any thread may be the one.
                put = f"{array}[{r.randrange(3)}] = {self.same_for_all(kind)};"
                self.say(indent, f"{{ {array}[0] = {array}[1]; {put} }}")
                scope.locals[array] = (kind, 3)
                return
            name = r.choice(targets)
            kind = scope.variables[name]
            self.say(0, f"#pragma omp single copyprivate({name})")
            self.say(indent, f"{name} = {self.same_for_all(kind)};")
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
        if r.random() < 0.4:
            schedule += r.choice(["", " firstprivate(last)"]) + " lastprivate(last)"
        if r.random() < 0.3:
            schedule += " reduction(^: given[TEAM:4])"
        self.say(0, f"#pragma omp for{schedule} reduction(+: sum) reduction(min: low)"
                 f" reduction(max: high)")  # fmt: skip
        end = r.choice([7, 16, 23])
        counts = r.choice(["int32_t", "int32_t", "int64_t", "int16_t", "uint8_t"])
        inner.variables[i] = counts
        self.say(indent, f"for ({counts} {i} = {first}; {i} < {end}; {i}{step})")
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
        if "last" in schedule:
            op = "+=" if "first" in schedule else "="
            self.say(indent + 1, f"last {op} {self.expr(inner, 'int32_t', 2)};")
        if "given" in schedule:
            at = self.index(inner, 4, 1)
            self.say(indent + 1, f"given[TEAM + {at}] ^= {self.expr(inner, 'uint32_t', 2)};")
        for word, test, kind in (("low", "<", "int16_t"), ("high", ">", "uint64_t")):
            if r.random() < 0.6:
                name = self.name("v")
                self.say(indent + 1, f"{kind} {name} = {self.expr(inner, kind, 2)};")
                self.say(indent + 1, f"{word} = {name} {test} {word} ? {name} : {word};")
        self.say(indent, "}")
        if "given" in schedule:
            name = self.name("v")
            self.say(indent, f"uint32_t {name} = given[TEAM + {r.randrange(4)}];")
            self.say(0, "#pragma omp barrier")
            scope.variables[name] = "uint32_t"

    def same_for_all(self, kind: str) -> str:
        """A value that is the same for all threads."""
        r = self.r
        number = f"(uint32_t)in_i[{r.randrange(SIZE)}] {r.choice('+^&')} {r.randrange(1 << 20)}u"
        return f"({kind})((uint32_t)x ^ ({number}))"

    def result(self, scope: Scope) -> str:
        return self.expr(scope, self.functions[-1][1], 1)

    def declare(self, scope: Scope, indent: int) -> None:
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

    def assign(self, scope: Scope, indent: int) -> None:
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
        elif kind.startswith("u") or width(kind) < 32:  # the narrow ones in int
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

    def on_vector(self, scope: Scope, indent: int) -> None:
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
            self.say(indent, f"{name} = {name} {shift} {r.randrange(width(kind))};")
        elif what == 6 and kind in ("float", "double") and not self.in_function:
            array = "in_f" if kind == "float" else "in_d"
            at = f"{lanes} * {self.index(scope, SIZE // lanes, 1)}"
            self.say(indent, f"{name} = *(const {sort} *)&{array}[{at}];")
        else:
            self.say(indent, f"{name} = -{name};")

    def output(self, scope: Scope, indent: int) -> None:
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

    def loop(self, scope: Scope, depth: int, indent: int) -> None:
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
        scope = Scope({f"p{i}": t for i, t in enumerate(params)})
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

    def recursive(self) -> str:
        """A function that calls itself, or another one that does; it ends by its first argument."""
        r = self.r
        kinds = [r.choice(INTEGERS + FLOATS) for _ in range(r.randint(1, 2))]
        result = r.choice(INTEGERS + FLOATS)
        names = [f"r{self.seed}_{len(self.functions)}{c}" for c in r.choice(["a", "a", "ab"])]
        given = ", ".join(f"{t} p{i}" for i, t in enumerate(kinds))
        heads = [f"static {result} {n}(uint32_t left, {given}, uint32_t *seen)" for n in names]
        texts = [f"{head};" for head in heads]
        for head in heads:
            scope = Scope({"left": "uint32_t"} | {f"p{i}": t for i, t in enumerate(kinds)})
            scope.fixed.add("left")
            self.lines, self.in_function = [f"{head} {{", "  ++*seen;"], True
            self.functions.append(("", result, []))
            if r.random() < 0.7:
                self.say(1, f"if (left == 0) return {self.expr(scope, result, 2)};")
            self.block(scope, 1, r.randint(0, 2), 1)
            local = self.name("a")
            has_local = r.random() < 0.4
            if has_local:
                self.say(1, f"int32_t {local}[4] = {{1, {self.expr(scope, 'int32_t', 1)}}};")
            for _ in range(r.randint(1, 3)):
                self.deeper(scope, r.choice(names), kinds, result)
                self.block(scope, 1, r.randint(0, 1), 1)
            if has_local:
                self.say(1, f"p0 = {local}[{self.index(scope, 4, 1)}];")
            self.say(1, f"return {self.expr(scope, result, 2)};")
            self.say(0, "}")
            self.functions.pop()
            self.in_function = False
            texts.append("\n".join(self.lines))
            self.lines = []
        name = f"f{self.seed}_{len(self.functions)}"
        params = ", ".join(f"{t} p{i}" for i, t in enumerate(["uint32_t", *kinds]))
        handed = "".join(f"p{i}, " for i in range(1, len(kinds) + 1))
        texts.append(
            f"static {result} {name}({params}) {{\n  uint32_t seen = 0;\n"
            f"  {result} found = {names[0]}(p0 & 3, {handed}&seen);\n"
            f"  return found + ({result})seen;\n}}"
            if result in FLOATS or result.startswith("u")
            else f"static {result} {name}({params}) {{\n  uint32_t seen = 0;\n"
            f"  {result} found = {names[0]}(p0 & 3, {handed}&seen);\n"
            f"  return ({result})((uint64_t)found ^ seen);\n}}"
        )
        self.functions.append((name, result, ["uint32_t", *kinds]))
        return "\n".join(texts)

    def deeper(self, scope: Scope, name: str, kinds: list[str], result: str) -> None:
        """A call of a recursive function, somewhere in a statement."""
        r = self.r
        value = self.name("v")

        def call() -> str:
            args = ", ".join(self.expr(scope, kind, 1) for kind in kinds)
            return f"{name}(left - 1, {args}, seen)"

        self.say(1, f"{result} {value} = {self.expr(scope, result, 1)};")
        form = r.randrange(8)
        if form == 0:
            self.say(1, f"if (left > 0) {value} = {call()};")
        elif form == 1:
            self.say(1, f"{value} = left > 0 ? {call()} : {self.expr(scope, result, 1)};")
        elif form == 2:
            self.say(1, f"if (left > 0 && {call()} > 0 || {self.condition(scope, 1)}) {value} = 1;")
        elif form == 3:
            i = self.name("i")
            self.say(1, f"for (uint32_t {i} = 0; {i} < 2 && {i} < left; {i}++) {{")
            if r.random() < 0.5:
                self.say(2, f"if ({self.condition(scope, 1)}) {r.choice(['continue', 'break'])};")
            self.say(2, f"{value} = {call()};")
            if r.random() < 0.5:
                self.say(2, f"if ({self.condition(scope, 1)}) return {value};")
            self.say(1, "}")
        elif form == 4:
            self.say(1, f"switch (({self.expr(scope, 'uint32_t', 1)}) % 3) {{")
            self.say(1, f"case 0: if (left) {value} = {call()};")
            self.say(1, f"case 1: {value} = ({result})({value} == 0); break;")
            self.say(1, f"default: if (left > 1) {value} = {call()};")
            self.say(1, "}")
        elif form == 5:
            self.say(1, "if (left > 0) {")
            self.say(0, f"#pragma omp task shared({value})")
            self.say(2, f"{value} = {call()};")
            self.say(0, "#pragma omp taskwait")
            self.say(1, "}")
        elif form == 6:
            i = self.name("i")
            self.say(1, f"uint32_t {i} = left;")
            self.say(1, f"while ({i} > 1 && {call()} != 0) {i}--;")
        else:
            inner = f"{name}(left - 2, {', '.join(f'p{i}' for i in range(len(kinds)))}, seen)"
            args = ", ".join(
                [f"({kinds[0]})({inner} != 0)", *(self.expr(scope, k, 1) for k in kinds[1:])]
            )
            self.say(1, f"if (left > 1) {value} = {name}(left - 1, {args}, seen);")
        scope.variables[value] = result

    def forks(self, scope: Scope, indent: int) -> None:
        """A parallel region of a serial program, perhaps in a loop or under a condition."""
        r = self.r
        form = r.random()
        if form < 0.25:
            self.say(indent, f"if ({self.condition(scope, 1)}) {{")
            self.fork(scope.inner(), indent + 1)
            self.say(indent, "}")
        elif form < 0.55:
            i = self.name("i")
            inner = scope.counting(i)
            self.say(indent, f"for (int32_t {i} = 0; {i} < {r.randint(1, 3)}; {i}++) {{")
            if r.random() < 0.4:
                word = r.choice(["continue", "break"])
                self.say(indent + 1, f"if ({self.condition(inner, 1)}) {word};")
            self.fork(inner, indent + 1)
            self.loops += 2
            self.block(inner, 1, r.randint(0, 2), indent + 1)
            self.loops -= 2
            self.say(indent, "}")
        else:
            self.fork(scope, indent)

    def fork(self, scope: Scope, indent: int) -> None:
        """A parallel region: what is around it is shared and read, or each thread's, or joined."""
        r = self.r
        inner = Scope(dict(scope.variables), set(scope.variables))
        inner.variables |= {"me": "int32_t"}
        some = f"1 + (uint32_t)({self.expr(scope, 'uint32_t', 1)}) % TEAM"
        clauses = f" num_threads({r.choice(['TEAM', 'TEAM', '1', some])})"
        if r.random() < 0.15:
            clauses += f" if({self.condition(scope, 1)})"
        for name in [n for n in scope.variables if n not in scope.fixed]:
            if r.random() < 0.3:
                clauses += f" firstprivate({name})"
                inner.fixed.discard(name)
        unsigned = [n for n, k in scope.variables.items() if k in ("uint32_t", "uint64_t")]
        sums = [n for n in unsigned if n in inner.fixed and n not in scope.fixed][:2]
        for name in sums:
            inner.variables.pop(name)
        if sums:
            clauses += f" reduction({r.choice('+^')}: {sums[0]})"
        mixed = self.name("r") if r.random() < 0.4 else ""
        alone = self.seed // 6 % 2  # or an array of them
        if mixed:
            first = f"{self.expr(scope, 'uint32_t', 1)}, {self.expr(scope, 'uint64_t', 1)}"
            if alone:
                self.say(indent, f"struct r0 {mixed} = {{{first}}};")
            else:
                self.say(indent, f"struct r0 {mixed}[3] = {{{{{first}}}, {{7, -5}}, {{{first}}}}};")
            clauses += f" reduction(mix: {mixed})"
        self.say(0, f"#pragma omp parallel{clauses}")
        self.say(indent, "{")
        self.say(indent + 1, "int32_t me = omp_get_thread_num();")
        for name, (kind, count) in scope.locals.items():
            value = self.name("v")
            self.say(indent + 1, f"{kind} {value} = {name}[{self.index(inner, count, 1)}];")
            inner.variables[value] = kind
        for name, sort in scope.vectors.items():
            copy = self.name("w")
            self.say(indent + 1, f"{sort} {copy} = {name};")
            inner.vectors[copy] = sort
        self.declare(inner, indent + 1)
        own = self.name("v")
        self.say(indent + 1, f"uint32_t {own} = {self.expr(inner, 'uint32_t', 1)};")
        inner.variables[own] = "uint32_t"
        loops, self.loops = self.loops, 0
        for _ in range(r.randint(1, 4)):
            if r.random() < 0.4:
                self.team(inner, indent + 1)
            else:
                self.statement(inner, 2, indent + 1)
        self.loops = loops
        if sums:
            op = "^=" if "(^" in clauses else "+="
            self.say(indent + 1, f"{sums[0]} {op} {self.expr(inner, 'uint32_t', 2)};")
        if sums[1:]:
            self.say(0, f"#pragma omp {('critical', 'atomic')[self.seed % 2]}")
            self.say(indent + 1, f"{sums[1]} += {self.expr(inner, 'uint32_t', 1)};")
        if mixed:
            one = mixed if alone else f"{mixed}[me % 3]"
            self.say(indent + 1, f"{one}.a += {self.expr(inner, 'uint32_t', 2)};")
            self.say(indent + 1, f"{one}.b &= {self.expr(inner, 'uint64_t', 2)};")
        wide = [n for n, (_, count) in scope.locals.items() if count >= 8]
        if wide:
            name = r.choice(wide)
            self.say(0, "#pragma omp barrier")
            self.say(indent + 1, f"{name}[me] = {self.expr(inner, scope.locals[name][0], 2)};")
        self.say(indent, "}")
        if mixed:
            value = self.name("v")
            ones = [mixed] if alone else [f"{mixed}[{n}]" for n in range(3)]
            total = " + ".join(f"{one}.a * 31u + {one}.b" for one in ones)
            self.say(indent, f"uint64_t {value} = {total};")
            scope.variables[value] = "uint64_t"

    def kernel(self) -> Kernel:
        r = self.r
        texts = [self.function() for _ in range(r.randint(0, 2))]
        texts += [self.recursive() for _ in range(r.choice([0, 0, 1]))]
        texts += [self.mover() for _ in range(r.choice([0, 0, 1, 2]))]
        functions = "\n".join(texts)
        scope = Scope({"me": "int32_t", "x": "int32_t", "y": "double"}, {"me", "x", "y"})
        for kind in r.sample(INTEGERS + FLOATS, 3):
            name = self.name("v")
            self.say(1, f"{kind} {name} = {self.expr(scope, kind, 2)};")
            scope.variables[name] = kind
        for _ in range(r.randint(3, 9)):
            if self.is_serial and r.random() < 0.5:
                self.forks(scope, 1)
            elif not self.is_serial and r.random() < 0.2:
                self.team(scope, 1)
            else:
                self.statement(scope, 3, 1)
        for name, kind in OUTS.items():
            self.say(1, f"{name}[me * {OUT}] = {self.expr(scope, kind, 2)};")
        if self.is_serial:
            return Kernel(self.seed, functions, "\n".join(self.lines), is_serial=True)
        limit = r.randrange(-100, 100) if r.random() < 0.08 else None
        return Kernel(self.seed, functions, "\n".join(self.lines), limit)


def generate(seed: int) -> Kernel:
    """The program of a seed."""
    return _Generator(seed).kernel()
