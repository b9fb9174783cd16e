"""Statements that compute: how an assignment, or an outlined call, becomes a process."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

from cyclescope.bounds._counters import reached, root_of
from cyclescope.bounds._forms import (
    Binding,
    Form,
    Operands,
    Place,
    Snapshot,
    Spot,
    Value,
    Written,
)
from cyclescope.bounds._function import Function as Graph
from cyclescope.bounds._function import Given, Node, inside
from cyclescope.bounds._network import Process, Record, Storage
from cyclescope.bounds._values import ADDRESS, Values
from cyclescope.c import (
    STEPS,
    Array,
    Assign,
    Block,
    Call,
    Cast,
    Construct,
    Declare,
    Empty,
    Evaluate,
    Expr,
    Function,
    Literal,
    Member,
    Name,
    Pointer,
    Range,
    Return,
    Scalar,
    Stmt,
    Struct,
    Tool,
    Unary,
    Variable,
    expressions,
    outermost,
    placed_fields,
    refusal,
    size_of,
    statements,
    walk,
    without_casts,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cyclescope.c import CType, Unit

__all__ = ["Processes", "constant_number", "is_private", "target_name"]

# Of functions inside expressions: each calling the one before twice, they double with each.
_MOST_COPIES = 1 << 15


class Outlines:
    """The functions of a text that are one process, or even an operator; asked once each.

    A function that leads to itself is neither.
    """

    def __init__(self, unit: Unit) -> None:
        self._unit = unit
        self._outlined: dict[str, bool] = {}

    def is_outlined(self, function: Function) -> bool:
        """Return whether a function is one process: straight-line code on numbers.

        This is the paper's form of a statement: write arguments are pointers, read arguments are
        values. Whatever loops, branches, declares arrays, keeps or moves pointers, or calls what is
        none such is a level of its own.
        """
        if function.name not in self._outlined:
            self._outlined[function.name] = False  # to whoever asks while it is looked at
            self._outlined[function.name] = _is_straight(function) and all(
                self._is_plain(e) for e in outermost(function.body)
            )
        return self._outlined[function.name]

    def is_simple(self, function: Function) -> bool:
        """Return whether a call of an outlined function is an operator: it gives a value only."""
        if any(isinstance(p.type, Pointer) for p in function.params):
            return False
        if isinstance(function.result, Scalar) and self.is_outlined(function):
            return all(
                root is not None and root.scope in ("local", "param")
                for n in expressions(function.body)
                if isinstance(n, Assign) or (isinstance(n, Unary) and n.op in STEPS)
                for root in [_root(n)]
            )
        return False

    def _is_plain(self, node: Expr) -> bool:
        """Return whether an expression only has the effect of its outermost assignment."""
        for number, inner in enumerate(walk(node)):
            match inner:
                case Assign() if number:
                    return False
                case Unary(op=op) if op in STEPS and number:
                    return False
                case Assign(target=target) if isinstance(target, Member) or isinstance(
                    target.type, Pointer
                ):
                    if isinstance(target.type, Pointer) or _names_parameter(target):
                        return False
                case Call(function=name):
                    called = self._unit.functions.get(name)
                    if called is not None and called.body is not None:
                        if not self.is_simple(called):
                            return False
                    elif (
                        isinstance(inner.type, Pointer)
                        or any(isinstance(a.type, Pointer | Array) for a in inner.args)
                        or not isinstance(inner.type, Scalar)
                    ):
                        return False
                case Unary(op="&"):
                    return False
        return True


def _is_straight(function: Function) -> bool:
    """Return whether a function is straight-line code on numbers, whatever its expressions do."""
    if function.body is None or isinstance(function.result, Pointer | Struct):
        return False
    for param in function.params:
        kind = param.type.target if isinstance(param.type, Pointer) else param.type
        if not isinstance(kind, Scalar | Struct):
            return False
    every = list(statements(function.body))
    for number, node in enumerate(every):
        match node:
            case Block() | Empty():
                pass
            case Return():
                if number != len(every) - 1:
                    return False
            case Evaluate(value=Assign() as assign):
                if isinstance(assign.type, Pointer | Struct):
                    return False
            case Evaluate(value=Unary(op=op, operand=operand)) if op in STEPS:
                if isinstance(operand.type, Pointer):
                    return False
            case Declare(variables=variables):
                if any(not isinstance(v.type, Scalar) or v.scope != "local" for v in variables):
                    return False
            case _:
                return False
    return True


def is_private(unit: Unit, function: Function) -> bool:
    """Return whether a function, with those it calls, changes only its own variables."""
    for one in reached(unit, function):
        for node in expressions(one.body):
            if isinstance(node, Call):
                called = unit.functions.get(node.function)
                foreign = called is None or called.body is None
                if foreign and any(isinstance(a.type, Pointer | Array) for a in node.args):
                    return False
            elif isinstance(node, Assign) or (isinstance(node, Unary) and node.op in STEPS):
                root = root_of(node.target if isinstance(node, Assign) else node.operand)
                if root is None or root.scope not in ("local", "param"):
                    return False
    return True


def _root(node: Expr) -> Variable | None:
    """The variable that an assignment changes, None where it isn't one alone."""
    target: Expr = node.target if isinstance(node, Assign) else node
    if isinstance(target, Unary):
        target = target.operand
    target = without_casts(target)
    return target.variable if isinstance(target, Name) else None


def _names_parameter(node: Expr) -> bool:
    """Return whether a field is one of a struct passed by value."""
    while isinstance(node, Member) and not node.arrow:
        node = node.base
    return isinstance(node, Name) and node.variable.scope == "param"


class Processes(Values):
    """Lowers statements that compute."""

    path = 0
    _copies = 0

    @cached_property
    def outlines(self) -> Outlines:
        """The kinds of the text's functions."""
        return Outlines(self.unit)

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
        building = _Building(
            node.where, names, target, self.lines, self.operands, Operands(ignored=ignored),
            calls=len(self.network.paths),
        )  # fmt: skip
        self.lines = []
        self.operands = building.operands
        return building

    def abandon(self, building: _Building) -> None:
        """Make no process of what was begun; its lines stay."""
        body, self.lines = self.lines, building.outer
        self.operands = building.around
        self.lines += body

    def finish(
        self,
        building: _Building,
        value: Value,
        places: list[tuple[Place | Spot, Value]],
        *,
        address: bool = False,
        stored: int = 0,
    ) -> None:
        """Close a process: `places` are what it writes, with each value.

        The first `stored` of them have been stored already. `value` has the depth and form; an
        `address` that needs no value costs nothing.
        """
        body, self.lines = self.lines, building.outer
        self.operands = building.around
        for place, _ in places:
            for storage in _storages(place):
                storage.written = True
                self.nests.writes((storage.index,))
        operands = building.operands
        constant = value.form is Form.CONSTANT and not operands.texts and not operands.computes
        free = (constant and self.calibration.constants_free) or (address and not operands.texts)
        if free or not places:
            self.emit("{")
            if operands.texts:  # what nothing is made of is read for nobody
                self.emit(f"BEGIN({len(operands.texts)});")
            self.lines.extend(body)
            self._store(places, "FREE", (), stored=stored)
            self.emit("}")
            return
        process = self._register(building, value, constant=constant)
        process.targets = [place.text for place, _ in places]
        process.target_storage = [s.index for place, _ in places for s in _storages(place)]
        process.function = _function([written.graph for _, written in places])
        start = len(self.lines)
        self.emit(f"BEGIN({len(operands.texts)});")
        self.lines.extend(body)
        self.emit(f"FIRE({process.index});")
        for number, given in enumerate(process.function.givens):
            self.emit(f"GIVEN({process.index}, {number}, {given.text});")
        self._store(places, "WRITTEN", operands.ignored, process, stored=stored)
        plain = self.lines[start:]
        if building.calls < len(self.network.paths):  # its labels must not come twice
            self.lines[start:] = ["{ NOTED(logging);", *plain, "}"]
        else:
            twice = ["#if PERIODS", "if (__builtin_expect(logging, 0)) { NOTED(1);"]
            self.lines[start:] = [*twice, *plain, "} else", "#endif", "{ NOTED(0);", *plain, "}"]

    def _store(
        self,
        places: list[tuple[Place | Spot, Value]],
        macro: str,
        ignored: tuple[str, ...],
        process: Process | None = None,
        *,
        stored: int,
    ) -> None:
        for number, (place, value) in enumerate(places):
            text = value.text if number >= stored else ""
            if isinstance(place, Spot):
                kind = place.type if isinstance(place.type, Scalar) else ADDRESS
                cell = f"*({kind} *){place.address}"
                if text:
                    self.emit(f"{cell} = {text};")
                if process is not None:
                    written = value.text if number < stored else cell
                    self.emit(f"RESULT({process.index}, {number}, {written});")
                self.emit(f"{macro}_AT({place.address}, {kind.bits // 8});")
                continue
            (storage,) = _storages(place)
            if text:
                self.emit(f"{storage.cell(place.offset)} = {text};")
            if process is not None:
                written = value.text if number < stored else storage.cell(place.offset)
                self.emit(f"RESULT({process.index}, {number}, {written});")
            self.emit(f"{macro}({storage.shadow(place.offset)});")
            if storage.twice and storage.name not in ignored:
                self.emit(f"{macro}({storage.shadow(place.offset, 'x')});")

    def _register(self, building: _Building, value: Value, *, constant: bool) -> Process:
        operands = building.operands
        calibration = self.calibration
        if constant:
            latency = calibration.constant_latency
        elif operands.computes:
            latency = math.ceil(value.at + operands.family_base)
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
        taken = self._names.setdefault(self.path, {})
        number = taken[label] = taken.get(label, 0) + 1
        return label if number == 1 else f"{label} #{number}"

    _names: dict[int, dict[str, int]]

    @property
    def used_rules(self) -> set[str]:
        """Origins of the statement rules that selected something."""
        return self._used_rules

    _used_rules: set[str]

    # -- assignments ---------------------------------------------------------------------------

    def assign(self, node: Assign, label: str, *, keep: bool = False) -> Place | Spot:
        """An assignment to an element, scalar or struct as a process; where it wrote.

        With `keep` that can be used behind it, else only inside.
        """
        names = (label,) if label else ()
        building = self.process(node, names, target_name(node.target))
        place = self.place(node.target)
        if keep and isinstance(place, Place) and place.offset != "0":
            name = self.temp()
            self.declarations.append(f"u64 {name} = 0;")
            self.emit(f"{name} = {place.offset};")
            place = replace(place, offset=name)
        if isinstance(node.target.type, Struct):
            self._assign_struct(building, place, node)
            return place
        if isinstance(place, Place) and (place.dims or isinstance(place.layout, Record)):
            raise self.refuse(node.where, "assigning an array", "copy its elements in a loop")
        if isinstance(place, Spot):
            place = self._kept(place)
        if isinstance(node.target.type, Pointer):
            value = self._pointer_value(node, place)
            self.finish(building, value, [(place, value)], address=True)
            return place
        if isinstance(place, Spot):
            kind = self.scalar(place.type, node.where)
        else:
            assert isinstance(place.layout, Storage)
            kind = place.layout.type
        if node.op == "=":
            value = self.value(node.value)
        else:
            common = self.scalar(node.common, node.where)
            before = self._converted(self.read(place, node.target), common, node)
            by = self.value(node.value)
            if node.op not in ("<<=", ">>="):
                by = self._converted(by, common, node)
            value = self.binary(node.op.removesuffix("="), before, by, node)
        value = self._converted(value, kind, node)
        self.finish(building, value, [(place, value)])
        return place

    def _kept(self, spot: Spot) -> Spot:
        """A spot whose address is computed but once; its name outlives the process."""
        name = self.temp()
        self.declarations.append(f"char *{name} = 0;")
        self.emit(f"{name} = {spot.address};")
        return replace(spot, address=name)

    declarations: list[str]

    def _pointer_value(self, node: Assign, place: Place | Spot) -> Value:
        if node.op == "=":
            return self.address(node.value)
        before = self.read(place, node.target)
        by = self._subscript(node.value)
        size = self.stride(node.target)
        text = f"({before.text} {node.op[0]} (int64_t)({by.text}) * {size})"
        return Value(text, ADDRESS, form=max(before.form, by.form))

    def _converted(self, value: Value, kind: Scalar, node: Expr) -> Value:
        return value if value.type == kind else self._cast(value, kind, node)

    def _assign_struct(self, building: _Building, place: Place | Spot, node: Assign) -> None:
        source = self.place(node.value)
        kind = node.target.type
        targets = self._leaves(place, kind)
        read = [self.read(origin, node.value) for origin in self._leaves(source, kind)]
        places = list(zip(targets, read, strict=True))
        at = max((value.at for value in read), default=Fraction(0))
        self.finish(building, Value("", Scalar("int", 32), at, Form.DATA), places)

    def _leaves(self, place: Place | Spot, kind: CType) -> list[Place | Spot]:
        """The numbers of a struct, in order."""
        if isinstance(place, Spot):
            return _spot_leaves(place, kind)
        return list(_place_leaves(place))

    # -- outlined functions --------------------------------------------------------------------

    def outlined(self, function: Function, node: Call, label: str, into: Expr | None) -> None:
        """A call of an outlined function as one process."""
        names = (label, function.name) if label else (function.name,)
        target = target_name(into) if into is not None else ""
        building = self.process(node, names, target)
        place = self.place(into) if into is not None else None
        formals = self._formals(function, node)
        self._enter(function, node)
        env, self.env = self.env, formals
        writes: list[tuple[Place | Spot, Value]] = []
        try:
            result = self._straight(function.body, writes)
        finally:
            self.env = env
            self._inlining.pop()
        places, stored = list(writes), len(writes)
        if place is not None:
            if result is None:
                raise self.refuse(node.where, "this result", "return a number")
            if isinstance(place, Spot):
                kind = self.scalar(place.type, node.where)
            elif isinstance(place.layout, Storage) and not place.dims:
                kind = place.layout.type
            else:
                raise self.refuse(node.where, "this result", "return a number")
            value = self._converted(result, kind, node)
            writes.append((place, value))
            places.append((place, value))
        values = [value for _, value in writes]
        at = max((value.at for value in values), default=Value("", ADDRESS).at)
        form = max((value.form for value in values), default=Form.CONSTANT)
        whole = Value("", Scalar("int", 32), at, form)
        self.finish(building, whole, places, stored=stored)

    def _enter(self, function: Function, node: Call) -> None:
        if function.name in self._inlining:
            what = f"recursion ({function.name})"
            raise refusal(Construct.RECURSION, Tool.BOUNDS, node.where, what)
        self._inlining.append(function.name)

    def _formals(self, function: Function, node: Call) -> dict[Variable, Binding]:
        env: dict[Variable, Binding] = {}
        for formal, actual in zip(function.params, node.args, strict=False):
            if isinstance(formal.type, Scalar):
                value = self._converted(self.value(actual), formal.type, actual)
                env[formal] = self._held(value)
            elif isinstance(formal.type, Struct):
                env[formal] = place = self.place(actual)
                self.snapshots.pop(formal, None)
                if not is_private(self.unit, function):
                    self._keep(formal, place)
            else:
                pointed = self.pointed(actual)
                env[formal] = self._pointing(pointed)
        return env

    def _keep(self, formal: Variable, place: Place | Spot) -> None:
        """Keep the values of a struct that is passed, since the call may change it in its place."""
        address = (
            self.spot(place, formal.type, Name(formal.where, formal.type, formal)).address
            if isinstance(place, Place)
            else place.address
        )
        copy, origin, size = self.temp(), self.temp(), size_of(formal.type)
        self.emit(f"char *{origin} = {address}; u64 {copy}[{-(-size // 8)}];")
        self.emit(f"memcpy({copy}, {origin}, {size});")
        self.snapshots[formal] = Snapshot(copy, origin)

    def _pointing(self, pointed: Place | Spot) -> Binding:
        """The binding of a pointer that never moves."""
        if isinstance(pointed, Place):
            return pointed
        name = self.temp()
        self.emit(f"char *{name} = {pointed.address};")
        return Value(name, ADDRESS, form=max(pointed.form, Form.OTHER))

    def _held(self, value: Value) -> Value:
        name = self.temp()
        self.emit(f"{value.type} {name} = {value.text};")
        return replace(value, text=name, node=value.graph)

    def _straight(
        self, node: Stmt | None, writes: list[tuple[Place | Spot, Value]]
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
                case Evaluate(value=Unary() as step):
                    self._straight_assign(_as_assignment(step), writes)
                case Return(value=returned) if returned is not None:
                    return self.value(returned)
                case _:
                    pass
        return None

    def _name(self, variable: Variable, value: Value, node: Expr) -> None:
        kind = self.scalar(variable.type, node.where)
        self.env[variable] = self._held(self._converted(value, kind, node))

    def _straight_assign(self, node: Assign, writes: list[tuple[Place | Spot, Value]]) -> None:
        target = node.target
        is_local = isinstance(target, Name) and target.variable.scope in ("local", "param")
        value = self.value(node.value)
        if node.op != "=":
            common = self.scalar(node.common, node.where)
            before = self._converted(self.value(target), common, node)
            by = value
            if node.op not in ("<<=", ">>="):
                by = self._converted(value, common, node)
            value = self.binary(node.op.removesuffix("="), before, by, node)
        if is_local:
            assert isinstance(target, Name)
            self._name(target.variable, value, node)
            return
        place = self.place(target)
        storage: Storage | None = None
        if isinstance(place, Spot):
            kind = self.scalar(place.type, node.where)
            cell = f"(*({kind} *){place.address})"
        elif isinstance(place.layout, Storage) and not place.dims:
            storage = place.layout
            kind = storage.type
            cell = storage.cell(place.offset)
        else:
            raise self.refuse(node.where, "assigning an array or struct", "assign its elements")
        value = self._held(self._converted(value, kind, node))
        self.emit(f"{cell} = {value.text};")
        writes.append((place, value))
        if self.operands is not None:
            # Reading it again inside the same firing waits for nobody; by the same name it comes
            # when it was computed.
            lvalue = self.lvalue(target)
            if lvalue is not None:
                known = replace(value, form=max(value.form, Form.OTHER))
                self.operands.lvalues[lvalue] = known
            address = self.temp()
            if storage is None or not storage.in_registers:
                self.emit(f"char *{address} = (char *)&{cell};")
            self.operands.written.append(Written(storage, address))

    def inlined(self, function: Function, node: Call) -> Value:
        """The value of a call inside an expression: an operator if it is simple, else a level's."""
        if not self.outlines.is_simple(function):
            return self.read(self.effect(node), node)
        self._copies += 1
        if self._copies > _MOST_COPIES:
            what = f"inlining {function.name} (call {_MOST_COPIES + 1:,} inside an expression)"
            raise self.refuse(node.where, what, "use loops")
        formals = self._formals(function, node)
        self._enter(function, node)
        env, self.env = self.env, formals
        try:
            result = self._straight(function.body, [])
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
        around: Operands | None,
        operands: Operands,
        *,
        calls: int,
    ) -> None:
        self.where = where
        self.names = names
        self.target = target
        self.outer = outer
        self.around = around
        self.operands = operands
        self.calls = calls


def _function(results: list[Node | None]) -> Graph:
    """The function of these results."""
    found = [node for node in inside(results) if isinstance(node, Given)]
    return Graph(tuple(results), tuple(dict.fromkeys(found)))


def _as_assignment(node: Unary) -> Assign:
    """`x += 1` for `x++`."""
    one = Literal(node.where, Scalar("int", 32), 1)
    kind = node.operand.type
    common = kind
    if isinstance(kind, Scalar) and not kind.is_float and kind.bits < 32:
        common = Scalar("int", 32)
    return Assign(node.where, node.type, f"{STEPS[node.op]}=", node.operand, one, common)


def _storages(place: Place | Spot) -> list[Storage]:
    if isinstance(place, Spot):
        return []
    layouts = [place.layout]
    found: list[Storage] = []
    while layouts:
        layout = layouts.pop()
        if isinstance(layout, Record):
            layouts.extend(layout.fields.values())
        else:
            found.append(layout)
    return found


def _place_leaves(place: Place) -> Iterator[Place]:
    layout = place.layout
    if place.dims:
        for number in range(math.prod(d or 1 for d in place.dims)):
            offset = f"({place.offset}) + {number}"
            yield from _place_leaves(
                replace(place, offset=offset, dims=(), text=f"{place.text}[{number}]")
            )
        return
    if isinstance(layout, Storage):
        yield place
        return
    for name, inner in layout.fields.items():
        extents = [extent for extent, _ in inner.steps[len(layout.steps) :]]
        size = math.prod(extents)
        offset = f"({place.offset}) * {size}" if size != 1 else place.offset
        yield from _place_leaves(
            replace(
                place,
                layout=inner,
                offset=offset,
                dims=tuple(extents),
                root=place.root * size,
                text=f"{place.text}.{name}",
            )
        )


def _spot_leaves(spot: Spot, kind: CType) -> list[Place | Spot]:
    found: list[Place | Spot] = []
    match kind:
        case Struct():
            for at, name, inner in placed_fields(kind):
                address, text = f"({spot.address} + {at})", f"{spot.text}.{name}"
                found += _spot_leaves(replace(spot, address=address, text=text), inner)
        case Array(element=element, extent=extent):
            for n in range(extent or 0):
                address, text = f"({spot.address} + {n * size_of(element)})", f"{spot.text}[{n}]"
                found += _spot_leaves(replace(spot, address=address, text=text), element)
        case _:
            found.append(replace(spot, type=kind))
    return found


def target_name(target: Expr) -> str:
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
