"""The data-flow form: its text, its laws, and the passes that change it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cyclescope.cli import main
from cyclescope.errors import LawError
from cyclescope.hls import LOWERING, PASSES, Draft, Graph, Node, Op, compile_c, printed
from cyclescope.hls.ir._graph import Carried, Order, Value
from cyclescope.hls.ir._verify import Law, broken
from cyclescope.hls.passes import _list

if TYPE_CHECKING:
    from collections.abc import Callable

FOLDER = Path(__file__).parent / "forms"
SOURCE = FOLDER / "dot.c"


def draft() -> Draft:
    """A region after all passes: a copy, a loop that stores, a critical section."""
    found: list[Draft] = []
    compile_c(SOURCE, after=lambda _, draft: found.append(draft))
    return found[-1]


@pytest.mark.parametrize("name", [LOWERING, "dependences"])
def test_the_text_of_the_form_is_as_it_was(name: str) -> None:
    texts: dict[str, str] = {}
    compile_c(SOURCE, after=lambda name, draft: texts.setdefault(name, printed(draft.region)))
    assert texts[name] == (FOLDER / f"dot.{name}.txt").read_text("utf-8")


# Each of these breaks a law, and nothing but the verifier would say so at once.


def node(draft: Draft, op: Op) -> tuple[Graph, Node]:
    graphs = [draft.region.root]
    for graph in graphs:
        graphs += [n.body for n in graph.nodes if n.body is not None]
        for found in graph.nodes:
            if found.op is op:
                return graph, found
    raise AssertionError(op)


def loop(draft: Draft) -> Graph:
    body = node(draft, Op.LOOP)[1].body
    assert body is not None
    return body


def wider(draft: Draft) -> None:
    node(draft, Op.ADD)[1].widths = (33,)


def bits_of_an_address(draft: Draft) -> None:
    _, load = node(draft, Op.LOAD)
    (offset,) = load.operands
    load.operands = (replace(offset, width=32),)


def wide_condition(draft: Draft) -> None:
    graph, store = node(draft, Op.STORE)
    store.when = next(n for n in graph.nodes if n.widths == (32,) and n.op is Op.CONST).result


def short_constant(draft: Draft) -> None:
    node(draft, Op.CONST)[1].constant = 1 << 70


def conditional_sum(draft: Draft) -> None:
    graph, add = node(draft, Op.ADD)
    add.when = next(n for n in graph.nodes if n.widths == (1,)).result


def load_from_nowhere(draft: Draft) -> None:
    node(draft, Op.LOAD)[1].array = None


def lost_body(draft: Draft) -> None:
    node(draft, Op.LOOP)[1].body = None


def numbered_sum(draft: Draft) -> None:
    node(draft, Op.ADD)[1].constant = 1


def late_operand(draft: Draft) -> None:
    graph, add = node(draft, Op.ADD)
    graph.nodes.remove(add)
    graph.nodes.append(add)


def operand_from_inside(draft: Draft) -> None:
    _, store = node(draft, Op.STORE)
    inner = next(n for n in loop(draft).nodes if n.widths == (32,))
    store.operands = (store.operands[0], inner.result)


def result_that_is_not_there(draft: Draft) -> None:
    graph, store = node(draft, Op.STORE)
    found = next(n for n in graph.nodes if n.op is Op.LOOP)
    store.operands = (store.operands[0], Value(found, 7, 32))


def lost_invariant(draft: Draft) -> None:
    loop(draft).invariants.clear()


def dangling_parameter(draft: Draft) -> None:
    body = loop(draft)
    body.nodes.remove(body.carried[0].param)


def parameter_given_twice(draft: Draft) -> None:
    body = loop(draft)
    body.invariants.append(body.carried[0].param)


def endless(draft: Draft) -> None:
    loop(draft).continues = None


def continue_by_memory(draft: Draft) -> None:
    body = loop(draft)
    test = next(n for n in body.nodes if n.op is Op.SLT and n.operands[1].node.op is Op.LOAD)
    body.continues = test.result


def twice(draft: Draft) -> None:
    graph, add = node(draft, Op.ADD)
    graph.nodes.append(add)


def same_label(draft: Draft) -> None:
    loop(draft).label = draft.region.root.label


def foreign_memory(draft: Draft) -> None:
    draft.region = replace(draft.region, arrays=draft.region.arrays[1:])


def part_of_a_zeroed_word(draft: Draft) -> None:
    array = node(draft, Op.LOAD)[1].array
    assert array is not None
    array.zeroed = True


def foreign_lock(draft: Draft) -> None:
    node(draft, Op.ACQUIRE)[1].constant = 1


def copy_the_wrong_way(draft: Draft) -> None:
    _, copy = node(draft, Op.COPY)
    copy.array, copy.source = copy.source, copy.array


def foreign_scalar(draft: Draft) -> None:
    node(draft, Op.SCALAR)[1].constant = 3


def unordered_store(draft: Draft) -> None:
    node(draft, Op.STORE)[1].after = ()


def unordered_release(draft: Draft) -> None:
    node(draft, Op.RELEASE)[1].after = ()


def waits_for_what_comes_later(draft: Draft) -> None:
    graph, acquire = node(draft, Op.ACQUIRE)
    acquire.after = (next(n for n in graph.nodes if n.op is Op.RELEASE),)


def left_fence(draft: Draft) -> None:
    graph, store = node(draft, Op.STORE)
    graph.nodes.append(Node(Op.FENCE, (), (), store.where))


def order_in_one_iteration(draft: Draft) -> None:
    body = loop(draft)
    _, load = node(draft, Op.LOAD)
    body.orders.append(Order(load, load, 0))


def carried_in_another_width(draft: Draft) -> None:
    body = loop(draft)
    bit = next(n for n in body.nodes if n.widths == (1,))
    body.carried[0] = Carried(body.carried[0].param, bit.result)


def two_names(draft: Draft) -> None:
    first, second, *_ = draft.region.arrays
    second.name = first.name


def region_that_loops(draft: Draft) -> None:
    root = draft.region.root
    root.continues = next(n for n in root.nodes if n.widths == (1,)).result


def two_loops_of_one_body(draft: Draft) -> None:
    graph, found = node(draft, Op.LOOP)
    copy = Node(Op.LOOP, found.operands, found.widths, found.where, body=found.body)
    copy.after = (found,)
    graph.nodes.append(copy)


def next_from_outside(draft: Draft) -> None:
    body = loop(draft)
    outer = next(n for n in draft.region.root.nodes if n.widths == (32,))
    body.carried[0] = Carried(body.carried[0].param, outer.result)


def continue_from_outside(draft: Draft) -> None:
    loop(draft).continues = next(n for n in draft.region.root.nodes if n.widths == (1,)).result


def wide_continue(draft: Draft) -> None:
    body = loop(draft)
    body.continues = next(n for n in body.nodes if n.widths == (32,)).result


def value_that_waits(draft: Draft) -> None:
    graph, store = node(draft, Op.STORE)
    add = next(n for n in reversed(graph.nodes) if n.op is Op.ADD)
    add.after = store.after


def copy_from_nowhere(draft: Draft) -> None:
    node(draft, Op.COPY)[1].source = None


def scalar_of_another_width(draft: Draft) -> None:
    draft.region = replace(draft.region, scalars=(("n", 64),))


def narrow_store(draft: Draft) -> None:
    graph, store = node(draft, Op.STORE)
    bit = next(n for n in graph.nodes if n.widths == (1,))
    store.operands = (store.operands[0], bit.result)


def wide_root(draft: Draft) -> None:
    graph, add = node(draft, Op.ADD)
    root = Node(Op.FSQRT, (add.result,), (64,), add.where)
    graph.nodes.insert(graph.nodes.index(add) + 1, root)


def loop_with_one_operand_less(draft: Draft) -> None:
    _, found = node(draft, Op.LOOP)
    found.operands = found.operands[:-1]


def foreign_barrier(draft: Draft) -> None:
    node(draft, Op.BARRIER)[1].constant = 1


def overtaken_store(draft: Draft) -> None:
    """A load behind a store to the same place, which does not wait for it."""
    graph, store = node(draft, Op.STORE)
    before = next(n for n in graph.nodes if n.op is Op.LOAD)
    again = replace(before, after=before.after)
    graph.nodes.insert(graph.nodes.index(store) + 1, again)


# What is changed, the law that it breaks, and what the verifier says of it.
BREACHES = [
    (wider, Law.DEFINED, "with 32 bits, not its own"),
    (bits_of_an_address, Law.DEFINED, "with 32 bits, not its own"),
    (late_operand, Law.DEFINED, "which comes later"),
    (operand_from_inside, Law.DEFINED, "which is not of region"),
    (result_that_is_not_there, Law.DEFINED, "uses result 7 of loop"),
    (next_from_outside, Law.DEFINED, "the next param i"),
    (continue_from_outside, Law.DEFINED, "the continue condition of L8 is"),
    (wide_condition, Law.TYPES, "its condition has 32 bits"),
    (short_constant, Law.TYPES, "does not fit in 64 bits"),
    (wide_continue, Law.TYPES, "the continue condition of L8 has 32 bits"),
    (carried_in_another_width, Law.TYPES, "is carried on in another width"),
    (scalar_of_another_width, Law.TYPES, "the scalar has 64 bits"),
    (narrow_store, Law.TYPES, "operands of (64, 1) bits"),
    (loop_with_one_operand_less, Law.TYPES, "results of (32, 32)"),
    (wider, Law.TYPES, "do not make (33,)"),
    (wide_root, Law.TYPES, "do not make (64,)"),
    (conditional_sum, Law.ATTRIBUTES, "only effects have conditions"),
    (value_that_waits, Law.ATTRIBUTES, "only effects have conditions"),
    (load_from_nowhere, Law.ATTRIBUTES, "loads, stores and copies have a memory"),
    (copy_from_nowhere, Law.ATTRIBUTES, "a copy has a source"),
    (lost_body, Law.ATTRIBUTES, "a loop has a body"),
    (numbered_sum, Law.ATTRIBUTES, "it has a number"),
    (lost_invariant, Law.ARGUMENTS, "given by nobody"),
    (dangling_parameter, Law.ARGUMENTS, "or to nobody"),
    (parameter_given_twice, Law.ARGUMENTS, "is given twice"),
    (endless, Law.CONTINUE, "L8 has none"),
    (continue_by_memory, Law.CONTINUE, "that of L8 needs load"),
    (region_that_loops, Law.CONTINUE, "the region's own graph is no loop"),
    (twice, Law.TREE, "is in two places"),
    (same_label, Law.TREE, "two graphs are labelled region"),
    (two_loops_of_one_body, Law.TREE, "L8 is the body of two loops"),
    (foreign_memory, Law.MEMORIES, "a is no memory of the region"),
    (two_names, Law.MEMORIES, "two memories have one name"),
    (part_of_a_zeroed_word, Law.MEMORIES, "is not a local word that is used whole"),
    (foreign_lock, Law.MEMORIES, "the region has no lock 1"),
    (foreign_barrier, Law.MEMORIES, "the region has no barrier 1"),
    (foreign_scalar, Law.MEMORIES, "the region has no scalar 3"),
    (copy_the_wrong_way, Law.MEMORIES, "a copy goes from external memory"),
    (unordered_store, Law.ORDER, "store ("),
    (unordered_release, Law.ORDER, "release critical ("),
    (overtaken_store, Law.ORDER, "does not wait for store"),
    (waits_for_what_comes_later, Law.ORDER, "no earlier effect"),
    (left_fence, Law.ORDER, "a fence is left"),
    (order_in_one_iteration, Law.ORDER, "is not between iterations"),
]


def said(draft: Draft, law: Law) -> str:
    found = broken(draft.region, is_ordered=True)
    return "\n".join(text for other, text in found if other is law)


@pytest.mark.parametrize(
    ("change", "law", "text"), BREACHES, ids=[f"{c.__name__}-{law.name}" for c, law, _ in BREACHES]
)
def test_the_verifier_sees_what_breaks_a_law(
    change: Callable[[Draft], None], law: Law, text: str
) -> None:
    given = draft()
    assert list(broken(given.region, is_ordered=True)) == []
    change(given)
    assert text in said(given, law)


def test_each_law_is_broken_by_something() -> None:
    assert {law for _, law, _ in BREACHES} == set(Law)


def test_an_error_names_the_pass_and_the_law(monkeypatch: pytest.MonkeyPatch) -> None:
    broken_pass = replace(PASSES[0], name="forgetful", run=short_constant)
    monkeypatch.setattr(_list, "PASSES", (PASSES[0], broken_pass, *PASSES[1:]))
    with pytest.raises(LawError, match=r"^after forgetful: types agree: const .*dot\.c:2\)"):
        compile_c(SOURCE, verifies=True)
    compile_c(SOURCE, verifies=False)


def test_an_environment_variable_switches_the_verifier(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    monkeypatch.setattr(_list, "verify", lambda _, name: calls.append(name))
    monkeypatch.setenv("CYCLESCOPE_VERIFY_IR", "")
    compile_c(SOURCE)
    assert calls == []
    monkeypatch.setenv("CYCLESCOPE_VERIFY_IR", "1")
    compile_c(SOURCE)
    assert calls == [LOWERING, *(one.name for one in PASSES)]


def test_whatever_is_compiled_here_is_verified(monkeypatch: pytest.MonkeyPatch) -> None:
    broken_pass = replace(PASSES[0], name="forgetful", run=short_constant)
    monkeypatch.setattr(_list, "PASSES", (broken_pass,))
    with pytest.raises(LawError, match="after forgetful"):
        compile_c(SOURCE)


def test_passes_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["hls", "--passes"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(maxsplit=1) for line in lines] == [[p.name, p.sentence] for p in PASSES]
    assert all(one.sentence.endswith(".") for one in PASSES)


def test_a_form_is_printed_and_nothing_runs(capsys: pytest.CaptureFixture[str]) -> None:
    given = ["--print-after", "dependences", "--print-after", LOWERING]
    assert main(["hls", str(SOURCE), "--verify-ir", *given]) == 0
    texts = [(FOLDER / f"dot.{name}.txt").read_text("utf-8") for name in (LOWERING, "dependences")]
    wanted = f"// after lowering\n{texts[0]}// after dependences\n{texts[1]}"
    assert capsys.readouterr().out == wanted


def test_a_pass_that_is_not_there_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["hls", str(SOURCE), "--print-after", "magic"]) == 2
    assert "no pass magic; there are lowering, dead-code" in capsys.readouterr().err
