"""Calibration: what a TOML file may say of latencies, sources, sinks and constants.

read = 1                   # Λ_R, cycles
write = 1                  # Λ_W
reorder = 3                # II of a process that reads through a reordering buffer
constants = "free"         # assignments of constants: "free" (time 0) or "process"
constant_latency = 0       # Λ_F of these, if they are processes
[defines]                  # macros, as -D gives them
N = 8
[arguments]                # the kernel's scalar parameters
n = 8
[operators.double]         # latencies by type and operator; also copy = … at the top
add = 8
[sources]                  # automatic = false: none but those named
A = false                  # or { latency = 1, interval = 1, ranges = [[0, 8]], skip = [[0, 7]] }
[sinks]
[[statement]]              # by line, label (or outlined function) or target
line = 12
latency = 18
interval = 1
ignore = ["C"]             # arrays of which it doesn't wait for its own earlier results
[tweak]                    # the same tables again: laid over the above unless switched off
reason = "…"
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cyclescope._files import parse_number, parse_toml, read_text
from cyclescope.bounds._technology import FAMILIES, OPERATORS, VIRTEX7, Technology
from cyclescope.errors import InputError

if TYPE_CHECKING:
    import os
    from fractions import Fraction

__all__ = ["Calibration", "PortRule", "StatementRule", "read_calibration", "read_schedule_report"]


@dataclass(frozen=True, slots=True)
class StatementRule:
    """The rule of a calibration for the statements that it selects.

    Attributes:
        line, label, target: the selection; what is None selects nothing by itself.
        latency: Λ_F in cycles, None: by the technology.
        interval: II_F in cycles, None: 1.
        ignore: arrays of which it doesn't wait for its own earlier results.
        origin: the place of this, for messages.
    """

    line: int | None = None
    label: str | None = None
    target: str | None = None
    latency: int | None = None
    interval: int | None = None
    ignore: tuple[str, ...] = ()
    origin: str = ""

    def selects(self, line: int, names: tuple[str, ...], target: str) -> bool:
        """Return whether all that the rule names agrees."""
        return (
            (self.line is None or self.line == line)
            and (self.label is None or self.label in names)
            and (self.target is None or self.target == target)
        )


@dataclass(frozen=True, slots=True)
class PortRule:
    """A source or a sink of an array.

    Attributes:
        on: whether there is one.
        latency, interval: of its process, cycles.
        ranges: half-open element ranges for each dimension, None: all.
        skip: elements that it leaves out.
    """

    on: bool = True
    latency: int = 1
    interval: int = 1
    ranges: tuple[tuple[int, int], ...] | None = None
    skip: tuple[tuple[int, ...], ...] = ()


@dataclass(frozen=True)
class Calibration:
    """Everything that shapes an estimate besides the C text; see the module's text for the form."""

    technology: Technology = VIRTEX7
    read: int = 1
    write: int = 1
    reorder: int = 3
    constants_free: bool = True
    constant_latency: int = 0
    defines: dict[str, str] = field(default_factory=dict)
    arguments: dict[str, int | float] = field(default_factory=dict)
    sources: dict[str, PortRule] = field(default_factory=dict)
    sinks: dict[str, PortRule] = field(default_factory=dict)
    automatic_sources: bool = True
    automatic_sinks: bool = True
    statements: tuple[StatementRule, ...] = ()
    reason: str = ""
    origin: str = ""

    def with_rules(self, rules: tuple[StatementRule, ...]) -> Calibration:
        """The same with more statement rules; later rules win."""
        return replace(self, statements=(*self.statements, *rules))


def read_calibration(
    file: str | os.PathLike[str], *, tweak: bool = True, text: str | None = None
) -> Calibration:
    """Read a calibration file.

    Args:
        file: its path, and the name that messages give it.
        tweak: lay its `[tweak]` table over the rest.
        text: its text, if it isn't the file's own.

    Raises:
        InputError: it cannot be read, isn't TOML, or says something unknown.
    """
    name = str(file)
    if text is None:
        try:
            text = read_text(Path(file))
        except FileNotFoundError:
            raise InputError(f"{name}: no such file") from None
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"{name}: cannot be read: {error}") from error
    try:
        table = parse_toml(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{name}: not TOML: {error}") from None
    reader = _Reader(name)
    result = reader.apply(Calibration(origin=name), table, top=True)
    over = table.get("tweak")
    if over is not None:
        over = reader.table(over, "tweak")
        if not isinstance(over.get("reason"), str):
            raise InputError(f'{name}: [tweak] says no reason; add reason = "…"')
        tweaked = reader.apply(result, over, top=False)
        if tweak:
            return replace(tweaked, reason=over["reason"])
    return result


class _Reader:
    def __init__(self, name: str) -> None:
        self._name = name

    def _wrong(self, key: str, wanted: str) -> InputError:
        return InputError(f"{self._name}: {key}: {wanted}")

    def table(self, value: object, key: str) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise self._wrong(key, "must be a table")
        return value

    def _int(self, value: object, key: str, least: int) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value < 2**31:
            raise self._wrong(key, f"must be a whole number of at least {least}, not {value!r}")
        return value

    def _choice(self, value: object, key: str, allowed: tuple[str, ...]) -> str:
        if value not in allowed:
            raise self._wrong(key, f"must be one of {', '.join(allowed)}, not {value!r}")
        return str(value)

    def apply(self, base: Calibration, table: dict[str, Any], *, top: bool) -> Calibration:
        changes: dict[str, Any] = {}
        technology = base.technology
        for key, value in table.items():
            match key:
                case "tweak" if top:
                    pass
                case "reason" if not top:
                    pass
                case "read" | "write" | "reorder":
                    changes[key] = self._int(value, key, 0 if key == "read" else 1)
                case "constants":
                    choice = self._choice(value, key, ("free", "process"))
                    changes["constants_free"] = choice == "free"
                case "constant_latency":
                    changes[key] = self._int(value, key, 0)
                case "copy":
                    technology = technology.overridden({}, self._int(value, key, 0))
                case "defines":
                    new = {k: str(v) for k, v in self.table(value, key).items()}
                    changes[key] = {**base.defines, **new}
                case "arguments":
                    changes[key] = {**base.arguments, **self._arguments(value)}
                case "operators":
                    changed = self._operators(value)
                    technology = technology.overridden(changed, technology.copy)
                case "sources" | "sinks":
                    rules, automatic = self._ports(value, key)
                    changes[key] = {**getattr(base, key), **rules}
                    if automatic is not None:
                        changes[f"automatic_{key}"] = automatic
                case "statement":
                    changes["statements"] = (*base.statements, *self._statements(value))
                case _:
                    raise self._wrong(key, "unknown; see docs/bounds.md for what may be here")
        return replace(base, technology=technology, **changes)

    def _arguments(self, value: object) -> dict[str, int | float]:
        result: dict[str, int | float] = {}
        for name, number in self.table(value, "arguments").items():
            if isinstance(number, bool) or not isinstance(number, int | float):
                raise self._wrong(f"arguments.{name}", f"must be a number, not {number!r}")
            result[name] = number
        return result

    def _operators(self, value: object) -> dict[tuple[str, str], Fraction]:
        result = {}
        for family, row in self.table(value, "operators").items():
            self._choice(family, "operators", FAMILIES)
            for operator, cycles in self.table(row, f"operators.{family}").items():
                key = f"operators.{family}.{operator}"
                self._choice(operator, f"operators.{family}", OPERATORS)
                if isinstance(cycles, bool) or not isinstance(cycles, int | float | str):
                    raise self._wrong(key, f"must be cycles, not {cycles!r}")
                above, _, below = str(cycles).partition("/")
                try:
                    number = parse_number(above) / parse_number(below or "1")
                except (ValueError, ArithmeticError):
                    raise self._wrong(key, f"must be cycles, not {cycles!r}") from None
                if not 0 <= number < 2**20:
                    raise self._wrong(key, f"must not be negative or huge, not {cycles}")
                result[(family, operator)] = number
        return result

    def _ports(self, value: object, key: str) -> tuple[dict[str, PortRule], bool | None]:
        rules: dict[str, PortRule] = {}
        automatic: bool | None = None
        for name, rule in self.table(value, key).items():
            where = f"{key}.{name}"
            if name == "automatic":
                if not isinstance(rule, bool):
                    raise self._wrong(where, "must be true or false")
                automatic = rule
            elif isinstance(rule, bool):
                rules[name] = PortRule(on=rule)
            else:
                rules[name] = self._port(self.table(rule, where), where)
        return rules, automatic

    def _port(self, row: dict[str, Any], where: str) -> PortRule:
        changes: dict[str, Any] = {}
        for key, value in row.items():
            place = f"{where}.{key}"
            match key:
                case "latency":
                    changes[key] = self._int(value, place, 0)
                case "interval":
                    changes[key] = self._int(value, place, 1)
                case "ranges":
                    pairs = self._rows(value, place, "[[low, high], …], one pair a dimension")
                    if any(len(p) != 2 for p in pairs):
                        raise self._wrong(place, "must be [[low, high], …], one pair a dimension")
                    changes[key] = pairs
                case "skip":
                    changes[key] = self._rows(value, place, "a list of elements, [[0, 7], …]")
                case _:
                    raise self._wrong(place, "unknown; give latency, interval, ranges or skip")
        return PortRule(**changes)

    def _rows(self, value: object, place: str, form: str) -> tuple[tuple[int, ...], ...]:
        """Lists of whole numbers in a list."""
        if not isinstance(value, list) or not all(isinstance(row, list) for row in value):
            raise self._wrong(place, f"must be {form}")
        return tuple(tuple(self._int(number, place, 0) for number in row) for row in value)

    def _text(self, value: object, place: str) -> str:
        if not isinstance(value, str):
            raise self._wrong(place, f"must be a text, not {value!r}")
        return value

    def _statements(self, value: object) -> tuple[StatementRule, ...]:
        if not isinstance(value, list):
            raise self._wrong("statement", "must be written [[statement]]")
        return tuple(
            self._statement(self.table(row, f"[[statement]] {n}"), n)
            for n, row in enumerate(value, 1)
        )

    def _statement(self, row: dict[str, Any], number: int) -> StatementRule:
        where = f"[[statement]] {number}"
        changes: dict[str, Any] = {}
        for key, value in row.items():
            match key:
                case "line" | "interval":
                    changes[key] = self._int(value, f"{where} {key}", 1)
                case "latency":
                    changes[key] = self._int(value, f"{where} {key}", 0)
                case "label" | "target":
                    changes[key] = self._text(value, f"{where} {key}")
                case "ignore":
                    if not isinstance(value, list):
                        raise self._wrong(f"{where} {key}", "must be a list of arrays' names")
                    changes[key] = tuple(self._text(name, f"{where} {key}") for name in value)
                case _:
                    raise self._wrong(f"{where} {key}", "unknown key")
        if not {"line", "label", "target"} & changes.keys():
            raise self._wrong(where, "names no statement: give line, label or target")
        return StatementRule(**changes, origin=f"{self._name}: {where}")


def read_schedule_report(
    file: str | os.PathLike[str], *, text: str | None = None
) -> tuple[StatementRule, ...]:
    """Statement rules from an HLS tool's log: depth and II of each function that it pipelined.

    The form is that of Vivado HLS (the paper's Listing 4): a line that ends in
    `Scheduling module 'proc4'` (or `Pipelining function 'proc4'`), and after it
    `Target II: 1, Final II: 1, Depth: 18.`.

    Raises:
        InputError: it cannot be read or has no such lines.
    """
    name = str(file)
    if text is None:
        try:
            text = read_text(Path(file), errors="replace")
        except OSError as error:
            raise InputError(f"{name}: cannot be read: {error.strerror or error}") from error
    rules: dict[str, StatementRule] = {}
    function = ""
    for number, line in enumerate(text.splitlines(), 1):
        named = re.search(r"(?:Scheduling module|Pipelining function) '([^']+)'", line)
        if named:
            function = named.group(1)
        found = re.search(r"Final II:\s*(\d{1,9}),\s*Depth:\s*(\d{1,9})\b", line)
        if found and function:
            interval, depth = map(int, found.groups())
            origin = f"{name}:{number}"
            rules[function] = StatementRule(
                label=function, latency=depth, interval=max(interval, 1), origin=origin
            )
    if not rules:
        raise InputError(
            f"{name}: no schedule in it: no line 'Final II: …, Depth: …' after a module's name"
        )
    return tuple(rules.values())
