"""The order of effects, and their distances: by array and place as by asking every pair.

The rule of pairs is here a second time, plainly: two sums, byte ranges, one iteration after
another. What the compiler finds by masks, families and blocks must be the same.
"""

from __future__ import annotations

import random
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from cyclescope.hls import Graph, Node, Op, compile_c
from cyclescope.hls.passes._affine import Forms, Sum, inductions
from cyclescope.hls.passes._dead_code import graphs
from cyclescope.hls.passes._dependences import depend
from hls.generator import device_text, generate

if TYPE_CHECKING:
    from collections.abc import Set

SUBSCRIPTS = (
    *("i + {k}", "2 * i + {k}", "3 * i + {k}", "{k}", "n + {k}", "i + n + {k}", "i * n + {k}"),
    *("j + {k}", "16 * (i & 1) + {k}", "16 * ((i + 1) & 1) + {k}", "a[{k}] & 15", "40 - i + {k}"),
    *("16 * (i % 4) + {k}", "16 * ((i + 3) % 4) + {k}", "j + (i & 3) + {k}"),
)


def written(seed: int) -> str:
    """A loop of many statements over two arrays of the host and two of the thread."""
    r = random.Random(seed)

    def place() -> str:
        index = r.choice(SUBSCRIPTS).format(k=r.randrange(r.choice((3, 24))))
        return f"{r.choice('abxy')}[{index}]"

    def statement(depth: int) -> str:
        choice = r.random()
        if choice < 0.12 and depth:
            inner = "".join(statement(0) for _ in range(r.randint(1, 3)))
            return f"for (int j = {r.randrange(3)}; j < {r.randrange(3, 9)}; j++) {{ {inner} }}\n"
        if choice < 0.2 and depth:
            return "\n#pragma omp critical\n" + f"{{ {statement(0)} }}\n"
        if choice < 0.24 and depth:
            return "\n#pragma omp flush\n"
        if choice < 0.34:
            return f"if ({place()} > {r.randrange(9)}) {place()} = i;\n"
        return f"{place()} {r.choice(('=', '+='))} {place()} + {r.randrange(9)};\n"

    body = "".join(statement(1) for _ in range(r.randint(4, 30)))
    step = r.choice(("i++", "i++", "i += 2", "i += 3", "i += n", "i--"))
    return (
        "void k(int *a, int *b, int n) {\n"
        "#pragma omp target parallel num_threads(2) map(a[0:256], b[0:256])\n"
        f"{{ int x[256], y[256], j = n; for (int i = 0; i < 9; {step}) {{ {body} }}\n"
        "for (int i = 0; i < 9; i++) { a[i] = x[i]; b[i] = y[i]; } } }\n"
    )


class Pairs:
    """The accesses of single loads and stores, and the rule of a pair."""

    def __init__(self, graph: Graph, loop: Node | None, exact: Set[Node]) -> None:
        self.forms = Forms(exact)
        self.steps = inductions(loop, self.forms) if loop is not None else {}
        self.fixed = set(graph.invariants)

    def place(self, node: Node) -> tuple[Sum, int]:
        width = node.widths[0] if node.op is Op.LOAD else node.operands[1].width
        return self.forms.of(node.operands[0]), width // 8

    def may_meet(self, first: Node, second: Node) -> bool:
        """In one iteration, as far as sums that differ in a constant can tell."""
        (a, size), (b, other) = self.place(first), self.place(second)
        return a.terms != b.terms or not (
            b.constant - a.constant >= size or a.constant - b.constant >= other
        )

    def distance(self, first: Node, second: Node) -> int | None:
        """Iterations until the second meets the first; None: this simple rule cannot say."""
        (a, size), (b, other) = self.place(first), self.place(second)
        if a.terms != b.terms:
            return None
        step = 0
        for value, factor in b.terms.items():
            known = self.steps.get(value)
            if known is not None:
                if known.step.number is None:
                    return None
                step += factor * known.step.number
            elif value.node not in self.fixed and value.node.op not in (Op.SCALAR, Op.THREAD):
                return 1
        for turns in range(1, 300):
            at = b.constant + turns * step
            if at < a.constant + size and a.constant < at + other:
                return turns
        return 0


def compared(program_text: str, name: str) -> tuple[int, int]:
    program = compile_c(name, text=program_text)
    loops = {n.body: n for g in graphs(program.region.root) for n in g.nodes if n.body is not None}
    for graph in graphs(program.region.root):
        graph.orders.clear()  # the schedule has added those of memory ports
    depend(program.region.root, program.exact)
    within = across = 0
    for graph in graphs(program.region.root):
        rule = Pairs(graph, loops.get(graph), program.exact)
        before: dict[Node, set[Node]] = {}
        for node in graph.nodes:
            before[node] = set(node.after).union(*(before[a] for a in node.after))
        for node in graph.nodes:  # nothing is there twice
            for one in node.after:
                assert all(one not in before[other] for other in node.after)
        orders = {(o.before, o.after): o.distance for o in graph.orders}
        assert len(orders) == len(graph.orders)
        plain = [n for n in graph.nodes if n.op in (Op.LOAD, Op.STORE)]
        synchronised = {n for n in graph.nodes if n.op in (Op.ACQUIRE, Op.RELEASE, Op.BARRIER)}
        free = not synchronised and "flush" not in program_text and "critical" not in program_text
        for number, second in enumerate(plain):
            for first in plain[:number]:
                stores = Op.STORE in (first.op, second.op)
                if first.array is not second.array or not stores:
                    continue
                same = rule.place(first)[0].terms == rule.place(second)[0].terms
                if same and rule.may_meet(first, second):
                    within += 1
                    assert first in before[second], (first, second)
                if free and second.after and first in second.after and same:
                    assert rule.may_meet(first, second), (first, second)
        if graph not in loops:
            continue
        for first in plain:
            for second in plain:
                if first.array is not second.array or Op.STORE not in (first.op, second.op):
                    continue
                distance = rule.distance(first, second)
                found = orders.get((first, second), 0)
                if distance is not None and free:
                    across += 1
                    assert found == distance, (first, second)
                elif distance:
                    assert 1 <= found <= distance, (first, second)
    return within, across


@pytest.mark.parametrize("first", range(0, 36, 12))
def test_places_say_what_pairs_say(first: int) -> None:
    met = [compared(written(seed), "k.c") for seed in range(first, first + 12)]
    # Otherwise this shows nothing.
    assert min(sum(m) for m in zip(*met, strict=True)) > 20


@pytest.mark.long
def test_random_programs_say_what_pairs_say() -> None:
    for seed in range(20):
        compared(device_text(generate(seed), 2), f"seed{seed}.c")


@pytest.mark.parametrize("distance", range(1, 8))
def test_distances(distance: int) -> None:
    text = (
        "void k(int *a) {\n#pragma omp target map(a[0:64])\n"
        f"{{ int x[64]; for (int i = {distance}; i < 40; i++) x[i] = x[i - {distance}] + 1;\n"
        "for (int i = 0; i < 40; i++) a[i] = x[i]; } }\n"
    )
    program = compile_c("k.c", text=text)
    found = [o.distance for g in graphs(program.region.root) for o in g.orders]
    assert found == [distance]


def test_a_long_row_is_a_chain() -> None:
    """Stores that hide each other leave one predecessor each."""
    text = "void k(int *a) {\n#pragma omp target map(a[0:64])\n{ int x[4]; x[a[0] & 3] = 0;\n"
    text += "".join(f"x[a[{k}] & 3] = {k};\n" for k in range(50)) + "a[0] = x[1]; } }\n"
    program = compile_c("k.c", text=text)
    stores = [n for n in program.region.root.nodes if n.op is Op.STORE and n.array.name == "x"]  # type: ignore[union-attr]
    assert len(stores) > 40
    assert all(last in after.after for last, after in pairwise(stores))
    assert all(len(n.after) == 1 for n in stores[1:])
