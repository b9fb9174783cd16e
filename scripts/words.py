"""Check the project's words; print FILE:LINE: word → what to write instead (`make lint`).

Prose is read where it is prose: docstrings by `ast`, comments by `tokenize`, messages (string
constants of more than one word) and names that a module defines by `ast`, paragraphs of Markdown
without code. Comments of Rust, C++ and TypeScript are read line by line. Text in backticks is code.

The rule for docstrings: the first line begins with a verb in the imperative or with a noun phrase,
never with a question word; a predicate's begins with "Return whether".
"""

import argparse
import ast
import io
import os
import re
import sys
import tokenize
from bisect import bisect
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent


class Rule(NamedTuple):
    """A word that the project does not use: a pattern, what to write instead, and the reason."""

    pattern: str
    instead: str
    reason: str


# Of prose. A space in a pattern is any white space, so that a phrase may go over lines.
PROSE = (
    Rule(r"rooms?", "package, module; space (in a buffer)", "no metaphor of houses"),
    Rule(r"(?:stands?|stood|standing)(?! for\b|-in)", "is, are; remains", "say what a thing is"),
    Rule(r"(?:hold|holds|held|holding) (?:[^\s.;:]+ ){0,14}against", "compare with", "plain verb"),
    Rule(
        r"holds(?= (?!(?:\w+ )?locks?\b)(?:an?|the|its|their|it|them|that|what|all|both|each|every"
        r"|everything|something|one|no|nothing|none|only|several|copies|pointers)\b)",
        "contains, has, keeps",
        "what a thing does",
    ),
    Rule(r"holds(?= (?:of|for|when|where|whatever|if)\b)", "must hold, is", "a law must"),
    Rule(r"twins?", "counterpart", "the field's word"),
    Rule(
        r"(?:the|an?|this|each|no|one|another) unit(?! (?:of|in) )",
        "profiling, arithmetic, functional or translation unit; unit of measure",
        "never bare",
    ),
    Rule(
        r"(?:(?:by|its|their|own|the|each|another|of|so|so many|\d+)|\w+'s?) turns?",
        "time slot; alternately, one after the other",
        "the field's word",
    ),
    Rule(r"(?:made|declared) ahead", "forward wire", "the field's word"),
    Rule(r"stretch(?:es)?", "segment, interval", "one term a concept"),
    Rule(r"(?<!time\s)(?<!time-)stamp(?:s|ed|ing)?", "time stamp, bounds interpreter", "one term"),
    Rule(r"waiting stages?", "variable-latency stage", "the field's word"),
    Rule(r"tak(?:e|es|ing) as long as (?:it|they) takes?", "variable-latency", "the field's word"),
    Rule(r"deal(?:s|t|ing)? out|dealt|dealing", "work-sharing, distribute", "the field's word"),
    Rule(r"shared loops?", "work-sharing loop", "the field's word"),
    Rule(r"team meets? in", "synchronization construct", "the field's word"),
    Rule(r"neighbours? (?:that )?meets?", "cross-thread race check", "the field's word"),
    Rule(r"as far apart as", "min_interval, the II-constrained bound", "the field's word"),
    Rule(r"peaks(?!:)", "peak rate, maximum", "the field's word"),
    Rule(r"at most so often", "peak rate per cycle", "the field's word"),
    Rule(r"climb(?:s|ed|ing)?", "measure the ladder", "the field's word"),
    Rule(r"what no effect needs", "dead code", "the field's word"),
    Rule(r"lets? one go", "issues one thread per cycle", "the field's word"),
    Rule(r"in words(?! of\b)", "as text; critical recurrence path", "the field's word"),
    Rule(r"as late as (?:their|its|his) users? allow", "ALAP placement", "the field's word"),
    Rule(r"at (?:their|its|the) very end", "own cycles", "the field's word"),
    Rule(r"only manages? (?:it|them)", "overhead cycles", "the field's word"),
    Rule(r"pointed out", "highlighted", "the field's word"),
    Rule(r"of their own for a while", "privatization", "the field's word"),
)

# Of names: each part between underscores or capitals, in lower case.
NAMES = {
    "twin": "counterpart",
    "twins": "counterparts, in_flight",
    "room": "package, space",
    "rooms": "packages",
    "stamp": "time_stamp",
    "stamps": "time_stamps",
    "stretch": "segment",
    "stretches": "segments",
    "climb": "measure_ladder",
    "dealt": "shared, distributed",
    "dealing": "work_sharing",
    "neighbours": "the relation they are in",
    "hook": "wire, callback",
}

QUESTIONS = ("What", "How", "Where", "Which", "Who", "Whom", "Whose", "Why", "When", "Whether")

# Of the files of a repository, what nobody here wrote or what is data.
SKIPPED = frozenset({".git", "build", "target", "node_modules", "_build", "data", "goldens"})


@dataclass
class Prose:
    """A piece of text with the line of each of its parts."""

    text: str = ""
    starts: list[int] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)

    def add(self, line: int, text: str) -> None:
        """Append a line of text."""
        self.starts.append(len(self.text))
        self.lines.append(line)
        self.text += text + "\n"

    def line(self, offset: int) -> int:
        """Return the line of the file that a place in the text comes from."""
        return self.lines[bisect(self.starts, offset) - 1]


class Finding(NamedTuple):
    """A word at a place of a file."""

    path: Path
    line: int
    word: str
    instead: str
    reason: str


def main() -> int:
    """Check the files named, or all of the project."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("paths", nargs="*", type=Path, help="files or folders; else the project")
    arguments = parser.parse_args()
    found = list(check_all(arguments.paths or [ROOT]))
    for path, line, word, instead, reason in found:
        print(f"{path.relative_to(ROOT)}:{line}: {word} → {instead} ({reason})")
    return 1 if found else 0


def check_all(paths: Iterable[Path]) -> Iterator[Finding]:
    """Check all files below some paths."""
    for path in (file for top in paths for file in _files(top.resolve())):
        if path.suffix in CHECKS and path != Path(__file__).resolve():
            yield from CHECKS[path.suffix](path, path.read_text("utf-8"))


def _files(top: Path) -> Iterator[Path]:
    if top.is_file():
        yield top
    for folder, inner, names in os.walk(top):
        inner[:] = sorted(name for name in set(inner) - SKIPPED if not _environment(folder, name))
        yield from (Path(folder, name) for name in sorted(names))


def _environment(folder: str, name: str) -> bool:
    """Return whether a folder is a virtual environment: `make demo` has one of its own."""
    return Path(folder, name, "pyvenv.cfg").is_file()


def check_python(path: Path, text: str) -> Iterator[Finding]:
    """Check docstrings, comments, messages and names of a Python module."""
    tree = ast.parse(text)
    docstrings: set[ast.expr] = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            docstring = ast.get_docstring(node, clean=True)
            if docstring is None:
                continue
            first = node.body[0]
            assert isinstance(first, ast.Expr)
            docstrings.add(first.value)
            yield from check_prose(path, _lines_of(first.value, docstring))
            yield from _check_first_word(path, first.lineno, docstring)
    yield from _check_messages(path, tree, docstrings)
    yield from _check_names(path, tree)
    block, last = Prose(), 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type != tokenize.COMMENT:
            continue
        if token.start[0] != last + 1:
            yield from check_prose(path, block)
            block = Prose()
        last = token.start[0]
        block.add(last, token.string.lstrip("#"))
    yield from check_prose(path, block)


def _lines_of(node: ast.expr, text: str) -> Prose:
    prose = Prose()
    for number, line in enumerate(text.splitlines()):
        prose.add(min(node.lineno + number, node.end_lineno or node.lineno), line)
    return prose


def _check_first_word(path: Path, line: int, docstring: str) -> Iterator[Finding]:
    word = re.split(r"\W", docstring.lstrip(), maxsplit=1)[0]
    if word in QUESTIONS:
        instead = "Return whether …" if word == "Whether" else "a verb or a noun phrase"
        yield Finding(path, line, word, instead, "how a docstring begins")


def _check_messages(path: Path, tree: ast.Module, docstrings: set[ast.expr]) -> Iterator[Finding]:
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and " " in node.value.strip()
            and node not in docstrings
        ):
            yield from check_prose(path, _lines_of(node, node.value))


def _check_names(path: Path, tree: ast.Module) -> Iterator[Finding]:
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                pass
            case ast.ClassDef(name=name) | ast.arg(arg=name):
                pass
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                pass
            case _:
                continue
        other = re.sub(r"time_?stamp", "", name, flags=re.IGNORECASE)
        for part in re.findall(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])", other):
            if instead := NAMES.get(part.lower()):
                yield Finding(path, node.lineno, name, instead, "a name of another word")


def check_markdown(path: Path, text: str) -> Iterator[Finding]:
    """Check paragraphs and tables of a page, without blocks of code."""
    prose, fence = Prose(), ""
    for number, line in enumerate(text.splitlines(), 1):
        mark = re.match(r"\s*(`{3,}|~{3,})", line)
        if mark and not fence:
            fence = mark[1]
        elif mark and mark[1].startswith(fence):
            fence = ""
        elif not fence:
            prose.add(number, line)
    yield from check_prose(path, prose)


def check_comments(path: Path, text: str) -> Iterator[Finding]:
    """Check comments of a language with `//` and `/* */`, line by line."""
    block, last = Prose(), 0
    for number, line in enumerate(text.splitlines(), 1):
        comment = re.search(r"(?:^|\s)(?://[/!]?|/\*+)(.*)|^\s*\*(?!/)(.*)", line)
        if not comment:
            continue
        if number != last + 1:
            yield from check_prose(path, block)
            block = Prose()
        last = number
        block.add(number, comment[1] or comment[2] or "")
    yield from check_prose(path, block)


_CODE = re.compile(r"(`+)[^`]+\1")
_ANY = re.compile(
    r"\b(?:" + "|".join(rf"({rule.pattern})" for rule in PROSE).replace(" ", r"\s+") + r")(?!\w)",
    re.IGNORECASE,
)


def check_prose(path: Path, prose: Prose) -> Iterator[Finding]:
    """Look for words of the list in a piece of text."""
    text = _CODE.sub(lambda code: re.sub(r"[^\n]", "`", code[0]), prose.text)
    for match in _ANY.finditer(text):
        assert match.lastindex is not None
        rule = PROSE[match.lastindex - 1]
        word = " ".join(match[0].split())
        yield Finding(path, prose.line(match.start()), word, rule.instead, rule.reason)


CHECKS = {
    ".py": check_python,
    ".pyi": check_python,
    ".md": check_markdown,
    ".rs": check_comments,
    ".cpp": check_comments,
    ".h": check_comments,
    ".ts": check_comments,
    ".tsx": check_comments,
}


if __name__ == "__main__":
    sys.exit(main())
