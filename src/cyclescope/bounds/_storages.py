"""The storages of a kernel's values: parameters, globals, locals."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from cyclescope.bounds._counters import Counters, counters_of
from cyclescope.bounds._forms import Form, Layout, Place, Spot, Value, literal
from cyclescope.bounds._network import Memory, Network, Record, Storage
from cyclescope.bounds._process import Processes, constant_number
from cyclescope.bounds._values import ADDRESS
from cyclescope.c import (
    STEPS,
    Array,
    Assign,
    CType,
    Expr,
    Function,
    InitList,
    Name,
    Pointer,
    Scalar,
    Struct,
    Unary,
    Unknown,
    Variable,
    Vector,
    fold,
    outermost,
    placed_fields,
    size_of,
    walk,
)

if TYPE_CHECKING:
    from cyclescope.bounds._calibration import Calibration
    from cyclescope.c import Unit
__all__ = ["Storages", "initial_values"]

_ELEMENTS = 2**40


class Storages(Processes):
    """Lowers declarations.

    Attributes:
        arguments: the kernel's scalar parameters, and how many elements its pointers point to.
        hosted: the kernel is called by the user's own program, on its memory.
    """

    def __init__(
        self,
        unit: Unit,
        network: Network,
        calibration: Calibration,
        arguments: dict[str, int | float],
        *,
        hosted: bool = False,
    ) -> None:
        super().__init__(unit, network, calibration)
        self.arguments = arguments
        self.hosted = hosted
        self.declarations = []
        self.counters = Counters()
        self._names = {}
        self._used_rules = set()
        self._statics: dict[Variable, Place] = {}
        # Numbers that are known before the kernel runs: what a level is passed, what never changes.
        self.known: dict[Variable, int | float] = {}
        self._analysed: dict[tuple[str, frozenset[Variable]], Counters] = {}
        self._changed_anywhere: set[Variable] = set()
        for function in unit.functions.values():
            for expression in outermost(function.body):
                for node in walk(expression):
                    target = node.target if isinstance(node, Assign) else None
                    if isinstance(node, Unary) and node.op in ("&", *STEPS):
                        target = node.operand
                    if isinstance(target, Name):
                        self._changed_anywhere.add(target.variable)
        # What gave a counter its first value without reading any data, and its form.
        self._free: dict[Expr | Variable, Form] = {}
        self._leave: list[tuple[str, str]] = []  # break and continue labels of the loops around
        self._return: list[tuple[str, Place | None]] = []

    def analysed(self, function: Function, data: frozenset[Variable] = frozenset()) -> Counters:
        """The counters of a function, some of whose parameters are data."""
        key = function.name, data
        if key not in self._analysed:
            self._analysed[key] = counters_of(self.unit, function, data)
        return self._analysed[key]

    # -- parameters ----------------------------------------------------------------------------

    def _parameter(self, number: int, param: Variable) -> None:
        """Bind a parameter of the kernel."""
        if isinstance(param.type, Scalar):
            self._scalar_parameter(number, param, param.type)
            return
        changed = param in self.counters.changed
        if isinstance(param.type, Pointer) and self._pointed(param) is None:
            # Nobody tells how much memory this is: what is reached through it is found by running.
            self._pointer_variable(param, Value(f"(u64)*(char **)args[{number}]", ADDRESS))
            return
        place = self._allocate(param, param.type, "param", number)
        target: CType | None = None
        if isinstance(param.type, Pointer) and (changed or param in self.counters.addressed):
            target = param.type.target
        elif param.name in self.network.loose and isinstance(param.type, Pointer | Array):
            target = param.type.target if isinstance(param.type, Pointer) else param.type.element
        if target is not None:
            spot = self.spot(place, target, Name(param.where, param.type, param))
            self._pointer_variable(param, Value(f"(u64){spot.address}", ADDRESS))
            return
        self.env[param] = place

    def _scalar_parameter(self, number: int, param: Variable, kind: Scalar) -> None:
        known = self.arguments.get(param.name)
        if self.hosted:
            self.declarations.append(f"{kind} p{number} = *({kind} *)args[{number}];")
            value = Value(f"p{number}", kind)
        else:
            if known is None and not kind.is_float:
                raise self._lacks(param)
            if known is None:
                self.network.made_up.append(f"{param.name} = 1.5")
            value = Value(literal(1.5 if known is None else known, kind), kind)
        self._given(param, value)

    def _given(self, variable: Variable, value: Value) -> None:
        """Bind a parameter to a value for which nobody waits."""
        if variable not in self.counters.changed and variable not in self.counters.addressed:
            self.env[variable] = value
            return
        place = self._declare(variable, "local")
        storage = place.layout
        assert isinstance(storage, Storage)
        self.emit(f"{storage.cell('0')} = {value.text}; FREE({storage.shadow('0')});")
        self._free[variable] = value.form

    def _pointer_variable(self, variable: Variable, value: Value) -> None:
        """Bind a pointer that may move to an address for which nobody waits."""
        self.network.moving = True
        array = isinstance(variable.type, Array)
        if array or variable in self.counters.pure - self.counters.addressed:
            name = f"q{len(self.declarations)}"
            self.declarations.append(f"u64 {name} = 0;")
            self.emit(f"{name} = {value.text};")
            self.bind(variable, Value(name, ADDRESS, form=Form.OTHER))
            return
        place = self._declare(variable, "local")
        storage = place.layout
        assert isinstance(storage, Storage)
        self.emit(f"{storage.cell('0')} = {value.text}; FREE({storage.shadow('0')});")
        self._free[variable] = Form.OTHER

    def _lacks(self, variable: Variable) -> Exception:
        return self.refuse(
            variable.where,
            f"the size {variable.name}, of which no caller tells the value,",
            f"give it with --arg {variable.name}=…",
        )

    # -- globals -------------------------------------------------------------------------------

    def unbound(self, variable: Variable, node: Expr) -> Place | Spot:
        """A global or static variable at its first mention."""
        if variable.scope == "static":
            return self._static(variable)
        if variable.scope != "global":
            return super().unbound(variable, node)
        if isinstance(variable.type, Pointer) and not self.hosted:
            raise self.refuse(
                node.where, f"the global pointer {variable.name}", "give the program its main"
            )
        place = self._allocate(variable, variable.type, "global")
        if variable.name in self.network.loose and isinstance(variable.type, Array):
            spot = self.spot(place, variable.type.element, node)
            self._pointer_variable(variable, Value(f"(u64){spot.address}", ADDRESS))
            return replace(spot, type=variable.type)
        self.bind(variable, place)
        return place

    def _static(self, variable: Variable) -> Place:
        if variable not in self._statics:
            self._statics[variable] = self._allocate(variable, variable.type, "static")
        self.env[variable] = self._statics[variable]
        return self._statics[variable]

    def value(self, node: Expr) -> Value:
        """As `Values.value`; a global number that the kernel never writes is a constant."""
        if isinstance(node, Name) and self.bound(node.variable) is None:
            variable = node.variable
            if variable.scope == "global" and isinstance(variable.type, Scalar):
                constant = self._global_constant(variable)
                if constant is not None:
                    self.bind(variable, constant)
        return super().value(node)

    def _global_constant(self, variable: Variable) -> Value | None:
        kind = variable.type
        if variable in self._changed_anywhere or not isinstance(kind, Scalar):
            return None
        if self.hosted:
            place = self._allocate(variable, kind, "global")
            assert isinstance(place.layout, Storage)
            place.layout.initialised = True
            return Value(place.layout.cell("0"), kind)
        number = self.arguments.get(variable.name)
        if number is None:
            number = constant_number(variable.init)
        if number is None and not kind.is_float:
            raise self._lacks(variable)
        if number is None:
            self.network.made_up.append(f"{variable.name} = 1.5")
        return Value(literal(1.5 if number is None else number, kind), kind)

    # -- storages ------------------------------------------------------------------------------

    def _extents(self, variable: Variable, kind: CType, role: str) -> tuple[CType, tuple[int, ...]]:
        dims: list[int] = []
        if isinstance(kind, Pointer) and role == "param":
            dims.append(self._pointed(variable) or 1)
            kind = kind.target
        kind = self.sized(variable, kind)
        while isinstance(kind, Array):
            extent = kind.extent
            if extent is None:
                extent = self._pointed(variable) or 1
            if extent <= 0:
                raise self.refuse(variable.where, f"{variable.name} of extent {extent}", "use ≥ 1")
            dims.append(extent)
            kind = kind.element
        if math.prod(dims) > _ELEMENTS:
            raise self.refuse(
                variable.where, f"{variable.name}, {math.prod(dims)} elements,", "make it smaller"
            )
        return kind, tuple(dims)

    def sized(self, variable: Variable, kind: CType) -> CType:
        """A variable's type, or what it points to, with the extents that the text computes."""
        if not variable.extents:
            return kind
        open_dims, inner = 0, kind
        while isinstance(inner, Array):
            open_dims += inner.extent is None
            inner = inner.element
        written: list[Expr | None] = [None] * (open_dims - len(variable.extents))  # `a[][n]`
        written += variable.extents[max(len(variable.extents) - open_dims, 0) :]

        def filled(given: CType) -> CType:
            if not isinstance(given, Array):
                return given
            extent = given.extent
            if extent is None and (node := written.pop(0)) is not None:
                extent = self._constant(node, variable)
            return Array(filled(given.element), extent)

        return filled(kind)

    def _pointed(self, variable: Variable) -> int | None:
        number = self.arguments.get(variable.name)
        if number is None and not self.hosted:
            self.network.guessed.add(variable.name)
            return 1
        return None if number is None else int(number)

    def _constant(self, node: Expr, variable: Variable) -> int:
        value = self.number(node, entering=variable.scope == "param")
        if value is None:
            what = self.unit.text(node.where)
            names = [n.variable for n in walk(node) if isinstance(n, Name)]
            given = self.path == 0 and all(v.scope == "param" for v in names)
            instead = "give its value by --arg" if given else "declare it with a constant extent"
            raise self.refuse(variable.where, f"the extent {what} of {variable.name}", instead)
        return int(value)

    def number(self, node: Expr, *, entering: bool = False) -> int | float | None:
        """The value of an expression of what is known before the kernel runs, else None.

        Args:
            node: the expression.
            entering: its value where the function begins, whatever is changed later.
        """
        names: dict[str, int | float] = {}
        for inner in walk(node):
            if isinstance(inner, Name):
                variable = inner.variable
                value = self.known.get(variable)
                if value is None and variable.scope in ("param", "global") and self.path == 0:
                    value = self.arguments.get(variable.name)
                if variable in self._changed_anywhere and not entering:
                    value = None
                names |= {} if value is None else {variable.name: value}
        return fold(node, names)

    def _allocate(self, variable: Variable, kind: CType, role: str, parameter: int = -1) -> Place:
        through = isinstance(kind, Pointer) and role == "param"
        element, dims = self._extents(variable, kind, role)
        size = size_of(element)
        memory: Memory | None = None
        if role != "local" or dims or isinstance(element, Struct) or self._needs_memory(variable):
            memory = Memory(
                len(self.network.memories), variable.name, role, size, math.prod(dims),
                variable.where, parameter,
                by_value=isinstance(kind, Struct) and role == "param",
            )  # fmt: skip
            self.network.memories.append(memory)
        layout = self._layout(variable, element, dims, role, "", memory, 0, ())
        bounds: tuple[int | None, ...] = (None, *dims[1:]) if through else dims
        place = Place(layout, "0", bounds, math.prod(dims), Form.CONSTANT, variable.name)
        if role in ("global", "static") and variable.init is not None:
            self._initial(layout, variable)
        return place

    def _needs_memory(self, variable: Variable) -> bool:
        return variable in self.counters.addressed

    def _layout(
        self, variable: Variable, element: CType, dims: tuple[int, ...], role: str, field: str,
        memory: Memory | None, start: int, steps: tuple[tuple[int, int], ...],
    ) -> Layout:  # fmt: skip
        if isinstance(element, Scalar | Pointer):
            pointer = isinstance(element, Pointer)
            kind = ADDRESS if isinstance(element, Pointer) else element
            storage = Storage(
                len(self.network.storages), f"{variable.name}{field}", kind, dims, role,
                variable.where, memory=memory, start=start, steps=steps, pointer=pointer,
            )  # fmt: skip
            storage.twice = any(storage.name in rule.ignore for rule in self.calibration.statements)
            self.network.storages.append(storage)
            if memory is not None:
                memory.storages.append(storage)
            else:
                index = storage.index
                self.declarations.append(f"{kind} v{index} = 0; TimeStamp s{index} = {{0}};")
                if storage.twice:
                    self.declarations.append(f"TimeStamp x{index} = {{0}};")
            return storage
        if isinstance(element, Struct) and memory is not None:
            fields: dict[str, Layout] = {}
            for at, name, kind_of in placed_fields(element):
                inner: tuple[tuple[int, int], ...] = ()
                while isinstance(kind_of, Array):
                    extent, kind_of = kind_of.extent or 1, kind_of.element
                    inner = (*inner, (extent, size_of(kind_of)))
                fields[name] = self._layout(
                    variable, kind_of, (*dims, *(e for e, _ in inner)), role, f"{field}.{name}",
                    memory, start + at, (*steps, *inner),
                )  # fmt: skip
            return Record(fields, memory, start, steps, size_of(element))
        if isinstance(element, Unknown | Vector):
            what = f"{variable.name} of type {element}"
            raise self.refused_type(element, variable.where, what)
        raise self.refuse(
            variable.where, f"{variable.name} of type {element}", "use numbers, arrays and structs"
        )

    def _declare(self, variable: Variable, role: str) -> Place:
        place = self._allocate(variable, variable.type, role)
        self.bind(variable, place)
        return place

    def _initial(self, layout: Layout, variable: Variable) -> None:
        """Note what the text gives a variable that outlives the kernel."""
        for storage, offset, node in self.initials(layout, variable.init, 0):
            storage.initialised = True
            if self.hosted and storage.role == "global":
                continue  # it is in the program's memory
            number = constant_number(node)
            if number is None:
                number = fold(node, {})
            if number is None:
                raise self.refuse(node.where, "an initial value that is no number", "write it out")
            storage.initial[offset] = number
        for storage in _numbers(layout):
            storage.initialised = True

    def initials(
        self, layout: Layout, node: Expr | None, base: int
    ) -> list[tuple[Storage, int, Expr]]:
        """(storage, element, value) for each number that an initialiser lists."""
        if node is None:
            return []
        if isinstance(layout, Storage):
            depth = len(layout.dims)
            inner = layout.dims[depth - _depth(node.type, depth) :] if depth else ()
            size = math.prod(inner)
            return [(layout, base * size + at, e) for at, e in initial_values(node, inner)]
        if not isinstance(node, InitList):
            return []  # another struct, which is assigned
        if isinstance(node.type, Array):
            extent = node.type.extent or len(node.values)
            return [
                found
                for number, value in enumerate(node.values)
                for found in self.initials(layout, value, base * extent + number)
            ]
        return [
            found
            for inner_layout, value in zip(layout.fields.values(), node.values, strict=False)
            for found in self.initials(inner_layout, value, base)
        ]


def _depth(kind: CType, most: int) -> int:
    """The number of an array's dimensions that an initialiser's type has."""
    depth = 0
    while isinstance(kind, Array):
        depth += 1
        kind = kind.element
    return min(depth, most)


def _numbers(layout: Layout) -> list[Storage]:
    if isinstance(layout, Storage):
        return [layout]
    return [s for inner in layout.fields.values() for s in _numbers(inner)]


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
