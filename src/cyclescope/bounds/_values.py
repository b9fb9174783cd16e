"""Expressions: their C text with stamps read on the way, and their depth in cycles."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from cyclescope.bounds._forms import (
    Binding,
    Form,
    Layout,
    Operands,
    Place,
    Value,
    family_of,
    literal,
)
from cyclescope.bounds._network import Site, Storage
from cyclescope.c import (
    Array,
    Assign,
    Binary,
    Call,
    Cast,
    Conditional,
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
    Unary,
    Variable,
)
from cyclescope.errors import SourceError

if TYPE_CHECKING:
    from cyclescope.bounds._calibration import Calibration
    from cyclescope.bounds._network import Network
    from cyclescope.c import Unit

__all__ = ["Values"]

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


class Values:
    """Lowers expressions; statements are built on top of it."""

    def __init__(self, unit: Unit, network: Network, calibration: Calibration) -> None:
        self.unit = unit
        self.network = network
        self.calibration = calibration
        self.env: dict[Variable, Binding] = {}
        self.lines: list[str] = network.body
        self.operands: Operands | None = None
        self._temps = 0
        self._site = 0
        self._inlining: list[str] = []

    # -- small things --------------------------------------------------------------------------

    def refuse(self, where: Range, construct: str, instead: str) -> SourceError:
        """The error for a construct outside what this source handles."""
        return SourceError(f"{where}: {construct} is not supported here; {instead}")

    def temp(self) -> str:
        """A fresh C name."""
        self._temps += 1
        return f"t{self._temps}"

    def emit(self, line: str) -> None:
        """Add a line of C."""
        self.lines.append(line)

    def enter_site(self, where: Range) -> None:
        """What follows fails, if it fails, here."""
        self.network.sites.append(Site(where, self.unit.text(where)))
        self._site = len(self.network.sites) - 1

    def scalar(self, kind: CType, where: Range) -> Scalar:
        """The type as a number's, or the error that says that it is none."""
        if isinstance(kind, Scalar):
            return kind
        raise self.refuse(where, f"a value of type {kind}", "use numbers, arrays and structs")

    # -- places --------------------------------------------------------------------------------

    def place(self, node: Expr) -> Place:
        """Where an lvalue, an array or a pointer is."""
        match node:
            case Name(variable=variable):
                found = self.env.get(variable)
                if isinstance(found, Place):
                    return found
                if found is None:
                    return self.unbound(variable, node)
                raise self.refuse(node.where, f"writing {variable.name}", "copy it to a variable")
            case Index(base=base, index=index):
                return self._indexed(self.place(base), self._subscript(index), node)
            case Unary(op="*", operand=operand):
                pointed = self.place(operand)
                zero = Value("0", Scalar("int", 64))
                return self._indexed(pointed, zero, node) if pointed.dims else pointed
            case Unary(op="&", operand=operand):
                element = self.place(operand)
                return replace(element, dims=(None, *element.dims), text=f"&{element.text}")
            case Binary(op="+" | "-", left=left, right=right) if isinstance(
                left.type, Pointer | Array
            ):
                return self._moved(self.place(left), self._subscript(right), node)
            case Binary(op="+", left=left, right=right) if isinstance(right.type, Pointer | Array):
                return self._moved(self.place(right), self._subscript(left), node)
            case Member(base=base, field=name):
                return self._member(self.place(base), name, node)
            case Cast(operand=operand, implicit=True):
                return self.place(operand)
            case Opaque(construct=construct):
                raise self.refuse(node.where, construct, "write it with plain C operators")
            case Assign():
                raise self.refuse(
                    node.where, "an assignment inside an expression", "make it a statement"
                )
        what = self.unit.text(node.where) or type(node).__name__
        raise self.refuse(node.where, f"`{what}` as a place", "name an array element or a variable")

    def unbound(self, variable: Variable, node: Expr) -> Place:
        """A variable that nothing has bound yet; statements say what that means."""
        raise self.refuse(node.where, f"the variable {variable.name}", "declare it in the kernel")

    def _subscript(self, node: Expr) -> Value:
        """A subscript: what it reads is waited for, its arithmetic is the address unit's."""
        operands = self.operands
        if operands is None:
            return self.value(node)
        before = operands.computes, operands.family_base
        value = self.value(node)
        operands.computes, operands.family_base = before
        return value

    def _form_of(self, place: Place, index: Value, node: Expr) -> Form:
        if index.form > Form.AFFINE:
            self.not_affine(node.where, "subscript", index.form)
        return max(place.form, index.form)

    def not_affine(self, where: Range, what: str, form: Form) -> None:
        """Take note of something that makes the kernel no SANLP."""
        del where, what, form

    def _indexed(self, place: Place, index: Value, node: Expr) -> Place:
        if not place.dims:
            raise self.refuse(node.where, "a subscript on a single value", "declare an array")
        form = self._form_of(place, index, node)
        extent, inner = place.dims[0], place.dims[1:]
        stride = math.prod(d or 1 for d in inner)
        dimension = self._dimension(place)
        storage = self._some_storage(place.layout)
        if extent is None:
            at = f"(int64_t){place.offset} + (int64_t)({index.text}) * {stride}"
            limit = place.root - stride + 1
            offset = self.temp()
            self.emit(f"u64 {offset} = within({at}, {limit}, {self._site}, {storage.index}, 99);")
        else:
            number = f"within((int64_t)({index.text}), {extent}, {self._site}, "
            number += f"{storage.index}, {dimension})"
            offset = self.temp()
            lead = "" if place.offset == "0" else f"{place.offset} + "
            times = "" if stride == 1 else f" * {stride}"
            self.emit(f"u64 {offset} = {lead}{number}{times};")
        text = self.unit.text(node.where) or place.text
        return replace(place, offset=offset, dims=inner, form=form, text=text)

    def _dimension(self, place: Place) -> int:
        storage = self._some_storage(place.layout)
        return max(len(storage.dims) - len(place.dims), 0)

    def _some_storage(self, layout: Layout) -> Storage:
        while isinstance(layout, dict):
            layout = next(iter(layout.values()))
        return layout

    def _moved(self, place: Place, by: Value, node: Expr) -> Place:
        if not place.dims:
            raise self.refuse(node.where, "pointer arithmetic on a value", "use a subscript")
        form = self._form_of(place, by, node)
        stride = math.prod(d or 1 for d in place.dims[1:])
        sign = "-" if isinstance(node, Binary) and node.op == "-" else "+"
        offset = self.temp()
        at = f"(int64_t){place.offset} {sign} (int64_t)({by.text}) * {stride}"
        storage = self._some_storage(place.layout)
        # One past the end may be formed, though not read.
        check = f"within({at}, {place.root + 1}, {self._site}, {storage.index}, 99)"
        self.emit(f"u64 {offset} = {check};")
        dims = (None, *place.dims[1:])
        text = self.unit.text(node.where)
        return replace(place, offset=offset, dims=dims, form=form, text=text)

    def _member(self, place: Place, name: str, node: Expr) -> Place:
        if place.dims and isinstance(node, Member) and node.arrow:
            place = self._indexed(place, Value("0", Scalar("int", 64)), node)
        if not isinstance(place.layout, dict) or place.dims:
            raise self.refuse(node.where, f"the field {name}", "index the array first")
        layout = place.layout[name]
        inner: tuple[int, ...] = ()
        kind = node.type
        while isinstance(kind, Array):
            inner = (*inner, kind.extent or 1)
            kind = kind.element
        size = math.prod(inner)
        offset = place.offset if size == 1 else f"({place.offset}) * {size}"
        text = self.unit.text(node.where)
        root = place.root * size
        return Place(layout, offset, inner, root, place.form, text)

    # -- reading -------------------------------------------------------------------------------

    def read(self, place: Place, where: Range) -> Value:
        """The value at a place, its stamp waited for if a process is being lowered."""
        if isinstance(place.layout, dict) or place.dims:
            raise self.refuse(where, "an array or struct as a number", "read one element of it")
        storage = place.layout
        storage.read = True
        cell = f"[{place.offset}]" if not storage.in_registers else ""
        name = self.temp()
        operands = self.operands
        if operands is not None and storage.index not in operands.written:
            number = operands.add(place.text, storage.index)
            shadow = "x" if storage.name in operands.ignored else "s"
            self.emit(f"READ({number}, {shadow}{storage.index}{cell});")
            if storage.is_outer:
                self.emit(f"SEE{storage.index}(s{storage.index}{cell});")
        self.emit(f"{storage.type} {name} = v{storage.index}{cell};")
        return Value(name, storage.type, Fraction(0), Form.DATA)

    # -- values --------------------------------------------------------------------------------

    def value(self, node: Expr) -> Value:
        """The value of an expression."""
        match node:
            case Literal():
                return self._literal(node)
            case Name(variable=variable):
                found = self.env.get(variable)
                if isinstance(found, Value):
                    return found
                return self.read(self.place(node), node.where)
            case Index() | Member() | Unary(op="*"):
                return self.read(self.place(node), node.where)
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
                raise self.refuse(node.where, construct, "write it with plain C operators")
            case Assign() | Unary():
                raise self.refuse(
                    node.where, "an assignment inside an expression", "make it a statement"
                )
            case InitList():
                raise self.refuse(node.where, "a list of values here", "assign each element")
        raise self.refuse(node.where, "the comma operator", "write two statements")

    def _literal(self, node: Literal) -> Value:
        kind = self.scalar(node.type, node.where)
        return Value(literal(node.value, kind), kind)

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
        return Value(f"(({kind})({value.text}))", kind, value.at + cost, form)

    def _unary(self, op: str, value: Value, node: Expr) -> Value:
        kind = self.scalar(node.type, node.where)
        operator = {"-": "neg", "+": "neg", "~": "logic", "!": "compare"}[op]
        cost = Fraction(0) if op == "+" else self.cost(value.type, operator, node.where, value.form)
        form = value.form
        if form is Form.AFFINE and op in "~!":
            form = Form.OTHER
        return Value(f"({op}({value.text}))", kind, value.at + cost, form)

    def binary(self, op: str, left: Value, right: Value, node: Expr) -> Value:
        """`left op right` after C's conversions."""
        kind = self.scalar(node.type, node.where) if not isinstance(node, Assign) else left.type
        form = _combined(op, left, right)
        cost = self.cost(left.type, _OPERATORS[op], node.where, form)
        text = f"({left.text} {op} {right.text})"
        if op in "/%" and not left.type.is_float:
            divisor = self.temp()
            self.emit(f"{right.type} {divisor} = {right.text};")
            self.emit(f"if (!{divisor}) fault(FAULT_DIVISION, {self._site}, 0, 0, 0);")
            text = f"({left.text} {op} {divisor})"
        return Value(text, kind, max(left.at, right.at) + cost, form)

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
        right, lines = self.captured(node.right)
        form = max(left.form, right.form)
        kind = Scalar("int", 32)
        cost = self.cost(kind, "logic", node.where, form)
        at = max(left.at, right.at) + cost
        if not lines:
            return Value(f"({left.text} {node.op} {right.text})", kind, at, form)
        name = self.temp()
        self.emit(f"int {name} = !!({left.text});")
        self.emit(f"if ({name if node.op == '&&' else '!' + name}) {{")
        self.lines.extend(lines)
        self.emit(f"{name} = !!({right.text});")
        self.emit("}")
        return Value(name, kind, at, form)

    def _conditional(self, node: Conditional) -> Value:
        condition = self.value(node.condition)
        then, then_lines = self.captured(node.then)
        other, other_lines = self.captured(node.other)
        kind = self.scalar(node.type, node.where)
        inputs = max(condition.form, then.form, other.form)
        cost = self.cost(kind, "select", node.where, inputs)
        at = max(condition.at, then.at, other.at) + cost
        form = Form.OTHER if inputs is Form.AFFINE else inputs
        if not then_lines and not other_lines:
            text = f"({condition.text} ? {then.text} : {other.text})"
            return Value(text, kind, at, form)
        name = self.temp()
        self.emit(f"{kind} {name};")
        self.emit(f"if ({condition.text}) {{")
        self.lines.extend(then_lines)
        self.emit(f"{name} = {then.text};")
        self.emit("} else {")
        self.lines.extend(other_lines)
        self.emit(f"{name} = {other.text};")
        self.emit("}")
        return Value(name, kind, at, form)

    # -- calls inside expressions --------------------------------------------------------------

    def _call(self, node: Call) -> Value:
        function = self.unit.functions.get(node.function)
        if function is not None and function.body is not None:
            return self.inlined(function, node)
        kind = self.scalar(node.type, node.where)
        name = node.function.removesuffix("f") if kind.bits == 32 else node.function
        operators = _FUNCTIONS.get(name) or _FUNCTIONS.get(node.function)
        if operators is None:
            raise self.refuse(
                node.where, f"a call of {node.function}, which has no body,", "define it here"
            )
        args = [self.value(a) for a in node.args]
        form = max((a.form for a in args), default=Form.CONSTANT)
        cost = sum(
            (self.cost(kind, operator, node.where, form) for operator in operators), Fraction(0)
        )
        at = max((a.at for a in args), default=Fraction(0)) + cost
        form = Form.OTHER if form is Form.AFFINE else form
        text = f"{node.function}({', '.join(a.text for a in args)})"
        return Value(text, kind, at, form)

    def inlined(self, function: Function, node: Call) -> Value:
        """A function's value within the process that calls it."""
        raise self.refuse(node.where, f"the call of {function.name}", "write its expression")


def _combined(op: str, left: Value, right: Value) -> Form:
    form = max(left.form, right.form)
    if form is not Form.AFFINE:
        return form
    constant = Form.CONSTANT in (left.form, right.form)
    if op in ("+", "-") or (op == "*" and constant):
        return form
    # With a constant divisor the quotient is quasi-affine, which polyhedral tools take.
    return form if op in ("/", "%") and right.form is Form.CONSTANT else Form.OTHER
