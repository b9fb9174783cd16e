"""The rules of docs/bounds.md, executed on the C syntax tree: slow on purpose, and by itself.

It takes nothing from the engine but the front end's tree: no lowering, no network, no depths.
Every value is a cell with the cycles from which it can be read in both estimates; a firing waits
for the cells that it reads. Covered are numbers, arrays, loops, branches and calls of all three
kinds; not structs and moving pointers.
"""

from __future__ import annotations

import math
from bisect import insort
from collections import Counter, defaultdict
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

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
    Name,
    Pointer,
    Return,
    Scalar,
    Stmt,
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
DEPTH = {
    "double": {"base": 2, "+": 8, "*": 8, "/": 36, "<": Fraction(1, 2), "?": Fraction(1, 2),
               "neg": 0, "convert": 6},
    "int": {"base": 1, "+": Fraction(1, 2), "*": 6, "/": 35, "<": Fraction(1, 2),
            "?": Fraction(1, 2), "&": Fraction(1, 2), "<<": Fraction(1, 2),
            "neg": Fraction(1, 2), "convert": 0},
}  # fmt: skip
KIND = {"-": "+", "%": "/", ">": "<", "<=": "<", ">=": "<", "==": "<", "!=": "<", "|": "&",
        "^": "&", ">>": "<<"}  # fmt: skip
CONSTANT, FREE, DATA = range(3)
STEPS = {"pre++": 1, "post++": 1, "pre--": -1, "post--": -1}


class Cell:
    """A number with the cycles from which it can be read; `new`: the kernel hasn't written it."""

    def __init__(self, value: Any = 0, *, new: bool = False) -> None:
        self.value, self.at, self.new = value, [0, 0], new


@dataclass
class Slice:
    """Some cells of an array, with the extents that are left."""

    cells: list[Cell]
    begin: int
    dims: tuple[int, ...]
    owner: str


@dataclass
class Number:
    """A value on its way through a firing: its arrival after the reads, what it is made of."""

    value: Any
    kind: Scalar
    arrival: Fraction = Fraction(0)
    form: int = CONSTANT


@dataclass
class Firing:
    """What a firing has read so far."""

    ready: list[int] = field(default_factory=lambda: [0, 0])
    reads: int = 0
    base: Fraction = Fraction(0)
    computes: bool = False
    written: set[int] = field(default_factory=set)


class _LeaveError(Exception):
    pass


class _ReturnError(Exception):
    pass


@dataclass
class Outcome:
    """Totals, and for each process the starts of its firings in both estimates."""

    starts: dict[Any, list[Counter[int]]] = field(
        default_factory=lambda: defaultdict(lambda: [Counter(), Counter()])
    )
    cycles: list[int] = field(default_factory=lambda: [0, 0])
    arrays: dict[str, list[Any]] = field(default_factory=dict)


def interpret(
    unit: Unit,
    kernel: str,
    contents: dict[str, list[Any]],
    resources: tuple[int | None, int | None] = (1, None),
) -> Outcome:
    """Run a kernel on some contents of its parameters, first to find out what its inputs are.

    Two estimates are made at once, each with some number of resources a process; None: any number.
    """
    inputs = _Run(unit, kernel, contents, None, resources).inputs
    return _Run(unit, kernel, contents, inputs, resources).outcome


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
        self.resources = resources
        self.inputs: set[str] = set()
        self.wrote: set[str] = set()
        self.outcome = Outcome()
        # Of each process in both estimates: until when its firings hold a resource, in order.
        self.held: dict[Any, list[list[int]]] = defaultdict(lambda: [[], []])
        self.path: tuple[Any, ...] = ()
        self.env: dict[Variable, Any] = {}
        self.globals: dict[Variable, Any] = {}
        self.active: set[Variable] = set()
        self.known: dict[str, _Counters] = {}
        self.free: set[Any] = set()
        self.result: Cell | None = None
        function = unit.functions[kernel]
        outer: dict[str, Slice] = {}
        for param in function.params:
            dims = _dims(param.type)
            cells = [Cell(v, new=True) for v in contents[param.name]]
            outer[param.name] = self.env[param] = Slice(cells, 0, dims, param.name)
            if inputs is not None and param.name in inputs:
                for cell in cells:
                    cell.at = self.fire(f"source {param.name}", [0, 0], 1)
        self.counters = self.analysed(function)
        if not isinstance(function.result, Void):
            self.result = Cell()
        with suppress(_ReturnError):
            self.run(function.body)
        for name in sorted(outer, key=list(outer).index):
            self.outcome.arrays[name] = [c.value for c in outer[name].cells]
            if name in self.wrote:
                fed = inputs is not None and name in inputs
                for cell in outer[name].cells:
                    ready = cell.at if fed or not cell.new else [0, 0]
                    self.fire(f"sink {name}", list(ready), 1)

    def fire(self, process: Any, ready: list[int], depth: int) -> list[int]:
        start = list(ready)
        for e, most in enumerate(self.resources):
            # It starts when fewer than all resources are held by earlier firings.
            held = self.held[process][e]
            if most is not None and len(held) >= most:
                start[e] = max(start[e], held[-most])
            insort(held, start[e] + 1)
            self.outcome.starts[process][e][start[e]] += 1
            end = start[e] + depth + 2
            self.outcome.cycles[e] = max(self.outcome.cycles[e], end)
        return [s + depth + 2 for s in start]

    def analysed(self, function: Function) -> _Counters:
        if function.name not in self.known:
            self.known[function.name] = _Counters(self.unit, function)
        return self.known[function.name]

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
                    self.store(value, self.result, node.where, self.result_kind())
                raise _ReturnError
            case _:
                raise AssertionError(node)

    def result_kind(self) -> Scalar:
        name = self.path[-1][2] if self.path else None
        function = self.unit.functions[name] if name else next(
            f for f in self.unit.functions.values() if f.name == "kernel"
        )  # fmt: skip
        assert isinstance(function.result, Scalar)
        return function.result

    def declare(self, v: Variable) -> None:
        dims = _dims(v.type)
        size = math.prod(dims)
        made = Slice([Cell() for _ in range(size)], 0, dims, "")
        self.env[v] = made if dims else made.cells[0]
        if isinstance(v.init, InitList):
            for n, value in enumerate(v.init.values):
                made.cells[n].value = self.value(value, None).value
        elif v.init is not None:
            kind = v.type
            assert isinstance(kind, Scalar)
            self.store(v.init, made.cells[0], v.where, kind, begins=v)

    def loop(self, node: For | While | DoWhile) -> None:
        mine = set()
        for v in self.counters.loops[id(node)]:
            if (id(node), v) in self.counters.starts:
                start = self.counters.starts[id(node), v]
                if id(start) in self.free and v not in self.active:
                    mine.add(v)
        self.active |= mine
        first = isinstance(node, DoWhile)
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
                kind = operand.type
                one = Literal(node.where, Scalar("int", 32), 1)
                sign = "+=" if STEPS[op] > 0 else "-="
                self.assign(Assign(node.where, kind, sign, operand, one, kind))
            case Call():
                self.call(node, None)
            case _:
                raise AssertionError(node)

    def step(self, node: Assign | Unary) -> None:
        target = node.operand if isinstance(node, Unary) else node.target
        assert isinstance(target, Name)
        cell = self.binding(target.variable)
        if isinstance(node, Unary):
            value = cell.value + STEPS[node.op]
        elif node.op == "=":
            value = self.value(node.value, None).value
        else:
            by = self.value(node.value, None).value
            value = cell.value + (by if node.op == "+=" else -by)
        cell.value = _wrapped(value, target.type)

    def assign(self, node: Assign, *, keep: bool = False) -> Cell:
        call = node.value
        while isinstance(call, Cast):
            call = call.operand
        inside = keep and not isinstance(node.target, Name)
        if node.op == "=" and isinstance(call, Call) and not inside:
            function = self.unit.functions[call.function]
            same = call.type == node.target.type
            if not _is_simple(self.unit, function) and same:
                if _is_outlined(self.unit, function):
                    cell: list[Cell] = []
                    self.outlined(function, call, node.target, cell)
                    return cell[0]
                if isinstance(node.target, Name):
                    own = self.binding(node.target.variable)
                    self.call(call, own)
                    return own
            elif _is_simple(self.unit, function) and call is node.value:
                cell = []
                self.outlined(function, call, node.target, cell)
                return cell[0]
        firing = Firing()
        place = self.cell(node.target, firing)
        kind = node.target.type
        assert isinstance(kind, Scalar)
        if node.op == "=":
            value = self.value(node.value, firing)
        else:
            common = node.common
            assert isinstance(common, Scalar)
            before = self.converted(self.read(place, node.target, firing), common, firing)
            by = self.value(node.value, firing)
            if node.op not in ("<<=", ">>="):
                by = self.converted(by, common, firing)
            value = self.binary(node.op[:-1], before, by, firing)
        value = self.converted(value, kind, firing)
        self.finish(firing, value, place, node.where, begins=node)
        self.wrote.add(self.owner(node.target))
        return place

    def store(self, node: Expr, cell: Cell, where: Any, kind: Scalar, begins: Any = None) -> None:
        """A statement that gives a cell of its own a value: a declaration, a return."""
        call = node
        while isinstance(call, Cast):
            call = call.operand
        if isinstance(call, Call):
            function = self.unit.functions[call.function]
            if not _is_simple(self.unit, function) and call.type == kind:
                if _is_outlined(self.unit, function):
                    self.outlined(function, call, cell, [])
                else:
                    self.call(call, cell)
                return
            if _is_simple(self.unit, function) and call is node:
                self.outlined(function, call, cell, [])
                return
        firing = Firing()
        value = self.converted(self.value(node, firing), kind, firing)
        self.finish(firing, value, cell, where, begins=begins)

    def finish(
        self, firing: Firing, value: Number, cell: Cell, where: Any, begins: Any = None
    ) -> None:
        cell.value, cell.new = value.value, False
        nothing = not firing.reads and value.form != DATA
        if begins is not None and id(begins) in self.counters.beginnings:
            self.free.discard(id(begins))
            if nothing:
                self.free.add(id(begins))
                cell.at = [0, 0]
                return
        if value.form == CONSTANT and not firing.reads and not firing.computes:
            cell.at = [0, 0]
            return
        depth = math.ceil(value.arrival + firing.base) if firing.computes else 1
        cell.at = self.fire((self.path, where.line, where.column), firing.ready, depth)

    # -- calls ---------------------------------------------------------------------------------

    def call(self, node: Call, into: Cell | None) -> None:
        function = self.unit.functions[node.function]
        if _is_outlined(self.unit, function):
            self.outlined(function, node, None, [])
            return
        env: dict[Variable, Any] = {}
        free: set[Variable] = set()
        known = self.analysed(function)
        for formal, actual in zip(function.params, node.args, strict=True):
            if isinstance(formal.type, Array | Pointer):
                env[formal] = self.slice(actual, None)
                continue
            kind = formal.type
            assert isinstance(kind, Scalar)
            firing = Firing()
            value = self.converted(self.value(actual, firing), kind, firing)
            if not firing.reads and value.form != DATA:
                value.arrival = Fraction(0)
                env[formal] = Cell(value.value) if formal in known.changed else value
                free.add(formal)
            elif isinstance(actual, Name) and formal not in known.changed:
                env[formal] = self.binding(actual.variable)
            else:
                env[formal] = Cell()
                self.finish(firing, value, env[formal], actual.where)
        before = self.env, self.path, self.counters, self.result, self.active
        self.env, self.result = env, into
        where = node.where
        self.path = (*self.path, (where.line, where.column, function.name))
        self.counters = known
        self.free -= {id(formal) for formal in function.params}
        self.free |= {id(formal) for formal in free}
        self.active = set()
        with suppress(_ReturnError):
            self.run(function.body)
        self.env, self.path, self.counters, self.result, self.active = before

    def outlined(
        self, function: Function, node: Call, into: Expr | Cell | None, cells: list[Cell]
    ) -> None:
        """One process, named after its call."""
        firing = Firing()
        target = into
        if into is not None and not isinstance(into, Cell):
            target = self.cell(into, firing)
            self.wrote.add(self.owner(into))
        writes: list[tuple[Cell, Number]] = []
        result = self.straight(function, node, firing, writes)
        if isinstance(target, Cell):
            assert result is not None
            kind = into.type if not isinstance(into, Cell) else function.result
            assert isinstance(kind, Scalar)
            result = self.converted(result, kind, firing)
            writes.append((target, result))
            cells.append(target)
        if not writes:
            return
        depth = math.ceil(max(n.arrival for _, n in writes) + firing.base)
        form = max(n.form for _, n in writes)
        at = [0, 0]
        if form != CONSTANT or firing.reads or firing.computes:
            where = node.where
            depth = depth if firing.computes else 1
            at = self.fire((self.path, where.line, where.column), firing.ready, depth)
        for cell, number in writes:
            cell.value, cell.at, cell.new = number.value, list(at), False

    def straight(
        self, function: Function, node: Call, firing: Firing, writes: list[tuple[Cell, Number]]
    ) -> Number | None:
        env: dict[Variable, Any] = {}
        for formal, actual in zip(function.params, node.args, strict=True):
            if isinstance(formal.type, Pointer):
                env[formal] = self.slice(actual, firing)
            else:
                kind = formal.type
                assert isinstance(kind, Scalar)
                env[formal] = self.converted(self.value(actual, firing), kind, firing)
        before, self.env = (self.env, self.active), env
        self.active = set()
        try:
            assert function.body is not None
            for inner in function.body.body:
                match inner:
                    case Declare(variables=variables):
                        for v in variables:
                            if v.init is not None:
                                kind = v.type
                                assert isinstance(kind, Scalar)
                                env[v] = self.converted(self.value(v.init, firing), kind, firing)
                    case Evaluate(value=Assign() as assign):
                        self.straight_assign(assign, firing, writes)
                    case Return(value=value) if value is not None:
                        kind = function.result
                        assert isinstance(kind, Scalar)
                        return self.converted(self.value(value, firing), kind, firing)
        finally:
            self.env, self.active = before
        return None

    def straight_assign(
        self, node: Assign, firing: Firing, writes: list[tuple[Cell, Number]]
    ) -> None:
        value = self.value(node.value, firing)
        kind = node.target.type
        assert isinstance(kind, Scalar)
        if node.op != "=":
            common = node.common
            assert isinstance(common, Scalar)
            before = self.converted(self.value(node.target, firing), common, firing)
            if node.op not in ("<<=", ">>="):
                value = self.converted(value, common, firing)
            value = self.binary(node.op[:-1], before, value, firing)
        value = self.converted(value, kind, firing)
        if isinstance(node.target, Name):
            self.env[node.target.variable] = value
            return
        cell = self.cell(node.target, firing)
        cell.value = value.value
        writes.append((cell, value))
        firing.written.add(id(cell))
        self.wrote.add(self.owner(node.target))

    # -- places --------------------------------------------------------------------------------

    def binding(self, v: Variable) -> Any:
        return self.globals[v] if v in self.globals else self.env[v]

    def owner(self, node: Expr) -> str:
        while isinstance(node, Index | Unary | Cast | Binary):
            node = node.base if isinstance(node, Index) else (
                node.left if isinstance(node, Binary) else node.operand
            )  # fmt: skip
        found = self.binding(node.variable) if isinstance(node, Name) else None
        return found.owner if isinstance(found, Slice) else ""

    def slice(self, node: Expr, firing: Firing | None) -> Slice:
        match node:
            case Name(variable=v):
                found = self.binding(v)
                return found if isinstance(found, Slice) else Slice([found], 0, (1,), "")
            case Cast(operand=operand):
                return self.slice(operand, firing)
            case Unary(op="&", operand=Index(base=base, index=index)):
                inner = self.slice(base, firing)
                at = self.subscript(index, firing) * math.prod(inner.dims[1:])
                return Slice(inner.cells, inner.begin + at, inner.dims, inner.owner)
            case Unary(op="&", operand=operand):
                return Slice([self.cell(operand, firing)], 0, (1,), "")
            case Index(base=base, index=index):
                inner = self.slice(base, firing)
                at = self.subscript(index, firing) * math.prod(inner.dims[1:])
                return Slice(inner.cells, inner.begin + at, inner.dims[1:], inner.owner)
        raise AssertionError(node)

    def subscript(self, node: Expr, firing: Firing | None) -> int:
        """What it reads is waited for; its arithmetic costs nothing."""
        if firing is None:
            return int(self.value(node, None).value)
        before = firing.base, firing.computes
        value = self.value(node, firing).value
        firing.base, firing.computes = before
        return int(value)

    def cell(self, node: Expr, firing: Firing | None) -> Cell:
        match node:
            case Name(variable=v):
                found = self.binding(v)
                assert isinstance(found, Cell)
                return found
            case Unary(op="*", operand=operand):
                inner = self.slice(operand, firing)
                return inner.cells[inner.begin]
        inner = self.slice(node, firing)
        return inner.cells[inner.begin]

    def read(self, cell: Cell, node: Expr, firing: Firing | None) -> Number:
        kind = node.type
        assert isinstance(kind, Scalar)
        if firing is not None:
            firing.reads += 1
            if id(cell) not in firing.written:
                for e in range(2):
                    firing.ready[e] = max(firing.ready[e], cell.at[e])
                if cell.new:
                    self.inputs.add(self.owner(node))
        return Number(cell.value, kind, form=DATA)

    # -- values --------------------------------------------------------------------------------

    def value(self, node: Expr, firing: Firing | None) -> Number:
        kind = node.type
        match node:
            case Literal(value=value):
                assert isinstance(kind, Scalar)
                return Number(float(value) if kind.is_float else value, kind)
            case Name(variable=v):
                found = self.binding(v)
                if isinstance(found, Number):
                    return found
                if v in self.active:
                    assert isinstance(kind, Scalar)
                    return Number(found.value, kind, form=FREE)
                return self.read(found, node, firing)
            case Index() | Unary(op="*"):
                return self.read(self.cell(node, firing), node, firing)
            case Cast(operand=operand):
                assert isinstance(kind, Scalar)
                return self.converted(self.value(operand, firing), kind, firing)
            case Unary(op="-", operand=operand):
                inner = self.value(operand, firing)
                cost = self.cost("neg", inner.kind, inner.form, firing)
                value = _wrapped(-inner.value, inner.kind)
                return Number(value, inner.kind, inner.arrival + cost, inner.form)
            case Unary(op=op) if op in STEPS:
                return self.stepping(node, firing)
            case Binary(op="&&" | "||" as op, left=left, right=right):
                return self.logic(op, left, right, firing)
            case Binary(op=op, left=left, right=right):
                a = self.value(left, firing)
                return self.binary(op, a, self.value(right, firing), firing)
            case Conditional(condition=condition, then=then, other=other):
                return self.conditional(condition, then, other, kind, firing)
            case Assign():
                if id(node) in self.counters.steps:
                    self.step(node)
                    return self.value(node.target, firing)
                return self.read(self.assign(node, keep=True), node.target, firing)
            case Call(function=name):
                function = self.unit.functions[name]
                if _is_simple(self.unit, function):
                    made = self.straight(function, node, firing or Firing(), [])
                    assert made is not None
                    return made
                result = Cell()
                if _is_outlined(self.unit, function):
                    self.outlined(function, node, result, [])
                else:
                    self.call(node, result)
                return self.read(result, node, firing)
        raise AssertionError(node)

    def stepping(self, node: Unary, firing: Firing | None) -> Number:
        before = self.value(node.operand, firing) if node.op.startswith("post") else None
        self.evaluate(node)
        return before if before is not None else self.value(node.operand, firing)

    def logic(self, op: str, left: Expr, right: Expr, firing: Firing | None) -> Number:
        a = self.value(left, firing)
        kind = Scalar("int", 32)
        goes_on = bool(a.value) == (op == "&&")
        form, arrival = self.peek(right, firing)
        if goes_on:
            b = self.value(right, firing)
            value, arrival = int(bool(b.value)), b.arrival
        else:
            value = int(op == "||")
        form = max(a.form, form)
        cost = self.cost("&", kind, form, firing)
        return Number(value, kind, max(a.arrival, arrival) + cost, form)

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
        shape = _Shape(self)
        form, arrival = shape.of(node)
        firing.base = max(firing.base, shape.base)
        firing.computes |= shape.computes
        return form, arrival

    def cost(self, op: str, kind: Scalar, form: int, firing: Firing | None) -> Fraction:
        if form == CONSTANT or firing is None:
            return Fraction(0)
        table = DEPTH["double" if kind.is_float else "int"]
        firing.computes = True
        firing.base = max(firing.base, Fraction(table["base"]))
        return Fraction(table[KIND.get(op, op)])

    def converted(self, number: Number, kind: Scalar, firing: Firing | None) -> Number:
        if number.kind == kind:
            return number
        cost = Fraction(0)
        if number.kind.is_float != kind.is_float and number.form != CONSTANT:
            family = kind if kind.is_float else number.kind
            cost = self.cost("convert", family, number.form, firing)
        value = float(number.value) if kind.is_float else _wrapped(int(number.value), kind)
        return Number(value, kind, number.arrival + cost, number.form)

    def binary(self, op: str, a: Number, b: Number, firing: Firing | None) -> Number:
        form = max(a.form, b.form)
        kind = Scalar("int", 32) if KIND.get(op, op) == "<" else a.kind
        cost = self.cost(op, a.kind, form, firing)
        value = _wrapped(_arithmetic(op, a.value, b.value, a.kind), kind)
        return Number(value, kind, max(a.arrival, b.arrival) + cost, form)


class _Shape:
    """The form and depth of an expression that is not evaluated."""

    def __init__(self, run: _Run) -> None:
        self.run, self.base, self.computes = run, Fraction(0), False
        self.passed: dict[Variable, tuple[int, Fraction]] = {}

    def of(self, node: Expr) -> tuple[int, Fraction]:
        match node:
            case Literal():
                return CONSTANT, Fraction(0)
            case Name(variable=v):
                if v in self.passed:
                    return self.passed[v]
                found = self.run.binding(v)
                if isinstance(found, Number):
                    return found.form, found.arrival
                return (FREE if v in self.run.active else DATA), Fraction(0)
            case Index() | Unary(op="*"):
                return DATA, Fraction(0)
            case Cast(operand=operand, type=kind):
                form, at = self.of(operand)
                a, b = operand.type, kind
                assert isinstance(a, Scalar)
                assert isinstance(b, Scalar)
                if a.is_float != b.is_float:
                    at += self.cost("convert", b if b.is_float else a, form)
                return form, at
            case Unary(operand=operand):
                form, at = self.of(operand)
                return form, at + self.cost("neg", operand.type, form)
            case Binary(op=op, left=left, right=right):
                parts = [self.of(left), self.of(right)]
                form = max(f for f, _ in parts)
                logic = op in ("&&", "||")
                kind = Scalar("int", 32) if logic else left.type
                at = max(a for _, a in parts) + self.cost("&" if logic else op, kind, form)
                return form, at
            case Conditional(condition=a, then=b, other=c):
                parts = [self.of(a), self.of(b), self.of(c)]
                form = max(f for f, _ in parts)
                return form, max(t for _, t in parts) + self.cost("?", node.type, form)
            case Call(function=name, args=args):
                return self.called(self.run.unit.functions[name], args)
        raise AssertionError(node)

    def called(self, function: Function, args: tuple[Expr, ...]) -> tuple[int, Fraction]:
        assert function.body is not None
        given = [self.of(a) for a in args]
        self.passed |= dict(zip(function.params, given, strict=True))
        for inner in function.body.body:
            if isinstance(inner, Declare):
                for v in inner.variables:
                    if v.init is not None:
                        self.passed[v] = self.of(v.init)
            elif isinstance(inner, Return) and inner.value is not None:
                return self.of(inner.value)
        raise AssertionError(function)

    def cost(self, op: str, kind: Any, form: int) -> Fraction:
        firing = Firing()
        cost = self.run.cost(op, kind, form, firing)
        self.base = max(self.base, firing.base)
        self.computes |= firing.computes
        return cost


# ---- which variables a loop steps --------------------------------------------------------------


class _Counters:
    """Of each loop of a function: the variables that it steps by the same each time round."""

    def __init__(self, unit: Unit, function: Function) -> None:
        self.unit = unit
        self.loops: dict[int, set[Variable]] = {}
        self.steps: set[int] = set()
        self.starts: dict[tuple[int, Variable], Any] = {}
        self.beginnings: set[int] = set()
        self.changed = {v for v, _ in _changes(function.body)}
        self.params = set(function.params)
        self.fixed = {v for v in _constants(function.body) if v not in self.changed}
        assert function.body is not None
        self.scan(function.body, set(), top=True)

    def scan(self, node: Any, outer: set[Variable], *, top: bool = False) -> None:
        """A statement, or several that follow each other in a block."""
        line = _line(node)
        for number, inner in enumerate(line):
            if isinstance(inner, For | While | DoWhile):
                mine = self.loops[id(inner)] = self.counters(inner, outer)
                for v in mine:
                    self.begin(inner, v, line[:number], top=top)
                self.scan(inner.body, outer | mine)
            else:
                for part in _parts(inner):
                    self.scan(part, outer)

    def begin(self, loop: Any, v: Variable, before: list[Any], *, top: bool) -> None:
        line = [*before, loop.init] if isinstance(loop, For) else before
        for node in reversed(line):
            changes = [c for w, c in _changes(node) if w is v]
            if isinstance(node, Declare) and v in node.variables:
                if v.init is not None:
                    self.note(loop, v, v)
                return
            if changes:
                plain = isinstance(node, Evaluate) and len(changes) == 1
                last = changes[0]
                if plain and isinstance(last, Assign) and last.op == "=":
                    self.note(loop, v, last)
                return
        if top and v in self.params:
            self.note(loop, v, v)

    def note(self, loop: Any, v: Variable, start: Any) -> None:
        self.starts[id(loop), v] = start
        self.beginnings.add(id(start))

    def counters(self, loop: Any, outer: set[Variable]) -> set[Variable]:
        head = [e for e in (loop.condition, getattr(loop, "step", None)) if e is not None]
        every = [c for e in head for c in _expression_changes(e)] + _changes(loop.body)
        touched = {v for v, _ in every}
        always = [n for e in head for n in _sure(e)]
        if not _skips(loop.body):
            for node in _line(loop.body):
                always += [n for e in _own(node) for n in _sure(e)]
        sure = {id(n) for n in always}
        found = set()
        for v in touched:
            mine = [c for w, c in every if w is v]
            whole = isinstance(v.type, Scalar) and not v.type.is_float
            if whole and all(id(c) in sure and self.even(c, v, touched, outer) for c in mine):
                found.add(v)
                self.steps |= {id(c) for c in mine}
        return found

    def even(self, node: Any, v: Variable, touched: set[Variable], outer: set[Variable]) -> bool:
        if isinstance(node, Unary):
            return True
        by = node.value
        if node.op == "=":
            while isinstance(by, Cast):
                by = by.operand
            if not isinstance(by, Binary) or by.op not in "+-":
                return False
            left, right = by.left, by.right
            if isinstance(left, Name) and left.variable is v:
                by = right
            elif by.op == "+" and isinstance(right, Name) and right.variable is v:
                by = left
            else:
                return False
        elif node.op not in ("+=", "-="):
            return False
        return all(
            isinstance(n, Literal | Cast | Binary)
            or (isinstance(n, Unary) and n.op == "-")
            or (
                (isinstance(n, Name) and n.variable not in touched)
                and n.variable in outer | self.fixed
            )
            for n in walk(by)
        )


def _constants(node: Any) -> list[Variable]:
    """The variables that are declared with a number."""
    own = node.variables if isinstance(node, Declare) else ()
    found = [v for v in own if isinstance(v.init, Literal)]
    return found + [v for inner in _parts(node) for v in _constants(inner)]


def _parts(node: Any) -> list[Any]:
    match node:
        case Block(body=body):
            return list(body)
        case If(then=then, other=other):
            return [n for n in (then, other) if n is not None]
        case For(init=init, body=body):
            return [n for n in (init, body) if n is not None]
        case While(body=body) | DoWhile(body=body):
            return [body]
        case Switch(sections=sections):
            return [n for s in sections for n in s.body]
    return []


def _line(node: Any) -> list[Any]:
    if isinstance(node, Block):
        return [n for inner in node.body for n in _line(inner)]
    return [node]


def _own(node: Any) -> list[Expr]:
    match node:
        case Declare(variables=variables):
            return [v.init for v in variables if v.init is not None]
        case Evaluate(value=value):
            return [value]
        case If(condition=condition) | Switch(condition=condition):
            return [condition]
    return []


def _changes(node: Any) -> list[tuple[Variable, Any]]:
    if node is None:
        return []
    found = [c for e in _own(node) for c in _expression_changes(e)]
    if isinstance(node, Return) and node.value is not None:
        found += _expression_changes(node.value)
    for part in ("condition", "step"):
        if isinstance(node, For | While | DoWhile) and getattr(node, part, None) is not None:
            found += _expression_changes(getattr(node, part))
    return found + [c for inner in _parts(node) for c in _changes(inner)]


def _expression_changes(node: Expr) -> list[tuple[Variable, Any]]:
    found: list[tuple[Variable, Any]] = []
    for inner in walk(node):
        target = inner.target if isinstance(inner, Assign) else None
        if isinstance(inner, Unary) and inner.op in STEPS:
            target = inner.operand
        if isinstance(target, Name):
            found.append((target.variable, inner))
    return found


def _sure(node: Expr) -> list[Expr]:
    if isinstance(node, Conditional):
        return [node, *_sure(node.condition)]
    if isinstance(node, Binary) and node.op in ("&&", "||"):
        return [node, *_sure(node.left)]
    return [node, *(n for inner in children(node) for n in _sure(inner))]


def _skips(node: Any) -> bool:
    if isinstance(node, Continue):
        return True
    if isinstance(node, For | While | DoWhile):
        return False
    return any(_skips(inner) for inner in _parts(node))


def _is_outlined(unit: Unit, function: Function) -> bool:
    """Straight-line, on numbers: assignments, declarations, a return at its end."""
    body = function.body
    if body is None or any(isinstance(p.type, Array) for p in function.params):
        return False
    for number, node in enumerate(body.body):
        last = number == len(body.body) - 1
        match node:
            case Return() if last:
                pass
            case Evaluate(value=Assign(value=value)):
                if _expression_changes(value):
                    return False
            case Declare(variables=variables) if all(isinstance(v.type, Scalar) for v in variables):
                pass
            case _:
                return False
        parts = [*_own(node), *([node.value] if isinstance(node, Return) and node.value else [])]
        for call in (n for e in parts for n in walk(e) if isinstance(n, Call)):
            if not _is_simple(unit, unit.functions[call.function]):
                return False
    return True


def _is_simple(unit: Unit, function: Function) -> bool:
    """Outlined, and only a value."""
    values = all(isinstance(p.type, Scalar) for p in function.params)
    return values and not isinstance(function.result, Void) and _is_outlined(unit, function)


def _dims(kind: Any) -> tuple[int, ...]:
    dims: tuple[int, ...] = ()
    while isinstance(kind, Array):
        dims = (*dims, kind.extent or 1)
        kind = kind.element
    return dims


def _wrapped(value: Any, kind: Any) -> Any:
    if kind.is_float:
        return float(value)
    bits = kind.bits
    value = int(value) & ((1 << bits) - 1)
    return value - (1 << bits) if kind.kind == "int" and value >> (bits - 1) else value


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
