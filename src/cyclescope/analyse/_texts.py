"""What the text of a line says, where the profile carries it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cyclescope.model import Profile

__all__ = ["TextLoop", "c_loops", "components_of", "counter_of", "is_comb_group", "source_line"]

_HEAD = re.compile(r"\bfor\s*\(([^;]*);[^;]*;([^)]*)\)")
_COMMENT = re.compile(r"//.*|/\*.*?\*/")
_CALYX_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_WORD = re.compile(r"[A-Za-z_]\w*")


def source_line(profile: Profile, file: str, line: int) -> str:
    """A line of the program without comments; empty if the profile does not carry it."""
    lines = profile.sources.get(file, "").splitlines()
    return _COMMENT.sub(" ", lines[line - 1]) if 0 < line <= len(lines) else ""


def counter_of(head: str) -> str:
    """The variable that a `for` counts, empty if the text does not show one."""
    match = _HEAD.search(head)
    names = _WORD.findall(match[2]) if match is not None else []
    return names[0] if names else ""


@lru_cache(maxsize=32)
def components_of(text: str) -> dict[str, str]:
    """The text of each component of a Calyx program, without comments."""
    bare = _CALYX_COMMENT.sub(" ", text)
    heads = list(re.finditer(r"\bcomponent\s+([A-Za-z_]\w*)", bare))
    ends = [*(head.start() for head in heads[1:]), len(bare)][: len(heads)]
    return {head[1]: bare[head.start() : end] for head, end in zip(heads, ends, strict=True)}


@lru_cache(maxsize=4096)
def is_comb_group(text: str, component: str, name: str) -> bool:
    """Whether a component declares a group of that name to be combinational."""
    own = components_of(text).get(component, "")
    return re.search(rf"\bcomb\s+group\s+{re.escape(name)}\b", own) is not None


@dataclass(frozen=True, slots=True)
class TextLoop:
    """A loop in a C text: the line of its head, the last line of its body."""

    line: int
    end: int


_C_HIDDEN = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.DOTALL)
_DIRECTIVE = re.compile(r"^[ \t]*#(?:\\\r?\n|[^\n])*", re.MULTILINE)
_LOOP = re.compile(r"\b(?:for|while)\b(?=\s*\()|\bdo\b")
_UNROLL = re.compile(r"#\s*pragma\s+(?:GCC\s+)?unroll\b[ \t(]*(\w*)[ \t)]*$")
_STEERING = re.compile(r"(for|while|if|switch|do)\b")
_ELSE = re.compile(r"\s*else\b")
_STOP = re.compile(r"[;({]")
_BRACKET = re.compile(r"[(){}\[\]]")


@lru_cache(maxsize=32)
def c_loops(text: str) -> tuple[TextLoop, ...]:
    """The loops of a C text that hardware has as loops, in its order.

    One that a pragma unrolls as far as it counts is none any more.
    """
    plain = _C_HIDDEN.sub(_blank, text)
    bare = _DIRECTIVE.sub(_blank, plain)
    found = []
    for match in _LOOP.finditer(bare):
        head = _behind(bare, match.end()) if match[0] != "do" else match.end()
        if match[0] == "while" and bare[head:].lstrip().startswith(";"):
            continue  # the end of a do
        before = plain[: match.start()].rstrip().rpartition("\n")[2]
        unrolled = _UNROLL.search(before)
        if unrolled is not None and _is_whole(unrolled[1], bare[match.start() : head]):
            continue
        end = _statement(bare, match.start())
        line = bare.count("\n", 0, match.start()) + 1
        found.append(TextLoop(line, line + bare.count("\n", match.start(), end)))
    return tuple(found)


def _blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match[0])


def _is_whole(factor: str, head: str) -> bool:
    """Whether so many copies of a loop's body leave nothing of the loop."""
    return not factor or re.search(rf"<\s*{factor}\s*;", head) is not None


def _behind(text: str, at: int) -> int:
    """Behind the bracket that closes the next one."""
    depth = 0
    for match in _BRACKET.finditer(text, at):
        depth += 1 if match[0] in "({[" else -1
        if depth <= 0:
            return match.end()
    return len(text)


def _statement(text: str, at: int) -> int:
    """The end of the statement that begins here."""
    while True:
        at += len(text[at:]) - len(text[at:].lstrip())
        if text[at : at + 1] == "{":
            return _behind(text, at)
        word = _STEERING.match(text, at)
        if word is None:
            match = _STOP.search(text, at)
            while match is not None and match[0] != ";":
                match = _STOP.search(text, _behind(text, match.start()))
            return match.end() if match is not None else len(text)
        if word[1] == "do":
            return _statement(text, _statement(text, word.end()))
        at = _behind(text, word.end())
        if word[1] == "if":
            at = _statement(text, at)
            other = _ELSE.match(text, at)
            if other is None:
                return at
            at = other.end()
