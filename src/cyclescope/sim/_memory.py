"""Memories in and out: Calyx's data JSON, checked against the design, as `$readmemh` text."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING

from cyclescope._files import parse_json, read_text
from cyclescope.errors import DataError
from cyclescope.sim._numbers import parse_format

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from cyclescope.sim._design import Memory
    from cyclescope.sim._numbers import NumberFormat

__all__ = [
    "Difference",
    "MemoryData",
    "check_data",
    "decode_memory",
    "differences",
    "encode_memory",
    "memory_digest",
    "read_data",
]

MemoryData = dict[str, dict[str, object]]
"""Name of a memory → `{"data": nested lists, "format": {...}}`."""


def read_data(path: Path) -> MemoryData:
    """Reads a data file.

    Numbers with a decimal point come as `Decimal`, as written.

    Raises:
        DataError: the file cannot be read, is not JSON, or not an object of objects.
    """
    try:
        text = read_text(path, _LARGEST)
    except (OSError, UnicodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        raise DataError(f"{path}: cannot read the data: {reason}") from error
    try:
        data = parse_json(text, parse_float=Decimal, object_pairs_hook=_once)
    except json.JSONDecodeError as error:
        raise DataError(f"{path}:{error.lineno}:{error.colno}: not JSON: {error.msg}") from error
    except _Twice as twice:
        raise DataError(
            f"{path}{_second(text, twice.name)}: {json.dumps(twice.name)} is given twice in one"
            " object; keep one of them"
        ) from None
    if not isinstance(data, dict):
        raise DataError(f'{path}: the data must be an object: {{"memory": {{"data": …}}, …}}')
    return data


_LARGEST = 2 << 30  # bytes


class _Twice(Exception):  # noqa: N818 - told as a DataError
    """An object of the file has two values of one name."""

    def __init__(self, name: str) -> None:
        self.name = name


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        for name, _ in pairs:
            if name in seen:
                raise _Twice(name)
            seen.add(name)
    return found


def _second(text: str, name: str) -> str:
    """The line of a name's second mention, as `:LINE`, if it is mentioned just twice."""
    found = [m.start() for m in re.finditer(re.escape(json.dumps(name)) + r"\s*:", text)]
    return f":{text.count(chr(10), 0, found[1]) + 1}" if len(found) == 2 else ""


def check_data(memories: Sequence[Memory], data: Mapping[str, object]) -> None:
    """Checks that the data is for exactly these memories.

    Raises:
        DataError: a memory has no data, or data names no memory; the text lists them all.
    """
    known = {m.name for m in memories}
    if missing := [m for m in memories if m.name not in data]:
        listed = ", ".join(f"{m.name} ({_shape(m.dims)} words of {m.width} bits)" for m in missing)
        raise DataError(f"no data for memory {listed}; add it to the data file")
    if unknown := [name for name in data if name not in known]:
        have = ", ".join(m.name for m in memories) or "none"
        raise DataError(
            f"data for {', '.join(unknown)}, but the design has no such external memory"
            f" (it has {have}); remove the data, or mark the memory @external"
        )


def encode_memory(memory: Memory, entry: object) -> str:
    """A memory's data as text for `$readmemh`.

    Raises:
        DataError: names the memory and the index of what is wrong.
    """
    number_format = _format_of(memory, entry)
    assert isinstance(entry, dict)
    if "data" not in entry:
        raise DataError(f"memory {memory.name}: `data` is missing")
    words: list[str] = []
    _encode(memory, number_format, entry["data"], (), words)
    return "\n".join(words) + "\n"


def decode_memory(memory: Memory, entry: object, text: str) -> dict[str, object]:
    """A memory's data from the text that `$writememh` left, with the format of its input.

    Raises:
        DataError: the input's format is wrong, or the text has not the memory's words.
    """
    number_format = _format_of(memory, entry)
    assert isinstance(entry, dict)
    words: list[int | float | str] = []
    cache: dict[str, int | float | str] = {}
    for token in _words(text):
        value = cache.get(token)
        if value is None:
            value = cache[token] = number_format.decode(int(token, 16))
        words.append(value)
    if len(words) != memory.size:
        raise DataError(f"memory {memory.name}: {len(words)} of {memory.size} words written back")
    # A disk that is full may cut the last word, and the simulator does not notice.
    if words and not text.endswith("\n"):
        raise DataError(f"memory {memory.name}: the last word is cut off")
    return {"data": _nest(words, memory.dims), "format": entry["format"]}


@dataclass(frozen=True, slots=True)
class Difference:
    """The first difference between a memory and what is expected.

    Attributes:
        memory: its name.
        index: of the first word that differs.
        found: that word's value.
        expected: what it should be.
        words: how many words differ.
        size: how many there are.
    """

    memory: str
    index: tuple[int, ...]
    found: object
    expected: object
    words: int
    size: int

    def told(self, other: str) -> str:
        """Both values: `m[3] is 5, OTHER 0 (2 of 8 words differ)`."""
        place = self.memory + "".join(f"[{i}]" for i in self.index)
        more = f" ({self.words:,} of {self.size:,} words differ)" if self.size > 1 else ""
        return f"{place} is {self.found}, {other} {self.expected}{more}"


def differences(
    memories: Sequence[Memory], found: Mapping[str, object], expected: Mapping[str, object]
) -> tuple[Difference, ...]:
    """Compare two contents of memories word by word, in bits.

    Args:
        memories: those that both have.
        found: name → data and format.
        expected: the same; its format may be another, its numbers are rounded to its own.

    Raises:
        DataError: one of them is not of the memory's shape, or does not fit it.
    """
    result = []
    for memory in memories:
        pair = (
            encode_memory(memory, found[memory.name]),
            encode_memory(memory, expected[memory.name]),
        )
        if pair[0] == pair[1]:
            continue
        words = [text.split() for text in pair]
        wrong = [i for i, (a, b) in enumerate(zip(*words, strict=True)) if a != b]
        shown = _format_of(memory, found[memory.name])
        a, b = (shown.decode(int(text[wrong[0]], 16)) for text in words)
        index = _index(wrong[0], memory.dims)
        result.append(Difference(memory.name, index, a, b, len(wrong), memory.size))
    return tuple(result)


def memory_digest(memory: Memory, entry: object) -> str:
    """SHA-256 (hex) of a memory's width, dimensions and bits, whatever its numbers' format.

    Raises:
        DataError: as `encode_memory`.
    """
    head = f"{memory.width} {_shape(memory.dims)}\n"
    return hashlib.sha256((head + encode_memory(memory, entry)).encode()).hexdigest()


def _index(word: int, dims: tuple[int, ...]) -> tuple[int, ...]:
    """The index of a word in each dimension."""
    index = []
    for dim in reversed(dims):
        word, at = divmod(word, dim)
        index.append(at)
    return tuple(reversed(index))


def _format_of(memory: Memory, entry: object) -> NumberFormat:
    if not isinstance(entry, dict):
        raise DataError(
            f"memory {memory.name}: must be an object with `data` and `format`, not {_kind(entry)}"
        )
    try:
        number_format = parse_format(entry.get("format"))
    except DataError as error:
        raise DataError(f"memory {memory.name}: {error}") from None
    # Calyx programs do hold, say, a 3-bit register as data of 32 bits; each value must fit. A
    # format narrower than the words is harmless where it has no sign and no point to place.
    if number_format.width < memory.width:
        if number_format.kind == "bitnum" and not number_format.signed:
            return replace(number_format, width=memory.width)
        raise DataError(
            f"memory {memory.name}: the format's width is {number_format.width}, but the design's"
            f" words have {memory.width} bits; give that width"
        )
    return number_format


def _encode(
    memory: Memory, number_format: NumberFormat, data: object, at: tuple[int, ...], to: list[str]
) -> None:
    place = memory.name + "".join(f"[{i}]" for i in at)
    if not isinstance(data, list | tuple):
        raise DataError(f"memory {place}: a list is expected here, not {_kind(data)}")
    if len(data) != memory.dims[len(at)]:
        raise DataError(
            f"memory {place}: {len(data)} elements, but the design has {memory.dims[len(at)]}"
            f" (dimensions {_shape(memory.dims)})"
        )
    if len(at) + 1 < len(memory.dims):
        for i, inner in enumerate(data):
            _encode(memory, number_format, inner, (*at, i), to)
        return
    for i, value in enumerate(data):
        try:
            if isinstance(value, list | tuple | dict):
                raise DataError(f"a number is expected here, not {_kind(value)}")
            bits = number_format.encode(value)
            if bits >> memory.width:
                raise DataError(f"{value} does not fit the design's {memory.width} bits")
            to.append(f"{bits:x}")
        except DataError as error:
            raise DataError(f"memory {place}[{i}]: {error}") from None


def _words(text: str) -> Iterable[str]:
    for line in text.splitlines():
        # `// comments` and `@address` lines are part of the format of IEEE 1800-2017, 21.5.
        for token in line.partition("//")[0].split():
            if not token.startswith("@"):
                yield token


def _nest(words: list[int | float | str], dims: tuple[int, ...]) -> list[object]:
    nested: list[object] = list(words)
    for dim in reversed(dims[1:]):
        nested = [nested[i : i + dim] for i in range(0, len(nested), dim)]
    return nested


def _shape(dims: tuple[int, ...]) -> str:
    return "x".join(map(str, dims))


def _kind(value: object) -> str:
    names = {dict: "an object", list: "a list", str: "a text", bool: "a truth value"}
    return "null" if value is None else names.get(type(value), "a number")
