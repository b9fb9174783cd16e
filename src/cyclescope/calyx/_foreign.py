"""Verilog that a program brings along: refused where it asks for files or programs.

A simulator obeys it: `$system` runs commands, `$fopen` opens files, a DPI import calls any function
of the C library, `$c` is C++. What is known to be harmless is let through, so that a name which
nobody thought of is refused. The preprocessor can make names of pieces; so pasting is refused, and
so is a `$` that is alone where a name could follow it.

The simulation is confined besides: this is to say what is wrong, and where.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cyclescope.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

__all__ = ["refuse_reaching_out"]

# IEEE 1800-2017, clauses 20 and 21: what calculates, prints, or ends the simulation.
_HARMLESS_NAMES = """
    display displayb displayh displayo write writeb writeh writeo
    strobe strobeb strobeh strobeo monitor monitorb monitorh monitoro monitoron monitoroff
    error warning info fatal finish stop exit
    time stime realtime timeformat printtimescale
    random urandom urandom_range dist_uniform dist_normal dist_exponential dist_poisson
    dist_chi_square dist_t dist_erlang
    signed unsigned cast bits clog2 size left right low high increment dimensions
    unpacked_dimensions typename isunbounded
    onehot onehot0 countones countbits isunknown past rose fell stable changed sampled
    rtoi itor realtobits bitstoreal shortrealtobits bitstoshortreal
    ceil floor sqrt ln log10 exp pow sin cos tan asin acos atan atan2 hypot
    sinh cosh tanh asinh acosh atanh
    sformat sformatf swrite swriteb swriteh swriteo sscanf
    test$plusargs value$plusargs
    asserton assertoff assertkill assertcontrol
    root unit
"""
_HARMLESS = frozenset(_HARMLESS_NAMES.split())
_DIRECTIVE_NAMES = """
    define undef undefineall ifdef ifndef elsif else endif default_nettype timescale resetall
    celldefine endcelldefine unconnected_drive nounconnected_drive begin_keywords end_keywords
    __FILE__ __LINE__
"""
_DIRECTIVES = frozenset(_DIRECTIVE_NAMES.split())
_TOKENS = re.compile(
    r"(?P<skip>//[^\n]*|/\*.*?\*/)"
    r'|(?P<quote>""")'
    r'|(?P<string>"(?:[^"\\\n]|\\.)*")'
    r'|(?P<open>")'
    r"|(?P<escaped>\\[!-~]+)"
    r"|(?P<system>\$[A-Za-z_][\w$]*)"
    r"|(?P<dollar>\$(?!\s*\]))"
    r"|(?P<paste>``|`\"|`\\)"
    r"|(?P<directive>`[A-Za-z_]\w*)"
    r"|(?P<port>\b(?:import|export)\b(?![ \t]+[A-Za-z_]\w*[ \t]*::))"
    r"|(?P<odd>[^\t\n\f\r -~])",
    re.DOTALL,
)
# Where such a character ends a name, a comment or a line is not the same for every reader: what
# is a string to one is a statement to the next.
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f]|\r(?!\n)")
# A macro of such a name would still be the directive.
_NO_MACROS = re.compile(
    r"`(?:include|line|pragma|uselib|error|verilog|v\w*config|systemc\w*|\w*protect\w*)$"
)
_DEFINED = re.compile(r"`define\s+([A-Za-z_]\w*)")
_FILES = re.compile(
    r"\$(?:f\w+|readmem[bh]|writemem[bh]|ungetc|rewind|dump\w+|sreadmem[bh]|sdf_annotate)$"
)


def refuse_reaching_out(program: Path, texts: Iterable[tuple[str, str]]) -> None:
    """Refuse what asks for files, programs or C.

    Args:
        program: the program's file.
        texts: (file or primitive, Verilog).

    Raises:
        SourceError: it asks for one.
    """
    texts = tuple(texts)
    macros = {found for _, text in texts for found in _DEFINED.findall(text)}
    for name, text in texts:
        start = int(text.startswith("\ufeff"))  # a mark of the encoding
        control = _CONTROL.search(text)
        for token in (control,) if control else _TOKENS.finditer(text, start):
            why = _reason(token, macros)
            if not why:
                continue
            where = f"{program}: {name}"
            if not name.startswith("primitive "):
                where = f"{name}:{text.count(chr(10), 0, token.start()) + 1}"
            raise SourceError(
                f"{where}: {why}; remove it, or pass --trust if you trust the program"
            )


def _reason(token: re.Match[str], macros: set[str]) -> str:
    """The reason for which a token is refused; empty if it is not."""
    kind, text = token.lastgroup, token[0]
    if kind == "odd" or _CONTROL.match(text):
        return f"the character {ord(text[0]):#x} can hide anything"
    if kind == "system" and text[1:] not in _HARMLESS:
        if text == "$system":
            return "$system runs a program of the machine"
        if _FILES.match(text):
            return f"{text} opens files of the machine"
        return f"{text} is no function that is known to be harmless"
    if kind == "dollar":
        return "a `$` without a name can become any system function"
    if kind == "paste":
        return f"the preprocessor's {text} can make any name"
    if kind in ("quote", "open"):
        return "a string that does not end in its line can hide anything"
    if kind == "string" and re.sub(r"\\\s", "", text).strip('" ') in ("DPI-C", "DPI"):
        return "an import from or export to C calls any function of the machine"
    if kind == "directive" and (text[1:] not in _DIRECTIVES | macros or _NO_MACROS.match(text)):
        if text == "`include":
            return "`include reads a file of the machine"
        return f"{text} is no directive that is known to be harmless"
    if kind == "port":
        return "an import from or export to C calls any function of the machine"
    return ""
