"""The target region of a text: its data environment set up, lowered."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cyclescope._stack import deep_recursion
from cyclescope.c import Array as CArray
from cyclescope.c import (
    Call,
    Name,
    Pointer,
    Scalar,
    Stmt,
    Struct,
    Variable,
    Vector,
)
from cyclescope.errors import SourceError
from cyclescope.hls.front._addresses import addressed
from cyclescope.hls.front._assigned import (
    assigned,
    called,
    expressions,
    lanes_written,
    outermost,
    statements,
)
from cyclescope.hls.front._calls import OF_LEAGUES, OF_TEAMS
from cyclescope.hls.front._layout import is_flat, size_of, width_of
from cyclescope.hls.front.omp._directives import MapItem, directives
from cyclescope.hls.front.omp._synchronization import Sharing
from cyclescope.hls.ir._graph import EFFECTS, Array, Node, Op, Place, Region
from cyclescope.hls.passes._dead_code import clean, graphs
from cyclescope.hls.passes._neighbours import neighbours
from cyclescope.hls.passes._preload import preload
from cyclescope.hls.passes._races import Threads, last_writers, races

if TYPE_CHECKING:
    from cyclescope.c import Range, Unit
    from cyclescope.hls.front._target import Target
    from cyclescope.hls.front.omp._directives import Constants

__all__ = ["Lowered", "lower"]

_MOST_EFFECTS = 4_096  # in one iteration
_DEFAULT_THREADS = 8


@dataclass(frozen=True, slots=True)
class Lowered:
    """A region in data-flow form.

    Attributes:
        region: its graphs.
        variables: of the host, by name of array.
        scalars: of the host, in the region's order.
        exact: arithmetic that cannot overflow.
        guarded: loads and stores under mutual exclusion.
        warnings: for people; each begins with file and line.
        undecided: arrays whose contents depend on which thread is last.
        overruled: the team has not the size that the text says.
    """

    region: Region
    variables: dict[str, Variable]
    scalars: tuple[Variable, ...]
    exact: frozenset[Node]
    guarded: frozenset[Node]
    warnings: tuple[str, ...]
    undecided: frozenset[str] = frozenset()
    overruled: bool = False


def lower(unit: Unit, target: Target, constants: Constants, threads: int | None) -> Lowered:
    """The region in data-flow form, cleaned, without dependences.

    Args:
        unit: the text.
        target: its region.
        constants: values of the text's macros.
        threads: the team's size; None: as `num_threads` says, else 8.

    Raises:
        SourceError: it holds something that isn't supported.
    """
    directive = target.directive
    if not target.is_parallel:
        threads = 1
    elif threads is None:
        threads = _team(target, constants)
    if target.team:
        has_team = constants.value(target.team, directive.where)
        if has_team is None:
            text = " ".join(target.team)
            raise SourceError(
                f"{directive.where}: if(parallel: {text}): the hardware's team has its size before "
                f"it runs; give a constant, or write if(target: {text})"
            )
        threads = threads if has_team else 1
    if not 1 <= threads <= 256:
        raise SourceError(f"{directive.where}: {threads} threads; from 1 to 256 are possible")
    with deep_recursion():
        lowered = _Lowering(unit, threads, constants, target).lowered()
    return replace(lowered, overruled=_overruled(target, constants, threads))


def _overruled(target: Target, constants: Constants, threads: int) -> bool:
    """Whether a clause of the region says another size of the team."""
    clause = target.directive.clause("num_teams" if target.is_league else "num_threads")
    if clause is None or target.team:
        return False
    try:
        return _team(target, constants) != threads
    except SourceError:
        return True


def _team(target: Target, constants: Constants) -> int:
    """The team's size, as the text says it, else the default.

    Raises:
        SourceError: it says something that is no constant, or several teams do the same.
    """
    directive = target.directive

    def constant(clause: str) -> int | None:
        words = directive.clause(clause)
        if words is None:
            return None
        value = constants.value(words, directive.where)
        if value is None or value < 1:
            raise SourceError(
                f"{directive.where}: {clause}({' '.join(words)}): the hardware's team has its size "
                f"before it runs; give a positive constant, or --threads"
            )
        return value

    most, teams = constant("thread_limit"), constant("num_teams")
    if target.is_league:
        return teams or _DEFAULT_THREADS
    if teams not in (None, 1) and not directive.has("distribute"):
        raise SourceError(
            f"{directive.where}: num_teams({teams}): each team would do the same in the region; "
            f"write num_teams(1), or distribute a loop to them"
        )
    threads = constant("num_threads") or _DEFAULT_THREADS
    return threads if most is None else min(threads, most)


def _of_teams(target: Target, constants: Constants) -> frozenset[str]:
    """The calls that tell one team with several threads from what the text has."""
    if target.is_league:
        return OF_TEAMS | OF_LEAGUES
    teams = target.directive.clause("num_teams")
    several = teams is not None and constants.value(teams, target.directive.where) != 1
    return OF_LEAGUES if several else frozenset()


class _Lowering(Sharing):
    def __init__(self, unit: Unit, threads: int, constants: Constants, target: Target) -> None:
        super().__init__(unit, threads, constants, target.directive.where)
        self.target = target
        self.of_teams = _of_teams(target, constants)
        self.items: dict[str, MapItem] = {i.name: i for i in target.directive.maps}
        # Scalars that no clause names are mapped, not handed over by value.
        default = target.directive.clause("defaultmap") or ()
        self.maps_scalars = "scalar" in default
        self.order: list[Variable] = []
        self.hosts: dict[Array, Variable] = {}
        self.undecided: set[Array] = set()
        names = called(expressions(target.body), unit.functions)
        bodies = [target.body, *(unit.functions[name].body for name in names)]
        self.texts = [body.where for body in bodies if body is not None]
        inside = [d for b in bodies for stmt in statements(b) for d in directives(stmt.pragmas)]
        self.mentioned = {
            e.variable.name: e.variable for b in bodies for e in expressions(b)
            if isinstance(e, Name) and e.variable.scope == "global"
        }  # fmt: skip
        self.reduced = {
            name for d in (target.directive, *inside)
            for name in (*d.names("lastprivate"), *(r.name for r in d.reductions))
        }  # fmt: skip
        given = list(expressions(target.body))
        self.written = assigned(given, unit.functions, {})
        self.addressed = addressed(outermost(target.body), unit.functions)
        texts = [f.body for f in unit.functions.values() if f.body is not None]
        self.laned = lanes_written([*given, *(e for body in texts for e in expressions(body))])

    def lowered(self) -> Lowered:
        directive, body = self.target.directive, self.target.body
        self.inside.append(directive)
        with self.at(directive.where):
            for variable in self._outside(body):
                self.outer(variable)
            with self.private(directive):
                if directive.has("for") or directive.has("distribute") or directive.has("loop"):
                    self.distribute(directive, body)
                else:
                    entered = self.begin_reductions(directive)
                    self.bare(body)
                    self.end_reductions(directive, entered)
        self._check_pragmas()
        clean(self.root.graph)
        if preload(self.root.graph, self.shared):
            clean(self.root.graph)
        self._check_size()
        if self.threads > 1:
            graph, guarded, own = self.root.graph, self.guarded_nodes, Threads(self.root.graph)
            self.warnings += races(graph, guarded, own)
            self.warnings += neighbours(graph, guarded, self.shared, own, self.threads)
            for warning, array in last_writers(graph, guarded, own):
                self.warnings.append(warning)
                self.undecided.add(array)
        return self._finished()

    def _check_size(self) -> None:
        """Whether what may depend on each other is few enough to look at all pairs.

        Raises:
            SourceError: it is not; neither hardware nor its simulation would come to an end soon.
        """
        for graph in graphs(self.root.graph):
            effects = [node for node in graph.nodes if node.op in EFFECTS]
            if len(effects) > _MOST_EFFECTS:
                raise SourceError(
                    f"{effects[_MOST_EFFECTS].where}: more than {_MOST_EFFECTS:,} memory accesses,"
                    " loops and locks one after the other; put them into loops, or unroll less"
                )

    def _outside(self, body: Stmt) -> list[Variable]:
        """The host's variables that the region names, in the text's order."""
        found: dict[Variable, None] = {}
        listed = set(self.target.directive.names("private"))
        for expr in expressions(body):
            if isinstance(expr, Name) and not _inside(expr.variable.where, body.where):
                found.setdefault(expr.variable)
            if isinstance(expr, Call):
                continue
        for variable in found:
            if variable.name in listed and self.on_wires(variable):
                self.hold(variable, None)
        return [v for v in found if not self.is_held(v)]

    def outer(self, variable: Variable) -> None:
        """Make a variable of the host's known: as a memory, or as a scalar that is handed over.

        Raises:
            SourceError: it cannot be handed over.
        """
        if _inside(variable.where, self.target.body.where):
            raise self.refuse(
                self.shared.where, f"{variable.name} is used before it is given a value; set it"
            )
        if self.b is not self.root:
            before, self.b = self.b, self.root
            self.outer(variable)
            self.b = before
            return
        kind, name, where = variable.type, variable.name, self.shared.where
        item = self.items.get(name)
        private = name in self.target.directive.names("firstprivate") and name not in self.reduced
        own = private or not (variable in self.written or name in self.reduced)
        has_pointers = is_flat(kind, pointers=True) and not is_flat(kind)
        if isinstance(kind, Struct) and has_pointers and not own:
            raise self.refuse(
                where, f"{name} holds pointers: a region can only read its other fields; copy "
                f"what is written to a variable of its own"
            )  # fmt: skip
        if isinstance(kind, Struct) and not (own and is_flat(kind, pointers=True)):
            self._memory(variable, item, size_of(kind, where))
            return
        if isinstance(kind, Scalar | Vector | Struct):
            shared = name in self.reduced or self.maps_scalars
            shared = shared or (item is not None and item.direction != "alloc")
            if shared and not private and (variable in self.written or name in self.reduced):
                self._memory(variable, item, size_of(kind, where))
                return
            for wire in self.wires(variable):
                if isinstance(wire.type, Pointer):
                    continue
                width = width_of(wire.type, where)
                number = len(self.scalars)
                self.scalars.append((wire, width))
                self.env[wire] = self.b.leaf(Op.SCALAR, width, number)
                if not private:
                    self.fixed.add(wire)
            return
        if isinstance(kind, CArray) and variable.scope != "param":
            size = None if item is not None and item.count else size_of(kind, where)
            self._memory(variable, item, size)
            return
        if isinstance(kind, Pointer | CArray):
            if item is None:
                raise self.refuse(
                    self.target.directive.where,
                    f"{name} is a pointer: say what it points to, map(tofrom: {name}[0:count])",
                )
            if not item.count:
                raise self.refuse(
                    self.target.directive.where, f"map({name}): give a section, {name}[0:count]"
                )
            target = kind.target if isinstance(kind, Pointer) else kind.element
            count = self.constants.value(item.count, self.target.directive.where)
            low = self.constants.value(item.low, self.target.directive.where)
            size = None
            if count is not None and low is not None and not _is_open(target):
                size = (low + count) * size_of(target, where)
            array = self._external(variable, item, size)
            self.bases[variable] = array
            self.env[variable] = self.b.const(64, 0)
            return
        raise self.refuse(variable.where, f"{name} has type {kind}, which a region can't use")

    def _memory(self, variable: Variable, item: MapItem | None, size: int | None) -> None:
        self.memories[variable] = self._external(variable, item, size)

    def _external(self, variable: Variable, item: MapItem | None, size: int | None) -> Array:
        direction = item.direction if item is not None else "tofrom"
        array = self.new_array(
            variable,
            Place.EXTERNAL,
            size,
            to=direction in ("to", "tofrom"),
            back=direction in ("from", "tofrom"),
        )
        self.hosts[array] = variable
        return array

    def _check_pragmas(self) -> None:
        """A directive that is at no statement would be lost, and change what the program means.

        Raises:
            SourceError: there is one in the region, or in a function that it calls.
        """
        for pragma in self.unit.stray:
            for where in self.texts:
                inside = where.start <= pragma.where.start < where.end
                if pragma.tokens[:1] == ("omp",) and pragma.where.file == where.file and inside:
                    raise SourceError(
                        f"{pragma.where}: this directive belongs to no statement here; "
                        f"move it before one"
                    )

    def _finished(self) -> Lowered:
        used: set[Array] = set()
        stored: set[Array] = set()  # a constant of the host must not be written back
        for graph in graphs(self.root.graph):
            for node in graph.nodes:
                if node.op is Op.STORE and node.array is not None:
                    stored.add(node.array)
                used |= {a for a in (node.array, node.source) if a is not None}
        order = list(self.items)

        def rank(array: Array) -> int:
            if array.place is not Place.EXTERNAL:
                return 2 * len(order) + 2
            return order.index(array.name) if array.name in order else len(order)

        arrays = sorted((a for a in self.arrays if a in used), key=rank)
        final: dict[Array, Array] = {}
        names: dict[str, int] = {}
        for array in arrays:
            names[array.name] = names.get(array.name, 0) + 1
            unique = array.name if names[array.name] == 1 else f"{array.name}_{names[array.name]}"
            final[array] = replace(
                array,
                name=unique,
                word=self.words.get(array, 1),
                from_device=array.from_device and array in stored,
            )
        for graph in graphs(self.root.graph):
            for node in graph.nodes:
                if node.array is not None:
                    node.array = final[node.array]
                if node.source is not None:
                    node.source = final[node.source]
        region = Region(
            name=self.target.function.name,
            root=self.root.graph,
            arrays=tuple(final.values()),
            scalars=tuple((v.name, width) for v, width in self.scalars),
            threads=self.threads,
            locks=tuple(self.locks),
            barriers=tuple(self.barriers),
            where=self.target.directive.where,
        )
        hosts = {final[a].name: v for a, v in self.hosts.items() if a in final}
        scalars = tuple(v for v, _ in self.scalars)
        return Lowered(
            region,
            hosts,
            scalars,
            frozenset(self.shared.exact),
            frozenset(self.guarded_nodes),
            tuple(self.warnings),
            frozenset(final[a].name for a in self.undecided),
        )


def _is_open(kind: object) -> bool:
    while isinstance(kind, CArray):
        if kind.extent is None:
            return True
        kind = kind.element
    return False


def _inside(inner: Range, outer: Range) -> bool:
    start = (outer.line, outer.column) <= (inner.line, inner.column)
    end = (inner.end_line, inner.end_column) <= (outer.end_line, outer.end_column)
    return inner.file == outer.file and start and end
