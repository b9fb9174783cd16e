"""Random statements on unions, bit-fields, jumps, constant tables, variants and pointers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hls.generator_structs import Structs

if TYPE_CHECKING:
    from hls.generator_expressions import Scope

__all__ = ["Constructs"]

# Members of `union u0`, `struct b0` (bit-fields) and `struct k0` (packed), by type. What is
# written as floating point is a converted integer: the bits of NaNs are open.
_MEMBERS = {
    "union u0": [("u", "uint64_t"), ("h[(IDX)]", "uint16_t"), ("i", "int32_t")],
    "struct b0": [
        ("a", "uint32_t"), ("b", "int32_t"), ("c", "uint64_t"), ("d", "uint8_t"), ("e", "int16_t")
    ],
    "struct k0": [("a", "int8_t"), ("b", "int32_t"), ("c", "uint64_t"), ("d", "int16_t")],
}  # fmt: skip


class Constructs(Structs):
    """Writes statements with constructs that are seldom, each a class of its own."""

    def constructs(self, scope: Scope, depth: int, indent: int) -> None:
        choice = self.r.randrange(7)
        if choice == 0 and not self.in_function:
            self.shared_bits(scope, indent)
        elif choice == 1 and depth > 0:
            self.forward(scope, depth, indent)
        elif choice == 2 and depth > 0 and self.loops < 3:
            self.backward(scope, depth, indent)
        elif choice == 3:
            self.variant(scope, indent)
        elif choice == 4:
            self.choices(scope, indent)
        elif choice == 5:
            self.chain(scope, indent)
        else:
            self.table(scope, indent)

    def shared_bits(self, scope: Scope, indent: int) -> None:
        """Members that share their words with others, written and read."""
        r = self.r
        sort = r.choice(list(_MEMBERS))
        name, copy = self.name("m"), self.name("m")
        first = f"{{{self.expr(scope, 'uint8_t', 1)}}}" if r.random() < 0.5 else "{0}"
        self.say(indent, f"{sort} {name} = {first}, {copy} = {{0}};")
        for _ in range(r.randint(1, 5)):
            path, kind = r.choice(_MEMBERS[sort])
            path = path.replace("(IDX)", self.index(scope, 4, 1))
            what = r.randrange(5)
            if what == 0:
                self.say(indent, f"{copy} = {name};")
            elif what == 1 and sort == "union u0":
                self.say(indent, f"{name}.f = (float)({self.expr(scope, 'int32_t', 1)});")
            elif what == 2 and kind.startswith("u"):
                op = r.choice(["+=", "^=", "|=", "-="])
                self.say(indent, f"{name}.{path} {op} {self.expr(scope, kind, 2)};")
            else:
                self.say(indent, f"{name}.{path} = {self.expr(scope, kind, 2)};")
        for whole in (name, copy):
            path, kind = r.choice(_MEMBERS[sort])
            value = self.name("v")
            path = path.replace("(IDX)", self.index(scope, 4, 1))
            self.say(indent, f"{kind} {value} = {whole}.{path};")
            scope.variables[value] = kind

    def forward(self, scope: Scope, depth: int, indent: int) -> None:
        """Jumps over statements, out of what is around them."""
        r = self.r
        ends = [self.name("to") for _ in range(r.randint(1, 2))]
        for end in ends:
            self.say(indent, f"if ({self.condition(scope, 2)}) goto {end};")
        for end in ends:
            self.say(indent, "{")
            jumps, self.jumps = self.jumps, False
            inner = scope.inner()
            self.block(inner, depth - 1, r.randint(1, 2), indent + 1)
            if r.random() < 0.6:
                self.say(indent + 1, f"if ({self.condition(inner, 1)}) {{")
                self.block(inner.inner(), 0, 1, indent + 2)
                self.say(indent + 2, f"goto {ends[-1]};")
                self.say(indent + 1, "}")
                self.block(inner, depth - 1, 1, indent + 1)
            self.jumps = jumps
            self.say(indent, "}")
            self.say(indent, f"{end}:;")

    def backward(self, scope: Scope, depth: int, indent: int) -> None:
        """A jump back, a few times."""
        r = self.r
        left, begin = self.name("i"), self.name("to")
        self.say(indent, f"int32_t {left} = {r.randint(1, 4)};")
        self.say(indent, f"{begin}: {{")
        inner = scope.inner()
        inner.variables[left] = "int32_t"
        inner.fixed.add(left)
        jumps, self.jumps = self.jumps, False
        self.loops += 1
        self.block(inner, depth - 1, r.randint(1, 3), indent + 1)
        self.loops -= 1
        self.jumps = jumps
        self.say(indent, "}")
        self.say(indent, f"if ({left}-- > 0 && {self.condition(scope, 1)}) goto {begin};")

    def table(self, scope: Scope, indent: int) -> None:
        """An element of a static table, which keeps its values."""
        r = self.r
        kind = r.choice(["int8_t", "uint16_t", "int32_t", "int64_t"])
        name, value = self.name("k"), self.name("v")
        numbers = ", ".join(str(r.randrange(-99, 100)) for _ in range(r.randint(1, 8)))
        self.say(indent, f"static const {kind} {name}[8] = {{{numbers}}};")
        self.say(indent, f"{kind} {value} = {name}[{self.index(scope, 8, 1)}];")
        scope.variables[value] = kind

    def variant(self, scope: Scope, indent: int) -> None:
        """A function that a context selects, under a directive that is none here."""
        value = self.name("v")
        which = self.r.choice(
            [
                "when(user={condition(0)}: critical) default(nothing)",
                "when(user={condition(1)}: nothing) otherwise(critical)",
            ]
        )
        self.say(indent, f"int64_t {value} = 0;")
        self.say(indent, f"#pragma omp metadirective {which}")
        self.say(indent, f"{value} = picked({self.expr(scope, 'int64_t', 1)});")
        scope.variables[value] = "int64_t"

    def choices(self, scope: Scope, indent: int) -> None:
        """Pointers that lead into one of several arrays, or nowhere, moved in a loop."""
        r = self.r
        first, second = self.name("a"), self.name("a")
        for name in (first, second):
            given = ", ".join(self.expr(scope, "uint32_t", 1) for _ in range(r.randint(1, 4)))
            self.say(indent, f"uint32_t {name}[4] = {{{given}}};")
        p, q, t, i, value = (self.name(n) for n in ("q", "q", "q", "i", "v"))
        start = f"{self.condition(scope, 1)} ? {first} : {r.choice(['(uint32_t *)0', second])}"
        self.say(indent, f"uint32_t *{p} = {start}, *{q} = {second} + {self.index(scope, 4, 1)};")
        self.say(indent, f"for (int32_t {i} = 0; {i} < {r.randint(1, 4)}; {i}++) {{")
        inner = scope.counting(i)
        for _ in range(r.randint(1, 4)):
            what = r.randrange(4)
            test = self.condition(inner, 1)
            if what == 0:
                self.say(
                    indent + 1, f"if ({test}) {{ uint32_t *{t} = {p}; {p} = {q}; {q} = {t}; }}"
                )
            elif what == 1:
                at = self.index(inner, 4, 1)
                self.say(indent + 1, f"if ({p}) *{p} += {self.expr(inner, 'uint32_t', 1)};")
                self.say(indent + 1, f"else if ({test}) {p} = &{r.choice([first, second])}[{at}];")
            elif what == 2:
                self.say(indent + 1, f"if ({q} != NULL && {q} != {p}) {q}[0] ^= {p} ? *{p} : 5u;")
            else:
                self.say(indent + 1, f"{p} = {test} ? {q} : {r.choice([first, second, 'NULL'])};")
        self.say(indent, "}")
        at = self.index(scope, 4, 1)
        self.say(indent, f"uint32_t {value} = ({p} ? *{p} : 7u) + ({q} ? *{q} : 9u) * 3u;")
        self.say(indent, f"{value} ^= {first}[{at}] + {second}[{at}] + ({p} == {q});")
        if not self.in_function:
            more = f"{self.condition(scope, 1)} ? (const int32_t *){first} : in_i + {at}"
            self.say(indent, f"const int32_t *{t} = {more};")
            self.say(indent, f"{value} += (uint32_t)*{t};")
        scope.variables[value] = "uint32_t"

    def chain(self, scope: Scope, indent: int) -> None:
        """A list whose nodes are elements of an array."""
        r = self.r
        pool, head, n, p, i, value = (self.name(x) for x in ("a", "q", "q", "q", "i", "v"))
        self.say(indent, f"struct n0 {pool}[4], *{head} = 0;")
        self.say(indent, f"for (int32_t {i} = 0; {i} < 4; {i}++) {{")
        inner = scope.counting(i)
        self.say(indent + 1, f"struct n0 *{n} = &{pool}[{r.choice([i, f'3 - {i}'])}];")
        self.say(indent + 1, f"{n}->v = {self.expr(inner, 'uint32_t', 2)};")
        more = f"in_i + {self.index(inner, 8, 1)}" if not self.in_function else "(const int32_t *)0"
        self.say(indent + 1, f"{n}->more = {self.condition(inner, 1)} ? {more} : 0;")
        self.say(indent + 1, f"if ({head} && {self.condition(inner, 1)}) {{")
        self.say(indent + 2, f"{n}->next = {head}->next;")
        self.say(indent + 2, f"{head}->next = {n};")
        self.say(indent + 1, f"}} else {{ {n}->next = {head}; {head} = {n}; }}")
        self.say(indent, "}")
        if r.random() < 0.5:
            self.say(indent, f"if ({head}->next) *{head} = *{head}->next;")
        self.say(indent, f"uint32_t {value} = 0;")
        self.say(indent, f"for (struct n0 *{p} = {head}; {p}; {p} = {p}->next)")
        self.say(
            indent + 1,
            f"{value} = {value} * 31u + {p}->v + ({p}->more ? (uint32_t)*{p}->more : 1u);",
        )
        scope.variables[value] = "uint32_t"
