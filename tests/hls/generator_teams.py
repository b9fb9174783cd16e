"""Random statements on what a team does together in an order that is open, tasks, and more of C.

Which thread executes an iteration, a section or a task is open: what these compute depends on
nothing that is a thread's own, or on copies that a task takes along.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hls.generator_constructs import Constructs
from hls.generator_expressions import Scope
from hls.generator_texts import INTEGERS, SIZE

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Teams"]


class Teams(Constructs):
    """Writes work that is shared in an open order, and what a thread does by itself besides."""

    def shared_work(self, scope: Scope, indent: int) -> None:
        """All threads together."""
        which: list[Callable[[Scope, int], None]] = [
            self.open_loop, self.open_loop, self.ordered, self.sections, self.of_the_device,
            self.ordered if self.is_serial else self.of_each_thread,
        ]  # fmt: skip
        self.r.choice(which)(scope, indent)

    def alone(self, scope: Scope, indent: int) -> None:
        """A thread by itself."""
        which: list[Callable[[Scope, int], None]] = [
            self.task,
            self.task_loop,
            self.task_copies,
            self.nested,
            self.pointers,
        ]
        self.r.choice(which)(scope, indent)

    def open_expr(self, kind: str, *counters: str) -> str:
        """A value that depends on loops' counters and on what all threads share."""
        r = self.r
        scope = Scope({"x": "int32_t", "y": "double", **dict.fromkeys(counters, "int32_t")})
        inside, self.in_function = self.in_function, True
        functions, self.functions = self.functions, []
        found = self.expr(scope, kind, 2)
        self.in_function, self.functions = inside, functions
        at = " + ".join([*counters, str(r.randrange(SIZE))])
        array = r.choice(["in_i", "in_b", "in_l"])
        return f"(({kind})((uint64_t)({found}) ^ (uint64_t){array}[({at}) & {SIZE - 1}]))"

    def open_loop(self, scope: Scope, indent: int) -> None:
        r = self.r
        i, k = self.name("i"), self.name("k")
        schedule = r.choice(["dynamic", "dynamic, 2", "dynamic, 5", "guided", "guided, 3"])
        last, deep = r.random() < 0.4, r.random() < 0.4
        bound = r.choice([f"{k} < {i}", f"{k} <= {i}", f"{k} < 19 - {i}", f"{k} < 4"])
        is_square = i not in bound
        # A collapsed loop whose bounds depend on another one's variable has no schedule.
        clauses = f"schedule({schedule})" if is_square or not deep else ""
        clauses += " lastprivate(last)" if last else ""
        clauses += " collapse(2)" if deep else ""
        self.say(0, f"#pragma omp for {clauses} reduction(+: sum) reduction(max: high)")
        self.say(
            indent, f"for (int32_t {i} = {r.randrange(3)}; {i} < {r.choice([5, 9, 17])}; {i}++)"
        )
        counters = [i]
        if deep:
            self.say(indent, f"for (int32_t {k} = 0; {bound}; {k}++)")
            counters.append(k)
        self.say(indent, "{")
        self.say(indent + 1, f"sum += {self.open_expr('int32_t', *counters)};")
        if last and not deep:
            self.say(indent + 1, f"last = {self.open_expr('int32_t', *counters)};")
        elif last:
            self.say(indent + 1, f"last = {i} * 16 + {k};")
        name = self.name("v")
        self.say(indent + 1, f"uint64_t {name} = {self.open_expr('uint64_t', *counters)};")
        self.say(indent + 1, f"high = {name} > high ? {name} : high;")
        self.say(indent, "}")

    def ordered(self, scope: Scope, indent: int) -> None:
        i, name = self.name("i"), self.name("v")
        self.say(0, "#pragma omp for ordered")
        self.say(indent, f"for (int32_t {i} = 0; {i} < {self.r.choice([3, 8])}; {i}++) {{")
        self.say(indent + 1, f"uint32_t {name} = {self.open_expr('uint32_t', i)};")
        self.say(0, "#pragma omp ordered")
        self.say(indent + 1, f"given[TEAM] = given[TEAM] * 31u + {name};")
        self.say(indent, "}")
        self.handed_on(scope, indent)

    def sections(self, scope: Scope, indent: int) -> None:
        last = self.r.random() < 0.5
        self.say(0, f"#pragma omp sections reduction(+: sum){' lastprivate(last)' if last else ''}")
        self.say(indent, "{")
        for _ in range(self.r.randint(1, 4)):
            self.say(0, "#pragma omp section")
            self.say(indent, "{")
            self.say(indent + 1, f"sum += {self.open_expr('int32_t')};")
            if last:
                self.say(indent + 1, f"last = {self.open_expr('int32_t')};")
            self.say(indent, "}")
        self.say(indent, "}")

    def of_each_thread(self, scope: Scope, indent: int) -> None:
        """A variable that is `threadprivate`."""
        name = self.name("v")
        self.say(indent, f"kept = {self.expr(scope, 'int32_t', 2)};")
        self.say(0, "#pragma omp barrier")
        self.say(indent, f"int32_t {name} = kept ^ {self.expr(scope, 'int32_t', 1)};")
        scope.variables[name] = "int32_t"

    def of_the_device(self, scope: Scope, indent: int) -> None:
        """A global variable of `declare target`, under a lock."""
        self.say(0, "#pragma omp single")
        self.say(indent, "counted = 0;")
        self.say(indent, f"omp_set_lock(&guard); counted += {self.expr(scope, 'uint32_t', 2)};")
        self.say(indent, "omp_unset_lock(&guard);")
        self.say(0, "#pragma omp barrier")
        name = self.name("v")
        self.say(indent, f"uint32_t {name} = counted;")
        self.say(0, "#pragma omp barrier")
        scope.variables[name] = "uint32_t"

    def handed_on(self, scope: Scope, indent: int) -> None:
        name = self.name("v")
        self.say(indent, f"uint32_t {name} = given[TEAM];")
        self.say(0, "#pragma omp barrier")
        scope.variables[name] = "uint32_t"

    def task(self, scope: Scope, indent: int) -> None:
        r = self.r
        kind, name = r.choice(INTEGERS), self.name("v")
        self.say(indent, f"{kind} {name} = {self.expr(scope, kind, 1)};")
        grouped = r.random() < 0.5
        if grouped:
            self.say(0, "#pragma omp taskgroup")
        self.say(indent, "{")
        clauses = r.choice(["", " untied", f" depend(inout: {name})", f" if({name} > 3)"])
        self.say(0, f"#pragma omp task shared({name}){clauses}")
        self.say(indent + 1, f"{name} = {self.expr(scope, kind, 2)};")
        self.say(indent, "}")
        if not grouped:
            self.say(0, "#pragma omp taskwait")
        scope.variables[name] = kind

    def task_loop(self, scope: Scope, indent: int) -> None:
        r = self.r
        kind, name, i = r.choice(INTEGERS), self.name("a"), self.name("i")
        inner = scope.counting(i)
        clauses = r.choice(["", " grainsize(3)", " num_tasks(2)"])
        self.say(indent, f"{kind} {name}[8];")
        self.say(0, f"#pragma omp taskloop shared({name}){clauses}")
        self.say(indent, f"for (int32_t {i} = 0; {i} < 8; {i}++)")
        self.say(indent + 1, f"{name}[{i}] = {self.expr(inner, kind, 2)};")
        scope.locals[name] = (kind, 8)

    def task_copies(self, scope: Scope, indent: int) -> None:
        """A task that writes into its copy of an array of the thread's own."""
        r = self.r
        kind, name, array, i = (
            r.choice(INTEGERS), self.name("v"), self.name("a"), self.name("i")
        )  # fmt: skip
        self.say(indent, f"{kind} {name} = 1, {array}[4];")
        self.say(indent, f"for (int32_t {i} = 0; {i} < 4; {i}++)")
        inner = scope.counting(i)
        self.say(indent + 1, f"{array}[{i}] = {self.expr(inner, kind, 1)};")
        self.say(0, f"#pragma omp task shared({name}){r.choice(['', f' firstprivate({array})'])}")
        self.say(indent, "{")
        at, other = r.sample(range(4), 2)
        self.say(indent + 1, f"{array}[{at}] += {self.expr(scope, kind, 1)};")
        self.say(indent + 1, f"{name} = {array}[{at}] ^ {array}[{other}];")
        self.say(indent, "}")
        self.say(0, "#pragma omp taskwait")
        self.say(indent, f"{array}[{other}] += {array}[{at}];")
        scope.variables[name] = kind
        scope.locals[array] = (kind, 4)

    def nested(self, scope: Scope, indent: int) -> None:
        r = self.r
        name, i = self.name("v"), self.name("i")
        self.say(indent, f"uint32_t {name} = {self.expr(scope, 'uint32_t', 1)};")
        self.say(0, f"#pragma omp parallel for num_threads({r.randint(1, 3)}) reduction(+: {name})")
        self.say(indent, f"for (int32_t {i} = 0; {i} < {r.randint(1, 6)}; {i}++)")
        self.say(indent + 1, f"{name} += {self.open_expr('uint32_t', i)};")
        scope.variables[name] = "uint32_t"

    def pointers(self, scope: Scope, indent: int) -> None:
        """Pointers in memory, into an array of the thread's own."""
        r = self.r
        kind, a, p = r.choice(INTEGERS), self.name("a"), self.name("p")
        i = self.name("i")
        self.say(indent, f"{kind} {a}[8], *{p}[4] = {{{a} + 6, {a}}};")
        self.say(indent, f"for (int {i} = 0; {i} < 8; {i}++) {a}[{i}] = ({kind})({i} ^ me);")
        self.say(indent, f"for (int {i} = 2; {i} < 4; {i}++) {p}[{i}] = &{a}[2 * {i} - 2];")
        for _ in range(r.randint(1, 3)):
            at = self.index(scope, 4, 1)
            self.say(indent, f"{p}[{at}][{r.randrange(2)}] = {self.expr(scope, kind, 2)};")
        name = self.name("v")
        self.say(indent, f"{kind} {name} = *{p}[{self.index(scope, 4, 1)}];")
        scope.variables[name] = kind
        scope.locals[a] = (kind, 8)
