"""The data environment of a region: the host's variables as memories and scalars."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope.c import Array as CArray
from cyclescope.c import (
    Name,
    Placed,
    Pointer,
    Scalar,
    Stmt,
    Struct,
    Variable,
    Vector,
    called,
    expressions,
    statements,
)
from cyclescope.hls.front._assigned import assigned
from cyclescope.hls.front._context import Environment
from cyclescope.hls.front._heaps import HEAP, leads_to_itself, root_of
from cyclescope.hls.front._layout import is_flat, is_stream, size_of, width_of
from cyclescope.hls.front._memory import new_array
from cyclescope.hls.front._scopes import is_inside, visible
from cyclescope.hls.front._structs import hold, is_held, on_wires, wires_of
from cyclescope.hls.front.omp._directives import MapItem, directives
from cyclescope.hls.ir import Array, Op, Place

if TYPE_CHECKING:
    from cyclescope.c import CType, Unit
    from cyclescope.hls.front._choices import Plan
    from cyclescope.hls.front._context import Context
    from cyclescope.hls.front._target import Target
    from cyclescope.hls.front.omp._directives import Directive
    from cyclescope.hls.ir import Value

__all__ = ["data_environment", "outer", "outer_field", "variables_outside"]

_LOCKS = ("omp_lock_t", "omp_nest_lock_t")  # nothing reads it: the hardware's locks are their own


def variables_outside(ctx: Context, body: Stmt) -> list[Variable]:
    """The host's variables that the region names, in the text's order."""
    found: dict[Variable, None] = {}
    listed = set(ctx.host.target.directive.names("private"))
    for expr in expressions(body):
        if isinstance(expr, Name) and is_stream(expr.type):
            continue
        if isinstance(expr, Name) and not is_inside(expr.variable.where, body.where):
            found.setdefault(expr.variable)
    for variable in found:
        if variable.name in listed and on_wires(ctx, variable):
            hold(ctx, variable, None)
    return [v for v in found if not is_held(ctx, v)]


def outer(ctx: Context, variable: Variable) -> None:
    """Make a variable of the host's known: as a memory, or as a scalar that is handed over.

    Raises:
        SourceError: it cannot be handed over.
    """
    if is_inside(variable.where, ctx.host.target.body.where):
        if variable.scope == "global":
            raise ctx.refuse(
                variable.where, f"{variable.name} is declared in the region; do so before"
            )
        raise ctx.refuse(
            ctx.shared.where, f"{variable.name} is used before it is given a value; set it"
        )
    if ctx.b is not ctx.root:
        before, ctx.b = ctx.b, ctx.root
        outer(ctx, variable)
        ctx.b = before
        return
    kind, name, where = variable.type, variable.name, ctx.shared.where
    if visible(ctx.unit, ctx.host.target.directive.where).get(name, variable) is not variable:
        raise ctx.refuse(
            where, f"{name} is another variable before the region, where it is passed; "
            f"rename one of them"
        )  # fmt: skip
    item = ctx.host.items.get(name)
    private = (
        name in ctx.host.target.directive.names("firstprivate") and name not in ctx.host.reduced
    )
    own = private or not (variable in ctx.host.written or name in ctx.host.reduced)
    if isinstance(kind, Struct) and _is_in_heap(ctx, variable, kind):
        ctx.vars.memories[variable], ctx.vars.starts[variable] = root_of(ctx, variable, kind)
        return
    is_lock = isinstance(kind, Struct) and kind.name in _LOCKS
    if isinstance(kind, Placed) or (
        isinstance(kind, Struct) and (is_lock or not (own and is_flat(kind, pointers=True)))
    ):
        _as_memory(ctx, variable, item, size_of(kind, where))
        return
    if variable in ctx.host.target.thread_private:
        _as_memory(ctx, variable, MapItem(name, "tofrom"), size_of(kind, where))
        return
    if isinstance(kind, Scalar | Vector | Struct):
        # Of a construct inside `target` that is not combined with it the host sees nothing.
        shared = name in _given_back(ctx.host.target.first) or ctx.host.maps_scalars
        shared = shared or (item is not None and item.direction != "alloc")
        shared = shared or variable in ctx.host.target.declared
        if shared and not private and (variable in ctx.host.written or name in ctx.host.reduced):
            _as_memory(ctx, variable, item, size_of(kind, where))
            return
        if not private and name in ctx.host.reduced:
            ctx.host.written_by_team.add(variable)
        if variable in ctx.host.written_by_team or variable in ctx.vars.addressed:
            ctx.vars.memories[variable] = _external(
                ctx, variable, MapItem(name, "to"), size_of(kind, where)
            )
            return
        if isinstance(kind, Struct):
            ctx.host.given.append(variable)
        for wire in wires_of(ctx, variable):
            if isinstance(wire.type, Pointer):
                continue
            width = width_of(wire.type, where)
            number = len(ctx.host.scalars)
            ctx.host.scalars.append((wire, width))
            ctx.vars.env[wire] = ctx.b.leaf(Op.SCALAR, width, number)
            has_team = ctx.host.target.is_parallel or ctx.team.fork is not None
            if not private and has_team:
                ctx.vars.fixed.add(wire)
        return
    if isinstance(kind, CArray) and variable.scope != "param":
        element = _innermost(kind)
        if _is_in_heap(ctx, variable, element):
            ctx.vars.memories[variable], ctx.vars.starts[variable] = root_of(ctx, variable, element)
            return
        if any(name in names for names in ctx.host.joined):
            ctx.vars.memories[variable], ctx.vars.starts[variable] = _part_of_block(ctx, variable)
            return
        is_known = not (item is not None and item.count) and not _is_open(kind)
        size = size_of(kind, where) if is_known else None
        _as_memory(ctx, variable, item, size)
        return
    if isinstance(kind, Pointer | CArray):
        _point_outside(ctx, variable, item)
        return
    raise ctx.refuse(variable.where, f"{name} has type {kind}, which a region can't use")


def outer_field(ctx: Context, field: Variable) -> None:
    """Make known what a pointer in a struct of the host's points to, as the host sees it."""
    before, ctx.b = ctx.b, ctx.root
    _point_outside(ctx, field, ctx.host.items.get(field.name))
    ctx.b = before


def _point_outside(ctx: Context, variable: Variable, item: MapItem | None) -> None:
    kind, where = variable.type, ctx.shared.where
    assert isinstance(kind, Pointer | CArray)
    if item is None or not item.count:
        item = None  # what a pointer points to: the host sees when it runs
    target = kind.target if isinstance(kind, Pointer) else kind.element
    if _is_in_heap(ctx, variable, target):
        ctx.vars.bases[variable], ctx.vars.env[variable] = root_of(ctx, variable, target)
        return
    if any(variable.name in names for names in ctx.host.joined):
        ctx.vars.bases[variable], ctx.vars.env[variable] = _part_of_block(ctx, variable)
        return
    count = low = None
    if item is not None:
        count = ctx.constants.value(item.count, ctx.host.target.directive.where)
        low = ctx.constants.value(item.low, ctx.host.target.directive.where)
    size = None
    if count is not None and low is not None and not _is_open(target):
        size = (low + count) * size_of(target, where)
    array = _external(ctx, variable, item, size)
    ctx.vars.bases[variable] = array
    ctx.vars.env[variable] = ctx.b.const(64, 0)


def _part_of_block(ctx: Context, variable: Variable) -> tuple[Array, Value]:
    """A memory that several variables of the host lead to, and where in it this one does."""
    names = next(names for names in ctx.host.joined if variable.name in names)
    here = (a for a, parts in ctx.host.blocks.items() if any(v.name in names for v in parts))
    array = next(here, None)
    if array is None:
        stands = Variable("_and_".join(names), variable.type, variable.where, "global")
        array = new_array(ctx, stands, Place.EXTERNAL, None, to=True, back=True)
        ctx.host.hosts[array] = stands
        ctx.host.blocks[array] = {}
    number = sum(map(len, ctx.host.blocks.values()))
    where = Variable(f"cyclescope_at_{number}", Scalar("uint", 64), variable.where, "global")
    ctx.host.blocks[array][variable] = where
    ctx.host.scalars.append((where, 64))
    return array, ctx.b.leaf(Op.SCALAR, 64, len(ctx.host.scalars) - 1)


def _as_memory(ctx: Context, variable: Variable, item: MapItem | None, size: int | None) -> None:
    ctx.vars.memories[variable] = _external(ctx, variable, item, size)


def _external(ctx: Context, variable: Variable, item: MapItem | None, size: int | None) -> Array:
    direction = item.direction if item is not None else "tofrom"
    present = ctx.host.target.present
    # What a pointer leads to may be any of what is there already.
    is_there = variable.name in present or (present and isinstance(variable.type, Pointer))
    if variable in ctx.host.target.declared or is_there:
        direction = "tofrom"  # it is there already, whatever a clause says
    array = new_array(
        ctx,
        variable,
        Place.EXTERNAL,
        size,
        to=direction in ("to", "tofrom"),
        back=direction in ("from", "tofrom"),
    )
    ctx.host.hosts[array] = variable
    return array


def _is_in_heap(ctx: Context, variable: Variable, kind: CType) -> bool:
    """Return whether a variable of the host's is in a heap of such objects, or leads there."""
    joined = next((names for names in ctx.host.joined if variable.name in names), ())
    return leads_to_itself(ctx, kind) or any(name.startswith(HEAP) for name in joined)


def _innermost(kind: CArray) -> CType:
    """The type of the elements of an array of arrays."""
    inner: CType = kind
    while isinstance(inner, CArray):
        inner = inner.element
    return inner


def _is_open(kind: object) -> bool:
    while isinstance(kind, CArray):
        if kind.extent is None:
            return True
        kind = kind.element
    return False


def _maps_scalars(directive: Directive) -> bool:
    """Return whether scalars that no clause names are mapped."""
    for words in (c.words or () for c in directive.clauses if c.name == "defaultmap"):
        if words[0] in ("tofrom", "to", "from", "alloc") and words[2:] in ((), ("scalar",)):
            return True
    return False


def _given_back(directive: Directive) -> set[str]:
    """The names that a directive gives values to that go on behind it."""
    found = {*directive.names("lastprivate"), *directive.linear}
    found |= {reduction.name for reduction in directive.reductions}
    words = (c.words or () for c in directive.clauses if c.name == "in_reduction")
    return found.union(*words)


def data_environment(
    unit: Unit, target: Target, plan: Plan, joined: tuple[tuple[str, ...], ...] = ()
) -> Environment:
    """The data environment that a region's directive and its text ask for.

    Args:
        unit: the text.
        target: its region.
        plan: into which memories pointers may lead.
        joined: names of variables whose memories overlap at the host's, by block.
    """
    body = target.body
    bodies = [body, *(f.body for f in called(expressions(body), unit.functions))]
    inside = [d for b in bodies for stmt in statements(b) for d in directives(stmt.pragmas)]
    return Environment(
        target,
        {item.name: item for item in target.directive.maps},
        _maps_scalars(target.directive),
        [b.where for b in bodies if b is not None],
        {
            e.variable.name: e.variable
            for b in bodies
            for e in expressions(b)
            if isinstance(e, Name) and e.variable.scope == "global"
        },
        {name for d in (target.directive, *inside) for name in _given_back(d)},
        assigned(list(expressions(body)), unit.functions, {}) | target.thread_private,
        {e.variable for b in bodies for e in expressions(b) if isinstance(e, Name)},
        plan,
        joined=joined,
    )
