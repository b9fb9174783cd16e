"""The answer to a query in five formats."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from cyclescope.views._grid import Grid

if TYPE_CHECKING:
    from collections.abc import Callable

    from cyclescope.analyse import Answer

__all__ = ["answer_view"]


def answer_view(answer: Answer, fmt: str = "text") -> bytes:
    """An answer as text, csv, json or markdown, UTF-8.

    Numbers are aligned to the right; lists and structures are written as JSON.
    """
    names = _distinct(answer.columns)

    def cell(index: int) -> Callable[[tuple[Any, ...]], str]:
        return lambda row: _text(row[index])

    shown = {
        (f" {name}" if _numeric(answer, index) else name or " "): cell(index)
        for index, name in enumerate(names)
    }
    grid = Grid(
        shown=shown,
        schema=dict.fromkeys(names, str),
        record=lambda row: {
            name: _value(value, fmt) for name, value in zip(names, row, strict=True)
        },
    )
    return grid.render(answer.rows, fmt)


def _distinct(columns: tuple[str, ...]) -> list[str]:
    """Names of columns, equal ones numbered."""
    result: list[str] = []
    for name in columns:
        copy, number = name, 1
        while copy in result:
            number += 1
            copy = f"{name}_{number}"
        result.append(copy)
    return result


def _numeric(answer: Answer, index: int) -> bool:
    values = [row[index] for row in answer.rows if row[index] is not None]
    return bool(values) and all(
        isinstance(value, (int, float)) and not isinstance(value, bool) for value in values
    )


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:.6g}" if not value.is_integer() else f"{value:.0f}"
    if isinstance(value, (list, dict)):
        return json.dumps(value, ensure_ascii=False)
    return str(value)


def _value(value: Any, fmt: str) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if fmt == "csv" and isinstance(value, (list, dict)):
        return json.dumps(value)
    return value
