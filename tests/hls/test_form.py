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
    graph, _ = node(draft, Op.STORE)
    found = next(n for n in graph.nodes if n.op is Op.LOOP)
    _, add = node(draft, Op.ADD)
    add.operands = (Value(found, 7, 32), add.operands[1])


def lost_invariant(draft: Draft) -> None:
    loop(draft).invariants.clear()


def dangling_parameter(draft: Draft) -> None:
    body = loop(draft)
    body.nodes.remove(body.carried[0].param)


def parameter_given_twice(draft: Draft) -> None:
    body = loop(draft)
    body.invariants.append(body.carried[0].param)


def endless(draft: Draft) -> None:
    loop(draft).stay = None


def continue_by_memory(draft: Draft) -> None:
    body = loop(draft)
    test = next(n for n in body.nodes if n.op is Op.SLT and n.operands[1].node.op is Op.LOAD)
    body.stay = test.result


def twice(draft: Draft) -> None:
    graph, add = node(draft, Op.ADD)
    graph.nodes.append(add)


def same_label(draft: Draft) -> None:
    loop(draft).label = draft.region.root.label


def foreign_memory(draft: Draft) -> None:
    draft.region = replace(draft.region, arrays=draft.region.arrays[1:])


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


BREACHES = [
    (wider, Law.TYPES),
    (bits_of_an_address, Law.DEFINED),
    (wide_condition, Law.TYPES),
    (short_constant, Law.TYPES),
    (carried_in_another_width, Law.TYPES),
    (conditional_sum, Law.ATTRIBUTES),
    (load_from_nowhere, Law.ATTRIBUTES),
    (lost_body, Law.ATTRIBUTES),
    (numbered_sum, Law.ATTRIBUTES),
    (late_operand, Law.DEFINED),
    (operand_from_inside, Law.DEFINED),
    (result_that_is_not_there, Law.DEFINED),
    (lost_invariant, Law.ARGUMENTS),
    (dangling_parameter, Law.ARGUMENTS),
    (parameter_given_twice, Law.ARGUMENTS),
    (endless, Law.CONTINUE),
    (continue_by_memory, Law.CONTINUE),
    (twice, Law.TREE),
    (same_label, Law.TREE),
    (foreign_memory, Law.MEMORIES),
    (foreign_lock, Law.MEMORIES),
    (copy_the_wrong_way, Law.MEMORIES),
    (foreign_scalar, Law.MEMORIES),
    (unordered_store, Law.ORDER),
    (unordered_release, Law.ORDER),
    (waits_for_what_comes_later, Law.ORDER),
    (left_fence, Law.ORDER),
    (order_in_one_iteration, Law.ORDER),
]


@pytest.mark.parametrize(("change", "law"), BREACHES, ids=lambda x: getattr(x, "__name__", ""))
def test_the_verifier_sees_what_breaks_a_law(change: Callable[[Draft], None], law: Law) -> None:
    given = draft()
    assert list(broken(given.region, is_ordered=True)) == []
    change(given)
    assert law in {found for found, _ in broken(given.region, is_ordered=True)}


def test_each_law_is_broken_by_something() -> None:
    assert {law for _, law in BREACHES} == set(Law)


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
