"""OpenMP directives and their clauses, from the words of pragmas."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cyclescope.c import Binary, Cast, Literal, Unary, combined, read_c
from cyclescope.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from cyclescope.c import Expr, Pragma, Range, Unit

__all__ = [
    "Constants",
    "Directive",
    "MapItem",
    "Reduction",
    "directives",
    "folded",
    "unroll_pragma",
]

_WORDS = frozenset(
    """
    target teams distribute parallel for simd critical barrier atomic single master masked
    flush sections section task taskwait taskloop ordered data enter exit update declare
    loop
    """.split()  # noqa: SIM905
)
_OF_DATA = frozenset({"data", "enter", "exit", "update"})
_SEVERAL = frozenset({"target", "teams", "distribute", "parallel", "for", "simd", "loop"})


@dataclass(frozen=True, slots=True)
class MapItem:
    """One entry of a `map` clause.

    Attributes:
        name: the variable.
        direction: `to`, `from`, `tofrom` or `alloc`.
        low, count: the words of its first section's bounds; empty without a section.
    """

    name: str
    direction: str
    low: tuple[str, ...] = ()
    count: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reduction:
    """One entry of a `reduction` clause.

    Attributes:
        operator: as written.
        name: the variable.
        low, count: the words of its section's bounds; empty without a section.
    """

    operator: str
    name: str
    low: tuple[str, ...] = ()
    count: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Directive:
    """An OpenMP directive.

    Attributes:
        words: its name, word by word.
        clauses: name and the words in its parentheses, in order.
        where: the pragma.
    """

    words: tuple[str, ...]
    clauses: tuple[tuple[str, tuple[str, ...]], ...]
    where: Range

    def has(self, *words: str) -> bool:
        """Whether all of the words are in its name."""
        return all(word in self.words for word in words)

    def clause(self, name: str) -> tuple[str, ...] | None:
        """The words of a clause, None if it isn't there."""
        return next((words for n, words in self.clauses if n == name), None)

    def condition(self, part: str) -> tuple[str, ...] | None:
        """The words of the `if` clause of one of its parts; None without one.

        A clause that names no part is of all of them: of `target` alone it need be said, as
        hardware runs only if that holds.
        """
        first = "target" if "target" in self.words else "parallel"
        for name, words in self.clauses:
            named = len(words) > 1 and words[1] == ":"
            if name == "if" and part == (words[0] if named else first):
                return words[2:] if named else words
        return None

    def names(self, clause: str) -> list[str]:
        """The variables listed in all clauses of a name."""
        return [w for n, words in self.clauses if n == clause for w in words if w != ","]

    @property
    def reductions(self) -> list[Reduction]:
        """The entries of all `reduction` clauses.

        Raises:
            SourceError: a section's bracket is missing.
        """
        found = []
        for name, words in self.clauses:
            if name != "reduction":
                continue
            cut = words.index(":") if ":" in words else 0
            if words.count("[") != words.count("]"):
                raise SourceError(
                    f"{self.where}: a section in reduction isn't closed; add a bracket"
                )
            for part in _split(words[cut + 1 :], ","):
                item = _item(part, "")
                found.append(Reduction("".join(words[:cut]), item.name, item.low, item.count))
        return list(dict.fromkeys(found))

    @property
    def maps(self) -> list[MapItem]:
        """The entries of all `map` clauses.

        Raises:
            SourceError: a section's bracket is missing.
        """
        found = []
        for name, words in self.clauses:
            if name != "map":
                continue
            direction = "tofrom"
            if ":" in words and "[" not in words[: words.index(":")]:
                cut = words.index(":")
                direction = words[cut - 1]
                words = words[cut + 1 :]
            if words.count("[") != words.count("]"):
                raise SourceError(f"{self.where}: a section in map isn't closed; add a bracket")
            found += [_item(item, direction) for item in _split(words, ",")]
        return found


def _split(words: Sequence[str], at: str) -> list[tuple[str, ...]]:
    parts: list[tuple[str, ...]] = []
    depth = 0
    current: list[str] = []
    for word in words:
        if word == at and depth == 0:
            parts.append(tuple(current))
            current = []
            continue
        depth += word in ("(", "[")
        depth -= word in (")", "]")
        current.append(word)
    return [*parts, tuple(current)] if current or parts else parts


def _item(words: tuple[str, ...], direction: str) -> MapItem:
    if len(words) == 1 or not words:
        return MapItem(words[0] if words else "", direction)
    end = 2
    depth = 1
    while end < len(words) and depth:
        depth += words[end] == "["
        depth -= words[end] == "]"
        end += 1
    inside = words[2 : end - 1]
    parts = _split(inside, ":")
    low = parts[0] if len(parts) == 2 else ("0",)
    return MapItem(words[0], direction, low or ("0",), parts[-1] if parts else ())


def directives(pragmas: Sequence[Pragma]) -> list[Directive]:
    """The OpenMP directives among pragmas.

    Raises:
        SourceError: a parenthesis is not closed.
    """
    return [_directive(p) for p in pragmas if p.tokens[:1] == ("omp",)]


def _directive(pragma: Pragma) -> Directive:
    words = list(pragma.tokens[1:])
    name: list[str] = []
    while words and words[0] in _WORDS:
        of_data = "target" in name and words[0] in _OF_DATA
        if name and words[0] not in _SEVERAL and not of_data:
            break
        name.append(words.pop(0))
    clauses: list[tuple[str, tuple[str, ...]]] = []
    if name == ["critical"] and words[:1] == ["("]:
        words.insert(0, "name")
    while words:
        clause = words.pop(0)
        if clause == ",":
            continue
        inside: list[str] = []
        if words[:1] == ["("]:
            depth = 0
            for count, word in enumerate(words):
                depth += word == "("
                depth -= word == ")"
                if depth == 0:
                    inside = words[1:count]
                    words = words[count + 1 :]
                    break
            else:
                raise SourceError(f"{pragma.where}: `{clause}(` is not closed; add a parenthesis")
        clauses.append((clause, tuple(inside)))
    return Directive(tuple(name), tuple(clauses), pragma.where)


def unroll_pragma(pragmas: Sequence[Pragma]) -> tuple[tuple[str, ...], Range] | None:
    """The words after `#pragma unroll`, None without one."""
    for pragma in pragmas:
        tokens = pragma.tokens
        if tokens[:1] == ("unroll",):
            rest = tokens[1:]
            if rest[:1] == ("(",) and rest[-1:] == (")",):
                rest = rest[1:-1]
            return rest, pragma.where
        if tokens[:2] == ("GCC", "unroll"):
            return tokens[2:], pragma.where
    return None


_DIGITS = 18  # what has more is the compiler's to refuse


@dataclass
class Constants:
    """Values of constant expressions in pragmas, through the text's macros.

    Attributes:
        unit: the text.
        defines, include: how it was read.
    """

    unit: Unit
    defines: Mapping[str, str]
    include: Sequence[str | Path]
    _known: dict[str, int | None] = field(default_factory=dict)

    def value(self, words: Sequence[str]) -> int | None:
        """The value of an expression of numbers and macros; None if it has variables."""
        text = " ".join(words)
        if text.isdecimal() and len(text) <= _DIGITS:
            return int(text)
        if text not in self._known:
            self._known[text] = self._probe(text) if self._is_closed(words) else None
        return self._known[text]

    def _is_closed(self, words: Sequence[str]) -> bool:
        names = [w for w in words if re.fullmatch(r"[A-Za-z_]\w*", w)]
        return bool(words) and all(n in self.defines or self._defines(n) for n in names)

    def _defines(self, name: str) -> bool:
        definition = re.compile(rf"^[ \t]*#[ \t]*define[ \t]+{name}\b", re.MULTILINE)
        return any(definition.search(text) for text in self.unit.sources.values())

    def _probe(self, text: str) -> int | None:
        # Only the compiler knows which of several definitions holds at the end of the text.
        source = self.unit.sources[self.unit.file]
        name = "cyclescope_probe"
        probed = f"{source}\nlong {name} = ({text});\n"
        try:
            unit = read_c(self.unit.file, text=probed, defines=self.defines, include=self.include)
        except SourceError:
            return None
        return folded(unit.variables[name].init)


def folded(expr: Expr | None) -> int | None:
    """The value of an expression of numbers; None if it holds anything else."""
    match expr:
        case Literal(value=int() as value):
            return value
        case Cast(operand=operand):
            return folded(operand)
        case Unary(op="-", operand=operand):
            inner = folded(operand)
            return -inner if inner is not None else None
        case Binary(op=op, left=left, right=right):
            a, b = folded(left), folded(right)
            if a is None or b is None:
                return None
            found = combined(op, a, b)
            return found if isinstance(found, int) and abs(found) < 1 << 63 else None
    return None
