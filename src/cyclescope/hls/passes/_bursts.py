"""Loops that only copy a block of external memory into a local array become one operation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclescope.hls.ir import EFFECTS, Graph, Node, Op, Place, Value
from cyclescope.hls.passes._affine import Forms, Induction, Sum, inductions, outside
from cyclescope.hls.passes._dead_code import clean, graphs

if TYPE_CHECKING:
    from cyclescope.hls.ir import Builder, Draft, Shared

__all__ = ["find_bursts"]


def find_bursts(draft: Draft) -> None:
    """Replace such loops in a region's graphs, and remove what only they needed.

    A loop is replaced if an iteration does nothing but load a value and store it as it is, and
    both move on by its size each time.
    """
    root, found = draft.region.root, False
    for graph in graphs(root):
        for loop in list(graph.nodes):
            if loop.body is not None and _replaced(graph, loop, draft.shared):
                found = True
    if found:
        clean(root)


def _replaced(graph: Graph, loop: Node, shared: Shared) -> bool:
    body = loop.body
    assert body is not None
    pair = _pair(body)
    if pair is None or _is_used(graph, loop):
        return False
    load, store = pair
    forms = Forms(shared.exact)
    known = inductions(loop, forms)
    size = load.widths[0] // 8
    starts = []
    for offset in (store.operands[0], load.operands[0]):
        start = _start(loop, forms.of(offset), known, size)
        if start is None:
            return False
        starts.append(start)
    builder = shared.owner[loop]
    count = len(graph.nodes)
    builder.reopen(graph.nodes[: graph.nodes.index(loop)])
    before = shared.where
    shared.where = loop.where
    length = _length(builder, loop, known, size)
    if length is not None:
        offsets = [_value(builder, start) for start in starts]
        copy = builder.effect(
            Op.COPY, *offsets, length, when=loop.when, array=store.array, source=load.array
        )
    shared.where = before
    new = graph.nodes[count:]
    del graph.nodes[count:]
    if length is None:
        return False
    # All that the copy needs was there before the loop.
    position = graph.nodes.index(loop)
    graph.nodes[position : position + 1] = new
    assert copy in new
    return True


def _pair(body: Graph) -> tuple[Node, Node] | None:
    effects = [n for n in body.nodes if n.op in EFFECTS]
    if len(effects) != 2 or effects[0].op is not Op.LOAD or effects[1].op is not Op.STORE:
        return None
    load, store = effects
    if load.array is None or store.array is None or load.when is not None or store.when is not None:
        return None
    places = (load.array.place, store.array.place)
    if places != (Place.EXTERNAL, Place.LOCAL) or store.operands[1] != load.result:
        return None
    return load, store


def _is_used(graph: Graph, loop: Node) -> bool:
    """Return whether anything needs the loop's results."""
    results = set(loop.results)
    if any(results & {*n.operands, n.when} for n in graph.nodes):
        return True
    handed_on = {c.next for c in graph.carried} | {graph.continues}
    return bool(results & handed_on)


def _start(loop: Node, offset: Sum, known: dict[Value, Induction], size: int) -> Sum | None:
    """The first iteration's offset, in the graph around; None if it doesn't move on by size."""
    start, step = Sum(offset.constant), 0
    for value, coefficient in offset.terms.items():
        induction = known.get(value)
        if induction is not None:
            if induction.step.number is None:
                return None
            step += coefficient * induction.step.number
            start = start.plus(Sum(0, {induction.first: 1}), coefficient)
            continue
        seen = outside(loop, value)
        if seen is None:
            return None
        start = start.plus(Sum(0, {seen: 1}), coefficient)
    return start if step == size else None


def _length(builder: Builder, loop: Node, known: dict[Value, Induction], size: int) -> Value | None:
    """The number of bytes: iterations times size."""
    body = loop.body
    assert body is not None
    assert body.continues is not None
    for induction in known.values():
        if induction.count is not None:
            return builder.const(64, induction.count * size)
    test = body.continues.node
    if test.op is not Op.SLT:
        return None
    tested, bound = test.operands
    one = known.get(tested)
    if one is None or one.step.number != 1:
        return None
    end = bound if bound.node.op is Op.CONST else outside(loop, bound)
    if end is None:
        return None
    first = builder.use(one.first)
    end = builder.use(end)
    runs = builder.op(Op.SLT, first, end, width=1)
    apart = builder.op(Op.SUB, _wide(builder, end), _wide(builder, first), width=64, exact=True)
    length = builder.op(Op.MUL, apart, builder.const(64, size), width=64, exact=True)
    return builder.select(runs, length, builder.const(64, 0))


def _wide(builder: Builder, value: Value) -> Value:
    return builder.resized(value, 64, is_signed=True)


def _value(builder: Builder, total: Sum) -> Value:
    result = builder.const(64, total.constant)
    for value, coefficient in total.terms.items():
        factor = builder.const(64, coefficient)
        part = builder.op(Op.MUL, _wide(builder, value), factor, width=64, exact=True)
        result = builder.op(Op.ADD, result, part, width=64, exact=True)
    return result
