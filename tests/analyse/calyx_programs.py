"""Calyx programs on which advice is followed: before, after, and before in other words.

`texts` makes them from a few numbers. In other words means: other names, groups in another order,
conditions by way of a wire.
"""

from __future__ import annotations

import re
from typing import NamedTuple

__all__ = ["CALYX", "CalyxCase", "data", "text"]

_IMPORTS = """\
import "primitives/core.futil";
import "primitives/memories/comb.futil";
import "primitives/binary_operators.futil";
"""


class CalyxCase(NamedTuple):
    """A finding on a generated program, and how it is followed.

    Attributes:
        rule: its name.
        shape: what the program is made of.
        sizes: numbers for it.
        disable: passes left out before, and after: a program that is followed by an option.
    """

    rule: str
    shape: str
    sizes: tuple[int, ...]
    disable: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())

    @property
    def name(self) -> str:
        """For people."""
        return f"{self.shape} {'x'.join(map(str, self.sizes))}"


_DYNAMIC = (("static-promotion",), ("static-promotion",))
_STATIC = (("static-promotion",), ())
_SHARED = ((), ("cell-share",))
CALYX = (
    *(CalyxCase("par-switch", "switch", s, _DYNAMIC) for s in ((2, 1), (3, 2), (5, 1), (4, 3))),
    *(CalyxCase("while-with", "loop", sizes) for sizes in ((6, 1), (9, 2), (4, 3), (12, 4))),
    *(CalyxCase("static", "chain", sizes, _STATIC) for sizes in ((3, 0), (5, 1), (4, 2), (8, 3))),
    *(CalyxCase("sharing", "products", s, _SHARED) for s in ((2, 1), (3, 1), (2, 4), (4, 2))),
)  # fmt: skip


def data(case: CalyxCase) -> dict[str, object]:
    """The memories of a program, for a data file."""
    number = {"numeric_type": "bitnum", "is_signed": False, "width": 32}
    return {"mem": {"data": [(7 * i + 3) % 5 for i in range(16)], "format": number}}


def text(case: CalyxCase, variant: str) -> str:
    """The program `plain`, `followed` or `rewritten`."""
    followed = variant == "followed" and case.disable[0] == case.disable[1]
    cells, groups, always, control = _SHAPES[case.shape](*case.sizes, followed)
    if variant == "rewritten":
        groups = groups[::-1]
    wires = "\n".join(f"    {line}" for line in (*groups, *always))
    body = "\n".join(f"    {cell};" for cell in cells)
    program = (
        f"component main() -> () {{\n  cells {{\n{body}\n  }}\n  wires {{\n{wires}\n  }}\n"
        f"  control {{ {control} }}\n}}\n"
    )
    if variant == "rewritten":
        program = _reworded(program, [*_names(cells), *_names(groups)])
    return _IMPORTS + program


def _names(declared: list[str]) -> list[str]:
    found = [
        re.match(r"(?:comb group |group )?([a-z]\w*)", line.split(" = ")[0]) for line in declared
    ]
    return [match[1] for match in found if match is not None]


def _reworded(program: str, names: list[str]) -> str:
    """Other names, and every condition's value by way of a wire."""
    asked = sorted(set(re.findall(r"\b(?:if|while) (\w+)\.out(?! with)", program)))
    for cell in asked:
        program = re.sub(rf"\b(if|while) {cell}\.out", rf"\1 via_{cell}.out", program)
    program = program.replace(
        "cells {\n", "cells {\n" + "".join(f"    via_{cell} = std_wire(1);\n" for cell in asked)
    ).replace("wires {\n", "wires {\n" + "".join(f"    via_{c}.in = {c}.out;\n" for c in asked))
    for name in names:
        program = re.sub(rf"\b{name}\b", f"other_{name[::-1]}", program)
    return program


def _set(name: str, register: str, value: str, *more: str) -> str:
    parts = [*more, f"{register}.in = {value};", f"{register}.write_en = 1'd1;"]
    return f"group {name} {{ {' '.join(parts)} {name}[done] = {register}.done; }}"


_COUNT = ("count = std_reg(32)", "step = std_add(32)", "below = std_lt(32)")
_MEM = "@external mem = comb_mem_d1(32, 16, 4)"


def _groups_of_count() -> list[str]:
    return [
        _set("clear", "count", "32'd0"),
        _set("incr", "count", "step.out", "step.left = count.out; step.right = 32'd1;"),
    ]


_Shape = tuple[list[str], list[str], list[str], str]


def _switch(cases: int, length: int, followed: bool) -> _Shape:
    """Sixteen values, of which each has its case of so many; an arm has so many groups."""
    cells = [_MEM, *_COUNT, "r = std_reg(32)", "low = std_slice(32, 4)"]
    groups = [*_groups_of_count(), _set("fetch", "r", "mem.read_data", "mem.addr0 = low.out;")]
    always = ["low.in = count.out;", "below.left = count.out;", "below.right = 32'd12;"]
    arms = []
    for k in range(cases):
        cells += [f"is{k} = std_eq(32)", f"sum{k} = std_reg(32)", f"add{k} = std_add(32)"]
        always += [f"is{k}.left = r.out;", f"is{k}.right = 32'd{k};"]
        names = [f"do{k}_{n}" for n in range(length)]
        more = f"add{k}.left = sum{k}.out; add{k}.right = r.out;"
        groups += [_set(name, f"sum{k}", f"add{k}.out", more) for name in names]
        arms.append(f"{' '.join(f'{name};' for name in names)}")
    if length > 1:
        arms = [f"seq {{ {arm} }}" for arm in arms]
    if followed:
        chosen = ""
        for k in reversed(range(cases)):
            chosen = f"if is{k}.out {{ {arms[k]} }}" + (f" else {{ {chosen} }}" if chosen else "")
    else:
        ifs = " ".join(f"if is{k}.out {{ {arm} }}" for k, arm in enumerate(arms))
        chosen = f"par {{ {ifs} }}"
    return (
        cells,
        groups,
        always,
        f"seq {{ clear; while below.out {{ seq {{ fetch; {chosen} incr; }} }} }}",
    )


def _loop(rounds: int, length: int, followed: bool) -> _Shape:
    """A loop of so many rounds with so many groups, whose condition is worked out each time."""
    cells = [_MEM, *_COUNT, "value = std_reg(32)", "plus = std_add(32)", "more = std_reg(1)"]
    names = [f"work{n}" for n in range(length)]
    use = "plus.left = value.out; plus.right = 32'd3;"
    groups = [*_groups_of_count(), *(_set(name, "value", "plus.out", use) for name in names)]
    test = f"below.left = count.out; below.right = 32'd{rounds};"
    body = f"seq {{ {' '.join(f'{name};' for name in names)} }}"
    if followed:
        groups.append(_set("ask", "more", "below.out", test))
        control = (
            f"seq {{ clear; ask; while more.out {{ par {{ {body} seq {{ incr; ask; }} }} }} }}"
        )
    else:
        groups.append(f"comb group asked {{ {test} }}")
        control = f"seq {{ clear; while below.out with asked {{ par {{ {body} incr; }} }} }}"
    return cells, groups, [], control


def _chain(length: int, apart: int, _: bool) -> _Shape:
    """So many groups in a row, the first few of which use nothing in common, over and over."""
    cells = [_MEM, *(f"r{n} = std_reg(32)" for n in range(length)),
             *(f"a{n} = std_add(32)" for n in range(length))]  # fmt: skip
    groups = []
    for n in range(length):
        source = f"r{n}" if n < apart else f"r{max(n - 1, 0)}"
        more = f"a{n}.left = {source}.out; a{n}.right = 32'd{n + 1};"
        groups.append(_set(f"put{n}", f"r{n}", f"a{n}.out", more))
    row = " ".join(f"put{n};" for n in range(length))
    return cells, groups, [], f"repeat 3 {{ seq {{ {row} }} }}"


def _products(count: int, times: int, _: bool) -> _Shape:
    """So many products of values that are read one after another, so many times."""
    cells, groups, row = [_MEM], [], []
    for n in range(count):
        cells += [f"m{n} = std_mult_pipe(32)", f"p{n} = std_reg(32)"]
        cells += [f"x{n} = std_reg(32)", f"y{n} = std_reg(32)"]
        groups += [
            _set(f"get{n}", f"x{n}", "mem.read_data", f"mem.addr0 = 4'd{2 * n};"),
            _set(f"and{n}", f"y{n}", "mem.read_data", f"mem.addr0 = 4'd{2 * n + 1};"),
            f"group mul{n} {{ m{n}.left = x{n}.out; m{n}.right = y{n}.out; "
            f"m{n}.go = !m{n}.done ? 1'd1; p{n}.in = m{n}.out; p{n}.write_en = m{n}.done; "
            f"mul{n}[done] = p{n}.done; }}",
            f"group put{n} {{ mem.addr0 = 4'd{8 + n}; mem.write_data = p{n}.out; "
            f"mem.write_en = 1'd1; put{n}[done] = mem.done; }}",
        ]
        row += [f"get{n};", f"and{n};", f"mul{n};"]
    row += [f"put{n};" for n in range(count)]
    inner = f"seq {{ {' '.join(row)} }}"
    return cells, groups, [], inner if times == 1 else f"repeat {times} {{ {inner} }}"


_SHAPES = {"switch": _switch, "loop": _loop, "chain": _chain, "products": _products}
