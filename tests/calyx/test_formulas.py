"""Probes worked out from other signals: by hand, by chance, and against probes in the design."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cyclescope.calyx import compile_program
from cyclescope.calyx._formulas import Formulas, read_formulas

PROGRAMS = Path(__file__).parent / "programs"
SIGNALS = (("go", 1), ("done", 1), ("fsm_out", 3))
HOW = ("==", "!=", "<", ">", "<=", ">=")


@st.composite
def terms(draw: st.DrawFn) -> list[Any]:
    """As the compiler writes them: each of earlier ones."""
    rows: list[Any] = [{"signal": 0}, {"compare": ["==", 2, 1]}, "true"]
    for _ in range(draw(st.integers(1, 12))):
        earlier = st.integers(0, len(rows) - 1)
        rows.append(
            draw(
                st.one_of(
                    st.builds(lambda a: {"not": a}, earlier),
                    st.builds(lambda a, b: {"and": [a, b]}, earlier, earlier),
                    st.builds(lambda a, b: {"or": [a, b]}, earlier, earlier),
                    st.builds(lambda h, v: {"compare": [h, 2, v]}, st.sampled_from(HOW),
                              st.integers(0, 7)),
                    st.builds(lambda s: {"signal": s}, st.integers(0, 1)),
                )
            )
        )  # fmt: skip
    return rows


def said(rows: list[Any], at: int) -> str:
    """A term as a Python expression."""
    if rows[at] == "true":
        return "True"
    ((kind, of),) = rows[at].items()
    if kind == "signal":
        return f"({SIGNALS[of][0]} == 1)"
    if kind == "compare":
        return f"({SIGNALS[of[1]][0]} {of[0]} {of[2]})"
    if kind == "not":
        return f"(not {said(rows, of)})"
    return f"({said(rows, of[0])} {kind} {said(rows, of[1])})"


@given(terms())
def test_values_are_those_of_the_expression(rows: list[Any]) -> None:
    data = {"signals": [list(s) for s in SIGNALS], "terms": rows, "probes": {"p": len(rows) - 1}}
    every = [(go, done, state) for go in (0, 1) for done in (0, 1) for state in range(8)]
    columns = dict(zip((n for n, _ in SIGNALS), np.array(every, np.uint64).T, strict=True))
    values = read_formulas(data).values(columns.__getitem__, len(every))["p"]
    text = said(rows, len(rows) - 1)
    expected = [eval(text, {"go": go, "done": done, "fsm_out": state}) for go, done, state in every]
    assert values.tolist() == expected


def test_without_formulas_nothing_is_worked_out() -> None:
    assert read_formulas(None) == Formulas()
    assert Formulas().values(lambda name: pytest.fail(name), 3) == {}


def test_what_is_worked_out_is_not_in_the_design() -> None:
    """Fewer signals are captured, none that moves with the data."""
    program = compile_program(PROGRAMS / "if_with.futil")
    component = program.record.components["main"]
    (module,) = program.design.capture
    captured = {signal.expression for signal in module.signals}
    out = component.formulas.probes.keys()
    assert out
    assert out <= component.live
    assert not {f"{probe}_in" for probe in out} & captured
    assert len(captured) < len(component.live) + len(component.registers)
    assert all(f"{probe} " not in program.design.sources["design.sv"] for probe in out)
    assert {f"{r.name}_out" for r in component.registers} <= captured


def test_a_probe_that_depends_on_data_is_captured() -> None:
    """An `if` on a register of the program's: what it holds while nobody asks makes no states."""
    program = compile_program(PROGRAMS / "bound_register.futil")
    component = program.record.components["main"]
    names = {name for name, _ in component.formulas.signals}
    own = {cell.name for cell in component.cells}
    assert not {name for name in names if name.removesuffix("_out") in own}
