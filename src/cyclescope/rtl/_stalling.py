"""Arithmetic units for a pipeline that can stop: held by a clock enable, or without registers."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from cyclescope.rtl._items import Register
from cyclescope.rtl._module import Module
from cyclescope.rtl._stages import Stages
from cyclescope.rtl._units import OPERATIONS, Unit, unit

if TYPE_CHECKING:
    from cyclescope.rtl._expr import Expr

__all__ = ["flat", "held"]


@cache
def held(operation: str, width: int, source: int = 0) -> Unit:
    """As `unit`, with an input `ce`: without it all registers keep what they have.

    Raises:
        ValueError: as `unit`.
    """
    plain = unit(operation, width, source)
    known = OPERATIONS[operation]
    module = Module(f"{plain.name}_held")
    stages = Stages(module)
    known.build(stages, width, source)
    inputs = tuple(p.name for p in module.ports())
    enable = module.input("ce", 1)
    for item in module.items:
        if isinstance(item, Register):
            item.updates = [(_both(when, enable), value) for when, value in item.updates]
    module.output("q", stages.result)
    module.comment = f"{known.text}, {stages.depth} cycles of those with ce"
    return Unit(module.name, stages.depth, module, inputs)


@cache
def flat(operation: str, width: int, source: int = 0) -> Unit:
    """As `unit`, as one piece of logic: its latency is 0.

    Raises:
        ValueError: as `unit`.
    """
    plain = unit(operation, width, source)
    known = OPERATIONS[operation]
    module = Module(f"{plain.name}_flat")
    stages = Stages(module, registers=False)
    known.build(stages, width, source)
    inputs = tuple(p.name for p in module.ports())
    module.output("q", stages.result)
    module.comment = f"{known.text}, as logic"
    return Unit(module.name, 0, module, inputs)


def _both(when: Expr | None, enable: Expr) -> Expr:
    return enable if when is None else when & enable
