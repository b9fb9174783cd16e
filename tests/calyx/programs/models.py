"""The expected memories of each program, computed in Python from what it is meant to do.

A model takes the memories before the run and returns those that the run changes. It knows nothing
of cycles; it is the second route to the memories in `expected.json`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

Memories = dict[str, Any]
Model = Callable[[Memories], Memories]

WORD = 1 << 32


def constant(**memories: Any) -> Model:
    """Return the model of a program without input."""
    return lambda _: memories


def truncated(left: int, right: int) -> int:
    """Return the quotient rounded towards zero, as hardware divides."""
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


def dot(left: Sequence[int], right: Sequence[int]) -> int:
    """Return the sum of the products of two sequences."""
    return sum(a * b for a, b in zip(left, right, strict=True))


def collatz(start: int) -> int:
    """Return the steps from a number to 1, each odd step counted twice."""
    steps = 0
    while start > 1:
        steps += 1 + start % 2
        start = 3 * start + 1 if start % 2 else start // 2
    return steps


def many_states(_: Memories) -> Memories:
    value = 0
    for place in range(84):
        value = value + 17 if place * 7 % 3 else value ^ value << 1
        value %= WORD
    return {"out": [value]}


def comb_primitives(before: Memories) -> Memories:
    a, b = before["in"]
    signed = a - 256 if a > 127 else a
    nibble = a >> 2 & 15
    results = [~a, a & b, a | b, a ^ b, b - a, a << 3, a >> 2, int(a > b), 17 if b >= a else 34]
    results += [(a & 15) << 4 | nibble, 200, nibble - 16 if nibble > 7 else nibble]
    results += [int(signed < b), signed >> 1, 0 if a != b and b >= a else 9, 5]
    return {"out": [result % 256 for result in results]}


def same_group_often(_: Memories) -> Memories:
    value = 1
    for flag in (False, True):
        value += 2 if flag else 1
    value = max(value, 20)
    return {"out": [value + 3 + 1 + 1]}


def deep_control(_: Memories) -> Memories:
    value = 0
    for _round in range(2):
        value += 1
        for _turn in range(3):
            value += 4 if value % 2 else 1
    return {"out": [value]}


def wide_conditions(_: Memories) -> Memories:
    rises = [tick for tick in range(9) if tick == 2 or tick in (6, 8)]
    falls = [tick for tick in range(9) if 4 < tick <= 8]
    return {"out": [3 * len(rises), -len(falls) % WORD]}


def memories_of_all_shapes(before: Memories) -> Memories:
    def last(memory: Any) -> int:
        return memory if isinstance(memory, int) else last(memory[-1])

    def with_first(memory: Any, value: int) -> Any:
        return value if isinstance(memory, int) else [with_first(memory[0], value), *memory[1:]]

    total, after = 0, {}
    for name in ("d1", "d2", "d3", "d4"):
        total += last(before[name])
        after[name] = with_first(before[name], total)
    return after


def matrix_multiply(before: Memories) -> Memories:
    columns = list(zip(*before["b"], strict=True))
    rows = before["a"]
    return {"c": [[dot(row, column) for column in columns] for row in rows]}


def ref_memory(before: Memories) -> Memories:
    first = [a + b for a, b in zip(before["a"], before["b"], strict=True)]
    return {"c": first, "a": [c + b for c, b in zip(first, before["b"], strict=True)]}


def fixed_point(before: Memories) -> Memories:
    (x, y), (v, w) = before["u"], before["s"]
    quotient = math.floor(y / x * 2**16) / 2**16
    return {"u_out": [x + y, x * y, quotient], "s_out": [v + w, v * w, max(v, w)]}


def signed_data(before: Memories) -> Memories:
    a, b, least = before["in"]
    nibble = a % 16
    return {"out": [a - b if a < b else 999, a >> 1, least, nibble - 16 if nibble > 7 else nibble]}


def wide(before: Memories) -> Memories:
    a, b = before["in"]
    size = 1 << 200
    return {
        "out": [(a + b) % size, size - 1 - a, (b << 100) % size],
        "narrow": [(b >> 66) % (1 << 65)],
    }


def shared_condition(before: Memories) -> Memories:
    a = sum(3 if value < 5 else 10 for value in before["in"])
    return {"out": [a, sum(100 for value in before["in"] if value < 5)]}


def static_if(before: Memories) -> Memories:
    a = 5 * 2 + 5 if before["flag"][0] else 5
    return {"out": [a, a + 5]}


def static_branches(before: Memories) -> Memories:
    a, b = before["in"]
    return {"out": [a + 6, b + (20 if b > a else 0) + 10]}


def static_islands(_: Memories) -> Memories:
    total = 0
    for turn in range(5):
        after = turn + 1
        total += turn + (2 * after if after % 2 else 0) + after
    return {"out": [total + 99 // 3]}


def new_fsm(_: Memories) -> Memories:
    value = 90 // 3 + 90
    for turn in range(4):
        value = (value + 90) // 3 if turn < 2 else value + 1
    return {"out": [value]}


def halvings(_: Memories) -> Memories:
    return {"out": [(100).bit_length()]}


def if_port(before: Memories) -> Memories:
    f, g = before["flags"]
    return {"out": [1 if f else 2, 3 if g else 4, 6 if g else 5 if f else 0]}


def many_arms(_: Memories) -> Memories:
    return {"out": [(arm + 1) * (1 + arm * 5 % 7) for arm in range(10)]}


def shared_comb_invokes(before: Memories) -> Memories:
    a, b = before["in"]
    return {"out": [(a + b) * (b - a), (a + b) // (b - a)]}


MODELS: dict[str, Model] = {
    "bare_statements": lambda before: {"out": [before["out"][0], before["out"][0] + 2 * 3]},
    "bound_loop": constant(out=[sum(range(6)), 7000 // 7**3]),
    "bound_register": constant(out=[3 * 2 * 13]),
    "comb_component": lambda before: {
        "out": [max(before["in"]), 2 * max(before["in"]) - sum(before["in"])]
    },
    "comb_memories": memories_of_all_shapes,
    "comb_primitives": comb_primitives,
    "continuous": lambda before: {"out": [min(value + 1, 100) for value in before["in"]]},
    "deep_control": deep_control,
    "empty_branches": constant(out=[3]),
    "fixed_point": fixed_point,
    "go_done_direct": constant(out=[(90 + 10) // 4]),
    "group_calls_group": constant(out=[12 * 12 + 6]),
    "group_chain": constant(out=[2 * 4, 4 * 4]),
    "hostile_names": constant(NaN=[3 * 2 + 1], __proto__=[3 * 2]),
    "if_chain": lambda before: {
        "out": [{1: 10, 2: 20, 3: 30}.get(value, 99) for value in before["in"]]
    },
    "if_port": if_port,
    "if_with": lambda before: {
        "out": [value + (40 if value < 5 else 20) for value in before["in"]]
    },
    "inlined": constant(out=[2 * (2 * 5 + 6) + 5, 2 * (2 * 5 + 6) + 6]),
    "internal_memories": lambda before: {"out": before["in"][::-1]},
    "interval_component": constant(out=[100 + 2 + 3 + 2 + 3]),
    "invoke_component": constant(out=[(10 + 20) // 2, (15 + 1) // 2]),
    "invoke_primitives": constant(out=[84 * 9, *divmod(84, 9), 84]),
    "invoke_with": constant(out=[(4 + 5) * (2 + 1), 3 * (4 + 5), 27 + 27]),
    "invokes_in_loop": lambda before: {
        "out": [x + 1000 + x // 4 + (x + 3) * x for x in before["in"]]
    },
    "loop_if_loop": constant(out=[max(collatz(start) for start in range(1, 8))]),
    "many_arms": many_arms,
    "many_states": many_states,
    "matrix_multiply": matrix_multiply,
    "never_called": constant(out=[64]),
    "new_fsm": new_fsm,
    "one_cycle": constant(out=[42]),
    "one_instance_two_groups": constant(out=[5**2, 9**2]),
    "par_in_par": constant(out=[1 + 2, 2, 3, 3 + 4]),
    "par_loop_par": constant(out=[5 * (2 * 2 + 9), 1000 // 8]),
    "par_of_loops": constant(out=[4, 7 * math.ceil(50 / 7), 0]),
    "par_uneven": constant(out=[5, 6 + 10, 7 + 4 * 100]),
    "pipelined_multiplier": lambda before: {"out": [dot(before["in"], before["in"])]},
    "pipes": constant(
        out=[123 * 45, *divmod(5000, 77), math.isqrt(16), math.isqrt(65000)],
        negative=[-123 * 45, truncated(-5000, 77)],
    ),
    "promotable_hints": constant(out=[3 * 8 + 8]),
    "ref_component": constant(out=[2 * 100 + 1 + 2 * 5 + 1, 2 * 7 + 1]),
    "ref_component_deep": constant(out=[30 + 1 + 40 + 1, 40]),
    "ref_memory": ref_memory,
    "ref_register": constant(out=[2 * 20, 500 + 20]),
    "ref_two_levels": constant(out=[1000 + 11 * turn for turn in (1, 2, 3)]),
    "repeat_memory": constant(out=[10000 // 10**turn for turn in (1, 2, 3, 4)]),
    "repeat_nested": constant(out=[4 * 3 + 3 * (3 - 2) + 3]),
    "same_group_often": same_group_often,
    "seq_memories": memories_of_all_shapes,
    "seq_nested": constant(out=[(((1 + 1) * 2 + 1) * 2 + 1) * 2 + 1]),
    "shared_cells": constant(out=[2 * (40 + 2 + 100 - 1) - 9]),
    "shared_comb_invokes": shared_comb_invokes,
    "shared_components": constant(out=[min(value, 50) for value in (7, 77, 49)]),
    "shared_condition": shared_condition,
    "shared_pipes": lambda before: {
        "out": [before["a"][0] * before["a"][1], before["a"][2] * before["a"][3]]
    },
    "signed_data": signed_data,
    "split_groups": lambda before: {
        "out": [before["in"][0] * before["in"][1], before["in"][1] + 1]
    },
    "static_branches": static_branches,
    "static_component": constant(out=[2 * 21 + 1, 2 * 50 + 9]),
    "static_if": static_if,
    "static_invokes": constant(out=[1 + 5, 3 * (5 + 5) + 5]),
    "static_islands": static_islands,
    "static_par": constant(out=[30 + 4, 30 + 1]),
    "static_repeat": constant(out=[10, 2**6 - 2, 3 * 4 * 7]),
    "static_seq": constant(out=[6 * 7 + 7]),
    "static_single": constant(out=[2 * 4]),
    "static_timing": lambda before: {
        "out": [value * (3 if place == 2 else 2) for place, value in enumerate(before["in"])]
    },
    "sync_branches": constant(out=[1 + 100 + 1 + 100 + 1]),
    "sync_pair": constant(out=[(3 * turn) ** 2 for turn in (1, 2, 3, 4)]),
    "sync_shared_condition": constant(out=[5 * (1 + 2 + 3 + 4)]),
    "three_deep": constant(out=[((((3 + 1) * 2 + 1) * 2 + 1) * 2 + 1) * 2]),
    "toplevel_attribute": constant(out=[9 + 9]),
    "twins": constant(out=[sum(range(5)), sum(range(10))]),
    "while_never": lambda before: {"out": [before["out"][0] + 1]},
    "while_port": halvings,
    "wide": wide,
    "wide_conditions": wide_conditions,
}
