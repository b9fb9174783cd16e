"""Random Calyx programs, and what they mean.

    program = generate(seed)
    program.text                 # Calyx
    program.data                 # its memories, as Calyx data JSON
    program.expected()           # memories after the run, by an interpreter of what is written

The interpreter walks the same tree that is printed and knows neither cycles nor hardware: it shares
nothing with any compiler. Programs are free of races: what one arm of a `par` writes, no other arm
reads or writes, so that their meaning does not depend on timing. Components keep registers from
one run to the next, get registers and memories by reference (some that they only read or never
touch), and may call their interface ports as they like.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

WIDTH = 16
WORD = 1 << WIDTH
SIZE = 8  # words of a memory
ARITHMETIC = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "xor": lambda a, b: a ^ b,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
}
COMPARE = {
    "lt": lambda a, b: a < b,
    "gt": lambda a, b: a > b,
    "eq": lambda a, b: a == b,
    "neq": lambda a, b: a != b,
    "le": lambda a, b: a <= b,
    "ge": lambda a, b: a >= b,
}

Expression = tuple[
    Any, ...
]  # ("const", n) | ("reg", name) | ("in", port) | ("out", cell) | (op, a, b)
Node = tuple[Any, ...]  # (kind, …), see `Scope`


@dataclass
class Kind:
    """A component: its text, and what its control does."""

    name: str
    inputs: tuple[str, ...]
    has_output: bool
    references: dict[str, str]  # formal name to "read", "write" or "unused"; registers only
    latency: int | None
    control: Node = ()
    registers: tuple[str, ...] = ()
    text: str = ""


@dataclass
class State:
    """The state of a run: registers and memories by cell, instances by cell."""

    registers: dict[str, int] = field(default_factory=dict)
    memories: dict[str, list[int]] = field(default_factory=dict)
    instances: dict[str, State] = field(default_factory=dict)
    kind: Kind | None = None


@dataclass(frozen=True)
class Cells:
    """The cells that a statement may write, and those that it may read."""

    write: frozenset[str]
    read: frozenset[str]

    def only(self, kind: str) -> list[str]:
        return sorted(name for name in self.write if name.startswith(kind))


class Writer:
    """Cells, groups and names of one component under construction."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.cells: list[str] = []
        self.wires: list[str] = []
        self.count = 0

    def fresh(self, stem: str) -> str:
        self.count += 1
        return f"{stem}{self.count}"

    def operand(self, value: Expression, lines: list[str]) -> str:
        """The port that carries an expression, whose assignments go to `lines`."""
        what, *rest = value
        if what == "const":
            return f"{WIDTH}'d{rest[0]}"
        if what == "reg":
            return f"{rest[0]}.out"
        if what == "in":
            return str(rest[0])
        if what == "out":
            return f"{rest[0]}.o"
        cell = self.fresh(what)
        self.cells.append(f"{cell} = std_{what}({WIDTH});")
        for side, part in zip(("left", "right"), rest, strict=True):
            lines.append(f"{cell}.{side} = {self.operand(part, lines)};")
        return f"{cell}.out"

    def group(self, stem: str, lines: Sequence[str], done: str) -> str:
        name = self.fresh(stem)
        body = "\n".join(f"      {line}" for line in [*lines, f"{name}[done] = {done};"])
        self.wires.append(f"    group {name} {{\n{body}\n    }}")
        return name

    def special(self, head: str, stem: str, lines: Sequence[str]) -> str:
        name = self.fresh(stem)
        body = "\n".join(f"      {line}" for line in lines)
        self.wires.append(f"    {head} {name} {{\n{body}\n    }}")
        return name


class Scope:
    """Makes the control of one component, as text and as tree."""

    def __init__(self, rng: random.Random, kinds: Sequence[Kind], inputs: Sequence[str]) -> None:
        self.rng = rng
        self.writer = Writer(rng)
        self.inputs = inputs
        self.kind_of: dict[str, Kind] = {}
        self.kinds = kinds
        self.words = SIZE  # of a memory, that are used

    # Expressions.

    def leaf(self, cells: Cells) -> Expression:
        registers = sorted(n for n in cells.read | cells.write if n.startswith("r"))
        instances = sorted(
            n for n in cells.read | cells.write if n.startswith("c") and self.kind_of[n].has_output
        )
        options: list[Expression] = [("const", self.rng.randrange(WORD))]
        options += [("reg", name) for name in registers] * 3
        options += [("in", name) for name in self.inputs] * 2
        options += [("out", name) for name in instances] * 2
        return self.rng.choice(options)

    def expression(self, cells: Cells, depth: int = 2) -> Expression:
        if depth == 0 or self.rng.random() < 0.3:
            return self.leaf(cells)
        operation = self.rng.choice(sorted(ARITHMETIC))
        return (operation, self.expression(cells, depth - 1), self.expression(cells, depth - 1))

    def condition(self, cells: Cells) -> Expression:
        return (self.rng.choice(sorted(COMPARE)), self.expression(cells, 1), self.leaf(cells))

    # Statements: (text, tree).

    def statement(self, cells: Cells, depth: int) -> tuple[str, Node]:
        simple = [self.assign]
        if cells.only("r"):
            simple += [self.assign, self.multiply, self.invoke_register]
        if cells.only("m") or any(n.startswith("m") for n in cells.read):
            simple += [self.load, self.load]
        if cells.only("m"):
            simple += [self.store]
        if cells.only("c"):
            simple += [self.invoke] * 4
        nested = [self.seq, self.seq, self.par, self.choice, self.loop, self.repeat, self.static]
        if depth <= 0 or self.rng.random() < 0.35:
            return self.rng.choice(simple)(cells)
        return self.rng.choice(nested)(cells, depth)

    def assign(self, cells: Cells) -> tuple[str, Node]:
        registers = cells.only("r")
        if not registers:
            return "seq { }" if self.rng.random() < 0.3 else ";", ("seq", ())
        register, value = self.rng.choice(registers), self.expression(cells)
        lines: list[str] = []
        port = self.writer.operand(value, lines)
        lines += [f"{register}.in = {port};", f"{register}.write_en = 1'd1;"]
        name = self.writer.group("set", lines, f"{register}.done")
        return f"{name};", ("set", register, value)

    def multiply(self, cells: Cells) -> tuple[str, Node]:
        register = self.rng.choice(cells.only("r"))
        left, right = self.expression(cells, 1), self.leaf(cells)
        unit = self.writer.fresh("mul")
        self.writer.cells.append(f"{unit} = std_mult_pipe({WIDTH});")
        lines: list[str] = []
        lines += [f"{unit}.left = {self.writer.operand(left, lines)};"]
        lines += [f"{unit}.right = {self.writer.operand(right, lines)};"]
        lines += [
            f"{unit}.go = !{unit}.done ? 1'd1;",
            f"{register}.in = {unit}.out;",
            f"{register}.write_en = {unit}.done;",
        ]
        name = self.writer.group("mulgroup", lines, f"{register}.done")
        return f"{name};", ("mul", register, left, right)

    def invoke_register(self, cells: Cells) -> tuple[str, Node]:
        register, value = self.rng.choice(cells.only("r")), self.leaf(cells)
        port = self.writer.operand(value, [])
        return f"invoke {register}(in = {port})();", ("set", register, value)

    def load(self, cells: Cells) -> tuple[str, Node]:
        registers = cells.only("r")
        memories = sorted(n for n in cells.read | cells.write if n.startswith("m"))
        if not registers:
            return self.assign(cells)
        register, memory = self.rng.choice(registers), self.rng.choice(memories)
        index = self.rng.randrange(self.words)
        lines = [f"{memory}.addr0 = 3'd{index};"]
        if memory.startswith("ms"):
            # A sequential memory may be read by one at a time: only where it may be written.
            if memory not in cells.write:
                return self.assign(cells)
            lines += [
                f"{memory}.content_en = !{memory}.done ? 1'd1;",
                f"{register}.in = {memory}.read_data;",
                f"{register}.write_en = {memory}.done;",
            ]
        else:
            if memory not in cells.write:
                return self.assign(cells)
            lines += [f"{register}.in = {memory}.read_data;", f"{register}.write_en = 1'd1;"]
        name = self.writer.group("load", lines, f"{register}.done")
        return f"{name};", ("load", register, memory, index)

    def store(self, cells: Cells) -> tuple[str, Node]:
        memory, value = self.rng.choice(cells.only("m")), self.expression(cells, 1)
        index = self.rng.randrange(self.words)
        lines: list[str] = []
        port = self.writer.operand(value, lines)
        lines += [f"{memory}.addr0 = 3'd{index};", f"{memory}.write_data = {port};"]
        lines += [f"{memory}.write_en = 1'd1;"]
        if memory.startswith("ms"):
            lines += [f"{memory}.content_en = 1'd1;"]
        name = self.writer.group("store", lines, f"{memory}.done")
        return f"{name};", ("store", memory, index, value)

    def invoke(self, cells: Cells) -> tuple[str, Node]:
        instance = self.rng.choice(cells.only("c"))
        kind = self.kind_of[instance]
        given: dict[str, str] = {}
        for formal, use in kind.references.items():
            free = [n for n in cells.only("r") if n not in given.values()]
            if use == "read":
                free += [n for n in cells.read if n.startswith("r") and n not in given.values()]
            if use == "unused":
                free = [n for n in self.all_registers if n not in given.values()]
            if not free:
                return self.assign(cells)
            given[formal] = self.rng.choice(sorted(free))
        inputs = {port: self.leaf(cells) for port in kind.inputs}
        # A register that the run writes is no input of it: the port is read all the while.
        written = {a for f, a in given.items() if kind.references[f] == "write"}
        for port, value in inputs.items():
            if value[0] == "out" or (value[1:] and value[1] in written):
                inputs[port] = ("const", self.rng.randrange(WORD))
        refs = f"[{', '.join(f'{f} = {a}' for f, a in given.items())}]" if given else ""
        bound = ", ".join(f"{p} = {self.writer.operand(v, [])}" for p, v in inputs.items())
        word = f"static<{kind.latency}> invoke" if kind.latency and not given else "invoke"
        if kind.latency:
            word = f"static<{kind.latency}> invoke"
        return f"{word} {instance}{refs}({bound})();", ("invoke", instance, inputs, given)

    # Control.

    def several(self, cells: Cells, depth: int, count: int) -> tuple[str, tuple[Node, ...]]:
        parts = [self.statement(cells, depth - 1) for _ in range(count)]
        return " ".join(text for text, _ in parts), tuple(tree for _, tree in parts)

    def seq(self, cells: Cells, depth: int) -> tuple[str, Node]:
        text, parts = self.several(cells, depth, self.rng.randint(1, 4))
        return f"seq {{ {text} }}", ("seq", parts)

    def arms(self, cells: Cells) -> list[Cells]:
        count = self.rng.randint(2, 3)
        shares: list[set[str]] = [set() for _ in range(count)]
        for name in sorted(cells.write):
            self.rng.choice(shares).add(name)
        common = cells.read
        # Nobody writes these in any arm, so that all arms may read them.
        kept = set()
        for share in shares:
            for name in sorted(share):
                if name.startswith("r") and self.rng.random() < 0.2:
                    share.discard(name)
                    kept.add(name)
        return [Cells(frozenset(share), common | kept) for share in shares]

    def par(self, cells: Cells, depth: int) -> tuple[str, Node]:
        parts = [self.statement(arm, depth - 1) for arm in self.arms(cells)]
        texts = [t for t, _ in parts]
        return f"par {{ {' '.join(texts)} }}", ("seq", tuple(tree for _, tree in parts))

    def choice(self, cells: Cells, depth: int) -> tuple[str, Node]:
        condition = self.condition(cells)
        lines: list[str] = []
        port = self.writer.operand(condition, lines)
        comb = self.writer.special("comb group", "cond", lines)
        yes, yes_tree = self.statement(cells, depth - 1)
        otherwise, no_tree = "", ("seq", ())
        if self.rng.random() < 0.7:
            no, no_tree = self.statement(cells, depth - 1)
            otherwise = f" else {{ {no} }}"
        tree = ("if", condition, yes_tree, no_tree)
        return f"if {port} with {comb} {{ {yes} }}{otherwise}", tree

    def loop(self, cells: Cells, depth: int) -> tuple[str, Node]:
        times = self.rng.randint(0, 3)
        counter = self.writer.fresh("k")
        self.writer.cells.append(f"{counter} = std_reg({WIDTH});")
        clear = self.writer.group(
            "clear",
            [f"{counter}.in = {WIDTH}'d0;", f"{counter}.write_en = 1'd1;"],
            f"{counter}.done",
        )
        lines: list[str] = []
        port = self.writer.operand(("lt", ("reg", counter), ("const", times)), lines)
        comb = self.writer.special("comb group", "cond", lines)
        lines = []
        more = self.writer.operand(("add", ("reg", counter), ("const", 1)), lines)
        lines += [f"{counter}.in = {more};", f"{counter}.write_en = 1'd1;"]
        step = self.writer.group("step", lines, f"{counter}.done")
        text, tree = self.statement(cells, depth - 1)
        bound = f"@bound({times}) " if self.rng.random() < 0.5 and times else ""
        return (
            f"seq {{ {clear}; {bound}while {port} with {comb} {{ seq {{ {text} {step}; }} }} }}",
            ("repeat", times, tree),
        )

    def repeat(self, cells: Cells, depth: int) -> tuple[str, Node]:
        times = self.rng.randint(0, 4)
        text, tree = self.statement(cells, depth - 1)
        own = "@new_fsm " if self.rng.random() < 0.3 else ""
        return f"{own}repeat {times} {{ {text} }}", ("repeat", times, tree)

    def static(self, cells: Cells, depth: int) -> tuple[str, Node]:
        if not cells.only("r"):
            return self.seq(cells, depth)
        text, tree, _ = self.static_statement(cells, depth)
        return text, tree

    def static_statement(self, cells: Cells, depth: int) -> tuple[str, Node, int]:
        """Text, tree and cycles of a static statement."""
        what = self.rng.random()
        if depth <= 0 or what < 0.3:
            register, value = self.rng.choice(cells.only("r")), self.expression(cells)
            lines: list[str] = []
            port = self.writer.operand(value, lines)
            cycles = self.rng.randint(1, 3)
            when = f"%{cycles - 1} ? " if cycles > 1 else ""
            lines += [f"{register}.in = {port};", f"{register}.write_en = {when}1'd1;"]
            name = self.writer.special(f"static<{cycles}> group", "fixed", lines)
            return f"{name};", ("set", register, value), cycles
        if what < 0.6:
            parts = [self.static_statement(cells, depth - 1) for _ in range(self.rng.randint(1, 3))]
            text = " ".join(t for t, _, _ in parts)
            tree = ("seq", tuple(t for _, t, _ in parts))
            return f"static seq {{ {text} }}", tree, sum(n for _, _, n in parts)
        if what < 0.8:
            arms = [arm for arm in self.arms(cells) if arm.only("r")]
            if not arms:
                return self.static_statement(cells, 0)
            parts = [self.static_statement(arm, depth - 1) for arm in arms]
            text = " ".join(t for t, _, _ in parts)
            tree = ("seq", tuple(t for _, t, _ in parts))
            return f"static par {{ {text} }}", tree, max(n for _, _, n in parts)
        times = self.rng.randint(1, 3)
        text, tree, cycles = self.static_statement(cells, depth - 1)
        return f"static repeat {times} {{ {text} }}", ("repeat", times, tree), times * cycles

    all_registers: tuple[str, ...] = ()


class Run:
    """Interprets trees."""

    def value(self, what: Expression, state: State, inputs: dict[str, int]) -> int:
        kind, *rest = what
        if kind == "const":
            return int(rest[0])
        if kind == "reg":
            return self.holder(state, rest[0])[0].registers[self.holder(state, rest[0])[1]]
        if kind == "in":
            return inputs[rest[0]]
        if kind == "out":
            inner = state.instances[rest[0]]
            assert inner.kind is not None
            return inner.registers[inner.kind.registers[0]]
        left, right = (self.value(part, state, inputs) for part in rest)
        if kind in COMPARE:
            return int(COMPARE[kind](left, right))
        return ARITHMETIC[kind](left, right) % WORD

    def holder(self, state: State, register: str) -> tuple[State, str]:
        return self.bound.get((id(state), register), (state, register))

    def __init__(self) -> None:
        self.bound: dict[tuple[int, str], tuple[State, str]] = {}

    def write(self, state: State, register: str, value: int) -> None:
        owner, name = self.holder(state, register)
        owner.registers[name] = value % WORD

    def run(self, node: Node, state: State, inputs: dict[str, int]) -> None:
        kind, *rest = node
        if kind == "seq":
            for part in rest[0]:
                self.run(part, state, inputs)
        elif kind == "repeat":
            for _ in range(rest[0]):
                self.run(rest[1], state, inputs)
        elif kind == "if":
            self.run(rest[1] if self.value(rest[0], state, inputs) else rest[2], state, inputs)
        elif kind == "set":
            self.write(state, rest[0], self.value(rest[1], state, inputs))
        elif kind == "mul":
            left, right = (self.value(part, state, inputs) for part in rest[1:])
            self.write(state, rest[0], left * right)
        elif kind == "load":
            self.write(state, rest[0], state.memories[rest[1]][rest[2]])
        elif kind == "store":
            state.memories[rest[0]][rest[1]] = self.value(rest[2], state, inputs)
        else:
            instance, given, references = rest
            inner = state.instances[instance]
            assert inner.kind is not None
            for formal, actual in references.items():
                self.bound[id(inner), formal] = self.holder(state, actual)
            values = {port: self.value(v, state, inputs) for port, v in given.items()}
            self.run(inner.kind.control, inner, values)


def fresh_state(kind: Kind, instances: dict[str, Kind]) -> State:
    state = State(kind=kind)
    state.registers = dict.fromkeys(kind.registers, 0)
    state.instances = {name: fresh_state(inner, {}) for name, inner in instances.items()}
    return state


def make_component(rng: random.Random, number: int) -> Kind:
    inputs = tuple(f"x{i}" for i in range(rng.randint(0, 2)))
    fixed = rng.random() < 0.25
    references = {}
    if not fixed:
        uses = [rng.choice(("read", "write", "unused")) for _ in range(rng.randint(0, 2))]
        references = {f"rq{i}": use for i, use in enumerate(uses)}
    scope = Scope(rng, (), inputs)
    registers = tuple(f"r{i}" for i in range(rng.randint(2, 4)))
    scope.all_registers = registers
    readable = {name for name, use in references.items() if use == "read"}
    writable = {name for name, use in references.items() if use == "write"}
    cells = Cells(frozenset({*registers, *writable}), frozenset(readable))
    latency = None
    if fixed:
        text, tree, latency = scope.static_statement(cells, 3)
    else:
        text, tree = scope.seq(cells, 3)
        # Every reference that is used is used: what it is declared for decides who may share it.
        for name in sorted(readable):
            more, node = scope_assign(scope, registers[-1], ("reg", name))
            text, tree = f"seq {{ {text} {more} }}", ("seq", (tree, node))
        for name in sorted(writable):
            more, node = scope_assign(scope, name, ("reg", registers[0]))
            text, tree = f"seq {{ {text} {more} }}", ("seq", (tree, node))
    kind = Kind(f"part{number}", inputs, True, references, latency, tree, registers)
    cell_lines = [f"{name} = std_reg({WIDTH});" for name in registers]
    cell_lines += [f"ref {name} = std_reg({WIDTH});" for name in references]
    # Interface ports by other names.
    own = rng.random() < 0.2 and not fixed
    interface = "@go begin: 1, @clk tick: 1, @reset zero: 1" if own else ""
    ports = ", ".join([*([interface] if interface else []), *(f"{p}: {WIDTH}" for p in inputs)])
    outputs = f"@done ready: 1, o: {WIDTH}" if own else f"o: {WIDTH}"
    head = f"static<{latency}> component" if fixed else "component"
    body = "\n".join(f"    {line}" for line in [*cell_lines, *scope.writer.cells])
    wires = "\n".join(scope.writer.wires)
    kind.text = (
        f"{head} {kind.name}({ports}) -> ({outputs}) {{\n  cells {{\n{body}\n  }}\n"
        f"  wires {{\n    o = {registers[0]}.out;\n{wires}\n  }}\n  control {{ {text} }}\n}}\n"
    )
    return kind


def scope_assign(scope: Scope, register: str, value: Expression) -> tuple[str, Node]:
    lines = [f"{register}.in = {scope.writer.operand(value, [])};", f"{register}.write_en = 1'd1;"]
    return f"{scope.writer.group('set', lines, f'{register}.done')};", ("set", register, value)


@dataclass
class RandomProgram:
    """A program, its data and its meaning."""

    text: str
    data: dict[str, Any]
    main: Kind
    instances: dict[str, Kind]
    memories: dict[str, list[int]]
    observed: tuple[Expression, ...]

    def expected(self) -> dict[str, list[int]]:
        """Every memory after the run."""
        state = fresh_state(self.main, self.instances)
        inside = {outer: inner for inner, outer in OUTSIDE.items()}
        state.memories = {inside.get(n, n): list(words) for n, words in self.memories.items()}
        run = Run()
        run.run(self.main.control, state, {})
        seen = [run.value(what, state, {}) for what in self.observed]
        left = {name: state.memories[inside.get(name, name)] for name in self.memories}
        return {**left, "result": seen}


OUTSIDE = {"mc": "outer_mc", "ms": "outer_ms"}  # where a memory of its own comes from and goes


def moved(scope: Scope, memories: Sequence[str]) -> tuple[list[str], list[str]]:
    """Statements that fill each memory from the one outside, and such that write it back."""
    first, last = [], []
    for memory in memories:
        outer, asked = OUTSIDE[memory], ["ms.content_en = 1'd1;"] if memory == "ms" else []
        for index in range(SIZE):
            place = [f"{memory}.addr0 = 3'd{index};", f"{outer}.addr0 = 3'd{index};"]
            lines = [*place, f"{memory}.write_data = {outer}.read_data;", *asked]
            lines += [f"{memory}.write_en = 1'd1;"]
            first.append(f"{scope.writer.group('fill', lines, f'{memory}.done')};")
            held = f"{memory}_word"
            lines = [f"{memory}.addr0 = 3'd{index};", *asked, f"{held}.in = {memory}.read_data;"]
            written = f"{memory}.done" if asked else "1'd1"
            lines += [f"{held}.write_en = {written};"]
            last.append(f"{scope.writer.group('take', lines, f'{held}.done')};")
            lines = [f"{outer}.addr0 = 3'd{index};", f"{outer}.write_data = {held}.out;"]
            lines += [f"{outer}.write_en = 1'd1;"]
            last.append(f"{scope.writer.group('put', lines, f'{outer}.done')};")
        scope.writer.cells.append(f"{memory}_word = std_reg({WIDTH});")
    return first, last


def generate(seed: int, size: int = 3, *, own: bool = False) -> RandomProgram:
    """A program of `size` statements at its top, for a seed.

    With `own` its memories are its own: it fills them at first from those outside, and writes them
    back at last; and of each it uses few words, so that it reads some again.
    """
    rng = random.Random(seed)
    kinds = [make_component(rng, n) for n in range(rng.randint(1, 3))]
    scope = Scope(rng, kinds, ())
    registers = tuple(f"r{i}" for i in range(rng.randint(2, 6)))
    scope.all_registers = registers
    for number in range(rng.randint(1, 4)):
        scope.kind_of[f"c{number}"] = rng.choice(kinds)
    memories = {name: [rng.randrange(WORD) for _ in range(SIZE)] for name in ("mc", "ms")}
    scope.words = 2 if own else SIZE
    cells = Cells(frozenset({*registers, *scope.kind_of, *memories}), frozenset())
    parts = [scope.statement(cells, 4) for _ in range(size)]
    observed: list[Expression] = [("reg", name) for name in registers]
    observed += [("out", name) for name in scope.kind_of]
    texts, trees = [t for t, _ in parts], [n for _, n in parts]
    if own:
        first, last = moved(scope, memories)
        texts = [*first, *texts, *last]
    for index, what in enumerate(observed):
        lines = [f"result.addr0 = 4'd{index};", "result.write_en = 1'd1;"]
        lines += [f"result.write_data = {scope.writer.operand(what, [])};"]
        texts.append(f"{scope.writer.group('show', lines, 'result.done')};")
    main = Kind("main", (), False, {}, None, ("seq", tuple(trees)), registers)
    cell_lines = [f"{name} = std_reg({WIDTH});" for name in registers]
    cell_lines += [f"{name} = {kind.name}();" for name, kind in scope.kind_of.items()]
    kept = "" if own else "@external "
    cell_lines += [f"{kept}mc = comb_mem_d1({WIDTH}, {SIZE}, 3);"]
    cell_lines += [f"{kept}ms = seq_mem_d1({WIDTH}, {SIZE}, 3);"]
    if own:
        cell_lines += [
            f"@external {m} = comb_mem_d1({WIDTH}, {SIZE}, 3);" for m in OUTSIDE.values()
        ]
    cell_lines += [f"@external result = comb_mem_d1({WIDTH}, {len(observed)}, 4);"]
    body = "\n".join(f"    {line}" for line in [*cell_lines, *scope.writer.cells])
    wires = "\n".join(scope.writer.wires)
    files = ("core", "memories/comb", "memories/seq", "binary_operators")
    text = "".join(f'import "primitives/{file}.futil";\n' for file in files)
    text += "".join(kind.text for kind in kinds)
    text += (
        f"component main() -> () {{\n  cells {{\n{body}\n  }}\n  wires {{\n{wires}\n  }}\n"
        f"  control {{ seq {{\n    " + "\n    ".join(texts) + "\n  } }\n}\n"
    )
    form = {"numeric_type": "bitnum", "is_signed": False, "width": WIDTH}
    if own:
        memories = {OUTSIDE[name]: words for name, words in memories.items()}
    contents = {**memories, "result": [0] * len(observed)}
    data = {name: {"data": words, "format": form} for name, words in contents.items()}
    return RandomProgram(text, data, main, scope.kind_of, memories, tuple(observed))
