"""OpenMP directives and their clauses, from the tokens of pragmas.

What a construct may have is in one table (`_clauses.py`), which `checked` compares a directive
with; a directive outside a target region is the host's, whose compiler reads it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from cyclescope.c import (
    Cast,
    Declare,
    For,
    Name,
    Scalar,
    children,
    fold,
    read_c,
    rebuilt,
    statements,
)
from cyclescope.errors import SourceError
from cyclescope.hls.front._scopes import visible
from cyclescope.hls.front.omp._contexts import selector_of
from cyclescope.hls.front.omp._tokens import closing, is_name, split

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from cyclescope.c import Expr, Pragma, Range, Unit, Variable

__all__ = [
    "Clause",
    "Constants",
    "Directive",
    "MapItem",
    "Reduction",
    "directives",
    "folded",
    "is_name",
    "item_of",
    "linear_of",
    "meant",
    "renamed",
    "split",
    "unroll_pragma",
]

_WORDS = frozenset(
    """
    target teams distribute parallel for simd critical barrier atomic single master masked
    flush sections section task taskwait taskloop taskyield taskgroup ordered data enter exit
    update declare end begin loop threadprivate requires cancel cancellation point reduction
    variant mapper scan scope tile unroll interchange nothing error assume assumes dispatch
    interop metadirective allocate allocators depobj workshare groupprivate
    """.split()  # noqa: SIM905
)
# Words that may follow others in a directive's name; behind any other one clauses begin.
_FOLLOW = {
    "target": {"data", "enter", "exit", "update", "teams", "parallel", "simd", "loop"},
    "enter": {"data"},
    "exit": {"data"},
    "teams": {"distribute", "loop"},
    "distribute": {"parallel", "simd"},
    "parallel": {"for", "sections", "master", "masked", "loop", "workshare"},
    "for": {"simd"},
    "taskloop": {"simd"},
    "master": {"taskloop"},
    "masked": {"taskloop"},
    "declare": {"target", "simd", "reduction", "variant", "mapper"},
    "begin": {"declare", "assumes", "metadirective"},
    "end": {"declare", "assumes", "metadirective"},
    "cancellation": {"point"},
}
# Directives that change nothing of what a statement does.
_SILENT = (
    ("nothing",),
    ("assume",),
    ("assumes",),
    ("begin", "assumes"),
    ("end", "assumes"),
    ("declare", "reduction"),
)
# Directives with a list right behind their names.
_LISTING = (["critical"], ["flush"], ["threadprivate"], ["declare", "variant"])


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause of a directive.

    Attributes:
        name: it.
        words: the tokens in its parentheses; None without any.
    """

    name: str
    words: tuple[str, ...] | None

    def __str__(self) -> str:
        """Render as in the text, with single blanks."""
        return self.name if self.words is None else f"{self.name}({' '.join(self.words)})"


@dataclass(frozen=True, slots=True)
class MapItem:
    """One entry of a `map` clause.

    Attributes:
        name: the variable, or the path of a field, `s.data` or `p->data`.
        direction: `to`, `from`, `tofrom` or `alloc`.
        low, count: the tokens of its first section's bounds; empty without a section.
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
        words: its name, word by word; empty if it is none that is known.
        clauses: in order.
        where: the pragma.
        rest: what is behind the name and no clause.
    """

    words: tuple[str, ...]
    clauses: tuple[Clause, ...]
    where: Range
    rest: tuple[str, ...] = ()

    def has(self, *words: str) -> bool:
        """Return whether all of the words are in its name."""
        return all(word in self.words for word in words)

    def clause(self, name: str) -> tuple[str, ...] | None:
        """The tokens of a clause, empty if it has no parentheses; None if it isn't there."""
        return next((c.words or () for c in self.clauses if c.name == name), None)

    def condition(self, part: str) -> tuple[str, ...] | None:
        """The tokens of the `if` clause of one of its parts; None without one.

        A clause that names no part is of all of them: of `target` alone it need be said, as
        hardware runs only if that is true.
        """
        first = "target" if "target" in self.words else "parallel"
        for clause in self.clauses:
            words = clause.words or ()
            named = len(words) > 1 and words[1] == ":"
            if clause.name == "if" and part == (words[0] if named else first):
                return words[2:] if named else words
        return None

    def names(self, clause: str) -> list[str]:
        """The variables listed in all clauses of a name, behind their modifiers."""
        listed = [c.words or () for c in self.clauses if c.name == clause]
        return [w for x in listed for w in (x[2:] if x[1:2] == (":",) else x) if w != ","]

    @property
    def conditional(self) -> set[str]:
        """The variables whose last assignment counts, not that of the last iteration."""
        listed = [c.words or () for c in self.clauses if c.name == "lastprivate"]
        return {w for x in listed if x[:2] == ("conditional", ":") for w in x[2:] if w != ","}

    @property
    def linear(self) -> dict[str, tuple[str, ...]]:
        """The variables of all `linear` clauses, with the words of their steps."""
        return dict(x for c in self.clauses if c.name == "linear" for x in linear_of(c))

    @property
    def reductions(self) -> list[Reduction]:
        """The entries of all `reduction` clauses."""
        found = []
        for clause in self.clauses:
            if clause.name == "reduction" and ":" in (words := clause.words or ()):
                cut = words.index(":")
                operator = words[cut - 1] if cut else ""
                items = [item_of(part, "") for part in split(words[cut + 1 :], ",")]
                found += [Reduction(operator, i.name, i.low, i.count) for i in items if i]
        return list(dict.fromkeys(found))

    @property
    def maps(self) -> list[MapItem]:
        """The entries of all `map` clauses."""
        found = []
        for clause in self.clauses:
            if clause.name != "map":
                continue
            direction, words = "tofrom", clause.words or ()
            if ":" in words and "[" not in words[: words.index(":")]:
                cut = words.index(":")
                direction = words[cut - 1] if cut else ""
                words = words[cut + 1 :]
            items = (item_of(part, direction, fields=True) for part in split(words, ","))
            found += [item for item in items if item is not None]
        return found


def item_of(words: tuple[str, ...], direction: str, *, fields: bool = False) -> MapItem | None:
    """A variable, or on request a field, with the sections behind it; None: anything else."""
    if not words or not is_name(words[0]):
        return None
    sections = []
    name, rest = words[0], words[1:]
    while fields and rest[:1] in ((".",), ("->",)) and rest[1:2] and is_name(rest[1]):
        name, rest = name + rest[0] + rest[1], rest[2:]
    while rest:
        end = closing(rest)
        if rest[0] != "[":
            return None
        sections.append(split(rest[1:end], ":"))
        rest = rest[end + 1 :]
    if any(len(parts) > 2 or (len(parts) == 1 and not parts[0]) for parts in sections):
        return None
    if not sections:
        return MapItem(name, direction)
    low, *count_ = sections[0]
    # One element is a section, too.
    return MapItem(name, direction, low or ("0",), count_[0] if count_ else ("1",))


def linear_of(clause: Clause) -> list[tuple[str, tuple[str, ...]]]:
    """The variables of a `linear` clause with the words of their step; else none."""
    listed, *steps = split(clause.words or (), ":")
    step = steps[0] if steps else ("1",)
    if step[:2] == ("step", "("):
        step = step[2:-1]
    if listed[1:2] == ("(",) and listed[0] in ("val", "ref", "uval"):
        listed = listed[2:-1]
    parts = split(listed, ",")
    good = len(steps) < 2 and step and all(len(p) == 1 and is_name(p[0]) for p in parts)
    return [(part[0], step) for part in parts] if good else []


def directives(pragmas: Sequence[Pragma]) -> list[Directive]:
    """The OpenMP directives among pragmas.

    Raises:
        SourceError: it can't be told what one says, or of which statement.
    """
    of_openmp = (meant(p) for p in pragmas if p.tokens[:1] == ("omp",))
    return [_directive(p) for p in of_openmp if p is not None]


def meant(pragma: Pragma) -> Pragma | None:
    """The pragma that a `metadirective` stands for here. Others are themselves.

    None: one that says nothing of what a statement does: `nothing`, what a compiler may assume,
    the declaration of a reduction.

    Raises:
        SourceError: what it asks for isn't known.
    """
    if any(pragma.tokens[1 : 1 + len(words)] == words for words in _SILENT):
        return None
    if pragma.tokens[:2] != ("omp", "metadirective") or pragma.trouble:
        return pragma
    best: tuple[int, tuple[str, ...]] | None = None
    otherwise: tuple[str, ...] = ()
    directive = _directive(pragma)
    for clause in directive.clauses:
        words = clause.words or ()
        if clause.name in ("default", "otherwise"):
            otherwise = words
        elif clause.name == "when":
            asked, *then = split(words, ":")
            selector = selector_of(asked, pragma.where)
            # Constructs around it are not looked at: what it stands for is one of them.
            score = None if selector.constructs else selector.rank(())
            if score is not None and (best is None or score > best[0]):
                best = score, _joined(then)
        else:
            raise SourceError(
                f"{pragma.where}: the clause {clause.name} of omp metadirective isn't supported; "
                f"it can have default, otherwise, when"
            )
    words = best[1] if best is not None else otherwise
    if words in ((), ("nothing",)):
        return None
    return replace(pragma, tokens=("omp", *words))


def _joined(parts: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """Tokens that were split at colons, in one again."""
    found = list(parts[0]) if parts else []
    for part in parts[1:]:
        found += [":", *part]
    return tuple(found)


def _directive(pragma: Pragma) -> Directive:
    where = pragma.where
    if pragma.trouble:
        raise SourceError(f"{where}: #pragma {' '.join(pragma.tokens)}: {pragma.trouble}")
    words = list(pragma.tokens[1:])
    name: list[str] = []
    while words and words[0] in (_FOLLOW.get(name[-1], ()) if name else _WORDS):
        name.append(words.pop(0))
    clauses: list[Clause] = []
    if name in _LISTING and words[:1] == ["("]:
        words.insert(0, "name" if name == ["critical"] else "list")
    while words and (
        is_name(words[0]) or (words[0] == "," and clauses and any(map(is_name, words[1:2])))
    ):
        if words[0] == ",":
            words.pop(0)
        clause, inside = words.pop(0), None
        if words[:1] == ["("]:
            end = closing(words)
            inside, words = tuple(words[1:end]), words[end + 1 :]
        clauses.append(Clause(clause, inside))
    return Directive(tuple(name), tuple(clauses), where, tuple(words))


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
_PROBE = "cyclescope_probe"


@dataclass
class Constants:
    """Values of constant expressions in pragmas, each at its place in the source.

    Attributes:
        unit: the text.
        defines, include: how it was read.
    """

    unit: Unit
    defines: Mapping[str, str]
    include: Sequence[str | Path]
    _known: dict[tuple[str, Range | None], int | None] = field(default_factory=dict)
    # A directive is asked for its parts wherever it takes effect.
    _units: dict[tuple[str, str, Range | None], Unit | None] = field(default_factory=dict)

    def value(self, words: Sequence[str], where: Range | None) -> int | None:
        """The value of an expression; None if it is no constant one.

        Args:
            words: its tokens.
            where: the pragma that it is in, a `#pragma` in front of a statement; None: the
                end of the text.
        """
        text = " ".join(words)
        if text.isdecimal() and len(text) <= _DIGITS and (text == "0" or text[0] != "0"):
            return int(text)
        if where is not None and (where.file != self.unit.file or where.start == where.end):
            # The name of another file's or macro's place may stand for something else here.
            where = None
        if (text, where) not in self._known:
            self._known[text, where] = self._probe(text, where) if text else None
        return self._known[text, where]

    def is_whole(self, words: Sequence[str], where: Range) -> bool:
        """Return whether an expression is one of whole numbers, a constant or not."""
        expr = self._number(words, where)
        if isinstance(expr, Cast) and expr.implicit:
            expr = expr.operand
        return expr is not None and isinstance(expr.type, Scalar) and not expr.type.is_float

    def expression(self, words: Sequence[str], where: Range) -> Expr | None:
        """A directive's expression, of the text's variables; None if it is none of numbers.

        Args:
            words: its tokens.
            where: the directive, in front of a statement.
        """
        if where.file != self.unit.file or where.start == where.end:
            return None
        expr = self._number(words, where)
        return renamed(expr, visible(self.unit, where)) if expr is not None else None

    def _number(self, words: Sequence[str], where: Range) -> Expr | None:
        """A directive's expression as it is in the text with it; None if it is none of numbers."""
        head = f"for (__INT64_TYPE__ {_PROBE} = ({' '.join(words)}); ; )"
        return _probed(self._with("", head, where))

    def behind(self, tail: str) -> Unit | None:
        """The text with more behind it; None: it is no C."""
        return self._with(tail, "", None)

    def _probe(self, text: str, where: Range | None) -> int | None:
        # An enumerator's value is the compiler's to find, with all names that are known there.
        enumerator = f"enum {{ {_PROBE}_value = ({text}) }}"
        tail = f"\n{enumerator}; __INT64_TYPE__ {_PROBE} = {_PROBE}_value;\n"
        # Its value is kept, so the text need not be.
        unit = self._changed(tail, f"for ({enumerator} {_PROBE} = {_PROBE}_value; ; )", where)
        if unit is not None and where is None:
            return folded(unit.variables[_PROBE].init)
        return folded(_probed(unit))

    def _with(self, tail: str, head: str, where: Range | None) -> Unit | None:
        """The result of `_changed`; each text is read once."""
        key = tail, head, where
        if key not in self._units:
            self._units[key] = self._changed(tail, head, where)
        return self._units[key]

    def _changed(self, tail: str, head: str, where: Range | None) -> Unit | None:
        """The text with a tail behind it, or a loop's head for a pragma; None: no C."""
        source = self.unit.sources[self.unit.file]
        if where is None:
            probed = source + tail
        else:
            # In front of the statement, which is this loop's then; comments beside it stay.
            lines = source.encode("utf-8", "surrogateescape").split(b"\n")
            first, last = where.line - 1, where.end_line - 1
            ahead, behind = lines[first][: where.column - 1], lines[last][where.end_column - 1 :]
            lines[first : last + 1] = [
                *[b""] * (last - first), ahead + head.encode("utf-8", "surrogateescape") + behind
            ]  # fmt: skip
            probed = b"\n".join(lines).decode("utf-8", "surrogateescape")
        try:
            return read_c(self.unit.file, text=probed, defines=self.defines, include=self.include)
        except SourceError:
            return None


def _probed(unit: Unit | None) -> Expr | None:
    """The initial value of the variable in the loop's head that stands for a pragma."""
    if unit is None:
        return None
    stmts = (stmt for function in unit.functions.values() for stmt in statements(function.body))
    heads = (s.init for s in stmts if isinstance(s, For) and isinstance(s.init, Declare))
    return next((v.init for head in heads for v in head.variables if v.name == _PROBE), None)


def renamed(expr: Expr, known: Mapping[str, Variable]) -> Expr:
    """An expression of another reading of the text, with known variables by their names."""
    if isinstance(expr, Name) and expr.variable.name in known:
        return replace(expr, variable=known[expr.variable.name])
    return rebuilt(expr, [renamed(part, known) for part in children(expr)])


def folded(expr: Expr | None) -> int | None:
    """The value of an expression of whole numbers; None if it contains anything else."""
    value = fold(expr, {})
    return value if isinstance(value, int) else None
