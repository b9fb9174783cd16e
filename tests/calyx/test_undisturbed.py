"""Law 4 and the laws of trees, on every program of our own, in one of four configurations each.

The configuration changes from one program to the next; CYCLESCOPE_WHOLE=1 runs all of them in all.

Stock and instrumented runs end after the same cycles with the same memories; these are the
recorded ones; and the profile of the run adds up.
"""

from __future__ import annotations

import json
import os
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from cyclescope.calyx import CalyxOptions, profile_program, verify_program
from cyclescope.model import (
    Kind,
    active_cycles,
    check_laws,
    flat_weights,
    scaled_weights,
    spans,
    tree_cycles,
)

WHOLE = "CYCLESCOPE_WHOLE"
PROGRAMS = Path(__file__).parent / "programs"
EXPECTED = json.loads((PROGRAMS / "expected.json").read_text(encoding="utf-8"))
CONFIGURATIONS = list(EXPECTED["configurations"])
CASES = [
    pytest.param(name, configuration, id=f"{name}-{configuration}")
    for number, name in enumerate(sorted(EXPECTED["programs"]))
    for at, configuration in enumerate(CONFIGURATIONS)
    if at == number % len(CONFIGURATIONS) or os.environ.get(WHOLE)
]


def options_of(configuration: str) -> CalyxOptions:
    arguments = EXPECTED["configurations"][configuration]
    values: dict[str, list[str]] = {"-p": [], "-d": []}
    for flag, value in zip(arguments[::2], arguments[1::2], strict=True):
        values[flag].append(value)
    return CalyxOptions(passes=tuple(values["-p"]) or ("all",), disable=tuple(values["-d"]))


def exact(data: Any) -> Any:
    """Numbers as fractions: fixed-point ones are written as text, to keep every digit."""
    if isinstance(data, dict):
        return {name: exact(value) for name, value in data.items()}
    return [exact(v) for v in data] if isinstance(data, list) else Fraction(data)


def values(memories: dict[str, dict[str, Any]]) -> Any:
    return exact({name: memory["data"] for name, memory in memories.items()})


@pytest.mark.long(keep_one_in=5)
@pytest.mark.parametrize(("name", "configuration"), CASES)
def test_measuring_changes_nothing_and_the_profile_adds_up(name: str, configuration: str) -> None:
    program, data = PROGRAMS / f"{name}.futil", PROGRAMS / f"{name}.json"
    expected, options = EXPECTED["programs"][name], options_of(configuration)

    verdict = verify_program(program, data, options)
    assert verdict.holds, verdict
    assert verdict.stock_cycles == expected["cycles"][configuration]

    run = profile_program(program, data, options)
    assert values(run.memories) == exact(expected["memories"])
    profile = run.profile
    check_laws(profile)
    assert profile.meta.complete
    assert profile.cycles == verdict.stock_cycles == int(tree_cycles(profile).sum())
    assert int(active_cycles(profile)[0]) == profile.cycles == sum(scaled_weights(profile))
    assert sum(flat_weights(profile)) >= profile.cycles
    covered = spans(profile)
    assert int((covered.end - covered.start).sum()) == int(active_cycles(profile).sum())
    # Something of the program's own was seen at work.
    kinds = {profile.frame_of(path).kind for path in range(len(profile.call_paths))}
    assert Kind.GROUP in kinds
