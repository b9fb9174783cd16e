"""From a C function to its process network: loops, branches, calls, storages."""

from __future__ import annotations

from dataclasses import replace

from cyclescope.bounds._forms import Form, Place, Value, literal
from cyclescope.bounds._network import CallPath, Storage, Test
from cyclescope.bounds._process import constant_number, is_outlined
from cyclescope.bounds._storages import STEPS, Storages, initial_values
from cyclescope.c import (
    Array,
    Assign,
    Binary,
    Block,
    Break,
    Call,
    Cast,
    Continue,
    Declare,
    DoWhile,
    Empty,
    Evaluate,
    Expr,
    For,
    Function,
    If,
    InitList,
    Literal,
    Name,
    OpaqueStmt,
    Pointer,
    Range,
    Return,
    Scalar,
    Stmt,
    Struct,
    Unary,
    Variable,
    Void,
    While,
)

__all__ = ["Lowering"]

_MOST_CALLS = 1000


class Lowering(Storages):
    """Lowers one kernel; afterwards `network` is complete but for sources and sinks."""

    # -- the kernel ----------------------------------------------------------------------------

    def kernel(self, function: Function) -> None:
        """Lower the kernel: parameters are its storages and constants."""
        self.network.paths.append(CallPath(-1, function.name, function.where))
        self._scan(function)
        for param in function.params:
            self._parameter(param)
        self._body(function, None)

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
                self._evaluate(value, label)
            case If():
                self._if(node)
            case For():
                self._for(node)
            case While(condition=condition, body=body):
                self._note(node.where, "while loop", f"while ({self.unit.text(condition.where)})")
                self._loop(condition, None, body)
            case DoWhile():
                self._do(node)
            case Break() | Continue():
                if isinstance(node, Break):
                    self._note(node.where, "break", "break")
                self.emit(f"goto {self._leave[-1][isinstance(node, Continue)]};")
            case Return():
                self._returned(node)
            case OpaqueStmt(construct=construct):
                raise self.refuse(node.where, construct, "use if, for, while and do")

    def _note(self, where: Range, reason: str, text: str) -> int:
        for number, known in enumerate(self.network.tests):
            if known.where == where and known.reason == reason:
                return number
        self.network.tests.append(Test(where, text, reason))
        return len(self.network.tests) - 1

    def not_affine(self, where: Range, what: str, form: Form) -> None:
        """A subscript that no polyhedral tool would take."""
        self._note(where, _reason(what, form), self.unit.text(where))

    def _local(self, variable: Variable) -> None:
        if isinstance(variable.type, Void):
            return
        if variable in self._counters:
            name = self._counter_name(variable)
            if variable.init is not None:
                self._set_counter(name, variable, self._control(variable.init, "bound"))
            return
        if isinstance(variable.type, Pointer):
            if variable.init is None or variable in self._assigned:
                raise self.refuse(
                    variable.where, f"the moving pointer {variable.name}", "use subscripts"
                )
            self.enter_site(variable.init.where)
            self.env[variable] = self.place(variable.init)
            return
        if variable.scope == "static":
            known = self._globals.get(variable)
            if known is None:
                known = self._globals[variable] = self._allocate(variable, variable.type, "static")
            self.env[variable] = known
            return
        place = self._declare(variable, "local")
        if variable.init is not None:
            self._initialise(variable, place, variable.init)

    def _initialise(self, variable: Variable, place: Place, init: Expr) -> None:
        name = Name(variable.where, variable.type, variable)
        if isinstance(place.layout, Storage) and isinstance(init, InitList):
            self._fill(place.layout, variable)
        elif isinstance(init, Call) and self._body_of(init) is not None:
            self._called(init, "", name)
        else:
            where = Range(
                variable.where.file, variable.where.line, variable.where.column,
                init.where.end_line, init.where.end_column,
            )  # fmt: skip
            self.assign(Assign(where, variable.type, "=", name, init, variable.type), "")

    def _fill(self, storage: Storage, variable: Variable) -> None:
        index = storage.index
        values = dict.fromkeys(range(storage.size), 0.0) if storage.size <= 4096 else {}
        for offset, node in initial_values(variable.init, storage.dims):
            number = constant_number(node)
            if number is None:
                raise self.refuse(
                    node.where, "a computed value in a list", "assign the element by itself"
                )
            values[offset] = number
        for offset, number in values.items():
            self.emit(f"v{index}[{offset}] = {literal(number, storage.type)};")
            self.emit(f"FREE(s{index}[{offset}]);")
        storage.written = True

    def _evaluate(self, node: Expr, label: str) -> None:
        match node:
            case Assign(target=Name(variable=variable)) if variable in self._counters:
                self.enter_site(node.where)
                self._step(node)
            case Assign(
                op="=", target=target, value=(Call() as call) | Cast(operand=Call() as call)
            ) if self._body_of(call) is not None:
                self._called(call, label, target)
            case Assign(value=Assign() as inner):
                self._evaluate(inner, "")
                again = replace(node, value=inner.target)
                self._evaluate(again, label)
            case Assign():
                self.assign(node, label)
            case Unary(op=op, operand=operand) if op in STEPS:
                one = Literal(node.where, Scalar("int", 32), 1)
                common = operand.type
                step = f"{STEPS[op]}="
                self._evaluate(Assign(node.where, node.type, step, operand, one, common), label)
            case Binary(op=",", left=left, right=right):
                self._evaluate(left, label)
                self._evaluate(right, "")
            case Cast(operand=operand):
                self._evaluate(operand, label)
            case Call():
                if self._body_of(node) is None:
                    raise self.refuse(
                        node.where,
                        f"a call of {node.function}, which has no body,",
                        "define it in this text or take it out of the kernel",
                    )
                self._called(node, label, None)
            case _:
                self.enter_site(node.where)
                self.captured(node)  # refuses what it does not know; the value is nobody's

    def _body_of(self, node: Call) -> Function | None:
        function = self.unit.functions.get(node.function)
        return function if function is not None and function.body is not None else None

    # -- control -------------------------------------------------------------------------------

    def _control(self, node: Expr, what: str) -> Value:
        """A value that steers control: nobody waits for it; noted if it isn't affine."""
        self.enter_site(node.where)
        value = self.value(node)
        if value.form > Form.AFFINE and not _affine_condition(node, value, self):
            number = self._note(node.where, _reason(what, value.form), self.unit.text(node.where))
            self.emit(f"tests[{number}]++;")
        return value

    def _set_counter(self, name: str, variable: Variable, value: Value) -> None:
        kind = variable.type
        assert isinstance(kind, Scalar)
        self.emit(f"{name} = ({kind})({value.text});")
        if value.form > Form.AFFINE:
            self.env[variable] = Value(name, kind, form=value.form)

    def _step(self, node: Expr) -> None:
        """An assignment to a loop counter."""
        match node:
            case Assign(op=op, target=Name(variable=variable), value=value):
                if variable not in self._counters:
                    self._evaluate(node, "")
                    return
                name = self._counter_name(variable)
                right = self._control(value, "bound")
                if op == "=":
                    self._set_counter(name, variable, right)
                else:
                    self.emit(f"{name} {op} {right.text};")
            case Unary(op=op, operand=Name(variable=variable)) if op in STEPS:
                if variable not in self._counters:
                    self._evaluate(node, "")
                    return
                self.emit(f"{self._counter_name(variable)} {STEPS[op]}= 1;")
            case Binary(op=",", left=left, right=right):
                self._step(left)
                self._step(right)
            case Cast(operand=operand):
                self._step(operand)
            case _:
                self._evaluate(node, "")

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

    def _for(self, node: For) -> None:
        self.emit("{")
        match node.init:
            case Declare():
                self.statement(node.init)
            case Evaluate(value=value):
                self._step(value)
            case _:
                self.statement(node.init)
        self._loop(node.condition, node.step, node.body)
        self.emit("}")

    def _loop(self, condition: Expr | None, step: Expr | None, body: Stmt) -> None:
        out, again = self._label(), self._label()
        self.emit("for (;;) {")
        if condition is not None:
            test = self._control(condition, "condition")
            self.emit(f"if (!({test.text})) break;")
        self._leave.append((out, again))
        self.emit("{")
        self.statement(body)
        self.emit("}")
        self._leave.pop()
        self.emit(f"{again}:;")
        if step is not None:
            self.emit("{")
            self._step(step)
            self.emit("}")
        self.emit("}")
        self.emit(f"{out}:;")

    def _do(self, node: DoWhile) -> None:
        out, again = self._label(), self._label()
        self._note(node.where, "do loop", f"while ({self.unit.text(node.condition.where)})")
        self.emit("for (;;) {")
        self._leave.append((out, again))
        self.emit("{")
        self.statement(node.body)
        self.emit("}")
        self._leave.pop()
        self.emit(f"{again}:;")
        test = self._control(node.condition, "condition")
        self.emit(f"if (!({test.text})) break;")
        self.emit("}")
        self.emit(f"{out}:;")

    # -- calls ---------------------------------------------------------------------------------

    def _called(self, node: Call, label: str, into: Expr | None) -> None:
        function = self._body_of(node)
        assert function is not None
        assert function.body is not None
        if len(function.params) != len(node.args):
            raise self.refuse(node.where, f"the call of {function.name}", "pass each parameter")
        if is_outlined(function):
            self.outlined(function, node, label, into)
            return
        self._enter(function, node)
        self.enter_site(node.where)
        self._scan(function)
        outer_env, outer_path, outer_leave = self.env, self.path, self._leave
        self.emit("{")
        env = {
            formal: self._passed(formal, actual, function)
            for formal, actual in zip(function.params, node.args, strict=True)
        }
        self.network.paths.append(CallPath(outer_path, function.name, node.where))
        if len(self.network.paths) > _MOST_CALLS:
            raise self.refuse(
                node.where, f"a program of more than {_MOST_CALLS} calls", "use loops"
            )
        self.env, self.path, self._leave = dict(env), len(self.network.paths) - 1, []
        result: Place | None = None
        if into is not None:
            result = self._result(function)
        for formal, actual in env.items():
            if formal in self._counters and isinstance(actual, Value):
                self._counter(formal, actual)
        self._body(function, result)
        self.env, self.path, self._leave = outer_env, outer_path, outer_leave
        self._inlining.pop()
        if into is not None and result is not None:
            variable = Variable(f"{function.name}()", function.result, node.where, "local")
            self.env[variable] = result
            value = Name(node.where, function.result, variable)
            self.assign(Assign(node.where, into.type, "=", into, value, into.type), label)
        self.emit("}")

    def _result(self, function: Function) -> Place:
        if not isinstance(function.result, Scalar):
            raise self.refuse(function.where, f"{function.name}'s result", "pass it by a pointer")
        variable = Variable(f"{function.name}()", function.result, function.where, "local")
        return self._allocate(variable, function.result, "local")

    def _passed(self, formal: Variable, actual: Expr, function: Function) -> Value | Place:
        if isinstance(formal.type, Pointer | Array | Struct):
            place = self.place(actual)
            if isinstance(formal.type, Struct) and formal in self._assigned:
                raise self.refuse(
                    actual.where, f"{function.name} changing its copy {formal.name}", "use a local"
                )
            return place
        kind = self.scalar(formal.type, formal.where)
        value, lines = self.captured(actual)
        if value.form <= Form.OTHER:
            self.lines.extend(lines)
            held = self._held(self._converted(value, kind, actual))
            if formal not in self._assigned or formal in self._counters:
                return held
            place = self._allocate(formal, kind, "local")
            assert isinstance(place.layout, Storage)
            index = place.layout.index
            self.emit(f"v{index} = {held.text}; FREE(s{index});")
            return place
        if isinstance(actual, Name) and formal not in self._assigned:
            return self.place(actual)  # a wire
        place = self._allocate(formal, kind, "local")
        outer = self.env
        self.env = {**outer, formal: place}
        target = Name(actual.where, kind, formal)
        self.assign(Assign(actual.where, kind, "=", target, actual, kind), "")
        self.env = outer
        return place

    def _returned(self, node: Return) -> None:
        label, result = self._return[-1]
        if node.value is not None and result is not None:
            variable = Variable("return", node.value.type, node.where, "local")
            outer = self.env
            self.env = {**outer, variable: result}
            target = Name(node.where, node.value.type, variable)
            self.assign(Assign(node.where, target.type, "=", target, node.value, target.type), "")
            self.env = outer
        if self._leave:
            self._note(node.where, "return inside a loop", "return")
        self.emit(f"goto {label};")


def _reason(what: str, form: Form) -> str:
    return f"data-dependent {what}" if form is Form.DATA else f"{what} that isn't affine"


def _affine_condition(node: Expr, value: Value, lowering: Lowering) -> bool:
    """Whether a condition is comparisons of affine values joined by && and ||."""
    del value
    match node:
        case Binary(op="&&" | "||", left=left, right=right):
            return all(
                _affine_condition(e, Value("", Scalar("int", 32)), lowering) for e in (left, right)
            )
        case Binary(op="<" | ">" | "<=" | ">=" | "==" | "!=", left=left, right=right):
            sides = (lowering.captured(e)[0] for e in (left, right))
            return all(side.form <= Form.AFFINE for side in sides)
        case Unary(op="!", operand=operand):
            return _affine_condition(operand, Value("", Scalar("int", 32)), lowering)
    return False
