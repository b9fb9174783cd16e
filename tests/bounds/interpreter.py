"""The rules of docs/bounds.md, executed on the C syntax tree: slow on purpose, and by itself.

It takes nothing from the engine but the front end's tree: no lowering, no network, no depths.
Memory is what C says it is: a variable is a row of bytes with a cell where a number begins, and a
pointer is a variable and an offset in it. Every cell carries the cycles from which it can be read
in both estimates; a firing waits for the cells that it reads. Not covered are `goto`, blocks of
memory (`memset`, `memcpy`) and addresses made of numbers.
"""

from __future__ import annotations

import ctypes
import math
import struct
from bisect import insort
from collections import Counter, defaultdict
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from bounds.loops import STEPS, Counters, changes, own_expressions
from cyclescope.c import (
    Array,
    Assign,
    Binary,
    Block,
    Break,
    Call,
    Cast,
    Conditional,
    Continue,
    CType,
    Declare,
    DoWhile,
    Empty,
    Evaluate,
    Expr,
    For,
    Function,
    If,
    Index,
    InitList,
    Literal,
    Member,
    Name,
    Pointer,
    Return,
    Scalar,
    Stmt,
    Struct,
    Switch,
    Unary,
    Unit,
    Variable,
    Void,
    While,
    children,
    walk,
)  # fmt: skip

# docs/bounds.md, "Depths and calibration".
HALF = Fraction(1, 2)
DEPTH = {
    "double": {"base": 2, "+": 8, "*": 8, "/": 36, "<": HALF, "?": HALF, "neg": 0, "convert": 6,
               "sqrt": 1, "abs": 0, "minmax": 1, "round": 6, "exp": 30, "pow": 60, "trig": 40},
    "float": {"base": 2, "+": 11, "*": 8, "/": 28, "<": 2, "?": HALF, "neg": 0, "convert": 6,
              "sqrt": 28, "abs": 0, "minmax": 2, "round": 6, "exp": 20, "pow": 40, "trig": 30},
    "int": {"base": 1, "+": HALF, "*": 6, "/": 35, "<": HALF, "?": HALF, "&": HALF, "<<": HALF,
            "neg": HALF, "convert": 0, "abs": 1},
}  # fmt: skip
KIND = {"-": "+", "%": "/", ">": "<", "<=": "<", ">=": "<", "==": "<", "!=": "<", "|": "&",
        "^": "&", ">>": "<<", "!": "<", "~": "&"}  # fmt: skip
LIBRARY = {
    "sqrt": "sqrt", "fabs": "abs", "abs": "abs", "labs": "abs", "fmin": "minmax", "fmax": "minmax",
    "floor": "round", "ceil": "round", "exp": "exp", "log": "exp", "pow": "pow", "sin": "trig",
    "cos": "trig", "atan2": "trig",
}  # fmt: skip
INT = Scalar("int", 32)
LONG = Scalar("int", 64)
CONSTANT, FREE, DATA = range(3)


class Cell:
    """A number with the cycles from which it can be read; `new`: the kernel hasn't written it.

    `storage` is the array, or the field of an array of structs, that the outside sees it in.
    """

    def __init__(self, value: Any = 0, storage: str = "") -> None:
        self.value, self.at, self.storage, self.new = value, [0, 0], storage, bool(storage)


class Memory:
    """The bytes of a variable: where in it a number begins, there is a cell.

    `free`: a pointer that is never made of data, for which nobody waits.
    """

    def __init__(self, kind: CType, name: str = "", *, free: bool = False) -> None:
        self.free = free
        self.cells = {at: Cell(0, name + path) for at, _, path in leaves(kind, bool(name))}


@dataclass(frozen=True)
class Address:
    """A place in memory; as a value, a pointer."""

    memory: Memory
    at: int

    def plus(self, distance: int) -> Address:
        return Address(self.memory, self.at + distance)

    @property
    def cell(self) -> Cell:
        return self.memory.cells[self.at]


@dataclass
class Number:
    """A value on its way through a firing: its arrival after the reads, what it is made of."""

    value: Any
    kind: CType
    arrival: Fraction = Fraction(0)
    form: int = CONSTANT


@dataclass
class Firing:
    """The reads of a firing so far, and what it wrote: the cells, and by which lvalues.

    `chosen` is when it is told which of several structs is read.
    """

    ready: list[int] = field(default_factory=lambda: [0, 0])
    reads: int = 0
    base: Fraction = Fraction(0)
    computes: bool = False
    written: set[int] = field(default_factory=set)
    lvalues: dict[Any, Number] = field(default_factory=dict)
    chosen: Fraction = Fraction(0)


class _LeaveError(Exception):
    pass


class _ReturnError(Exception):
    pass


@dataclass
class Outcome:
    """Totals, and for each process the starts of its firings in both estimates.

    `waits` has for each process the cycles for which operands waited for a resource, and those for
    which the free resource waited for operands, then the same in the other estimate. `arrays` has
    what parameters and globals hold, by the name of the storage.
    """

    starts: dict[Any, list[Counter[int]]] = field(
        default_factory=lambda: defaultdict(lambda: [Counter(), Counter()])
    )
    cycles: list[int] = field(default_factory=lambda: [0, 0])
    waits: dict[Any, list[int]] = field(default_factory=lambda: defaultdict(lambda: [0, 0, 0, 0]))
    arrays: dict[str, list[Any]] = field(default_factory=dict)
    inputs: set[str] = field(default_factory=set)


def interpret(
    unit: Unit,
    kernel: str,
    contents: dict[str, list[Any]],
    resources: tuple[int | None, int | None] = (1, None),
    inputs: set[str] | None = None,
) -> Outcome:
    """Run a kernel on some contents, first to find out what its inputs are, if that isn't told.

    Two estimates are made at once, each with some number of resources a process; None: any number.

    `contents` has each parameter, and each global without an initial value, by the name of its
    storage: `a`, or `p.re` for a field.
    """
    if inputs is None:
        inputs = _Run(unit, kernel, contents, None, resources).inputs
    outcome = _Run(unit, kernel, contents, inputs, resources).outcome
    outcome.inputs = inputs
    return outcome


class _Run:
    def __init__(
        self,
        unit: Unit,
        kernel: str,
        contents: dict[str, list[Any]],
        inputs: set[str] | None,
        resources: tuple[int | None, int | None],
    ) -> None:
        self.unit = unit
        self.kernel = unit.functions[kernel]
        self.resources = resources
        self.inputs: set[str] = set()
        self.wrote: set[str] = set()
        self.outcome = Outcome()
        # Of each process in both estimates: until when its firings hold a resource, in order.
        self.held: dict[Any, list[list[int]]] = defaultdict(lambda: [[], []])
        self.path: tuple[Any, ...] = ()
        self.within: tuple[int, ...] = ()  # the outlined calls at hand
        self.env: dict[Variable, Any] = {}
        self.statics: dict[Variable, Any] = {}
        self.active: set[Variable] = set()
        self.known: dict[Any, Counters] = {}
        self.free: set[Any] = set()
        self.result: Memory | None = None
        self.outer: dict[str, list[Cell]] = {}
        self.changed_anywhere = {
            v
            for f in unit.functions.values()
            for v, n in changes(f.body)
            if not isinstance(n, Assign) or isinstance(n.target, Name)
        }
        self.addressed = {
            v
            for f in unit.functions.values()
            for e in own_expressions(f.body)
            for n in walk(e)
            if isinstance(n, Unary) and n.op == "&" and (v := _root(n.operand)) is not None
        }
        self.counters = self.analysed(self.kernel, frozenset())
        sources = []
        for param in self.kernel.params:
            if isinstance(param.type, Array):
                self.env[param] = self.surrounding(param, contents)
                sources += self.names(param)
            else:
                kind = param.type
                self.given(param, Number(_wrapped(contents[param.name][0], kind), kind))
        for v in unit.variables.values():
            if v.init is None and not contents.keys() & set(self.names(v)):
                continue  # nobody uses it
            if isinstance(v.type, Scalar) and not self.is_written(v):
                assert v.init is not None
                self.statics[v] = Number(_wrapped(self.value(v.init, None).value, v.type), v.type)
                continue
            self.statics[v] = self.surrounding(v, contents)
            if v.init is None:
                many = isinstance(v.type, Array)
                sources += [n for n in self.names(v) if many or len(self.outer[n]) > 1]
        for name in sources:
            if inputs is not None and name in inputs:
                for cell in self.outer[name]:
                    cell.at = self.fire(f"source {name}", [0, 0], 1)
        if not isinstance(self.kernel.result, Void):
            self.result = Memory(self.kernel.result)
        with suppress(_ReturnError):
            self.run(self.kernel.body)
        written = self.written(self.kernel, set())
        for name, cells in self.outer.items():
            self.outcome.arrays[name] = [c.value for c in cells]
            if name in self.wrote | written:
                fed = inputs is not None and name in inputs and name in sources
                for cell in cells:
                    ready = cell.at if fed or not cell.new else [0, 0]
                    self.fire(f"sink {name}", list(ready), 1)

    def written(self, function: Function, seen: set[str]) -> set[str]:
        """The storages that a function, or one that it calls, writes by name, if it gets there."""
        seen.add(function.name)
        found: set[str] = set()
        for node in (n for e in own_expressions(function.body) for n in walk(e)):
            called = self.unit.functions.get(node.function) if isinstance(node, Call) else None
            if called is not None and called.body is not None and called.name not in seen:
                found |= self.written(called, seen)
            target = node.target if isinstance(node, Assign) else None
            if isinstance(node, Unary) and node.op in STEPS:
                target = node.operand
            path = ""
            while isinstance(target, Member | Index):
                path = f".{target.field}{path}" if isinstance(target, Member) else path
                target = target.base
            if isinstance(target, Name) and target.variable.scope == "global":
                path = target.variable.name + path
                found |= {n for n in self.outer if n == path or n.startswith(f"{path}.")}
        return found

    def names(self, v: Variable) -> list[str]:
        return list(dict.fromkeys(v.name + path for _, _, path in leaves(v.type, True)))

    def is_written(self, v: Variable) -> bool:
        return v in self.changed_anywhere or v in self.addressed

    def surrounding(self, v: Variable, contents: dict[str, list[Any]]) -> Memory:
        """A variable that the outside sees, with its value."""
        memory = Memory(v.type, v.name)
        for _, kind, path in leaves(v.type, True):
            cells = self.outer[v.name + path] = [
                c for c in memory.cells.values() if c.storage == v.name + path
            ]
            for n, cell in enumerate(cells):
                cell.value = _wrapped(0 if v.init is not None else contents[v.name + path][n], kind)
        self.initial(memory, 0, v.type, v.init)
        return memory

    def initial(self, memory: Memory, at: int, kind: CType, init: Expr | None) -> None:
        """Constants of a list; what is computed is assigned."""
        if isinstance(init, InitList):
            for (inner, distance), value in zip(_parts_of(kind), init.values, strict=False):
                self.initial(memory, at + distance, inner, value)
        elif init is not None and isinstance(kind, Scalar) and _constant(init):
            memory.cells[at].value = _wrapped(self.value(init, None).value, kind)
        elif init is not None and isinstance(kind, Pointer) and not memory.free:
            with suppress(KeyError):  # of a local: it is assigned
                memory.cells[at].value = self.value(init, None).value

    def fire(
        self, process: Any, ready: list[int], depth: int, passed: Variable | None = None
    ) -> list[int]:
        """A firing. What is passed for a parameter may be at the place of another process."""
        start = list(ready)
        waits = self.outcome.waits[process]
        for e, most in enumerate(self.resources):
            # It starts when fewer than all resources are held by earlier firings.
            held = self.held[process, passed, *self.within][e]
            free = held[-most] if most is not None and len(held) >= most else 0
            start[e] = max(start[e], free)
            insort(held, start[e] + 1)
            self.outcome.starts[process][e][start[e]] += 1
            end = start[e] + depth + 2
            self.outcome.cycles[e] = max(self.outcome.cycles[e], end)
            waits[2 * e] += start[e] - ready[e]
            waits[2 * e + 1] += start[e] - free
        return [s + depth + 2 for s in start]

    def analysed(self, function: Function, data: frozenset[Variable]) -> Counters:
        key = function.name, data
        if key not in self.known:
            self.known[key] = Counters(self.unit, function, self.addressed, data)
        return self.known[key]

    # -- statements ----------------------------------------------------------------------------

    def run(self, node: Stmt | None) -> None:
        match node:
            case None | Empty():
                pass
            case Block(body=body):
                for inner in body:
                    self.run(inner)
            case Declare(variables=variables):
                for v in variables:
                    self.declare(v)
            case Evaluate(value=value):
                self.evaluate(value)
            case If(condition=condition, then=then, other=other):
                self.run(then if self.value(condition, None).value else other)
            case For(init=init):
                self.run(init)
                self.loop(node)
            case While() | DoWhile():
                self.loop(node)
            case Switch(condition=condition, sections=sections):
                test = self.value(condition, None).value
                found = [n for n, s in enumerate(sections) if test in s.values]
                found = found or [n for n, s in enumerate(sections) if None in s.values]
                try:
                    for section in sections[found[0] :] if found else ():
                        for inner in section.body:
                            self.run(inner)
                except _LeaveError as leave:
                    if leave.args[0] is Continue:
                        raise
            case Break() | Continue():
                raise _LeaveError(type(node))
            case Return(value=value):
                if value is not None and self.result is not None:
                    self.store(value, self.result, node.where, value.type)
                elif value is not None:
                    self.evaluate(value)
                raise _ReturnError
            case _:
                raise AssertionError(node)

    def declare(self, v: Variable) -> None:
        if v.scope == "static":
            if v not in self.statics:
                self.statics[v] = Memory(v.type)
                self.initial(self.statics[v], 0, v.type, v.init)
            return
        # A variable keeps its place from one entry of its block to the next.
        memory = self.env.get(v)
        if not isinstance(memory, Memory):
            memory = self.env[v] = Memory(v.type, free=self.counters.is_pure(v))
        if isinstance(v.init, InitList):
            for at, kind, _ in leaves(v.type, False):
                memory.cells[at].value, memory.cells[at].at = _wrapped(0, kind), [0, 0]
            self.initial(memory, 0, v.type, v.init)
            self.computed(Address(memory, 0), v.type, v.init)
        elif v.init is not None:
            self.store(v.init, memory, v.where, v.type, begins=v)

    def computed(self, place: Address, kind: CType, init: Expr) -> None:
        """The values of a list that are no constants: an assignment each."""
        if isinstance(init, InitList):
            for (inner, distance), value in zip(_parts_of(kind), init.values, strict=False):
                self.computed(place.plus(distance), inner, value)
        elif not _constant(init):
            self.store(init, place, init.where, kind)

    def loop(self, node: For | While | DoWhile) -> None:
        mine = set()
        for v in self.counters.loops[id(node)]:
            if (id(node), v) in self.counters.starts:
                start = self.counters.starts[id(node), v]
                if id(start) in self.free and v not in self.active:
                    mine.add(v)
        self.active |= mine
        first = isinstance(node, DoWhile)
        try:
            while True:
                ends = not first and node.condition is not None
                if ends and not self.value(node.condition, None).value:
                    break
                first = False
                try:
                    self.run(node.body)
                except _LeaveError as leave:
                    if leave.args[0] is Break:
                        break
                if isinstance(node, For) and node.step is not None:
                    self.evaluate(node.step)
                if isinstance(node, DoWhile):
                    if not self.value(node.condition, None).value:
                        break
                    first = True
        finally:
            self.active -= mine

    # -- effects -------------------------------------------------------------------------------

    def evaluate(self, node: Expr) -> None:
        match node:
            case Binary(op=",", left=left, right=right):
                self.evaluate(left)
                self.evaluate(right)
            case Cast(operand=operand):
                self.evaluate(operand)
            case Assign() | Unary() if id(node) in self.counters.steps:
                self.step(node)
            case Assign():
                self.assign(node)
            case Unary(op=op, operand=operand) if op in STEPS:
                one = Literal(node.where, INT, 1)
                sign = "+=" if STEPS[op] > 0 else "-="
                common = _promoted(operand.type)
                self.assign(Assign(node.where, operand.type, sign, operand, one, common))
            case Call(function=name):
                if self.unit.functions[name].body is not None:
                    self.call(node, None)
            case Binary(op="&&" | "||" as op, left=left, right=right):
                if bool(self.value(left, None).value) == (op == "&&"):
                    self.evaluate(right)
            case Conditional(condition=condition, then=then, other=other):
                self.evaluate(then if self.value(condition, None).value else other)
            case _:
                for inner in children(node):
                    self.evaluate(inner)

    def step(self, node: Assign | Unary) -> None:
        target = node.operand if isinstance(node, Unary) else node.target
        assert isinstance(target, Name)
        cell = self.binding(target.variable).cells[0]
        if isinstance(node, Assign) and node.op == "=":
            value = self.value(node.value, None).value
        else:
            by = STEPS[node.op] if isinstance(node, Unary) else self.value(node.value, None).value
            value = self.moved(cell.value, target.type, by if node.op != "-=" else -by)
        cell.value = _wrapped(value, target.type)

    def moved(self, value: Any, kind: CType, by: int) -> Any:
        if isinstance(kind, Pointer):
            return value.plus(by * size_of(kind.target))
        return value + by

    def is_level(self, call: Call) -> bool:
        """Return whether it is a call of the program's own, not an operator of the expression."""
        function = self.unit.functions.get(call.function)
        return function is not None and bool(function.body) and not self.is_operator(call)

    def is_operator(self, call: Call) -> bool:
        function = self.unit.functions.get(call.function)
        return function is not None and _is_simple(self.unit, function)

    def assign(self, node: Assign, *, keep: bool = False) -> Address:
        call = _uncast(node.value)
        named = isinstance(node.target, Name)
        if node.op == "=" and isinstance(call, Call) and (named or not keep):
            function = self.unit.functions.get(call.function)
            same = call.type == node.target.type
            if self.is_level(call) and same:
                assert function is not None
                if _is_outlined(self.unit, function):
                    return self.outlined(function, call, node.target)
                target = node.target
                if isinstance(target, Name) and target.variable not in self.statics:
                    own = self.binding(target.variable)
                    self.call(call, own)
                    return Address(own, 0)
            elif self.is_operator(call) and call is node.value and function is not None:
                return self.outlined(function, call, node.target)
        if isinstance(node.target, Name) and isinstance(node.target.type, Pointer):
            memory = self.binding(node.target.variable)
            if memory.free:
                value = self.value(node.value, None).value
                if node.op != "=":
                    value = self.moved(
                        memory.cells[0].value, node.target.type, value * (-1) ** (node.op == "-=")
                    )
                memory.cells[0].value = value
                return Address(memory, 0)
        inner = _uncast(node.value)
        if isinstance(inner, Assign):
            # x = y = e is y = e; x = y.
            if id(inner) in self.counters.steps:
                self.step(inner)
            else:
                self.assign(inner, keep=True)
        firing = Firing()
        place = self.place(node.target, firing)
        kind = node.target.type
        if isinstance(node.value, InitList) and isinstance(kind, Struct):
            self.listed(node.value, place, firing, node.where)
            return place
        if isinstance(kind, Struct):
            origin = inner.target if isinstance(inner, Assign) else node.value
            self.copy(self.place(origin, firing), place, kind, firing, node.where)
            return place
        if node.op == "=":
            value = self.given_value(node.value, firing)
        elif isinstance(kind, Pointer):
            before = self.read(place.cell, kind, firing)
            by = self.subscript(node.value, firing) * (-1) ** (node.op == "-=")
            value = Number(self.moved(before.value, kind, by), kind, form=DATA)
        else:
            common = node.common
            before = self.converted(self.read(place.cell, kind, firing), common, firing)
            by_value = self.given_value(node.value, firing)
            if node.op not in ("<<=", ">>="):
                by_value = self.converted(by_value, common, firing)
            value = self.binary(node.op[:-1], before, by_value, firing)
        value = self.converted(value, kind, firing)
        self.finish(firing, value, place.cell, node.where, begins=node)
        return place

    def given_value(self, node: Expr, firing: Firing) -> Number:
        """The value on the right of an assignment; of another one there, what it has assigned."""
        inner = _uncast(node)
        if not isinstance(inner, Assign):
            return self.value(node, firing)
        value = self.value(inner.target, firing)
        return value if inner is node else self.converted(value, node.type, firing)

    def copy(
        self, source: Address, target: Address, kind: CType, firing: Firing, where: Any
    ) -> None:
        """A struct as a whole: one firing that reads and writes all of it."""
        read = [
            self.read(source.plus(at).cell, inner, firing).value
            for at, inner, _ in leaves(kind, False)
        ]
        depth = math.ceil(firing.chosen + firing.base) if firing.chosen else 1
        at = self.fire((self.path, where.line, where.column), firing.ready, depth)
        for (offset, _, _), value in zip(leaves(kind, False), read, strict=True):
            self.write(target.plus(offset).cell, value, at)

    def listed(self, node: InitList, target: Address, firing: Firing, where: Any) -> None:
        """A list given to a struct as a whole: one firing."""
        written: list[tuple[Cell, Number]] = []
        self.gather(node, target, firing, written)
        form = max(n.form for _, n in written)
        at = [0, 0]
        if form != CONSTANT or firing.reads or firing.computes:
            depth = math.ceil(max(n.arrival for _, n in written) + firing.base)
            depth = depth if firing.computes else 1
            at = self.fire((self.path, where.line, where.column), firing.ready, depth)
        for cell, number in written:
            self.write(cell, number.value, at)

    def gather(
        self, node: Expr, target: Address, firing: Firing, written: list[tuple[Cell, Number]]
    ) -> None:
        kind = node.type
        if isinstance(node, InitList) and isinstance(kind, Struct | Array):
            given = list(node.values)
            for inner, distance in _parts_of(kind):
                value = given.pop(0) if given else InitList(node.where, inner, ())
                if not isinstance(inner, Struct | Array) and value.type != inner:
                    value = Cast(value.where, inner, value, implicit=True)
                self.gather(value, target.plus(distance), firing, written)
        elif isinstance(kind, Struct):
            place = self.place(node, firing)
            for at, inner, _ in leaves(kind, False):
                number = self.read(place.plus(at).cell, inner, firing)
                number.arrival = firing.chosen
                written.append((target.plus(at).cell, number))
        elif isinstance(node, InitList):
            value = node.values[0] if node.values else Literal(node.where, INT, 0)
            written.append((target.cell, self.converted(self.value(value, firing), kind, firing)))
        else:
            value = self.value(node, firing)
            if isinstance(value.kind, Pointer) and value.form != DATA:
                value.form = CONSTANT  # an address costs nothing
            written.append((target.cell, value))

    def write(self, cell: Cell, value: Any, at: list[int]) -> None:
        cell.value, cell.at, cell.new = value, list(at), False
        if cell.storage:
            self.wrote.add(cell.storage)

    def store(
        self, node: Expr, into: Memory | Address, where: Any, kind: CType, begins: Any = None
    ) -> None:
        """A statement that gives something of its own a value: a declaration, a return."""
        place = into if isinstance(into, Address) else Address(into, 0)
        call = _uncast(node)
        if isinstance(call, Call):
            function = self.unit.functions.get(call.function)
            if self.is_level(call) and call.type == kind:
                assert function is not None
                self.free.discard(id(begins))
                if _is_outlined(self.unit, function):
                    self.outlined(function, call, place)
                    return
                if not isinstance(into, Address):
                    self.call(call, into)
                    return
            elif self.is_operator(call) and call is node and not self.begins(begins):
                assert function is not None
                self.outlined(function, call, place)
                return
        if place.memory.free:
            place.cell.value = self.value(node, None).value
            return
        inner = _uncast(node)
        firing = Firing()
        if isinstance(inner, Assign):
            if id(inner) in self.counters.steps:
                self.step(inner)
            else:
                self.assign(inner, keep=True)
            value = self.value(inner.target, firing)
        elif isinstance(node, InitList) and isinstance(kind, Struct):
            self.listed(node, place, firing, where)
            return
        elif isinstance(kind, Struct):
            self.copy(self.place(node, firing), place, kind, firing, where)
            return
        else:
            value = self.value(node, firing)
        value = self.converted(value, kind, firing)
        self.finish(firing, value, place.cell, where, begins=begins)

    def begins(self, what: Any) -> bool:
        """Return whether it gives a counter its first value."""
        return id(what) in self.counters.beginnings

    def finish(
        self,
        firing: Firing,
        value: Number,
        cell: Cell,
        where: Any,
        begins: Any = None,
        passed: Variable | None = None,
    ) -> None:
        nothing = not firing.reads and value.form != DATA
        free = value.form == CONSTANT and not firing.reads and not firing.computes
        if begins is not None and self.begins(begins):
            self.free.discard(id(begins))
            if nothing:
                self.free.add(id(begins))
                free = True
        if isinstance(value.kind, Pointer) and nothing:
            free = True
        if free:
            self.write(cell, value.value, [0, 0])
            return
        # An address costs nothing to compute: this is a copy.
        computes = firing.computes and not isinstance(value.kind, Pointer)
        depth = math.ceil(value.arrival + firing.base) if computes else 1
        at = self.fire((self.path, where.line, where.column), firing.ready, depth, passed)
        self.write(cell, value.value, at)

    # -- calls ---------------------------------------------------------------------------------

    def given(self, formal: Variable, value: Number) -> None:
        """A parameter that nobody waits for."""
        value.arrival = Fraction(0)
        if formal not in self.counters.changed and formal not in self.addressed:
            self.env[formal] = value
            return
        memory = self.env[formal] = Memory(formal.type, free=self.counters.is_pure(formal))
        memory.cells[0].value = value.value
        self.free.add(id(formal))

    def call(self, node: Call, into: Memory | None) -> None:
        function = self.unit.functions[node.function]
        if _is_outlined(self.unit, function):
            self.outlined(function, node, None)
            return
        passed: list[Any] = []
        for formal, actual in zip(function.params, node.args, strict=True):
            passed.append(self.passed(formal, actual))
        data = frozenset(
            formal
            for formal, given in zip(function.params, passed, strict=True)
            if not isinstance(given, Number)
        )
        kept = set()
        for formal, actual in zip(function.params, node.args, strict=True):
            root = _root(actual)
            own = root is not None and root.scope in ("local", "param")
            if not (own and root not in self.addressed) and self.reaches_out(function, set()):
                kept.add(formal)
        before = self.env, self.path, self.counters, self.result, self.active
        self.env, self.result = {}, into
        self.path = (*self.path, (node.where.line, node.where.column, function.name))
        self.counters = self.analysed(function, data)
        self.active = {v for v in self.active if v in self.statics}
        for formal, given in zip(function.params, passed, strict=True):
            self.free.discard(id(formal))
            if isinstance(given, Number):
                self.given(formal, given)
            elif isinstance(formal.type, Struct):
                self.struct_formal(formal, given, copied=formal in kept)
            else:
                self.env[formal] = given
        with suppress(_ReturnError):
            self.run(function.body)
        self.env, self.path, self.counters, self.result, self.active = before

    def reaches_out(self, function: Function, seen: set[str]) -> bool:
        """Return whether a call may write what is not its own: a global, or through a pointer."""
        seen.add(function.name)
        for node in (n for e in own_expressions(function.body) for n in walk(e)):
            if isinstance(node, Call) and node.function not in seen:
                called = self.unit.functions.get(node.function)
                body = called is not None and called.body is not None
                if body and self.reaches_out(called, seen):
                    return True
            target = node.target if isinstance(node, Assign) else None
            if isinstance(node, Unary) and node.op in STEPS:
                target = node.operand
            root = _root(target) if target is not None else None
            if target is not None and (root is None or root.scope in ("global", "static")):
                return True
        return False

    def passed(self, formal: Variable, actual: Expr) -> Any:
        """A number that nobody waits for, or the memory that the parameter is."""
        kind = formal.type
        if isinstance(kind, Struct):
            return self.place(actual, None)
        firing = Firing()
        value = self.value(actual, firing)
        if isinstance(kind, Array):
            kind = Pointer(kind.element)
        value = self.converted(value, kind, firing)
        if not firing.reads and value.form != DATA:
            return value
        if isinstance(actual, Name) and isinstance(kind, Scalar):
            shared = actual.variable.scope in ("local", "param")
            if shared and not self.is_written(formal) and actual.variable not in self.addressed:
                return self.binding(actual.variable)
        memory = Memory(kind)
        self.finish(firing, value, memory.cells[0], actual.where, passed=formal)
        return memory

    def struct_formal(self, formal: Variable, given: Address, *, copied: bool) -> None:
        changed = formal in self.counters.changed or formal in self.addressed
        if not changed and not copied:
            self.env[formal] = given
            return
        memory = self.env[formal] = Memory(formal.type)
        self.copy(given, Address(memory, 0), formal.type, Firing(), formal.where)

    def outlined(self, function: Function, node: Call, into: Expr | Address | None) -> Any:
        """One process, named after its call."""
        firing = Firing()
        target, kind = None, function.result
        if isinstance(into, Address):
            target = into
        elif into is not None:
            target, kind = self.place(into, firing), into.type
        writes: list[tuple[Cell, Number]] = []
        result = self.straight(function, node, firing, writes)
        if target is not None:
            assert result is not None
            writes.append((target.cell, self.converted(result, kind, firing)))
        if writes:
            form = max(n.form for _, n in writes)
            at = [0, 0]
            if form != CONSTANT or firing.reads or firing.computes:
                depth = math.ceil(max(n.arrival for _, n in writes) + firing.base)
                where = node.where
                depth = depth if firing.computes else 1
                at = self.fire((self.path, where.line, where.column), firing.ready, depth)
            for cell, number in writes:
                self.write(cell, number.value, at)
        return target

    def straight(
        self,
        function: Function,
        node: Call,
        firing: Firing | None,
        writes: list[tuple[Cell, Number]],
    ) -> Number | None:
        env: dict[Variable, Any] = {}
        for formal, actual in zip(function.params, node.args, strict=True):
            if isinstance(formal.type, Struct):
                # By value: what the call writes in its place does not show.
                place = self.place(actual, firing)
                env[formal] = Address(Memory(formal.type), 0)
                for at, _, _ in leaves(formal.type, False):
                    env[formal].memory.cells[at] = copy(place.plus(at).cell)
            else:
                env[formal] = self.converted(self.value(actual, firing), formal.type, firing)
        before, self.env = (self.env, self.active), env
        self.active = {v for v in self.active if v in self.statics}
        self.within = (*self.within, id(node))
        try:
            assert function.body is not None
            for inner in _flat(function.body):
                match inner:
                    case Declare(variables=variables):
                        for v in variables:
                            if v.init is not None:
                                env[v] = self.converted(self.value(v.init, firing), v.type, firing)
                    case Evaluate(value=Assign() as assign):
                        self.straight_assign(assign, firing, writes)
                    case Evaluate(value=Unary(op=op, operand=operand) as step):
                        one = Literal(step.where, INT, 1)
                        sign = "+=" if STEPS[op] > 0 else "-="
                        common = _promoted(operand.type)
                        made = Assign(step.where, operand.type, sign, operand, one, common)
                        self.straight_assign(made, firing, writes)
                    case Return(value=value) if value is not None:
                        return self.converted(self.value(value, firing), function.result, firing)
        finally:
            self.env, self.active = before
            self.within = self.within[:-1]
        return None

    def straight_assign(
        self, node: Assign, firing: Firing | None, writes: list[tuple[Cell, Number]]
    ) -> None:
        value = self.value(node.value, firing)
        kind = node.target.type
        if node.op != "=":
            before = self.converted(self.value(node.target, firing), node.common, firing)
            if node.op not in ("<<=", ">>="):
                value = self.converted(value, node.common, firing)
            value = self.binary(node.op[:-1], before, value, firing)
        value = self.converted(value, kind, firing)
        target = node.target
        if isinstance(target, Name) and target.variable.scope in ("local", "param"):
            self.env[target.variable] = value
            return
        assert firing is not None
        cell = self.place(target, firing).cell
        cell.value = value.value
        writes.append((cell, value))
        firing.written.add(id(cell))
        name = self.lvalue(target)
        if name is not None:
            firing.lvalues[name] = Number(None, kind, value.arrival, max(value.form, FREE))

    def lvalue(self, node: Expr) -> Any:
        """The path to what an lvalue names, None where a computed subscript is on it."""
        match node:
            case Name(variable=v):
                return (v,)
            case Unary(op="*", operand=operand):
                path = self.lvalue(operand)
                return None if path is None else (*path, 0)
            case Member(base=base, field=name, arrow=arrow):
                path = self.lvalue(base)
                return None if path is None else (*path, *([0] if arrow else []), name)
            case Index(base=base, index=index):
                path, at = self.lvalue(base), _uncast(index)
                if isinstance(at, Literal):
                    at = at.value
                elif isinstance(at, Name):  # the number that it is now, not one that is equal
                    at = self.binding(at.variable)
                    at = id(at) if isinstance(at, Number) else None
                else:
                    at = None
                return None if path is None or at is None else (*path, at)
        return None

    def again(self, node: Expr, firing: Firing | None) -> Number | None:
        """The value that a firing wrote by the same lvalue, which has its arrival already."""
        return firing.lvalues.get(self.lvalue(node)) if firing and firing.lvalues else None

    # -- places --------------------------------------------------------------------------------

    def binding(self, v: Variable) -> Any:
        return self.statics[v] if v in self.statics else self.env[v]

    def place(self, node: Expr, firing: Firing | None) -> Address:
        """The address of something; the values that it is computed from are waited for."""
        match node:
            case Name(variable=v):
                found = self.binding(v)
                if isinstance(found, Number):
                    assert isinstance(found.value, Address)
                    return found.value
                passed = v.scope == "param" and v not in self.kernel.params
                if isinstance(found, Memory) and isinstance(v.type, Array) and passed:
                    return self.read(found.cells[0], Pointer(v.type.element), firing).value
                return found if isinstance(found, Address) else Address(found, 0)
            case Index(base=base, index=index):
                start = self.pointed(base, firing)
                return start.plus(self.subscript(index, firing) * size_of(node.type))
            case Unary(op="*", operand=operand):
                return self.pointed(operand, firing)
            case Member(base=base, field=name, arrow=arrow):
                inside = self.pointed(base, firing) if arrow else self.place(base, firing)
                kind = base.type
                if arrow:
                    kind = kind.target if isinstance(kind, Pointer) else kind.element
                return inside.plus(offset_of(kind, name))
            case Cast(operand=operand):
                return self.place(operand, firing)
            case Call():
                return Address(self.effect(node), 0)
            case Assign():
                return self.assign(node, keep=True)
            case Binary(op=",", left=left, right=right):
                self.evaluate(left)
                return self.place(right, firing)
            case Conditional(condition=condition, then=then, other=other):
                test = self.value(condition, firing)
                if firing is not None:  # of its fields, that is: each has a selector
                    at = test.arrival + self.cost("?", LONG, DATA, firing)
                    firing.chosen = max(firing.chosen, at)
                return self.place(then if test.value else other, firing)
            case InitList(type=kind):
                made = Address(Memory(kind), 0)
                self.listed(node, made, Firing(), node.where)
                return made
        raise AssertionError(node)

    def pointed(self, node: Expr, firing: Firing | None) -> Address:
        """The address in a pointer, or of an array; its arithmetic costs nothing."""
        if isinstance(node.type, Array):
            return self.place(node, firing)
        return self.quietly(node, firing).value

    def quietly(self, node: Expr, firing: Firing | None) -> Number:
        if firing is None:
            return self.value(node, None)
        before = firing.base, firing.computes
        value = self.value(node, firing)
        firing.base, firing.computes = before
        return value

    def subscript(self, node: Expr, firing: Firing | None) -> int:
        """A subscript: its operands are waited for, its arithmetic costs nothing."""
        return int(self.quietly(node, firing).value)

    def read(self, cell: Cell, kind: CType, firing: Firing | None) -> Number:
        if firing is not None:
            firing.reads += 1
            if id(cell) not in firing.written:
                for e in range(2):
                    firing.ready[e] = max(firing.ready[e], cell.at[e])
        if cell.new and (firing is None or id(cell) not in firing.written):
            self.inputs.add(cell.storage)
        return Number(cell.value, kind, form=DATA)

    # -- values --------------------------------------------------------------------------------

    def value(self, node: Expr, firing: Firing | None) -> Number:
        kind = node.type
        match node:
            case Literal(value=value):
                return Number(_wrapped(value, kind), kind)
            case _ if isinstance(kind, Array):
                return self.addressed_value(node, Pointer(kind.element), firing)
            case Name(variable=v):
                found = self.binding(v)
                if isinstance(found, Number):
                    return Number(found.value, found.kind, found.arrival, found.form)
                if v in self.active or found.free:
                    return Number(found.cells[0].value, kind, form=FREE)
                again = self.again(node, firing)
                if again is not None:
                    return Number(found.cells[0].value, kind, again.arrival, again.form)
                return self.read(found.cells[0], kind, firing)
            case Unary(op="&", operand=operand):
                return self.addressed_value(operand, kind, firing)
            case Index() | Member() | Unary(op="*"):
                before, again = firing.chosen if firing else Fraction(0), self.again(node, firing)
                if firing:
                    firing.chosen = Fraction(0)
                cell = self.place(node, firing).cell
                if again is not None:
                    return Number(cell.value, kind, again.arrival, again.form)
                number = self.read(cell, kind, firing)
                if firing:
                    number.arrival, firing.chosen = firing.chosen, before
                return number
            case Cast(operand=operand):
                return self.converted(self.value(operand, firing), kind, firing)
            case Unary(op=op) if op in STEPS:
                return self.stepping(node, firing)
            case Unary(op=op, operand=operand):
                inner = self.value(operand, firing)
                cost = self.cost("neg" if op == "-" else op, inner.kind, inner.form, firing)
                made = {"-": lambda x: -x, "~": lambda x: ~x, "!": lambda x: int(not x)}[op]
                value = _wrapped(made(inner.value), kind)
                return Number(value, kind, inner.arrival + cost, inner.form)
            case Binary(op="&&" | "||" as op, left=left, right=right):
                return self.logic(op, left, right, firing)
            case Binary(op=",", left=left, right=right):
                self.evaluate(left)
                return self.value(right, firing)
            case Binary(op="+" | "-" as op, left=left, right=right) if isinstance(kind, Pointer):
                if isinstance(left.type, Scalar):
                    left, right = right, left
                start, by = self.quietly(left, firing), self.quietly(right, firing)
                distance = by.value * size_of(kind.target) * (1 if op == "+" else -1)
                form = max(start.form, by.form)
                return Number(start.value.plus(distance), kind, form=form)
            case Binary(op=op, left=left, right=right):
                a = self.value(left, firing)
                return self.binary(op, a, self.value(right, firing), firing)
            case Conditional(condition=condition, then=then, other=other):
                return self.conditional(condition, then, other, kind, firing)
            case Assign():
                if id(node) in self.counters.steps:
                    self.step(node)
                else:
                    self.assign(node, keep=True)
                return self.value(node.target, firing)
            case Call(function=name, args=args):
                function = self.unit.functions.get(name)
                if function is None or function.body is None:
                    return self.library(name, args, kind, firing)
                if _is_simple(self.unit, function):
                    made_value = self.straight(function, node, firing, [])
                    assert made_value is not None
                    return made_value
                return self.read(self.effect(node).cells[0], kind, firing)
        raise AssertionError(node)

    def addressed_value(self, node: Expr, kind: CType, firing: Firing | None) -> Number:
        """The address of a place: made of data if what it is made of is."""
        reads = firing.reads if firing is not None else 0
        place = self.place(node, firing)
        form = DATA if firing is not None and firing.reads > reads else FREE
        return Number(place, kind, form=form)

    def effect(self, node: Call) -> Memory:
        function = self.unit.functions[node.function]
        result = Memory(function.result)
        if _is_outlined(self.unit, function):
            self.outlined(function, node, Address(result, 0))
        else:
            self.call(node, result)
        return result

    def library(
        self, name: str, args: tuple[Expr, ...], kind: CType, firing: Firing | None
    ) -> Number:
        assert isinstance(kind, Scalar)
        given = [self.value(a, firing) for a in args]
        form = max(a.form for a in given)
        plain = name if name in LIBRARY else name.removesuffix("f")
        cost = self.cost(LIBRARY[plain], kind, form, firing)
        if plain in ("abs", "labs"):
            value = _wrapped(abs(given[0].value), kind)
        else:
            function = getattr(ctypes.CDLL("libm.so.6"), name)
            sort = ctypes.c_double if kind.bits == 64 else ctypes.c_float
            function.restype, function.argtypes = sort, [sort] * len(given)
            value = function(*(a.value for a in given))
        return Number(value, kind, max(a.arrival for a in given) + cost, form)

    def stepping(self, node: Unary, firing: Firing | None) -> Number:
        before = self.value(node.operand, firing) if node.op.startswith("post") else None
        self.evaluate(node)
        return before if before is not None else self.value(node.operand, firing)

    def logic(self, op: str, left: Expr, right: Expr, firing: Firing | None) -> Number:
        a = self.value(left, firing)
        goes_on = bool(a.value) == (op == "&&")
        form, arrival = self.peek(right, firing)
        if goes_on:
            b = self.value(right, firing)
            value, arrival = int(bool(b.value)), b.arrival
        else:
            value = int(op == "||")
        form = max(a.form, form)
        cost = self.cost("&", INT, form, firing)
        return Number(value, INT, max(a.arrival, arrival) + cost, form)

    def conditional(
        self, condition: Expr, then: Expr, other: Expr, kind: Any, firing: Firing | None
    ) -> Number:
        test = self.value(condition, firing)
        taken, left = (then, other) if test.value else (other, then)
        form, arrival = self.peek(left, firing)
        value = self.value(taken, firing)
        form = max(test.form, value.form, form)
        cost = self.cost("?", kind, form, firing)
        at = max(test.arrival, value.arrival, arrival) + cost
        return Number(value.value, value.kind, at, form)

    def peek(self, node: Expr, firing: Firing | None) -> tuple[int, Fraction]:
        """The form and arrival of what isn't evaluated: it is in the hardware all the same."""
        if firing is None:
            return CONSTANT, Fraction(0)
        shape = _Shape(self, firing)
        form, arrival = shape.of(node)
        firing.base = max(firing.base, shape.base)
        firing.computes |= shape.computes
        return form, arrival

    def cost(self, op: str, kind: CType, form: int, firing: Firing | None) -> Fraction:
        if form == CONSTANT or firing is None:
            return Fraction(0)
        table = DEPTH[_family(kind)]
        firing.computes = True
        firing.base = max(firing.base, Fraction(table["base"]))
        return Fraction(table[KIND.get(op, op)])

    def converted(self, number: Number, kind: CType, firing: Firing | None) -> Number:
        if not isinstance(kind, Scalar):
            return Number(number.value, kind, number.arrival, number.form)
        if number.kind == kind:
            return number
        assert isinstance(number.kind, Scalar)
        cost = Fraction(0)
        if number.form != CONSTANT and _converts(number.kind, kind):
            family = kind if kind.is_float else number.kind
            cost = self.cost("convert", family, number.form, firing)
        value = number.value
        if not kind.is_float and kind.kind != "bool":
            value = int(value)
        return Number(_wrapped(value, kind), kind, number.arrival + cost, number.form)

    def binary(self, op: str, a: Number, b: Number, firing: Firing | None) -> Number:
        form = max(a.form, b.form)
        compares = KIND.get(op, op) == "<"
        cost = self.cost(op, a.kind, form, firing)
        at = max(a.arrival, b.arrival) + cost
        if isinstance(a.kind, Pointer):
            left, right = a.value.at, b.value.at
            assert a.value.memory is b.value.memory
            if not compares:
                return Number((left - right) // size_of(a.kind.target), LONG, at, form)
            return Number(_arithmetic(op, left, right, LONG), INT, at, form)
        assert isinstance(a.kind, Scalar)
        kind = INT if compares else a.kind
        return Number(_wrapped(_arithmetic(op, a.value, b.value, a.kind), kind), kind, at, form)


class _Shape:
    """The form and depth of an expression that is not evaluated."""

    def __init__(self, run: _Run, firing: Firing) -> None:
        self.run, self.firing, self.base, self.computes = run, firing, Fraction(0), False
        self.passed: dict[Variable, tuple[int, Fraction]] = {}

    def of(self, node: Expr) -> tuple[int, Fraction]:
        match node:
            case Literal():
                return CONSTANT, Fraction(0)
            case _ if isinstance(node.type, Array):
                return FREE, Fraction(0)
            case _ if (again := self.run.again(node, self.firing)) is not None:
                return again.form, again.arrival
            case Name(variable=v):
                if v in self.passed:
                    return self.passed[v]
                found = self.run.binding(v)
                if isinstance(found, Number):
                    return found.form, found.arrival
                return (FREE if v in self.run.active or found.free else DATA), Fraction(0)
            case Index() | Unary(op="*") | Member() | Assign():
                return DATA, Fraction(0)
            case Unary(op="&"):
                return FREE, Fraction(0)
            case Unary(op=op, operand=operand) if op in STEPS:
                return self.of(operand)
            case Cast(operand=operand, type=kind):
                form, at = self.of(operand)
                a, b = operand.type, kind
                if isinstance(a, Scalar) and isinstance(b, Scalar) and _converts(a, b):
                    at += self.cost("convert", b if b.is_float else a, form)
                return form, at
            case Unary(op=op, operand=operand):
                form, at = self.of(operand)
                return form, at + self.cost("neg" if op == "-" else op, operand.type, form)
            case Binary(op=",", right=right):
                return self.of(right)
            case Binary(op=op, left=left, right=right):
                parts = [self.of(left), self.of(right)]
                form = max(f for f, _ in parts)
                if isinstance(node.type, Pointer):
                    return form, Fraction(0)
                logic = op in ("&&", "||")
                kind = INT if logic else left.type
                at = max(a for _, a in parts) + self.cost("&" if logic else op, kind, form)
                return form, at
            case Conditional(condition=a, then=b, other=c):
                parts = [self.of(a), self.of(b), self.of(c)]
                form = max(f for f, _ in parts)
                return form, max(t for _, t in parts) + self.cost("?", node.type, form)
            case Call(function=name, args=args):
                function = self.run.unit.functions.get(name)
                if function is None or function.body is None:
                    parts = [self.of(a) for a in args]
                    form = max(f for f, _ in parts)
                    plain = name if name in LIBRARY else name.removesuffix("f")
                    at = max(t for _, t in parts) + self.cost(LIBRARY[plain], node.type, form)
                    return form, at
                if not _is_simple(self.run.unit, function):
                    return DATA, Fraction(0)
                return self.called(function, args)
        raise AssertionError(node)

    def called(self, function: Function, args: tuple[Expr, ...]) -> tuple[int, Fraction]:
        assert function.body is not None
        given = [(DATA, Fraction(0)) if isinstance(a.type, Struct) else self.of(a) for a in args]
        self.passed |= dict(zip(function.params, given, strict=True))
        for inner in _flat(function.body):
            if isinstance(inner, Declare):
                for v in inner.variables:
                    if v.init is not None:
                        self.passed[v] = self.of(v.init)
            elif isinstance(inner, Evaluate) and isinstance(inner.value, Assign):
                node = inner.value
                assert isinstance(node.target, Name)
                if node.op == "=":
                    self.passed[node.target.variable] = self.of(node.value)
                else:
                    left: Expr = node.target
                    if node.common != left.type:
                        left = Cast(node.where, node.common, left, implicit=True)
                    made = Binary(node.where, node.common, node.op[:-1], left, node.value)
                    whole = Cast(node.where, node.target.type, made, implicit=True)
                    self.passed[node.target.variable] = self.of(whole)
            elif isinstance(inner, Return) and inner.value is not None:
                return self.of(inner.value)
        raise AssertionError(function)

    def cost(self, op: str, kind: Any, form: int) -> Fraction:
        firing = Firing()
        cost = self.run.cost(op, kind, form, firing)
        self.base = max(self.base, firing.base)
        self.computes |= firing.computes
        return cost


# ---- functions, types, numbers -----------------------------------------------------------------


def _flat(node: Stmt) -> list[Any]:
    if isinstance(node, Block):
        return [n for inner in node.body for n in _flat(inner)]
    return [node]


def _is_outlined(unit: Unit, function: Function) -> bool:
    """Straight-line, on numbers: assignments, declarations, a return at its end."""
    if function.body is None or isinstance(function.result, Pointer | Struct):
        return False
    for param in function.params:
        kind = param.type.target if isinstance(param.type, Pointer) else param.type
        if not isinstance(kind, Scalar | Struct):
            return False
    body = _flat(function.body)
    for number, node in enumerate(body):
        match node:
            case Return() if number == len(body) - 1:
                pass
            case Evaluate(value=Assign(target=target, value=value)):
                if isinstance(target.type, Pointer | Struct) or _expression_changes(value):
                    return False
                if isinstance(target, Member) and _passed_struct(target):
                    return False
            case Evaluate(value=Unary(op=op, operand=operand)) if op in STEPS:
                if isinstance(operand.type, Pointer):
                    return False
            case Declare(variables=variables) if all(
                isinstance(v.type, Scalar) and v.scope == "local" for v in variables
            ):
                pass
            case Empty():
                pass
            case _:
                return False
    for e in own_expressions(function.body):
        top = e
        for n in walk(e):
            if isinstance(n, Unary) and (n.op == "&" or (n.op in STEPS and n is not top)):
                return False
            if isinstance(n, Call):
                called = unit.functions.get(n.function)
                if called is not None and called.body is not None and not _is_simple(unit, called):
                    return False
    return True


def _expression_changes(node: Expr) -> bool:
    return any(
        isinstance(n, Assign) or (isinstance(n, Unary) and n.op in STEPS) for n in walk(node)
    )


def _passed_struct(node: Expr) -> bool:
    while isinstance(node, Member) and not node.arrow:
        node = node.base
    return isinstance(node, Name) and node.variable.scope == "param"


def _is_simple(unit: Unit, function: Function) -> bool:
    """Outlined, and only a value."""
    values = not any(isinstance(p.type, Pointer) for p in function.params)
    if not values or not isinstance(function.result, Scalar) or not _is_outlined(unit, function):
        return False
    return all(v.scope in ("local", "param") for v, _ in changes(function.body))


def _root(node: Expr) -> Variable | None:
    while isinstance(node, Member | Cast):
        if isinstance(node, Member) and node.arrow:
            return None
        node = node.base if isinstance(node, Member) else node.operand
    return node.variable if isinstance(node, Name) else None


def _uncast(node: Expr) -> Expr:
    while isinstance(node, Cast):
        node = node.operand
    return node


def _constant(node: Expr) -> bool:
    """A literal, through conversions and a sign."""
    if isinstance(node, Cast) or (isinstance(node, Unary) and node.op == "-"):
        return _constant(node.operand)
    return isinstance(node, Literal)


def _promoted(kind: CType) -> CType:
    small = isinstance(kind, Scalar) and not kind.is_float and kind.bits < 32
    return INT if small else kind


def _family(kind: CType) -> str:
    if isinstance(kind, Scalar) and kind.is_float:
        return "double" if kind.bits == 64 else "float"
    return "int"


def _converts(a: Scalar, b: Scalar) -> bool:
    return a.is_float != b.is_float or (b.is_float and a != b)


def size_of(kind: CType) -> int:
    """Bytes, on a 64-bit machine."""
    match kind:
        case Scalar(bits=bits):
            return bits // 8
        case Array(element=element, extent=extent):
            return (extent or 1) * size_of(element)
        case Struct(fields=fields):
            end = 0
            for name, inner in fields:
                end = offset_of(kind, name) + size_of(inner)
            return -(-end // _alignment(kind)) * _alignment(kind)
    return 8


def offset_of(kind: CType, name: str) -> int:
    """The offset of a field, in bytes."""
    assert isinstance(kind, Struct)
    at = 0
    for own, inner in kind.fields:
        at = -(-at // _alignment(inner)) * _alignment(inner)
        if own == name:
            return at
        at += size_of(inner)
    raise AssertionError(name)


def _alignment(kind: CType) -> int:
    match kind:
        case Array(element=element):
            return _alignment(element)
        case Struct(fields=fields):
            return max(_alignment(inner) for _, inner in fields)
    return size_of(kind)


def _parts_of(kind: CType) -> list[tuple[CType, int]]:
    """The elements or fields of a type, each with where it begins."""
    match kind:
        case Array(element=element, extent=extent):
            return [(element, n * size_of(element)) for n in range(extent or 1)]
        case Struct(fields=fields):
            return [(inner, offset_of(kind, name)) for name, inner in fields]
    return [(kind, 0)]


def leaves(kind: CType, named: bool) -> list[tuple[int, CType, str]]:
    """(offset, type, path) of each number in a type; the path has the fields' names."""
    match kind:
        case Array(element=element, extent=extent):
            return [
                (n * size_of(element) + at, inner, path)
                for n in range(extent or 1)
                for at, inner, path in leaves(element, named)
            ]
        case Struct(fields=fields):
            return [
                (offset_of(kind, name) + at, inner, f".{name}{path}" if named else "")
                for name, own in fields
                for at, inner, path in leaves(own, named)
            ]
    return [(0, kind, "")]


def _wrapped(value: Any, kind: Any) -> Any:
    if not isinstance(kind, Scalar):
        return value
    if kind.is_float:
        return float(value) if kind.bits == 64 else _single(value)
    if kind.kind == "bool":
        return int(bool(value))
    bits = kind.bits
    value = int(value) & ((1 << bits) - 1)
    return value - (1 << bits) if kind.kind == "int" and value >> (bits - 1) else value


def _single(given: float) -> float:
    value = float(given)
    if isinstance(given, int) and given.bit_length() > 30:  # rounded once, not twice
        low = given.bit_length() - 30
        value = float((given >> low | bool(given & ((1 << low) - 1))) << low)
    try:
        return struct.unpack("f", struct.pack("f", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)


def _arithmetic(op: str, a: Any, b: Any, kind: Scalar) -> Any:
    match op:
        case "+":
            return a + b
        case "-":
            return a - b
        case "*":
            return a * b
        case "/" if kind.is_float:
            return a / b
        case "/" | "%":
            quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
            return quotient if op == "/" else a - b * quotient
        case "<":
            return int(a < b)
        case ">":
            return int(a > b)
        case "<=":
            return int(a <= b)
        case ">=":
            return int(a >= b)
        case "==":
            return int(a == b)
        case "!=":
            return int(a != b)
        case "&":
            return a & b
        case "|":
            return a | b
        case "^":
            return a ^ b
        case "<<":
            return a << b
        case ">>":
            return a >> b
    raise AssertionError(op)
