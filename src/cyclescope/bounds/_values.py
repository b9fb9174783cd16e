"""Expressions: their C text with time stamps read on the way, and their depth in cycles."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

from cyclescope.bounds._forms import (
    Binding,
    Form,
    Layout,
    Operands,
    Place,
    Snapshot,
    Spot,
    Value,
    family_of,
    literal,
)
from cyclescope.bounds._function import Apply, Node, Number, Operand
from cyclescope.bounds._nests import Nests
from cyclescope.bounds._network import Record, Site, Storage, address_text
from cyclescope.c import (
    STEPS,
    Array,
    Assign,
    Binary,
    Call,
    Cast,
    Conditional,
    Construct,
    CType,
    Expr,
    Function,
    Index,
    InitList,
    Literal,
    Member,
    Name,
    Opaque,
    Pointer,
    Range,
    Scalar,
    Struct,
    Tool,
    Unary,
    Unknown,
    Variable,
    Vector,
    Void,
    placed_fields,
    refusal,
    show,
    size_of,
    walk,
    without_casts,
)
from cyclescope.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from cyclescope.bounds._calibration import Calibration
    from cyclescope.bounds._network import Network
    from cyclescope.c import Unit

__all__ = ["ADDRESS", "Values"]

ADDRESS = Scalar("uint", 64)
"""The type of an address as a value."""

# What a C function of <math.h> is made of, for its latency.
_FUNCTIONS = {
    **dict.fromkeys(("sqrt",), ("sqrt",)),
    **dict.fromkeys(("fabs", "abs", "labs"), ("abs",)),
    **dict.fromkeys(("fmin", "fmax"), ("minmax",)),
    **dict.fromkeys(("floor", "ceil", "trunc", "round", "rint"), ("round",)),
    **dict.fromkeys(("exp", "exp2", "expm1"), ("exp",)),
    **dict.fromkeys(("log", "log2", "log10", "log1p"), ("log",)),
    **dict.fromkeys(("pow", "cbrt", "hypot", "fmod"), ("pow",)),
    **dict.fromkeys(("sin", "cos", "tan", "asin", "acos", "atan", "atan2"), ("trig",)),
    **dict.fromkeys(("sinh", "cosh", "tanh"), ("trig",)),
    "fma": ("mul", "add"),
    "copysign": ("neg",),
    "fdim": ("add", "compare"),
}
_OPERATORS = {
    **dict.fromkeys(("+", "-"), "add"),
    "*": "mul",
    **dict.fromkeys(("/", "%"), "div"),
    **dict.fromkeys(("<", ">", "<=", ">=", "==", "!="), "compare"),
    **dict.fromkeys(("&", "|", "^"), "logic"),
    **dict.fromkeys(("<<", ">>"), "shift"),
}
_TESTS = {
    "<": "TEST_LT",
    "<=": "TEST_LE",
    ">": "TEST_GT",
    ">=": "TEST_GE",
    "==": "TEST_EQ",
    "!=": "TEST_NE",
}


def _has_effect(node: Expr) -> bool:
    return isinstance(node, Assign | Call) or (isinstance(node, Unary) and node.op in STEPS)


class Values:
    """Lowers expressions; statements are built on top of it."""

    def __init__(self, unit: Unit, network: Network, calibration: Calibration) -> None:
        self.unit = unit
        self.network = network
        self.calibration = calibration
        self.env: dict[Variable, Binding] = {}
        self.globals: dict[Variable, Binding] = {}
        self.lines: list[str] = network.body
        self.operands: Operands | None = None
        self._temps = 0
        self._tests = 0
        self.nests = Nests()
        self._site = 0
        self._inlining: list[str] = []
        self.snapshots: dict[Variable, Snapshot] = {}

    # -- small things --------------------------------------------------------------------------

    def refuse(self, where: Range, construct: str, instead: str) -> SourceError:
        """The error for a construct outside what this source handles."""
        return SourceError(f"{where}: {construct} is not supported here; {instead}")

    def refused_type(self, kind: Unknown | Vector, where: Range, what: str) -> SourceError:
        """The error for a type that the model has no tokens of."""
        construct = kind.construct if isinstance(kind, Unknown) else Construct.VECTOR
        return refusal(construct, Tool.BOUNDS, where, what)

    def temp(self) -> str:
        """A fresh C name."""
        self._temps += 1
        return f"t{self._temps}"

    def emit(self, line: str) -> None:
        """Add a line of C."""
        self.lines.append(line)

    def enter_site(self, where: Range) -> None:
        """Set the place at which what follows fails, if it fails."""
        self.network.sites.append(Site(where, self.unit.text(where)))
        self._site = len(self.network.sites) - 1

    def scalar(self, kind: CType, where: Range) -> Scalar:
        """The type as a number's, or the error that says that it is none."""
        if isinstance(kind, Scalar):
            return kind
        if isinstance(kind, Unknown | Vector):
            raise self.refused_type(kind, where, f"a value of type {kind}")
        raise self.refuse(where, f"a value of type {kind}", "use numbers, arrays and structs")

    # -- places --------------------------------------------------------------------------------

    def bound(self, variable: Variable) -> Binding | None:
        """The binding of a variable, None if nothing has bound it yet."""
        if variable.scope == "global":
            return self.globals.get(variable)
        return self.env.get(variable)

    def bind(self, variable: Variable, binding: Binding) -> None:
        """Say what a variable stands for; a global one stands for it in every function."""
        table = self.globals if variable.scope == "global" else self.env
        table[variable] = binding

    def place(self, node: Expr) -> Place | Spot:
        """The place of an lvalue or an array."""
        match node:
            case Name(variable=variable):
                found = self.bound(variable)
                if found is None:
                    return self.unbound(variable, node)
                if isinstance(found, Value):
                    raise self.refuse(
                        node.where, f"writing {variable.name}", "copy it to a variable"
                    )
                return found
            case Index(base=base, index=index):
                pointed = self.pointed(base)
                number = self._subscript(index)
                if isinstance(pointed, Place):
                    return self._indexed(pointed, number, node)
                return self._stepped(pointed, "+", number, node)
            case Unary(op="*", operand=operand):
                pointed = self.pointed(operand)
                if isinstance(pointed, Spot):
                    return replace(pointed, text=show(node))
                return self._indexed(pointed, Value("0", Scalar("int", 64)), node)
            case Member(base=base, field=name, arrow=arrow):
                inside = self.pointed(base) if arrow else self.place(base)
                if isinstance(inside, Spot):
                    return self._spot_member(inside, name, node)
                return self._member(inside, name, node)
            case Cast(operand=operand, type=Array() | Struct()):
                return self.place(operand)
            case Cast(operand=operand, implicit=True):
                return self.place(operand)
            case Call() | Assign() | InitList(type=Struct()):
                return self.effect(node)
            case Binary(op=",", left=left, right=right):
                self.evaluate(left)
                return self.place(right)
            case Conditional(condition=condition, then=then, other=other, type=Struct() as kind):
                chosen = [Unary(arm.where, Pointer(kind), "&", arm) for arm in (then, other)]
                selected = Conditional(node.where, Pointer(kind), condition, *chosen)
                value = self._conditional(selected, of=Form.DATA)
                return Spot(f"(char *)({value.text})", kind, value.form, show(node), value.at)
            case Opaque(construct=construct):
                raise refusal(construct, Tool.BOUNDS, node.where)
        raise self.refuse(
            node.where, f"`{show(node)}` as a place", "name an array element or a variable"
        )

    def pointed(self, node: Expr) -> Place | Spot:
        """The target of a pointer, or the begin of an array."""
        match node:
            case Name(variable=variable, type=Pointer(target=target) | Array(element=target)) if (
                isinstance(found := self.bound(variable), Value)
            ):
                target = self.sized(variable, target)
                return Spot(f"(char *){found.text}", target, found.form, variable.name)
            case Unary(op="&", operand=Index(base=base, index=index)):
                # Like base + index: one past the end may be pointed to.
                return self._moved(self.pointed(base), "+", self._subscript(index), node)
            case Cast(operand=operand, type=Pointer(target=target)):
                if isinstance(operand.type, Scalar):
                    value = self.value(operand)
                    return Spot(f"(char *)({value.text})", target, value.form, show(node))
                inner = self.pointed(operand)
                if isinstance(inner, Place):
                    if _same_elements(inner, target):
                        return inner
                    inner = self.spot(inner, target, node)
                return replace(inner, type=target)
            case Cast(operand=operand):
                return self.pointed(operand)
            case Unary(op="&", operand=operand):
                element = self.place(operand)
                if isinstance(element, Spot):
                    return replace(element, text=show(node))
                return replace(element, dims=(None, *element.dims), text=show(node))
            case Binary(op="+" | "-" as op, left=left, right=right) if isinstance(
                left.type, Pointer | Array
            ):
                return self._moved(self.pointed(left), op, self._subscript(right), node)
            case Binary(op="+", left=left, right=right):
                return self._moved(self.pointed(right), "+", self._subscript(left), node)
            case Binary(op=",", left=left, right=right):
                self.evaluate(left)
                return self.pointed(right)
            case Conditional(type=Pointer(target=target)):
                value = self._costless(partial(self._conditional, node))
                return Spot(f"(char *)({value.text})", target, value.form, show(node))
            case Unary(op=op, operand=operand, type=Pointer(target=target)) if op in STEPS:
                value = self._stepping(node)
                return Spot(f"(char *)({value.text})", target, value.form, show(node))
            case Assign(target=Name() as target):
                self.evaluate(node)
                return self.pointed(target)
            case Assign() | Call():
                place = self.effect(node)
            case Opaque(construct=construct):
                raise refusal(construct, Tool.BOUNDS, node.where)
            case Literal():  # no address
                return Spot(f"(char *)(u64){self._literal(node).text}", Void(), Form.CONSTANT, "0")
            case _:
                place = self.place(node)
        if isinstance(node.type, Array):
            if isinstance(place, Spot):
                kind = place.type
                return replace(place, type=kind.element if isinstance(kind, Array) else kind)
            return place
        if isinstance(place, Place) and place.dims:
            return place  # a pointer that stands for an array, and never moves
        target = node.type.target if isinstance(node.type, Pointer) else node.type
        value = self.read(place, node)
        return Spot(f"(char *)({value.text})", target, value.form, show(node))

    def spot(self, place: Place, kind: CType, node: Expr) -> Spot:
        """A place as memory that a moving pointer may point to."""
        layout = place.layout
        memory = layout.memory
        if memory is None:
            raise self.refuse(node.where, f"the address of {place.text}", "make it an array")
        self.network.moving = True
        for storage in memory.storages:
            storage.reached = True
        if isinstance(layout, Storage) and layout.is_plain:
            text = f"(char *)(v{layout.index} + ({place.offset}))"
        else:
            text = f"({address_text(memory, layout.start, layout.steps, place.offset)})"
        return Spot(text, kind, place.form, place.text)

    def unbound(self, variable: Variable, node: Expr) -> Place | Spot:
        """A variable that nothing has bound yet; statements say what that means."""
        raise self.refuse(node.where, f"the variable {variable.name}", "declare it in the kernel")

    def stride(self, node: Expr) -> int:
        """The bytes from one element that a pointer points to, or of an array, to the next."""
        kind = node.type
        assert isinstance(kind, Pointer | Array)
        inner = kind.target if isinstance(kind, Pointer) else kind.element
        for name in walk(node):
            if isinstance(name, Name) and name.variable.extents:
                inner = self.sized(name.variable, inner)
        return self._size(inner, node)

    def _size(self, kind: CType, node: Expr) -> int:
        inner = kind
        while isinstance(inner, Array):
            if inner.extent is None:
                raise self.refuse(node.where, "a row whose extent isn't known", "declare it")
            inner = inner.element
        return size_of(kind) or 1

    def sized(self, variable: Variable, kind: CType) -> CType:
        """The type that a variable points to, with the extents that the text computes."""
        del variable
        return kind

    def evaluate(self, node: Expr) -> None:
        """Evaluate an expression as a statement, inside another or not."""
        raise self.refuse(node.where, "an effect in an expression", "make it a statement")

    def effect(self, node: Expr) -> Place | Spot:
        """Carry out an assignment, call or list in an expression; where its value is then."""
        raise self.refuse(node.where, "an effect in an expression", "make it a statement")

    def _stepping(self, node: Unary) -> Value:
        """`x++` and its kin inside an expression: the value that they have there."""
        raise self.refuse(node.where, "an effect in an expression", "make it a statement")

    def _subscript(self, node: Expr) -> Value:
        """A subscript: what it reads is waited for, its arithmetic is the address unit's."""
        return self._costless(partial(self.value, node))

    def _costless(self, value: Callable[[], Value]) -> Value:
        """A value whose operators are no part of the statement's depth."""
        operands = self.operands
        if operands is None:
            return value()
        before = operands.computes, operands.family_base
        found = value()
        operands.computes, operands.family_base = before
        return found

    def _form_of(self, form: Form, index: Value, node: Expr) -> Form:
        if index.form > Form.AFFINE:
            self.not_affine(node.where, "subscript", index.form)
            self.undecided(index.form)
        return max(form, index.form)

    def undecided(self, form: Form) -> None:
        """A subscript or choice whose course cannot be told from the text, by its form."""
        self.nests.irregular()
        if form is Form.DATA and self.operands is not None:
            self.nests.decides(self.operands.storages)

    def not_affine(self, where: Range, what: str, form: Form) -> None:
        """Take note of something that makes the kernel no SANLP."""
        del where, what, form

    def _indexed(self, place: Place, index: Value, node: Expr) -> Place:
        if not place.dims:
            raise self.refuse(node.where, "a subscript on a single value", "declare an array")
        form = self._form_of(place.form, index, node)
        extent, inner = place.dims[0], place.dims[1:]
        stride = math.prod(d or 1 for d in inner)
        dimension = self._dimension(place)
        storage = self._some_storage(place.layout)
        offset = self.temp()
        if extent is None:
            at = f"(int64_t){place.offset} + (int64_t)({index.text}) * {stride}"
            limit = place.root - stride + 1
            self.emit(f"u64 {offset} = within({at}, {limit}, {self._site}, {storage.index}, 99);")
        else:
            number = f"within((int64_t)({index.text}), {extent}, {self._site}, "
            number += f"{storage.index}, {dimension})"
            lead = "" if place.offset == "0" else f"{place.offset} + "
            times = "" if stride == 1 else f" * {stride}"
            self.emit(f"u64 {offset} = {lead}{number}{times};")
        return replace(place, offset=offset, dims=inner, form=form, text=show(node))

    def _dimension(self, place: Place) -> int:
        storage = self._some_storage(place.layout)
        return max(len(storage.dims) - len(place.dims), 0)

    def _some_storage(self, layout: Layout) -> Storage:
        while isinstance(layout, Record):
            layout = next(iter(layout.fields.values()))
        return layout

    def _moved(self, place: Place | Spot, sign: str, by: Value, node: Expr) -> Place | Spot:
        if isinstance(place, Spot):
            return self._stepped(place, sign, by, node)
        if not place.dims:
            raise self.refuse(node.where, "pointer arithmetic on a value", "use a subscript")
        form = self._form_of(place.form, by, node)
        stride = math.prod(d or 1 for d in place.dims[1:])
        offset = self.temp()
        at = f"(int64_t){place.offset} {sign} (int64_t)({by.text}) * {stride}"
        storage = self._some_storage(place.layout)
        # One past the end may be formed, though not read.
        check = f"within({at}, {place.root + 1}, {self._site}, {storage.index}, 99)"
        self.emit(f"u64 {offset} = {check};")
        dims = (None, *place.dims[1:])
        return replace(place, offset=offset, dims=dims, form=form, text=show(node))

    def _stepped(self, spot: Spot, sign: str, by: Value, node: Expr) -> Spot:
        form = self._form_of(spot.form, by, node)
        size = self._size(spot.type, node)
        address = self.temp()
        by_text = f"(int64_t)({by.text}) * {size}"
        self.emit(f"char *{address} = {spot.address} {sign} {by_text};")
        return Spot(address, spot.type, form, show(node))

    def _member(self, place: Place, name: str, node: Expr) -> Place:
        if place.dims and isinstance(node, Member) and node.arrow:
            place = self._indexed(place, Value("0", Scalar("int", 64)), node)
        if not isinstance(place.layout, Record) or place.dims:
            raise self.refuse(node.where, f"the field {name}", "index the array first")
        layout = place.layout.fields[name]
        inner: tuple[int, ...] = ()
        kind = node.type
        while isinstance(kind, Array):
            inner = (*inner, kind.extent or 1)
            kind = kind.element
        size = math.prod(inner)
        offset = place.offset if size == 1 else f"({place.offset}) * {size}"
        root = place.root * size
        return Place(layout, offset, inner, root, place.form, show(node))

    def _spot_member(self, spot: Spot, name: str, node: Expr) -> Spot:
        if not isinstance(spot.type, Struct):
            raise self.refuse(node.where, f"the field {name}", "give the pointer its type")
        for at, own, kind in placed_fields(spot.type):
            if own == name:
                address = f"({spot.address} + {at})"
                return replace(spot, address=address, type=kind, text=show(node))
        raise self.refuse(node.where, f"the field {name}", "give the pointer its type")

    # -- reading -------------------------------------------------------------------------------

    def read(self, place: Place | Spot, node: Expr) -> Value:
        """The value at a place, its time stamp waited for if a process is being lowered."""
        if isinstance(place, Spot):
            return self._read_spot(place, node)
        if isinstance(place.layout, Record) or place.dims:
            raise self.refuse(
                node.where, "an array or struct as a number", "read one element of it"
            )
        storage = place.layout
        storage.read = True
        name = self.temp()
        operands = self.operands
        again = self._written_before(node)
        if again is not None:
            self.emit(f"{storage.type} {name} = {storage.cell(place.offset)};")
            return replace(again, text=name)
        cell = storage.cell(place.offset)
        before = self._snapshot_of(node)
        noted = f"SEE{storage.index}({storage.shadow(place.offset)});" if storage.is_outer else ""
        if operands is None:
            self.nests.decides((storage.index,))
            if noted:
                self.emit(noted)
        else:
            number = operands.add(place.text, storage.index)
            ignored = storage.name in operands.ignored
            shadow = storage.shadow(place.offset, "x" if ignored else "s")
            line = f"READ({number}, {shadow}); {noted}"
            if ignored:
                line += f" ORIGIN({number}, {storage.shadow(place.offset)});"
            unmet = self._unmet(storage, cell) if before is None else ""
            if unmet not in ("", "0"):
                self.nests.irregular()
            if unmet != "0":
                self.emit(f"if ({unmet}) {{ {line} }}" if unmet else line)
        if before is not None:
            cell = before.cell(storage.type, f"(char *)&{cell}")
        self.emit(f"{storage.type} {name} = {cell};")
        if operands is None:
            return Value(name, storage.type, Fraction(0), Form.DATA)
        self.emit(f"CONTENT({number}, {name});")
        own = None if unmet else Operand(number, storage.type)
        return Value(name, storage.type, Fraction(0), Form.DATA, own)

    def _unmet(self, storage: Storage | None, cell: str) -> str:
        """The C condition under which this process hasn't written a cell; `0`: it has."""
        operands = self.operands
        assert operands is not None
        tests = []
        for written in operands.written:
            if storage is not None and storage.in_registers:
                if written.storage is storage:
                    return "0"
            elif written.storage is None or storage is None or written.storage is storage:
                tests.append(f"(char *)&{cell} != {written.address}")
        return " && ".join(tests)

    def _read_spot(self, spot: Spot, node: Expr) -> Value:
        self.network.moving = True
        kind = ADDRESS if isinstance(spot.type, Pointer) else self.scalar(spot.type, node.where)
        address, name = self.temp(), self.temp()
        self.emit(f"char *{address} = {spot.address};")
        cell = f"(*({kind} *){address})"
        again = self._written_before(node)
        if again is not None:
            self.emit(f"{kind} {name} = {cell};")
            return replace(again, text=name)
        operands = self.operands
        before = self._snapshot_of(node)
        if operands is None:
            self.emit(f"SEEN_AT({address}, {kind.bits // 8});")
        else:
            number = operands.add(spot.text, -1)
            line = f"READ_AT({number}, {address}, {kind.bits // 8});"
            unmet = self._unmet(None, cell) if before is None else ""
            self.emit(f"if ({unmet}) {{ {line} }}" if unmet else line)
        if before is not None:
            cell = before.cell(kind, address)
        self.emit(f"{kind} {name} = {cell};")
        if operands is None:
            return Value(name, kind, spot.at, Form.DATA)
        self.emit(f"CONTENT({number}, {name});")
        own = None if unmet else Operand(number, kind)
        return Value(name, kind, spot.at, Form.DATA, own)

    def _snapshot_of(self, node: Expr) -> Snapshot | None:
        """The values of a struct as it was passed, if an lvalue names a part of one."""
        while isinstance(node, Index) or (isinstance(node, Member) and not node.arrow):
            node = node.base
        return self.snapshots.get(node.variable) if isinstance(node, Name) else None

    def _written_before(self, node: Expr) -> Value | None:
        """The value that this process wrote by the same lvalue.

        Its place may have changed since, so that it is read again; there is nothing to wait for.
        """
        written = self.operands.lvalues if self.operands is not None else {}
        return written.get(self.lvalue(node)) if written else None

    def lvalue(self, node: Expr) -> Hashable:
        """A key that lvalues share if they are one place for sure; None: that cannot be told."""
        match node:
            case Name(variable=variable):
                return variable
            case Unary(op="*", operand=operand):
                inner = self.lvalue(operand)
                return inner and (inner, "0")
            case Index(base=base, index=index):
                inner, number = self.lvalue(base), _index_of(index)
                if isinstance(number, Variable):
                    bound = self.bound(number)
                    number = bound.text if isinstance(bound, Value) else None
                return inner and number and (inner, number)
            case Member(base=base, field=name, arrow=arrow):
                inner = self.lvalue(base)
                return inner and (((inner, "0") if arrow else inner), f".{name}")
        return None

    def address(self, node: Expr) -> Value:
        """A pointer's value."""
        pointed = self.pointed(node)
        if isinstance(pointed, Place):
            pointed = self.spot(pointed, Scalar("int", 8), node)
        return Value(f"((u64)({pointed.address}))", ADDRESS, Fraction(0), pointed.form)

    # -- values --------------------------------------------------------------------------------

    def value(self, node: Expr) -> Value:
        """The value of an expression."""
        match node:
            case Literal():
                return self._literal(node)
            case _ if isinstance(node.type, Pointer | Array) and not isinstance(node, Conditional):
                return self.address(node)
            case Name(variable=variable):
                found = self.bound(variable)
                if isinstance(found, Value):
                    return found
                return self.read(self.place(node), node)
            case Index() | Member() | Unary(op="*"):
                return self.read(self.place(node), node)
            case Unary(op=op) if op in STEPS:
                return self._stepping(node)
            case Binary(op="-", left=left, right=right) if isinstance(left.type, Pointer | Array):
                return self._difference(left, right, node)
            case Binary(op=",", left=left, right=right):
                self.evaluate(left)
                return self.value(right)
            case Assign(target=Name() as target):
                self.evaluate(node)
                return self.value(target)
            case Assign():
                return self.read(self.effect(node), node)
            case Cast(operand=operand):
                return self._cast(self.value(operand), self.scalar(node.type, node.where), node)
            case Unary(op=op, operand=operand) if op in ("-", "~", "!", "+"):
                return self._unary(op, self.value(operand), node)
            case Binary(op=op) if op in ("&&", "||"):
                return self._short_circuit(node)
            case Binary(op=op, left=left, right=right) if op in _OPERATORS:
                return self.binary(op, self.value(left), self.value(right), node)
            case Conditional():
                return self._conditional(node)
            case Call():
                return self._call(node)
            case Opaque(construct=construct):
                raise refusal(construct, Tool.BOUNDS, node.where)
            case InitList(values=(single,)):
                return self._cast(self.value(single), self.scalar(node.type, node.where), node)
            case InitList():
                raise self.refuse(node.where, "a list of values here", "assign each element")
        raise self.refuse(node.where, f"`{show(node)}`", "write it with plain C operators")

    def _difference(self, left: Expr, right: Expr, node: Expr) -> Value:
        """The distance of two pointers, in elements."""
        a, b = self.address(left), self.address(right)
        size = self.stride(left)
        form = max(a.form, b.form)
        cost = self.cost(ADDRESS, "add", node.where, form)
        text = f"((int64_t)({a.text} - {b.text}) / {size})"
        return Value(text, Scalar("int", 64), max(a.at, b.at) + cost, form)

    def _literal(self, node: Literal) -> Value:
        kind = self.scalar(node.type, node.where)
        return Value(literal(node.value, kind), kind, node=Number(node.value, kind))

    def applied(self, op: str, kind: Scalar, args: Sequence[Value], where: Range) -> Node | None:
        """The operation on the values' graphs; None if one of them has none."""
        graphs = [arg.graph for arg in args]
        known = tuple(graph for graph in graphs if graph is not None)
        return Apply(op, kind, known, where) if len(known) == len(graphs) else None

    def cost(self, family: Scalar, operator: str, where: Range, inputs: Form) -> Fraction:
        """The latency of an operator, noted for the statement's depth; constants are folded."""
        if inputs is Form.CONSTANT:
            return Fraction(0)
        name = family_of(family)
        technology = self.calibration.technology
        found = technology.of(name, operator)
        if found is None and self.operands is not None:
            raise SourceError(
                f"{where}: {technology.name} has no latency for {operator} of {name}; "
                f"give operators.{name}.{operator} in a calibration"
            )
        if self.operands is not None:
            self.operands.computes = True
            base = technology.of(name, "base") or Fraction(0)
            self.operands.family_base = max(self.operands.family_base, base)
        return found or Fraction(0)

    def _cast(self, value: Value, kind: Scalar, node: Expr) -> Value:
        cost = Fraction(0)
        if kind.is_float != value.type.is_float or (kind.is_float and kind != value.type):
            family = kind if kind.is_float else value.type
            if value.form > Form.CONSTANT:
                cost = self.cost(family, "convert", node.where, value.form)
        form = value.form
        if value.form is Form.AFFINE and (kind.is_float or kind.bits < 32):
            form = Form.OTHER
        elif form is Form.AFFINE and value.type.kind == "uint" and kind.bits > value.type.bits:
            self.nests.irregular()  # where it wrapped around, it is not linear any more
        cast = self.applied("cast", kind, (value,), node.where)
        return Value(f"(({kind})({value.text}))", kind, value.at + cost, form, cast)

    def _unary(self, op: str, value: Value, node: Expr) -> Value:
        kind = self.scalar(node.type, node.where)
        operator = {"-": "neg", "+": "neg", "~": "logic", "!": "compare"}[op]
        cost = Fraction(0) if op == "+" else self.cost(value.type, operator, node.where, value.form)
        form = value.form
        if form is Form.AFFINE and op in "~!":
            form = Form.OTHER
        applied = self.applied({"-": "neg", "+": "cast"}.get(op, op), kind, (value,), node.where)
        return Value(f"({op}({value.text}))", kind, value.at + cost, form, applied)

    def binary(self, op: str, left: Value, right: Value, node: Expr) -> Value:
        """`left op right` after C's conversions."""
        kind = self.scalar(node.type, node.where) if not isinstance(node, Assign) else left.type
        form = _combined(op, left, right)
        cost = self.cost(left.type, _OPERATORS[op], node.where, form)
        text = f"({left.text} {op} {right.text})"
        if op in "/%" and not left.type.is_float:
            if form is Form.AFFINE or right.form > Form.CONSTANT:  # not linear, or it may fail
                self.undecided(form)
            divisor = self.temp()
            self.emit(f"{right.type} {divisor} = {right.text};")
            self.emit(f"if (!{divisor}) fault(FAULT_DIVISION, {self._site}, 0, 0, 0);")
            text = f"({left.text} {op} {divisor})"
        applied = self.applied(op, kind, (left, right), node.where)
        return Value(text, kind, max(left.at, right.at) + cost, form, applied)

    def captured(self, node: Expr) -> tuple[Value, list[str]]:
        """A value and the lines that it takes, which are not emitted yet."""
        outer, self.lines = self.lines, []
        try:
            value = self.value(node)
            return value, self.lines
        finally:
            self.lines = outer

    def _short_circuit(self, node: Binary) -> Value:
        left = self.value(node.left)
        before = self._read_so_far()
        right, lines = self.captured(node.right)
        form = max(left.form, right.form)
        kind = Scalar("int", 32)
        cost = self.cost(kind, "logic", node.where, form)
        at = max(left.at, right.at) + cost
        applied = self.applied(node.op, kind, (left, right), node.where)
        if not lines:
            return Value(f"({left.text} {node.op} {right.text})", kind, at, form, applied)
        silent = self._choice(node.left, left, before)
        name = self.temp()
        self.emit(f"int {name} = !!({left.text});")
        self.emit(f"if ({name if node.op == '&&' else '!' + name}) {{ {silent}")
        self.lines.extend(lines)
        self.emit(f"{name} = !!({right.text});")
        self.emit("}")
        return Value(name, kind, at, form, applied)

    def _conditional(self, node: Conditional, of: Form = Form.CONSTANT) -> Value:
        """`?:`; `of` is the form of what an address that is chosen leads to."""
        condition = self.value(node.condition)
        before = self._read_so_far()
        then, then_lines = self.captured(node.then)
        other, other_lines = self.captured(node.other)
        pointer = isinstance(node.type, Pointer)
        kind = ADDRESS if pointer else self.scalar(node.type, node.where)
        inputs = max(condition.form, then.form, other.form, of)
        cost = self.cost(kind, "select", node.where, inputs)
        at = max(condition.at, then.at, other.at) + cost
        form = Form.OTHER if inputs is Form.AFFINE else inputs
        applied = self.applied("select", kind, (condition, then, other), node.where)
        if not then_lines and not other_lines:
            text = f"({condition.text} ? {then.text} : {other.text})"
            return Value(text, kind, at, form, applied)
        silent = self._choice(node.condition, condition, before)
        name = self.temp()
        self.emit(f"{kind} {name};")
        self.emit(f"if ({condition.text}) {{ {silent}")
        self.lines.extend(then_lines)
        self.emit(f"{name} = {then.text};")
        self.emit(f"}} else {{ {silent}")
        self.lines.extend(other_lines)
        self.emit(f"{name} = {other.text};")
        self.emit("}")
        return Value(name, kind, at, form, applied)

    def _read_so_far(self) -> set[tuple[str, int]]:
        operands = self.operands
        return set(zip(operands.texts, operands.storages, strict=True)) if operands else set()

    def _choice(self, condition: Expr, value: Value, before: set[tuple[str, int]]) -> str:
        """Lower the choice by a condition inside an expression: which operands are read.

        If all that may follow has been read `before` already, it decides nothing; what is read
        again then needs no note, which the C text returned sees to.
        """
        if not self._read_so_far() - before and not any(map(_has_effect, walk(condition))):
            return "SILENT;"
        if not self.tested(condition, value):
            self.undecided(value.form)
        return ""

    def tested(self, node: Expr, value: Value) -> bool:
        """Emit what a condition compares, if that is linear; else give False."""
        if value.form is Form.CONSTANT:
            return True
        if value.form is Form.DATA or any(map(_has_effect, walk(node))):
            return False
        found = self._comparisons(node)
        for op, left, right in found or []:
            self._tests += 1
            self.emit(f"TEST({self._tests}, {left}, {right}, {op});")
        return found is not None

    def _comparisons(self, node: Expr) -> list[tuple[str, str, str]] | None:
        """(operator, left, right) of a condition's comparisons; None if some is not linear."""
        match node:
            case Binary(op="&&" | "||", left=left, right=right):
                both = self._comparisons(left), self._comparisons(right)
                return None if both[0] is None or both[1] is None else both[0] + both[1]
            case Unary(op="!", operand=operand):
                return self._comparisons(operand)
            case Cast(operand=Binary(op=op) as operand) if op in ("&&", "||") or op in _TESTS:
                return self._comparisons(operand)
            case Binary(op=op, left=left, right=right) if op in _TESTS:
                sides = [self.captured(side) for side in (left, right)]
            case _:
                op = "!="
                sides = [self.captured(node), (Value("0", Scalar("int", 32)), [])]
        if any(side.form > Form.AFFINE or side.type.is_float or lines for side, lines in sides):
            return None
        if all(side.form is Form.CONSTANT for side, _ in sides):
            return []
        (left_side, _), (right_side, _) = sides
        return [(_TESTS[op], left_side.text, right_side.text)]

    # -- calls inside expressions --------------------------------------------------------------

    def _call(self, node: Call) -> Value:
        function = self.unit.functions.get(node.function)
        if function is not None and function.body is not None:
            return self.inlined(function, node)
        kind = self.scalar(node.type, node.where)
        name = node.function.removeprefix("__builtin_")
        operators = _FUNCTIONS.get(name)
        if operators is None and kind.bits == 32:
            name = name.removesuffix("f")
            operators = _FUNCTIONS.get(name)
        if operators is None:
            what = f"a call of {node.function}, which has no body,"
            raise refusal(Construct.NO_BODY, Tool.BOUNDS, node.where, what)
        args = [self.value(a) for a in node.args]
        form = max((a.form for a in args), default=Form.CONSTANT)
        cost = sum(
            (self.cost(kind, operator, node.where, form) for operator in operators), Fraction(0)
        )
        at = max((a.at for a in args), default=Fraction(0)) + cost
        form = Form.OTHER if form is Form.AFFINE else form
        text = f"{node.function}({', '.join(a.text for a in args)})"
        return Value(text, kind, at, form, self.applied(name, kind, args, node.where))

    def inlined(self, function: Function, node: Call) -> Value:
        """A function's value within the process that calls it."""
        raise self.refuse(node.where, f"the call of {function.name}", "write its expression")


def _index_of(node: Expr) -> Variable | str | None:
    """A subscript that is a variable or a literal."""
    node = without_casts(node)
    if isinstance(node, Name):
        return node.variable
    return str(node.value) if isinstance(node, Literal) else None


def _combined(op: str, left: Value, right: Value) -> Form:
    form = max(left.form, right.form)
    if form is not Form.AFFINE:
        return form
    constant = Form.CONSTANT in (left.form, right.form)
    if op in ("+", "-") or (op == "*" and constant):
        return form
    # With a constant divisor the quotient is quasi-affine, which polyhedral tools take.
    return form if op in ("/", "%") and right.form is Form.CONSTANT else Form.OTHER


def _same_elements(place: Place, target: CType) -> bool:
    """Return whether a pointer to `target` sees a place as what it was declared to be."""
    layout = place.layout
    inner: list[int] = []
    while isinstance(target, Array):
        inner.append(target.extent or 0)
        target = target.element
    if tuple(inner) != place.dims[1:]:
        return False
    if isinstance(layout, Record):
        return isinstance(target, Struct) and [n for n, _ in target.fields] == list(layout.fields)
    if layout.pointer:
        return isinstance(target, Pointer)
    return target == layout.type
