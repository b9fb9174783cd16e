"""From a C function to its process network: loops, branches, calls."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from cyclescope.bounds._counters import root_of
from cyclescope.bounds._forms import Form, Place, Spot, Value, literal
from cyclescope.bounds._network import CallPath, Storage, Test
from cyclescope.bounds._process import (
    constant_number,
    is_private,
    target_name,
)
from cyclescope.bounds._storages import Storages
from cyclescope.bounds._values import ADDRESS
from cyclescope.c import (
    STEPS,
    Array,
    Assign,
    Binary,
    Block,
    Break,
    Call,
    Cast,
    Conditional,
    Construct,
    Continue,
    CType,
    Declare,
    DoWhile,
    Empty,
    Evaluate,
    Expr,
    For,
    Function,
    Goto,
    If,
    Index,
    InitList,
    Literal,
    Member,
    Name,
    OpaqueStmt,
    Pointer,
    Range,
    Return,
    Scalar,
    Stmt,
    Struct,
    Switch,
    Tool,
    Unary,
    Variable,
    Void,
    While,
    children,
    refusal,
    show,
    size_of,
    walk,
    without_casts,
)

if TYPE_CHECKING:
    from cyclescope.bounds._nests import Loop
    from cyclescope.errors import SourceError

__all__ = ["Lowering"]

_MOST_CALLS = 1000

# What a program says or how it ends is no part of the hardware: it is left out, or done as it is.
_OUTPUT = {"printf", "fprintf", "puts", "putchar", "fputs", "fputc", "putc", "fflush", "perror"}
_END = {"exit": "1", "abort": "134", "__assert_fail": "134"}


class Lowering(Storages):
    """Lowers one kernel; afterwards `network` is complete but for sources and sinks."""

    # -- the kernel ----------------------------------------------------------------------------

    def kernel(self, function: Function) -> None:
        """Lower the kernel: parameters are its storages and constants."""
        self.network.paths.append(CallPath(-1, function.name, function.where))
        self.counters = self.analysed(function)
        self._inlining.append(function.name)
        for number, param in enumerate(function.params):
            self._parameter(number, param)
        result: Place | None = None
        if not isinstance(function.result, Void):
            result = self._result(function)
            if isinstance(result.layout, Storage):
                self.network.result = result.layout
        self._body(function, result)
        skippable = self.nests.skippable(self.network)
        if self.network.moving or any(storage.twice for storage in self.network.storages):
            skippable = frozenset()
        self.network.loops = len(self.nests.loops) if skippable else 0
        for loop in self.nests.loops:
            on = loop.number in skippable
            self.declarations.append(f"enum {{ SKIPS{loop.number} = {int(on)} }};")

    # -- statements ----------------------------------------------------------------------------

    def _body(self, function: Function, result: Place | None) -> None:
        label = self._label()
        self._return.append((label, result))
        self.statement(function.body)
        self._return.pop()
        self.emit(f"{label}:;")

    def _label(self) -> str:
        return f"l{self.temp()}"

    def statement(self, node: Stmt | None) -> None:
        """Lower a statement."""
        if node is not None and node.label:
            self.emit(f"{self._target(node.label)}:;")
        match node:
            case None | Empty():
                pass
            case Block(body=body):
                self.emit("{")
                for inner in body:
                    self.statement(inner)
                self.emit("}")
            case Declare(variables=variables):
                for variable in variables:
                    self._local(variable)
            case Evaluate(value=value, label=label):
                self.evaluate(value, label)
            case If():
                self._if(node)
            case For():
                self._for(node)
            case While(condition=condition, body=body):
                if not self.counters.loops.get(node):
                    text = f"while ({self.unit.text(condition.where)})"
                    self._note(node.where, "while loop", text)
                self._loop(node, condition, None, body)
            case DoWhile():
                self._do(node)
            case Break() | Continue():
                self._leaving(node)
            case Return():
                self._returned(node)
            case Switch():
                self._switch(node)
            case Goto(target=target):
                self._note(node.where, "goto", f"goto {target}")
                self.nests.jumps = True
                self.emit(f"goto {self._target(target)};")
            case OpaqueStmt(construct=construct):
                raise refusal(construct, Tool.BOUNDS, node.where)

    def _target(self, label: str) -> str:
        return f"at{self.path}_{label}"

    def _leaving(self, node: Break | Continue) -> None:
        out, again = self._leave[-1]
        if isinstance(node, Continue):
            self.emit(f"goto {again};")
            return
        if again != self._switching:
            self._note(node.where, "break", "break")
        self.emit(f"goto {out};")

    _switching = ""

    def _note(self, where: Range, reason: str, text: str) -> int:
        for number, known in enumerate(self.network.tests):
            if known.where == where and known.reason == reason:
                return number
        self.network.tests.append(Test(where, text, reason))
        return len(self.network.tests) - 1

    def not_affine(self, where: Range, what: str, form: Form) -> None:
        """A subscript that no polyhedral tool would take."""
        self._note(where, _reason(what, form), self.unit.text(where))

    # -- declarations --------------------------------------------------------------------------

    def _local(self, variable: Variable) -> None:
        if isinstance(variable.type, Void):
            return
        if variable.scope == "static":
            self._static(variable)
            return
        if isinstance(variable.type, Pointer):
            self._local_pointer(variable, variable.type)
            return
        place = self._declare(variable, "local")
        if variable.init is not None:
            self._know(variable, variable.init)
            self._initialise(variable, place, variable.init)

    def _know(self, variable: Variable, value: Expr) -> None:
        """Take note of a number that a variable of a whole type has, if that is known."""
        self.known.pop(variable, None)
        whole = isinstance(variable.type, Scalar) and not variable.type.is_float
        number = self.number(value) if whole else None
        if number is not None and variable not in self.counters.addressed:
            self.known[variable] = int(number)

    def _local_pointer(self, variable: Variable, kind: Pointer) -> None:
        fixed = variable not in self.counters.changed | self.counters.addressed
        if variable in self.counters.pure:
            if fixed and variable.init is not None:
                self.enter_site(variable.init.where)
                pointed = self.pointed(variable.init)
                if isinstance(pointed, Place):
                    self.env[variable] = pointed  # another name for the same elements
                    return
                value = Value(f"(u64)({pointed.address})", ADDRESS, form=pointed.form)
            else:
                value = Value("0", ADDRESS)
                if variable.init is not None:
                    self.enter_site(variable.init.where)
                    value = self.address(variable.init)
            self._pointer_variable(variable, value)
            return
        del kind
        self._declare(variable, "local")
        if variable.init is not None:
            self._assigned(variable, variable.init)

    def _initialise(self, variable: Variable, place: Place, init: Expr) -> None:
        if isinstance(init, InitList):
            self._fill(variable, place, init)
        else:
            self._assigned(variable, init)

    def _assigned(self, variable: Variable, init: Expr) -> None:
        name = Name(variable.where, variable.type, variable)
        where = Range(
            variable.where.file, variable.where.line, variable.where.column,
            init.where.end_line, init.where.end_column,
        )  # fmt: skip
        node = Assign(where, variable.type, "=", name, init, variable.type)
        if variable in self.counters.beginnings:
            self._begin(variable, node, "")
        else:
            self.evaluate(node)

    def _fill(self, variable: Variable, place: Place, init: InitList) -> None:
        """A list of values: constants are there for nothing, what is computed is a process."""
        for storage in _storages_of(place):
            storage.written = True
            self._clear(storage)
        name = Name(variable.where, variable.type, variable)
        for storage, offset, node in self.initials(place.layout, init, 0):
            number = constant_number(node)
            if number is None or storage.pointer:
                continue
            cell = storage.cell(str(offset))
            if number != 0:
                self.emit(f"{cell} = {literal(number, storage.type)};")
        for target, value in _elements(name, init):
            if constant_number(value) is None:
                self.evaluate(Assign(value.where, target.type, "=", target, value, target.type))

    def _clear(self, storage: Storage) -> None:
        """Set all of a local variable to zero, for nothing."""
        if storage.memory is None:
            self.emit(f"v{storage.index} = 0; FREE(s{storage.index});")
            return
        number = self.temp()
        stores = f"{storage.cell(number)} = 0; FREE({storage.shadow(number)});"
        if storage.twice:
            stores += f" FREE({storage.shadow(number, 'x')});"
        self.emit(
            f"for (u64 {number} = 0; {number} < {storage.size}ull; {number}++) {{ {stores} }}"
        )

    # -- expressions as statements -------------------------------------------------------------

    def evaluate(self, node: Expr, label: str = "") -> None:
        """Evaluate an expression for its effects."""
        operands, self.operands = self.operands, None
        try:
            self._evaluate(node, label)
        finally:
            self.operands = operands

    def _evaluate(self, node: Expr, label: str) -> None:
        match node:
            case _ if node in self.counters.steps:
                self.enter_site(node.where)
                self._step(node)
            case Unary(op=op, operand=operand) if op in STEPS and self._is_address(operand):
                self._step(node)
            case Assign(target=target) if self._is_address(target) and node not in (
                self.counters.beginnings
            ):
                self.enter_site(node.where)
                self._step(node)
            case Assign(value=InitList(type=Struct())):
                self._assign_list(node, label)
            case Assign() if node in self.counters.beginnings:
                self._begin(node, node, label)
            case Assign():
                self._assignment(node, label)
            case Unary(op=op, operand=operand) if op in STEPS:
                one = Literal(node.where, Scalar("int", 32), 1)
                step = f"{STEPS[op]}="
                common = _promoted(operand.type)
                self._assignment(Assign(node.where, node.type, step, operand, one, common), label)
            case Binary(op=",", left=left, right=right):
                self._evaluate(left, label)
                self._evaluate(right, "")
            case Cast(operand=operand):
                self._evaluate(operand, label)
            case Call():
                self._call_statement(node, label)
            case Conditional(condition=condition, then=then, other=other):
                test = self._control(condition, "condition")
                self.emit(f"if ({test.text}) {{")
                self._evaluate(then, label)
                self.emit("} else {")
                self._evaluate(other, label)
                self.emit("}")
            case Binary(op="&&" | "||" as op, left=left, right=right):
                test = self._control(left, "condition")
                self.emit(f"if ({'' if op == '&&' else '!'}({test.text})) {{")
                self._evaluate(right, label)
                self.emit("}")
            case Binary() | Unary() | Index() | Member():
                for inner in children(node):
                    self._evaluate(inner, "")
            case _:
                self.enter_site(node.where)
                if not isinstance(node, Literal | Name):
                    self.captured(node)  # refuses what it does not know; the value is nobody's

    def _assignment(self, node: Assign, label: str, *, keep: bool = False) -> Place | Spot | None:
        """An assignment; a level's result goes straight to a variable of its type.

        With `keep`, where it wrote.
        """
        call = without_casts(node.value)
        named = isinstance(node.target, Name)
        if node.op == "=" and isinstance(call, Call) and (named or not keep):
            function = self._body_of(call)
            if function is not None and not self.outlines.is_simple(function):
                if self.outlines.is_outlined(function) and call.type == node.target.type:
                    self.outlined(function, call, label, node.target)
                    return self.place(node.target) if named else None
                target = self._whole(node.target)
                if target is not None and call.type == node.target.type:
                    self._called(function, call, label, target)
                    return target
            elif function is not None and isinstance(node.target.type, Scalar):
                names = (label, function.name) if label else (function.name,)
                if (
                    any(
                        rule.selects(node.where.line, names, "")
                        for rule in self.calibration.statements
                    )
                    or call is node.value
                ):
                    self.outlined(function, call, label, node.target)
                    return self.place(node.target) if named else None
        inner = without_casts(node.value)
        if isinstance(inner, Assign):
            # x = y = e is y = e; x = y.
            value: Expr = inner.target
            if isinstance(value, Name):
                self.evaluate(inner)
            else:
                kept = self.effect(inner)
                variable = Variable(show(inner.target), inner.type, inner.where, "local")
                self.env[variable] = kept
                value = Name(inner.where, inner.type, variable)
            if inner is not node.value and isinstance(node.value, Cast):
                value = replace(node.value, operand=value)
            node = replace(node, value=value)
        return self.assign(node, label, keep=keep)

    def _assign_list(self, node: Assign, label: str) -> None:
        """A list assigned to a struct: one process, which has read all before it writes."""
        building = self.process(node, (label,) if label else (), target_name(node.target))
        place = self.place(node.target)
        if isinstance(place, Spot):
            place = self._kept(place)
        whole = Variable(show(node.target), node.target.type, node.where, "local")
        self.env[whole] = place
        places: list[tuple[Place | Spot, Value]] = []
        at, form = Fraction(0), Form.CONSTANT
        for element, init in _elements(Name(node.where, whole.type, whole), node.value, whole=True):
            target = self.place(element)
            if isinstance(element.type, Struct):
                origins = self._leaves(self.place(init), element.type)
                read = [self.read(origin, init) for origin in origins]
                for leaf, value in zip(self._leaves(target, element.type), read, strict=True):
                    places.append((leaf, value))
                    at, form = max(at, value.at), Form.DATA
                continue
            if isinstance(element.type, Pointer):
                value = self.address(init)
                if value.form <= Form.OTHER:  # an address costs nothing, whatever it is made of
                    value = replace(value, form=Form.CONSTANT)
            else:
                value = self._converted(
                    self.value(init), self.scalar(element.type, init.where), init
                )
            value = self._held(value)
            places.append((target, value))
            at, form = max(at, value.at), max(form, value.form)
        self.finish(building, Value("", Scalar("int", 32), at, form), places)

    def _whole(self, target: Expr) -> Place | None:
        """The place of a variable that is assigned as a whole."""
        if not isinstance(target, Name) or target.variable.scope == "global":
            return None
        place = self.bound(target.variable)
        if isinstance(place, Place) and not place.dims:
            return place
        return None

    def _begin(self, key: Expr | Variable, node: Assign, label: str) -> None:
        """Give a counter its first value: for nothing, unless that is data."""
        assert isinstance(node.target, Name)
        call = without_casts(node.value)
        function = self._body_of(call) if isinstance(call, Call) else None
        if function is not None and not self.outlines.is_simple(function):
            self._free.pop(key, None)  # what a level gives is data
            self._assignment(node, label)
            return
        variable = node.target.variable
        building = self.process(node, (label,) if label else (), variable.name)
        bound = self.bound(variable)
        if isinstance(bound, Value):  # an address that reads no data
            value = self.address(node.value)
            lines, self.lines = self.lines, building.outer
            self.operands = building.around
            self.lines += ["{", *lines, f"{bound.text} = {value.text};", "}"]
            self._free[key] = Form.OTHER
            return
        place = self.place(node.target)
        assert isinstance(place, Place)
        storage = place.layout
        assert isinstance(storage, Storage)
        if isinstance(node.target.type, Pointer):
            value = self.address(node.value)
        else:
            value = self._converted(self.value(node.value), storage.type, node)
        free = not building.operands.texts and value.form <= Form.OTHER
        self.finish(building, value, [(place, value)], address=free)
        self._free.pop(key, None)
        if free:
            self._free[key] = max(value.form, Form.AFFINE)
        if value.form > Form.AFFINE:
            number = self._note(node.where, _reason("bound", value.form), show(node.value))
            self.emit(f"tests[{number}]++;")
            self.nests.irregular()

    def effect(self, node: Expr) -> Place | Spot:
        """Carry out an assignment, call or list in an expression; where its value is then."""
        operands, self.operands = self.operands, None
        try:
            if isinstance(node, Assign):
                place = self._assignment(node, "", keep=True)
                assert place is not None
                return place
            if isinstance(node, InitList):
                variable = Variable("literal", node.type, node.where, "local")
                place = self._declare(variable, "local")
                name = Name(node.where, node.type, variable)
                self._assign_list(Assign(node.where, node.type, "=", name, node, node.type), "")
                return place
            assert isinstance(node, Call)
            function = self._body_of(node)
            if function is None:
                raise self._no_body(node)
            if isinstance(function.result, Void):
                raise self.refuse(node.where, f"the value of {node.function}", "return one")
            result = self._result(function)
            variable = Variable(f"{function.name}()", function.result, node.where, "local")
            self.env[variable] = result
            if self.outlines.is_outlined(function):
                name = Name(node.where, function.result, variable)
                self.outlined(function, node, "", name)
            else:
                self._called(function, node, "", result)
            return result
        finally:
            self.operands = operands

    def _stepping(self, node: Unary) -> Value:
        """`x++` and its kin inside an expression: the value that they have there."""
        pointer = isinstance(node.operand.type, Pointer)
        kind = ADDRESS if pointer else self.scalar(node.type, node.where)
        if node in self.counters.steps or self._is_address(node.operand):
            before = self.address(node.operand) if pointer else self.value(node.operand)
            if node.op.startswith("post"):
                before = self._held(before)
                self._step(node)
                return before
            self._step(node)
            return self.address(node.operand) if pointer else self.value(node.operand)
        if node.op.startswith("post"):
            place = self.place(node.operand)
            before = self._held(self.read(place, node.operand))
            self.evaluate(node)
            return before
        self.evaluate(node)
        del kind
        return self.read(self.place(node.operand), node.operand)

    def _is_address(self, node: Expr) -> bool:
        """Return whether an lvalue is a pointer for which nobody ever waits."""
        return isinstance(node, Name) and isinstance(self.bound(node.variable), Value)

    def _call_statement(self, node: Call, label: str) -> None:
        function = self._body_of(node)
        if function is not None:
            if self.outlines.is_outlined(function):
                self.outlined(function, node, label, None)
            else:
                self._called(function, node, label, None)
            return
        if node.function in _OUTPUT:
            for argument in node.args:
                if any(isinstance(n, Assign | Call) or _steps(n) for n in walk(argument)):
                    self._evaluate(argument, "")
            return
        if node.function in _END:
            code = self.value(node.args[0]).text if node.function == "exit" else _END[node.function]
            self.nests.irregular()
            self.emit(f"leave({code});")
            return
        if node.function in ("memset", "memcpy", "memmove", "bzero"):
            self._block_call(node, label)
            return
        raise self._no_body(node)

    def _no_body(self, node: Call) -> SourceError:
        what = f"a call of {node.function}, which has no body,"
        return refusal(Construct.NO_BODY, Tool.BOUNDS, node.where, what)

    def _block_call(self, node: Call, label: str) -> None:
        """Memory set or copied: a copy for each element, nothing for a constant."""
        self.network.moving = True
        self.enter_site(node.where)
        target, *others = node.args
        size = size_of(_behind(target)) or 1
        to = self._held(self.address(target))
        count = self._held(self.value(others[-1]))
        if node.function in ("memset", "bzero"):
            byte = "0" if node.function == "bzero" else self.value(others[0]).text
            self.emit(f"memset((void *){to.text}, (int)({byte}), {count.text});")
            at = self.temp()
            self.emit(f"for (u64 {at} = 0; {at} < (u64){count.text}; {at} += {size})")
            self.emit(f"FREE_AT((char *){to.text} + {at}, {size});")
            return
        origin = self._held(self.address(others[0]))
        building = self.process(node, (label or node.function,), "")
        building.operands.add(show(others[0]), -1)
        self.lines, self.operands = building.outer, building.around
        process = self._register(building, Value("", ADDRESS, form=Form.DATA), constant=False)
        process.targets = [show(target)]
        at = self.temp()
        self.emit(f"for (u64 {at} = 0; {at} < (u64){count.text}; {at} += {size}) {{")
        self.emit(f"BEGIN(1); READ_AT(0, (char *){origin.text} + {at}, {size});")
        self.emit(f"FIRE({process.index}); WRITTEN_AT((char *){to.text} + {at}, {size});")
        self.emit("}")
        self.emit(f"memmove((void *){to.text}, (void *){origin.text}, {count.text});")

    def _body_of(self, node: Call) -> Function | None:
        function = self.unit.functions.get(node.function)
        return function if function is not None and function.body is not None else None

    # -- control -------------------------------------------------------------------------------

    def _control(self, node: Expr, what: str) -> Value:
        """A value that steers control: nobody waits for it; noted if it isn't affine."""
        operands, self.operands = self.operands, None
        self.enter_site(node.where)
        value = self.value(node)
        self.operands = operands
        if value.form > Form.AFFINE and not self._is_affine(node):
            number = self._note(node.where, _reason(what, value.form), self.unit.text(node.where))
            self.emit(f"tests[{number}]++;")
            self.nests.irregular()
        elif what == "condition" and not self.tested(node, value):
            self.nests.irregular()
        return value

    def _is_affine(self, node: Expr) -> bool:
        """Return whether a condition is comparisons of affine values joined by && and ||."""
        match node:
            case Binary(op="&&" | "||", left=left, right=right):
                return self._is_affine(left) and self._is_affine(right)
            case Binary(op="<" | ">" | "<=" | ">=" | "==" | "!=", left=left, right=right):
                if any(isinstance(n, Assign | Call) or _steps(n) for n in walk(node)):
                    return False
                return all(self.captured(e)[0].form <= Form.AFFINE for e in (left, right))
            case Unary(op="!", operand=operand):
                return self._is_affine(operand)
        return False

    def _step(self, node: Expr) -> None:
        """A step of a loop counter, or of a pointer for which nobody waits."""
        if isinstance(node, Unary):
            target, sign, by = node.operand, STEPS[node.op], "1"
        else:
            assert isinstance(node, Assign)
            target, sign = node.target, node.op[0]
            if node.op == "=":
                assert isinstance(target, Name)
                if isinstance(target.type, Pointer):
                    value = self.address(node.value)
                else:
                    kind = self.scalar(target.type, node.where)
                    value = self._converted(self.value(node.value), kind, node)
                if value.form > Form.AFFINE:
                    self.nests.irregular()
                self.emit(f"{self._counter_cell(target)} = {value.text};")
                return
            amount = self.value(node.value)
            if amount.form > Form.AFFINE or node.op not in ("+=", "-="):
                self.nests.irregular()
            by = f"({amount.text})"
        if isinstance(target.type, Pointer):
            by = f"(int64_t){by} * {self.stride(target)}"
        self.emit(f"{self._counter_cell(target)} {sign}= {by};")

    def _counter_cell(self, target: Expr) -> str:
        assert isinstance(target, Name)
        bound = self.bound(target.variable)
        if isinstance(bound, Value):
            return bound.text
        assert isinstance(bound, Place)
        assert isinstance(bound.layout, Storage)
        bound.layout.written = True
        return bound.layout.cell(bound.offset)

    def _enter_loop(self, node: Stmt) -> list[tuple[Variable, Place]]:
        """Bind the loop's counters as values for which nobody waits; what they were before."""
        before = []
        for variable in sorted(self.counters.loops.get(node, ()), key=lambda v: v.name):
            if variable.scope == "global" and self.bound(variable) is None:
                self.unbound(variable, Name(variable.where, variable.type, variable))
            bound = self.bound(variable)
            start = self.counters.starts.get((node, variable))
            form = self._free.get(start) if start is not None else None
            if isinstance(bound, Place) and isinstance(bound.layout, Storage) and form is not None:
                before.append((variable, bound))
                cell = bound.layout.cell(bound.offset)
                bound.layout.written = True
                self.bind(variable, Value(cell, bound.layout.type, form=max(form, Form.AFFINE)))
        return before

    def _leave_loop(self, before: list[tuple[Variable, Place]]) -> None:
        for variable, place in before:
            self.bind(variable, place)

    def _if(self, node: If) -> None:
        condition = self._control(node.condition, "condition")
        self.emit(f"if ({condition.text})")
        self.emit("{")
        self.statement(node.then)
        self.emit("}")
        if node.other is not None:
            self.emit("else {")
            self.statement(node.other)
            self.emit("}")

    def _switch(self, node: Switch) -> None:
        out = self._label()
        self.emit("{")
        test = self._control(node.condition, "condition")
        self.nests.irregular()
        again = self._leave[-1][1] if self._leave else ""
        outer, self._switching = self._switching, again
        self._leave.append((out, again))
        self.emit(f"switch ({test.text}) {{")
        for section in node.sections:
            for value in section.values:
                self.emit("default:" if value is None else f"case {value}:")
            self.emit("{")
            for inner in section.body:
                self.statement(inner)
            self.emit("}")
        self.emit("}")
        self._leave.pop()
        self._switching = outer
        self.emit("}")
        self.emit(f"{out}:;")

    def _for(self, node: For) -> None:
        self.emit("{")
        self.statement(node.init)
        self._loop(node, node.condition, node.step, node.body)
        self.emit("}")

    def _loop(self, node: Stmt, condition: Expr | None, step: Expr | None, body: Stmt) -> None:
        out, again = self._label(), self._label()
        before = self._enter_loop(node)
        loop = self.nests.begin(self._is_stepped_by(step, node, before))
        steps: list[str] = []
        if step is not None and loop.stepped:
            outer_lines, self.lines = self.lines, steps
            self.evaluate(step)
            self.lines = outer_lines
        n = loop.number
        self._skipping(loop, f"u64 w{n} = SKIPS{n} ? begin_loop({n}) : NEVER;")
        self.emit("for (;;) {")
        self._skipping(
            loop,
            f"if (SKIPS{n} && --w{n} == 0) {{ u64 n; w{n} = turn_loop({n}, &n);",
            "while (n--) {",
            *steps,
            "} }",
        )
        if condition is not None:
            test = self._control(condition, "condition")
            self.emit(f"if (!({test.text})) break;")
        outer, self._switching = self._switching, ""
        self._leave.append((out, again))
        self.emit("{")
        self.statement(body)
        self.emit("}")
        self._leave.pop()
        self._switching = outer
        self.emit(f"{again}:;")
        if step is not None:
            self.emit("{")
            if loop.stepped:
                self.lines.extend(steps)
            else:
                self.evaluate(step)
            self.emit("}")
        self.emit("}")
        self.emit(f"{out}:;")
        self._skipping(loop, f"if (SKIPS{n}) end_loop({n});")
        self.nests.end()
        self._leave_loop(before)

    def _is_stepped_by(
        self, step: Expr | None, node: Stmt, before: list[tuple[Variable, Place]]
    ) -> bool:
        """Return whether the head steps the loop's counters, all of them, and does nothing else."""
        if step is None:
            return False
        parts = list(walk(step))
        steps = [n for n in parts if isinstance(n, Assign) or _steps(n)]
        stepped = {n.target if isinstance(n, Assign) else n.operand for n in steps}  # type: ignore[union-attr]
        names = {n.variable for n in stepped if isinstance(n, Name)}
        free = {variable for variable, _ in before}
        return (
            bool(free)
            and names == free == set(self.counters.loops.get(node, ()))
            and all(n in self.counters.steps for n in steps)
            and not any(isinstance(n, Call) for n in parts)
        )

    def _skipping(self, loop: Loop, *lines: str) -> None:
        """Emit what skips iterations of a loop, for programs that do."""
        if loop.stepped:
            self.lines += ["#if PERIODS", *lines, "#endif"]

    def _do(self, node: DoWhile) -> None:
        out, again = self._label(), self._label()
        if not self.counters.loops.get(node):
            self._note(node.where, "do loop", f"while ({self.unit.text(node.condition.where)})")
        before = self._enter_loop(node)
        self.nests.begin(stepped=False)
        self.emit("for (;;) {")
        outer, self._switching = self._switching, ""
        self._leave.append((out, again))
        self.emit("{")
        self.statement(node.body)
        self.emit("}")
        self._leave.pop()
        self._switching = outer
        self.emit(f"{again}:;")
        test = self._control(node.condition, "condition")
        self.emit(f"if (!({test.text})) break;")
        self.emit("}")
        self.emit(f"{out}:;")
        self.nests.end()
        self._leave_loop(before)

    # -- calls ---------------------------------------------------------------------------------

    def _called(self, function: Function, node: Call, label: str, result: Place | None) -> None:
        """A call of a level: its statements are processes of their own."""
        del label
        if len(function.params) != len(node.args):
            raise self.refuse(node.where, f"the call of {function.name}", "pass each parameter")
        self.enter_site(node.where)
        outer = self.env, self.path, self._leave, self.counters, self._switching
        self.emit("{")
        pairs = list(zip(function.params, node.args, strict=True))
        passed = [(formal, self._passed(formal, actual)) for formal, actual in pairs]
        for formal, actual in pairs:
            self._know(formal, actual)
        kept = {f for f, a in pairs if isinstance(f.type, Struct) and not self._is_own(a)}
        if kept and is_private(self.unit, function):
            kept = set()
        self._enter(function, node)
        known = self.analysed(
            function, frozenset(f for f, a in passed if isinstance(a, Place) and not a.dims)
        )
        self.network.paths.append(CallPath(self.path, function.name, node.where))
        if len(self.network.paths) > _MOST_CALLS:
            raise self.refuse(
                node.where, f"a program of more than {_MOST_CALLS} calls", "use loops"
            )
        self.env, self.path, self._leave = {}, len(self.network.paths) - 1, []
        self.counters, self._switching = known, ""
        for formal, what in passed:
            self._formal(formal, what, copied=formal in kept)
        self._body(function, result)
        self.env, self.path, self._leave, self.counters, self._switching = outer
        self._inlining.pop()
        self.emit("}")

    def _result(self, function: Function) -> Place:
        kind = function.result
        if not isinstance(kind, Scalar | Pointer | Struct):
            raise self.refuse(function.where, f"{function.name}'s result", "pass it by a pointer")
        variable = Variable(f"{function.name}()", kind, function.where, "local")
        return self._allocate(variable, kind, "local")

    def _passed(self, formal: Variable, actual: Expr) -> Value | Place | Spot:
        """The actual of a parameter: a value that is free, or where it is."""
        kind = formal.type
        if isinstance(kind, Struct):
            return self.place(actual)
        building = self.process(actual, (), formal.name)
        if isinstance(kind, Array | Pointer):
            pointed = self.pointed(actual)
            if not building.operands.texts:
                self.abandon(building)
                return pointed
            # A pointer that was read: whoever goes through it waits for it.
            if isinstance(pointed, Place):
                pointed = self.spot(pointed, Scalar("int", 8), actual)
            place = self._allocate(formal, Pointer(_behind(actual)), "local")
            address = Value(pointed.address, ADDRESS, form=Form.DATA)
            self.finish(building, address, [(place, address)])
            return place
        scalar = self.scalar(kind, formal.where)
        value = self._converted(self.value(actual), scalar, actual)
        if not building.operands.texts and value.form <= Form.OTHER:
            self.abandon(building)
            return replace(self._held(value), at=Fraction(0))  # a parameter is there
        wire = self._wire(actual, formal)
        if wire is not None:
            self.lines, self.operands = building.outer, building.around
            return wire
        place = self._allocate(formal, scalar, "local")
        self.finish(building, value, [(place, value)])
        return place

    def _wire(self, actual: Expr, formal: Variable) -> Place | None:
        """A variable that the callee may read where it is, since nobody changes it meanwhile."""
        if not isinstance(actual, Name) or actual.variable.scope not in ("local", "param"):
            return None
        bound = self.bound(actual.variable)
        changed = formal in self._changed_anywhere or actual.variable in self.counters.addressed
        return None if changed or not isinstance(bound, Place) or bound.dims else bound

    def _is_own(self, node: Expr) -> bool:
        """Return whether an lvalue is, or is in, a variable that nobody but its function names."""
        root = root_of(node)
        own = root is not None and root.scope in ("local", "param")
        return own and root not in self.counters.addressed

    def _formal(
        self, formal: Variable, actual: Value | Place | Spot, *, copied: bool = False
    ) -> None:
        """Bind a parameter of a level."""
        self._free.pop(formal, None)
        if isinstance(formal.type, Struct):
            assert not isinstance(actual, Value)
            self._struct_formal(formal, formal.type, actual, copied=copied)
        elif isinstance(actual, Spot):
            self._pointer_variable(formal, Value(f"(u64)({actual.address})", ADDRESS))
        elif isinstance(actual, Value):
            self._given(formal, actual)
        elif isinstance(formal.type, Pointer | Array) and actual.dims:
            moves = formal in self.counters.changed | self.counters.addressed
            if not moves and _behind_type(formal.type, actual):
                self.env[formal] = actual
                return
            target = formal.type.target if isinstance(formal.type, Pointer) else Void()
            spot = self.spot(actual, target, Name(formal.where, formal.type, formal))
            self._pointer_variable(formal, Value(f"(u64){spot.address}", ADDRESS))
        else:
            self.env[formal] = actual

    def _struct_formal(
        self, formal: Variable, kind: Struct, actual: Place | Spot, *, copied: bool
    ) -> None:
        changed = formal in self._changed_anywhere or _changes_field(self, formal)
        if not copied and not changed:
            self.env[formal] = actual
            return
        variable = Variable(f"{formal.name} passed", kind, formal.where, "local")
        self.env[variable] = actual
        self._declare(formal, "local")
        target = Name(formal.where, kind, formal)
        source = Name(formal.where, kind, variable)
        self.assign(Assign(formal.where, kind, "=", target, source, kind), "")

    def _returned(self, node: Return) -> None:
        label, result = self._return[-1]
        if node.value is not None and result is not None:
            variable = Variable("return", node.value.type, node.where, "local")
            self.env[variable] = result
            target = Name(node.where, node.value.type, variable)
            self.evaluate(
                Assign(node.where, target.type, "=", target, node.value, target.type), node.label
            )
        elif node.value is not None:
            self.evaluate(node.value)
        self.nests.irregular()
        if self._leave:
            self._note(node.where, "return inside a loop", "return")
        self.emit(f"goto {label};")


def _reason(what: str, form: Form) -> str:
    return f"data-dependent {what}" if form is Form.DATA else f"{what} that isn't affine"


def _steps(node: Expr) -> bool:
    return isinstance(node, Unary) and node.op in STEPS


def _promoted(kind: CType) -> CType:
    if isinstance(kind, Scalar) and not kind.is_float and kind.bits < 32:
        return Scalar("int", 32)
    return kind


def _behind(node: Expr) -> CType:
    """The element type of a pointer or an array; conversions to `void *` are looked through."""
    while isinstance(node, Cast) and isinstance(node.operand.type, Pointer | Array):
        node = node.operand
    kind = node.type
    if isinstance(kind, Pointer):
        kind = kind.target
    while isinstance(kind, Array):
        kind = kind.element
    return kind


def _behind_type(kind: CType, place: Place) -> bool:
    """Return whether a parameter's type sees the place as it was declared."""
    inner = kind.target if isinstance(kind, Pointer) else kind
    if isinstance(kind, Array):
        inner = kind.element
    element = inner
    while isinstance(element, Array):
        element = element.element
    layout = place.layout
    if isinstance(layout, Storage):
        if layout.pointer:
            return isinstance(element, Pointer)
        return element == layout.type
    return isinstance(element, Struct)


def _storages_of(place: Place) -> list[Storage]:
    if isinstance(place.layout, Storage):
        return [place.layout]
    layouts = list(place.layout.fields.values())
    found: list[Storage] = []
    while layouts:
        layout = layouts.pop()
        if isinstance(layout, Storage):
            found.append(layout)
        else:
            layouts += layout.fields.values()
    return found


def _elements(target: Expr, init: Expr, *, whole: bool = False) -> list[tuple[Expr, Expr]]:
    """Each element or field of a variable with what a list gives it.

    With `whole`, zeros for those that it does not mention, too.
    """
    kind = target.type
    if not isinstance(init, InitList):
        return [(target, init)]
    if not isinstance(kind, Array | Struct):
        number = Literal(init.where, Scalar("int", 32), 0)
        return [(target, init.values[0])] if init.values else [(target, number)]
    parts: list[Expr] = []
    if isinstance(kind, Array):
        for n in range(kind.extent or len(init.values)):
            number = Literal(init.where, Scalar("int", 32), n)
            parts.append(Index(init.where, kind.element, target, number))
    else:
        parts += [Member(init.where, inner, target, f, arrow=False) for f, inner in kind.fields]
    values = list(init.values)
    if whole:
        values += [InitList(init.where, part.type, ()) for part in parts[len(values) :]]
    return [
        pair
        for part, value in zip(parts, values, strict=False)
        for pair in _elements(replace(part, where=value.where), value, whole=whole)
    ]


def _changes_field(lowering: Lowering, formal: Variable) -> bool:
    """Return whether a struct parameter is changed in part."""
    return formal in lowering.counters.changed or formal in lowering.counters.addressed
