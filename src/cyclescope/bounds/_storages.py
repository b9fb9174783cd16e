"""Where a kernel's values live: parameters, globals, locals, loop counters."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from cyclescope.bounds._forms import Form, Layout, Place, Value, literal
from cyclescope.bounds._network import Network, Storage
from cyclescope.bounds._process import Processes, constant_number, statements
from cyclescope.c import (
    Array,
    Assign,
    Binary,
    Block,
    Cast,
    CType,
    Declare,
    Evaluate,
    Expr,
    For,
    Function,
    InitList,
    Literal,
    Name,
    Pointer,
    Scalar,
    Stmt,
    Struct,
    Unary,
    Variable,
    walk,
)

if TYPE_CHECKING:
    from cyclescope.bounds._calibration import Calibration
    from cyclescope.c import Unit
__all__ = ["STEPS", "Storages", "fold", "initial_values"]

STEPS = {"pre++": "+", "post++": "+", "pre--": "-", "post--": "-"}
_ELEMENTS = 2**40


class Storages(Processes):
    """Lowers declarations; knows which variables are loop counters."""

    def __init__(
        self,
        unit: Unit,
        network: Network,
        calibration: Calibration,
        arguments: dict[str, int | float],
    ) -> None:
        super().__init__(unit, network, calibration)
        self.arguments = arguments
        self.declarations: list[str] = []
        self._used_rules = set()
        self._globals: dict[Variable, Place] = {}
        self._written_anywhere = {
            variable
            for function in unit.functions.values()
            for node in statements(function.body)
            for part in ("init", "step", "value")
            for variable in _assigned_in(getattr(node, part, None))
        }
        self._counters: dict[Variable, str] = {}
        self._assigned: set[Variable] = set()
        self._leave: list[tuple[str, str]] = []  # break and continue labels of the loops around
        self._return: list[tuple[str, Place | None]] = []

    def _scan(self, function: Function) -> None:
        """Find a function's loop counters and which variables it assigns."""
        for node in statements(function.body):
            for part in ("init", "condition", "step", "value"):
                inner = getattr(node, part, None)
                if inner is None or isinstance(inner, Block | Declare | Evaluate):
                    continue
                self._assigned |= set(_assigned(inner))
            if isinstance(node, For):
                for variable in _headed(node):
                    integer = isinstance(variable.type, Scalar) and not variable.type.is_float
                    if integer and variable.scope in ("local", "param", "global"):
                        self._counters.setdefault(variable, "")

    def _parameter(self, param: Variable) -> None:
        if isinstance(param.type, Scalar):
            number = self.arguments.get(param.name)
            if number is None and not param.type.is_float:
                raise self._lacks(param)
            value = Value(literal(1.5 if number is None else number, param.type), param.type)
            if param in self._counters:
                self._counter(param, value)
            elif param in self._assigned:
                place = self._declare(param, "local")
                storage = place.layout
                assert isinstance(storage, Storage)
                self.emit(f"v{storage.index} = {value.text}; FREE(s{storage.index});")
            else:
                self.env[param] = value
            return
        self.env[param] = self._allocate(param, param.type, "param")

    def _lacks(self, variable: Variable) -> Exception:
        return self.refuse(
            variable.where,
            f"the size {variable.name}, of which no caller tells the value,",
            f"give it with --arg {variable.name}=…",
        )

    def unbound(self, variable: Variable, node: Expr) -> Place:
        """A global variable at its first mention."""
        if variable.scope not in ("global", "static"):
            return super().unbound(variable, node)
        place = self._allocate(variable, variable.type, "global")
        self.env[variable] = place
        self._globals[variable] = place
        return place

    def value(self, node: Expr) -> Value:
        """As `Values.value`; a global number that the kernel never writes is a constant."""
        if isinstance(node, Name) and node.variable not in self.env:
            variable = node.variable
            known = self._globals.get(variable)
            if known is not None:
                self.env[variable] = known
            elif variable.scope == "global" and isinstance(variable.type, Scalar):
                constant = self._global_constant(variable)
                if constant is not None:
                    self.env[variable] = constant
        return super().value(node)

    def _global_constant(self, variable: Variable) -> Value | None:
        kind = variable.type
        if variable in self._written_anywhere or not isinstance(kind, Scalar):
            return None
        number = self.arguments.get(variable.name)
        if number is None:
            number = constant_number(variable.init)
        if number is None and not kind.is_float:
            raise self._lacks(variable)
        return Value(literal(1.5 if number is None else number, kind), kind)

    # -- storages ------------------------------------------------------------------------------

    def _extents(self, variable: Variable, kind: CType) -> tuple[CType, tuple[int, ...]]:
        dims: list[int] = []
        written = list(variable.extents)
        if isinstance(kind, Pointer):
            dims.append(self._pointed(variable))
            kind = kind.target
        while isinstance(kind, Array):
            extent = kind.extent
            if extent is None and written:
                extent = self._constant(written.pop(0), variable)
            elif extent is None:
                extent = self._pointed(variable)
            if extent <= 0:
                raise self.refuse(variable.where, f"{variable.name} of extent {extent}", "use ≥ 1")
            dims.append(extent)
            kind = kind.element
        if math.prod(dims) > _ELEMENTS:
            raise self.refuse(
                variable.where, f"{variable.name}, {math.prod(dims)} elements,", "make it smaller"
            )
        return kind, tuple(dims)

    def _pointed(self, variable: Variable) -> int:
        return int(self.arguments.get(variable.name, 1))

    def _constant(self, node: Expr, variable: Variable) -> int:
        value = fold(node, self.arguments)
        if value is None:
            what = self.unit.text(node.where)
            raise self.refuse(
                variable.where, f"the extent {what} of {variable.name}", "give its value by --arg"
            )
        return int(value)

    def _allocate(self, variable: Variable, kind: CType, role: str) -> Place:
        element, dims = self._extents(variable, kind)
        layout = self._layout(variable, element, dims, role, "")
        root = math.prod(dims)
        bounds: tuple[int | None, ...] = dims
        if isinstance(kind, Pointer | Array) and dims and isinstance(kind, Pointer):
            bounds = (None, *dims[1:])
        place = Place(layout, "0", bounds, root, Form.CONSTANT, variable.name)
        if variable.init is not None and role != "local":
            self._initial(layout, variable)
        return place

    def _layout(
        self, variable: Variable, element: CType, dims: tuple[int, ...], role: str, field: str
    ) -> Layout:
        if isinstance(element, Scalar):
            storage = Storage(
                len(self.network.storages), f"{variable.name}{field}", element, dims, role,
                variable.where,
            )  # fmt: skip
            storage.twice = any(storage.name in rule.ignore for rule in self.calibration.statements)
            self.network.storages.append(storage)
            if storage.in_registers:
                index = storage.index
                self.declarations.append(f"{element} v{index} = 0; Stamp s{index} = {{0}};")
                if storage.twice:
                    self.declarations.append(f"Stamp x{index} = {{0}};")
            return storage
        if isinstance(element, Struct):
            layout: dict[str, Layout] = {}
            for name, kind in element.fields:
                inner: tuple[int, ...] = ()
                while isinstance(kind, Array):
                    inner = (*inner, kind.extent or 1)
                    kind = kind.element
                layout[name] = self._layout(
                    variable, kind, (*dims, *inner), role, f"{field}.{name}"
                )
            return layout
        raise self.refuse(
            variable.where, f"{variable.name} of type {element}", "use numbers, arrays and structs"
        )

    def _declare(self, variable: Variable, role: str) -> Place:
        place = self._allocate(variable, variable.type, role)
        self.env[variable] = place
        return place

    def _initial(self, layout: Layout, variable: Variable) -> None:
        if not isinstance(layout, Storage):
            raise self.refuse(variable.where, "an initialised struct", "assign its fields")
        layout.initialised = True
        for offset, node in initial_values(variable.init, layout.dims):
            number = constant_number(node)
            if number is None:
                number = fold(node, {})
            if number is None:
                raise self.refuse(node.where, "an initial value that is no number", "write it out")
            layout.initial[offset] = number

    def _counter(self, variable: Variable, value: Value | None) -> str:
        name = f"c{len(self.declarations)}"
        kind = variable.type
        assert isinstance(kind, Scalar)
        self.declarations.append(f"{kind} {name} = 0;")
        self._counters[variable] = name
        self.env[variable] = Value(name, kind, form=Form.AFFINE)
        if value is not None:
            self.emit(f"{name} = {value.text};")
        return name

    def _counter_name(self, variable: Variable) -> str:
        found = self.env.get(variable)
        if isinstance(found, Value):
            return found.text
        return self._counter(variable, None)


def _assigned(node: Expr | Stmt) -> list[Variable]:
    if isinstance(node, Evaluate):
        node = node.value
    found = []
    for inner in walk(node):  # type: ignore[arg-type]
        target: Expr | None = None
        if isinstance(inner, Assign):
            target = inner.target
        elif isinstance(inner, Unary) and inner.op in STEPS:
            target = inner.operand
        if isinstance(target, Name):
            found.append(target.variable)
    return found


def _assigned_in(node: object) -> list[Variable]:
    if node is None or isinstance(node, Block | Declare):
        return []
    return _assigned(node)  # type: ignore[arg-type]


def _headed(node: For) -> list[Variable]:
    """The variables that a for statement's head sets."""
    found: list[Variable] = []
    if isinstance(node.init, Declare):
        found += node.init.variables
    elif isinstance(node.init, Evaluate):
        found += _assigned(node.init)
    if node.step is not None:
        found += _assigned(node.step)
    return found


def initial_values(
    node: Expr | None, dims: tuple[int, ...], base: int = 0
) -> list[tuple[int, Expr]]:
    """(offset, value) of an initialiser."""
    if node is None:
        return []
    if not isinstance(node, InitList):
        return [(base, node)]
    stride = math.prod(dims[1:])
    return [
        pair
        for number, inner in enumerate(node.values)
        for pair in initial_values(inner, dims[1:], base + number * stride)
    ]


def fold(node: Expr | None, names: dict[str, int | float]) -> int | float | None:
    """The value of an expression of literals and named numbers; None if it is none."""
    match node:
        case Literal(value=value):
            return value
        case Name(variable=variable):
            return names.get(variable.name)
        case Cast(operand=operand, type=kind):
            inner = fold(operand, names)
            whole = isinstance(kind, Scalar) and not kind.is_float
            return inner if inner is None or not whole else int(inner)
        case Unary(op="-", operand=operand):
            inner = fold(operand, names)
            return None if inner is None else -inner
        case Binary(op=op, left=left, right=right):
            a, b = fold(left, names), fold(right, names)
            if a is None or b is None:
                return None
            match op:
                case "+":
                    return a + b
                case "-":
                    return a - b
                case "*":
                    return a * b
                case "/" | "%" if b != 0:
                    if isinstance(a, float) or isinstance(b, float):
                        return a / b if op == "/" else None
                    quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
                    return quotient if op == "/" else a - b * quotient
    return None
