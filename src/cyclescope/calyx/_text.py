"""A Calyx program's text, and the source positions that its generator left in it.

Today's Calyx prints positions that release 0.7.1 does not parse: sets on statements
(`@pos{3}`), sets on declarations (`group g<"pos"={3}>`) and a table that resolves them
(`sourceinfo #{ FILES … POSITIONS … }#`). They are read here and replaced by blanks, so that
every other byte keeps its place. Constants in floating point, which it does not parse either,
become constants of the same bits; cells whose names begin with `ref`, which it takes for
references, get a second `ref` that the reader of the syntax tree takes off again.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from cyclescope._files import endless, read_bytes
from cyclescope.calyx._float import float_constant
from cyclescope.errors import SourceError
from cyclescope.model import Position

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["ProgramText", "read_program"]

_SET = rb"\{[\s\d,]*\}"
_AT = rb"@\w+(?:\s*\(\s*\d+\s*\)|\s*" + _SET + rb")?"
_TOKENS = re.compile(
    rb"(?P<skip>//[^\n]*|/\*.*?\*/)"
    rb"|(?P<table>sourceinfo\s*\#\{(?P<body>.*?)\}\#)"
    rb"|(?P<declaration>(?:comb\s+)?(?:static\s*<\s*\d+\s*>\s*)?(?:group|component|primitive)"
    rb"\s+\w+)\s*(?P<list><[^>]*>)"
    rb'|(?P<string>"[^"\n]*")'
    rb"|(?P<constant>std_float_const\s*\(\s*(?P<as>\d+)\s*,\s*(?P<bits>\d+)\s*,"
    rb"\s*(?P<number>-?(?:\d+(?:\.\d+)?|(?i:inf|infinity|nan)))\s*\))"
    rb"|(?<![\w'-])ref\s+[\w'-]+"
    rb"|(?P<name>(?<![\w'-])ref(?=[\w'-]*\s*=\s*[A-Za-z_][\w'-]*\s*\())"
    rb"|(?P<run>" + _AT + rb"(?:\s+" + _AT + rb")*)",
    re.DOTALL,
)
_ATTRIBUTE = re.compile(_AT)
_AT_SET = re.compile(rb"@(\w+)\s*(" + _SET + rb")")
_LIST_SET = re.compile(rb'\s*"(\w+)"\s*=\s*(' + _SET + rb")\s*,?")
_WORD = re.compile(rb"\S")
_IMPORT = re.compile(rb'^\s*import\s*"([^"]*)"\s*;', re.MULTILINE)
_NESTING = re.compile(rb'//[^\n]*|/\*.*?\*/|"[^"\n]*"|[{}()]|\belse\s+if\b|\bif\b', re.DOTALL)
_LARGEST = 256 << 20  # bytes of a file
_DEEPEST = 10_000  # for which the compiler's stack suffices, see `_compile`
_LEVELS = {".py": "calyx-py", ".fuse": "dahlia", ".futil": "calyx", ".c": "c", ".mlir": "mlir"}


@dataclass
class ProgramText:
    """One file of a program.

    Attributes:
        path: where it is.
        name: what to call it in a profile: independent of the folder that it lies in.
        data: its bytes.
        clean: the same, position sets blanked out, floating-point constants written in bits.
        cleaned: whether there was anything to clean.
    """

    path: Path
    name: str
    data: bytes
    clean: bytes
    cleaned: bool
    _sets: dict[int, tuple[int, ...]] = field(default_factory=dict)
    _table: dict[int, Position] = field(default_factory=dict)
    _lines: list[int] = field(default_factory=list)
    _shifts: list[tuple[int, int]] = field(default_factory=list)

    @property
    def generators(self) -> tuple[str, ...]:
        """The files that the position table names, in its order."""
        return tuple(dict.fromkeys(position.file for position in self._table.values()))

    def as_written(self) -> ProgramText:
        """The same for one who read the bytes as they are: offsets are those of `data`."""
        return replace(self, clean=self.data, cleaned=False, _shifts=[])

    def positions(self, offset: int) -> tuple[Position, ...]:
        """Every level's position of what begins at a byte offset of the clean text."""
        # (clean offset, how much further in the original from there on)
        shift = bisect_right(self._shifts, (offset, len(self.data)))
        offset += self._shifts[shift - 1][1] if shift else 0
        line = bisect_right(self._lines, offset)
        column = offset - self._lines[line - 1] + 1
        marks = self._sets.get(offset, ())
        above = [self._table[mark] for mark in marks if mark in self._table]
        return (Position("calyx", self.name, line, column), *above)


def read_program(main: Path, *, bound: bool = True) -> dict[Path, ProgramText]:
    """Read a program and every file that it imports but those of the standard library.

    Args:
        main: the program.
        bound: only files below its folder.

    Raises:
        SourceError: a file cannot be read, is not text, or is outside.
    """
    home = main.parent.resolve()
    texts: dict[Path, ProgramText] = {}
    waiting = [main]
    while waiting:
        path = waiting.pop()
        if path in texts:
            continue
        text = texts[path] = _read(path, main)
        for match in _IMPORT.finditer(text.clean):
            imported = match.group(1).decode()
            # The compiler looks beside the file first, then in its library.
            folder = path.parent.resolve() if path == main else path.parent
            beside = folder / imported
            try:
                if not beside.exists():
                    continue
            except (OSError, ValueError):  # no name of a file: the compiler says so
                continue
            if bound and not beside.resolve().is_relative_to(home):
                line = text.clean.count(b"\n", 0, match.start(1)) + 1
                raise SourceError(
                    f"{path}:{line}: imports {imported}, which is outside the program's folder; "
                    "move it there, or pass --trust"
                )
            waiting.append(beside)
    # A generator's table is in one file and serves all.
    table = {mark: p for text in texts.values() for mark, p in text._table.items()}
    for text in texts.values():
        text._table = table
    return texts


def _read(path: Path, main: Path) -> ProgramText:
    try:
        # The compiler reads it again.
        if refused := endless(path):
            raise SourceError(refused)
        data = read_bytes(path, _LARGEST)
        data.decode()
    except FileNotFoundError:
        raise SourceError(f"{path}: no such file") from None
    except UnicodeDecodeError as error:
        raise SourceError(f"{path}: not a text file (byte {error.start})") from None
    except OSError as error:
        raise SourceError(f"{path}: cannot be read: {error.strerror or error}") from error
    name = main.name
    if path != main:
        folder = main.parent.resolve()
        inside = path.resolve().is_relative_to(folder)
        name = str(path.resolve().relative_to(folder)) if inside else path.name
    clean = bytearray(data)
    sets: dict[int, tuple[int, ...]] = {}
    table: dict[int, Position] = {}
    for match in _TOKENS.finditer(data):
        for begin, end in _blanks(match, sets, table):
            clean[begin:end] = re.sub(rb"[^\n]", b" ", data[begin:end])
    _check_depth(path, bytes(clean))
    lines = [0, *(m.end() for m in re.finditer(b"\n", data))]
    text, shifts = _rewritten(path, data, bytes(clean))
    return ProgramText(path, name, data, text, text != data, sets, table, lines, shifts)


def _check_depth(path: Path, text: bytes) -> None:
    """The compiler goes into what lies inside each other by calling itself."""
    if text.count(b"{") + text.count(b"(") + text.count(b"else") < _DEEPEST:
        return
    chains = [0]  # at each level, how many `else if` in a row
    chained = 0
    for match in _NESTING.finditer(text):
        word = match[0]
        if word in b"{(":
            chains.append(0)
        elif word in b")}":
            chained -= chains.pop() if len(chains) > 1 else 0
        elif word.startswith(b"else"):
            chains[-1] += 1
            chained += 1
        elif word == b"if":
            chained -= chains[-1]
            chains[-1] = 0
        if len(chains) + chained > _DEEPEST:
            line = text.count(b"\n", 0, match.start()) + 1
            raise SourceError(
                f"{path}:{line}: more than {_DEEPEST:,} statements lie inside each other here; "
                "make components of the inner ones"
            )


def _rewritten(path: Path, data: bytes, clean: bytes) -> tuple[bytes, list[tuple[int, int]]]:
    """The text with other constants and names, and what that moved."""
    parts: list[bytes] = []
    shifts: list[tuple[int, int]] = []
    end = length = 0
    for match in _TOKENS.finditer(data):
        if match["name"] is not None:
            new = b"refref"
        elif match["constant"] is not None:
            new = _in_bits(path, match)
        else:
            continue
        parts += [clean[end : match.start()], new]
        length += match.start() - end + len(new)
        end = match.end()
        shifts.append((length, end - length))
    return b"".join([*parts, clean[end:]]), shifts


def _in_bits(path: Path, match: re.Match[bytes]) -> bytes:
    """A floating-point constant as one of bits."""
    try:
        width = int(match["bits"])
        bits = float_constant(int(match["as"]), width, match["number"].decode())
    except (ValueError, OverflowError) as error:
        line = match.string.count(b"\n", 0, match.start()) + 1
        raise SourceError(f"{path}:{line}: std_float_const: {error}; correct it") from None
    # Lines stay what they are: the compiler's messages have them.
    return b"std_const(%d, %d)" % (width, bits) + b"\n" * match[0].count(b"\n")


def _blanks(
    match: re.Match[bytes], sets: dict[int, tuple[int, ...]], table: dict[int, Position]
) -> Iterator[tuple[int, int]]:
    """Byte ranges to blank out; what they say goes into `sets` and `table`."""
    if match["table"] is not None:
        table.update(_positions(match["body"].decode()))
        yield match.span("table")
    elif match["list"] is not None:
        base = match.start("list")
        entries = list(_LIST_SET.finditer(match["list"]))
        for entry in entries:
            if entry[1] == b"pos":
                sets[match.start("declaration")] = _numbers(entry[2])
            yield base + entry.start(), base + entry.end()
        if entries and not _LIST_SET.sub(b"", match["list"]).strip(b"<> \t\n,"):
            yield match.span("list")
    elif match["run"] is not None:
        base = match.start("run")
        attributes = list(_ATTRIBUTE.finditer(match["run"]))
        plain = [a for a in attributes if not _AT_SET.fullmatch(a[0])]
        following = _WORD.search(match.string, match.end())
        after = following.start() if following else match.end()
        anchor = base + plain[0].start() if plain else after
        for attribute in attributes:
            marked = _AT_SET.fullmatch(attribute[0])
            if marked:
                if marked[1] == b"pos":
                    sets[anchor] = _numbers(marked[2])
                yield base + attribute.start(), base + attribute.end()


def _numbers(text: bytes) -> tuple[int, ...]:
    return tuple(int(n) for n in re.findall(rb"\d+", text))


def _positions(body: str) -> dict[int, Position]:
    """The `sourceinfo` table: position number to place."""
    files: dict[int, str] = {}
    places: dict[int, Position] = {}
    section = ""
    for line in body.splitlines():
        words = line.split()
        if len(words) == 1 and words[0].isidentifier():
            section = words[0].upper()
        elif section == "FILES" and (found := re.match(r"\s*(\d+)\s*:\s*(\S+)", line)):
            files[int(found[1])] = found[2]
        elif section == "POSITIONS" and (found := re.match(r"\s*(\d+)\s*:\s*(\d+)\s+(\d+)", line)):
            file = files.get(int(found[2]), "unknown")
            level = _LEVELS.get(Path(file).suffix, "source")
            places[int(found[1])] = Position(level, file, int(found[3]))
    return places
