"""Models of arithmetic units in simulation: the units' results, at the same time."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cyclescope.hls.run._models import with_models
from cyclescope.rtl import External, unit
from rtl.fpu import Subject, counts, design, stream, subject

OPERATIONS = ("fadd", "fsub", "fmul", "fdiv", "fsqrt", "udiv", "urem", "sdiv", "srem")


def model(operation: str, width: int, *change: str) -> Subject:
    """An arithmetic unit's model to stream vectors through; with something replaced in it."""
    original = subject(unit(operation, width))
    shape = original.shape
    text = with_models({f"{shape.name}.v": ""})[f"{shape.name}.v"]
    assert text, f"{shape.name} has no model"
    name = f"{shape.name}_model"
    if change:
        assert change[0] in text
        text = text.replace(*change)
        name += "_wrong"
    ports = {
        d: tuple((p.name, p.width) for p in shape.ports() if p.direction == d)
        for d in ("input", "output")
    }
    text = text.replace(f"module {shape.name} ", f"module {name} ")
    return replace(
        original, shape=External(name, text, ports["input"], ports["output"], shape.clocks())
    )


@pytest.fixture(scope="module", name="found")
def streamed() -> dict[str, int]:
    subjects = [model(op, width) for op in OPERATIONS for width in (32, 64)]
    subjects += [
        model("sdiv", 32, "T(0) - a", "a"),
        model("srem", 64, "!b ? a", "!b ? b"),
        model("udiv", 64, "a / b", "(a >> 1) / b"),
        model("fadd", 32, "0xffc00000u", "0x7fc00000u"),
        model("fmul", 64, "s1 <= s0", "s1 <= a"),
    ]
    return counts(stream(design(subjects), 50_000, optimise="-O0"))


def test_models_compute_what_the_units_do(found: dict[str, int]) -> None:
    right = {n: c for n, c in found.items() if not n.endswith("_wrong")}
    assert len(right) == 2 * len(OPERATIONS)
    assert {n: c for n, c in right.items() if c} == {}


def test_the_vectors_see_a_model_that_is_wrong(found: dict[str, int]) -> None:
    wrong = {n: c for n, c in found.items() if n.endswith("_wrong")}
    assert len(wrong) == 5
    assert all(wrong.values()), wrong


def test_other_sources_stay() -> None:
    assert with_models({"fadd32.v": "", "fmin32.v": "x", "udiv8.v": "y"}) == {
        "fadd32.v": with_models({"fadd32.v": ""})["fadd32.v"],
        "fmin32.v": "x",
        "udiv8.v": "y",
    }
