"""Data races of tasks, as the text shows them.

A thread executes a task at once, so that its results are there for whatever comes behind; OpenMP
promises that only behind what waits for the task. Here the statements are walked in the text's
order, with the tasks that nothing has waited for: whoever reads what such a task writes, or writes
what it reads or writes, races with it. Looked at are variables, and elements of arrays with a
constant subscript; accesses under `critical` or `atomic`, or in a function that is called, are not.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

from cyclescope.c import (
    STEPS,
    Array,
    Assign,
    Block,
    Call,
    Cast,
    Declare,
    DoWhile,
    Evaluate,
    For,
    If,
    Index,
    Literal,
    Name,
    Return,
    Scalar,
    Switch,
    Unary,
    While,
    called,
    children,
    expressions,
    own_expressions,
)
from cyclescope.hls.front.omp._directives import directives, folded, is_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cyclescope.c import Expr, Pragma, Range, Stmt, Unit, Variable
    from cyclescope.hls.front._target import Target
    from cyclescope.hls.front.omp._directives import Directive

__all__ = ["task_races"]

_Key: TypeAlias = "tuple[Variable, int | None]"
_PROTECTED = frozenset({"critical", "atomic", "ordered"})
_OWN = frozenset({"reduction", "in_reduction", "lastprivate", "linear"})
_WAITING = frozenset({"barrier", "single", "for", "sections", "parallel", "taskgroup"})


def task_races(unit: Unit, target: Target) -> list[str]:
    """The races of tasks that a region's text shows, a warning each.

    Args:
        unit: the text.
        target: its region.
    """
    found: dict[str, None] = {}
    outside = [*target.directive.names("private"), *target.directive.names("firstprivate")]
    _Walk(found, frozenset(outside), target.body.where).statement(target.body)
    for function in called(expressions(target.body), unit.functions):
        if function.body is not None:
            _Walk(found, frozenset(), None).statement(function.body)
    return list(found)


@dataclass(frozen=True, slots=True)
class _Depends:
    """The names in `depend` clauses: those that are only read, and the others."""

    reads: frozenset[str] = frozenset()
    writes: frozenset[str] = frozenset()

    def behind(self, other: _Depends) -> bool:
        """Return whether what has these is behind a task that has the others."""
        both = other.reads | other.writes
        return bool(self.writes & both or self.reads & other.writes)


@dataclass(frozen=True, slots=True)
class _Task:
    """A task that nothing has waited for.

    Attributes:
        reads, writes: what it shares with others, each with its place.
        depends: what its `depend` clauses say.
        level: how many tasks it is inside.
    """

    reads: dict[_Key, Range]
    writes: dict[_Key, Range]
    depends: _Depends
    level: int


@dataclass(slots=True)
class _Walk:
    """The walk through a function, or through the region.

    Attributes:
        found: the warnings.
        private: names of the host's variables of which each thread has its own.
        inside: the region's range: what is declared outside of it all threads share; None: in a
            function, what is its own is the task's.
        open: tasks that nothing has waited for.
        level: of tasks around.
        own: variables that the tasks around have copies of.
    """

    found: dict[str, None]
    private: frozenset[str]
    inside: Range | None
    open: list[_Task] = field(default_factory=list)
    level: int = 0
    own: frozenset[Variable] = frozenset()

    def statement(self, stmt: Stmt) -> None:
        """A statement with its directives."""
        inner = _directives(stmt.pragmas)
        bare = replace(stmt, pragmas=())
        for directive in inner:
            words = set(directive.words)
            if directive.words == ("taskwait",):
                self.wait(directive)
            elif directive.words == ("barrier",):
                self.open.clear()
            elif directive.words == ("task",):
                rest = tuple(p for p in stmt.pragmas if p.where.start > directive.where.start)
                self.task(replace(stmt, pragmas=rest), directive)
                return
            elif "taskloop" in words:
                self.taskloop(bare, directive)
                return
            elif words & _PROTECTED:
                return
            elif words & _WAITING:
                rest = tuple(p for p in stmt.pragmas if p.where.start > directive.where.start)
                self.statement(replace(stmt, pragmas=rest))
                if directive.clause("nowait") is None:
                    self.open = [t for t in self.open if t.level < self.level]
                return
        self.plain(bare)

    def plain(self, stmt: Stmt) -> None:
        """A statement without directives."""
        match stmt:
            case Block(body=body, trailing=trailing):
                for inner in body:
                    self.statement(inner)
                for directive in _directives(trailing):
                    if directive.words == ("taskwait",):
                        self.wait(directive)
                    elif directive.words == ("barrier",):
                        self.open.clear()
            case If(condition=condition, then=then, other=other):
                self.accesses([condition])
                before = list(self.open)
                self.statement(then)
                after, self.open = self.open, before
                if other is not None:
                    self.statement(other)
                self.open += [t for t in after if t not in self.open]
            case For() | While() | DoWhile():
                init = getattr(stmt, "init", None)
                if init is not None:
                    self.statement(init)
                for _ in range(2):  # an iteration meets the tasks of the one before
                    self.accesses(own_expressions(stmt))
                    self.statement(stmt.body)
            case Switch(condition=condition, sections=sections):
                self.accesses([condition])
                for section in sections:
                    for inner in section.body:
                        self.statement(inner)
            case Declare() | Evaluate() | Return():
                self.accesses(own_expressions(stmt))

    def wait(self, directive: Directive) -> None:
        """The thread waits for its tasks; those of a name, if it says so."""
        named = _depends(directive)
        some = bool(named.reads or named.writes)
        self.open = [
            t for t in self.open if t.level > self.level or (some and not named.behind(t.depends))
        ]

    def task(self, stmt: Stmt, directive: Directive) -> None:
        """A task: what it accesses, and then what its own tasks do."""
        condition = directive.clause("if")
        depends = _depends(directive)
        if condition is not None and condition[-1:] == ("0",):
            # The thread waits for what it depends on, and executes it itself.
            self.open = [t for t in self.open if not depends.behind(t.depends)]
            self.statement(stmt)
            return
        reads, writes = _accesses(stmt)
        shared = {k: w for k, w in reads.items() if self.is_shared(k[0], directive)}
        written = {k: w for k, w in writes.items() if self.is_shared(k[0], directive)}
        self.meet(shared, written, depends)
        own = {k[0] for k in (*reads, *writes) if not self.is_shared(k[0], directive)}
        inner = _Walk(self.found, self.private, self.inside, [], self.level + 1, self.own | own)
        inner.statement(stmt)
        here = _Task(shared, written, depends, self.level)
        self.open += [t for t in inner.open if t.level > self.level]
        if condition is None:
            self.open.append(here)

    def taskloop(self, stmt: Stmt, directive: Directive) -> None:
        """A loop whose iterations are tasks: a variable that each of them writes, all share."""
        _, writes = _accesses(stmt)
        own = {w for c in directive.clauses if c.name in _OWN for w in c.words or ()}
        for inner in _nest(stmt, len(directive.clause("collapse") or ())):
            match inner.init:
                case Evaluate(value=Assign(target=Name(variable=variable))):
                    own.add(variable.name)
        for (variable, at), where in writes.items():
            if at is None and variable.name not in own and self.is_shared(variable, directive):
                self.found.setdefault(
                    f"{where}: data race: tasks of the loop write {variable.name}, which they "
                    f"share ({directive.where}); write private({variable.name})"
                )

    def is_shared(self, variable: Variable, directive: Directive) -> bool:
        """Return whether a task's variable is that of the thread that comes to it."""
        name = variable.name
        if name in directive.names("private") or name in directive.names("firstprivate"):
            return False
        if variable in self.own:
            return False
        if name in directive.names("shared") or directive.clause("default") == ("shared",):
            return True
        if variable.scope in ("global", "static"):
            return name not in self.private
        around = self.inside
        if around is None or name in self.private:
            return False
        return not (
            variable.where.file == around.file and around.start <= variable.where.start < around.end
        )

    def accesses(self, given: Sequence[Expr]) -> None:
        """The accesses of the thread itself."""
        reads: dict[_Key, Range] = {}
        writes: dict[_Key, Range] = {}
        for expr in given:
            _collect(expr, reads, writes)
        self.meet(reads, writes, _Depends())

    def meet(self, reads: dict[_Key, Range], writes: dict[_Key, Range], depends: _Depends) -> None:
        """Compare accesses with those of the tasks that nothing has waited for."""
        for task in self.open:
            if depends.behind(task.depends):
                continue
            pairs = [(task.writes, "writes", {**reads, **writes}), (task.reads, "reads", writes)]
            for theirs, verb, ours in pairs:
                for key in theirs.keys() & ours.keys():
                    name = key[0].name + (f"[{key[1]}]" if key[1] is not None else "")
                    where = ours[key]
                    self.found.setdefault(
                        f"{where}: data race: a task {verb} {name} ({theirs[key]}), and nothing "
                        f"waits for it in front of this; write omp taskwait, or depend"
                    )


def _depends(directive: Directive) -> _Depends:
    clauses = [c.words or () for c in directive.clauses if c.name == "depend"]
    found: dict[bool, set[str]] = {True: set(), False: set()}
    for words in clauses:
        if ":" in words:
            listed = words[words.index(":") + 1 :]
            found[words[0] == "in"].update(word for word in listed if is_name(word))
    return _Depends(frozenset(found[True]), frozenset(found[False]))


def _nest(stmt: Stmt, collapsed: int) -> Iterator[For]:
    """The loops of a directive: the outermost one, or all if some are collapsed."""
    while isinstance(stmt, For | Block):
        if isinstance(stmt, For):
            yield stmt
            if not collapsed:
                return
            stmt = stmt.body
        elif len(stmt.body) == 1:
            stmt = stmt.body[0]
        else:
            return


def _directives(pragmas: Sequence[Pragma]) -> list[Directive]:
    return directives([p for p in pragmas if not p.trouble])


def _accesses(stmt: Stmt) -> tuple[dict[_Key, Range], dict[_Key, Range]]:
    """The accesses of a statement, but for protected ones and those of tasks inside."""
    reads: dict[_Key, Range] = {}
    writes: dict[_Key, Range] = {}
    declared: set[Variable] = set()
    for inner in _open_statements(stmt):
        if isinstance(inner, Declare):
            declared.update(inner.variables)
        for expr in own_expressions(inner):
            _collect(expr, reads, writes)
    for found in (reads, writes):
        for key in [k for k in found if k[0] in declared]:
            del found[key]
    return reads, writes


def _open_statements(stmt: Stmt) -> Iterator[Stmt]:
    """A statement and those in it that are neither protected nor tasks of their own."""
    words = {w for d in _directives(stmt.pragmas) for w in d.words}
    if words & (_PROTECTED | {"task", "taskloop"}):
        return
    yield stmt
    inside: list[Stmt | None] = []
    match stmt:
        case Block(body=body):
            inside = list(body)
        case Switch(sections=sections):
            inside = [s for section in sections for s in section.body]
        case If(then=then, other=other):
            inside = [then, other]
        case For(init=init, body=body):
            inside = [init, body]
        case While(body=body) | DoWhile(body=body):
            inside = [body]
    for inner in inside:
        if inner is not None:
            yield from _open_statements(inner)


def _collect(expr: Expr, reads: dict[_Key, Range], writes: dict[_Key, Range]) -> None:
    """Add the variables and elements that an expression reads and writes."""
    match expr:
        case Assign(op=op, target=target, value=value):
            key = _key(target)
            if key is not None:
                writes.setdefault(key, expr.where)
                if op != "=":
                    reads.setdefault(key, expr.where)
            else:
                for inner in children(target):
                    _collect(inner, reads, writes)
            _collect(value, reads, writes)
            return
        case Unary(op=op, operand=operand) if op in STEPS:
            key = _key(operand)
            if key is not None:
                writes.setdefault(key, expr.where)
                return
        case Unary(op="&"):
            return
        case Call(args=args):
            for inner in args:
                _collect(inner, reads, writes)
            return
    key = _key(expr)
    if key is not None:
        reads.setdefault(key, expr.where)
        return
    for inner in children(expr):
        _collect(inner, reads, writes)


def _key(expr: Expr) -> _Key | None:
    """A variable, or an element of an array with a constant subscript; None: anything else."""
    match expr:
        case Name(variable=variable) if isinstance(variable.type, Scalar):
            return variable, None
        case Index(base=Name(variable=variable), index=index) if isinstance(variable.type, Array):
            at = index.operand if isinstance(index, Cast) else index
            value = folded(at) if isinstance(at, Literal) else None
            return (variable, value) if value is not None else None
    return None
