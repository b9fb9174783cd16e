"""Statements that compute: how an assignment, or an outlined call, becomes a process."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from cyclescope.bounds._forms import Binding, Form, Operands, Place, Value
from cyclescope.bounds._network import Process, Storage
from cyclescope.bounds._values import Values
from cyclescope.c import (
    Assign,
    Block,
    Call,
    Cast,
    Declare,
    Empty,
    Evaluate,
    Expr,
    Function,
    Literal,
    Name,
    Pointer,
    Range,
    Return,
    Scalar,
    Stmt,
    Struct,
    Unary,
    Variable,
    walk,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Processes", "is_outlined", "statements"]


def statements(node: Stmt | None) -> Iterator[Stmt]:
    """A statement and all inside it, outside in."""
    if node is None:
        return
    yield node
    match node:
        case Block(body=body):
            for inner in body:
                yield from statements(inner)
        case _:
            for part in ("init", "then", "other", "body"):
                yield from statements(getattr(node, part, None))


def is_outlined(function: Function) -> bool:
    """Whether a function is one process: straight-line code on numbers passed in and out.

    This is the paper's form of a statement: write arguments are pointers, read arguments are
    values. Whatever loops, branches, declares arrays or calls such functions is a level of its
    own.
    """
    if function.body is None:
        return False
    for param in function.params:
        kind = param.type.target if isinstance(param.type, Pointer) else param.type
        if not isinstance(kind, Scalar | Struct):
            return False
    for node in statements(function.body):
        match node:
            case Block() | Empty() | Return() | Evaluate(value=Assign()):
                pass
            case Declare(variables=variables):
                if any(not isinstance(v.type, Scalar) or v.scope != "local" for v in variables):
                    return False
            case _:
                return False
    return True


class Processes(Values):
    """Lowers statements that compute."""

    path = 0

    def process(self, node: Stmt | Expr, names: tuple[str, ...], target: str) -> _Building:
        """Begin a process for the statement at hand; close it with `finish`."""
        self.enter_site(node.where)
        rules = [
            rule
            for rule in self.calibration.statements
            if rule.selects(node.where.line, names, target)
        ]
        self.used_rules.update(rule.origin for rule in rules)
        ignored = tuple(array for rule in rules for array in rule.ignore)
        building = _Building(node.where, names, target, self.lines, Operands(ignored=ignored))
        self.lines = []
        self.operands = building.operands
        return building

    def finish(
        self, building: _Building, value: Value | None, places: list[tuple[Place, str]]
    ) -> None:
        """Close a process: `places` are what it writes, with the C text of each value.

        `value` has the depth and form; None if its writes were emitted on the way.
        """
        body, self.lines = self.lines, building.outer
        self.operands = None
        for place, _ in places:
            for storage in _storages(place):
                storage.written = True
        operands = building.operands
        form = value.form if value is not None else Form.DATA
        constant = form is Form.CONSTANT and not operands.texts and not operands.computes
        free = constant and self.calibration.constants_free
        if free:
            self.emit("{")
            self.lines.extend(body)
            self._store(places, "FREE", ())
            self.emit("}")
            return
        process = self._register(building, value, constant=constant)
        process.targets = [place.text for place, _ in places]
        self.emit("{")
        self.emit(f"BEGIN({len(operands.texts)});")
        self.lines.extend(body)
        self.emit(f"FIRE({process.index});")
        self._store(places, "STAMPED", operands.ignored)
        self.emit("}")

    def _store(self, places: list[tuple[Place, str]], stamp: str, ignored: tuple[str, ...]) -> None:
        for place, text in places:
            (storage,) = _storages(place)
            cell = "" if storage.in_registers else f"[{place.offset}]"
            if text:
                self.emit(f"v{storage.index}{cell} = {text};")
            self.emit(f"{stamp}(s{storage.index}{cell});")
            if storage.twice and storage.name not in ignored:
                self.emit(f"{stamp}(x{storage.index}{cell});")

    def _register(self, building: _Building, value: Value | None, *, constant: bool) -> Process:
        operands = building.operands
        calibration = self.calibration
        if constant:
            latency = calibration.constant_latency
        elif operands.computes:
            at = value.at if value is not None else building.at
            latency = math.ceil(at + operands.family_base)
        else:
            latency = calibration.technology.copy
        interval = 1
        line = building.where.line
        for rule in calibration.statements:
            if rule.selects(line, building.names, building.target):
                latency = latency if rule.latency is None else rule.latency
                interval = interval if rule.interval is None else rule.interval
        label = building.names[0] if building.names else f"{building.target} L{line}"
        process = Process(
            index=len(self.network.processes),
            name=self._unique(label),
            kind="constant" if constant else "statement",
            where=building.where,
            path=self.path,
            latency=latency,
            interval=interval,
            operands=operands.texts,
            operand_storage=operands.storages,
        )
        self.network.processes.append(process)
        return process

    def _unique(self, label: str) -> str:
        taken = {p.name for p in self.network.processes if p.path == self.path}
        name, number = label, 1
        while name in taken:
            number += 1
            name = f"{label} #{number}"
        return name

    @property
    def used_rules(self) -> set[str]:
        """Origins of the statement rules that selected something."""
        return self._used_rules

    _used_rules: set[str]

    # -- assignments ---------------------------------------------------------------------------

    def assign(self, node: Assign, label: str) -> None:
        """An assignment to an element, scalar or struct as a process."""
        names = (label,) if label else ()
        building = self.process(node, names, _target_name(node.target))
        place = self.place(node.target)
        if isinstance(place.layout, dict):
            self._assign_struct(building, place, node)
            return
        storage = place.layout
        if place.dims:
            raise self.refuse(node.where, "assigning an array", "copy its elements in a loop")
        if node.op == "=":
            value = self.value(node.value)
        else:
            common = self.scalar(node.common, node.where)
            before = self._converted(self.read(place, node.where), common, node)
            by = self.value(node.value)
            if node.op not in ("<<=", ">>="):
                by = self._converted(by, common, node)
            value = self.binary(node.op.removesuffix("="), before, by, node)
        value = self._converted(value, storage.type, node)
        self.finish(building, value, [(place, value.text)])

    def _converted(self, value: Value, kind: Scalar, node: Expr) -> Value:
        return value if value.type == kind else self._cast(value, kind, node)

    def _assign_struct(self, building: _Building, place: Place, node: Assign) -> None:
        source = self.place(node.value)
        places = []
        for target, origin in zip(_leaves(place), _leaves(source), strict=True):
            if target.dims:
                raise self.refuse(
                    node.where, "assigning a struct with an array", "copy its elements"
                )
            places.append((target, self.read(origin, node.where).text))
        self.finish(building, Value("", Scalar("int", 32), form=Form.DATA), places)

    # -- outlined functions --------------------------------------------------------------------

    def outlined(self, function: Function, node: Call, label: str, into: Expr | None) -> None:
        """A call of an outlined function as one process."""
        names = (label, function.name) if label else (function.name,)
        target = _target_name(into) if into is not None else ""
        building = self.process(node, names, target)
        formals = self._formals(function, node)
        self._enter(function, node)
        env, self.env = self.env, formals
        writes: dict[tuple[int, str], tuple[Place, Value]] = {}
        result: Value | None = None
        try:
            result = self._straight(function.body, writes)
        finally:
            self.env = env
            self._inlining.pop()
        if into is not None:
            place = self.place(into)
            if result is None or isinstance(place.layout, dict):
                raise self.refuse(node.where, "this result", "return a number")
            value = self._converted(result, place.layout.type, node)
            # The value was computed already; the key cannot meet one of the callee's own.
            writes[(-1, place.offset)] = (place, value)
            places = [(p, "") for p, _ in list(writes.values())[:-1]] + [(place, value.text)]
        else:
            places = [(p, "") for p, _ in writes.values()]
        if not places:
            raise self.refuse(
                node.where, f"the call of {function.name}, which writes nothing,", "remove it"
            )
        values = [value for _, value in writes.values()]
        at = max(value.at for value in values)
        form = max(value.form for value in values)
        self.finish(building, Value("", Scalar("int", 32), at, form), places)

    def _enter(self, function: Function, node: Call) -> None:
        if function.name in self._inlining:
            raise self.refuse(node.where, f"recursion ({function.name})", "write it as a loop")
        self._inlining.append(function.name)

    def _formals(self, function: Function, node: Call) -> dict[Variable, Binding]:
        env: dict[Variable, Binding] = {}
        for formal, actual in zip(function.params, node.args, strict=False):
            if isinstance(formal.type, Scalar):
                value = self._converted(self.value(actual), formal.type, actual)
                env[formal] = self._held(value)
            else:
                env[formal] = self.place(actual)
        return env

    def _held(self, value: Value) -> Value:
        name = self.temp()
        self.emit(f"{value.type} {name} = {value.text};")
        return replace(value, text=name)

    def _straight(
        self, node: Stmt | None, writes: dict[tuple[int, str], tuple[Place, Value]]
    ) -> Value | None:
        """Lower straight-line code into the process at hand; the value that it returns."""
        for inner in statements(node):
            match inner:
                case Declare(variables=variables):
                    for variable in variables:
                        if variable.init is not None:
                            self._name(variable, self.value(variable.init), variable.init)
                case Evaluate(value=Assign() as assign):
                    self._straight_assign(assign, writes)
                case Return(value=returned) if returned is not None:
                    return self.value(returned)
                case _:
                    pass
        return None

    def _name(self, variable: Variable, value: Value, node: Expr) -> None:
        kind = self.scalar(variable.type, node.where)
        self.env[variable] = self._held(self._converted(value, kind, node))

    def _straight_assign(
        self, node: Assign, writes: dict[tuple[int, str], tuple[Place, Value]]
    ) -> None:
        target = node.target
        is_local = isinstance(target, Name) and target.variable.scope in ("local", "param")
        value = self.value(node.value)
        if node.op != "=":
            common = self.scalar(node.common, node.where)
            before = self._converted(self.value(target), common, node)
            by = self._converted(value, common, node)
            value = self.binary(node.op.removesuffix("="), before, by, node)
        if is_local:
            assert isinstance(target, Name)
            self._name(target.variable, value, node)
            return
        place = self.place(target)
        if isinstance(place.layout, dict) or place.dims:
            raise self.refuse(node.where, "assigning an array or struct", "assign its elements")
        storage = place.layout
        value = self._held(self._converted(value, storage.type, node))
        cell = "" if storage.in_registers else f"[{place.offset}]"
        self.emit(f"v{storage.index}{cell} = {value.text};")
        writes[(storage.index, place.offset)] = (place, value)
        if self.operands is not None:
            # Reading it again inside the same firing waits for nobody.
            self.operands.written.add(storage.index)

    def inlined(self, function: Function, node: Call) -> Value:
        """The value of a straight-line function inside an expression."""
        if not is_outlined(function) or any(isinstance(p.type, Pointer) for p in function.params):
            raise self.refuse(
                node.where,
                f"the call of {function.name} inside an expression",
                "call it as a statement, x = f(…)",
            )
        formals = self._formals(function, node)
        self._enter(function, node)
        env, self.env = self.env, formals
        try:
            result = self._straight(function.body, {})
        finally:
            self.env = env
            self._inlining.pop()
        if result is None:
            raise self.refuse(node.where, f"{function.name}, which returns nothing,", "add return")
        return self._converted(result, self.scalar(function.result, node.where), node)


class _Building:
    """A process of which the reads are being lowered."""

    def __init__(
        self,
        where: Range,
        names: tuple[str, ...],
        target: str,
        outer: list[str],
        operands: Operands,
    ) -> None:
        self.where = where
        self.names = names
        self.target = target
        self.outer = outer
        self.operands = operands
        self.at = Value("", Scalar("int", 32)).at


def _storages(place: Place) -> list[Storage]:
    layouts = [place.layout]
    found: list[Storage] = []
    while layouts:
        layout = layouts.pop()
        if isinstance(layout, dict):
            layouts.extend(layout.values())
        else:
            found.append(layout)
    return found


def _leaves(place: Place) -> list[Place]:
    if not isinstance(place.layout, dict):
        outer = place.layout.dims
        return [replace(place, dims=() if place.root == place.layout.size else outer[-1:])]
    return [
        leaf
        for name, layout in place.layout.items()
        for leaf in _leaves(replace(place, layout=layout, text=f"{place.text}.{name}"))
    ]


def _target_name(target: Expr) -> str:
    """The name of the array or scalar that an lvalue lies in."""
    for node in walk(target):
        if isinstance(node, Name):
            return node.variable.name
    return ""


def constant_number(node: Expr | None) -> int | float | None:
    """The value of a literal initialiser, through conversions and a sign; None if it is none."""
    match node:
        case Literal(value=value):
            return value
        case Unary(op="-", operand=operand):
            inner = constant_number(operand)
            return None if inner is None else -inner
        case Cast(operand=operand):
            return constant_number(operand)
    return None
